"""Cache the results of nodes: functions, methods, and files that functions write."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .._client import messages
from .._client.mapped_file import Location
from .._identity.code.identity import identify
from .._identity.digest import digest
from .._identity.distribution import PYTHON
from .._identity.environment import nondefault_settings
from .._memo.computation import MISSING, Computation
from .._memo.memo import Memo, never
from .._memo.state import State, code_of
from .._reads.audit import answered
from ..errors import ResultError


@dataclass(slots=True)
class Obtained:
    """A result, and how it was obtained."""

    value: Any
    key: bytes
    computed: bool
    cached: bool


class Cached(Memo[..., Any]):
    """A function whose results are cached as by `memo`; `unlazy` evaluates the nodes in a result."""

    named = True
    """Whether its parameters have the names that the program uses."""

    def __init__(
        self,
        function: Callable[..., Any],
        unlazy: Callable[[Any], Any],
        *,
        cache: str | os.PathLike[str] | None,
        version: str | None = None,
        ignore: Iterable[str] = (),
        key: Callable[..., Any] | None = None,
        codec: str | None = None,
    ) -> None:
        super().__init__(function, version=version, ignore=ignore, key=key, codec=codec, allow=None, cache=cache)
        if self._waits:
            raise TypeError(f"{self!r}: a coroutine cannot be lazy; call asyncio.computation in a function that can")
        self._unlazy = unlazy
        self._iterates, self._generates = self._generates, False

    def __repr__(self) -> str:
        return f"<lazy {getattr(self._function, '__qualname__', self._function)}>"

    def reached(self) -> dict[int, int]:
        """Return the functions and classes that the function's identity covers, by their addresses."""
        return self._state().identity.reached

    def names_files(self) -> int:
        """Return how much of the names of its files the function can see."""
        return self._state().identity.names_files

    def deep(self) -> bytes:
        """Return the current identity of the function."""
        state, settings = self._state(), nondefault_settings()
        kind = self._arguments.kind
        return state.name.encode() + b"\0" + state.identifier + (digest(settings) if settings else b"") + kind

    def obtain(self, args: tuple[Any, ...], kwargs: dict[str, Any], likely: bool) -> Obtained:
        """Return the result for values, cached or computed.

        If it is likely to be cached, it is first requested by the path that is faster for hits.
        """
        state = self._state()
        positional, named = self._arguments.with_files(args, kwargs)
        key = self._key(state, positional, named)
        try:
            found = self.read(key) if likely or key in state.results else MISSING
        except ResultError:
            return self._obtained(Computation(self, state, key, positional, named), messages.REFRESH)
        if found is not MISSING:
            return Obtained(found, key, False, True)
        return self._obtained(Computation(self, state, key, positional, named), 0)

    def _obtained(self, computation: Computation, flags: int) -> Obtained:
        value = computation.result(flags)
        return Obtained(value, computation.key, computation.value is not MISSING, not computation.not_cached)

    def read(self, key: bytes) -> Any:
        """Return the cached result of a key, or MISSING. The caller may change it."""
        state = self._state()
        found = state.results.get(key)
        if type(found) is Location:
            found = found.mapped()
        if found is None:
            found = self._client.one(state, key)
        if found is None:
            return MISSING
        value = self._decoded(found)
        state.results.add(key, found)
        return value

    def key_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
        """Return the key of a result."""
        return self._key(self._state(), *self._arguments.with_files(args, kwargs))

    def reread(self, key: bytes) -> Any:
        """Return the cached result of a key, or MISSING, even if the server was not asked before."""
        try:
            found = self.read(key)
            if found is MISSING:
                outcome = self._client.get(self._state(), [key], never, messages.FIND)[0]
                found = MISSING if outcome.encoded is None else self._decoded(outcome.encoded)
        except ResultError:
            return MISSING
        return found

    def applied(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
        """Call the function without a lookup; also return whether the result could be cached."""
        positional, named = self._arguments.with_files(args, kwargs)
        watch = self._watch(self._state(), positional, named)
        with watch or answered():
            value = self._execute(positional, named)
        return value, watch is None or not watch.reason()

    def _execute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = self._function(*args, **kwargs)
        if self._iterates or inspect.isgenerator(value):
            value = list(value)
        return self._unlazy(value)


class Method(Cached):
    """A method of any object, or a cached operator, identified by its name and the object's class."""

    named = False

    def __init__(self, name: str, unlazy: Callable[[Any], Any], cache: str | os.PathLike[str] | None) -> None:
        def apply(value: Any, /, *args: Any, **kwargs: Any) -> Any:
            return getattr(value, name)(*args, **kwargs)

        function = operator.matmul if name == "@" else apply
        if name != "@":
            apply.__module__, apply.__qualname__, apply.__name__ = "method", name, name
        super().__init__(function, unlazy, cache=cache, version=f"1 {name} {libraries()}")
        self._user_version = None
        self._names = frozenset(["__matmul__", "__rmatmul__"] if name == "@" else [name])

    def _state(self) -> State:
        current = self._current
        if current is None:
            identity = identify(self._function, version=self._version)
            identity.names = self._names
            code = functools.partial(code_of, identity, False)
            current = self._current = State(identity.name, identity.digest, code, identity=identity)
        return current

    def _warn_not_cached(self, text: str) -> None:
        """Print no warning: the caller of a method did not request that its result be cached."""


@functools.cache
def libraries() -> str:
    """Return the versions of the libraries whose operators and methods plain values have."""
    from importlib.metadata import PackageNotFoundError, version

    found = [str(PYTHON)]
    for name in ("numpy", "torch", "pillow", "pyarrow", "pandas"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            module = sys.modules.get(name)
            if module is not None:
                found.append(f"{name} {getattr(module, '__version__', '')}")
    return ", ".join(found)
