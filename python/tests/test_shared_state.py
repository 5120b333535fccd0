"""Test that state created on demand and shared by threads is published complete, or not at all."""

from __future__ import annotations

import importlib
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._memo import batch_function, function

CODE = """
STEP = 1

def one(n):
    return n + STEP

def many(items):
    return [n + STEP for n in items]
"""


@pytest.fixture
def module(real: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module whose functions depend on a value that tests change."""
    (real / "shared_steps.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(real))
    monkeypatch.delitem(sys.modules, "shared_steps", raising=False)
    return importlib.import_module("shared_steps")


@pytest.fixture
def switching() -> Iterator[None]:
    """Switch threads as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def cached(module: types.ModuleType, name: str) -> Callable[[int], int]:
    if name == "memo":
        return larder.memo(module.one)
    batch = larder.memo_batch(module.many, items="items")
    return lambda n: batch([n])[0]


class Slow:
    """An identity that blocks the first thread that reads its digest."""

    def __init__(self, identity: Any, first: threading.Lock, waits: threading.Event, goes_on: threading.Event) -> None:
        self._identity, self._first, self._waits, self._goes_on = identity, first, waits, goes_on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._identity, name)

    @property
    def digest(self) -> bytes:
        if self._first.acquire(blocking=False):
            self._waits.set()
            assert self._goes_on.wait(30)
        return bytes(self._identity.digest)


@pytest.mark.parametrize("name", ["memo", "memo_batch"])
def test_a_thread_between_identity_and_publication(module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread has identified a function and not yet published the result, others compute correctly."""
    f = cached(module, name)
    assert f(1) == 2
    where: Any = function if name == "memo" else batch_function
    identify = where.identify
    first, waits, goes_on = threading.Lock(), threading.Event(), threading.Event()
    monkeypatch.setattr(where, "identify", lambda *a, **k: Slow(identify(*a, **k), first, waits, goes_on))
    module.STEP = 100
    with ThreadPoolExecutor(1) as pool:
        blocked = pool.submit(f, 1)
        assert waits.wait(30)
        try:
            assert f(1) == 101
        finally:
            goes_on.set()
        assert blocked.result(30) == 101


@pytest.mark.parametrize("name", ["memo", "memo_batch"])
def test_first_calls_of_threads_after_edits(module: Any, name: str, switching: None) -> None:
    f = cached(module, name)
    with ThreadPoolExecutor(8) as pool:
        for step in range(40):
            module.STEP = step
            barrier = threading.Barrier(8)

            def call(n: int, barrier: threading.Barrier = barrier) -> int:
                barrier.wait(30)
                return f(n % 3)

            assert list(pool.map(call, range(8))) == [n % 3 + step for n in range(8)]
