"""Evaluate lazy trees: cached results are found from the root down, missing ones are computed once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any

from .._client.client import Client
from .._client.messages import Function
from .._identity.digest import digest
from .._identity.environment import nondefault_settings
from .._identity.immutable import FIXED
from .._identity.values.text import describe
from .._memo.computation import MISSING
from ..errors import Error, ResultError
from . import _records
from ._classes import NONE, Class, Classes, classes_of
from ._keep import Cached, libraries
from ._node import Node, Options, filled
from ._records import Record

FORMAT = b"larder lazy 1\n"
"""The prefix of the keys of trees; a change of the rules needs another number."""

_OFTEN = 1000
"""The number of records of trees that are stored together while others are computed."""


class State:
    """The state of a node in one evaluation, shared by nodes with the same key."""

    __slots__ = (
        *("below", "children", "computed", "consumers", "deep", "done", "fresh", "key", "node"),
        *("opened", "record", "trusted", "value", "_classes", "_looked"),
    )

    def __init__(self, node: Node, deep: bytes | None, children: list[State]) -> None:
        self.node = node
        self.deep = deep
        """The key of the whole tree, or None if it depends on values."""
        self.children = children
        self.consumers = 0
        """The number of consumers that still need the value."""
        self.record: Record | None = None
        self.opened = False
        self.done = False
        self.value: Any = None
        self.key: bytes | None = None
        """The key of the cached value, if it is cached."""
        self.fresh = False
        """Whether nothing else refers to the value."""
        self.computed = False
        self.trusted = True
        """Whether the value is that of the code and of the values below, as nothing changed during the evaluation."""
        self._classes: Classes | None = None
        self._looked = False
        self.below: Classes | None = NONE
        """The classes of all values that the key of the tree covers."""

    @property
    def classes(self) -> Classes | None:
        """The program's classes in the value, or None if it is not plain data."""
        if not self._looked:
            self._looked = True
            self._classes = classes_of(self.value) if self.trusted else None
        return self._classes

    @property
    def cached(self) -> Cached | None:
        operation = self.node.operation
        return operation.cached if operation.keep else None


class Evaluation:
    """One evaluation of trees."""

    def __init__(self) -> None:
        self.states: dict[Node, State] = {}
        self.shared: dict[bytes, State] = {}
        self.functions: dict[Cached, tuple[Function, bytes]] = {}
        """The identities of functions when the evaluation begins."""
        self.records: dict[Client, dict[bytes, Record]] = {}
        """The records of trees to store."""
        self.clients: dict[Options, Client] = {}
        self.looked = False
        """Whether the records of all trees were looked up."""

    def value(self, root: Node) -> Any:
        """Return the value of a tree, which belongs to the caller."""
        return self.values([root])[0]

    def values(self, roots: list[Node]) -> list[Any]:
        """Return the values of trees."""
        states = [self.prepare(root) for root in roots]
        for state in states:
            state.consumers += 1
        self.find(states)
        try:
            for state in states:
                self.compute(state)
        finally:
            self.keep_records()
        found = []
        for state in states:
            found.append(self.give(state))
            self._let_go(state)
        return found

    # Keys

    def prepare(self, root: Node) -> State:
        """Return the state of a tree, with its key and those of everything below."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.states:
                stack.pop()
                continue
            missing = [ref for ref in node.refs if ref not in self.states]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            self.states[node] = self._state(node, stack)
        return self.states[root]

    def _state(self, node: Node, above: list[Node]) -> State:
        try:
            deep = self._deep(node)
        except Error as error:
            _placed(error, [*_ancestors([*above, node])])
            raise
        found = self.shared.get(deep) if deep is not None else None
        if found is not None:
            return found
        state = State(node, deep, list(dict.fromkeys(self.states[ref] for ref in node.refs)))
        for child in state.children:
            child.consumers += 1
        if deep is not None:
            self.shared[deep] = state
        return state

    def _deep(self, node: Node) -> bytes | None:
        """Return the key of a tree: of the operation, its arguments, and the keys of the nodes among them."""
        known = self._known(node)
        own = node.key()
        if not node.whole:
            return None
        parts = [FORMAT, b"%x;" % len(known), known, own]
        for child in node.counted:
            deep = self.states[child].deep
            if deep is None:
                return None
            parts.append(deep)
        return sha256(b"".join(parts)).digest()

    def _known(self, node: Node) -> bytes:
        cached = node.operation.cached
        if cached is None:
            return b"operator " + node.operation.label.encode() + self._operators
        if cached not in self.functions:
            self.functions[cached] = cached._state(), b"function " + cached.deep()
        return self.functions[cached][1]

    @cached_property
    def _operators(self) -> bytes:
        """The identity of all operators."""
        return digest((libraries(), nondefault_settings()))

    # Values

    def find(self, states: Iterable[State]) -> None:
        """Look up the records of trees."""
        wanted: dict[Client, dict[bytes, State]] = {}
        for state in states:
            if state.cached is not None and state.deep is not None and state.children and state.record is None:
                wanted.setdefault(self._client(state), {})[state.deep] = state
        for client, by_key in wanted.items():
            for key, record in _records.find(client, list(by_key)).items():
                by_key[key].record = record

    def compute(self, root: State) -> None:
        """Compute the value of a tree from below, reading cached results."""
        stack = [root]
        try:
            while stack:
                state = stack[-1]
                if state.done:
                    stack.pop()
                elif state.opened or self.load(state):
                    if not state.done:
                        self.apply(state)
                    stack.pop()
                else:
                    state.opened = True
                    if not self.looked and state.children:
                        self.looked = True
                        self.find(self.states.values())
                    stack.extend(child for child in reversed(state.children) if not child.done)
        except Exception as error:
            _placed(error, [state.node for state in stack if state.opened or state is stack[-1]])
            raise

    def load(self, state: State) -> bool:
        """Read a result that is cached for the whole tree; report whether there was one."""
        cached, record = state.cached, state.record
        if record is None or cached is None:
            return False
        value = cached.reread(record.key)
        if value is MISSING:
            state.record = None
            return False
        state.value, state.key, state.done, state.fresh = value, record.key, True, True
        self._told(state, "load")
        state.below = frozenset(_recorded(record))
        return True

    def apply(self, state: State) -> None:
        """Compute a node whose arguments are available."""
        node, cached = state.node, state.cached
        node.verify()
        state.below = _together(some for child in state.children for some in (child.below, child.classes))
        if node.operation.cached is None:
            state.below = _doubtless(node, state.below)
            args, kwargs = self._filled(node, self.look)
            state.value = node.operation.function(*args, **kwargs)
            state.fresh = False
            self._told(state, "eval" if node.refs else "endp")
        elif cached is None:
            args, kwargs = self._filled(node, self.give)
            state.value, state.trusted = node.operation.cached.applied(args, kwargs)
            state.computed = state.fresh = True
            self._told(state, "eval")
        else:
            args, kwargs = self._filled(node, self.give)
            obtained = cached.obtain(args, kwargs, likely=not state.children)
            state.value, state.fresh, state.computed = obtained.value, True, obtained.computed
            state.key, state.trusted = (obtained.key if obtained.cached else None), obtained.cached
            self._told(state, ("save" if obtained.cached else "eval") if obtained.computed else "load")
            self._record(state, obtained.key)
        state.done = True
        for child in state.children:
            self._let_go(child)

    def _record(self, state: State, key: bytes) -> None:
        if state.deep is None or not state.children or not state.trusted or state.below is None:
            return
        client = self._client(state)
        some = self.records.setdefault(client, {})
        some[state.deep] = Record(key, tuple(sorted(one.record for one in state.below)))
        if len(some) >= _OFTEN:
            self.keep_records()

    def _client(self, state: State) -> Client:
        lazy = state.node.lazy
        if lazy not in self.clients:
            self.clients[lazy] = lazy.client
        return self.clients[lazy]

    def keep_records(self) -> None:
        """Store the records found for trees, unless code changed since their keys were computed."""
        records, self.records = self.records, {}
        if not records:
            return
        for cached, (known, _) in self.functions.items():
            try:
                if cached._state().identifier != known.identifier:
                    return
            except Error:
                return
        for client, some in records.items():
            _records.keep(client, some)

    # Arguments

    def _filled(self, node: Node, of: Callable[[State], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given: dict[Node, Any] = {}

        def value(ref: Node) -> Any:
            if ref not in given:
                given[ref] = of(self.states[ref])
            return given[ref]

        copies: dict[int, Any] = {}
        held: list[Any] = []
        args = tuple([filled(arg, value, copies, held) for arg in node.args])
        kwargs = {name: filled(arg, value, copies, held) for name, arg in node.kwargs.items()}
        return args, kwargs

    def look(self, state: State) -> Any:
        """Return a value to a caller that does not change it, but may return a part of it."""
        state.fresh = False
        return state.value

    def give(self, state: State) -> Any:
        """Return a value to a caller that may change it: a separate object for each caller."""
        value = state.value
        if type(value) in FIXED:
            return value
        if state.fresh and state.consumers <= 1:
            return value
        if state.key is not None and state.cached is not None:
            again = state.cached.reread(state.key)
            if again is not MISSING:
                return again
        try:
            return copy.deepcopy(value)
        except Exception as error:
            raise ResultError(
                f"{state.node.operation.label} gives {describe(value)}, which is not cached and cannot be copied "
                f"({error}), so no two can be given it; return plain data"
            ) from error

    def _let_go(self, state: State) -> None:
        state.consumers -= 1
        if state.consumers <= 0:
            state.value = None

    def _told(self, state: State, word: str) -> None:
        if state.node.lazy.diag:
            shown = state.deep.hex()[:20] if state.deep is not None else "-" * 20
            print(word, shown, state.node.operation.label)


def _together(some: Iterable[Classes | None]) -> Classes | None:
    found: Classes = NONE
    for one in some:
        if one is None:
            return None
        if one:
            found |= one
    return found


def _doubtless(node: Node, below: Classes | None) -> Classes | None:
    """Return the same classes, or None if an operator may reach what no key covers."""
    if below is None or any(one.doubted for one in below):
        return None
    if node.changing:
        constants = classes_of([filled(value, _nothing, {}, []) for value in (*node.args, *node.kwargs.values())])
        if constants is None or any(one.doubted for one in constants):
            return None
    return below


def _nothing(node: Node) -> None:
    """Replace a node by None."""


def _recorded(record: Record) -> Iterable[Class]:
    return (Class(module, name, digest, False) for module, name, digest in record.classes)


def _ancestors(stack: list[Node]) -> list[Node]:
    """Return the nodes of a stack that wait for the one above, without those that are only queued."""
    found: list[Node] = []
    for node in reversed(stack):
        if not found or found[-1] in node.refs:
            found.append(node)
    return found[::-1]


_MOST = 4


def _placed(error: Exception, nodes: list[Node]) -> None:
    """Add to an error a note of where in the tree it was raised."""
    steps = [nodes[0].operation.label]
    for node, child in pairwise(nodes):
        steps.append(f"{node.way_to(child)}: {child.operation.label}".lstrip(": "))
    if len(steps) > 2 * _MOST:
        steps = [*steps[:_MOST], f"... {len(steps) - 2 * _MOST} more ...", *steps[-_MOST:]]
    error.add_note("in the tree: " + " -> ".join(steps))
