"""Distinguish functions with a version from others of the same name, wherever the program lies.

This includes no path of this machine if the function's distribution, package or project has a
name.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import tomllib
import types
from hashlib import sha256
from typing import Any

from .. import distribution
from ..immutable import fixed
from ..library import shown_module
from ..values.encoder import Encoder
from . import bytecode

_DEEP = 100


def operation(function: Any) -> str:
    """Return the name of a function with its module; a script is named by its file."""
    inner = function
    for _ in range(_DEEP):  # an object may answer to any name without end
        if hasattr(inner, "__qualname__"):
            break
        following = getattr(inner, "func", None) or getattr(inner, "__wrapped__", None)
        if following is None:
            break
        inner = following
    if not isinstance(getattr(inner, "__qualname__", None), str):
        inner = type(inner)
    return f"{shown_module(getattr(inner, '__module__', None) or '')}.{inner.__qualname__}".lstrip(".")


def of_version(function: Any, version: str) -> bytes:
    """Return the identity of a function with a version."""
    e = Encoder(_no_code)
    e.add(("version", operation(function), *place(function), version))
    return b"".join(e.out)


def place(function: Any) -> tuple[Any, ...]:
    """Return what distinguishes a function with a version from others with its name and version."""
    given: list[Any] = []
    inner = function
    while isinstance(inner, functools.partial):
        given += [inner.args, inner.keywords]
        inner = inner.func
    inner = inspect.unwrap(getattr(inner, "__func__", inner))
    code = getattr(inner, "__code__", None)
    found = _of_module(getattr(inner, "__module__", None) or "")
    if code is None:
        return (*found, *_fixed(given))
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    # Many nested functions and lambdas share a name, and a notebook has no location.
    if found and "<" not in getattr(inner, "__qualname__", "<"):
        return (*found, parameters, *_fixed(given))
    held = zip(code.co_freevars, inner.__closure__ or (), strict=True)
    e = Encoder(_no_code)
    e.add([(name, cell.cell_contents) for name, cell in held if _is_fixed(cell)])
    return (*found, sha256(bytecode.content(code) + b"".join(e.out)).hexdigest(), *_fixed(given))


def _of_module(name: str) -> tuple[str, ...]:
    """Return the origin of a module: a distribution, package or project, or else its file."""
    owner = distribution.of_module(name)
    if owner is not None:
        return ("distribution", owner.name, name)
    module = sys.modules.get(name)
    file = distribution.said(module, "__file__")
    if not isinstance(file, str):  # of a notebook, or created at run time
        return () if name == "__main__" else ("module", name)
    spec: Any = distribution.said(module, "__spec__")
    if name == "__main__" and spec is not None and spec.parent:  # python -m package.module
        name = spec.name
    file = os.path.realpath(file)
    project, directory = _project(os.path.dirname(file))
    if "." in name or distribution.said(module, "__path__") is not None:
        return ("package", project, name)
    if project:
        return ("project", project, os.path.relpath(file, directory).replace(os.sep, "/"))
    return ("file", file)


@functools.lru_cache(1024)
def _project(directory: str) -> tuple[str, str]:
    """Return the name and location of the project of a directory; both are empty if there is none."""
    try:
        with open(os.path.join(directory, "pyproject.toml"), "rb") as file:
            name = tomllib.load(file).get("project", {}).get("name")
        if isinstance(name, str) and name:
            return name, directory
    except (OSError, ValueError, AttributeError):  # it does not exist, or names nothing
        pass
    parent = os.path.dirname(directory)
    return ("", "") if parent == directory else _project(parent)


def _fixed(values: list[Any]) -> list[Any]:
    """Return the arguments that were bound in advance and are immutable."""
    found = []
    for value in values:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        found += [(at, one) for at, one in pairs if fixed(one)]
    return found


def _is_fixed(cell: types.CellType) -> bool:
    """Report whether a captured variable is immutable, so that it distinguishes functions of a factory."""
    try:
        return fixed(cell.cell_contents)
    except ValueError:  # not set yet
        return False


def _no_code(value: Any) -> bytes:
    raise TypeError(f"a version of {type(value)}")
