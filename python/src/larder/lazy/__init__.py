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
import math
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast, overload

from .._client.client import Client, client_of
from .._identity.code.identity import operation as name_of
from .._identity.wrapper import Wrapper
from ._keep import Kept, Method
from ._node import Handle, Node, Operation, filled, nodes_in, register
from ._run import Evaluation

if TYPE_CHECKING:
    from ._file import LazyFile
    from ._why import WhyTree

__all__ = ["DirCache", "DirCache_v2", "Lazy", "LazyFunction", "LazyObject", "lazy", "unlazy"]

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)

_set = object.__setattr__


class LazyObject(Handle, Generic[T_co]):
    """A value that is not computed yet. Operations on it return other lazy objects.

    Operators, items, attributes and calls of methods are lazy. What must return a value
    evaluates it: `bool`, `int`, `float`, `complex`, `len`, `str`, `in`, iteration. `repr`
    never evaluates. An object is hashed by its identity, and `==` is lazy like any operator. It
    is immutable, and several threads may use it.
    """

    __slots__ = ()

    __array_ufunc__ = None  # so that NumPy leaves operators to this class; the next does so for pandas
    __pandas_priority__ = 1 << 20

    def unlazy(self) -> T_co:
        """Return the value, cached or computed now. Each call returns a new object."""
        return unlazy(self)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value, as `unlazy` does; with arguments, the lazy result of the value's method `get`."""
        if args or kwargs:
            return self.__getattr__("get")(*args, **kwargs)
        return unlazy(self)

    def why(self) -> WhyTree:
        """Report for each node of the tree whether its result is cached, and why not. Only operators are computed."""
        from ._why import WhyTree

        return WhyTree.of(self._larder)

    def __getattr__(self, name: str) -> LazyObject[Any]:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"a lazy object has no {name}; evaluate it with larder.lazy.unlazy")
        return _made(self, Operation(f".{name}", getattr, attribute=name), self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> LazyObject[Any]:
        """Return a call of the method, or of the value, as a node."""
        node, of = self._larder, self
        name = node.operation.attribute or "__call__"
        if node.operation.attribute:
            of = node.args[0]
        return handle_of(Node(node.lazy, node.lazy._method(name), (of, *args), kwargs))

    def __getitem__(self, item: Any) -> LazyObject[Any]:
        return _made(self, _ITEM, self, item)

    # Operations that evaluate

    def __bool__(self) -> bool:
        if not self._larder.lazy.onbool:
            raise TypeError("the truth of a lazy object is asked for, and onbool=False says not to; call unlazy")
        return bool(unlazy(self))

    def __int__(self) -> int:
        return int(cast(Any, unlazy(self)))

    def __float__(self) -> float:
        return float(cast(Any, unlazy(self)))

    def __complex__(self) -> complex:
        return complex(cast(Any, unlazy(self)))

    def __index__(self) -> int:
        return operator.index(cast(Any, unlazy(self)))

    def __bytes__(self) -> bytes:
        return bytes(cast(Any, unlazy(self)))

    def __len__(self) -> int:
        return len(cast(Any, unlazy(self)))

    def __contains__(self, item: object) -> bool:
        return unlazy(item) in cast(Any, unlazy(self))

    def __iter__(self) -> Iterator[Any]:
        """Return lazy items of a sequence; evaluate any other iterable."""
        value = unlazy(self)
        if isinstance(value, Sequence) or _is_array(value):
            return (self[i] for i in range(len(cast(Any, value))))
        return iter(cast(Iterable[Any], value))

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def __str__(self) -> str:
        return str(unlazy(self))

    def __format__(self, spec: str) -> str:
        return format(unlazy(self), spec)

    def __repr__(self) -> str:
        return f"<lazy {self._larder.operation.label}>"

    # The object itself

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __copy__(self) -> LazyObject[T_co]:
        return self

    def __deepcopy__(self, memo: object) -> LazyObject[T_co]:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a lazy object cannot be pickled; pickle its value: larder.lazy.unlazy(...)")

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("a lazy object is no array; evaluate it with larder.lazy.unlazy")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise TypeError(f"a lazy object cannot be changed: make a lazy function that sets {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise TypeError(f"a lazy object cannot be changed: make a lazy function that deletes {name}")

    def __setitem__(self, item: object, value: object) -> NoReturn:
        raise TypeError("a lazy object cannot be changed: make a lazy function that sets the item")

    def __delitem__(self, item: object) -> NoReturn:
        raise TypeError("a lazy object cannot be changed: make a lazy function that deletes the item")

    # Operators

    def __matmul__(self, other: Any) -> LazyObject[Any]:
        return _matrix(self, self, other)

    def __rmatmul__(self, other: Any) -> LazyObject[Any]:
        return _matrix(self, other, self)

    def __round__(self, digits: Any = None) -> LazyObject[Any]:
        return _made(self, _ROUND, self, digits)

    def __eq__(self, other: object) -> LazyObject[Any]:  # type: ignore[override]
        return _made(self, _EQ, self, other)

    def __ne__(self, other: object) -> LazyObject[Any]:  # type: ignore[override]
        return _made(self, _NE, self, other)

    def __add__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _ADD, self, other)

    def __radd__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _ADD, other, self)

    def __sub__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _SUB, self, other)

    def __rsub__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _SUB, other, self)

    def __mul__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _MUL, self, other)

    def __rmul__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _MUL, other, self)

    def __floordiv__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _FLOORDIV, self, other)

    def __rfloordiv__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _FLOORDIV, other, self)

    def __truediv__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _TRUEDIV, self, other)

    def __rtruediv__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _TRUEDIV, other, self)

    def __mod__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _MOD, self, other)

    def __rmod__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _MOD, other, self)

    def __divmod__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _DIVMOD, self, other)

    def __rdivmod__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _DIVMOD, other, self)

    def __pow__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _POW, self, other)

    def __rpow__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _POW, other, self)

    def __lshift__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _LSHIFT, self, other)

    def __rlshift__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _LSHIFT, other, self)

    def __rshift__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _RSHIFT, self, other)

    def __rrshift__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _RSHIFT, other, self)

    def __and__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _AND, self, other)

    def __rand__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _AND, other, self)

    def __or__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _OR, self, other)

    def __ror__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _OR, other, self)

    def __xor__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _XOR, self, other)

    def __rxor__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _XOR, other, self)

    def __lt__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _LT, self, other)

    def __le__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _LE, self, other)

    def __gt__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _GT, self, other)

    def __ge__(self, other: Any) -> LazyObject[Any]:
        return _made(self, _GE, self, other)

    def __pos__(self) -> LazyObject[Any]:
        return _made(self, _POS, self)

    def __neg__(self) -> LazyObject[Any]:
        return _made(self, _NEG, self)

    def __abs__(self) -> LazyObject[Any]:
        return _made(self, _ABS, self)

    def __invert__(self) -> LazyObject[Any]:
        return _made(self, _INVERT, self)

    def __floor__(self) -> LazyObject[Any]:
        return _made(self, _FLOOR, self)

    def __ceil__(self) -> LazyObject[Any]:
        return _made(self, _CEIL, self)

    def __trunc__(self) -> LazyObject[Any]:
        return _made(self, _TRUNC, self)


_ADD = Operation("+", operator.add)
_SUB = Operation("-", operator.sub)
_MUL = Operation("*", operator.mul)
_FLOORDIV = Operation("//", operator.floordiv)
_TRUEDIV = Operation("/", operator.truediv)
_MOD = Operation("%", operator.mod)
_DIVMOD = Operation("divmod", divmod)
_POW = Operation("**", operator.pow)
_LSHIFT = Operation("<<", operator.lshift)
_RSHIFT = Operation(">>", operator.rshift)
_AND = Operation("&", operator.and_)
_OR = Operation("|", operator.or_)
_XOR = Operation("^", operator.xor)
_LT = Operation("<", operator.lt)
_LE = Operation("<=", operator.le)
_GT = Operation(">", operator.gt)
_GE = Operation(">=", operator.ge)
_EQ = Operation("==", operator.eq)
_NE = Operation("!=", operator.ne)
_POS = Operation("+x", operator.pos)
_NEG = Operation("-x", operator.neg)
_ABS = Operation("abs", abs)
_INVERT = Operation("~", operator.invert)
_FLOOR = Operation("floor", math.floor)
_CEIL = Operation("ceil", math.ceil)
_TRUNC = Operation("trunc", math.trunc)
_ROUND = Operation("round", round)
_ITEM = Operation("[]", operator.getitem)
_VALUE = Operation("value", lambda value: value)


def handle_of(node: Node) -> LazyObject[Any]:
    """Return the object that represents a node in programs."""
    made: LazyObject[Any] = object.__new__(LazyObject)
    _set(made, "_larder", node)
    return made


def _is_array(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _made(of: LazyObject[Any], operation: Operation, *args: Any) -> LazyObject[Any]:
    return handle_of(Node(of._larder.lazy, operation, args))


def _matrix(of: LazyObject[Any], left: Any, right: Any) -> LazyObject[Any]:
    return _made(of, of._larder.lazy._method("@"), left, right)


register(LazyObject)


class LazyFunction(Wrapper, Generic[R]):
    """A function whose calls are lazy, created by `Lazy`."""

    def __init__(self, lazy: Lazy, kept: Kept, function: Callable[..., Any], keep: bool) -> None:
        functools.update_wrapper(self, function)
        self._lazy, self._kept = lazy, kept
        self._function, self._version = kept._function, kept._version
        self._static = isinstance(function, staticmethod)
        self._operation = Operation(name_of(kept._function), kept._function, kept=kept, keep=keep)
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
    "encache": "say cached=False to keep nothing",
    "decache": "say cached=False to keep nothing",
    "onuse": "say onplace=True, which returns values in place of lazy objects, or use larder.memo",
    "onstr": "str() evaluates, and repr() does not",
    "onrepr": "str() evaluates, and repr() does not",
    "function_dump": "functions are known by all code that they reach",
    "function_file": "functions are known by all code that they reach",
    "hint": 'say version="..."',
    "pedantic": "what has no key is always refused",
    "diag_values": "diag=True prints names and keys",
    "print_invokes": "diag=True prints names and keys",
    "updatehash_profiling": "nothing takes its place",
    "status_notify": "nothing takes its place; diag=True prints each node",
    "transparent": "nothing takes its place; keep=False keeps no results of a function",
    "prevent_unwrap_in_child": "nothing takes its place; pass what is to stay lazy as a function",
    "cls": "nothing takes its place",
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
            raise TypeError(f"cache is a folder, not {type(cache).__name__}; None is the usual one")
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
            return handle_of(Node(self, _VALUE, (thing,)))
        kept = Kept(thing, cache=self.cache, **options)
        return LazyFunction(self, kept, thing, self.cached if keep is None else keep)

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
            kept = Method(name, self.cache)
            found = self._methods[name] = Operation(label, kept._function, kept=kept, keep=self.cached)
        return found


_OPTIONS = ("version", "ignore", "key", "codec")


def _refuse(what: str, given: dict[str, object]) -> None:
    for name in given:
        if name in _REFUSED:
            raise TypeError(f"{what} has no {name} here: {_REFUSED[name]}")
        raise TypeError(f"{what} got an unexpected keyword argument {name!r}")


@overload
def unlazy(thing: LazyObject[T]) -> T: ...


@overload
def unlazy(thing: T) -> T: ...


def unlazy(thing: Any) -> Any:
    """Return the value of a lazy object, and of those in lists, tuples, dicts and sets.

    Anything else is returned as it is. Cached results are read; missing ones are computed, each
    node once, and cached. Errors of functions are raised unchanged, with a note of the path in
    the tree. The returned object belongs to the caller.
    """
    if isinstance(thing, Handle):
        return Evaluation().value(thing._larder)
    nodes = list(dict.fromkeys(nodes_in(thing)))
    if not nodes:
        return thing
    values = dict(zip(nodes, Evaluation().values(nodes), strict=True))
    return filled(thing, values.__getitem__, {}, [])


lazy = Lazy()
"""Makes functions and values lazy, with the default cache directory."""


class _Callable(types.ModuleType):
    """The module, callable as its function `lazy` is: `larder.lazy(function)`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return lazy(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
