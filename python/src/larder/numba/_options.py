"""With which options and flags a function is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._keys._encoder import fixed

USUAL: dict[str, tuple[Any, ...]] = {
    "nogil": (False, None),
    "parallel": (False, None),
    "boundscheck": (False, None),
    "debug": (False, None),
    "inline": ("never",),
    "fastmath": (False,),
    "error_model": ("python",),
}
"""What says no more than the flags do that come of it."""

INHERITED = ("nrt", "fastmath", "error_model", "forceinline")
"""Flags that a function which says nothing of them takes from the one that it is first compiled within."""

Passed = dict[str, Any]
"""Of some flags, those that are inherited."""

_MISSING = object()

_known: dict[tuple[Any, ...], Flagged] = {}
_MOST = 4096


@dataclass(slots=True, frozen=True)
class Flagged:
    """Flags that something is compiled with, and all of them as text."""

    flags: Any
    text: str


def options_of(dispatcher: Any) -> list[tuple[str, Any]]:
    """Return all that was said of how a function is to be compiled, in an order of its own."""
    found = [(name, value) for name, value in sorted(dispatcher.targetoptions.items())]
    found.append(("locals", declared(dispatcher.locals)))
    found.append(("pipeline", dispatcher._compiler.pipeline_class))
    found.append(("dispatcher", type(dispatcher)))
    return found


def declared(said: dict[str, Any] | None) -> dict[str, Any]:
    """Return the types that were declared for variables, by their names, without those that numba adds as it compiles.

    It gives each further assignment of a variable a name of its own (`x.1`), with the type of the variable.
    """
    said = said or {}
    return {
        name: kind
        for name, kind in sorted(said.items())
        if "." not in name or said.get(name.partition(".")[0], _MISSING) != kind
    }


def said_of(dispatcher: Any) -> tuple[Any, ...] | None:
    """Return what is equal for functions of which the same was said, or None if that cannot be told from texts."""
    if dispatcher.locals:
        return None
    found: list[Any] = [dispatcher._compiler.pipeline_class, type(dispatcher)]
    for name, value in sorted(dispatcher.targetoptions.items()):
        kind = type(value).__name__
        if type(value) in (set, frozenset):
            value = tuple(sorted(map(str, value)))
        if not fixed(value):
            return None
        found.append((name, kind, repr(value)))
    return tuple(found)


def effective(dispatcher: Any, said: tuple[Any, ...] | None, within: Flagged | None) -> Flagged | None:
    """Return the flags that a function is compiled with if it is first met within another one, whose flags these are.

    What a function says nothing of (fastmath, the error model) it takes from there. `said` is what `said_of` returned.
    """
    if said is None:
        said = (type(dispatcher), *((name, repr(value)) for name, value in dispatcher.targetoptions.items()))
    key = (said, within and within.text)
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        made = _effective(dispatcher, within)
        found = _known[key] = Flagged(made, shown(made))
    return found


def _effective(dispatcher: Any, within: Flagged | None) -> Any:
    from numba.core.compiler import Flags
    from numba.core.targetconfig import ConfigStack

    flags = Flags()
    parse = dispatcher.targetdescr.options.parse_as_flags
    if within is None:
        parse(flags, dispatcher.targetoptions)
        return flags
    with ConfigStack().enter(within.flags.copy()):
        parse(flags, dispatcher.targetoptions)
    return flags


def around() -> Flagged | None:
    """Return the flags of the function that is being compiled, if one is."""
    from numba.core.targetconfig import ConfigStack

    flags = ConfigStack.top_or_none()
    return None if flags is None else Flagged(flags, shown(flags))


def passed(flags: Any) -> Passed:
    """Return what of some flags those functions take that are compiled within one which has them."""
    return {name: getattr(flags, name) for name in INHERITED}


def shown_passed(flags: Any) -> str:
    """Return as text what of some flags those functions take that are compiled within one which has them."""
    return " ".join(map(text_of, passed(flags).values()))


@contextmanager
def inheriting(flags: Passed) -> Iterator[None]:
    """Have functions compiled as if it were within one that has some flags; with none, as they are."""
    from numba.core.compiler import Flags
    from numba.core.targetconfig import ConfigStack

    if not flags:
        yield
        return
    around = Flags()
    for name, value in flags.items():
        setattr(around, name, value)
    with ConfigStack().enter(around):
        yield


def shown(flags: Any) -> str:
    """Return all flags as text that is the same in each process."""
    return " ".join(f"{name}={text_of(value)}" for name, value in sorted(flags.values().items()))


def text_of(value: Any) -> str:
    """Return what says all of a flag, and is the same in each process."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (set, frozenset)):
        return str(sorted(map(str, value)))
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    held = {**getattr(value, "__dict__", {})}
    for name in getattr(type(value), "__slots__", ()):
        held[name] = getattr(value, name)
    return f"{type(value).__qualname__}({', '.join(f'{k}={text_of(v)}' for k, v in sorted(held.items()))})"
