"""Build flows in Python: graphs of sources, mappers, operators and sinks.

    letters = larder.underfolder(path="examples/letters/data")
    small = letters.image_resize(width=64)
    larder.run(small.to_underfolder(path="out/small"))
    for batch in small.shuffle(seed=1).batch(32): ...

A `Node` is immutable; its methods return new nodes. Nothing is read or computed before a
flow is run or loaded.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from . import _arguments, _callable, _yaml
from ._components import (
    JOINS,
    PARAMETERS,
    SEVERAL,
    Methods,
    arrow,
    csv,
    hf,
    images,
    jsonl,
    mds,
    numpy,
    parquet,
    python,
    text,
    tfrecord,
    underfolder,
    webdataset,
)
from ._components import zip as zip
from ._given import Options, options, parameters, split
from ._values import Value, Var, merged, plain, sweep, var, variables

if TYPE_CHECKING:
    from ._edit import Editor
    from .loader import Loader
    from .report import Report

# And zip, which a star import would put in place of the builtin.
__all__ = [
    "Flow", "Node", "Options", "Order", "Step", "Var",
    "arrow", "csv", "generate", "hf", "images", "jsonl", "mds", "numpy", "parquet", "python", "source", "step", "sweep",
    "text", "tfrecord", "underfolder", "var", "webdataset",
]  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Node(Methods):
    """The output of a source, a mapper or an operator: one dataset, or several.

    Two nodes that are created alike are equal, and one node of a flow. Functions and methods
    create nodes; they take the parameters of the component and `Options`.
    """

    _kind: str
    _component: str
    _inputs: tuple[Node, ...]
    _params: dict[str, Value]
    _options: dict[str, Value]
    _name: str | None
    _digest: bytes
    _several: bool | None  # None if it is not known before the run
    _outputs: tuple[str, ...] | None  # the names, if they are known
    _output: str | None = None  # the output that this is
    _folder: str | None = None  # the base of its paths, if not the current directory

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
                script, which worker processes import: the mapper `python`.
            with_: parameters by their names in flow files.
            **params: other parameters, and `Options`.
        """
        if not isinstance(component, (str, Step)):
            if not callable(component):
                raise TypeError(f"map(): {_arguments.kind(component)} is not a mapper; give its name or a function")
            params = _callable.parameters(component, params)
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

    # Outputs

    @property
    def outputs(self) -> tuple[str, ...] | None:
        """The names of the datasets that this outputs; None for one dataset, or if they are not known."""
        return self._outputs

    def __getitem__(self, output: str | int) -> Node:
        """Return one of several datasets, by name or index."""
        if self._several is False:
            raise TypeError(f"{self!r} outputs one dataset")
        names = self._outputs
        if isinstance(output, int):
            if names is None and output >= 0:
                return replace(self, _output=str(output), _several=False)
            return replace(self, _output=(names or ())[output], _several=False, _outputs=None)
        if not output or (names is not None and output not in names):
            raise KeyError(f"{self!r} has no output {output!r}; valid: {', '.join(names or ())}")
        return replace(self, _output=str(plain(output, "output")), _several=False, _outputs=None)

    def __iter__(self) -> Iterator[Node]:
        """Iterate over the datasets that this outputs, if their names are known."""
        if self._several is False:
            raise TypeError(f"{self!r} outputs one dataset; larder.Dataset reads its samples")
        if self._outputs is None:
            raise TypeError(f'{self!r}: its outputs are not known before it runs; name one by node["NAME"]')
        return iter([self[name] for name in self._outputs])

    # The node itself

    @property
    def name(self) -> str:
        """The name of the node in a flow of its own, `NODE.OUTPUT` for one of several outputs."""
        return Flow(self).name_of(self)

    def to_yaml(self) -> str:
        """Return the flow of this node and all its dependencies, as YAML."""
        return Flow(self).to_yaml()

    def yaml(self) -> str:
        """Return the same as `to_yaml`."""
        return self.to_yaml()

    def run(self, **options: Any) -> Report:
        """Compute all samples of this node, with the options of `larder.run`."""
        return Flow(self).run(**options)

    def loader(self, **options: Any) -> Loader:
        """Return the `larder.Loader` of this node, with the loader's options."""
        return self.batch(**options)

    def __str__(self) -> str:
        return self.to_yaml()

    def __repr__(self) -> str:
        called = f" {self._name}" if self._name else ""
        output = f", output {self._output!r}" if self._output is not None else ""
        return f"<larder.Node{called}: {self._kind} {self._component}{output}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self._digest, self._output) == (other._digest, other._output)

    def __hash__(self) -> int:
        return hash((self._digest, self._output))

    def __deepcopy__(self, memo: object) -> Node:
        return self

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
    return source("python", **_callable.parameters(function, {"into": into, **params}))


@dataclass(frozen=True, slots=True)
class Step(Mapping[str, Any]):
    """A mapper with its parameters, as a parameter of another component; created by `step`."""

    component: str
    params: dict[str, Value] = field(hash=False)

    def _entries(self) -> dict[str, Any]:
        return {"map": self.component, **({"with": self.params} if self.params else {})}

    def __getitem__(self, key: str) -> Any:
        return self._entries()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())


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
    return _made(kind, component, inputs, values, own, name, None)


def _made(
    kind: str,
    component: str,
    inputs: tuple[Node, ...],
    values: dict[str, Value],
    own: dict[str, Value],
    name: str | None,
    folder: str | None,
) -> Node:
    """Create a node from values that were already checked."""
    if inputs:
        folder = _one_folder(inputs)
    digest = hashlib.blake2b(digest_size=16)
    made = kind, component, sorted(values.items(), key=_first), sorted(own.items(), key=_first), name, folder
    digest.update(repr(made).encode())
    for other in inputs:
        digest.update(repr((other._digest, other._output)).encode())
    several, outputs = _puts_out(kind, component, inputs, values)
    return Node(kind, component, inputs, values, own, name, digest.digest(), several, outputs, _folder=folder)


def _one_folder(nodes: tuple[Node, ...]) -> str | None:
    """Return the base directory of the paths of nodes; None for the current directory."""
    folders = dict.fromkeys(node._folder for node in nodes)
    if len(folders) > 1:
        said = " and ".join("the current one" if f is None else f for f in folders)
        raise ValueError(
            f"nodes of flows of several directories cannot be one flow: {said}; change to the directory of the file"
        )
    return next(iter(folders))


def _first(entry: tuple[str, Value]) -> str:
    return entry[0]


def _puts_out(
    kind: str, component: str, inputs: tuple[Node, ...], params: dict[str, Value]
) -> tuple[bool | None, tuple[str, ...] | None]:
    """Return whether a node outputs several datasets, and their names."""
    if kind == "source":
        return False, None
    if kind == "op" and component in SEVERAL:
        return True, _parts(component, params)
    if kind == "op" and component not in PARAMETERS["op"]:
        return None, None
    if component in JOINS:
        return False, None
    return inputs[0]._several, inputs[0]._outputs


def _parts(component: str, params: dict[str, Value]) -> tuple[str, ...] | None:
    """Return the names of the outputs, if the parameters determine them."""
    sizes = params.get("sizes")
    if component == "split" and isinstance(sizes, dict):
        return None if {"switch", "cases"} <= sizes.keys() else tuple(sizes)
    if component == "split" and isinstance(sizes, tuple):
        return tuple(map(str, range(len(sizes))))
    number = params.get("n")
    if component == "chunk" and isinstance(number, int):
        return tuple(map(str, range(number)))
    return None


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
        from .loader import Loader

        node = self._node
        if node._several:
            raise TypeError(f'{node!r} outputs several datasets; load one by node["NAME"]')
        sized = {} if size is None else {"batch_size": size}
        return Loader(Flow(node), node=node.name, **{**self._options, **sized, **options})


class Flow:
    """A flow: the nodes to run, with all their dependencies.

    Args:
        *ends: nodes, and flows such as `Node.to` returns. Sinks are written; of other nodes
            all samples are computed.
        name: the name in reports; with the current directory it identifies the flow's
            checkpoints. By default the name of the script, if there is one, else "flow".
        defaults: options for all nodes that do not have them.
        limits: the maximum that a file may claim when it is read: "pixels", "unpacked", "item".
    """

    def __init__(
        self,
        *ends: Node | Flow,
        name: str | None = None,
        defaults: Options | None = None,
        limits: Mapping[str, object] | None = None,
    ) -> None:
        self._ends = tuple(dict.fromkeys(_ends(ends)))
        self.name = _flow_name(name)
        named, own = options(defaults or {}, ("", ""), "defaults")
        if named is not None:
            raise TypeError("defaults cannot name nodes")
        self._top: dict[str, Value] = {"defaults": own, "limits": plain(limits or {}, "limits")}
        self._nodes = _named_nodes(self._ends)
        self._as_file = False  # the ends that a flow file would run are run
        self.folder = _one_folder(self._ends)
        """The base of relative paths, for a flow that was read from another directory; None for the current one."""

    @property
    def file(self) -> str:
        """The path of the flow file that this flow would be."""
        return os.path.join(self.folder or "", f"{self.name}.yaml")

    def edit(self) -> Editor:
        """Return an editor, from which another flow is built."""
        from ._edit import Editor

        return Editor(self)

    def fingerprint(self, *nodes: str | Node) -> str:
        """Return the digest of everything that the flow says about the data of nodes, or of its targets.

        Flows with the same fingerprint compute the same from the same sources. What cannot change
        the data does not count: names, checkpoints and caches, workers, time limits, output paths.
        """
        from ._read import fingerprint
        from ._run import _targets

        return fingerprint(self, _targets(self, nodes))

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name, each after those that it reads."""
        return dict(self._nodes)

    @property
    def ends(self) -> tuple[str, ...]:
        """The names of the nodes to run."""
        return tuple(self.name_of(node) for node in self._ends)

    def name_of(self, node: Node) -> str:
        """Return the name of a node in this flow, `NODE.OUTPUT` for one of several outputs."""
        if not isinstance(node, Node):
            raise TypeError(f"name_of(): {_arguments.kind(node)} is not a node; give one of the flow")
        for name, have in self._nodes.items():
            if have._digest == node._digest:
                return _reference(name, node)
        raise KeyError(f"{node!r} is not in this flow")

    def to_yaml(self) -> str:
        """Return the flow as YAML that `larder run` accepts."""
        return "".join(f"{line}\n" for line, _ in self._lines())

    def yaml(self) -> str:
        """Return the same as `to_yaml`."""
        return self.to_yaml()

    def run(self, **options: Any) -> Report:
        """Run the flow, with the options of `larder.run`."""
        from ._run import run

        return run(self, **options)

    def _lines(self) -> list[tuple[str, str | None]]:
        """Return the lines of the flow, each with the name of its node."""
        found = Var("", {})
        for name, node in self._nodes.items():
            more = variables({**node._params, **node._options})
            found = Var("", merged(found.values, f"node {name}", more), found.sweeps | more.sweeps)
        vars_ = {n: v for n, v in found.values.items() if n not in found.sweeps}
        sweeps = {n: v for n, v in found.values.items() if n in found.sweeps}
        lines = ["version: 1"]
        for key, value in {"vars": vars_, "sweep": sweeps, **self._top}.items():
            lines += _yaml.field(0, key, value) if value else []
        own: list[tuple[str, str | None]] = [(line, None) for line in [*lines, "nodes:"]]
        names = {node._digest: name for name, node in self._nodes.items()}
        for name, node in self._nodes.items():
            own += [(line, name) for line in _node_lines(name, node, names)]
        return own

    def __add__(self, other: Flow) -> Flow:
        """Return the flow that runs what both flows run."""
        if not isinstance(other, Flow):
            return NotImplemented
        if self._top != other._top:
            raise ValueError("flows with different defaults or limits cannot be joined")
        both = Flow(*self._ends, *other._ends, name=self.name)
        both._top, both._as_file = self._top, self._as_file and other._as_file
        return both

    def __str__(self) -> str:
        return self.to_yaml()

    def __repr__(self) -> str:
        return f"<larder.Flow {self.name}: {', '.join(self.ends)}>"


def _named_in(of: Flow, name: str, ends: list[Node]) -> Flow:
    """Return a flow of other ends with the defaults and limits of a flow."""
    flow = Flow(*ends, name=name)
    flow._top, flow._as_file = of._top, of._as_file
    return flow


def _of_file(nodes: Mapping[str, Node], name: str, limits: Mapping[str, object]) -> Flow:
    """Return a flow of all these nodes that runs the targets of its file."""
    read = {other._digest for node in nodes.values() for other in node._inputs}
    flow = Flow(*(node for node in nodes.values() if node._digest not in read), name=name, limits=limits)
    flow._as_file = True
    return flow


def _ends(given: tuple[Node | Flow, ...]) -> Iterator[Node]:
    if not given:
        raise ValueError("a flow must have nodes")
    for end in given:
        if isinstance(end, Flow):
            if end._top != {"defaults": {}, "limits": {}}:
                raise ValueError(f"{end!r} has defaults or limits, so it cannot be part of another flow")
            yield from end._ends
        elif isinstance(end, Node):
            yield end
        else:
            raise TypeError(f"Flow(): {_arguments.kind(end)} is not a node; give nodes, such as larder.images(PATH)")


def _flow_name(name: str | None) -> str:
    if name is None:
        script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
        name = os.path.splitext(os.path.basename(script))[0].replace("__main__", "")
        return name or "flow"
    if not name or re.search(r"[/\\\0]", name) or not name.isprintable():
        raise ValueError(f"{name!r} cannot name a flow; give a valid file name")
    return name


def _named_nodes(ends: tuple[Node, ...]) -> dict[str, Node]:
    """Return the nodes of a flow by name, each after those that it reads."""
    nodes = _sorted(ends)
    names: dict[str, Node] = {}
    for node in nodes:
        if node._name is not None and names.setdefault(node._name, node) != node:
            _two(node._name, names[node._name], node)
    taken, ordered, next_ = set(names), {}, dict[str, int]()
    for node in nodes:
        name = node._name
        if name is None:
            base = re.sub(r"[^A-Za-z0-9_-]", "_", node._component)
            base = base if base[0] != "-" else "_" + base
            name, number = base, next_.get(base, 2)
            while name in taken:
                name, number = f"{base}-{number}", number + 1
            next_[base] = number
            taken.add(name)
        ordered[name] = node
    return ordered


def _two(name: str, one: Node, other: Node) -> NoReturn:
    raise ValueError(f"two different nodes have the name {name!r}: {one!r} and {other!r}")


def _sorted(ends: tuple[Node, ...]) -> list[Node]:
    """Return all nodes, each once and after those that it reads."""
    done: dict[bytes, Node] = {}
    stack = [(end, False) for end in reversed(ends)]
    while stack:
        node, read = stack.pop()
        if node._digest in done:
            continue
        if read:
            done[node._digest] = node if node._output is None else replace(node, _output=None)
            continue
        stack.append((node, True))
        stack += [(other, False) for other in reversed(node._inputs)]
    return list(done.values())


def _reference(name: str, node: Node) -> str:
    """Return the reference to a node of this name, or to one of its outputs."""
    return name if node._output is None else f"{name}.{node._output}"


def _node_lines(name: str, node: Node, names: dict[bytes, str]) -> list[str]:
    entries: dict[str, Value] = {node._kind: node._component}
    reads = tuple(_reference(names[other._digest], other) for other in node._inputs)
    if reads:
        entries["from"] = reads[0] if len(reads) == 1 else reads
    if node._params:
        entries["with"] = node._params
    lines = [f"  {_yaml.text(name)}:"]
    for key, value in {**entries, **node._options}.items():
        lines += _yaml.field(4, key, value)
    return lines
