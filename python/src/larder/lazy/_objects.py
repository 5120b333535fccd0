"""Define lazy objects, which record what is done with them, and evaluate them."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, NoReturn, TypeVar, cast, overload

from ._node import Handle, Node, Operation, filled, nodes_in, register
from ._run import Evaluation
from ._why import WhyTree

T = TypeVar("T")
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
            raise TypeError("a lazy object has no truth value with onbool=False; call unlazy")
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
        raise TypeError("a lazy object is not an array; evaluate it with larder.lazy.unlazy")

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
VALUE = Operation("value", lambda value: value)


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
