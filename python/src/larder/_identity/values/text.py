"""Describe values in explanations of keys."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

_MOST = 80

_digest: Callable[[Any], bytes]


def shows(digest: Callable[[Any], bytes]) -> None:
    """Declare the function whose results the descriptions of arrays show."""
    global _digest
    _digest = digest


def describe(value: Any) -> str:
    """Return a short description of a value in a line of at most 80 characters."""
    try:
        text = _described(value, 3)
    except Exception:  # its own description raises an error
        text = f"a {type(value).__qualname__}"
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def _described(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in (int, float, complex, bool, type(None), type(...)):
        return _number(value)
    if kind in (str, bytes):
        return _quoted(value)
    if kind in (list, tuple, set, frozenset):
        return _items(value, depth)
    if kind is dict:
        return _pairs(value, depth)
    if isinstance(value, enum.Enum):
        return f"{kind.__qualname__}.{value._name_}"
    if isinstance(value, type) or hasattr(kind, "__code__") or callable(value):
        name = _attribute(value, "__qualname__")
        if isinstance(name, str):
            return f"{_attribute(value, '__module__') or ''}.{name}".lstrip(".")
    if kind.__name__ in ("ndarray", "Tensor", "Parameter"):
        return _array(value, value.shape, value.dtype)
    if hasattr(kind, "__fspath__"):
        return _quoted(str(value))
    return f"a {kind.__qualname__}"


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute, whatever the object does when it is read."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _number(value: Any) -> str:
    if type(value) is int and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    return "..." if value is ... else repr(value)


def _quoted(value: str | bytes) -> str:
    # No more than is shown is converted to a string first.
    text = repr(value[:_MOST])
    if isinstance(value, str):
        inner = text[1:-1].replace('"', '\\"') if text[0] == "'" else text[1:-1]
        text = f'"{inner}"'
    return text if len(value) <= _MOST else text + "…"


def _items(value: Any, depth: int) -> str:
    if isinstance(value, (set, frozenset)):
        return f"a set of {len(value)}"
    left, right = ("[", "]") if type(value) is list else ("(", ")")
    if depth == 0:
        return f"{left}…{right}"
    shown = [_described(item, depth - 1) for item in value[:20]]
    comma = "," if type(value) is tuple and len(value) == 1 else ""
    return left + ", ".join(shown) + (", …" if len(value) > 20 else comma) + right


def _pairs(value: dict[Any, Any], depth: int) -> str:
    if depth == 0:
        return "{…}"
    shown = [
        f"{_described(key, depth - 1)}: {_described(item, depth - 1)}"
        for (key, item), _ in zip(value.items(), range(20), strict=False)
    ]
    return "{" + ", ".join(shown) + (", …" if len(value) > 20 else "") + "}"


def _array(value: Any, shape: Any, dtype: Any) -> str:
    what = str(dtype).removeprefix("torch.")
    form = " x ".join(map(str, shape)) or "no axes"
    kind = "array" if type(value).__name__ == "ndarray" else type(value).__name__
    try:
        return f"{what} {kind} of {form}, {_digest(value).hex()[:4]}…"
    except Exception:  # it has no key, which is reported elsewhere
        return f"{what} {kind} of {form}"
