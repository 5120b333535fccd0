"""Encode expressions of sympy, which fill in hashes and derived values when they are used."""

from __future__ import annotations

import sys
from typing import Any

import sympy

from .encoder import Encoder, Writer
from .objects import attributes


def find(cls: type) -> Writer | None:
    """Return the encoder of expressions of sympy."""
    module: Any = sys.modules.get(cls.__module__)
    own = cls.__module__.startswith("sympy.") and getattr(module, cls.__qualname__, None) is cls
    return _expression if own and issubclass(cls, sympy.Basic) else None


def _expression(e: Encoder, value: Any) -> None:
    """Append the arguments from which an expression is copied, with the assumptions as declared, and its attributes."""
    if e.known(value):
        return
    e.of_class(b"J", type(value))
    for part in value.__reduce_ex__(4)[1:]:
        e.add(part)
    attributes(e, value, type(value), _FILLED)


_FILLED = frozenset(["_mhash", "_assumptions"])
