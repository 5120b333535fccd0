"""Check cheaply whether all names still have the same meaning."""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Mapping, Sized
from operator import attrgetter, is_, itemgetter
from types import CellType, FunctionType
from typing import Any

_code = attrgetter("__code__")
_defaults = attrgetter("__defaults__")
_kwdefaults = attrgetter("__kwdefaults__")
_mro = attrgetter("__mro__")
_contents = attrgetter("cell_contents")


class Guards:
    """Guards on name spaces, functions, cells and classes.

    `hold` reports whether everything is unchanged. Values are compared by identity and not by
    equality: 1 is equal to True.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        self._missing: dict[int, tuple[Mapping[str, Any], set[str]]] = {}
        self._whole: dict[int, Mapping[Any, Any]] = {}
        self._functions: list[FunctionType] = []
        self._cells: list[tuple[CellType, Any]] = []
        self._empty: list[CellType] = []
        self._classes: list[type] = []
        self._sizes: list[tuple[Sized, int]] = []
        self._attributes: list[tuple[Any, str, Any]] = []
        self._registers = False

    def name(self, space: Mapping[str, Any], name: str, value: Any) -> None:
        """Watch a name of a name space."""
        self._names.setdefault(id(space), (space, {}))[1][name] = value

    def missing(self, space: Mapping[str, Any], name: str) -> None:
        """Watch that a name space does not get a name."""
        self._missing.setdefault(id(space), (space, set()))[1].add(name)

    def watch_mapping(self, space: Mapping[Any, Any]) -> None:
        """Watch all names of a name space, and that there are no others."""
        self._whole[id(space)] = space

    def function(self, function: FunctionType) -> None:
        """Watch the code and the defaults of a function."""
        self._functions.append(function)

    def cell(self, cell: CellType, held: Any) -> None:
        """Watch a variable that functions share."""
        self._cells.append((cell, held))

    def unset(self, cell: CellType) -> None:
        """Watch that an unset variable that functions share stays unset."""
        self._empty.append(cell)

    def bases(self, cls: type) -> None:
        """Watch the bases of a class."""
        self._classes.append(cls)

    def attribute(self, holder: Any, name: str, value: Any) -> None:
        """Watch an attribute of a module, a class or an object."""
        self._attributes.append((holder, name, value))

    def size(self, space: Sized) -> None:
        """Watch the number of entries of a name space or a list."""
        self._sizes.append((space, len(space)))

    def registers(self) -> None:
        """Watch the classes registered with abstract classes."""
        self._registers = True

    def sealed(self) -> Callable[[], bool]:
        """Return a function that reports whether everything is unchanged."""
        spaces = [(_getter(seen), space, tuple(seen.values())) for space, seen in self._names.values()]
        wholes = []
        empty: list[Mapping[Any, Any]] = []
        for space in self._whole.values():
            seen = dict(space)
            if not seen:
                empty.append(space)
            else:
                wholes.append((_getter(seen), space, tuple(seen.values()), len(seen)))
        missing = [(space.keys(), frozenset(names)) for space, names in self._missing.values()]
        functions = tuple(self._functions)
        of_functions = [
            (get, functions, tuple(map(get, functions))) for get in (_code, _defaults, _kwdefaults) if functions
        ]
        cells, held = [c for c, _ in self._cells], [v for _, v in self._cells]
        unset = tuple(self._empty)
        classes = tuple(self._classes)
        mros = tuple(map(_mro, classes))

        sizes = tuple(self._sizes)
        holders, attributes, had = tuple(zip(*self._attributes, strict=True)) if self._attributes else ((), (), ())
        token = get_cache_token() if self._registers else None

        def hold() -> bool:
            try:
                if token is not None and get_cache_token() != token:
                    return False
                for names, space, values in spaces:
                    if not all(map(is_, names(space), values)):
                        return False
                for get, things, values in of_functions:
                    if not all(map(is_, map(get, things), values)):
                        return False
                for keys, absent in missing:
                    if not keys.isdisjoint(absent):
                        return False
                for names, space, values, size in wholes:
                    if len(space) != size or not all(map(is_, names(space), values)):
                        return False
                if any(len(space) != size for space, size in sizes):
                    return False
                if holders and not all(map(is_, map(getattr, holders, attributes), had)):
                    return False
                if any(empty):
                    return False
                if unset and not all(map(_is_unset, unset)):
                    return False
                if cells and not all(map(is_, map(_contents, cells), held)):
                    return False
                return not classes or all(map(is_, map(_mro, classes), mros))
            except (AttributeError, KeyError, ValueError):
                return False

        return hold


def _is_unset(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _getter(seen: Mapping[Any, Any]) -> Callable[[Any], tuple[Any, ...]]:
    names = list(seen)
    if len(names) == 1:
        # Named twice, as a single name would not give a tuple.
        return itemgetter(names[0], names[0])
    return itemgetter(*names)
