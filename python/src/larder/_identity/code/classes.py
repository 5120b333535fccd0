"""Follow classes: their bases, members and declarations."""

from __future__ import annotations

import abc
import enum
import functools
import re
import types
from typing import Any

from ...errors import CodeError
from .. import distribution
from ..library import CURES, is_code, library_name, patched_methods, shown_module
from ..values.encoder import Encoder, Unkeyed
from ..values.objects import OF_MEMBERS
from ..values.text import describe
from .abstract import registered
from .annotations import hints
from .node import Node
from .refusals import words
from .walker import Walker

# Attributes that every class has, regardless of its source.
_OF_EVERY_CLASS = frozenset(
    words(
        "__dict__ __weakref__ __module__ __firstlineno__ __static_attributes__ __annotations__ __annotate__ "
        "__annotate_func__ __annotations_cache__ __qualname__ _abc_impl __orig_bases__ __parameters__ "
        "__type_params__ __classdictcell__ _member_map_ _value2member_map_ _unhashable_values_ "
        "_hashable_values_ _unhashable_values_map_ __protocol_attrs__ __non_callable_proto_members__ "
        "__dataclass_fields__ __slotnames__ "
        # pydantic creates these from the fields and decorators of a class, with addresses in them
        "__pydantic_core_schema__ __pydantic_validator__ __pydantic_serializer__ __pydantic_setattr_handlers__"
    )
)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

# Modules of the standard library whose classes call only methods with two underscores.
_QUIET = frozenset(["builtins", "abc", "enum", "typing", "collections", "collections.abc", "dataclasses", "contextlib"])

_OF_SYMPY = frozenset(["default_assumptions", "_prop_handler"])
"""Attributes that sympy creates for each class, in another order in each process."""


def begin_class(walk: Walker, cls: type, path: str) -> None:
    """Add the node of a class; what a class of the program holds is followed next."""
    name, owner = library_name(cls)
    if owner is not None:
        walk.refuse_named(name, owner, path)
        node = walk.library_node(path, name, owner)
        if isinstance(cls, abc.ABCMeta):
            _registered(walk, node, cls)
        for attribute, function in patched_methods(cls):
            node.out.append(attribute.encode())
            walk.queue.append(functools.partial(walk.follow, node, function, f"{path}.{attribute}"))
        if owner is not distribution.PYTHON:
            walk.guards.size(vars(cls))  # the program may put a method there
            if "forward" in vars(cls):
                walk.guards.name(vars(cls), "forward", vars(cls)["forward"])
        return
    node = walk.new_node(path, "class", f"class {shown_module(cls.__module__)}.{cls.__qualname__}")
    walk.queue.append(lambda: _class(walk, node, cls))


def _class(walk: Walker, node: Node, cls: type) -> None:
    path = node.path
    node.out.append(f"class {cls.__module__}.{cls.__qualname__}".encode())  # which any object of it reveals
    walk.guards.bases(cls)
    for base in cls.__bases__:
        where = f"{path} -> base {base.__qualname__}"
        if issubclass(cls, enum.Enum) and is_code(base):  # which does not convert values to strings
            walk.add_edge(node, walk.code(base, where, True))
        else:
            walk.follow(node, base, where)
    _type_arguments(walk, node, cls, path)
    walk.follow(node, type(cls), f"{path} -> metaclass {type(cls).__qualname__}")
    e = Encoder(_no_code)
    e.add(hints(cls))
    node.out.extend(e.out)
    walk.annotated.append((cls, node))
    if issubclass(cls, enum.Enum):
        _members_of_enum(walk, node, cls)
    if isinstance(cls, abc.ABCMeta):
        _registered(walk, node, cls)
    walk.guards.watch_mapping(vars(cls))
    made = cls in walk.existing
    loud = _is_loud(cls) and not made
    own = frozenset(name for base in cls.__mro__ if library_name(base)[1] is None for name in vars(base))
    walk.names.update(name for name in vars(cls).get("__match_args__", ()) if isinstance(name, str))
    for name, member in sorted(vars(cls).items(), key=lambda item: item[0]):
        if name in _OF_EVERY_CLASS or (isinstance(member, enum.Enum) and type(member) is cls):
            continue
        if name in _OF_SYMPY and isinstance(member, dict) and _is_of_sympy(cls):
            member = dict(sorted(member.items()))
        for function in functions_of(member):
            walk.of_classes[id(function)] = own
        if made and name in walk.preparing and not walk.is_called(name):
            node.out.append(f"member {name} ".encode())
            walk.methods.append((name, member, node))
        else:
            _member(walk, node, name, member, f"{path}.{name}", loud or (made and _is_inherited(cls, name)))
    fields = vars(cls).get("__dataclass_fields__", {})
    for name, held in fields.items():
        _dataclass_field(walk, node, held, f"{path}.{name}")


def _type_arguments(walk: Walker, node: Node, cls: type, path: str) -> None:
    """Follow the type arguments of bases (Repository[User]), which methods and object creation may read."""
    e = Encoder(lambda inner: b"%x;" % walk.code(inner, f"{path} -> type argument {describe(inner)}", True))
    for base in vars(cls).get("__orig_bases__", ()):
        try:
            e.add(base)
        except Unkeyed as err:
            raise CodeError(f"{path} -> base {describe(base)}: {err.what}; {err.fix}, {CURES}") from None
    node.out.extend(e.out)


def _registered(walk: Walker, node: Node, cls: abc.ABCMeta) -> None:
    """Add the program's classes registered with an abstract class, or with a class based on it."""
    names = registered(cls)
    node.out.append(f"registered {names}".encode())
    walk.guards.registers()


def _member(walk: Walker, node: Node, name: str, member: Any, path: str, loud: bool) -> None:
    node.out.append(f"member {name} ".encode())
    if isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return  # a slot
    inner = member.func if type(member) is functools.cached_property else member
    method = type(inner) in (types.FunctionType, staticmethod, classmethod, property)
    dunder = name.startswith("__") and name.endswith("__")
    if method and not dunder and not loud and not walk.is_called(name):
        walk.methods.append((name, inner, node))
    elif name == "_member_type_" and is_code(member):  # of an enumeration, which does not convert values to strings
        walk.add_edge(node, walk.code(member, path, True))
    elif inner is not member:
        node.out.append(b"cached property")
        walk.follow(node, inner, path)
    elif name == "__doc__" and isinstance(member, str):
        # Some contain an address: that of the defaults of a dataclass.
        walk.follow(node, _ADDRESS.sub("", member), path)
    elif type(member) is functools.singledispatchmethod:
        walk.follow(node, member.dispatcher, path)
    else:
        walk.follow(node, member, path)


def _is_loud(cls: type) -> bool:
    """Report whether a base belongs to a library that may call any method of the class."""
    for base in cls.__mro__[1:]:
        _, owner = library_name(base)
        if owner is not None and base.__module__ not in _QUIET:
            return True
    return False


def _members_of_enum(walk: Walker, node: Node, cls: type[enum.Enum]) -> None:
    for name, member in cls.__members__.items():
        node.out.append(f"member {name} ".encode())
        walk.follow(node, member._value_, f"{node.path}.{name}")
        own = {k: v for k, v in vars(member).items() if k not in OF_MEMBERS}
        for key, held in own.items():
            node.out.append(key.encode())
            walk.follow(node, held, f"{node.path}.{name}.{key}")


def _dataclass_field(walk: Walker, node: Node, held: Any, path: str) -> None:
    e = Encoder(_no_code)
    e.add((held.name, held.init, held.repr, held.hash, held.compare, held.kw_only, held._field_type.name))
    node.out.extend(e.out)
    for part in (held.default, held.default_factory):
        walk.follow(node, part, path)
    if held.metadata:
        walk.follow(node, held.metadata, f"{path}.metadata")


def _is_of_sympy(cls: type) -> bool:
    return any(base.__module__.startswith("sympy.") for base in cls.__mro__)


def _is_inherited(cls: type, name: str) -> bool:
    """Report whether a base of a library has a name, so that the library may call it."""
    return any(name in vars(base) for base in cls.__mro__[1:] if library_name(base)[1] is not None)


def functions_of(member: Any) -> list[types.FunctionType]:
    if isinstance(member, property):
        return [f for f in (member.fget, member.fset, member.fdel) if isinstance(f, types.FunctionType)]
    if isinstance(member, type):
        return [f for held in vars(member).values() if not isinstance(held, type) for f in functions_of(held)]
    inner = getattr(member, "__func__", member)
    return [inner] if isinstance(inner, types.FunctionType) else []


def _no_code(value: Any) -> bytes:
    raise TypeError(f"expected code, not {type(value)}")
