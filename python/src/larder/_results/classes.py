"""Describe the program's classes in encodings: dataclasses, named tuples, enumerations.

They are identified by module and qualified name, and restored without running their code.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections import OrderedDict
from typing import Any

from ..errors import ResultError
from . import kinds
from .kinds import Refused

CLASS, SAME, OBJECT, NAMEDTUPLE, ENUM, UNSET = b"KkOPEU"
"""Tags of nodes: a class, one that was met before, an object, a named tuple, a member, an attribute that is not set."""


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
    return Refused(f'a value of type {called(cls)} cannot be cached; {remedy}, or pass codec="pickle"')


def called(cls: type) -> str:
    """Return the name of a class in messages."""
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"


def is_named_tuple(cls: Any) -> bool:
    """Report whether a class with `_fields` is that of a named tuple."""
    fields = cls._fields
    return type(fields) is tuple and set(map(type, fields)) <= {str} and issubclass(cls, tuple)


MISSING: Any = object()


def slot_of(slot: Any, value: object) -> Any:
    """Return the value in a slot, or MISSING."""
    try:
        return slot.__get__(value)
    except AttributeError:
        return MISSING


def attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an object that are not in slots."""
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return {}
    found.pop("__orig_class__", None)  # set by typing when a generic class is called
    return found


def name_of(cls: type) -> tuple[str, str]:
    """Return the module and name under which a class is found, or refuse it if another object is there."""
    module, name = cls.__module__, cls.__qualname__
    if module == "__mp_main__":  # the name of the program in a spawned process
        module = "__main__"
    if "<locals>" in name:
        raise Refused(
            f"a value of type {called(cls)} cannot be cached, as its class is made by a function; "
            "move the class to its module"
        )
    try:
        found = _look_up(sys.modules[module], name)
    except (AttributeError, KeyError):
        found = None
    if found is not cls:
        raise Refused(
            f"a value of type {called(cls)} cannot be cached, as the name does not refer to its class; "
            "give the class a unique name in its module"
        )
    return module, name


def _look_up(module: types.ModuleType, name: str) -> object:
    found: object = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def fields_of(cls: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass."""
    return tuple(field.name for field in dataclasses.fields(cls))


def slots_of(cls: type) -> dict[str, Any]:
    """Return the slots of a class and its bases."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        for name, entry in vars(base).items():
            if type(entry) is types.MemberDescriptorType and base.__module__ != "builtins":
                found.setdefault(name, entry)
    return found


def blank(cls: Any) -> Any:
    """Return an instance without attributes."""
    try:
        if issubclass(cls, OrderedDict):
            return OrderedDict.__new__(cls)
        return dict.__new__(cls) if issubclass(cls, dict) else object.__new__(cls)
    except TypeError:
        raise refused(cls) from None


def fill(value: object, plan: Plan, attributes: dict[str, Any]) -> None:
    """Set the attributes of a blank instance."""
    for name, slot in plan.slots.items():
        if name in attributes:
            slot.__set__(value, attributes.pop(name))
    if attributes:
        object.__getattribute__(value, "__dict__").update(attributes)


def find(module: str, name: str) -> object:
    """Return an imported class of the program, importing nothing, as that would run code that the encoding names."""
    if module not in sys.modules:
        raise ResultError(f"class {module}.{name} of the result is of a module that is not imported")
    try:
        return _look_up(sys.modules[module], name)
    except Exception as error:
        raise ResultError(f"class {module}.{name} of the result no longer exists ({error})") from error


def changed(cls: object, how: str) -> ResultError:
    """Return the exception that a class is not the one that was encoded."""
    return ResultError(f"class {called(cls) if isinstance(cls, type) else cls} of the result {how}")
