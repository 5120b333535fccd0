"""Follow the code of functions: defaults, captured variables, and the meaning of the names in it."""

from __future__ import annotations

import builtins
import logging
import sys
import types as pytypes
from typing import Any

from .._identity import distribution
from .._identity.immutable import fixed
from .._identity.library import library_name
from . import _kinds, _running
from ._errors import Refused
from ._facts import Facts, facts_of, placed, variables
from ._node import Node
from ._owners import shown, whole
from ._walker import Walker

MISSING = object()


def follow_function(walk: Walker, node: Node) -> None:
    """Append a function that is compiled into another one, or that runs while numba compiles."""
    value = node.value
    if not node.runs and walk.registered.is_overloaded(value):
        node.out.append(b"overloaded")  # numba compiles its registration, and not its code
        return
    if _kinds.is_stencils(value):
        walk.mixed = True  # its result is compiled with its own flags
    name, owner = library_name(value)
    if owner is not None:
        walk.library(node, name, owner, node.path, node.runs)
        if (
            node.runs and distribution.of_module(value.__module__) == owner
        ):  # also by the name under which it is imported
            _running.refuse_named(f"{value.__module__}.{value.__qualname__}", owner, node.path)
        if whole(owner) and not value.__closure__:
            return
    _of_function(walk, node, value, node.runs, followed=owner is None)


def add_compiled_code(walk: Walker, node: Node, value: Any, types: dict[str, Any] | None) -> None:
    """Append the code that is compiled; its variables count if types are declared for them."""
    if types:
        node.out.append(variables(value.__code__))
    if node.flags is not None and node.flags.flags.debuginfo:
        node.out.append(placed(value.__code__))
    _of_function(walk, node, value, False)


def _of_function(walk: Walker, node: Node, value: Any, runs: bool, followed: bool = True) -> None:
    """Append code, defaults, captured variables, and the meaning of the names in code."""
    facts = facts_of(value.__code__, node.kind == "overload")
    node.out.append(facts.content if runs else facts.unnamed)
    walk.names |= facts.names
    for i, default in enumerate(value.__defaults__ or ()):
        walk.value(node, default, f"{node.path} -> default {i}", runs)
    for name, default in (value.__kwdefaults__ or {}).items():
        node.out.append(name.encode())
        walk.value(node, default, f"{node.path} -> default {name}", runs)
    cells = _cells_of(value)
    add_cells(walk, node, cells, runs, followed)
    if not followed:
        return
    if runs:
        _runs(walk, node, facts)
        walk.items(node, vars(value), node.path, runs)
    add_names(walk, node, value.__globals__, facts, cells, runs)
    for code in facts.returned:
        inner = facts_of(code)
        walk.names |= inner.names
        _uses(walk, node, value.__globals__, inner, cells, False)


def add_cells(walk: Walker, node: Node, cells: dict[str, Any], runs: bool, followed: bool = True) -> None:
    """Append captured variables."""
    for name, held in cells.items():
        node.out.append(b"cell ")
        if held is MISSING:
            node.out.append(b"empty")
        elif not followed and _kinds.is_models(held):
            node.out.append(b"models")  # which count where their types are reached
        elif not isinstance(held, pytypes.ModuleType):  # whose used names are followed
            walk.guarded(node, walk.value, node, held, f"{node.path} -> captured {name}", runs)


def add_names(walk: Walker, node: Node, space: dict[str, Any], facts: Facts, cells: dict[str, Any], runs: bool) -> None:
    """Append what code imports, and the meaning of the names in it."""
    if facts.unknown is not None:
        raise Refused(node.path, f"the instruction {facts.unknown} is not known")
    for imported, attributes in facts.imports:
        _import(walk, node, imported, attributes, runs)
    _uses(walk, node, space, facts, cells, runs)


def _uses(walk: Walker, node: Node, space: dict[str, Any], facts: Facts, cells: dict[str, Any], runs: bool) -> None:
    """Append the meaning of the names in code."""
    for kind, name, attributes, mention, called in facts.uses_named if node.runs else facts.uses_unnamed:
        node.out.append(mention)
        out, edges = len(node.out), len(node.edges)
        if kind == "global":
            walk.guarded(node, _global, walk, node, space, name, attributes, runs)
        elif isinstance(cells.get(name), pytypes.ModuleType):
            walk.guarded(node, _chain, walk, node, cells[name], attributes, f"{node.path} -> {name}", runs)
        held = tuple(id(walk.nodes[n].value) for n in node.edges[edges:])
        node.said[called] = hash((*node.out[out:], held))


def _runs(walk: Walker, node: Node, facts: Facts) -> None:
    """Refuse actions of code that runs while numba compiles, if they cannot be followed."""
    if facts.writes is not None:
        raise Refused(node.path, f"it sets {facts.writes} while numba compiles")
    for name in sorted(facts.insides):
        raise Refused(node.path, f"{name} leads to code and variables that Larder cannot follow")
    for name in sorted(facts.methods):
        _running.refuse_method(name, node.path)
    _running.refuse_mentioned(facts.names, node.path)
    walk.runs_code = True
    walk.compile_time_names |= facts.names
    walk.formats = walk.formats or facts.formats


def _global(
    walk: Walker, node: Node, space: dict[str, Any], name: str, attributes: tuple[str, ...], runs: bool
) -> None:
    path = f"{node.path} -> {name}"
    if node.kind == "compiled function" and _is_own_name(node.value.py_func, name, space):
        walk.refer(node, node.value, path)
        return
    if name in space:
        _chain(walk, node, space[name], attributes, path, runs)
        return
    outer = space.get("__builtins__", builtins)
    outer = vars(outer) if isinstance(outer, pytypes.ModuleType) else outer
    if name not in outer:
        node.out.append(f"missing {name} ".encode())
        return
    if runs and name in _running.ANYTHING:
        raise Refused(path, f"{name} may reach anything while numba compiles")
    _chain(walk, node, outer[name], attributes, path, runs)


def _chain(walk: Walker, node: Node, value: Any, attributes: tuple[str, ...], path: str, runs: bool) -> None:
    """Follow attributes of modules as far as they go."""
    left, holder = list(attributes), None
    while isinstance(value, pytypes.ModuleType) and left:
        holder, name = value, left.pop(0)
        path += f".{name}"
        value = getattr(holder, name, MISSING)
        if value is MISSING:
            node.out.append(f"missing {name} ".encode())
            return
        owner = distribution.of_module(holder.__name__)
        if runs and owner is not None and not isinstance(value, pytypes.ModuleType):
            _running.refuse_named(f"{holder.__name__}.{name}", owner, path)
    if runs and left and _kinds.kind_of(value) == "dispatcher":
        _running.refuse_of_dispatcher(left[0], path)
        if left[0] == "py_func":
            walk.value(node, value.py_func, f"{path}.py_func", True)
    elif runs and left:
        for name in left[1:] if _has_of_its_own(value, left[0]) else left:
            _running.refuse_method(name, path)
    if left and left[0] in _running.LOGGING and isinstance(value, logging.Logger):
        node.out.append(b"logs ")  # and reads nothing
        return
    if holder is not None and _is_known_by_name(walk, holder, value):
        walk.reached[id(value)] = value
        walk.library(node, f"{holder.__name__}.{path.rpartition('.')[2]}", owner, path, runs)
        node.out.append(f"is {_own_name(value)} ".encode())  # the program may have put another object there
        return
    walk.value(node, value, path, runs)


def _is_known_by_name(walk: Walker, holder: pytypes.ModuleType, value: Any) -> bool:
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
    if isinstance(value, (list, dict, tuple, set)) or not whole(owner):
        return False
    return distribution.of_module(type(value).__module__) is not None


def _import(walk: Walker, node: Node, imported: Any, attributes: tuple[str, ...], runs: bool) -> None:
    """Follow an import in code that runs while numba compiles; only libraries are allowed."""
    module = sys.modules.get(imported.module) if not imported.level else None
    owner = distribution.of_module(imported.module) if not imported.level else None
    if module is None or owner is None:
        raise Refused(node.path, f"it imports {imported.module} while it is compiled; import it at the top")
    node.out.append(f"import {shown(owner)} {imported.module} {imported.name} {'.'.join(attributes)} ".encode())
    names = attributes if imported.name is None else (imported.name, *attributes)
    if names or not runs:
        _chain(walk, node, module, names, f"{node.path} -> {imported.module}", runs)


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


def _cells_of(value: Any) -> dict[str, Any]:
    held = {}
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            held[name] = MISSING
    return held
