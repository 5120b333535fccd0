"""Define the nodes of what a function reaches, and what following the names in its code needs of the walk."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol

from .guards import Guards
from .rules import Refusal


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


class Walker(Protocol):
    """The part of `Walk` that following names in code uses; `Walk` documents its members."""

    guards: Guards
    names: set[str]
    texts: set[str]
    locals: list[tuple[str, ...]]
    doubts: list[tuple[str, str, Refusal]]
    evaluating: dict[tuple[int, re.Pattern[str], frozenset[str]], Callable[..., None]]
    any_name: bool
    catches: bool
    files: bool
    formats: bool
    opens: bool
    prints: bool
    zoned: bool
    sight: int

    def follow(self, node: Node, value: Any, path: str, text: str = "", documented: bool = True) -> None: ...

    def add_edge(self, node: Node, to: int) -> None: ...

    def depend_on(self, node: Node, name: str) -> None: ...

    def code(self, value: Any, path: str, documented: bool) -> int: ...

    def class_of_module(self, node: Node, module: types.ModuleType) -> None: ...

    def may_open(self, name: str) -> bool: ...

    def allows(self, name: str) -> bool: ...

    def allowing(self, name: str, why: Refusal) -> str: ...
