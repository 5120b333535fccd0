"""Test cached functions of numba."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from numba_case import SOURCES, Case, Ran, needs_numba

from larder._client import server

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


COLLECTED = """
    import gc
    from numba import njit

    @njit(cache=True)
    def one(x):
        return x + 1

    @njit(cache=True)
    def other(x):
        return x + 2

    def run():
        states = [one(1), gc.isenabled()]
        gc.disable()
        return [*states, other(1), gc.isenabled()]
"""


def test_garbage_is_collected_afterwards_if_it_was_before(case: Case) -> None:
    case.write("m", COLLECTED)
    assert case.run().results == [2, True, 3, False]
    loaded = case.run()
    assert loaded.results == [2, True, 3, False]
    assert loaded.states() == ["loaded"] * 2


LIBRARY = """
    import enum
    from numba import njit
    from numba.extending import overload

    def factor():
        return 2

    class Level(enum.IntEnum):
        low = 1

    def scaled(x):
        return x

    @overload(scaled)
    def _scaled(x):
        by = factor()
        return lambda x: x * by

    @njit(cache=True)
    def leveled(x):
        return x + Level.low
"""
USES = """
    from numba import njit
    import lib

    @njit(cache=True)
    def outer(x):
        return lib.scaled(x)

    def run():
        return [outer(3), lib.leveled(1)]
"""


def test_a_library_that_was_edited_where_it_is_installed_is_another_one(case: Case) -> None:
    case.write("m", USES)
    case.write("site-packages/lib", LIBRARY)
    site = case.directory / "site-packages"
    info = site / "lib-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256((site / "lib.py").read_bytes()).digest()).decode().rstrip("=")
    size = (site / "lib.py").stat().st_size
    (info / "RECORD").write_text(
        f"lib.py,sha256={digest},{size}\nlib-1.dist-info/METADATA,,\nlib-1.dist-info/RECORD,,\ngone/t.py,,\n"
    )
    before = (info / "RECORD").stat().st_mtime_ns

    def ran(edited: int) -> Ran:
        os.utime(site / "lib.py", ns=(before + edited, before + edited))
        return case.run(PYTHONPATH=os.pathsep.join([SOURCES, str(site)]), PYTHONDONTWRITEBYTECODE="1")

    assert ran(-(10**9)).results == [6, 2]
    case.edit("site-packages/lib", "return 2", "return 5")
    assert ran(10**9).results == [15, 2]
    case.edit("site-packages/lib", "low = 1", "low = 7")
    assert ran(2 * 10**9).results == [15, 8]
    case.edit("site-packages/lib", "low = 7", "low = 7  # as is said here")
    assert ran(2 * 10**9).states() == ["loaded", "loaded"]
    case.edit("site-packages/lib", "low = 7", "low = 1")
    case.edit("site-packages/lib", "return 5", "return 2")
    undone = ran(3 * 10**9)
    assert undone.results == [6, 2]
    assert undone.states() == ["compiled", "compiled"]  # a comment is left, so the file is not the installed one
    case.edit("site-packages/lib", "  # as is said here", "")
    assert ran(4 * 10**9).states() == ["loaded", "loaded"]
    case.edit("site-packages/lib", "return 2", "return 2 + 1")
    assert ran(-(10**9)).results == [9, 2]


CONFUSED = """
    from numba import njit, types
    from numba.extending import intrinsic, overload_attribute, register_model, models
    from llvmlite import ir

    class Unit(types.Type):
        def __init__(self, k):
            child = {}
            self.k, self.tree = k, {"children": [child]}
            child["parent"] = self.tree
            super().__init__("Unit")

    @register_model(Unit)
    class Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, ir.IntType(64))

    @intrinsic
    def unit(context, k):
        if isinstance(k, types.Literal):
            return Unit(k.literal_value)(k), lambda c, *rest: c.get_constant(types.int64, 3)

    @overload_attribute(Unit, "k")
    def k_of(unit):
        k = unit.k
        return lambda unit: k

    @njit(cache=True)
    def one():
        return unit(1).k

    @njit(cache=True)
    def two():
        return unit(2).k

    def run():
        return [one(), two()]
"""


def test_what_is_compiled_is_not_kept_where_a_type_was_taken_for_another(case: Case) -> None:
    case.write("m", CONFUSED)
    found = case.run()
    assert found.results == [1, 1]  # numba has one object for both
    assert found.states() == ["compiled", "refused"]
    said = "numba treated two different types as equal"
    assert [reason.partition(":")[0] for reason in found.reasons()] == [said]
    case.edit("m", "[one(), two()]", "[two()]")
    assert case.run().results == [2]


FROZEN = """
    from numba import njit
    import larder.numba

    @njit(cache=True)
    def inner(x):
        return x / 2

    @njit(cache=True)
    def outer(x):
        return inner(x) + 1

    @njit
    def plain(x):
        return x + 1

    def run():
        found = [outer(3.0)]
        try:
            inner.disable_compile()
        except larder.numba.NumbaError as error:
            found.append(str(error))
            inner(3.0)
            inner.disable_compile()
        return [*found, inner(True), plain(1), str(larder.numba.why(plain)).splitlines()[:2]]
"""


def test_a_callee_that_was_not_compiled_here_is_not_frozen_without_what_it_was_compiled_for(case: Case) -> None:
    case.write("m", FROZEN)
    why = ["m.plain: is not cached", "  refused: it is not cached; pass cache=True"]
    assert case.run().results == [2.5, 0.5, 2, why]
    found, said, *more = case.run().results
    assert [found, *more] == [2.5, 0.5, 2, why]
    assert said.startswith("m.inner: disable_compile() is not possible yet: a cached caller needs it for (Float")


MANY = """
    from numba import njit

    @njit
    def helper(x):
        return x * 2

    @njit(cache=True)
    def first(x):
        return helper(x) + 1

    @njit(cache=True)
    def second(x):
        return first(x) + helper(x)

    def run():
        return [second(1), first(2.0)]
"""


def test_processes_that_start_at_once_compile_each_function_once(case: Case) -> None:
    case.write("m", MANY)
    ran = [case.ended(process) for process in [case.start() for _ in range(4)]]
    assert [one.results for one in ran] == [[5, 5.0]] * 4
    rows = [(row[0], row[1]) for one in ran for row in one.rows if row[2] == "compiled"]
    assert sorted(rows) == [("m.first", "(float64)"), ("m.first", "(int64)"), ("m.second", "(int64)")]
    assert all(row[2] != "refused" for one in ran for row in one.rows)


REFUSED = """
    import ctypes
    import numpy as np
    from numba import njit, objmode, types
    from numba.experimental import jitclass

    library = ctypes.CDLL(None)
    absolute = library.labs
    absolute.argtypes, absolute.restype = [ctypes.c_long], ctypes.c_long
    LARGE = np.arange(200_000.0)
    STRIDED = np.arange(20.0)[::2]

    @njit(cache=True)
    def plain(x):
        return x + 1

    @njit
    def body(x):
        return absolute(x)

    @njit(cache=True)
    def outer(x):
        return body(x) + plain(x)

    @njit(cache=True)
    def large(i):
        return LARGE[i]

    @njit(cache=True)
    def strided(i):
        return STRIDED[i]

    @njit(cache=True)
    def over_strided(i):
        return strided(i)

    @njit(cache=True)
    def objects(x):
        with objmode(y="int64"):
            y = len(str(x))
        return y

    @jitclass([("x", types.int64)])
    class Box:
        def __init__(self, x):
            self.x = x

    @njit(cache=True)
    def boxed(box):
        return box.x

    @njit(cache=True)
    def applied(f, x):
        return f(x)

    def run():
        return [outer(-5), large(3), over_strided(2), objects(12), boxed(Box(4)), applied(plain, 1)]
"""


def test_what_cannot_be_kept_is_refused_with_the_way_to_it(case: Case) -> None:
    case.write("m", REFUSED)
    case.run()
    ran = case.run()
    assert ran.results == [1, 3.0, 4.0, 2, 4, 2]
    assert set(ran.states("m.plain")) == {"loaded"}
    reasons = {row[0]: row[3] for row in ran.rows if row[2] == "refused"}
    assert sorted(reasons) == [
        "m.applied",
        "m.boxed",
        "m.large",
        "m.objects",
        "m.outer",
        "m.over_strided",
        "m.strided",
    ]
    assert reasons["m.outer"].startswith("m.outer -> body -> absolute: a function pointer of ctypes")
    assert reasons["m.large"].startswith("m.large -> LARGE: an array of 1600000 bytes")
    assert "object mode" in reasons["m.objects"]
    assert "jitclass" in reasons["m.boxed"]
    assert "a compiled function is an argument" in reasons["m.applied"]
    assert "an array whose elements are not side by side" in reasons["m.over_strided"]


LATER = """
    from numba import njit
    K = FIRST = 1

    @njit
    def inner(x):
        return x + K

    @njit(cache=True)
    def outer(x):
        return inner(x) * 10

    @njit(cache=True)
    def own(x):
        return x + K

    def run():
        global K
        made = [inner(1), own(1)]
        K = 2
        return [*made, outer(1), own(1), own(1.0)]
"""


def test_what_was_compiled_before_a_variable_was_set_is_not_kept_as_what_is_compiled_after(case: Case) -> None:
    case.write("m", LATER)
    first = case.run()
    assert first.results == [2, 2, 20, 2, 3.0]
    assert first.states("outer") == ["refused"]
    assert first.reasons()[0].endswith("it is not what it was when it was compiled before, in this process (K)")
    case.edit("m", "K = FIRST = 1", "K = FIRST = 2")
    second = case.run()
    assert second.results == [3, 3, 30, 3, 3.0]
    assert second.states("own") == ["compiled", "loaded"]


def test_flags_of_the_function_around_count_for_what_is_compiled_within_it(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit

        @njit(cache=True)
        def inner(x, y):
            return x / y

        @njit(error_model="numpy")
        def around(x, y):
            return inner(x, y)

        def divided(f):
            try:
                return str(f(1.0, 0.0))
            except ZeroDivisionError:
                return "raised"

        FUNCTIONS = [inner]

        def run():
            return [divided(f) for f in FUNCTIONS]
        """,
    )
    assert case.run().results == ["raised"]
    case.edit("m", "[inner]", "[around]")
    assert case.run().results == ["inf"]
    case.edit("m", "[around]", "[inner]")
    again = case.run()
    assert (again.results, again.states("inner")) == (["raised"], ["loaded"])


def test_a_function_that_cannot_be_compiled_holds_nobody_up(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit
        from numba.core.errors import TypingError

        @njit(cache=True)
        def wrong(x):
            return x.there_is_none

        def run():
            for _ in range(2):
                try:
                    wrong(1)
                except TypingError:
                    pass
            return "failed"
        """,
    )
    assert [case.run().results, case.run().results] == ["failed", "failed"]


def test_artifacts_are_loaded_only_if_signed_by_who_has_the_key(case: Case) -> None:
    case.write("m", MANY)
    keys = [case.directory / "key1", case.directory / "key2"]
    for i, key in enumerate(keys):
        key.write_text(f"{i}" * 32)
    assert set(case.run().states()) == {"compiled"}
    assert set(case.run(TEST_KEY=str(keys[0])).states()) == {"compiled"}
    assert set(case.run(TEST_KEY=str(keys[0])).states()) == {"loaded"}
    assert set(case.run(LARDER_SIGNING_KEY=str(keys[0])).states()) == {"loaded"}
    assert set(case.run(TEST_KEY=str(keys[1])).states()) == {"compiled"}
    assert set(case.run().states()) == {"loaded"}


def test_packs_that_are_damaged_are_compiled_again(case: Case, real: Path, program: str) -> None:
    case.write("m", MANY)
    assert case.run().results == [5, 5.0]
    stop = [program, "serve", "--cache", str(real / "cache"), "--socket", server.address(None).socket, "--stop"]
    subprocess.run(stop, check=True, capture_output=True)
    files = [path for path in (real / "cache").rglob("*") if path.is_file() and path.stat().st_size > 2000]
    assert files
    for path in files:
        data = bytearray(path.read_bytes())
        for at in range(len(data) // 3, len(data), 997):
            data[at] ^= 0x55
        path.write_bytes(data)
    again = case.run()
    assert again.results == [5, 5.0]
    assert "refused" not in again.states()
    assert "compiled" in again.states()
    assert set(case.run().states()) == {"loaded"}


def test_another_numba_is_refused_by_the_names_of_what_differs(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit
        import larder.numba
        from larder.numba import _install, _pins
        from numba.core import dispatcher

        def run():
            _pins.PINNED["core.dispatcher:Dispatcher.compile"] = {}
            _install._keeper = None
            before = dispatcher.Dispatcher.enable_caching
            try:
                larder.numba.install()
            except larder.numba.NumbaError as error:
                return [str(error), dispatcher.Dispatcher.enable_caching is before]
            finally:
                _install._keeper = _install.Keeper(None, None)
        """,
    )
    said, unchanged = case.run().results
    assert "core.dispatcher:Dispatcher.compile" in said
    assert unchanged


def test_why_and_report_say_what_became_of_functions(case: Case) -> None:
    case.write(
        "m",
        """
        import larder.numba
        from numba import njit
        LIMIT = 3

        @njit(cache=True)
        def limited(x):
            return min(x, LIMIT)

        def run():
            limited(5)
            return [str(larder.numba.why(limited)), str(larder.numba.report())]
        """,
    )
    case.run()
    said, table = case.run().results
    assert "m.limited: is cached" in said
    assert "(int64) loaded" in said
    assert table.startswith("1 loaded, 0 compiled and cached, 0 refused: compiled and not cached;")
    assert "m.limited  (int64)  loaded" in table


def test_a_report_counts_time_once_and_says_what_asks_for_no_cache(case: Case) -> None:
    case.write(
        "m",
        """
        import time
        import numpy as np
        import larder.numba
        from numba import njit

        @njit
        def part(x):
            return x + 1

        @njit(cache=True)
        def inner(x):
            return np.sort(x)[::-1].sum() + part(x[0])

        @njit(cache=True)
        def middle(x):
            return inner(x) + 1

        @njit(cache=True)
        def outer(x):
            return middle(x) + 1

        @njit
        def uncached(x):
            return outer(x) + part(1)

        def run():
            begun = time.process_time()
            uncached(np.arange(5.0))
            took = time.process_time() - begun
            report = larder.numba.report()
            assert "compiled without cache=True, in " in str(report)
            return [sum(row.seconds for row in report) + sum(report.uncached.values()) <= took, list(report.uncached)]
        """,
    )
    assert case.run().results == [True, ["m.part", "m.uncached"]]
    assert case.run().results[1] == ["m.part", "m.uncached"]


def test_what_is_compiled_before_it_is_installed_is_not_linked_into_what_others_load(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit
        import before

        @njit(cache=True)
        def outer(x):
            return before.inner(x)

        @njit(cache=True)
        def alone(x):
            return x

        def run():
            return [outer(1), alone(1)]
        """,
    )
    case.write("before", "from numba import njit\n@njit\ndef inner(x):\n    return x + 1\ninner(1)\n")
    case.run(TEST_BEFORE="before")
    ran = case.run(TEST_BEFORE="before")
    assert ran.results == [2, 1]
    assert ran.states() == ["refused", "refused"]
    assert ran.reasons()[0] == "m.outer -> before.inner: it was compiled before larder.numba was installed"


CIRCLE = """
    from numba import njit

    @njit(cache=True)
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    @njit(cache=True)
    def even(n):
        if n == 0:
            return True
        return odd(n - 1)

    @njit(cache=True)
    def odd(n):
        if n == 0:
            return False
        return even(n - 1)

    @njit(cache=True)
    def outer(n):
        return even(n)

    CALLS = ["factorial(5)", "even(10)", "odd(4)", "outer(7)"]

    def run():
        return [eval(call) for call in CALLS]
"""


def test_functions_that_call_each_other_are_kept_as_one(case: Case) -> None:
    case.write("m", CIRCLE)
    results = [120, True, False, False]
    first = case.run()
    assert first.results == results
    assert first.states("m.even") == ["compiled"]
    assert first.states("m.odd") == ["refused"]
    assert first.reasons()[0] == "it is compiled as a part of m.even, as the two call each other"
    second = case.run()
    assert second.results == results
    assert second.states("m.even") == ["loaded"]
    assert second.states("m.outer") == ["refused"]  # its code has odd in it, but not even, which odd calls
    assert second.reasons()[-1].endswith("call each other, and one of these is not a part of it")
    for calls in ('["outer(6)", "even(3)"]', '["odd(3)", "even(3)", "outer(2)"]', '["outer(4)"]'):
        case.edit("m", "CALLS = [", f"CALLS = {calls} or [")
        wanted = [eval(call, {"outer": _even, "even": _even, "odd": _odd}) for call in eval(calls)]
        ran = [case.run(), case.run()]
        assert [one.results for one in ran] == [wanted] * 2
        assert "loaded" in ran[1].states()
        assert "compiled" not in ran[1].states()
        case.edit("m", f"CALLS = {calls} or [", "CALLS = [")
    case.edit("m", "return False", "return True")
    edited = case.run()
    assert edited.results == [120, True, True, True]
    assert edited.states("factorial") == ["loaded"]
    assert edited.states("m.even") == ["compiled"]


CIRCLES = """
    from numba import njit

    @njit(cache=True)
    def p(n):
        if n <= 0:
            return 1
        return q(n - 1) + 1

    @njit(cache=True)
    def q(n):
        if n <= 0:
            return 2
        return p(n - 1) + r(n - 1)

    @njit(cache=True)
    def r(n):
        if n <= 0:
            return 3
        return q(n - 1) * 2

    def run():
        return p(5)
"""


def test_circles_that_share_a_function_are_not_kept_and_say_why(case: Case) -> None:
    case.write("m", CIRCLES)
    first, second = case.run(), case.run()
    assert first.results == second.results == 23
    for ran in (first, second):
        assert set(ran.states()) == {"refused"}
        reasons = {row[0]: row[3] for row in ran.rows}
        assert reasons["m.p"] == "m.p: functions in it call each other, and one of these is not a part of it"


BACK = """
    import ctypes
    import dep
    from numba import cfunc, types

    @cfunc("float64(float64)", cache=True)
    def back(x):
        return dep.helped(x) * dep.K

    @cfunc(types.void(types.CPointer(types.float64), types.int64), cache=True, fastmath=True)
    def fill(at, n):
        for i in range(n):
            at[i] = dep.helped(i)

    def run():
        values = (ctypes.c_double * 3)()
        fill.ctypes(values, 3)
        return [back.ctypes(1.5), list(values), back(1.5)]
"""

BEHIND = """
    from numba import njit

    K = 2.0

    @njit
    def helped(x):
        return x + 1.0
"""


def test_callbacks_are_kept_and_known_by_what_they_call(case: Case) -> None:
    case.write("dep", BEHIND)
    case.write("m", BACK)
    for state, result in (("compiled", 5.0), ("loaded", 5.0)):
        ran = case.run()
        assert ran.results == [result, [1.0, 2.0, 3.0], result]
        assert [row[:3] for row in ran.rows] == [
            ["m.back", "(float64)", state],
            ["m.fill", "(float64*, int64)", state],
        ]
    case.edit("dep", "K = 2.0", "K = 4.0")
    ran = case.run()
    assert ran.results == [10.0, [1.0, 2.0, 3.0], 10.0]
    assert (ran.states("back"), ran.states("fill")) == (["compiled"], ["loaded"])
    case.edit("dep", "x + 1.0", "x + 2.0")
    ran = case.run()
    assert ran.results == [14.0, [2.0, 3.0, 4.0], 14.0]
    assert set(ran.states()) == {"compiled"}
    case.edit("m", "fastmath=True", "fastmath=False")
    assert case.run().states("fill") == ["compiled"]


DECLARED = """
    import numpy as np
    from numba import njit, types, vectorize

    @njit(cache=True, locals={"total": types.float32, "i": types.int64})
    def add(a):
        total = 0
        i = 0
        while i < len(a):
            if a[i] > 1:
                total = total + a[i] * 0.1
            i += 1
        return total

    @vectorize(["float64(float64)"], locals={"x": types.float32})
    def rough(a):
        x = a
        if a > 1:
            x = a * 1.1
        return x

    @njit(cache=True)
    def outer(a):
        return add(a) + add(a[::2]) + rough(a[0])

    def run():
        return [add(np.arange(3)), add(np.arange(3.0)), outer(np.arange(4)), outer(np.arange(4.0))]
"""


def test_declared_types_of_variables_that_are_assigned_again(case: Case) -> None:
    """numba writes into the declaration while it compiles."""
    case.write("m", DECLARED)
    first, second = case.run(), case.run()
    assert first.results == second.results
    assert set(first.states("m.add") + first.states("m.outer")) == {"compiled"}
    assert set(second.states()) == {"loaded"}
    case.edit("m", '"total": types.float32', '"total": types.float64')
    third = case.run()
    assert third.results != first.results
    assert set(third.states("m.add") + third.states("m.outer")) == {"compiled"}


NUMPYS = """
    import numpy as np
    from larder.numba import _install
    from numba import njit
    from numba.core import event

    @njit(cache=True)
    def cached(a):
        return np.zeros(len(a)).sum() + np.sort(a)[0] + np.full(3, 1.5).max()

    @njit
    def inner(a):
        return np.median(a)

    @njit
    def uncached(a):
        return inner(a) + np.ones(4).min()

    def run():
        keeper, walked = _install.keeper(), []
        usual = keeper.walked
        keeper.walked = lambda function, *args: walked.append(function.__name__) or usual(function, *args)
        with event.install_recorder("numba:compile") as recorder:
            results = [cached(np.arange(4.0)), uncached(np.arange(4.0))]
        return [results, walked, len(recorder.buffer) // 2]
"""


def test_what_numba_makes_for_a_function_is_followed_with_that_one(case: Case) -> None:
    """So a compilation does not cost a walk for each of numba's many functions for those of NumPy."""
    case.write("m", NUMPYS)
    results, walked, compiled = case.run().results
    assert results == [1.5, 2.5]
    assert walked == ["cached", "cached", "uncached", "inner"]  # a cached function is checked again before it is stored
    assert compiled > 2 * len(walked)


def test_a_key_without_a_name_is_an_error(case: Case) -> None:
    case.write("m", CIRCLES)
    with pytest.raises(AssertionError, match="NumbaError: the key for signing has no name: key_file is empty"):
        case.run(TEST_KEY="")


def _even(n: int) -> bool:
    return n % 2 == 0


def _odd(n: int) -> bool:
    return n % 2 == 1


def test_a_function_that_calls_itself_for_other_types_is_what_it_is_without_a_cache(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit

        @njit(cache=True)
        def f(n, x):
            if n <= 0:
                return 0.0
            return x + f(n - 1, x + 0.5) if n % 2 else x + f(n - 1, 1)

        def run():
            return [f(5, 1), f(4, 2.5)]
        """,
    )
    assert case.run().results == case.run().results == [6.0, 6.0]


def test_equal_functions_share_code_and_none_needs_another_to_live(case: Case) -> None:
    case.write(
        "m",
        """
        import gc
        from numba import njit

        def make(k):
            @njit(cache=True)
            def made(x):
                if x < 0:
                    raise ValueError(k)
                return x + k
            return made

        def run():
            first = make(3)
            results = [first(1)]
            second, third = make(3), make(3)
            results += [second(1), third(1)]
            del first, third
            gc.collect()

            @njit
            def outer(x):
                return second(x) * 2

            results.append(outer(1))
            try:
                second(-1)
            except ValueError as error:
                results.append(str(error))
            return [*results, make(4)(1), second(2)]
        """,
    )
    for _ in range(2):
        ran = case.run()
        assert ran.results == [4, 4, 4, 8, "3", 5, 5]
        assert ran.states().count("compiled") in (2, 0)


SCRIPT = """
    import multiprocessing
    from collections import namedtuple
    from enum import Enum
    import larder.numba
    larder.numba.install()
    from numba import njit, types, vectorize
    from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

    class Wrong(ValueError):
        pass

    class Side(Enum):
        LEFT = 1
        RIGHT = 2

    Pair = namedtuple("Pair", "a b", defaults=(3,))

    class Thing:
        pass

    class ThingType(types.Type):
        def __init__(self):
            super().__init__(name="Thing")

    typeof_impl.register(Thing)(lambda value, context: ThingType())
    register_model(ThingType)(models.OpaqueModel)

    @unbox(ThingType)
    def unbox_thing(kind, value, c):
        return NativeValue(c.context.get_dummy_value())

    @njit
    def check(x):
        if x < 0:
            raise Wrong("negative")
        return x

    @vectorize(["int64(int64)"])
    def checked(x):
        if x < 0:
            raise Wrong("negative")
        return x

    @njit(cache=True)
    def checks(x):
        return check(x) + checked(x)

    @njit(cache=True)
    def side(x):
        return Side.LEFT if x < 0 else Side.RIGHT

    @njit(cache=True)
    def other(s):
        return s == Side.LEFT

    @njit(cache=True)
    def pair(x):
        return Pair(x, x)

    @njit(cache=True)
    def first(p):
        return p.a

    @njit(cache=True)
    def thing(t):
        return 5

    def work(x):
        return side(x) is Side.RIGHT, str(larder.numba.report()).split(" saved")[0][:9]

    if __name__ == "__main__":
        for call in (checks, checks):
            try:
                call(-1)
            except Wrong as error:
                print("caught", error)
        print(side(1) is Side.RIGHT, other(Side.LEFT), isinstance(pair(1), Pair), first(Pair(1)), thing(Thing()))
        print(sorted({(row.state, row.reason) for row in larder.numba.report()}))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(work, (1,)))
"""


def test_classes_of_the_script_are_its_own_also_in_code_that_is_loaded(case: Case) -> None:
    case.write("script", SCRIPT)
    same = ["caught negative", "caught negative", "True True True 1 5"]
    spawned = "(True, '1 loaded,')"
    assert case.script("script") == [*same, "[('compiled', '')]", spawned]
    assert case.script("script") == [*same, "[('loaded', '')]", spawned]
    case.edit("script", "ValueError", "TypeError")
    assert case.script("script") == [*same, "[('compiled', ''), ('loaded', '')]", spawned]


def test_equal_functions_with_classes_of_their_own_do_not_share_code(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit

        def make():
            class Wrong(Exception):
                pass

            @njit(cache=True)
            def made(x):
                if x < 0:
                    raise Wrong("negative")
                return x
            return made, Wrong

        def run():
            caught = []
            for function, wrong in [make(), make()]:
                try:
                    function(-1)
                except wrong:
                    caught.append("its own")
                except Exception:
                    caught.append("another one")
            return caught
        """,
    )
    for _ in range(2):
        ran = case.run()
        assert ran.results == ["its own", "its own"]
        assert ran.states("made")[1] == "refused"
        assert "other classes" in ran.reasons()[0]
    assert ran.states("made")[0] == "loaded"


def test_what_is_compiled_after_settings_were_changed_is_not_linked_with_what_was_compiled_before(case: Case) -> None:
    case.write(
        "m",
        """
        import numba
        import numpy as np
        from numba import njit

        @njit(cache=True)
        def g(a, i):
            return a[i]

        @njit(cache=True)
        def f(a, i):
            return g(a, i)

        def run():
            g(np.ones(3), 1)
            numba.config.BOUNDSCHECK = 1
            try:
                f(np.ones(3), 5)
            except IndexError:
                return "raised"
            return "read"
        """,
    )
    assert case.run().results == "read"
    ran = case.run()
    assert ran.states() == ["loaded", "refused"]
    assert "functions were compiled before BOUNDSCHECK of numba was changed" in ran.reasons()[0]
    case.edit("m", "g(np.ones(3), 1)", "pass")
    assert case.run().results == "raised"


def test_a_function_that_calls_itself_may_have_a_signature(case: Case) -> None:
    case.write(
        "m",
        """
        from numba import njit
        import numpy as np

        SHAPE = np.int32(1), np.float64(2.5)

        @njit("int64(int64)", cache=True)
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        @njit(cache=True)
        def outer(n):
            return fib(n) + SHAPE[0]

        def run():
            return int(outer(10))
        """,
    )
    assert [case.run().states(), case.run().states()] == [["compiled"] * 2, ["loaded"] * 2]


def test_without_a_cache_folder_functions_are_compiled_and_the_report_says_why_in_one_line(
    case: Case, real: Path
) -> None:
    case.write("m", MANY)
    (real / "file").touch()
    assert case.run().results == [5, 5.0]
    for directory in ("/proc/larder-cannot-be-made", str(real / "file")):
        ran = case.run(LARDER_CACHE=directory)
        assert ran.results == [5, 5.0]
        assert set(ran.states()) == {"refused"}
        assert all("\n" not in reason for reason in ran.reasons())
        assert any("cannot be used" in reason for reason in ran.reasons())
    shutil.rmtree(real / "cache")
    assert [case.run().results, case.run().results] == [[5, 5.0]] * 2


def test_long_names_and_types_are_cut_in_the_table() -> None:
    from larder.numba._report import Report, Row

    said = "record(" + ", ".join(f"field{i}: float64" for i in range(20)) + ")"
    report = Report([Row("module.f", said, "refused", 0.5, reason="f -> g: an address"), Row("g", "()", "loaded", 0.1)])
    head, line, other = str(report).splitlines()[1:]
    assert line.startswith("module.f  record(field0: float64,")
    assert "float64)  refused  0.500" in line
    assert line.endswith("f -> g: an address")
    assert "..." in line
    assert len(line) < 120
    assert head.index("is") == line.index("refused") == other.index("loaded")
