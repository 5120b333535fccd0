"""Identities of functions, as the program runs and from one program to another."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._identity.code.identity import Identity, identify
from larder._identity.digest import digest

SOURCE = """
import functools

K = 1
LIST = [1, [2]]
TABLE = {"a": 1}

class Base:
    base = 1

class Other:
    base = 2

class A(Base):
    k = 1
    def __init__(self): self.a = 1
    def m(self): return self.k
    def __call__(self, x): return x + self.a

OBJECT = A()

def helper(x, d=1, *, e=2):
    return x + d + e

def make(k):
    def inner(x): return x + k
    def set_(v):
        nonlocal k
        k = v
    return inner, set_

captured, set_captured = make(1)

@functools.wraps(helper)
def wrapper(x): return helper(x)

REGISTRY = {}

def f(x):
    if x == 0:
        return REGISTRY, wrapper
    return helper(x) + K + LIST[0] + TABLE["a"] + OBJECT.m() + A().m() + captured(x) + len([x])

REGISTRY["f"] = f
"""


@pytest.fixture
def module() -> Iterator[Any]:
    made: Any = types.ModuleType("made")
    sys.modules["made"] = made
    exec(compile(SOURCE, "made.py", "exec"), vars(made))
    yield made
    del sys.modules["made"]


CHANGES: dict[str, Callable[[Any], object]] = {
    "global": lambda m: setattr(m, "K", 2),
    "global equal but of another type": lambda m: setattr(m, "K", True),
    "global deleted": lambda m: delattr(m, "K"),
    "list": lambda m: m.LIST.append(3),
    "list in a list": lambda m: m.LIST[1].append(3),
    "table": lambda m: m.TABLE.update(b=1),
    "object": lambda m: setattr(m.OBJECT, "a", 2),
    "object's class": lambda m: setattr(m.OBJECT, "__class__", type("B", (m.A,), {})),
    "method": lambda m: setattr(m.A, "m", lambda self: 7),
    "class attribute": lambda m: setattr(m.A, "k", 7),
    "class attribute added": lambda m: setattr(m.A, "base", 7),
    "class attribute deleted": lambda m: delattr(m.A, "k"),
    "attribute of a base": lambda m: setattr(m.Base, "base", 7),
    "bases": lambda m: setattr(m.A, "__bases__", (m.Other,)),
    "function": lambda m: setattr(m, "helper", lambda x: 7),
    "code": lambda m: setattr(m.helper, "__code__", (lambda x, d, *, e: 7).__code__),
    "own code": lambda m: setattr(m.f, "__code__", (lambda x: 7).__code__),
    "defaults": lambda m: setattr(m.helper, "__defaults__", (7,)),
    "defaults equal but of another type": lambda m: setattr(m.helper, "__defaults__", (True,)),
    "keyword defaults": lambda m: m.helper.__kwdefaults__.update(e=7),
    "other keyword defaults": lambda m: setattr(m.helper, "__kwdefaults__", {"e": 7}),
    "captured": lambda m: m.set_captured(7),
    "builtin shadowed": lambda m: setattr(m, "len", lambda x: 7),
    "registry": lambda m: m.REGISTRY.update(g=m.make),
    "attribute of a function": lambda m: setattr(m.wrapper, "note", 7),
    "wrapped": lambda m: setattr(m.wrapper, "__wrapped__", m.make),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_while_it_runs_is_seen(module: Any, change: str) -> None:
    before = identify(module.f)
    assert before.check()
    CHANGES[change](module)
    assert not before.check()
    after = identify(module.f)
    assert after.digest != before.digest
    assert after.check()
    assert identify(module.f).digest == after.digest


def test_what_is_as_it_was_has_the_identity_of_before(module: Any) -> None:
    before = identify(module.f)
    module.K = 5
    module.LIST.append(1)
    assert identify(module.f).digest != before.digest
    module.K = 1
    module.LIST.pop()
    assert identify(module.f).digest == before.digest
    assert before.check()


def test_what_is_not_reached_may_change(module: Any) -> None:
    before = identify(module.f)
    module.unused = 1
    module.Other.base = 7
    module.make.__defaults__ = (1,)
    assert before.check()


def test_an_identity_is_kept_until_it_changes(module: Any) -> None:
    assert identify(module.f) is identify(module.f)


def test_only_so_many_identities_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from larder._identity.code import identity

    monkeypatch.setattr(identity, "_MOST", 8)
    monkeypatch.setattr(identity, "_known", {})
    for i in range(20):
        identify(made_function(f"def f(x): return x + {i}"))
    assert len(identity._known) == 8
    last = made_function("def f(x): return x")
    assert identify(last) is identify(last)


def different_parts(before: Identity, after: Identity) -> set[str]:
    one = {part.path: part.digest for part in before.parts}
    two = {part.path: part.digest for part in after.parts}
    return {path for path in one | two if one.get(path) != two.get(path)}


def test_the_part_that_changed_is_named(module: Any) -> None:
    before = identify(module.f)
    module.K = 2
    after = identify(module.f)
    assert different_parts(before, after) == {"made.f -> K"}
    texts = {part.path: part.text for part in after.parts}
    assert texts["made.f -> K"] == "made.K = 2"
    assert texts["made.f -> helper"] == "function made.helper"
    module.LIST[1][0] = 9
    assert different_parts(after, identify(module.f)) == {"made.f -> LIST"}
    kinds = {part.kind for part in after.parts}
    assert kinds >= {"function", "class", "constant", "value", "library"}


def test_a_version_stands_for_the_code(module: Any) -> None:
    one = identify(module.f, version="1")
    assert one.name == "made.f"
    module.helper = None
    module.f.__code__ = (lambda x: 7).__code__
    assert one.check()
    assert identify(module.f, version="1").digest == one.digest != identify(module.f, version="2").digest
    assert identify(module.make, version="1").digest != one.digest
    assert [part.kind for part in one.parts] == ["version"]
    assert "set by its author" in one.parts[0].text
    for wrong in ("", 3):
        with pytest.raises(larder.CodeError, match="must be a non-empty string"):
            identify(module.f, version=wrong)  # type: ignore[arg-type]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(larder.CodeError, match="3 is not a function"):
        identify(3)


def made_function(text: str, **names: Any) -> Any:
    space: dict[str, Any] = {"__name__": "made", **names}
    exec(compile(text, "made.py", "exec"), space)
    return space["f"]


REFUSALS = [
    ("import threading\nL = threading.Lock()\ndef g(x):\n    with L: return x\ndef f(x): return g(x)",
     r"made\.f -> g -> L: a lock, which has no key; create it in the function, .*, or set version="),
    ("import sys\nC = {'a': [sys.__stdin__]}\ndef f(x): return C", r'made\.f -> C\["a"\]\[0\]: an open file'),
    ("import time\ndef g():\n\n    return time.time()\ndef f(x): return g()",
     r"made\.f -> g \(module made, line 4\): time\.time reaches the clock; pass its result"),
    ("def f(x):\n    with open('a') as h: return h.read()", "line 2.*annotated with larder.File"),
    ("N = 0\ndef f(x):\n    global N\n    N = x", r"line 4\): assigns the global N"),
    ("def make():\n    n = 0\n    def f(x):\n        nonlocal n\n        n += 1\n    return f\nf = make()",
     r"line 5\): assigns the variable of the function around n"),
    ("import json\ndef f(x):\n    m = json\n    return m.dumps(x)", r"json: module json is used as a value"),
    ("import json\ndef f(x): json.k = 1", r"line 2\): an attribute of json is set"),
    ("import numpy as np\ndef f(x): return np.random.rand()", "numpy.random.rand reaches random numbers"),
    ("def f(x): return eval(x)", "builtins.eval reaches code or variables by names"),
    ("import os\ndef f(x): return os.getenv('A')", "os.getenv reaches the environment"),
    ("def f(x): return x.read_text()", r"\.read_text may reach files"),
    ("class A:\n    def m(self): return self.n()\n    def n(self): return input()\ndef f(x): return A().m()",
     r"made\.f -> A\.n .*builtins\.input reaches user input"),
    ("import time\nclass A:\n    def __len__(self): return time.time_ns()\ndef f(x): return len(A())", "A.__len__.*the clock"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSALS, ids=range(len(REFUSALS)))
def test_refusals_say_what_where_and_what_to_do(text: str, message: str) -> None:
    if "numpy" in text:
        pytest.importorskip("numpy", reason="NumPy is not installed")
    with pytest.raises(larder.CodeError, match=message) as caught:
        identify(made_function(text))
    assert "version" in str(caught.value)
    assert "\n" not in str(caught.value)


ALLOWED = [
    "import logging\nlog = logging.getLogger('a')\ndef f(x):\n    log.info('%s', x)\n    print(x)\n    return x",
    "import time\ndef f(x):\n    time.sleep(0)\n    return x",
    "import os\ndef f(x): return os.path.join(x, os.path.basename(x) + os.sep)",
    "import random\ndef f(x): return random.Random(x).random()",
    "import io\ndef f(x): return io.BytesIO(x).read()",
    "import datetime\ndef f(x): return datetime.datetime(2020, 1, 1) + datetime.timedelta(x)",
    "import uuid\ndef f(x): return uuid.UUID(int=x), uuid.uuid5(uuid.NAMESPACE_DNS, 'a')",
    "import concurrent.futures as c\ndef f(x):\n    with c.ThreadPoolExecutor() as p: return list(p.map(len, x))",
    "import threading\ndef f(x):\n    with threading.Lock(): return x",
    "import dataclasses, typing, json, re, math, itertools, collections\ndef f(x):\n    return json.dumps(re.sub('a', 'b', x)), "
    "math.pi, list(itertools.chain(x)), collections.Counter(x), dataclasses.asdict(x), typing.cast(int, x)",
    "import hashlib\ndef f(x): return hashlib.sha256(x).hexdigest()",
    "class A:\n    def save(self):\n        open('a', 'w')\n    def m(self): return 1\ndef f(x): return A().m()",
    "import decimal, fractions, statistics\ndef f(x): return decimal.Decimal(x), fractions.Fraction(x), statistics.mean(x)",
    "from pathlib import Path\ndef f(x): return Path(x).with_suffix('.png').name",
    "import functools, operator\ndef f(x): return functools.reduce(operator.add, x)",
    "import warnings\ndef f(x):\n    warnings.warn('a')\n    return x",
    "import enum\nclass E(enum.IntFlag):\n    A = 1\ndef f(x): return E(x)",
    "import copy\ndef f(x): return copy.deepcopy(x)",
    "import string\ndef f(x): return string.Template('$a').substitute(a=x), string.ascii_letters",
    "def f(x):\n    try: raise ValueError(x)\n    except (ValueError, KeyError) as e: return str(e)",
    "import sys\ndef f(x): return sys.maxsize, sys.version_info >= (3, 11)",
    "async def g(x): return x\nasync def f(x):\n    async for i in x: yield await g(i)",
    "import abc\nclass B(abc.ABC):\n    @property\n    @abc.abstractmethod\n    def p(self): ...\nclass A(B):\n    p = 1\ndef f(x): return A().p",
    "import typing\nT = typing.TypeVar('T')\nclass A(typing.Generic[T]):\n    def m(self, x: T) -> T: return x\ndef f(x): return A[int]().m(x)",
    "import typing\nclass P(typing.Protocol):\n    def m(self): ...\ndef f(x: P): return isinstance(x, int)",
    "import typing\nclass D(typing.TypedDict):\n    a: int\ndef f(x): return D(a=1)",
    "import contextlib\n@contextlib.contextmanager\ndef g(): yield 1\ndef f(x):\n    with g() as a, contextlib.suppress(KeyError): return a",
    "import functools\n@functools.cache\ndef f(x): return x and f(x - 1)",
    "class A:\n    __slots__ = ('a',)\n    def __init__(self): self.a = 1\nK = A()\ndef f(x): return K.a",
    "def f(x):\n    def g(n): return n and g(n - 1)\n    return g(x)",
    "import unicodedata, zlib, struct, base64, textwrap, bisect, heapq\ndef f(x): return unicodedata.normalize('NFC', x), "
    "zlib.crc32(b''), struct.pack('i', 1), base64.b64encode(b''), textwrap.dedent(x), bisect.bisect([], 1), heapq.nlargest(1, x)",
]


@pytest.mark.parametrize("text", ALLOWED, ids=range(len(ALLOWED)))
def test_what_depends_on_arguments_alone_is_allowed(text: str) -> None:
    one, two = identify(made_function(text)), identify(made_function("\n# moved\n" + text))
    assert one.digest == two.digest
    assert one.check()


NUMPY = [
    "def f(x): return np.sum(x), np.linalg.norm(x), np.float32(1), np.pi, np.newaxis, x.mean(axis=0)",
    "def f(x): return np.random.default_rng(0).normal(size=3), np.random.Generator(np.random.PCG64(1))",
    "def f(x):\n    with np.errstate(all='ignore'): return np.where(x > 0, np.log(x), np.nan)",
    "from numpy import add, linspace\ndef f(x): return add(x, linspace(0, 1, 3)), np.fft.fft(x)",
    "K = np.vectorize(len)\ndef f(x): return np.frombuffer(x), np.array(x, dtype=np.uint8).astype('f4')",
]


@pytest.mark.parametrize("text", NUMPY, ids=range(len(NUMPY)))
def test_numpy_is_known_by_its_version(text: str) -> None:
    np = pytest.importorskip("numpy", reason="NumPy is not installed")
    found = identify(made_function("import numpy as np\n" + text))
    assert found.check()
    assert found.digest == identify(made_function("import numpy as np\n" + text)).digest
    assert any(np.__version__ in part.text for part in found.parts) or "np.sum" not in text


SCRIPT = """
import sys
from larder._identity.code.identity import identify
LIMIT = 3
class A:
    def m(self): return LIMIT
def helper(x): return A().m()
def f(x): return helper(x)
if __name__ == "__main__":
    found = identify(f)
    print(found.digest.hex(), found.name)
"""


def script(*args: str, cwd: Path) -> list[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True, cwd=cwd, env=env)
    return done.stdout.split()


def test_a_script_is_known_by_its_content(tmp_path: Path) -> None:
    for directory, name in [("a", "one"), ("b", "two")]:
        (tmp_path / directory).mkdir()
        (tmp_path / directory / f"{name}.py").write_text(SCRIPT)
    one = script("one.py", cwd=tmp_path / "a")
    two = script("two.py", cwd=tmp_path / "b")
    as_module = script("-m", "one", cwd=tmp_path / "a")
    imported = script(
        "-c", "import one\nfound = one.identify(one.f)\nprint(found.digest.hex(), found.name)", cwd=tmp_path / "a"
    )
    assert one[0] == two[0] == as_module[0]
    assert imported[0] != one[0]  # objects of A reveal their module
    assert one[1] == as_module[1] == imported[1] == "one.f"
    assert two[1] == "two.f"


class Site:
    """A directory of installed packages, and the identity of a program that uses one of them."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.site = directory / "lib" / "site-packages"
        self.site.mkdir(parents=True)
        (directory / "m.py").write_text("import lib\ndef f(x): return lib.g(x)\n")

    def install(self, version: str | None, body: str, url: str | None = None) -> str:
        (self.site / "lib.py").write_text(body)
        if version is not None:
            info = self.site / "lib-1.dist-info"
            info.mkdir(exist_ok=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lib\nVersion: {version}\n")
            (info / "RECORD").write_text("lib.py,,\nlib-1.dist-info/METADATA,,\n")
            if url is not None:
                (info / "direct_url.json").write_text(url)
        code = (
            f"import sys; sys.path[:0] = [{str(self.directory)!r}, {str(self.site)!r}]; sys.dont_write_bytecode = True\n"
            "import m; from larder._identity.code.identity import identify; print(identify(m.f).digest.hex())"
        )
        return script("-c", code, cwd=self.directory)[0]


def test_distributions_are_known_by_their_version(tmp_path: Path) -> None:
    site = Site(tmp_path)
    one = site.install("1", "def g(x): return 1\n")
    assert site.install("1", "def g(x): return 2 if x else 3\n") == one
    assert site.install("2", "def g(x): return 1\n") != one


def test_what_has_no_version_of_its_own_is_followed(tmp_path: Path) -> None:
    for i, (version, url) in enumerate([
        (None, None),
        ("1", json.dumps({"url": "file:///somewhere", "dir_info": {"editable": True}})),
        ("1", json.dumps({"url": "file:///somewhere", "dir_info": {}})),
    ]):  # fmt: skip
        site = Site(tmp_path / str(i))
        one = site.install(version, "def g(x): return 1\n", url)
        assert site.install(version, "def g(x): return 2\n", url) != one
        assert site.install(version, "# more\ndef g(x): return 1\n", url) == one


def test_arguments_bring_their_classes(module: Any) -> None:
    before = digest(module.A())
    module.A.m = lambda self: 7
    assert digest(module.A()) != before
    assert digest(module.helper) == digest(module.helper)
    code = digest(module.helper)
    module.helper.__defaults__ = (9,)
    assert digest(module.helper) != code


def test_threads_may_identify_and_check_at_once(module: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(_: int) -> bytes:
        found = identify(module.f)
        assert found.check()
        return found.digest

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(work, range(200)))) == 1


def test_many_references(module: Any) -> None:
    text = "".join(f"K{i} = {i}\ndef h{i}(x): return x + K{i}\n" for i in range(300))
    text += "def f(x): return " + " + ".join(f"h{i}(x)" for i in range(300))
    found = identify(made_function(text))
    assert len(found.parts) >= 600
    changed = identify(made_function(text.replace("K299 = 299", "K299 = 300")))
    assert different_parts(found, changed) == {"made.f -> h299 -> K299"}


def test_long_chains_do_not_end_it() -> None:
    text = (
        "".join(f"def h{i}(x): return h{i + 1}(x)\n" for i in range(3000))
        + "def h3000(x): return x\ndef f(x): return h0(x)"
    )
    one = identify(made_function(text))
    assert one.digest != identify(made_function(text.replace("h3000(x): return x", "h3000(x): return -x"))).digest


def test_identities_of_pairs_of_functions_differ() -> None:
    texts = [
        "def f(x): return x",
        "def f(y): return y",
        "def f(x, /): return x",
        "def f(*x): return x",
        "def f(**x): return x",
        "def f(*, x): return x",
        "async def f(x): return x",
        "def f(x): yield x",
        "async def f(x): yield x",
        "f = lambda x: [x]",
        "def f(x): return -x",
        "def f(x): return x.a",
        "def f(x): return x.b",
        "def f(x): return x['a']",
        "def f(x): x.a = 1",
        "def f(x): del x.a",
        "def f(x): return x(a=1)",
        "def f(x): return x(b=1)",
        "def f(x): return x(1)",
        "def f(x): return x(*x)",
        "def f(x): return x(**x)",
        "def f(x, y=1): return x",
        "def f(x, y=2): return x",
        "def f(x): import json; return json.dumps(x)",
        "def f(x): import json; return json.loads(x)",
        "def f(x): from json import dumps; return dumps(x)",
    ]
    found = [identify(made_function(text)).digest for text in texts]
    for (a, one), (b, two) in itertools.combinations(zip(texts, found, strict=True), 2):
        assert one != two, (a, b)
