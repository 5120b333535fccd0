"""Read what the program and libraries registered with numba: overloads, lowering, models, casts, rewrites.

numba finds registrations by the functions, types and attributes that they are for, and not by
names in code. So they count where these are reached.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types as pytypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .._identity import distribution
from .._identity.immutable import fixed
from . import _contexts
from ._conversions import RULES, Rule
from ._types import ADDRESS


@dataclass(slots=True, frozen=True)
class Entry:
    """One registration that is not numba's own."""

    label: str
    parts: tuple[Any, ...]
    """The functions and classes that make it, and its options."""
    keys: tuple[Any, ...]
    """The functions and types it is for, of which one must be reached; None if it always counts."""
    attribute: str | None
    """The attribute it is for, which code must mention."""
    itself: bool = False
    """Whether it makes numba compile the very function that it is for."""
    overload: bool = False
    """Whether its functions return what is compiled."""
    flagged: bool = False
    """Whether what it calls is compiled with its own options."""
    looks: bool = False
    """Whether it receives the code that is compiled, with its lines and names."""
    place: str = ""
    """A name shared with others, of which numba chooses one by the order of registration."""

    @property
    def plain(self) -> bool:
        """Report whether it only says that a function may be called as it is."""
        return self.itself and not self.flagged


class Registered:
    """All registrations that are not numba's own, by what they are for; each is read once."""

    def __init__(self) -> None:
        self.by_key: dict[int, list[Entry]] = {}
        """Registrations for a function or a type, by its address."""
        self.everywhere: list[Entry] = []
        """Registrations for all code, or for an attribute, by name."""
        self.numbers: dict[int, int] = {}
        """The order in which registrations were found, by address."""
        self._seen: dict[int, int] = {}
        self._hold: list[Any] = []

    def refresh(self) -> None:
        """Read new registrations."""
        before = len(self.everywhere)
        for kind, rows in _tables():
            start = self._seen.get(id(rows), 0)
            if len(rows) == start:
                continue
            if id(rows) not in self._seen:
                self._hold.append(rows)
            self._seen[id(rows)] = len(rows)
            for row in list(rows.items())[start:] if isinstance(rows, Mapping) else rows[start:]:
                entry = _MAKERS[kind](row)
                if entry is not None:
                    self._add(entry)
        if len(self.everywhere) != before:
            self.everywhere.sort(key=lambda entry: (entry.place or entry.label, self.numbers[id(entry)]))

    def _add(self, entry: Entry) -> None:
        self.numbers.setdefault(id(entry), len(self.numbers))
        if not entry.keys:
            self.everywhere.append(entry)
        for key in entry.keys:
            self.by_key.setdefault(id(key), []).append(entry)

    def is_overloaded(self, function: Any) -> bool:
        """Report whether numba compiles something else in place of a Python function."""
        return any(entry.attribute is None and not entry.itself for entry in self.by_key.get(id(function), ()))


def _tables() -> Iterator[tuple[str, Any]]:
    from numba.core.datamodel.registry import default_manager
    from numba.core.pythonapi import _boxers, _reflectors, _unboxers
    from numba.core.rewrites import rewrite_registry
    from numba.core.typing.typeof import typeof_impl

    templates, lowering = _contexts.registries()
    for registry in templates:
        yield "template", registry.functions
        yield "template", registry.attributes
        yield "global", registry.globals
    for registry in lowering:
        yield "lowered", registry.functions
        yield "attribute", registry.getattrs
        yield "attribute", registry.setattrs
        yield "cast", registry.casts
        yield "cast", registry.constants
    yield "model", default_manager._handlers
    for table in (_boxers, _unboxers, _reflectors):
        yield "model", table.functions
    yield "model", typeof_impl.registry
    for rewrites in rewrite_registry.rewrites.values():
        yield "rewrite", rewrites
    yield "conversion", RULES
    for _, table in extensions():
        yield "extension", table


def extensions() -> Iterator[tuple[str, Any]]:
    """Yield the tables, by name, of how compiler passes treat code that numba itself does not know."""
    from numba.core.registry import cpu_target

    for module in _EXTENDED:
        for name, table in list(vars(sys.modules.get(module, builtins)).items()):
            if is_extended(name) and isinstance(table, (dict, list)):
                yield f"{module}.{name}", table
    lowering = getattr(cpu_target.target_context, "lower_extensions", None)
    if lowering is not None:
        yield "cpu_target.target_context.lower_extensions", lowering


_EXTENDED = (
    "numba.core.ir_utils",
    "numba.core.analysis",
    "numba.core.postproc",
    "numba.core.typeinfer",
    "numba.parfors.array_analysis",
)


def is_extended(name: str) -> bool:
    """Report whether a name is that of one of numba's tables of extensions."""
    return name.endswith("_extensions") or name.startswith("ir_extension_") or name == "remove_call_handlers"


@lru_cache(8192)  # most belong to a registry's functions and also to its globals
def _template(cls: Any) -> Entry | None:
    own = vars(cls)
    made = [own[name] for name in ("_overload_func", "_definition_func") if name in own]
    made = [getattr(f, "__func__", f) for f in made]
    key = getattr(cls, "key", None)
    if not made:
        closures = _closures(cls) if is_programs(key) else ()
        if not closures and not _is_others(cls):
            return None
        place = _place("template", key, own.get("_attr"))
        return Entry(_label("template", [cls], key), (cls, *closures), _keys(key), own.get("_attr"), place=place)
    if all(is_numbas(f) and not _touches(f) for f in made):
        return None
    label, options = _label("template", made, key), _options(cls)
    looks = callable(options["_inline"])
    flagged = not options["_jit_options"].keys() <= {"nopython", "no_cpython_wrapper"}
    attribute, keys = own.get("_attr"), _keys(key)
    place = _place("template", key, attribute)
    if any(_is_itself(f, key) for f in made):
        return Entry(label, (options,), keys, None, itself=True, flagged=flagged, looks=looks, place=place)
    return Entry(label, (*made, options), keys, attribute, False, "_overload_func" in own, flagged, looks, place)


def _options(cls: Any) -> dict[str, Any]:
    """Return how numba compiles a template's function, and when it chooses it."""
    found = {name: getattr(cls, name, None) for name in ("_strict", "prefer_literal", "metadata")}
    found["_jit_options"] = dict(getattr(cls, "_jit_options", None) or {})
    found["_inline"] = getattr(getattr(cls, "_inline", None), "value", None)
    return found


def _is_itself(made: Any, key: Any) -> bool:
    """Report whether it is the result of `register_jitable`: numba's own, which only names a function."""
    return is_numbas(made) and any(cell is key for cell in _held(made))


def _rewrite(cls: Any) -> Entry | None:
    return None if is_numbas(cls) else Entry(_label("rewrite", [cls], None), (cls,), (), None, looks=True)


def _conversion(row: Rule) -> Entry:
    """Return the entry of an implicit conversion from one type to another."""
    *kinds, how = row
    label = " ".join(f"{_class(kind).__module__}.{_class(kind).__qualname__} {kind}" for kind in kinds)
    keys = tuple(_class(kind) for kind in kinds if not is_numbas(_class(kind)))
    return Entry(f"conversion {ADDRESS.sub('...', label)} {how}", (), keys, None)


def _extension(row: Any) -> Entry | None:
    """Return the entry of a compiler pass for a kind of code, or of one that sees all calls."""
    kind, made = row if isinstance(row, tuple) else (None, row)
    if is_numbas(made):
        return None
    key = kind if isinstance(kind, type) or not fixed(kind) else repr(kind)
    return Entry(_label("extension", [made], key), (made,), (), None, looks=True)


def _global(row: tuple[Any, Any]) -> Entry | None:
    """Return the entry for the type of a global that numba knows: its templates."""
    value, kind = row
    templates = getattr(kind, "templates", None)
    if not templates:
        return None
    entries = [entry for cls in templates if (entry := _template(cls)) is not None]
    if not entries:
        return None
    parts = tuple(part for entry in entries for part in entry.parts)
    itself = all(entry.itself for entry in entries)
    flagged = any(entry.flagged for entry in entries)
    overload = all(entry.overload for entry in entries)
    looks = any(entry.looks for entry in entries)
    label, place = _label("global", parts, value), _place("global", value, None)
    return Entry(label, parts, _keys(value), None, itself, overload, flagged, looks, place) if parts else None


def _lowered(row: tuple[Any, Any, Any]) -> Entry | None:
    made, key, signature = row
    if _is_numbas_alone(made, key, *signature):
        return None
    return Entry(_label("lowered", [made], key), (made,), _keys(key), None, place=_place("lowered", key, None))


def _attribute(row: tuple[Any, Any, Any]) -> Entry | None:
    made, attribute, signature = row
    if is_numbas(made) and not _captures(made):
        return None
    keys = tuple(kind for kind in signature[:1] if not is_numbas(_class(kind)))
    place = _place("attribute", None, attribute)
    return Entry(_label("attribute", [made], attribute), (made,), keys, attribute, place=place)


def _cast(row: tuple[Any, Any]) -> Entry | None:
    made, signature = row
    if _is_numbas_alone(made, *signature):
        return None
    return Entry(_label("cast", [made], ""), (made,), tuple(s for s in signature if not is_numbas(_class(s))), None)


def _model(row: tuple[Any, Any]) -> Entry | None:
    """Return the entry of a data model, a boxing, an unboxing, or the type of a Python class."""
    kind, made = row
    known = is_numbas(kind) or _is_known(kind.__module__) or kind.__module__.partition(".")[0] == "numpy"
    if known and is_numbas(made):
        return None
    return Entry(_label("model", [made], kind), (made,), () if known else (kind,), None)


_MAKERS: dict[str, Any] = {
    "template": _template,
    "global": _global,
    "lowered": _lowered,
    "attribute": _attribute,
    "cast": _cast,
    "model": _model,
    "rewrite": _rewrite,
    "extension": _extension,
    "conversion": _conversion,
}


def _class(kind: Any) -> Any:
    return kind if isinstance(kind, type) else type(kind)


def _keys(key: Any) -> tuple[Any, ...]:
    """Return what must be reached; nothing for operators and builtins, which any code may use."""
    if key is None or isinstance(key, str) or getattr(key, "__module__", None) in _EVERYWHERE:
        return ()
    if isinstance(key, type) and is_numbas(key):
        return ()
    return (key,)


_EVERYWHERE = ("builtins", "operator", "_operator", operator.__name__)


def _label(kind: str, made: Any, key: Any) -> str:
    names = [f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', type(f).__qualname__)}" for f in made]
    return f"{_place(kind, key, None)} {' '.join(names)}"


def _place(kind: str, key: Any, attribute: str | None) -> str:
    named = f"{getattr(key, '__module__', '')}.{getattr(key, '__qualname__', key if isinstance(key, str) else '')}"
    return f"{kind} {named}" if attribute is None else f"{kind} {named} {attribute}"


def is_numbas(value: Any) -> bool:
    """Report whether a function or class, with all its bases, belongs to numba, which is identified as a whole."""
    if isinstance(value, pytypes.FunctionType):
        return _is_numbas_module(value.__globals__.get("__name__", ""))
    if isinstance(value, type):
        modules = [base.__module__ for base in value.__mro__]  # "abc" is that of classes that numba creates at run time
        return any(map(_is_numbas_module, modules)) and all(map(_is_known, modules))
    return _is_numbas_module(getattr(value, "__module__", None) or "")


@lru_cache(4096)
def _is_numbas_module(name: str) -> bool:
    return name.partition(".")[0] in ("numba", "llvmlite")


@lru_cache(4096)
def _is_known(module: str) -> bool:
    """Report whether a module is numba's or Python's."""
    return _is_numbas_module(module) or distribution.of_module(module) is distribution.PYTHON


def _is_others(cls: type) -> bool:
    """Report whether a class is not numba's, or has functions that hold what is not."""
    functions = (m for m in vars(cls).values() if isinstance(m, pytypes.FunctionType))
    return not is_numbas(cls) or any(not is_numbas(f) or _touches(f) for f in functions)


def is_programs(value: Any) -> bool:
    """Report whether a function, a class, or the class of a type belongs to the program or another library."""
    if isinstance(value, str) or value is None:
        return False
    module = getattr(value, "__module__", None) if callable(value) else None
    module = module if isinstance(module, str) else type(value).__module__
    return module.partition(".")[0] != "numpy" and not _is_known(module)


def _is_numbas_alone(made: Any, *whom: Any) -> bool:
    """Report whether a function is numba's, and holds nothing declared for other objects."""
    if not is_numbas(made) or _touches(made):
        return False
    return not _captures(made) or not any(map(is_programs, whom))


def _captures(made: Any, depth: int = 0) -> bool:
    """Report whether a function of numba holds a value that is not code, or code that is not numba's."""
    if not isinstance(made, pytypes.FunctionType) or made.__closure__ is None or depth > 4:
        return False
    for held in _held(made):
        code = isinstance(held, (pytypes.FunctionType, type))
        if not code or not is_numbas(held) or _captures(held, depth + 1):
            return True
    return False


def _closures(cls: type) -> tuple[Any, ...]:
    """Return the methods of a class of numba that was created for a type, with the values that they hold."""
    methods = (m for _, m in sorted(vars(cls).items()) if isinstance(m, pytypes.FunctionType))
    return tuple(m for m in methods if _captures(m))


def _held(function: Any) -> Iterator[Any]:
    """Yield the captured values of a function."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _touches(value: Any, depth: int = 0) -> bool:
    """Report whether a function that numba created holds something that is not numba's."""
    if not isinstance(value, pytypes.FunctionType) or value.__closure__ is None or depth > 4:
        return False
    for held in _held(value):
        if isinstance(held, pytypes.FunctionType):
            if not is_numbas(held) or _touches(held, depth + 1):
                return True
        elif isinstance(held, type) and not is_numbas(held) and distribution.of_module(held.__module__) is None:
            return True
    return False
