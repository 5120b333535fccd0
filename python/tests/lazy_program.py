"""Cached trees, evaluated by tests in separate processes, in the version that the tests set."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from larder.lazy import Lazy, LazyObject, unlazy

OFFSET = int(os.environ.get("LAZY_OFFSET", "0"))
lazy = Lazy()


def note(text: str) -> None:
    """Log an execution for the test."""
    print(f"ran {text}")


@dataclass
class Point:
    """A value with a method."""

    x: int

    def moved(self) -> int:
        """Return its position."""
        return self.x + OFFSET


@lazy
def source(n: int) -> int:
    """Return a number that an edit may compute in another way."""
    note(f"source {n}")
    return n + OFFSET - OFFSET


@lazy
def shifted(n: int) -> int:
    """Return a number that an edit changes."""
    note(f"shifted {n}")
    return n + OFFSET


@lazy
def double(n: int) -> int:
    """Return twice the number."""
    note(f"double {n}")
    return 2 * n


@lazy
def total(parts: list[int]) -> int:
    """Return the sum."""
    note(f"total {parts}")
    return sum(parts)


@lazy(version="1")
def point(n: int) -> Point:
    """Return an object of a class of the program."""
    note(f"point {n}")
    return Point(n)


@lazy
def reported(x: int) -> str:
    """Return a string."""
    note(f"read {x}")
    return f"at {x}"


class Meter:
    """An object with a lazy method."""

    def __init__(self, n: int) -> None:
        self.n = n

    @lazy
    def read(self, k: int) -> int:
        """Return a value that an edit changes."""
        note(f"read {k}")
        return self.n + k + OFFSET


@lazy
def twice(meter: Meter) -> Any:
    """Return a tree with a method of an argument."""
    note("twice")
    return meter.read(1) * 2


TREES: dict[str, Callable[[], LazyObject[Any]]] = {
    "cutoff": lambda: total([double(source(n)) for n in range(3)]),
    "changed": lambda: total([double(shifted(n)) for n in range(3)]),
    "operators": lambda: double(source(1) + source(2) * 3) - 1,
    "method": lambda: twice(Meter(5)),
    "point": lambda: reported(point(3).moved()),
}


def main() -> None:
    """Evaluate trees."""
    for name in sys.argv[1:]:
        print(unlazy(TREES[name]()))


if __name__ == "__main__":
    main()
