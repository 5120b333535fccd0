"""Compiled functions of numba that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba_case import Case, needs_numba

pytestmark = needs_numba


@pytest.fixture
def case(real: Path, tmp_path: Path) -> Case:
    return Case(tmp_path / "case")


BASIC = """
    from numba import njit
    import inner

    @njit(cache=True)
    def outer(x):
        return inner.inner(x) + 1.0

    def make(k):
        @njit(cache=True)
        def made(x):
            return x * k
        return made

    space = {}
    exec("def text(x):\\n    if x > 5:\\n        raise ValueError('large')\\n    return x + 1", space)
    text = njit(cache=True)(space["text"])

    def run():
        try:
            text(9)
        except ValueError as error:
            failed = str(error)
        return [outer(1.5), make(3)(2), make(4)(2), make(3)(2), text(1), failed]
"""
INNER = """
    from numba import njit
    FACTOR = 2.0

    @njit
    def inner(x):
        return x * FACTOR
"""


def test_functions_are_loaded_by_other_processes_until_something_that_they_reach_changes(case: Case) -> None:
    case.write("m", BASIC)
    case.write("inner", INNER)
    first, second = case.run(), case.run()
    assert first.results == second.results == [4.0, 6, 8, 6, 2, "large"]
    assert first.states() == [*["compiled"] * 4, "loaded"]
    assert second.states() == ["loaded"] * 5
    case.edit("inner", "FACTOR = 2.0", "# a comment\nFACTOR = 3.0")
    third = case.run()
    assert third.results == [5.5, 6, 8, 6, 2, "large"]
    assert third.states() == ["loaded", "compiled", *["loaded"] * 3]
    case.edit("inner", "x * FACTOR", "x + FACTOR")
    assert case.run().results[0] == 5.5
    case.edit("inner", "FACTOR = 3.0", "FACTOR = 2.0")
    assert case.run().results[0] == 4.5
    case.edit("inner", "x + FACTOR", "x * FACTOR")
    again = case.run()
    assert again.results[0] == 4.0
    assert again.states() == ["loaded"] * 5
