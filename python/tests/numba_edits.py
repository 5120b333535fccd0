"""Edits of programs with compiled functions, with the expected effect of each on results.

Each edit is a separate package with a module `m`, in which `run` calls compiled functions. So all
can be tested in two processes: one before all edits, one after.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """A program and its changes between two runs."""

    name: str
    files: dict[str, str]
    changes: tuple[tuple[str, str, str], ...] = ()
    """Files, with a string in each and its replacement."""
    differs: bool = True
    """Whether the result changes."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables of the second run only; such edits run separately."""
    alone: bool = False
    """Whether it changes state that other edits in the process would see, so that it runs separately."""

    @property
    def nothing(self) -> bool:
        """Report whether it changes nothing that is compiled, so that nothing needs to be compiled again."""
        return self.name.startswith("edit_same_")

    def write(self, directory: Path) -> None:
        """Write the program as it is before the edit."""
        place = directory / self.name
        place.mkdir(parents=True)
        (place / "__init__.py").touch()
        for name, text in self.files.items():
            (place / f"{name}.py").write_text(textwrap.dedent(text))

    def apply(self, directory: Path) -> None:
        """Edit the program."""
        for name, before, after in self.changes:
            path = directory / self.name / f"{name}.py"
            text = path.read_text()
            if before not in text:
                raise ValueError(f"{self.name}: there is no {before!r} in {name}")
            path.write_text(text.replace(before, after))


EDITS: list[Edit] = []

_HEAD = "# nothing\nimport math\nimport numpy as np\nfrom numba import njit, types\n"


def _edit(
    name: str, m: str, *changes: tuple[str, str, str], differs: bool = True, alone: bool = False, **files: str
) -> None:
    made = {file: _HEAD + textwrap.dedent(text) for file, text in {"m": m, **files}.items()}
    EDITS.append(Edit("edit_" + name.replace(" ", "_"), made, changes, differs, alone=alone))


# A function that calls another one in a separate file.
_CALLER = """
from . import dep
@njit(cache=True)
def f(x):
    return dep.g(x) + 1.0
def run():
    return f(2.0)
"""
_CALLEE = "K = 2.0\n@njit\ndef g(x):\n    return x * K\n"

# A single function.
_ALONE = """
K = 2.0
@njit(cache=True)
def f(x):
    return x * K
def run():
    return f(3.0)
"""


def _of_callees() -> None:
    _edit("callee body", _CALLER, ("dep", "x * K", "x - K"), dep=_CALLEE)
    _edit("callee constant", _CALLER, ("dep", "K = 2.0", "K = 3.0"), dep=_CALLEE)
    _edit("callee literal", _CALLER, ("dep", "* 2.5", "* 3.5"), dep="@njit\ndef g(x):\n    return x * 2.5\n")
    _edit(
        "callee that is cached",
        _CALLER,
        ("dep", "K = 2.0", "K = 3.0"),
        dep=_CALLEE.replace("@njit", "@njit(cache=True)"),
    )
    _edit(
        "callee by name",
        _CALLER.replace("from . import dep", "from .dep import g").replace("dep.g", "g"),
        ("dep", "x * K", "x - K"),
        dep=_CALLEE,
    )
    _edit(
        "callee by alias",
        _CALLER.replace("dep.g(x)", "h(x)").replace("import dep", "import dep\nh = dep.g"),
        ("dep", "x * K", "x - K"),
        dep=_CALLEE,
    )
    deep = "from . import deep\n@njit\ndef g(x):\n    return deep.h(x)\n"
    _edit(
        "callee of callee", _CALLER, ("deep", "x + 1", "x + 2"), dep=deep, deep="@njit\ndef h(x):\n    return x + 1\n"
    )
    _edit(
        "constant of callee of callee",
        _CALLER,
        ("deep", "C = 5", "C = 6"),
        dep=deep,
        deep="C = 5\n@njit\ndef h(x):\n    return x + C\n",
    )
    _edit(
        "constant three modules away",
        _CALLER,
        ("far", "C = 5", "C = 6"),
        dep=deep,
        deep="from . import far\n@njit\ndef h(x):\n    return x + far.C\n",
        far="C = 5\n",
    )
    _edit("callee default", _CALLER, ("dep", "y=1.0", "y=4.0"), dep="@njit\ndef g(x, y=1.0):\n    return x + y\n")
    _edit(
        "which callee",
        _CALLER,
        ("dep", "g = one", "g = two"),
        dep="@njit\ndef one(x):\n    return x + 1\n@njit\ndef two(x):\n    return x + 2\ng = one\n",
    )
    _edit(
        "callee chosen by flag",
        _CALLER,
        ("dep", "FAST = True", "FAST = False"),
        dep="FAST = True\nif FAST:\n    @njit\n    def g(x):\n        return x\nelse:\n    @njit\n    def g(x):\n        return -x\n",
    )
    _edit(
        "callee that is a plain function made jitable",
        _CALLER,
        ("dep", "x * 3", "x * 4"),
        dep="from numba.extending import register_jitable\n@register_jitable\ndef g(x):\n    return x * 3\n",
    )
    _edit(
        "constant of jitable callee",
        _CALLER,
        ("dep", "C = 3", "C = 4"),
        dep="from numba.extending import register_jitable\nC = 3\n@register_jitable\ndef g(x):\n    return x * C\n",
    )
    _edit(
        "inlined callee",
        _CALLER,
        ("dep", "x * 3", "x * 4"),
        dep="@njit(inline='always')\ndef g(x):\n    return x * 3\n",
    )
    _edit(
        "constant of inlined callee",
        _CALLER,
        ("dep", "C = 3", "C = 4"),
        dep="C = 3\n@njit(inline='always')\ndef g(x):\n    return x * C\n",
    )
    _edit(
        "vectorized callee",
        _CALLER,
        ("dep", "x * 3", "x * 4"),
        dep="from numba import vectorize\n@vectorize\ndef g(x):\n    return x * 3\n",
    )
    _edit(
        "callee by package",
        _CALLER.replace("from . import dep", "from . import sub").replace("dep.g", "sub.dep.g"),
        ("dep", "x * K", "x - K"),
        dep=_CALLEE,
        sub="from . import dep\n",
    )
    _edit(
        "recursive callee",
        _CALLER,
        ("dep", "+ 1)", "+ 2)"),
        dep="@njit\ndef g(x):\n    if x <= 0.0:\n        return 0.0\n    return (g(x - 1.0) + 1)\n",
    )
    _edit(
        "callee next to the callee",
        _CALLER,
        ("dep", "return x * 5.0", "return x * 6.0"),
        dep="@njit\ndef g(x):\n    if x <= 0.0:\n        return 1.0\n    return h(x - 1.0)\n"
        "@njit\ndef h(x):\n    return x * 5.0\n",
    )


def _of_constants() -> None:
    _edit("own global", _ALONE, ("m", "K = 2.0", "K = 4.0"))
    _edit("own global of another type", _ALONE, ("m", "K = 2.0", "K = 2"), differs=False)
    _edit(
        "global of module",
        _ALONE.replace("K = 2.0", "from . import dep").replace("x * K", "x * dep.K"),
        ("dep", "K = 2.0", "K = 5.0"),
        dep="K = 2.0\n",
    )
    _edit(
        "global that was imported",
        _ALONE.replace("K = 2.0", "from .dep import K"),
        ("dep", "K = 2.0", "K = 5.0"),
        dep="K = 2.0\n",
    )
    _edit(
        "global that is computed",
        _ALONE.replace("K = 2.0", "from .dep import K"),
        ("dep", "len('ab')", "len('abc')"),
        dep="K = len('ab')\n",
    )
    _edit(
        "small array",
        _ALONE.replace("K = 2.0", "K = np.array([1.0, 2.0])").replace("x * K", "x * K[1]"),
        ("m", "[1.0, 2.0]", "[1.0, 3.0]"),
    )
    _edit(
        "array in another module",
        _ALONE.replace("K = 2.0", "from . import dep").replace("x * K", "x * dep.A[1]"),
        ("dep", "[1.0, 2.0]", "[1.0, 3.0]"),
        dep="A = np.array([1.0, 2.0])\n",
    )
    _edit(
        "type of an array",
        _ALONE.replace("K = 2.0", "K = np.array([1, 300])").replace("x * K", "x * (K[1] + K[0])"),
        ("m", "[1, 300])", "[1, 300]).astype(np.uint8)"),
    )
    _edit(
        "order of an array",
        _ALONE.replace("K = 2.0", "K = np.array([[1., 2.], [3., 4.]])").replace("x * K", "x * K.T.ravel()[1]"),
        ("m", "4.]])", "4.]]).T.copy()"),
    )
    _edit(
        "tuple",
        _ALONE.replace("K = 2.0", "K = (1.0, 2.0)").replace("x * K", "x * K[1]"),
        ("m", "(1.0, 2.0)", "(1.0, 7.0)"),
    )
    _edit(
        "tuple in a tuple",
        _ALONE.replace("K = 2.0", "K = ((1.0, 2.0), 3.0)").replace("x * K", "x * K[0][1]"),
        ("m", "2.0)", "7.0)"),
    )
    _edit(
        "named tuple",
        _ALONE.replace(
            "K = 2.0", "from collections import namedtuple\nP = namedtuple('P', 'a b')\nK = P(1.0, 2.0)"
        ).replace("x * K", "x * K.a"),
        ("m", "P(1.0, 2.0)", "P(6.0, 2.0)"),
    )
    _edit(
        "fields of a named tuple",
        _ALONE.replace(
            "K = 2.0", "from collections import namedtuple\nP = namedtuple('P', 'a b')\nK = P(1.0, 2.0)"
        ).replace("x * K", "x * K.a"),
        ("m", "'a b'", "'b a'"),
    )
    _edit("text", _ALONE.replace("K = 2.0", "K = 'ab'").replace("x * K", "x * len(K)"), ("m", "'ab'", "'abc'"))
    _edit(
        "bool", _ALONE.replace("K = 2.0", "K = True").replace("x * K", "x if K else -x"), ("m", "K = True", "K = False")
    )
    _edit(
        "none",
        _ALONE.replace("K = 2.0", "K = None").replace(
            "return x * K", "if K is None:\n        return 0.0\n    return x * 2.0"
        ),
        ("m", "K = None", "K = 2.0"),
    )
    enum = "import enum\nclass E(enum.IntEnum):\n    A = 1\n    B = 2\n"
    _edit(
        "member of an enum",
        _ALONE.replace("K = 2.0", enum).replace("x * K", "x if E.B == 2 else -x"),
        ("m", "B = 2", "B = 9"),
    )
    _edit(
        "enum of another module",
        _ALONE.replace("K = 2.0", "from .dep import E").replace("x * K", "x if E.B == 2 else -x"),
        ("dep", "B = 2", "B = 9"),
        dep=enum,
    )
    _edit(
        "enum by value",
        _ALONE.replace("K = 2.0", enum.replace("IntEnum", "Enum")).replace("x * K", "x * E.B.value"),
        ("m", "B = 2", "B = 9"),
    )
    _edit(
        "dtype",
        _ALONE.replace("K = 2.0", "D = np.int64").replace("x * K", "np.zeros(2, D).itemsize * x"),
        ("m", "np.int64", "np.int16"),
    )
    _edit("scalar of numpy", _ALONE.replace("K = 2.0", "K = np.float64(2)"), ("m", "np.float64(2)", "np.float64(5)"))
    _edit(
        "minus zero",
        _ALONE.replace("K = 2.0", "K = 0.0").replace("x * K", "math.copysign(x, K)"),
        ("m", "K = 0.0", "K = -0.0"),
    )
    _edit("complex", _ALONE.replace("K = 2.0", "K = 1 + 2j").replace("x * K", "(x * K).imag"), ("m", "2j", "3j"))
    _edit("literal", _ALONE.replace("x * K", "x * 2.5"), ("m", "2.5", "3.5"))
    _edit(
        "record",
        _ALONE.replace("K = 2.0", "K = np.array([(1, 2.0)], dtype=[('a', 'i4'), ('b', 'f8')])").replace(
            "x * K", "x * K[0].b"
        ),
        ("m", "(1, 2.0)", "(1, 6.0)"),
    )

    _edit(
        "number of a class of its own",
        _ALONE.replace("K = 2.0", "class N(int):\n    pass\nK = N(2)"),
        ("m", "N(2)", "N(5)"),
    )
    _edit(
        "text of a class of its own",
        _ALONE.replace("K = 2.0", "class N(str):\n    pass\nK = N('ab')").replace("x * K", "x * len(K)"),
        ("m", "'ab'", "'abc'"),
    )

    swapped = "A, B = 2.0, 3.0\n@njit(cache=True)\ndef f(x):\n    t = x * A - B\n    g = lambda y: y * A\n    return t + g(x)\ndef run():\n    return f(3.0)\n"
    _edit("which global an inner function reads", swapped, ("m", "y * A", "y * B"))
    _edit("which of two globals", swapped, ("m", "x * A - B", "x * B - A"))


def _of_closures() -> None:
    made = """
    def make(k):
        @njit(cache=True)
        def f(x):
            return x * k
        return f
    f = make(2.0)
    def run():
        return f(3.0)
    """
    _edit("captured number", made, ("m", "make(2.0)", "make(3.0)"))
    inner = """
    from .dep import g
    def make(h):
        @njit(cache=True)
        def f(x):
            return h(x) + 1
        return f
    f = make(g)
    def run():
        return f(3.0)
    """
    _edit("captured function", inner, ("dep", "x * K", "x - K"), dep=_CALLEE)
    _edit("constant of a captured function", inner, ("dep", "K = 2.0", "K = 3.0"), dep=_CALLEE)
    _edit(
        "captured tuple",
        made.replace("x * k", "x * k[0]").replace("make(2.0)", "make((2.0, 1))"),
        ("m", "(2.0, 1)", "(3.0, 1)"),
    )
    _edit(
        "function of a factory in another module",
        """
    from . import dep
    f = njit(cache=True)(dep.make(2.0))
    def run():
        return f(3.0)
    """,
        ("dep", "x * k", "x - k"),
        dep="def make(k):\n    def f(x):\n        return x * k\n    return f\n",
    )
    _edit(
        "captured two deep",
        """
    def outer(k):
        def make():
            @njit
            def g(x):
                return x * k
            @njit(cache=True)
            def f(x):
                return g(x)
            return f
        return make()
    f = outer(2.0)
    def run():
        return f(3.0)
    """,
        ("m", "outer(2.0)", "outer(4.0)"),
    )


def _of_text() -> None:
    text = """
    from . import dep
    space = {"njit": njit, "__name__": __name__, **vars(dep)}
    exec(dep.TEXT, space)
    f = space["f"]
    def run():
        return f(3.0)
    """
    source = "TEXT = '''\n@njit(cache=True)\ndef f(x):\n    return x * 2.0\n'''\n"
    _edit("generated text", text, ("dep", "2.0", "3.0"), dep=source)
    _edit("generated text of an operator", text, ("dep", "x * 2.0", "x + 2.0"), dep=source)
    _edit(
        "what generated text calls",
        text,
        ("dep", "return x - 1", "return x - 2"),
        dep="@njit\ndef g(x):\n    return x - 1\n" + source.replace("x * 2.0", "g(x)"),
    )
    _edit(
        "constant of generated text", text, ("dep", "K = 2.0", "K = 3.0"), dep="K = 2.0\n" + source.replace("2.0", "K")
    )
    _edit(
        "generated text without a module",
        text.replace('"__name__": __name__, ', "").replace("**vars(dep)", '"K": dep.K'),
        ("dep", "K = 2.0", "K = 3.0"),
        dep="K = 2.0\n" + source.replace("2.0", "K"),
    )


def _of_options() -> None:
    total = """
    @njit(cache=True)
    def f(a):
        t = np.float32(0.0)
        for i in range(a.size):
            t += a[i]
        return t
    def run():
        return float(f((np.arange(100000) * 0.37).astype(np.float32)))
    """
    _edit("fastmath", total, ("m", "cache=True", "cache=True, fastmath=True"))
    divides = """
    @njit(cache=True)
    def f(x, y):
        return x / y
    def run():
        try:
            return str(f(1.0, 0.0))
        except ZeroDivisionError:
            return "raised"
    """
    _edit("error model", divides, ("m", "cache=True", "cache=True, error_model='numpy'"))
    checks = """
    @njit(cache=True)
    def f(a, i):
        return a[i]
    def run():
        try:
            f(np.zeros(4)[:2], 3)
            return "read"
        except IndexError:
            return "raised"
    """
    _edit("boundscheck", checks, ("m", "cache=True", "cache=True, boundscheck=True"))
    _edit(
        "error model of a callee",
        """
    from . import dep
    @njit(cache=True, error_model="numpy")
    def f(x, y):
        return dep.g(x, y)
    def run():
        try:
            return str(f(1.0, 0.0))
        except ZeroDivisionError:
            return "raised"
    """,
        ("dep", "@njit", "@njit(error_model='python')"),
        dep="@njit\ndef g(x, y):\n    return x / y\n",
    )
    _edit(
        "types of variables",
        """
    @njit(cache=True, locals={"y": types.float64})
    def f(x):
        y = x / 3
        return y
    def run():
        return f(1.0)
    """,
        ("m", "types.float64", "types.float32"),
    )
    _edit(
        "signature",
        """
    @njit("float64(float64)", cache=True)
    def f(x):
        return x / 3
    def run():
        return f(1.0)
    """,
        ("m", "float64(float64)", "float32(float64)"),
    )
    _edit(
        "signature of a callee",
        _CALLER,
        ("dep", "float64(float64)", "float32(float64)"),
        dep="@njit('float64(float64)')\ndef g(x):\n    return x / 3\n",
    )
    _edit(
        "fastmath of a callee",
        """
    from . import dep
    @njit(cache=True)
    def f(a):
        return dep.g(a)
    def run():
        return float(f((np.arange(100000) * 0.37).astype(np.float32)))
    """,
        ("dep", "@njit", "@njit(fastmath=True)"),
        dep="""
@njit
def g(a):
    t = np.float32(0.0)
    for i in range(a.size):
        t += a[i]
    return t
""",
    )

    loop = """
    from numba import prange
    from . import dep
    @njit(cache=True, parallel=True)
    def f(n):
        made = np.zeros(n)
        for i in prange(n):
            made[i] = dep.g(i)
        return made
    def run():
        return bool(f(1)[0] == np.inf)
    """
    over = "@njit\ndef g(x):\n    return 1.0 / x\n"
    python = ("dep", "@njit", "@njit(error_model='python')")
    _edit("usual error model of what a loop calls", loop, python, dep=over)
    total = """
    from . import dep
    @njit(cache=True, fastmath=True)
    def f(a):
        return dep.g(a)
    def run():
        return float(f((np.arange(100000) * 0.37).astype(np.float32)))
    """
    sums = """
@njit
def g(a):
    t = np.float32(0.0)
    for i in range(a.size):
        t += a[i]
    return t
"""
    _edit("usual fastmath of a callee", total, ("dep", "@njit", "@njit(fastmath=False)"), dep=sums)


def _of_extensions() -> None:
    overload = """
from numba.extending import overload
C = 2.0
def g(x):
    return None
@overload(g)
def of_g(x):
    def made(x):
        return x * C
    return made
"""
    _edit("body of an overload", _CALLER, ("dep", "x * C", "x - C"), dep=overload)
    _edit("constant of an overload", _CALLER, ("dep", "C = 2.0", "C = 3.0"), dep=overload)
    _edit(
        "callee of an overload",
        _CALLER,
        ("dep", "x * 2.5", "x * 3.5"),
        dep=overload.replace("x * C", "helper(x)").replace(
            "def g(x)", "@njit\ndef helper(x):\n    return x * 2.5\ndef g(x)"
        ),
    )
    intrinsic = """
from numba.extending import intrinsic
C = 3.0
@intrinsic
def g(context, x):
    def code(context, builder, signature, arguments):
        return builder.fmul(arguments[0], context.get_constant(types.float64, C))
    return types.float64(types.float64), code
"""
    _edit("body of an intrinsic", _CALLER, ("dep", "fmul", "fadd"), dep=intrinsic)
    _edit("constant of an intrinsic", _CALLER, ("dep", "C = 3.0", "C = 4.0"), dep=intrinsic)
    _edit(
        "method of arrays",
        """
    from . import dep
    @njit(cache=True)
    def f(a):
        return a.first_of_it()
    def run():
        return f(np.arange(3.0) + 1)
    """,
        ("dep", "a[0] * 2", "a[0] * 3"),
        dep="""
from numba.extending import overload_method
@overload_method(types.Array, "first_of_it")
def first(a):
    def made(a):
        return a[0] * 2
    return made
""",
    )
    _edit(
        "attribute of arrays",
        """
    from . import dep
    @njit(cache=True)
    def f(a):
        return a.twice_size
    def run():
        return f(np.arange(3.0) + 1)
    """,
        ("dep", "a.size * 2", "a.size * 3"),
        dep="""
from numba.extending import overload_attribute
@overload_attribute(types.Array, "twice_size")
def twice(a):
    def made(a):
        return a.size * 2
    return made
""",
    )


def _of_classes() -> None:
    _edit(
        "class of jitclass",
        """
    from .dep import Box
    @njit(cache=True)
    def f(x):
        return Box(x).twice()
    def run():
        return f(3.0)
    """,
        ("dep", "self.x * 2", "self.x * 3"),
        dep="""
from numba import float64
from numba.experimental import jitclass
@jitclass([("x", float64)])
class Box:
    def __init__(self, x):
        self.x = x
    def twice(self):
        return self.x * 2
""",
    )
    _edit(
        "class of named tuples",
        """
    from .dep import P
    @njit(cache=True)
    def f(p):
        return p.a - p.b
    def run():
        return f(P(3.0, 1.0))
    """,
        ("dep", "'a b'", "'b a'"),
        dep="from collections import namedtuple\nP = namedtuple('P', 'a b')\n",
    )
    _edit(
        "error that is raised",
        """
    from .dep import Bad
    @njit(cache=True)
    def f(x):
        if x > 1:
            raise Bad("x", 1)
        return x
    def run():
        try:
            return f(3.0)
        except Exception as error:
            return type(error).__name__ + str(error)
    """,
        ("m", '"x", 1', '"y", 1'),
        dep="class Bad(Exception):\n    pass\n",
    )
    _edit(
        "struct",
        """
    from . import dep
    @njit(cache=True)
    def f(x):
        return dep.total(dep.S(x, 2.0))
    def run():
        return f(3.0)
    """,
        ("dep", "s.a + s.b", "s.a - s.b"),
        dep="""
from numba.experimental import structref
@structref.register
class SType(types.StructRef):
    pass
class S(structref.StructRefProxy):
    pass
structref.define_proxy(S, SType, ["a", "b"])
@njit
def total(s):
    return s.a + s.b
""",
    )


def _of_types() -> None:
    typed = """
    from . import dep
    @njit(cache=True)
    def f(a):
        return a[0] / a[1]
    def run():
        return float(f(np.array([1, 3], dep.D)))
    """
    _edit("type of an argument", typed, ("dep", "float64", "float32"), dep="D = np.float64\n")
    _edit(
        "order of an argument",
        """
    from . import dep
    @njit(cache=True)
    def f(a):
        return a.ravel()[1]
    def run():
        return float(f(np.asarray(np.arange(4.0).reshape(2, 2), order=dep.ORDER).T))
    """,
        ("dep", "'C'", "'F'"),
        dep="ORDER = 'C'\n",
        differs=False,
    )
    _edit(
        "records of another layout",
        """
    from . import dep
    @njit(cache=True)
    def f(a):
        return a[0].b
    def run():
        return float(f(np.array([(1, 2)], dep.D)))
    """,
        ("dep", "('a', 'i4'), ('b', 'i4')", "('b', 'i4'), ('a', 'i4')"),
        dep="D = np.dtype([('a', 'i4'), ('b', 'i4')])\n",
    )


def _of_libraries() -> None:
    # A library installed from a directory is identified by its content, like a program.
    _edit(
        "function of a library",
        _CALLER.replace("from . import dep", "from .lib import dep"),
        ("lib", "x * 2", "x * 5"),
        lib="import types as t\n@njit\ndef g(x):\n    return x * 2\ndep = t.ModuleType(__name__)\ndep.g = g\n",
    )
    _edit(
        "version of a library",
        _CALLER,
        ("dep", "VERSION = (1, 0)", "VERSION = (2, 0)"),
        dep="VERSION = (1, 0)\n@njit\ndef g(x):\n    return x + VERSION[0]\n",
    )
    _edit(
        "what is patched",
        """
    from . import dep
    dep.K = 7.0
    @njit(cache=True)
    def f(x):
        return dep.g(x)
    def run():
        return f(3.0)
    """,
        ("m", "dep.K = 7.0", "dep.K = 8.0"),
        dep=_CALLEE,
    )
    _edit(
        "what is set after it was compiled",
        """
    from . import dep
    @njit(cache=True)
    def f(x):
        return dep.g(x)
    def run():
        before = f(3.0)
        dep.K = dep.LATER
        return [before, f(3)]
    """,
        ("dep", "LATER = 9.0", "LATER = 8.0"),
        dep=_CALLEE + "LATER = 9.0\n",
    )
    _edit(
        "kernel of guvectorize",
        """
    from . import dep
    def run():
        return float(dep.g(np.arange(3.0)))
    """,
        ("dep", "t[0] = a[0] * 2", "t[0] = a[0] + a[2]"),
        dep="""
from numba import guvectorize
@guvectorize(["(float64[:], float64[:])"], "(n)->()", cache=True)
def g(a, t):
    t[0] = a[0] * 2
""",
    )
    narrow = ("dep", '{"s": types.float32}', '{"s": types.float64}')
    halves = """
from numba import guvectorize, types
@guvectorize(["(float64[:], float64[:])"], "(n)->(n)", locals={"s": types.float32}, cache=True)
def g(a, out):
    for i in range(a.shape[0]):
        s = a[i] * 1.1
        s = s + 0.1
        out[i] = s
"""
    _edit(
        "types of variables in guvectorize",
        """
    from . import dep
    def run():
        return dep.g(np.arange(3.0)).tolist()
    """,
        narrow,
        dep=halves,
    )
    _edit(
        "name of a variable in guvectorize with a type",
        """
    from . import dep
    def run():
        return dep.g(np.arange(3.0)).tolist()
    """,
        (
            "dep",
            """        s = a[i] * 1.1
        s = s + 0.1
        out[i] = s
""",
            """        r = a[i] * 1.1
        r = r + 0.1
        out[i] = r
""",
        ),
        dep=halves,
    )
    _edit(
        "name of a variable in cfunc with a type",
        """
    from . import dep
    def run():
        return dep.c.ctypes(1.3)
    """,
        (
            "dep",
            """    s = a * 1.1
    return s
""",
            """    r = a * 1.1
    return r
""",
        ),
        dep="""
from numba import cfunc, types
@cfunc("float64(float64)", locals={"s": types.float32}, cache=True)
def c(a):
    s = a * 1.1
    return s
""",
    )
    _edit(
        "types of variables in guvectorize that a caller has",
        """
    from . import dep
    @njit(cache=True)
    def f(a):
        out = np.zeros(3)
        dep.g(a, out)
        return out
    def run():
        return f(np.arange(3.0)).tolist()
    """,
        narrow,
        dep=halves.replace(", cache=True", ""),
    )
    _edit(
        "constant of vectorize",
        """
    from . import dep
    def run():
        return float(dep.g(3.0))
    """,
        ("far", "K = 2.0", "K = 5.0"),
        far="K = 2.0\n",
        dep="""
from numba import vectorize
from .far import K
@vectorize(["float64(float64)"], cache=True)
def g(x):
    return x * K
""",
    )
    _edit(
        "constant of a parallel loop",
        """
    from numba import prange
    from . import dep
    @njit(cache=True, parallel=True)
    def f(a):
        t = 0.0
        for i in prange(a.size):
            t += a[i] * dep.K
        return t
    def run():
        return f(np.ones(10))
    """,
        ("dep", "K = 2.0", "K = 5.0"),
        dep="K = 2.0\n",
    )
    _edit(
        "names of arrays that do not match in a parallel function",
        """
    from . import dep
    def run():
        try:
            return dep.f(np.ones(3), 4).tolist()
        except AssertionError as error:
            return str(error).partition(" on ")[0]
    """,
        ("dep", "width", "height"),
        dep="""
import numpy as np
@njit(cache=True, parallel=True)
def f(a, n):
    width = np.ones(n)
    return a + width
""",
    )
    _edit(
        "callee of a parallel loop",
        """
    from numba import prange
    from . import dep
    @njit(cache=True, parallel=True)
    def f(a):
        for i in prange(a.size):
            a[i] = dep.g(a[i])
        return a
    def run():
        return f(np.ones(3)).tolist()
    """,
        ("dep", "x * K", "x - K"),
        dep=_CALLEE,
    )
    _edit(
        "python code in object mode",
        """
    from numba import objmode
    from . import dep
    @njit(cache=True)
    def f(x):
        with objmode(y="float64"):
            y = dep.g(x)
        return y
    def run():
        return f(3.0)
    """,
        ("dep", "x * 2", "x * 3"),
        dep="def g(x):\n    return x * 2\n",
    )


def _of_overloads() -> None:
    """Edit registrations that tell numba how to compile functions, methods and attributes, and when to choose them."""
    divides = """
    from . import dep
    @njit(cache=True)
    def f(x):
        return dep.g(x)
    def run():
        try:
            return str(f(0.0))
        except ZeroDivisionError:
            return "raised"
    """
    over = """
from numba.extending import overload
def g(x):
    pass
@overload(g, jit_options={"error_model": "numpy"})
def of_g(x):
    return lambda x: 1.0 / x
"""
    _edit("options of an overload", divides, ("dep", '"numpy"', '"python"'), dep=over)
    jitable = """
from numba.extending import register_jitable
@register_jitable(error_model="numpy")
def g(x):
    return 1.0 / x
"""
    _edit("options of a jitable callee", divides, ("dep", '"numpy"', '"python"'), dep=jitable)
    reads = """
    from . import dep
    @njit(cache=True)
    def f(a):
        return a.at7()
    def run():
        try:
            f(np.ones(3))
            return "read"
        except IndexError:
            return "raised"
    """
    method = """
from numba.extending import overload_method
@overload_method(types.Array, "at7", jit_options={"boundscheck": False})
def of_at7(a):
    return lambda a: a[7]
"""
    _edit("options of a method", reads, ("dep", "False", "True"), dep=method)
    attribute = """
from numba.extending import overload_attribute
@overload_attribute(types.Array, "at8", jit_options={"boundscheck": False})
def of_at8(a):
    return lambda a: a[7]
"""
    _edit("options of an attribute", reads.replace("at7()", "at8"), ("dep", "False", "True"), dep=attribute)
    literal = """
from numba.extending import overload
def g(x):
    pass
@overload(g, prefer_literal=False)
def of_g(x):
    k = 1 if isinstance(x, types.Literal) else 2
    return lambda x: k
"""
    caller = _CALLER.replace("dep.g(x)", "dep.g(3)")
    _edit("literals of an overload", caller, ("dep", "=False", "=True"), dep=literal)
    vectorized = """
from numba import vectorize
@vectorize(["float64(float64)"])
def g(x):
    return x / 3
"""
    kind = _CALLER.replace("return f(2.0)", "return str(f(np.ones(2, np.float32)).dtype)").replace(" + 1.0", "")
    _edit("signatures of a vectorized callee", kind, ("dep", "float64(float64)", "float32(float32)"), dep=vectorized)
    two = ("dep", '["float64', '["float32(float32)", "float64')
    _edit("another signature of a vectorized callee", kind, two, dep=vectorized)
    none = ("dep", '(["float64(float64)"])', "")
    _edit("no signature of a vectorized callee", kind, none, dep=vectorized)


def _of_templates() -> None:
    """Edit the program's registrations of types and lowering."""
    template = """
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin
R = types.int64
def g(x):
    pass
@infer_global(g)
class T(AbstractTemplate):
    def generic(self, args, kws):
        return signature(R, args[0])
@lower_builtin(g, types.Any)
def lower(context, builder, sig, args):
    return context.get_constant(sig.return_type, 3)
"""
    caller = _CALLER.replace(" + 1.0", "").replace("return f(2.0)", "return str(f(2.0))")
    _edit("global of a template", caller, ("dep", "R = types.int64", "R = types.float32"), dep=template)
    typed = """
from numba.extending import lower_builtin, type_callable
R = types.int64
def g(x):
    pass
@type_callable(g)
def type_g(context):
    return lambda x: R
@lower_builtin(g, types.Any)
def lower(context, builder, sig, args):
    return context.get_constant(sig.return_type, 3)
"""
    _edit("global of a typed callable", caller, ("dep", "R = types.int64", "R = types.float32"), dep=typed)
    constant = """
from llvmlite import ir
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, register_model, typeof_impl
class Obj:
    v = 3
class MyT(types.Type):
    def __init__(self):
        super().__init__(name="MyT of " + __name__)
@typeof_impl.register(Obj)
def type_obj(value, context):
    return MyT()
@register_model(MyT)
class Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(64))
ADD = 10
@lower_constant(MyT)
def lower(context, builder, kind, value):
    return context.get_constant(types.int64, value.v + ADD)
@intrinsic
def of(context, x):
    return types.int64(x), lambda c, b, s, a: a[0]
O = Obj()
"""
    caller = _CALLER.replace("dep.g(x)", "dep.of(dep.O) + x")
    _edit("constant of a lowering", caller, ("dep", "ADD = 10", "ADD = 20"), dep=constant)
    argument = """
    from . import dep
    @njit(cache=True)
    def f(x):
        return dep.of(x) + 1
    def run():
        return f(dep.Obj())
    """
    unboxed = (
        constant
        + """
from numba.extending import NativeValue, unbox
@unbox(MyT)
def unbox_obj(kind, value, c):
    return NativeValue(c.context.get_constant(types.int64, ADD))
"""
    )
    _edit("how an argument is unboxed", argument, ("dep", "ADD = 10", "ADD = 20"), dep=unboxed)
    _edit("same type of the program as argument", argument, ("m", "# nothing", ""), differs=False, dep=unboxed)
    pair = """
from numba.experimental import structref
@structref.register
class PairType(types.StructRef):
    pass
class Pair(structref.StructRefProxy):
    def __new__(cls, x, y):
        return structref.StructRefProxy.__new__(cls, x, y)
structref.define_proxy(Pair, PairType, ["x", "y"])
"""
    struct = """
    from . import dep
    @njit(cache=True)
    def f(p):
        return p.x - p.y
    def run():
        return f(dep.Pair(5.0, 3.0))
    """
    _edit("fields of a struct as argument", struct, ("dep", '"x", "y"]', '"y", "x"]'), dep=pair)
    _edit("same struct as argument", struct, ("m", "# nothing", ""), differs=False, dep=pair)
    rewrite = """
    from . import dep
    @njit(cache=True)
    def f(x):
        return x + 41
    def run():
        return f(1)
    """
    rewrites = """
from numba.core import ir
from numba.core.rewrites import Rewrite, register_rewrite
@register_rewrite("before-inference")
class R(Rewrite):
    def match(self, func_ir, block, typemap, calltypes):
        self.block = block
        found = block.find_insts(ir.Assign)
        self.found = [a for a in found if isinstance(a.value, ir.Const) and a.value.value == 41]
        return bool(self.found)
    def apply(self):
        made = self.block.copy()
        for a in self.found:
            made.body[made.body.index(a)] = ir.Assign(ir.Const(42, a.loc), a.target, a.loc)
        return made
"""
    _edit("body of a rewrite", rewrite, ("dep", "Const(42", "Const(43"), alone=True, dep=rewrites)
    gone = ("dep", '@register_rewrite("before-inference")\n', "")
    _edit("rewrite that is gone", rewrite, gone, alone=True, dep=rewrites)


# A type of the program, and `run`, which calls a method of a value of the type.
_TYPE = """
from numba.core import cgutils
from numba.extending import *
class T(types.Type):
    def __init__(self, held):
        self.held = held
        super().__init__(name="T of " + __name__)
class O:
    def __init__(self, held, lo=1.0, hi=5.0):
        self.held, self.lo, self.hi = held, lo, hi
@typeof_impl.register(O)
def type_o(value, context):
    return T(value.held)
@register_model(T)
class Model(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("lo", types.float64), ("hi", types.float64)])
@unbox(T)
def unbox_o(kind, value, c):
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    for name in ("lo", "hi"):
        held = c.pyapi.object_getattr_string(value, name)
        setattr(made, name, c.pyapi.float_as_double(held))
        c.pyapi.decref(held)
    return NativeValue(made._getvalue())
"""


def _of_types_of_the_program() -> None:
    """Edit what types of the program hold, and what numba creates for them."""
    caller = """
    from . import dep
    @njit(cache=True)
    def f(o):
        return o.WHAT
    def run():
        return f(dep.O(HELD))
    """
    wrapper = _TYPE + "make_attribute_wrapper(T, 'lo', 'edge')\n"
    asked = caller.replace("WHAT", "edge").replace("HELD", "1")
    _edit("field of an attribute", asked, ("dep", "(T, 'lo'", "(T, 'hi'"), dep=wrapper)
    _edit("same attribute of a type", asked, ("dep", "# nothing", ""), differs=False, dep=wrapper)
    reads = _TYPE + "@overload_method(T, 'get')\ndef get(o):\n    k = o.held\n    return lambda o: k\n"
    asked = caller.replace("WHAT", "get()")
    _edit("attribute of a type", asked.replace("HELD", "int(3)"), ("m", "int(3)", "int(4)"), dep=reads)
    calls = _TYPE + "@overload_method(T, 'get')\ndef get(o):\n    h = o.held\n    return lambda o: h(2.0)\n"
    for name, made in (("function", "register_jitable(h)"), ("compiled function", "njit(h)"), ("jitable", "h")):
        dep = calls.replace("o.held\n", "register_jitable(o.held)\n") if made == "h" else calls
        held = f"def h(x):\n    return x + 1\nH = {made}\n"
        _edit(f"{name} that a type holds", asked.replace("HELD", "dep.H"), ("dep", "x + 1", "x + 2"), dep=dep + held)
        _edit(
            f"same {name} that a type holds",
            asked.replace("HELD", "dep.H"),
            ("dep", "# nothing", ""),
            differs=False,
            dep=dep + held,
        )


def _of_compiling() -> None:
    """Edit what code reads that runs while numba compiles."""

    def reads(name: str, text: str, expression: str, *changes: tuple[str, str, str], alone: bool = False) -> None:
        dep = f"""
import logging, os, typing
from numba.extending import intrinsic
{text}
@intrinsic
def g(context, x):
    k = {expression}
    return types.int64(x), lambda c, b, s, a: c.get_constant(types.int64, k)
"""
        _edit(f"compiling reads {name}", _CALLER, *changes, alone=alone, dep=dep)

    reads("a docstring", "def h():\n    '3'\n", "int(h.__doc__)", ("dep", "'3'", "'4'"))
    reads("names of variables", "def h():\n    aa = 1\n", "len(h.__code__.co_varnames[0])", ("dep", "aa", "aaaa"))
    reads("a line", "def h():\n    pass\n", "h.__code__.co_firstlineno", ("dep", "def h", "#\n#\ndef h"))
    renamed = ("dep", "def h():\n    pass", "def hh():\n    pass\nh = hh")
    reads("a name", "def h():\n    pass\n", "len(h.__qualname__)", renamed)
    reads("globals", "K = 3\ndef h():\n    pass\n", "h.__globals__['K']", ("dep", "K = 3", "K = 4"))
    reads("an attribute of a function", "def h():\n    pass\nh.k = 3\n", "h.k", ("dep", "h.k = 3", "h.k = 4"))
    hints = "class C:\n    x: int\n"
    reads("hints", hints, "1 if typing.get_type_hints(C)['x'] is int else 2", ("dep", "x: int", "x: float"))
    aliased = hints + "from typing import get_type_hints as hints_of\n"
    reads("hints by another name", aliased, "1 if hints_of(C)['x'] is int else 2", ("dep", "x: int", "x: float"))
    reads("annotations", hints, "1 if C.__annotations__['x'] is int else 2", ("dep", "x: int", "x: float"))
    subclasses = ("dep", "@intrinsic", "class E(B):\n    pass\n@intrinsic")
    reads("subclasses", "class B:\n    pass\nclass C(B):\n    pass\n", "len(B.__subclasses__())", subclasses)
    file = "PATH = os.path.join(os.path.dirname(__file__), 'data.txt')\nwith open(PATH, 'w') as t:\n    t.write('3')\n"
    reads("a file", file, "int(np.loadtxt(PATH))", ("dep", "'3'", "'4'"))
    level = ("dep", "setLevel(30)", "setLevel(40)")
    log = "log = logging.getLogger(__name__)\nlog.setLevel(30)\n"
    reads("a level of logging", log, "logging.getLogger(__name__).level", level)
    reads("a level of a logger", log, "log.level", level)
    errors = ("dep", "divide='warn'", "divide='ignore'")
    reads("how errors are handled", "np.seterr(divide='warn')\n", "len(np.geterr()['divide'])", errors, alone=True)
    by_name = "from numpy import geterr\nnp.seterr(divide='warn')\n"
    reads("how errors are handled by name", by_name, "len(geterr()['divide'])", errors, alone=True)
    digits = ("dep", "precision=8", "precision=3")
    options = "np.set_printoptions(precision=8)\n"
    reads("options of printing", options, "np.get_printoptions()['precision']", digits, alone=True)
    reads("what is printed", options, "len(str(np.array([1 / 3])))", digits, alone=True)
    seed = ("dep", "seed(3)", "seed(4)")
    for drawn in ("random()", "gauss(0, 1)", "randrange(99)", "choice(range(99))", "getrandbits(7)"):
        name = drawn.partition("(")[0]
        reads(f"{name} of random", "import random\nrandom.seed(3)\n", f"int(random.{drawn} * 1000)", seed)
        imported = f"import random\nfrom random import {name} as drawn\nrandom.seed(3)\n"
        reads(f"{name} by another name", imported, f"int(drawn{drawn.removeprefix(name)} * 1000)", seed)
    threads = ("dep", "set_num_threads(2)", "set_num_threads(1)")
    reads("how many threads there are", "import numba\nnumba.set_num_threads(2)\n", "numba.get_num_threads()", threads)
    named = "from numba import get_num_threads, set_num_threads\nset_num_threads(2)\n"
    reads("how many threads by name", named, "get_num_threads()", threads)
    chunk = ("dep", "chunksize(2)", "chunksize(4)")
    size = "import numba\nnumba.set_parallel_chunksize(2)\n"
    reads("the size of chunks", size, "numba.get_parallel_chunksize()", chunk)
    codecs = "import codecs\ncodecs.register(lambda n: codecs.lookup('ascii') if n == 'larder3' else None)\n"
    reads("codecs", codecs, "len(codecs.lookup('larder3').name)", ("dep", "'ascii'", "'latin-1'"))
    copies = "import copy, copyreg\nclass C:\n    pass\ncopyreg.pickle(C, lambda c: (int, ('3',)))\n"
    reads("how objects are copied", copies, "copy.copy(C())", ("dep", "'3'", "'4'"))
    abstract = "import abc\nclass A(abc.ABC):\n    pass\nclass C:\n    pass\n"
    of_it = ("dep", "@intrinsic", "A.register(C)\n@intrinsic")
    reads("what an abstract class is declared to be", abstract, "isinstance(C(), A)", of_it)
    numbers = "import numbers\nclass C:\n    pass\n"
    real = ("dep", "@intrinsic", "numbers.Real.register(C)\n@intrinsic")
    reads("what is declared to be a number", numbers, "isinstance(C(), numbers.Number)", real)
    meta = "class M(type):\n    def __getattr__(cls, name):\n        return 3\nclass C(metaclass=M):\n    pass\n"
    reads("an attribute by a metaclass", meta, "C.anything", ("dep", "return 3", "return 4"))
    called = "@njit\ndef h(x):\n    return x\nh(1)\n"
    more = ("dep", "h(1)", "h(1)\nh(2.0)")
    for state in ("signatures", "overloads", "nopython_signatures", "inspect_llvm()"):
        reads(f"{state.strip('()')} of a function", called, f"len(h.{state})", more)
        reads(f"{state.strip('()')} of one of a list", called + "L = [h]\n", f"len(L[0].{state})", more)
    reads("an attribute of a compiled function", called + "h.k = 3\n", "h.k", ("dep", "h.k = 3", "h.k = 4"))
    inner = called + "h.py_func.k = 3\n"
    reads("an attribute of the function within", inner, "h.py_func.k", ("dep", "k = 3", "k = 4"))
    reads("what the function within returns", called, "h.py_func(3)", ("dep", "return x", "return x + 1"))
    raised = """
np.seterr(all="warn")
def h():
    try:
        return float(np.log(np.zeros(1))[0])
    except FloatingPointError:
        return 7.0
"""
    for name, text, change in (
        ("how NumPy handles errors", raised, ("dep", 'all="warn"', 'all="raise"')),
        (
            "how many digits decimals have",
            "import decimal\ndecimal.getcontext().prec = 28\ndef h():\n    return len(str(decimal.Decimal(1) / 3))\n",
            ("dep", "prec = 28", "prec = 5"),
        ),
        (
            "the time zone",
            "import datetime, os, time\nos.environ['TZ'] = 'UTC'\ntime.tzset()\n"
            "def h():\n    return datetime.datetime.fromtimestamp(86400 * 9).hour\n",
            ("dep", "'UTC'", "'EST5EDT'"),
        ),
    ):
        dep = f"""
from numba.extending import overload
{text}
def g(x):
    pass
@overload(g)
def of_g(x):
    k = h()
    return lambda x: k
"""
        _edit(f"compiling depends on {name}", _CALLER, change, alone=True, dep=dep)
    _edit(
        "name of numpy that is set again",
        """
    from . import dep
    @njit(cache=True)
    def f(x):
        return np.sin(x)
    def run():
        return f(1.0)
    """,
        ("dep", "np.sin = np.sin", "np.sin = np.cos"),
        dep="np.sin = np.sin\n",
    )


def _of_stencils() -> None:
    head = "from numba import stencil\n"
    caller = """
    from . import dep
    @njit(cache=True)
    def f(a):
        return dep.kernel(a)
    def run():
        return f(np.arange(6.0)).tolist()
    """
    plain = head + "K = 2.0\n@stencil\ndef kernel(a):\n    return a[-1] * K + a[1]\n"
    table = plain.replace("K = 2.0", "K = np.array([2.0])").replace("* K", "* K[0]")
    helped = head + "@njit\ndef g(x):\n    return x + 1.0\n@stencil\ndef kernel(a):\n    return g(a[0])\n"
    captured = """
    from numba import stencil
    def made(by):
        @stencil
        def kernel(a):
            return a[0] * by
        return kernel
    kernel = made(3.0)
    """
    bordered = plain.replace("@stencil", "@stencil(cval=5.0)")
    window = """
    from numba import stencil
    @stencil(neighborhood=((-1, 0),))
    def kernel(a):
        total = 0.0
        for i in range(-1, 1):
            total += a[i]
        return total
    """
    picked = head + "@stencil(standard_indexing=('b',))\ndef kernel(a, b):\n    return a[0] * 2 + b[1]\n"
    two = caller.replace("dep.kernel(a)", "dep.kernel(a, a)")
    parallel = caller.replace("cache=True", "cache=True, parallel=True")
    rows = """
    from . import dep
    from numba import guvectorize
    @guvectorize(["(float64[:], float64[:])"], "(n)->(n)", cache=True)
    def f(a, out):
        out[:] = dep.kernel(a)
    @njit(cache=True)
    def h(a, out):
        f(a, out)
    def run():
        out = np.zeros(6)
        h(np.arange(6.0), out)
        return [f(np.arange(6.0)).tolist(), out.tolist()]
    """
    inside = """
    import numba
    from . import dep
    @njit(cache=True)
    def f(a):
        return numba.stencil(lambda x: x[-1] + x[1] * dep.K)(a)
    def run():
        return f(np.arange(6.0)).tolist()
    """
    bound = ("dep", "K = 2.0", "K = 3.0")
    _edit("stencil with a constant", caller, bound, dep=plain)
    _edit("stencil with an array", caller, ("dep", "[2.0]", "[3.0]"), dep=table)
    _edit("stencil that calls", caller, ("dep", "x + 1.0", "x - 1.0"), dep=helped)
    _edit("stencil that has captured", caller, ("dep", "made(3.0)", "made(4.0)"), dep=captured)
    _edit("code of a stencil", caller, ("dep", "* K", "/ K"), dep=plain)
    _edit("reach of a stencil", caller, ("dep", "a[1]", "a[2]"), dep=plain)
    _edit("borders of a stencil", caller, ("dep", "cval=5.0", "cval=6.0"), dep=bordered)
    _edit("borders without a value", caller, ("dep", "@stencil(cval=5.0)", "@stencil"), dep=bordered)
    _edit("neighborhood of a stencil", caller, ("dep", "((-1, 0),)", "((-1, 2),)"), dep=window)
    _edit("what of a stencil is relative", two, ("dep", "(standard_indexing=('b',))", ""), dep=picked)
    _edit("stencil in a parallel function", parallel, bound, dep=plain)
    _edit("stencil in a kernel", rows, bound, dep=plain)
    _edit("stencil that is made inside", inside, bound, dep="K = 2.0\n")
    _edit("stencil where its variable changes later", caller, ("dep", "K = 2.0", "K = 3.0"), dep=plain + "K = 9.0\n")
    _edit(
        "same stencil before its variable changes",
        caller,
        ("dep", "K = 9.0", "K = 8.0"),
        differs=False,
        dep=plain + "K = 9.0\n",
    )
    _edit(
        "same stencil by another name",
        caller,
        ("dep", "def kernel", "def core"),
        ("dep", "+ a[1]\n", "+ a[1]\nkernel = core\n"),
        differs=False,
        dep=plain,
    )
    _edit("same stencil with other variables", caller, ("dep", "total", "sum_"), differs=False, dep=window)
    _edit(
        "same stencil with a docstring", caller, ("dep", "(a):\n", "(a):\n    'Says more.'\n"), differs=False, dep=plain
    )


def _of_nothing() -> None:
    def same(name: str, m: str, *changes: tuple[str, str, str], **files: str) -> None:
        _edit(f"same {name}", m, *changes, differs=False, alone=False, **files)

    over = """
from numba.extending import overload
def g(x):
    pass
@overload(g)
def of_g(x):
    BODY
"""
    for name, body in (
        ("random numbers in what an overload returns", "return lambda x: x + np.random.rand() * 0"),
        (
            "random numbers in what an overload makes",
            "def made(x):\n        return x + np.random.rand() * 0\n    return made",
        ),
        (
            "import in an overload",
            "import math, operator\n    k = math.floor(operator.add(1, 2))\n    return lambda x: x + k",
        ),
        ("import of a name in an overload", "from math import floor\n    k = floor(1.5)\n    return lambda x: x + k"),
    ):
        same(name, _CALLER, ("dep", "# nothing", ""), dep=over.replace("BODY", body))
    spelled = "@njit(nogil=False, fastmath=False, parallel=False, error_model='python')"
    same("options that are said", _CALLER, ("dep", "@njit", spelled), dep=_CALLEE)
    reported = ("m", "cache=True", "cache=True, nogil=False, fastmath=False, boundscheck=False")
    same("options of the caller that are said", _CALLER, reported, dep=_CALLEE)
    future = ("dep", "# nothing", "from __future__ import annotations")
    same("annotations that are not evaluated", _CALLER, future, dep=_CALLEE)
    same("default of NaN", _ALONE.replace("f(x)", "f(x, y=np.nan)", 1), ("m", "# nothing", ""))
    same(
        "global that is NaN",
        _ALONE.replace("K = 2.0", "K = float('nan')").replace("f(3.0)", "str(f(3.0))"),
        ("m", "float('nan')", "np.nan"),
    )
    kinds = "KINDS = {types.Array(t, n, 'C') for t in (types.float64, types.float32, types.int32) for n in (1, 2, 3)}\n"
    body = "k = 1 if x in KINDS else 2\n    return lambda x: x + k"
    same("set of types", _CALLER, ("dep", "# nothing", ""), dep=kinds + over.replace("BODY", body))
    space = "space = {}\nexec('def made(x):\\n    return x + 1', space)\n"
    same("space of text", _CALLER, ("dep", "# nothing", ""), dep=space + over.replace("BODY", "return space['made']"))
    raises = """
    from .dep import Bad, Kind, Pair
    @njit(cache=True)
    def f(x, pair):
        if x > 1:
            raise Bad("x")
        return x if Kind.A == 1 else pair.a
    def run():
        return f(1, Pair(1, 2))
    """
    classes = """
import enum
from typing import NamedTuple
class Bad(Exception):
    pass
class Kind(enum.IntEnum):
    A = 1
class Pair(NamedTuple):
    a: int
    b: int
"""
    method = "\n    def nice(self):\n        return 1"
    same("method of an error", raises, ("dep", "    pass", "    pass" + method), dep=classes)
    same("method of an enum", raises, ("dep", "A = 1", "A = 1" + method), dep=classes)
    same("method of a named tuple", raises, ("dep", "b: int", "b: int" + method), dep=classes)
    same("name of a global", _ALONE, ("m", "K", "FACTOR"))
    same(
        "names of two globals",
        _ALONE.replace("K = 2.0", "A, B = 2.0, 3.0").replace("x * K", "x * A - B"),
        ("m", "A", "C"),
    )
    same("comment", _CALLER, ("m", "return dep", "# Why.\n    return dep"), dep=_CALLEE)
    same("comment in callee", _CALLER, ("dep", "K = 2.0", "# Two.\nK = 2.0"), dep=_CALLEE)
    same("blank lines", _CALLER, ("m", "@njit(cache", "\n\n\n@njit(cache"), dep=_CALLEE)
    same("docstring", _CALLER, ("m", "return dep", "'''Says more.'''\n    return dep"), dep=_CALLEE)
    same("docstring of callee", _CALLER, ("dep", "return x", "'''Says more.'''\n    return x"), dep=_CALLEE)
    same(
        "another function",
        _CALLER,
        ("m", "def run", "@njit(cache=True)\ndef other(x):\n    return x\ndef run"),
        dep=_CALLEE,
    )
    same(
        "another function next to the callee",
        _CALLER,
        ("dep", "K = 2.0", "@njit\ndef other(x):\n    return x\nK = 2.0"),
        dep=_CALLEE,
    )
    same("constant that nothing reads", _CALLER, ("dep", "K = 2.0", "UNUSED = 1\nK = 2.0"), dep=_CALLEE)
    same("constant written another way", _CALLER, ("dep", "K = 2.0", "K = 1.0 + 1.0"), dep=_CALLEE)
    same(
        "name of a variable",
        _ALONE.replace("return x * K", "y = x * K\n    return y"),
        ("m", "y = x * K\n    return y", "z = x * K\n    return z"),
    )
    same("imports", _CALLER, ("m", "from . import dep", "import os\nimport json\nfrom . import dep"), dep=_CALLEE)
    same("order of functions", "A = 1\n" + _ALONE, ("m", "A = 1\n", ""))
    same("parentheses", _ALONE, ("m", "return x * K", "return (x * K)"))
    same("line break", _ALONE, ("m", "return x * K", "return (x *\n            K)"))
    same("annotations", _ALONE, ("m", "def f(x):", "def f(x: float) -> float:"))
    same("what other text says", "TEXT = 'a'\n" + _ALONE, ("m", "TEXT = 'a'", "TEXT = 'b'"))
    same("how run prints", _ALONE, ("m", "def run():", "def run():\n    print(end='')"))
    same(
        "unused overload",
        _ALONE,
        (
            "m",
            "K = 2.0",
            "from numba.extending import overload\ndef h(x):\n    pass\n"
            "@overload(h)\ndef of_h(x):\n    return lambda x: x\nK = 2.0",
        ),
    )
    same(
        "captured afresh",
        """
    def make(k):
        @njit(cache=True)
        def f(x):
            return x * k
        return f
    def run():
        return [make(2.0)(1.0), make(3.0)(1.0)]
    """,
        ("m", "[make(2.0)(1.0), make(3.0)(1.0)]", "[make(2.0)(1.0), make(3.0)(1.0)][:]"),
    )


for _make in (
    _of_callees,
    _of_constants,
    _of_closures,
    _of_text,
    _of_options,
    _of_extensions,
    _of_classes,
    _of_types,
    _of_libraries,
    _of_overloads,
    _of_templates,
    _of_types_of_the_program,
    _of_compiling,
    _of_stencils,
    _of_nothing,
):
    _make()

_CHECKED = next(edit.files["m"] for edit in EDITS if edit.name == "edit_boundscheck")

for _name, _environment, _text in (
    ("cpu features", {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, _HEAD + _ALONE),
    ("boundscheck of all", {"NUMBA_BOUNDSCHECK": "1"}, _CHECKED),
    ("level of optimization", {"NUMBA_OPT": "0"}, _HEAD + _ALONE),
):
    EDITS.append(Edit("edit_" + _name.replace(" ", "_"), {"m": _text}, (), False, _environment))
