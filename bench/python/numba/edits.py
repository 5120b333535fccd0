"""Runs edits of programs with compiled functions, and counts stale ones and needless compilations.

    python3 bench/python/numba/edits.py

Needs numba, and a `larder` on the PATH or in LARDER_BIN. Results are
bench/numba-edits.json. The edits are those of python/tests/numba_edits.py; each is two
runs of one program, before and after it, in processes of their own. An edit is stale if
the second run returns another value than the program without any cache, or if what was
compiled with other settings is used; one that changes nothing that is compiled is
needless if the second run compiles again. Where PyTensor is installed, edits of its Ops
are run over its own cache and Larder's (python/tests/numba_pytensor_edits.py). Failed is
what runs without a cache and not with one, as numba's own takes no functions that have
no file.
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
    """Return how many edits were how, and which."""
    names = {
        what: [v.name.removeprefix("edit_") for v in found if v.what == what]
        for what in ("stale", "needless", "failed")
    }
    return {what: len(of) for what, of in names.items()} | {f"{what}_edits": of for what, of in names.items()}


def compared(edits: list[Edit], cache: str) -> dict[str, object]:
    """Run edits over a cache that is there and over Larder's, and return what became of them."""
    nothing = sum(edit.nothing for edit in edits)
    made: dict[str, object] = {"edits": len(edits), "change_nothing": nothing}
    print(f"{len(edits)} edits, of which {nothing} change nothing")
    for tool in ("numba", "larder"):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["LARDER_CACHE"] = str(Path(folder) / "cache")
            of = counted(contest(tool, Path(folder) / "edits", edits))
        name = cache if tool == "numba" else tool
        made[name] = of
        print(f"{name:8} stale {of['stale']}, needless {of['needless']}, failed {of['failed']}", flush=True)
    return made


def main() -> None:
    """Run all edits, those of PyTensor's Ops if it is installed."""
    made: dict[str, object] = {"numba": version("numba"), "python": platform.python_version()}
    made["functions"] = compared(EDITS, "numba")
    if importlib.util.find_spec("pytensor") is not None:
        made["pytensor"] = version("pytensor")
        made["ops"] = compared(OF_OPS, "pytensor")
    RESULTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
