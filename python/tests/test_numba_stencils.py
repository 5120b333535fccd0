"""Test cached functions that call stencils, whose kernels keep the meaning of names at their creation."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba_case import Case, Ran, needs_numba

pytestmark = needs_numba

DEP = """
    import numpy as np
    from numba import njit, stencil

    K = 2.0
    TABLE = np.array([1.0, 10.0])

    @njit
    def helped(x):
        return x + 1.0

    def made(by):
        @stencil
        def kernel(a):
            return a[-1] * by + a[1]
        return kernel

    closed = made(3.0)

    @stencil
    def summed(a):
        return helped(a[-1]) + K * a[1] + TABLE[0]

    @stencil(cval=5.0)
    def bordered(a):
        return a[-1] + a[1]

    @stencil(neighborhood=((-2, 0),))
    def windowed(a, w):
        total = 0.0
        for i in range(-w, 1):
            total += a[i]
        return total

    @stencil(standard_indexing=("b",))
    def picked(a, b):
        return a[0, 0] * b[1] + a[-1, 1]
"""

M = """
    import dep
    import numba
    import numpy as np
    from numba import guvectorize, njit

    @njit(cache=True)
    def f_summed(a):
        return dep.summed(a)

    @njit(cache=True)
    def f_closed(a):
        return dep.closed(a)

    @njit(cache=True)
    def f_bordered(a, out):
        return dep.bordered(a) + dep.bordered(a, out=out)

    @njit(cache=True)
    def f_windowed(a):
        return dep.windowed(a, 2)

    @njit(cache=True, parallel=True)
    def f_picked(a, b):
        return dep.picked(a, b)

    @njit(cache=True)
    def f_inside(a):
        return numba.stencil(lambda x: x[-1] + x[1] * dep.K)(a)

    @guvectorize(["(float64[:], float64[:])"], "(n)->(n)", cache=True)
    def f_rows(a, out):
        out[:] = dep.summed(a)

    def run():
        a = np.arange(5.0)
        square = np.arange(16.0).reshape(4, 4)
        return [
            np.asarray(one).tolist()
            for one in (
                f_summed(a),
                f_closed(a),
                f_bordered(a, np.ones(5)),
                f_windowed(a),
                f_picked(square, a),
                f_inside(a),
                f_rows(square),
            )
        ]
"""

ALL = {"f_summed", "f_closed", "f_bordered", "f_windowed", "f_picked", "f_inside", "f_rows"}


@pytest.fixture
def case(real: Path, tmp_path: Path) -> Case:
    case = Case(tmp_path / "case")
    case.write("dep", DEP)
    case.write("m", M)
    return case


def names(ran: Ran, state: str) -> set[str]:
    return {row[0].rpartition(".")[2] for row in ran.rows if row[2] == state}


def test_functions_with_stencils_are_loaded_by_other_processes(case: Case) -> None:
    first, second = case.run(), case.run()
    assert names(first, "compiled") == ALL, first.rows
    assert names(second, "loaded") == ALL, second.rows
    assert len(second.rows) == len(ALL)
    assert second.results == first.results
    assert first.results[0] == [0.0, 6.0, 9.0, 12.0, 0.0]


FROZEN = """
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, stencil

    K = 1

    @stencil
    def kernel(a):
        return a[0] * K

    K = 100

    @njit(cache=True)
    def f(a):
        return kernel(a)

    print(f(np.arange(3)).tolist(), [row.state for row in larder.numba.report()])
"""


def test_names_mean_what_they_meant_when_the_stencil_was_made(case: Case) -> None:
    for k, states in ((1, "compiled"), (2, "compiled"), (2, "loaded")):
        case.write("frozen", FROZEN.replace("K = 1\n", f"K = {k}\n"))
        assert case.script("frozen") == [f"[0, {k}, {2 * k}] ['{states}']"]


CHANGED = """
    import os
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, stencil

    TABLE = np.array([float(os.environ["TABLE"])])

    @stencil
    def kernel(a):
        return a[0] * TABLE[0]

    def made():
        @njit(cache=True)
        def f(a):
            return kernel(a)
        return f

    @njit(cache=True)
    def g(a):
        return kernel(a) + 1

    made()(np.arange(3.0))
    TABLE[0] = 7
    print(g(np.arange(3.0)).tolist()[2], [row.state for row in larder.numba.report()])
"""


def test_what_was_typed_before_a_change_is_not_kept_after_it(case: Case) -> None:
    case.write("changed", CHANGED)
    assert case.script("changed", TABLE="7") == ["15.0 ['compiled', 'compiled']"]
    line = case.script("changed", TABLE="3")[0]
    assert line.endswith("['compiled', 'refused']"), line
    assert case.script("changed", TABLE="7") == ["15.0 ['loaded', 'loaded']"]


REACH = """
    import os
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, stencil

    @stencil
    def kernel(a):
        unused = a[3]
        return a[-1] + a[1]

    @njit
    def plain(a):
        return kernel(a)

    @njit(cache=True, parallel=True)
    def cached(a):
        return kernel(a)

    if "FIRST" in os.environ:
        plain(np.arange(8.0))
    print(cached(np.arange(8.0)).tolist(), [row.state for row in larder.numba.report()])
"""


def test_a_stencil_is_the_same_whoever_called_it_before(case: Case) -> None:
    case.write("reach", REACH)
    first, second = case.script("reach", FIRST="1"), case.script("reach")
    assert second == [first[0].replace("compiled", "loaded")]


REFUSED = """
    import ctypes
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, stencil

    pointer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + 1)

    @stencil
    def kernel(a):
        return pointer(a[0])

    @njit(cache=True)
    def f(a):
        return kernel(a)

    f(np.arange(3.0))
    print([row.reason for row in larder.numba.report()][0])
"""


def test_a_stencil_with_an_address_is_refused_with_the_way_to_it(case: Case) -> None:
    case.write("refused", REFUSED)
    assert "f -> kernel -> pointer: a function pointer of ctypes" in case.script("refused")[0]


LATE = """
    import numpy as np
    from numba import njit, stencil
    import larder.numba

    @stencil
    def kernel(a):
        return a[0] + 1

    @njit
    def early(a):
        return kernel(a)

    early(np.arange(3.0))
    larder.numba.install()

    @njit(cache=True)
    def f(a):
        return kernel(a)

    f(np.arange(3.0))
    print([row.reason for row in larder.numba.report()][0])
"""


def test_a_stencil_that_was_compiled_before_is_not_kept(case: Case) -> None:
    case.write("late", LATE)
    assert "before larder.numba was installed" in case.script("late")[0]


WRITTEN = """
    import os
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, stencil

    np.set_printoptions(legacy=os.environ.get("LEGACY", False))

    @stencil(cval=np.float64(0.1) + np.float64(0.2))
    def kernel(a):
        return a[-1] + a[1]

    @njit(cache=True)
    def f(a):
        return kernel(a)

    print(repr(float(f(np.arange(4.0))[0])))
"""


def test_the_value_at_borders_is_what_numba_writes_of_it(case: Case) -> None:
    case.write("w", WRITTEN)
    assert case.script("w") == ["0.30000000000000004"]
    assert case.script("w", LEGACY="1.13") == ["0.3"]


ITSELF = """
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, stencil

    @njit
    def again(x, n):
        return x * 1.0 if n == 0 else again(x * 2, n - 1)

    @stencil
    def kernel(a):
        return again(a[-1], 3)

    @njit(cache=True)
    def f(a):
        return kernel(a)

    f(np.arange(3.0))
    print([row.reason for row in larder.numba.report()][0])
"""


def test_the_way_leads_to_the_function_that_calls_itself(case: Case) -> None:
    case.write("w", ITSELF)
    assert case.script("w")[0].startswith("w.f -> kernel -> again: it calls itself for other types")
