"""Provide a pipe by which a started program detects any end of this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_held: set[int] = set()  # descriptors that only this process may hold


@contextmanager
def lifeline() -> Iterator[int]:
    """Yield the end of a pipe for a program to inherit, which closes when this process or the block ends."""
    theirs, mine = os.pipe()
    _held.add(mine)
    try:
        yield theirs
    finally:
        _held.discard(mine)
        os.close(mine)
        os.close(theirs)


def _let_go() -> None:
    """Close the descriptors that a forked process must not hold, as it may live longer."""
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
