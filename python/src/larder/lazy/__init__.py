"""Build lazy trees: calls that are recorded, and computed when their values are requested.

    from larder.lazy import Lazy, unlazy

    lazy = Lazy()

    @lazy
    def load(path: larder.File) -> list[float]: ...

    @lazy
    def score(values: list[float]) -> float: ...

    print(unlazy(score(load("data.csv")) * 100))

Each result of a function is cached as by `larder.memo`. A tree that was evaluated before is
found by its root, and nothing below the root is read.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from .._client.client import Client, client_of
from .._identity.code.place import operation as name_of
from .._identity.wrapper import Wrapper
from ._keep import Cached, Method
from ._node import Node, Operation
from ._objects import VALUE, LazyObject, handle_of, unlazy

if TYPE_CHECKING:
    from ._file import LazyFile

__all__ = ["DirCache", "DirCache_v2", "Lazy", "LazyFunction", "LazyObject", "lazy", "unlazy"]

T = TypeVar("T")
R = TypeVar("R")


class LazyFunction(Wrapper, Generic[R]):
    """A function whose calls are lazy, created by `Lazy`."""

    def __init__(self, lazy: Lazy, cached: Cached, function: Callable[..., Any], keep: bool) -> None:
        functools.update_wrapper(self, function)
        self._lazy, self._kept = lazy, cached
        self._function, self._version = cached._function, cached._version
        self._static = isinstance(function, staticmethod)
        self._operation = Operation(name_of(cached._function), cached._function, cached=cached, keep=keep)
        self._seal()

    def __call__(self, /, *args: Any, **kwargs: Any) -> LazyObject[R]:
        """Return a node; its value is the result, computed when it is requested."""
        arguments = self._kept._arguments
        if kwargs or not arguments.plain or len(args) != arguments.count:
            arguments.signature.bind(*args, **kwargs)
        made = handle_of(Node(self._lazy, self._operation, args, kwargs))
        if self._lazy.onplace:
            return cast("LazyObject[R]", unlazy(made))
        if self._lazy.fastdo:
            unlazy(made)
        return made

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None or self._static else functools.partial(self, instance)

    def _options(self) -> tuple[Any, ...]:
        return ("lazy", self._lazy.onplace, *self._kept._options())

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined,no-any-return]  # as functions are pickled: by their names

    def __repr__(self) -> str:
        return repr(self._kept)


class DirCache(os.PathLike[str]):
    """A cache directory under evalcache's name for its own; the cache is in `larder` below it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.join(os.fspath(path), "larder")

    def __fspath__(self) -> str:
        return self._path


DirCache_v2 = DirCache
"""Another name of `DirCache`."""

_REFUSED = {
    "encache": "pass cached=False to cache nothing",
    "decache": "pass cached=False to cache nothing",
    "onuse": "pass onplace=True, which returns values in place of lazy objects, or use larder.memo",
    "onstr": "str() evaluates, and repr() does not",
    "onrepr": "str() evaluates, and repr() does not",
    "function_dump": "functions are identified by all code that they reach",
    "function_file": "functions are identified by all code that they reach",
    "hint": 'pass version="..."',
    "pedantic": "what has no key is always refused",
    "diag_values": "diag=True prints names and keys",
    "print_invokes": "diag=True prints names and keys",
    "updatehash_profiling": "it has no replacement",
    "status_notify": "it has no replacement; diag=True prints each node",
    "transparent": "it has no replacement; keep=False keeps no results of a function",
    "prevent_unwrap_in_child": "it has no replacement; pass what is to stay lazy as a function",
    "cls": "it has no replacement",
}


class Lazy:
    """Makes functions and values lazy.

    - `cache` is the cache directory; None is the default, which all of Larder shares.
    - `cached=False` caches no results: trees are evaluated again each time.
    - `diag=True` prints a line for each node that is evaluated: `load` for a cached result,
      `save` for one computed and cached, `eval` for one computed and not cached, `endp` for a
      value; then the key of the tree, and its label.
    - `onplace=True` makes functions return values instead of lazy objects.
    - `fastdo=True` evaluates calls immediately, which shows errors where the call is.
    - `onbool=False` makes `bool()` of a lazy object a TypeError.

    May be used by several threads.
    """

    def __init__(
        self,
        cache: str | os.PathLike[str] | None = None,
        *,
        cached: bool = True,
        diag: bool = False,
        onplace: bool = False,
        fastdo: bool = False,
        onbool: bool = True,
        algo: object = None,
        **others: object,
    ) -> None:
        _refuse("Lazy", others)
        if cache is not None and not isinstance(cache, (str, os.PathLike)):
            raise TypeError(f"cache must be a path or None, not {type(cache).__name__}")
        self.cache = None if cache is None else os.path.abspath(os.fspath(cache))
        self.cached = cached
        self.diag = diag
        self.onplace = onplace
        self.fastdo = fastdo
        self.onbool = onbool
        self._methods: dict[str, Operation] = {}

    @property
    def client(self) -> Client:
        """The client of the server of the cache directory."""
        return client_of(self.cache)

    @overload
    def __call__(self, thing: LazyFunction[R], /) -> LazyFunction[R]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, thing: LazyObject[T], /) -> LazyObject[T]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        thing: Callable[..., R],
        /,
        *,
        version: str | None = None,
        ignore: Iterable[str] = (),
        key: Callable[..., Any] | None = None,
        codec: str | None = None,
        keep: bool | None = None,
    ) -> LazyFunction[R]: ...

    @overload
    def __call__(self, thing: T, /) -> LazyObject[T]: ...

    @overload
    def __call__(
        self,
        *,
        version: str | None = None,
        ignore: Iterable[str] = (),
        key: Callable[..., Any] | None = None,
        codec: str | None = None,
        keep: bool | None = None,
    ) -> Callable[[Callable[..., R]], LazyFunction[R]]: ...

    def __call__(self, *things: Any, keep: bool | None = None, **options: Any) -> Any:
        """Return a function whose calls are lazy, or a value as a lazy object.

        For functions `version`, `ignore`, `key` and `codec` are those of `larder.memo`.
        `keep=False` caches no results, for cheap functions: a result is computed again where it
        is needed.
        """
        _refuse("lazy", {name: value for name, value in options.items() if name not in _OPTIONS})
        if len(things) > 1:
            raise TypeError("lazy takes one function or one value")
        if not things:
            return lambda function: self(function, keep=keep, **options)
        thing = things[0]
        if isinstance(thing, (LazyObject, LazyFunction)):
            return thing
        if not callable(thing) and not isinstance(thing, (staticmethod, classmethod)):
            return handle_of(Node(self, VALUE, (thing,)))
        wrapped = Cached(thing, unlazy, cache=self.cache, **options)
        return LazyFunction(self, wrapped, thing, self.cached if keep is None else keep)

    def file_creator(
        self, pathfield: str = "path", *, version: str | None = None, **others: object
    ) -> Callable[[Callable[..., Any]], LazyFile]:
        """Return a decorator of functions that write a file to the path in a parameter.

        A call writes the file immediately. Unless its content is cached, the function receives a
        path with the same extension in a temporary directory. A copy then replaces the target
        atomically. The key covers the extension of the target, not its location. The content is
        held in memory while it is written.
        """
        from ._file import FileKept, LazyFile

        _refuse("file_creator", others)
        return lambda function: LazyFile(self, FileKept(function, pathfield, cache=self.cache, version=version))

    def lazy(self, **options: Any) -> Callable[[Callable[..., R]], LazyFunction[R]]:
        """Return a decorator of functions, under evalcache's name for a call with these options."""
        made: Callable[[Callable[..., R]], LazyFunction[R]] = self(**options)
        return made

    def _method(self, name: str) -> Operation:
        found = self._methods.get(name)
        if found is None:
            label = name if name == "@" else f".{name}()"
            wrapped = Method(name, unlazy, self.cache)
            found = self._methods[name] = Operation(label, wrapped._function, cached=wrapped, keep=self.cached)
        return found


_OPTIONS = ("version", "ignore", "key", "codec")


def _refuse(what: str, given: dict[str, object]) -> None:
    for name in given:
        if name in _REFUSED:
            raise TypeError(f"{what} has no {name} here: {_REFUSED[name]}")
        raise TypeError(f"{what} got an unexpected keyword argument {name!r}")


lazy = Lazy()
"""Makes functions and values lazy, with the default cache directory."""


class _Callable(types.ModuleType):
    """The module, callable as its function `lazy` is: `larder.lazy(function)`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return lazy(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
