"""Describe functions of the program as flow parameters by which a worker imports them."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

from .. import _worker


def parameters(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the mapper python for a function, and for its setup if given.

    Raises TypeError for a function that another process cannot import.
    """
    folders: list[str] = []
    named = {"function": _named(function, folders), **given}
    if callable(given.get("setup")):
        named["setup"] = _named(given["setup"], folders)
    path = [*dict.fromkeys(folders), *(given.get("path") or [])]
    return {**named, "path": path} if path else named


def _named(function: Callable[..., Any], folders: list[str]) -> str:
    """Return the name by which a function is imported, and add the directory of its module."""
    name = getattr(function, "__qualname__", None)
    module = getattr(function, "__module__", None)
    if isinstance(function, types.MethodType) and not isinstance(function.__self__, type):
        raise TypeError(
            f"{name} is bound to an object, which no other process has: give a function, and what it needs by setup"
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
    folder = _folder(module)
    if folder is not None:
        folders.append(folder)
    return f"{module}:{name}"


def _folder(module: str) -> str | None:
    """Return the directory in which a module is found, unless distributions are installed there."""
    first = sys.modules.get(module.partition(".")[0])
    file = getattr(first, "__file__", None)
    if not isinstance(file, str) or _worker.installed(file):
        return None
    folder = os.path.dirname(os.path.abspath(file))
    return os.path.dirname(folder) if hasattr(first, "__path__") else folder
