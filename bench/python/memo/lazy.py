"""Compare lazy trees with those of evalcache.

    python3 bench/python/memo/lazy.py [--runs N] [--nodes N]

Needs only Go and pip: the libraries are installed into bench/.work/memo, and caches lie in
temporary directories. The work is a chain of calls of a function that adds one. One process builds
and evaluates it with an empty cache, and another one with all results cached. Prints medians of the
runs, in which the peers alternate.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from pathlib import Path

import times

PEERS = ["Larder", "evalcache"]
CHAINS = Path(__file__).resolve().parent / "chains.py"


def measure(python: Path, peer: str, nodes: int) -> dict[str, float]:
    """Return the time of a cold process, and then of a warm one, in seconds."""
    place = times.Place()
    try:
        found = {}
        for state in ("cold", "warm"):
            command = [str(python), str(CHAINS), peer, str(nodes), place.directory]
            out = subprocess.run(command, env=place.environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            found |= {f"{what}, {state}": seconds for what, seconds in json.loads(out).items()}
        return found
    finally:
        place.close()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--nodes", type=int, default=10_000)
    given = arguments.parse_args()
    python = times.install()
    seen: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
    for _ in range(given.runs):
        for peer in PEERS:
            seen[peer].append(measure(python, peer, given.nodes))
    print(f"| {given.nodes} nodes | " + " | ".join(PEERS) + " |\n| --- |" + " ---: |" * len(PEERS))
    for name in seen["Larder"][0]:
        cells = [f"{statistics.median(run[name] for run in seen[peer]) * 1e3:.3g} ms" for peer in PEERS]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
