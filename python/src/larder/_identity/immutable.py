"""Tell values that are immutable, with everything that they refer to, from others."""

from __future__ import annotations

from typing import Any

FIXED: set[type] = {type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented)}
"""Types of values that are immutable, with everything that they refer to."""


def fixed(value: Any) -> bool:
    """Report whether a value is immutable."""
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(fixed, value))
    return kind in FIXED
