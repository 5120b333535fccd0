"""Refuse values that would change when they are decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import ResultError
from .kinds import Kind, Refused
from .reader import decode
from .writer import Writer, of_kind


def checked(kind: Kind) -> Kind:
    """Return a kind whose values are decoded when they are encoded, and refused if the two differ."""
    write_plain = of_kind(kind)

    def write(writer: Writer, value: Any) -> None:
        if not writer.checking and id(value) not in writer.memo:
            _check(value)
        write_plain(writer, value)

    return replace(kind, write=write)


def _check(value: object) -> None:
    """Refuse a value that would change when it is decoded."""
    first, second = Writer(), Writer()
    first.checking = second.checking = True
    first.write(value)
    encoded = b"".join(first.finish())
    try:
        second.write(decode(encoded))
        same = b"".join(second.finish()) == encoded
    except (ResultError, Refused):
        same = False
    if not same:
        raise Refused(
            f"this {type(value).__name__} cannot be cached, as it would be restored with a different value; {_PLAINER}"
        )


_PLAINER = "return one of plain columns, or its arrays"
