"""Whether a function draws random numbers that nobody decided, while it runs.

Libraries draw from generators that the whole process has, unless they are given another
one or a seed. Whoever drew from one left it in another state; and what seeds itself asks
the system for it. A function that did neither has a result that does not depend on chance;
nor has one whose code cannot draw, where another thread did.
"""

from __future__ import annotations

import random
import sys
import threading
from asyncio import _get_running_loop
from collections.abc import Callable, Iterator
from importlib import import_module
from types import FrameType
from typing import Any

from ._code._instructions import instructions

_lock = threading.Lock()
_seeded = threading.local()
_watched = False


class Chance:
    """The generators as they were when it was made.

    Their states do not tell which thread or coroutine drew. Where there is another one, `may_draw` says
    whether the code that is watched could have.
    """

    def __init__(self, may_draw: Callable[[], bool]) -> None:
        _watch_seeds()
        self._may_draw = may_draw
        self._before, self._asked = dict(_states()), _asked()
        self._accompanied = threading.active_count() > 1 or _get_running_loop() is not None

    def drawn(self) -> str:
        """Return what was drawn from since, if anything was."""
        found = self._changed()
        if found and self.accompanied() and _asked() == self._asked and not self._may_draw():
            return ""
        return found

    def accompanied(self) -> bool:
        """Report whether other threads or coroutines may have drawn."""
        return self._accompanied or threading.active_count() > 1

    def _changed(self) -> str:
        for name, state in _states():
            if name in self._before and not _is_same(self._before[name], state):  # else it came with a library
                return name
        return "a generator of NumPy without a seed" if _asked() != self._asked else ""


def _asked() -> int:
    return getattr(_seeded, "count", 0)


def _states() -> Iterator[tuple[str, Any]]:
    """Yield the states of the generators of the process, of libraries that are there."""
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
    """Count how often NumPy asks the system for a seed, in this thread."""
    global _watched
    if _watched or "numpy" not in sys.modules:
        return
    module: Any = import_module("numpy.random.bit_generator")
    with _lock:
        if not _watched:
            _watched = True
            ask = module.randbits

            def randbits(k: int) -> int:
                if not _is_seeded_next(sys._getframe(1)):
                    _seeded.count = _asked() + 1
                return int(ask(k))

            module.randbits = randbits


def _is_seeded_next(frame: FrameType) -> bool:
    """Report whether a frame is making a RandomState: that asks for a seed, and then takes the one it is given."""
    for op in reversed(instructions(frame.f_code)):
        if op.offset <= frame.f_lasti and op.argval in _MAKERS:
            return bool(op.argval == "RandomState")
    return False


_MAKERS = ("RandomState", "default_rng", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
