"""Time a flow over an underfolder of very many unchanged small files, and for comparison
the system calls that read the states of all of them.

    go build -o /tmp/larder ./cmd/larder
    python bench/python/folder.py /tmp/larder [samples [items ...]]

Runs once for each number of items per sample (2, as the letters of the examples, and 5), after
a cold run. Prints wall time and processor time of the process, including its start.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import freshmemory

FLOW = """
version: 1
nodes:
  in: {source: underfolder, with: {path: in}}
  hashed: {map: hash, from: in, with: {items: [a]}, keep: true}
  out: {sink: jsonl, from: hashed, with: {path: out/out.jsonl, overwrite: replace}}
"""

STATES = """
import os, sys
with os.scandir(sys.argv[1]) as entries:
    for entry in entries:
        entry.stat()
"""


def timed(name, *command):
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    start, before = time.perf_counter(), spent()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"{name:32} {time.perf_counter() - start:8.2f} s {spent() - before:8.2f} s of processor", flush=True)


def fill(samples, items):
    os.makedirs("in/data")
    directory = os.open("in/data", os.O_RDONLY)
    for i in range(samples):
        for item in items:
            with open(os.open(f"{i:06d}_{item}.txt", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=directory), "w") as file:
                file.write(f"{item} {i}")
    os.close(directory)


def measure(larder, samples, items):
    home = tempfile.mkdtemp(prefix="directory")
    os.chdir(home)
    os.environ["LARDER_CACHE"] = os.path.join(home, "cache")
    run = (larder, "run", "--progress", "none", "flow.yaml")
    try:
        fill(samples, "abcdefgh"[:items])
        with open("flow.yaml", "w") as file:
            file.write(FLOW)
        of = f"{samples} samples of {items} items"
        timed(f"cold, {of}", *run)
        time.sleep(60)  # files that changed just now are read
        timed("read once more", *run)
        for _ in range(3):
            timed("unchanged", *run)
            timed("states by Python", sys.executable, "-c", STATES, "in/data")
    finally:
        os.chdir("/")
        shutil.rmtree(home)


def main():
    larder, samples = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    freshmemory.touch()
    for items in [int(n) for n in sys.argv[3:]] or [2, 5]:
        measure(larder, samples, items)


if __name__ == "__main__":
    main()
