"""Test that TFRecord files written by another package are read, and that it reads ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import larder

writer = pytest.importorskip("tfrecord.writer")
reader = pytest.importorskip("tfrecord.reader")
np = pytest.importorskip("numpy")


def test_files_that_the_package_writes_are_read(real: Path, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    wrote = [(draw.integers(0, 256, 9, np.uint8).tobytes(), i - 3, [0.5 * i, 1e-3]) for i in range(20)]
    for shard in range(2):
        out = writer.TFRecordWriter(str(tmp_path / f"a-{shard:05d}-of-00002"))
        for image, label, scores in wrote[10 * shard : 10 * shard + 10]:
            out.write({"image": (image, "byte"), "label": (label, "int"), "scores": (scores, "float")})
        out.close()
    read = larder.source("tfrecord", path=str(tmp_path / "a-{00000..00001}-of-00002"))
    with larder.Dataset(read) as dataset:
        got = [dataset[i] for i in range(len(dataset))]
    assert len(got) == 20
    for (image, label, scores), now in zip(wrote, got, strict=True):
        assert bytes(now["image"]) == image
        assert now["label"].tolist() == [label]
        assert now["scores"].dtype == np.float32
        assert now["scores"].tolist() == np.array(scores, np.float32).tolist()


def test_the_package_reads_what_is_written(real: Path, tmp_path: Path) -> None:
    rows = [{"text": f"row {i}", "label": i - 5, "score": i / 4} for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = larder.source("jsonl", path=str(tmp_path / "rows.jsonl")).convert(to={"text": "txt"})
    larder.run(source.to_tfrecord(path=str(tmp_path / "out.tfrecord")))
    kinds = {"text": "byte", "label": "int", "score": "float"}
    got = list(reader.tfrecord_loader(str(tmp_path / "out.tfrecord"), None, kinds))
    assert [(bytes(g["text"]).decode(), int(g["label"][0]), float(g["score"][0])) for g in got] == [
        (r["text"], r["label"], r["score"]) for r in rows
    ]
