"""Hold the current state of a function: its identity, and the results that this process has seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._client.mapped_file import MappedFile
from .._client.messages import Function, shown
from .._identity.code.identity import Identity
from .._identity.digest import digest

SMALL = 1024
"""The maximum size in bytes of a result that this process holds."""

_MOST = 4096


class LocalResults(dict[bytes, Any]):
    """Encoded results of a function in this process, by key: small ones, and the locations of large ones."""

    __slots__ = ()

    def add(self, key: bytes, encoded: Any) -> None:
        """Hold a small result, or the location of a large one, for the next call."""
        if type(encoded) is MappedFile:
            encoded = encoded.location
        elif type(encoded) is not bytes or len(encoded) > SMALL:
            return
        if len(self) >= _MOST:
            self.clear()
        self[key] = encoded


@dataclass(slots=True, kw_only=True)
class State(Function):
    """The current state of a function, with its identity.

    A memo publishes both by one assignment, and a call continues with those that it began with. So
    threads that share a memo never see one without the other. Only `results` changes.
    """

    identity: Identity
    results: LocalResults = field(default_factory=LocalResults)


def code_of(identity: Identity, pickled: bool) -> dict[str, Any]:
    """Return the identity of a function in the terms of the protocol."""
    mark = "pickle " if pickled else ""
    return {
        "version": "",
        "digest": shown(digest((mark, identity.digest))),
        "parts": [{"name": part.text, "where": part.path, "digest": shown(part.digest)} for part in identity.parts],
    }
