"""Compile a graph of PyTensor with no cache, with PyTensor's own, and with Larder's.

    python3 bench/python/numba/pytensor_graph.py [NODES] [PROCESSES] [WARM]

Needs pytensor and a `larder` on the PATH or in LARDER_BIN. Each way runs in separate processes
with separate directories: cold; warm, several times in alternation with the other ways, with the
median counted; and warm with a graph that has one more node. Then several processes start
together on empty directories. The wall time is that of building and first calling the function,
without imports. `process` is that of the whole process from its start to its end, and
`all_processor` its processor time. Compilations of cached functions are counted by numba's event
`numba:compile`; two processes that compile the same function count twice. Results are
bench/numba-pytensor.json.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

CLONE = Path(__file__).resolve().parents[3]
RESULTS = CLONE / "bench" / "numba-pytensor.json"
TOOLS = ("none", "pytensor", "larder")


def graph(nodes: int, more: bool) -> tuple[Any, Any]:
    """Return the input and the result of a graph of about `nodes` nodes that no rewrite fuses."""
    import pytensor.tensor as pt

    x = y = pt.vector("x")
    for i in range(nodes * 2 // 5):
        kind = i % 8
        if kind == 0:
            y = pt.exp(-y * y) + (i + 1) * 0.01
        elif kind == 1:
            y = pt.cumsum(y)
        elif kind == 2:
            y = y[::-1] * 1.5
        elif kind == 3:
            y = y - pt.mean(y)
        elif kind == 4:
            y = pt.sort(y)
        elif kind == 5:
            y = pt.concatenate([y[:2], y[2:]])
        elif kind == 6:
            y = y / (1 + pt.max(pt.abs(y)))
        else:
            y = pt.tanh(y) + pt.dot(y, y) * 0.001
    return x, (pt.sin(y) if more else y).sum()


def one(tool: str, nodes: int, more: bool) -> None:
    """Compile and call the graph in this process, and print the figures."""
    if tool == "larder":
        import larder.numba

        larder.numba.install()
    import numpy
    import pytensor
    from numba.core import event

    if tool == "none":
        pytensor.config.numba__cache = False
    compiled: list[str] = []

    class Counts(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            if getattr(event.data["dispatcher"], "stats", None) and event.data["dispatcher"].stats.cache_path:
                compiled.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Counts())
    x, y = graph(nodes, more)
    begun, used = time.perf_counter(), time.process_time()
    function = pytensor.function([x], [y], mode="NUMBA")
    built = time.perf_counter()
    result = float(function(numpy.arange(10.0))[0])
    said = {
        "seconds": time.perf_counter() - begun,
        "compiling": time.perf_counter() - built,
        "processor": time.process_time() - used,
        "compiled": len(compiled),
        "result": result,
        "nodes": len(function.maker.fgraph.toposort()),
    }
    print(json.dumps(said))


def started(tool: str, nodes: int, more: bool, directory: Path) -> subprocess.Popen[str]:
    """Start a process that compiles the graph."""
    directory.mkdir(exist_ok=True)
    own = {
        "PYTENSOR_FLAGS": f"base_compiledir={directory / 'pytensor'}",
        "LARDER_CACHE": str(directory / "larder"),
        "PYTHONPATH": str(CLONE / "python" / "src"),
        "PYTHONPYCACHEPREFIX": str(directory.parent / "bytecode"),
    }
    command = [sys.executable, "-W", "ignore", __file__, "--one", tool, str(nodes), str(int(more))]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(command, env=inherited | own, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the output of a process."""
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{process.args} failed")
    said: dict[str, Any] = json.loads(out.splitlines()[-1])
    return said


def timed(tool: str, nodes: int, more: bool, directory: Path) -> dict[str, Any]:
    """Run a process that compiles the graph, and return its output and its duration."""
    begun, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = ended(started(tool, nodes, more, directory))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said["process"] = time.perf_counter() - begun
    said["all_processor"] = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return said


def median(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of the output of processes, and their minimum and maximum times."""
    made: dict[str, Any] = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    between = sorted(row["seconds"] for row in rows)
    return made | {"runs": len(rows), "lowest": between[0], "highest": between[-1]}


def main() -> None:
    """Run all ways, and print and write their figures."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    many = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    warm = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    made: dict[str, Any] = {
        "pytensor": version("pytensor"),
        "numba": version("numba"),
        "python": platform.python_version(),
        "processes": many,
        "runs": {},
    }
    with tempfile.TemporaryDirectory() as name:
        directories = {tool: Path(name) / tool for tool in TOOLS}
        timed("larder", 5, False, Path(name) / "first")  # compiles modules to bytecode, as in an installation
        runs = made["runs"] = {tool: {"cold": timed(tool, nodes, False, directories[tool])} for tool in TOOLS}
        rows: dict[str, list[dict[str, Any]]] = {tool: [] for tool in TOOLS}
        for turn in range(warm):
            for tool in TOOLS if turn == 0 else TOOLS[1:]:
                rows[tool].append(timed(tool, nodes, False, directories[tool]))
        for tool in TOOLS:
            runs[tool] |= {"warm": median(rows[tool]), "variant": timed(tool, nodes, True, directories[tool])}
            print(tool, json.dumps(runs[tool], indent=1), flush=True)
        for tool in TOOLS[1:]:
            begun = time.perf_counter()
            said = [ended(p) for p in [started(tool, nodes, False, Path(name) / f"{tool}-many") for _ in range(many)]]
            runs[tool]["together"] = {
                "seconds": time.perf_counter() - begun,
                "compiled": sum(one["compiled"] for one in said),
            }
            assert {one["result"] for one in said} == {runs[tool]["cold"]["result"]}
            print(tool, "together", runs[tool]["together"], flush=True)
    RESULTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1")
    else:
        main()
