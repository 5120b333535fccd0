"""Encode and decode results with pickle."""

from __future__ import annotations

import pickle
from typing import Any

from ..errors import ResultError

_PREFIX = b"larder pickle 1\n"


def encode(value: Any) -> bytes:
    """Return the encoding of a value."""
    return _PREFIX + pickle.dumps(value, protocol=5)


def decode(encoded: Any) -> Any:
    """Return the value of an encoding, which runs the code that it names."""
    if bytes(encoded[: len(_PREFIX)]) != _PREFIX:
        raise ResultError("it was cached in another form")
    try:
        return pickle.loads(memoryview(encoded)[len(_PREFIX) :])
    except Exception as error:
        raise ResultError(f"it cannot be unpickled: {error}") from error
