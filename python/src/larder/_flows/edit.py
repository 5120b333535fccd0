"""Edit flows: an editor builds another flow from one, which stays unchanged."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from .._yaml.values import Value
from .graph import Graph, GraphNode, Step, made
from .node_args import Options, options, parameters, split

N = TypeVar("N", bound=GraphNode)
F = TypeVar("F", bound=Graph[Any])
_P = ParamSpec("_P")
_E = TypeVar("_E", bound="GraphEditor[Any, Any]")


@dataclass(slots=True, eq=False)
class EditNode:
    """A node in an edited flow, whose parameters and options may be set by their names in flow files."""

    name: str
    kind: str
    component: str
    inputs: list[tuple[EditNode, str | None]]
    params: dict[str, Value]
    options: dict[str, Value]

    def __repr__(self) -> str:
        return f"<larder.EditNode {self.name}: {self.kind} {self.component}>"


def _whole(edit: Callable[Concatenate[_E, _P], None]) -> Callable[Concatenate[_E, _P], None]:
    """Apply an edit completely or not at all; a problem with it is a ValueError."""

    @functools.wraps(edit)
    def done(e: _E, /, *args: _P.args, **given: _P.kwargs) -> None:
        was = e._state()
        try:
            edit(e, *args, **given)
            e._flow()
        except BaseException as error:
            e._restore(was)
            if isinstance(error, (TypeError, KeyError)):
                raise ValueError(error.args[0] if error.args else str(error)) from error
            raise

    return done


class GraphEditor(Generic[N, F]):
    """Builds another flow from one, for any classes of nodes and flows; see `Editor`."""

    def __init__(self, flow: F) -> None:
        self.name = flow.name
        """The name of the other flow."""
        self._of = flow
        self._node: type[N] = type(flow._ends[0])
        self._nodes: list[EditNode] = []
        known: dict[bytes, EditNode] = {}
        for name, node in flow._nodes.items():
            reads = [(known[other._digest], other._output) for other in node._inputs]
            own = EditNode(name, node._kind, node._component, reads, dict(node._params), dict(node._options))
            known[node._digest] = own
            self._nodes.append(own)
        self._ends = [(known[end._digest], end._output) for end in flow._ends]

    @property
    def nodes(self) -> list[EditNode]:
        """All nodes; their parameters and options may be set."""
        return list(self._nodes)

    def find(self, holds: Callable[[EditNode], object]) -> list[EditNode]:
        """Return the nodes for which a condition holds."""
        return [node for node in self._nodes if holds(node)]

    def called(self, name: str) -> EditNode:
        """Return the node with a name."""
        for node in self._nodes:
            if node.name == name:
                return node
        near = difflib.get_close_matches(name, [node.name for node in self._nodes], 1)
        raise ValueError(f"unknown node {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    @_whole
    def set(self, node: str, /, *, with_: Mapping[str, object] | None = None, **given: Any) -> None:
        """Set parameters and options of a node, named as in a call that creates it.

        An option that is None is removed, and so is a parameter with its default value.
        """
        n, call = self.called(node), f"set({node!r})"
        params, own = split(given, n.kind, n.component)
        known = parameters(n.kind, n.component, {**n.params, **(with_ or {}), **params}, call)
        named, values = options(own, (n.kind, n.component), call)
        if named is not None:
            raise ValueError(f"{call}: a node cannot be renamed")
        gone = {option.replace("_", "-") for option, value in own.items() if value is None}
        n.params, n.options = known, {k: v for k, v in {**n.options, **values}.items() if k not in gone}

    @_whole
    def replace(self, node: str, what: N | Callable[..., N | F]) -> None:
        """Replace a node by another with the same inputs, options and readers."""
        n = self.called(node)
        self._be(n, what)

    @_whole
    def wrap(self, node: str, what: Callable[[N, Step], N]) -> None:
        """Wrap a mapper in another component, such as a map-if or a compose.

        e.wrap("flip", lambda node, step: node.map_if(step=step, probability=0.5))
        """
        n = self.called(node)
        if n.kind != "map":
            raise ValueError(f"node {n.name}: {n.kind} {n.component} cannot be wrapped; choose a mapper")
        step = Step(n.component, dict(n.params))
        self._be(n, lambda read: what(read, step))

    @_whole
    def remove(self, node: str) -> None:
        """Remove a node: its readers read its input instead."""
        n = self.called(node)
        readers = self._readers(n)
        if readers and not n.inputs:
            raise ValueError(
                f"node {n.name}: a source reads nothing, so {readers[0].name} would have no input; replace the source"
            )
        ends = [end for end in self._ends if end[0] is not n]
        if not ends and n.kind != "sink":
            ends = list(n.inputs)
        if not ends:
            raise ValueError(f"node {n.name}: the flow would be empty without it")
        for reader in readers:
            reader.inputs = [to for at in reader.inputs for to in (n.inputs if at[0] is n else [at])]
        self._nodes.remove(n)
        self._ends = ends

    @_whole
    def after(self, node: str, name: str, what: Callable[..., N | F]) -> None:
        """Insert a node between a node and all its readers, which keep the names of outputs."""
        n = self.called(node)
        if n.kind == "sink":
            raise ValueError(f"node {n.name}: a sink has no outputs, so no node can follow it")
        readers = self._readers(n)
        to = self._add(n, name, what, [(n, None)])
        for reader in readers:
            reader.inputs = [(to, output) if at is n else (at, output) for at, output in reader.inputs]
        self._ends = [(to, output) if at is n else (at, output) for at, output in self._ends]

    @_whole
    def before(self, node: str, name: str, what: Callable[..., N | F]) -> None:
        """Insert a node between a node and its inputs; only that node reads it."""
        n = self.called(node)
        n.inputs = [(self._add(n, name, what, n.inputs), None)]

    def flow(self) -> F:
        """Return the other flow, whose nodes keep their names."""
        try:
            return self._flow()
        except (TypeError, KeyError) as error:
            raise ValueError(error.args[0] if error.args else str(error)) from error

    # Implementation

    def _flow(self) -> F:
        made = self._made()
        ends = [_output(made[id(at)], output) for at, output in self._ends]
        return self._of._alike(ends, self.name)

    def _state(self) -> tuple[Any, ...]:
        """Return everything that an edit may change."""
        own = [(n, (n.kind, n.component, list(n.inputs), dict(n.params), dict(n.options))) for n in self._nodes]
        return self.name, own, list(self._ends)

    def _restore(self, state: tuple[Any, ...]) -> None:
        self.name, own, self._ends = state
        self._nodes = [n for n, _ in own]
        for n, was in own:
            n.kind, n.component, n.inputs, n.params, n.options = was

    def _made(self) -> dict[int, N]:
        """Return the current nodes."""
        nodes: dict[int, N] = {}
        for n in _ordered(self._nodes):
            try:
                reads = tuple(_output(nodes[id(at)], output) for at, output in n.inputs)
            except (KeyError, TypeError) as error:
                raise ValueError(f"node {n.name}: {error.args[0]}") from error
            nodes[id(n)] = made(
                self._node, n.kind, n.component, reads, dict(n.params), dict(n.options), n.name, self._of.directory
            )
        return nodes

    def _readers(self, n: EditNode) -> list[EditNode]:
        return self.find(lambda reader: any(at is n for at, _ in reader.inputs))

    def _be(self, n: EditNode, what: N | Callable[..., N | F]) -> None:
        """Replace a node by what a function returns for the nodes that it reads."""
        nodes = self._made()
        reads = [_output(nodes[id(at)], output) for at, output in n.inputs]
        built = what if isinstance(what, GraphNode) else what(*reads)
        node = built._ends[0] if isinstance(built, Graph) and len(built._ends) == 1 else built
        if not isinstance(node, GraphNode):
            raise ValueError(f"node {n.name}: the function must return a node, not {type(built).__name__}")
        if node._output is not None or [r._digest for r in node._inputs] != [r._digest for r in reads]:
            raise ValueError(
                f"node {n.name}: the function must return a node that reads exactly its arguments, in order"
            )
        n.kind, n.component, n.params = node._kind, node._component, dict(node._params)
        n.options = {**n.options, **node._options}

    def _add(
        self, before: EditNode, name: str, what: Callable[..., N | F], inputs: list[tuple[EditNode, str | None]]
    ) -> EditNode:
        options(Options(name=name), ("", ""), "a node")
        if any(node.name == name for node in self._nodes):
            raise ValueError(f"two nodes are named {name!r}; rename one")
        n = EditNode(name, "", "", list(inputs), {}, {})
        self._be(n, what)
        self._nodes.insert(self._nodes.index(before) + 1, n)
        return n


def _output(node: N, output: str | None) -> N:
    return node if output is None else node[output]


def _ordered(nodes: list[EditNode]) -> Iterator[EditNode]:
    """Yield nodes after those that they read."""
    done: set[int] = set()
    for node in nodes:
        stack = [(node, False)]
        while stack:
            n, read = stack.pop()
            if id(n) in done:
                continue
            if read:
                done.add(id(n))
                yield n
                continue
            stack.append((n, True))
            stack += [(other, False) for other, _ in reversed(n.inputs)]
