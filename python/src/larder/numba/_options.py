"""Read the options and flags with which a function is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._identity.immutable import fixed

USUAL: dict[str, tuple[Any, ...]] = {
    "nogil": (False, None),
    "parallel": (False, None),
    "boundscheck": (False, None),
    "debug": (False, None),
    "inline": ("never",),
    "fastmath": (False,),
    "error_model": ("python",),
}
"""Values of options that the resulting flags already cover."""

INHERITED = ("nrt", "fastmath", "error_model", "forceinline")
"""Flags that a function without them inherits from the first function that it is compiled within."""

Passed = dict[str, Any]
"""The inherited ones of some flags."""

_MISSING = object()

_known: dict[tuple[Any, ...], Flagged] = {}
_MOST = 4096


@dataclass(slots=True, frozen=True)
class Flagged:
    """The flags of a compilation, and all of them as a string."""

    flags: Any
    text: str


def options_of(dispatcher: Any) -> list[tuple[str, Any]]:
    """Return all options of a function's compilation, in a fixed order."""
    found = [(name, value) for name, value in sorted(dispatcher.targetoptions.items())]
    found.append(("locals", declared(dispatcher.locals)))
    found.append(("pipeline", dispatcher._compiler.pipeline_class))
    found.append(("dispatcher", type(dispatcher)))
    return found


def declared(said: dict[str, Any] | None) -> dict[str, Any]:
    """Return the declared types of variables by name, without those that numba adds while it compiles.

    numba names each further assignment of a variable separately (`x.1`), with the type of the variable.
    """
    said = said or {}
    return {
        name: kind
        for name, kind in sorted(said.items())
        if "." not in name or said.get(name.partition(".")[0], _MISSING) != kind
    }


def said_of(dispatcher: Any) -> tuple[Any, ...] | None:
    """Return a value that is equal for functions with the same options, or None if strings cannot tell."""
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
    """Return the flags of a function that is first met within another one with the flags `within`.

    Options that a function does not set (fastmath, the error model) come from there. `said` is the result of `said_of`.
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
    """Return the flags of the function that is being compiled, if any."""
    from numba.core.targetconfig import ConfigStack

    flags = ConfigStack.top_or_none()
    return None if flags is None else Flagged(flags, shown(flags))


def passed(flags: Any) -> Passed:
    """Return those of some flags that functions inherit which are compiled within a function with these flags."""
    return {name: getattr(flags, name) for name in INHERITED}


def shown_passed(flags: Any) -> str:
    """Return as a string those of some flags that inner functions inherit."""
    return " ".join(map(text_of, passed(flags).values()))


@contextmanager
def inheriting(flags: Passed) -> Iterator[None]:
    """Compile functions within the block as if within one that has some flags; without flags, unchanged."""
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
    """Return all flags as a string that is the same in each process."""
    return " ".join(f"{name}={text_of(value)}" for name, value in sorted(flags.values().items()))


def text_of(value: Any) -> str:
    """Return a string that represents a flag completely, and is the same in each process."""
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
