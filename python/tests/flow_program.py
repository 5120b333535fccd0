"""The real program, for tests of flows, built once from this repository."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LETTERS = ROOT / "examples" / "letters" / "data"


@functools.cache
def built(package: str = "./cmd/larder") -> str:
    """Return the path of a program, built into a directory that is deleted after the tests.

    The program larder is the one that LARDER_TEST_PROGRAM names, if it is set.
    """
    named = os.environ.get("LARDER_TEST_PROGRAM")
    if named and package == "./cmd/larder":
        return named
    if shutil.which("go") is None:
        pytest.skip("Go is not installed, and LARDER_TEST_PROGRAM names no program")
    directory = tempfile.TemporaryDirectory(prefix="larder-built-")
    _kept.append(directory)
    path = str(Path(directory.name, "larder"))
    subprocess.run(["go", "build", "-buildvcs=false", "-o", path, package], cwd=ROOT, check=True)
    return path


_kept: list[tempfile.TemporaryDirectory[str]] = []  # until the tests end


def larder(*args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program in the current directory, with text on standard input."""
    return subprocess.run([built(), *args], input=text, capture_output=True, text=True, check=False)


def lint(text: str) -> None:
    """Assert that the program finds no problem in a flow."""
    done = larder("lint", "-", text=text)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
