"""A distributed job whose ranks and server are killed at random moments.

    python kills_program.py FLOW SEED KILLS

It resumes from the last state that all ranks have written, with another number of ranks. At the
end it reports how its batches differ from those of an undisturbed job.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import larder
from larder._client import server as _server

RANKS = (1, 2, 3, 4, 8)
EPOCHS = 3
ORDERS: dict[str, dict[str, Any]] = {
    "in order": {"node": "a", "batch_size": 3},
    "shuffled": {"node": "a", "shuffle": True, "seed": 5, "batch_size": 2},
    "with replacement": {
        "node": "a",
        "replacement": True,
        "draws": 333,
        "seed": 2,
        "batch_size": 4,
        "last_batch": "drop",
    },
    "a mixture": {"nodes": {"a": 0.7, "b": 0.3}, "seed": 8, "batch_size": 3},
    "by length": {"node": "b", "shuffle": True, "seed": 3, "tokens": 12, "length": "len(seq)"},
    "packed": {"node": "b", "pack": 16, "batch_size": 2, "length": "len(seq)", "shuffle": True, "seed": 1},
}
Noted = dict[str, Any]


def noted(batch: larder.Batch) -> Noted:
    """Return the identity of a batch, with values that show that its samples are correct."""
    seen = batch["n"].tolist() if "n" in batch else None
    return {"epoch": batch.epoch, "samples": batch.samples, "padding": batch.padding, "n": seen, "state": batch.state}


def fields(order: dict[str, Any]) -> Any:
    """Return the fields of a batch: the tokens of packed rows, else the index of the sample."""
    return {"seq": "packed"} if "pack" in order else ["n"]


def read(flow: str, order: dict[str, Any], rank: int, ranks: int, state: str | None, log: Path) -> None:
    """Run a rank: log each batch, with a short pause."""
    rng = random.Random(rank)
    with larder.Loader(flow, fields=fields(order), rank=rank, world_size=ranks, window=8, **order) as loader:
        if state is not None:
            loader.load_state_dict({"state": state})
        with open(log, "ab", buffering=0) as file:
            while loader.epoch < EPOCHS:
                for batch in loader:
                    time.sleep(rng.random() * 0.002)
                    file.write(json.dumps(noted(batch)).encode() + b"\n")


def begin(job: Any, *of: Any) -> int:
    """Start a process that shares only imported modules with this one."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        job(*of)
        status = 0
    finally:
        os._exit(status)


def lines(log: Path) -> list[Noted]:
    """Return what a rank has logged, without a line that is incomplete."""
    text = log.read_bytes() if log.exists() else b""
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def server() -> int | None:
    """Return the process of the server, if there is one."""
    at = _server.address(None)
    command = [at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--status", "--json"]
    said = subprocess.run(command, capture_output=True, check=False)
    return int(json.loads(said.stdout)["pid"]) if said.returncode == 0 else None


def killed(process: int | None) -> bool:
    """Kill a process immediately, if it exists."""
    try:
        if process is not None:
            os.kill(process, signal.SIGKILL)
            return True
    except ProcessLookupError:
        pass
    return False


class Job:
    """A job with one order, from its first batch to its last."""

    def __init__(self, flow: str, order: dict[str, Any], rng: random.Random) -> None:
        self.flow, self.order, self.rng = flow, order, rng
        self.state: str | None = None
        self.got: list[Noted] = []  # in the order of the job
        self.kills = {"clients": 0, "server": 0, "both": 0}
        self.failed = ""

    def session(self, kill: bool) -> bool:
        """Continue with some ranks, and return whether the job is done."""
        ranks = self.rng.choice(RANKS)
        with tempfile.TemporaryDirectory() as directory:
            logs = [Path(directory, str(rank)) for rank in range(ranks)]
            processes = [
                begin(read, self.flow, self.order, rank, ranks, self.state, log) for rank, log in enumerate(logs)
            ]
            while kill and self._kill(processes):
                pass
            statuses = [os.waitpid(process, 0)[1] for process in processes]
            if any(status not in (0, signal.SIGKILL) for status in statuses):
                self.failed = f"{ranks} ranks ended with {statuses}"
            self._take([lines(log) for log in logs])
        return self.failed != "" or all(status == 0 for status in statuses)

    def _kill(self, processes: list[int]) -> bool:
        """Kill a random process at a random moment, and return whether the clients are still running."""
        what = self.rng.choice(list(self.kills))
        victim = server() if what != "clients" else None
        time.sleep(self.rng.random() ** 2 * 0.3)
        if what != "clients":
            self.kills[what] += killed(victim)
        if what == "server":
            return self.rng.random() < 0.6
        if what == "clients":
            self.kills[what] += 1
        for process in self.rng.sample(processes, len(processes)):
            killed(process)
        return False

    def _take(self, of_ranks: list[list[Noted]]) -> None:
        """Take the batches that all ranks have logged, one by one."""
        for batches in zip(*of_ranks, strict=False):
            if len({b["state"] for b in batches}) != 1:
                self.failed = f"after as many batches the ranks have states {[b['state'] for b in batches]}"
            self.got += batches
            self.state = batches[0]["state"]


def real(batches: list[Noted]) -> list[tuple[Any, ...]]:
    """Return the samples of batches without padding."""
    all_of = []
    for b in batches:
        count = len(b["samples"]) - b["padding"]
        if count:
            all_of.append((b["epoch"], b["samples"][:count], b["n"] and b["n"][:count]))
    return all_of


def whole(flow: str, order: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the batches of an undisturbed job of one rank."""
    with larder.Loader(flow, fields=fields(order), **order) as loader:
        return real([noted(batch) for _ in range(EPOCHS) for batch in loader])


def main() -> None:
    """Kill as often as requested."""
    flow, seed, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    total = {"clients": 0, "server": 0, "both": 0}
    wrong: list[dict[str, Any]] = []
    jobs = 0
    while sum(total.values()) < wanted and not wrong:
        name = list(ORDERS)[jobs % len(ORDERS)]
        jobs += 1
        job = Job(flow, ORDERS[name], rng)
        for n in range(1000):
            if job.session(kill=n < 12):
                break
        expected, got = whole(flow, ORDERS[name]), real(job.got)
        if job.failed or got != expected:
            first = next((i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b), None)
            wrong.append({"order": name, "failed": job.failed, "first": first, "batches": [len(got), len(expected)]})
        for what, times in job.kills.items():
            total[what] += times
    print(json.dumps({"kills": total, "jobs": jobs, "wrong": wrong}))


main()
