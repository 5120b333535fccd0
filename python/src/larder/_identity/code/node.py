"""Define the nodes of what a function reaches."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256


@dataclass(slots=True)
class Node:
    """A reached object."""

    path: str
    kind: str
    text: str
    out: list[bytes] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)

    def digest(self) -> bytes:
        return sha256(b"".join(self.out)).digest()
