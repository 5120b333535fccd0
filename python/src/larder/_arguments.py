"""Check the arguments of public functions, and refuse each by name if it has another type."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

_SOURCE = "a source such as larder.images(PATH)"


def kind(value: object) -> str:
    """Return a short description of a value for messages."""
    if value is None:
        return "None"
    return f"class {value.__name__}" if isinstance(value, type) else type(value).__name__


def text(name: str, value: Any) -> str:
    """Return a string that is not empty."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {kind(value)} is not a name; give a string")
    if not value:
        raise TypeError(f"{name}: the name is empty; give one")
    return value


def several(name: str, value: Any, of: str) -> list[Any]:
    """Return a list, refusing a value that has only `__getitem__`, as it may never end."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: {kind(value)} is not a list; give a list of {of}")
    return list(value)


def mapping(name: str, value: Any, of: str) -> Mapping[str, Any]:
    """Return a mapping with string keys; an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: {kind(value)} is not a dict; give a dict of {of}")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"{name}: key {key!r:.40} is not a string; give a dict of {of}")
    return value


def path(name: str, value: Any) -> str:
    """Return a path."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise TypeError(f"{name}: {kind(value)} is not a path; give a string or a pathlib.Path")
    found = os.fspath(value)
    if not found:
        raise TypeError(f"{name}: the path is empty; give one")
    if "\0" in found:
        raise ValueError(f"{name}: {found!r:.40} is not a path; leave out the zero byte")
    return found


def flow_path(value: Any) -> str:
    """Return the path of a flow file, and refuse anything else that is not a flow with a fix."""
    if not isinstance(value, (str, os.PathLike)):
        readable = hasattr(value, "__getitem__") or hasattr(value, "__iter__")
        fix = f"give a flow file's path or {_SOURCE}"
        if readable:
            fix = f"read its files by {_SOURCE}, or give a dataset with __len__ and __getitem__"
        raise TypeError(f"flow: {kind(value)} is not a flow; {fix}")
    found = path("flow", value)
    if os.path.isdir(found):
        raise TypeError(f"flow: {found!r:.80} is a directory, not a flow file; read it by {_SOURCE}")
    return found
