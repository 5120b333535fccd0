"""Encode values as bytes that are typed, framed, and record shared references.

The encoding of a value is a letter for its type, its content with lengths in front, and the
values in it. Values that a function can tell apart have different bytes: lists and tuples
differ, 1 and 1.0 and True differ, and so do one object twice and two equal objects. A
mutable object is numbered when it is first met, and encoded as its number when it is met
again. So the encoding of a value that contains itself ends.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from ..immutable import fixed
from .hash import tree
from .text import describe

# Smaller content is part of the encoding; larger content is represented by its digest.
_INLINE = 4096

# The prefix of every encoding; a change of the format needs another number.
FORMAT = b"larder python value 2\n"

_DOUBLE = struct.Struct("<d").pack


BY_CONTENT, BY_ORDER, BY_NAME = range(3)
"""How much code may see of the names of files: nothing, their order, or all."""


class Unkeyed(Exception):
    """A value that has no key: its description, a fix, and the steps to it, last one first."""

    def __init__(self, what: str, fix: str):
        super().__init__(what, fix)
        self.what = what
        self.fix = fix
        self.steps: list[str] = []

    def step(self, step: str) -> Unkeyed:
        self.steps.append(step)
        return self

    @property
    def way(self) -> str:
        """The path from the value to the part without a key."""
        return "".join(reversed(self.steps))


Writer = Callable[["Encoder", Any], None]
"""Appends the encoding of a value to the `out` of an encoder."""


class Encoder:
    """Encodes values one after another into `out`.

    `code` returns the identity of a function or a class, and `made` that of an object's class; by
    default they are the same. A `fresh` encoder leaves out attributes that objects fill in themselves
    (`functools.cached_property`). The caller ends by calling `name_files`.
    """

    __slots__ = ("cached", "code", "files", "fresh", "made", "of_code", "out", "seen")

    def __init__(
        self, code: Callable[[Any], bytes], fresh: bool = False, made: Callable[[type], bytes] | None = None
    ) -> None:
        self.code = code
        self.made = made or code
        self.fresh = fresh
        self.files: list[str] = []
        """The paths of the files that were met, so far identified by content."""
        self.of_code: Mapping[int, int] = {}
        """Numbers of objects that code refers to, which it can tell from equal ones."""
        self.out: list[bytes] = []
        self.seen: dict[int, int] = {}
        self.cached: list[Any] = []

    def add(self, value: Any) -> None:
        """Append the encoding of a value."""
        (_WRITERS.get(type(value)) or writer(type(value)))(self, value)

    def known(self, value: Any) -> bool:
        """Report whether a value was met before, and append its number if so."""
        number = self.seen.setdefault(id(value), len(self.seen))
        if number == len(self.cached):
            self.cached.append(value)  # otherwise another object could reuse its address
            own = self.of_code.get(id(value))
            if own is not None:
                self.out.append(b"=%x;" % own)
            return False
        self.out.append(b"@%x;" % number)
        return True

    def named(self, letter: bytes, name: str, value: Any) -> None:
        """Append a value with a name."""
        text = name.encode("utf-8", "surrogatepass")
        self.out.append(b"%b%x;%b" % (letter, len(text), text))
        self.add(value)

    def content(self, content: Any) -> None:
        """Append the bytes of a contiguous buffer."""
        count = content.nbytes if type(content) is memoryview else len(content)
        self.out.append(b"%x;" % count)
        self.out.append(bytes(content) if count <= _INLINE else tree(content))

    def name_files(self, sight: int) -> None:
        """Append as much of the names of files as code can see: BY_CONTENT, BY_ORDER or BY_NAME.

        For several files, this includes at least which of them are the same.
        """
        if sight >= BY_NAME and self.files:
            self.add(("names", *self.files))
        elif len(self.files) > 1:
            order = sorted(set(self.files)) if sight else list(dict.fromkeys(self.files))
            places = {path: i for i, path in enumerate(order)}
            self.add(("order", *(places[path] for path in self.files)))

    def of_class(self, letter: bytes, cls: type) -> None:
        """Append the class of an object."""
        self.out.append(letter)
        self.out.append(self.made(cls))


_WRITERS: dict[type, Writer] = {}
_FOUND: WeakKeyDictionary[type, Writer] = WeakKeyDictionary()
_find: Callable[[type], Writer]


def writes(*types: type) -> Callable[[Writer], Writer]:
    """Declare the encoder of values of exactly these types."""

    def declare(write: Writer) -> Writer:
        for cls in types:
            _WRITERS[cls] = write
        return write

    return declare


def writer(cls: type) -> Writer:
    """Return the encoder of a type, or that of its bases if it has none."""
    found = _WRITERS.get(cls) or _FOUND.get(cls)
    if found is None:
        found = _FOUND[cls] = _find(cls)
    return found


def finds(find: Callable[[type], Writer]) -> Callable[[type], Writer]:
    """Declare the function that returns the encoder of any other type."""
    global _find
    _find = find
    return find


@writes(type(None))
def _none(e: Encoder, value: None) -> None:
    e.out.append(b"N")


@writes(bool)
def _bool(e: Encoder, value: bool) -> None:
    e.out.append(b"T" if value else b"F")


@writes(int)
def _int(e: Encoder, value: int) -> None:
    e.out.append(b"i%x;" % value)


@writes(float)
def _float(e: Encoder, value: float) -> None:
    if value != value:  # lists and sets find the same NaN object, but not another one
        if e.known(value):
            return
        e.out.append(_nan(value))
    e.out.append(b"f" + _DOUBLE(value))


def _nan(value: float) -> bytes:
    """Return what distinguishes a NaN that programs compare with `is` from others."""
    numpy = sys.modules.get("numpy")
    return b"m" if value is math.nan else b"n" if numpy is not None and value is numpy.nan else b""


@writes(complex)
def _complex(e: Encoder, value: complex) -> None:
    if value != value and e.known(value):
        return
    e.out.append(b"c" + _DOUBLE(value.real) + _DOUBLE(value.imag))


@writes(str)
def _str(e: Encoder, value: str) -> None:
    text = value.encode("utf-8", "surrogatepass")
    if len(text) <= _INLINE:
        e.out.append(b"s%x;%b" % (len(text), text))
    else:
        e.out.append(b"s%x;%b" % (len(text), tree(text)))


@writes(bytes)
def _bytes(e: Encoder, value: bytes) -> None:
    e.out.append(b"b")
    e.content(value)


@writes(bytearray)
def _bytearray(e: Encoder, value: bytearray) -> None:
    if not e.known(value):
        e.out.append(b"B")
        e.content(value)


@writes(memoryview)
def _memoryview(e: Encoder, value: memoryview) -> None:
    if not e.known(value):
        shape = ",".join(map(str, value.shape or ()))
        e.out.append(b"w" if value.readonly else b"W")
        e.add(value.format)
        e.add(shape)
        e.content(value.cast("B") if value.c_contiguous and value.nbytes else value.tobytes())


@writes(type(...), type(NotImplemented))
def _singleton(e: Encoder, value: Any) -> None:
    e.out.append(b"." if value is ... else b"!")


@writes(range)
def _range(e: Encoder, value: range) -> None:
    e.out.append(b"r%x;%x;%x;" % (value.start, value.stop, value.step))


@writes(slice)
def _slice(e: Encoder, value: slice) -> None:
    e.out.append(b":")
    for part in (value.start, value.stop, value.step):
        e.add(part)


@writes(tuple)
def _tuple(e: Encoder, value: tuple[Any, ...]) -> None:
    e.out.append(b"(%x;" % len(value))
    items(e, value)


@writes(list)
def _list(e: Encoder, value: list[Any]) -> None:
    if not e.known(value):
        e.out.append(b"[%x;" % len(value))
        items(e, value)


def items(e: Encoder, value: Any) -> None:
    """Append the items of a sequence, whose length was appended before."""
    i = 0
    try:
        for i, item in enumerate(value):  # noqa: B007
            (_WRITERS.get(type(item)) or writer(type(item)))(e, item)
    except Unkeyed as err:
        raise err.step(f"[{i}]") from None


@writes(dict)
def _dict(e: Encoder, value: dict[Any, Any]) -> None:
    if not e.known(value):
        e.out.append(b"{%x;" % len(value))
        pairs(e, value)


def pairs(e: Encoder, value: dict[Any, Any]) -> None:
    """Append the keys and values of a mapping, whose length was appended before."""
    key: Any = None
    try:
        for key, item in dict.items(value):
            (_WRITERS.get(type(key)) or writer(type(key)))(e, key)
            (_WRITERS.get(type(item)) or writer(type(item)))(e, item)
    except Unkeyed as err:
        raise err.step(f"[{describe(key)}]") from None


@writes(set)
def _set(e: Encoder, value: set[Any]) -> None:
    if not e.known(value):
        members(e, b"<", value)


@writes(frozenset)
def _frozenset(e: Encoder, value: frozenset[Any]) -> None:
    members(e, b">", value)


def _called(item: Any) -> tuple[str, str]:
    name = getattr(item, "__qualname__", None) if callable(item) else None
    return type(item).__qualname__, f"{item.__module__}.{name}" if isinstance(name, str) else ""


def members(e: Encoder, letter: bytes, value: Any) -> None:
    """Append the members of a set, in an order that depends only on their own bytes."""
    e.out.append(b"%b%x;" % (letter, len(value)))
    if all(map(fixed, value)):
        e.out.extend(sorted(_alone(Encoder(e.code, made=e.made), item) for item in value))
        return
    alone: list[tuple[bytes, list[str], Any]] = []
    plain = True
    # Code is numbered where it is first met, which must be the same place in each process.
    for item in sorted(value, key=_called):
        own = Encoder(e.code, e.fresh, e.made)
        own.seen, own.cached, own.of_code = e.seen.copy(), e.cached.copy(), e.of_code
        alone.append((_alone(own, item), own.files, item))
        plain = plain and len(own.cached) == len(e.cached)
    alone.sort(key=lambda member: member[:2])
    for content, files, item in alone:
        if plain:
            e.out.append(content)
            e.files += files
        else:  # they may share parts, and other values may refer to them
            e.add(item)


def _alone(e: Encoder, item: Any) -> bytes:
    try:
        e.add(item)
    except Unkeyed as err:
        raise err.step("{...}") from None
    return b"".join(e.out)
