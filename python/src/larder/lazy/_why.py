"""Explain why the results of a tree are cached or not."""

from __future__ import annotations

from dataclasses import dataclass

from .._memo.why import Why
from ._node import Node
from ._run import Evaluation, State


@dataclass(frozen=True)
class NodeWhy:
    """What is known about one node."""

    label: str
    """What the node is: a function, an operator, a method."""
    status: str
    """"cached", "not cached", "value", "computed again" for an operator, or "waits" for uncached arguments."""
    depth: int
    why: Why | None
    """The parts of its key and what differs, if its arguments are known and it is checked separately."""


@dataclass(frozen=True)
class WhyTree:
    """What is known about a tree, from the root down; printing it is human-readable. It stops at cached results."""

    nodes: list[NodeWhy]

    @property
    def cached(self) -> bool:
        """Whether the result of the root is cached, so that nothing has to be computed."""
        return self.nodes[0].status == "cached"

    @classmethod
    def of(cls, root: Node) -> WhyTree:
        look = Look()
        state = look.prepare(root)
        state.consumers += 1
        look.find([state])
        look.compute(state)
        found: list[NodeWhy] = []
        seen: set[State] = set()
        stack = [(state, 0)]
        while stack:
            one, depth = stack.pop()
            if one in seen:
                continue
            seen.add(one)
            status, why = look.said[one]
            found.append(NodeWhy(one.node.operation.label, status, depth, why))
            if one.opened:
                stack.extend((child, depth + 1) for child in reversed(one.children))
        return cls(found)

    def __str__(self) -> str:
        return "\n".join(line for node in self.nodes for line in _lines(node))


_DEEPEST = 20


def _lines(node: NodeWhy) -> list[str]:
    space = "  " * min(node.depth, _DEEPEST)
    lines = [f"{space}{node.label}: {node.status}"]
    if node.why is not None and node.status == "not cached":
        differs = [f"{space}  differs: {change}" for change in node.why.changes]
        lines += differs or [f"{space}  no similar result is cached"]
    return lines


class Look(Evaluation):
    """An evaluation that computes only operators."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[State, tuple[str, Why | None]] = {}

    def load(self, state: State) -> bool:
        """Read a result that is cached for the whole tree; report whether there was one."""
        found = super().load(state)
        if found:
            self.said[state] = "cached", None
        return found

    def apply(self, state: State) -> None:
        """Check whether a result is cached, if its arguments are known."""
        state.done = True
        if any(self.said[child][0] in ("not cached", "waits") for child in state.children):
            self.said[state] = "waits", None
            return
        node, cached = state.node, state.cached
        if node.operation.cached is None:
            args, kwargs = self._filled(node, self.look)
            state.value = node.operation.function(*args, **kwargs)
            self.said[state] = ("computed again" if node.refs else "value"), None
            return
        if cached is None:
            self.said[state] = "not cached", None
            return
        node.verify()
        args, kwargs = self._filled(node, self.give)
        why = cached.why(*args, **kwargs)
        self.said[state] = ("cached" if why.cached else "not cached"), why
        if why.cached:
            state.key = cached.key_of(args, kwargs)
            state.value, state.fresh = cached.reread(state.key), True

    def _let_go(self, state: State) -> None:
        """Release nothing, as values are only read."""

    def _told(self, state: State, word: str) -> None:
        """Print nothing."""
