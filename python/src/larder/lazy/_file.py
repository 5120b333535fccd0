"""Implement lazy functions that write a file: the content is cached, and each call writes a copy."""

from __future__ import annotations

import functools
import os
import secrets
import tempfile
from collections.abc import Callable
from typing import Any

from .._identity.code.place import operation as name_of
from .._identity.wrapper import Wrapper
from ..errors import DataError
from ._keep import Cached
from ._node import Handle, Node, Operation, Options
from ._objects import LazyObject, handle_of, unlazy


class FileKept(Cached):
    """A function that writes a file to a path of its own, and whose result is the content of that file."""

    def __init__(
        self, function: Callable[..., Any], field: str, *, cache: str | os.PathLike[str] | None, version: str | None
    ) -> None:
        super().__init__(function, unlazy, cache=cache, version=version)
        if field not in self._arguments.signature.parameters:
            raise TypeError(f"{self!r} has no parameter {field!r}, which is to be the path of the file")
        self._field = field
        self._arguments.files -= {field}

    def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the path of the file, and the arguments with only its extension in its place."""
        bound = self._arguments.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        path = bound.arguments[self._field]
        if isinstance(path, Handle) or not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"{self!r}: {self._field} is where a file is to be, so it is a path, not a {type(path).__name__}"
            )
        path = os.path.abspath(os.path.expanduser(os.fspath(path)))
        bound.arguments[self._field] = os.path.splitext(path)[1]
        return path, {"args": bound.args, "kwargs": bound.kwargs}

    def _execute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
        bound = self._arguments.signature.bind(*args, **kwargs)
        with tempfile.TemporaryDirectory(prefix="larder-") as directory:
            path = os.path.join(directory, "file" + bound.arguments[self._field])
            bound.arguments[self._field] = path
            self._function(*bound.args, **bound.kwargs)
            try:
                with open(path, "rb") as file:
                    return file.read()
            except FileNotFoundError:
                raise DataError(f"{self!r} wrote no file to the {self._field} that it was given") from None


def write(content: bytes, path: str) -> str:
    """Write content to a path atomically: a reader sees the old file or the new one."""
    if _has(path, content):
        return path
    temporary = os.path.join(os.path.dirname(path), f".larder-{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def _has(path: str, content: bytes) -> bool:
    try:
        if os.path.getsize(path) != len(content) or os.path.islink(path):
            return False
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


_WRITE = Operation("file", write)


class LazyFile(Wrapper):
    """A function that writes a file and computes each content once, created by `Lazy.file_creator`."""

    def __init__(self, lazy: Options, cached: FileKept) -> None:
        functools.update_wrapper(self, cached._function)
        self._lazy, self._kept = lazy, cached
        self._function, self._version = cached._function, cached._version
        self._operation = Operation(name_of(cached._function), cached._function, cached=cached, keep=lazy.cached)
        self._seal()

    def _options(self) -> tuple[Any, ...]:
        return ("file", self._kept._field, *self._kept._options())

    def __call__(self, /, *args: Any, **kwargs: Any) -> LazyObject[str]:
        """Write the file, and return its path as a lazy object whose evaluation writes the file again."""
        path, given = self._kept.split(args, kwargs)
        content = handle_of(Node(self._lazy, self._operation, given["args"], given["kwargs"]))
        made: LazyObject[str] = handle_of(Node(self._lazy, _WRITE, (content, path)))
        unlazy(made)
        return made
