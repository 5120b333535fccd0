"""Encode lists and tuples of only numbers, or of short strings and None, as buffers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from .layout import PACKED, SHARED

_FLOATS, _INTS, _TEXTS, _SOME = b"fiso"
BUFFERS = {_FLOATS: 1, _INTS: 1, _TEXTS: 2, _SOME: 2}
"""The letters of packed values, and the number of buffers of each."""


def packed(value: list[Any] | tuple[Any, ...]) -> tuple[int, list[bytes]] | None:
    """Return the letter and the buffers of a value, or None if it is not packed."""
    if len(value) < PACKED or type(value[0]) not in _PACKS:
        return None
    types = set(map(type, value))
    if len(types) == 1:
        return _PACKS[type(value[0])](value)
    return _some(value) if types == {str, _NONE} else None


def _floats(value: Any) -> tuple[int, list[bytes]]:
    return _FLOATS, [struct.pack(f"<{len(value)}d", *value)]


def _ints(value: Any) -> tuple[int, list[bytes]] | None:
    try:
        return _INTS, [struct.pack(f"<{len(value)}q", *value)]
    except struct.error:  # one has more than 64 bits
        return None


def _texts(value: Any) -> tuple[int, list[bytes]] | None:
    text = "".join(value)
    if len(text) > SHARED * len(value):  # long ones are written once each
        return None
    return _TEXTS, [struct.pack(f"<{len(value)}I", *map(len, value)), text.encode("utf-8", "surrogatepass")]


def _some(value: Any) -> tuple[int, list[bytes]] | None:
    """Pack strings and None, where None has the length 2**32 - 1, which no string has."""
    made = _texts([text for text in value if text is not None])
    if made is None:
        return None
    sizes = [_MISSING if text is None else len(text) for text in value]
    return _SOME, [struct.pack(f"<{len(value)}I", *sizes), made[1][1]]


_NONE = type(None)
_MISSING = 0xFFFFFFFF
_PACKS: dict[type, Callable[[Any], tuple[int, list[bytes]] | None]] = {
    float: _floats,
    int: _ints,
    str: _texts,
    _NONE: lambda value: None,  # no other value
}


def unpacked(letter: int, n: int, buffers: list[memoryview]) -> tuple[Any, ...] | list[Any]:
    """Return the n items of a packed value."""
    if letter not in (_TEXTS, _SOME):
        return _numbers(n, "d" if letter == _FLOATS else "q", 8, buffers[0])
    text = str(buffers[1], "utf-8", "surrogatepass")
    at = 0
    found: list[Any] = []
    for size in _numbers(n, "I", 4, buffers[0]):
        if size == _MISSING and letter == _SOME:
            found.append(None)
            continue
        found.append(text[at : at + size])
        at += size
    if at != len(text):
        raise ValueError(f"texts of {at} characters in {len(text)}")
    return found


def _numbers(n: int, letter: str, size: int, buffer: memoryview) -> tuple[Any, ...]:
    if n * size != len(buffer):
        raise ValueError(f"{n} numbers in {len(buffer)} bytes")
    return struct.unpack(f"<{n}{letter}", buffer)
