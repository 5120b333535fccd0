"""Test functions that are compiled with different flags, whichever come first."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba_case import Case, needs_numba

pytestmark = needs_numba


@pytest.fixture
def case(real: Path, tmp_path: Path) -> Case:
    return Case(tmp_path / "case")


LOOPS = """
    import numpy as np
    from numba import njit, prange, vectorize

    @njit(cache=True)
    def over(x):
        return 1.0 / x

    @njit(cache=True, parallel=True)
    def first(n):
        made = np.zeros(n)
        for i in prange(n):
            made[i] = over(i)
        return made

    @njit(cache=True, parallel=True)
    def second(n):
        total = 0.0
        for i in prange(1, n):
            total += over(i)
        return total

    @vectorize
    def each(x):
        return over(x)

    @njit(cache=True)
    def third(a):
        return each(a)

    def tried(f, *args):
        try:
            return str(f(*args))
        except ZeroDivisionError:
            return "raised"

    CALLS = ["first(3)", "second(3)", "third(np.ones(2))"]

    def run():
        return [tried(lambda: eval(call)) for call in CALLS]
"""


def test_functions_that_loops_and_ufuncs_call_are_kept_with_them(case: Case) -> None:
    case.write("m", LOOPS)
    first, second = case.run(), case.run()
    assert first.results == second.results == ["[inf 1.  0.5]", "1.5", "[1. 1.]"]
    assert set(first.states()) == {"compiled"}
    assert set(second.states()) == {"loaded"}
    case.edit("m", "1.0 / x", "2.0 / x")
    assert case.run().results == ["[inf  2.  1.]", "3.0", "[2. 2.]"]


def test_what_was_compiled_with_other_flags_before_is_another_function(case: Case) -> None:
    # In a loop a division by zero gives inf. Code compiled outside of a loop raises, also when a loop calls it.
    case.write("m", LOOPS)
    outside = '["over(np.uint64(1))", "first(3)"]'
    case.edit("m", '["first(3)", "second(3)", "third(np.ones(2))"]', outside)
    before = case.run()
    case.edit("m", outside, '["first(3)"]')
    alone = case.run()
    assert before.results[1] != alone.results[0] == "[inf 1.  0.5]"
    assert alone.states("first") == ["compiled"]
    case.edit("m", '["first(3)"]', outside)
    again = case.run()
    assert again.results[1] != alone.results[0]
    assert again.states() == ["loaded", "loaded"]


def test_a_program_that_loads_one_loop_loads_what_was_compiled_after_it(case: Case) -> None:
    case.write("m", LOOPS)
    both = '["first(3)", "second(3)"]'
    case.edit("m", '["first(3)", "second(3)", "third(np.ones(2))"]', both)
    case.run()
    case.edit("m", "prange(1, n)", "prange(2, n)")
    assert case.run().states("second") == ["compiled"]
    case.edit("m", "prange(2, n)", "prange(1, n)")
    assert case.run().states() == ["loaded", "loaded"]
