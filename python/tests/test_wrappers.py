"""Test functions of Larder as values: attributes set on them, and their identity as arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import larder
from larder.lazy import Lazy

lazy = Lazy()


def double(x: int) -> int:
    return x * 2


def rounded(x: int) -> int:
    return x // 10


def rows(xs: list[int]) -> list[int]:
    return [x * 2 for x in xs]


def written(path: str) -> None:
    Path(path).write_text("")


class Table:
    @larder.memo
    def scaled(self, x: int) -> int:
        return x

    @larder.memo
    def times(self, x: int) -> Any:
        return self.scaled.factor * x


held: Any = None
WRAPPERS: dict[str, Callable[[], Any]] = {
    "memo": lambda: larder.memo(double),
    "memo with a version": lambda: larder.memo(version="1")(double),
    "memo_batch": lambda: larder.memo_batch(rows, items=[0]),
    "lazy": lambda: lazy(double),
    "lazy file": lambda: lazy.file_creator()(written),
}


@larder.memo
def reads() -> Any:
    return held.factor


@larder.memo
def reads_of(function: Any) -> Any:
    return function.factor


@larder.memo
def reads_first() -> Any:
    return held.factors[0]


@larder.memo
def own(x: int) -> Any:
    return own.scale * x  # type: ignore[attr-defined]


def compiled(kind: str) -> Any:
    numba = pytest.importorskip("numba")
    return getattr(numba, kind)(double)


WRAPPERS |= {f"numba.{kind}": functools.partial(compiled, kind) for kind in ("njit", "vectorize")}


@pytest.mark.parametrize("name", WRAPPERS)
def test_what_was_set_on_a_wrapper_counts(name: str, real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = WRAPPERS[name](), WRAPPERS[name]()
    one.factor, other.factor = 2, 3
    for wrapper in (one, other, one):
        monkeypatch.setitem(globals(), "held", wrapper)
        assert (reads(), reads_of(wrapper)) == (wrapper.factor, wrapper.factor)
    before = reads.executions, reads_of.executions
    assert (reads(), reads_of(one)) == (2, 2)
    assert (reads.executions, reads_of.executions) == before
    one.factor = 4
    assert (reads(), reads_of(one)) == (4, 4)
    one.factors = [1]
    assert reads_first() == 1
    one.factors[0] = 2
    assert reads_first() == 2


def test_what_was_set_on_the_function_itself_and_on_a_method_counts(real: Path) -> None:
    for factor in (2, 5):
        own.scale = Table.scaled.factor = factor  # type: ignore[attr-defined]
        assert (own(3), Table().times(3)) == (factor * 3, factor * 3)


@larder.memo
def apply(function: Any, x: Any) -> Any:
    return function(x)


@larder.memo
def registered(x: Any) -> Any:
    return held["f"](x)


@pytest.mark.parametrize("wrap", [lambda f: f, functools.partial], ids=["itself", "partial"])
def test_a_wrapper_as_a_value_is_known_by_its_function_and_options(
    wrap: Callable[[Any], Any], real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def calls(*functions: Any) -> int:
        before = apply.executions
        for function in functions:
            assert apply(wrap(function), 3) == function(3)
        return apply.executions - before

    assert calls(larder.memo(double), larder.memo(double)) == 1
    assert calls(larder.memo(lambda x: x * 3)) == 1
    assert calls(larder.memo(version="1")(double), larder.memo(version="2")(double)) == 2
    assert calls(larder.memo(key=rounded)(double), larder.memo(key=double)(double)) == 2
    assert calls(larder.memo(ignore=["x"])(double)) == 1
    assert apply(wrap(larder.memo_batch(rows, items=[0])), [3]) == [6]
    before = registered.executions
    monkeypatch.setitem(globals(), "held", {"f": wrap(larder.memo(double))})
    assert [registered(3), registered(3)] == [6, 6]
    monkeypatch.setitem(globals(), "held", {"f": wrap(larder.memo(rounded))})
    assert [registered(30), registered.executions - before] == [3, 2]


def test_a_bound_method_as_a_value(real: Path) -> None:
    table = Table()
    assert [apply(table.scaled, 3), apply(Table().scaled, 3), apply(table.scaled, 4)] == [3, 3, 4]


@larder.memo
def counts() -> Any:
    return reads.executions


@larder.memo
def looks() -> Any:
    return reads.cached()


@pytest.mark.parametrize("function", [counts, looks])
def test_what_is_cached_decides_no_result(function: Any, real: Path) -> None:
    with pytest.raises(larder.CodeError, match=r"reads\.(executions|cached) reaches the machine or this process"):
        function()
