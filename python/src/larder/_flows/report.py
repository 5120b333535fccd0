"""The report of a run, as `larder run --report` writes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CacheReport:
    """How the samples that a node cached in memory were chosen."""

    policy: str
    known_orders: int
    """Passes whose order was known in advance, so that the samples read again soonest were cached."""
    unknown_orders: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A sample that could not be computed and was left out."""

    node: str
    sample: int
    error: str


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The counters of one node."""

    name: str
    kind: Literal["source", "map", "op", "sink"]
    component: str
    samples: int
    """The number of samples that the node outputs; for a sink, reads."""
    computed: int
    """Executions of the node's own function."""
    from_memory: int
    """Samples returned from memory, each counted once; `memory_reads` counts each read."""
    from_store: int
    """Samples returned from the store, each counted once."""
    memory_reads: int
    store_reads: int
    failed: int
    seconds: float
    """Time in the node's own function, summed over workers."""
    seconds_saved: float
    """Time that hits saved."""
    bytes_read: int
    bytes_written: int
    skipped: int = 0
    """Samples that the node does not output, as they could not be computed."""
    unchanged: bool = False
    """Whether a sink was up to date, so that no sample was read."""
    reused: int = 0
    """Samples of a sink that were not read, because their output was reused."""
    cache: CacheReport | None = None
    decision: str = ""
    """The decision where a checkpoint or a cache is `auto`, and its reason."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did. `report["NODE"]` has the counters of a node."""

    version: int
    flow: str
    status: Literal["ok", "failed", "interrupted"]
    error: str
    seconds: float
    cache: str
    """The cache directory."""
    nodes: tuple[NodeReport, ...]
    skips: tuple[Skip, ...] = ()

    def __getitem__(self, node: str) -> Any:
        """Return the report of a node, or a field of the report as in the JSON document: "status", "nodes"."""
        for one in self.nodes:
            if one.name == node:
                return one
        if node in self.__dataclass_fields__:
            return dataclasses.asdict(self)[node]
        raise KeyError(f"there was no node {node!r}; there were {', '.join(n.name for n in self.nodes)}")

    def __str__(self) -> str:
        """Return the report as a table."""
        counts = ("samples", "computed", "from_memory", "from_store", "skipped")
        rows = [("node", *(c.replace("_", " ") for c in counts))]
        rows += [(n.name, *(str(getattr(n, c) or ".") for c in counts)) for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
        end = f": {self.error}" if self.error else ""
        return "\n".join([*lines, f"{self.flow}: {self.status} in {self.seconds:.3g}s{end}"])


def report_of(document: Mapping[str, Any]) -> Report:
    """Return the report in a JSON document, without the fields that this version does not know."""
    nodes = tuple(_node(n) for n in document.get("nodes") or ())
    skips = tuple(_known(Skip, s) for s in document.get("skips") or ())
    return _known(Report, {**document, "nodes": nodes, "skips": skips})


def _node(document: Mapping[str, Any]) -> NodeReport:
    cache = document.get("cache")
    return _known(NodeReport, {**document, "cache": cache and _known(CacheReport, cache)})


def _known(cls: type[_T], document: Mapping[str, Any]) -> _T:
    names = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: value for name, value in document.items() if name in names})
