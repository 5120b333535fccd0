"""Run edits of programs with memoizers and count stale and needless results.

    python3 bench/python/memo/edits.py

Needs only pip: the memoizers are installed into bench/.work/memo, once (torchcache brings torch,
of some GB). Results are bench/edits.json. The edits are those of python/tests/code_edits.py, with
the expected effect of each on the function's result.

Each edit is two runs of one program in one directory with one cache, before and after it, in
separate processes. A result is stale if the second run computes nothing and returns another value
than the program without a cache. An edit that changes nothing is needless if the second run
computes again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CLONE = HERE.parents[2]
WORK = CLONE / "bench" / ".work" / "memo"
RESULTS = CLONE / "bench" / "edits.json"

TOOLS = ["larder", "joblib", "diskcache", "evalcache", "torchcache"]


def installed(name: str = "requirements") -> Path:
    """Return the interpreter with the packages of a requirements file."""
    wanted = (HERE / f"{name}.txt").read_text()
    done, python = WORK / f"{name}.installed", WORK / name / "bin" / "python"
    if not done.exists() or done.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", WORK / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / f"{name}.txt"], check=True)
        done.write_text(wanted)
    return python


def run(python: Path, tool: str) -> list[dict[str, Any]]:
    """Return the outcome of each edit with a tool."""
    path = f"{CLONE / 'python' / 'src'}:{CLONE / 'python' / 'tests'}"
    done = subprocess.run(
        [python, HERE / "contest.py", tool],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def counted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the number of edits by outcome, and the names of the stale and needless ones."""
    named = {kind: [r["name"] for r in rows if r["verdict"] == kind] for kind in ("stale", "needless", "failed")}
    verdicts = [r["verdict"] for r in rows]
    return {
        "edits": len(rows),
        "same": sum(r["want"] == "same" for r in rows),
        **{kind: verdicts.count(kind) for kind in ("stale", "needless", "refused", "failed", "right")},
        "names": named,
    }


def listed(python: Path) -> dict[str, str]:
    """Return the versions of the tools that an interpreter has."""
    said = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=True)
    return {p["name"]: p["version"] for p in json.loads(said.stdout) if p["name"] in TOOLS}


def main() -> None:
    """Run all tools, print the counts and write them to the results."""
    pythons = dict.fromkeys(TOOLS, installed()) | {"torchcache": installed("requirements-torchcache")}
    found = {tool: counted(run(python, tool)) for tool, python in pythons.items()}
    tools = {name: version for python in set(pythons.values()) for name, version in listed(python).items()}
    RESULTS.write_text(json.dumps({"python": sys.version.split()[0], "tools": tools, "found": found}, indent=1) + "\n")
    print(f"{'':>10} {'edits':>6} {'stale':>6} {'needless':>9} {'refused':>8} {'failed':>7}")
    for tool, f in found.items():
        needless = f"{f['needless']}/{f['same']}"
        print(f"{tool:>10} {f['edits']:>6} {f['stale']:>6} {needless:>9} {f['refused']:>8} {f['failed']:>7}")


if __name__ == "__main__":
    main()
