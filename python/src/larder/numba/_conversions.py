"""Which types the program has declared to become which others: a rule decides what numba chooses to call.

numba's table of rules can be asked for two types and not for all, and numba adds to it as
it compiles. So what was said before is asked of all types that have any, and what is said
later is heard as it is said.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

Rule = tuple[Any, Any, str]
"""From which type, to which one, and how: "promote", "safe" or "unsafe"."""

RULES: list[Rule] = []
"""The rules that are not numba's own, in the order in which they were found or said."""

_ADDING = "numba.core.typing.context"
"""What notes in the table what follows from types by themselves."""


def hear() -> None:
    """Find the rules that there are, and hear of each that is said from now on."""
    from numba.core.typeconv.rules import _init_casting_rules, default_type_manager
    from numba.core.typeconv.typeconv import TypeManager

    usual = TypeManager()
    _init_casting_rules(usual)
    for one, other in product(_in_order(default_type_manager._types), repeat=2):
        found = default_type_manager.check_compatible(one, other)
        if found is not None and one != other and found != usual.check_compatible(one, other):
            RULES.append((one, other, found.name))
    said = TypeManager.set_compatible

    def set_compatible(self: Any, one: Any, other: Any, by: Any) -> None:
        said(self, one, other, by)
        if sys._getframe(1).f_globals.get("__name__") != _ADDING:
            RULES.append((one, other, by.name))

    TypeManager.set_compatible = set_compatible


def _in_order(kinds: set[Any]) -> list[Any]:
    return sorted(kinds, key=lambda kind: (type(kind).__module__, type(kind).__qualname__, str(kind)))
