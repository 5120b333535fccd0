"""Test that an edit which changes a result never keeps the identity."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from code_edits import CASES, Case

# The maximum share of edits that change nothing and make a function compute again.
NEEDLESS = 0.03


class Server:
    """Processes with one hash seed, a new one for each task."""

    def __init__(self, seed: int, directory: Path):
        self.directory = directory
        self.count = 0
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("code_edits_server.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": str(seed),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
        )

    def send(self, files: dict[str, str], call: str) -> None:
        self.count += 1
        directory = self.directory / str(self.count)
        directory.mkdir()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"files": files, "call": call, "directory": str(directory)}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    made = (Server(1, tmp_path_factory.mktemp("one")), Server(2, tmp_path_factory.mktemp("two")))
    yield made
    for server in made:
        with server.process:
            pass  # closes its pipes, and waits


@pytest.fixture(scope="module")
def needless() -> Iterator[list[str]]:
    names: list[str] = []
    yield names
    same = sum(case.want == "same" for case in CASES)
    assert len(names) <= NEEDLESS * same, f"computed again for nothing: {names}"


def missing(case: Case) -> bool:
    return any(importlib.util.find_spec(name) is None for name in case.needs.split())


def test_there_are_many() -> None:
    assert len(CASES) >= 100
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_an_edit(case: Case, servers: tuple[Server, Server], needless: list[str]) -> None:
    if missing(case):
        pytest.skip(f"{case.needs} is not installed")
    one, two = servers
    one.send(case.before, case.call)
    two.send(case.after, case.call)
    before, after = one.receive(), two.receive()
    assert "failed" not in before, before
    assert "failed" not in after, after
    if "refused" in before or "refused" in after:
        assert case.refused, (before, after)
        return
    assert before["check"]
    if case.want == "differ":
        assert before["result"] != after["result"], "the edit changes nothing"
        assert before["digest"] != after["digest"], "stale"
        two.send(case.before, case.call)
        again = two.receive()
        assert again["digest"] == before["digest"], "another process gives another identity"
    else:
        assert before["result"] == after["result"]
        if case.want == "same" and before["digest"] != after["digest"]:
            needless.append(case.name)
