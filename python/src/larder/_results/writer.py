"""Encode values as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ..errors import ResultError
from . import classes, kinds
from .kinds import Data, Kind, Refused
from .layout import (
    ALIGNED,
    COMPLEX,
    COUNTED,
    DEEPEST,
    FLOAT,
    HEAD,
    INLINE,
    INT,
    LARGE,
    MAGIC,
    OF_FLOAT,
    OF_INT,
    SHARED,
    SHORT,
    SMALL,
    ZEROS,
)
from .packed import packed


def encode(value: object) -> bytes:
    """Return a value as bytes.

    Equal values have equal bytes, if they share objects in the same way. A value that cannot
    be stored raises `ResultError`.
    """
    kind = type(value)
    if kind is float:
        return FLOAT.pack(MAGIC, FLOAT.size, _FLOAT, value)
    if kind is int and SMALL <= value <= LARGE:  # type: ignore[operator]
        return INT.pack(MAGIC, INT.size, _INT, value)
    return b"".join(parts(value))


def parts(value: object) -> list[Any]:
    """Return a value as a list of bytes and buffers that together are its encoding.

    They are views of the value's own memory, so it must not change while they are in use.
    """
    writer = Writer()
    try:
        writer.write(value)
    except Refused as refused:
        raise ResultError(f"result{_way(refused.steps)}: {refused.why}") from refused.__cause__
    except RecursionError:
        raise ResultError(f"result: {_TOO_DEEP}") from None
    return writer.finish()


_TOO_DEEP = f"it is nested more than {DEEPEST} deep, which cannot be cached; return something flatter"
_ITSELF = "it contains itself, which cannot be cached; return something that refers to its parts by name or number"


def _way(steps: list[str]) -> str:
    if len(steps) > 16:
        steps = [*steps[:4], "...", *steps[-4:]]
    return "".join(reversed(steps))


class Writer:
    """Writes the tree of a value and its buffers."""

    __slots__ = (
        "buffers",
        "bytes",
        "checking",
        "classes",
        "depth",
        "found",
        "held",
        "memo",
        "orders",
        "texts",
        "tree",
    )

    def __init__(self) -> None:
        self.tree = bytearray(HEAD.size)
        self.buffers: list[tuple[Any, int]] = []
        self.checking = False
        """Whether written values are read back."""
        self.depth = 0
        self.memo: dict[int, int] = {}
        """Positions of objects in the tree, by their ids; 0 for those that are being written."""
        self.texts: dict[str, int] = {}
        self.bytes: dict[bytes, int] = {}
        self.held: list[Any] = []
        """Temporary objects, held so that no other object reuses their ids."""
        self.classes: dict[type, classes.Plan] = {}
        self.found: dict[type, Write] = {}
        self.orders: dict[int, bytes] = {}
        """The sort keys of elements of sets, by their ids."""

    def write(self, value: object) -> None:
        """Add a node."""
        kind = type(value)
        (_WRITES.get(kind) or self.found.get(kind) or self.find(kind))(self, value)

    def step(self, value: object, step: str) -> None:
        """Add a node that is a step below the current one."""
        try:
            self.write(value)
        except Refused as refused:
            refused.steps.append(step)
            raise

    def find(self, kind: type) -> Write:
        """Return the writer of values of a type that is not built in."""
        known = kinds.of_type(kind)
        if known is not None:
            _WRITES[kind] = known.write or of_kind(known)
            return _WRITES[kind]
        if issubclass(kind, Enum):
            found: Write = _enum
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            found = _namedtuple
        elif hasattr(kind, "__dataclass_fields__"):
            found = _dataclass
        else:
            raise classes.refused(kind)
        self.found[kind] = found
        return found

    def begin(self, value: object) -> int:
        """Begin an object and return its position; if it was written before, refer to it and return 0."""
        at = self.memo.get(id(value))
        if at == 0:
            raise Refused(_ITSELF)
        if at is not None:
            self.tree += COUNTED.pack(_AGAIN, at)
            return 0
        if self.depth == DEEPEST:
            raise Refused(_TOO_DEEP)
        self.memo[id(value)] = 0
        self.depth += 1
        return len(self.tree)

    def end(self, value: object, at: int, shared: bool = True) -> None:
        """End an object that was begun; `shared` says whether it is referred to where it occurs again."""
        self.depth -= 1
        if shared:
            self.memo[id(value)] = at
        else:
            del self.memo[id(value)]

    def finish(self) -> list[Any]:
        """Return the encoding in pieces."""
        end = len(self.tree)
        HEAD.pack_into(self.tree, 0, MAGIC, end)
        pieces: list[Any] = [self.tree]
        for memory, size in self.buffers:
            pad = -end % ALIGNED
            pieces += (ZEROS[pad], memory)
            end += pad + size
        return pieces


Write = Callable[[Writer, Any], None]


def _none(writer: Writer, value: None) -> None:
    writer.tree.append(_NONE)


def _bool(writer: Writer, value: bool) -> None:
    writer.tree.append(_TRUE if value else _FALSE)


def _ellipsis(writer: Writer, value: object) -> None:
    writer.tree.append(_ELLIPSIS)


def _int(writer: Writer, value: int) -> None:
    if SMALL <= value <= LARGE:
        writer.tree += OF_INT.pack(_INT, value)
        return
    size = value.bit_length() // 8 + 1
    writer.tree += COUNTED.pack(_LONG, size)
    writer.tree += value.to_bytes(size, "little", signed=True)


def _float(writer: Writer, value: float) -> None:
    writer.tree += OF_FLOAT.pack(_FLOAT, value)


def _complex(writer: Writer, value: complex) -> None:
    writer.tree.append(_COMPLEX)
    writer.tree += COMPLEX.pack(value.real, value.imag)


def _str(writer: Writer, value: str) -> None:
    _text(writer, writer.texts, value, value.encode("utf-8", "surrogatepass"), _STR)


def _bytes(writer: Writer, value: bytes) -> None:
    _text(writer, writer.bytes, value, value, _BYTES)


def _text(writer: Writer, before: dict[Any, int], value: str | bytes, data: bytes, tag: int) -> None:
    size = len(data)
    if size >= SHARED:
        at = before.setdefault(value, len(writer.tree))
        if at != len(writer.tree):
            writer.tree += COUNTED.pack(_AGAIN, at)
            return
    if size < INLINE:
        writer.tree += SHORT.pack(tag, size) + data
    else:
        writer.tree.append(tag - _LOWER)
        _data(writer, Data(data, size))


def _bytearray(writer: Writer, value: bytearray) -> None:
    at = writer.begin(value)
    if at:
        writer.tree.append(_BYTEARRAY)
        _data(writer, Data(value, len(value)))
        writer.end(value, at)


def _data(writer: Writer, value: Data) -> None:
    writer.tree += COUNTED.pack(_DATA, value.bytes)
    if value.bytes:
        writer.buffers.append((value.memory, value.bytes))


def _list(writer: Writer, value: list[Any]) -> None:
    at = writer.begin(value)
    if at:
        _sequence(writer, _LIST, value)
        writer.end(value, at)


def _tuple(writer: Writer, value: tuple[Any, ...]) -> None:
    at = writer.begin(value)
    if at:
        _sequence(writer, _TUPLE, value)
        writer.end(value, at, len(writer.tree) - at >= SHARED)


def _sequence(writer: Writer, tag: int, value: list[Any] | tuple[Any, ...]) -> None:
    bulk = packed(value)
    if bulk is None:
        writer.tree += COUNTED.pack(tag, len(value))
        items(writer, value)
        return
    letter, buffers = bulk
    writer.tree += bytes((_PACKED, tag)) + COUNTED.pack(letter, len(value))
    for buffer in buffers:
        _data(writer, Data(buffer, len(buffer)))


def items(writer: Writer, value: Iterable[Any]) -> None:
    """Add the nodes of items, which have indices as steps."""
    i = 0
    try:
        for i, item in enumerate(value):  # noqa: B007
            kind = type(item)
            (_WRITES.get(kind) or writer.found.get(kind) or writer.find(kind))(writer, item)
    except Refused as refused:
        refused.steps.append(f"[{i}]")
        raise


def _dict(writer: Writer, value: dict[Any, Any]) -> None:
    at = writer.begin(value)
    if not at:
        return
    writer.tree += COUNTED.pack(_DICT, len(value))
    for key, item in value.items():
        writer.step(key, ", a key")
        try:
            writer.write(item)
        except Refused as refused:
            refused.steps.append(f"[{_said(key)}]")
            raise
    writer.end(value, at)


def _said(key: object) -> str:
    if type(key) not in (str, int, float, bool, bytes):
        return f"a {type(key).__name__}"
    text = hex(key) if type(key) is int and abs(key) > LARGE else repr(key)  # decimal strings have a limited length
    return text if len(text) <= 60 else text[:57] + "..."


def _set(writer: Writer, value: set[Any]) -> None:
    _elements(writer, _SET, value)


def _frozenset(writer: Writer, value: frozenset[Any]) -> None:
    _elements(writer, _FROZENSET, value)


def _elements(writer: Writer, tag: int, value: set[Any] | frozenset[Any]) -> None:
    at = writer.begin(value)
    if not at:
        return
    writer.tree += COUNTED.pack(tag, len(value))
    try:
        types = set(map(type, value))
        alike = len(types) == 1 and types <= {str, int, bytes}
        for item in sorted(value) if alike else sorted(value, key=lambda item: _order(writer, item)):
            writer.write(item)
    except Refused as refused:
        refused.steps.append("{...}")
        raise
    writer.end(value, at)


def _order(writer: Writer, item: object) -> bytes:
    """Return the sort key of an element of a set, as the order of sets differs between processes."""
    order = writer.orders.get(id(item))
    if order is None:
        alone = Writer()
        alone.depth, alone.orders, alone.checking = writer.depth, writer.orders, writer.checking
        alone.write(item)
        order = writer.orders[id(item)] = b"".join(alone.finish())
    return order


def _range(writer: Writer, value: range) -> None:
    writer.tree.append(_RANGE)
    for number in (value.start, value.stop, value.step):
        _int(writer, number)


def _slice(writer: Writer, value: slice) -> None:
    writer.tree.append(_SLICE)
    for step in ("start", "stop", "step"):
        writer.step(getattr(value, step), f".{step}")


def of_kind(kind: Kind) -> Write:
    """Return the writer of values of a kind."""
    name = kind.name.encode()
    head = bytes((_KIND, len(name))) + name
    take_apart, steps, shared = kind.parts, kind.steps, kind.shared

    def write(writer: Writer, value: Any) -> None:
        at = writer.begin(value)
        if not at:
            return
        try:
            taken = take_apart(value)
        except Refused:
            raise
        except Exception as error:  # of a library of another version
            raise Refused(f"this {type(value).__name__} cannot be cached: {error!r}") from error
        writer.held.append(taken)
        writer.tree += head
        writer.tree.append(len(taken))
        i = 0
        try:
            for i, part in enumerate(taken):  # noqa: B007
                writer.write(part)
        except Refused as refused:
            refused.steps.append(steps[i] if i < len(steps) else "")
            raise
        writer.end(value, at, shared)

    return write


def _enum(writer: Writer, value: Enum) -> None:
    """Add a member of an enumeration: its name, or None for combined flags, and its value."""
    cls = type(value)
    writer.tree.append(classes.ENUM)
    _write_class(writer, cls, ())
    name = value._name_ if cls._member_map_.get(value._name_ or "") is value else None
    writer.write(name)
    writer.step(value._value_, ".value")


def _namedtuple(writer: Writer, value: tuple[Any, ...]) -> None:
    """Add a named tuple."""
    cls: Any = type(value)
    if getattr(value, "__dict__", None) or not classes.is_named_tuple(cls) or len(cls._fields) != tuple.__len__(value):
        raise classes.refused(cls)
    at = writer.begin(value)
    if not at:
        return
    writer.tree.append(classes.NAMEDTUPLE)
    _write_class(writer, cls, cls._fields)
    for name, item in zip(cls._fields, tuple.__iter__(value), strict=True):
        writer.step(item, f".{name}")
    writer.end(value, at, len(writer.tree) - at >= SHARED)


def _dataclass(writer: Writer, value: object) -> None:
    """Add an instance of a dataclass: its fields, its other attributes, and the entries of a dict."""
    cls = type(value)
    at = writer.begin(value)
    if not at:
        return
    if cls not in writer.classes:
        classes.blank(cls)
    writer.tree.append(classes.OBJECT)
    plan = _write_class(writer, cls, classes.fields_of(cls))
    rest = classes.attributes(value)
    for name in plan.fields:
        _write_field(writer, plan, name, value, rest)
    for name, slot in plan.slots.items():
        if name not in plan.fields and classes.slot_of(slot, value) is not classes.MISSING:
            raise Refused(
                f"it has the attribute {name!r}, which is not a field of {classes.called(cls)}; declare the field"
            )
    writer.held.append(rest)
    _write_rest(writer, rest)
    inner = dict(dict.items(value)) if isinstance(value, dict) else None
    writer.held.append(inner)
    writer.write(inner)
    writer.end(value, at)


def _write_field(writer: Writer, plan: classes.Plan, name: str, value: object, rest: dict[str, Any]) -> None:
    slot = plan.slots.get(name)
    item = rest.pop(name, classes.MISSING) if slot is None else classes.slot_of(slot, value)
    if item is classes.MISSING:
        writer.tree.append(classes.UNSET)
    else:
        writer.step(item, f".{name}")


def _write_rest(writer: Writer, rest: dict[str, Any]) -> None:
    """Add the attributes that are not fields."""
    writer.tree += COUNTED.pack(classes.OBJECT, len(rest))
    for name, item in rest.items():
        writer.write(name)
        writer.step(item, f".{name}")


def _write_class(writer: Writer, cls: type, fields: tuple[str, ...]) -> classes.Plan:
    plan = writer.classes.get(cls)
    if plan is not None:
        writer.tree += COUNTED.pack(classes.SAME, plan.number)
        return plan
    module, name = classes.name_of(cls)
    plan = writer.classes[cls] = classes.Plan(len(writer.classes), cls, fields, classes.slots_of(cls))
    writer.tree.append(classes.CLASS)
    writer.write(module)
    writer.write(name)
    writer.tree += COUNTED.pack(classes.CLASS, len(fields))
    for field in fields:
        writer.write(field)
    return plan


_LOWER = ord("a") - ord("A")
(_NONE, _TRUE, _FALSE, _ELLIPSIS, _INT, _LONG, _FLOAT, _COMPLEX, _STR, _BYTES, _BYTEARRAY) = b"NTF.iIfcsbY"
(_LIST, _TUPLE, _DICT, _SET, _FROZENSET, _RANGE, _SLICE, _PACKED, _DATA, _KIND, _AGAIN) = b"[({<>r:pDXR"

_WRITES: dict[type, Write] = {
    float: _float,
    int: _int,
    str: _str,
    bool: _bool,
    type(None): _none,
    bytes: _bytes,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    Data: _data,
    complex: _complex,
    bytearray: _bytearray,
    set: _set,
    frozenset: _frozenset,
    range: _range,
    slice: _slice,
    type(...): _ellipsis,
}
