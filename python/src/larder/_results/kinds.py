"""Types that are kept as what they are made of, and where they are found."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar


class Refused(Exception):
    """Something that cannot be kept: why, and the steps from it up to the result."""

    def __init__(self, why: str, step: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.steps = [step] if step else []


@dataclass(slots=True)
class Data:
    """A part that is a buffer: aligned and out of line. Back come memoryviews that cannot be written to."""

    memory: Any
    bytes: int


@dataclass(frozen=True, slots=True)
class Kind:
    """A type whose values are kept as a few parts, which are values again."""

    name: str
    """What it is called in encodings: its module and its own name."""
    type: type
    parts: Callable[[Any], tuple[Any, ...]]
    """Takes a value apart, or raises `Refused`."""
    make: Callable[..., Any]
    """Makes a value of parts. They may be of any type where an encoding is damaged: what does
    not fit is an exception of any kind, and nothing larger than the parts is made."""
    steps: tuple[str, ...] = ()
    """The ways from a value to its parts, for messages."""
    shared: bool = True
    """Whether a value that comes twice is one object again: not of what is small and cannot change."""
    write: Callable[[Any, Any], None] | None = None
    """Writes a value of its own way instead: called with the writer."""
    checked: bool = False
    """Whether a value is read back as it is written, and refused if it is not the same."""
    private: bool = False
    """Whether `make` gets memory, as its first argument, that it may have written to."""


_BY_TYPE: dict[type, Kind] = {}
_BY_NAME: dict[str, Kind] = {}

CURES: dict[type, str] = {}
"""What to do about values of types derived from these, and of these."""

# What is asked of whose types. They are imported when there is a value of theirs.
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
    """Add kinds. Several types may have one name."""
    for kind in kinds:
        _BY_TYPE[kind.type] = kind
        _BY_NAME.setdefault(kind.name, kind)


def of_type(cls: type) -> Kind | None:
    """Return the kind of exactly this type, not of one that it is derived from, or None."""
    if cls not in _BY_TYPE:
        root = _root(cls.__module__)
        if root in sys.modules:
            try:
                _load(root)
            except Exception as error:  # of a library of another version
                raise Refused(
                    f"values of this {root} cannot be kept: {error!r}; return what they consist of"
                ) from error
    return _BY_TYPE.get(cls)


def of_name(name: str) -> Kind:
    """Return the kind of a name: KeyError if there is none, ImportError if what it needs is not installed."""
    if name not in _BY_NAME:
        _load(_root(name))
    return _BY_NAME[name]


def _root(name: object) -> str:
    return str(name).partition(".")[0]


def _load(root: str) -> None:
    if root in _MODULES:
        import_module(f"{__package__}.{_MODULES[root]}")


T = TypeVar("T")


def expect(cls: type[T], value: object) -> T:
    """Return a part that must be of a type."""
    if type(value) is not cls:
        raise TypeError(f"a {type(value).__name__} where a {cls.__name__} must be")
    return value
