"""Detect unseeded random number generation during a call.

Libraries draw from generators of the process, unless the caller passes a generator or a
seed. A draw changes the state of a generator, and a generator that seeds itself asks the
system. A function that does neither does not depend on randomness. Neither does one whose
code cannot draw, if another thread drew during the call.
"""

from __future__ import annotations

import functools
import random
import sys
import threading
from asyncio import _get_running_loop
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

_lock = threading.Lock()
_watched: set[str] = set()
_asked: dict[int, int] = {}
"""How often each thread asked the system for a seed."""
_made: dict[int, tuple[Any, Any]] = {}
"""The last generator of each thread that may still receive another seed, with its state."""


class GeneratorStates:
    """The states of the generators when it was created.

    States do not tell which thread or coroutine drew. If others run, `may_draw` says whether the
    watched code could have drawn.
    """

    def __init__(self, may_draw: Callable[[], bool]) -> None:
        _watch_seeds()
        self._may_draw = may_draw
        self._before = dict(_states())
        self._asked, self._of_all = _seeds()
        self._accompanied = threading.active_count() > 1 or _get_running_loop() is not None

    def drawn(self) -> str:
        """Return the generator that was drawn from since, or the empty string."""
        found = self._changed()
        if found and self.accompanied() and _seeds()[0] == self._asked and not self._may_draw():
            return ""
        return found

    def accompanied(self) -> bool:
        """Report whether other threads or coroutines may have drawn."""
        return self._accompanied or threading.active_count() > 1

    def _changed(self) -> str:
        for name, state in _states():
            if name in self._before and not _is_same(self._before[name], state):  # otherwise a library brought it
                return name
        return "a generator without a seed" if _seeds()[1] != self._of_all else ""

    def _pardon(self, before: dict[str, Any], after: dict[str, Any], asked: int) -> None:
        for name, state in before.items():
            if name in self._before and _is_same(self._before[name], state):
                self._before[name] = after[name]
        self._asked, self._of_all = self._asked + asked, self._of_all + asked


@contextmanager
def pardoned(earlier: Iterable[GeneratorStates | None]) -> Iterator[None]:
    """Exclude draws within the block from all of these, as other code accounts for them."""
    alone = [one for one in earlier if one is not None and not one.accompanied()]
    before, asked = (dict(_states()), _seeds()[0]) if alone else ({}, 0)
    try:
        yield
    finally:
        if alone:
            after, asked = dict(_states()), _seeds()[0] - asked
            for one in alone:
                one._pardon(before, after, asked)


def _seeds() -> tuple[int, int]:
    """Return how often generators requested a seed from the system and used it: in this thread, and in all."""
    for thread, (generator, _) in list(_made.items()):
        if _made.pop(thread, None) and getattr(generator, "_seed_seq", generator) is not None:
            _count(thread)
    return _asked.get(threading.get_ident(), 0), sum(list(_asked.values()))


def _count(thread: int) -> None:
    with _lock:
        _asked[thread] = _asked.get(thread, 0) + 1


def _states() -> Iterator[tuple[str, Any]]:
    """Yield the states of the generators of the process and of imported libraries."""
    yield "the generator of random", random.getstate()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        name, *state = numpy.random.get_state()
        yield "the global generator of NumPy", (name, *(s.tobytes() if hasattr(s, "tobytes") else s for s in state))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        yield "the global generator of torch", torch.get_rng_state()
        if torch.cuda.is_initialized():
            for i, state in enumerate(torch.cuda.get_rng_state_all()):
                yield f"the generator of device {i} of torch", state


def _is_same(one: Any, other: Any) -> bool:
    return bool(one.equal(other)) if hasattr(one, "equal") else bool(one == other)


def _watch_seeds() -> None:
    """Count how often generators ask the system for a seed."""
    for name, watch in (("random", _watch_random), ("numpy.random.bit_generator", _watch_numpy)):
        if name not in _watched and name in sys.modules:
            with _lock:
                if name not in _watched:
                    watch()
                    _watched.add(name)


def _watch_random() -> None:
    seed, set_state = random.Random.seed, random.Random.setstate

    @functools.wraps(seed)
    def seeded(self: random.Random, *given: Any, **named: Any) -> None:
        _decided(self)
        seed(self, *given, **named)
        if (given[0] if given else named.get("a")) is None and not _is_of_others(sys._getframe(1)):
            _keep(self, random.Random.getstate(self))

    @functools.wraps(set_state)
    def restored(self: random.Random, state: Any) -> None:
        _decided(self)
        set_state(self, state)

    random.Random.seed, random.Random.setstate = seeded, restored  # type: ignore[method-assign]


def _decided(generator: random.Random) -> None:
    """Forget that a generator was created without a seed, if it drew nothing before it received one."""
    thread = threading.get_ident()
    made, state = _made.get(thread, (None, None))
    if made is generator and random.Random.getstate(generator) == state:
        del _made[thread]


def _keep(generator: Any, state: Any) -> None:
    _seeds()
    _made[threading.get_ident()] = generator, state


def _watch_numpy() -> None:
    module: Any = import_module("numpy.random.bit_generator")
    states: Any = import_module("numpy.random.mtrand")
    ask, make, computing = module.randbits, states._MT19937, threading.local()

    def randbits(k: int) -> int:
        if not getattr(computing, "on", False) and not _is_of_others(sys._getframe(1)):
            _count(threading.get_ident())
        return int(ask(k))

    class Creator(type):
        """Creates the generator of a RandomState, which asks for a seed and then uses the given one."""

        def __call__(cls) -> Any:
            computing.on = True
            try:
                generator = make()
            finally:
                computing.on = False
            if not _is_of_others(sys._getframe(1)):
                _keep(generator, None)
            return generator

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, make)

    class Made(metaclass=Creator):
        """Replaces the class that creates it."""

    module.randbits, states._MT19937 = randbits, Made


def _is_of_others(frame: FrameType | None) -> bool:
    """Report whether the request for a seed comes from an import, a copy, or the name of a temporary file."""
    while frame is not None:
        if frame.f_globals.get("__name__") in _OTHERS:
            return True
        frame = frame.f_back
    return False


_OTHERS = frozenset(["importlib._bootstrap", "tempfile", "numpy.random._pickle"])
