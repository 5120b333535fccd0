"""Digests of values."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from types import FunctionType
from typing import Any

from .._wrapper import Wrapper
from ..errors import ArgumentError, CodeError
from ._encoder import BY_CONTENT, Encoder, Unkeyed

# In front of every encoding; another number is another format.
FORMAT = b"larder python value 2\n"


def digest(
    value: Any,
    *,
    name: str = "value",
    used: frozenset[str] | None = None,
    known: Mapping[int, int] | None = None,
    fresh: bool = False,
    names: int = BY_CONTENT,
    filed: bool = False,
) -> bytes:
    """Return the key of a value: 32 bytes, the same in every process.

    `name` is what errors call the value. `used` are the names of attributes that the code
    which gets the value mentions, as in `Identity.names`: a method of another name may
    do what no key can tell, as it is not called. `known` are numbers of functions and classes
    that the code knows itself, by their addresses: it can tell whether a value has one of these,
    or another one of the same text. `fresh` leaves out what objects have filled in by themselves,
    `names` says how much of the names of files counts, as in `Identity.names_files`, and `filed` says that what
    code in it opens is watched. Raises ArgumentError for what has no key.
    """
    return sha256(encode(value, name=name, used=used, known=known, fresh=fresh, names=names, filed=filed)).digest()


def encode(
    value: Any,
    *,
    name: str = "value",
    used: frozenset[str] | None = None,
    known: Mapping[int, int] | None = None,
    fresh: bool = False,
    names: int = BY_CONTENT,
    filed: bool = False,
) -> bytes:
    """Return what `digest` is the SHA-256 of.

    Of content that is large there is only the digest in it.
    """
    classes = _Classes(name, used, known or {}, filed)
    e = Encoder(classes.code, fresh)
    e.of_code = known or {}
    try:
        e.add(value)
    except Unkeyed as err:
        raise ArgumentError(f"{name}{err.way} is {err.what}, which has no key: {err.cure}") from None
    except RecursionError:
        raise ArgumentError(
            f"{name} is nested too deeply to have a key, or calls of the program are: "
            "pass less, flatten it, or raise sys.setrecursionlimit"
        ) from None
    if classes.found:
        classes.check()
    if e.files:
        e.name_files(max(names, classes.sight))
    return FORMAT + b"".join(e.out)


class _Classes:
    """The functions and classes that a value has in it."""

    __slots__ = ("filed", "found", "known", "name", "sight", "used")

    def __init__(self, name: str, used: frozenset[str] | None, known: Mapping[int, int], filed: bool = False):
        self.filed = filed
        self.name = name
        self.known = known
        self.used = used
        self.found: list[Any] = []
        self.sight = BY_CONTENT
        """How much code among the values may see of the names of files."""

    def code(self, value: Any) -> bytes:
        from .._code import identity_of, told

        try:
            identity = identity_of(value, filed=self.filed)
        except CodeError as err:
            raise Unkeyed(f"code that cannot be known ({err})", "pass something else") from None
        if identity.refused:
            self.found.append(identity)
        self.sight = max(self.sight, identity.names_files)
        number = self.known.get(id(value))
        found = identity.digest if number is None else identity.digest + b"=%x;" % number
        if isinstance(value, FunctionType):
            found += told(value)
        if isinstance(value, (FunctionType, Wrapper)) and (self.used is None or "__module__" in self.used):
            found += str(value.__module__).encode()
        return found

    def check(self) -> None:
        """Refuse methods that may be called and do what no key can tell."""
        used = self.used
        if used is not None:
            used = used.union(*(identity.names for identity in self.found))
        for identity in self.found:
            for name, why in identity.refused.items():
                if used is None or name in used:
                    raise ArgumentError(f"{self.name} has code in it without a key: {why}")


def digest_rows(array: Any) -> list[bytes]:
    """Return the digest of each row of an array: `digest(array[i])` for each i."""
    from ._arrays import rows

    found: list[bytes] | None = rows(array)
    return found if found is not None else [digest(row, name=f"row {i}") for i, row in enumerate(array)]
