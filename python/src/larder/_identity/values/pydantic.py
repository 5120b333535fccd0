"""Encode parts of classes of pydantic, without the addresses and compiled validators in them."""

from __future__ import annotations

from typing import Any

from .encoder import Encoder, Writer
from .objects import attributes

_LEFT_OUT = {
    "pydantic._internal._decorators.Decorator": frozenset(["cls_ref"]),
    "pydantic.type_adapter.TypeAdapter": frozenset(["core_schema", "validator", "serializer", "pydantic_complete"]),
}
"""Attributes by class that follow from others or have an address in them."""


def find(cls: type) -> Writer | None:
    """Return the encoder of a class of pydantic that has such attributes."""
    left_out = _LEFT_OUT.get(f"{cls.__module__}.{cls.__qualname__}")
    if left_out is None:
        return None

    def write(e: Encoder, value: Any) -> None:
        if not e.known(value):
            e.of_class(b"O", cls)
            attributes(e, value, cls, left_out)

    return write
