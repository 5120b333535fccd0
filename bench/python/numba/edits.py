"""Run edits of programs with compiled functions, and count stale results and needless compilations.

    python3 bench/python/numba/edits.py

Needs numba, and a `larder` on the PATH or in LARDER_BIN. Results are bench/numba-edits.json. The
edits are those of python/tests/numba_edits.py. Each is two runs of one program, before and after
it, in separate processes. An edit is stale if the second run returns another value than the
program without any cache, or uses code compiled with other settings. An edit that changes nothing
that is compiled is needless if the second run compiles again. An edit fails if the program runs
only without a cache: numba's own cache does not accept functions without a file. If PyTensor is
installed, edits of its Ops run with its own cache and with Larder's
(python/tests/numba_pytensor_edits.py).
"""

from __future__ import annotations

import importlib.util
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
from numba_edits import EDITS, Edit  # noqa: E402
from numba_pytensor_edits import EDITS as OF_OPS  # noqa: E402

RESULTS = CLONE / "bench" / "numba-edits.json"


def counted(found: list[Verdict]) -> dict[str, object]:
    """Return the number of edits by outcome, and their names."""
    names = {
        what: [v.name.removeprefix("edit_") for v in found if v.what == what]
        for what in ("stale", "needless", "failed")
    }
    return {what: len(of) for what, of in names.items()} | {f"{what}_edits": of for what, of in names.items()}


def compared(edits: list[Edit], cache: str) -> dict[str, object]:
    """Run edits with an existing cache and with Larder's, and return their outcomes."""
    nothing = sum(edit.nothing for edit in edits)
    made: dict[str, object] = {"edits": len(edits), "change_nothing": nothing}
    print(f"{len(edits)} edits, of which {nothing} change nothing")
    for tool in ("numba", "larder"):
        with tempfile.TemporaryDirectory() as directory:
            os.environ["LARDER_CACHE"] = str(Path(directory) / "cache")
            of = counted(contest(tool, Path(directory) / "edits", edits))
        name = cache if tool == "numba" else tool
        made[name] = of
        print(f"{name:8} stale {of['stale']}, needless {of['needless']}, failed {of['failed']}", flush=True)
    return made


def main() -> None:
    """Run all edits, and those of PyTensor's Ops if it is installed."""
    made: dict[str, object] = {"numba": version("numba"), "python": platform.python_version()}
    made["functions"] = compared(EDITS, "numba")
    if importlib.util.find_spec("pytensor") is not None:
        made["pytensor"] = version("pytensor")
        made["ops"] = compared(OF_OPS, "pytensor")
    RESULTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
