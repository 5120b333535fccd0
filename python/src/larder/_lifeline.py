"""A pipe by which a program that this process started sees that this process has ended, in whatever way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_held: set[int] = set()  # ends that only this process may have


@contextmanager
def lifeline() -> Iterator[int]:
    """Yield the end of a pipe for a program to inherit. It is at its end once this process, or the block, has ended."""
    theirs, mine = os.pipe()
    _held.add(mine)
    try:
        yield theirs
    finally:
        _held.discard(mine)
        os.close(mine)
        os.close(theirs)


def _let_go() -> None:
    """Close what a forked process must not hold: it may live longer."""
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
