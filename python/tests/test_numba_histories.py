"""Test that earlier compilations in a process affect its later code, and no other process's code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from numba_case import SOURCES, needs_numba
from numba_graphs import program

pytestmark = needs_numba

HEAD = """
    import atexit
    import math
    import os
    import sys
    if "LARDER_CACHE" in os.environ:
        import larder.numba
        larder.numba.install()
        rows = larder.numba.report().rows
        atexit.register(lambda: [print(row, file=sys.stderr) for row in rows if row.state == "compiled"])
    import numpy as np
    from numba import njit, prange, stencil, types, vectorize
    from numba.core.errors import TypingError
    from numba.extending import intrinsic, overload, overload_attribute, register_model, models, typeof_impl, unbox

    HISTORY = sys.argv[1].split(",")

    def got(function, *args):
        try:
            return repr(function(*args))
        except (ZeroDivisionError, TypingError) as error:
            return type(error).__name__
"""

SIGNATURES = """
    SIGNATURES = ["float32(float32)", "float64(float64)"]
    if HISTORY == ["reversed"]:
        SIGNATURES.reverse()

    @njit(SIGNATURES)
    def third(x):
        return x / 3

    @njit(cache=True)
    def cached(x):
        return third(x)

    print([got(cached, np.int16(1))])
"""

NUMBAS_OWN = """
    import cmath

    @njit(fastmath=True)
    def fast(z):
        return abs(z), cmath.sqrt(z), z / (z + 1)

    @njit(cache=True)
    def cached(z):
        return abs(z), cmath.sqrt(z)

    @njit(cache=True)
    def divided(z):
        return (1 + 2j) / z

    if "fast" in HISTORY:
        fast(1j)
    z = complex(float("nan"), float("inf"))
    print([got(cached, z), got(divided, z)])
"""

INTRINSICS = """
    def impl(a, b):
        return (a + b) - a

    @intrinsic
    def added(context, x, y):
        def codegen(context, builder, sig, args):
            return context.compile_internal(builder, impl, sig, args)
        return types.float64(types.float64, types.float64), codegen

    @njit(fastmath=True)
    def fast(a, b):
        return added(a, b)

    @njit(cache=True)
    def cached(a, b):
        return added(a, b)

    if "fast" in HISTORY:
        fast(1e20, 3.0)
    print([got(cached, 1e20, 3.0)])
"""

TWINS = """
    def made(k):
        space = {"intrinsic": intrinsic, "types": types, "K": k}
        exec('''
    def impl(x):
        return x + K
    @intrinsic
    def plus(context, x):
        def codegen(context, builder, sig, args):
            return context.compile_internal(builder, impl, sig, args)
        return types.int64(types.int64), codegen
    ''', space)
        return space["plus"]

    five, seven = made(5), made(7)

    @njit
    def first(x):
        return five(x)

    @njit(cache=True)
    def cached(x):
        return seven(x)

    if "first" in HISTORY:
        first(1)
    print([got(cached, 1)])
"""

SETTINGS = """
    import decimal

    def third(x):
        pass

    @overload(third)
    def third_(x):
        k = float(decimal.Decimal(1) / decimal.Decimal(3))
        return lambda x: x + k

    def plain(x):
        return third(x)

    first, cached = njit(plain), njit(cache=True)(plain)
    if "first" in HISTORY:
        decimal.getcontext().prec = 3
        first(1)
    decimal.getcontext().prec = 10
    print([got(cached, 1)])
"""

HANDLERS = """
    import codecs

    def length(x):
        pass

    @overload(length)
    def length_(x):
        k = len("\\u1234".encode("ascii", "mine"))
        return lambda x: x + k

    def plain(x):
        return length(x)

    first, cached = njit(plain), njit(cache=True)(plain)
    if "first" in HISTORY:
        codecs.register_error("mine", lambda error: ("?", error.end))
        first(1)
    codecs.register_error("mine", lambda error: ("???", error.end))
    print([got(cached, 1)])
"""

TYPES = """
    from numba.core.pythonapi import NativeValue

    class Kind(types.Type):
        def __init__(self):
            super().__init__("Kind")

    class Value:
        pass

    kind = Kind()
    register_model(Kind)(models.OpaqueModel)

    @typeof_impl.register(Value)
    def typed(value, c):
        return kind

    @unbox(Kind)
    def unboxed(kind, value, c):
        return NativeValue(c.context.get_dummy_value())

    @overload_attribute(Kind, "held")
    def held(of):
        found = of.table["a"][0]
        return lambda of: found

    @njit
    def first(v):
        return v.held

    @njit(cache=True)
    def cached(v):
        return v.held

    kind.table = {"a": [2]}
    if "first" in HISTORY:
        kind.table["a"][0] = 1
        first(Value())
        kind.table["a"][0] = 2
    print([got(cached, Value())])
"""

FLAGS = """
    @njit
    def inverse(x):
        return 1.0 / x

    @njit(cache=True)
    def usual(x):
        return inverse(x)

    @njit(cache=True, error_model="numpy")
    def other(x):
        return inverse(x)

    @njit
    def uncached(x):
        return inverse(x)

    functions = {"usual": usual, "other": other, "uncached": uncached, "inverse": inverse}
    print([got(functions[name], 0.0) for name in HISTORY])
"""

FLAGS_NEXT = """
    @njit(cache=True)
    def inverse(x):
        return 1.0 / x

    @njit
    def through(x):
        return inverse(x) + 1

    @njit(cache=True)
    def least(a):
        return inverse(a[0])

    @njit(cache=True)
    def most(a):
        return through(a[1]), through(np.float32(a[2]))

    @stencil
    def shifted(a):
        return inverse(a[-1])

    @njit(cache=True, error_model="numpy")
    def stenciled(a):
        return shifted(a)

    @vectorize(["float64(float64)"], cache=True)
    def each(x):
        return through(x)

    @vectorize
    def lazy(x):
        return through(x)

    @njit(cache=True)
    def called(a):
        return lazy(a)

    @njit(cache=True, parallel=True)
    def loop(a):
        made = np.zeros(len(a))
        for i in prange(len(a)):
            made[i] = inverse(a[i])
        return made

    @njit(cache=True, fastmath=True)
    def fast(a):
        return through(a[0] + a[1] - a[1])

    zeros = np.zeros(3)
    print([got(globals()[n], 0.0 if n in ("inverse", "through") else zeros) for n in HISTORY])
"""

KERNELS = """
    G = 1

    @vectorize
    def plus(x):
        return x + G

    @njit(cache=True)
    def one(x):
        return plus(x)

    @njit(cache=True)
    def total(x):
        return plus(x).sum()

    if "first" in HISTORY:
        plus(np.arange(3))
    G = 2
    print([got(one, 1), got(total, np.arange(3))])
"""

CACHED_KERNELS = """
    G = 1

    @vectorize(cache=True)
    def plus(x):
        return x + G

    @njit(cache=True)
    def total(x):
        return plus(x).sum()

    if "first" in HISTORY:
        plus(np.arange(3))
    G = 2
    print([got(plus, 1.5), got(plus, np.arange(3)), got(total, np.arange(3))])
"""

FLAGS_OF_KERNELS = """
    @njit
    def inverse(x):
        return 1.0 / x

    @njit
    def plain(x):
        return inverse(x)

    def each(x):
        return vectorize(["float64(float64)"], cache=True)(lambda x: inverse(x))(x)

    functions = {"each": each, "plain": plain}
    print([got(functions[name], 0.0) for name in HISTORY])
"""

FLAGS_BEFORE = """
    @njit(cache=True)
    def one(x):
        return (x + 1e20) - 1e20

    @njit
    def two(x):
        return one(x)

    @njit(cache=True, fastmath=True)
    def bad(x):
        return two(x).missing

    @njit(cache=True, fastmath=True)
    def fast(x):
        return two(x)

    @njit(cache=True)
    def plain(x):
        return one(x)

    @njit(cache=True)
    def deep(x):
        return two(x)

    @njit(fastmath=True, inline="always")
    def inlined(x):
        return one(x)

    @njit(cache=True)
    def around(x):
        return inlined(x)

    def api(x):
        pass

    @overload(api)
    def api_(x):
        return lambda x: one(x)

    @njit(cache=True)
    def over(x):
        return api(x)

    @njit(cache=True, fastmath=True)
    def fast_over(x):
        return api(x)

    @njit(cache=True)
    def over_too(x):
        return api(x) + 0.5

    print([got(globals()[name], 1.0) for name in HISTORY])
"""

FLAGS_OF_STARS = """
    @njit(cache=True)
    def star(x, *more):
        return (x + 1e20) - 1e20

    @vectorize(["float64(float64)"], cache=True, fastmath=True)
    def each(x):
        return star(x, 1, x)

    @njit
    def uncached(x):
        return star(x, 1, x)

    @njit(cache=True)
    def cached(x):
        return uncached(x) + 0.5

    def tuples(x):
        return star(x, 1, x)

    print([got(globals()[name], 1.0) for name in HISTORY])
"""

FLAGS_OF_LOOPS = """
    @vectorize
    def each(x):
        return (x + 1e20) - 1e20

    @njit(fastmath=True, cache=True)
    def fast(x):
        return each(x)

    @njit(cache=True)
    def plain(x):
        return each(x) + 0.5

    @njit
    def other(x):
        return each(x) + 0.25

    print([got(globals()[name], 1.0) for name in HISTORY])
"""

ORDER_OF_LOOPS = """
    @njit
    def inverse(x):
        return 1.0 / x

    @vectorize
    def each(x):
        return inverse(x)

    @njit(cache=True)
    def before(x):
        return inverse(x) + each(x)

    @njit(cache=True)
    def after(x):
        return each(x) + inverse(x)

    print([got(globals()[name], 0.0) for name in HISTORY])
"""

CALLEES_LATER = """
    @vectorize
    def each(x):
        return x + 1

    @njit(cache=True)
    def callee(x):
        return each(x)

    @njit(cache=True)
    def caller(x):
        return callee(x) + callee(np.int64(x)) + callee(np.float32(x))

    print([got(globals()[name], 1.0) for name in HISTORY])
"""

COMPILERS = """
    def two(x):
        return x + 2

    @njit
    def inner(x):
        return x + 1

    @njit(cache=True)
    def cached(x):
        return inner(x)

    if "first" in HISTORY:
        inner._compiler.py_func = two
    print([got(cached, 1)])
"""

FAILED = """
    K = "text"

    def plus(x):
        return x + K

    first, second = njit(cache=True)(plus), njit(cache=True)(plus)
    found = [got(first, 1.5)] if "first" in HISTORY else []
    K = 2
    print([*found, got(first, 1.5), got(second, 1.5)])
"""

REGISTERED_ORDER = """
    import operator
    from numba.extending import overload_method

    def first(array, *others):
        return lambda array, *others: array.size + 1

    def second(array, *others):
        return lambda array, *others: array.size + 2

    for made in [second, first] if HISTORY == ["reversed"] else [first, second]:
        overload_method(types.Array, "counted")(made)
        overload_attribute(types.Array, "count")(lambda array, made=made: made(array))
        overload(operator.matmul)(made)

    @njit(cache=True)
    def method(array):
        return array.counted()

    @njit(cache=True)
    def attribute(array):
        return array.count

    @njit(cache=True)
    def operated(array):
        return array @ "text"

    print([got(cached, np.zeros(3)) for cached in (method, attribute, operated)])
"""

EQUAL_NAMES = """
    from collections import namedtuple
    from numba import typed

    one, other = namedtuple("Pair", "x y"), namedtuple("Pair", "y x")

    @njit(cache=True)
    def summed(pairs):
        found = 0
        for pair in pairs:
            found += pair.x
        return found

    @njit(cache=True)
    def zipped(pairs):
        found = 0
        for pair, (at, again) in zip(pairs, enumerate(pairs)):
            found += 10 * pair.x + again.y + at
        return found

    @njit(cache=True)
    def copied(array):
        return array.copy()

    two = np.zeros(1, [("a", np.int64), ("b", np.int64)])
    named = "a[type=int64;offset=0],b"
    like = np.zeros(1, {"names": [named], "formats": [np.int64], "offsets": [8], "itemsize": 16})
    if "first" in HISTORY:
        copied(two)
        before = typed.List([one(1, 2)])
        summed(before), zipped(before)
    pairs = typed.List([other(1, 2)])
    print([got(summed, pairs), got(zipped, pairs), got(lambda: copied(like).dtype.names)])
"""

EQUAL_VALUES = """
    @njit(cache=True)
    def sign(x, y=-0.0, z=-0j):
        return math.copysign(x, y), math.copysign(x, z.real)

    @njit(cache=True)
    def numbers(y=(1.0, True)):
        return y

    @njit(cache=True)
    def others(x, y=0.0, z=0j, w=(1, 1)):
        return x + y + w[0], z

    @njit(cache=True)
    def cached(x):
        return sign(x), numbers()

    if "first" in HISTORY:
        others(1.0)
        sign(1.0, 0.0, 0j)
    print([got(cached, 1.0)])
"""

GENERATORS = """
    @njit(cache=True)
    def steps(x):
        yield x
        yield x / 2

    @njit(cache=True)
    def one(x):
        found = 0.0
        for step in steps(x):
            found += step
        return found

    @njit(cache=True)
    def outer(x):
        return one(x) + 1

    @njit(cache=True)
    def other(x):
        found = 1.0
        for step in steps(x):
            found += step
        return found

    def listed(x):
        return list(steps(x))

    print([got(globals()[name], 2.0) for name in HISTORY])
"""

HISTORIES = {
    "signatures in another order": (SIGNATURES, ["-", "reversed", "-"]),
    "numba's own functions with flags of others": (NUMBAS_OWN, ["fast", "-", "fast"]),
    "intrinsics with flags of others": (INTRINSICS, ["fast", "-", "fast"]),
    "equal code with other globals": (TWINS, ["first", "-", "first"]),
    "overloads that ran with other settings": (SETTINGS, ["first", "-", "first"]),
    "overloads that ran with other handlers of errors": (HANDLERS, ["first", "-", "first"]),
    "types that held something else": (TYPES, ["first", "-", "first"]),
    "flags of callers": (FLAGS, ["other", "uncached,other", "usual"]),
    "flags of callers that were loaded": (
        FLAGS,
        [
            "usual",
            "usual,other",
            "uncached,other",
            "other",
            "other,uncached",
            "other,inverse,usual",
            "usual,uncached,other",
        ],
    ),
    "flags for what is called next": (
        FLAGS_NEXT,
        [
            *("each,through,inverse", "each,least,most", "most,inverse,each", "called,through", "called,most"),
            *("fast,each,most", "stenciled,loop,through,most,called", "most"),
        ],
    ),
    "kernels that were compiled before": (KERNELS, ["first", "-", "first"]),
    "kernels that are cached": (CACHED_KERNELS, ["first", "-", "first", "-"]),
    "flags of kernels": (FLAGS_OF_KERNELS, ["each", "plain,each", "each", "plain,each"]),
    "flags of what was compiled before": (
        FLAGS_BEFORE,
        [
            *("deep,bad,plain", "plain,bad,deep", "plain,fast", "over,over_too", "over_too,bad,plain,fast"),
            *("bad,over,plain", "fast,around", "around", "around,bad,plain", "fast_over,over", "over,fast_over"),
        ],
    ),
    "flags of functions of any number of arguments": (
        FLAGS_OF_STARS,
        ["each,tuples,uncached", "cached,each,tuples,uncached", "cached,each,tuples,uncached", "tuples,cached"],
    ),
    "flags of loops": (FLAGS_OF_LOOPS, ["fast,plain", "other,plain", "plain,fast", "each,plain,fast", "fast,each"]),
    "flags of what loops call": (ORDER_OF_LOOPS, ["before,each", "after,each", "before,inverse,each", "before,each"]),
    "callees that are called later": (CALLEES_LATER, ["caller,callee", "callee,each,caller", "each,caller,callee"]),
    "overloads in another order": (REGISTERED_ORDER, ["-", "reversed", "-"]),
    "types that have the names of others": (EQUAL_NAMES, ["first", "-", "first"]),
    "values that are equal to others": (EQUAL_VALUES, ["first", "-", "first"]),
    "generators": (GENERATORS, ["one", "other,listed", "listed,one", "outer,other", "one,listed,outer"]),
    "what could not be compiled": (FAILED, ["first", "-", "first"]),
    "another function for the compiler": (COMPILERS, ["first", "-", "first"]),
}

OTHERS = {
    ("numba's own functions with flags of others", "fast"): "-",
    ("intrinsics with flags of others", "fast"): "-",
    ("equal code with other globals", "first"): "-",
    ("types that have the names of others", "first"): "-",
    ("values that are equal to others", "first"): "-",
}
"""The correct results where numba without a cache reuses a compilation for another function."""


def _ran(directory: Path, history: str, cached: bool) -> tuple[list[str], str]:
    """Return what a program prints, and what was compiled for the cache."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([SOURCES, os.environ.get("PYTHONPATH", "")])}
    if not cached:
        del environment["LARDER_CACHE"]
        environment["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(dir=directory)  # numba's own cache is empty each time
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "program.py", history],
        env=environment,
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = ast.literal_eval(done.stdout)
    return found, done.stderr


@pytest.mark.parametrize("name", HISTORIES)
def test_code_is_what_a_process_without_a_cache_has(name: str, real: Path, tmp_path: Path) -> None:
    text, histories = HISTORIES[name]
    (tmp_path / "program.py").write_text(textwrap.dedent(HEAD) + textwrap.dedent(text))
    right = {history: _ran(tmp_path, history, cached=False)[0] for history in set(histories)}
    assert len({str(found) for found in right.values()}) > 1
    first = ""
    for history in histories:
        found, compiled = _ran(tmp_path, history, cached=True)
        assert found == right[OTHERS.get((name, history), history)], history
        first += compiled
    assert first != ""
    for history in set(histories):
        found, compiled = _ran(tmp_path, history, cached=True)
        assert found == right[OTHERS.get((name, history), history)], f"{history}, again"
        assert compiled == "", f"{history}, again"


SEED = int(os.environ.get("LARDER_SEED", 0))


@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_programs_that_are_drawn_are_what_they_are_without_a_cache(seed: int, real: Path, tmp_path: Path) -> None:
    """LARDER_SEED selects other programs."""
    text, histories = program(seed)
    (tmp_path / "program.py").write_text(textwrap.dedent(HEAD) + text)
    for history in histories:
        right, _ = _ran(tmp_path, history, cached=False)
        assert _ran(tmp_path, history, cached=True)[0] == right, f"{history} of\n{text}"
        assert _ran(tmp_path, history, cached=True)[0] == right, f"{history}, again, of\n{text}"
