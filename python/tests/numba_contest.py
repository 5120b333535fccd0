"""Run the edits of `numba_edits` with one cache of compiled functions, and report the outcome of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numba_edits import EDITS, Edit

PROGRAM = Path(__file__).parent / "numba_edits_program.py"
SOURCES = str(Path(__file__).parents[1] / "src")


@dataclass(frozen=True)
class Verdict:
    """The outcome of an edit."""

    name: str
    what: str
    """"stale", "needless", "failed" or "right"."""
    text: str = ""


def run(
    tool: str, directory: Path, edits: list[Edit], environment: dict[str, str], python: str = sys.executable
) -> dict[str, dict[str, Any]]:
    """Run programs in one process, and return the output of each."""
    own = {
        "PYTHONPATH": SOURCES,
        "NUMBA_CACHE_DIR": str(directory / ".numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={directory / '.pytensor'},numba__cache={tool != 'none'}",
    }
    done = subprocess.run(
        [python, str(PROGRAM), tool, str(directory), *[edit.name for edit in edits]],
        env=os.environ | own | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {said["name"]: said for said in map(json.loads, done.stdout.splitlines()) if "name" in said}


def contest(tool: str, directory: Path, edits: list[Edit] | None = None) -> list[Verdict]:
    """Return the outcomes of edits, run together if possible, and separately if they affect the process."""
    chosen = EDITS if edits is None else edits
    together = [edit for edit in chosen if not edit.environment and not edit.alone]
    found = _pair(tool, directory / "all", together, {}) if together else []
    for edit in chosen:
        if edit.environment or edit.alone:
            found += _pair(tool, directory / edit.name, [edit], edit.environment)
    return found


def _pair(tool: str, directory: Path, edits: list[Edit], environment: dict[str, str]) -> list[Verdict]:
    for edit in edits:
        edit.write(directory)
    run(tool, directory, edits, {})
    for edit in edits:
        edit.apply(directory)
    after, right = run(tool, directory, edits, environment), run("none", directory, edits, environment)
    return [_verdict(edit, after[edit.name], right[edit.name]) for edit in edits]


def _verdict(edit: Edit, after: dict[str, Any], right: dict[str, Any]) -> Verdict:
    result, wanted = after["result"], right["result"]
    if isinstance(result, str) and result.startswith("failed: ") and result != wanted:
        return Verdict(edit.name, "failed", result)
    if result != wanted:
        return Verdict(edit.name, "stale", f"{result} for {wanted}")
    if edit.environment and after["compiled"] == 0:
        return Verdict(edit.name, "stale", "what was compiled with other settings is used")
    if edit.nothing and after["compiled"]:
        return Verdict(edit.name, "needless", f"{after['compiled']} compiled")
    return Verdict(edit.name, "right")
