"""Define what a walk has found, and what following compiled functions needs of it."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from ._errors import Refused
from ._node import Node
from ._registered import Registered


class Walker(abc.ABC):
    """What was found so far; `Walk` adds how objects are followed."""

    def __init__(self, registered: Registered) -> None:
        self.nodes: list[Node] = []
        self.refused: list[Refused] = []
        self.parallel = False
        self.mixed = False
        """Whether a function may be compiled with different flags, whichever come first."""
        self.registered = registered
        self.names: set[str] = set()
        """The names that code mentions."""
        self.compile_time_names: set[str] = set()
        """The names that code mentions which runs while numba compiles."""
        self.runs_code = False
        """Whether there is such code of the program."""
        self.formats = False
        """Whether such code converts values to strings."""
        self.inspects_code = False
        """Whether such code reads the code that is compiled."""
        self.option_bytes: dict[tuple[Any, ...], tuple[list[bytes], list[int], tuple[str, ...]]] = {}
        """The bytes appended for the options of functions, which are the same for most of them."""
        self.options: dict[int, tuple[Any, ...] | None] = {}
        """The options of each compiled function that is met."""
        self.reached: dict[int, Any] = {}
        """The reached objects, by their addresses."""

    @abc.abstractmethod
    def refer(self, node: Node, value: Any, path: str, runs: bool = False, overload: bool = False) -> None: ...

    @abc.abstractmethod
    def value(self, node: Node, value: Any, path: str, runs: bool) -> None: ...

    @abc.abstractmethod
    def items(self, node: Node, value: dict[Any, Any], path: str, runs: bool) -> None: ...

    @abc.abstractmethod
    def library(self, node: Node, name: str, owner: Any, path: str, runs: bool) -> None: ...

    @abc.abstractmethod
    def guarded(self, node: Node, follow: Callable[..., None], *args: Any) -> None: ...
