"""Compare hits of memoizers.

    python3 bench/python/memo/times.py [--runs N]

Needs only Go and pip: the memoizers are installed into bench/.work/memo, once. Prints a table;
each figure is the median of runs, which alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import edits

HERE = Path(__file__).resolve().parent
CLONE = HERE.parents[2]
WORK = CLONE / "bench" / ".work" / "memo"
PEERS = ["Larder", "diskcache", "joblib", "evalcache"]
UNITS = {
    "tiny": ("a hit of a number", 1e6, "us"),
    "another process": ("the same, not seen by this process", 1e6, "us"),
    "argument": ("a hit with an argument of 1 MiB", 1e3, "ms"),
    "result": ("a hit with a result of 1 MiB", 1e6, "us"),
    "batch": ("an item of a batch of 256", 1e6, "us"),
    "executions": ("executions, 8 processes asking for the same 200", 1, ""),
}


def install() -> Path:
    """Install the memoizers and the package of this clone; return the interpreter."""
    python = edits.installed()
    subprocess.run([python, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", CLONE / "python"], check=True)
    subprocess.run(["go", "build", "-o", WORK / "larder", "./cmd/larder"], cwd=CLONE, check=True)
    return python


class Place:
    """A separate directory and server."""

    def __init__(self) -> None:
        self.directory = tempfile.mkdtemp(prefix="lm-")
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": self.directory,
            "LARDER_CACHE": f"{self.directory}/cache",
            "LARDER_BIN": str(WORK / "larder"),
        }

    def start(self, python: Path, *arguments: str) -> subprocess.Popen[str]:
        command = [str(python), str(HERE / "hits.py"), *arguments, self.directory]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)

    def run(self, python: Path, *arguments: str) -> dict[str, float]:
        out, _ = self.start(python, *arguments).communicate()
        return json.loads(out.splitlines()[-1]) if out else {}

    def close(self) -> None:
        subprocess.run([WORK / "larder", "serve", "--stop"], env=self.environment, capture_output=True)
        shutil.rmtree(self.directory, ignore_errors=True)


def measure(python: Path, peer: str) -> dict[str, float]:
    """Measure one memoizer, in a process that finds the cached results of another one."""
    place = Place()
    try:
        place.run(python, peer, "fill")
        figures = place.run(python, peer, "hits")
        children = [place.start(python, peer, "same") for _ in range(8)]
        for child in children:
            child.communicate()
        figures["executions"] = len(Path(place.directory, "executions").read_text().splitlines())
        return figures
    finally:
        place.close()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=5)
    runs = arguments.parse_args().runs
    python = install()
    seen: dict[str, dict[str, list[float]]] = {peer: {} for peer in PEERS}
    for _ in range(runs):
        for peer in PEERS:
            for name, value in measure(python, peer).items():
                seen[peer].setdefault(name, []).append(value)
    print("| | " + " | ".join(PEERS) + " |\n| --- |" + " ---: |" * len(PEERS))
    for name, (text, scale, unit) in UNITS.items():
        cells = [
            f"{statistics.median(seen[peer][name]) * scale:.3g} {unit}".strip() if name in seen[peer] else ""
            for peer in PEERS
        ]
        print(f"| {text} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
