"""Walk over everything that a compiled function is compiled from.

numba reads code, and the values of names, while it compiles; compiled code keeps what was read.
So the key covers the function's bytecode and options and the current meaning of its names:
values by content, other compiled functions by theirs, wherever they are. Code that runs while
numba compiles (overloads, intrinsics) is followed as well, and must depend on nothing else.

Each function, class and object is a node, numbered when it is met. So the walk ends for functions
that call each other, and equal code has equal numbers in each process.
"""

from __future__ import annotations

import builtins
import enum
import struct
import types as pytypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from .._identity import distribution
from .._identity.code.annotations import hints
from .._identity.code.refusals import words
from .._identity.immutable import fixed
from .._identity.library import is_bound, library_name, shown_module
from .._identity.values.text import describe
from . import _kinds, _running
from ._compiled import (
    follow_callback,
    follow_dispatcher,
    follow_intrinsic,
    follow_kernel,
    follow_stencil,
    follow_vectorized,
)
from ._constants import add_leaf, add_other
from ._errors import Refused
from ._functions import follow_function
from ._node import Node, components, text_of
from ._objects import follow_class, follow_object, follow_type
from ._options import Flagged, around, effective, said_of, shown_passed
from ._owners import shown
from ._registered import Entry, Registered
from ._types import TypeWriter
from ._walker import Walker
from ._written import written

FORMAT = b"larder numba code 11\n"


class Walk(Walker):
    """What a compiled function reaches. `refused` lists the parts without a key; nothing is raised."""

    def __init__(self, registered: Registered, before: Walk | None = None) -> None:
        """Create a walk; `before` is one from before the function was compiled, if it has been since."""
        super().__init__(registered)
        self.settings: tuple[str, ...] = ()
        """The process settings that count and differ from their defaults."""
        self.settled: dict[str, Any] = {}
        """All settings by name that code may read which runs while numba compiles, if there is such code."""
        self._inside: list[int] = []
        """Types that are being read, which may contain themselves."""
        self._texts: set[str] = set()
        """Strings that it reaches."""
        self._standard: set[str] = set()
        """Modules of Python that it uses."""
        self._numbers: dict[tuple[int, bool, bool], int] = {}
        self._looked = 0
        self._taken: set[int] = set()
        self._later: list[Entry] = []
        """Registrations for attributes that no code has mentioned so far."""
        registered.refresh()
        self.registered_at: int = len(registered.numbers) if before is None else before.registered_at
        """The number of earlier registrations; functions that the compilation made jitable since do not count."""
        self._queue: deque[Callable[[], None]] = deque()

    def run(self, root: Any, name: str, kinds: Iterable[Any]) -> None:
        """Follow a compiled function that is compiled for arguments of some types."""
        top = self._node(None, name, "types", name, False)
        top.flags = around()
        self.refer(top, root, name)
        for i, kind in enumerate(kinds):
            self.guarded(top, self._type, top, kind, f"{name} -> argument {i}")
        self._drain()
        top.flags = self.nodes[1].flags  # registrations inherit the flags of the function that is compiled
        while found := list(self._registrations()):
            for entry in found:
                top.out.append(entry.label.encode() + b";")
                self.mixed = self.mixed or entry.flagged
                self.inspects_code = self.inspects_code or entry.looks
                for part in entry.parts:
                    path = f"{name} -> {describe(part)}"
                    if entry.overload and isinstance(part, pytypes.FunctionType):
                        self.guarded(top, self.refer, top, part, path, True, True)
                    else:
                        self.guarded(top, self.value, top, part, path, True)
            self._drain()
        self.mixed = self.mixed or (bool(self._taken) and self._inherits_others())
        if not self.mixed:
            for node in self.nodes:
                node.inherited = ()
        handlers = dict(_running.handlers(self.compile_time_names | self._texts)) if self.runs_code else {}
        for where, handler in handlers.items():
            self.guarded(top, self.value, top, handler, f"{name} -> {where}", True)
            self._drain()
        if self.inspects_code:
            self._written(top)
        if not self.compile_time_names.isdisjoint(_DESCRIBING):
            top.out += map(_description, self.nodes)
        if self.runs_code:
            self.settings = _running.unusual()
            plain = _running.settings(self.compile_time_names, self.formats)
            plain |= {module: _running.state_of(module) for module in sorted(self._standard)}
            top.out += (f"{name} {held!r}".encode() for name, held in plain.items())
            self.settled = plain | handlers

    def _inherits_others(self) -> bool:
        """Report whether functions called from different places inherit different flags."""
        flags = {node.flags.text: node.flags for node in self.nodes if node.flags is not None}
        return len({shown_passed(one.flags) for one in flags.values()}) > 1

    def follows(self, before: Walk) -> None:
        """Ignore what functions got since by being compiled into the function, using their state before."""
        for node, was in zip(self.nodes, before.nodes, strict=False):
            more = node.kind == "vectorized function" and node.compiled.startswith(was.compiled)
            if node.value is was.value and (more or node.kind == "compiled function"):
                node.compiled = was.compiled

    def reaches(self, function: Any) -> bool:
        """Report whether a compiled function is reached, or is the first one itself."""
        return (id(function), False, False) in self._numbers

    def circles(self) -> set[int]:
        """Return the numbers of compiled functions that call each other in a circle."""
        found: set[int] = set()
        for together in components([node.edges for node in self.nodes]):
            functions = [number for number in together if self.nodes[number].kind == "compiled function"]
            found |= set(functions) if len(functions) > 1 else set()
        return found

    def digest(self, state: bytes) -> bytes:
        """Return the digest of the walk with a state of earlier compilations."""
        lines = [FORMAT]
        for node in self.nodes:
            lines += [node.digest(), b"%x:" % len(node.edges), *(b"%x;" % to for to in node.edges)]
        return sha256(b"".join(lines) + state).digest()

    def state(self) -> bytes:
        """Return the state of earlier compilations of functions in it, which is empty for most."""
        reported = [f"{i} {node.compiled}\n" for i, node in enumerate(self.nodes) if node.compiled]
        return sha256("".join(reported).encode()).digest() if reported else b""

    def _registrations(self) -> Iterator[Entry]:
        """Yield new registrations for what was reached."""
        reached = list(self.reached)
        at, self._looked = self._looked, len(reached)
        mine = [e for key in reached[at:] for e in self.registered.by_key.get(key, ())]
        for entry in (*mine, *self._later, *self.registered.everywhere):
            if entry.plain and self.registered.numbers[id(entry)] >= self.registered_at:
                continue
            wanted = entry.attribute is None or entry.attribute in self.names
            if wanted and id(entry) not in self._taken:
                self._taken.add(id(entry))
                yield entry
            elif not wanted and entry.keys and entry not in self._later:
                self._later.append(entry)

    def _written(self, top: Node) -> None:
        """Append everything that code which inspects the program's code while numba compiles can see of it."""
        for node in tuple(self.nodes):
            function = _kinds.python_of(node.value)
            if isinstance(function, pytypes.FunctionType) and library_name(function)[1] is None:
                top.out.append(written(function))
                self.guarded(top, self.items, top, vars(function), node.path, True)
        self._drain()

    def _drain(self) -> None:
        while self._queue:
            self._queue.popleft()()

    def _node(self, value: Any, path: str, kind: str, text: str, runs: bool) -> Node:
        node = Node(value, path, kind, text, runs)
        self.nodes.append(node)
        return node

    def guarded(self, node: Node, follow: Callable[..., None], *args: Any) -> None:
        """Follow an object; record it if it has no key, and continue, so that everything compiled is met."""
        try:
            follow(*args)
        except Refused as refused:
            self.refused.append(refused)
            node.out.append(b"refused")

    # Values

    def value(self, node: Node, value: Any, path: str, runs: bool) -> None:
        """Append the identity of a value to a node, or of the node that describes it."""
        self.reached[id(value)] = value
        if runs and type(value) is str:
            _running.refuse_mentioned(frozenset([value]), path)
            self._texts.add(value)
        if type(value) in (tuple, list):
            node.out.append(b"%b%d;" % (type(value).__name__.encode(), len(value)))
            for i, item in enumerate(value):
                self.value(node, item, f"{path}[{i}]", runs)
        elif type(value) is float and value != value and not runs:
            node.out.append(b"nan " + struct.pack("<d", value))  # all NaN are alike
        elif value is None or fixed(value):
            add_leaf(self, node, value, path)
        elif isinstance(value, pytypes.ModuleType):
            self._module(node, value, path, runs)
        elif type(value) is dict:
            self.items(node, value, path, runs)
        elif isinstance(value, enum.Enum):
            node.out.append(f"member {value._name_} ".encode())
            self.value(node, value._value_, path, runs)
            self.refer(node, type(value), path, runs)
        elif (way := _kinds.kind_of(value)) is not None:
            self._numbas(node, value, path, runs, way)
        elif isinstance(value, (pytypes.FunctionType, type)):
            self.refer(node, value, path, runs)
        elif isinstance(value, pytypes.MethodType):
            node.out.append(b"method ")
            self.value(node, value.__func__, path, runs)
            self.value(node, value.__self__, path, runs)
        elif isinstance(value, (staticmethod, classmethod)):
            node.out.append(type(value).__name__.encode())
            self.value(node, value.__func__, path, runs)
        elif isinstance(value, property):
            node.out.append(b"property ")
            for part in (value.fget, value.fset, value.fdel):
                self.value(node, part, path, runs)
        elif _kinds.is_builtin(value):
            self._builtin(node, value, path, runs)
        else:
            add_other(self, node, value, path, runs)

    def items(self, node: Node, value: dict[Any, Any], path: str, runs: bool) -> None:
        node.out.append(b"dict%d;" % len(value))
        for key, item in value.items():
            if key == "__builtins__" and (item is builtins or item is vars(builtins)):
                node.out.append(b"builtins")  # of text that was executed, whose used names are followed
                continue
            self.value(node, key, f"{path}[...]", runs)
            self.value(node, item, f"{path}[{describe(key)}]", runs)

    def _module(self, node: Node, value: pytypes.ModuleType, path: str, runs: bool) -> None:
        owner = distribution.of_module(value.__name__)
        if owner is None:
            raise Refused(path, f"the module {value.__name__} is used as a value, so its used parts are unknown")
        if runs:
            _running.refuse_module(value.__name__, owner, path)
        node.out.append(f"module {shown(owner)} {value.__name__} ".encode())

    def _builtin(self, node: Node, value: Any, path: str, runs: bool) -> None:
        if is_bound(value):
            raise Refused(path, f"{describe(value)}, a method of a value that is compiled in C")
        name, owner = library_name(_kinds.cached(value))
        if owner is None:
            raise Refused(path, f"{name} is compiled, and of no distribution with a version")
        self.library(node, name, owner, path, runs)

    def library(self, node: Node, name: str, owner: Any, path: str, runs: bool) -> None:
        if runs:
            self.compile_time_names |= {name, name.rpartition(".")[2]}
            _running.refuse_named(name, owner, path)
            if owner is distribution.PYTHON:
                self._standard.add(name.rpartition(".")[0])
            if name.partition(".")[0] in _running.COPYING:
                for where, function in _running.copied():
                    self.value(node, function, f"{path} -> {where}", True)
        node.out.append(f"library {shown(owner)} {name} ".encode())

    # Objects of numba

    def _type(self, node: Node, kind: Any, path: str) -> None:
        def value(of: Any) -> None:
            self.value(node, of, path, False)

        def code(of: Any, where: str) -> None:
            self.value(node, of, where, True)

        def state(of: Any) -> None:
            self.refer(node, of, path, True)

        self.reached[id(type(kind))] = type(kind)
        if id(kind) in self._inside:
            node.out.append(b"type around")
            return
        self._inside.append(id(kind))
        try:
            TypeWriter(path, node.out.append, value, code, state).add(kind)
        finally:
            self._inside.pop()

    def _numbas(self, node: Node, value: Any, path: str, runs: bool, way: str) -> None:
        if way == "type":
            self._type(node, value, path)
        elif way == "signature":
            node.out.append(b"signature%d;" % len(value.args))
            for kind in (value.return_type, *value.args, *([value.recvr] if value.recvr is not None else [])):
                self._type(node, kind, path)
        elif way in ("dispatcher", "vectorized", "kernel", "stencil", "intrinsic"):
            self.refer(node, value, path, runs)
        elif way == "callback":
            raise Refused(path, "a callback of cfunc, whose address differs in each process")
        else:
            raise Refused(path, way)

    # Nodes

    def refer(self, node: Node, value: Any, path: str, runs: bool = False, overload: bool = False) -> None:
        number = self._numbers.get((id(value), runs, overload))
        if number is None:
            number = self._begin(value, path, runs, node, overload)
        elif not self.mixed and _kinds.kind_of(value) == "dispatcher":
            self.mixed = text_of(self._effective(value, node.flags)) != text_of(self.nodes[number].flags)
        node.edges.append(number)
        node.out.append(b"*")  # its position among others

    def _begin(self, value: Any, path: str, runs: bool, parent: Node, overload: bool) -> int:
        number = self._numbers[id(value), runs, overload] = len(self.nodes)
        self.reached[id(value)] = value
        way = _kinds.kind_of(value)
        follow: Callable[[Walker, Node], None]
        if way == "dispatcher":
            kind, follow = "compiled function", follow_dispatcher
        elif way == "vectorized":
            kind, follow = "vectorized function", follow_vectorized
        elif way == "kernel":
            kind, follow = "kernel", follow_kernel
        elif way == "callback":
            kind, follow = "callback", follow_callback
        elif way == "stencil":
            kind, follow = "stencil", follow_stencil
        elif way == "type":
            kind, follow = "type", follow_type
        elif way == "intrinsic":
            kind, follow = "intrinsic", follow_intrinsic
        elif isinstance(value, type):
            kind, follow = "class", follow_class
        elif isinstance(value, pytypes.FunctionType):
            kind, follow = "overload" if overload else "function", follow_function
        else:
            kind, follow = "object", follow_object
        node = self._node(value, path, kind, f"{kind} {_called(value)}", runs)
        if way == "dispatcher":
            node.flags = self._effective(value, parent.flags)
        else:
            node.flags = parent.flags
        self._queue.append(lambda: self.guarded(node, follow, self, node))
        return number

    def _effective(self, value: Any, within: Flagged | None) -> Flagged | None:
        """Return the flags that a compiled function has within another one, reading its options once."""
        if id(value) not in self.options:
            self.options[id(value)] = said_of(value)
        return effective(value, self.options[id(value)], within)


_DESCRIBING = frozenset(
    words(
        "__doc__ __name__ __qualname__ __annotations__ co_name co_qualname get_type_hints inspect.signature "
        "annotation return_annotation"
    )
)
"""Names by which code reads descriptions of functions and classes that do not affect what they do."""


def _description(node: Node) -> bytes:
    """Return the description of a function or a class."""
    value = _kinds.python_of(node.value)
    if not isinstance(value, (pytypes.FunctionType, type)) or library_name(value)[1] is not None:
        return b"-"
    doc = value.__doc__ if isinstance(value.__doc__, str) else None
    return repr((value.__name__, value.__qualname__, doc, hints(value))).encode()


def _called(value: Any) -> str:
    inner = _kinds.python_of(value)
    module = shown_module(_kinds.home(getattr(inner, "__module__", None)))
    return f"{module}.{getattr(inner, '__qualname__', type(value).__qualname__)}".lstrip(".")
