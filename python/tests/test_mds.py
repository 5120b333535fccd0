"""Test reading shards that Mosaic Streaming writes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import larder

streaming = pytest.importorskip("streaming", exc_type=ImportError)
image = pytest.importorskip("PIL.Image")
np = pytest.importorskip("numpy")


def sample(k: int) -> dict[str, Any]:
    picture = image.new("RGB", (4, 3), (k, 0, 255))
    encoded = io.BytesIO()
    picture.save(encoded, "PNG")
    return {
        "n": k - 5,
        "small": np.uint8(k),
        "f": np.float32(k / 8),
        "text": f"row {k} ä",
        "bytes": bytes([k] * k),
        "doc": {"k": [k, None]},
        "free": np.arange(k + 1, dtype=np.int16).reshape(1, -1),
        "typed": np.ones((2, k + 1), np.float32),
        "fixed": np.full((2, 3), k, np.uint8),
        "png": picture,
        "pil": picture,
        "digits": 10**k,
    }


ENCODINGS = {
    "n": "int", "small": "uint8", "f": "float32", "text": "str", "bytes": "bytes", "doc": "json", "free": "ndarray",
    "typed": "ndarray:float32", "fixed": "ndarray:uint8:2,3", "png": "png", "pil": "pil", "digits": "str_int",
}  # fmt: skip


@pytest.mark.parametrize("compression", [None, "zstd:3", "gz"])
def test_shards_are_read(real: Path, tmp_path: Path, compression: str | None) -> None:
    with streaming.MDSWriter(
        out=str(tmp_path / "out"), columns=ENCODINGS, compression=compression, size_limit=4000, hashes=["sha1"]
    ) as writer:
        for k in range(25):
            writer.write(sample(k))
    assert len(list((tmp_path / "out").glob("shard*"))) > 2
    with larder.Dataset(larder.mds(path=str(tmp_path / "out"))) as dataset:
        got = [dataset[i] for i in range(len(dataset))]
    assert len(got) == 25
    for k, g in enumerate(got):
        want = sample(k)
        for name in ["n", "small", "f", "text", "doc", "digits"]:
            assert g[name] == want[name], name
        assert bytes(g["bytes"]) == want["bytes"]
        for name in ["free", "typed", "fixed"]:
            assert g[name].dtype == want[name].dtype
            assert g[name].tolist() == want[name].tolist()
        for name in ["png", "pil"]:
            assert np.asarray(g[name]).tolist() == np.asarray(want[name]).tolist()
