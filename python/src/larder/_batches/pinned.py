"""Manage page-locked memory, from which a GPU copies without the CPU."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections import deque
from typing import Any

from .._warnings import warn
from ..errors import LarderWarning


def available() -> bool:
    """Report whether there is a GPU that torch can use."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def space(size: int) -> Any:
    """Return page-locked memory of a given size.

    It belongs to torch, which knows when copies from it have ended.
    """
    import torch

    if size == 0:
        return bytearray()
    tensor = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    kind: Any = type("PinnedMemory", (ctypes.Array,), {"_type_": ctypes.c_char, "_length_": size})
    made = kind.from_address(tensor.data_ptr())
    made.tensor = tensor  # which lives as long as either is in use
    return made


class Mapping(mmap.mmap):
    """A mapping that is unregistered, if it was registered, when it is no longer in use."""

    _registered: tuple[Any, int] | None = None

    def __del__(self) -> None:
        if self._registered is not None and not sys.is_finalizing():
            runtime, start = self._registered
            runtime.cudaHostUnregister(start)


class Pins:
    """Registers mappings with CUDA, and tracks when copies from slots have ended.

    A copy from pinned memory with non_blocking=True may outlive the tensor that it reads. So an
    event is recorded on the current stream when the next batch is requested, and a slot is
    given back after that event.
    """

    def __init__(self) -> None:
        import torch

        self._cuda: Any = torch.cuda
        self._waiting: deque[tuple[Any, list[int]]] = deque()

    def pin(self, mapping: Mapping) -> None:
        """Register a mapping; if that fails, it stays usable and a warning gives the reason."""
        start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
        runtime = self._cuda.cudart()
        status = int(runtime.cudaHostRegister(start, len(mapping), 0))
        if status == 0:
            mapping._registered = (runtime, start)
            return
        warn(f"the memory of batches could not be pinned (CUDA error {status}); it is used as it is", LarderWarning)

    def over(self, slots: list[int]) -> list[int]:
        """Take slots that are in use only by copies in flight; return those whose copies have ended."""
        if slots:
            event = self._cuda.Event()
            event.record()
            self._waiting.append((event, slots))
        done: list[int] = []
        while self._waiting and self._waiting[0][0].query():
            done += self._waiting.popleft()[1]
        return done

    def wait(self) -> list[int]:
        """Wait for the oldest copies, if there are any, and return their slots."""
        if not self._waiting:
            return []
        event, slots = self._waiting.popleft()
        event.synchronize()
        return slots
