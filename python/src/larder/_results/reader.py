"""Decode bytes to values."""

from __future__ import annotations

import dataclasses
import mmap
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum
from typing import Any

from ..errors import ResultError
from . import classes, kinds
from .layout import ALIGNED, COMPLEX, COUNTED, DEEPEST, FLOAT, HEAD, MAGIC, OF_FLOAT, OF_INT, SHARED, SHORT, ZEROS
from .packed import BUFFERS, unpacked
from .writer import encode


def decode(encoded: bytes | bytearray | memoryview | mmap.mmap) -> Any:
    """Return the value of an encoding.

    Arrays are read-only views of its memory, which must not change and lives as long as they
    do. Tensors are writable, so they are copies unless the memory is writable and so private:
    a mapping with ACCESS_COPY, or a bytearray that is used only here.

    An encoding that is invalid or damaged, or needs a class or library that is missing or has
    changed, raises `ResultError`.
    """
    try:
        if type(encoded) is bytes and len(encoded) == FLOAT.size:
            magic, end, tag, number = FLOAT.unpack(encoded)
            if magic == MAGIC and end == FLOAT.size and tag == _FLOAT:
                return number
        return _decoded(encoded)
    except ResultError:
        raise
    except ImportError as error:
        raise ResultError(f"the result needs a library that cannot be imported: {error}") from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ResultError(f"the result is damaged, or made by another version; compute it again ({what})") from error


def _decoded(encoded: Any) -> Any:
    reader = Reader(encoded)
    value = reader.read()
    reader.finish()
    return value


class Reader:
    """Reads the tree of an encoding and its buffers."""

    __slots__ = ("at", "classes", "data", "depth", "end", "memo", "private", "tree")

    def __init__(self, encoded: Any) -> None:
        private = memoryview(encoded)
        if private.format != "B" or private.ndim != 1:
            private = private.cast("B")
        magic, end = HEAD.unpack_from(private)
        if magic != MAGIC:
            raise ResultError(_unknown(magic))
        if not HEAD.size < end <= len(private):
            raise ValueError(f"a tree of {end} bytes in {len(private)}")
        self.private = private
        self.data = private.toreadonly()
        self.tree = encoded if type(encoded) is bytes and end == len(encoded) else bytes(private[:end])
        self.end: int = end
        """The end of the last buffer that was read."""
        self.at = HEAD.size
        self.depth = 0
        self.memo: dict[int, Any] = {}
        self.classes: list[classes.Plan] = []

    def read(self) -> Any:
        """Return the value of a node."""
        at = self.at
        self.at = at + 1
        return _READS[self.tree[at]](self)

    def number(self, tag: int) -> int:
        """Return the number of a node that must come next."""
        found, number = COUNTED.unpack_from(self.tree, self.at)
        if found != tag:
            raise ValueError(f"a node {found} at {self.at} where {tag} must be")
        self.at += COUNTED.size
        return int(number)

    def count(self, tag: int) -> int:
        """Return the number of nodes that follow, each of at least a byte."""
        n = self.number(tag)
        if n > len(self.tree) - self.at:
            raise ValueError(f"{n} nodes at {self.at}")
        return n

    def counted(self, tag: int) -> int:
        """Return the same as `count`, after the tag was read."""
        self.at -= 1
        return self.count(tag)

    def read_name(self) -> str:
        """Return a string that must come next."""
        return kinds.expect(str, self.read())

    def take(self, size: int) -> bytes:
        """Return bytes of the tree."""
        at = self.at
        self.at = at + size
        if self.at > len(self.tree):
            raise ValueError(f"{size} bytes at {at}")
        return self.tree[at : self.at]

    def buffer(self, private: bool = False) -> memoryview:
        """Return the next buffer, writable if allowed."""
        size = self.number(_DATA)
        if not size:
            return _EMPTY
        begin = self.find(size)
        return (self.private if private else self.data)[begin : begin + size]

    def find(self, size: int) -> int:
        """Return the position of the next buffer, which has a given size."""
        begin = self.end + -self.end % ALIGNED
        end = begin + size
        if end > len(self.data) or self.data[self.end : begin] != ZEROS[begin - self.end]:
            raise ValueError(f"no buffer of {size} bytes at {begin}")
        self.end = end
        return begin

    def finish(self) -> None:
        """Refuse remaining bytes."""
        if self.at != len(self.tree) or self.end != len(self.data):
            raise ValueError("there is more than one value")


_EMPTY = memoryview(b"")


def _unknown(magic: bytes) -> str:
    if magic[:7] == MAGIC[:7]:
        return f"the result is of version {magic[7]}, and this is version {MAGIC[7]}; compute it again"
    return "not a result, or a result of codec pickle"


def _int(reader: Reader) -> int:
    number: int = OF_INT.unpack_from(reader.tree, reader.at - 1)[1]
    reader.at += 8
    return number


def _long(reader: Reader) -> int:
    return int.from_bytes(reader.take(reader.counted(_LONG)), "little", signed=True)


def _float(reader: Reader) -> float:
    number: float = OF_FLOAT.unpack_from(reader.tree, reader.at - 1)[1]
    reader.at += 8
    return number


def _complex(reader: Reader) -> complex:
    return complex(*COMPLEX.unpack(reader.take(COMPLEX.size)))


def _short(reader: Reader) -> bytes:
    size = SHORT.unpack_from(reader.tree, reader.at - 1)[1]
    reader.at += SHORT.size - 1
    return reader.take(size)


def _str(reader: Reader) -> str:
    at = reader.at - 1
    data = _short(reader)
    text = data.decode("utf-8", "surrogatepass")
    if len(data) >= SHARED:
        reader.memo[at] = text
    return text


def _bytes(reader: Reader) -> bytes:
    at = reader.at - 1
    data = _short(reader)
    if len(data) >= SHARED:
        reader.memo[at] = data
    return data


def _long_str(reader: Reader) -> str:
    at = reader.at - 1
    text = reader.memo[at] = str(reader.buffer(), "utf-8", "surrogatepass")
    return text


def _long_bytes(reader: Reader) -> bytes:
    at = reader.at - 1
    data = reader.memo[at] = bytes(reader.buffer())
    return data


def _bytearray(reader: Reader) -> bytearray:
    at = reader.at - 1
    data = reader.memo[at] = bytearray(reader.buffer())
    return data


def _items(reader: Reader, n: int) -> list[Any]:
    reader.depth += 1
    if reader.depth > DEEPEST + 1:
        raise ValueError("nested too deep")
    read = reader.read
    items = [read() for _ in range(n)]
    reader.depth -= 1
    return items


def _list(reader: Reader) -> list[Any]:
    at = reader.at - 1
    items = reader.memo[at] = _items(reader, reader.counted(_LIST))
    return items


def _tuple(reader: Reader) -> tuple[Any, ...]:
    at = reader.at - 1
    items = reader.memo[at] = tuple(_items(reader, reader.counted(_TUPLE)))
    return items


def _packed(reader: Reader) -> Any:
    at = reader.at - 1
    tag, letter = reader.tree[reader.at], reader.tree[reader.at + 1]
    reader.at += 1
    n = reader.number(letter)
    items = unpacked(letter, n, [reader.buffer() for _ in range(BUFFERS[letter])])
    value = reader.memo[at] = _SEQUENCES[tag](items)
    return value


def _dict(reader: Reader) -> dict[Any, Any]:
    at = reader.at - 1
    items = _items(reader, 2 * reader.counted(_DICT))
    value = reader.memo[at] = dict(zip(items[::2], items[1::2], strict=True))
    _different(2 * len(value), items)
    return value


def _set(reader: Reader) -> set[Any]:
    at = reader.at - 1
    items = _items(reader, reader.counted(_SET))
    value = reader.memo[at] = set(items)
    _different(len(value), items)
    return value


def _frozenset(reader: Reader) -> frozenset[Any]:
    at = reader.at - 1
    items = _items(reader, reader.counted(_FROZENSET))
    value = reader.memo[at] = frozenset(items)
    _different(len(value), items)
    return value


def _different(n: int, items: list[Any]) -> None:
    if n != len(items):
        raise ValueError("two keys or elements are equal")


def _range(reader: Reader) -> range:
    return range(reader.read(), reader.read(), reader.read())


def _slice(reader: Reader) -> slice:
    return slice(reader.read(), reader.read(), reader.read())


def _again(reader: Reader) -> Any:
    reader.at -= 1
    at = reader.number(_AGAIN)
    if at not in reader.memo:
        raise ValueError(f"nothing at {at} that is referred to")
    return reader.memo[at]


def _kind(reader: Reader) -> Any:
    at = reader.at - 1
    kind = kinds.of_name(reader.take(reader.tree[reader.at] + 1)[1:].decode())
    n = reader.take(1)[0]
    if kind.private:
        memory = reader.buffer(private=True)
        value = kind.make(memory, *_items(reader, n - 1))
    else:
        value = kind.make(*_items(reader, n))
    reader.memo[at] = value
    return value


def _array(reader: Reader) -> Any:
    """Return an array. The module of arrays registers its own reader when it is imported."""
    kinds.load("numpy")
    return _READS[ord("A")](reader)


def _data(reader: Reader) -> memoryview:
    reader.at -= 1
    return reader.buffer()


def _enum(reader: Reader) -> Enum:
    """Return a member of an enumeration that still has the same value."""
    cls: Any = _read_class(reader).cls
    name, value = reader.read(), reader.read()
    if not (isinstance(cls, type) and issubclass(cls, Enum)):
        raise classes.changed(cls, "is no longer an enumeration")
    member = cls(value) if name is None else cls._member_map_.get(name)
    if member is None or not _same(member._value_, value):
        raise classes.changed(cls, f"has another {name or value}")
    return member


def _same(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (int, str)):
        return a == b
    return encode(a) == encode(b)


def _namedtuple(reader: Reader) -> Any:
    """Return a named tuple."""
    at = reader.at - 1
    plan = _read_class(reader)
    cls: Any = plan.cls
    items = [reader.read() for _ in plan.fields]
    if (
        not (isinstance(cls, type) and hasattr(cls, "_fields") and classes.is_named_tuple(cls))
        or cls._fields != plan.fields
    ):
        raise classes.changed(cls, f"does not have the fields {', '.join(plan.fields)}")
    value: Any = tuple.__new__(cls, items)
    reader.memo[at] = value
    return value


def _dataclass(reader: Reader) -> Any:
    """Return an instance of a dataclass."""
    at = reader.at - 1
    plan = _read_class(reader)
    cls = plan.cls
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)) or classes.fields_of(cls) != plan.fields:
        raise classes.changed(cls, f"does not have the fields {', '.join(plan.fields)}")
    value = classes.blank(cls)
    attributes: dict[str, Any] = {}
    for name in plan.fields:
        if reader.tree[reader.at] == classes.UNSET:
            reader.at += 1
        else:
            attributes[name] = reader.read()
    for _ in range(reader.count(classes.OBJECT)):
        name = reader.read_name()
        attributes[name] = reader.read()
    inner = reader.read()
    classes.fill(value, plan, attributes)
    if inner is not None:
        for key, item in dict.items(inner):
            (OrderedDict if isinstance(value, OrderedDict) else dict).__setitem__(value, key, item)
    reader.memo[at] = value
    return value


def _read_class(reader: Reader) -> classes.Plan:
    tag = reader.tree[reader.at]
    if tag == classes.SAME:
        return reader.classes[reader.number(classes.SAME)]
    if tag != classes.CLASS:
        raise ValueError(f"no class at {reader.at}")
    reader.at += 1
    module, name = reader.read_name(), reader.read_name()
    fields = tuple(reader.read_name() for _ in range(reader.count(classes.CLASS)))
    cls: Any = classes.find(module, name)
    plan = classes.Plan(len(reader.classes), cls, fields, classes.slots_of(cls) if isinstance(cls, type) else {})
    reader.classes.append(plan)
    return plan


_INT, _LONG, _FLOAT, _LIST, _TUPLE, _DICT, _SET, _FROZENSET, _DATA, _AGAIN = b"iIf[({<>DR"
_SEQUENCES: dict[int, Callable[[Any], Any]] = {_LIST: list, _TUPLE: tuple}

_READS: dict[int, Callable[[Reader], Any]] = {
    ord(letter): read
    for letter, read in {
        "N": lambda reader: None,
        "T": lambda reader: True,
        "F": lambda reader: False,
        ".": lambda reader: ...,
        "i": _int,
        "I": _long,
        "f": _float,
        "c": _complex,
        "s": _str,
        "b": _bytes,
        "S": _long_str,
        "B": _long_bytes,
        "Y": _bytearray,
        "[": _list,
        "(": _tuple,
        "{": _dict,
        "<": _set,
        ">": _frozenset,
        "r": _range,
        ":": _slice,
        "p": _packed,
        "D": _data,
        "A": _array,
        "X": _kind,
        "R": _again,
        "O": _dataclass,
        "P": _namedtuple,
        "E": _enum,
    }.items()
}


def reads(tag: int, read: Callable[[Reader], Any]) -> None:
    """Register the reader of nodes with a tag."""
    _READS[tag] = read
