"""Test random draws of other threads while a cached function runs."""

from __future__ import annotations

import asyncio
import copy
import random
import statistics
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import larder
from larder._identity.code.identity import identify
from larder._reads.audit import Watch


@dataclass
class Scale:
    by: int

    def of(self, value: int) -> int:
        return value * self.by


class Dice:
    def roll(self) -> float:
        return statistics.NormalDist(0, 1).samples(1)[0]


STARTED, DONE = threading.Event(), threading.Event()


def wait() -> None:
    """Let the other thread draw now."""
    STARTED.set()
    assert DONE.wait(60)


def draw() -> None:
    random.random()
    np.random.random()


def while_others_draw(call: Callable[[], Any]) -> Any:
    """Make a call, during which another thread draws when `wait` is called."""
    STARTED.clear()
    DONE.clear()

    def other() -> None:
        if STARTED.wait(60):
            draw()
            DONE.set()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        return call()
    finally:
        STARTED.set()
        thread.join()


def numbers(count: int) -> Any:
    return sum(i * i for i in range(count))


def arrays(values: Any) -> Any:
    return float(np.sort(values).sum())


def seeded(count: int) -> Any:
    return np.random.default_rng(count).random()


def of_object(scale: Scale) -> Any:
    return scale.of(3)


@pytest.mark.parametrize(
    ("function", "argument"), [(numbers, 9), (arrays, np.arange(3.0)), (seeded, 3), (of_object, Scale(2))]
)
def test_what_another_thread_draws_is_not_blamed_on_a_function(
    function: Callable[..., Any], argument: Any, real: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = larder.memo(function)
    _draw_during(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert while_others_draw(lambda: cached(argument)) == function(argument)
    assert cached.cached(argument)


def by_statistics(dice: int) -> Any:
    return statistics.NormalDist(0, 1).samples(dice)


def by_argument(dice: Dice) -> Any:
    return dice.roll()


def by_function(roll: Any) -> Any:
    return roll()


@pytest.mark.parametrize(
    ("function", "argument"), [(by_statistics, 2), (by_argument, Dice()), (by_function, Dice().roll)]
)
def test_what_may_draw_is_not_kept_where_another_thread_draws(
    function: Callable[..., Any], argument: Any, real: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = larder.memo(function)
    _draw_during(monkeypatch)
    with pytest.warns(larder.NotCachedWarning, match="it, or code that ran concurrently, drew random numbers"):
        while_others_draw(lambda: cached(argument))
    assert not cached.cached(argument)


def test_what_another_coroutine_draws_is_not_blamed_on_a_function(real: Any) -> None:
    @larder.memo
    async def later(count: int) -> int:
        await asyncio.sleep(0)
        return count * 2

    async def other() -> None:
        for _ in range(100):
            draw()
            await asyncio.sleep(0)

    async def both() -> int:
        task = asyncio.create_task(other())
        made = await later(3)
        task.cancel()
        return made

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asyncio.run(both()) == 6
    assert later.cached(3)


def _draw_during(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make another thread draw while a cached function runs, just before the generators are checked again."""
    from larder._reads.audit import Watch

    leave = Watch.__exit__

    def left(self: Watch, *error: object) -> None:
        wait()
        leave(self, *error)

    monkeypatch.setattr(Watch, "__exit__", left)


class Own(random.Random):
    """A generator of the program."""


def _restored() -> float:
    made = random.Random()
    made.setstate(random.Random(3).getstate())
    return made.random()


def _seeded_late() -> float:
    made = random.Random()
    found = made.random()
    made.seed(3)
    return found


def _in_a_thread() -> None:
    thread = threading.Thread(target=lambda: random.Random(None))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("make", "blamed"),
    [
        (lambda: random.Random(None), True),
        (lambda: random.Random(3), False),
        (lambda: Own(None), True),
        (lambda: random.Random(3).seed(), True),
        (lambda: random.Random().seed(3), False),
        (_seeded_late, True),
        (_restored, False),
        (lambda: copy.deepcopy(random.Random(3)), False),
        (_in_a_thread, True),
        (lambda: np.random.RandomState(None), True),
        (lambda: np.random.RandomState(3), False),
        (lambda: np.random.RandomState(3).seed(), True),
        (lambda: np.random.RandomState().seed(3), False),
        (lambda: isinstance(np.random.RandomState(3)._bit_generator, np.random.MT19937), False),
        (lambda: copy.deepcopy(np.random.RandomState(3)), False),
        (lambda: np.random.default_rng(None), True),
        (lambda: np.random.default_rng(3), False),
    ],
)
def test_a_generator_that_gets_its_seed_from_the_system_is_noticed(make: Callable[[], Any], blamed: bool) -> None:
    with Watch([]) as watch:
        make()
    assert ("a generator without a seed" in watch.reason()) is blamed


def test_seeds_of_the_system_are_refused_by_name() -> None:
    def again(rng: Any) -> Any:
        rng.seed()
        return rng.random()

    def given(rng: Any) -> Any:
        rng.seed(3)
        return rng.seed

    with pytest.raises(larder.CodeError, match="seed may reach random numbers without a seed"):
        identify(again)
    identify(given)
