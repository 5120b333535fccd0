"""Measure how long Python functions take to map samples of 100 KB.

    python3 bench/python/mapping/run.py [--samples N] [--runs N]

Needs a Python with NumPy, torch and the package larder (PYTHONPATH=python/src), and the program in
LARDER_BIN. Samples are files .npy of 186 x 186 x 3 bytes. Each way runs alone, over all samples,
twice in a process. The fastest second pass counts: wall time per sample, and processor time of
all its processes. `overhead` is the processor time minus that of the function, and minus that of
reading the file with the same software without a function.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import functions
import numpy as np
import torch

import larder

FUNCTIONS: dict[str, Callable[[Any], Any]] = {"brighter": functions.brighter, "first": functions.first}
EXEC = """
import os, numpy, functions
function = getattr(functions, os.environ["FUNCTION"])
numpy.save(os.environ["LARDER_OUT"] + "/out.npy", function(numpy.load(os.environ["LARDER_IN"] + "/image.npy")))
"""


class Files(torch.utils.data.Dataset[Any]):
    """The samples for a DataLoader."""

    def __init__(self, directory: Path, function: Callable[[Any], Any] | None) -> None:
        self.paths = sorted(directory.glob("data/*_image.npy"))
        self.function = function

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        image = np.load(self.paths[index])
        return torch.as_tensor(self.function(image) if self.function else image)


def make(directory: Path, samples: int) -> None:
    """Write the samples."""
    (directory / "data").mkdir(parents=True)
    draw = np.random.default_rng(0)
    for i in range(samples):
        np.save(directory / "data" / f"{i:05}_image.npy", draw.integers(0, 256, (186, 186, 3), np.uint8))


def by_torch(directory: Path, function: str | None) -> Iterator[Any]:
    """Yield batches of a DataLoader with two workers."""
    files = Files(directory, FUNCTIONS[function] if function else None)
    yield from torch.utils.data.DataLoader(files, batch_size=32, num_workers=2)


def by_larder(directory: Path, function: str | None) -> Iterator[Any]:
    """Yield batches of Larder's loader, with the function in two workers."""
    node = larder.underfolder(path=directory)
    if function:
        node = node.map(FUNCTIONS[function], items=["image"], into=["out"]).keep_keys(keys=["out"])
    yield from node.batch(32)


def by_exec(directory: Path, function: str | None) -> Iterator[Any]:
    """Yield batches of Larder's loader, with the function in a command per sample."""
    node = larder.underfolder(path=directory)
    if function:
        os.environ["FUNCTION"] = function
        os.environ["PYTHONPATH"] = f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"
        script = directory.parent / "script.py"
        script.write_text(EXEC)
        node = node.exec(
            command=[sys.executable, str(script)], items=["image"], into=["out"], env=["FUNCTION", "PYTHONPATH"]
        ).keep_keys(keys=["out"])
    yield from node.batch(32)


WAYS = {"larder python": by_larder, "DataLoader, 2 workers": by_torch, "larder exec": by_exec}


def once(way: str, directory: Path, function: str | None) -> tuple[float, float]:
    """Return wall time and processor time of one pass in a separate process, in seconds."""
    place = tempfile.mkdtemp(prefix="lm-")
    env = {**os.environ, "XDG_RUNTIME_DIR": place, "LARDER_CACHE": f"{place}/cache", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, "--one", way, str(directory), function or ""],
        env=env,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    wall, used = map(float, done.stdout.split())
    shutil.rmtree(place, ignore_errors=True)
    return wall, used


def one(way: str, directory: Path, function: str) -> None:
    """Run one pass, and print its time, including the server and the workers."""
    batches = WAYS[way](directory, function or None)
    for _ in batches:
        pass  # startup does not count
    batches = WAYS[way](directory, function or None)
    before, start = tree(), time.perf_counter()
    samples = sum(len(batch["out" if function else "image"] if isinstance(batch, dict) else batch) for batch in batches)
    wall = time.perf_counter() - start
    print(wall / samples, (tree() - before) / samples)
    if way.startswith("larder"):
        from larder._client import server

        at = server.address(None)
        subprocess.run([at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--stop"], check=False)


def tree() -> float:
    """Return the processor time in seconds of all processes of this pass."""
    tick, mine = os.sysconf("SC_CLK_TCK"), os.environ["XDG_RUNTIME_DIR"]
    total = 0.0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mine.encode() in (entry / "environ").read_bytes():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / tick
        except OSError:
            continue  # it has ended
    return total


def main() -> None:
    """Measure all ways, or run one pass."""
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="lm-"))
    make(directory / "all", given.samples)
    make(directory / "some", 200)
    print(f"{'':>24} {'function':>9} {'wall us':>8} {'cpu us':>8} {'overhead us':>12}")
    image = np.load(directory / "some" / "data" / "00000_image.npy")
    for way in WAYS:
        where = directory / ("some" if way == "larder exec" else "all")
        plain = min(once(way, where, None)[1] for _ in range(given.runs))
        for name, function in FUNCTIONS.items():
            start = time.process_time()
            for _ in range(500):
                function(image)
            alone = (time.process_time() - start) / 500
            passes = [once(way, where, name) for _ in range(given.runs)]
            wall, used = min(p[0] for p in passes), min(p[1] for p in passes)
            over = (used - alone - plain) * 1e6
            print(f"{way:>24} {name:>9} {wall * 1e6:8.0f} {used * 1e6:8.0f} {over:12.0f}", flush=True)
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()
