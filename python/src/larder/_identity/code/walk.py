"""Walk over everything that a function can reach.

Each function, class, constant, module or value that is reached is a node: its own bytes, and the
nodes that it refers to. Nodes are numbered when they are met, so the walk ends for code that
calls itself, and the same code always has the same numbers.

Immutable parts are in the bytes. A name could be bound to another value, so it is guarded: see
`Guards`. Mutable values (lists, objects) are roots of the state, which is read in every call.
"""

from __future__ import annotations

import functools
import operator
import random
import sys
import types
from typing import Any

from ...errors import CodeError
from .. import distribution
from ..immutable import fixed
from ..library import CURES, is_bound, is_code, is_model, library_name, made_of
from ..values.encoder import BY_NAME, Encoder, Unkeyed, writer
from ..values.text import describe
from ..wrapper import Wrapper
from . import bytecode, calls, draws, members, naming, patches, refusals, rules, settings
from .annotations import READING, annotated, names_file
from .classes import begin_class, functions_of
from .expressions import add_uncalled_paths, follow_evaluated
from .functions import begin_function, description
from .modules import follow_members
from .node import Node
from .place import of_version
from .registrations import add_uncalled_patches, follow_settings
from .walker import Walker

# Other methods that are not called when Larder only calls an object.
_UNCALLED = frozenset(["extra_repr", "__repr__", "train"])


class Remade(Exception):
    """The walk must be repeated with `whole`: code may create objects of a class whose constructor was skipped."""


class Walk(Walker):
    """What a function or a class reaches, node by node.

    `nodes` are numbered by their positions. `refused` says why no key covers methods that no
    reached code calls by name.
    """

    def __init__(self, takes_files: bool = False, allow: frozenset[str] | None = None, whole: bool = False) -> None:
        """Create a walk.

        `takes_files` says that the root is called with files where its parameters say so. `allow` are names that
        would be refused and do not matter, or None if the caller has no such option. A `whole` walk also
        follows the code that creates existing objects.
        """
        super().__init__()
        self._takes_files = takes_files
        self._allow = allow
        self._documented: set[int] = set()
        self._whole = whole
        self._held_models = False

    def made(self, cls: type, called: bool = False) -> None:
        """Assume that objects of a class exist; code that creates them is followed only if it is called by name.

        `called` says that they are only called.
        """
        self.preparing |= _UNCALLED if called else frozenset()
        self.existing.update(c for c in cls.__mro__ if library_name(c)[1] is None and id(c) not in self.numbers)

    def run(self, root: Any, path: str) -> None:
        """Follow everything that a value reaches."""
        node = self.new_node(path, "root", path)
        self.root = root.__func__ if isinstance(root, types.MethodType) else root
        may_name_files = not isinstance(self.root, types.FunctionType) or bool(names_file(self.root))
        self.files = self._takes_files and may_name_files
        # The behaviour of operators is part of Python.
        self.add_edge(node, len(self.nodes))
        self.new_node(f"{path} -> python", "library", str(distribution.PYTHON)).out.append(
            str(distribution.PYTHON).encode()
        )
        self.follow(node, root, path, "", not isinstance(root, types.FunctionType))
        self._drain()
        while (
            self._follow_methods()
            or self._follow_annotations()
            or follow_members(self)
            or follow_evaluated(self)
            or follow_settings(self, node)
        ):
            self._drain()
        self._check_doubts(path)
        if self._held_models and (self.any_name or "__class__" in self.names):
            raise Remade(path)
        if self.catches:
            node.out.append(repr(self.locals).encode())
        if self.opens and self.unseen:
            raise CodeError(
                f"{path}: {self.unseen} may open files in other processes, which Larder cannot observe; "
                f"read them in the function itself, {CURES}"
            )
        if self.prints and (self.captures or self.any_name or not self.names.isdisjoint(("stdout", "stderr"))):
            self.sight = BY_NAME
        if self.any_name and not self.texts.isdisjoint(members.NAMING):
            self.sight = BY_NAME
        if self.warns and (self.any_name or not self.names.isdisjoint(members.OF_PLACES)):
            self._refuse(path, "warnings.catch_warnings", refusals.PLACES)
        add_uncalled_patches(self, node)
        add_uncalled_paths(self, node)
        self.methods += self.uncalled
        while self.methods:  # also of classes that are met in this way
            self._dead(*self.methods.pop(0))

    def _follow_methods(self) -> bool:
        """Follow the methods that are called by now, and report whether there are any."""
        live = [m for m in self.methods if self.is_called(m[0])]
        self.methods = [m for m in self.methods if not self.is_called(m[0])]
        for name, member, of in live:
            self.follow(of, member, f"{of.path}.{name}")
        return bool(live)

    def _follow_annotations(self) -> bool:
        """Follow the names in annotations if code reads annotations, and report whether there are any."""
        named = self.names | self.texts if self.any_name else self.names
        if not self.annotated or named.isdisjoint(READING):
            return False
        for value, node in self.annotated:
            for one in annotated(value):
                if isinstance(one, (dict, list, set)) or patches.is_of_program(one):
                    self.follow(node, one, f"{node.path} -> annotation {describe(one)}")
        self.annotated = []
        return True

    def is_called(self, name: str) -> bool:
        return self.any_name or name in self.names or name in members.CALLED

    def _dead(self, name: str, member: Any, of: Node) -> None:
        """Follow a method that no code here calls: it may do anything, but an edit of it counts."""
        names, self.names = self.names, set()
        doubts, self.doubts = self.doubts, []
        nodes, cached, roots, methods = len(self.nodes), len(self.referenced), len(self.roots), len(self.methods)
        out, edges = len(of.out), len(of.edges)
        try:
            self.follow(of, member, f"{of.path}.{name}")
            self._drain()
            self._check_doubts(of.path)
        except (CodeError, Remade) as err:
            self.queue.clear()
            self.refused[name] = str(err)
            for value in self.referenced[cached:]:
                self.numbers.pop(id(value), None)
            del self.nodes[nodes:], self.referenced[cached:], self.roots[roots:], self.root_nodes[roots:]
            del self.methods[methods:]
            del of.out[out:], of.edges[edges:]
            self._documented = {n for n in self._documented if n < nodes}
            of.out.append(b"refused")
            of.out.extend(bytecode.content(f.__code__) for f in functions_of(member))
        self.dead.setdefault(name, set()).update(self.names)
        self.names, self.doubts = names, doubts

    def _drain(self) -> None:
        while self.queue:
            self.queue.popleft()()

    def _check_doubts(self, path: str) -> None:
        if self.any_name:
            for text in sorted(self.texts & members.METHODS.keys()):
                self.doubts.append((text, path, members.METHODS[text]))
        for package in sorted(self.packages & members.METHODS_OF.keys()):
            for name in sorted(self.names & members.METHODS_OF[package].keys()):
                self.doubts.append((name, path, members.METHODS_OF[package][name]))
        for name, where, why in self.doubts:
            if not self.allows(f".{name}"):
                fix = f"{why.fix}, {self.allowing(f'.{name}', why)}{CURES}"
                raise CodeError(f"{where}: .{name} may reach {why.what}; {fix}")

    # Nodes

    def new_node(self, path: str, kind: str, text: str) -> Node:
        node = Node(path, kind, text)
        self.nodes.append(node)
        return node

    def add_edge(self, node: Node, to: int) -> None:
        node.out.append(b"#")
        node.edges.append(to)

    def follow(self, node: Node, value: Any, path: str, text: str = "", documented: bool = True) -> None:
        """Make a node refer to a value of any kind."""
        if isinstance(value, type) and value in self.existing and node.kind not in ("root", "class"):
            raise Remade(path)
        if is_bound(value):
            self._called_by_name(value.__name__, path)
            self.refer_to_value(node, value, path, text)
        elif is_code(value):
            self.sight = max(self.sight, naming.of_value(value))
            self.add_edge(node, self.code(value, path, documented))
        elif isinstance(value, types.ModuleType):
            raise CodeError(
                f"{path}: module {value.__name__} is used as a value, so its used parts are unknown; "
                f"write {value.__name__}.name, {CURES}"
            )
        else:
            self.refer_to_value(node, value, path, text)

    def refer_to_value(self, node: Node, value: Any, path: str, text: str) -> None:
        number = self.numbers.get(id(value)) if not fixed(value) else None
        if number is None:
            number = len(self.nodes)
            made = self.new_node(path, "constant" if fixed(value) else "value", f"{text or path} = {describe(value)}")
            self._fill(made, value, path)
            if not fixed(value):
                self.numbers[id(value)] = number
                self.referenced.append(value)
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
            self.strings.add(value)

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
            raise CodeError(f"{path}{err.way}: {err.what}, which has no key; {err.fix}, {CURES}") from None
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
            self.constants.append(value)

    def _called_by_name(self, name: str, path: str) -> None:
        """Record that a method may be called, on its object or on an argument."""
        self.names.add(name)
        if name in members.NAMING:
            self.sight = BY_NAME
        self.formats = self.formats or name in settings.METHODS
        self.zoned = self.zoned or name in members.ZONED
        if name in members.METHODS:
            self.doubts.append((name, path, members.METHODS[name]))

    def _refuse_shared(self, value: Any, path: str) -> None:
        holder = getattr(value, "__self__", None) if isinstance(value, _BOUND) else value
        if holder is random._inst or (type(holder).__name__ == "RandomState" and _is_global_random(holder)):
            module = "random" if holder is random._inst else "numpy.random"
            name = f"the generator of {module}" if value is holder else f"{module}.{value.__name__}"
            raise CodeError(f"{path}: {name} reaches {refusals.RANDOMNESS.what}; {refusals.RANDOMNESS.fix}, {CURES}")
        if type(holder).__qualname__ == "_Environ" and type(holder).__module__ == "os":
            self._refuse(path, "os.environ", refusals.ENVIRONMENT)

    def _refuse(self, path: str, name: str, why: refusals.Refusal) -> None:
        if self.allows(name):
            return
        raise CodeError(f"{path}: {name} reaches {why.what}; {why.fix}, {self.allowing(name, why)}{CURES}")

    def allows(self, name: str) -> bool:
        """Report whether the caller allowed a name, as its value does not matter."""
        return any(name == one or name.startswith(f"{one}.") for one in self._allow or ())

    def allowing(self, name: str, why: refusals.Refusal) -> str:
        """Return the advice for results that do not depend on a name's value, or nothing if there is no such option."""
        return "" if self._allow is None else refusals.allowing(name, why)

    # Code

    def code(self, value: Any, path: str, documented: bool) -> int:
        """Return the number of a function or a class, which is followed if it is new."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.nodes)
            self.referenced.append(value)
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
            node.out.append(description(value))
            self.annotated.append((value, node))
        elif documented and number not in self._documented and isinstance(value, Wrapper) and value._version is None:
            self._documented.add(number)
            self.follow(self.nodes[number], value._function, path)
        return number

    def _begin(self, value: Any, path: str) -> None:
        if isinstance(value, type):
            begin_class(self, value, path)
        elif isinstance(value, types.FunctionType):
            begin_function(self, value, path)
        elif type(value) in (staticmethod, classmethod):
            node = self.new_node(path, "method", path)
            node.out.append(type(value).__name__.encode())
            self.queue.append(lambda: self.follow(node, value.__func__, path))
        elif isinstance(value, property):
            node = self.new_node(path, "property", path)
            self.queue.append(lambda: self._property(node, value, path))
        elif isinstance(value, functools._lru_cache_wrapper):
            node = self.new_node(path, "cached function", path)
            node.out.append(repr(sorted(value.cache_parameters().items())).encode())
            if self.files:
                self.caches.append(value)
            self.queue.append(lambda: self.follow(node, value.__wrapped__, path))
        elif isinstance(value, Wrapper):
            node = self.new_node(path, "options", f"options of {path.rpartition(' ')[2]}")
            self.queue.append(lambda: self._wrapper(node, value, path))
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
        node = self.new_node(path, "function", f"ufunc {value.__name__}")
        node.out.append(f"ufunc {value.nin} {value.nout} {value.identity!r}".encode())
        self.depend_on(node, "numpy")
        for held in made:
            self.queue.append(functools.partial(self.follow, node, held, path))

    def _begin_builtin(self, value: Any, path: str) -> None:
        name, owner = library_name(value)
        if owner is None:
            raise CodeError(f"{path}: {name} is compiled, and of no distribution with a version; {CURES[3:]}")
        self._refuse_shared(value, path)
        self.refuse_named(name, owner, path)
        self.library_node(path, name, owner)

    def library_node(self, path: str, name: str, owner: distribution.Owner) -> Node:
        node = self.new_node(path, "library", f"{name} of {owner}")
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
            self.refer_to_value(node, settings.DECIMALS, settings.DECIMALS.name, "")
        if name.rpartition(".")[2] in settings.METHODS or name.startswith(settings.OPTIONS):
            self.formats = True
        if package in settings.OF_PACKAGES and package in sys.modules:
            self.refer_to_value(node, settings.OF_PACKAGES[package], settings.OF_PACKAGES[package].name, "")
        if package == "torch" and "torch" in sys.modules:
            self.refer_to_value(node, settings.TORCH, settings.TORCH.name, "")

    def refuse_named(self, name: str, owner: distribution.Owner, path: str) -> None:
        why = rules.refusal(name, owner is distribution.PYTHON)
        if why is not None and not self.may_open(name):
            self._refuse(path, name, why)

    def may_open(self, name: str) -> bool:
        """Report whether a name opens files, which are reported and may be those of the key."""
        if not self.files or name not in calls.OPENERS:
            return False
        self.opens = True
        return True


_BY_NAME = (b"operator.methodcaller", b"operator.attrgetter")
_CALLERS = (operator.methodcaller, operator.attrgetter)

_BOUND = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)


def _is_global_random(state: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and state is numpy.random.mtrand._rand
