"""Shared helpers for tests of compiled functions: a directory of modules, run in separate processes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "numba_program.py"
SOURCES = str(Path(__file__).parents[1] / "src")

needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


@dataclass
class Ran:
    """The output of one process."""

    results: Any
    rows: list[list[str]]

    def states(self, name: str = "") -> list[str]:
        return [row[2] for row in self.rows if row[0].endswith(name)]

    def reasons(self) -> list[str]:
        return [row[3] for row in self.rows if row[3]]


class Case:
    """A directory of modules, in which `m` has `run`."""

    def __init__(self, directory: Path):
        self.directory = directory

    def write(self, name: str, text: str) -> None:
        path = self.directory / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(textwrap.dedent(text))

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.directory / f"{name}.py"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    def start(self, **environment: str) -> subprocess.Popen[str]:
        own = {"PYTHONPATH": os.pathsep.join([SOURCES, os.environ.get("PYTHONPATH", "")])}
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", str(PROGRAM), str(self.directory), "m"],
            env=os.environ | own | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def script(self, name: str, **environment: str) -> list[str]:
        """Run a module as a script that installs Larder itself, and return what it prints."""
        own = {"PYTHONPATH": os.pathsep.join([SOURCES, os.environ.get("PYTHONPATH", "")])}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(self.directory / f"{name}.py")],
            env=os.environ | own | environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def run(self, **environment: str) -> Ran:
        return self.ended(self.start(**environment))

    @staticmethod
    def ended(process: subprocess.Popen[str]) -> Ran:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        said = json.loads(out.splitlines()[-1])
        return Ran(said["results"], said["rows"])
