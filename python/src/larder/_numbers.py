"""Check numbers given as options."""

from __future__ import annotations

import math
import operator
from typing import Any, overload

from .errors import RequestError

_MOST = 2**63 - 1


@overload
def whole(name: str, value: None, least: int = 0, most: int = _MOST) -> None: ...
@overload
def whole(name: str, value: Any, least: int = 0, most: int = _MOST) -> int: ...
def whole(name: str, value: Any, least: int = 0, most: int = _MOST) -> int | None:
    """Return an integer of any type as a Python int; None stays None."""
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r:.80} is not an integer") from None
    if not least <= number <= most:
        raise RequestError(f"{name}={number}: must be {least} to {most}")
    return number


def finite(name: str, value: Any) -> float:
    """Return a number that is neither infinite nor NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r:.80} is not a number") from None
    if not math.isfinite(number):
        raise RequestError(f"{name}={number}: must be finite")
    return number
