"""Raise warnings at the program's line, however deep in this package they originate."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from types import FrameType
from typing import Any

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_BETWEEN = frozenset(
    ["asyncio", "concurrent", "contextlib", "contextvars", "functools", "queue", "selectors", "threading"]
)
"""Packages of the standard library that call functions of others."""


def warn(text: str, category: type[Warning], function: Any = None) -> None:
    """Warn at the innermost line outside this package.

    In a thread that no line of the program called, that is the first line of `function`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    if frame is not None:
        _warn(text, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
        return
    inner = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(inner, "__code__", None)
    if code is None:
        warnings.warn(text, category, stacklevel=2)
    else:
        _warn(text, category, code.co_filename, code.co_firstlineno, inner.__globals__)


def _warn(text: str, category: type[Warning], file: str, line: int, space: dict[str, Any]) -> None:
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, file, line, str(space.get("__name__", "<string>")), registry, space)


def _is_between(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_OWN) or package in _BETWEEN
