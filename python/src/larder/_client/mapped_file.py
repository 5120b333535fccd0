"""Map the files in which the server returns large results."""

from __future__ import annotations

import mmap
import os
import time

_SECOND = 1.0
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)


class MappedFile(mmap.mmap):
    """A mapped file of the store, which is writable memory whose changes stay private."""

    __slots__ = ("location",)
    location: Location
    """The location under which it is found again."""


class Location:
    """A file of the store as the server named it, which for a second is found again without the server.

    The time is bounded so that the server learns which results are in use.
    """

    __slots__ = ("path", "stamp", "until")

    def __init__(self, path: bytes, status: os.stat_result) -> None:
        self.path = path
        self.stamp = _stamp(status)
        self.until = time.monotonic() + _SECOND

    def mapped(self) -> MappedFile | None:
        """Return the mapped file, unless it was replaced or the server must be asked."""
        return mapped(self.path, self.stamp[1], self) if time.monotonic() < self.until else None


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def mapped(path: bytes, size: int, location: Location | None = None) -> MappedFile | None:
    """Return a mapped file of a given size, also the same file as `location` if given, or None."""
    try:
        file = os.open(path, _READ)
    except OSError:
        return None  # it was removed in the meantime
    try:
        status = os.fstat(file)
        if status.st_size != size or (location is not None and _stamp(status) != location.stamp):
            return None
        memory = MappedFile(file, size, access=mmap.ACCESS_COPY)
    finally:
        os.close(file)
    memory.location = location or Location(path, status)
    return memory
