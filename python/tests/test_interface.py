"""Test that names which scripts depend on behave as documented."""

from __future__ import annotations

from pathlib import Path

import pytest
from flow_program import LETTERS

import larder


def test_counts_of_functions_and_batches(real: Path) -> None:
    @larder.memo
    def square(n: int) -> int:
        return n * n

    assert [square(2), square(2), square(3)] == [4, 4, 9]
    assert square.executions == 2

    @larder.memo_batch(items="ns", version="1")
    def squares(ns: list[int]) -> list[int]:
        return [n * n for n in ns]

    assert squares([1, 2, 3, 2]) == [1, 4, 9, 4]
    assert squares([3, 4]) == [9, 16]
    assert (squares.executions, squares.computed_items, squares.loaded_items) == (2, 4, 2)


def test_lazy_calls_by_the_name_of_the_module(real: Path) -> None:
    def double(n: int) -> int:
        return 2 * n

    twice = larder.lazy(double)  # type: ignore[operator]
    assert (twice(3) + 1).get() == 7
    assert larder.lazy.lazy({"a": 1}).get("a", 2).get() == 1


def test_errors_and_warnings(real: Path) -> None:
    @larder.memo
    def given(what: object) -> object:
        return what

    with pytest.raises(larder.UnkeyableError):
        given(open)
    with pytest.raises(larder.UnkeyableError), open(__file__) as file:
        given(file)

    @larder.memo
    def makes(n: int) -> object:
        return object()

    with pytest.warns(larder.NotCachedWarning):
        makes(1)


def test_a_flow_by_its_methods(real: Path, tmp_path: Path) -> None:
    letters = larder.source("underfolder", path=str(LETTERS))
    assert letters.yaml() == letters.to_yaml()
    report = letters.map("image-stats", item="image", into="stats", keep=True).run(cache_dir=tmp_path / "cache")
    assert report["status"] == "ok"
    assert [node["computed"] for node in report["nodes"] if node["kind"] == "map"] == [26]
    with letters.loader(batch_size=4, epoch=3, rank=0, world_size=2, cache_dir=tmp_path / "cache") as batches:
        assert batches.epoch == 3
        assert len(batches) == 4
    with larder.Loader(letters, batch_size=4, replacement=True, cache_dir=tmp_path / "cache") as drawn:
        assert len(drawn) == 7
    with pytest.raises(larder.RequestError, match="drop_last=True contradicts last_batch='keep'"):
        larder.Loader(letters, drop_last=True, last_batch="keep")
