"""Run one loader on one workload in a separate process, and print its figures as JSON.

    python contest.py WORK LOADER DIRECTORY SECONDS

Lines before the last tell the watching process which other process to count.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import data
import processes

IMPORTS = ["numpy", "torch", "torch.utils.data", "larder"]
"""Imports of a typical training program, which no figure counts."""

now = time.perf_counter


def reader_of(work: str, loader: str, directory: Path) -> tuple[Any, Any]:
    """Return a function that creates the reader, and one that converts a batch."""
    module = importlib.import_module("rows" if work in data.KINDS else "photos")
    known = module.SHARING if work == "few photos" else module.LOADERS
    form, make, workers = known[loader]
    at = data.made(work, form, directory)
    return lambda: make(at, workers)


def numbers(batch: Any) -> list[int]:
    """Return the row numbers that the rows of a batch contain."""
    return [int.from_bytes(bytes(row[:8].tolist()), "little") for row in batch]


class Costs:
    """The costs of this process and of its worker processes from now on."""

    def __init__(self, reader: Any) -> None:
        self.roots = [os.getpid(), *filter(None, [reader.server()])]
        self.cpu, self.began, self.samples = processes.seconds(self.roots), now(), 0

    def figures(self) -> dict[str, float]:
        cpu, took = processes.seconds(self.roots) - self.cpu, now() - self.began
        return {"cpu": cpu / self.samples, "rate": self.samples / took}


def rows(make: Any, work: str, seconds: float) -> dict[str, Any]:
    """Read rows: the first batch, one epoch of all samples, measured epochs, and a resume."""
    n, _ = data.KINDS[work]
    began = now()
    reader = make()
    epoch = reader.epoch()
    seen = numbers(next(epoch))
    figures: dict[str, Any] = {"first": now() - began}
    watched(reader)
    for batch in epoch:
        seen += numbers(batch)
    if len(set(seen)) != len(seen) or len(seen) < 0.9 * n:
        figures["note"] = f"an epoch had {len(seen)} samples, {len(set(seen))} different ones, of {n}"
    costs = Costs(reader)
    while now() - costs.began < seconds:
        for batch in reader.epoch():
            costs.samples += len(batch)
    return figures | costs.figures() | resumed(reader)


def resumed(reader: Any) -> dict[str, Any]:
    """Stop in the middle of an epoch, and resume from the state."""
    epoch = reader.epoch()
    for _ in itertools.islice(epoch, 20):
        pass
    state = reader.state()
    if state is None:
        return {}
    want = numbers(next(epoch))
    epoch.close()
    cached = pickle.dumps(state)
    size = len(next(iter(state.values()))) if [*state] == ["state"] else len(cached)
    began = now()
    reader.load(pickle.loads(cached))
    epoch = reader.epoch()
    got = numbers(next(epoch))
    return {"resume": now() - began, "state": size, "exact": got == want}


def photos(make: Any, work: str, seconds: float) -> dict[str, Any]:
    """Read photographs: an epoch with an empty cache, and another one."""
    began = now()
    reader = make()
    figures: dict[str, Any] = {}
    for number in (1, 2):
        costs = None
        for batch in reader.epoch():
            if costs is None:  # from the first batch on: startup is not part of an epoch
                figures.setdefault("first", now() - began)
                watched(reader)
                costs = Costs(reader)
                continue
            costs.samples += len(batch)
        if costs is None:
            raise RuntimeError("Error: an epoch had no batches")
        figures |= {f"{name} {number}": value for name, value in costs.figures().items()}
    return figures


def watched(reader: Any) -> None:
    """Report the process that works for the reader and is not a child of this one."""
    print(json.dumps({"server": reader.server()}), flush=True)


def main() -> None:
    work, loader, directory, seconds = sys.argv[1], sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])
    warnings.simplefilter("ignore")
    make = reader_of(work, loader, directory)
    for module in IMPORTS:
        importlib.import_module(module)
    run = rows if work in data.KINDS else photos
    figures = run(make, work, seconds)
    print(json.dumps(figures), flush=True)
    if work == "few photos":
        sys.stdin.readline()  # its memory is measured during this wait
    os._exit(0)  # the watching process ends workers that do not end


if __name__ == "__main__":
    main()
