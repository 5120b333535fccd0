"""Test that warnings name a line of the program."""

from __future__ import annotations

import ast
import asyncio
import functools
import statistics
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import larder
from larder import lazy

OWN = Path(larder.__file__).parent


def draws(count: int) -> list[float]:
    return statistics.NormalDist(0, 1).samples(count)


def calls(count: int) -> list[float]:
    return larder.memo(draws)(count)


async def later(count: int) -> list[float]:
    await asyncio.sleep(0)
    return draws(count)


def generated(count: int) -> Iterator[float]:
    yield from draws(count)


class Model:
    @larder.memo
    def drawn(self) -> list[float]:
        return draws(1)


def by_thread(function: Callable[[], Any]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def by_batch() -> Any:
    return larder.memo_batch(items="values")(lambda values: [draws(1) for _ in values])([1])


CASES: list[Callable[[], Any]] = [
    lambda: larder.memo(draws)(1),
    lambda: larder.memo(draws).refresh(2),
    lambda: larder.memo(version="1")(calls)(3),
    lambda: asyncio.run(larder.memo(later)(4)),
    lambda: list(larder.memo(generated)(5)),
    lambda: Model().drawn(),
    lambda: functools.partial(larder.memo(draws), 6)(),
    lambda: by_thread(lambda: larder.memo(draws)(7)),
    by_batch,
    lambda: larder.memo(codec="pickle")(draws),
    lambda: lazy.unlazy(lazy.lazy(draws)(8)),
]


@pytest.mark.parametrize("case", CASES)
def test_warnings_name_a_line_of_the_program(case: Callable[[], Any], real: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        case()
    assert caught
    assert {one.filename for one in caught} == {__file__}


def test_a_warning_in_a_thread_of_the_package_names_the_function(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LARDER_BIN", "/nowhere/larder")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(larder.memo(later)(4))
    assert {one.filename for one in caught} == {__file__}


def test_a_warning_is_said_once_for_each_line(real: Path) -> None:
    cached = larder.memo(draws)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            cached(1)
        cached(1)
    assert len(caught) == 2


def test_all_warnings_go_by_one_function() -> None:
    for file in OWN.rglob("*.py"):
        if file.name != "_warnings.py":
            for node in ast.walk(ast.parse(file.read_text())):
                assert not (isinstance(node, ast.Attribute) and ast.unparse(node) == "warnings.warn"), file
