"""Test keys of items that batches provide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flow_program import LETTERS

import larder

np = pytest.importorskip("numpy")

CALLS: list[int] = []


def mean(x: Any) -> Any:
    CALLS.append(len(x))
    return x.reshape(len(x), -1).mean(1)


def batches(dtype: str = "float32", size: int = 13) -> larder.Loader:
    fields = {"image": larder.Field(item="image", dtype=dtype), "keys": larder.Field(item="image", collate="key")}
    return larder.underfolder(path=str(LETTERS)).batch(size, tensors="numpy", fields=fields)


def cached() -> Any:
    return larder.memo_batch(mean, items="x", key="keys", version="1")


def one_epoch(loader: larder.Loader, f: Any) -> list[float]:
    found: list[float] = []
    for batch in loader:
        assert batch["keys"].shape == (len(batch["image"]), 32)
        assert batch["keys"].dtype == np.uint8
        found += f(x=batch["image"], keys=batch["keys"]).tolist()
    loader.close()
    return found


def test_items_are_found_by_the_keys_of_their_batches(real: Path) -> None:
    CALLS.clear()
    first = one_epoch(batches(), cached())
    assert CALLS == [13, 13]
    assert one_epoch(batches(size=10), cached()) == first
    assert CALLS == [13, 13]


def test_other_declarations_are_other_keys(real: Path) -> None:
    CALLS.clear()
    one_epoch(batches(), cached())
    one_epoch(batches("float64"), cached())
    assert CALLS == [13] * 4


def test_all_keys_differ_and_stay(real: Path) -> None:
    def keys() -> list[bytes]:
        return [key.tobytes() for batch in batches() for key in batch["keys"]]

    first = keys()
    assert len(set(first)) == 26
    assert keys() == first


def test_keys_are_to_be_given(real: Path) -> None:
    f, x = cached(), np.ones((3, 2))
    with pytest.raises(TypeError, match="pass them as keys="):
        f(x=x)
    with pytest.raises(ValueError, match="2 keys of 3 items"):
        f(x=x, keys=["a", "b"])
    with pytest.raises(TypeError, match="not a string"):
        f(x=x, keys="abc")
    assert f(x=x, keys=["a", "b", "c"]).tolist() == [1, 1, 1]
    assert f(x=x * 9, keys=["a", "b", "c"]).tolist() == [1, 1, 1]  # the caller says that they are the same
