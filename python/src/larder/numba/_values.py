"""Distinguish numba's types by everything that they hold.

numba has one object for equal types: the one that the process created first. To Python 0.0
equals -0.0, 1 equals 1.0 and True, and so do tuples of these. So a function with a default value
may be compiled with another value. Types identified only by name, such as iterators over lists,
hold other types whose names may be equal: two named tuples of one name have different fields. No
key covers which type came first, so here types are equal only if everything they hold is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

from numba.core import types

from .._identity.immutable import fixed

_BY_NAME = types.Type.key

_MOST = 1000
"""How much of the values in a type is compared."""

confused: dict[str, None] = {}
"""Types of the program that this process confused, as strings: later compilations have no key."""


class _Comparing(threading.local):
    """Types that a thread is comparing, which may contain themselves."""

    def __init__(self) -> None:
        self.pairs: set[tuple[int, int]] = set()


_comparing = _Comparing()


def told_apart() -> None:
    """Make types equal only if everything they hold is the same."""
    types.Type.__eq__ = _is_equal
    types.Omitted.__eq__ = _with(lambda kind: kind.value)
    types.SliceLiteral.__eq__ = _with(lambda kind: kind.key)
    types.Record.__eq__ = _is_equal_record


def exact(value: Any) -> Any:
    """Return a value that is equal for two values only if they are the same, not merely equal to Python."""
    if isinstance(value, tuple):
        return (type(value), *map(exact, value))
    kind = getattr(value, "dtype", None)  # that of a scalar of NumPy
    return type(value), repr(value) if isinstance(value, (float, complex)) or kind is not None else ""


def _with(value: Callable[[Any], Any]) -> Any:
    """Return the comparison of types that hold a value."""

    def __eq__(self: Any, other: Any) -> bool:
        return self is other or (_is_equal(self, other) and exact(value(self)) == exact(value(other)))

    return __eq__


def _is_equal_record(self: Any, other: Any) -> bool:
    """Report whether records are equal, even if a field is named to look like two."""
    return self is other or (_is_equal(self, other) and list(self.fields) == list(other.fields))


def _is_equal(self: Any, other: Any) -> bool:
    if self is other:
        return True
    cls = self.__class__
    if cls is not other.__class__:
        return False
    key = self.key
    if key != other.key or (key is vars(self).get("name") and not _holds_the_same(self, other)):
        return False
    if not cls._is_internal:
        _compare(self, other)
    return True


def _compare(one: Any, other: Any) -> None:
    """Record it if two equal types of the program hold different values, so that one is used for the other."""
    its = vars(other)
    for name, value in vars(one).items():
        held = its.get(name)
        if name == "_code" or value is None or held is None or not (fixed(value) and fixed(held)):
            continue  # a number of the process, or state that is filled in or set later
        if value != held or exact(value) != exact(held):
            confused[
                f"numba treated two different types as equal: both compare equal as {one} but differ in {name}"
            ] = None


def _holds_the_same(one: Any, other: Any) -> bool:
    """Report whether two types of one name hold the same types, as far as both have them by now."""
    pair = id(one), id(other)
    if pair in _comparing.pairs:
        return True
    _comparing.pairs.add(pair)
    try:
        its = vars(other)
        both = [(value, its[name]) for name, value in vars(one).items() if name in its]
        pairs = ((_types_in(mine), _types_in(held)) for mine, held in both)
        return all(len(mine) == len(held) and all(map(_is_same, mine, held)) for mine, held in pairs)
    finally:
        _comparing.pairs.discard(pair)


def _is_same(one: Any, other: Any) -> bool:
    """Report whether types are equal, even without names, as some create the types that hold them first."""
    if one is other or type(one) is not type(other) or type(one).key is not _BY_NAME:
        return bool(one == other)
    names = [vars(kind).get("name") for kind in (one, other)]
    return (None in names or names[0] == names[1]) and _holds_the_same(one, other)


def _types_in(value: Any) -> list[Any]:
    """Return the types in a value, which may be large, or contain itself."""
    found: list[Any] = []
    left, seen = [value], set()
    for _ in range(_MOST):
        if not left:
            break
        one = left.pop()
        if isinstance(one, types.Type):
            found.append(one)
        elif isinstance(one, (tuple, list, dict)) and id(one) not in seen:
            seen.add(id(one))
            left += islice(one.values() if isinstance(one, dict) else one, _MOST)
    return found
