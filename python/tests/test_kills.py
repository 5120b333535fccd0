"""Test that no sample is lost or repeated when processes are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import larder

pytest.importorskip("numpy", reason="NumPy is not installed")


def test_ranks_and_servers_killed_at_any_moment_lose_and_repeat_nothing(real: Path) -> None:
    for name, first, count in (("a", 0, 211), ("b", 1000, 97)):
        with open(real / f"{name}.jsonl", "w") as file:
            for i in range(count):
                file.write(json.dumps({"n": first + i, "seq": list(range(1 + i % 7))}) + "\n")
    flow = real / "flow.yaml"
    nodes = [f"  {name}: {{source: jsonl, with: {{path: {name}.jsonl}}}}\n" for name in "ab"]
    flow.write_text("version: 1\nnodes:\n" + "".join(nodes))
    program = Path(__file__).with_name("kills_program.py")
    seed, wanted = os.environ.get("LARDER_SEED", "1"), int(os.environ.get("LARDER_KILLS", "20"))
    environment = dict(os.environ, PYTHONPATH=str(Path(larder.__file__).parents[1]))
    command = [sys.executable, str(program), str(flow), seed, str(wanted)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    said = json.loads(done.stdout)
    assert said["wrong"] == [], (seed, said, done.stderr.decode())
    assert sum(said["kills"].values()) >= wanted
