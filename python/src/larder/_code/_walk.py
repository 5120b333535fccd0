"""The walk over everything that a function can reach.

Each function, class, constant, module or value that is reached is a node: bytes of its
own, and which nodes it refers to. Nodes are numbered as they are met, so code that
calls itself ends, and the same code always makes the same numbers.

What nothing can change is in the bytes. What names it could be given another value, and
that is guarded: see `Guards`. What can change by itself (lists, objects) is a root of
the state, which is looked at in every call.
"""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
import builtins
import contextlib
import enum
import functools
import importlib
import operator
import random
import re
import sys
import types
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from .._keys import describe
from .._keys._encoder import Encoder, Unkeyed, fixed, writer
from ..errors import CodeError
from . import _bytecode, _owner, _rules, _settings
from ._annotations import hints, names_file
from ._guards import Guards
from ._library import is_bound, is_compiled, is_of_library, library_name, patches
from ._rules import words

_FUNCTIONS = frozenset(
    (
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.MethodWrapperType,
        types.ClassMethodDescriptorType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        functools._lru_cache_wrapper,
        staticmethod,
        classmethod,
        property,
    )
)

# What a class has by itself, and not by what was written.
_OF_EVERY_CLASS = frozenset(
    words(
        "__dict__ __weakref__ __module__ __firstlineno__ __static_attributes__ __annotations__ __annotate__ "
        "__annotate_func__ __annotations_cache__ __qualname__ _abc_impl __orig_bases__ __parameters__ "
        "__type_params__ __classdictcell__ _member_map_ _value2member_map_ _unhashable_values_ "
        "_hashable_values_ _unhashable_values_map_ __protocol_attrs__ __non_callable_proto_members__ "
        "__dataclass_fields__"
    )
)

# Bases of the standard library that call no methods but those with two underscores.
_QUIET = frozenset(["builtins", "abc", "enum", "typing", "collections", "collections.abc", "dataclasses", "contextlib"])

_CURES = 'or give the function a version, as in version="1", and another one whenever its results change'


@dataclass(slots=True)
class Node:
    """One thing that is reached."""

    path: str
    kind: str
    text: str
    out: list[bytes] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)

    def digest(self) -> bytes:
        return sha256(b"".join(self.out)).digest()


class Walk:
    """What a function or a class reaches, node by node.

    `nodes` are numbered by their places. `refused` says of methods that nothing reached
    calls by their names why no key could tell what they do.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.guards = Guards()
        self.roots: list[Any] = []
        self.root_nodes: list[int] = []
        self.names: set[str] = set()
        self.any_name = False
        self.formats = False
        self.zoned = False
        self.texts: set[str] = set()
        self.dead: set[str] = set()
        self.refused: dict[str, str] = {}
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        self._queue: deque[Callable[[], None]] = deque()
        self._methods: list[tuple[str, Any, Node]] = []
        self._doubts: list[tuple[str, str, _rules.Refusal]] = []
        self._documented: set[int] = set()
        self._of_classes: dict[int, frozenset[str]] = {}

    def run(self, root: Any, path: str) -> None:
        """Follow all that a value reaches."""
        node = self._node(path, "root", path)
        # What operators do is Python's, too.
        self._edge(node, len(self.nodes))
        self._node(f"{path} -> python", "library", str(_owner.PYTHON)).out.append(str(_owner.PYTHON).encode())
        self._value(node, root, path, "", not isinstance(root, types.FunctionType))
        self._drain()
        while live := [m for m in self._methods if self._is_called(m[0])]:
            self._methods = [m for m in self._methods if not self._is_called(m[0])]
            for name, member, of in live:
                self._value(of, member, f"{of.path}.{name}")
            self._drain()
        self._check_doubts(path)
        if self.formats:
            self._state(node, _settings.PRINTING, _settings.PRINTING.name, "")
        if self.zoned:
            self._state(node, _settings.ZONE, _settings.ZONE.name, "")
        left, self._methods = self._methods, []
        for name, member, of in left:
            self._dead(name, member, of)

    def _is_called(self, name: str) -> bool:
        return self.any_name or name in self.names or name in _rules.CALLED

    def _dead(self, name: str, member: Any, of: Node) -> None:
        """Follow a method that nothing here calls: it may do what it likes, but an edit of it counts."""
        names, self.names = self.names, set()
        doubts, self._doubts = self._doubts, []
        nodes, kept, roots = len(self.nodes), len(self.kept), len(self.roots)
        out, edges = len(of.out), len(of.edges)
        try:
            self._value(of, member, f"{of.path}.{name}")
            self._drain()
            self._check_doubts(of.path)
        except CodeError as err:
            self._queue.clear()
            self.refused[name] = str(err)
            for value in self.kept[kept:]:
                self.numbers.pop(id(value), None)
            del self.nodes[nodes:], self.kept[kept:], self.roots[roots:], self.root_nodes[roots:]
            del of.out[out:], of.edges[edges:]
            self._documented = {n for n in self._documented if n < nodes}
            of.out.append(b"refused")
            of.out.extend(_bytecode.content(f.__code__) for f in _functions_of(member))
        self.dead |= self.names
        self.names, self._doubts = names, doubts

    def _drain(self) -> None:
        while self._queue:
            self._queue.popleft()()

    def _check_doubts(self, path: str) -> None:
        if self.any_name:
            for text in sorted(self.texts & _rules.METHODS.keys()):
                self._doubts.append((text, path, _rules.METHODS[text]))
        for name, where, why in self._doubts:
            raise CodeError(f"{where}: .{name} may reach {why.what}; {why.cure}, {_CURES}")

    # Nodes

    def _node(self, path: str, kind: str, text: str) -> Node:
        node = Node(path, kind, text)
        self.nodes.append(node)
        return node

    def _edge(self, node: Node, to: int) -> None:
        node.out.append(b"#")
        node.edges.append(to)

    def _value(self, node: Node, value: Any, path: str, text: str = "", documented: bool = True) -> None:
        """Let a node refer to a value, whatever it is."""
        if is_bound(value):
            self._state(node, value, path, text)
        elif is_code(value):
            self._edge(node, self.code(value, path, documented))
        elif isinstance(wrapped := _memoized(value), types.FunctionType):
            self._edge(node, self.code(wrapped, path, documented))
        elif isinstance(value, types.ModuleType):
            raise CodeError(
                f"{path}: module {value.__name__} is used as a value, so nobody can tell what of it is used; "
                f"name what is used after the module ({value.__name__}.name), {_CURES}"
            )
        else:
            self._state(node, value, path, text)

    def _state(self, node: Node, value: Any, path: str, text: str) -> None:
        number = self.numbers.get(id(value)) if not fixed(value) else None
        if number is None:
            number = len(self.nodes)
            made = self._node(path, "constant" if fixed(value) else "value", f"{text or path} = {describe(value)}")
            self._fill(made, value, path)
            if not fixed(value):
                self.numbers[id(value)] = number
                self.kept.append(value)
                self.roots.append(value)
                self.root_nodes.append(number)
        self._edge(node, number)

    def _fill(self, node: Node, value: Any, path: str) -> None:
        """Look at a value, and at the functions and classes in it."""
        self._refuse_shared(value, path)

        def code(inner: Any) -> bytes:
            return b"%x;" % self.code(inner, path, True)

        e = Encoder(code)
        try:
            writer(type(value))  # which may refuse it by its type
            e.add(value)
        except Unkeyed as err:
            raise CodeError(
                f"{path}{err.way}: {err.what}, which has no key; pass it as an argument, {_CURES}"
            ) from None
        except RecursionError:
            raise CodeError(f"{path}: a value that is nested too deeply; pass it as an argument, {_CURES}") from None
        if any(name in part for part in e.out for name in _BY_NAME):
            self.any_name = True
        if fixed(value):
            node.out.append(b"".join(e.out))

    def _refuse_shared(self, value: Any, path: str) -> None:
        holder = getattr(value, "__self__", None) if isinstance(value, _BOUND) else value
        if holder is random._inst or (type(holder).__name__ == "RandomState" and _is_global_random(holder)):
            self._refuse(path, "", _rules.CHANCE)
        if type(holder).__qualname__ == "_Environ" and type(holder).__module__ == "os":
            self._refuse(path, "", _rules.ENVIRONMENT)

    def _refuse(self, path: str, name: str, why: _rules.Refusal) -> None:
        named = f"{name} reaches " if name else "reaches "
        raise CodeError(f"{path}: {named}{why.what}; {why.cure}, {_CURES}")

    # Code

    def code(self, value: Any, path: str, documented: bool) -> int:
        """Return the number of a function or a class, which is followed if it is new."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.nodes)
            self.kept.append(value)
            try:
                self._begin(value, path)
            except CodeError:
                del self.numbers[id(value)]
                raise
        if documented and number not in self._documented and isinstance(value, types.FunctionType):
            self._documented.add(number)
            node = self.nodes[number]
            # Whoever gets it as a value can look at these.
            self.guards.watch_mapping(vars(value))
            node.out.append(b"documented")
            e = Encoder(_no_code)
            e.add((value.__name__, value.__doc__ if isinstance(value.__doc__, str) else None, hints(value)))
            node.out.extend(e.out)
        return number

    def _begin(self, value: Any, path: str) -> None:
        if isinstance(value, type):
            self._begin_class(value, path)
        elif isinstance(value, types.FunctionType):
            self._begin_function(value, path)
        elif type(value) in (staticmethod, classmethod):
            node = self._node(path, "method", path)
            node.out.append(type(value).__name__.encode())
            self._queue.append(lambda: self._value(node, value.__func__, path))
        elif isinstance(value, property):
            node = self._node(path, "property", path)
            self._queue.append(lambda: self._property(node, value, path))
        elif isinstance(value, functools._lru_cache_wrapper):
            node = self._node(path, "cached function", path)
            node.out.append(repr(sorted(value.cache_parameters().items())).encode())
            self._queue.append(lambda: self._value(node, value.__wrapped__, path))
        else:
            self._begin_builtin(value, path)

    def _property(self, node: Node, value: property, path: str) -> None:
        for accessor in (value.fget, value.fset, value.fdel):
            if accessor is None:
                node.out.append(b"-")
            else:
                self._value(node, accessor, path)

    def _begin_builtin(self, value: Any, path: str) -> None:
        name, owner = library_name(value)
        if owner is None:
            raise CodeError(f"{path}: {name} is compiled, and of no distribution with a version; {_CURES[3:]}")
        self._refuse_shared(value, path)
        self._refuse_named(name, owner, path)
        self._library_node(path, name, owner)

    def _library_node(self, path: str, name: str, owner: _owner.Owner) -> Node:
        node = self._node(path, "library", f"{name} of {owner}")
        node.out.append(f"library {owner} {name}".encode())
        self._depend(node, name)
        return node

    def _depend(self, node: Node, name: str) -> None:
        """Let a node depend on the settings that what it is of a library depends on."""
        package = name.partition(".")[0]
        if package in ("decimal", "_decimal", "_pydecimal"):
            self._state(node, _settings.DECIMALS, _settings.DECIMALS.name, "")
        if package == "torch" and "torch" in sys.modules:
            self._state(node, _settings.TORCH, _settings.TORCH.name, "")

    def _refuse_named(self, name: str, owner: _owner.Owner, path: str) -> None:
        why = _rules.refusal(name, owner is _owner.PYTHON)
        if why is not None:
            self._refuse(path, name, why)

    def _begin_function(self, value: types.FunctionType, path: str) -> None:
        owner = _owner.of_module(value.__globals__.get("__name__", ""))
        if owner is not None and _is_elsewhere(value.__code__):
            owner = None
        if owner is not None:
            self._begin_library_function(value, owner, path)
            return
        module = shown_module(value.__globals__.get("__name__", "?"))
        node = self._node(path, "function", f"function {module}.{value.__qualname__}")
        self.guards.function(value)
        self._queue.append(lambda: self._function(node, value))

    def _begin_library_function(self, value: types.FunctionType, owner: _owner.Owner, path: str) -> None:
        # Not by its own name, which may be that of a function that it wraps.
        name = f"{value.__globals__['__name__']}.{value.__code__.co_qualname}"
        self._refuse_named(name, owner, path)
        node = self._library_node(path, name, owner)
        self.guards.function(value)
        self._queue.append(lambda: self._library_function(node, value, path))

    def _library_function(self, node: Node, value: types.FunctionType, path: str) -> None:
        """Follow what a function of a library was given: a decorator has the function that it wraps."""
        dispatcher = getattr(value, "registry", None)
        if isinstance(dispatcher, types.MappingProxyType) and value.__globals__["__name__"] == "functools":
            self._state(node, dict(dispatcher), f"{path}.registry", "")
            self.guards.watch_mapping(dispatcher)
            for kind, function in dispatcher.items():
                self._value(node, kind, f"{path} for {kind.__qualname__}")
                self._value(node, function, f"{path} for {kind.__qualname__}")
            return
        self._cells(node, value, path)

    def _function(self, node: Node, value: types.FunctionType) -> None:
        code = value.__code__
        path = node.path
        plain = code
        if _bytecode.documented(code):
            plain = code.replace(co_consts=(None, *code.co_consts[1:]))
        node.out.append(_bytecode.content(plain))
        for i, default in enumerate(value.__defaults__ or ()):
            name = code.co_varnames[code.co_argcount - len(value.__defaults__ or ()) + i]
            self._value(node, default, f"{path} -> default {name}", f"default {name}")
        for name, default in (value.__kwdefaults__ or {}).items():
            node.out.append(name.encode())
            self._value(node, default, f"{path} -> default {name}", f"default {name}")
        if value.__kwdefaults__:
            self.guards.watch_mapping(value.__kwdefaults__)
        self._cells(node, value, path)
        if vars(value):
            self.guards.watch_mapping(vars(value))
        for name, held in vars(value).items():
            node.out.append(name.encode())
            self._value(node, held, f"{path}.{name}")
        files = names_file(value)
        own = (code.co_varnames[0], self._of_classes[id(value)]) if self._is_method(value) else None
        Follow(self, node, value.__globals__, _cells_of(value), files, own).all(_bytecode.Names(code))

    def _is_method(self, value: types.FunctionType) -> bool:
        return id(value) in self._of_classes and value.__code__.co_argcount > 0

    def _cells(self, node: Node, value: types.FunctionType, path: str) -> None:
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                held = cell.cell_contents
            except ValueError:  # not set yet
                node.out.append(b"empty")
                continue
            self.guards.cell(cell, held)
            if isinstance(held, types.ModuleType):
                continue  # what is used of it is followed
            if name != "repr_running" or _owner.of_module(value.__globals__.get("__name__", "")) is not _owner.PYTHON:
                self._value(node, held, f"{path} -> captured {name}", f"captured {name}")

    # Classes

    def _begin_class(self, cls: type, path: str) -> None:
        name, owner = library_name(cls)
        if owner is not None:
            self._refuse_named(name, owner, path)
            node = self._library_node(path, name, owner)
            for attribute, function in patches(cls):
                node.out.append(attribute.encode())
                self._queue.append(functools.partial(self._value, node, function, f"{path}.{attribute}"))
            return
        node = self._node(path, "class", f"class {shown_module(cls.__module__)}.{cls.__qualname__}")
        self._queue.append(lambda: self._class(node, cls))

    def _class(self, node: Node, cls: type) -> None:
        path = node.path
        node.out.append(f"class {cls.__name__}".encode())
        self.guards.bases(cls)
        for base in cls.__bases__:
            self._value(node, base, f"{path} -> base {base.__qualname__}")
        self._value(node, type(cls), f"{path} -> metaclass {type(cls).__qualname__}")
        e = Encoder(_no_code)
        e.add(hints(cls))
        node.out.extend(e.out)
        if issubclass(cls, enum.Enum):
            self._members_of_enum(node, cls)
        if isinstance(cls, abc.ABCMeta):
            self._registered(node, cls)
        self.guards.watch_mapping(vars(cls))
        loud = self._is_loud(cls)
        own = frozenset(name for base in cls.__mro__ if library_name(base)[1] is None for name in vars(base))
        self.names.update(name for name in vars(cls).get("__match_args__", ()) if isinstance(name, str))
        for name, member in sorted(vars(cls).items(), key=lambda item: item[0]):
            if name in _OF_EVERY_CLASS or (isinstance(member, enum.Enum) and type(member) is cls):
                continue
            for function in _functions_of(member):
                self._of_classes[id(function)] = own
            self._member(node, name, member, f"{path}.{name}", loud)
        fields = vars(cls).get("__dataclass_fields__", {})
        for name, held in fields.items():
            self._dataclass_field(node, held, f"{path}.{name}")

    def _registered(self, node: Node, cls: abc.ABCMeta) -> None:
        """Add the classes that were declared to be of an abstract one."""
        registry = _abc._get_dump(cls)[0]
        names = sorted(f"{c.__module__}.{c.__qualname__}" for ref in registry if (c := ref()) is not None)
        node.out.append(f"registered {names}".encode())
        self.guards.registers()

    def _member(self, node: Node, name: str, member: Any, path: str, loud: bool) -> None:
        node.out.append(f"member {name} ".encode())
        if isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            return  # a slot
        inner = member.func if type(member) is functools.cached_property else member
        method = type(inner) in (types.FunctionType, staticmethod, classmethod, property)
        dunder = name.startswith("__") and name.endswith("__")
        if method and not dunder and not loud and not self._is_called(name):
            self._methods.append((name, inner, node))
        elif inner is not member:
            node.out.append(b"cached property")
            self._value(node, inner, path)
        elif name == "__doc__" and isinstance(member, str):
            # Some are made of what has an address: the defaults of a dataclass.
            self._value(node, _ADDRESS.sub("", member), path)
        elif type(member) is functools.singledispatchmethod:
            self._value(node, member.dispatcher, path)
        else:
            self._value(node, member, path)

    def _is_loud(self, cls: type) -> bool:
        """Report whether a base is of a library that may call any method of the class."""
        for base in cls.__mro__[1:]:
            _, owner = library_name(base)
            if owner is not None and base.__module__ not in _QUIET:
                return True
        return False

    def _members_of_enum(self, node: Node, cls: type[enum.Enum]) -> None:
        for name, member in cls.__members__.items():
            node.out.append(f"member {name} ".encode())
            self._value(node, member._value_, f"{node.path}.{name}")
            own = {k: v for k, v in vars(member).items() if k not in _OF_MEMBERS}
            for key, held in own.items():
                node.out.append(key.encode())
                self._value(node, held, f"{node.path}.{name}.{key}")

    def _dataclass_field(self, node: Node, held: Any, path: str) -> None:
        e = Encoder(_no_code)
        e.add((held.name, held.init, held.repr, held.hash, held.compare, held.kw_only, held._field_type.name))
        node.out.extend(e.out)
        for part in (held.default, held.default_factory):
            self._value(node, part, path)
        if held.metadata:
            self._value(node, held.metadata, f"{path}.metadata")


_BY_NAME = (b"operator.methodcaller", b"operator.attrgetter")

_BOUND = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)

_OF_MEMBERS = frozenset(["_name_", "_value_", "_sort_order_", "__objclass__", "_inverted_"])


def is_code(value: Any) -> bool:
    """Report whether a value is a function or a class, of exactly a type that is known here."""
    return type(value) in _FUNCTIONS or isinstance(value, type) or is_compiled(value)


def _no_code(value: Any) -> bytes:
    raise TypeError(f"code where there is none: {type(value)}")


def _functions_of(member: Any) -> list[types.FunctionType]:
    if isinstance(member, property):
        return [f for f in (member.fget, member.fset, member.fdel) if isinstance(f, types.FunctionType)]
    inner = getattr(member, "__func__", member)
    return [inner] if isinstance(inner, types.FunctionType) else []


def _memoized(value: Any) -> Any:
    """Return the function that another one of Larder's remembers the results of."""
    return getattr(value, "__wrapped__", None) if type(value).__module__.startswith("larder.") else None


def _is_global_random(state: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and state is numpy.random.mtrand._rand


def _is_elsewhere(code: types.CodeType) -> bool:
    """Report whether code that is in a module of a library comes from a file of the user."""
    name = code.co_filename
    return not name.startswith("<") and name.endswith(".py") and name[:1] in "/\\" and _owner.of_file(name) is None


def _cells_of(value: types.FunctionType) -> dict[str, Any]:
    held = {}
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            continue
    return held


def shown_module(name: str) -> str:
    """Return what a module is called; the script that runs is called by its file."""
    if name != "__main__":
        return name
    import os

    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.splitext(os.path.basename(path))[0] if isinstance(path, str) else "__main__"


class Follow:
    """Follows what the code of one function names."""

    def __init__(
        self,
        walk: Walk,
        node: Node,
        space: dict[str, Any],
        cells: dict[str, Any],
        files: frozenset[str],
        own: tuple[str, frozenset[str]] | None,
    ):
        self.walk = walk
        self.node = node
        self.space = space
        self.cells = cells
        self.files = files
        self.own = own

    def all(self, names: _bytecode.Names) -> None:
        """Follow what a piece of code names, and what the pieces in it name."""
        unknown = names.unknown()
        if unknown is not None:
            raise CodeError(f"{self._where(None)}: the instruction {unknown} is not known; {_CURES[3:]}")
        for kind, name, line in names.writes():
            raise CodeError(
                f"{self._where(line)}: the {kind} {name} is set, which outlives the call; "
                f"return the value, or keep it in an object that is passed, {_CURES}"
            )
        self.walk.names |= names.attributes
        if any(op.name == "MATCH_CLASS" for op in names.ops):
            self.walk.names |= names.texts
        self.walk.texts |= names.texts
        for name in sorted(names.attributes | names.texts):
            if name in _rules.INSIDES:
                self._refuse_insides(name)
        if names.attributes & _rules.ZONED:
            self.walk.zoned = True
        self.walk.formats = self.walk.formats or any(op.name in _settings.FORMATTING for op in names.ops)
        for imported in names.imports:
            self._import(imported, None)
        files = self.files | _listed_files(names, self.files)
        for use in names.uses():
            self._use(use, files)
        for inner in names.nested():
            self.all(inner)

    def _refuse_insides(self, name: str) -> None:
        raise CodeError(
            f"{self._where(None)}: {name} leads to code and variables that nobody can follow; "
            f"name what is used of them, {_CURES}"
        )

    def _where(self, line: int | None) -> str:
        module = shown_module(self.space.get("__name__", "?"))
        at = f", line {line}" if line is not None else ""
        return f"{self.node.path} (module {module}{at})"

    def _use(self, use: _bytecode.Use, files: frozenset[str]) -> None:
        if use.kind == "global":
            assert isinstance(use.root, str)
            self._global(use, use.root, files)
        elif use.kind == "cell":
            assert isinstance(use.root, str)
            if use.root in self.cells:
                path = f"{self.node.path} -> captured {use.root}"
                held = self.cells[use.root]
                if isinstance(held, types.ModuleType) or use.attributes:
                    self._chain(use, held, path, files)
        elif use.kind == "import":
            assert isinstance(use.root, _bytecode.Imported)
            value = self._import(use.root, use)
            if value is not _MISSING:
                self._chain(use, value, f"{self.node.path} -> {use.root.name or use.root.module}", files)
        else:
            self._attributes(use, files)

    def _attributes(self, use: _bytecode.Use, files: frozenset[str]) -> None:
        """Doubt methods that are called on what nobody knows the type of."""
        if use.kind == "local" and use.root in files and len(use.attributes) == 1:
            return
        if use.kind == "local" and self.own is not None and use.root == self.own[0]:
            # What its own class has is followed there.
            if use.attributes and use.attributes[0] not in self.own[1]:
                self._doubt(use.attributes[0], use)
            for name in use.attributes[1:]:
                self._doubt(name, use)
            return
        if use.kind == "value" and _is_made_of_file(use.before, files):
            return
        for name in use.attributes:
            self._doubt(name, use)

    def _doubt(self, name: str, use: _bytecode.Use) -> None:
        why = _rules.METHODS.get(name)
        if why is not None:
            self.walk._doubts.append((name, self._where(use.line), why))

    def _global(self, use: _bytecode.Use, name: str, files: frozenset[str]) -> None:
        walk, space = self.walk, self.space
        if name in space:
            value = space[name]
            walk.guards.name(space, name, value)
            self._chain(use, value, f"{self.node.path} -> {name}", files)
            return
        outer = space.get("__builtins__", builtins)
        outer = vars(outer) if isinstance(outer, types.ModuleType) else outer
        walk.guards.missing(space, name)
        if name not in outer:
            self.node.out.append(f"missing {name}".encode())  # it may be made later, or be an error
            walk.guards.missing(outer, name)
            return
        walk.guards.name(outer, name, outer[name])
        if name in _rules.BY_NAME:
            walk.any_name = True
        if name in _settings.PRINTERS:
            walk.formats = True
        if name in ("vars", "dir") and not _without_arguments(use):
            self.node.out.append(f"builtin {name}".encode())
            return
        self._chain(use, outer[name], f"{self.node.path} -> {name}", files)

    def _import(self, imported: _bytecode.Imported, use: _bytecode.Use | None) -> Any:
        """Return what is imported; it is imported now, as the function would when it is called."""
        name, module = imported.module, None
        where = self._where(use.line if use else None)
        try:
            package = self.space.get("__package__") or self.space.get("__name__", "").rpartition(".")[0]
            module = importlib.import_module("." * imported.level + name, package if imported.level else None)
        except ImportError:
            self.node.out.append(f"missing module {name}".encode())
            return _MISSING
        except Exception as err:
            raise CodeError(f"{where}: module {name} cannot be imported: {err}") from err
        self.walk.guards.name(sys.modules, module.__name__, module)
        if imported.name is None:
            if use is None:
                self._module(module)
            return module
        value = self._member(module, imported.name)
        if use is None and not isinstance(value, types.ModuleType) and value is not _MISSING:
            self._refer(value, f"{self.node.path} -> {imported.name}", False, module, imported.name)
        return value

    def _module(self, module: types.ModuleType) -> None:
        owner = _owner.of_module(module.__name__)
        self.node.out.append(f"import {module.__name__ if owner else ''} {owner}".encode())

    def _member(self, module: types.ModuleType, name: str) -> Any:
        """Return what a module has of a name, and see to it that it stays so."""
        space = vars(module)
        if name not in space:
            try:
                getattr(module, name)
            except AttributeError:
                with contextlib.suppress(ImportError):
                    importlib.import_module(f"{module.__name__}.{name}")
            except Exception as err:
                raise CodeError(f"{self.node.path}: {module.__name__}.{name} cannot be had: {err}") from err
        if name not in space:
            self.node.out.append(f"missing {module.__name__}.{name}".encode())
            self.walk.guards.missing(space, name)
            maker = space.get("__getattr__")
            if maker is not None:  # it is made anew each time, by this
                self.walk.guards.name(space, "__getattr__", maker)
                self.walk._value(self.node, maker, f"{self.node.path} -> {module.__name__}.__getattr__")
            elif name in _OF_MODULES:
                raise CodeError(
                    f"{self.node.path}: {module.__name__}.{name} may be anything of the module; "
                    f"name what is used of it, {_CURES}"
                )
            return _MISSING
        self.walk.guards.name(space, name, space[name])
        return space[name]

    def _chain(self, use: _bytecode.Use, value: Any, path: str, files: frozenset[str]) -> None:
        """Follow attributes of modules and classes as far as they go."""
        attributes = list(use.attributes)
        holder: types.ModuleType | None = None
        last = use.root.name or use.root.module if isinstance(use.root, _bytecode.Imported) else str(use.root)
        while isinstance(value, types.ModuleType) and attributes:
            holder, last = value, attributes.pop(0)
            value = self._member(holder, last)
            path += f".{last}"
            self._refuse_in(holder, last, value, path, use, files)
            if value is _MISSING:
                return
        if use.written and not attributes[1:]:
            raise CodeError(
                f"{self._where(use.line)}: an attribute of {path.rpartition(' ')[2]} is set, which outlives the call; "
                f"return the value, {_CURES}"
            )
        if value is operator.methodcaller or value is operator.attrgetter:
            self.walk.any_name = True
        name, owner = "", None
        if is_code(value):
            name, owner = library_name(value)
        if owner is not None:
            self._library(use, value, name, owner, attributes, path, files)
            return
        self._refer(value, path, use.called and not attributes, holder, last)
        if attributes:
            self._after(value, attributes, use)

    def _after(self, value: Any, attributes: list[str], use: _bytecode.Use) -> None:
        """Doubt methods of a value, but for those that its own class has, which are followed."""
        cls = value if isinstance(value, type) else type(value)
        for name in attributes:
            if library_name(cls)[1] is not None or not hasattr(cls, name):
                self._doubt(name, use)
            cls = object

    def _refuse_in(
        self, module: types.ModuleType, name: str, value: Any, path: str, use: _bytecode.Use, files: frozenset[str]
    ) -> None:
        """Refuse what a library has by a name, if that depends on more than its arguments."""
        owner = _owner.of_module(module.__name__)
        if owner is not None and not isinstance(value, types.ModuleType) and not _is_users(value):
            self._refuse_use(f"{module.__name__}.{name}", owner, use, files, path)

    def _refuse_use(self, name: str, owner: _owner.Owner, use: _bytecode.Use, files: frozenset[str], path: str) -> None:
        if name in _rules.READERS and _reads_given(use, files):
            return
        if name in _rules.SEEDED:
            if _without_arguments(use):
                self._refuse(use, name, _rules.CHANCE)
            return
        why = _rules.refusal(name, owner is _owner.PYTHON)
        if why is not None and not (name.startswith("random.") and name.count(".") == 1 and name[7:8].islower()):
            self._refuse(use, name, why)

    def _refuse(self, use: _bytecode.Use, name: str, why: _rules.Refusal) -> None:
        raise CodeError(f"{self._where(use.line)}: {name} reaches {why.what}; {why.cure}, {_CURES}")

    def _library(
        self,
        use: _bytecode.Use,
        value: Any,
        name: str,
        owner: _owner.Owner,
        attributes: list[str],
        path: str,
        files: frozenset[str],
    ) -> None:
        """Refer to a function or a class of a library, if it may be used in this way."""
        if isinstance(value, type):
            for attribute in attributes[:1]:
                why = _rules.refusal(f"{name}.{attribute}", owner is _owner.PYTHON) or _rules.METHODS.get(attribute)
                if why is not None and not hasattr(type, attribute):
                    self._refuse(use, f"{name}.{attribute}", why)
                found = vars(value).get(attribute)
                if isinstance(found, types.FunctionType):
                    # Somebody may have put it there.
                    self.walk.guards.name(vars(value), attribute, found)
                    self.walk._value(self.node, found, f"{path}.{attribute}", "", not use.called)
        if name in _rules.READERS or name in _rules.SEEDED or name.partition(".")[0] == "_io":
            self._refuse_use(name, owner, use, files, path)
            self.node.out.append(f"library {owner} {name} {'.'.join(attributes)}".encode())
            self.walk._depend(self.node, name)
            return
        try:
            self.walk._value(self.node, value, path, "", not use.called)
        except CodeError as err:
            raise CodeError(str(err).replace(path + ":", f"{self._where(use.line)}:", 1)) from None

    def _has_key(self, value: Any, owner: _owner.Owner | None) -> bool:
        """Report whether an object of the standard library is known by its content: somebody may have put it there."""
        if owner is not _owner.PYTHON:
            return False
        try:
            Encoder(lambda code: b"").add(value)
        except Unkeyed:
            return False
        return True

    def _refer(self, value: Any, path: str, called: bool, holder: types.ModuleType | None, name: str) -> None:
        owner = _owner.of_module(holder.__name__) if holder is not None else None
        if holder is not None and is_of_library(value, owner) and not self._has_key(value, owner):
            self.node.out.append(f"library {owner} {holder.__name__}.{name}".encode())
            self.walk._depend(self.node, holder.__name__)
            return
        space = "" if holder is None else shown_module(holder.__name__) + "."
        if holder is None and not isinstance(value, (types.FunctionType, type)):
            space = shown_module(self.space.get("__name__", "?")) + "."
        if isinstance(value, types.ModuleType):
            owner = _owner.of_module(value.__name__)
            raise CodeError(
                f"{path}: module {value.__name__} is used as a value, so nobody can tell what of it is used; "
                f"name what is used after the module, as in {value.__name__}.name, {_CURES}"
            )
        self.walk._value(self.node, value, path, f"{space}{name}", not called)


_MISSING = object()

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

_OF_MODULES = frozenset(["__dict__", "__getattribute__", "__class__"])


def _is_users(value: Any) -> bool:
    """Report whether what a library has by a name is a function that the user put there."""
    return isinstance(value, types.FunctionType) and library_name(value)[1] is None


def _without_arguments(use: _bytecode.Use) -> bool:
    after = [op for op in use.after if op.name not in ("PUSH_NULL", "PRECALL")]
    return bool(after) and after[0].name == "CALL" and (after[0].value or 0) == 0


def _reads_given(use: _bytecode.Use, files: frozenset[str]) -> bool:
    """Report whether what reads a file is given one that is in the key, or bytes."""
    if not use.after:
        return False
    first = use.after[0]
    if first.name == "LOAD_FAST" or first.name in ("LOAD_DEREF",):
        return first.value in files
    return first.name == "LOAD_GLOBAL" and first.value in ("io", "BytesIO", "StringIO")


def _is_made_of_file(before: tuple[_bytecode.Op, ...], files: frozenset[str]) -> bool:
    """Report whether the value before is what one call made of a file that is in the key, as Path(file)."""
    return (
        len(before) == 2
        and before[1].name == "CALL"
        and before[1].value == 1
        and before[0].name in ("LOAD_FAST", "LOAD_DEREF")
        and before[0].value in files
    )


def _listed_files(names: _bytecode.Names, files: frozenset[str]) -> frozenset[str]:
    """Return the variables of loops over files that are in the key."""
    ops = names.ops
    found = set()
    for a, b, c, d in zip(ops, ops[1:], ops[2:], ops[3:], strict=False):
        if a.value in files and b.name == "GET_ITER" and c.name == "FOR_ITER" and d.name == "STORE_FAST":
            found.add(d.value)
    return frozenset(found)
