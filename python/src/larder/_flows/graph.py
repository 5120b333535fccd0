"""Hold the nodes of a flow, and write the flow as text."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NoReturn, Self, TypeVar, cast

from .. import _arguments
from .._yaml import write
from .._yaml.values import Value, Var, merged, plain, variables
from .node_args import Options, options
from .parameters import JOINS, PARAMETERS, SEVERAL

N = TypeVar("N", bound="GraphNode")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GraphNode:
    """The output of a source, a mapper or an operator, without what creates, runs and loads nodes.

    `Node` adds that. Two nodes that are created alike are equal, and one node of a flow.
    """

    _kind: str
    _component: str
    _inputs: tuple[Self, ...]
    _params: dict[str, Value]
    _options: dict[str, Value]
    _name: str | None
    _digest: bytes
    _several: bool | None  # None if it is not known before the run
    _outputs: tuple[str, ...] | None  # the names, if they are known
    _output: str | None = None  # the output that this is
    _directory: str | None = None  # the base of its paths, if not the current directory

    # Outputs

    @property
    def outputs(self) -> tuple[str, ...] | None:
        """The names of the datasets that this outputs; None for one dataset, or if they are not known."""
        return self._outputs

    def __getitem__(self, output: str | int) -> Self:
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

    def __iter__(self) -> Iterator[Self]:
        """Iterate over the datasets that this outputs, if their names are known."""
        if self._several is False:
            raise TypeError(f"{self!r} outputs one dataset; larder.Dataset reads its samples")
        if self._outputs is None:
            raise TypeError(f'{self!r}: the outputs are not known before it runs; name one by node["NAME"]')
        return iter([self[name] for name in self._outputs])

    # The node itself

    @property
    def name(self) -> str:
        """The name of the node in a flow of its own, `NODE.OUTPUT` for one of several outputs."""
        return Graph(self).name_of(self)

    def to_yaml(self) -> str:
        """Return the flow of this node and all its dependencies, as YAML."""
        return Graph(self).to_yaml()

    def yaml(self) -> str:
        """Return the same as `to_yaml`."""
        return self.to_yaml()

    def __str__(self) -> str:
        return self.to_yaml()

    def __repr__(self) -> str:
        called = f" {self._name}" if self._name else ""
        output = f", output {self._output!r}" if self._output is not None else ""
        return f"<larder.Node{called}: {self._kind} {self._component}{output}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphNode) and (self._digest, self._output) == (other._digest, other._output)

    def __hash__(self) -> int:
        return hash((self._digest, self._output))

    def __deepcopy__(self, memo: object) -> Self:
        return self


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


def made(
    cls: type[N],
    kind: str,
    component: str,
    inputs: tuple[N, ...],
    values: dict[str, Value],
    own: dict[str, Value],
    name: str | None,
    directory: str | None,
) -> N:
    """Create a node from values that were already checked."""
    if inputs:
        directory = _one_directory(inputs)
    digest = hashlib.blake2b(digest_size=16)
    parts = kind, component, sorted(values.items(), key=_first), sorted(own.items(), key=_first), name, directory
    digest.update(repr(parts).encode())
    for other in inputs:
        digest.update(repr((other._digest, other._output)).encode())
    several, outputs = _puts_out(kind, component, inputs, values)
    return cls(kind, component, inputs, values, own, name, digest.digest(), several, outputs, _directory=directory)


def _one_directory(nodes: tuple[GraphNode, ...]) -> str | None:
    """Return the base directory of the paths of nodes; None for the current directory."""
    directories = dict.fromkeys(node._directory for node in nodes)
    if len(directories) > 1:
        said = " and ".join("the current one" if f is None else f for f in directories)
        raise ValueError(
            f"nodes of flows in several directories cannot be combined: {said}; change to the directory of the file"
        )
    return next(iter(directories))


def _first(entry: tuple[str, Value]) -> str:
    return entry[0]


def _puts_out(
    kind: str, component: str, inputs: tuple[GraphNode, ...], params: dict[str, Value]
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


class Graph(Generic[N]):
    """The nodes of a flow to run, with all their dependencies, and its text.

    `Flow` adds what runs, edits and reads it, and describes the arguments.
    """

    def __init__(
        self,
        *ends: N | Graph[N],
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
        self.directory = _one_directory(self._ends)
        """The base of relative paths, for a flow that was read from another directory; None for the current one."""

    @property
    def file(self) -> str:
        """The path of the flow file that this flow would be."""
        return os.path.join(self.directory or "", f"{self.name}.yaml")

    @property
    def nodes(self) -> dict[str, N]:
        """The nodes by name, each after those that it reads."""
        return dict(self._nodes)

    @property
    def ends(self) -> tuple[str, ...]:
        """The names of the nodes to run."""
        return tuple(self.name_of(node) for node in self._ends)

    def name_of(self, node: GraphNode) -> str:
        """Return the name of a node in this flow, `NODE.OUTPUT` for one of several outputs."""
        if not isinstance(node, GraphNode):
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
            lines += write.field(0, key, value) if value else []
        own: list[tuple[str, str | None]] = [(line, None) for line in [*lines, "nodes:"]]
        names = {node._digest: name for name, node in self._nodes.items()}
        for name, node in self._nodes.items():
            own += [(line, name) for line in _node_lines(name, node, names)]
        return own

    def __add__(self, other: Self) -> Self:
        """Return the flow that runs what both flows run."""
        if not isinstance(other, Graph):
            return NotImplemented
        if self._top != other._top:
            raise ValueError("flows with different defaults or limits cannot be joined")
        both = type(self)(*self._ends, *other._ends, name=self.name)
        both._top, both._as_file = self._top, self._as_file and other._as_file
        return both

    def __str__(self) -> str:
        return self.to_yaml()

    def __repr__(self) -> str:
        return f"<larder.Flow {self.name}: {', '.join(self.ends)}>"

    def _alike(self, ends: list[N], name: str) -> Self:
        """Return a flow of other ends with the defaults and limits of this one."""
        flow = type(self)(*ends, name=name)
        flow._top, flow._as_file = self._top, self._as_file
        return flow

    @classmethod
    def _of_file(cls, nodes: Mapping[str, N], name: str, limits: Mapping[str, object]) -> Self:
        """Return a flow of all these nodes that runs the targets of its file."""
        read = {other._digest for node in nodes.values() for other in node._inputs}
        flow = cls(*(node for node in nodes.values() if node._digest not in read), name=name, limits=limits)
        flow._as_file = True
        return flow


def _ends(given: tuple[N | Graph[N], ...]) -> Iterator[N]:
    if not given:
        raise ValueError("the flow has no nodes; add nodes")
    for end in given:
        if isinstance(end, Graph):
            if end._top != {"defaults": {}, "limits": {}}:
                raise ValueError(f"{end!r} has defaults or limits, so it cannot be part of another flow")
            yield from end._ends
        elif isinstance(end, GraphNode):
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


def _named_nodes(ends: tuple[N, ...]) -> dict[str, N]:
    """Return the nodes of a flow by name, each after those that it reads."""
    nodes = _sorted(ends)
    names: dict[str, N] = {}
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


def _two(name: str, one: GraphNode, other: GraphNode) -> NoReturn:
    raise ValueError(f"two different nodes have the name {name!r}: {one!r} and {other!r}")


def _sorted(ends: tuple[N, ...]) -> list[N]:
    """Return all nodes, each once and after those that it reads."""
    done: dict[bytes, N] = {}
    stack = [(end, False) for end in reversed(ends)]
    while stack:
        node, read = stack.pop()
        if node._digest in done:
            continue
        if read:
            done[node._digest] = node if node._output is None else replace(node, _output=None)
            continue
        stack.append((node, True))
        stack += [(other, False) for other in reversed(cast("tuple[N, ...]", node._inputs))]
    return list(done.values())


def _reference(name: str, node: GraphNode) -> str:
    """Return the reference to a node of this name, or to one of its outputs."""
    return name if node._output is None else f"{name}.{node._output}"


def _node_lines(name: str, node: GraphNode, names: dict[bytes, str]) -> list[str]:
    entries: dict[str, Value] = {node._kind: node._component}
    reads = tuple(_reference(names[other._digest], other) for other in node._inputs)
    if reads:
        entries["from"] = reads[0] if len(reads) == 1 else reads
    if node._params:
        entries["with"] = node._params
    lines = [f"  {write.text(name)}:"]
    for key, value in {**entries, **node._options}.items():
        lines += write.field(4, key, value)
    return lines
