"""Register types that are stored as their parts, and find them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar


class Refused(Exception):
    """A part that cannot be stored: the reason, and the steps from it up to the result."""

    def __init__(self, why: str, step: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.steps = [step] if step else []


@dataclass(slots=True)
class Data:
    """A part that is a buffer: aligned and out of line. Decoding returns read-only memoryviews."""

    memory: Any
    bytes: int


@dataclass(frozen=True, slots=True)
class Kind:
    """A type whose values are stored as a few parts, which are values themselves."""

    name: str
    """The name in encodings: its module and its own name."""
    type: type
    parts: Callable[[Any], tuple[Any, ...]]
    """Splits a value into parts, or raises `Refused`."""
    make: Callable[..., Any]
    """Creates a value from parts. In a damaged encoding they may have any type: parts that do
    not fit raise any exception, and nothing larger than the parts is allocated.
    """
    steps: tuple[str, ...] = ()
    """The paths from a value to its parts, for messages."""
    shared: bool = True
    """Whether a value that occurs twice is decoded as one object; not for small immutable values."""
    write: Callable[[Any, Any], None] | None = None
    """Replaces `parts`: writes a value itself, called with the writer."""
    private: bool = False
    """Whether `make` receives memory as its first argument, and may write to it."""


_BY_TYPE: dict[type, Kind] = {}
_BY_NAME: dict[str, Kind] = {}

CURES: dict[type, str] = {}
"""Fixes in messages for values of these types and of subclasses."""

# The modules that register types, by package, imported when there is a value of that package.
_MODULES = {
    "array": "standard",
    "collections": "standard",
    "datetime": "standard",
    "decimal": "standard",
    "_decimal": "standard",
    "_pydecimal": "standard",
    "fractions": "standard",
    "ipaddress": "standard",
    "pathlib": "standard",
    "uuid": "standard",
    "zoneinfo": "standard",
    "numpy": "arrays",
    "torch": "tensors",
    "PIL": "images",
    "pyarrow": "arrow",
    "pandas": "frames",
}


def register(*kinds: Kind) -> None:
    """Add kinds; several types may have one name."""
    for kind in kinds:
        _BY_TYPE[kind.type] = kind
        _BY_NAME.setdefault(kind.name, kind)


def of_type(cls: type) -> Kind | None:
    """Return the kind of exactly this type, not of its bases, or None."""
    if cls not in _BY_TYPE:
        root = _root(cls.__module__)
        if root in sys.modules:
            try:
                load(root)
            except Exception as error:  # of a library of another version
                raise Refused(
                    f"values of this {root} cannot be cached: {error!r}; return what they consist of"
                ) from error
    return _BY_TYPE.get(cls)


def of_name(name: str) -> Kind:
    """Return the kind with a name; raise KeyError if there is none, ImportError if its library is not installed."""
    if name not in _BY_NAME:
        load(_root(name))
    return _BY_NAME[name]


def _root(name: object) -> str:
    return str(name).partition(".")[0]


def load(root: str) -> None:
    """Import the module that registers the types of a package."""
    if root in _MODULES:
        import_module(f"{__package__}.{_MODULES[root]}")


T = TypeVar("T")


def expect(cls: type[T], value: object) -> T:
    """Return a part, which must be of a type."""
    if type(value) is not cls:
        raise TypeError(f"a {type(value).__name__} where a {cls.__name__} must be")
    return value
