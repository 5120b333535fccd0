"""Test that no edit of a program with compiled functions returns stale code."""

from __future__ import annotations

import os
import random
from pathlib import Path

from numba_case import needs_numba
from numba_contest import contest
from numba_edits import EDITS

pytestmark = needs_numba


def test_no_edit_is_answered_with_what_was_compiled_before(real: Path, tmp_path: Path) -> None:
    """Each run tests a quarter of the edits, chosen at random; LARDER_SUITE=all tests all."""
    rng = random.Random(os.environ.get("LARDER_SEED") or None)
    chosen = EDITS if os.environ.get("LARDER_SUITE") == "all" else rng.sample(EDITS, len(EDITS) // 4)
    found = contest("larder", tmp_path, chosen)
    assert len(found) == len(chosen)
    assert [verdict for verdict in found if verdict.what in ("stale", "failed")] == []
    assert [verdict for verdict in found if verdict.what == "needless"] == []
