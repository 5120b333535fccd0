"""Run flows with the program larder."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from .. import _arguments, _numbers
from .._client.program import environment, find
from .._warnings import warn
from .._worker import refuse_importing
from ..errors import FlowError, LarderWarning
from .ask import variable
from .graph import Graph, GraphNode
from .lifeline import lifeline
from .report import Report, report_of


class RunError(FlowError):
    """A run failed; what was computed before is cached."""

    report: Report | None = None
    """The report up to the failure; None if it is not known."""


def run(
    flow: Graph[Any] | GraphNode | str | os.PathLike[str],
    *,
    set: Mapping[str, bool | int | float | str | os.PathLike[str] | None] | None = None,
    profile: str | None = None,
    only: Sequence[str | GraphNode] = (),
    workers: int | None = None,
    on_error: str | int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    discard_checkpoints: bool = False,
    progress: bool | None = None,
) -> Report:
    """Run a flow, and return its report.

    Ctrl-C and any end of this process end the run cleanly; results computed before are
    cached.

    Args:
        flow: a flow, a node (all its samples are computed), or the path of a flow file.
            Without a file, relative paths start at the current directory.
        set: values of variables; a string stays a string.
        profile: the profile of a flow file that sets variables.
        only: nodes to run, with their dependencies; by default the sinks and checkpoints.
        workers: how many samples are computed concurrently; by default the number of processors.
        on_error: what to do with samples that cannot be computed, unless a node says it:
            "fail", "skip", or a maximum number or share to skip, such as 10 or "5%".
        cache_dir: the cache directory, by default that of the command line.
        discard_checkpoints: whether to release checkpoints after a successful run.
        progress: whether to show progress on stderr; by default, if that is a terminal or a
            notebook.

    Raises:
        FlowError: the flow or an option is invalid; the message has lines that name node and
            place.
        RunError: the run failed. It is also a FlowError.
    """
    refuse_importing("a flow is run")
    if isinstance(flow, GraphNode):
        flow = Graph(flow)
    if not isinstance(flow, Graph):
        flow = _arguments.flow_path(flow)
    given = _arguments.mapping("set", set, "values by the names of variables")
    options = [f"--set={name}={variable(name, value)}" for name, value in given.items()]
    options += [f"--only={name}" for name in targets(flow, only)]
    workers = _numbers.whole("workers", workers, 1)
    for option, value in [("profile", profile), ("workers", workers), ("on-error", on_error)]:
        options += [f"--{option}={value}"] if value is not None else []
    options += [f"--cache={_arguments.path('cache_dir', cache_dir)}"] if cache_dir is not None else []
    options += ["--discard-checkpoints"] if discard_checkpoints else []
    shown = _Progress(sys.stderr) if progress or (progress is None and _is_watched()) else None
    return _Run(flow, options, shown).result()


def targets(flow: Graph[Any] | str | os.PathLike[str], only: Any) -> list[str]:
    if isinstance(only, GraphNode):
        raise TypeError("only: Node is not a list; give a list of nodes")
    only = _arguments.several("only", only, "nodes")
    for node in only:
        if not isinstance(node, GraphNode):
            _arguments.text("only", node)
    if not isinstance(flow, Graph):
        nodes = [name for name in only if isinstance(name, GraphNode)]
        if nodes:
            raise TypeError(f"{nodes[0]!r} is not a node of the flow file; give a name")
        return [str(name) for name in only]
    if not only and not flow._as_file and any(end._kind != "sink" for end in flow._ends):
        return list(flow.ends)
    return [flow.name_of(name) if isinstance(name, GraphNode) else name for name in only]


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class _Progress:
    """The progress of nodes, on one line that is redrawn."""

    def __init__(self, out: Any) -> None:
        self._out, self._drawn = out, 0
        self._nodes: dict[str, str] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        node, done, total = event.get("node", ""), event.get("done", 0), event.get("total", 0)
        if event["event"] == "node_done" or (total and done >= total):
            self._nodes.pop(node, None)
        elif event["event"] == "progress":
            self._nodes[node] = f"{node}: {done} of {total}" if total else f"{node}: {done}"
        else:
            return
        line = " | ".join(self._nodes.values())[: shutil.get_terminal_size().columns - 1]
        self._draw(line)

    def close(self) -> None:
        self._draw("")

    def _draw(self, line: str) -> None:
        if line or self._drawn:
            self._out.write("\r" + line.ljust(self._drawn) + ("" if line else "\r"))
            self._out.flush()
        self._drawn = len(line)


class _Run:
    """One run of the program, which writes events to standard output and a report to a file."""

    def __init__(self, flow: Graph[Any] | str | os.PathLike[str], options: list[str], shown: _Progress | None) -> None:
        self._flow, self._shown = flow, shown
        self._file = flow.file if isinstance(flow, Graph) else os.fspath(flow)
        self._options = options
        self._said: list[str] = []  # lines of stderr
        self._warnings: list[str] = []
        self._interrupted = False

    def result(self) -> Report:
        with tempfile.TemporaryDirectory(prefix="larder-") as directory:
            file = os.path.join(directory, "report.json")
            status = self._carry_out(file)
            report = _read(file)
        if self._interrupted:
            raise KeyboardInterrupt
        for message in self._warnings:
            warn(message, LarderWarning)
        if status == 0 and report is not None:
            return report
        text = self._explained()
        if status == 2:
            raise FlowError(text)
        error = RunError(text or f"larder ended with status {status}")
        error.report = report
        raise error

    def _carry_out(self, report: str) -> int:
        content = self._flow.to_yaml().encode() if isinstance(self._flow, Graph) else b""
        given = ["-", f"--stdin-filename={self._file}"] if content else [os.path.join(".", self._file)]
        command = [find(), "run", *given, *self._options]
        command += ["--progress=none", "--events=/dev/stdout", f"--report={report}"]
        with lifeline() as pipe:
            # In its own process group it does not receive the terminal's Ctrl-C, only ours.
            process = subprocess.Popen(
                [*command, f"--end-with={pipe}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                env=environment(),
                pass_fds=[pipe],
            )
            return self._attend(process, content)

    def _attend(self, process: subprocess.Popen[bytes], content: bytes) -> int:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        listener.start()
        try:
            _write(process.stdin, content)
            self._follow(process, process.stdout)
            status = process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
            listener.join()
            process.stdout.close()
            process.stderr.close()
            if self._shown:
                self._shown.close()
        return status

    def _follow(self, process: subprocess.Popen[bytes], events: IO[bytes]) -> None:
        while True:
            try:
                for line in events:
                    self._take(line)
                return
            except KeyboardInterrupt:
                self._interrupted = True
                process.send_signal(signal.SIGINT)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return  # the rest of a line that an interrupt cut
        if event["event"] == "warning":
            self._warnings.append(event.get("message", ""))
        elif self._shown:
            self._shown.take(event)

    def _listen(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            self._said.append(line.decode(errors="replace"))

    def _explained(self) -> str:
        """Return the lines of stderr, each position with its node."""
        of = [node for _, node in self._flow._lines()] if isinstance(self._flow, Graph) else []
        place = re.compile(rf"{re.escape(self._file)}:(\d+):\d+: ")

        def named(said: str) -> str:
            said = said.removeprefix("larder: ")
            at = place.match(said)
            node = of[int(at[1]) - 1] if at and int(at[1]) <= len(of) else None
            if at is None or node is None or f"node {node}" in said:
                return said
            return f"{at[0]}node {node}: {said[at.end() :]}"

        return "".join(named(s) for s in self._said if not s.startswith("larder: warning: ")).rstrip("\n")


def _write(stdin: IO[bytes], content: bytes) -> None:
    try:
        with stdin:
            stdin.write(content)
    except BrokenPipeError:
        pass  # it has ended, and its output says why


def _read(file: str) -> Report | None:
    try:
        with open(file, encoding="utf-8") as f:
            return report_of(json.load(f))
    except (OSError, ValueError):
        return None
