"""Define the nodes of lazy trees: operations and their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Protocol

from .._client.client import Client
from .._identity.digest import _Classes
from .._identity.immutable import fixed
from .._identity.values.encoder import BY_CONTENT, FORMAT, Encoder, Unkeyed, writes
from ..errors import ArgumentError
from ._keep import Cached

_NOBODY: frozenset[str] = frozenset()


class Handle:
    """Represents a node in programs. It is immutable."""

    __slots__ = ("__weakref__", "_larder")
    _larder: Node


class Options(Protocol):
    """The options that a node has from the `Lazy` that created it."""

    cached: bool
    diag: bool
    onbool: bool

    @property
    def client(self) -> Client: ...

    def _method(self, name: str) -> Operation: ...


class Operation:
    """The operation of a node: a function of the program, an operator, a method."""

    __slots__ = ("attribute", "cached", "function", "keep", "label")

    def __init__(
        self,
        label: str,
        function: Callable[..., Any],
        *,
        cached: Cached | None = None,
        keep: bool = True,
        attribute: str = "",
    ) -> None:
        self.label = label
        """The name in messages."""
        self.function = function
        self.cached = cached
        """Caches the results; None for an operation that is computed again from its operands."""
        self.keep = keep
        """Whether results are cached, if there is a cache for them."""
        self.attribute = attribute
        """For an attribute: its name, so that a call of it is a call of a method."""


class Node:
    """An operation and its arguments: values, other nodes, and lists, tuples and dicts of them."""

    __slots__ = ("args", "changing", "counted", "encoded", "kwargs", "lazy", "operation", "refs", "whole")

    def __init__(
        self,
        lazy: Options,
        operation: Operation,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.lazy = lazy
        self.operation = operation
        settled = Settled()
        self.args: tuple[Any, ...] = settled.copy_items(args)
        self.kwargs: dict[str, Any] = {k: settled.copy(v) for k, v in kwargs.items()} if kwargs else {}
        self.refs = settled.nodes.keys()
        """The nodes among the arguments, each once."""
        self.changing = settled.changing
        """Whether an argument could be changed."""
        self.whole = True
        """Whether the key of the node follows from the keys of others, and not from their values."""
        self.counted: tuple[Node, ...] = ()
        """The nodes that the result depends on, in the order of their places in `encoded`."""
        self.encoded: bytes | None = None
        cached = operation.cached
        if cached is not None:
            self._file_arguments(cached)
        if self.changing:
            self.key()

    def _file_arguments(self, cached: Cached) -> None:
        """Replace paths by files where parameters are files; for nodes this is done when their values exist."""
        arguments = cached._arguments
        if arguments.keyed is not None and self.refs:
            self.whole = False
        if not arguments.files:
            return
        bound = arguments.signature.bind(*self.args, **self.kwargs)
        if any(next(nodes_in(bound.arguments.get(name)), None) for name in arguments.files):
            self.whole = False
            return
        self.args, self.kwargs = arguments.with_files(self.args, self.kwargs)
        self.changing = True

    def key(self) -> bytes:
        """Return the digest of the arguments, with holes for nodes."""
        if self.encoded is None:
            template = self._template()
            if not self.refs >= template.nodes.keys():
                raise ArgumentError(f"a default value of {self.operation.label} is a lazy object: pass it in the call")
            self.counted = tuple(template.nodes)
            self.encoded = sha256(FORMAT + b"".join(template.out)).digest()
        return self.encoded

    def verify(self) -> None:
        """Refuse arguments that changed since they were passed."""
        if self.changing and sha256(FORMAT + b"".join(self._template().out)).digest() != self.encoded:
            raise ArgumentError(
                f"what {self.operation.label} was given has changed since: pass a copy, or make the call again"
            )

    def _template(self) -> Template:
        cached = self.operation.cached
        if cached is None:
            values: tuple[Any, ...] = (self.args, self.kwargs)
        elif cached._arguments.keyed is not None and self.refs:
            values = (self.args, self.kwargs)  # the function that computes the key needs values
        else:
            values = cached._arguments.of(self.args, self.kwargs)
        name = f"{self.operation.label}: arguments" if cached is not None else self.operation.label
        known = cached.reached() if cached is not None else {}
        return Template.of(values, name, known, BY_CONTENT if cached is None else cached.names_files())

    def handles(self) -> Iterator[tuple[str, Node]]:
        """Yield the paths to the nodes among the arguments."""
        cached = self.operation.cached
        if cached is None or not cached.named:
            yield from ways_in((*self.args, *self.kwargs.values()), "")
            return
        for name, value in cached._arguments.signature.bind(*self.args, **self.kwargs).arguments.items():
            yield from ways_in(value, name)

    def way_to(self, child: Node) -> str:
        """Return the path to a node among the arguments, for messages."""
        return next((way for way, node in self.handles() if node is child), "")


class Settled:
    """Copies the containers of arguments when they are passed, and finds the nodes in them."""

    __slots__ = ("changing", "copies", "held", "nodes")

    def __init__(self) -> None:
        self.nodes: dict[Node, None] = {}
        self.changing = False
        self.copies: dict[int, Any] = {}
        self.held: list[Any] = []

    def copy_items(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([self.copy(item) for item in items])

    def copy(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SCALARS:
            return value
        if isinstance(value, Handle):
            self.nodes[value._larder] = None
            return value
        if kind not in CONTAINERS and not is_named(kind):
            self.changing = self.changing or not fixed(value)
            return value
        return copied(value, self.copy, self.copies, self.held)


_SCALARS = frozenset([type(None), bool, int, float, complex, str, bytes])
CONTAINERS = frozenset([list, tuple, dict, slice])
_SETS = frozenset([set, frozenset])


def is_named(kind: type) -> bool:
    """Report whether a type is a named tuple."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make")


def copied(value: Any, each: Callable[[Any], Any], copies: dict[int, Any], held: list[Any]) -> Any:
    """Return a container with its items replaced; an object that occurs twice stays one object."""
    if id(value) in copies:
        return copies[id(value)]
    held.append(value)  # otherwise another object could reuse its address
    kind = type(value)
    if kind is list:
        copies[id(value)] = made = []
        made.extend([each(item) for item in value])
        return made
    if kind is dict:
        copies[id(value)] = found = {}
        found.update({each(key): each(item) for key, item in value.items()})
        return found
    items = [each(item) for item in _items(value)]
    replaced = copies[id(value)] = (
        slice(*items) if kind is slice else tuple(items) if kind is tuple else kind._make(items)
    )
    return replaced


def _items(value: Any) -> Any:
    """Return the items of a container other than a dict, in order."""
    return (value.start, value.stop, value.step) if type(value) is slice else value


def filled(value: Any, of: Callable[[Node], Any], copies: dict[int, Any], held: list[Any]) -> Any:
    """Return an argument with the values of nodes in place of the nodes."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if isinstance(value, Handle):
        return of(value._larder)
    if kind in CONTAINERS or is_named(kind):
        return copied(value, lambda item: filled(item, of, copies, held), copies, held)
    if kind in _SETS and next(nodes_in(value), None) is not None:
        return kind(filled(item, of, copies, held) for item in value)
    return value


def ways_in(value: Any, way: str) -> Iterator[tuple[str, Node]]:
    """Yield the nodes in a value with their paths."""
    if isinstance(value, Handle):
        yield way, value._larder
    elif type(value) is dict:
        for key, item in value.items():
            yield from ways_in(key, f"{way}, a key")
            yield from ways_in(item, f"{way}[{key!r}]")
    elif type(value) in CONTAINERS or is_named(type(value)):
        for i, item in enumerate(_items(value)):
            yield from ways_in(item, f"{way}[{i}]")


def nodes_in(value: Any) -> Iterator[Node]:
    """Yield the nodes in a value, at any depth of lists, tuples, dicts and sets."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        kind = type(one)
        if isinstance(one, Handle):
            yield one._larder
        elif (kind in CONTAINERS or kind in _SETS or is_named(kind)) and id(one) not in seen:
            seen.add(id(one))
            items = [part for pair in one.items() for part in pair] if kind is dict else list(_items(one))
            stack.extend(reversed(items))


class Template(Encoder):
    """The encoding of arguments in which nodes are holes."""

    __slots__ = ("nodes",)

    def __init__(self, code: Callable[[Any], bytes]) -> None:
        super().__init__(code)
        self.nodes: dict[Node, None] = {}

    @classmethod
    def of(cls, values: Any, name: str, known: Mapping[int, int], names: int) -> Template:
        classes = _Classes(name, _NOBODY, known)
        template = cls(classes.code)
        template.made = classes.made
        try:
            template.add(values)
        except Unkeyed as error:
            raise ArgumentError(f"{name}{error.way} is {error.what}, which has no key: {error.fix}") from None
        except RecursionError:
            raise ArgumentError(f"{name} is nested too deeply to have a key: pass less, or flatten it") from None
        if classes.found:
            classes.check()
        template.name_files(max(names, classes.sight))
        return template


def encode_handle(e: Encoder, value: Handle) -> None:
    """Append a hole for a node in the arguments of another; refuse a node elsewhere."""
    if not isinstance(e, Template):
        raise Unkeyed(
            "a lazy object",
            "pass its value, larder.lazy.unlazy(...), or pass it to a lazy function directly or in a list",
        )
    if not e.known(value):
        e.out.append(b"L")
        e.nodes[value._larder] = None


def register(kind: type[Handle]) -> None:
    """Make the encoder encode handles of a type as nodes."""
    writes(kind)(encode_handle)
