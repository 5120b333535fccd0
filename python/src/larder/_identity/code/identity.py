"""Compute identities of functions, and check whether they are still valid."""

from __future__ import annotations

import datetime
import decimal
import pathlib
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...errors import CodeError
from ..immutable import FIXED
from ..values.encoder import BY_CONTENT, BY_NAME, Encoder, Unkeyed
from ..values.text import describe
from ..wrapper import Wrapper
from .place import of_version, operation
from .rules import THREADED
from .settings import Setting
from .walk import Remade, Walk

# The prefix of the bytes that identities hash; a change of the rules needs another number.
FORMAT = b"larder python code 3\n"


@dataclass(slots=True, frozen=True)
class Part:
    """A part of the identity of a function."""

    path: str
    """The path to it, as in "features -> helper -> LIMIT"."""
    kind: str
    """The kind: function, class, constant, value, library, version."""
    digest: bytes
    text: str
    """A human-readable description: "function m.helper", "m.LIMIT = 3"."""


class Identity:
    """The identity of a function at the moment of its creation.

    `digest` (32 bytes) is the same in each process in which the function would do the same. `parts`
    are what it covers. May be used by several threads.
    """

    __slots__ = (
        *("caches", "dead", "digest", "draws", "takes_files", "live", "name", "names"),
        *("names_files", "parts", "refused", "threads"),
        *("reached", "_changing", "_hold", "_kept", "_roots", "_settings", "_state"),
    )

    caches: list[Any]
    """Caches (`functools.lru_cache`) of functions that read files, and may hold earlier content."""
    digest: bytes
    draws: bool
    """Whether it may draw from random number generators of the process."""
    takes_files: bool
    """Whether it is called with files, so that it may open them and must be watched."""
    name: str
    """The module and the name of the function; a script is named by its file."""
    names: frozenset[str] | None
    """The attributes that its code mentions, or None if any may be."""
    live: frozenset[str]
    """Those of them that reachable code mentions."""
    dead: dict[str, set[str]]
    """The others, by the names of the methods that mention them."""
    names_files: int
    """How much it may see of the names of its files, which is to be in its key (`naming`)."""
    threads: bool
    """Whether it uses libraries that may call functions in other threads."""
    parts: list[Part]
    refused: dict[str, str]
    """The reasons why methods that no code calls by name would be refused, by their names."""
    reached: dict[int, int]
    """The numbers of the functions, classes and values that its code reaches, by their addresses."""
    _hold: Callable[[], bool]
    _kept: list[Any]
    _roots: list[Any]
    _settings: list[tuple[Setting, Any]]
    _changing: bool
    _state: bytes | None

    def follows(self, value: object) -> bool:
        """Report whether it reaches a function, a class or a value."""
        return id(value) in self.reached

    def check(self, *, fresh: bool = False) -> bool:
        """Report whether every function, variable and value that it reaches is unchanged.

        With `fresh`, attributes that objects have filled in themselves since are not changes.
        """
        return (
            self._hold()
            and all(setting.read() == seen for setting, seen in self._settings)
            and (not self._changing or self._state_now(fresh) == self._state)
        )

    def _state_now(self, fresh: bool = False) -> bytes | None:
        numbers = self.reached
        e = Encoder(lambda value: b"%x;" % numbers[id(value)], fresh)
        try:
            for root in self._roots:
                e.add(root)
        except (KeyError, Unkeyed, RecursionError):  # new objects are found when it is identified again
            return None
        e.name_files(BY_NAME)  # another program's code may receive the value
        return sha256(b"".join(e.out)).digest()


def _unchecked() -> bool:
    return True


def identify(function: Any, *, version: str | None = None, allow: frozenset[str] | None = None) -> Identity:
    """Return the identity of a function: of all code and all values that it can reach.

    With a version it covers only the name, the project, module or path, and the version. `allow` are
    names that would be refused and that no result depends on, such as "time.perf_counter"; None if
    the caller has no such option.
    Raises CodeError with the path and a fix if the function depends on what no key covers.
    """
    if version is not None:
        return _of_version(function, version)
    if not callable(function):
        raise CodeError(f"{describe(function)} is not a function: pass one")
    return identity_of(function, takes_files=True, allow=allow)


def identify_made(cls: type) -> Identity:
    """Return the identity of the methods of an existing object.

    Code that creates objects of its class counts as text, and may do what no key covers, unless a
    method may create another one.
    """
    return _identified(cls, made=True, called=True)


def identity_of(
    value: Any, *, takes_files: bool = False, allow: frozenset[str] | None = None, made: bool = False
) -> Identity:
    """Return the identity of a function or a class, computed again only if it has changed.

    `takes_files` says that it is called with files where its parameters say so, by a caller that watches
    what it opens. `made` says that it is the class of an existing object, as for `identify_made`.
    """
    at = id(value), takes_files, allow, made
    known = _known.get(at)
    if known is not None and known.check():
        return known
    found = _identified(value, takes_files, allow, made)
    if isinstance(value, (types.FunctionType, type, types.BuiltinFunctionType, Wrapper)):
        with _lock:
            _known.pop(at, None)
            if len(_known) >= _MOST:
                del _known[next(iter(_known))]
            _known[at] = found
    return found


# The newest identities, by the address of their object. Each holds its object, so no other
# object can have the address.
_known: dict[tuple[int, bool, frozenset[str] | None, bool], Identity] = {}
_MOST = 1024
_lock = threading.Lock()


def _of_version(function: Any, version: str) -> Identity:
    if not isinstance(version, str) or not version:
        raise CodeError(f"the version of {describe(function)} is {version!r}: must be a non-empty string")
    made = Identity()
    made.name = operation(function)
    made.names = None
    made.caches = []
    made.takes_files = made.threads = made.draws = False
    made.names_files = BY_CONTENT
    made.live, made.dead, made.refused, made.reached = frozenset(), {}, {}, {}
    made.digest = sha256(FORMAT + of_version(function, version)).digest()
    made.parts = [Part(made.name, "version", made.digest, f'version "{version}" of {made.name}, set by its author')]
    made._hold, made._roots, made._settings, made._changing = _unchecked, [], [], False
    return made


def _identified(
    value: Any, takes_files: bool = False, allow: frozenset[str] | None = None, made: bool = False, called: bool = False
) -> Identity:
    """Follow what a function or a class reaches, assuming that code creates no further objects of existing classes."""
    try:
        walk = Walk(takes_files, allow)
        if made:
            walk.made(value, called)
        return _followed(value, walk)
    except Remade:
        return _followed(value, Walk(takes_files, allow, whole=True))


def _followed(value: Any, walk: Walk) -> Identity:
    made = Identity()
    made.name = operation(value)
    try:
        walk.run(value, made.name)
    except RecursionError:
        raise CodeError(f"{made.name}: its dependencies are nested too deeply; set a version") from None
    made.names = None if walk.any_name else frozenset(walk.names.union(*walk.dead.values()))
    made.live, made.dead = frozenset(walk.names), walk.dead
    made.refused = walk.refused
    made.takes_files = walk.files
    made.caches = [cache for cache in walk.caches if walk.opens and _reads(cache)]
    made.names_files = walk.sight
    made.threads = not walk.packages.isdisjoint(THREADED)
    made._hold = walk.guards.sealed()
    made.reached, made._kept, made._roots = walk.numbers, walk.referenced, walk.roots
    made._settings = [(root, root.read()) for root in walk.roots if isinstance(root, Setting)]
    made.draws = walk.draws or walk.any_name or may_draw(walk.roots)
    made._changing = len(made._settings) < len(walk.roots)
    made._state = made._state_now()
    if made._roots and made._state is None:
        raise CodeError(f"{made.name}: values that it uses changed while they were read; try again")
    lines = [FORMAT]
    for node in walk.nodes:
        lines += [node.digest(), b"%x:" % len(node.edges), *(b"%x;" % to for to in node.edges)]
    roots = dict(zip(walk.root_nodes, walk.roots, strict=True))
    lines += [b"state", b"".join(b"%x;" % n for n in roots), made._state or b""]
    made.digest = sha256(b"".join(lines)).digest()
    made.parts = [
        Part(node.path, node.kind, _alone(roots[i]) if i in roots else node.digest(), node.text)
        for i, node in enumerate(walk.nodes)
        if node.kind != "root"
    ]
    if not made._hold():
        raise CodeError(f"{made.name}: its dependencies changed while they were read; try again")
    return made


def _reads(cache: Any) -> bool:
    """Report whether a function with a cache may read files."""
    try:
        identity_of(cache.__wrapped__)
    except CodeError:
        return True
    return False


def _alone(value: Any) -> bytes:
    """Return the digest of a value for comparisons in messages, with code in it by its name."""
    e = Encoder(lambda code: str(getattr(code, "__qualname__", "")).encode() + b";")
    e.add(value)
    return sha256(b"".join(e.out)).digest()


_PLAIN = FIXED | {bytearray, datetime.date, datetime.time, datetime.datetime, datetime.timedelta, decimal.Decimal}
_LISTS = (list, tuple, set, frozenset)
_MOST_VALUES = 100_000


def may_draw(values: Any) -> bool:
    """Report whether methods of values, or functions among them, may draw from random number generators.

    If not, draws of other threads while they run do not count for them.
    """
    left, seen = list(values), set[int]()
    while left:
        value = left.pop()
        if type(value) in _PLAIN or isinstance(value, (pathlib.PurePath, Setting)) or id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > _MOST_VALUES:
            return True
        if type(value) in _LISTS:
            left += value
        elif type(value) is dict:
            left += [*value, *value.values()]
        elif isinstance(value, (type, types.FunctionType, Wrapper)):
            if _code_draws(value):
                return True
        elif not _is_numeric(value):
            if not hasattr(value, "__dict__") or hasattr(type(value), "__slots__") or _code_draws(type(value)):
                return True
            left += vars(value).values()
    return False


def _is_numeric(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject


def _code_draws(value: Any) -> bool:
    try:
        return identity_of(value).draws
    except CodeError:
        return True
