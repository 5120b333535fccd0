"""Compute the keys of a function's calls, execute it, and encode its results."""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, Generic, ParamSpec, TypeVar

from .._client import client
from .._client.messages import shown
from .._identity.code.identity import identify, may_draw
from .._identity.digest import digest
from .._identity.environment import nondefault_settings
from .._identity.values.text import describe
from .._identity.wrapper import Wrapper
from .._reads.audit import Watch
from .._results import decode, encode
from .._warnings import warn
from ..errors import LarderWarning, NotCachedWarning
from . import pickled
from .arguments import Arguments, allowed, ignored
from .state import State, code_of

P = ParamSpec("P")
R = TypeVar("R")


class KeyedFunction(Wrapper, Generic[P, R]):
    """A function with what caching its results needs: the keys of its calls, and encodings of its results."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        version: str | None,
        ignore: Iterable[str],
        key: Callable[..., Any] | None,
        codec: str | None,
        allow: Iterable[str] | None,
        cache: str | os.PathLike[str] | None,
    ) -> None:
        if codec not in (None, "pickle"):
            raise TypeError(f'codec must be "pickle" or None, not {codec!r}')
        if isinstance(function, classmethod):
            raise TypeError("memo of a class method: write @classmethod above @larder.memo")
        self._static = isinstance(function, staticmethod)
        if isinstance(function, staticmethod):
            function = function.__func__
        if inspect.isasyncgenfunction(function):
            raise TypeError(f"{describe(function)} is an asynchronous generator, whose results are not cached")
        functools.update_wrapper(self, function)
        self._function = function
        self._version = version
        self._user_version = version
        """The version that the user gave, or None; it then also covers classes of arguments.

        `_version` may also be one of Larder itself, as that of a lazy method.
        """
        self._allow = None if allow is None else allowed(allow)
        self._pickle = codec == "pickle"
        self._arguments = Arguments(function, ignored(ignore), key)
        self._client = client.client_of(cache)
        self._generates = inspect.isgeneratorfunction(function)
        self._waits = inspect.iscoroutinefunction(function)
        self._current: State | None = None
        self._warned = False
        self._counting = threading.Lock()
        self.executions = 0
        """The number of executions of the function in this process."""
        self._seal()
        if self._pickle:
            warn_of(
                f"results of {describe(function)} are cached with pickle: a user who can write to the cache directory "
                "can run code in this program",
                function,
            )

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        raise NotImplementedError

    def _options(self) -> tuple[Any, ...]:
        return (self._pickle, tuple(sorted(self._arguments.ignore)), self._arguments.keyed)

    def _state(self) -> State:
        """Return the current state of the function, with everything that it reaches."""
        current = self._current
        if current is None or not current.identity.check():
            identity = identify(self._function, version=self._version, allow=self._allow)
            mark = b"pickle" if self._pickle else b""
            code = functools.partial(code_of, identity, self._pickle)
            current = State(identity.name, identity.digest + mark, code, identity=identity)
            self._current = current
        return current

    def _key(self, state: State, args: tuple[Any, ...], kwargs: dict[str, Any], fresh: bool = False) -> bytes:
        """Return the key of a call whose arguments already have files in place of paths (`Arguments.with_files`)."""
        values = self._arguments.of(args, kwargs)
        identity, settings = state.identity, nondefault_settings()
        key = digest(
            values,
            name="arguments",
            used=identity.names,
            reached=identity.reached,
            fresh=fresh,
            names=identity.names_files,
            takes_files=identity.takes_files,
            allow=self._allow,
            version=self._user_version,
        )
        if settings or self._arguments.kind:  # a prefix that no argument can have
            key = sha256(digest(settings) + self._arguments.kind + key).digest()
        return key

    def _about(self, state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[dict[str, str]]:
        """Return a description of the arguments of a call in the terms of the protocol."""
        identity = state.identity
        options: dict[str, Any] = {"used": identity.names, "names": identity.names_files}
        options |= {"takes_files": identity.takes_files, "allow": self._allow, "version": self._user_version}
        return [
            {
                "name": name,
                "text": describe(value),
                "digest": shown(digest(value, name=name, **options)),
            }
            for name, value in self._arguments.named(args, kwargs).items()
        ]

    def _execute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function; for a generator, return a list of all that it yields."""
        self._count()
        value = self._function(*args, **kwargs)
        return list(value) if self._generates else value

    def _watch(self, state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Watch | None:
        """Return the watch of a call, or None if a version covers everything that the function does."""
        if self._user_version is not None:
            return None
        identity = state.identity
        return Watch(
            self._arguments.paths(args, kwargs),
            identity.threads,
            self._allow or frozenset(),
            identity.caches,
            lambda: identity.draws or may_draw((args, kwargs)),
            identity.follows,
        )

    def _count(self) -> None:
        with self._counting:
            self.executions += 1

    def _warn_not_cached(self, text: str) -> None:
        warn_of(text, self._function)

    def _encoded(self, value: Any) -> bytes | bytearray:
        return pickled.encode(value) if self._pickle else encode(value)

    def _decoded(self, encoded: Any) -> Any:
        value = pickled.decode(encoded) if self._pickle else decode(encoded)
        return iter(value) if self._generates else value


def warn_of(text: str, function: Any) -> None:
    """Warn of a function at the line of its caller."""
    warn(text, NotCachedWarning if " not cached" in text else LarderWarning, function)
