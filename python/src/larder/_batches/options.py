"""Translate the options of a loader into a request to the server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .. import _arguments, _numbers
from .._worker import refuse_importing
from ..errors import RequestError
from . import field

if TYPE_CHECKING:
    from .._client.remote import Remote


@runtime_checkable
class Flow(Protocol):
    """A flow that is not in a file."""

    def to_yaml(self) -> str:
        """Return the flow as the text of a flow file."""
        ...


@runtime_checkable
class MapStyle(Protocol):
    """A dataset of torch or of Hugging Face, or another sequence of samples."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


def is_map_style(flow: object) -> bool:
    """Report whether an object is a dataset, which a list may be, and not a flow or its path."""
    flows = isinstance(flow, (str, bytes, os.PathLike, type)) or hasattr(flow, "to_yaml")
    others = isinstance(flow, Mapping) or type(flow).__module__ == "numpy"
    return not flows and not others and isinstance(flow, MapStyle)


Collate = Callable[[list[Any]], Any]
FlowArgument = str | os.PathLike[str] | Flow
Subset = range | Sequence[int]
NodesArgument = Mapping[str, float] | Sequence[str]


def flow_request(
    flow: FlowArgument,
    variables: Mapping[str, Any] | None,
    profile: str | None,
    remote: Remote | None = None,
) -> dict[str, Any]:
    """Return the members that name the flow, with absolute paths, or its path on a remote server."""
    said: dict[str, Any]
    refuse_importing("a flow is read")
    if remote is not None:
        said = {"flow": {"file": remote.flow}}
    elif isinstance(flow, Flow) and not isinstance(flow, (type, str, os.PathLike)):
        said = {"flow": {"text": flow.to_yaml(), "dir": getattr(flow, "directory", None) or os.getcwd()}}
    else:
        said = {"flow": {"file": os.path.abspath(_arguments.flow_path(flow))}}
    given = _arguments.mapping("set", variables, "values by the names of variables")
    if given:
        said["set"] = {name: _variable(value) for name, value in given.items()}
    if profile is not None:
        said["profile"] = _arguments.text("profile", profile)
    if remote is None and sys.executable:
        said["python"] = os.path.abspath(sys.executable)
    return said


def _variable(value: Any) -> str:
    """Return the value of a variable as YAML; a string stays a string."""
    from .._yaml import write  # rarely needed

    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return write.scalar(value)


def node_of(flow: FlowArgument, node: str | None, nodes: NodesArgument | None) -> NodesArgument:
    """Return the nodes to read; an object that is one node of a flow names itself."""
    if nodes is not None:
        if node is not None:
            raise TypeError("give either node or nodes, not both")
        of = "names, or a dict from names to weights"
        weighed = isinstance(nodes, Mapping)
        names = list(nodes) if weighed else _arguments.several("nodes", nodes, of)
        if not names:
            raise TypeError(f"nodes: empty; give a list of {of}")
        for name in names:
            _arguments.text("nodes", name)
        return nodes if weighed else names
    if node is None:
        node = _only_node(flow)
    return [_arguments.text("node", node)]


def _only_node(flow: FlowArgument) -> str:
    """Return the node to read in a flow built in Python: its own, or its only end."""
    if not isinstance(flow, Flow) or isinstance(flow, type):
        flow = _arguments.flow_path(flow)
    ends = getattr(flow, "ends", None)
    named = getattr(flow, "name", None) if ends is None else ends[0] if len(ends) == 1 else None
    if isinstance(flow, (str, os.PathLike)) or not isinstance(named, str):
        raise TypeError("node: missing; give node=NAME")
    return named


def parts_request(nodes: NodesArgument, subset: Subset | Mapping[str, Subset] | None) -> list[dict[str, Any]]:
    """Return the parts that samples are drawn from."""
    parts: list[dict[str, Any]] = [{"node": name} for name in nodes]
    if isinstance(nodes, Mapping):
        for part in parts:
            part["weight"] = _numbers.finite(f"the weight of {part['node']}", nodes[part["node"]])
    if subset is None:
        return parts
    if not isinstance(subset, Mapping):
        if len(parts) != 1:
            raise TypeError("subset: there are several nodes; give subset={node: ...}")
        subset = {parts[0]["node"]: subset}
    for part in parts:
        if part["node"] in subset:
            part["only"] = _only(subset[part["node"]])
    unknown = set(subset) - {part["node"] for part in parts}
    if unknown:
        raise TypeError(f"subset: {sorted(unknown)} are not among the nodes")
    return parts


def _only(samples: Subset) -> Any:
    if isinstance(samples, range) and samples.step > 0 and samples.start >= 0:
        return {"from": samples.start, "to": samples.stop, "step": samples.step}
    numbers = _arguments.several("subset", samples, "numbers of samples")
    return [_numbers.whole("a number of subset", n, -(2**63)) for n in numbers]


def order_request(
    *,
    mixed: bool,
    shuffle: bool,
    replacement: bool,
    draws: int | None,
    stop: str | None,
) -> dict[str, Any]:
    """Return how an epoch draws its samples."""
    if replacement:
        order = "replacement"
    elif mixed:
        order = "mixed"
    else:
        order = "shuffled" if shuffle else "sequential"
    said: dict[str, Any] = {"order": order}
    if draws is not None:
        said["draws"] = _numbers.whole("draws", draws, 1)
    if order == "mixed" and stop is None and draws is None:
        stop = "first"
    if stop is not None:
        said["stop"] = stop
    return said


def batch_request(
    *,
    batch_size: int | None,
    last_batch: str | None,
    drop_last: bool,
    tokens: int | None,
    count_padding: bool,
    buckets: Iterable[int] | None,
    pack: int | None,
    pack_window: int | None,
    split: bool,
) -> dict[str, Any]:
    """Return how samples are put into batches."""
    if drop_last and last_batch not in (None, "drop"):
        raise RequestError(f"drop_last=True contradicts last_batch={last_batch!r}; leave out one of them")
    if batch_size is None and tokens is None:
        batch_size = 32
    said = {
        "size": _numbers.whole("batch_size", batch_size, 1),
        "tokens": _numbers.whole("tokens", tokens, 1),
        "count_padding": count_padding or None,
        "buckets": None if buckets is None else _bounds(buckets),
        "row": _numbers.whole("pack", pack, 1),
        "window": _numbers.whole("pack_window", pack_window, 1),
        "split": split or None,
        "last_batch": "drop" if drop_last else last_batch,
    }
    return {name: value for name, value in said.items() if value is not None}


def _bounds(buckets: Iterable[int]) -> list[int]:
    return [_numbers.whole("a bound of buckets", n, 1) for n in _arguments.several("buckets", buckets, "lengths")]


def length_request(length: str | Mapping[str, str] | None) -> dict[str, str] | None:
    """Return how the length of a sample is computed: an expression, or {"item": NAME}."""
    if length is None:
        return None
    if isinstance(length, str):
        return {"expression": length}
    return dict(_arguments.mapping("length", length, 'one item, {"item": NAME}, or an expression'))


def fields_request(fields: field.FieldsArgument | None) -> list[dict[str, Any]] | None:
    """Return the fields of a batch."""
    return field.requests_of(fields)
