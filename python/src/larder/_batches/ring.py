"""Manage the shared memory that the server writes batches into, and track its use."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import weakref
from collections import deque
from typing import Any

from .._client.framing import Stream
from .._warnings import warn
from ..errors import LarderWarning, ProtocolError
from .pinned import Mapping, Pins

_rings: weakref.WeakSet[Ring] = weakref.WeakSet()


class _Slot:
    """The memory of one batch. Its views hold the buffer that it exports, and so the slot."""


class _Look(weakref.ref[_Slot]):
    """Records which slot was deleted.

    The callback is a C function. A Python function would run at any moment, and swallow a
    Ctrl-C that arrives while it runs.
    """

    __slots__ = ("bytes", "retained", "slot")

    slot: int
    retained: bool
    bytes: int


@functools.lru_cache(maxsize=256)
def _slot_type(length: int) -> Any:
    """Return the type of slots of a given size."""
    return type("Slot", (_Slot, ctypes.Array), {"_type_": ctypes.c_char, "_length_": length})


@functools.lru_cache(maxsize=1024)
def _rounded(size: int) -> int:
    """Round a size up by at most a quarter, so that there are few different sizes."""
    if size <= 64:
        return 64
    step = 1 << ((size - 1).bit_length() - 3)
    return (size + step - 1) // step * step


class Ring:
    """A growing file that is mapped, with the slots of it that are in use.

    It has `most` bytes if no batch is large. With `copy`, all batches are copied. The reader
    calls `collect` regularly, which gives back unused slots. Any thread may delete arrays at
    any time.
    """

    def __init__(self, stream: Stream, fd: int, size: int, window: int, most: int, pin: bool, copy: bool) -> None:
        self._out: dict[int, _Look] = {}
        self._gone: deque[weakref.ref[_Slot]] = deque()
        self._stream = stream
        self._fd = fd
        self._window = window
        self._copies = copy
        self._most = most
        self._others = window // 4  # the number of small batches given back together
        self._small = most // 64
        self._forgotten = 0
        self._warned = False
        self._pins = Pins() if pin else None
        self._map(size)
        stream.before_waiting = weakref.WeakMethod(self._before_waiting)
        _rings.add(self)

    def __del__(self) -> None:
        fd, self._fd = getattr(self, "_fd", -1), -1
        if fd >= 0:
            os.close(fd)

    def _map(self, size: int) -> None:
        """Map the whole file. Earlier mappings live as long as they are in use."""
        self.size = size
        if size == 0:
            return
        try:
            self._mapping = Mapping(self._fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        except (OSError, ValueError) as error:
            raise ProtocolError(f"the ring of {size} bytes cannot be mapped: {error}") from error
        if self._pins is not None:
            self._pins.pin(self._mapping)

    def look(self, slot: int, begin: int, size: int, total: int) -> Any:
        """Return the memory of a batch: the slot, or a copy if too many slots are in use."""
        if total > self.size:
            self._map(total)
        if size == 0:
            self._stream.release(slot)
            return bytearray()
        if begin + size > self.size or slot in self._out:
            raise ProtocolError(f"the server put a batch at byte {begin} of a ring of {self.size} bytes, slot {slot}")
        if self._copies:
            return self._copy(slot, begin, size)
        if self._out and self._crowded(size):
            self._warn()
            return self._copy(slot, begin, size)
        length = _rounded(size)
        if begin + length > self.size:
            length = self.size - begin
        held = _slot_type(length).from_buffer(self._mapping, begin)
        look = _Look(held, self._gone.append)
        look.slot, look.bytes, look.retained = slot, size, False
        self._out[slot] = look
        return held

    def _crowded(self, size: int) -> bool:
        """Report whether more than half of the window, or of the bytes, is in use."""
        n = len(self._out)
        if n == 1 and size < self._small and self._window > 1:
            return False
        return 2 * n > self._window or 2 * sum(look.bytes for look in self._out.values()) > max(self._most, self.size)

    def _copy(self, slot: int, begin: int, size: int) -> bytearray:
        copy = bytearray(memoryview(self._mapping)[begin : begin + size])
        self._stream.release(slot)
        return copy

    def _warn(self) -> None:
        if self._warned:
            return
        self._warned = True
        warn(
            f"the program retains {len(self._out)} batches, more than half of what window= and ring= allow, so "
            "further batches are copied; delete used batches, copy what you retain, or raise window= and ring=",
            LarderWarning,
        )

    def collect(self) -> None:
        """Give back slots that are no longer in use, now or soon."""
        size, slots = 0, []
        while self._gone:
            look = self._gone.popleft()
            if isinstance(look, _Look) and self._out.pop(look.slot, None) is not None:
                slots.append(look.slot)
                size = max(size, look.bytes)
        if self._pins is not None:
            slots = self._pins.over(slots)
        for slot in slots:
            self._stream.release(slot, self._others if size < self._small else 0)

    def _before_waiting(self, waited: bool) -> None:
        self.collect()
        if self._pins is not None:
            for slot in self._pins.wait():
                self._stream.release(slot)
        if waited:
            self._keep()

    def _keep(self) -> None:
        """Tell the server, which may wait for them, that slots stay in use for now.

        The server then adds their memory to the ring and continues.
        """
        looks = [look for look in self._out.values() if not look.retained]
        if looks and self._stream.keep([look.slot for look in looks]):
            for look in looks:
                look.retained = True

    def forget(self) -> None:
        """Never give back the slots in use now, as a child uses them too."""
        for slot, look in list(self._out.items()):
            if look() is not None:
                del self._out[slot]
                self._forgotten += 1
        if 2 * self._forgotten > self._window:
            self._stream.close()  # another connection has a whole ring


def _forget() -> None:
    for ring in list(_rings):
        ring.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forget)
