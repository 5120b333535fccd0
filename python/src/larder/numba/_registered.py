"""What the program and libraries have registered with numba: overloads, lowering, models, casts.

numba finds these by the functions, types and attributes that they are registered for, and
not by names in code, so they count where what they are for is reached.
"""

from __future__ import annotations

import operator
import types as pytypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._code import _owner


@dataclass(slots=True, frozen=True)
class Entry:
    """One registration that is not numba's own."""

    label: str
    parts: tuple[Any, ...]
    """The functions and classes that make it."""
    keys: tuple[Any, ...]
    """What it is for: functions, types; of which one must be reached. None: it always counts."""
    attribute: str | None
    """The attribute that it is for, which code must mention."""


class Registered:
    """All registrations that are not numba's own, by what they are for. What was looked at is not looked at again."""

    def __init__(self) -> None:
        self.by_key: dict[int, list[Entry]] = {}
        """Those that are for a function or a type, by its address."""
        self.everywhere: list[Entry] = []
        """Those that are for all code, or for an attribute, by their names."""
        self._seen: dict[int, int] = {}
        self._hold: list[Any] = []

    def refresh(self) -> None:
        """Look at what was registered meanwhile."""
        before = len(self.everywhere)
        for kind, rows in _tables():
            start = self._seen.get(id(rows), 0)
            if len(rows) == start:
                continue
            if id(rows) not in self._seen:
                self._hold.append(rows)
            self._seen[id(rows)] = len(rows)
            for row in list(rows.items())[start:] if isinstance(rows, dict) else rows[start:]:
                entry = _MAKERS[kind](row)
                if entry is not None:
                    self._add(entry)
        if len(self.everywhere) != before:
            self.everywhere.sort(key=lambda entry: entry.label)

    def _add(self, entry: Entry) -> None:
        if not entry.keys:
            self.everywhere.append(entry)
        for key in entry.keys:
            self.by_key.setdefault(id(key), []).append(entry)

    def is_overloaded(self, function: Any) -> bool:
        """Report whether numba compiles something else in place of a function of Python."""
        return any(entry.attribute is None for entry in self.by_key.get(id(function), ()))


def _tables() -> Iterator[tuple[str, Any]]:
    from numba.core.datamodel.registry import default_manager
    from numba.core.imputils import builtin_registry as lowered
    from numba.core.pythonapi import _boxers, _reflectors, _unboxers
    from numba.core.registry import cpu_target
    from numba.core.typing.templates import builtin_registry as typed

    for registry in {id(r): r for r in (typed, *cpu_target.typing_context._registries)}.values():
        yield "template", registry.functions
        yield "template", registry.attributes
        yield "global", registry.globals
    for registry in {id(r): r for r in (lowered, *cpu_target.target_context._registries)}.values():
        yield "lowered", registry.functions
        yield "attribute", registry.getattrs
        yield "attribute", registry.setattrs
        yield "cast", registry.casts
        yield "cast", registry.constants
    yield "model", default_manager._handlers
    for table in (_boxers, _unboxers, _reflectors):
        yield "model", table.functions


def _template(cls: Any) -> Entry | None:
    own = vars(cls)
    made = [own[name] for name in ("_overload_func", "_definition_func") if name in own]
    made = [getattr(f, "__func__", f) for f in made]
    key = getattr(cls, "key", None)
    attribute = own.get("_attr")
    if not made:
        if _is_numbas(cls) or not _has_others(own):
            return None
        made = [cls]
    elif all(map(_is_numbas, made)):
        return None
    return Entry(_label("template", made, key), tuple(made), _keys(key), attribute)


def _global(row: tuple[Any, Any]) -> Entry | None:
    """Return what a value that numba knows by itself is typed as: by the templates of it."""
    value, kind = row
    templates = getattr(kind, "templates", None)
    if not templates:
        return None
    entries = [entry for cls in templates if (entry := _template(cls)) is not None]
    parts = tuple(part for entry in entries for part in entry.parts)
    return Entry(_label("global", parts, value), parts, _keys(value), None) if parts else None


def _lowered(row: tuple[Any, Any, Any]) -> Entry | None:
    made, key, _signature = row
    if _is_numbas(made) and not _touches(made):
        return None
    return Entry(_label("lowered", [made], key), (made,), _keys(key), None)


def _attribute(row: tuple[Any, Any, Any]) -> Entry | None:
    made, attribute, signature = row
    if _is_numbas(made) and not _touches(made):
        return None
    keys = tuple(kind for kind in signature[:1] if not _is_numbas(_class(kind)))
    return Entry(_label("attribute", [made], attribute), (made,), keys, attribute)


def _cast(row: tuple[Any, Any]) -> Entry | None:
    made, signature = row
    if _is_numbas(made):
        return None
    return Entry(_label("cast", [made], ""), (made,), tuple(s for s in signature if not _is_numbas(_class(s))), None)


def _model(row: tuple[Any, Any]) -> Entry | None:
    kind, made = row
    if _is_numbas(kind):
        return None
    return Entry(_label("model", [made], kind), (made,), (kind,), None)


_MAKERS: dict[str, Any] = {
    "template": _template,
    "global": _global,
    "lowered": _lowered,
    "attribute": _attribute,
    "cast": _cast,
    "model": _model,
}


def _class(kind: Any) -> Any:
    return kind if isinstance(kind, type) else type(kind)


def _keys(key: Any) -> tuple[Any, ...]:
    """Return what must be reached: nothing, where operators and builtins are meant, which all code may use."""
    if key is None or isinstance(key, str) or getattr(key, "__module__", None) in _EVERYWHERE:
        return ()
    if isinstance(key, type) and _is_numbas(key):
        return ()
    return (key,)


_EVERYWHERE = ("builtins", "operator", "_operator", operator.__name__)


def _label(kind: str, made: Any, key: Any) -> str:
    names = [f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', type(f).__qualname__)}" for f in made]
    named = f"{getattr(key, '__module__', '')}.{getattr(key, '__qualname__', key if isinstance(key, str) else '')}"
    return f"{kind} {named} {' '.join(names)}"


def _is_numbas(value: Any) -> bool:
    """Report whether numba keeps a function or a class: it is known as a whole."""
    if isinstance(value, pytypes.FunctionType):
        module = value.__globals__.get("__name__", "")
    else:
        module = getattr(value, "__module__", None) or ""
    return bool(module.partition(".")[0] in ("numba", "llvmlite"))


def _has_others(members: Mapping[str, Any]) -> bool:
    """Report whether a class has functions that are not numba's, or hold what is not."""
    functions = [m for m in members.values() if isinstance(m, pytypes.FunctionType)]
    return not functions or any(not _is_numbas(f) or _touches(f) for f in functions)


def _touches(value: Any, depth: int = 0) -> bool:
    """Report whether a function that numba made holds something that is not numba's."""
    if not isinstance(value, pytypes.FunctionType) or depth > 4:
        return False
    for cell in value.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:
            continue
        if isinstance(held, pytypes.FunctionType):
            if not _is_numbas(held) or _touches(held, depth + 1):
                return True
        elif isinstance(held, type) and not _is_numbas(held) and _owner.of_module(held.__module__) is None:
            return True
    return False
