"""Test different functions and classes with the same text: in separate modules, and from one factory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import larder

SOURCE = """
import dataclasses, enum
import larder
from larder.lazy import lazy

@dataclasses.dataclass
class Q:
    a: int

class E(enum.Enum):
    A = 1

def h(x): return x + 1

@larder.memo
def make(x): return Q(x)

@larder.memo
def where(x): return Q.__module__

@larder.memo
def whose(x): return h.__module__

@lazy
def later(x): return Q(x)
"""


@pytest.fixture
def twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: Path) -> Iterator[tuple[Any, Any]]:
    for name in ("twin_a", "twin_b"):
        (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("twin_a"), importlib.import_module("twin_b")
    for name in ("twin_a", "twin_b"):
        del sys.modules[name]


def test_functions_of_equal_text_make_objects_of_their_own_classes(twins: tuple[Any, Any]) -> None:
    for module in (*twins, *twins):
        assert type(module.make(1)) is module.Q
        assert type(larder.lazy.unlazy(module.later(1))) is module.Q
        assert module.where(1) == module.__name__
        assert module.whose(1) == module.__name__


def test_arguments_of_equal_classes_are_told_apart(twins: tuple[Any, Any]) -> None:
    a, b = twins

    @larder.memo
    def seen(o: Any) -> list[Any]:
        return [isinstance(o, a.Q), o is a.E.A, o is a.Q, type(o).__module__]

    @larder.memo
    def same(o: Any) -> Any:
        return o

    for module in (b, a, b):
        mine = module is a
        assert seen(module.Q(1)) == [mine, False, False, module.__name__]
        assert seen(module.E.A) == [False, mine, False, module.__name__]
        assert seen(module.Q) == [False, False, mine, "builtins"]
        assert type(same(module.Q(2))) is module.Q
        assert same(module.E.A) is module.E.A


def factory() -> type:
    class C:
        pass

    return C


A, B = factory(), factory()


@larder.memo
def is_a(o: Any) -> bool:
    return isinstance(o, A)


@larder.lazy.lazy
def is_a_later(o: Any) -> bool:
    return isinstance(o, A)


def test_classes_of_one_factory_are_told_apart_by_who_knows_them(real: Path) -> None:
    for _ in range(2):
        assert [is_a(o) for o in (B(), A(), B())] == [False, True, False]
        assert [larder.lazy.unlazy(is_a_later(o)) for o in (B(), A(), B())] == [False, True, False]
