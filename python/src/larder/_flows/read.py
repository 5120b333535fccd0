"""Read flow files into flows of Python, with the program larder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _arguments
from .._yaml.values import Var, plain
from .ask import ask, variable
from .flow import Flow, Node
from .graph import made


def read_flow(
    file: str | os.PathLike[str],
    *,
    set: Mapping[str, bool | int | float | str | os.PathLike[str] | None] | None = None,
    profile: str | None = None,
) -> Flow:
    """Read a flow file into a flow that can be inspected, edited and run.

    Variables have their values, except `epoch` if `set` does not give it. Included nodes are
    part of the flow, and so are the variants of a sweep. Relative paths start at the
    directory of the file.

    Args:
        file: the path of a flow file.
        set: values of variables; a string stays a string.
        profile: the profile of the flow file that sets variables.

    Raises:
        FlowError: the flow does not exist or is invalid; the message says why.
    """
    path = _arguments.flow_path(file)
    values = _arguments.mapping("set", set, "values by the names of variables")
    given = [f"--set={name}={variable(name, value)}" for name, value in values.items()]
    given += [f"--profile={profile}"] if profile is not None else []
    said = json.loads(ask([os.path.join(".", path), "--json", *given]))
    directory = os.path.abspath(os.path.dirname(path))
    for use in said.get("epoch", ()):
        _put(said, use["at"], Var(use["text"], {"epoch": plain(said["vars"]["epoch"], "variable epoch")}))
    nodes: dict[str, Node] = {}
    for name, node in _ordered(said["nodes"]):
        nodes[name] = _node(name, node, nodes, None if directory == os.getcwd() else directory)
    name = os.path.splitext(os.path.basename(path))[0]
    return Flow._of_file(nodes, name, said.get("limits", {}))


def _put(said: Any, at: Sequence[str | int], value: Var) -> None:
    """Replace a value in a flow by a variable."""
    for step in at[:-1]:
        said = said[step]
    said[at[-1]] = value


def _node(name: str, said: Mapping[str, Any], nodes: Mapping[str, Node], directory: str | None) -> Node:
    kind = next(k for k in ("source", "map", "op", "sink") if k in said)
    own = {k: plain(v, f"node {name}") for k, v in said.items() if k not in (kind, "from", "with")}
    params = {k: plain(v, f"node {name}: {k}") for k, v in said.get("with", {}).items()}
    reads = []
    for reference in _reads(said):
        other, _, output = reference.partition(".")
        reads.append(nodes[other][output] if output else nodes[other])
    return made(Node, kind, said[kind], tuple(reads), params, own, name, directory)


def _reads(said: Mapping[str, Any]) -> list[str]:
    reads = said.get("from", [])
    return [reads] if isinstance(reads, str) else reads


def _ordered(nodes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return nodes after those that they read."""
    done: dict[str, Mapping[str, Any]] = {}
    stack = [(name, False) for name in reversed(list(nodes))]
    while stack:
        name, read = stack.pop()
        if name in done:
            continue
        if read:
            done[name] = nodes[name]
            continue
        stack.append((name, True))
        stack += [(other.partition(".")[0], False) for other in reversed(_reads(nodes[name]))]
    return list(done.items())
