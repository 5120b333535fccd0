"""Encode functions compiled by numba, by the data from which they are copied and attributes that the program set."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

from numba.core.serialize import ReduceMixin

from ..instructions import instructions
from .encoder import Encoder, Writer
from .objects import reduced

_GIVEN = frozenset([*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"])


def find(cls: type) -> Writer | None:
    """Return the encoder of compiled functions, for which numba says how they are copied."""
    return _jitted if issubclass(cls, ReduceMixin) else None


def _jitted(e: Encoder, value: Any) -> None:
    reduced(e, value)
    kind: Any = type(value)
    own = _own(kind)
    for name, held in getattr(value, "__dict__", {}).items():
        if name not in own:
            e.named(b".", name, held)


@functools.lru_cache(64)
def _own(cls: type) -> frozenset[str]:
    """Return the attributes that the code of a class sets."""
    codes = [f.__code__ for base in cls.__mro__ for f in vars(base).values() if isinstance(f, types.FunctionType)]
    return _GIVEN.union(*map(_stored, codes))


def _stored(code: types.CodeType) -> Iterator[str]:
    for op in instructions(code):
        if op.opname == "STORE_ATTR":
            yield op.argval
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _stored(inner)
