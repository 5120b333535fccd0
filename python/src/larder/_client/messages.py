"""Define what calls of the server are about: functions, computed results and outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FIND, REFRESH, INLINE = 1, 2, 4
"""Flags of calls: compute nothing; delete the cached result first; return no files."""

BYTES, FILE, CACHED, NOT_CACHED, FAILED, ERROR, NONE = range(7)
"""Kinds of outcomes of a call.

- BYTES, FILE: the result, or the path of a file that has it.
- CACHED, NOT_CACHED, FAILED: this process computed it, and it was cached, was not, or raised an error.
- ERROR: the server returns no result, with the reason.
- NONE: it is not cached, and FIND was set.
"""


@dataclass(slots=True)
class Function:
    """A function as the server identifies it."""

    name: str
    identifier: bytes
    """Distinguishes it from other functions in this process."""
    code: Callable[[], dict[str, Any]]
    """Returns the identity of its code in the terms of the protocol."""
    digest: str = ""
    """The digest in `code`, if known before the parts. `claim` then computes the parts only for a computation."""


@dataclass(slots=True)
class Computed:
    """A computed result: the encoding, or the reason why there is none."""

    encoded: bytes | bytearray | None
    error: str = ""
    about: Callable[[], list[dict[str, str]]] | None = None
    """Returns a description of the arguments."""


@dataclass(slots=True)
class Outcome:
    """The outcome for one item: its kind, and the encoding if it was not computed here."""

    kind: int
    encoded: Any = None
    text: str = ""
    cycle: bool = False


@dataclass(slots=True, frozen=True)
class Claim:
    """A result that this process must compute, while others wait for it."""

    function: Function
    digest: bytes
    token: int


def shown(digest: bytes) -> str:
    """Return a digest as the protocol writes it."""
    return "d1-" + digest.hex()
