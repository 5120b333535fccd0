"""Follow the names in the code of one function, and how it uses them."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import operator
import os
import sys
import threading
import types
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ...errors import CodeError
from .. import distribution
from ..library import CURES, is_code, is_of_library, library_name, shown_module
from ..values.encoder import Encoder, Unkeyed
from ..wrapper import STATE, Wrapper
from . import bytecode, calls, expressions, members, modules, patterns, refusals, rules, settings
from .naming import Sight
from .node import Node
from .walker import Walker

ATTRS = "<attrs generated "
"""The prefix of the file names that attrs gives to generated methods."""


class Follow:
    """Follows the names in the code of one function."""

    def __init__(
        self,
        walk: Walker,
        node: Node,
        space: dict[str, Any],
        cells: dict[str, Any],
        files: frozenset[str],
        own: tuple[str, frozenset[str]] | None,
        given: frozenset[str] = frozenset(),
    ):
        self.walk = walk
        self.node = node
        self.space = space
        self.cells = cells
        self.files = files
        self.own = own
        self.opened: set[int] = set()
        """Positions after which the argument of an open file begins."""
        self.given = given
        """The parameters of the identified function, whose values its callers encode."""

    def all(self, names: bytecode.Names, files: frozenset[str] | None = None) -> None:
        """Follow the names in a piece of code, and in those nested in it.

        `files` are the variables that are files in the key; by default the parameters.
        """
        unknown = names.unknown()
        if unknown is not None:
            raise CodeError(f"{self._where(None)}: unknown instruction {unknown}; {CURES[3:]}")
        for kind, name, line in names.writes():
            raise CodeError(
                f"{self._where(line)}: assigns the {kind} {name}, which outlives the call; "
                f"return the value, or store it in an object that is passed as an argument, {CURES}"
            )
        self.walk.names |= names.attributes
        matches = {op.name for op in names.ops if op.name.startswith("MATCH_")}
        if "MATCH_CLASS" in matches:
            self.walk.names |= names.texts
        for name, abstract in (("MATCH_SEQUENCE", Sequence), ("MATCH_MAPPING", Mapping)):
            if name in matches:
                self.walk.follow(self.node, abstract, f"{self.node.path} -> {abstract.__name__}")
        self.walk.locals.append(names.variables())
        self.walk.catches = self.walk.catches or any(map(self._may_be_unbound, names.caught()))
        self.walk.catches = self.walk.catches or not members.OF_ERRORS.isdisjoint(names.attributes | names.texts)
        self.walk.texts |= names.texts
        for name in sorted(names.attributes | names.texts):
            if name in members.INSIDES:
                self._refuse_insides(name)
        if names.attributes & members.ZONED:
            self.walk.zoned = True
        self.walk.formats = self.walk.formats or patterns.formats_values(names)
        for imported in names.imports:
            self._import(imported, None)
        files = patterns.file_variables(names, self.files if files is None else files)
        self.opened = set()
        for use in names.uses():
            self._use(use, files)
            if use.names(members.EVALUATING) and use.call() != (0, ()):
                self._evaluates(names, use.names(members.QUERYING), frozenset())
            elif use.names(members.CALLING):
                by = members.QUERYING | (names.texts & members.EVALUATING)
                self._evaluates(names, by == members.QUERYING, by)
        sight = Sight(names, files, self.space, self.opened)
        self.walk.sight = max(self.walk.sight, sight.level())
        self.walk.prints = self.walk.prints or sight.prints
        for inner in names.nested():
            self.all(inner, files & frozenset(inner.code.co_freevars))

    def _evaluates(self, names: bytecode.Names, query: bool, by: frozenset[str]) -> None:
        """Record that a library evaluates strings with the code's variables, always or if a string is in `by`."""
        named = expressions.VARIABLE if query else expressions.NAME
        self.walk.evaluating.setdefault((id(self.node), named, by), partial(self.evaluated, names.code))

    def evaluated(self, code: types.CodeType, first: str, rest: tuple[str, ...]) -> None:
        """Follow a name in a string that a library evaluates with the variables of the calling code."""
        if first in self.space and (rest or not isinstance(self.space[first], types.ModuleType)):
            self._global(bytecode.Use.in_text(first, rest, code), first, frozenset())

    def _may_be_unbound(self, caught: tuple[str | None, ...]) -> bool:
        """Report whether a caught error may say that a variable has no value, with the name of the variable."""
        for name in caught:
            found = self.space.get(name, getattr(builtins, name, None)) if name is not None else None
            if not isinstance(found, type) or issubclass(UnboundLocalError, found):
                return True
        return False

    def _refuse_insides(self, name: str) -> None:
        raise CodeError(
            f"{self._where(None)}: {name} leads to code and variables that Larder cannot follow; "
            f"use them by name, {CURES}"
        )

    def _where(self, line: int | None) -> str:
        module = shown_module(self.space.get("__name__", "?"))
        at = f", line {line}" if line is not None else ""
        return f"{self.node.path} (module {module}{at})"

    def _use(self, use: bytecode.Use, files: frozenset[str]) -> None:
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
            assert isinstance(use.root, bytecode.Imported)
            value = self._import(use.root, use)
            if value is not _MISSING:
                self._chain(use, value, f"{self.node.path} -> {use.root.name or use.root.module}", files)
        else:
            self._attributes(use, files)

    def _attributes(self, use: bytecode.Use, files: frozenset[str]) -> None:
        """Doubt methods that are called on objects of unknown type."""
        if (use.kind == "local" and use.root in files) or (
            use.kind == "value" and patterns.is_made_of_file(use.before, files)
        ):
            for at, name in enumerate(use.attributes):
                if at > 0 or name not in members.OF_CONTENT:
                    self._doubt(name, use)
            self.walk.opens = self.walk.opens or not members.OPENING.isdisjoint(use.attributes)
            return
        if use.kind == "local" and self.own is not None and use.root == self.own[0]:
            # Members of its own class are followed there.
            if use.attributes and use.attributes[0] not in self.own[1]:
                self._doubt(use.attributes[0], use)
            for name in use.attributes[1:]:
                self._doubt(name, use)
            return
        for name in use.attributes:
            self._doubt(name, use)

    def _doubt(self, name: str, use: bytecode.Use) -> None:
        why = members.METHODS.get(name)
        if name == "seed" and use.attributes[-1:] == (name,) and patterns.without_arguments(use):
            why = refusals.RANDOMNESS  # the generator of the system
        if self.walk.files and name in members.OPENING:
            self.walk.opens = True
        elif why is not None and not (why is refusals.RANDOMNESS and patterns.passes_generator(use)):
            self.walk.doubts.append((name, self._where(use.line), why))

    def _global(self, use: bytecode.Use, name: str, files: frozenset[str]) -> None:
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
            self.node.out.append(f"missing {name}".encode())  # it may be defined later, or be an error
            walk.guards.missing(outer, name)
            return
        walk.guards.name(outer, name, outer[name])
        if name in members.BY_NAME:
            walk.any_name = True
        if name == "type":
            walk.names.add("__class__")
        if name in settings.PRINTERS:
            walk.formats = True
        if name in ("vars", "dir") and not patterns.without_arguments(use):
            self.node.out.append(f"builtin {name}".encode())
            return
        self._chain(use, outer[name], f"{self.node.path} -> {name}", files)

    def _import(self, imported: bytecode.Imported, use: bytecode.Use | None) -> Any:
        """Return the imported object, importing it now as the function would when it is called."""
        name = imported.module
        module: Any = None
        where = self._where(use.line if use else None)
        try:
            package = self.space.get("__package__") or self.space.get("__name__", "").rpartition(".")[0]
            module = importlib.import_module("." * imported.level + name, package if imported.level else None)
        except ImportError:
            self.node.out.append(f"missing module {name}".encode())
            self.walk.guards.missing(sys.modules, name)
            return _MISSING
        except Exception as err:
            raise CodeError(f"{where}: module {name} cannot be imported: {err}") from err
        if not isinstance(module, types.ModuleType):  # an object in place of one
            absolute = importlib.util.resolve_name("." * imported.level + name, package)
            self.walk.guards.name(sys.modules, absolute, module)
            if imported.name is None and use is not None:
                return module
            self.walk.names.update((imported.name or "", *(use.attributes if use else ())))
            self.walk.follow(self.node, module, f"{self.node.path} -> {absolute}")
            return _MISSING
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
        owner = distribution.of_module(module.__name__)
        self.node.out.append(f"import {module.__name__ if owner else ''} {owner}".encode())

    def _member(self, module: types.ModuleType, name: str) -> Any:
        """Return a member of a module, and watch that it stays the same."""
        space = vars(module)
        modules.follow_class(self.walk, self.node, module)
        if name not in space:
            try:
                getattr(module, name)
            except AttributeError:
                with contextlib.suppress(ImportError):
                    importlib.import_module(f"{module.__name__}.{name}")
            except Exception as err:
                raise CodeError(f"{self.node.path}: {module.__name__}.{name} cannot be read: {err}") from err
        if name not in space:
            self.node.out.append(f"missing {module.__name__}.{name}".encode())
            self.walk.guards.missing(space, name)
            maker = space.get("__getattr__")
            if maker is not None:  # this function creates it at each access
                self.walk.guards.name(space, "__getattr__", maker)
                self.walk.follow(self.node, maker, f"{self.node.path} -> {module.__name__}.__getattr__")
            elif name in _OF_MODULES:
                raise CodeError(
                    f"{self.node.path}: {module.__name__}.{name} may be any name of the module; "
                    f"use names of the module, {CURES}"
                )
            return _MISSING
        self.walk.guards.name(space, name, space[name])
        return space[name]

    def _chain(self, use: bytecode.Use, value: Any, path: str, files: frozenset[str]) -> None:
        """Follow attributes of modules and classes as far as they go."""
        attributes = list(use.attributes)
        holder: types.ModuleType | None = None
        last = use.root.name or use.root.module if isinstance(use.root, bytecode.Imported) else str(use.root)
        while isinstance(value, types.ModuleType) and attributes:
            holder, last = value, attributes.pop(0)
            value = self._member(holder, last)
            path += f".{last}"
            self._refuse_in(holder, last, value, path, use, files)
            if value is _MISSING:
                return
        if _is_guard(value, use.code):
            return
        if use.written and not attributes[1:]:
            raise CodeError(
                f"{self._where(use.line)}: an attribute of {path.rpartition(' ')[2]} is set, which outlives the call; "
                f"return the value, {CURES}"
            )
        if value is operator.methodcaller or value is operator.attrgetter:
            self.walk.any_name = True
        name, owner = "", None
        if is_code(value):
            name, owner = library_name(value)
        if owner is not None:
            self._library(use, value, name, owner, attributes, path, files)
            return
        if isinstance(value, types.ModuleType) and patterns.is_tested(use):
            self._module(value)
            return
        self._refer(value, path, use.called and not attributes, holder, last)
        if attributes:
            self._after(value, attributes, use)

    def _after(self, value: Any, attributes: list[str], use: bytecode.Use) -> None:
        """Doubt methods of a value, except those of its own class, which are followed."""
        if isinstance(value, Wrapper) and attributes[0] in STATE:
            self._refuse(use, f"{getattr(value, '__qualname__', 'a model')}.{attributes[0]}", refusals.MACHINE)
        cls = value if isinstance(value, type) else type(value)
        for name in attributes:
            if library_name(cls)[1] is not None or not hasattr(cls, name):
                self._doubt(name, use)
            cls = object

    def _refuse_in(
        self, module: types.ModuleType, name: str, value: Any, path: str, use: bytecode.Use, files: frozenset[str]
    ) -> None:
        """Refuse a member of a library that depends on more than its arguments."""
        owner = distribution.of_module(module.__name__)
        if owner is not None and not isinstance(value, types.ModuleType) and not _is_users(value):
            self._refuse_use(f"{module.__name__}.{name}", owner, use, files, path)

    def _refuse_use(
        self, name: str, owner: distribution.Owner, use: bytecode.Use, files: frozenset[str], path: str
    ) -> None:
        if name in calls.OPENERS or name in calls.READERS:
            self.opened |= patterns.text_of_file(use, files)
        if self.walk.may_open(name) or (name in calls.READERS and patterns.reads_given(use, files)):
            return
        if name in calls.LOADERS and self._may_be_loaded(use):
            return
        if name in calls.SILENT and patterns.without_arguments(use):
            return
        if name in calls.OF_ARGUMENT and (use.call() or (0, ()))[0]:
            return
        if name in calls.DRAWING and patterns.passes_generator(use):
            return
        if name in calls.TRAINING:
            given, named = use.call() or (0, ())
            if given < 3 and "training" not in named:
                self._refuse(use, name, refusals.RANDOMNESS)
            return
        if name in rules.SEEDED:
            if patterns.without_arguments(use):
                self._refuse(use, name, refusals.RANDOMNESS)
            return
        why = rules.refusal(name, owner is distribution.PYTHON)
        if name in calls.MAKERS_OF_FILES and self._may_name_file(use) and not patterns.reads_given(use, files):
            why = refusals.FILES
        if why is not None and not (name.startswith("random.") and name.count(".") == 1 and name[7:8].islower()):
            self._refuse(use, name, why)

    def _may_be_loaded(self, use: bytecode.Use) -> bool:
        """Report whether the argument of a reader may be a buffer; if it is a file, opening it is recorded."""
        ops = [op for op in use.after if op.name != "CALL"][:1]
        return bool(ops) and ops[0].name in ("LOAD_FAST", "LOAD_DEREF") and ops[0].value not in self.given

    def _may_name_file(self, use: bytecode.Use) -> bool:
        """Report whether the first argument of a call is a string or a path, as far as code shows."""
        count, named = use.call() or (0, ())
        if not use.after or (count == len(named) and not {"vocab", "merges"}.intersection(named)):
            return False
        first = next((op for op in use.after if op.name not in ("PUSH_NULL", "PRECALL")), use.after[0])
        if any(op.name in ("BUILD_MAP", "BUILD_CONST_KEY_MAP", "BUILD_LIST") for op in use.after):
            return False
        held = {"LOAD_CONST": {first.value: first.value}, "LOAD_GLOBAL": self.space, "LOAD_DEREF": self.cells}
        value = held.get(first.name, {}).get(first.value, first.value)
        return isinstance(value, (str, os.PathLike)) and first.name in held

    def _refuse(self, use: bytecode.Use, name: str, why: refusals.Refusal) -> None:
        if not self.walk.allows(name):
            fix = f"{why.fix}, {self.walk.allowing(name, why)}{CURES}"
            raise CodeError(f"{self._where(use.line)}: {name} reaches {why.what}; {fix}")

    def _library(
        self,
        use: bytecode.Use,
        value: Any,
        name: str,
        owner: distribution.Owner,
        attributes: list[str],
        path: str,
        files: frozenset[str],
    ) -> None:
        """Refer to a function or a class of a library, if it may be used in this way."""
        if isinstance(value, type):
            for attribute in attributes[:1]:
                why = rules.refusal(f"{name}.{attribute}", owner is distribution.PYTHON) or members.METHODS.get(
                    attribute
                )
                if self.walk.files and attribute in members.OPENING:
                    self.walk.opens, why = True, None
                if attribute == "fromtimestamp" and patterns.zoned(use):
                    why = None
                if why is not None and not hasattr(type, attribute):
                    self._refuse(use, f"{name}.{attribute}", why)
                found = vars(value).get(attribute)
                if isinstance(found, types.FunctionType):
                    # The program may have put it there.
                    self.walk.guards.name(vars(value), attribute, found)
                    self.walk.follow(self.node, found, f"{path}.{attribute}", "", not use.called)
        if name in _BY_USE or name.partition(".")[0] == "_io":
            self._refuse_use(name, owner, use, files, path)
            self.node.out.append(f"library {owner} {name} {'.'.join(attributes)}".encode())
            self.walk.depend_on(self.node, name)
            return
        try:
            if use.kind == "global" and name == f"builtins.{use.root}":  # whose arguments are known
                self.walk.add_edge(self.node, self.walk.code(value, path, not use.called))
            else:
                self.walk.follow(self.node, value, path, "", not use.called)
        except CodeError as err:
            raise CodeError(str(err).replace(path + ":", f"{self._where(use.line)}:", 1)) from None

    def _has_key(self, value: Any, owner: distribution.Owner | None) -> bool:
        """Report whether an object in the standard library, perhaps put there by the program, has a key by content."""
        if owner is not distribution.PYTHON:
            return False
        try:
            Encoder(lambda code: b"").add(value)
        except Unkeyed:
            return False
        return True

    def _refer(self, value: Any, path: str, called: bool, holder: types.ModuleType | None, name: str) -> None:
        owner = distribution.of_module(holder.__name__) if holder is not None else None
        if holder is not None and is_of_library(value, owner) and not self._has_key(value, owner):
            self.node.out.append(f"library {owner} {holder.__name__}.{name}".encode())
            self.walk.depend_on(self.node, holder.__name__)
            return
        space = "" if holder is None else shown_module(holder.__name__) + "."
        if holder is None and not isinstance(value, (types.FunctionType, type)):
            space = shown_module(self.space.get("__name__", "?")) + "."
        if isinstance(value, types.ModuleType):
            owner = distribution.of_module(value.__name__)
            raise CodeError(
                f"{path}: module {value.__name__} is used as a value, so its used parts are unknown; "
                f"write {value.__name__}.name, {CURES}"
            )
        self.walk.follow(self.node, value, path, f"{space}{name}", not called)


_BY_USE = (
    calls.READERS
    | rules.SEEDED
    | calls.SILENT
    | calls.OF_ARGUMENT
    | calls.DRAWING
    | calls.TRAINING
    | calls.MAKERS_OF_FILES
)
"""Names that are refused or not depending on how they are called."""

_MISSING = object()

_OF_MODULES = frozenset(["__dict__", "__getattribute__", "__class__"])


def _is_guard(value: Any, code: types.CodeType) -> bool:
    """Report whether a value guards the methods that attrs generates for a class against infinite recursion."""
    return isinstance(value, threading.local) and code.co_filename.startswith(ATTRS)


def _is_users(value: Any) -> bool:
    """Report whether a member of a library is a function that the program put there."""
    return isinstance(value, types.FunctionType) and library_name(value)[1] is None
