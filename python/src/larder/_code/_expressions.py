"""Names in strings that libraries evaluate with the variables of their caller."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

NAME = re.compile(r"[A-Za-z_][\w.]*")
VARIABLE = re.compile(r"(?<=@)[A-Za-z_][\w.]*")
"""A variable where other names are columns, as in `DataFrame.query`."""


def names_in(values: Iterable[Any], named: re.Pattern[str]) -> list[list[str]]:
    """Return the names in all strings of values and their items, sorted, each with its attributes."""
    found = {name.rstrip(".") for text in _texts(values, 3) for name in named.findall(text)}
    return [name.split(".") for name in sorted(found)]


def _texts(values: Iterable[Any], depth: int) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif depth > 0 and isinstance(value, (tuple, list, set, frozenset)):
            yield from _texts(value, depth - 1)
        elif depth > 0 and isinstance(value, dict):
            yield from _texts(value.values(), depth - 1)
