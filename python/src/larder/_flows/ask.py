"""Ask the program about flows."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from .._client.program import environment, find
from .._yaml import write
from .._yaml.values import Var, plain
from ..errors import FlowError
from .graph import Graph


def fingerprint(flow: Graph[Any], only: Sequence[str]) -> str:
    """Return the fingerprint of nodes of a flow, or of all its targets."""
    options = [f"--only={name}" for name in only]
    try:
        return ask(["-", f"--stdin-filename={flow.file}", "--fingerprint", *options], flow.to_yaml()).strip()
    except FlowError as error:
        raise FlowError(explained(flow, str(error))) from None


def wrong_in(flow: Graph[Any]) -> set[str]:
    """Return the names of the nodes in which the program finds a problem."""
    try:
        ask(["-", f"--stdin-filename={flow.file}", "--json"], flow.to_yaml())
    except FlowError as error:
        return {name for name, _ in _named_lines(flow, str(error)) if name is not None}
    return set()


def explained(flow: Graph[Any], said: str) -> str:
    """Return the program's messages on a flow that is not in a file, each position with its node."""
    lines = []
    for name, line in _named_lines(flow, said):
        lines.append(line if name is None or line.startswith(f"node {name}:") else f"node {name}: {line}")
    return "\n".join(lines)


def _named_lines(flow: Graph[Any], said: str) -> Iterator[tuple[str | None, str]]:
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
        raise TypeError(f"variable {name} takes a string, a number or a boolean, not {type(value).__name__}")
    return write.scalar(known)
