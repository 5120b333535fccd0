"""Test that kernels of vectorized functions are cached like other functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba_case import Case, needs_numba

pytestmark = needs_numba

DEP = """
    from numba import njit

    K = 2.0

    @njit
    def helped(x):
        return x + 1.0
"""

M = """
    import dep
    import numpy as np
    from numba import guvectorize, njit, types, vectorize

    def made(by):
        @vectorize(["float64(float64)"], cache=True)
        def closed(x):
            return x * by
        return closed

    closed = made(3.0)

    @vectorize(["float64(float64)", "int64(int64)"], cache=True)
    def double(x):
        return x * dep.K + dep.helped(x)

    @vectorize(cache=True)
    def late(x):
        return x + dep.K

    @vectorize(["float64(float64)"], cache=True, target="parallel")
    def wide(x):
        return x - dep.K

    @guvectorize(["(float64[:], float64[:])"], "(n)->()", cache=True)
    def total(a, out):
        out[0] = a.sum() * dep.K

    @guvectorize("(n)->()", cache=True)
    def most(a, out):
        out[0] = a.max() + dep.K

    @njit(cache=True)
    def outer(a):
        return double(a).sum() + late(a).sum()

    def run():
        a = np.arange(4.0)
        out = np.zeros(())
        most(a, out)
        made = [closed(a), double(a), double(3), late(a), late(2), wide(a), total(a), out, outer(a)]
        return [np.asarray(one).tolist() for one in made]
"""

ROWS = ["m.double", "m.double", "m.late", "m.made.<locals>.closed", "m.most", "m.outer", "m.total", "m.wide"]


@pytest.fixture
def case(real: Path, tmp_path: Path) -> Case:
    return Case(tmp_path / "case")


def test_kernels_are_loaded_by_other_processes(case: Case) -> None:
    case.write("dep", DEP)
    case.write("m", M)
    first, second = case.run(), case.run()
    assert sorted(row[0] for row in first.rows) == ROWS
    assert set(first.states()) == {"compiled"}
    assert sorted(row[0] for row in second.rows) == ROWS
    assert set(second.states()) == {"loaded"}
    assert second.results == first.results
    assert first.results[1] == [1.0, 4.0, 7.0, 10.0]


EDITS = {
    "a constant elsewhere": ("dep", "K = 2.0", "K = 4.0", "double late most outer total wide"),
    "what is called": ("dep", "x + 1.0", "x + 7.0", "double outer"),
    "a captured variable": ("m", "made(3.0)", "made(5.0)", "closed"),
    "its own code": ("m", "x * dep.K + dep", "x / dep.K + dep", "double outer"),
    "one signature less": ("m", '["float64(float64)", "int64(int64)"]', '["float64(float64)"]', "outer"),
    "the kernel of rows": ("m", "a.sum() * dep.K", "a.sum() / dep.K", "total"),
    "an option": ("m", '@guvectorize("(n)->()", cache', '@guvectorize("(n)->()", fastmath=True, cache', "most"),
    "a comment": ("m", "# nothing", "# else", ""),
}


@pytest.mark.parametrize("name", EDITS)
def test_kernels_are_compiled_anew_when_something_of_them_changes(name: str, case: Case) -> None:
    module, before, after, changed = EDITS[name]
    case.write("dep", DEP)
    case.write("m", M + "\n    # nothing\n")
    first = case.run()
    case.edit(module, before, after)
    second = case.run()
    again = {row[0].rpartition(".")[2] for row in second.rows if row[2] == "compiled"}
    assert again == set(changed.split())
    assert (second.results == first.results) == (name in ("a comment", "an option", "one signature less"))


def test_processes_that_start_at_once_compile_each_kernel_once(case: Case) -> None:
    case.write("dep", DEP)
    case.write("m", M)
    ran = [case.ended(process) for process in [case.start() for _ in range(3)]]
    assert ran[0].results == ran[1].results == ran[2].results
    compiled = sorted(row[0] for one in ran for row in one.rows if row[2] == "compiled")
    assert compiled == ROWS
    assert {row[2] for one in ran for row in one.rows} == {"compiled", "loaded"}


FILES = """
    from pathlib import Path
    from numba import njit, vectorize
    from numba.extending import overload

    def overloaded(x):
        pass

    @overload(overloaded)
    def overloaded_(x):
        k = float((Path(__file__).parent / "k.txt").read_text())
        return lambda x: x + k

    @vectorize(["float64(float64)"], cache=True)
    def each(x):
        return overloaded(x)

    @njit(cache=True)
    def outer(x):
        return each(x)

    def run():
        return [float(each(1.0)), float(outer(1.0))]
"""


def test_what_is_opened_while_a_kernel_is_compiled_is_seen(case: Case) -> None:
    case.write("m", FILES)
    for text, right in (("2", [3.0, 3.0]), ("5", [6.0, 6.0])):
        (case.directory / "k.txt").write_text(text)
        ran = case.run()
        assert ran.results == right
        assert set(ran.states()) == {"refused"}


WRONG = """
    from numba import vectorize

    def run():
        try:
            vectorize(["float64(float64)"], cache=True)(lambda x: x.nothing)
        except Exception as error:
            return type(error).__name__
"""


def test_a_kernel_that_cannot_be_compiled_holds_nobody_up(case: Case) -> None:
    case.write("m", WRONG)
    for _ in range(2):
        assert case.run().results == "TypingError"


WHY = """
    import larder.numba
    larder.numba.install()
    from numba import vectorize

    K = 3

    @vectorize(["float64(float64)"], cache=True)
    def each(x):
        return x * K

    print(str(larder.numba.why(each)).splitlines()[0])
"""


def test_why_takes_vectorized_functions(case: Case) -> None:
    case.write("w", WHY)
    assert case.script("w")[-1].endswith("each: is cached")


LOOPS = """
    import os
    from types import SimpleNamespace
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import guvectorize, njit, vectorize
    from numba.core.codegen import CPUCodeLibrary
    from larder.numba import _loops

    if "SPOILED" in os.environ:
        _loops.pickle = SimpleNamespace(dumps=lambda value: b"nothing")
    linked = []
    usual = CPUCodeLibrary.finalize
    CPUCodeLibrary.finalize = lambda self: linked.append(self.name) or usual(self)

    class Own(ValueError):
        pass

    @vectorize(["int64(int64)", "float64(float64)"], cache=True)
    def each(x):
        if x > 100:
            raise Own("too much", x)
        return x * 2

    @vectorize(cache=True)
    def late(x):
        return x + 1

    @guvectorize(["(float64[:], float64[:])"], "(n)->()", cache=True)
    def total(a, out):
        if a[0] > 100:
            raise ValueError("too much")
        out[0] = a.sum()

    @njit(cache=True)
    def outer(a):
        return each(a).sum() + late(a).sum()

    def got(function, *args):
        try:
            return str(function(*args))
        except ValueError as error:
            return f"{type(error).__name__}{error.args}"

    a = np.arange(4.0)
    print(got(each, a), got(each, 3), got(late, a[::2]), got(total, a), got(outer, a))
    print(got(each, 101.0), got(total, a + 200))
    print(len(set(linked) - {"nrt"}) > 0, [row.state for row in larder.numba.report()].count("loaded"))
"""


def test_loops_around_kernels_are_kept_with_them(case: Case) -> None:
    case.write("w", LOOPS)
    results = ["[0. 2. 4. 6.] 6 [1. 3.] 6.0 22.0", "Own('too much', 101.0) ValueError('too much',)"]
    assert case.script("w") == [*results, "True 0"]
    assert case.script("w") == [*results, "False 5"]


def test_a_loop_that_cannot_be_loaded_is_compiled_again(case: Case) -> None:
    case.write("w", LOOPS)
    assert case.script("w", SPOILED="1")[-1] == "True 0"
    assert case.script("w")[-1] == "True 5"
    assert case.script("w")[-1] == "False 5"


LAYOUTS = """
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import guvectorize

    def made(layout):
        @guvectorize(["(float64[:], float64[:], float64[:])"], layout, cache=True)
        def total(a, b, out):
            out[0] = a.sum() + 1000 * b.shape[0] + b.sum()
        return total

    same, other, again = made("(n),(n)->()"), made("(n),(m)->()"), made("(n),(n)->()")
    a, b = np.arange(4.0), np.arange(2.0)
    print(same(a, a), other(a, b), again(a, a), [row.state for row in larder.numba.report()].count("loaded"))
"""


def test_one_kernel_has_a_loop_for_each_layout(case: Case) -> None:
    case.write("w", LAYOUTS)
    assert case.script("w") == ["4012.0 2007.0 4012.0 2"]
    assert case.script("w") == ["4012.0 2007.0 4012.0 3"]


GIVEN = """
    import os
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import guvectorize, njit, vectorize

    @vectorize(cache=True)
    def each(a, b):
        return a + b

    @vectorize
    def unkept(a):
        return a * 2

    @guvectorize("(n)->(n)", cache=True)
    def rows(a, out):
        out[:] = a / 2

    @njit(cache=True)
    def first(a, out):
        rows(a, out)
        return each(a, a) + unkept(a)

    @njit(cache=True)
    def second(a):
        return each(a, a) - unkept(a)

    a = np.arange(3.0)
    if "FIRST" in os.environ:
        first(a, np.zeros(3))
    out = np.zeros(3)
    rows(np.arange(3), out)
    print(second(np.arange(3)), each(np.arange(3), 1), each.types, unkept.types, out)
    print(sorted({f"{row.function} {row.state}" for row in larder.numba.report()}))
"""


def test_vectorized_functions_get_the_loops_that_loaded_code_gave_them(case: Case) -> None:
    case.write("w", GIVEN)
    called = ["each", "first", "rows", "second", "unkept"]
    result = "[0 0 0] [1. 2. 3.] ['dd->d', 'll->l'] ['d->d', 'l->l'] [0.  0.5 1. ]"
    assert case.script("w", FIRST="1") == [result, str([f"w.{name} compiled" for name in called])]
    assert case.script("w", FIRST="1") == [result, str([f"w.{name} loaded" for name in called])]
    alone = case.script("w")
    assert alone[0] == "[0 0 0] [1 2 3] ['ll->l'] ['l->l'] [0.  0.5 1. ]"
    assert case.script("w")[0] == alone[0]
    assert case.script("w", FIRST="1")[0] == result


FAILING = """
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, vectorize
    from numba.np.ufunc.dufunc import DUFunc

    @vectorize
    def each(a):
        return a * 2

    @njit(cache=True)
    def caller(a):
        return each(a)

    usual, calls = DUFunc._compile_for_argtys, []

    def failing(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == int(FAILS):
            raise MemoryError("out of memory")
        return usual(self, *args, **kwargs)

    DUFunc._compile_for_argtys = failing
    print(caller(np.arange(3)), each.types)
    print([f"{row.state} {row.reason}" for row in larder.numba.report() if row.function.endswith("caller")])
"""


def test_a_function_whose_callees_cannot_get_their_loops_is_compiled(case: Case) -> None:
    case.write("w", FAILING.replace("int(FAILS)", "0"))
    assert case.script("w") == ["[0 2 4] ['l->l']", "['compiled ']"]
    case.write("w", FAILING.replace("int(FAILS)", "1"))
    again = case.script("w")
    assert again[0] == "[0 2 4] ['l->l']"
    assert "its loop for (int64,) -> int64 cannot be compiled again: MemoryError: out of memory" in again[1]


REDUCED = """
    import os
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, vectorize

    def each(a, b):
        return a + b

    each.__name__ = os.environ.get("NAME", "each")
    identity = os.environ.get("IDENTITY")
    identity = int(identity) if identity == "0" else identity
    each = vectorize(["float64(float64, float64)"], identity=identity)(each)

    @njit(cache=True)
    def total(a):
        return each.reduce(a, axis=(0, 1))

    try:
        print(total(np.ones((2, int(os.environ.get("COLUMNS", 3))))))
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
"""


def test_how_a_vectorized_function_may_be_reduced_counts(case: Case) -> None:
    case.write("w", REDUCED)
    for said, right in (
        ({"IDENTITY": "reorderable"}, "6.0"),
        ({}, "TypingError"),
        ({"IDENTITY": "0"}, "6.0"),
        ({"IDENTITY": "reorderable", "COLUMNS": "0"}, "ValueError zero-size array to reduction operation each which"),
        (
            {"IDENTITY": "reorderable", "COLUMNS": "0", "NAME": "other"},
            "ValueError zero-size array to reduction operation other which",
        ),
    ):
        assert case.script("w", **said)[-1].startswith(right), said


OPTIONAL = """
    import larder.numba
    larder.numba.install()
    from numba import njit, vectorize

    @vectorize
    def each(x):
        return x + 1

    @njit(cache=True)
    def maybe(x):
        y = None
        if x > 0:
            y = x
        if y is None:
            return 0.0
        return each(y)

    print(each(1.0), maybe(2.0), each.types)
    print([f"{row.state} {row.reason}" for row in larder.numba.report() if row.function.endswith("maybe")])
"""


def test_a_loop_for_types_that_numpy_has_not_is_given_again_as_numba_made_it(case: Case) -> None:
    case.write("w", OPTIONAL)
    assert case.script("w") == ["2.0 3.0 ['d->d']", "['compiled ']"]
    assert case.script("w") == ["2.0 3.0 ['d->d']", "['loaded ']"]
