"""Compare two values completely, which == does not do."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

from larder._results import decode, encode


def back(value: Any) -> Any:
    """Return a value after encoding and decoding, which must leave it and its encoding unchanged."""
    encoded = encode(value)
    made = decode(encoded)
    assert same(made, value), f"{made!r} of {value!r}"
    assert encode(made) == encoded
    return made


def same(a: Any, b: Any) -> bool:
    """Return whether a and b are the same in each type, bit and order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (float, complex)):
        return bits(a) == bits(b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, (set, frozenset)):
        return len(a) == len(b) and same(sorted(a, key=repr), sorted(b, key=repr))
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name, None), getattr(b, f.name, None)) for f in dataclasses.fields(a))
    if type(a).__name__ == "ndarray":
        return same_arrays(a, b)
    return repr(a) == repr(b) if a != a else bool(a == b)


def bits(number: complex) -> bytes:
    if isinstance(number, float):
        return struct.pack("<d", number)
    return struct.pack("<dd", number.real, number.imag)


def same_arrays(a: Any, b: Any) -> bool:
    described = [(x.dtype, x.dtype.char, x.dtype.type, x.shape, x.flags.fnc) for x in (a, b)]
    if described[0] != described[1]:
        return False
    return same(a.tolist(), b.tolist()) if a.dtype.hasobject else a.tobytes("A") == b.tobytes("A")
