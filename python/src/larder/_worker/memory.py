"""Exchange messages in memory shared with the program, or in their frames."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Protocol

from . import end_if_forked


class Answer(Protocol):
    """An answer that grows."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    def add(self, parts: Sequence[bytes | memoryview]) -> None:
        """Append parts; their owners may change them afterwards."""

    def put(self, at: int, data: bytes) -> None:
        """Overwrite bytes that were added."""


class Memory(Protocol):
    """The location of messages and answers."""

    def read(self, size: int, rest: bytes) -> memoryview:
        """Return the message of a task; the caller must not hold on to it."""

    def answer(self) -> Answer:
        """Begin an answer, in place of the previous one."""

    def sent(self) -> bytes:
        """Return the part of the answer that its frame holds."""


class _Shared:
    def __init__(self, given: int, answers: int) -> None:
        os.set_inheritable(3, False)
        os.set_inheritable(4, False)
        self._files = given, answers
        self._given: mmap.mmap | None = None
        self._answers: mmap.mmap | None = None
        self._has = 0
        self.size = 0

    def read(self, size: int, rest: bytes) -> memoryview:
        if self._given is None or len(self._given) < size:
            whole = os.fstat(self._files[0]).st_size
            self._given = mmap.mmap(self._files[0], whole, prot=mmap.PROT_READ) if whole else None
        return memoryview(self._given or b"")[:size]

    def answer(self) -> Answer:
        self.size = 0
        return self

    def add(self, parts: Sequence[bytes | memoryview]) -> None:
        end_if_forked()
        at = self.size
        end = at + sum(map(len, parts))
        if end > self._has:
            self._grow(max(end, min(2 * self._has, _STEP), 1 << 20))
        assert self._answers is not None
        if end - at <= _SMALL:
            self._answers[at:end] = b"".join(parts)
        else:
            for part in parts:
                self._answers[at : at + len(part)] = part
                at += len(part)
        self.size = end

    def put(self, at: int, data: bytes) -> None:
        end_if_forked()
        assert self._answers is not None
        self._answers[at : at + len(data)] = data

    def sent(self) -> bytes:
        return b""

    def _grow(self, size: int) -> None:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._files[1], 0, size)  # a write without memory would end the process
        else:
            os.ftruncate(self._files[1], size)
        self._answers = mmap.mmap(self._files[1], size)
        self._has = size


_SMALL = 4096
"""Up to this many bytes, joining parts is faster than writing each."""

_STEP = 16 << 20
"""The maximum number of bytes by which an answer grows beyond its need."""


class _Inline:
    def __init__(self) -> None:
        self._body = bytearray()

    @property
    def size(self) -> int:
        return len(self._body)

    def read(self, size: int, rest: bytes) -> memoryview:
        return memoryview(rest)[len(rest) - size :]

    def answer(self) -> Answer:
        self._body.clear()
        return self

    def add(self, parts: Sequence[bytes | memoryview]) -> None:
        end_if_forked()
        for part in parts:
            self._body += part

    def put(self, at: int, data: bytes) -> None:
        end_if_forked()
        self._body[at : at + len(data)] = data

    def sent(self) -> bytes:
        return bytes(self._body)


def shared(given: int, answers: int) -> Memory:
    """Return memory by the descriptors of its two files."""
    return _Shared(given, answers)


def inline() -> Memory:
    """Return memory that lies in frames."""
    return _Inline()
