"""Read flow files into flows of Python, with the program larder."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _arguments
from .._client.program import environment, find
from .._yaml import write
from .._yaml.values import Var, plain
from ..errors import FlowError
from .flow import Flow, Node, _made, _of_file


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
    folder = os.path.abspath(os.path.dirname(path))
    for use in said.get("epoch", ()):
        _put(said, use["at"], Var(use["text"], {"epoch": plain(said["vars"]["epoch"], "variable epoch")}))
    made: dict[str, Node] = {}
    for name, node in _ordered(said["nodes"]):
        made[name] = _node(name, node, made, None if folder == os.getcwd() else folder)
    name = os.path.splitext(os.path.basename(path))[0]
    return _of_file(made, name, said.get("limits", {}))


def _put(said: Any, at: Sequence[str | int], value: Var) -> None:
    """Replace a value in a flow by a variable."""
    for step in at[:-1]:
        said = said[step]
    said[at[-1]] = value


def _node(name: str, said: Mapping[str, Any], made: Mapping[str, Node], folder: str | None) -> Node:
    kind = next(k for k in ("source", "map", "op", "sink") if k in said)
    own = {k: plain(v, f"node {name}") for k, v in said.items() if k not in (kind, "from", "with")}
    params = {k: plain(v, f"node {name}: {k}") for k, v in said.get("with", {}).items()}
    reads = []
    for reference in _reads(said):
        other, _, output = reference.partition(".")
        reads.append(made[other][output] if output else made[other])
    return _made(kind, said[kind], tuple(reads), params, own, name, folder)


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


def fingerprint(flow: Flow, only: Sequence[str]) -> str:
    """Return the fingerprint of nodes of a flow, or of all its targets."""
    options = [f"--only={name}" for name in only]
    try:
        return ask(["-", f"--stdin-filename={flow.file}", "--fingerprint", *options], flow.to_yaml()).strip()
    except FlowError as error:
        raise FlowError(explained(flow, str(error))) from None


def wrong_in(flow: Flow) -> set[str]:
    """Return the names of the nodes in which the program finds a problem."""
    try:
        ask(["-", f"--stdin-filename={flow.file}", "--json"], flow.to_yaml())
    except FlowError as error:
        return {name for name, _ in _named_lines(flow, str(error)) if name is not None}
    return set()


def explained(flow: Flow, said: str) -> str:
    """Return the program's messages on a flow that is not in a file, each position with its node."""
    lines = []
    for name, line in _named_lines(flow, said):
        lines.append(line if name is None or line.startswith(f"node {name}:") else f"node {name}: {line}")
    return "\n".join(lines)


def _named_lines(flow: Flow, said: str) -> Iterator[tuple[str | None, str]]:
    """Yield messages on a flow without its positions, each with its node."""
    of = [node for _, node in flow._lines()]
    place = re.compile(rf"{re.escape(flow.file)}:(\d+):\d+: ")
    shown = False  # the next lines quote the source line, with a mark under it
    for line in said.splitlines():
        at = place.match(line.removeprefix("larder: "))
        if at is None:
            if not (shown and line.startswith("  ")):
                yield None, line
            continue
        shown = True
        number = int(at[1]) - 1
        yield (of[number] if number < len(of) else None), line.removeprefix("larder: ")[at.end() :]


def ask(arguments: list[str], text: str = "") -> str:
    """Return the output of the program for a flow."""
    done = subprocess.run(
        [find(), "flow", *arguments],
        input=text.encode(),
        capture_output=True,
        check=False,
        env=environment(),
    )
    if done.returncode != 0:
        raise FlowError(done.stderr.decode(errors="replace").removeprefix("larder: ").rstrip("\n"))
    return done.stdout.decode()


def variable(name: str, value: object) -> str:
    """Return the value of a variable as the program accepts it."""
    known = plain(value, f"variable {name}")
    if isinstance(known, (tuple, dict, Var)):
        raise TypeError(f"variable {name} takes a text, a number or a truth value, not {type(value).__name__}")
    return write.scalar(known)
