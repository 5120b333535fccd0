"""Time one mapper over rows of JSON lines in plain Python, Hugging Face datasets, and
Larder; cold, unchanged, and with one row changed.

    go build -o /tmp/larder ./cmd/larder
    python bench/python/rows.py /tmp/larder [rows]

Python counts the words of a string. Larder's command line has no such mapper, so it
hashes the string; datasets, if it is installed, does the same as Python. Prints wall time
and processor time of the process, including its start.
"""

import importlib.util
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import freshmemory

PLAIN = """
import json, sys
with open(sys.argv[1]) as rows, open(sys.argv[2], "w") as out:
    for line in rows:
        row = json.loads(line)
        row["words"] = len(row["text"].split())
        out.write(json.dumps(row) + "\\n")
"""

DATASETS = """
import sys, datasets
datasets.disable_progress_bars()
rows = datasets.load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=sys.argv[3])
rows.map(lambda row: {"words": len(row["text"].split())}).to_json(sys.argv[2])
"""

FLOW = """
version: 1
nodes:
  rows: {source: jsonl, with: {path: rows.jsonl}}
  hashed: {map: hash, from: rows, with: {items: [text]}, keep: true}
  out: {sink: jsonl, from: hashed, with: {path: out/larder.jsonl, overwrite: replace}}
"""

WORDS = "the of and to in is was for on that with as by at from it an be this which or are were has had not but".split()


def row(i, draw):
    """Return a row of ten fields, about 400 bytes."""
    words = lambda n: " ".join(draw.choices(WORDS, k=n))
    return {
        "id": i, "title": words(5), "text": words(draw.randint(20, 60)), "label": draw.choice(["cat", "dog", "bird"]),
        "score": round(draw.random(), 6), "views": draw.randrange(10**6), "lang": draw.choice(["en", "de"]), "ok": draw.random() < 0.5,
        "tags": draw.choices(WORDS, k=3),
        "meta": {"source": "web", "author": {"name": words(1), "id": i}, "dims": [draw.randrange(2000), 3]},
    }


def timed(name, *command):
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    start, before = time.perf_counter(), spent()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"{name:24} {time.perf_counter() - start:8.2f} s {spent() - before:8.2f} s of processor", flush=True)


def main():
    larder, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    freshmemory.touch()
    home = tempfile.mkdtemp(prefix="rows")
    os.chdir(home)
    os.environ["LARDER_CACHE"] = os.path.join(home, "cache")
    draw = random.Random(7)
    with open("rows.jsonl", "w") as f:
        f.writelines(json.dumps(row(i, draw)) + "\n" for i in range(count))
    for name, text in {"plain.py": PLAIN, "sets.py": DATASETS, "flow.yaml": FLOW}.items():
        with open(name, "w") as f:
            f.write(text)
    run = (larder, "run", "--progress", "none", "flow.yaml")
    sets = (sys.executable, "sets.py", "rows.jsonl", "sets.jsonl", "sets")
    try:
        timed("python", sys.executable, "plain.py", "rows.jsonl", "plain.jsonl")
        timed("larder, cold", *run)
        timed("python", sys.executable, "plain.py", "rows.jsonl", "plain.jsonl")
        if importlib.util.find_spec("datasets"):
            timed("datasets, cold", *sets)
        time.sleep(60)  # files that changed just now are read
        timed("larder, unchanged", *run)
        if importlib.util.find_spec("datasets"):
            timed("datasets, unchanged", *sets)
        with open("rows.jsonl", "r+b") as f:
            f.seek(os.path.getsize("rows.jsonl") // 2)
            f.readline()
            at = f.tell()
            line = f.readline()
            f.seek(at)
            f.write(line.replace(b"the", b"THE"))
        timed("larder, one row changed", *run)
        if importlib.util.find_spec("datasets"):
            timed("datasets, one changed", *sets)
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
