"""Find files in the arguments of a call and in its result."""

from __future__ import annotations

import os
import pathlib
import types
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Union, get_origin

from .._identity.code.annotations import mentions_file
from .._identity.values.text import describe
from .._reads.file import File
from ..errors import ArgumentError


def as_files(value: Any, name: str, hint: Any = None) -> Any:
    """Return a value with its paths replaced by files where its annotation has files.

    `hint` is the annotation, or None if its meaning is not known: then all paths are files.
    """
    if value is None or isinstance(value, File):
        return value
    if hint is not None and not mentions_file(hint):
        return value
    if isinstance(value, (str, os.PathLike)):
        return File(value)
    inner = tuple(getattr(hint, "__args__", ()))
    if hint is not None and get_origin(hint) in (Union, types.UnionType):
        inner = tuple(i for one in inner if mentions_file(one) for i in getattr(one, "__args__", ()))
    if type(value) is tuple and len(inner) == len(value) and ... not in inner:
        return tuple(as_files(one, name, of) for one, of in zip(value, inner, strict=True))
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(as_files(one, name, inner[0] if inner else None) for one in value)
    if type(value) is dict:
        return {key: as_files(one, name, inner[-1] if inner else None) for key, one in value.items()}
    raise ArgumentError(f"{name} is {describe(value)}, but its annotation is larder.File; pass a path or a File")


def paths_in(value: Any, kind: type[os.PathLike[str]] = File) -> Iterator[str]:
    """Yield the paths of the files in a value, in lists, tuples, dicts, sets and dataclasses."""
    left, seen = [value], set()
    while left:
        one = left.pop()
        if isinstance(one, kind):
            yield os.fspath(one)
        elif isinstance(one, (list, tuple, set, frozenset, dict)) or is_record(type(one)):
            if id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, dict):
                left += [*one, *one.values()]
            elif isinstance(one, (list, tuple, set, frozenset)):
                left += one
            else:
                left += [getattr(one, f.name, None) for f in fields(one)]


def is_record(cls: type) -> bool:
    """Report whether a class is a dataclass, without asking a metaclass that may answer to any name."""
    return any("__dataclass_fields__" in vars(base) for base in cls.__mro__)


def path_in_result(value: Any, files: list[str]) -> str | None:
    """Return the problem of a result with the path of a file in it, of which the key has only the content."""
    if files and any(file in path for path in paths_in(value, pathlib.PurePath) for file in files):
        return "it has the path of a file that is identified by its content; return str(path)"
    return None
