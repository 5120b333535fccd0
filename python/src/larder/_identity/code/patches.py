"""Find what a program registers in libraries and adds to their classes."""

from __future__ import annotations

import functools
import re
import sys
import threading
import types
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from .. import distribution
from ..immutable import fixed
from ..library import is_code, library_name
from ..wrapper import Wrapper
from .refusals import words

_CLASSES = {
    "fractions": ("fractions.Fraction",),
    "json": ("json.encoder.JSONEncoder", "json.decoder.JSONDecoder"),
    "networkx": ("networkx.Graph",),
    "pandas": (
        *("pandas.DataFrame", "pandas.Series", "pandas.Index"),
        *("pandas.core.base.PandasObject", "pandas.core.strings.accessor.StringMethods"),
        *("pandas.api.extensions.ExtensionArray", "pandas.Timestamp", "pandas.Timedelta"),
        *("pandas.core.groupby.SeriesGroupBy", "pandas.core.groupby.DataFrameGroupBy"),
        *("pandas.core.resample.Resampler", "pandas.core.window.rolling.BaseWindow"),
    ),
    "pathlib": ("pathlib.PurePath",),
    "PIL": ("PIL.Image.Image",),
    "polars": ("polars.DataFrame", "polars.LazyFrame", "polars.Series", "polars.Expr"),
    "sklearn": ("sklearn.base.BaseEstimator",),
    "torch": ("torch.Tensor", "torch.nn.Module", "torch.distributions.Distribution"),
    "xarray": ("xarray.DataArray", "xarray.Dataset"),
}
"""Classes to which programs add methods and accessors, which are called by name."""

_OPERATORS = frozenset(
    words(
        "__call__ __getattr__ __getattribute__ __getitem__ __setitem__ __len__ __iter__ __next__ __contains__ "
        "__bool__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ "
        "__pow__ __matmul__ __and__ __or__ __xor__ __invert__ __neg__ __abs__ __eq__ __ne__ __lt__ __le__ __gt__ "
        "__ge__ __hash__ __str__ __repr__ __format__ __enter__ __exit__ __float__ __int__ __index__ __array__ "
        "__fspath__ __iadd__ __isub__ __imul__ __itruediv__ __reversed__ __round__ __setattr__"
    )
)
"""Methods that code calls without naming them, in the main classes."""

_CALLED = frozenset(["forward"])
"""The same in all classes: the method that a call of a model calls."""

_HEAP = 1 << 9
_DEPTH = 3


@dataclass(slots=True, frozen=True)
class Patch:
    """What the program put into a class of a library under a name, with the parts to follow."""

    cls: type
    name: str
    value: Any
    parts: list[Any]

    @property
    def path(self) -> str:
        return f"{self.cls.__module__}.{self.cls.__qualname__}.{self.name}"


class Package:
    """The classes of a package: the listed ones, their bases, and their subclasses."""

    def __init__(self, package: str) -> None:
        self._listed = _CLASSES[package]
        self._lock = threading.Lock()
        self._modules = 0
        self._classes: list[type] = []
        self._main: list[type] = []
        self._spaces: list[Mapping[str, Any]] = []
        self._sizes: list[int] = []
        self._with: dict[str, list[type]] = {}
        self._known: dict[tuple[type, str], Patch] = {}

    def patches(self, names: AbstractSet[str] | None) -> list[Patch]:
        """Return what the program put there under some names, or without names, into the listed classes."""
        with self._lock:
            self._look()
            main, found = self._main, self._with
        if names is None:
            return self._changed((cls, name) for cls in main for name in list(vars(cls)))
        return self._changed((cls, name) for name in sorted(names & found.keys()) for cls in found[name])

    def unnamed(self) -> list[Patch]:
        """Return what the program put there that code calls without naming it."""
        return self.patches(_CALLED) + self._changed(
            (cls, name) for cls in self._main for name in sorted(_OPERATORS & vars(cls).keys())
        )

    def _look(self) -> None:
        """Find classes again if more modules are loaded, and their names if there are more."""
        if self._modules != len(sys.modules):
            self._modules = len(sys.modules)
            self._find()
        sizes = list(map(len, self._spaces))
        if sizes != self._sizes:
            found: dict[str, list[type]] = {}
            for cls in self._classes:
                for name in list(vars(cls)):
                    found.setdefault(name, []).append(cls)
            self._sizes, self._with = sizes, found

    def _find(self) -> None:
        listed = [cls for path in self._listed if isinstance(cls := _loaded(path), type)]
        every = dict.fromkeys(listed)
        for cls in listed:
            pending: list[type] = [cls]
            while pending:
                below: list[type] = type.__subclasses__(pending.pop())
                pending += set(below) - every.keys()
                every.update(dict.fromkeys(below))
        every.update(dict.fromkeys(base for cls in list(every) for base in cls.__mro__))
        before = set(self._classes)
        self._classes = [cls for cls in every if cls in before or _is_of_library(cls)]
        main = {base for cls in listed for base in cls.__mro__}
        self._main = [cls for cls in self._classes if cls in main]
        self._spaces = [vars(cls) for cls in self._classes]

    def _changed(self, named: Iterable[tuple[type, str]]) -> list[Patch]:
        found = []
        for at in named:
            cls, name = at
            value = vars(cls).get(name)
            known = self._known.get(at)
            if known is None or known.value is not value:
                own = name.startswith("_") and not is_code(value)  # of Python and of the library
                parts = [] if own else of_program(value, cls.__module__.partition(".")[0])
                known = self._known[at] = Patch(cls, name, value, parts)
            if known.parts:
                found.append(known)
        return sorted(found, key=lambda patch: patch.path)  # independent of the load order


def _is_of_library(cls: type) -> bool:
    return bool(cls.__flags__ & _HEAP) and library_name(cls)[1] is not None


LISTED = frozenset(["numpy", "scipy", *_CLASSES])
"""Packages for which the places of the program's functions are known."""

_PACKAGES = {package: Package(package) for package in _CLASSES}


def loaded() -> list[tuple[str, Package]]:
    """Return the loaded packages to whose classes programs add methods."""
    return [(name, package) for name, package in _PACKAGES.items() if name in sys.modules]


def _loaded(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return vars(sys.modules[module]).get(name) if module in sys.modules else None


def of_program(value: Any, package: str, depth: int = _DEPTH) -> list[Any]:
    """Return the program's functions, classes and objects in a package's container, and constants among them."""
    if fixed(value) or (_is_of_package(value, package) and not getattr(value, "__closure__", None)):
        return []
    if not _is_of_package(value, package) and is_of_program(value) and (depth == _DEPTH or not _is_hidden(value)):
        return [value]
    inside = _inside(value) if depth else []
    found = [part for one in inside for part in of_program(one, package, depth - 1)]
    return found + [one for one in inside if fixed(one)] if found else []


def _is_hidden(value: Any) -> bool:
    """Report whether an internal object belongs to a library: by its class, or as code without a module.

    Its module may not expose its class (`_json.Scanner`).
    """
    if is_code(value):
        return getattr(value, "__module__", None) not in sys.modules
    return distribution.of_module(type(value).__module__) is not None


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
        return [*cells, *(value.__defaults__ or ())]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, (type, types.ModuleType)):
        return []
    return list(getattr(value, "__dict__", {}).values())


def _is_of_package(value: Any, package: str) -> bool:
    name = value.__globals__.get("__name__") if isinstance(value, types.FunctionType) else None
    if isinstance(value, type):
        name = value.__module__
    return isinstance(name, str) and name.partition(".")[0] == package


def is_of_program(value: Any) -> bool:
    """Report whether an object in a library is a function, a class or an object of the program."""
    inner = getattr(value, "__func__", value) if type(value) in (staticmethod, classmethod, types.MethodType) else value
    if isinstance(inner, property):
        inner = inner.fget
    if isinstance(inner, Wrapper):
        return True
    if not is_code(inner):
        inner = type(inner)
    return library_name(inner)[1] is None and not str(getattr(inner, "__module__", "")).startswith("larder.")


def text(value: Any) -> str:
    """Return what distinguishes an entry of a registry, with code by its name."""
    if isinstance(value, re.Pattern):
        return f"{value.pattern!r} {value.flags}"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(text, value))})"
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"{getattr(value, '__module__', '')}.{name}"
    return repr(value) if fixed(value) else type(value).__qualname__
