"""Record the program's classes in results, and check whether they are unchanged."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._identity.code.identity import identity_of
from .._identity.immutable import FIXED
from .._results.writer import Writer
from ..errors import CodeError


@dataclass(frozen=True, slots=True)
class Class:
    """A class, by its name and the digest of its code."""

    module: str
    name: str
    digest: bytes
    doubted: bool
    """Whether a method may do what no key covers, so that it matters which methods are called."""

    @property
    def record(self) -> tuple[str, str, bytes]:
        """The part that is stored."""
        return self.module, self.name, self.digest


Classes = frozenset[Class]
NONE: Classes = frozenset()


def classes_of(value: Any) -> Classes | None:
    """Return the program's classes in a value, or None if it is not plain data.

    Plain data does not depend on anything else: numbers, strings, arrays, tables, lists of
    them, dataclasses. A file is not plain, as its content is elsewhere.
    """
    if type(value) in FIXED:
        return NONE
    writer = Writer()
    try:
        writer.write(value)
        return frozenset(map(_class, writer.found))
    except Exception:  # it cannot be cached, or a class in it cannot be identified
        return None


def _class(cls: type) -> Class:
    if any("__larder_key__" in vars(base) for base in cls.__mro__):
        raise CodeError(f"{cls.__qualname__} defines itself how its objects are identified")
    identity = identity_of(cls)
    return Class(cls.__module__, cls.__qualname__, identity.digest, bool(identity.refused))


def unchanged(records: Iterable[tuple[str, str, bytes]]) -> bool:
    """Report whether classes are unchanged, without importing anything."""
    for module, name, digest in records:
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        try:
            if not isinstance(found, type) or identity_of(found).digest != digest:
                return False
        except CodeError:
            return False
    return True
