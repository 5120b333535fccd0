"""Memory that a virtual machine has not used before is given to it by its host as it is
touched, which takes ten times as long as to write it: 429 MiB were copied in 1.12 s before and
in 0.21 s after. Who is measured first pays for that, and not for what it does."""

import mmap
import multiprocessing

PAGE = 4096
LEFT = 1 << 30
"""Bytes of free memory that stay untouched, for whoever else needs some."""


def touch() -> None:
    """Touch the free memory of the machine once."""
    child = multiprocessing.Process(target=_touch)
    child.start()
    child.join()


def _touch() -> None:
    free = _free() - LEFT
    if free < PAGE:
        return
    with mmap.mmap(-1, free) as memory:
        for at in range(0, free, PAGE):
            memory[at] = 1


def _free() -> int:
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemFree:"))
