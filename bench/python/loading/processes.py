"""Measure the processor time and the memory of processes."""

from __future__ import annotations

import os
from collections.abc import Iterable

_TICK = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def family(roots: Iterable[int]) -> set[int]:
    """Return the processes and all their descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(_stat(int(name))[1])
            except OSError:
                continue  # it has ended
    found = {pid for pid in roots if pid in parents}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def seconds(roots: Iterable[int]) -> float:
    """Return their processor time, including children that have ended."""
    ticks = 0
    for pid in family(roots):
        try:
            ticks += sum(map(int, _stat(pid)[11:15]))
        except OSError:
            continue
    return ticks / _TICK


def memory(roots: Iterable[int]) -> int:
    """Return the bytes that they use together, each page once.

    Mapped files do not count, as the system can take their memory back.
    """
    total = 0
    for pid in family(roots):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                lines = dict(line.split(":", 1) for line in file if line.startswith("Pss_"))
        except OSError:
            continue
        total += sum(int(lines[name].split()[0]) << 10 for name in ("Pss_Anon", "Pss_Shmem") if name in lines)
    return total
