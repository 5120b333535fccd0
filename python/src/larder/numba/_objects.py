"""Follow classes of the program and their objects."""

from __future__ import annotations

import abc
import dataclasses
import enum
import types as pytypes
from typing import Any

from .._identity.code.abstract import registered
from .._identity.code.annotations import hints
from .._identity.code.refusals import words
from .._identity.library import library_name
from .._identity.values.encoder import Unkeyed
from .._identity.values.objects import CONTENT, refuse_hidden
from .._identity.values.text import describe
from . import _kinds
from ._errors import Refused
from ._node import Node
from ._walker import Walker

_SLOTS = (pytypes.MemberDescriptorType, pytypes.GetSetDescriptorType)

_OF_EVERY_CLASS = frozenset(
    words(
        "__dict__ __weakref__ __module__ __firstlineno__ __static_attributes__ __annotations__ __annotate__ __doc__ "
        "__annotate_func__ __annotations_cache__ __qualname__ _abc_impl __orig_bases__ __parameters__ __type_params__ "
        "__classdictcell__ __dataclass_fields__ __dataclass_params__ _tuplegetter __slotnames__"
    )
)


def follow_class(walk: Walker, node: Node) -> None:
    """Append a class: its bases, members and fields."""
    cls = node.value
    name, owner = library_name(cls)
    node.out.append(f"class {_kinds.home(cls.__module__)}.{cls.__qualname__} ".encode())
    if node.runs and isinstance(cls, abc.ABCMeta):
        node.out.append(f"registered {registered(cls)} ".encode())
    if owner is not None:
        walk.library(node, name, owner, node.path, node.runs)
        return
    if library_name(type(cls))[1] is None:
        walk.value(node, type(cls), f"{node.path} -> metaclass {type(cls).__qualname__}", node.runs)
    if _kinds.is_jitclass(cls):
        raise Refused(node.path, "a class of jitclass, which numba does not keep")
    for base in cls.__bases__:
        walk.value(node, base, f"{node.path} -> base {base.__qualname__}", node.runs)
    if issubclass(cls, enum.Enum):
        for name, member in cls.__members__.items():
            node.out.append(f"member {name} ".encode())
            walk.value(node, member._value_, f"{node.path}.{name}", node.runs)
    for name, member in sorted(vars(cls).items()):
        if name in _OF_EVERY_CLASS or isinstance(member, _SLOTS) or (name.startswith("_") and _is_enum(cls)):
            continue
        if isinstance(member, enum.Enum) and type(member) is cls:
            continue
        if not node.runs and _is_silent(cls, name, member):
            continue
        node.out.append(f"attribute {name} ".encode())
        walk.guarded(node, walk.value, node, member, f"{node.path}.{name}", node.runs)
    if node.runs and "__dataclass_fields__" in vars(cls):
        _fields(walk, node, cls)


def _fields(walk: Walker, node: Node, cls: Any) -> None:
    """Append the declarations of a dataclass's fields, which running code may read."""
    node.out.append(repr(hints(cls)).encode())
    for field_ in dataclasses.fields(cls):
        path = f"{node.path}.{field_.name}"
        flags = (field_.name, field_.init, field_.repr, field_.hash, field_.compare, field_.kw_only)
        walk.value(node, flags, path, True)
        for part in (field_.default, field_.default_factory):
            if part is not dataclasses.MISSING:
                walk.value(node, part, path, True)
        walk.items(node, dict(field_.metadata), f"{path}.metadata", True)


def follow_object(walk: Walker, node: Node) -> None:
    """Append an object of a program's class: its class, its value as a built-in type, its attributes."""
    value, path, runs = node.value, node.path, node.runs
    cls = type(value)
    try:
        refuse_hidden(cls)
    except Unkeyed as unkeyed:
        raise Refused(path, f"{describe(value)}, {unkeyed.what}") from None
    walk.refer(node, cls, path, runs)
    for base, plain in CONTENT.items():
        if isinstance(value, base):
            walk.value(node, plain(value), path, runs)
            break
    if isinstance(value, BaseException):
        walk.value(node, value.args, path, runs)
    for base in cls.__mro__:
        for name, slot in vars(base).items():
            if type(slot) is pytypes.MemberDescriptorType:
                node.out.append(name.encode() + b"/")
                walk.value(node, getattr(value, name, None), f"{path}.{name}", runs)
    for name, held in sorted(getattr(value, "__dict__", {}).items()):
        node.out.append(name.encode() + b" ")
        walk.value(node, held, f"{path}.{name}", runs)


def _is_silent(cls: type, name: str, member: Any) -> bool:
    """Report whether a member of a class is a method that neither compiled code nor numba calls."""
    if not isinstance(member, (pytypes.FunctionType, staticmethod, classmethod, property)):
        return False
    return issubclass(cls, (BaseException, enum.Enum)) or (issubclass(cls, tuple) and not name.startswith("__"))


def _is_enum(cls: type) -> bool:
    return issubclass(cls, enum.Enum)


def follow_type(walk: Walker, node: Node) -> None:
    """Append what a type of a program's class holds, which code registered for it may read."""
    for name, held in sorted(vars(node.value).items()):
        if name not in ("name", "_code"):  # the latter is a number that types have in this process
            node.out.append(f".{name} ".encode())
            walk.value(node, held, f"{node.path}.{name}", True)
