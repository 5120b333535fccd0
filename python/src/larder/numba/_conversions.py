"""Record the type conversions that the program declared, which decide what numba chooses to call.

numba's table of rules answers for two types, not for all, and numba adds to it while it
compiles. So earlier rules are found by asking for all types that have any, and later rules
are recorded when they are declared.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any

Rule = tuple[Any, Any, str]
"""A source type, a target type, and the kind: "promote", "safe" or "unsafe"."""

RULES: list[Rule] = []
"""The rules that are not numba's own, in the order in which they were found or declared."""

_ADDING = "numba.core.typing.context"
"""The module that adds rules that follow from types themselves."""


_USUAL = "f531b26a15ded2a95281ab40a33f83bc"
"""The digest of numba's initial rules; computing them again takes longer than everything else."""


def hear() -> None:
    """Find the existing rules, and record each later one."""
    from numba.core.typeconv.rules import default_type_manager
    from numba.core.typeconv.typeconv import TypeManager

    rules = list(_rules(default_type_manager, default_type_manager._types))
    if _digest(rules) != _USUAL:
        usual = set(_of_numba(default_type_manager._types))
        RULES.extend(rule for rule in rules if rule not in usual)
    said = TypeManager.set_compatible

    def set_compatible(self: Any, one: Any, other: Any, by: Any) -> None:
        said(self, one, other, by)
        if sys._getframe(1).f_globals.get("__name__") != _ADDING:
            RULES.append((one, other, by.name))

    TypeManager.set_compatible = set_compatible


def _of_numba(kinds: set[Any]) -> Iterator[Rule]:
    """Yield the initial rules of numba among some types."""
    from numba.core.typeconv.rules import _init_casting_rules
    from numba.core.typeconv.typeconv import TypeManager

    usual = TypeManager()
    _init_casting_rules(usual)
    return _rules(usual, kinds)


def _rules(table: Any, kinds: set[Any]) -> Iterator[Rule]:
    """Yield the rules of a table among some types."""
    for one, other in product(_in_order(kinds), repeat=2):
        found = table.check_compatible(one, other)
        if found is not None and one != other:
            yield one, other, found.name


def _digest(rules: list[Rule]) -> str:
    return sha256("\n".join(sorted(f"{one} {other} {how}" for one, other, how in rules)).encode()).hexdigest()[:32]


def _in_order(kinds: set[Any]) -> list[Any]:
    return sorted(kinds, key=lambda kind: (type(kind).__module__, type(kind).__qualname__, str(kind)))
