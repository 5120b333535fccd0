"""Run one contestant in a separate process; print the figures of each epoch as lines of JSON.

    python contest.py SIDE SHARDS DIRECTORY BYTES EPOCHS STEP

DIRECTORY is for its local cache of at most BYTES bytes. STEP is the duration of
a training step in seconds, which waits like one on a GPU.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import orders
import place
import sides

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "loading"))
import processes  # noqa: E402

IMPORTS = ["numpy", "torch.utils.data", "boto3"]
OF_SIDE = {"Larder": "larder", "webdataset": "webdataset", "Mosaic Streaming": "streaming", "litdata": "litdata"}
"""Imports of a typical training program, which no figure counts."""

now = time.perf_counter


def epoch(side: Any, number: int, n: int, step: float, began: float) -> dict[str, Any]:
    """Iterate over an epoch, and return its figures. `began` is when the epoch was requested."""
    cpu = processes.seconds([os.getpid()])
    seen: list[int] = []
    stall, first = 0.0, None
    asked = began
    for batch in side.epoch(number):
        waited = now() - asked
        if first is None:
            first = waited
        else:
            stall += waited
        seen += [int.from_bytes(bytes(one[:8]), "little") for one in batch]
        time.sleep(step)
        asked = now()
    took = now() - began
    return {
        "epoch": number,
        "first": first,
        "wall": took,
        "stall": stall + (now() - asked),
        "cpu": processes.seconds([os.getpid()]) - cpu,
        **place.counts(os.environ["AWS_ENDPOINT_URL"]),
        **orders.figures(seen, n, sides.BATCH),
        "of": n,
    }


def main() -> None:
    name, shards, directory, space, epochs, step = sys.argv[1:]
    warnings.simplefilter("ignore")
    for module in [*IMPORTS, OF_SIDE[name.partition(",")[0]]]:
        importlib.import_module(module)
    place.counts(os.environ["AWS_ENDPOINT_URL"])
    began, base = now(), processes.seconds([os.getpid()])
    make = sides.SIDES[name][-1]
    side = make(sides.Job(int(shards), Path(directory), int(space)))
    made = processes.seconds([os.getpid()]) - base
    try:
        for number in range(int(epochs)):
            figures = epoch(side, number, int(shards) * 1000, float(step), began)
            figures["cpu"] += made
            made, began = 0.0, now()
            print(json.dumps(figures | {"hits": side.hits()}), flush=True)
    finally:
        side.close()
    print(json.dumps({"done": True}), flush=True)
    os._exit(0)  # the watching process ends workers that do not end


if __name__ == "__main__":
    main()
