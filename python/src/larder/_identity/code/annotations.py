"""Read the annotations of functions and classes."""

from __future__ import annotations

import functools
import re
import sys
import typing
from typing import Any

from .refusals import words

_NAME = re.compile(r"[A-Za-z_][\w.]*")


def hints(value: Any) -> tuple[tuple[str, str], ...]:
    """Return the annotations of a function or a class as strings, in order; string annotations in quotes."""
    found = _annotations(value).items()
    return tuple((str(name), repr(held) if isinstance(held, str) else _text(held, 6)) for name, held in found)


READING = frozenset(
    words(
        "__annotations__ __dataclass_fields__ dataclasses.fields typing.get_type_hints inspect.signature "
        "inspect.get_annotations annotationlib.get_annotations"
    )
)
"""Attributes and functions by which code reads annotations."""


def annotated(value: Any) -> list[Any]:
    """Return the objects that the annotations of a function or a class name or contain."""
    module = sys.modules.get(value.__module__) if isinstance(value, type) else None
    space = vars(module) if module else getattr(value, "__globals__", {})
    return [one for held in _annotations(value).values() for one in _parts(held, space, 6)]


def _parts(value: Any, space: dict[str, Any], depth: int) -> list[Any]:
    if isinstance(value, str):
        return [_found(name, space) for name in _NAME.findall(value)]
    parts = (getattr(value, "__origin__", None), *_held(value, "__args__"), *_held(value, "__metadata__"))
    inner = [one for part in parts if depth > 0 for one in _parts(part, space, depth - 1)]
    return inner if any(part is not None for part in parts) else [value]


def names_file(function: Any) -> frozenset[str]:
    """Return the parameters of a function that are annotated as files, whose content is in the key."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        module = sys.modules.get(function.__module__)
        return _names(function, vars(module) if module else {}) | names_file(vars(function).get("__init__"))
    return _names(function, getattr(function, "__globals__", {}))


def file_hints(function: Any) -> dict[str, Any]:
    """Return the annotations of a function that mention files, if their meaning is known."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        found = typing.get_type_hints(vars(function)["__init__"] if isinstance(function, type) else function)
    except Exception:  # a name in them does not exist
        return {}
    return {name: hint for name, hint in found.items() if mentions_file(hint)}


def mentions_file(hint: Any) -> bool:
    """Report whether an annotation is a file, or contains one."""
    return _is_file(hint, {}, 6)


def _names(value: Any, space: dict[str, Any]) -> frozenset[str]:
    return frozenset(name for name, held in _annotations(value).items() if _is_file(held, space, 6))


def _held(value: Any, name: str) -> tuple[Any, ...]:
    """Return the parts of a type, and nothing for an object that answers to any name."""
    held = getattr(value, name, ())
    return held if isinstance(held, tuple) else ()


def _is_file(value: Any, space: dict[str, Any], depth: int) -> bool:
    if isinstance(value, str):
        return any(_is_file(_found(name, space), space, 0) for name in _NAME.findall(value))
    if value is getattr(sys.modules.get("larder._reads.file"), "File", False):
        return True
    return depth > 0 and any(_is_file(v, space, depth - 1) for v in _held(value, "__args__"))


def _found(name: str, space: dict[str, Any]) -> Any:
    first, *rest = name.split(".")
    found = space.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return None if isinstance(found, str) else found


def _annotations(value: Any) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        try:
            found = annotationlib.get_annotations(value, format=annotationlib.Format.FORWARDREF)
        except Exception:  # a name in it does not exist
            return {}
        return dict(found)
    found = vars(value).get("__annotations__") if isinstance(value, type) else getattr(value, "__annotations__", None)
    return dict(found) if isinstance(found, dict) else {}


def _text(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is ... or isinstance(value, (int, float, bytes)):
        return repr(value)
    if isinstance(value, type) and not hasattr(value, "__origin__"):
        return value.__qualname__
    if isinstance(value, (tuple, list)) and depth > 0:
        return "[" + ", ".join(_text(v, depth - 1) for v in value) + "]"
    origin, args = getattr(value, "__origin__", None), _held(value, "__args__")
    if depth > 0 and (origin is not None or args):
        more = _held(value, "__metadata__")
        name = _text(origin, depth - 1) if origin is not None else type(value).__qualname__
        return f"{name}[{', '.join(_text(v, depth - 1) for v in (*args, *more))}]"
    named = getattr(value, "__forward_arg__", None) or getattr(value, "__name__", None)
    return named if isinstance(named, str) else type(value).__qualname__
