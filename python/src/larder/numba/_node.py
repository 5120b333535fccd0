"""Define the nodes of what a compiled function reaches, and find circles of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ._options import Flagged


@dataclass(slots=True)
class Node:
    """One reached object."""

    value: Any
    path: str
    kind: str
    text: str
    runs: bool
    """Whether it runs while numba compiles."""
    flags: Flagged | None = None
    """For a compiled function, the flags that it would be compiled with from here."""
    inherited: tuple[str, ...] = ()
    """Options that a function would inherit from here, which matters if there is more than one value."""
    out: list[bytes] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    compiled: str = ""
    """For a compiled function, how it was compiled before, if that differs from how it would be now."""
    loaded: dict[str, str] = field(default_factory=dict)
    """The part of that which holds because a caller of it was loaded, without compilation here."""
    loops: int | None = None
    """For a vectorized function that gets loops when it is called, how many it had."""
    said: dict[str, int] = field(default_factory=dict)
    """The meaning of names in it, by path, as numbers that differ if the meaning does."""
    summed: bytes = b""
    """The digest of its content, computed when it is requested, after all of it was followed."""

    def digest(self) -> bytes:
        if self.kind not in ("compiled function", "kernel", "callback"):
            return self.content()
        return sha256(f"{text_of(self.flags)} {self.inherited} ".encode() + self.content()).digest()

    def content(self) -> bytes:
        """Return the digest of its content, without the flags that it would be compiled with from here."""
        self.summed = self.summed or sha256(b"".join(self.out)).digest()
        return self.summed


def text_of(flags: Flagged | None) -> str:
    return "" if flags is None else flags.text


def components(edges: list[list[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph by node numbers (Tarjan, 1972)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    left: list[tuple[int, Iterator[int]]] = []
    inside: set[int] = set()

    def enter(number: int) -> None:
        order[number] = low[number] = len(order)
        path.append(number)
        inside.add(number)
        left.append((number, iter(edges[number])))

    for root in range(len(edges)):
        if root not in order:
            enter(root)
        while left:
            number, following = left[-1]
            to = next(following, None)
            if to is None:
                left.pop()
                if left:
                    low[left[-1][0]] = min(low[left[-1][0]], low[number])
                if low[number] == order[number]:
                    together = path[path.index(number) :]
                    del path[-len(together) :]
                    inside.difference_update(together)
                    yield together
            elif to not in order:
                enter(to)
            elif to in inside:
                low[number] = min(low[number], order[to])
