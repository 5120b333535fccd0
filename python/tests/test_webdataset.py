"""Test that WebDataset archives written by its package are read, and that it reads ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import larder

webdataset = pytest.importorskip("webdataset")
np = pytest.importorskip("numpy")


def samples(count: int) -> list[dict[str, Any]]:
    draw = np.random.default_rng(0)
    return [
        {
            "__key__": f"directory/{i:05d}",
            "txt": f"text {i} ä",
            "cls": i % 10,
            "meta.json": {"i": i, "list": [1.5, None, "x"]},
            "npy": draw.integers(0, 9, (3, i % 4)).astype("int16"),
            "ppm": draw.integers(0, 255, (4, 5, 3)).astype("uint8"),
        }
        for i in range(count)
    ]


def test_archives_that_the_package_writes_are_read(real: Path, tmp_path: Path) -> None:
    wrote = samples(25)
    with webdataset.ShardWriter(str(tmp_path / "train-%03d.tar"), maxcount=10, verbose=0) as sink:
        for sample in wrote:
            sink.write(sample)
    read = larder.source("webdataset", path=str(tmp_path / "train-{000..002}.tar"))
    with larder.Dataset(read.drop_keys(keys=["ppm"]), node=None) as dataset:
        got = [dataset[i] for i in range(len(dataset))]
    assert len(got) == 25
    for was, now in zip(wrote, got, strict=True):
        assert now["__key__"] == was["__key__"]
        assert now["txt"] == was["txt"]
        assert now["cls"] == was["cls"]
        assert now["meta"] == was["meta.json"]
        assert now["npy"].dtype == was["npy"].dtype
        assert np.array_equal(now["npy"], was["npy"])


def test_the_package_reads_what_is_written(real: Path, tmp_path: Path) -> None:
    rows = [{"txt": f"row {i}", "cls": i, "meta": {"i": i}} for i in range(32)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = larder.source("jsonl", path=str(tmp_path / "rows.jsonl")).convert(to={"txt": "txt"})
    larder.run(source.chunk(n=11).to_webdataset(path=str(tmp_path / "out")))
    archives = sorted(str(path) for path in (tmp_path / "out").iterdir())
    assert [Path(path).name for path in archives] == [f"{i:02d}.tar" for i in range(11)]
    done = subprocess.run([sys.executable, "-c", READ, *archives], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[r["txt"], r["cls"], r["meta"]] for r in rows]


READ = """
import json, sys, webdataset
read = webdataset.WebDataset(sys.argv[1:], shardshuffle=False).decode()
print(json.dumps([[s["txt"], s["cls"], s["meta.json"]] for s in read]))
"""
"""A separate process, as it leaves files open."""
