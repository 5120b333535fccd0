"""Files as arguments: known by what is in them."""

from __future__ import annotations

import hashlib
import os
import time
from typing import Any

from . import _watch

# Times of files are in steps, of up to two seconds, so one that was written a moment
# ago may be written again without a trace.
_SETTLED = 2_000_000_000

_MOST = 65536

_remembered: dict[str, tuple[tuple[int, ...], bytes]] = {}


class File(os.PathLike[str]):
    """A file by its content: what its key is, wherever it is and whatever it is called.

    Can be opened as any path can. A function that gets one may read it, as its content
    is in the key; it should not look at the name, which is not. Two files are equal
    if their paths are.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str | os.PathLike[str]):
        self._path = os.fspath(path)
        if not isinstance(self._path, str):
            raise TypeError(f"a file is named by a text, not by {type(self._path).__name__}")

    @property
    def path(self) -> str:
        """Where the file is."""
        return self._path

    def digest(self) -> bytes:
        """Return the SHA-256 of the content, read again only if the file may have changed."""
        _watch.opened(self._path)
        with open(self._path, "rb", buffering=0) as file:
            before = _seen(os.fstat(file.fileno()))
            known = _remembered.get(self._path)
            if known is not None and known[0] == before:
                return known[1]
            began = time.time_ns()
            found = hashlib.file_digest(file, "sha256").digest()
            settled = _seen(os.fstat(file.fileno())) == before and max(before[-2:]) + _SETTLED < began
        if settled:
            if len(_remembered) >= _MOST:
                _remembered.clear()
            _remembered[self._path] = (before, found)
        return found

    def __larder_key__(self) -> bytes:
        return self.digest()

    def __fspath__(self) -> str:
        return self._path

    def __str__(self) -> str:
        return self._path

    def __repr__(self) -> str:
        return f"larder.File({self._path!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and other._path == self._path

    def __hash__(self) -> int:
        return hash((File, self._path))

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "_path"):
            raise AttributeError(f"a file cannot be changed: make another larder.File instead of setting {name}")
        object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (File, (self._path,))


def _seen(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
