"""Which types the program has declared to become which others: a rule decides what numba chooses to call.

numba's table of rules can be asked for two types and not for all, and numba adds to it as
it compiles. So what was said before is asked of all types that have any, and what is said
later is heard as it is said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any

Rule = tuple[Any, Any, str]
"""From which type, to which one, and how: "promote", "safe" or "unsafe"."""

RULES: list[Rule] = []
"""The rules that are not numba's own, in the order in which they were found or said."""

_ADDING = "numba.core.typing.context"
"""What notes in the table what follows from types by themselves."""


_USUAL = "f531b26a15ded2a95281ab40a33f83bc"
"""The digest of the rules that numba begins with: to make these again takes longer than all the rest."""


def hear() -> None:
    """Find the rules that there are, and hear of each that is said from now on."""
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
    """Return the rules among some types that numba begins with."""
    from numba.core.typeconv.rules import _init_casting_rules
    from numba.core.typeconv.typeconv import TypeManager

    usual = TypeManager()
    _init_casting_rules(usual)
    return _rules(usual, kinds)


def _rules(table: Any, kinds: set[Any]) -> Iterator[Rule]:
    """Yield the rules among some types that a table has."""
    for one, other in product(_in_order(kinds), repeat=2):
        found = table.check_compatible(one, other)
        if found is not None and one != other:
            yield one, other, found.name


def _digest(rules: list[Rule]) -> str:
    return sha256("\n".join(sorted(f"{one} {other} {how}" for one, other, how in rules)).encode()).hexdigest()[:32]


def _in_order(kinds: set[Any]) -> list[Any]:
    return sorted(kinds, key=lambda kind: (type(kind).__module__, type(kind).__qualname__, str(kind)))
