"""Test numbers of all types as options, and values that are not numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import larder

np = pytest.importorskip("numpy", reason="NumPy is not installed")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"batch_size": 1.5}, TypeError, "batch_size: 1.5 is not an integer"),
        ({"batch_size": "4"}, TypeError, "batch_size"),
        ({"batch_size": True}, TypeError, "batch_size"),
        ({"batch_size": 0}, larder.RequestError, "batch_size=0"),
        ({"batch_size": 2**63}, larder.RequestError, "batch_size=9223372036854775808"),
        ({"seed": -1}, larder.RequestError, "seed=-1"),
        ({"rank": 0, "world_size": 0}, larder.RequestError, "world_size=0"),
        ({"rank": 2, "world_size": 2}, larder.RequestError, "rank=2: must be 0 to 1"),
        ({"tokens": float("nan")}, TypeError, "tokens"),
        ({"draws": 0, "replacement": True}, larder.RequestError, "draws=0"),
        ({"buckets": [3, 2.5]}, TypeError, "a bound of buckets"),
        ({"subset": ["a"]}, TypeError, "a number of subset"),
        ({"ring": -1}, larder.RequestError, "ring=-1"),
        ({"nodes": {"rows": float("inf")}, "node": None}, larder.RequestError, "the weight of rows=inf"),
        ({"fields": {"n": {"scale": float("nan")}}}, larder.RequestError, "scale of n=nan"),
        ({"fields": {"n": {"mean": "red"}}}, TypeError, "mean of n"),
        ({"fields": {"n": {"channels": 5}}}, larder.RequestError, "channels of n=5: must be 1 to 4"),
    ],
)
def test_what_is_no_number_is_refused_with_its_name(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        larder.Loader("flow.yaml", **({"node": "rows"} | options))


def test_numbers_of_numpy_are_numbers(real: Path) -> None:
    (real / "rows.jsonl").write_text("".join(f'{{"n": {i}}}\n' for i in range(9)))
    flow = real / "flow.yaml"
    flow.write_text("version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n")
    options: dict[str, Any] = {"subset": np.arange(2, 8), "rank": np.int8(0), "world_size": np.uint16(1)}
    fields = {"n": larder.Field(item="n", scale=np.float32(0.5), mean=np.array([1.0]))}
    with larder.Loader(flow, "rows", batch_size=np.int64(4), seed=np.uint64(3), fields=fields, **options) as loader:
        assert [b["n"].tolist() for b in loader] == [[0, 0.5, 1, 1.5], [2, 2.5]]


def test_ranks_of_the_environment_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "one")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(larder.RequestError, match="RANK='one'"):
        larder.Loader("flow.yaml", "rows")
