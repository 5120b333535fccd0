"""Edits of programs, with the expected effect of each on the value of a function.

Each case is a program of one or more files ("#-- name.py" begins another), an edit of its text,
and a call. `want` is "differ" if the edit changes the value. It is "same" if it changes neither
the value nor anything that the function reaches. It is "may" if it changes something that the
function reaches, but not the value. A case that may be `refused` depends on something that code
does not show.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """A program before and after an edit."""

    name: str
    before: dict[str, str]
    after: dict[str, str]
    call: str
    want: str
    refused: bool
    needs: str = ""
    environment: dict[str, str] = field(default_factory=dict)


CASES: list[Case] = []


def files(text: str) -> dict[str, str]:
    """Return the files of a program: the first one is m.py."""
    found: dict[str, list[str]] = {"m.py": []}
    name = "m.py"
    for line in text.strip("\n").splitlines():
        if line.startswith("#-- "):
            name = line.removeprefix("#-- ").strip()
            found[name] = []
        else:
            found[name].append(line)
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}


def case(
    name: str,
    text: str,
    old: str,
    new: str,
    want: str = "differ",
    call: str = "m.f(3)",
    refused: bool = False,
    needs: str = "",
) -> None:
    """Add a case that replaces a string by another one."""
    text = text.strip("\n") + "\n"
    assert old in text, name
    CASES.append(Case(name, files(text), files(text.replace(old, new)), call, want, refused, needs))


# Bodies and constants

case("body", "def f(x): return x + 1", "x + 1", "x + 2")
case("operator", "def f(x): return x + 2", "x + 2", "x * 2")
case("comparison", "def f(x): return x < 3", "x < 3", "x <= 3")
case("constant of another type", "def f(x): return x * 1", "* 1", "* 1.0")
case("constant true", "def f(x): return [1]", "[1]", "[True]")
case("negative zero", "def f(x): return 0.0", "0.0", "-0.0")
case("constant of a tuple", "def f(x): return (1, 2)", "(1, 2)", "(1, 2.0)")
case("constant of a frozen set", "def f(x): return x in {3, 4}", "{3, 4}", "{5, 4}")
case("text", "def f(x): return 'a'", "'a'", "'b'")
case("bytes for a string", "def f(x): return 'a'", "'a'", "b'a'")
case("f-string", "def f(x): return f'{x:>3}'", ">3", ">4")
case("conversion of an f-string", "def f(x): return f'{str(x)!r}'", "!r", "!s")
case("order of arguments", "def f(x): return pow(x, 2)", "pow(x, 2)", "pow(2, x)")
case("keyword of a call", "def f(x): return sorted([1, 2], reverse=True)", "True", "False")
case("condition", "def f(x): return 1 if x else 2", "if x", "if not x")
case("and or", "def f(x): return x and 0", "and", "or")
case("slice", "def f(x): return list(range(9))[1:3]", "1:3", "1:4")
case("walrus", "def f(x): return (y := x) + y", "+ y", "- y")
case("chained", "def f(x): return 1 < x < 3", "x < 3", "x < 9")
case("unpacking", "def f(x):\n    a, *b = [x, 2, 3]\n    return b", "a, *b", "*b, a")
case("default", "def f(x, k=1): return x + k", "k=1", "k=2")
case("default of another type", "def f(x, k=1): return k", "k=1", "k=True")
case("keyword default", "def f(x, *, k=1): return x + k", "k=1", "k=2")
case("default is a list", "def f(x, k=[1]): return k", "[1]", "[2]")
case("default is a function", "def g(x): return x\ndef f(x, k=g): return k(x)", "return x\n", "return -x\n")
case("parameters change places", "def f(x, y=5): return x - y", "x, y=5", "y, x=5", call="m.f(3)")
case("loop", "def f(x):\n    s = 0\n    for i in range(x): s += i\n    return s", "s += i", "s += 2 * i")
case("while else", "def f(x):\n    while x: x -= 1\n    else: return 1\n    return 2", "return 1", "return 3")
case(
    "exception caught",
    "def f(x):\n    try: return 1 // 0\n    except ZeroDivisionError: return 1",
    ": return 1",
    ": return 2",
)
case(
    "exception type",
    "def f(x):\n    try:\n        try: return {}[x]\n        except KeyError: return 1\n    except Exception: return 2",
    "KeyError",
    "ValueError",
)
case(
    "finally", "def f(x):\n    a = [1]\n    try: pass\n    finally: a.append(2)\n    return a", "append(2)", "append(3)"
)
case("match", "def f(x):\n    match x:\n        case 3: return 1\n        case _: return 2", "case 3", "case 4")
case(
    "match class",
    "class P:\n    def __init__(self): self.a = 1\ndef f(x):\n    match P():\n        case P(a=1): return 1\n        case _: return 2",
    "a=1):",
    "a=2):",
)
case("large number", "def f(x): return 10**30", "10**30", "10**30 + 1")
case(
    "assert",
    "def f(x):\n    try:\n        assert x > 1\n    except AssertionError: return 1\n    return 2",
    "x > 1",
    "x > 5",
)

# Nested code

case("lambda", "def f(x): return (lambda y: y + 1)(x)", "y + 1", "y + 2")
case("nested function", "def f(x):\n    def g(y): return y + 1\n    return g(x)", "y + 1", "y + 2")
case("nested default", "def f(x):\n    def g(y=1): return y\n    return g()", "y=1", "y=2")
case("comprehension", "def f(x): return [i * 2 for i in range(x)]", "i * 2", "i * 3")
case("comprehension filter", "def f(x): return [i for i in range(x) if i]", "if i]", "if i > 1]")
case("dict comprehension", "def f(x): return {i: 1 for i in range(x)}", ": 1", ": 2")
case("generator expression", "def f(x): return sum(i for i in range(x))", "(i for", "(i * i for")
case("generator", "def g(x):\n    yield x\n    yield 1\ndef f(x): return list(g(x))", "yield 1", "yield 2")
case(
    "generator delegates", "def h(): yield 1\ndef g(): yield from h()\ndef f(x): return list(g())", "yield 1", "yield 2"
)
case("async", "import asyncio\nasync def g(x): return x + 1\ndef f(x): return asyncio.run(g(x))", "x + 1", "x + 2")
case("class in a function", "def f(x):\n    class C:\n        a = 1\n    return C.a", "a = 1", "a = 2")
case("closure inside", "def f(x):\n    y = 2\n    def g(): return x * y\n    return g()", "y = 2", "y = 3")
case(
    "counter inside",
    "def f(x):\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    g()\n    return n",
    "n += 1",
    "n += 2",
)
case("global in nested code", "K = 1\ndef f(x): return [i + K for i in range(x)]", "K = 1", "K = 2")

# What is called

H = "def h(x): return x + 1\ndef g(x): return h(x) * 2\ndef f(x): return g(x)\n"
case("callee", H, "h(x) * 2", "h(x) * 3")
case("callee of a callee", H, "x + 1", "x + 2")
case("recursion", "def f(x): return 1 if x < 1 else x * f(x - 1)", "return 1 if", "return 2 if")
case("mutual recursion", "def g(x): return 0 if x < 1 else f(x - 1)\ndef f(x): return g(x) + 1", "return 0", "return 5")
case("callee by map", "def g(x): return x\ndef f(x): return list(map(g, [x]))", "return x\n", "return -x\n")
case("callee by a table", "def g(x): return x\nT = {'g': g}\ndef f(x): return T['g'](x)", "return x\n", "return -x\n")
case("callee by a list", "def g(x): return x\nT = [[g]]\ndef f(x): return T[0][0](x)", "return x\n", "return -x\n")
case("callee by another name", "def g(x): return x\nk = g\ndef f(x): return k(x)", "return x\n", "return -x\n")
case("name given to another", "def g(x): return x\ndef h(x): return -x\nk = g\ndef f(x): return k(x)", "k = g", "k = h")
case(
    "partial",
    "import functools\ndef g(a, b): return a - b\nk = functools.partial(g, 1)\ndef f(x): return k(x)",
    "g, 1",
    "g, 2",
)
case(
    "partial's function",
    "import functools\ndef g(a, b): return a - b\nk = functools.partial(g, 1)\ndef f(x): return k(x)",
    "a - b",
    "b - a",
)
case(
    "cached callee",
    "import functools\n@functools.lru_cache\ndef g(x): return x\ndef f(x): return g(x)",
    "return x\n",
    "return -x\n",
)
case(
    "single dispatch",
    "import functools\n@functools.singledispatch\ndef g(x): return 0\n@g.register(int)\ndef _(x): return x\ndef f(x): return g(x)",
    "return x\n",
    "return -x\n",
)
case(
    "single dispatch gains a type",
    "import functools\n@functools.singledispatch\ndef g(x): return 0\ndef _(x): return x\ndef f(x): return g(x)",
    "def _(x)",
    "@g.register(int)\ndef _(x)",
)
case(
    "conditional definition",
    "A = 1\nif A: \n    def g(x): return 1\nelse:\n    def g(x): return 2\ndef f(x): return g(x)",
    "A = 1",
    "A = 0",
)
case(
    "redefined below",
    "def g(x): return 1\ndef f(x): return g(x)\n",
    "f(x): return g(x)\n",
    "f(x): return g(x)\ndef g(x): return 2\n",
)
case("builtin shadowed", "def f(x): return max(x, 1)\n", "g" if False else "\n", "\ndef max(a, b): return 77\n")
case(
    "builtin in a callee shadowed",
    "def g(x): return abs(-x)\ndef f(x): return g(x)\n",
    "def f(x)",
    "abs = float\ndef f(x)",
)
case(
    "operator's function",
    "import operator\nk = operator.itemgetter(0)\ndef f(x): return k([x, 9])",
    "itemgetter(0)",
    "itemgetter(1)",
)
case(
    "method caller",
    "import operator\nk = operator.methodcaller('upper')\ndef f(x): return k('aB')",
    "'upper'",
    "'lower'",
)

# Globals

case("global", "K = 1\ndef f(x): return x + K", "K = 1", "K = 2")
case("global of another type", "K = 1\ndef f(x): return K", "K = 1", "K = 1.0")
case("global list", "K = [1]\ndef f(x): return K[0]", "[1]", "[2]")
case("global dict order", "K = {1: 0, 2: 0}\ndef f(x): return list(K)", "1: 0, 2: 0", "2: 0, 1: 0")
case("global nested", "K = {'a': [1, (2, {3})]}\ndef f(x): return K", "{3}", "{4}")
case("global appended", "K = [1]\ndef f(x): return len(K)\nK.append(1)", "K.append(1)", "pass")
case("global by computation", "A = 1\nK = A + 1\ndef f(x): return K", "A = 1", "A = 2")
case("global in a callee", "K = 1\ndef g(): return K\ndef f(x): return g()", "K = 1", "K = 2")
case("global of a global", "class C: pass\nK = C()\nK.a = 1\ndef f(x): return K.a", "K.a = 1", "K.a = 2")
case("global list aliased", "A = [1]\nK = [A, A]\ndef f(x):\n    return K[0] is K[1]", "[A, A]", "[A, [1]]")

case("global appears", "def f(x):\n    try: return K\n    except NameError: return 0\n#end", "#end", "K = 1")
case("regular expression", "import re\nK = re.compile('a')\ndef f(x): return bool(K.match('A'))", "'a'", "'a', re.I")
case("decimal", "from decimal import Decimal\nK = Decimal('1.0')\ndef f(x): return str(K)", "'1.0'", "'1.00'")
case("date", "import datetime\nK = datetime.date(2020, 1, 1)\ndef f(x): return K.year", "2020", "2021")
case("global write", "N = 0\ndef f(x):\n    global N\n    N += 1\n    return N", "N += 1", "N += 2", refused=True)
case("name of the module", "def f(x): return __name__", "return __name__", "return __name__ + 'a'")

# Captured variables

case("captured number", "def make(k):\n    def f(x): return x + k\n    return f\nf = make(1)", "make(1)", "make(2)")
case(
    "captured function",
    "def g(x): return x\ndef make(k):\n    def f(x): return k(x)\n    return f\nf = make(g)",
    "return x\n",
    "return -x\n",
)
case(
    "captured twice deep",
    "def make(k):\n    def a():\n        def f(x): return x + k\n        return f\n    return a()\nf = make(1)",
    "make(1)",
    "make(2)",
)
case(
    "captured list",
    "def make(k):\n    def f(x): return k[0]\n    k.append(0)\n    return f\nf = make([1])",
    "[1]",
    "[2]",
)
case("lambdas of a loop", "fs = [lambda x, k=k: x + k for k in range(3)]\nf = fs[0]", "fs[0]", "fs[1]")
case("late binding", "fs = [(lambda x: x + k) for k in range(3)]\nf = fs[0]", "range(3)", "range(4)")
case("two lambdas on a line", "a, b = (lambda x: x + 1), (lambda x: x + 2)\nf = a", "f = a", "f = b")

# Decorators

D = """
import functools
def deco(k):
    def wrap(g):
        @functools.wraps(g)
        def inner(*a): return g(*a) + k
        return inner
    return wrap
@deco(1)
def f(x): return x
"""
case("decorator's argument", D, "deco(1)", "deco(2)")
case("decorator's body", D, "+ k", "- k")
case("decorated body", D, "return x\n", "return -x\n")
case("decorator dropped", D, "@deco(1)\n", "")
case("decorator added", "def deco(g): return lambda x: g(x) + 1\n#\ndef f(x): return x", "#", "@deco")
case(
    "decorators change places",
    "def a(g): return lambda x: g(x) + 1\ndef b(g): return lambda x: g(x) * 2\n@a\n@b\ndef f(x): return x",
    "@a\n@b",
    "@b\n@a",
)
case(
    "decorator that is a class",
    "class D:\n    def __init__(self, g): self.g = g\n    def __call__(self, x): return self.g(x) + 1\n@D\ndef f(x): return x",
    "+ 1",
    "+ 2",
)
case(
    "decorated by a class",
    "class D:\n    def __init__(self, g): self.g = g\n    def __call__(self, x): return self.g(x) + 1\n@D\ndef f(x): return x",
    "return x",
    "return -x",
)
case("decorated callee", D.replace("def f(x)", "def g(x)") + "def f(x): return g(x)\n", "deco(1)", "deco(5)")
case(
    "decorator by attributes",
    "def deco(g):\n    g.k = 1\n    return g\n@deco\ndef g(): pass\ndef f(x): return g.k",
    "g.k = 1",
    "g.k = 2",
)
case(
    "decorator that registers",
    "R = {}\ndef reg(g):\n    R[g.__name__] = g\n    return g\n@reg\ndef a(x): return x\ndef f(x): return R['a'](x)",
    "return x\n",
    "return -x\n",
)
case(
    "context manager",
    "import contextlib\n@contextlib.contextmanager\ndef c(): yield 1\ndef f(x):\n    with c() as k: return k",
    "yield 1",
    "yield 2",
)

# Classes

C = """
class B:
    k = 1
    def m(self): return self.k
class A(B):
    def __init__(self, x): self.x = x
    @property
    def p(self): return self.x + 1
    @classmethod
    def c(cls): return cls.k + 2
    @staticmethod
    def s(x): return x + 3
    def __add__(self, o): return self.x + o
    def n(self): return super().m() + 4
def f(x):
    a = A(x)
    return [a.m(), a.p, a.c(), a.s(x), a + 1, a.n()]
"""
case("attribute of a base", C, "k = 1", "k = 2")
case("method of a base", C, "return self.k\n", "return -self.k\n")
case("constructor", C, "self.x = x", "self.x = 2 * x")
case("property", C, "self.x + 1", "self.x + 2")
case("class method", C, "cls.k + 2", "cls.k + 3")
case("static method", C, "return x + 3", "return x + 4")
case("operator's method", C, "self.x + o", "self.x - o")
case("super", C, "super().m() + 4", "super().m() + 5")
case("overridden", C, "    def n(self)", "    def m(self): return 9\n    def n(self)")
case("another base", "class P:\n    k = 1\nclass Q:\n    k = 2\nclass A(P): pass\ndef f(x): return A.k", "A(P)", "A(Q)")
case(
    "order of bases",
    "class P:\n    k = 1\nclass Q:\n    k = 2\nclass A(P, Q): pass\ndef f(x): return A.k",
    "P, Q",
    "Q, P",
)
case(
    "mixin's method",
    "class M:\n    def m(self): return 1\nclass A(M): pass\ndef f(x): return A().m()",
    "return 1",
    "return 2",
)
case(
    "metaclass",
    "class M(type):\n    def __call__(cls): return 1\nclass A(metaclass=M): pass\ndef f(x): return A()",
    "return 1",
    "return 2",
)
case(
    "init subclass",
    "class B:\n    def __init_subclass__(cls): cls.k = 1\nclass A(B): pass\ndef f(x): return A.k",
    "k = 1",
    "k = 2",
)
case(
    "descriptor",
    "class D:\n    def __get__(self, o, c): return 1\nclass A:\n    d = D()\ndef f(x): return A().d",
    "return 1",
    "return 2",
)
case(
    "descriptor's state",
    "class D:\n    def __init__(self, k): self.k = k\n    def __get__(self, o, c): return self.k\nclass A:\n    d = D(1)\ndef f(x): return A().d",
    "D(1)",
    "D(2)",
)
case(
    "getattr method", "class A:\n    def __getattr__(self, n): return 1\ndef f(x): return A().z", "return 1", "return 2"
)
case(
    "cached property",
    "import functools\nclass A:\n    @functools.cached_property\n    def p(self): return 1\ndef f(x): return A().p",
    "return 1",
    "return 2",
)
case(
    "slots",
    "class A:\n    __slots__ = ('a',)\ndef f(x):\n    try: A().b = 1\n    except AttributeError: return 0\n    return 1",
    "('a',)",
    "('a', 'b')",
)
case(
    "method by its name",
    "class A:\n    def m(self): return 1\n    def n(self): return 2\ndef f(x): return getattr(A(), 'm')()",
    "return 1",
    "return 3",
)
case(
    "method of an argument's class",
    "class A:\n    def m(self): return 1\ndef f(x): return x.m()",
    "return 1",
    "return 2",
    call="m.f(m.A())",
)
case(
    "hidden in an argument",
    "class A:\n    def m(self): return 1\ndef f(x): return x['a'][0].m()",
    "return 1",
    "return 2",
    call="m.f({'a': [m.A()]})",
)
case("function as an argument", "def g(x): return 1\ndef f(x): return x(1)", "return 1", "return 2", call="m.f(m.g)")
case("class as an argument", "class A:\n    k = 1\ndef f(x): return x.k", "k = 1", "k = 2", call="m.f(m.A)")
case(
    "global object's method",
    "class A:\n    def m(self): return 1\nK = A()\ndef f(x): return K.m()",
    "return 1",
    "return 2",
)
case("bound method of a list", "k = [1, 2, 3].index\ndef f(x): return k(x)", "[1, 2, 3]", "[1, 3, 2]")
case("bound method of a dict", "k = {3: 1}.get\ndef f(x): return k(x)", "{3: 1}", "{3: 2}")
case("bound special method", "k = (1).__add__\ndef f(x): return k(x)", "(1)", "(2)")
case(
    "class method as a global",
    "class A:\n    k = 1\n    @classmethod\n    def c(cls, x): return cls.k\ng = A.c\ndef f(x): return g(x)",
    "k = 1",
    "k = 2",
)
case(
    "bound method",
    "class A:\n    def __init__(self, k): self.k = k\n    def m(self, x): return x + self.k\nf = A(1).m",
    "A(1)",
    "A(2)",
)
case(
    "callable object",
    "class A:\n    def __init__(self, k): self.k = k\n    def __call__(self, x): return x + self.k\nf = A(1)",
    "A(1)",
    "A(2)",
)
case(
    "comparison methods",
    "import functools\n@functools.total_ordering\nclass A:\n    def __init__(s, k): s.k = k\n    def __eq__(s, o): return s.k == o.k\n    def __lt__(s, o): return s.k < o.k\ndef f(x): return A(1) > A(2)",
    "s.k < o.k",
    "s.k > o.k",
)
case("iterator class", "class A:\n    def __iter__(self): return iter([1])\ndef f(x): return list(A())", "[1]", "[2]")
case(
    "context class",
    "class A:\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\ndef f(x):\n    with A() as k: return k",
    "return 1",
    "return 2",
)
case(
    "hash and equality",
    "class A:\n    def __hash__(self): return 1\n    def __eq__(self, o): return True\ndef f(x): return len({A(), A()})",
    "return True",
    "return False",
)
case(
    "subclass of dict",
    "class A(dict):\n    def __missing__(self, k): return 1\ndef f(x): return A()[x]",
    "return 1",
    "return 2",
)
case(
    "exception class",
    "class E(Exception):\n    def __str__(self): return 'a'\ndef f(x):\n    try: raise E\n    except E as e: return str(e)",
    "'a'",
    "'b'",
)
case(
    "abstract",
    "import abc\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def m(self): ...\n    def t(self): return self.m() + 1\nclass A(B):\n    def m(self): return 1\ndef f(x): return A().t()",
    "return 1\n",
    "return 5\n",
)
case(
    "dataclass default",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int = 1\ndef f(x): return P().a",
    "= 1",
    "= 2",
)
case(
    "dataclass field order",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int\n    b: int\ndef f(x): return P(1, 2).a",
    "    a: int\n    b: int",
    "    b: int\n    a: int",
)
case(
    "dataclass field added",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int = 1\ndef f(x): return len(dataclasses.fields(P))",
    "a: int = 1",
    "a: int = 1\n    b: int = 2",
)
case(
    "dataclass factory",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: list = dataclasses.field(default_factory=lambda: [1])\ndef f(x): return P().a",
    "[1]",
    "[2]",
)
case(
    "dataclass frozen",
    "import dataclasses\n@dataclasses.dataclass(frozen=False)\nclass P:\n    a: int = 1\ndef f(x):\n    p = P()\n    try: p.a = 2\n    except Exception: return 0\n    return p.a",
    "frozen=False",
    "frozen=True",
)
case(
    "dataclass order",
    "import dataclasses\n@dataclasses.dataclass(eq=True)\nclass P:\n    a: int = 1\ndef f(x): return P() == P()",
    "eq=True",
    "eq=False",
)
case(
    "dataclass post init",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int = 1\n    def __post_init__(self): self.a += 1\ndef f(x): return P().a",
    "+= 1",
    "+= 2",
)
case(
    "dataclass metadata",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int = dataclasses.field(default=1, metadata={'k': 1})\ndef f(x): return dataclasses.fields(P)[0].metadata['k']",
    "'k': 1",
    "'k': 2",
)
case(
    "dataclass type",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int = 1\ndef f(x): return dataclasses.fields(P)[0].type.__name__",
    "a: int",
    "a: float",
)
case(
    "named tuple",
    "import collections\nN = collections.namedtuple('N', 'a b')\ndef f(x): return N(1, 2).a",
    "'a b'",
    "'b a'",
)
case(
    "typed named tuple",
    "import typing\nclass N(typing.NamedTuple):\n    a: int = 1\ndef f(x): return N().a",
    "= 1",
    "= 2",
)
case("enum value", "import enum\nclass E(enum.Enum):\n    A = 1\ndef f(x): return E.A.value", "A = 1", "A = 2")
case(
    "enum order",
    "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\ndef f(x): return [e.name for e in E]",
    "    A = 1\n    B = 2",
    "    B = 2\n    A = 1",
)
case(
    "enum method",
    "import enum\nclass E(enum.Enum):\n    A = 1\n    def m(self): return 1\ndef f(x): return E.A.m()",
    "return 1",
    "return 2",
)
case(
    "enum member as a global",
    "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nK = E.A\ndef f(x): return K.value",
    "K = E.A",
    "K = E.B",
)
case(
    "flags",
    "import enum\nclass E(enum.Flag):\n    A = 1\n    B = 2\nK = E.A | E.B\ndef f(x): return K.value",
    "E.A | E.B",
    "E.A",
)
case(
    "auto",
    "import enum\nclass E(enum.Enum):\n    A = enum.auto()\n    B = enum.auto()\ndef f(x): return E.B.value",
    "    A = enum.auto()\n",
    "    Z = enum.auto()\n    A = enum.auto()\n",
)
case("class attribute set later", "class A:\n    k = 1\nA.k = 2\ndef f(x): return A.k", "A.k = 2", "A.k = 3")
case("method put in later", "class A: pass\nA.m = lambda self: 1\ndef f(x): return A().m()", ": 1\n", ": 2\n")
case("class attribute is a list", "class A:\n    k = [1]\ndef f(x): return A.k", "[1]", "[2]")

# Modules

M = "import h\ndef f(x): return h.g(x)\n#-- h.py\nfrom k import K\ndef g(x): return x + K\n#-- k.py\nK = 1\n"
case("function of a module", M, "x + K", "x - K")
case("constant of a module of a module", M, "K = 1", "K = 2")
case("module's attribute", "import h\ndef f(x): return h.K\n#-- h.py\nK = 1", "K = 1", "K = 2")
case("from a module", "from h import g\ndef f(x): return g(x)\n#-- h.py\ndef g(x): return 1", "return 1", "return 2")
case(
    "from a module by another name",
    "from h import g as k\ndef f(x): return k(x)\n#-- h.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case(
    "from another module",
    "from h import g\ndef f(x): return g(x)\n#-- h.py\ndef g(x): return 1\n#-- k.py\ndef g(x): return 2",
    "from h",
    "from k",
)
case(
    "import in the body",
    "def f(x):\n    import h\n    return h.g(x)\n#-- h.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case(
    "import from in the body",
    "def f(x):\n    from h import g\n    return g(x)\n#-- h.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case("import as in the body", "def f(x):\n    import h as z\n    return z.K\n#-- h.py\nK = 1", "K = 1", "K = 2")
case(
    "import for a nested function",
    "def f(x):\n    import h\n    return (lambda: h.K)()\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
)
case(
    "package",
    "import p.h\ndef f(x): return p.h.g(x)\n#-- p/__init__.py\n#-- p/h.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case(
    "package in the body",
    "def f(x):\n    import p.h\n    return p.h.g(x)\n#-- p/__init__.py\n#-- p/h.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case(
    "package as in the body",
    "def f(x):\n    import p.h as z\n    return z.g(x)\n#-- p/__init__.py\n#-- p/h.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case(
    "relative import",
    "from p.a import f\n#-- p/__init__.py\n#-- p/a.py\nfrom .b import g\ndef f(x): return g(x)\n#-- p/b.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case(
    "relative import in the body",
    "from p.a import f\n#-- p/__init__.py\n#-- p/a.py\ndef f(x):\n    from . import b\n    return b.K\n#-- p/b.py\nK = 1",
    "K = 1",
    "K = 2",
)
case(
    "exported by a package",
    "from p import g\ndef f(x): return g(x)\n#-- p/__init__.py\nfrom .a import g\n#-- p/a.py\ndef g(x): return 1",
    "return 1",
    "return 2",
)
case("star import", "from h import *\ndef f(x): return g(x)\n#-- h.py\ndef g(x): return 1", "return 1", "return 2")
case("module patched", "import h\nh.K = 5\ndef f(x): return h.K\n#-- h.py\nK = 1", "h.K = 5", "h.K = 6")
case(
    "function of a module patched",
    "import h\nh.g = lambda x: 5\ndef f(x): return h.g(x)\n#-- h.py\ndef g(x): return 1",
    ": 5\n",
    ": 6\n",
)
case(
    "patched from elsewhere",
    "import h, k\ndef f(x): return h.g(x)\n#-- h.py\ndef g(x): return 1\n#-- k.py\nimport h\nh.g = lambda x: 5",
    ": 5\n",
    ": 6\n",
)
case("library patched", "import math\nmath.sqrt = lambda x: 5\ndef f(x): return math.sqrt(x)", ": 5\n", ": 6\n")
case(
    "library's class patched",
    "import fractions\nfractions.Fraction.half = lambda s: 5\ndef f(x): return fractions.Fraction(x).half()",
    ": 5\n",
    ": 6\n",
    refused=True,
)
case("another function of a library", "import math\ndef f(x): return math.sin(x)", "sin", "cos")
case(
    "import of another library",
    "from math import sqrt as r\ndef f(x): return r(-x) if False else r(4)",
    "math import sqrt",
    "cmath import sqrt",
)
case(
    "optional module",
    "try:\n    from h import g\nexcept ImportError:\n    def g(x): return 0\ndef f(x): return g(x)\n#-- k.py",
    "#-- k.py",
    "#-- h.py\ndef g(x): return 1",
)
case(
    "optional module in the body",
    "def f(x):\n    try: import h\n    except ImportError: return 0\n    return h.K\n#-- k.py\nK = 1",
    "#-- k.py",
    "#-- h.py",
)
case(
    "module with getattr",
    "import h\ndef f(x): return h.K\n#-- h.py\ndef __getattr__(n): return 1",
    "return 1",
    "return 2",
    refused=True,
)
case("module chosen", "import a, b\nk = a\ndef f(x): return k.K\n#-- a.py\nK = 1\n#-- b.py\nK = 2", "k = a", "k = b")
case(
    "module as an argument of getattr",
    "import h\ndef f(x): return getattr(h, 'K')\n#-- h.py\nK = 1",
    "K = 1\n",
    "K = 2\n",
    refused=True,
)
case(
    "module in a variable",
    "import h\ndef f(x):\n    z = h\n    return z.K\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
    refused=True,
)
case("module in a list", "import h\nL = [h]\ndef f(x): return L[0].K\n#-- h.py\nK = 1", "K = 1", "K = 2", refused=True)

# Hidden dependencies

case(
    "import in two ways",
    "def f(x):\n    try: import nothing as z\n    except ImportError: import h as z\n    return z.K\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
)
case(
    "import or nothing",
    "def f(x):\n    try: import h\n    except ImportError: h = None\n    return h and h.K\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
    refused=True,
)
case(
    "import of a name in two ways",
    "def f(x):\n    try: from nothing import g\n    except ImportError: from h import g\n    return g()\n#-- h.py\ndef g(): return 1",
    "return 1",
    "return 2",
)
case(
    "module that a function captured",
    "import h\ndef make(z):\n    def f(x): return z.K\n    return f\nf = make(h)\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
)
case(
    "import in a class in a function",
    "def f(x):\n    class C:\n        import h\n        k = h.K\n    return C.k\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
)
case(
    "another variable by a function's globals",
    "U = 1\ndef g(): return 0\ndef f(x): return g.__globals__['U']",
    "U = 1",
    "U = 2",
    refused=True,
)
case(
    "globals by getattr",
    "U = 1\ndef g(): return 0\ndef f(x): return getattr(g, '__globals__')['U']",
    "U = 1",
    "U = 2",
    refused=True,
)
case("dict of a module", "import h\ndef f(x): return h.__dict__['K']\n#-- h.py\nK = 1", "K = 1", "K = 2", refused=True)
case("vars of a module", "import h\ndef f(x): return vars(h)['K']\n#-- h.py\nK = 1", "K = 1", "K = 2", refused=True)
case(
    "subclasses",
    "class B: pass\nclass A(B): k = 1\ndef f(x): return B.__subclasses__()[0].k",
    "k = 1",
    "k = 2",
    refused=True,
)
case(
    "method caller by another name",
    "from operator import methodcaller as c\nclass A:\n    def m(self): return 1\nk = c('m')\ndef f(x): return k(A())",
    "return 1",
    "return 2",
)
case(
    "clock by a method caller",
    "import operator, time\nclass A:\n    def m(self): return time.time()\nk = [operator.methodcaller('m')]\ndef f(x): return k[0](A())",
    "return time",
    "return 1, time",
    refused=True,
)
case(
    "clock by getattr",
    "import datetime\ndef f(x): return getattr(datetime.datetime, 'now')()",
    "return ",
    "return 1, ",
    refused=True,
)
case("clock as a default", "import time\ndef f(x, t=time.time): return t()", "return ", "return 1, ", refused=True)
case(
    "clock in a table",
    "import time\nT = {'t': time.time}\ndef f(x): return T['t']()",
    "return ",
    "return 1, ",
    refused=True,
)
case(
    "clock by map",
    "import time\ndef f(x): return list(map(lambda _: time.time(), [1]))",
    "return ",
    "return 1, ",
    refused=True,
)
case(
    "clock in a class's body",
    "import time\ndef f(x):\n    class C: t = time.time()\n    return C.t",
    "return ",
    "return 1, ",
    refused=True,
)
case(
    "clock by a class in a variable",
    "import datetime\ndef f(x):\n    d = datetime.datetime\n    return d.now()",
    "return ",
    "return 1, ",
    refused=True,
)
case(
    "clock by a partial",
    "import time, functools\nk = functools.partial(time.time)\ndef f(x): return k()",
    "return ",
    "return 1, ",
    refused=True,
)
case(
    "clock by an import in the body",
    "def f(x):\n    from time import time as t\n    return t()",
    "return ",
    "return 1, ",
    refused=True,
)
case(
    "constant put into a library",
    "import math, decimal\nmath.K = decimal.Decimal(1)\ndef f(x): return math.K",
    "Decimal(1)",
    "Decimal(2)",
)
case(
    "object put into a library",
    "import math, types\nmath.K = types.SimpleNamespace(a=1)\ndef f(x): return math.K.a",
    "a=1",
    "a=2",
)
case("list put into a library", "import math\nmath.K = [1]\ndef f(x): return math.K", "[1]", "[2]")
case(
    "built-in function replaced",
    "import builtins\nbuiltins.hex = lambda x: 1\ndef f(x): return hex(2)",
    ": 1\n",
    ": 2\n",
)
case("built-in function made", "import builtins\nbuiltins.K = 1\ndef f(x): return K", "K = 1", "K = 2")
case(
    "class replaced by a function",
    "class A:\n    k = 1\nA = type('A', (), {'k': 1})\ndef f(x): return A.k",
    "{'k': 1}",
    "{'k': 2}",
)
case(
    "class made by a function",
    "def make(k):\n    class A:\n        def m(self): return k\n    return A\nA = make(1)\ndef f(x): return A().m()",
    "make(1)",
    "make(2)",
)
case(
    "class decorator",
    "def deco(c):\n    c.k = 1\n    return c\n@deco\nclass A: pass\ndef f(x): return A.k",
    "c.k = 1",
    "c.k = 2",
)
case(
    "class decorator that wraps",
    "def deco(c):\n    def make(*a): return 1\n    return make\n@deco\nclass A: pass\ndef f(x): return A()",
    "return 1",
    "return 2",
)
case(
    "registry by init subclass",
    "R = []\nclass B:\n    def __init_subclass__(cls): R.append(cls)\nclass A(B): k = 1\ndef f(x): return R[0].k",
    "k = 1",
    "k = 2",
)
case(
    "set name",
    "class D:\n    def __set_name__(self, o, n): self.n = n\n    def __get__(self, o, c): return self.n\nclass A:\n    a = D()\nA.b = A.__dict__['a']\ndef f(x): return A.b",
    "    a = D()\nA.b = A.__dict__['a']",
    "    c = D()\nA.b = A.__dict__['c']",
)
case(
    "wrapped function",
    "import functools\ndef g(x): return 1\n@functools.wraps(g)\ndef h(x): return 0\ndef f(x): return h.__wrapped__(x)",
    "return 1",
    "return 2",
)
case(
    "single dispatch method",
    "import functools\nclass A:\n    @functools.singledispatchmethod\n    def m(self, x): return 0\n    @m.register\n    def _(self, x: int): return 1\ndef f(x): return A().m(x)",
    "return 1",
    "return 2",
)
case(
    "partial method",
    "import functools\nclass A:\n    def m(self, k): return k\n    n = functools.partialmethod(m, 1)\ndef f(x): return A().n()",
    "m, 1",
    "m, 2",
)
case(
    "lambda in a dataclass field",
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: object = dataclasses.field(default=lambda: 1)\ndef f(x): return P().a()",
    "lambda: 1",
    "lambda: 2",
)
case(
    "object in a tuple",
    "class A:\n    def __init__(self, k): self.k = k\nT = (A(1), 'a')\ndef f(x): return T[0].k",
    "A(1)",
    "A(2)",
)
case(
    "objects that refer to each other",
    "class A: pass\na, b = A(), A()\na.o, b.o = b, a\na.k, b.k = 1, 2\ndef f(x): return a.o.k",
    "1, 2",
    "1, 3",
)
case(
    "function in an object's attribute",
    "class A: pass\na = A()\na.m = lambda: 1\ndef f(x): return a.m()",
    "lambda: 1",
    "lambda: 2",
)
case(
    "generic class",
    "import typing\nT = typing.TypeVar('T')\nclass A(typing.Generic[T]):\n    def m(self): return 1\ndef f(x): return A[int]().m()",
    "return 1",
    "return 2",
)
case(
    "base with a parameter",
    "import typing\nT = typing.TypeVar('T')\nclass B(typing.Generic[T]):\n    k = 1\nclass A(B[int]): pass\ndef f(x): return A.k",
    "k = 1",
    "k = 2",
)
case(
    "protocol at run time",
    "import typing\n@typing.runtime_checkable\nclass P(typing.Protocol):\n    def m(self): ...\nclass A:\n    def m(self): ...\ndef f(x): return isinstance(A(), P)",
    "class A:\n    def m",
    "class A:\n    def n",
)
case(
    "abc register",
    "import abc\nclass B(abc.ABC): pass\nclass A: pass\n#\ndef f(x): return isinstance(A(), B)",
    "#",
    "B.register(A)",
    refused=True,
)
case(
    "instance check",
    "class M(type):\n    def __instancecheck__(cls, o): return True\nclass A(metaclass=M): pass\ndef f(x): return isinstance(1, A)",
    "return True",
    "return False",
)
case(
    "chained exceptions",
    "class E(Exception): k = 1\ndef g(): raise E\ndef f(x):\n    try: g()\n    except E as e: return e.k",
    "k = 1",
    "k = 2",
)
case("exception as a global", "E = ValueError('a')\ndef f(x): return str(E)", "'a'", "'b'")
case("star arguments", "def g(*a, **k): return a, k\ndef f(x): return g(1, k=1)", "return a, k", "return k, a")
case(
    "format method", "class A:\n    def __format__(self, s): return s + '1'\ndef f(x): return f'{A():z}'", "'1'", "'2'"
)
case(
    "index method",
    "class A:\n    def __index__(self): return 1\ndef f(x): return [1, 2, 3][A()]",
    "return 1",
    "return 2",
)
case(
    "await",
    "import asyncio\nclass A:\n    def __await__(self):\n        yield from ()\n        return 1\nasync def g(): return await A()\ndef f(x): return asyncio.run(g())",
    "return 1",
    "return 2",
)
case(
    "async generator",
    "import asyncio\nasync def g():\n    yield 1\nasync def h(): return [i async for i in g()]\ndef f(x): return asyncio.run(h())",
    "yield 1",
    "yield 2",
)
case(
    "time zone",
    "import os, time, datetime\nos.environ['TZ'] = 'UTC'\ntime.tzset()\ndef f(x): return datetime.datetime(2020, 1, 1).timestamp()",
    "'UTC'",
    "'Asia/Tokyo'",
)
case(
    "table of a class's functions",
    "class A:\n    def a(self): return 1\n    T = {'a': a}\ndef f(x): return A.T['a'](0)",
    "return 1",
    "return 2",
)
case("type of a global", "class A: k = 1\nclass B: k = 2\nO = A()\ndef f(x): return type(O).k", "O = A()", "O = B()")
case(
    "function that was copied",
    "import types\ndef g(): return K\nK = 1\nh = types.FunctionType(g.__code__, {'K': 1})\ndef f(x): return h()",
    "{'K': 1}",
    "{'K': 2}",
)
case(
    "code object as a global",
    "c = (lambda: 1).__code__\ndef f(x): return c.co_consts",
    "lambda: 1",
    "lambda: 2",
    refused=True,
)
case("bytes that are shared", "B = bytearray(b'a')\nV = memoryview(B)\ndef f(x): return bytes(V)", "b'a'", "b'b'")
case(
    "ordered dict",
    "import collections\nD = collections.OrderedDict(a=1, b=2)\ndef f(x): return list(D)",
    "a=1, b=2",
    "b=2, a=1",
)
case("counter", "import collections\nD = collections.Counter('aab')\ndef f(x): return D['a']", "aab", "abb")
case(
    "default dict",
    "import collections\nD = collections.defaultdict(lambda: 1)\ndef f(x): return D.default_factory()",
    ": 1",
    ": 2",
)
case(
    "chain map",
    "import collections\nD = collections.ChainMap({'a': 1}, {'a': 2})\ndef f(x): return D['a']",
    "{'a': 1}",
    "{'a': 3}",
)
case("template", "import string\nT = string.Template('$a')\ndef f(x): return T.substitute(a=x)", "'$a'", "'$a!'")
case(
    "path as a global", "import pathlib\nP = pathlib.Path('a')\ndef f(x): return str(P / 'b')", "Path('a')", "Path('c')"
)
case(
    "time zone as a global",
    "import datetime\nZ = datetime.timezone(datetime.timedelta(hours=1))\ndef f(x): return str(datetime.datetime(2020, 1, 1, tzinfo=Z))",
    "hours=1",
    "hours=2",
)
case("range as a global", "R = range(3)\ndef f(x): return list(R)", "range(3)", "range(4)")
case(
    "json of an encoder",
    "import json\nclass E(json.JSONEncoder):\n    def default(self, o): return 1\ndef f(x): return json.dumps(object(), cls=E)",
    "return 1",
    "return 2",
)
case(
    "visitor of a library",
    "import ast\nclass V(ast.NodeVisitor):\n    def visit_Name(self, n): self.k = 1\ndef f(x):\n    v = V()\n    v.visit(ast.parse('a'))\n    return v.k",
    "k = 1",
    "k = 2",
)
case(
    "parser of a library",
    "import html.parser\nclass P(html.parser.HTMLParser):\n    def handle_starttag(self, t, a): self.k = 1\ndef f(x):\n    p = P()\n    p.feed('<a>')\n    return p.k",
    "k = 1",
    "k = 2",
)
case(
    "sort key that is a method",
    "class A:\n    def key(self, x): return x\ndef f(x): return sorted([1, 2], key=A().key)",
    "return x\n",
    "return -x\n",
)
case(
    "thread pool",
    "import concurrent.futures\ndef g(x): return x\ndef f(x):\n    with concurrent.futures.ThreadPoolExecutor() as p: return list(p.map(g, [x]))",
    "return x\n",
    "return -x\n",
)
case(
    "reduce of a library",
    "import functools\ndef g(a, b): return a + b\ndef f(x): return functools.reduce(g, [1, 2, 3])",
    "a + b",
    "a * b + 1",
)
case(
    "regular expression with a function",
    "import re\ndef g(m): return '1'\ndef f(x): return re.sub('a', g, 'a')",
    "'1'",
    "'2'",
)

# NumPy

N = "import numpy as np\n"
case("array", N + "K = np.arange(3)\ndef f(x): return K.sum()", "arange(3)", "arange(4)", needs="numpy")
case(
    "dtype of an array",
    N + "K = np.zeros(2, np.float32)\ndef f(x): return K.dtype.name",
    "float32",
    "float64",
    needs="numpy",
)
case("shape of an array", N + "K = np.zeros((2, 3))\ndef f(x): return K.shape", "(2, 3)", "(3, 2)", needs="numpy")
case("function of NumPy", N + "def f(x): return int(np.max([1, x]))", "np.max", "np.min", needs="numpy")
case(
    "function of a part of NumPy",
    N + "def f(x): return float(np.linalg.norm([1, x]))",
    "linalg.norm([1, x])",
    "linalg.det([[1, x], [x, 1]])",
    needs="numpy",
)
case(
    "element set",
    N + "K = np.zeros(3)\nK[0] = 1\ndef f(x): return float(K.sum())",
    "K[0] = 1",
    "K[0] = 2",
    needs="numpy",
)
case(
    "seeded generator",
    N + "def f(x): return int(np.random.default_rng(1).integers(1000))",
    "rng(1)",
    "rng(2)",
    needs="numpy",
)
case(
    "structured array",
    N + "K = np.zeros(1, [('a', 'i4'), ('b', 'i4')])\ndef f(x): return K.dtype.names",
    "('a', 'i4'), ('b', 'i4')",
    "('b', 'i4'), ('a', 'i4')",
    needs="numpy",
)
case("patched NumPy", N + "np.mean = lambda a: 1\ndef f(x): return np.mean([x])", ": 1\n", ": 2\n", needs="numpy")
case(
    "print options",
    N + "np.set_printoptions(precision=3)\ndef f(x): return str(np.array([1 / 3]))",
    "precision=3",
    "precision=5",
    needs="numpy",
)
case(
    "frames of vectorize",
    N + "def g(x): return x + 1\nk = np.vectorize(g)\ndef f(x): return int(k(x))",
    "x + 1",
    "x + 2",
    needs="numpy",
    refused=True,
)

# Dependencies that code does not show

case("clock", "import time\ndef f(x): return time.time()", "time.time()", "time.time() + 1", refused=True)
case(
    "clock by its name",
    "from time import time\ndef f(x): return time()",
    "time()\n" if False else "return time()",
    "return time() + 1",
    refused=True,
)
case("today", "import datetime\ndef f(x): return datetime.datetime.now()", "return ", "return 1, ", refused=True)
case("date of today", "from datetime import date\ndef f(x): return date.today(), x", ", x", ", 1", refused=True)
case(
    "environment", "import os\nos.environ['K'] = '1'\ndef f(x): return os.environ['K']", "= '1'", "= '2'", refused=True
)
case(
    "environment by get",
    "import os\nos.environ['K'] = '1'\ndef f(x): return os.environ.get('K')",
    "= '1'",
    "= '2'",
    refused=True,
)
case(
    "environment by getenv",
    "from os import environ, getenv\nenviron['K'] = '1'\ndef f(x): return getenv('K')",
    "= '1'",
    "= '2'",
    refused=True,
)
case(
    "environment by a global",
    "from os import environ\nenviron['K'] = '1'\ndef f(x): return environ['K']",
    "= '1'",
    "= '2'",
    refused=True,
)
case(
    "random numbers",
    "import random\nrandom.seed(1)\ndef f(x): return random.random()",
    "seed(1)",
    "seed(2)",
    refused=True,
)
case(
    "random numbers by name",
    "from random import random, seed\nseed(1)\ndef f(x): return random()",
    "seed(1)",
    "seed(2)",
    refused=True,
)
case(
    "random numbers of NumPy",
    N + "np.random.seed(1)\ndef f(x): return np.random.rand()",
    "seed(1)",
    "seed(2)",
    refused=True,
    needs="numpy",
)
case(
    "random numbers of NumPy by name",
    "from numpy.random import rand, seed\nseed(1)\ndef f(x): return rand()",
    "seed(1)",
    "seed(2)",
    refused=True,
    needs="numpy",
)
case(
    "random numbers of torch by name",
    "from torch import manual_seed, rand\nmanual_seed(1)\ndef f(x): return float(rand(1))",
    "seed(1)",
    "seed(2)",
    refused=True,
    needs="torch",
)
case(
    "weights of a model",
    "import torch\nnet = torch.nn.Linear(1, 1)\ntorch.nn.init.constant_(net.weight, 1)\n"
    "torch.nn.init.constant_(net.bias, 0)\ndef f(x): return float(net(torch.tensor([1.0])))",
    "weight, 1",
    "weight, 2",
    needs="torch",
)
case(
    "forward of a model",
    "import torch\nclass N(torch.nn.Module):\n    def forward(self, x): return x + 1\nnet = N()\n"
    "def f(x): return float(net(torch.tensor(1.0)))",
    "x + 1",
    "x + 2",
    needs="torch",
)
case(
    "dtype of torch by default",
    "import torch\ntorch.set_default_dtype(torch.float32)\ndef f(x): return str(torch.zeros(1).dtype)",
    "dtype(torch.float32)",
    "dtype(torch.float64)",
    needs="torch",
)
case(
    "generator as a global",
    N + "K = np.random.default_rng(1)\ndef f(x): return int(K.integers(1000))",
    "rng(1)",
    "rng(2)",
    needs="numpy",
)
case(
    "unseeded generator",
    "import random\ndef f(x): return random.Random().random()",
    "return ",
    "return 1, ",
    refused=True,
)
case("uuid", "import uuid\ndef f(x): return uuid.uuid4()", "return ", "return 1, ", refused=True)
case("working directory", "import os\ndef f(x): return os.getcwd(), x", ", x", ", 1", refused=True)
case("file", "open('data', 'w').write('1')\ndef f(x): return open('data').read()", "'1'", "'2'", refused=True)
case(
    "file by a path",
    "import pathlib\npathlib.Path('data').write_text('1')\ndef f(x): return pathlib.Path('data').read_text()",
    "'1'",
    "'2'",
    refused=True,
)
case(
    "file by an argument",
    "import pathlib\npathlib.Path('data').write_text('1')\ndef f(p): return p.read_text()",
    "'1'",
    "'2'",
    refused=True,
    call="m.f(m.pathlib.Path('data'))",
)
case(
    "file by a callee",
    "def g(n):\n    with open(n) as h: return h.read()\nopen('data', 'w').write('1')\ndef f(x): return g('data')",
    "'1'",
    "'2'",
    refused=True,
)
case(
    "file by NumPy",
    N + "np.save('data.npy', 1)\ndef f(x): return int(np.load('data.npy'))",
    "'data.npy', 1",
    "'data.npy', 2",
    refused=True,
    needs="numpy",
)
case(
    "file is there",
    "import os\nopen('data', 'w')\ndef f(x): return os.path.exists('data')",
    "open('data', 'w')",
    "pass",
    refused=True,
)
case(
    "larder file",
    "import larder\nopen('data', 'w').write('1')\ndef f(p: larder.File):\n    with open(p) as h: return h.read()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
)
case(
    "larder file by a path",
    "import larder, pathlib\nopen('data', 'w').write('1')\ndef f(p: larder.File): return pathlib.Path(p).read_text()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
)
case("eval", "K = 1\ndef f(x): return eval('K')", "K = 1", "K = 2", refused=True)
case(
    "exec",
    "K = 1\ndef f(x):\n    d = {}\n    exec('a = 1', globals(), d)\n    return d, K",
    "K = 1",
    "K = 2",
    refused=True,
)
case("globals", "K = 1\ndef f(x): return globals()['K']", "K = 1", "K = 2", refused=True)
case(
    "module by its name",
    "import sys, h\ndef f(x): return sys.modules['h'].K\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
    refused=True,
)
case(
    "import by a name",
    "import importlib\ndef f(x): return importlib.import_module('h').K\n#-- h.py\nK = 1",
    "K = 1",
    "K = 2",
    refused=True,
)
case("dunder import", "def f(x): return __import__('h').K\n#-- h.py\nK = 1", "K = 1", "K = 2", refused=True)
case("frames", "import sys\nK = 1\ndef f(x): return sys._getframe().f_globals['K']", "K = 1", "K = 2", refused=True)
case(
    "function's globals",
    "K = 1\ndef g(): return K\ndef f(x): return g.__globals__['K']",
    "K = 1",
    "K = 2",
    refused=True,
)
case(
    "inspect",
    "import inspect\nK = 1\ndef f(x): return inspect.currentframe().f_globals['K']",
    "K = 1",
    "K = 2",
    refused=True,
)
case(
    "source",
    "import inspect\ndef g(): return 1\ndef f(x): return inspect.getsource(g)",
    "return 1",
    "return  1",
    refused=True,
)
case(
    "program",
    "import subprocess\ndef f(x): return subprocess.run(['echo', '1'], capture_output=True).stdout",
    "'1'",
    "'2'",
    refused=True,
)
case(
    "lock",
    "import threading\nL = threading.Lock()\ndef f(x):\n    with L: return x",
    "return x",
    "return -x",
    refused=True,
)
case("arguments of the program", "import sys\nsys.argv = ['1']\ndef f(x): return sys.argv", "'1'", "'2'", refused=True)
case(
    "method that reads the clock",
    "import time\nclass A:\n    def m(self): return time.time()\ndef f(x): return A().m()",
    "return time",
    "return 1, time",
    refused=True,
)
case(
    "argument's method that reads the clock",
    "import time\nclass A:\n    def m(self): return time.time()\ndef f(x): return x.m()",
    "return time",
    "return 1, time",
    refused=True,
    call="m.f(m.A())",
)
case(
    "context of decimals",
    "import decimal\ndecimal.getcontext().prec = 5\ndef f(x): return str(decimal.Decimal(1) / 3)",
    "prec = 5",
    "prec = 6",
    refused=True,
)
case("doc of a callee", "def g():\n    'a'\ndef f(x): return g.__doc__", "'a'", "'b'")
case(
    "name of a callee",
    "def g(): pass\nk = g\ndef f(x): return k.__name__",
    "def g(): pass\nk = g",
    "def h(): pass\nk = h",
)
case(
    "annotations of a callee",
    "def g(a: int): pass\ndef f(x): return g.__annotations__['a'].__name__",
    "a: int",
    "a: str",
)
case("doc of a class", "class A:\n    'a'\ndef f(x): return A.__doc__", "'a'", "'b'")
case("doc that is used", "def f(x):\n    'a'\n    return 'a'", "return 'a'", "return 'b'")

# Irrelevant edits

case("comment", "def f(x): return x", "return x", "return x  # as it was", want="same")
case("comment above", "K = 1\ndef f(x): return x + K", "K = 1", "# one\nK = 1", want="same")
case("blank lines", "def f(x):\n    y = x\n    return y", "y = x\n", "y = x\n\n\n", want="same")
case("lines above", "def f(x): return x", "def f", "\n\n\n\ndef f", want="same")
case("spaces", "def f(x): return x+1", "x+1", "x  +  1", want="same")
case("parentheses over lines", "def f(x): return [x, 1]", "[x, 1]", "[\n    x,\n    1,\n]", want="same")
case(
    "call over lines",
    "def g(a, b): return a + b\ndef f(x): return g(x, 1)",
    "g(x, 1)",
    "g(\n    x,\n    1,\n)",
    want="same",
)
case(
    "condition over lines",
    "def f(x):\n    if x > 1 and x < 9: return 1\n    return 2",
    "if x > 1 and x < 9: return 1",
    "if (\n        x > 1\n        and x < 9\n    ):\n        return 1",
    want="same",
)
case("quotes", "def f(x): return 'a'", "'a'", '"a"', want="same")
case("number in another base", "def f(x): return 255", "255", "0xFF", want="same")
case(
    "order of functions",
    "def g(x): return x\ndef f(x): return g(x)\n",
    "def g(x): return x\ndef f(x): return g(x)\n",
    "def f(x): return g(x)\ndef g(x): return x\n",
    want="same",
)
case("another function", "def u(x): return 1\ndef f(x): return x", "return 1", "return 2", want="same")
case("another function added", "def f(x): return x\n", "def f", "def u(x): return 1\ndef f", want="same")
case("another global", "U = 1\ndef f(x): return x", "U = 1", "U = 2", want="same")
case("another class", "class U:\n    k = 1\ndef f(x): return x", "k = 1", "k = 2", want="same")
case("another import", "def f(x): return x", "def f", "import json, os\ndef f", want="same")
case(
    "another library imported",
    "import math\ndef f(x): return math.sqrt(x)",
    "import math",
    "import math, random",
    want="same",
)
case(
    "attribute of a module that is not used",
    "import h\ndef f(x): return h.K\n#-- h.py\nK = 1\nU = 1",
    "U = 1",
    "U = 2",
    want="same",
)
case(
    "function of a module that is not used",
    "import h\ndef f(x): return h.g(x)\n#-- h.py\ndef g(x): return x\ndef u(x): return 1",
    "return 1",
    "return 2",
    want="same",
)
case(
    "function moved to another module",
    "from h import g\ndef f(x): return g(x)\n#-- h.py\ndef g(x): return 1\n#-- k.py\n",
    "from h import g\ndef f(x): return g(x)\n#-- h.py\ndef g(x): return 1\n#-- k.py\n",
    "from k import g\ndef f(x): return g(x)\n#-- h.py\n#-- k.py\ndef g(x): return 1\n",
    want="same",
)
case("local variable renamed", "def f(x):\n    y = x + 1\n    return y", "y", "z", want="same")
case("type hint", "def f(x): return x", "f(x)", "f(x: int) -> int", want="same")
case(
    "type hint of a callee",
    "def g(x): return x\ndef f(x): return g(x)",
    "g(x): return x",
    "g(x: int): return x",
    want="same",
)
case("doc", "def f(x):\n    'a'\n    return x", "'a'", "'b'", want="same")
case("doc added", "def f(x):\n    return x", "    return", "    'what it does'\n    return", want="same")
case("doc of a called function", "def g(x):\n    'a'\n    return x\ndef f(x): return g(x)", "'a'", "'b'", want="same")
case("doc of a module", "'a'\ndef f(x): return x", "'a'", "'b'", want="same")
case(
    "comment in a class",
    "class A:\n    def m(self): return 1\ndef f(x): return A().m()",
    "class A:",
    "class A:  # what\n    # it is\n",
    want="same",
)
case(
    "order of methods",
    "class A:\n    def m(self): return 1\n    def n(self): return self.m()\ndef f(x): return A().n()",
    "    def m(self): return 1\n    def n(self): return self.m()",
    "    def n(self): return self.m()\n    def m(self): return 1",
    want="same",
)
case(
    "set literal in another order",
    "K = {'a', 'b', 'c'}\ndef f(x): return 'a' in K",
    "'a', 'b', 'c'",
    "'c', 'a', 'b'",
    want="same",
)
case(
    "script's main", "def f(x): return x\nif __name__ == '__main__':\n    print(1)", "print(1)", "print(2)", want="same"
)
case(
    "logging level elsewhere",
    "import logging\nlog = logging.getLogger('a')\ndef f(x):\n    log.info('x')\n    return x",
    "log = ",
    "logging.basicConfig(level=30)\nlog = ",
    want="same",
)
case("another test", "def f(x): return x\n#-- test_m.py\nassert 1", "assert 1", "assert 2", want="same")
case("annotation of a variable", "K = 1\ndef f(x): return K", "K = 1", "K: int = 1", want="same")
case(
    "import under a condition",
    "import typing\ndef f(x): return x",
    "def f",
    "if typing.TYPE_CHECKING:\n    import json\ndef f",
    want="same",
)
case("future import", "def f(x): return x", "def f", "from __future__ import annotations\ndef f", want="may")
case("constant written otherwise", "K = 4\ndef f(x): return K", "K = 4", "K = 2 + 2", want="same")
case("list computed otherwise", "K = [0, 1]\ndef f(x): return K", "[0, 1]", "list(range(2))", want="same")
case(
    "method that is not called",
    "class A:\n    def m(self): return 1\n    def u(self): return 1\ndef f(x): return A().m()",
    "u(self): return 1",
    "u(self): return 2",
    want="may",
)
case("message of an error", "def f(x):\n    if x < 0: raise ValueError('a')\n    return x", "'a'", "'b'", want="may")

case(
    "set of classes",
    "class A: k = 1\nclass B: k = 2\nclass C: k = 3\nS = {A, B, C}\ndef f(x): return sorted(c.k for c in S)",
    "k = 3",
    "k = 4",
)
case(
    "set of functions",
    "def a(): return 1\ndef b(): return 2\nS = {a, b, len, max}\ndef f(x): return sorted(g() for g in S if g in (a, b))",
    "return 2",
    "return 3",
)
case(
    "made dataclass",
    "import dataclasses\nC = dataclasses.make_dataclass('C', [('a', int, 1)])\ndef f(x): return C().a",
    "int, 1",
    "int, 2",
)
case(
    "subclass of property",
    "class P(property):\n    def __get__(self, o, c): return 1\nclass A:\n    @P\n    def p(self): return 0\ndef f(x): return A().p",
    "return 1",
    "return 2",
)
case(
    "subclass of static method",
    "class S(staticmethod):\n    k = 1\n    def __get__(self, o, c): return lambda: self.k\nclass A:\n    m = S(len)\ndef f(x): return A().m()",
    "k = 1",
    "k = 2",
)
case(
    "partial as the function",
    "import functools\ndef g(a, b): return a - b\nf = functools.partial(g, 1)",
    "g, 1",
    "g, 2",
)
case(
    "cached function as the function", "import functools\n@functools.cache\ndef f(x): return x", "return x", "return -x"
)
case(
    "property in a pattern",
    "class A:\n    @property\n    def p(self): return 1\ndef f(x):\n    match A():\n        case A(p=1): return 1\n        case _: return 2",
    "return 1\ndef",
    "return 3\ndef",
)
case(
    "clock in a pattern",
    "import time\nclass A:\n    @property\n    def p(self): return time.time()\ndef f(x):\n    match A():\n        case A(p=k): return k",
    "return time",
    "return 1 + time",
    refused=True,
)
case(
    "file next to a class that opens",
    "import pathlib\npathlib.Path('data').write_text('1')\nclass A:\n    def open(self): return 1\ndef f(p):\n    A().open()\n    return p.open().read()",
    "text('1')",
    "text('2')",
    refused=True,
    call="m.f(m.pathlib.Path('data'))",
)
case(
    "file of another library",
    "import pathlib\npathlib.Path('data').write_text('1')\nclass File(type(pathlib.Path())): pass\ndef f(p: File):\n    return open(p).read()",
    "text('1')",
    "text('2')",
    refused=True,
    call="m.f(m.pathlib.Path('data'))",
)
case(
    "own method that is called open",
    "class A:\n    def open(self): return 1\n    def m(self): return self.open()\ndef f(x): return A().m()",
    "return 1",
    "return 2",
)
case(
    "class in a function of a library",
    "import contextlib, functools\nclass A: k = 1\nk = functools.partial(getattr, A)\ndef f(x): return k('k')",
    "k = 1",
    "k = 2",
    refused=True,
)
case(
    "user's decorator of a library's function",
    "import functools, math\ndef deco(g):\n    @functools.wraps(g)\n    def w(x): return g(x) + 1\n    return w\nroot = deco(math.sqrt)\ndef f(x): return root(x)",
    "+ 1",
    "+ 2",
)
case(
    "function of a library given one",
    "import functools\ndef g(a, b): return a - b\nk = functools.cmp_to_key(g)\ndef f(x): return sorted([1, 2], key=k)",
    "a - b",
    "b - a",
    refused=True,
)
case(
    "heap",
    "import heapq\nclass A:\n    def __init__(s, k): s.k = k\n    def __lt__(s, o): return s.k < o.k\ndef f(x): return heapq.nsmallest(1, [A(1), A(2)])[0].k",
    "s.k < o.k",
    "s.k > o.k",
)
case(
    "operator overloading by reflection",
    "class A:\n    def __radd__(self, o): return o + 1\ndef f(x): return x + A()",
    "o + 1",
    "o + 2",
)
case(
    "class attribute by a metaclass",
    "class M(type):\n    @property\n    def k(cls): return 1\nclass A(metaclass=M): pass\ndef f(x): return A.k",
    "return 1",
    "return 2",
)
case("new method", "class A:\n    def __new__(cls): return 1\ndef f(x): return A()", "return 1", "return 2")
case(
    "slots with defaults",
    "import dataclasses\n@dataclasses.dataclass(slots=True)\nclass A:\n    a: int = 1\ndef f(x): return A().a",
    "= 1",
    "= 2",
)
case(
    "keyword only dataclass",
    "import dataclasses\n@dataclasses.dataclass(kw_only=True)\nclass A:\n    a: int = 1\ndef f(x):\n    try: return A(5).a\n    except TypeError: return 0",
    "kw_only=True",
    "kw_only=False",
)
case(
    "inherited dataclass",
    "import dataclasses\n@dataclasses.dataclass\nclass B:\n    a: int = 1\n@dataclasses.dataclass\nclass A(B):\n    b: int = 2\ndef f(x): return dataclasses.astuple(A())",
    "a: int = 1",
    "a: int = 3",
)
case(
    "class variable of a dataclass",
    "import dataclasses, typing\n@dataclasses.dataclass\nclass A:\n    k: typing.ClassVar[int] = 1\ndef f(x): return A.k",
    "= 1",
    "= 2",
)
case(
    "unused import in the body", "def f(x):\n    import json\n    return x", "import json", "import string", want="may"
)
case(
    "comment in a callee",
    "def g(x): return x\ndef f(x): return g(x)",
    "return x\ndef",
    "return x  # that\ndef",
    want="same",
)
case(
    "comment in another module",
    "import h\ndef f(x): return h.g(x)\n#-- h.py\ndef g(x): return x",
    "def g",
    "# it\n\ndef g",
    want="same",
)
case(
    "black's layout",
    "def f(x,y = 1): return {'a':x,'b':[1,2,3]}",
    "def f(x,y = 1): return {'a':x,'b':[1,2,3]}",
    "def f(x, y=1):\n    return {\n        'a': x,\n        'b': [1, 2, 3],\n    }",
    want="same",
)
case(
    "loop laid out otherwise",
    "def f(x):\n    s = 0\n    for i in range(x): s += i\n    return s",
    "for i in range(x): s += i",
    "for i in range(\n        x\n    ):\n        s += i",
    want="same",
)
case(
    "try laid out otherwise",
    "def f(x):\n    try: return 1 // x\n    except ZeroDivisionError: return 0",
    "try: return 1 // x\n    except ZeroDivisionError: return 0",
    "try:\n        # divide\n        return 1 // x\n\n    except ZeroDivisionError:\n        return 0",
    want="same",
)
case(
    "comprehension laid out otherwise",
    "def f(x): return [i for i in range(x) if i > 1]",
    "[i for i in range(x) if i > 1]",
    "[\n        i\n        for i in range(x)\n        if i > 1\n    ]",
    want="same",
)
case(
    "with laid out otherwise",
    "import contextlib\ndef f(x):\n    with contextlib.suppress(KeyError): return x",
    "with contextlib.suppress(KeyError): return x",
    "with contextlib.suppress(\n        KeyError,\n    ):\n        return x",
    want="same",
)
case(
    "nested function laid out otherwise",
    "def f(x):\n    def g(y): return y\n    return g(x)",
    "def g(y): return y\n",
    "\n    def g(\n        y,\n    ):\n        return y\n\n",
    want="same",
)
case(
    "local variable of a callee renamed",
    "def g(x):\n    y = x\n    return y\ndef f(x): return g(x)",
    "y",
    "z",
    want="same",
)
case("loop variable renamed", "def f(x): return sum(i for i in range(x))", "i for i in", "j for j in", want="same")
case(
    "another method's comment",
    "class A:\n    def m(self): return 1\n    def u(self): return 2\ndef f(x): return A().m()",
    "return 2",
    "return 2  # so",
    want="same",
)
case(
    "another decorator's function",
    "def deco(g): return g\n@deco\ndef u(x): return 1\ndef f(x): return x",
    "return 1",
    "return 2",
    want="same",
)
case("another module added", "def f(x): return x\n#-- z.py\nK = 1", "K = 1", "K = 2", want="same")
case("all", "__all__ = ['f']\ndef f(x): return x", "['f']", "['f', 'g']", want="same")
case("version of the module", "__version__ = '1'\ndef f(x): return x", "'1'", "'2'", want="same")
case("string joined otherwise", "def f(x): return 'ab'", "'ab'", "'a' 'b'", want="same")
case("parentheses", "def f(x): return x + 1 * 2", "x + 1 * 2", "(x + (1 * 2))", want="same")
case(
    "elif for else if",
    "def f(x):\n    if x == 1: return 1\n    elif x == 2: return 2\n    return 3",
    "    elif x == 2: return 2\n",
    "    else:\n        if x == 2: return 2\n",
    want="same",
)
case(
    "import written in two lines",
    "import json, math\ndef f(x): return math.sqrt(x)",
    "import json, math",
    "import json\nimport math",
    want="same",
)
case(
    "import moved down",
    "import math\nK = 1\ndef f(x): return math.sqrt(x) + K",
    "import math\nK = 1",
    "K = 1\nimport math",
    want="same",
)
case(
    "print options and percent",
    "import numpy as np\nnp.set_printoptions(precision=3)\nK = np.array([1 / 3])\ndef f(x): return '%s' % K",
    "precision=3",
    "precision=5",
    needs="numpy",
)
case(
    "print options and format",
    "import numpy as np\nnp.set_printoptions(precision=3)\nK = np.array([1 / 3])\ndef f(x): return '{}'.format(K)",
    "precision=3",
    "precision=5",
    needs="numpy",
)
case(
    "print options and an f-string",
    "import numpy as np\nnp.set_printoptions(precision=3)\nK = np.array([1 / 3])\ndef f(x): return f'{K}'",
    "precision=3",
    "precision=5",
    needs="numpy",
)
case(
    "print options and a function of NumPy",
    "import numpy as np\nfrom numpy import array2string as a\nnp.set_printoptions(precision=3)\nK = np.array([1 / 3])\ndef f(x): return a(K)",
    "precision=3",
    "precision=5",
    needs="numpy",
)
case(
    "context of a global decimal",
    "import decimal\ndecimal.getcontext().prec = 5\nK = decimal.Decimal(1)\ndef f(x): return str(K / 3)",
    "prec = 5",
    "prec = 6",
)
case(
    "context of a decimal in a list",
    "import decimal\ndecimal.getcontext().prec = 5\nK = [decimal.Decimal(1)]\ndef f(x): return str(K[0] / 3)",
    "prec = 5",
    "prec = 6",
)
case(
    "context of an argument",
    "import decimal\ndecimal.getcontext().prec = 5\ndef f(x): return str(x / 3)",
    "prec = 5",
    "prec = 6",
    call="m.f(m.decimal.Decimal(1))",
)
case(
    "dtype by default of an argument",
    "import torch\ntorch.set_default_dtype(torch.float32)\ndef f(x): return str((x + 1.5).dtype)",
    "dtype(torch.float32)",
    "dtype(torch.float64)",
    call="m.f(m.torch.tensor([1]))",
    needs="torch",
)
case(
    "larder file by a string",
    "from __future__ import annotations\nfrom larder import File\nopen('data', 'w').write('1')\ndef f(p: File | None):\n    with open(p) as h: return h.read()",
    "'1'",
    "'2'",
    call="m.f(m.File('data'))",
    needs="larder",
)
case(
    "larder files in a list",
    "import larder\nopen('data', 'w').write('1')\ndef f(ps: list[larder.File]):\n    s = ''\n    for p in ps: s += open(p).read()\n    return s",
    "'1'",
    "'2'",
    call="m.f([m.larder.File('data')])",
    needs="larder",
)
case(
    "larder file by a callee",
    "import larder\nopen('data', 'w').write('1')\ndef g(p: larder.File): return open(p, 'rb').read()\ndef f(p: larder.File): return g(p)",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
)
case(
    "another file next to a larder file",
    "import larder\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File):\n    open(p)\n    return open('more').read()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "another argument next to a larder file",
    "import larder\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File, q='more'):\n    open(p)\n    return open(q).read()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "path next to a larder file",
    "import larder, pathlib\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File): return pathlib.Path('more').read_text()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "variable set to another file",
    "import larder\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File):\n    p = 'more'\n    return open(p).read()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "larder file's name made longer",
    "import larder\nopen('data', 'w')\nopen('data2', 'w').write('1')\ndef f(p: larder.File): return open(str(p) + '2').read()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "directory of a larder file",
    "import larder, pathlib\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File): return (pathlib.Path(p).parent / 'more').read_text()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "another variable of a file's name",
    "import larder\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File): return (lambda p: open(p).read())('more')",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "file that a function inside sets",
    "import larder\nopen('data', 'w')\nopen('more', 'w').write('1')\ndef f(p: larder.File):\n    def g():\n        nonlocal p\n        p = 'more'\n    g()\n    return open(p).read()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
    refused=True,
)
case(
    "larder file in a function inside",
    "import larder\nopen('data', 'w').write('1')\ndef f(p: larder.File): return (lambda: open(p).read())()",
    "'1'",
    "'2'",
    call="m.f(m.larder.File('data'))",
    needs="larder",
)

case(
    "display options of pandas",
    "import pandas\npandas.options.display.precision = 2\ndef f(t): return t.to_string()",
    "= 2",
    "= 3",
    call="m.f(m.pandas.DataFrame({'a': [1 / 3]}))",
    needs="pandas",
)
case(
    "modes of pandas",
    "import pandas\npandas.options.mode.string_storage = 'python'\ndef f(t): return t.convert_dtypes().dtypes.iloc[0].storage",
    "'python'",
    "'pyarrow'",
    call="m.f(m.pandas.DataFrame({'a': m.pandas.Series(['x'], dtype=object)}))",
    needs="pandas",
)
case(
    "display options of pandas for a function that prints nothing",
    "import pandas\npandas.options.display.precision = 2\ndef f(t): return int(t['a'].sum())",
    "= 2",
    "= 3",
    "same",
    call="m.f(m.pandas.DataFrame({'a': [1]}))",
    needs="pandas",
)

case(
    "time of day that is given",
    "import datetime, time\nK = 1\ndef f(x): return datetime.datetime.fromtimestamp(x, tz=datetime.timezone.utc).year + time.gmtime(x).tm_mon + K",
    "K = 1",
    "K = 2",
)
case(
    "library that may be missing",
    "import json\ntry: import not_there_at_all\nexcept ImportError: not_there_at_all = None\nK = 1\n"
    "def f(x):\n    if json is not None and not not_there_at_all: return K\n    return 0",
    "K = 1",
    "K = 2",
)
case(
    "model that is an argument",
    "import numpy\nfrom sklearn.ensemble import RandomForestClassifier as R\nX = numpy.arange(40.0).reshape(20, 2) % 7\nK = 0.5\n"
    "M = R(3, random_state=0).fit(X, X[:, 0] > 2)\ndef f(m): return (m.predict_proba(X)[:, 1] > K).tolist()",
    "K = 0.5",
    "K = 2",
    call="m.f(m.M)",
    needs="sklearn",
)
case(
    "trees of a model that is an argument",
    "import numpy\nfrom sklearn.ensemble import RandomForestClassifier as R\nX = numpy.arange(40.0).reshape(20, 2) % 7\n"
    "M = R(3, random_state=0).fit(X, X[:, 0] > 2)\ndef f(m): return m.predict_proba(X).tolist()",
    "> 2",
    "> 5",
    call="m.f(m.M)",
    needs="sklearn",
)

case(
    "option of pandas that is read",
    "import pandas\npandas.options.display.precision = 2\ndef f(x): return pandas.get_option('display.precision')",
    "= 2",
    "= 3",
    needs="pandas",
)
case(
    "value that is the very one of a variable",
    "class S: pass\nM = S()\ndef g(): return M\ndef f(x): return x is M",
    "def g(): return M",
    "def g(): return S()",
    call="m.f(m.g())",
)
case(
    "number that is none and that of NumPy",
    "import numpy\nN = numpy.nan\ndef f(x): return x is numpy.nan",
    "N = numpy.nan",
    "N = float('nan')",
    call="m.f(m.N)",
    needs="numpy",
)

# Randomness that libraries draw themselves.
for name, made, draws in (
    (
        "a model by a name",
        "from sklearn.cluster import KMeans\nM = {'k': KMeans}",
        "M['k'](2, n_init=1, init='random').fit(numpy.arange(40.0).reshape(20, 2) % 7).labels_.tolist()",
    ),
    ("a model that is an argument", "from sklearn.utils import shuffle", "shuffle(list(range(9)))"),
    ("rows of a table", "import pandas\nT = pandas.DataFrame({'a': range(99)})", "T.sample(3)['a'].tolist()"),
    ("a generator of nothing", "G = [None]", "numpy.random.default_rng(G[0]).random()"),
    ("a sampler", "from scipy.stats import qmc", "qmc.LatinHypercube(2).random(1).tolist()"),
):
    case(
        f"random numbers of {name}",
        f"import numpy\n{made}\nnumpy.random.seed(1)\ndef f(x): return {draws}",
        "seed(1)",
        "seed(2)",
        refused=True,
        needs="scipy"
        if "scipy" in made
        else "sklearn"
        if "sklearn" in made
        else "pandas"
        if "pandas" in made
        else "numpy",
    )
case(
    "what draws nothing though it could",
    "import numpy\nfrom sklearn.decomposition import PCA\nnumpy.random.seed(1)\ndef f(x): return PCA(1).fit_transform(numpy.eye(3)).round(3).tolist()",
    "seed(1)",
    "seed(2)",
    "same",
    needs="sklearn",
)
case(
    "variable of the function around that is set later",
    "def make():\n    def f(x): return 0 if x == 0 else y\n    yield f\n    y = 1\n    yield f\ng = make()\nf = next(g)\nnext(g)",
    "y = 1",
    "y = 2",
)

# Files that are read through other functions, and files that are read in addition.
for name, body, refused in (
    ("by a helper", "def g(q):\n    with open(q) as h: return h.read()\ndef f(p: larder.File): return g(p)", False),
    ("by its text", "def f(p: larder.File): return open(str(p)).read()", False),
    ("by another name", "def f(p: larder.File):\n    q = p\n    return pathlib.Path(q).read_text()", False),
    ("in a comprehension", "def f(p: larder.File): return [open(q).read() for q in (p,)]", False),
    ("by map", "def f(p: larder.File): return list(map(pathlib.Path.read_text, [pathlib.Path(p)]))", False),
    ("by a list", "def g(q): return open(q).read()\ndef f(p: list[larder.File]): return [g(q) for q in p]", False),
    ("in a thread", "def f(p: larder.File):\n    with P(1) as t: return t.submit(open, p).result().read()", False),
    ("and an index", "def f(p: larder.File): return open(f'{p}.more').read()", True),
    (
        "and a sibling",
        "def g(q): return pathlib.Path(q + '.more')\ndef f(p: larder.File): return g(p.path).read_text()",
        True,
    ),
    ("and what it is said to be", "def f(p: larder.File): return open(p.path + '.more').read()", True),
    (
        "and what a thread opens",
        "def f(p: larder.File):\n    with P(1) as t: return t.submit(open, 'data.more').result().read()",
        True,
    ),
    (
        "and what a digest says",
        "def f(p: larder.File): return larder.File('data.more').digest() if open(p) else 0",
        True,
    ),
    (
        "and what NumPy reads",
        "import numpy\ndef f(p: larder.File): return numpy.fromfile(p.path + '.more', 'u1')",
        True,
    ),
    (
        "and what Arrow reads",
        "import pyarrow.json\ndef f(p: larder.File): return pyarrow.json.read_json(str(p) + '.more').num_rows",
        True,
    ),
    (
        "and another file in its directory",
        "import pyarrow.json\ndef f(p: larder.File): return pyarrow.json.read_json(p / '..' / 'data.more').num_rows",
        True,
    ),
    (
        "and what a cache has",
        "import functools\n@functools.lru_cache\ndef g(q): return open(q).read()\nG = g('data.more')\ndel G\ndef f(p: larder.File): return g('data.more')",
        True,
    ),
    ("and lines", "def f(p: larder.File): return linecache.getline('data.more', 1) if open(p) else 0", True),
    ("in a function that is given", "def g(p: larder.File): return open(p).read()\ndef f(g, p): return g(p)", True),
):
    made = "import larder, pathlib, linecache\nfrom concurrent.futures import ThreadPoolExecutor as P\n"
    made += "open('data', 'w').write('0')\nopen('data.more', 'w').write('0')\n"
    edited = "data.more" if " and " in f" {name}" else "data"
    given = "[m.larder.File('data')]" if name == "by a list" else "m.larder.File('data')"
    case(
        f"larder file {name}",
        made + body,
        f"open('{edited}', 'w').write('0')",
        f"open('{edited}', 'w').write('1')",
        call="m.f(m.g, 'data')" if name.endswith("given") else f"m.f({given})",
        refused=refused,
        needs="numpy" if "numpy" in body else "pyarrow" if "pyarrow" in body else "larder",
    )

for name, body, same in (
    ("its directory", "return pathlib.Path(p).parent.name, open(p).read()", False),
    ("its name by a helper", "return g(p), open(p).read()", False),
    ("its text", "return str(p)[-14:], open(p).read()", False),
    ("its name in a message", "return f'{p} is {open(p).read()}'[-19:]", False),
    ("its text by another name", "return (lambda q: str(q)[-14:])(p)", False),
    ("its text in a list", "return [str(q)[-14:] for q in [p]]", False),
    ("its text by an object", "return '%s' % (p,)", False),
    ("nothing but what it has", "return pathlib.Path(p).read_text() + open(str(p)).read()", True),
):
    case(
        f"larder file of which counts {name}",
        "import larder, pathlib, os\nos.mkdir('a_folder')\nfor d in ('a_folder',): open(d + '/x.txt', 'w').write('1')\n"
        f"def g(q): return os.path.basename(os.path.dirname(q))\ndef f(p: larder.File): {body}",
        "a_folder",
        "b_folder",
        "same" if same else "differ",
        call="m.f(m.larder.File(next(m.pathlib.Path('.').glob('*_folder')) / 'x.txt'))",
        needs="larder",
    )

# The position of code, the names of variables, and unrelated registrations.
case(
    "comment above a function that returns a traceback",
    "import traceback\ndef f(x):\n    try: 1 / 0\n    except Exception: return traceback.format_exc()",
    "def f",
    "# c\ndef f",
    refused=True,
)
case(
    "comment above a function that returns its stack",
    "import traceback\ndef f(x): return traceback.extract_stack()[-1].lineno",
    "def f",
    "# c\ndef f",
    refused=True,
)
case(
    "traceback that is printed",
    "import traceback\ndef f(x):\n    try: return 1 // x\n    except Exception: traceback.print_exc()",
    "def f",
    "# c\ndef f",
    want="same",
)
case(
    "line of a warning that is caught",
    "import warnings\ndef f(x):\n    with warnings.catch_warnings(record=True) as w:\n        warnings.simplefilter('always')\n        warnings.warn('w')\n    return w[0].lineno",
    "def f",
    "# c\ndef f",
    refused=True,
)
case(
    "warnings that are not read",
    "import warnings\ndef f(x):\n    with warnings.catch_warnings():\n        warnings.simplefilter('ignore')\n        return x",
    "def f",
    "# c\ndef f",
    want="same",
)
case(
    "clock in a record of a log",
    "import logging, random\ndef f(x): return logging.LogRecord('a', 1, 'b', 1, 'c', (), None).created",
    "def f",
    "C = 1\ndef f",
    refused=True,
)
case(
    "names of variables by code",
    "def h(x):\n    q = x\n    return q\ndef f(x): return list(h.__code__.co_varnames)",
    "q",
    "zz",
    refused=True,
)
case(
    "name of a variable without a value",
    "def f(x):\n    try:\n        return q\n        q = 1\n    except NameError as e: return str(e)",
    "q",
    "zz",
)
case(
    "name of a variable without a value in a callee",
    "def h(x):\n    if x < 0: q = 1\n    return q\ndef f(x):\n    try: return h(x)\n    except (ValueError, Exception) as e: return repr(e)",
    "q",
    "zz",
)
case(
    "name of a free variable without a value",
    "def f(x):\n    def g(): return q\n    try: return g()\n    except Exception as e: return str(e)\n    q = 1",
    "q",
    "zz",
)
case(
    "name of a variable where errors are distinguished",
    "def f(x):\n    q = x\n    try: return 1 // q\n    except ZeroDivisionError as e: return str(e)",
    "q",
    "zz",
    want="same",
)
case(
    "name of a variable where errors are swallowed",
    "def f(x):\n    try:\n        q = 1 // x\n        return q\n    except Exception: return 0",
    "q",
    "zz",
    want="same",
)
case(
    "class registered as a number",
    "import numbers\nclass C: pass\n# r\ndef f(x): return isinstance(C(), numbers.Number)",
    "# r",
    "numbers.Number.register(C)",
)
case(
    "class registered as a kind of number",
    "import numbers\nclass C: pass\n# r\ndef f(x): return isinstance(C(), numbers.Number)",
    "# r",
    "numbers.Rational.register(C)",
)
case(
    "class registered as a sequence, matched",
    "import collections.abc\nclass C:\n    def __len__(self): return 1\n    def __getitem__(self, i): return [5][i]\n# r\ndef f(x):\n    match C():\n        case [*a]: return a\n    return None",
    "# r",
    "collections.abc.Sequence.register(C)",
)
case(
    "class registered in another module",
    "import collections.abc, r\ndef f(x): return isinstance(r.C(), collections.abc.Sequence)\n#-- r.py\nimport collections.abc\nclass C: pass\n# r",
    "# r",
    "collections.abc.Sequence.register(C)",
)
case(
    "how objects are copied",
    "import copy, copyreg\nclass C:\n    def __init__(self, v): self.v = v\ncopyreg.pickle(C, lambda c: (C, (c.v + 1,)))\ndef f(x): return copy.copy(C(x)).v",
    "c.v + 1",
    "c.v + 2",
)
case(
    "warnings that are errors",
    "import warnings\nwarnings.simplefilter('ignore')\ndef f(x):\n    try: warnings.warn('w')\n    except UserWarning: return 1\n    return 0",
    "'ignore'",
    "'error'",
)
case(
    "digits of whole numbers",
    "import sys\nsys.set_int_max_str_digits(1000)\ndef f(x):\n    try: return len(str(10 ** 2000))\n    except ValueError: return 0",
    "1000",
    "4300",
)
case(
    "length of fields",
    "import csv\ncsv.field_size_limit(10)\ndef f(x):\n    try: return list(csv.reader(['a' * 100]))\n    except csv.Error: return 0",
    "(10)",
    "(1000)",
)
case(
    "file that Arrow maps",
    "import pyarrow as pa\nopen('d', 'w').write('1')\ndef f(x): return pa.memory_map('d').read()",
    "'1'",
    "'2'",
    needs="pyarrow",
    refused=True,
)
case(
    "owner of a file",
    "import pathlib\nopen('d', 'w').write('1')\ndef f(x): return pathlib.Path('d').owner()",
    "'1'",
    "'2'",
    want="same",
    refused=True,
)

# Randomness and files of the most used libraries, and arguments that pass seeds.
for title, text, needs, is_refused in [
    (
        "dropout of torch",
        "import torch\ndef f(x): return torch.nn.functional.dropout(torch.ones(9), 0.5).sum().item()",
        "torch",
        True,
    ),
    (
        "dropout that is off",
        "import torch\ndef f(x): return torch.nn.functional.dropout(torch.ones(9), 0.5, training=False).sum().item()",
        "torch",
        False,
    ),
    (
        "dropout that is off, by place",
        "import torch\ndef f(x): return torch.nn.functional.dropout(torch.ones(9), 0.5, False).sum().item()",
        "torch",
        False,
    ),
    (
        "tensors drawn from a generator",
        "import torch\ndef f(x):\n    g = torch.Generator().manual_seed(x)\n    return torch.rand(2, generator=g).tolist() + torch.randperm(int(torch.ones(3).sum()), generator=g).tolist()",
        "torch",
        False,
    ),
    (
        "tensors drawn from no generator",
        "import torch\ndef f(x):\n    g = torch.Generator().manual_seed(x)\n    return torch.rand(2).tolist() + torch.randperm(3, generator=g).tolist()",
        "torch",
        True,
    ),
    (
        "functions in a compiled module of torch",
        "import torch\ndef f(x): return torch.nn.functional.gelu(torch.ones(2)).tolist() + torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2)).tolist()",
        "torch",
        False,
    ),
    (
        "model of scikit-learn without a seed",
        "from sklearn.cluster import KMeans\ndef f(x): return KMeans(2, n_init=1).fit([[0.0], [1.0], [2.0], [5.0]]).inertia_",
        "sklearn",
        True,
    ),
    (
        "model of scikit-learn with a seed",
        "from sklearn.cluster import KMeans\ndef f(x): return KMeans(2, n_init=1, random_state=x).fit([[0.0], [1.0], [2.0], [5.0]]).labels_.tolist()",
        "sklearn",
        False,
    ),
    (
        "split without a seed",
        "from sklearn.model_selection import train_test_split\ndef f(x): return train_test_split(list(range(9)))[0]",
        "sklearn",
        True,
    ),
    (
        "split with a seed",
        "from sklearn.model_selection import train_test_split\ndef f(x): return train_test_split(list(range(9)), random_state=x)[0]",
        "sklearn",
        False,
    ),
    (
        "samples of a distribution",
        "import scipy.stats\ndef f(x): return scipy.stats.norm.rvs(size=2).tolist()",
        "scipy",
        True,
    ),
    (
        "samples of a distribution with a seed",
        "import scipy.stats\ndef f(x): return scipy.stats.norm.rvs(size=2, random_state=x).tolist()",
        "scipy",
        False,
    ),
]:
    case(
        title,
        text + "\n# end",
        "# end",
        "# the end",
        want="may" if is_refused else "same",
        needs=needs,
        refused=is_refused,
    )

# Effects without a name, and calls under another name.
for title, first, second, body, needs in [
    ("NumPy's printing", "pass", "numpy.set_printoptions(precision=2)", "return F(numpy.array([1.23456]))", "numpy"),
    ("the zone", "os.environ['TZ'] = 'UTC'", "os.environ['TZ'] = 'Asia/Tokyo'", "time.tzset and 0; return S(D)", ""),
    ("filters of warnings", "W('ignore')", "W('always')", "with C(record=True) as w: N('x')\n    return len(w)", ""),
    ("decimal in a thread", "pass", "decimal.DefaultContext.prec = 5", "return list(T(1).map(third, [x]))", ""),
    ("prefixes of XML", "pass", "E.register_namespace('zz', 'http://a')", "return E.tostring(E.XML('<a xmlns=\"http://a\"/>'))", ""),
    ("dialects of CSV", "csv.register_dialect('d', delimiter=',')", "csv.register_dialect('d', delimiter=';')", "return list(csv.reader(['a,b'], 'd'))", ""),
    ("what is called for errors", "numpy.seterrcall(print)", "numpy.seterrcall(third)", "return float(numpy.ones(1)[0] / numpy.float64(0))", "numpy"),
    ("scikit-learn's printing", "pass", "sklearn.set_config(print_changed_only=False)", "return repr(K())", "sklearn"),
    ("scikit-learn's outputs", "pass", "sklearn.set_config(transform_output='pandas')", "return type(K().fit_transform(numpy.eye(2))).__name__", "sklearn"),
]:  # fmt: skip
    made = "import os, time, datetime, operator, warnings, decimal, csv\nimport xml.etree.ElementTree as E\n"
    made += "from warnings import simplefilter as W, catch_warnings as C, warn as N\n"
    made += "from concurrent.futures import ThreadPoolExecutor as T\n"
    made += "F, S, D = '{}'.format, operator.methodcaller('timestamp'), datetime.datetime(2020, 1, 1)\n"
    made += "def third(*a): return str(decimal.Decimal(1) / 3)\n"
    if needs:
        made += f"import {needs}, numpy\n"
    if needs == "numpy":
        made += "numpy.seterr(all='call')\n" if "called" in title else ""
    if needs == "sklearn":
        made += "from sklearn.preprocessing import StandardScaler as K\n"
    zone = "time.tzset()\n" if title == "the zone" else ""
    case(
        f"setting: {title}",
        f"{made}{first}\n{zone}def f(x):\n    {body.removeprefix('time.tzset and 0; ')}",
        f"{first}\n{zone}def f",
        f"{second}\n{zone}def f",
        want="may" if title == "what is called for errors" else "differ",
        refused=True,
        needs=needs,
    )

for title, body, call in [
    ("a function of NumPy", "from numpy import loadtxt\ndef f(p): return float(loadtxt(p))", "m.f('d.txt')"),
    ("one in a table", "import numpy\nR = {'t': numpy.loadtxt}\ndef f(p): return float(R['t'](p))", "m.f('d.txt')"),
    ("one that is given", "import numpy\ndef f(r): return float(r('d.txt'))", "m.f(m.numpy.loadtxt)"),
    ("a part of one", "import numpy, functools\ndef f(r): return float(r())", "m.f(m.functools.partial(m.numpy.loadtxt, 'd.txt'))"),
    ("a method that is bound", "import numpy\nr = pathlib.Path('d.txt').read_text\ndef f(x): return r()", "m.f(1)"),
    ("a method that is given", "import numpy\ndef f(r): return r()", "m.f(m.pathlib.Path('d.txt').read_text)"),
    ("a method in a table", "import numpy\nR = {'t': pathlib.Path.read_text}\ndef f(p): return R['t'](pathlib.Path(p))", "m.f('d.txt')"),
    ("a caller of methods", "import numpy, operator\nr = operator.methodcaller('read_text')\ndef f(p): return r(pathlib.Path(p))", "m.f('d.txt')"),
]:  # fmt: skip
    case(
        f"file read by {title}",
        f"import pathlib\nopen('d.txt', 'w').write('1')\n{body}",
        "write('1')",
        "write('2')",
        call=call,
        refused=True,
        needs="numpy",
    )

for title, body in [
    ("name", "return [g.__name__ for g in gs]"),
    ("name in a string", "return str(gs[0])[:20]"),
    ("qualified name", "return [g.__qualname__ for g in gs]"),
    ("name by getattr", "return [getattr(g, '__' + 'name__') for g in gs]"),
]:
    text = f"def low(a): return min(a)\nGIVEN = [low]\ndef f(gs): {body}"
    case(f"{title} of a function that is given", text, "low", "lowest", call="m.f(m.GIVEN)", refused=True)
case(
    "text about a function that is given",
    "def low(a):\n    'one'\n    return min(a)\ndef f(g): return g.__doc__",
    "'one'",
    "'two'",
    call="m.f(m.low)",
)
case(
    "annotation of a function that is called in its module",
    "import h\ndef f(x): return h.g(x)\n#-- h.py\ndef g(x): return x",
    "def g(x)",
    "def g(x: int)",
    want="same",
)
for title, body in [
    ("of a future", "with T(1) as t: return str(t.submit(g, x).exception())"),
    ("gathered", "return [str(e) for e in asyncio.run(h(x))]"),
]:
    case(
        f"names of variables in an error, {title}",
        "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor as T\n"
        "def g(x):\n    if x: print(alpha)\n    alpha = 1\n"
        "async def k(x): return g(x)\nasync def h(x): return await asyncio.gather(k(x), return_exceptions=True)\n"
        f"def f(x):\n    {body}",
        "alpha",
        "beta",
    )
for title, body in [
    ("of a picture", "from PIL import Image\ndef f(b):\n    buf = io.BytesIO(b)\n    try: return Image.open(buf).size\n    except Exception: return 0"),
    ("by a helper", "import numpy\ndef g(h): return numpy.load(h)\ndef f(b):\n    try: return g(io.BytesIO(b)).tolist()\n    except Exception: return 0"),
    ("in a with", "import pandas\ndef f(b):\n    with io.BytesIO(b'a') as h: return list(pandas.read_csv(h))"),
]:  # fmt: skip
    needs = {"from PIL": "PIL", "import n": "numpy", "import p": "pandas"}[body[:8]]
    case(f"buffer {title}", f"import io\n{body}\n# end", "# end", "# the end", "same", "m.f(b'')", needs=needs)
case(
    "objects that are copied",
    "import copy\nclass N:\n    def __init__(self, v): self.v = v\ndef f(n): return copy.deepcopy(n).v\n# end",
    "# end",
    "# the end",
    want="same",
    call="m.f(m.N(1))",
)
for title, body in [
    ("tables", "import configparser\ndef f(x):\n    p = configparser.ConfigParser()\n    p.read_string('[a]\\nb=1')\n    return dict(p['a'])"),
    ("transforms", "import scipy.fft\ndef f(x): return abs(scipy.fft.rfft([1.0, 2.0])).tolist()"),
]:  # fmt: skip
    case(
        f"libraries: {title}", f"{body}\n# end", "# end", "# the end", "same", needs="scipy" if "scipy" in body else ""
    )

for title, second, body in [
    ("the type of autocast", "torch.set_autocast_dtype('cpu', torch.float16)", "with torch.autocast('cpu'): return str((x @ x).dtype)"),
    ("cudnn", "torch.backends.cudnn.benchmark = True", "return torch.backends.cudnn.benchmark"),
    ("precision of oneDNN", "torch.backends.mkldnn.matmul.fp32_precision = 'bf16'", "return torch.backends.mkldnn.matmul.fp32_precision"),
    ("precision of all", "torch.backends.fp32_precision = 'tf32'", "return torch.backends.fp32_precision"),
    ("attention", "torch.backends.cuda.enable_flash_sdp(False)", "return torch.backends.cuda.flash_sdp_enabled()"),
    ("the fast path of attention", "torch.backends.mha.set_fastpath_enabled(False)", "return torch.backends.mha.get_fastpath_enabled()"),
    ("what memory is filled with", "torch.utils.deterministic.fill_uninitialized_memory = False", "return torch.utils.deterministic.fill_uninitialized_memory"),
    ("the backend of linear algebra", "torch.backends.cuda.preferred_linalg_library('magma')", "return str(torch._C._get_linalg_preferred_backend())"),
]:  # fmt: skip
    text = f"import torch\nNEEDED = torch.set_autocast_dtype, torch.backends.mha\npass\ndef f(x):\n    {body}"
    case(
        f"setting of torch: {title}",
        text,
        "pass",
        second,
        call="m.f(m.torch.eye(2))",
        refused=True,
        needs="torch torch.backends.mha",
    )

for title, text, old, new, want in [
    (
        "as text and as a class",
        "class C:\n    size: int = 1\ndef f(x):\n    kind = C.__annotations__['size']\n    return x if isinstance(kind, str) else kind(4)",
        "size: int",
        "size: 'int'",
        "differ",
    ),
    (
        "of a class that is edited",
        "class Many:\n    def __new__(cls, x): return x * 2\nclass C:\n    size: Many\ndef f(x): return C.__annotations__['size'](x)",
        "x * 2",
        "x * 3",
        "differ",
    ),
    (
        "by its text",
        "import typing\nclass Many:\n    def __new__(cls, x): return x * 2\nclass C:\n    size: 'Many'\n"
        "def f(x): return typing.get_type_hints(C)['size'](x)",
        "x * 2",
        "x * 3",
        "differ",
    ),
    (
        "in data about it",
        "import typing\nclass C:\n    size: typing.Annotated[int, {'scale': 2}]\n"
        "def f(x): return typing.get_type_hints(C, include_extras=True)['size'].__metadata__[0]['scale'] * x",
        "'scale': 2",
        "'scale': 3",
        "differ",
    ),
    (
        "of a field",
        "import dataclasses\nclass Many:\n    def __new__(cls, x): return x * 2\n@dataclasses.dataclass\nclass C:\n    size: Many\n"
        "def f(x): return dataclasses.fields(C)[0].type(x)",
        "x * 2",
        "x * 3",
        "differ",
    ),
    (
        "that nothing reads",
        "class Many:\n    def go(self): return 2\nclass C:\n    size: Many = 1\ndef f(x): return C.size",
        "return 2",
        "return 3",
        "same",
    ),
]:
    case(f"annotation {title}", text, old, new, want, refused=True)

for title, body in [
    ("a reader", "return models.WordLevel.read_file('v.json')['a']"),
    ("a class", "return models.WordLevel('v.json').token_to_id('a')"),
    ("a class by a keyword", "return models.WordLevel(vocab='v.json').token_to_id('a')"),
    ("a path that is held", "return models.WordLevel(PATH).token_to_id('a')"),
    ("an implementation", "return tokenizers.BertWordPieceTokenizer('v.txt').token_to_id('a')"),
    ("training", "t = tokenizers.BertWordPieceTokenizer(); t.train('v.txt', show_progress=False); return len(t.get_vocab())"),
]:  # fmt: skip
    case(
        f"file that native code reads: {title}",
        "import tokenizers\nfrom tokenizers import models\nPATH = 'v.json'\n"
        'with open("v.json", "w") as h: h.write(\'{"[UNK]": 0, "a": 1}\')\n'
        "with open('v.txt', 'w') as h: h.write('[UNK]\\n[SEP]\\n[CLS]\\n[PAD]\\n[MASK]\\na\\n')\n"
        f"def f(x):\n    {body}",
        '"a": 1}' if "WordLevel" in body else "a\\n')",
        '"a": 2}' if "WordLevel" in body else "b\\na\\n')",
        refused=True,
        needs="tokenizers",
    )
case(
    "vocabulary that is given",
    "from tokenizers import models\ndef f(x): return models.WordLevel(vocab={'a': x}, unk_token='a').token_to_id('a')\n# end",
    "# end",
    "# the end",
    want="same",
    needs="tokenizers",
)

case(
    "time zones that only repr tells apart",
    "import datetime as d\nZONE = d.timezone.utc\ndef f(x): return repr(ZONE)",
    "d.timezone.utc",
    "d.timezone(d.timedelta(0), 'UTC')",
)

_TABLE = "import pandas\nclass C:\n    low = 2\nlow = 2\nWHERE = 'v > @low'\nNESTED = {'a': ['v < @C.low']}\ndef g(x): return x + 1\n"
for title, body, old, new, want in [
    ("of query", "return pandas.DataFrame({'v': [1, x]}).query('v >= @low').v.tolist()", "low = 2\nW", "low = 4\nW", "differ"),
    ("in a variable", "return pandas.DataFrame({'v': [1, x]}).query(WHERE).v.tolist()", "low = 2\nW", "low = 0\nW", "differ"),
    ("in a list", "return pandas.DataFrame({'v': [1, x]}).query(NESTED['a'][0]).v.tolist()", "C:\n    low = 2", "C:\n    low = 4", "differ"),
    ("of eval", "return pandas.eval('low + 1') + x", "low = 2\nW", "low = 4\nW", "differ"),
    ("with attributes", "return pandas.DataFrame({'v': [1, x]}).eval('v + @C.low').tolist()", "C:\n    low = 2", "C:\n    low = 4", "differ"),
    ("of a column only", "return pandas.DataFrame({'low': [1, x]}).query('low > 1').low.tolist()", "low = 2\nW", "low = 4\nW", "same"),
    ("of no expression", "return pandas.Series(['low']).tolist()", "low = 2\nW", "low = 4\nW", "same"),
]:  # fmt: skip
    case(f"names in a string {title}", f"{_TABLE}def f(x):\n    {body}", old, new, want, needs="pandas")
for title, body, want in [
    ("a formula", "return M.ols('y ~ g(x)')", "differ"),
    ("a mode", "return M.eval() and 'g' * x", "same"),
]:
    text = (
        "def g(x): return x + 1\nclass M:\n    def eval(): return 'g(x)'\n"
        f"    def ols(text): return len(text) + g(2)\ndef f(x):\n    {body}"
    )
    if want == "same":
        text = text.replace("len(text) + g(2)", "len(text)")
    case(f"names in a string: {title}", text, "x + 1", "x + 2", want)

for title, text in [
    ("by a reader", "import io, joblib\ndef g(): return 1\ndef f(x):\n    return joblib.load(io.BytesIO(b'cm\\ng\\n(tR.'))"),
    ("by a loader of YAML", "import yaml\ndef g(): return 1\ndef f(x):\n    return yaml.unsafe_load('!!python/object/apply:m.g []')"),
]:  # fmt: skip
    case(
        f"code that data names, {title}",
        text,
        "return 1",
        "return 2",
        refused=True,
        needs="joblib" if "joblib" in text else "yaml",
    )
case(
    "code that data names, and the function",
    "import io, joblib\nclass C:\n    v = 1\ndef f(x):\n"
    "    made = joblib.load(io.BytesIO(b'cm\\nC\\n(tR.'))\n    return made.v if isinstance(made, C) else 0",
    "v = 1",
    "v = 2",
    needs="joblib",
)

_ATTRS = """
import attrs
def conv(v): return int(v) + CONV
CONV = 0
def valid(i, a, v):
    if v > MOST: raise ValueError("large")
MOST = 100
def rep(v): return "r%d" % REP
REP = 1
def fac(): return FAC
FAC = 4
def setter(i, a, v): return v + SET
SET = 0
def eqk(v): return v * EQ
EQ = 1
POST = 0
@attrs.define
class A:
    c: int = attrs.field(default=1, converter=conv)
    v: int = attrs.field(default=5, validator=valid)
    r: int = attrs.field(default=5, repr=rep)
    d: int = attrs.field(factory=fac)
    s: int = attrs.field(default=5, on_setattr=setter)
    e: int = attrs.field(default=5, eq=eqk)
    def __attrs_post_init__(self): self.d += POST
    def go(self): return self.c + 1
@attrs.frozen
class B:
    x: int = 1
def f(n):
    a = A(n)
    a.s = 7
    b = A(n)
    b.s, b.e = 7, 6
    return [repr(a), a.go(), a == a, a == b, attrs.asdict(a), attrs.evolve(a, v=6).v, B(n).x]
# end
"""
for old, new in [
    *(("CONV = 0", "CONV = 1"), ("MOST = 100", "MOST = 1"), ("REP = 1", "REP = 2"), ("FAC = 4", "FAC = 9")),
    *(("SET = 0", "SET = 3"), ("EQ = 1", "EQ = 0"), ("POST = 0", "POST = 2"), ("self.c + 1", "self.c + 2")),
    *(("int = 1", "int = 2"), ("# end", "# the end")),
]:
    want = {"int = 1": "may", "# end": "same"}.get(old, "differ")
    case(f"a class of attrs: {old}", _ATTRS, old, new, want, needs="attrs")
case(
    "an object of attrs",
    _ATTRS + "\ndef h(a): return a.go()",
    "self.c + 1",
    "self.c + 2",
    call="m.h(m.A(1))",
    needs="attrs",
)

_PYDANTIC = """
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from pydantic import computed_field, field_serializer, field_validator, model_validator
from typing import Annotated
def after(v): return v + AFTER
AFTER = 0
class In(BaseModel):
    q: Annotated[int, AfterValidator(after)] = 3
    z: int = Field(default=2, le=50)
class S(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    a: int = 1
    s: str = " x "
    i: In = Field(default_factory=lambda: In(q=FACT))
    @field_validator("a")
    @classmethod
    def va(cls, v): return v + VAL
    @model_validator(mode="after")
    def mv(self):
        self.__dict__["a"] += MOD
        return self
    @computed_field
    @property
    def comp(self) -> int: return self.a * COMP
    @field_serializer("s", when_used="always")
    def ser(self, v): return v + SER
VAL = MOD = 0
COMP = 2
SER = "!"
FACT = 5
TA = TypeAdapter(list[In])
def f(n): return S(a=n, s=" k ").model_dump()
def h(m): return m.model_dump_json()
def j(n): return [i.q for i in TA.validate_python([{"q": n}])]
# end
"""
for old, new in [
    *(("AFTER = 0", "AFTER = 1"), ("VAL = MOD = 0", "VAL = MOD = 1"), ("COMP = 2", "COMP = 3"), ('"!"', '"?"')),
    *(("FACT = 5", "FACT = 6"), ("default=2", "default=3"), ("le=50", "le=1"), ("space=True", "space=False")),
    *(("a: int = 1", "a: float = 1"), ('"always"', '"json"'), ("# end", "# the end")),
]:
    want = {"# end": "same", "le=50": "may"}.get(old, "differ")
    case(f"a model of pydantic: {old}", _PYDANTIC, old, new, want, needs="pydantic")
for call in ("m.h(m.S(a=1))", "m.j(3)"):
    for old, new in [("AFTER = 0", "AFTER = 1"), ("# end", "# the end")]:
        want = "same" if old == "# end" else "differ"
        case(f"{call} of pydantic: {old}", _PYDANTIC, old, new, want, call=call, needs="pydantic")

_CONFIG = """
from omegaconf import OmegaConf
def mul(a, b): return a * b
OmegaConf.register_new_resolver("mul", mul)
CFG = OmegaConf.create({"a": 2, "b": "${mul:${a},3}", "c": {"d": "${a}"}})
def f(n): return [CFG.b + n, CFG.c.d, OmegaConf.to_yaml(CFG)]
def g(c): return c.b
# end
"""
for call in ("m.f(1)", "m.g(m.CFG)"):
    for old, new in [("a * b", "a + b"), ('"a": 2', '"a": 3'), ("},3}", "},4}"), ("# end", "# the end")]:
        want = "same" if old == "# end" else "differ"
        case(f"{call} of OmegaConf: {old}", _CONFIG, old, new, want, call=call, needs="omegaconf")

_PARTS = {"PIL": ", PIL.ImageFile", "dask": ", dask.config", "plotly": ", plotly.io, plotly.graph_objects"}
for title, options, second, body, needs in [
    ("xarray", "xarray.set_options(keep_attrs=True)", "xarray.set_options(keep_attrs=False)", "return (xarray.DataArray([x], attrs={'u': 1}) + 1).attrs", "xarray"),
    ("polars", "polars.Config.set_float_precision(2)", "polars.Config.set_float_precision(3)", "return str(polars.DataFrame({'v': [1.23456]}))", "polars"),
    ("images that are cut short", "PIL.ImageFile.LOAD_TRUNCATED_IMAGES = True", "PIL.ImageFile.LOAD_TRUNCATED_IMAGES = False", "return PIL.ImageFile.LOAD_TRUNCATED_IMAGES", "PIL"),
    ("mpmath", "mpmath.mp.dps = 20", "mpmath.mp.dps = 30", "return str(mpmath.mpf(1) / 3)", "mpmath"),
    ("how mpmath prints", "mpmath.mp.pretty = True", "mpmath.mp.pretty = False", "return repr(mpmath.mpf(x))", "mpmath"),
    ("networkx", "networkx.config.fallback_to_nx = True", "networkx.config.fallback_to_nx = False", "return networkx.config.fallback_to_nx", "networkx"),
    ("sympy", "sympy.core.parameters.global_parameters.distribute = True", "sympy.core.parameters.global_parameters.distribute = False", "return str(2 * (sympy.Symbol('x') + x))", "sympy"),
    ("tabulate", "tabulate.MIN_PADDING = 1", "tabulate.MIN_PADDING = 4", "return tabulate.tabulate([[x]], headers=['a'], tablefmt='simple')", "tabulate"),
    ("dask", "dask.config.set(x=1)", "dask.config.set(x=2)", "return dask.config.get('x')", "dask"),
    ("plotly", "plotly.io.templates.default = 'ggplot2'", "plotly.io.templates.default = 'seaborn'", "return plotly.graph_objects.Figure().to_dict()", "plotly"),
]:  # fmt: skip
    case(
        f"options of libraries: {title}",
        f"import {needs}{_PARTS.get(needs, '')}\n{options}\ndef f(x):\n    {body}",
        options,
        second,
        needs=needs,
    )

for title, members in [("with data", "    name: str"), ("with methods", "    name: str\n    def go(self): ...")]:
    case(
        f"an object of a class based on a protocol {title}",
        "from typing import Protocol, runtime_checkable\n@runtime_checkable\nclass P(Protocol):\n"
        f"{members}\nclass C(P):\n    def __init__(self): self.name = 'x'\n    def go(self): return 3\n"
        "K = C()\ndef f(c): return c.go(), K.name",
        "return 3",
        "return 4",
        call="m.f(m.C())",
    )

_GENERIC = """
from typing import Annotated, Generic, TypeVar, get_args
T = TypeVar("T")
class Repo(Generic[T]):
    def model(self): return get_args(self.__orig_bases__[0])[0]
class A: name = "a"
class B: name = "b"
class AR(Repo[A]): pass
class Row(list[int]): pass
class Unit(Repo[Annotated[A, "m"]]): pass
def f(x): return AR().model().name
def g(repo): return repo.model().name
def h(x): return str(Row.__orig_bases__)
def k(x): return Unit().model().__metadata__
# end
"""
for old, new, call in [
    *(("Repo[A]", "Repo[B]", "m.f(3)"), ('"a"', '"c"', "m.f(3)"), ("Repo[A]", "Repo[B]", "m.g(m.AR())")),
    *(("list[int]", "list[float]", "m.h(3)"), ('A, "m"', 'A, "n"', "m.k(3)"), ("# end", "# the end", "m.f(3)")),
]:
    want = "same" if old == "# end" else "differ"
    case(f"the type argument of a base: {old} {new} {call}", _GENERIC, old, new, want, call=call)

_UFUNCS = """
import math
import numpy as np
def g(x): return x * K
K = 2
U, V, W = np.frompyfunc(g, 1, 1), np.vectorize(g), np.vectorize(g, otypes=[float])
HELD = {"u": U}
D = np.frompyfunc(math.gcd, 2, 1)
def f(n): return [one(np.arange(n)).tolist() for one in (U, V, W)], D(4, 6)
def h(n): return HELD["u"](n)
def k(u): return u(3)
# end
"""
for old, new in [("K = 2", "K = 3"), ("math.gcd", "math.lcm"), ("# end", "# the end")]:
    case(f"a ufunc of a function: {old}", _UFUNCS, old, new, "same" if old == "# end" else "differ", needs="numpy")
for call in ("m.h(3)", "m.k(m.U)"):
    case(f"a ufunc of a function: {call}", _UFUNCS, "K = 2", "K = 3", call=call, needs="numpy")

_SETTINGS = """
import settings
def f(x): return settings.tax + x, settings.fee(x), settings.RATE, settings.other
def g(x): return settings.scaled
#-- settings.py
import sys, types
class S(types.ModuleType):
    RATE = 2
    @property
    def tax(self): return 5 * BASE
    def fee(self, x): return x + BASE
    @property
    def scaled(self): return self._factor * 2
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return name + "!"
BASE = 2
_factor = 3
sys.modules[__name__].__class__ = S
# end
"""
for old, new, call in [
    *(("BASE = 2", "BASE = 3", "m.f(3)"), ("RATE = 2", "RATE = 3", "m.f(3)"), ('"!"', '"?"', "m.f(3)")),
    *(("_factor = 3", "_factor = 4", "m.g(3)"), ("# end", "# the end", "m.f(3)"), ("5 *", "6 *", "m.f(3)")),
]:
    want = "same" if old == "# end" else "differ"
    case(f"the class of a module: {old} {call}", _SETTINGS, old, new, want, call=call)

_TENSOR_HOOKS = """
import torch
W = torch.ones(2, requires_grad=True)
W.register_hook(lambda grad: grad * K)
K = 2
def grad(w): return torch.autograd.grad((w * 3).sum(), w)[0].tolist()
def f(x): return grad(W)
# end
"""
for call in ("m.f(3)", "m.grad(m.W)"):
    for old, new in [("K = 2", "K = 3"), ("# end", "# the end")]:
        want = "same" if old == "# end" else "differ"
        case(f"{call} of a tensor with a hook: {old}", _TENSOR_HOOKS, old, new, want, call=call, needs="torch")

for name, old, new in [
    ("typing.get_overloads(h)[0].__annotations__['x'].__name__", "x: int", "x: float"),
    ("logging.config.dictConfig({'version': 1, 'incremental': True})", "return x", "return x + 1"),
]:
    case(
        f"what is found by names: {name}",
        f"import logging.config, typing\n@typing.overload\ndef h(x: int): ...\ndef h(x): return x\ndef f(x): return {name}, h(x)",
        old,
        new,
        refused=True,
    )

_TEXTS = """
import operator, pandas, rules
LIM = 2
def build(): return "a > @LIM"
class S:
    q = "a > @LIM"
    def __init__(self): self.held = {"q": ["a > @LIM"]}
HELD = S()
D = pandas.DataFrame({"a": [1, 2, 3, 4]})
def helper(x): return D.query(build()).a.tolist()
def attribute(x): return D.query(S.q).a.tolist()
def held(x): return D.query(HELD.held["q"][0]).a.tolist()
def named(x): return getattr(D, "query")("a > @LIM").a.tolist()
def caller(x): return operator.methodcaller("query", "a > @LIM")(D).a.tolist()
def passed(x): return rules.filtered(D, "a > @LIM").a.tolist()
def plain(x): return D.query("a > 2").a.tolist()
def column(by): return D.query(f"{by} > 2").a.tolist()
#-- rules.py
LIM = 2
def filtered(d, text): return d.query(text)
"""
for call in ("helper", "attribute", "held", "named", "caller", "passed"):
    case(f"the text of a query: {call}", _TEXTS, "LIM = 2", "LIM = 3", call=f"m.{call}(3)", needs="pandas")
for call in ("plain(3)", "column('a')"):
    case(f"a query without variables: {call}", _TEXTS, "LIM = 2", "LIM = 3", "same", call=f"m.{call}", needs="pandas")

_NAMED = """
import pandas
from pandas.core.groupby import SeriesGroupBy
K = 1
SeriesGroupBy.spread = lambda self: self.apply(lambda x: (x.max() - x.min()) * K)
pandas.Series.double = lambda self: self * K
D = pandas.DataFrame({"g": [1, 1, 2], "v": [1, 4, 9]})
HOW = {"v": ["double"]}
def f(x): return D.groupby("g")["v"].agg("spread").tolist()
def g(x): return D["v"].agg("double").tolist()
def h(how): return D["v"].agg(how).tolist()
def k(x): return D["v"].agg(HOW["v"][0]).tolist()
def n(x): return D["v"].tolist()
"""
for call, want in [
    ("f(3)", "differ"),
    ("g(3)", "differ"),
    ("h('double')", "differ"),
    ("k(3)", "differ"),
    ("n(3)", "same"),
]:
    case(
        f"a method that is called by a string: {call}", _NAMED, "K = 1", "K = 3", want, call=f"m.{call}", needs="pandas"
    )

_PATHS = """
import jinja2, parts
from pydantic import BaseModel, ImportString
class M(BaseModel):
    go: ImportString
def f(x): return M(go="parts.go").go(x)
def g(x): return jinja2.Environment(extensions=["parts.More"]).from_string("{{x}}").render(x=x)
#-- parts.py
from jinja2.ext import Extension
def go(x): return x + ADDED
class More(Extension):
    def preprocess(self, source, name, filename=None): return source + "!"
ADDED = 1
"""
_IMPORTED = _PATHS.replace("import jinja2, parts", "import parts").replace(
    "from jinja2.ext import", "from builtins import object as"
)
_RENDERED = _PATHS.replace("from pydantic import BaseModel, ImportString", "BaseModel = ImportString = object")
case("a function that a string names", _IMPORTED, "ADDED = 1", "ADDED = 2", needs="pydantic")
case("a class that a string names", _RENDERED, '"!"', '"?"', call="m.g(3)", needs="jinja2")
