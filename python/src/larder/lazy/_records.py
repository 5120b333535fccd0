"""Store the keys of results by the keys of whole trees.

So the result at the root of a tree that was evaluated before is found immediately, and
nothing below the root is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from .._client.client import Client
from .._client.messages import FIND, REFRESH, Computed, Function, shown
from .._results import decode, encode
from ..errors import ResultError, ServerError
from ._classes import unchanged

_MARK = sha256(b"larder lazy record 1\n").digest()
_RECORDS = Function("larder.lazy", _MARK, lambda: {"version": "1", "digest": shown(_MARK), "parts": []})
_MOST = 1000
"""The maximum number of records in one request."""


@dataclass(slots=True, frozen=True)
class Record:
    """The key of a result, and the program's classes in the values below it."""

    key: bytes
    classes: tuple[tuple[str, str, bytes], ...]


def find(client: Client, keys: Sequence[bytes]) -> dict[bytes, Record]:
    """Return the stored records of trees that are still valid."""
    found: dict[bytes, Record] = {}
    if len(keys) == 1:
        _read(found, keys[0], client.one(_RECORDS, keys[0]))
        if found:
            return found
    for at in range(0, len(keys), _MOST):
        some = keys[at : at + _MOST]
        try:
            outcomes = client.get(_RECORDS, some, _never, FIND)
        except ServerError:  # reported when a result is requested
            return found
        for key, outcome in zip(some, outcomes, strict=True):
            _read(found, key, outcome.encoded)
    return found


def _read(found: dict[bytes, Record], key: bytes, encoded: bytes | None) -> None:
    if encoded is None:
        return
    try:
        record = Record(*decode(encoded))
    except (ResultError, TypeError):
        return
    if unchanged(record.classes):
        found[key] = record


def keep(client: Client, records: dict[bytes, Record]) -> None:
    """Store records, replacing those under their keys."""
    keys = list(records)
    for at in range(0, len(keys), _MOST):
        some = keys[at : at + _MOST]

        def made(which: list[int], some: Sequence[bytes] = some) -> list[Computed]:
            return [Computed(encode((records[some[i]].key, records[some[i]].classes))) for i in which]

        try:
            client.get(_RECORDS, some, made, REFRESH)
        except ServerError:
            return


def _never(which: list[int]) -> list[Computed]:
    raise AssertionError("no result must be computed")
