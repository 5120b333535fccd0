"""Find the program's functions in registries of libraries that are not listed elsewhere."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

from .. import distribution
from . import patches

_MOST = 4096  # containers with more entries are data


class Registries:
    """The containers of the modules and classes of a package that may hold functions."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._lock = threading.Lock()
        self._loaded = 0
        self._seen: set[str] = set()
        self._containers: dict[str, Any] = {}
        self._known: set[int] = set()
        self._sizes: list[int] = []
        self._used: list[str] = []

    def used(self) -> list[str]:
        """Return the paths of those that hold functions, classes or objects of the program."""
        with self._lock:
            if self._loaded != len(sys.modules):
                self._loaded = len(sys.modules)
                self._find()
            sizes = list(map(len, self._containers.values()))
            if sizes != self._sizes:  # a replaced function is noticed where one was found
                self._sizes = sizes
                self._used = [path for path, held in self._containers.items() if self._is_used(held)]
            return self._used

    def _is_used(self, held: Any) -> bool:
        entries = held.values() if isinstance(held, dict) else held
        return any(of_program(one, self._package) for one in list(entries))

    def _find(self) -> None:
        prefix = f"{self._package}."
        names = [name for name in list(sys.modules) if name == self._package or name.startswith(prefix)]
        for name in names:
            module = sys.modules.get(name)
            if name not in self._seen and isinstance(module, types.ModuleType):
                self._seen.add(name)
                for path, held in _containers(module, self._package):
                    if id(held) not in self._known:
                        self._known.add(id(held))
                        self._containers[path] = held


def _containers(module: types.ModuleType, package: str) -> Iterator[tuple[str, Any]]:
    """Yield the lists and mappings of a module, of its classes and of its objects, by path."""
    for name, value in list(vars(module).items()):
        path = f"{module.__name__}.{name}"
        if name.startswith("__"):
            continue
        if _may_register(value):
            yield path, value
            continue
        cls = value if isinstance(value, type) else type(value)
        if str(getattr(cls, "__module__", "")).partition(".")[0] != package or (
            cls is value and cls.__module__ != module.__name__
        ):
            continue
        for inner, held in list(getattr(value, "__dict__", {}).items()):
            if not inner.startswith("__") and _may_register(held):
                yield f"{path}.{inner}", held


def _may_register(value: Any) -> bool:
    """Report whether a value is a list or mapping of functions, classes or objects, or is still empty."""
    if not isinstance(value, (dict, list)) or len(value) > _MOST:
        return False
    if not value:
        return True
    last = next(reversed(value.values())) if isinstance(value, dict) else value[-1]
    return not isinstance(last, (str, bytes, int, float, type(None), types.ModuleType))


def of_program(value: Any, package: str) -> list[Any]:
    """Return the same as `_patches.of_program`, for objects that certainly belong to a module of the program.

    Compiled code and code created by `exec` have no module, or a wrong one.
    """
    parts = patches.of_program(value, package)
    return parts if any(_is_certain(part) for part in parts) else []


def _is_certain(part: Any) -> bool:
    module = getattr(part, "__module__", None)
    return isinstance(module, str) and module in sys.modules and distribution.of_module(module) is None


_known: dict[str, Registries] = {}


def of_package(package: str) -> list[str]:
    """Return the paths where a package of another distribution holds objects of the program, if it is not listed."""
    module = sys.modules.get(package)
    if module is None or distribution.of_module(package) in (None, distribution.PYTHON, distribution.LARDER):
        return []
    return _known.setdefault(package, Registries(package)).used()
