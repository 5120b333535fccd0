"""Find names in strings that libraries evaluate with the variables of their caller."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterable
from typing import Any

from .. import distribution
from .node import Node
from .walker import Walker

NAME = re.compile(r"[A-Za-z_][\w.]*")
_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*){1,9}")
VARIABLE = re.compile(r"(?<=@)[A-Za-z_][\w.]*")
"""A variable in an expression whose other names are columns, as in `DataFrame.query`."""


def names_in(texts: Iterable[str], named: re.Pattern[str]) -> list[list[str]]:
    """Return the names in strings, sorted, each with its attributes."""
    found = {name.rstrip(".") for text in texts for name in named.findall(text)}
    return [name.split(".") for name in sorted(found)]


def texts(values: Iterable[Any], depth: int = 3) -> Iterable[str]:
    """Yield the strings of values, of their items and of the attributes of objects."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif depth > 0 and isinstance(value, (tuple, list, set, frozenset)):
            yield from texts(value, depth - 1)
        elif depth > 0 and isinstance(value, dict):
            yield from texts(value.values(), depth - 1)
        elif depth > 0 and not isinstance(value, (type, types.ModuleType)):
            yield from texts(getattr(value, "__dict__", {}).values(), depth - 1)


def of_path(text: str) -> Any:
    """Return the object at a path in a loaded module of the program, or None."""
    if not _PATH.fullmatch(text):
        return None
    parts = text.replace(":", ".").split(".")
    for count in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:count])
        if isinstance(sys.modules.get(name), types.ModuleType):
            return _of_module(name, parts[count:]) if distribution.of_module(name) is None else None
    return None


def _of_module(name: str, parts: list[str]) -> Any:
    found: Any = sys.modules[name]
    for part in parts:
        found = getattr(found, "__dict__", {}).get(part)
    return None if isinstance(found, types.ModuleType) else found


def follow_evaluated(walk: Walker) -> bool:
    """Follow names in evaluated strings, of any code and value, as strings are passed on.

    Report whether there is anything new.
    """
    if not walk.evaluating:
        return False
    before = len(walk.evaluated)
    found = walk.texts | set(texts([*walk.constants, *walk.roots]))
    for (at, named, by), follow in list(walk.evaluating.items()):
        if by and by.isdisjoint(found):
            continue
        for first, *rest in names_in(found, named):
            if (at, f"{first}.{rest}") not in walk.evaluated:
                walk.evaluated.add((at, f"{first}.{rest}"))
                follow(first, tuple(rest))
    return len(walk.evaluated) != before


def add_uncalled_paths(walk: Walker, node: Node) -> None:
    """Add the program's objects that strings name by path, as libraries import them by path (`ImportString`)."""
    for text in sorted(walk.texts | walk.strings):
        found = of_path(text)
        if found is not None:
            walk.uncalled.append((text, found, node))
