"""Runs edits of programs with compiled functions, and counts stale ones and needless compilations.

    python3 bench/python/numba/edits.py

Needs numba, and a `larder` on the PATH or in LARDER_PROGRAM. Results are
bench/numba-edits.json. The edits are those of python/tests/numba_edits.py; each is two
runs of one program, before and after it, in processes of their own. An edit is stale if
the second run returns another value than the program without any cache, or if what was
compiled with other settings is used; one that changes nothing that is compiled is
needless if the second run compiles again. Failed is what runs without a cache and not
with one, as numba's own takes no functions that have no file.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

CLONE = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(CLONE / "python" / "tests"), str(CLONE / "python" / "src")]

from numba_contest import Verdict, contest  # noqa: E402
from numba_edits import EDITS  # noqa: E402

RESULTS = CLONE / "bench" / "numba-edits.json"


def counted(found: list[Verdict]) -> dict[str, object]:
    """Return how many edits were how, and which."""
    names = {what: [v.name.removeprefix("edit_") for v in found if v.what == what] for what in ("stale", "needless", "failed")}
    return {what: len(of) for what, of in names.items()} | {f"{what}_edits": of for what, of in names.items()}


def main() -> None:
    """Run all edits over numba's own cache and over Larder's."""
    nothing = sum(edit.nothing for edit in EDITS)
    made: dict[str, object] = {
        "edits": len(EDITS),
        "change_nothing": nothing,
        "numba": version("numba"),
        "python": platform.python_version(),
        "tools": {},
    }
    print(f"{len(EDITS)} edits, of which {nothing} change nothing; numba {made['numba']}, Python {made['python']}")
    for tool in ("numba", "larder"):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["LARDER_CACHE"] = str(Path(folder) / "cache")
            of = counted(contest(tool, Path(folder) / "edits"))
        made["tools"][tool] = of  # type: ignore[index]
        print(f"{tool:8} stale {of['stale']}, needless {of['needless']} of {nothing}, failed {of['failed']}", flush=True)
    RESULTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
