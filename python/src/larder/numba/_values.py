"""Types of numba that have values in them, told apart by all of these.

numba has one object for types that are equal, and Python's equality says so of 0.0 and
-0.0, of 1, 1.0 and True, and of tuples of these. A function with a default value is
compiled with the one of two equal values of which the process made a type first. Which
it was is in no key; so here such types are equal only if their values are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types


def told_apart() -> None:
    """Have types equal only if the values in them are the same."""
    for cls, value in _HELD:
        cls.__eq__ = _equal(cls.__eq__, value)


def exact(value: Any) -> Any:
    """Return what is equal for values that are equal to Python only if they are the same."""
    if isinstance(value, tuple):
        return (type(value), *map(exact, value))
    kind = getattr(value, "dtype", None)  # that of a scalar of NumPy
    return type(value), repr(value) if isinstance(value, (float, complex)) or kind is not None else ""


def _slice(kind: Any) -> Any:
    return kind.literal_value.start, kind.literal_value.stop, kind.literal_value.step


_HELD: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (types.Omitted, lambda kind: kind.value),
    (types.SliceLiteral, _slice),
)
"""Classes of types, and what is in them that their keys do not tell all of."""


def _equal(usual: Any, value: Callable[[Any], Any]) -> Any:
    """Return how types are compared: as usual, and by the values in them."""

    def __eq__(self: Any, other: Any) -> bool:
        return self is other or bool(usual(self, other) and exact(value(self)) == exact(value(other)))

    return __eq__
