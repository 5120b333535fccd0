"""Walk over everything that a function can reach.

Each function, class, constant, module or value that is reached is a node: its own bytes, and the
nodes that it refers to. Nodes are numbered when they are met, so the walk ends for code that
calls itself, and the same code always has the same numbers.

Immutable parts are in the bytes. A name could be bound to another value, so it is guarded: see
`Guards`. Mutable values (lists, objects) are roots of the state, which is read in every call.
"""

from __future__ import annotations

import abc
import enum
import functools
import operator
import os
import random
import re
import sys
import types
from collections import deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from ...errors import CodeError
from .. import distribution
from ..immutable import fixed
from ..library import CURES, is_bound, is_code, is_model, library_name, made_of, patched_methods, shown_module
from ..values.encoder import BY_CONTENT, BY_NAME, Encoder, Unkeyed, writer
from ..values.objects import OF_MEMBERS
from ..values.text import describe
from ..wrapper import Wrapper
from . import bytecode, draws, expressions, naming, patches, registries, rules, settings
from .abstract import below, registered
from .annotations import READING, annotated, hints, names_file
from .guards import Guards
from .node import Node
from .place import of_version
from .references import ATTRS, Follow
from .rules import words

# Attributes that every class has, regardless of its source.
_OF_EVERY_CLASS = frozenset(
    words(
        "__dict__ __weakref__ __module__ __firstlineno__ __static_attributes__ __annotations__ __annotate__ "
        "__annotate_func__ __annotations_cache__ __qualname__ _abc_impl __orig_bases__ __parameters__ "
        "__type_params__ __classdictcell__ _member_map_ _value2member_map_ _unhashable_values_ "
        "_hashable_values_ _unhashable_values_map_ __protocol_attrs__ __non_callable_proto_members__ "
        "__dataclass_fields__ __slotnames__ "
        # pydantic creates these from the fields and decorators of a class, with addresses in them
        "__pydantic_core_schema__ __pydantic_validator__ __pydantic_serializer__ __pydantic_setattr_handlers__"
    )
)

# An attribute of functions of networkx that replace their own code by compiled code when they are called.
_COMPILES_ITSELF = "__argmap__"

_WATCHED = 16
"""In larger registries, entries of libraries are only counted, which is fast."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

# Methods that create or prepare an object, which have run for an existing one.
_MAKING = frozenset(
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
# Other methods that are not called when Larder only calls an object.
_UNCALLED = frozenset(["extra_repr", "__repr__", "train"])
# Modules of the standard library whose classes call only methods with two underscores.
_QUIET = frozenset(["builtins", "abc", "enum", "typing", "collections", "collections.abc", "dataclasses", "contextlib"])


class Remade(Exception):
    """The walk must be repeated with `whole`: code may create objects of a class whose constructor was skipped."""


class Walk:
    """What a function or a class reaches, node by node.

    `nodes` are numbered by their positions. `refused` says why no key covers methods that no
    reached code calls by name.
    """

    def __init__(self, filed: bool = False, allow: frozenset[str] | None = None, whole: bool = False) -> None:
        """Create a walk.

        `filed` says that the root is called with files where its parameters say so. `allow` are names that
        would be refused and do not matter, or None if the caller has no such option. A `whole` walk also
        follows the code that creates existing objects.
        """
        self._filed = filed
        self._allow = allow
        self.nodes: list[Node] = []
        self.guards = Guards()
        self.roots: list[Any] = []
        self.root_nodes: list[int] = []
        self.names: set[str] = set()
        self.any_name = False
        self.formats = False
        self.zoned = False
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
        self.dead: dict[str, set[str]] = {}
        """The names that methods mention which no code calls, by method."""
        self.refused: dict[str, str] = {}
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        self._held: set[str] = set()
        self._strings: set[str] = set()
        self._beside: list[tuple[str, Any, Node]] = []
        self._queue: deque[Callable[[], None]] = deque()
        self._methods: list[tuple[str, Any, Node]] = []
        self.doubts: list[tuple[str, str, rules.Refusal]] = []
        self._documented: set[int] = set()
        self.evaluating: dict[tuple[int, re.Pattern[str], frozenset[str]], Callable[..., None]] = {}
        """Follows names in strings that code evaluates: always, or if a string is one of some names."""
        self._evaluated: set[tuple[int, str]] = set()
        self._constants: list[Any] = []
        self._modules: dict[int, tuple[types.ModuleType, Node]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._annotated: list[tuple[Any, Node]] = []
        self._of_classes: dict[int, frozenset[str]] = {}
        self._made: set[type] = set()
        self._making = _MAKING
        self._whole = whole
        self._held_models = False
        self._root: Any = None

    def made(self, cls: type, called: bool = False) -> None:
        """Assume that objects of a class exist; code that creates them is followed only if it is called by name.

        `called` says that they are only called.
        """
        self._making |= _UNCALLED if called else frozenset()
        self._made.update(c for c in cls.__mro__ if library_name(c)[1] is None and id(c) not in self.numbers)

    def run(self, root: Any, path: str) -> None:
        """Follow everything that a value reaches."""
        node = self._node(path, "root", path)
        self._root = root.__func__ if isinstance(root, types.MethodType) else root
        self.files = self._filed and (not isinstance(self._root, types.FunctionType) or bool(names_file(self._root)))
        # The behaviour of operators is part of Python.
        self.add_edge(node, len(self.nodes))
        self._node(f"{path} -> python", "library", str(distribution.PYTHON)).out.append(
            str(distribution.PYTHON).encode()
        )
        self.follow(node, root, path, "", not isinstance(root, types.FunctionType))
        self._drain()
        while (
            self._follow_methods()
            or self._follow_annotations()
            or self._follow_modules()
            or self._follow_expressions()
            or self._follow_settings(node)
        ):
            self._drain()
        self._check_doubts(path)
        if self._held_models and (self.any_name or "__class__" in self.names):
            raise Remade(path)
        if self.catches:
            node.out.append(repr(self.locals).encode())
        if self.opens and self.unseen:
            raise CodeError(
                f"{path}: {self.unseen} may have files opened in other processes, where nobody sees which; "
                f"read them in the function itself, {CURES}"
            )
        if self.prints and (self.captures or self.any_name or not self.names.isdisjoint(("stdout", "stderr"))):
            self.sight = BY_NAME
        if self.any_name and not self.texts.isdisjoint(rules.NAMING):
            self.sight = BY_NAME
        if self.warns and (self.any_name or not self.names.isdisjoint(rules.OF_PLACES)):
            self._refuse(path, "warnings.catch_warnings", rules.PLACES)
        self._patches_beside(node)
        self._paths_beside(node)
        self._methods += self._beside
        while self._methods:  # also of classes that are met in this way
            self._dead(*self._methods.pop(0))

    def _follow_methods(self) -> bool:
        """Follow the methods that are called by now, and report whether there are any."""
        live = [m for m in self._methods if self._is_called(m[0])]
        self._methods = [m for m in self._methods if not self._is_called(m[0])]
        for name, member, of in live:
            self.follow(of, member, f"{of.path}.{name}")
        return bool(live)

    def _follow_annotations(self) -> bool:
        """Follow the names in annotations if code reads annotations, and report whether there are any."""
        named = self.names | self.texts if self.any_name else self.names
        if not self._annotated or named.isdisjoint(READING):
            return False
        for value, node in self._annotated:
            for one in annotated(value):
                if isinstance(one, (dict, list, set)) or patches.is_of_program(one):
                    self.follow(node, one, f"{node.path} -> annotation {describe(one)}")
        self._annotated = []
        return True

    def class_of_module(self, node: Node, module: types.ModuleType) -> None:
        """Follow the class that the program gave a module, whose properties are attributes of the module."""
        cls = type(module)
        given = library_name(cls)[1] is None
        if (
            id(module) in self._modules
            or distribution.of_module(module.__name__)
            or not (given or cls is types.ModuleType)
        ):
            return
        self.guards.attribute(module, "__class__", cls)
        self._modules[id(module)] = module, node
        if given:
            self.follow(node, type(module), f"{node.path} -> class of module {module.__name__}")

    def _follow_modules(self) -> bool:
        """Follow attributes of modules that methods of such classes may use; report whether there is any."""
        before = len(self._seen)
        whole = self.any_name or not self.names.isdisjoint(("__dict__", "__getattribute__"))
        for module, node in [one for one in self._modules.values() if type(one[0]) is not types.ModuleType]:
            space = vars(module)
            for name in sorted(space if whole else self.names & space.keys()):
                held = space[name]
                own = isinstance(held, types.ModuleType) and distribution.of_module(held.__name__) is not None
                if not name.startswith("__") and not own and (module.__name__, name) not in self._seen:
                    self._seen.add((module.__name__, name))
                    self.guards.name(space, name, held)
                    self.follow(node, held, f"{node.path} -> {module.__name__}.{name}")
        return len(self._seen) != before

    def _follow_expressions(self) -> bool:
        """Follow names in evaluated strings, of any code and value, as strings are passed on.

        Report whether there is anything new.
        """
        if not self.evaluating:
            return False
        before = len(self._evaluated)
        texts = self.texts | set(expressions.texts([*self._constants, *self.roots]))
        for (at, named, by), follow in list(self.evaluating.items()):
            if by and by.isdisjoint(texts):
                continue
            for first, *rest in expressions.names_in(texts, named):
                if (at, f"{first}.{rest}") not in self._evaluated:
                    self._evaluated.add((at, f"{first}.{rest}"))
                    follow(first, tuple(rest))
        return len(self._evaluated) != before

    def _paths_beside(self, node: Node) -> None:
        """Add the program's objects that strings name by path, as libraries import them by path (`ImportString`)."""
        for text in sorted(self.texts | self._strings):
            found = expressions.of_path(text)
            if found is not None:
                self._beside.append((text, found, node))

    def _follow_settings(self, node: Node) -> bool:
        """Follow the settings that code depends on by now, and report whether there are any."""
        before = len(self.nodes), len(self._methods), len(node.edges)
        wanted = [settings.PRINTING] if self.formats else []
        wanted += [settings.ZONE] if self.zoned else []
        wanted += [settings.FILTERS] if self.warns else []
        if self.any_name or not self.names.isdisjoint(settings.OF_GRADIENTS):
            wanted.append(settings.GRADIENTS)
        codecs = settings.codecs_of(self.texts | self._strings, not self.names.isdisjoint(settings.ENCODING))
        for setting in [*wanted, *codecs]:
            if setting.name not in self._held:
                self._held.add(setting.name)
                self._state(node, setting, setting.name, "")
        for package in sorted({"", *self.packages} - self._held):
            self._held.add(package)
            for path in settings.HELD.get(package, ()):
                self._follow_held(node, package, path, patches.of_program)
            for path in settings.BASES.get(package, ()):
                self._follow_based(node, path)
            if package not in settings.HELD and package not in patches.LISTED:
                for path in registries.of_package(package):
                    self._follow_held(node, package, path, registries.of_program)
        self._follow_patches(node)
        return (len(self.nodes), len(self._methods), len(node.edges)) != before

    def _follow_held(self, node: Node, package: str, path: str, of_program: Callable[[Any, str], list[Any]]) -> None:
        """Follow what the program registered in a variable of a library, directly or in a list or a mapping."""
        value = settings.held(path, self.guards)
        if isinstance(value, dict) and len(value) <= _WATCHED:
            self.guards.watch_mapping(value)
        elif isinstance(value, (dict, list, set)):
            self.guards.size(value)
        listed = sorted(value, key=patches.text) if isinstance(value, set) else value
        listed = listed if isinstance(listed, list) else [value]
        for key, one in value.items() if isinstance(value, dict) else [("", one) for one in listed]:
            parts = of_program(one, package)
            if parts or path.startswith(settings.WHOLE):
                node.out.append(f"{path} {patches.text(key)} {patches.text(one)}".encode())
            if parts and isinstance(value, dict):
                self.guards.name(value, key, one)
            if isinstance(one, list):
                self.guards.size(one)
            for part in parts:
                if path.startswith(settings.SIDE):
                    self._beside.append((f"{path}.{patches.text(key)}", part, node))
                else:
                    self.follow(node, part, f"{path}[{describe(key)}]" if one is not value else path)

    def _follow_based(self, node: Node, path: str) -> None:
        """Follow the program's subclasses of a class of a library."""
        base = settings.held(path, self.guards)
        based = below(base) if isinstance(base, type) else []
        for cls in sorted(filter(patches.is_of_program, based), key=patches.text):
            self.follow(node, cls, f"{path} -> {cls.__qualname__}")

    def _follow_patches(self, node: Node) -> None:
        """Follow what the program put into classes of libraries under names that are used."""
        named = self.names | self.texts | self._strings  # as in frame.agg("mine")
        for name, package in patches.loaded():
            names: AbstractSet[str] | None = named
            if name in self.packages:
                names = None if self.any_name else named | rules.CALLED
            for patch in self._new(node, package.patches(names)):
                for part in patch.parts:
                    self.follow(node, part, patch.path)

    def _patches_beside(self, node: Node) -> None:
        """Add patches that operators, or names in data, may call: they may do anything, and an edit counts."""
        any_name = self.any_name or not self.names.isdisjoint(rules.AGGREGATING)
        for _, package in patches.loaded():
            for patch in self._new(node, package.unnamed() + (package.patches(None) if any_name else [])):
                self._beside += [(patch.path, part, node) for part in patch.parts]

    def _new(self, node: Node, candidates: list[patches.Patch]) -> list[patches.Patch]:
        """Return the patches that are new here, and record them."""
        found = [patch for patch in candidates if patch.path not in self._held]
        for patch in found:
            self._held.add(patch.path)
            self.guards.name(vars(patch.cls), patch.name, patch.value)
            node.out.append(patch.path.encode())
        return found

    def _is_called(self, name: str) -> bool:
        return self.any_name or name in self.names or name in rules.CALLED

    def _dead(self, name: str, member: Any, of: Node) -> None:
        """Follow a method that no code here calls: it may do anything, but an edit of it counts."""
        names, self.names = self.names, set()
        doubts, self.doubts = self.doubts, []
        nodes, kept, roots, methods = len(self.nodes), len(self.kept), len(self.roots), len(self._methods)
        out, edges = len(of.out), len(of.edges)
        try:
            self.follow(of, member, f"{of.path}.{name}")
            self._drain()
            self._check_doubts(of.path)
        except (CodeError, Remade) as err:
            self._queue.clear()
            self.refused[name] = str(err)
            for value in self.kept[kept:]:
                self.numbers.pop(id(value), None)
            del self.nodes[nodes:], self.kept[kept:], self.roots[roots:], self.root_nodes[roots:]
            del self._methods[methods:]
            del of.out[out:], of.edges[edges:]
            self._documented = {n for n in self._documented if n < nodes}
            of.out.append(b"refused")
            of.out.extend(bytecode.content(f.__code__) for f in _functions_of(member))
        self.dead.setdefault(name, set()).update(self.names)
        self.names, self.doubts = names, doubts

    def _drain(self) -> None:
        while self._queue:
            self._queue.popleft()()

    def _check_doubts(self, path: str) -> None:
        if self.any_name:
            for text in sorted(self.texts & rules.METHODS.keys()):
                self.doubts.append((text, path, rules.METHODS[text]))
        for package in sorted(self.packages & rules.METHODS_OF.keys()):
            for name in sorted(self.names & rules.METHODS_OF[package].keys()):
                self.doubts.append((name, path, rules.METHODS_OF[package][name]))
        for name, where, why in self.doubts:
            if not self.allows(f".{name}"):
                cure = f"{why.cure}, {self.allowing(f'.{name}', why)}{CURES}"
                raise CodeError(f"{where}: .{name} may reach {why.what}; {cure}")

    # Nodes

    def _node(self, path: str, kind: str, text: str) -> Node:
        node = Node(path, kind, text)
        self.nodes.append(node)
        return node

    def add_edge(self, node: Node, to: int) -> None:
        node.out.append(b"#")
        node.edges.append(to)

    def follow(self, node: Node, value: Any, path: str, text: str = "", documented: bool = True) -> None:
        """Make a node refer to a value of any kind."""
        if isinstance(value, type) and value in self._made and node.kind not in ("root", "class"):
            raise Remade(path)
        if is_bound(value):
            self._called_by_name(value.__name__, path)
            self._state(node, value, path, text)
        elif is_code(value):
            self.sight = max(self.sight, naming.of_value(value))
            self.add_edge(node, self.code(value, path, documented))
        elif isinstance(value, types.ModuleType):
            raise CodeError(
                f"{path}: module {value.__name__} is used as a value, so nobody can tell what of it is used; "
                f"name what is used after the module ({value.__name__}.name), {CURES}"
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
        self.add_edge(node, number)

    def _fill(self, node: Node, value: Any, path: str) -> None:
        """Read a value, and the functions and classes in it."""
        self._refuse_shared(value, path)

        def code(inner: Any) -> bytes:
            self.sight = max(self.sight, naming.of_value(inner))
            return b"%x;" % self.code(inner, path, True)

        if type(value) is str:
            self._strings.add(value)

        def made(cls: type) -> bytes:
            if is_model(cls) and not self._whole:
                self._held_models = True
                self.made(cls)
            return code(cls)

        e = Encoder(code, made=made)
        try:
            writer(type(value))  # which may refuse it by its type
            e.add(value)
        except Unkeyed as err:
            raise CodeError(f"{path}{err.way}: {err.what}, which has no key; {err.cure}, {CURES}") from None
        except RecursionError:
            raise CodeError(f"{path}: a value that is nested too deeply; pass it as an argument, {CURES}") from None
        if any(name in part for part in e.out for name in _BY_NAME):
            self.any_name = True
        if type(value) in _CALLERS:
            for name in filter(lambda one: isinstance(one, str), value.__reduce__()[1]):
                for part in name.split("."):
                    self._called_by_name(part, path)
        if any(b"decimal.Decimal" in part for part in e.out):
            self.depend_on(node, "decimal")
        if fixed(value):
            node.out.append(b"".join(e.out))
            self._constants.append(value)

    def _called_by_name(self, name: str, path: str) -> None:
        """Record that a method may be called, on its object or on an argument."""
        self.names.add(name)
        if name in rules.NAMING:
            self.sight = BY_NAME
        self.formats = self.formats or name in settings.METHODS
        self.zoned = self.zoned or name in rules.ZONED
        if name in rules.METHODS:
            self.doubts.append((name, path, rules.METHODS[name]))

    def _refuse_shared(self, value: Any, path: str) -> None:
        holder = getattr(value, "__self__", None) if isinstance(value, _BOUND) else value
        if holder is random._inst or (type(holder).__name__ == "RandomState" and _is_global_random(holder)):
            self._refuse(path, "", rules.CHANCE)
        if type(holder).__qualname__ == "_Environ" and type(holder).__module__ == "os":
            self._refuse(path, "os.environ", rules.ENVIRONMENT)

    def _refuse(self, path: str, name: str, why: rules.Refusal) -> None:
        if self.allows(name):
            return
        named = f"{name} reaches " if name else "reaches "
        raise CodeError(f"{path}: {named}{why.what}; {why.cure}, {self.allowing(name, why)}{CURES}")

    def allows(self, name: str) -> bool:
        """Report whether the caller allowed a name, as its value does not matter."""
        return any(name == one or name.startswith(f"{one}.") for one in self._allow or ())

    def allowing(self, name: str, why: rules.Refusal) -> str:
        """Return the advice for results that do not depend on a name's value, or nothing if there is no such option."""
        return "" if self._allow is None else rules.allowing(name, why)

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
            # Code that receives it as a value can read these.
            self.guards.watch_mapping(vars(value))
            node.out.append(b"documented")
            node.out.append(told(value))
            self._annotated.append((value, node))
        elif documented and number not in self._documented and isinstance(value, Wrapper) and value._version is None:
            self._documented.add(number)
            self.follow(self.nodes[number], value._function, path)
        return number

    def _begin(self, value: Any, path: str) -> None:
        if isinstance(value, type):
            self._begin_class(value, path)
        elif isinstance(value, types.FunctionType):
            self._begin_function(value, path)
        elif type(value) in (staticmethod, classmethod):
            node = self._node(path, "method", path)
            node.out.append(type(value).__name__.encode())
            self._queue.append(lambda: self.follow(node, value.__func__, path))
        elif isinstance(value, property):
            node = self._node(path, "property", path)
            self._queue.append(lambda: self._property(node, value, path))
        elif isinstance(value, functools._lru_cache_wrapper):
            node = self._node(path, "cached function", path)
            node.out.append(repr(sorted(value.cache_parameters().items())).encode())
            if self.files:
                self.caches.append(value)
            self._queue.append(lambda: self.follow(node, value.__wrapped__, path))
        elif isinstance(value, Wrapper):
            node = self._node(path, "options", f"options of {path.rpartition(' ')[2]}")
            self._queue.append(lambda: self._wrapper(node, value, path))
        elif made := made_of(value):
            self._begin_ufunc(value, made, path)
        else:
            self._begin_builtin(value, path)

    def _wrapper(self, node: Node, value: Wrapper, path: str) -> None:
        """Follow a function of Larder: the program's function, its options, and attributes set on it."""
        if value._version is not None and not is_model(type(value._function)):  # its weights count in any case
            node.out.append(of_version(value._function, value._version))
        else:
            self.follow(node, value._function, path, "", False)
        for option in value._options():
            if fixed(option):
                node.out.append(f"option {option!r}".encode())
            else:
                self.follow(node, option, f"{path} -> key")
        self.guards.size(vars(value))
        for name, held in value._set().items():
            self.guards.name(vars(value), name, held)
            node.out.append(name.encode())
            self.follow(node, held, f"{path}.{name}")

    def _property(self, node: Node, value: property, path: str) -> None:
        for accessor in (value.fget, value.fset, value.fdel):
            if accessor is None:
                node.out.append(b"-")
            else:
                self.follow(node, accessor, path)

    def _begin_ufunc(self, value: Any, made: list[Any], path: str) -> None:
        """Follow the functions from which a ufunc was created; a ufunc that holds anything else is compiled."""
        if not all(map(is_code, made)):
            raise CodeError(f"{path}: {value.__name__} is compiled, and of no distribution with a version; {CURES[3:]}")
        node = self._node(path, "function", f"ufunc {value.__name__}")
        node.out.append(f"ufunc {value.nin} {value.nout} {value.identity!r}".encode())
        self.depend_on(node, "numpy")
        for held in made:
            self._queue.append(functools.partial(self.follow, node, held, path))

    def _begin_builtin(self, value: Any, path: str) -> None:
        name, owner = library_name(value)
        if owner is None:
            raise CodeError(f"{path}: {name} is compiled, and of no distribution with a version; {CURES[3:]}")
        self._refuse_shared(value, path)
        self._refuse_named(name, owner, path)
        self._library_node(path, name, owner)

    def _library_node(self, path: str, name: str, owner: distribution.Owner) -> Node:
        node = self._node(path, "library", f"{name} of {owner}")
        node.out.append(f"library {owner} {name}".encode())
        self.depend_on(node, name)
        return node

    def depend_on(self, node: Node, name: str) -> None:
        """Make a node depend on the settings that its library object depends on."""
        package, _, rest = name.partition(".")
        self.packages.add(package)
        self.names |= READING & {name}
        self.sight = max(self.sight, naming.of_library(name))
        self.draws = self.draws or draws.of_library(name)
        self.captures = self.captures or name.startswith("contextlib.redirect_")
        if rest.startswith(rules.UNSEEN.get(package, ("?",))):
            self.unseen = name
        self.warns = self.warns or name == "warnings.catch_warnings"
        if package in ("decimal", "_decimal", "_pydecimal"):
            self._state(node, settings.DECIMALS, settings.DECIMALS.name, "")
        if name.rpartition(".")[2] in settings.METHODS or name.startswith(settings.OPTIONS):
            self.formats = True
        if package in settings.OF_PACKAGES and package in sys.modules:
            self._state(node, settings.OF_PACKAGES[package], settings.OF_PACKAGES[package].name, "")
        if package == "torch" and "torch" in sys.modules:
            self._state(node, settings.TORCH, settings.TORCH.name, "")

    def _refuse_named(self, name: str, owner: distribution.Owner, path: str) -> None:
        why = rules.refusal(name, owner is distribution.PYTHON)
        if why is not None and not self.may_open(name):
            self._refuse(path, name, why)

    def may_open(self, name: str) -> bool:
        """Report whether a name opens files, which are reported and may be those of the key."""
        if not self.files or name not in rules.OPENERS:
            return False
        self.opens = True
        return True

    def _begin_function(self, value: types.FunctionType, path: str) -> None:
        owner = distribution.of_module(value.__globals__.get("__name__", ""))
        if owner is not None and _is_elsewhere(value.__code__):
            owner = None
        if owner is not None:
            self._begin_library_function(value, owner, path)
            return
        module = shown_module(value.__globals__.get("__name__", "?"))
        node = self._node(path, "function", f"function {module}.{value.__qualname__}")
        self.guards.function(value)
        self._queue.append(lambda: self._function(node, value))

    def _begin_library_function(self, value: types.FunctionType, owner: distribution.Owner, path: str) -> None:
        # Not by its own name, which may be that of a function that it wraps.
        name = f"{value.__globals__['__name__']}.{value.__code__.co_qualname}"
        if _COMPILES_ITSELF in vars(value):
            name = f"{value.__module__}.{value.__qualname__}"
        else:
            self.guards.function(value)
        self._refuse_named(name, owner, path)
        node = self._library_node(path, name, owner)
        self._queue.append(lambda: self._library_function(node, value, path))

    def _library_function(self, node: Node, value: types.FunctionType, path: str) -> None:
        """Follow the program's objects in a library function: a decorator holds the function that it wraps."""
        dispatcher = getattr(value, "registry", None)
        if isinstance(dispatcher, types.MappingProxyType) and value.__globals__["__name__"] == "functools":
            self._state(node, dict(dispatcher), f"{path}.registry", "")
            self.guards.watch_mapping(dispatcher)
            for kind, function in dispatcher.items():
                self.follow(node, kind, f"{path} for {kind.__qualname__}")
                self.follow(node, function, f"{path} for {kind.__qualname__}")
            return
        self._cells(node, value, path)
        made = getattr(vars(value).get(_COMPILES_ITSELF), "_func", None)
        for held in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *vars(value).values(), made):
            if patches.is_of_program(held):
                self.follow(node, held, path)

    def _function(self, node: Node, value: types.FunctionType) -> None:
        code = value.__code__
        path = node.path
        plain = code
        if bytecode.documented(code):
            plain = code.replace(co_consts=(None, *code.co_consts[1:]))
        if code.co_name == "__hash__" and code.co_filename.startswith(ATTRS):  # it has a hash of this process
            plain = code.replace(co_consts=tuple(None if type(held) is int else held for held in code.co_consts))
        node.out.append(bytecode.content(plain))
        for i, default in enumerate(value.__defaults__ or ()):
            name = code.co_varnames[code.co_argcount - len(value.__defaults__ or ()) + i]
            self.follow(node, default, f"{path} -> default {name}", f"default {name}")
        for name, default in (value.__kwdefaults__ or {}).items():
            node.out.append(name.encode())
            self.follow(node, default, f"{path} -> default {name}", f"default {name}")
        if value.__kwdefaults__:
            self.guards.watch_mapping(value.__kwdefaults__)
        self._cells(node, value, path)
        if vars(value):
            self.guards.watch_mapping(vars(value))
        wrapped = vars(value).get("__wrapped__")
        copied = wrapped._inner if isinstance(wrapped, Wrapper) else frozenset()  # by functools.wraps
        for name, held in vars(value).items():
            if name in copied and name != "__wrapped__":
                continue
            if name == "__signature__" and held is not None:
                raise CodeError(f"{path}.__signature__: a signature that is set has no key; leave it out, {CURES}")
            node.out.append(name.encode())
            self.follow(node, held, f"{path}.{name}")
        # Other functions may receive other values, whatever their annotations say.
        files = names_file(value) if value is self._root and self.files else frozenset()
        own = (code.co_varnames[0], self._of_classes[id(value)]) if self._is_method(value) else None
        given = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if value is self._root else ())
        Follow(self, node, value.__globals__, _cells_of(value), files, own, given).all(bytecode.Names(code))

    def _is_method(self, value: types.FunctionType) -> bool:
        return id(value) in self._of_classes and value.__code__.co_argcount > 0

    def _cells(self, node: Node, value: types.FunctionType, path: str) -> None:
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                held = cell.cell_contents
            except ValueError:  # not set yet
                node.out.append(b"empty")
                self.guards.unset(cell)
                continue
            self.guards.cell(cell, held)
            if isinstance(held, types.ModuleType):
                continue  # its used names are followed
            if name == "__class__" and held in self._made:
                continue  # for super, which creates nothing
            if (
                name != "repr_running"
                or distribution.of_module(value.__globals__.get("__name__", "")) is not distribution.PYTHON
            ):
                self.follow(node, held, f"{path} -> captured {name}", f"captured {name}")

    # Classes

    def _begin_class(self, cls: type, path: str) -> None:
        name, owner = library_name(cls)
        if owner is not None:
            self._refuse_named(name, owner, path)
            node = self._library_node(path, name, owner)
            if isinstance(cls, abc.ABCMeta):
                self._registered(node, cls)
            for attribute, function in patched_methods(cls):
                node.out.append(attribute.encode())
                self._queue.append(functools.partial(self.follow, node, function, f"{path}.{attribute}"))
            if owner is not distribution.PYTHON:
                self.guards.size(vars(cls))  # the program may put a method there
                if "forward" in vars(cls):
                    self.guards.name(vars(cls), "forward", vars(cls)["forward"])
            return
        node = self._node(path, "class", f"class {shown_module(cls.__module__)}.{cls.__qualname__}")
        self._queue.append(lambda: self._class(node, cls))

    def _class(self, node: Node, cls: type) -> None:
        path = node.path
        node.out.append(f"class {cls.__module__}.{cls.__qualname__}".encode())  # which any object of it reveals
        self.guards.bases(cls)
        for base in cls.__bases__:
            where = f"{path} -> base {base.__qualname__}"
            if issubclass(cls, enum.Enum) and is_code(base):  # which does not convert values to strings
                self.add_edge(node, self.code(base, where, True))
            else:
                self.follow(node, base, where)
        self._type_arguments(node, cls, path)
        self.follow(node, type(cls), f"{path} -> metaclass {type(cls).__qualname__}")
        e = Encoder(_no_code)
        e.add(hints(cls))
        node.out.extend(e.out)
        self._annotated.append((cls, node))
        if issubclass(cls, enum.Enum):
            self._members_of_enum(node, cls)
        if isinstance(cls, abc.ABCMeta):
            self._registered(node, cls)
        self.guards.watch_mapping(vars(cls))
        made = cls in self._made
        loud = self._is_loud(cls) and not made
        own = frozenset(name for base in cls.__mro__ if library_name(base)[1] is None for name in vars(base))
        self.names.update(name for name in vars(cls).get("__match_args__", ()) if isinstance(name, str))
        for name, member in sorted(vars(cls).items(), key=lambda item: item[0]):
            if name in _OF_EVERY_CLASS or (isinstance(member, enum.Enum) and type(member) is cls):
                continue
            if name in _OF_SYMPY and isinstance(member, dict) and _is_of_sympy(cls):
                member = dict(sorted(member.items()))
            for function in _functions_of(member):
                self._of_classes[id(function)] = own
            if made and name in self._making and not self._is_called(name):
                node.out.append(f"member {name} ".encode())
                self._methods.append((name, member, node))
            else:
                self._member(node, name, member, f"{path}.{name}", loud or (made and _is_inherited(cls, name)))
        fields = vars(cls).get("__dataclass_fields__", {})
        for name, held in fields.items():
            self._dataclass_field(node, held, f"{path}.{name}")

    def _type_arguments(self, node: Node, cls: type, path: str) -> None:
        """Follow the type arguments of bases (Repository[User]), which methods and object creation may read."""
        e = Encoder(lambda inner: b"%x;" % self.code(inner, f"{path} -> type argument {describe(inner)}", True))
        for base in vars(cls).get("__orig_bases__", ()):
            try:
                e.add(base)
            except Unkeyed as err:
                raise CodeError(f"{path} -> base {describe(base)}: {err.what}; {err.cure}, {CURES}") from None
        node.out.extend(e.out)

    def _registered(self, node: Node, cls: abc.ABCMeta) -> None:
        """Add the program's classes registered with an abstract class, or with a class based on it."""
        names = registered(cls)
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
        elif name == "_member_type_" and is_code(member):  # of an enumeration, which does not convert values to strings
            self.add_edge(node, self.code(member, path, True))
        elif inner is not member:
            node.out.append(b"cached property")
            self.follow(node, inner, path)
        elif name == "__doc__" and isinstance(member, str):
            # Some contain an address: that of the defaults of a dataclass.
            self.follow(node, _ADDRESS.sub("", member), path)
        elif type(member) is functools.singledispatchmethod:
            self.follow(node, member.dispatcher, path)
        else:
            self.follow(node, member, path)

    def _is_loud(self, cls: type) -> bool:
        """Report whether a base belongs to a library that may call any method of the class."""
        for base in cls.__mro__[1:]:
            _, owner = library_name(base)
            if owner is not None and base.__module__ not in _QUIET:
                return True
        return False

    def _members_of_enum(self, node: Node, cls: type[enum.Enum]) -> None:
        for name, member in cls.__members__.items():
            node.out.append(f"member {name} ".encode())
            self.follow(node, member._value_, f"{node.path}.{name}")
            own = {k: v for k, v in vars(member).items() if k not in OF_MEMBERS}
            for key, held in own.items():
                node.out.append(key.encode())
                self.follow(node, held, f"{node.path}.{name}.{key}")

    def _dataclass_field(self, node: Node, held: Any, path: str) -> None:
        e = Encoder(_no_code)
        e.add((held.name, held.init, held.repr, held.hash, held.compare, held.kw_only, held._field_type.name))
        node.out.extend(e.out)
        for part in (held.default, held.default_factory):
            self.follow(node, part, path)
        if held.metadata:
            self.follow(node, held.metadata, f"{path}.metadata")


def told(function: types.FunctionType) -> bytes:
    """Return what a function reveals as a value, besides its code."""
    e = Encoder(_no_code)
    text = function.__doc__ if isinstance(function.__doc__, str) else None
    e.add((function.__name__, function.__qualname__, text, hints(function)))
    return b"".join(e.out)


_OF_SYMPY = frozenset(["default_assumptions", "_prop_handler"])
"""Attributes that sympy creates for each class, in another order in each process."""


def _is_of_sympy(cls: type) -> bool:
    return any(base.__module__.startswith("sympy.") for base in cls.__mro__)


_BY_NAME = (b"operator.methodcaller", b"operator.attrgetter")
_CALLERS = (operator.methodcaller, operator.attrgetter)

_BOUND = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)


def _no_code(value: Any) -> bytes:
    raise TypeError(f"code where there is none: {type(value)}")


def _functions_of(member: Any) -> list[types.FunctionType]:
    if isinstance(member, property):
        return [f for f in (member.fget, member.fset, member.fdel) if isinstance(f, types.FunctionType)]
    if isinstance(member, type):
        return [f for held in vars(member).values() if not isinstance(held, type) for f in _functions_of(held)]
    inner = getattr(member, "__func__", member)
    return [inner] if isinstance(inner, types.FunctionType) else []


def _is_global_random(state: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and state is numpy.random.mtrand._rand


_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def _is_elsewhere(code: types.CodeType) -> bool:
    """Report whether code in a module of a library comes from a file of the user."""
    name = code.co_filename
    if name.startswith(_OWN):  # wherever this package is installed
        return False
    return (
        not name.startswith("<") and name.endswith(".py") and name[:1] in "/\\" and distribution.of_file(name) is None
    )


def _is_inherited(cls: type, name: str) -> bool:
    """Report whether a base of a library has a name, so that the library may call it."""
    return any(name in vars(base) for base in cls.__mro__[1:] if library_name(base)[1] is not None)


def _cells_of(value: types.FunctionType) -> dict[str, Any]:
    held = {}
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            continue
    return held
