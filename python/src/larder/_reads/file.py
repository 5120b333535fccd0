"""File arguments, identified by their content."""

from __future__ import annotations

import hashlib
import os
import pathlib
import time
from typing import TYPE_CHECKING, Any

from .. import _arguments
from .._identity.values.encoder import Encoder, writes
from . import audit

# File times have steps of up to two seconds, so a file that was written just now may be
# written again without another time.
_SETTLED = 2_000_000_000

_MOST = 65536

_remembered: dict[str, tuple[tuple[int, ...], bytes]] = {}


if TYPE_CHECKING:
    _Path = pathlib.Path
else:
    _Path = type(pathlib.Path())  # a type that can be a base class in Python 3.11 too


class File(_Path):
    """A path that is identified by the content and the extension of its file, wherever it is.

    It is a `pathlib.Path`, so any function that accepts a path accepts it. A function that
    receives one may read the file, as its content is in the key. If the function can also see
    the name, the name is in the key. Paths derived from it (`file.parent`) are not files. Two
    files are equal if their paths are equal.
    """

    __slots__ = ()

    def __new__(cls, path: str | os.PathLike[str], *more: str) -> File:
        """Create a file; Python itself passes segments when it copies one."""
        if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
            raise TypeError(f"File(): {_arguments.kind(path)} is not a path; give a string or a pathlib.Path")
        return super().__new__(cls, path, *more)

    @property
    def path(self) -> str:
        """The path of the file."""
        return str(self)

    def digest(self) -> bytes:
        """Return the SHA-256 of the content, read again only if the file may have changed."""
        path = str(self)
        audit.opened(path)
        with open(path, "rb", buffering=0) as file:
            before = _seen(os.fstat(file.fileno()))
            known = _remembered.get(path)
            if known is not None and known[0] == before:
                return known[1]
            began = time.time_ns()
            found = hashlib.file_digest(file, "sha256").digest()
            settled = _seen(os.fstat(file.fileno())) == before and max(before[-2:]) + _SETTLED < began
        if settled:
            if len(_remembered) >= _MOST:
                _remembered.clear()
            _remembered[path] = (before, found)
        return found

    def __larder_key__(self) -> bytes:
        return self.digest()

    def with_segments(self, *segments: str | os.PathLike[str]) -> pathlib.Path:
        """Return a plain path derived from this one, as no key covers the file there."""
        return pathlib.Path(*segments)

    @classmethod
    def _from_parsed_parts(cls, *parts: Any) -> pathlib.Path:
        made: pathlib.Path = _Path._from_parsed_parts(*parts)  # type: ignore[attr-defined]  # the same, in Python 3.11
        return made

    def __repr__(self) -> str:
        return f"larder.File({str(self)!r})"


@writes(File)
def _file(e: Encoder, value: File) -> None:
    if not e.known(value):
        e.out.append(b"p")
        e.content(value.digest())
        e.add(ending(str(value)))
        e.files.append(str(value))


def ending(path: str) -> str:
    """Return the extension of a file name, by which libraries choose how to read the file."""
    name, last = os.path.splitext(path)
    return (os.path.splitext(name)[1] if last in _PACKED else "") + last


_PACKED = frozenset([".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4", ".br", ".Z"])


def _seen(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
