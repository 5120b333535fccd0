"""Test loading without the templates that only compilation needs."""

from __future__ import annotations

import json
from pathlib import Path

from numba_case import Case, needs_numba

pytestmark = needs_numba

KINDS = """
    import importlib.util
    import json
    import larder.numba
    larder.numba.install()
    import numpy as np
    from numba import njit, prange, types
    from numba.core.registry import cpu_target
    from numba.experimental import structref
    from numba.extending import overload_attribute, overload_method
    from numba.typed import Dict, List

    SOLVES = importlib.util.find_spec("scipy") is not None  # whose LAPACK numba calls

    @structref.register
    class KindType(types.StructRef):
        pass

    class Kind(structref.StructRefProxy):
        def __new__(cls, n):
            return structref.StructRefProxy.__new__(cls, n)

    structref.define_boxing(KindType, Kind)
    structref.define_constructor(Kind, KindType, ["n"])

    @overload_method(KindType, "more")
    def more(self, by):
        def impl(self, by):
            return self.n + by
        return impl

    @overload_attribute(KindType, "twice")
    def twice(self):
        def get(self):
            return self.n * 2
        return get

    @njit(cache=True)
    def own(k):
        return k.more(3) * k.twice

    @njit(cache=True)
    def texts(s):
        seen = {s: 1, s.upper(): 2}
        return len(set([hash(t) for t in seen])) + len(sorted(s.split(",")))

    @njit(cache=True)
    def solved(a):
        if SOLVES:
            return np.linalg.solve(a, np.ones(len(a))).sum() + np.dot(a, a)[0, 0]
        return np.median(a) + 1.5

    @njit(cache=True)
    def drawn(n):
        np.random.seed(n)
        return np.random.normal() + np.random.permutation(n).sum()

    @njit(cache=True)
    def listed(of):
        made = List()
        for one in of:
            made.append(one + 1)
        return made

    @njit(cache=True)
    def counted(of):
        for name in ("x", "y"):
            of[name] = of.get(name, 0) + 1
        return of

    @njit(cache=True, parallel=True)
    def wide(a):
        total = 0.0
        for i in prange(len(a)):
            total += a[i]
        return total

    DAY = np.timedelta64(1, "D")

    @njit(cache=True)
    def days(a):
        return (a.max() - a[0]) / DAY

    @njit(cache=True)
    def failing(a):
        raise ValueError("no", a)

    def caught():
        try:
            failing(1)
        except ValueError as error:
            return list(error.args)

    def plain():
        return [
            texts("b,a"),
            round(float(solved(np.eye(3) * 2)), 6),
            round(float(drawn(5)), 6),
            wide(np.arange(1000.0)),
            days(np.array(["2026-01-03", "2026-01-01"], dtype="datetime64[D]")),
            caught(),
        ]

    def more():  # it compiles functions of numba's own, too
        made = Dict.empty(types.unicode_type, types.int64)
        return [int(own(Kind(4))), list(listed(List([1, 2]))), dict(counted(made))]

    functions = [own, texts, solved, drawn, listed, counted, wide, days, failing]
    results = [plain(), plain()]
    refreshed = len(cpu_target.typing_context._registries)
    results += [more(), more()]
    before = [larder.numba.why(f).digest for f in functions]
    cpu_target.target_context.refresh()
    after = [larder.numba.why(f).digest for f in functions]
    rows = [row.state for row in larder.numba.report().rows if row.function.rpartition(".")[2] in
            [f.py_func.__name__ for f in functions]]
    print(json.dumps([results, refreshed, before, after, rows]))
"""


def test_contexts_are_refreshed_only_to_compile(real: Path, tmp_path: Path) -> None:
    """Cached functions load with the same keys without them, whatever parts of numba they use."""
    case = Case(tmp_path / "case")
    case.write("kinds", KINDS)
    results, refreshed, before, after, rows = json.loads(case.script("kinds")[-1])
    assert results[0] == results[1]
    assert results[2] == results[3]
    assert refreshed > 0
    assert before == after
    assert set(rows) == {"compiled"}
    again, refreshed, now, later, rows = json.loads(case.script("kinds")[-1])
    assert again == results
    assert now == later == before
    assert set(rows) == {"loaded"}
    assert len(rows) == len(before)
    assert refreshed == 0
