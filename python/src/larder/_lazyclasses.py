"""Classes of the program in results: what they were as a result was found, and whether they still are that."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ._code import identity_of
from ._keys._encoder import FIXED
from ._results.writer import Writer
from .errors import CodeError


@dataclass(frozen=True, slots=True)
class Class:
    """A class by its name, and by its code."""

    module: str
    name: str
    digest: bytes
    doubted: bool
    """Whether a method of it may do what no key can tell, so that it matters which ones are called."""

    @property
    def record(self) -> tuple[str, str, bytes]:
        """What is kept of it."""
        return self.module, self.name, self.digest


Classes = frozenset[Class]
NONE: Classes = frozenset()


def classes_of(value: Any) -> Classes | None:
    """Return the classes of the program in a value, or None if it is not plain data.

    What is plain is the same wherever it is: numbers, texts, arrays, tables, lists of
    them, dataclasses. A file, whose content is elsewhere, is not.
    """
    if type(value) in FIXED:
        return NONE
    writer = Writer()
    try:
        writer.write(value)
        return frozenset(map(_class, writer.found))
    except Exception:  # it cannot be kept, or a class in it cannot be known
        return None


def _class(cls: type) -> Class:
    if any("__larder_key__" in vars(base) for base in cls.__mro__):
        raise CodeError(f"{cls.__qualname__} says by itself what its objects are known by")
    identity = identity_of(cls)
    return Class(cls.__module__, cls.__qualname__, identity.digest, bool(identity.refused))


def unchanged(records: Iterable[tuple[str, str, bytes]]) -> bool:
    """Report whether classes are what they were. Nothing is imported to find them."""
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
