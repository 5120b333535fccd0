"""Test programs written for evalcache, and its defects, which are numbered E1 to E18."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import larder
import larder.lazy as evalcache
from larder.lazy import DirCache, Lazy, LazyFunction, unlazy

lazy = Lazy()


class Place(NamedTuple):
    x: Any
    y: int


@lazy
def shown(*args: Any, **kwargs: Any) -> str:
    return repr((args, sorted(kwargs.items())))


@lazy
def spelled(a: int, b: int = 2) -> list[int]:
    return [a, b]


def adder(k: int) -> Callable[[int], int]:
    def add(n: int) -> int:
        return n + k

    return add


def counted(calls: list[Any], function: Callable[..., Any], name: str = "") -> LazyFunction[Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return function(*args, **kwargs)

    return lazy(noted, version="1" + name)


def halt(real: Path, program: str) -> None:
    """End the server, so that everything is on disk."""
    stop = [program, "serve", "--cache", str(real / "cache"), "--stop"]
    subprocess.run(stop, check=True, capture_output=True)


# Scripts


def script(directory: Path, text: str) -> list[str]:
    """Run a script in a directory and return what it prints."""
    path = directory / "script.py"
    path.write_text(text)
    done = subprocess.run([sys.executable, str(path)], cwd=directory, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def directory(real: Path, program: str, tmp_path: Path) -> Iterator[Path]:
    """Return a directory for scripts with a separate cache, in which evalcache has left files."""
    (tmp_path / ".evalcache" / "ab").mkdir(parents=True)
    (tmp_path / ".evalcache" / "ab" / "cdef").write_bytes(b"\x80\x04.")
    yield tmp_path
    cache = tmp_path / ".evalcache" / "larder"
    subprocess.run([program, "serve", "--cache", str(cache), "--stop"], check=True, capture_output=True)


BASE = """
import larder.lazy as evalcache

lazy = evalcache.Lazy(cache = evalcache.DirCache(".evalcache"){options})

def do_something(a, b, c):
    print("computing")
    return a + b * c

@lazy
def func(a,b,c):
    return do_something(a,b,c)

lazyresult = func(1,2,3)
print(lazyresult.unlazy())
print(evalcache.unlazy(lazyresult))
print(evalcache.unlazy(func(lazyresult + 1, lazyresult, c=lazyresult[{item}]) if {more} else lazyresult))
"""


def test_the_script_of_the_readme(directory: Path) -> None:
    text = BASE.format(options="", item=0, more=False)
    assert script(directory, text) == ["computing", "7", "7", "7"]
    assert script(directory, text) == ["7", "7", "7"]
    edited = text.replace("a + b * c", "a + b * c + 1")
    assert script(directory, edited) == ["computing", "8", "8", "8"]  # the function that func calls


def test_the_script_that_prints_what_the_cache_does(directory: Path) -> None:
    text = BASE.format(options=", diag = True", item=0, more=False)
    words = [line.split()[0] for line in script(directory, text)]
    assert words == ["computing", "save", "7", "load", "7", "load", "7"]


def test_the_script_with_another_hash(directory: Path) -> None:
    text = BASE.format(options=", algo = hashlib.sha512", item=0, more=False)
    assert script(directory, "import hashlib\n" + text) == ["computing", "7", "7", "7"]


def test_a_script_with_a_tree_of_methods_and_operators(directory: Path) -> None:
    text = """
import larder.lazy as evalcache

lazy = evalcache.Lazy(cache = evalcache.DirCache_v2(".evalcache"))

@lazy
class Box:
    def __init__(self, w, h):
        self.size = (w, h)
    def area(self):
        return self.size[0] * self.size[1]
    def __add__(self, other):
        return Box(self.size[0] + other.size[0], self.size[1] + other.size[1])

@lazy.lazy()
def words(n):
    return {"list": [str(i) for i in range(n)]}

a, b = words(2)["list"]
print((a + b * 2).unlazy(), len(words(3)["list"]), bool(words(0)["list"]), int(a) + 1)
print(words(3)["list"][1:].unlazy(), (lazy(3) + 4 * lazy(2)).unlazy())
print(Box(lazy(1), 2).size[1].unlazy())
"""
    assert script(directory, "import warnings; warnings.simplefilter('ignore')\n" + text) == [
        *("011 3 False 1", "['1', '2'] 11", "2"),
    ]


def test_a_script_that_writes_files(directory: Path) -> None:
    text = """
import larder.lazy as evalcache

lazy = evalcache.Lazy(cache = evalcache.DirCache(".evalcache"))

@lazy.file_creator(pathfield="path", version="1")
def create(text, path):
    print("writing", path.rpartition(".")[2])
    with open(path, "w") as file:
        file.write(text)

create("hello", "a.txt")
create("hello", path="b.txt")
create("hello", "c.md")
print(*(open(name).read() for name in ("a.txt", "b.txt", "c.md")))
open("a.txt", "w").write("spoiled")
create("hello", "a.txt")
print(open("a.txt").read(), open("b.txt").read())
"""
    assert script(directory, text) == ["writing txt", "writing md", "hello hello hello", "hello hello"]
    assert script(directory, text) == ["hello hello hello", "hello hello"]


# Defects


def test_e1_texts_cannot_look_like_other_arguments(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda *args: list(args))
    given = [("a", "b"), ("a<splitter><class 'int'>1<class 'str'>b",), ("ab",), (["a", "b"],), (("a", "b"),)]
    assert [unlazy(f(*args)) for args in given] == [list(args) for args in given]
    assert calls == given


def test_e2_versions_cannot_look_like_other_names(real: Path) -> None:
    calls: list[Any] = []
    one, two = counted(calls, lambda: 1, "x"), counted(calls, lambda: 2, "x<class 'str'>")
    assert (unlazy(one()), unlazy(two())) == (1, 2)


def test_e3_closures_and_globals_count(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [unlazy(lazy(adder(k))(10)) for k in (1, 2)] == [11, 12]
    assert unlazy(scaled(2)) == 6
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 4)
    assert unlazy(scaled(2)) == 8


SCALE = 3


@lazy
def scaled(n: int) -> int:
    return n * SCALE


def test_e4_functions_of_one_line_or_without_source_differ(real: Path) -> None:
    one, two = lazy(lambda n: n + 1), lazy(lambda n: n + 2)
    assert [unlazy(f(1)) for f in (one, two)] == [2, 3]
    made = [eval(f"lambda n: n * {k}") for k in (2, 3)]
    assert [unlazy(lazy(f)(5)) for f in made] == [10, 15]


def test_e5_classes_count_by_their_code(real: Path) -> None:
    def version(k: int) -> Any:
        class Shape:
            def __init__(self, n: int) -> None:
                self.n = n

            def size(self) -> int:
                return self.n * k

        return Shape

    with pytest.warns(larder.LarderWarning, match="Shape cannot be cached"):
        assert [unlazy(lazy(version(k))(2).size()) for k in (1, 2)] == [2, 4]


def test_e5b_no_node_is_without_a_key(real: Path) -> None:
    f = lazy(lambda x: x * 10)
    assert [unlazy(f(lazy(n))) for n in (1, 2)] == [10, 20]
    with pytest.raises(TypeError, match="lazy has no transparent here"):
        lazy(1, transparent=True)  # type: ignore[call-overload]


def test_e6_tables_and_arrays_count_to_the_last_bit(real: Path) -> None:
    np = pytest.importorskip("numpy")
    pd = pytest.importorskip("pandas")
    rows = lazy(lambda frame: int(frame["a"].sum()), version="e6")
    frame = pd.DataFrame({"a": range(1000)})
    changed = frame.copy()
    changed.loc[500, "a"] = 0
    assert unlazy(rows(frame)) - unlazy(rows(changed)) == 500
    shapes = [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(0, "int8")]
    shape = lazy(lambda array: [list(array.shape), array.dtype.str], version="e6")
    assert [unlazy(shape(a)) for a in shapes] == [[[0, 3], "<f8"], [[3, 0], "<f8"], [[0], "|i1"]]


def test_e7_types_of_arguments_and_results_stay(real: Path) -> None:
    n = lazy(1) + 0
    assert unlazy(shown((n, 2), [n], Place(n, 3))) == "(((1, 2), [1], Place(x=1, y=3)), [])"
    same = lazy(lambda value: value)
    for value in ((1, 2), [1, 2], Place(1, 2), {1, 2}, frozenset([1]), b"x", 1.0, True):
        found = unlazy(same(value))
        assert (found, type(found)) == (value, type(value))
    with pytest.raises(larder.ArgumentError, match="a lazy object"):
        shown({n, 2})  # which would be passed as it is


def test_e8_one_call_has_one_key(real: Path) -> None:
    calls: list[Any] = []

    def f(a: int, b: int = 2) -> int:
        calls.append((a, b))
        return a + b

    cached = lazy(f, version="1")
    n = lazy(1) + 0
    made = [
        cached(1),
        cached(1, 2),
        cached(1, b=2),
        cached(a=1, b=2),
        cached(n),
        cached(n, b=lazy(2)),
        cached(b=2, a=n),
    ]
    assert unlazy(made) == [3] * 7
    assert calls == [(1, 2)]
    assert unlazy(lazy(functools.partial(spelled.__wrapped__, 1))(5)) == [1, 5]  # type: ignore[attr-defined]
    assert unlazy(lazy("ab".upper)()) == "AB"
    code = "from larder.lazy import lazy; print(lazy(len)({'a', 'b', 'c'}).why().nodes[0].why.key)"
    keys = [
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True)
        for seed in ("1", "2")
    ]
    assert keys[0].stdout == keys[1].stdout != b""


def test_e9_what_was_kept_is_found_by_who_kept_it(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n)
    assert [unlazy(f(1)) for _ in range(3)] == [1, 1, 1]
    assert len(calls) == 1


def test_e10_what_another_process_forgot_is_made_again(real: Path, program: str) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: bytes([n + 1]) * 5000)  # too large to be held in this process
    tree = f(f(3)[0])
    first = unlazy(tree)
    f._kept._client._drop()
    halt(real, program)  # it would still have the deleted result in memory
    gone = [program, "gc", "--cache", str(real / "cache"), "--node", f"{__name__}.counted.<locals>.noted"]
    subprocess.run(gone, check=True, capture_output=True)
    assert unlazy(tree) == first
    assert calls == [(3,), (4,), (3,), (4,)]


def test_e11_chains_have_any_depth(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n + 1)
    node: Any = 0
    for _ in range(3000):
        node = f(node)
    assert unlazy(node) == 3000
    assert unlazy(node) == 3000
    assert len(calls) == 3000


def test_e12_nothing_and_keys_of_many_types(real: Path) -> None:
    assert unlazy(lazy(None)) is None
    assert unlazy(shown({1: "a", "b": 2, None: (3,)})) == "(({1: 'a', 'b': 2, None: (3,)},), [])"
    f = lazy(lambda: None, version="e12")
    assert unlazy(f()) is None
    assert f().why().cached


def test_e13_damage_is_not_served(real: Path, program: str) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: bytes(range(256)) * 400)
    first = unlazy(f(1))
    halt(real, program)
    damaged = 0
    for path in (real / "cache").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        at = content.find(bytes(range(256)) * 2)
        if at >= 0:
            path.chmod(0o600)
            path.write_bytes(content[: at + 100] + b"\xff" + content[at + 101 :])
            damaged += 1
    assert damaged > 0
    assert unlazy(f(1)) == first
    assert len(calls) == 2


def written(calls: list[Any]) -> Any:
    @lazy.file_creator("path", version="1")
    def create(text: str, path: str) -> None:
        calls.append(path)
        Path(path).write_text(text)

    return create


def test_e14_an_edited_file_is_nobody_elses(real: Path, tmp_path: Path) -> None:
    calls: list[Any] = []
    create = written(calls)
    create("x", str(tmp_path / "a"))
    assert (tmp_path / "a").stat().st_nlink == 1
    with (tmp_path / "a").open("r+") as file:
        file.write("y")
    create("x", str(tmp_path / "b"))
    create("x", str(tmp_path / "a"))
    assert [(tmp_path / name).read_text() for name in "ab"] == ["x", "x"]
    assert len(calls) == 1


def test_e15_targets_are_no_part_of_keys_and_stay_until_there_are_others(real: Path, tmp_path: Path) -> None:
    calls: list[Any] = []
    create = written(calls)
    for name in ("a.x", "b.x", "a.x"):
        assert unlazy(create("text", tmp_path / name)) == str(tmp_path / name)
    assert len(calls) == 1
    assert unlazy(create(lazy("te") + "xt", tmp_path / "c.x")) == str(tmp_path / "c.x")
    assert len(calls) == 1

    @lazy.file_creator("path", version="1")
    def fails(path: str) -> None:
        raise ValueError("no")

    @lazy.file_creator("path", version="1")
    def writes_nothing(path: str) -> None:
        pass

    with pytest.raises(ValueError, match="no"):
        fails(tmp_path / "a.x")
    with pytest.raises(larder.DataError, match="wrote no file"):
        writes_nothing(tmp_path / "a.x")
    assert (tmp_path / "a.x").read_text() == "text"
    with pytest.raises(TypeError, match="a path, not a LazyObject"):
        create("text", lazy("a"))
    with pytest.raises(TypeError, match="no parameter 'path'"):
        lazy.file_creator("path")(lambda name: None)


def test_e16_processes_and_nodes_share_what_is_computed(real: Path) -> None:
    code = """
from larder.lazy import lazy
def f(n):
    print("ran", n)
    return n
g = lazy(f)
print(lazy([g(n) + 0 for n in range(100)]).unlazy() == list(range(100)))
"""
    path = real / "program.py"
    path.write_text(code)
    all_ = [subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    lines = [line for process in all_ for line in process.communicate(timeout=120)[0].splitlines()]
    assert lines.count("True") == 4
    assert sorted(line for line in lines if line != "True") == sorted(f"ran {n}" for n in range(100))
    calls: list[Any] = []
    f = lazy(counted(calls, lambda n: n)._kept._function, version="1", keep=False)
    assert unlazy([f(1), f(1)]) == [1, 1]
    assert len(calls) == 1


def test_e17_operators_are_not_kept_and_nodes_go(real: Path, program: str) -> None:
    import gc
    import weakref

    node = lazy(lambda: 1, version="e17")()
    for n in range(50):
        node = node + n
    assert unlazy(node) == 1 + sum(range(50))
    halt(real, program)
    listed = subprocess.run([program, "ls", "--cache", str(real / "cache"), "--json"], check=True, capture_output=True)
    records = {one["node"]: one["records"] for one in json.loads(listed.stdout)}
    assert records == {
        f"{__name__}.{test_e17_operators_are_not_kept_and_nodes_go.__name__}.<locals>.<lambda>": 1,
        **{name: n for name, n in records.items() if name in ("source closure", "(operations)")},
    }
    seen = weakref.ref(node)
    del node
    gc.collect()
    assert seen() is None


@dataclass
class Opened:
    callback: Any


def test_e18_results_are_everybodys_own_and_what_cannot_be_kept_is_said(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda: [1])
    x = f()
    x.unlazy().append(2)
    assert x.unlazy() == [1]
    held = counted(calls, lambda: Opened(lambda: 1), "opened")
    with pytest.warns(larder.LarderWarning, match=r"not cached: result\.callback: "):
        assert unlazy(held()).callback() == 1
    assert unlazy(f()) == [1]
    assert len(calls) == 2


def test_e18_an_interrupt_is_not_taken_for_damage(real: Path) -> None:
    calls: list[Any] = []

    def interrupted(n: int) -> int:
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        return n

    f = counted(calls, interrupted)
    with pytest.raises(KeyboardInterrupt):
        unlazy(f(f(1)))
    assert unlazy(f(f(1))) == 1
    assert calls == [(1,), (1,)]


def test_a_cache_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="cache must be a path or None, not dict"):
        evalcache.Lazy(cache={})  # type: ignore[arg-type]
    assert os.fspath(DirCache("x")) == os.path.join("x", "larder")
