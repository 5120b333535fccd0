"""A program with cached functions, run by tests in separate processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import larder

LOG = Path(os.environ["MEMO_LOG"])


def note(text: str) -> None:
    """Log an execution, in a file that processes share."""
    with LOG.open("a") as file:
        file.write(text + "\n")


NOTES = {"note": note}


@larder.memo(version="1")
def square(n: int) -> int:
    note(f"square {n}")
    return n * n


@larder.memo(version="1")
def slow(n: int) -> int:
    note(f"slow {n}")
    if os.environ.get("MEMO_DIES"):
        print("computing", flush=True)
        time.sleep(600)
    return n


@larder.memo_batch(items="n", version="1")
def squares(n: list[int]) -> list[int]:
    for one in n:
        note(f"squares {one}")
    return [one * one for one in n]


@larder.memo(version="1")
def upto(n: int) -> Iterator[int]:
    note(f"upto {n}")
    yield from range(n)


def main() -> None:
    what, *numbers = sys.argv[1:]
    if what == "squares":
        k = int(numbers[0])
        for at in range(0, 200, 10):
            order = [(at + 7 * i * (1 + k % 3)) % 200 for i in range(25)]
            assert squares(order) == [n * n for n in order]
    else:
        for number in numbers:
            made = globals()[what](int(number))
            print(made if isinstance(made, int) else list(made), flush=True)


if __name__ == "__main__":
    main()
