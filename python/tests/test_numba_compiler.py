"""No edit of what the compiler shows a program or asks it is answered with what was compiled before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba_case import needs_numba
from numba_contest import contest
from numba_edits import Edit
from numba_edits_compiler import EDITS

pytestmark = needs_numba


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_gives_what_a_fresh_compilation_gives(edit: Edit, real: Path, tmp_path: Path) -> None:
    (found,) = contest("larder", tmp_path, [edit])
    assert found.what == "right", found.text
