"""Compute digests of values."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from types import FunctionType
from typing import Any

from ..errors import ArgumentError, CodeError
from .code.functions import description
from .code.identity import identity_of
from .code.place import of_version
from .library import CURES, is_in_module, is_model
from .values import text
from .values.encoder import BY_CONTENT, FORMAT, Encoder, Unkeyed
from .wrapper import Wrapper


def digest(
    value: Any,
    *,
    name: str = "value",
    used: frozenset[str] | None = None,
    reached: Mapping[int, int] | None = None,
    fresh: bool = False,
    names: int = BY_CONTENT,
    takes_files: bool = False,
    allow: frozenset[str] | None = None,
    version: str | None = None,
) -> bytes:
    """Return the key of a value: 32 bytes, the same in every process.

    `name` is the name of the value in errors. `used` are the names of attributes that the code
    which receives the value mentions, as in `Identity.names`. A method of another name is not
    called, so it may do what no key covers. `reached` are the numbers of functions and classes that
    the code reaches, by address: code can tell whether a value holds one of these or another one
    with the same text. `fresh` leaves out attributes that objects fill in themselves. `names` says
    how much of the names of files counts, as in `Identity.names_files`. `takes_files` says that files
    opened by code in the value are watched. `allow` are names that its code may reach, as for
    `identify`. A `version` replaces the identity of functions and classes of modules that have
    none. Raises ArgumentError if the value has no key.
    """
    encoded = encode(
        value,
        name=name,
        used=used,
        reached=reached,
        fresh=fresh,
        names=names,
        takes_files=takes_files,
        allow=allow,
        version=version,
    )
    return sha256(encoded).digest()


def encode(
    value: Any,
    *,
    name: str = "value",
    used: frozenset[str] | None = None,
    reached: Mapping[int, int] | None = None,
    fresh: bool = False,
    names: int = BY_CONTENT,
    takes_files: bool = False,
    allow: frozenset[str] | None = None,
    version: str | None = None,
) -> bytes:
    """Return the bytes whose SHA-256 is `digest`.

    They have only the digest of large content.
    """
    classes = _Classes(name, used, reached or {}, takes_files, allow, version)
    e = Encoder(classes.code, fresh, classes.made)
    e.of_code = reached or {}
    try:
        e.add(value)
    except Unkeyed as err:
        raise ArgumentError(f"{name}{err.way} is {err.what}, which has no key: {err.fix}") from None
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
    """The functions and classes in a value."""

    __slots__ = ("allow", "found", "name", "reached", "sight", "takes_files", "used", "version")

    def __init__(
        self,
        name: str,
        used: frozenset[str] | None,
        reached: Mapping[int, int],
        takes_files: bool = False,
        allow: frozenset[str] | None = None,
        version: str | None = None,
    ) -> None:
        self.takes_files = takes_files
        self.allow, self.version = allow, version
        self.name = name
        self.reached = reached
        self.used = used
        self.found: dict[int, Any] = {}
        self.sight = BY_CONTENT
        """How much of the names of files code among the values may see."""

    def made(self, cls: type) -> bytes:
        """Return the identity of an object's class; for an existing model, without code that creates another."""
        return self.code(cls, self.used is not None and "__class__" not in self.used and is_model(cls))

    def code(self, value: Any, made: bool = False) -> bytes:
        try:
            identity = identity_of(value, takes_files=self.takes_files, allow=self.allow, made=made)
        except CodeError as err:
            # A function or class created in a function may have captured what distinguishes it from another.
            named = isinstance(value, (type, FunctionType)) and is_in_module(value, value.__module__)
            if self.version is not None and named:
                return of_version(value, self.version)
            said = str(err) if named else str(err).replace(CURES, "or pass key=")
            raise Unkeyed(
                f"code that cannot be identified ({said})", "pass the values it is created from, or pass key="
            ) from None
        self.found[id(identity)] = identity
        self.sight = max(self.sight, identity.names_files)
        number = self.reached.get(id(value))
        found = identity.digest if number is None else identity.digest + b"=%x;" % number
        if isinstance(value, FunctionType):
            found += description(value)
        if isinstance(value, (FunctionType, Wrapper)) and (self.used is None or "__module__" in self.used):
            found += str(value.__module__).encode()
        return found

    def check(self) -> None:
        """Refuse methods that may be called and do what no key covers."""
        refused = {name: why for identity in self.found.values() for name, why in identity.refused.items()}
        if not refused or self.version is not None:
            return
        called = self._called()
        for name, why in refused.items():
            if called is None or name in called:
                raise ArgumentError(f"{self.name} has code in it without a key: {why}")

    def _called(self) -> frozenset[str] | None:
        """Return the names of methods that may be called, or None if they may be any."""
        if self.used is None or any(identity.names is None for identity in self.found.values()):
            return None
        called = self.used.union(*(identity.live for identity in self.found.values()))
        left = [pair for identity in self.found.values() for pair in identity.dead.items()]
        # An entry with a path is a variable of a library, which may call it.
        while live := [pair for pair in left if pair[0] in called or "." in pair[0]]:
            left = [pair for pair in left if pair not in live]
            called = called.union(*(names for _, names in live))
        return called


def digest_rows(array: Any) -> list[bytes]:
    """Return the digest of each row of an array: `digest(array[i])` for each i."""
    from .values.arrays import rows

    found: list[bytes] | None = rows(array)
    return found if found is not None else [digest(row, name=f"row {i}") for i, row in enumerate(array)]


text.shows(digest)
