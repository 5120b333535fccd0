"""Run clients that come, go, pause, hold batches and are killed for a long time with one
server, and show the resources of the server.

    pip install ./python numpy
    python bench/python/soak.py [minutes]

At the end the median of the last third is compared with that of the second one. Growth by
more than a tenth is reported if it is significant, and the status is then 1.
"""

import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import larder
from larder._client import server as _server

CLIENTS = 4
FLOW = """
version: 1
nodes:
  rows: {source: jsonl, with: {path: rows.jsonl}}
  hashed: {map: hash, from: rows, with: {items: [text]}, keep: true}
  held: {op: slice, from: hashed, with: {stop: 3000}, cache: {policy: auto, bytes: 1 MiB}}
"""
ORDERS = [
    {"node": "rows", "shuffle": True, "batch_size": 32},
    {"node": "hashed", "batch_size": 7},
    {"node": "held", "shuffle": True, "batch_size": 16},
    {"nodes": {"rows": 0.5, "held": 0.5}, "batch_size": 8},
    {"node": "rows", "tokens": 2000, "length": "len(text)", "shuffle": True},
]
ENOUGH = {"memory": 8 << 20, "descriptors": 8, "threads": 8, "runtime files": 2, "cache files": 20, "shared": 4 << 20}


def client(flow, rng):
    """Run a client for some seconds."""
    warnings.simplefilter("ignore", larder.LarderWarning)  # some hold batches
    until = time.monotonic() + rng.random() * 6
    if rng.random() < 0.1:
        try:
            len(larder.Loader(flow, rng.choice(["missing", "rows"]), batch_size=-rng.randrange(3)))
        except larder.RequestError:
            return
    if rng.random() < 0.2:
        with larder.Dataset(flow, "rows", fields=["n", "text"]) as dataset:
            while time.monotonic() < until:
                assert dataset[i := rng.randrange(len(dataset))]["n"] == i
        return
    order, cached = rng.choice(ORDERS), []
    ranks = rng.choice([1, 2, 3])
    loader = larder.Loader(flow, fields=["n", "text"], rank=rng.randrange(ranks), world_size=ranks, seed=rng.randrange(3), **order)
    if rng.random() < 0.3:
        loader.set_epoch(rng.randrange(5))
    while time.monotonic() < until:
        for batch in loader:
            if rng.random() < 0.05:
                cached = [*cached[-40:], batch]
            if time.monotonic() > until:
                break
            time.sleep(rng.random() * 0.004)
    if rng.random() < 0.5:
        loader.close()  # otherwise the process just ends


def begin(flow, seed):
    process = os.fork()
    if not process:
        status = 1
        try:
            client(flow, random.Random(seed))
            status = 0
        finally:
            os._exit(status)
    return process


def server():
    at = _server.address(None)
    said = subprocess.run([at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--status", "--json"], capture_output=True)
    return json.loads(said.stdout) if said.returncode == 0 else None


def taken(status, home):
    """Return the resources that the server uses."""
    pid = status["pid"]
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    kib = lambda name: int(fields[name].split()[0]) << 10
    files = lambda directory: sum(len(names) for _, _, names in os.walk(directory))
    return {
        "memory": kib("RssAnon"), "shared": kib("RssShmem"), "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": int(fields["Threads"]),
        "connections": len(status["connections"]), "pipelines": len(status["pipelines"]),
        "runtime files": files(home / "run"), "cache files": files(home / "cache"),
    }


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 30
    home = Path(tempfile.mkdtemp(prefix="soak"))
    (home / "run").mkdir(mode=0o700)
    os.environ.update(XDG_RUNTIME_DIR=str(home / "run"), LARDER_CACHE=str(home / "cache"))
    rng = random.Random(1)
    with open(home / "rows.jsonl", "w") as file:
        file.writelines(json.dumps({"n": i, "text": "x" * rng.randrange(10, 900)}) + "\n" for i in range(5000))
    (home / "flow.yaml").write_text(FLOW)
    flow, began, seed = str(home / "flow.yaml"), time.monotonic(), 0
    end, shown = began + 60 * minutes, 0
    running, paused, figures, count = {}, {}, [], {"clients": 0, "killed": 0, "paused": 0, "failed": 0}
    servers = set()
    try:
        while (now := time.monotonic()) < end:
            while len(running) < CLIENTS:
                seed += 1
                running[begin(flow, seed)] = None
                count["clients"] += 1
            time.sleep(0.1)
            for process in list(running):
                if process in paused:
                    if now > paused[process]:
                        os.kill(process, signal.SIGCONT)
                        del paused[process]
                elif (drawn := rng.random()) < 0.005:
                    os.kill(process, signal.SIGKILL)
                    count["killed"] += 1
                elif drawn < 0.01:
                    os.kill(process, signal.SIGSTOP)
                    paused[process] = now + rng.random() * 5
                    count["paused"] += 1
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    del running[process]
                    paused.pop(process, None)
                    count["failed"] += status not in (0, signal.SIGKILL)
            if now - began > 30 * (shown + 1) or now - began > 60 * minutes - 1 and not figures:
                shown += 1
                if status := server():
                    servers.add(status["pid"])
                    figures.append(taken(status, home))
                    print(f"{(now - began) / 60:5.1f} min", *(f"{k} {v}" for k, v in (figures[-1] | count).items()), sep="  ", flush=True)
    finally:
        for process in running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        at = _server.address(None)
        subprocess.run([at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--stop"], check=False)
        shutil.rmtree(home, ignore_errors=True)
    third = max(1, len(figures) // 3)
    grew = []
    for name, enough in ENOUGH.items():
        before, after = (statistics.median(f[name] for f in part) for part in (figures[third:][:third] or figures, figures[-third:]))
        print(f"{name}: {before:.0f} in the second third, {after:.0f} in the last")
        if after > before * 1.1 and after - before > enough:
            grew.append(name)
    print("grew:", ", ".join(grew) or "nothing", "; servers:", len(servers), "; clients that failed:", count["failed"], "; memory of this program:", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)
    sys.exit(bool(grew) or count["failed"] > 0 or len(servers) > 1)


main()
