"""Cache the results of functions, shared by all processes, across restarts."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from .._client import messages
from .._client.mapped_file import Location
from .._client.messages import Computed
from .._identity.wrapper import Bound
from ..errors import ResultError
from .computation import Computation
from .function import KeyedFunction, P, R

if TYPE_CHECKING:
    from .why import Why


class Memo(KeyedFunction[P, R]):
    """A function whose results are cached, created by `memo` and called like the function."""

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the cached result, or else compute it."""
        if self._waits:
            return self._await(args, kwargs)  # type: ignore[return-value]
        state = self._state()
        positional, named = self._arguments.with_files(args, kwargs)
        key = self._key(state, positional, named)
        found = state.results.get(key)
        if type(found) is Location:
            found = found.mapped()
        if found is None:
            found = self._client.one(state, key)
        flags = 0
        if found is not None:
            try:
                result: R = self._decoded(found)
            except ResultError:
                flags = messages.REFRESH  # the cached result has another form
            else:
                state.results.add(key, found)
                return result
        result = Computation(self, state, key, positional, named).result(flags)
        return result

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None or self._static else Method(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined,no-any-return]  # as functions are pickled: by their names

    def __repr__(self) -> str:
        return f"<larder.memo of {getattr(self._function, '__qualname__', self._function)}>"

    def cached(self, /, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Report whether the result is cached, without computing anything."""
        state = self._state()
        key = self._key(state, *self._arguments.with_files(args, kwargs))
        outcome = self._client.get(state, [key], never, messages.FIND)[0]
        return outcome.kind in (messages.BYTES, messages.FILE)

    def forget(self, /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Delete the cached result, if there is one."""
        state = self._state()
        state.results.clear()
        self._client.forget(state, [self._key(state, *self._arguments.with_files(args, kwargs))])

    def refresh(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute the result, whether it is cached or not, and cache it."""
        if self._waits:
            return self._await(args, kwargs, messages.REFRESH)  # type: ignore[return-value]
        state = self._state()
        positional, named = self._arguments.with_files(args, kwargs)
        key = self._key(state, positional, named)
        result: R = Computation(self, state, key, positional, named).result(messages.REFRESH)
        return result

    def why(self, /, *args: P.args, **kwargs: P.kwargs) -> Why:
        """Report whether the result is cached, the parts of its key, and what differs if it is not."""
        from .why import Why

        state = self._state()
        key = self._key(state, *self._arguments.with_files(args, kwargs))
        reply = self._client.why(state, key, self._about(state, args, kwargs))
        return Why.of(state.identity, self._arguments.named(args, kwargs), reply)

    async def _await(self, args: tuple[Any, ...], kwargs: dict[str, Any], flags: int = 0) -> Any:
        """Return the result of a coroutine function as `__call__` does."""
        state = self._state()
        args, kwargs = self._arguments.with_files(args, kwargs)
        key = self._key(state, args, kwargs)
        found = None if flags else self._client.one(state, key)
        if found is not None:
            try:
                return self._decoded(found)
            except ResultError:
                flags = messages.REFRESH  # the cached result has another form
        return await Computation(self, state, key, args, kwargs).result_of_coroutine(flags)


class Method(Bound):
    """A memo bound to an object, which is its first argument."""

    def __init__(self, memo: Memo[..., Any], instance: Any) -> None:
        self.__self__, self.__func__ = instance, memo
        functools.update_wrapper(self, memo._function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("cached", "forget", "refresh", "why"):
            return functools.partial(getattr(self.__func__, name), self.__self__)
        return getattr(self.__func__, name)


def never(which: list[int]) -> list[Computed]:
    """Compute nothing, because only cached results are requested."""
    raise AssertionError("no result must be computed")


@overload
def memo(function: Callable[P, R], /) -> Memo[P, R]: ...


@overload
def memo(
    *,
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Any] | None = None,
    codec: str | None = None,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[P, R]], Memo[P, R]]: ...


def memo(
    function: Callable[..., Any] | None = None,
    /,
    *,
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Any] | None = None,
    codec: str | None = None,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Any:
    """Cache the results of a function; use this as a decorator.

    A cached result is returned only if the function would compute the same. Its key covers the
    code of the function with everything that it reaches, and the content of the arguments.
    What has no key is refused: `CodeError` names the part of the function, and
    `ArgumentError` the part of the arguments. Exceptions are raised and never cached.

    - `version` replaces the key of the code: a string to change by hand whenever results do.
    - `ignore` names parameters that results do not depend on.
    - `key` is a function that is called with the arguments and returns what identifies them,
      in place of their content.
    - `codec="pickle"` caches results that cannot be cached otherwise. Reading such a result
      runs code of the process that wrote it.
    - `allow` names things that would be refused and that no result depends on, such as
      "time.perf_counter" for times that are logged. The name of a module covers all in it.
    - `cache_dir` is the cache directory; None is the default.

    A call returns the cached result, also the first time: arrays of NumPy are read-only. The
    result of a generator is everything that it yields.
    """
    options: dict[str, Any] = {"version": version, "ignore": ignore, "key": key, "codec": codec, "allow": allow}
    options["cache"] = cache_dir
    if function is None:
        return lambda function: Memo(function, **options)
    return Memo(function, **options)
