"""Follow functions: their code, defaults, captured variables and attributes."""

from __future__ import annotations

import os
import types
from typing import Any

from ...errors import CodeError
from .. import distribution
from ..library import CURES, shown_module
from ..values.encoder import Encoder
from ..wrapper import Wrapper
from . import bytecode, patches
from .annotations import hints, names_file
from .node import Node
from .references import ATTRS, Follow
from .walker import Walker

# An attribute of functions of networkx that replace their own code by compiled code when they are called.
_COMPILES_ITSELF = "__argmap__"

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def begin_function(walk: Walker, value: types.FunctionType, path: str) -> None:
    """Add the node of a function; what it holds is followed next."""
    owner = distribution.of_module(value.__globals__.get("__name__", ""))
    if owner is not None and _is_elsewhere(value.__code__):
        owner = None
    if owner is not None:
        _begin_library_function(walk, value, owner, path)
        return
    module = shown_module(value.__globals__.get("__name__", "?"))
    node = walk.new_node(path, "function", f"function {module}.{value.__qualname__}")
    walk.guards.function(value)
    walk.queue.append(lambda: _function(walk, node, value))


def _begin_library_function(walk: Walker, value: types.FunctionType, owner: distribution.Owner, path: str) -> None:
    # Not by its own name, which may be that of a function that it wraps.
    name = f"{value.__globals__['__name__']}.{value.__code__.co_qualname}"
    if _COMPILES_ITSELF in vars(value):
        name = f"{value.__module__}.{value.__qualname__}"
    else:
        walk.guards.function(value)
    walk.refuse_named(name, owner, path)
    node = walk.library_node(path, name, owner)
    walk.queue.append(lambda: _library_function(walk, node, value, path))


def _library_function(walk: Walker, node: Node, value: types.FunctionType, path: str) -> None:
    """Follow the program's objects in a library function: a decorator holds the function that it wraps."""
    dispatcher = getattr(value, "registry", None)
    if isinstance(dispatcher, types.MappingProxyType) and value.__globals__["__name__"] == "functools":
        walk.refer_to_value(node, dict(dispatcher), f"{path}.registry", "")
        walk.guards.watch_mapping(dispatcher)
        for kind, function in dispatcher.items():
            walk.follow(node, kind, f"{path} for {kind.__qualname__}")
            walk.follow(node, function, f"{path} for {kind.__qualname__}")
        return
    _cells(walk, node, value, path)
    made = getattr(vars(value).get(_COMPILES_ITSELF), "_func", None)
    for held in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *vars(value).values(), made):
        if patches.is_of_program(held):
            walk.follow(node, held, path)


def _function(walk: Walker, node: Node, value: types.FunctionType) -> None:
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
        walk.follow(node, default, f"{path} -> default {name}", f"default {name}")
    for name, default in (value.__kwdefaults__ or {}).items():
        node.out.append(name.encode())
        walk.follow(node, default, f"{path} -> default {name}", f"default {name}")
    if value.__kwdefaults__:
        walk.guards.watch_mapping(value.__kwdefaults__)
    _cells(walk, node, value, path)
    if vars(value):
        walk.guards.watch_mapping(vars(value))
    wrapped = vars(value).get("__wrapped__")
    copied = wrapped._inner if isinstance(wrapped, Wrapper) else frozenset()  # by functools.wraps
    for name, held in vars(value).items():
        if name in copied and name != "__wrapped__":
            continue
        if name == "__signature__" and held is not None:
            raise CodeError(f"{path}.__signature__: a signature that is set has no key; leave it out, {CURES}")
        node.out.append(name.encode())
        walk.follow(node, held, f"{path}.{name}")
    # Other functions may receive other values, whatever their annotations say.
    files = names_file(value) if value is walk.root and walk.files else frozenset()
    own = (code.co_varnames[0], walk.of_classes[id(value)]) if _is_method(walk, value) else None
    given = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if value is walk.root else ())
    Follow(walk, node, value.__globals__, _cells_of(value), files, own, given).all(bytecode.Names(code))


def _is_method(walk: Walker, value: types.FunctionType) -> bool:
    return id(value) in walk.of_classes and value.__code__.co_argcount > 0


def _cells(walk: Walker, node: Node, value: types.FunctionType, path: str) -> None:
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held = cell.cell_contents
        except ValueError:  # not set yet
            node.out.append(b"empty")
            walk.guards.unset(cell)
            continue
        walk.guards.cell(cell, held)
        if isinstance(held, types.ModuleType):
            continue  # its used names are followed
        if name == "__class__" and held in walk.existing:
            continue  # for super, which creates nothing
        if (
            name != "repr_running"
            or distribution.of_module(value.__globals__.get("__name__", "")) is not distribution.PYTHON
        ):
            walk.follow(node, held, f"{path} -> captured {name}", f"captured {name}")


def _is_elsewhere(code: types.CodeType) -> bool:
    """Report whether code in a module of a library comes from a file of the user."""
    name = code.co_filename
    if name.startswith(_OWN):  # wherever this package is installed
        return False
    return (
        not name.startswith("<") and name.endswith(".py") and name[:1] in "/\\" and distribution.of_file(name) is None
    )


def _cells_of(value: types.FunctionType) -> dict[str, Any]:
    held = {}
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            continue
    return held


def description(function: types.FunctionType) -> bytes:
    """Return what a function reveals as a value, besides its code."""
    e = Encoder(_no_code)
    text = function.__doc__ if isinstance(function.__doc__, str) else None
    e.add((function.__name__, function.__qualname__, text, hints(function)))
    return b"".join(e.out)


def _no_code(value: Any) -> bytes:
    raise TypeError(f"expected code, not {type(value)}")
