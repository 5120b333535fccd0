"""Encode functions, classes, exceptions, members of enums and objects of any class."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from typing import Any

from ..distribution import PYTHON
from ..library import COMPILED, library_name
from ..wrapper import Bound, Wrapper
from .encoder import Encoder, Unkeyed, Writer

CODE = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    staticmethod,
    classmethod,
    property,
)
"""Types that are identified by their code."""

_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the class was created at run time

# The value of an object of a subclass as its built-in type, whatever the subclass overrides.
CONTENT: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda v: bytes.__getitem__(v, slice(None)),
    bytearray: lambda v: bytearray.__getitem__(v, slice(None)),
    tuple: lambda v: tuple(tuple.__iter__(v)),
    list: lambda v: list(list.__iter__(v)),
    dict: lambda v: dict(dict.items(v)),
    set: lambda v: set(set.__iter__(v)),
    frozenset: lambda v: frozenset(frozenset.__iter__(v)),
    property: lambda v: (v.fget, v.fset, v.fdel),
    staticmethod: lambda v: v.__func__,
    classmethod: lambda v: v.__func__,
}

_CURE = "pass the values it is created from, or give its class a method __larder_key__ that returns them"


def find(cls: type) -> Writer:
    """Return the encoder of a class that has no special rule."""
    if cls is types.BuiltinFunctionType or cls is types.MethodWrapperType:
        return _builtin
    if cls in CODE or issubclass(cls, (type, Wrapper)) or cls.__name__ in COMPILED:
        return _code
    if cls is types.MethodType or issubclass(cls, Bound):
        return _method
    if issubclass(cls, enum.Enum):
        return _member
    try:
        refuse_hidden(cls)
    except Unkeyed:
        if not _says_itself(cls):
            raise
        return reduced
    return _instance


def _says_itself(cls: type) -> bool:
    """Report whether a C class of a library has a method that returns the parts of its objects."""
    owner = library_name(cls)[1]
    own = any("__reduce__" in vars(base) or "__reduce_cython__" in vars(base) for base in cls.__mro__[:-1])
    return owner is not None and owner is not PYTHON and own


def reduced(e: Encoder, value: Any) -> None:
    """Append an object by its reduced form (PEP 307): class, arguments of its constructor, and state."""
    if e.known(value):
        return
    e.of_class(b"J", type(value))
    try:
        made = value.__reduce_ex__(4)
    except Exception as err:
        raise Unkeyed(f"of the type {type(value).__qualname__}, whose state cannot be seen ({err})", _CURE) from err
    if not isinstance(made, tuple):
        raise Unkeyed(f"of the type {type(value).__qualname__}, whose state cannot be seen", _CURE)
    for part in made[1:]:
        e.add(list(part) if hasattr(part, "__next__") else part)


def _code(e: Encoder, value: Any) -> None:
    e.out.append(b"C")
    e.out.append(e.code(value))


def _builtin(e: Encoder, value: Any) -> None:
    """Append a compiled function, and the object that it is bound to if it is a method of a value."""
    own = value.__self__
    if own is None or isinstance(own, (type, types.ModuleType)):
        _code(e, value)
        return
    e.of_class(b"m", type(own))
    e.add(value.__name__)
    e.add(own)


def _method(e: Encoder, value: Any) -> None:
    e.out.append(b"M")
    e.add(value.__func__)
    e.add(value.__self__)


def _member(e: Encoder, value: enum.Enum) -> None:
    e.of_class(b"E", type(value))
    if value._name_ is not None and value._name_ in type(value).__members__:
        e.add(value._name_)
    else:  # combined flags
        e.add(value._value_)
    for name, held in vars(value).items():
        if name not in OF_MEMBERS:
            e.named(b".", name, held)


OF_MEMBERS = frozenset(["_name_", "_value_", "_sort_order_", "__objclass__", "_inverted_", "_hashable_values_"])
"""Attributes that each member of an enum has."""


def _instance(e: Encoder, value: Any) -> None:
    """Append an object by its class, its value as a built-in type, and its attributes."""
    cls = type(value)
    if e.known(value):
        return
    e.of_class(b"O", cls)
    for base, plain in CONTENT.items():
        if issubclass(cls, base):
            e.add(plain(value))
            break
    if issubclass(cls, BaseException):
        e.named(b".", "args", value.args)
        e.named(b".", "__cause__", value.__cause__)
    attributes(e, value, cls)


def attributes(e: Encoder, value: Any, cls: type, without: frozenset[str] = frozenset()) -> None:
    """Append the attributes of an object, without some."""
    name = ""
    try:
        for base in cls.__mro__:
            for name, slot in vars(base).items():
                if type(slot) is types.MemberDescriptorType and name not in without:
                    try:
                        held = slot.__get__(value, cls)
                    except AttributeError:
                        continue
                    e.named(b"/", name, held)
        own = getattr(value, "__dict__", {})
        for name, held in own.items() if isinstance(own, dict) else ():  # otherwise it answers to any name
            if name not in without and not (e.fresh and is_filled(cls, name)):
                e.named(b".", str(name), held)
    except Unkeyed as err:
        raise err.step(f".{name}") from None
    e.out.append(b"$")


def is_filled(cls: type, name: str) -> bool:
    """Report whether an attribute was computed from the others when it was first read."""
    return any(type(vars(base).get(name)) is functools.cached_property for base in cls.__mro__)


def refuse_hidden(cls: type) -> None:
    """Refuse objects of classes implemented in C, whose content cannot be read."""
    for base in cls.__mro__:
        if base in CONTENT or base in BaseException.__mro__:
            continue
        if issubclass(base, BaseException) and not base.__flags__ & _HEAP:
            continue
        if not base.__flags__ & _HEAP or _grows(base):
            where = "" if base is cls else f" (by its base {base.__qualname__})"
            raise Unkeyed(f"of the type {cls.__module__}.{cls.__qualname__}{where}, whose state cannot be seen", _CURE)


def _grows(cls: type) -> bool:
    """Report whether objects of a class have memory beyond that of its base and its slots."""
    base = cls.__base__
    if base is None:
        return False
    own = vars(cls)
    slots = sum(type(slot) is types.MemberDescriptorType for slot in own.values())
    slots += ("__dict__" in own) + ("__weakref__" in own)
    return cls.__basicsize__ - base.__basicsize__ > 8 * slots
