"""Define what a walk has found, and what following functions and classes needs of it."""

from __future__ import annotations

import abc
import re
import types
from collections import deque
from collections.abc import Callable
from typing import Any

from .. import distribution
from ..values.encoder import BY_CONTENT
from .guards import Guards
from .node import Node
from .refusals import Refusal

# Methods that create or prepare an object, which have run for an existing one.
PREPARING = frozenset(
    [
        "__init__",
        "__new__",
        "__init_subclass__",
        "reset_parameters",
        "_reset_parameters",
        "init_weights",
        "_init_weights",
    ]
)


class Walker(abc.ABC):
    """What was found so far; `Walk` adds how values are followed."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.guards = Guards()
        self.roots: list[Any] = []
        """Mutable values, whose state is read in every call."""
        self.root_nodes: list[int] = []
        """The numbers of their nodes."""
        self.names: set[str] = set()
        """The names of attributes that code mentions."""
        self.any_name = False
        """Whether code accesses attributes by names in data."""
        self.formats = False
        """Whether code converts values to strings."""
        self.zoned = False
        """Whether code depends on the time zone of the machine."""
        self.catches = False
        """Whether code reads an error that may contain the names of variables."""
        self.locals: list[tuple[str, ...]] = []
        """The names of variables of each piece of code."""
        self.warns = False
        """Whether warnings are caught."""
        self.files = False
        """Whether the root has parameters that are files in the key."""
        self.opens = False
        """Whether files are opened, which must be watched."""
        self.sight = BY_CONTENT
        """How much code may see of the names of files."""
        self.prints = False
        """Whether code prints."""
        self.captures = False
        """Whether code may read what is printed."""
        self.draws = False
        """Whether libraries are used that may draw random numbers."""
        self.packages: set[str] = set()
        """The packages of libraries that are used."""
        self.caches: list[Any] = []
        """Caches of functions that read files, whose entries must be read again."""
        self.unseen = ""
        """The name of a library function that calls functions in other processes."""
        self.texts: set[str] = set()
        """The strings in code."""
        self.dead: dict[str, set[str]] = {}
        """The names that methods mention which no code calls, by method."""
        self.refused: dict[str, str] = {}
        """Why no key covers methods that no reached code calls by name."""
        self.numbers: dict[int, int] = {}
        """The numbers of nodes, by the addresses of their objects."""
        self.referenced: list[Any] = []
        """The objects of nodes, whose addresses stay theirs."""
        self.followed_settings: set[str] = set()
        """The names of settings, packages and patches that were followed."""
        self.strings: set[str] = set()
        """Values that are strings."""
        self.uncalled: list[tuple[str, Any, Node]] = []
        """Objects that no code names, and that other code may call: only their edits count."""
        self.queue: deque[Callable[[], None]] = deque()
        """What is to be followed next."""
        self.methods: list[tuple[str, Any, Node]] = []
        """Methods that no code has called so far."""
        self.doubts: list[tuple[str, str, Refusal]] = []
        """Methods of objects of unknown type that may depend on more than their arguments."""
        self.evaluating: dict[tuple[int, re.Pattern[str], frozenset[str]], Callable[..., None]] = {}
        """Follows names in strings that code evaluates: always, or if a string is one of some names."""
        self.evaluated: set[tuple[int, str]] = set()
        """The names that were followed in this way."""
        self.constants: list[Any] = []
        """Immutable values."""
        self.modules: dict[int, tuple[types.ModuleType, Node]] = {}
        """Modules whose class the program may have set."""
        self.seen_members: set[tuple[str, str]] = set()
        """Attributes of such modules that were followed."""
        self.annotated: list[tuple[Any, Node]] = []
        """Functions and classes with annotations, which code may read."""
        self.of_classes: dict[int, frozenset[str]] = {}
        """The attributes of the class of each method, by the address of its function."""
        self.existing: set[type] = set()
        """Classes of which only existing objects are used."""
        self.preparing = PREPARING
        """The names of their methods that create or prepare objects."""
        self.root: Any = None
        """The identified function or class."""

    @abc.abstractmethod
    def new_node(self, path: str, kind: str, text: str) -> Node: ...

    @abc.abstractmethod
    def library_node(self, path: str, name: str, owner: distribution.Owner) -> Node: ...

    @abc.abstractmethod
    def add_edge(self, node: Node, to: int) -> None: ...

    @abc.abstractmethod
    def follow(self, node: Node, value: Any, path: str, text: str = "", documented: bool = True) -> None: ...

    @abc.abstractmethod
    def refer_to_value(self, node: Node, value: Any, path: str, text: str) -> None: ...

    @abc.abstractmethod
    def code(self, value: Any, path: str, documented: bool) -> int: ...

    @abc.abstractmethod
    def depend_on(self, node: Node, name: str) -> None: ...

    @abc.abstractmethod
    def is_called(self, name: str) -> bool: ...

    @abc.abstractmethod
    def may_open(self, name: str) -> bool: ...

    @abc.abstractmethod
    def allows(self, name: str) -> bool: ...

    @abc.abstractmethod
    def allowing(self, name: str, why: Refusal) -> str: ...

    @abc.abstractmethod
    def refuse_named(self, name: str, owner: distribution.Owner, path: str) -> None: ...
