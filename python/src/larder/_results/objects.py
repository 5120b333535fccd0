"""Encode and decode values of the program's classes: dataclasses, named tuples, enumerations.

They are identified by module and qualified name, and restored without running their code.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections import OrderedDict
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..errors import ResultError
from . import kinds
from .kinds import Refused
from .layout import COUNTED, SHARED

if TYPE_CHECKING:
    from .reader import Reader
    from .writer import Writer

_CLASS, _AGAIN, _OBJECT, _NAMEDTUPLE, _ENUM, _UNSET = b"KkOPEU"


@dataclasses.dataclass(slots=True)
class Plan:
    """A class in an encoding, and where its instances have their fields."""

    number: int
    cls: type
    fields: tuple[str, ...]
    slots: dict[str, Any]
    """Reads and writes fields that are not entries of `__dict__`."""


_FUNCTION = "return what it makes"
kinds.CURES |= {
    types.FunctionType: _FUNCTION,
    types.BuiltinFunctionType: _FUNCTION,
    types.MethodType: _FUNCTION,
    types.ModuleType: "return its name",
    types.GeneratorType: "return a list",
    types.CoroutineType: "await it",
    memoryview: "return bytes",
    type: "return its name",
}
kinds.CURES |= {
    base: f"return {'an' if base is int else 'a'} {base.__name__}"
    for base in (list, tuple, dict, set, frozenset, str, bytes, bytearray, int, float, complex)
}


def refused(cls: type) -> Refused:
    """Return the exception that values of a type cannot be stored."""
    remedies = (kinds.CURES[base] for base in cls.__mro__ if base in kinds.CURES)
    remedy = next(remedies, "return a dataclass of what is in it")
    return Refused(f'a value of type {_called(cls)} cannot be cached; {remedy}, or say codec="pickle"')


def _called(cls: type) -> str:
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"


# Writing


def write_enum(writer: Writer, value: Enum) -> None:
    """Add a member of an enumeration: its name, or None for combined flags, and its value."""
    cls = type(value)
    writer.tree.append(_ENUM)
    _write_class(writer, cls, ())
    name = value._name_ if cls._member_map_.get(value._name_ or "") is value else None
    writer.write(name)
    writer.step(value._value_, ".value")


def write_namedtuple(writer: Writer, value: tuple[Any, ...]) -> None:
    """Add a named tuple."""
    cls: Any = type(value)
    if getattr(value, "__dict__", None) or not _named(cls) or len(cls._fields) != tuple.__len__(value):
        raise refused(cls)
    at = writer.begin(value)
    if not at:
        return
    writer.tree.append(_NAMEDTUPLE)
    _write_class(writer, cls, cls._fields)
    for name, item in zip(cls._fields, tuple.__iter__(value), strict=True):
        writer.step(item, f".{name}")
    writer.end(value, at, len(writer.tree) - at >= SHARED)


def _named(cls: Any) -> bool:
    fields = cls._fields
    return type(fields) is tuple and set(map(type, fields)) <= {str} and issubclass(cls, tuple)


def write_dataclass(writer: Writer, value: object) -> None:
    """Add an instance of a dataclass: its fields, its other attributes, and the entries of a dict."""
    cls = type(value)
    at = writer.begin(value)
    if not at:
        return
    if cls not in writer.classes:
        _blank(cls)
    writer.tree.append(_OBJECT)
    plan = _write_class(writer, cls, _fields(cls))
    rest = _attributes(value)
    for name in plan.fields:
        _write_field(writer, plan, name, value, rest)
    for name, slot in plan.slots.items():
        if name not in plan.fields and _slot(slot, value) is not _MISSING:
            raise Refused(f"it has the attribute {name!r}, which is no field of {_called(cls)}; declare it as one")
    writer.kept.append(rest)
    _write_rest(writer, rest)
    inner = dict(dict.items(value)) if isinstance(value, dict) else None
    writer.kept.append(inner)
    writer.write(inner)
    writer.end(value, at)


def _write_field(writer: Writer, plan: Plan, name: str, value: object, rest: dict[str, Any]) -> None:
    slot = plan.slots.get(name)
    item = rest.pop(name, _MISSING) if slot is None else _slot(slot, value)
    if item is _MISSING:
        writer.tree.append(_UNSET)
    else:
        writer.step(item, f".{name}")


def _write_rest(writer: Writer, rest: dict[str, Any]) -> None:
    """Add the attributes that are not fields."""
    writer.tree += COUNTED.pack(_OBJECT, len(rest))
    for name, item in rest.items():
        writer.write(name)
        writer.step(item, f".{name}")


_MISSING: Any = object()


def _slot(slot: Any, value: object) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:
        return _MISSING


def _attributes(value: object) -> dict[str, Any]:
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return {}
    found.pop("__orig_class__", None)  # set by typing when a generic class is called
    return found


def _write_class(writer: Writer, cls: type, fields: tuple[str, ...]) -> Plan:
    plan = writer.classes.get(cls)
    if plan is not None:
        writer.tree += COUNTED.pack(_AGAIN, plan.number)
        return plan
    module, name = _name(cls)
    plan = writer.classes[cls] = Plan(len(writer.classes), cls, fields, _slots(cls))
    writer.tree.append(_CLASS)
    writer.write(module)
    writer.write(name)
    writer.tree += COUNTED.pack(_CLASS, len(fields))
    for field in fields:
        writer.write(field)
    return plan


def _name(cls: type) -> tuple[str, str]:
    """Return the module and name under which a class is found, or refuse it if another object is there."""
    module, name = cls.__module__, cls.__qualname__
    if module == "__mp_main__":  # the name of the program in a spawned process
        module = "__main__"
    if "<locals>" in name:
        raise Refused(
            f"a value of type {_called(cls)} cannot be cached, as its class is made by a function; "
            "move the class to its module"
        )
    try:
        found = _look_up(sys.modules[module], name)
    except (AttributeError, KeyError):
        found = None
    if found is not cls:
        raise Refused(
            f"a value of type {_called(cls)} cannot be cached, as this name is not that of its class (any more); "
            "give the class a name of its own in its module"
        )
    return module, name


def _look_up(module: types.ModuleType, name: str) -> object:
    found: object = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _fields(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _slots(cls: type) -> dict[str, Any]:
    """Return the slots of a class and its bases."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        for name, entry in vars(base).items():
            if type(entry) is types.MemberDescriptorType and base.__module__ != "builtins":
                found.setdefault(name, entry)
    return found


def _blank(cls: Any) -> Any:
    """Return an instance without attributes."""
    try:
        if issubclass(cls, OrderedDict):
            return OrderedDict.__new__(cls)
        return dict.__new__(cls) if issubclass(cls, dict) else object.__new__(cls)
    except TypeError:
        raise refused(cls) from None


# Reading


def read_enum(reader: Reader) -> Enum:
    """Return a member of an enumeration that still has the same value."""
    cls: Any = _read_class(reader).cls
    name, value = reader.read(), reader.read()
    if not (isinstance(cls, type) and issubclass(cls, Enum)):
        raise _changed(cls, "is no enumeration any more")
    member = cls(value) if name is None else cls._member_map_.get(name)
    if member is None or not _same(member._value_, value):
        raise _changed(cls, f"has another {name or value}")
    return member


def _same(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (int, str)):
        return a == b
    from .writer import encode

    return encode(a) == encode(b)


def read_namedtuple(reader: Reader) -> Any:
    """Return a named tuple."""
    at = reader.at - 1
    plan = _read_class(reader)
    cls: Any = plan.cls
    items = [reader.read() for _ in plan.fields]
    if not (isinstance(cls, type) and hasattr(cls, "_fields") and _named(cls)) or cls._fields != plan.fields:
        raise _changed(cls, f"does not have the fields {', '.join(plan.fields)}")
    value: Any = tuple.__new__(cls, items)
    reader.memo[at] = value
    return value


def read_dataclass(reader: Reader) -> Any:
    """Return an instance of a dataclass."""
    at = reader.at - 1
    plan = _read_class(reader)
    cls = plan.cls
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)) or _fields(cls) != plan.fields:
        raise _changed(cls, f"does not have the fields {', '.join(plan.fields)}")
    value = _blank(cls)
    attributes: dict[str, Any] = {}
    for name in plan.fields:
        if reader.tree[reader.at] == _UNSET:
            reader.at += 1
        else:
            attributes[name] = reader.read()
    for _ in range(reader.count(_OBJECT)):
        name = reader.read_name()
        attributes[name] = reader.read()
    inner = reader.read()
    _set(value, plan, attributes)
    if inner is not None:
        for key, item in dict.items(inner):
            (OrderedDict if isinstance(value, OrderedDict) else dict).__setitem__(value, key, item)
    reader.memo[at] = value
    return value


def _set(value: object, plan: Plan, attributes: dict[str, Any]) -> None:
    for name, slot in plan.slots.items():
        if name in attributes:
            slot.__set__(value, attributes.pop(name))
    if attributes:
        object.__getattribute__(value, "__dict__").update(attributes)


def _read_class(reader: Reader) -> Plan:
    tag = reader.tree[reader.at]
    if tag == _AGAIN:
        return reader.classes[reader.number(_AGAIN)]
    if tag != _CLASS:
        raise ValueError(f"no class at {reader.at}")
    reader.at += 1
    module, name = reader.read_name(), reader.read_name()
    fields = tuple(reader.read_name() for _ in range(reader.count(_CLASS)))
    cls: Any = _find(module, name)
    plan = Plan(len(reader.classes), cls, fields, _slots(cls) if isinstance(cls, type) else {})
    reader.classes.append(plan)
    return plan


def _find(module: str, name: str) -> object:
    """Return an imported class of the program, importing nothing, as that would run code that the encoding names."""
    if module not in sys.modules:
        raise ResultError(f"class {module}.{name} of the result is of a module that is not imported")
    try:
        return _look_up(sys.modules[module], name)
    except Exception as error:
        raise ResultError(f"class {module}.{name} of the result is not there any more ({error})") from error


def _changed(cls: object, how: str) -> ResultError:
    return ResultError(f"class {_called(cls) if isinstance(cls, type) else cls} of the result {how}")
