"""Describe functions of the program as flow parameters by which a worker imports them."""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .. import _worker


def mapper(function: Callable[..., Any], given: dict[str, Any], also: Collection[str]) -> dict[str, Any]:
    """Return the parameters of the mapper python for a function; `also` are those that are given elsewhere.

    By default its items are the parameters of the function that have no default value and no
    other argument, and the item that it makes has the function's name.
    """
    named = parameters(function, given)
    if "items" not in named and "items" not in also:
        named["items"] = _items(function, given)
    if "into" not in named and "into" not in also:
        named["into"] = [function.__name__]
    return named


def _items(function: Callable[..., Any], given: dict[str, Any]) -> list[str]:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(f"items: {function.__qualname__} has no signature; give items=[...]") from None
    for name in ("args", "files"):
        if given.get(name) is not None and not isinstance(given[name], Mapping):
            raise TypeError(f"items: unknown, because {name} is not a dict; give items=[...]")
    passed = {**(given.get("args") or {}), **(given.get("files") or {})}
    positional = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = positional[1:] if given.get("setup") is not None else positional  # the first one gets the value of setup
    return [p.name for p in own if p.default is p.empty and p.name not in passed]


def parameters(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the mapper python for a function, and for its setup if given.

    Raises TypeError for a function that another process cannot import.
    """
    directories: list[str] = []
    named = {"function": _named(function, directories), **given}
    if callable(given.get("setup")):
        named["setup"] = _named(given["setup"], directories)
    path = [*dict.fromkeys(directories), *(given.get("path") or [])]
    return {**named, "path": path} if path else named


def _named(function: Callable[..., Any], directories: list[str]) -> str:
    """Return the name by which a function is imported, and add the directory of its module."""
    name = getattr(function, "__qualname__", None)
    module = getattr(function, "__module__", None)
    if isinstance(function, types.MethodType) and not isinstance(function.__self__, type):
        raise TypeError(
            f"{name} is bound to an object of this process; pass a function, and create the object in setup"
        )
    if not isinstance(name, str) or not isinstance(module, str):
        raise TypeError(f"{function!r} is not a function that another process can import; give one of a module")
    if "<" in name:
        raise TypeError(
            f"{name} is made in a function, where no other process finds it; write it into a module, or the script"
        )
    if module == "__main__":
        file = getattr(sys.modules["__main__"], "__file__", None)
        if not isinstance(file, str) or not os.path.isfile(file):
            raise TypeError(
                f"{name} was typed in, and is in no file that another process can import; write it into a module"
            )
        return f"{os.path.abspath(file)}:{name}"
    directory = _directory_of(module)
    if directory is not None:
        directories.append(directory)
    return f"{module}:{name}"


def _directory_of(module: str) -> str | None:
    """Return the directory in which a module is found, unless distributions are installed there."""
    first = sys.modules.get(module.partition(".")[0])
    file = getattr(first, "__file__", None)
    if not isinstance(file, str) or _worker.installed(file):
        return None
    directory = os.path.dirname(os.path.abspath(file))
    return os.path.dirname(directory) if hasattr(first, "__path__") else directory
