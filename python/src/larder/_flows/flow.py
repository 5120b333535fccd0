"""Build flows in Python: graphs of sources, mappers, operators and sinks.

    letters = larder.underfolder(path="examples/letters/data")
    small = letters.image_resize(width=64)
    larder.run(small.to_underfolder(path="out/small"))
    for batch in small.shuffle(seed=1).batch(32): ...

A `Node` is immutable; its methods return new nodes. Nothing is read or computed before a
flow is run or loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import _arguments
from . import functions
from .components import Methods
from .edit import GraphEditor
from .graph import Graph, GraphNode, Step, made
from .node_args import Options, options, parameters, split
from .parameters import JOINS, PARAMETERS

if TYPE_CHECKING:
    from .._batches.loader import Loader
    from .report import Report


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Node(GraphNode, Methods["Flow"]):
    """The output of a source, a mapper or an operator: one dataset, or several.

    Two nodes that are created alike are equal, and one node of a flow. Functions and methods
    create nodes; they take the parameters of the component and `Options`.
    """

    # Components

    def map(
        self,
        component: str | Step | Callable[..., Any],
        /,
        *,
        with_: Mapping[str, object] | None = None,
        **params: Any,
    ) -> Node:
        """Apply a mapper to each sample.

        Args:
            component: its name, a mapper returned by `step`, or a function of a module or of the
                script, which worker processes import: the mapper `python`. Without `items`,
                the function gets the items named as its parameters without a default;
                without `into`, its result is the item named as the function.
            with_: parameters by their names in flow files.
            **params: other parameters, and `Options`.
        """
        if not isinstance(component, (str, Step)):
            if not callable(component):
                raise TypeError(f"map(): {_arguments.kind(component)} is not a mapper; give its name or a function")
            params = functions.mapper(component, params, with_ or ())
            component = "python"
        if isinstance(component, Step):
            if with_ is not None:
                raise TypeError(f"map({component!r}) has parameters already; leave out with_")
            with_, component = component.params, component.component
        return self._named("map", component, with_, params)

    def op(self, component: str, /, *others: Node, with_: Mapping[str, object] | None = None, **params: Any) -> Node:
        """Apply an operator to this dataset, or to this one and others that it joins.

        Args:
            component: its name.
            *others: the datasets that are joined to this one.
            with_: parameters by their names in flow files.
            **params: other parameters, and `Options`.
        """
        return self._named("op", component, with_, params, others)

    def to(self, component: str, /, *, with_: Mapping[str, object] | None = None, **params: Any) -> Flow:
        """Return the flow that writes this dataset by a sink, for `larder.run`.

        Args:
            component: its name.
            with_: parameters by their names in flow files.
            **params: other parameters, and `Options`.
        """
        return Flow(self._named("sink", component, with_, params))

    # Batches

    def shuffle(self, seed: int = 0) -> Order:
        """Make a loader read the samples in a random order, another one in each epoch.

        `shuffle_once` returns a dataset in one fixed order.
        """
        return Order(self, {"shuffle": True, "seed": seed})

    def shard(self, rank: int | None = None, world_size: int | None = None) -> Order:
        """Make a loader read the share of one of several processes, as `Order.shard` does."""
        return Order(self, {}).shard(rank, world_size)

    def batch(self, size: int | None = None, /, **options: Any) -> Loader:
        """Return the `larder.Loader` that reads this dataset in batches.

        Args:
            size: samples in a batch; may be omitted if options bound the batch otherwise.
            **options: other options of the loader.
        """
        return Order(self, {}).batch(size, **options)

    # The whole flow

    def run(self, **options: Any) -> Report:
        """Compute all samples of this node, with the options of `larder.run`."""
        return Flow(self).run(**options)

    def loader(self, size: int | None = None, /, **options: Any) -> Loader:
        """Return the same as `batch`."""
        return self.batch(size, **options)

    # Creation of nodes

    @classmethod
    def _source(cls, component: str, params: Mapping[str, object], given: Mapping[str, object]) -> Node:
        return _make("source", component, (), params, given, f"{component.replace('-', '_')}()")

    def _apply(
        self,
        kind: str,
        component: str,
        params: dict[str, Any],
        options: Options,
        others: tuple[Node, ...] = (),
    ) -> Node:
        return _make(kind, component, (self, *others), params, options, f"{component.replace('-', '_')}()")

    def _end(self, component: str, params: dict[str, Any], options: Options) -> Flow:
        return Flow(_make("sink", component, (self,), params, options, f"to_{component.replace('-', '_')}()"))

    def _named(
        self,
        kind: str,
        component: str,
        with_: Mapping[str, object] | None,
        given: Mapping[str, object],
        others: tuple[Node, ...] = (),
    ) -> Node:
        call = "to" if kind == "sink" else kind
        params, own = split(given, kind, _arguments.text(f"component of {call}()", component))
        call = f"{call}({component!r})"
        return _make(kind, component, (self, *others), _together(call, with_, params), own, call)


def source(component: str, /, *, with_: Mapping[str, object] | None = None, **params: Any) -> Node:
    """Return the dataset that a source reads.

    Args:
        component: its name.
        with_: parameters by their names in flow files.
        **params: other parameters, and `Options`.
    """
    given, own = split(params, "source", _arguments.text("component of source()", component))
    call = f"source({component!r})"
    return _make("source", component, (), _together(call, with_, given), own, call)


def generate(function: Callable[..., Any], /, *, into: Sequence[str], **params: Any) -> Node:
    """Return the samples that a generator yields, as a stream: the source `python`.

        pages = larder.generate(crawl.pages, into=["url", "text"], args={"year": 2024})
        larder.run(pages.materialise().to_jsonl(path="pages.jsonl"))

    Args:
        function: a function of a module or of the script that yields samples, or returns an
            iterable of them; a worker process imports it.
        into: the items of a sample.
        **params: other parameters of `larder.python`, and `Options`. `setup` may be a function.
    """
    if not callable(function):
        raise TypeError(f"generate(): {_arguments.kind(function)} is not a function; give one, or a source")
    return source("python", **functions.parameters(function, {"into": into, **params}))


def step(component: str, /, *, with_: Mapping[str, object] | None = None, **params: Any) -> Step:
    """Return a mapper with its parameters, for operators that apply one.

    Args:
        component: its name.
        with_: parameters by their names in flow files.
        **params: other parameters.
    """
    call = f"step({component!r})"
    given, own = split(params, "map", _arguments.text("component of step()", component))
    if own:
        raise TypeError(f"{call}: {', '.join(own)} is an option of nodes, not of steps")
    return Step(component, parameters("map", component, _together(call, with_, given), call))


def _together(call: str, with_: Mapping[str, object] | None, given: Mapping[str, object]) -> dict[str, object]:
    if with_ is not None and not isinstance(with_, Mapping):
        raise TypeError(f"{call}: with_ is not a dict; give parameters by their names in flow files")
    twice = sorted(set(with_ or {}) & set(given))
    if twice:
        raise TypeError(f"{call}: {', '.join(twice)} is given both in with_ and by keyword")
    return {**(with_ or {}), **given}


def _make(
    kind: str,
    component: str,
    inputs: tuple[Node, ...],
    params: Mapping[str, object],
    given: Mapping[str, object],
    call: str,
) -> Node:
    for other in inputs:
        if not isinstance(other, Node):
            raise TypeError(f"{call}: {_arguments.kind(other)} is not a node; give nodes, such as larder.images(PATH)")
    if len(inputs) > 1 and component in PARAMETERS["op"] and component not in JOINS:
        raise TypeError(f"{call} reads one dataset, not {len(inputs)}; join them first by cat or zip")
    values = parameters(kind, component, params, call)
    name, own = options(given, (kind, component), call)
    return made(Node, kind, component, inputs, values, own, name, None)


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which a loader reads a node, as `Node.shuffle` returns it."""

    _node: Node
    _options: dict[str, Any] = field(hash=False)

    def shard(self, rank: int | None = None, world_size: int | None = None) -> Order:
        """Read the share of process number `rank` of `world_size`.

        By default they are those of the distributed training of this process.
        """
        if (rank is None) != (world_size is None):
            raise TypeError("shard() takes rank and world_size, or neither")
        own = {} if rank is None else {"rank": rank, "world_size": world_size}
        return Order(self._node, {**self._options, **own})

    def batch(self, size: int | None = None, /, **options: Any) -> Loader:
        """Return the `larder.Loader` that reads in this order, in batches.

        Args:
            size: samples in a batch; may be omitted if options bound the batch otherwise.
            **options: other options of the loader.
        """
        from .._batches.loader import Loader

        node = self._node
        if node._several:
            raise TypeError(f'{node!r} outputs several datasets; load one by node["NAME"]')
        sized = {} if size is None else {"batch_size": size}
        return Loader(Flow(node), node=node.name, **{**self._options, **sized, **options})


class Flow(Graph[Node]):
    """A flow: the nodes to run, with all their dependencies.

    Args:
        *ends: nodes, and flows such as `Node.to` returns. Sinks are written; of other nodes
            all samples are computed.
        name: the name in reports; with the current directory it identifies the flow's
            checkpoints. By default the name of the script, if there is one, else "flow".
        defaults: options for all nodes that do not have them.
        limits: the maximum that a file may claim when it is read: "pixels", "unpacked", "item".
    """

    def edit(self) -> Editor:
        """Return an editor, from which another flow is built."""
        return Editor(self)

    def fingerprint(self, *nodes: str | Node) -> str:
        """Return the digest of everything that the flow says about the data of nodes, or of its targets.

        Flows with the same fingerprint compute the same from the same sources. What cannot change
        the data does not count: names, checkpoints and caches, workers, time limits, output paths.
        """
        from .ask import fingerprint
        from .run import targets

        return fingerprint(self, targets(self, nodes))

    def run(self, **options: Any) -> Report:
        """Run the flow, with the options of `larder.run`."""
        from .run import run

        return run(self, **options)


class Editor(GraphEditor[Node, Flow]):
    """Builds another flow from one, which stays unchanged. Created by `Flow.edit`.

        e = flow.edit()
        e.after("letters", "few", lambda node: node.slice(stop=10))
        e.remove("stats")
        edited = e.flow()

    Nodes have their names in the flow. A new node is given by a source, or by a function that
    receives the nodes that it reads and returns one node of them. An invalid edit is a
    `ValueError`, and leaves the flow as it was before the edit.
    """
