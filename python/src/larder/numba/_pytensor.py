"""Report graphs for which PyTensor requests no cache.

PyTensor requests a cache for graphs that it has a key for. It has none for Ops that are
registered only by `numba_funcify.register`, nor for graphs with them, so these would be missing
from the report. They are found by public means: numba's compilation event, PyTensor's setting
and registries, and the module in which graphs are created. If these change, only such graphs
are missing from the report.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from ._kinds import named
from ._report import REFUSED, Report, Row

_GRAPHS = "pytensor.link.utils"
_OPS = "pytensor.link.numba.dispatch.basic"
_CURE = "register it by register_funcify_default_op_cache_key"

Types = tuple[Any, ...]


class Unasked:
    """Functions that are compiled without a cache, as far as PyTensor's graphs call them."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._compiled: WeakKeyDictionary[Any, list[tuple[Types, float]]] = WeakKeyDictionary()
        """The types for which unreported functions were compiled, and how long it took."""

    def note(self, function: Any, args: Types, seconds: float) -> None:
        """Record the compilation of a function; report it if it is a graph for which PyTensor requests no cache."""
        if _has_no_cache(function) and _is_on():
            self._compiled.setdefault(function, []).append((args, seconds))
            with suppress(Exception):  # another version of PyTensor may differ
                self._graph(function)

    def _graph(self, function: Any) -> None:
        causes = list(_causes(function, named(function), [])) if _is_graph(function) else []
        for _, of in causes:
            self._say(of, _reason(of))
        for path, of in causes[:1]:
            self._say(function, f"{path}: {_reason(of)}")

    def _say(self, function: Any, reason: str) -> None:
        self._report.uncached.pop(named(function), None)
        for args, seconds in self._compiled.pop(function, ()):
            row = Row(named(function), f"({', '.join(map(str, args))})", REFUSED, seconds, reason=reason)
            self._report.rows.append(row)


def _is_on() -> bool:
    """Report whether PyTensor is imported and requests caches."""
    return bool(getattr(getattr(sys.modules.get("pytensor"), "config", None), "numba__cache", False))


def _is_graph(function: Any) -> bool:
    return bool(function.py_func.__module__ == _GRAPHS)


def _causes(graph: Any, path: str, around: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the uncached functions that a graph calls, with their paths; for inner graphs, their own causes."""
    for name, called in _called(graph):
        way, found = f"{path} -> {name}", False
        for inner, of in ((name, called), *_called(called)):
            if _is_graph(of) and not any(of is one for one in around):
                for cause in _causes(of, way if of is called else f"{way} -> {inner}", [*around, graph]):
                    found = True
                    yield cause
        if not found and not _is_graph(called):
            yield way, called


def _called(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield compiled functions without a cache that a function names."""
    python = function.py_func
    by_name = [(name, python.__globals__.get(name)) for name in python.__code__.co_names]
    cells = zip(python.__code__.co_freevars, python.__closure__ or (), strict=True)
    for name, value in (*by_name, *((name, _content(cell)) for name, cell in cells)):
        if _has_no_cache(value):
            yield name, value


def _has_no_cache(value: Any) -> bool:
    from numba.core.caching import NullCache
    from numba.core.dispatcher import Dispatcher

    return isinstance(value, Dispatcher) and isinstance(value._cache, NullCache)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _reason(function: Any) -> str:
    op = _op_of(function.py_func)
    if op is None:
        return "PyTensor asks for no cache of it, as it has no key for it"
    return f"PyTensor asks for no cache of it, as it has no key for the Op {op.__qualname__}; {_CURE}"


def _op_of(python: Any) -> type | None:
    """Return the Op that created a function, if it is registered only for that and not for keys."""
    basic: Any = sys.modules.get(_OPS)
    registry = getattr(getattr(basic, "numba_funcify", None), "registry", {})
    for op, made in registry.items():
        whole = f"{getattr(made, '__qualname__', '')}.<locals>."
        if made.__module__ == python.__module__ and python.__qualname__.startswith(whole) and _has_no_key(basic, op):
            return op if isinstance(op, type) else None
    return None


def _has_no_key(basic: Any, op: type) -> bool:
    keyed = [getattr(basic, f"numba_funcify_{name}", None) for name in ("and_cache_key", "default_op_cache_key")]
    return all(of is not None and of.dispatch(op) is of.dispatch(object) for of in keyed)
