"""Compare loaders and write their section of docs/benchmarks.md.

    python3 bench/python/loading/run.py [--runs N] [--only TEXT] [--render]

Needs only Go and pip: the loaders are installed into bench/.work/loading, once. Results are
bench/loading.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import data
import machine
import processes

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import freshmemory  # noqa: E402
import page  # noqa: E402
import render  # noqa: E402

CLONE = HERE.parents[2]
WORK = CLONE / "bench" / ".work" / "loading"
RESULTS = CLONE / "bench" / "loading.json"

PATIENCE = 300
"""The maximum time of a contestant, in seconds."""
CLIENTS = 8


class Bench:
    """The state of one call."""

    def __init__(self, python: str, seconds: float) -> None:
        self.python, self.seconds = python, seconds
        self.directory = WORK / "data"
        self.place = tempfile.mkdtemp(prefix="lb-")  # socket paths must be short
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": self.place,
            "LARDER_CACHE": f"{self.place}/cache",
            "LARDER_BIN": str(WORK / "larder"),
            "TOKENIZERS_PARALLELISM": "false",
        }

    def close(self) -> None:
        """Remove all files written, except data."""
        self.serve("--stop")
        shutil.rmtree(self.place, ignore_errors=True)

    def serve(self, *flags: str) -> subprocess.Popen[bytes]:
        command = [str(WORK / "larder"), "serve", *flags]
        server = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if flags:
            server.wait()
        return server

    def serves(self) -> bool:
        return self.serve("--status").returncode == 0

    def start_server(self) -> None:
        """Start a server that is not in use yet."""
        self.serve()
        while not self.serves():
            time.sleep(0.05)

    def end_server(self) -> None:
        """End the server, so that the next one starts empty."""
        self.serve("--stop")
        while self.serves():
            time.sleep(0.05)

    def start(self, work: str, loader: str) -> Child:
        """Start a contestant, with its output in files."""
        command = [self.python, str(HERE / "contest.py"), work, loader, str(self.directory), str(self.seconds)]
        said, errors = (tempfile.TemporaryFile("w+", dir=self.place) for _ in range(2))
        process = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.PIPE, stdout=said, stderr=errors, start_new_session=True
        )
        return Child(process, said, errors)

    def contest(self, work: str, loader: str) -> dict[str, Any]:
        """Run a contestant once."""
        child = self.start(work, loader)
        watch = Watch([child])
        try:
            figures = watch.figures(child, time.monotonic() + PATIENCE)
        finally:
            child.end()
        if "error" not in figures:
            figures["memory"] = watch.most
        return figures

    def together(self, loader: str) -> dict[str, Any]:
        """Run several processes with the same samples, and return their total memory when each is done."""
        data.make(self.python, "few photos", "jpeg", self.directory)
        children = [self.start("few photos", loader) for _ in range(CLIENTS)]
        watch = Watch(children)
        try:
            for child in children:
                figures = watch.figures(child, time.monotonic() + PATIENCE)
                if "error" in figures:
                    return figures
            return {"memory": watch.now()}
        finally:
            for child in children:
                child.end()


@dataclass
class Child:
    """A contestant."""

    process: subprocess.Popen[bytes]
    said: IO[str]
    errors: IO[str]

    def lines(self) -> list[dict[str, Any]]:
        """Return its output so far."""
        self.said.seek(0)
        return [json.loads(line) for line in self.said if line.startswith("{") and line.endswith("\n")]

    def error(self) -> str:
        """Return its error."""
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors if line.strip()]
        return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "it ended")

    def end(self) -> None:
        """End it and its remaining processes; a server has its own session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for file in (self.process.stdin, self.said, self.errors):
            file.close()


class Watch:
    """Measures the memory of processes, four times per second."""

    def __init__(self, children: list[Child]) -> None:
        self.roots = {child.process.pid for child in children}
        self.most = 0

    def now(self) -> int:
        return processes.memory(self.roots)

    def figures(self, child: Child, until: float) -> dict[str, Any]:
        """Return the final output of a contestant, or its error."""
        while time.monotonic() < until:
            ended = child.process.poll() is not None
            for said in child.lines():
                if "server" not in said:
                    return said
                self.roots |= {said["server"]} - {None}
            if ended:
                return {"error": child.error()}
            self.most = max(self.most, self.now())
            time.sleep(0.25)
        return {"error": f"took more than {PATIENCE} s"}


def install() -> str:
    """Install each contestant separately, and the package of this clone; return the interpreter."""
    python = WORK / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", WORK / "venv"], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for line in (HERE / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#") and subprocess.run([*pip, *line.split()], check=False).returncode != 0:
            print(f"could not be installed: {line}", file=sys.stderr)
    subprocess.run(
        ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", WORK / "larder", "./cmd/larder"], cwd=CLONE, check=True
    )
    subprocess.run([*pip, "--force-reinstall", "--no-deps", CLONE / "python"], check=True)
    return str(python)


def names(python: str) -> dict[str, list[str]]:
    """Return the contestants of each module."""
    code = "import json, rows, photos; print(json.dumps({'rows': [*rows.LOADERS], 'photos': [*photos.LOADERS], 'sharing': [*photos.SHARING]}))"
    return json.loads(subprocess.run([python, "-c", code], cwd=HERE, capture_output=True, text=True, check=True).stdout)


def better(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return the better of each figure of two runs."""
    if "error" in before or "error" in now:
        return before if "error" in now and "error" not in before else now
    cached = dict(before)
    for name, value in now.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or name not in cached:
            cached[name] = value
        else:
            cached[name] = max(cached[name], value) if name.startswith("rate") else min(cached[name], value)
    return cached


def measure(bench: Bench, runs: int, only: str, results: dict[str, Any]) -> None:
    """Measure everything in alternation, and write each result immediately."""
    known = names(bench.python)
    todo = [(work, loader) for work in data.KINDS for loader in known["rows"]] * runs
    todo += [("photos", loader) for loader in known["photos"]]
    todo += [("few photos", loader) for loader in known["sharing"]]
    for work, loader in todo:
        if only not in f"{work}: {loader}":
            continue
        began = time.monotonic()
        bench.end_server()
        if loader.startswith("Larder") and "starts" not in loader:
            bench.start_server()
        figures = bench.together(loader) if work == "few photos" else bench.contest(work, loader)
        table = results.setdefault(work, {})
        table[loader] = better(table.get(loader, {}), figures) if runs > 1 else figures
        print(f"{work}: {loader}: {figures} in {time.monotonic() - began:.0f} s", file=sys.stderr)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=2, help="of rows, of which the better figures count")
    arguments.add_argument("--seconds", type=float, default=1, help="how long epochs are repeated, at least")
    arguments.add_argument(
        "--only", default="", help="contestants whose WORK: NAME has this text; others stay as they were"
    )
    arguments.add_argument("--python", help="an interpreter that has all of requirements.txt")
    arguments.add_argument("--render", action="store_true", help="write the section again and measure nothing")
    chosen = arguments.parse_args()
    results: dict[str, Any] = (
        json.loads(RESULTS.read_text()) if RESULTS.exists() and (chosen.only or chosen.render) else {}
    )
    if not chosen.render:
        WORK.mkdir(parents=True, exist_ok=True)
        python = chosen.python or install()
        before = results.get("machine", {}).get("seconds")
        results["machine"] = machine.about(python, CLONE) | {"runs": chosen.runs}
        freshmemory.touch()
        bench = Bench(python, chosen.seconds)
        try:
            measure(bench, chosen.runs, chosen.only, results)
            if not chosen.only:
                results.pop("older", None)
                results["imports"] = machine.imports(python, bench.environment)
        finally:
            bench.close()
        took = time.monotonic() - results["machine"].pop("began")
        results["machine"]["seconds"] = before if chosen.only and before else took
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    page.rewrite("bench/loading.json", render.section(results))


if __name__ == "__main__":
    main()
