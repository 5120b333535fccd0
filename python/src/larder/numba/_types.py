"""Encode numba's types."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ._errors import Refused
from ._kinds import home

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}|#[0-9a-fA-F]{8,}")
"""The parts of a type's name that are valid only in this process."""


class TypeWriter:
    """Writes types of numba: their classes, names and the content of their keys.

    `out` receives bytes. `value` is called with the values that types are built from, and `code` with
    classes of types, whose methods numba calls while it compiles. `state` is called with types of such
    classes, for the values that they hold.
    """

    def __init__(
        self,
        path: str,
        out: Callable[[bytes], None],
        value: Callable[[Any], None],
        code: Callable[[Any, str], None],
        state: Callable[[Any], None],
    ):
        self.path, self.out, self.value, self.code, self.state = path, out, value, code, state

    def add(self, kind: Any) -> None:
        """Append a type, or refuse one whose name is not valid in another process."""
        from numba.core import types

        cls = type(kind)
        name = str(kind.name)
        self.out(f"type {home(cls.__module__)}.{cls.__qualname__} ".encode())
        if isinstance(kind, types.Dispatcher):
            raise Refused(self.path, "a compiled function is an argument or a result, which no other process has")
        if isinstance(kind, (types.ClassInstanceType, types.ClassType)):
            raise Refused(self.path, "an object of a class of jitclass, which numba does not keep")
        if not cls.__module__.startswith("numba."):
            self.code(cls, self.path)
            self.state(kind)
        if isinstance(kind, types.Omitted):
            self.value(kind.value)
            return
        if ADDRESS.search(name):
            raise Refused(self.path, f"the type {ADDRESS.sub('...', name)}, whose name holds in this process alone")
        self.out(b"%d:%b" % (len(name), name.encode()))
        if isinstance(kind, types.Record):
            self.out(repr(list(kind.fields)).encode())  # a field may have a name that looks like two
        self.key(kind.key, 0)

    def key(self, key: Any, depth: int) -> None:
        """Append the content of a type's key."""
        from numba.core import types

        if depth > 64:
            raise Refused(self.path, "a type that is nested too deeply")
        if isinstance(key, types.Type):
            self.add(key)
        elif isinstance(key, (tuple, list)):
            self.out(b"(%d;" % len(key))
            for part in key:
                self.key(part, depth + 1)
        elif isinstance(key, (set, frozenset)):
            self.out(repr(sorted(map(str, key))).encode())
        else:
            self.value(key)


def same(one: Any, other: Any) -> bool:
    """Report whether types are equal, or differ only in default values that do not equal themselves, such as NaN."""
    from numba.core import types

    return bool(one == other) or (
        isinstance(one, types.Omitted) and isinstance(other, types.Omitted) and str(one) == str(other)
    )


def holds_functions(kind: Any) -> bool:
    """Report whether a type is, or contains, functions of this process: generators do, which resume in them."""
    from numba.core import types

    if isinstance(kind, (types.Dispatcher, types.Generator, types.ClassInstanceType, types.ClassType)):
        return True
    key = getattr(kind, "key", None)
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, types.Type) and part is not kind and holds_functions(part) for part in parts)
