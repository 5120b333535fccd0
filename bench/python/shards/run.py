"""Compare loaders of shards in a bucket, and write their section of docs/benchmarks.md.

    python3 bench/python/shards/run.py [--runs N] [--only TEXT] [--shards N] [--gateway PATH] [--render]

Needs Go, pip, curl and versitygw (https://github.com/versity/versitygw), an S3-compatible server.
The loaders are installed into bench/.work/shards, or --work, once. Results are bench/shards.json.
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
from pathlib import Path
from typing import Any

import place

HERE = Path(__file__).resolve().parent
sys.path.extend([str(HERE.parent), str(HERE.parent / "loading")])
import machine  # noqa: E402
import page  # noqa: E402
import processes  # noqa: E402
import render  # noqa: E402

CLONE = HERE.parents[2]
RESULTS = CLONE / "bench" / "shards.json"

PATIENCE = 300
"""The maximum time of a contestant, in seconds."""
STEP = 0.01
"""The duration of a training step in seconds."""
SAMPLE = 12 << 10
"""The mean size of a sample in bytes."""
SHARED = Path("/dev/shm")
"""Shared memory by name."""


class Bench:
    """The state of one call."""

    def __init__(self, python: str, work: Path, shards: int) -> None:
        self.python, self.work, self.shards = python, work, shards
        self.place = Path(tempfile.mkdtemp(prefix="ls-", dir=work))
        self.environment = os.environ | place.CREDENTIALS | {
            "LARDER_BIN": str(work / "larder"),
            "TOKENIZERS_PARALLELISM": "false",
            "TMPDIR": str(self.place),
        }

    def put(self, form: str, endpoint: str) -> None:
        """Write a format of the data into the bucket, if it is missing."""
        command = [self.python, "-B", str(HERE / "data.py"), form, str(self.work / "stage"), str(self.shards)]
        subprocess.run(command, env=self.environment | {"AWS_ENDPOINT_URL": endpoint}, check=True, stdout=subprocess.DEVNULL)

    def contest(self, side: str, space: int, epochs: int, endpoint: str) -> list[dict[str, Any]]:
        """Run a contestant with an empty cache of a size, and return its output for each epoch."""
        directory = self.place / "side"
        shutil.rmtree(directory, ignore_errors=True)
        cache = directory / "cache"
        cache.mkdir(parents=True)
        shared = set(SHARED.iterdir())
        command = [self.python, "-B", str(HERE / "contest.py"), side, str(self.shards), str(cache), str(space), str(epochs), str(STEP)]
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command, env=self.environment | {"AWS_ENDPOINT_URL": endpoint}, stdout=said, stderr=errors, start_new_session=True
            )
            try:
                memory, disk = watch(process, cache)
                late = process.poll() is None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                shutil.rmtree(directory, ignore_errors=True)
                for left in set(SHARED.iterdir()) - shared:  # it would block later contestants after one that was ended
                    left.unlink(missing_ok=True)
            said.seek(0)
            lines = [json.loads(line) for line in said if line.startswith("{") and line.endswith("\n")]
            if not lines or "done" not in lines[-1]:
                errors.seek(0)
                reported = [line.strip() for line in errors if line.strip()] or ["it ended"]
                if late:
                    asked = place.counts(endpoint)
                    reported = [f"Error: given up after {PATIENCE} s, {asked['requests']:,} requests and {asked['bytes'] >> 20:,} MiB"]
                return [{"error": next((line for line in reversed(reported) if "Error" in line), reported[-1])}]
            return [line | {"memory": memory, "disk": disk} for line in lines[:-1]]


def watch(process: subprocess.Popen[bytes], cache: Path) -> tuple[int, int]:
    """Wait for a contestant, and return its peak memory and disk, sampled twice per second."""
    memory = disk = 0
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        memory, disk = max(memory, processes.memory([process.pid])), max(disk, place.size(cache))
        time.sleep(0.5)
    return memory, disk


def install(work: Path) -> str:
    """Install the contestants and the package of this clone; return the interpreter."""
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", CLONE / "python"], check=True)
    return str(python)


def build(work: Path) -> None:
    """Build larder and the proxy."""
    for to, package, where in (("larder", "./cmd/larder", CLONE), ("proxy", "./python/shards/proxy", CLONE / "bench")):
        subprocess.run(["go", "build", "-trimpath", "-o", work / to, package], cwd=where, check=True)


def sides(python: str) -> dict[str, tuple[str, list[str]]]:
    """Return the contestants: the data format of each, and the measured cases."""
    code = "import json, sides; print(json.dumps({name: one[:2] for name, one in sides.SIDES.items()}))"
    said = subprocess.run([python, "-B", "-c", code], cwd=HERE, capture_output=True, text=True, check=True)
    known: dict[str, tuple[str, list[str]]] = json.loads(said.stdout)
    return known


CASES = {"a tenth": (0.1, 1), "a tenth, twice": (0.1, 2), "all": (2.0, 2)}
"""The part of the data that the cache holds, and the number of epochs, of which the last is measured."""


def measure(bench: Bench, gateway: str, runs: int, only: str, results: dict[str, Any]) -> None:
    """Measure everything in alternation, and write each result immediately."""
    with place.served(bench.work, gateway, str(bench.work / "proxy")) as (direct, slow):
        known = sides(bench.python)
        for side, (form, _) in known.items():
            if only in side:
                bench.put(form, direct)
        for side, case in [(side, case) for side in known for case in known[side][1]] * runs:
            if only not in side:
                continue
            part, epochs = CASES[case]
            figures = bench.contest(side, int(part * bench.shards * 1000 * SAMPLE), epochs, slow)[-1]
            print(f"{case}: {side}: {figures}", file=sys.stderr)
            results.setdefault(case, {}).setdefault(side, []).append(figures)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=1, help="of which medians are shown")
    arguments.add_argument("--shards", type=int, default=100, help="of 1000 samples each")
    arguments.add_argument("--only", default="", help="contestants whose name has this text; others stay as they were")
    arguments.add_argument("--gateway", default="versitygw", help="the program versitygw")
    arguments.add_argument("--work", type=Path, default=CLONE / "bench" / ".work" / "shards", help="a directory for 6 GB")
    arguments.add_argument("--python", help="an interpreter that has all of requirements.txt and larder")
    arguments.add_argument("--render", action="store_true", help="write the section again and measure nothing")
    chosen = arguments.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() and (chosen.only or chosen.render) else {}
    if not chosen.render:
        chosen.work.mkdir(parents=True, exist_ok=True)
        python = chosen.python or install(chosen.work)
        build(chosen.work)
        for table in results.values() if chosen.only else ():
            for side in [side for side in table if chosen.only in side]:
                del table[side]
        about = machine.about(python, CLONE) | {"runs": chosen.runs, "shards": chosen.shards}
        began = about.pop("began")
        results["machine"] = about
        bench = Bench(python, chosen.work, chosen.shards)
        try:
            measure(bench, chosen.gateway, chosen.runs, chosen.only, results)
        finally:
            shutil.rmtree(bench.place, ignore_errors=True)
        about["seconds"] = time.monotonic() - began
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    page.rewrite("bench/shards.json", render.section(results))


if __name__ == "__main__":
    main()
