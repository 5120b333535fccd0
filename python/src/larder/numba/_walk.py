"""Walk over everything that a compiled function is compiled from.

numba reads code, and the values of names, while it compiles; compiled code keeps what was read.
So the key covers the function's bytecode and options and the current meaning of its names:
values by content, other compiled functions by theirs, wherever they are. Code that runs while
numba compiles (overloads, intrinsics) is followed as well, and must depend on nothing else.

Each function, class and object is a node, numbered when it is met. So the walk ends for functions
that call each other, and equal code has equal numbers in each process.
"""

from __future__ import annotations

import abc
import builtins
import dataclasses
import enum
import logging
import struct
import sys
import types as pytypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from .._identity import distribution
from .._identity.code import members
from .._identity.code.abstract import registered
from .._identity.code.annotations import hints
from .._identity.code.refusals import words
from .._identity.immutable import fixed
from .._identity.library import is_bound, library_name, shown_module
from .._identity.values.encoder import Encoder, Unkeyed
from .._identity.values.objects import CONTENT, refuse_hidden
from .._identity.values.text import describe
from . import _kinds, _running, _stencils
from ._errors import Refused
from ._facts import Facts, facts_of, placed, variables
from ._installed import COMPILERS, edits
from ._options import USUAL, Flagged, around, declared, effective, options_of, said_of, shown_passed
from ._registered import Entry, Registered
from ._types import TypeWriter
from ._written import is_looked_at, written

FORMAT = b"larder numba code 11\n"

_LARGE = 10**6
"""The size in bytes from which numba does not put an array into compiled code."""

_MISSING = object()


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
        return sha256(f"{_text(self.flags)} {self.inherited} ".encode() + self.content()).digest()

    def content(self) -> bytes:
        """Return the digest of its content, without the flags that it would be compiled with from here."""
        self.summed = self.summed or sha256(b"".join(self.out)).digest()
        return self.summed


def _text(flags: Flagged | None) -> str:
    return "" if flags is None else flags.text


class Walk:
    """What a compiled function reaches. `refused` lists the parts without a key; nothing is raised."""

    def __init__(self, registered: Registered, before: Walk | None = None) -> None:
        """Create a walk; `before` is one from before the function was compiled, if it has been since."""
        self.nodes: list[Node] = []
        self.refused: list[Refused] = []
        self.parallel = False
        self.mixed = False
        """Whether a function may be compiled with different flags, whichever come first."""
        self.settings: tuple[str, ...] = ()
        """The process settings that count and differ from their defaults."""
        self.settled: dict[str, Any] = {}
        """All settings by name that code may read which runs while numba compiles, if there is such code."""
        self._registered = registered
        self._names: set[str] = set()
        self._running: set[str] = set()
        """The names that code mentions which runs while numba compiles."""
        self._inside: list[int] = []
        """Types that are being read, which may contain themselves."""
        self._runs_code = False
        """Whether there is such code of the program."""
        self._formats = False
        """Whether such code converts values to strings."""
        self._texts: set[str] = set()
        """Strings that it reaches."""
        self._standard: set[str] = set()
        """Modules of Python that it uses."""
        self._looks = False
        """Whether such code reads the code that is compiled."""
        self._numbers: dict[tuple[int, bool, bool], int] = {}
        self._said: dict[tuple[Any, ...], tuple[list[bytes], list[int], tuple[str, ...]]] = {}
        """The bytes appended for the options of functions, which are the same for most of them."""
        self._told: dict[int, tuple[Any, ...] | None] = {}
        """The options of each compiled function that is met."""
        self._reached: dict[int, Any] = {}
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
        self._to(top, root, name)
        for i, kind in enumerate(kinds):
            self._guarded(top, self._type, top, kind, f"{name} -> argument {i}")
        self._drain()
        top.flags = self.nodes[1].flags  # registrations inherit the flags of the function that is compiled
        while found := list(self._registrations()):
            for entry in found:
                top.out.append(entry.label.encode() + b";")
                self.mixed = self.mixed or entry.flagged
                self._looks = self._looks or entry.looks
                for part in entry.parts:
                    path = f"{name} -> {describe(part)}"
                    if entry.overload and isinstance(part, pytypes.FunctionType):
                        self._guarded(top, self._to, top, part, path, True, True)
                    else:
                        self._guarded(top, self._value, top, part, path, True)
            self._drain()
        self.mixed = self.mixed or (bool(self._taken) and self._inherits_others())
        if not self.mixed:
            for node in self.nodes:
                node.inherited = ()
        handlers = dict(_running.handlers(self._running | self._texts)) if self._runs_code else {}
        for where, handler in handlers.items():
            self._guarded(top, self._value, top, handler, f"{name} -> {where}", True)
            self._drain()
        if self._looks:
            self._written(top)
        if not self._running.isdisjoint(_DESCRIBING):
            top.out += map(_description, self.nodes)
        if self._runs_code:
            self.settings = _running.unusual()
            plain = _running.settings(self._running, self._formats)
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
        for together in _components([node.edges for node in self.nodes]):
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
        told = [f"{i} {node.compiled}\n" for i, node in enumerate(self.nodes) if node.compiled]
        return sha256("".join(told).encode()).digest() if told else b""

    def _registrations(self) -> Iterator[Entry]:
        """Yield new registrations for what was reached."""
        reached = list(self._reached)
        at, self._looked = self._looked, len(reached)
        mine = [e for key in reached[at:] for e in self._registered.by_key.get(key, ())]
        for entry in (*mine, *self._later, *self._registered.everywhere):
            if entry.plain and self._registered.numbers[id(entry)] >= self.registered_at:
                continue
            wanted = entry.attribute is None or entry.attribute in self._names
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
                self._guarded(top, self._items, top, vars(function), node.path, True)
        self._drain()

    def _drain(self) -> None:
        while self._queue:
            self._queue.popleft()()

    def _node(self, value: Any, path: str, kind: str, text: str, runs: bool) -> Node:
        node = Node(value, path, kind, text, runs)
        self.nodes.append(node)
        return node

    def _guarded(self, node: Node, follow: Callable[..., None], *args: Any) -> None:
        """Follow an object; record it if it has no key, and continue, so that everything compiled is met."""
        try:
            follow(*args)
        except Refused as refused:
            self.refused.append(refused)
            node.out.append(b"refused")

    # Values

    def _value(self, node: Node, value: Any, path: str, runs: bool) -> None:
        """Append the identity of a value to a node, or of the node that describes it."""
        self._reached[id(value)] = value
        if runs and type(value) is str:
            _running.refuse_mentioned(frozenset([value]), path)
            self._texts.add(value)
        if type(value) in (tuple, list):
            node.out.append(b"%b%d;" % (type(value).__name__.encode(), len(value)))
            for i, item in enumerate(value):
                self._value(node, item, f"{path}[{i}]", runs)
        elif type(value) is float and value != value and not runs:
            node.out.append(b"nan " + struct.pack("<d", value))  # all NaN are alike
        elif value is None or fixed(value):
            self._leaf(node, value, path)
        elif isinstance(value, pytypes.ModuleType):
            self._module(node, value, path, runs)
        elif type(value) is dict:
            self._items(node, value, path, runs)
        elif isinstance(value, enum.Enum):
            node.out.append(f"member {value._name_} ".encode())
            self._value(node, value._value_, path, runs)
            self._to(node, type(value), path, runs)
        elif (way := _kinds.kind_of(value)) is not None:
            self._numbas(node, value, path, runs, way)
        elif isinstance(value, (pytypes.FunctionType, type)):
            self._to(node, value, path, runs)
        elif isinstance(value, pytypes.MethodType):
            node.out.append(b"method ")
            self._value(node, value.__func__, path, runs)
            self._value(node, value.__self__, path, runs)
        elif isinstance(value, (staticmethod, classmethod)):
            node.out.append(type(value).__name__.encode())
            self._value(node, value.__func__, path, runs)
        elif isinstance(value, property):
            node.out.append(b"property ")
            for part in (value.fget, value.fset, value.fdel):
                self._value(node, part, path, runs)
        elif _kinds.is_builtin(value):
            self._builtin(node, value, path, runs)
        else:
            self._other(node, value, path, runs)

    def _items(self, node: Node, value: dict[Any, Any], path: str, runs: bool) -> None:
        node.out.append(b"dict%d;" % len(value))
        for key, item in value.items():
            if key == "__builtins__" and (item is builtins or item is vars(builtins)):
                node.out.append(b"builtins")  # of text that was executed, whose used names are followed
                continue
            self._value(node, key, f"{path}[...]", runs)
            self._value(node, item, f"{path}[{describe(key)}]", runs)

    def _leaf(self, node: Node, value: Any, path: str) -> None:
        """Append a value that is identified by its content, and has no code in it."""

        def code(of: Any) -> bytes:
            self._to(node, of, path)
            return b"code;"

        e = Encoder(code)
        try:
            e.add(value)
        except Unkeyed as unkeyed:
            raise Refused(f"{path}{unkeyed.way}", f"{describe(value)}, {unkeyed.what}") from None
        node.out.extend(e.out)

    def _other(self, node: Node, value: Any, path: str, runs: bool) -> None:
        cls = type(value)
        if _kinds.is_array(value):
            if value.nbytes > _LARGE and not runs:
                raise Refused(path, f"an array of {value.nbytes} bytes, which numba does not put into compiled code")
            flags = value.flags
            if not (flags.c_contiguous or flags.f_contiguous or runs):
                what = "an array whose elements are not side by side"
                raise Refused(
                    path, f"{what}, which numba does not put into compiled code: np.ascontiguousarray makes one"
                )
            node.out.append(b"flags %d%d%d " % (flags.c_contiguous, flags.f_contiguous, flags.aligned))
            self._leaf(node, value, path)
        elif cls in (set, frozenset) and value and all(_kinds.kind_of(item) == "type" for item in value):
            self._value(node, sorted(value, key=_in_order), path, runs)
            node.out.append(cls.__name__.encode())
        elif cls.__module__ == "numpy" or cls.__module__.startswith("numpy.") or cls in (set, frozenset):
            self._leaf(node, value, path)
        elif isinstance(value, tuple) and any("_fields" in vars(base) for base in cls.__mro__):
            self._to(node, cls, path, runs)
            self._value(node, tuple(value), path, runs)
        elif runs and (names := _running.named_by(value)):
            self._named(names, path)
            self._leaf(node, value, path)
        elif runs and _running.is_chance(value):
            raise Refused(path, "the generator of random draws what no argument decides while numba compiles")
        elif runs and (setting := _kinds.setting(value)):
            raise Refused(path, f"{setting} while numba compiles")
        elif _kinds.pointer(value):
            raise Refused(path, f"{_kinds.pointer(value)}, whose address is another one in each process")
        elif distribution.of_module(cls.__module__) is None:
            self._to(node, value, path, runs)
        else:
            self._leaf(node, value, path)

    def _named(self, names: tuple[str, ...], path: str) -> None:
        """Refuse the attributes that a function of `operator` reads, as for code that reads them itself."""
        for name in names:
            if name in members.INSIDES:
                raise Refused(path, f"{name} leads to code and variables that nobody can follow")
            _running.refuse_method(name, path)
        _running.refuse_mentioned(frozenset(names), path)
        self._running.update(names)
        self._names.update(names)

    def _module(self, node: Node, value: pytypes.ModuleType, path: str, runs: bool) -> None:
        owner = distribution.of_module(value.__name__)
        if owner is None:
            raise Refused(path, f"the module {value.__name__} is a value there, so nobody can tell what of it is used")
        if runs:
            _running.refuse_module(value.__name__, owner, path)
        node.out.append(f"module {_shown(owner)} {value.__name__} ".encode())

    def _builtin(self, node: Node, value: Any, path: str, runs: bool) -> None:
        if is_bound(value):
            raise Refused(path, f"{describe(value)}, a method of a value that is compiled in C")
        name, owner = library_name(_kinds.cached(value))
        if owner is None:
            raise Refused(path, f"{name} is compiled, and of no distribution with a version")
        self._library(node, name, owner, path, runs)

    def _library(self, node: Node, name: str, owner: Any, path: str, runs: bool) -> None:
        if runs:
            self._running |= {name, name.rpartition(".")[2]}
            _running.refuse_named(name, owner, path)
            if owner is distribution.PYTHON:
                self._standard.add(name.rpartition(".")[0])
            if name.partition(".")[0] in _running.COPYING:
                for where, function in _running.copied():
                    self._value(node, function, f"{path} -> {where}", True)
        node.out.append(f"library {_shown(owner)} {name} ".encode())

    # Objects of numba

    def _type(self, node: Node, kind: Any, path: str) -> None:
        def value(of: Any) -> None:
            self._value(node, of, path, False)

        def code(of: Any, where: str) -> None:
            self._value(node, of, where, True)

        def state(of: Any) -> None:
            self._to(node, of, path, True)

        self._reached[id(type(kind))] = type(kind)
        if id(kind) in self._inside:
            node.out.append(b"type around")
            return
        self._inside.append(id(kind))
        try:
            TypeWriter(path, node.out.append, value, code, state).add(kind)
        finally:
            self._inside.pop()

    def _held(self, node: Node) -> None:
        """Append what a type of a program's class holds, which code registered for it may read."""
        for name, held in sorted(vars(node.value).items()):
            if name not in ("name", "_code"):  # the latter is a number that types have in this process
                node.out.append(f".{name} ".encode())
                self._value(node, held, f"{node.path}.{name}", True)

    def _numbas(self, node: Node, value: Any, path: str, runs: bool, way: str) -> None:
        if way == "type":
            self._type(node, value, path)
        elif way == "signature":
            node.out.append(b"signature%d;" % len(value.args))
            for kind in (value.return_type, *value.args, *([value.recvr] if value.recvr is not None else [])):
                self._type(node, kind, path)
        elif way in ("dispatcher", "vectorized", "kernel", "stencil", "intrinsic"):
            self._to(node, value, path, runs)
        elif way == "callback":
            raise Refused(path, "a callback of cfunc, whose address is another one in each process")
        else:
            raise Refused(path, way)

    # Nodes

    def _to(self, node: Node, value: Any, path: str, runs: bool = False, overload: bool = False) -> None:
        number = self._numbers.get((id(value), runs, overload))
        if number is None:
            number = self._begin(value, path, runs, node, overload)
        elif not self.mixed and _kinds.kind_of(value) == "dispatcher":
            self.mixed = _text(self._effective(value, node.flags)) != _text(self.nodes[number].flags)
        node.edges.append(number)
        node.out.append(b"*")  # its position among others

    def _begin(self, value: Any, path: str, runs: bool, parent: Node, overload: bool) -> int:
        number = self._numbers[id(value), runs, overload] = len(self.nodes)
        self._reached[id(value)] = value
        way = _kinds.kind_of(value)
        follow: Callable[[Node], None]
        if way == "dispatcher":
            kind, follow = "compiled function", self._dispatcher
        elif way == "vectorized":
            kind, follow = "vectorized function", self._vectorized
        elif way == "kernel":
            kind, follow = "kernel", self._kernel
        elif way == "callback":
            kind, follow = "callback", self._callback
        elif way == "stencil":
            kind, follow = "stencil", self._stencil
        elif way == "type":
            kind, follow = "type", self._held
        elif way == "intrinsic":
            kind, follow = "intrinsic", self._intrinsic
        elif isinstance(value, type):
            kind, follow = "class", self._class
        elif isinstance(value, pytypes.FunctionType):
            kind, follow = "overload" if overload else "function", self._function
        else:
            kind, follow = "object", self._object
        node = self._node(value, path, kind, f"{kind} {_called(value)}", runs)
        if way == "dispatcher":
            node.flags = self._effective(value, parent.flags)
        else:
            node.flags = parent.flags
        self._queue.append(lambda: self._guarded(node, follow, node))
        return number

    def _dispatcher(self, node: Node) -> None:
        value = node.value
        if value._compiler.py_func is not value.py_func:
            raise Refused(node.path, "numba compiles another function in its place")
        if value.targetoptions.get("parallel"):
            self.parallel = self.mixed = True  # loops are separate functions with their own flags
            node.out.append(variables(value.py_func.__code__))  # errors of arrays with different shapes name them
        if value.targetoptions.get("inline", "never") != "never":
            self.mixed = True  # what it calls has the flags of where it is inlined
        node.out.append(f"{_kinds.home(value.py_func.__module__)}.{value.py_func.__qualname__} ".encode())
        said = self._told[id(value)]
        known = self._said.get(said) if said is not None else None
        if known is None:
            out, edges = len(node.out), len(node.edges)
            self._options(node, value)
            known = node.out[out:], node.edges[edges:], node.inherited
            if said is not None:
                self._said[said] = known
        else:
            node.out += known[0]
            node.edges += known[1]
            node.inherited = known[2]
        self._of_compiled(node, value.py_func, value.locals)

    def _effective(self, value: Any, within: Flagged | None) -> Flagged | None:
        """Return the flags that a compiled function has within another one, reading its options once."""
        if id(value) not in self._told:
            self._told[id(value)] = said_of(value)
        return effective(value, self._told[id(value)], within)

    def _options(self, node: Node, value: Any) -> None:
        """Append the options of a function's compilation."""
        self._looks = self._looks or is_looked_at(value, value.targetoptions)
        for name, held in options_of(value):
            if name in ("fastmath", "error_model") and held in USUAL[name]:
                node.inherited += (name,)
            if name in USUAL and held in USUAL[name]:
                continue
            node.out.append(name.encode() + b"=")
            if isinstance(held, (set, frozenset)):
                held = sorted(map(str, held))
            self._value(node, held, f"{node.path} -> option {name}", True)

    def _vectorized(self, node: Node) -> None:
        complete, loops = _kinds.loops_of(node.value)
        if complete:
            node.out.append(repr(list(map(str, loops))).encode())
        else:  # the first loop that fits is chosen, and one is added if none does
            node.compiled = " ".join(f"{loop};" for loop in loops)
            node.loops = len(loops)
        names = ("__name__", "identity", "reorderable", "signature")
        node.out.append(repr([getattr(node.value, name, None) for name in names]).encode())
        builder = getattr(node.value, "gufunc_builder", None)
        if builder is not None:  # it has the options; for others the kernel has them
            node.out.append(repr((builder.identity, builder.writable_args)).encode())
            said = {**builder.targetoptions, "locals": declared(builder.targetoptions.get("locals"))}
            self._value(node, said, f"{node.path} -> options", True)
        self._to(node, _kinds.kernel_of(node.value), node.path)

    def _kernel(self, node: Node) -> None:
        """Append the function that is compiled for each element, or row, of a vectorized function."""
        self.mixed = True  # it has its own flags
        inner = node.value
        node.out.append(f"kernel {_kinds.home(inner.py_func.__module__)}.{inner.py_func.__qualname__} ".encode())
        self._value(node, dict(inner.targetoptions), f"{node.path} -> options", True)
        self._value(node, declared(inner.locals), f"{node.path} -> locals", True)
        self._of_compiled(node, inner.py_func, inner.locals)

    def _callback(self, node: Node) -> None:
        """Append the function from which a callback for C is compiled."""
        self.mixed = True  # it has its own flags
        made = node.value._compiler
        if made.targetoptions.get("parallel"):
            self.parallel = True
            node.out.append(variables(made.py_func.__code__))
        self._looks = self._looks or is_looked_at(node.value, made.targetoptions)
        node.out.append(f"callback {_kinds.home(made.py_func.__module__)}.{made.py_func.__qualname__} ".encode())
        said = {**made.targetoptions, "locals": declared(made.locals), "pipeline": made.pipeline_class}
        self._value(node, said, f"{node.path} -> options", True)
        self._of_compiled(node, made.py_func, made.locals)

    def _stencil(self, node: Node) -> None:
        """Append the kernel of a stencil, whose names keep the meaning they had when it was created."""
        self.mixed = True  # it is compiled with its own flags, unless it is part of a parallel loop
        self._value(node, _stencils.said_of(node.value), node.path, False)
        kernel = node.value.kernel_ir
        facts = facts_of(kernel.func_id.code)
        if node.flags is not None and node.flags.flags.debuginfo:
            node.out.append(placed(facts.code))
        node.out += (facts.unnamed, b"out" if "out" in facts.code.co_varnames else b"-")  # a name that it must not have
        self._names |= facts.names
        variables, found = _stencils.names_in(kernel)
        cells = {name: found.get(name, _MISSING) for name in facts.code.co_freevars}
        self._cells(node, cells, False)
        self._mentions(node, variables, facts, cells, False)

    def _intrinsic(self, node: Node) -> None:
        value = node.value
        node.out.append(f"{value._name} {value._prefer_literal} ".encode())
        self._value(node, dict(value._ctor_kwargs), node.path, True)
        self._value(node, value._defn, node.path, True)

    def _function(self, node: Node) -> None:
        value = node.value
        if not node.runs and self._registered.is_overloaded(value):
            node.out.append(b"overloaded")  # numba compiles its registration, and not its code
            return
        if _kinds.is_stencils(value):
            self.mixed = True  # its result is compiled with its own flags
        name, owner = library_name(value)
        if owner is not None:
            self._library(node, name, owner, node.path, node.runs)
            if (
                node.runs and distribution.of_module(value.__module__) == owner
            ):  # also by the name under which it is imported
                _running.refuse_named(f"{value.__module__}.{value.__qualname__}", owner, node.path)
            if _whole(owner) and not value.__closure__:
                return
        self._of_function(node, value, node.runs, followed=owner is None)

    def _of_compiled(self, node: Node, value: Any, types: dict[str, Any] | None) -> None:
        """Append the code that is compiled; its variables count if types are declared for them."""
        if types:
            node.out.append(variables(value.__code__))
        if node.flags is not None and node.flags.flags.debuginfo:
            node.out.append(placed(value.__code__))
        self._of_function(node, value, False)

    def _of_function(self, node: Node, value: Any, runs: bool, followed: bool = True) -> None:
        """Append code, defaults, captured variables, and the meaning of the names in code."""
        facts = facts_of(value.__code__, node.kind == "overload")
        node.out.append(facts.content if runs else facts.unnamed)
        self._names |= facts.names
        for i, default in enumerate(value.__defaults__ or ()):
            self._value(node, default, f"{node.path} -> default {i}", runs)
        for name, default in (value.__kwdefaults__ or {}).items():
            node.out.append(name.encode())
            self._value(node, default, f"{node.path} -> default {name}", runs)
        cells = _cells_of(value)
        self._cells(node, cells, runs, followed)
        if not followed:
            return
        if runs:
            self._runs(node, facts)
            self._items(node, vars(value), node.path, runs)
        self._mentions(node, value.__globals__, facts, cells, runs)
        for code in facts.returned:
            inner = facts_of(code)
            self._names |= inner.names
            self._uses(node, value.__globals__, inner, cells, False)

    def _cells(self, node: Node, cells: dict[str, Any], runs: bool, followed: bool = True) -> None:
        """Append captured variables."""
        for name, held in cells.items():
            node.out.append(b"cell ")
            if held is _MISSING:
                node.out.append(b"empty")
            elif not followed and _kinds.is_models(held):
                node.out.append(b"models")  # which count where their types are reached
            elif not isinstance(held, pytypes.ModuleType):  # whose used names are followed
                self._guarded(node, self._value, node, held, f"{node.path} -> captured {name}", runs)

    def _mentions(self, node: Node, space: dict[str, Any], facts: Facts, cells: dict[str, Any], runs: bool) -> None:
        """Append what code imports, and the meaning of the names in it."""
        if facts.unknown is not None:
            raise Refused(node.path, f"the instruction {facts.unknown} is not known")
        for imported, attributes in facts.imports:
            self._import(node, imported, attributes, runs)
        self._uses(node, space, facts, cells, runs)

    def _uses(self, node: Node, space: dict[str, Any], facts: Facts, cells: dict[str, Any], runs: bool) -> None:
        """Append the meaning of the names in code."""
        for kind, name, attributes, mention, called in facts.uses_named if node.runs else facts.uses_unnamed:
            node.out.append(mention)
            out, edges = len(node.out), len(node.edges)
            if kind == "global":
                self._guarded(node, self._global, node, space, name, attributes, runs)
            elif isinstance(cells.get(name), pytypes.ModuleType):
                self._guarded(node, self._chain, node, cells[name], attributes, f"{node.path} -> {name}", runs)
            held = tuple(id(self.nodes[n].value) for n in node.edges[edges:])
            node.said[called] = hash((*node.out[out:], held))

    def _runs(self, node: Node, facts: Facts) -> None:
        """Refuse actions of code that runs while numba compiles, if they cannot be followed."""
        if facts.writes is not None:
            raise Refused(node.path, f"it sets {facts.writes} while numba compiles")
        for name in sorted(facts.insides):
            raise Refused(node.path, f"{name} leads to code and variables that nobody can follow")
        for name in sorted(facts.methods):
            _running.refuse_method(name, node.path)
        _running.refuse_mentioned(facts.names, node.path)
        self._runs_code = True
        self._running |= facts.names
        self._formats = self._formats or facts.formats

    def _global(self, node: Node, space: dict[str, Any], name: str, attributes: tuple[str, ...], runs: bool) -> None:
        path = f"{node.path} -> {name}"
        if node.kind == "compiled function" and _is_own_name(node.value.py_func, name, space):
            self._to(node, node.value, path)
            return
        if name in space:
            self._chain(node, space[name], attributes, path, runs)
            return
        outer = space.get("__builtins__", builtins)
        outer = vars(outer) if isinstance(outer, pytypes.ModuleType) else outer
        if name not in outer:
            node.out.append(f"missing {name} ".encode())
            return
        if runs and name in _running.ANYTHING:
            raise Refused(path, f"{name} may reach anything while numba compiles")
        self._chain(node, outer[name], attributes, path, runs)

    def _chain(self, node: Node, value: Any, attributes: tuple[str, ...], path: str, runs: bool) -> None:
        """Follow attributes of modules as far as they go."""
        left, holder = list(attributes), None
        while isinstance(value, pytypes.ModuleType) and left:
            holder, name = value, left.pop(0)
            path += f".{name}"
            value = getattr(holder, name, _MISSING)
            if value is _MISSING:
                node.out.append(f"missing {name} ".encode())
                return
            owner = distribution.of_module(holder.__name__)
            if runs and owner is not None and not isinstance(value, pytypes.ModuleType):
                _running.refuse_named(f"{holder.__name__}.{name}", owner, path)
        if runs and left and _kinds.kind_of(value) == "dispatcher":
            _running.refuse_of_dispatcher(left[0], path)
            if left[0] == "py_func":
                self._value(node, value.py_func, f"{path}.py_func", True)
        elif runs and left:
            for name in left[1:] if _has_of_its_own(value, left[0]) else left:
                _running.refuse_method(name, path)
        if left and left[0] in _running.LOGGING and isinstance(value, logging.Logger):
            node.out.append(b"logs ")  # and reads nothing
            return
        if holder is not None and self._is_known_by_name(holder, value):
            self._reached[id(value)] = value
            self._library(node, f"{holder.__name__}.{path.rpartition('.')[2]}", owner, path, runs)
            node.out.append(f"is {_own_name(value)} ".encode())  # the program may have put another object there
            return
        self._value(node, value, path, runs)

    def _is_known_by_name(self, holder: pytypes.ModuleType, value: Any) -> bool:
        """Report whether an object of a library's module is identified by its name and the library."""
        owner = distribution.of_module(holder.__name__)
        if owner is None or fixed(value) or _kinds.is_scalar(value) or _kinds.is_array(value):
            return False
        if _kinds.kind_of(value) is not None:
            return False
        if isinstance(value, (pytypes.FunctionType, type)):
            return False
        if _kinds.is_ufunc(value):
            return _kinds.is_numpys(value)
        if isinstance(value, (list, dict, tuple, set)) or not _whole(owner):
            return False
        return distribution.of_module(type(value).__module__) is not None

    def _import(self, node: Node, imported: Any, attributes: tuple[str, ...], runs: bool) -> None:
        """Follow an import in code that runs while numba compiles; only libraries are allowed."""
        module = sys.modules.get(imported.module) if not imported.level else None
        owner = distribution.of_module(imported.module) if not imported.level else None
        if module is None or owner is None:
            raise Refused(node.path, f"it imports {imported.module} while it is compiled; import it at the top")
        node.out.append(f"import {_shown(owner)} {imported.module} {imported.name} {'.'.join(attributes)} ".encode())
        names = attributes if imported.name is None else (imported.name, *attributes)
        if names or not runs:
            self._chain(node, module, names, f"{node.path} -> {imported.module}", runs)

    def _class(self, node: Node) -> None:
        cls = node.value
        name, owner = library_name(cls)
        node.out.append(f"class {_kinds.home(cls.__module__)}.{cls.__qualname__} ".encode())
        if node.runs and isinstance(cls, abc.ABCMeta):
            node.out.append(f"registered {registered(cls)} ".encode())
        if owner is not None:
            self._library(node, name, owner, node.path, node.runs)
            return
        if library_name(type(cls))[1] is None:
            self._value(node, type(cls), f"{node.path} -> metaclass {type(cls).__qualname__}", node.runs)
        if _kinds.is_jitclass(cls):
            raise Refused(node.path, "a class of jitclass, which numba does not keep")
        for base in cls.__bases__:
            self._value(node, base, f"{node.path} -> base {base.__qualname__}", node.runs)
        if issubclass(cls, enum.Enum):
            for name, member in cls.__members__.items():
                node.out.append(f"member {name} ".encode())
                self._value(node, member._value_, f"{node.path}.{name}", node.runs)
        for name, member in sorted(vars(cls).items()):
            if name in _OF_EVERY_CLASS or isinstance(member, _SLOTS) or (name.startswith("_") and _is_enum(cls)):
                continue
            if isinstance(member, enum.Enum) and type(member) is cls:
                continue
            if not node.runs and _is_silent(cls, name, member):
                continue
            node.out.append(f"attribute {name} ".encode())
            self._guarded(node, self._value, node, member, f"{node.path}.{name}", node.runs)
        if node.runs and "__dataclass_fields__" in vars(cls):
            self._fields(node, cls)

    def _fields(self, node: Node, cls: Any) -> None:
        """Append the declarations of a dataclass's fields, which running code may read."""
        node.out.append(repr(hints(cls)).encode())
        for field_ in dataclasses.fields(cls):
            path = f"{node.path}.{field_.name}"
            flags = (field_.name, field_.init, field_.repr, field_.hash, field_.compare, field_.kw_only)
            self._value(node, flags, path, True)
            for part in (field_.default, field_.default_factory):
                if part is not dataclasses.MISSING:
                    self._value(node, part, path, True)
            self._items(node, dict(field_.metadata), f"{path}.metadata", True)

    def _object(self, node: Node) -> None:
        """Append an object of a program's class: its class, its value as a built-in type, its attributes."""
        value, path, runs = node.value, node.path, node.runs
        cls = type(value)
        try:
            refuse_hidden(cls)
        except Unkeyed as unkeyed:
            raise Refused(path, f"{describe(value)}, {unkeyed.what}") from None
        self._to(node, cls, path, runs)
        for base, plain in CONTENT.items():
            if isinstance(value, base):
                self._value(node, plain(value), path, runs)
                break
        if isinstance(value, BaseException):
            self._value(node, value.args, path, runs)
        for base in cls.__mro__:
            for name, slot in vars(base).items():
                if type(slot) is pytypes.MemberDescriptorType:
                    node.out.append(name.encode() + b"/")
                    self._value(node, getattr(value, name, None), f"{path}.{name}", runs)
        for name, held in sorted(getattr(value, "__dict__", {}).items()):
            node.out.append(name.encode() + b" ")
            self._value(node, held, f"{path}.{name}", runs)


def _components(edges: list[list[int]]) -> Iterator[list[int]]:
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


_SLOTS = (pytypes.MemberDescriptorType, pytypes.GetSetDescriptorType)

_OF_EVERY_CLASS = frozenset(
    words(
        "__dict__ __weakref__ __module__ __firstlineno__ __static_attributes__ __annotations__ __annotate__ __doc__ "
        "__annotate_func__ __annotations_cache__ __qualname__ _abc_impl __orig_bases__ __parameters__ __type_params__ "
        "__classdictcell__ __dataclass_fields__ __dataclass_params__ _tuplegetter __slotnames__"
    )
)


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


def _has_of_its_own(value: Any, name: str) -> bool:
    """Report whether the program defined the value under a name, so that it is followed there."""
    cls = value if isinstance(value, type) else type(value)
    return library_name(cls)[1] is None and hasattr(cls, name)


def _own_name(value: Any) -> str:
    """Return the own name of an object of a library, wherever it was found."""
    if _kinds.is_builtin(value):
        return library_name(value)[0]
    return str(getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__qualname__)


def _is_own_name(function: Any, name: str, space: dict[str, Any]) -> bool:
    """Report whether a name means the function itself, as numba binds its name until another object has it."""
    if name != function.__qualname__.rpartition(".")[2]:
        return False
    return space[name] is function if name in space else not hasattr(builtins, name)


def _in_order(kind: Any) -> tuple[str, str]:
    """Return the sort key of types in a set."""
    return f"{type(kind).__module__}.{type(kind).__qualname__}", str(kind)


def _is_silent(cls: type, name: str, member: Any) -> bool:
    """Report whether a member of a class is a method that neither compiled code nor numba calls."""
    if not isinstance(member, (pytypes.FunctionType, staticmethod, classmethod, property)):
        return False
    return issubclass(cls, (BaseException, enum.Enum)) or (issubclass(cls, tuple) and not name.startswith("__"))


def _is_enum(cls: type) -> bool:
    return issubclass(cls, enum.Enum)


def _whole(owner: Any) -> bool:
    """Report whether the identity of an installed library covers all of its code."""
    return owner is distribution.PYTHON or owner.name in COMPILERS


def _shown(owner: distribution.Owner) -> str:
    """Return the identity of a library: its version, and the edits of its installed files."""
    return f"{owner}{edits(owner)}"


def _called(value: Any) -> str:
    inner = _kinds.python_of(value)
    module = shown_module(_kinds.home(getattr(inner, "__module__", None)))
    return f"{module}.{getattr(inner, '__qualname__', type(value).__qualname__)}".lstrip(".")


def _cells_of(value: Any) -> dict[str, Any]:
    held = {}
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            held[name] = _MISSING
    return held
