"""Add values that numba puts into compiled code, or that code reads which runs while numba compiles."""

from __future__ import annotations

from typing import Any

from .._identity import distribution
from .._identity.code import members
from .._identity.values.encoder import Encoder, Unkeyed
from .._identity.values.text import describe
from . import _kinds, _running
from ._errors import Refused
from ._node import Node
from ._walker import Walker

_LARGE = 10**6
"""The size in bytes from which numba does not put an array into compiled code."""


def add_leaf(walk: Walker, node: Node, value: Any, path: str) -> None:
    """Append a value that is identified by its content, and has no code in it."""

    def code(of: Any) -> bytes:
        walk.refer(node, of, path)
        return b"code;"

    e = Encoder(code)
    try:
        e.add(value)
    except Unkeyed as unkeyed:
        raise Refused(f"{path}{unkeyed.way}", f"{describe(value)}, {unkeyed.what}") from None
    node.out.extend(e.out)


def add_other(walk: Walker, node: Node, value: Any, path: str, runs: bool) -> None:
    cls = type(value)
    if _kinds.is_array(value):
        if value.nbytes > _LARGE and not runs:
            raise Refused(path, f"an array of {value.nbytes} bytes, which numba does not put into compiled code")
        flags = value.flags
        if not (flags.c_contiguous or flags.f_contiguous or runs):
            what = "an array whose elements are not side by side"
            raise Refused(path, f"{what}, which numba does not put into compiled code: np.ascontiguousarray makes one")
        node.out.append(b"flags %d%d%d " % (flags.c_contiguous, flags.f_contiguous, flags.aligned))
        add_leaf(walk, node, value, path)
    elif cls in (set, frozenset) and value and all(_kinds.kind_of(item) == "type" for item in value):
        walk.value(node, sorted(value, key=_in_order), path, runs)
        node.out.append(cls.__name__.encode())
    elif cls.__module__ == "numpy" or cls.__module__.startswith("numpy.") or cls in (set, frozenset):
        add_leaf(walk, node, value, path)
    elif isinstance(value, tuple) and any("_fields" in vars(base) for base in cls.__mro__):
        walk.refer(node, cls, path, runs)
        walk.value(node, tuple(value), path, runs)
    elif runs and (names := _running.named_by(value)):
        _add_attributes_read(walk, names, path)
        add_leaf(walk, node, value, path)
    elif runs and _running.is_random(value):
        raise Refused(path, "the generator of random draws what no argument decides while numba compiles")
    elif runs and (setting := _kinds.setting(value)):
        raise Refused(path, f"{setting} while numba compiles")
    elif _kinds.pointer(value):
        raise Refused(path, f"{_kinds.pointer(value)}, whose address differs in each process")
    elif distribution.of_module(cls.__module__) is None:
        walk.refer(node, value, path, runs)
    else:
        add_leaf(walk, node, value, path)


def _add_attributes_read(walk: Walker, names: tuple[str, ...], path: str) -> None:
    """Refuse the attributes that a function of `operator` reads, as for code that reads them itwalk."""
    for name in names:
        if name in members.INSIDES:
            raise Refused(path, f"{name} leads to code and variables that Larder cannot follow")
        _running.refuse_method(name, path)
    _running.refuse_mentioned(frozenset(names), path)
    walk.compile_time_names.update(names)
    walk.names.update(names)


def _in_order(kind: Any) -> tuple[str, str]:
    """Return the sort key of types in a set."""
    return f"{type(kind).__module__}.{type(kind).__qualname__}", str(kind)
