"""Test lazy trees."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import pytest

import larder
from larder.lazy import DirCache, Lazy, LazyFunction, LazyObject, unlazy

PROGRAM = Path(__file__).parent / "lazy_program.py"
lazy = Lazy()


def counted(calls: list[Any], function: Callable[..., Any], version: str = "1", **options: Any) -> LazyFunction[Any]:
    """Return a lazy function that is cached by a version, and logs its calls."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return function(*args, **kwargs)

    noted.__qualname__ = f"noted-{len(calls)}"
    return lazy(noted, version=version, **options)


@dataclass
class Point:
    x: int
    y: int

    def plus(self, n: int) -> int:
        return self.x + self.y + n

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    def now(self) -> float:
        return time.time()

    @property
    def age(self) -> float:
        return time.time()


class Pair(NamedTuple):
    first: Any
    second: Any


@lazy
def square(n: int) -> int:
    return n * n


@lazy
def point(x: int, y: int = 1) -> Point:
    return Point(x, y)


@lazy
def numbers(n: int) -> list[int]:
    return list(range(n))


@lazy
def grown(values: list[int]) -> list[int]:
    values.append(100)
    return values


@lazy
def table(n: int) -> dict[Any, Any]:
    return {"n": n, "all": [n, n + 1], 0: "zero"}


@lazy
def kind(value: Any) -> str:
    return type(value).__name__


# Laziness


def test_a_tree_computes_nothing_until_it_is_asked_for(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n + 1)
    tree = f(f(1)) + f(10)
    assert calls == []
    assert isinstance(tree, LazyObject)
    assert (tree.unlazy(), unlazy(tree)) == (14, 14)
    assert sorted(calls) == [(1,), (2,), (10,)]


def test_operators_give_what_they_give_of_values(real: Path) -> None:
    a, b = square(3), square(2)
    assert unlazy([a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b]) == [
        *(13, 5, 36, 2.25, 2, 1, 6561, 144, 0, 0, 13, 13),
    ]
    assert unlazy([1 + a, 1 - a, 2 * a, 18 / a, 19 // a, 19 % a, 2**a, 1 << a, 1000 >> a, 1 & a, 2 | a, 1 ^ a]) == [
        *(10, -8, 18, 2.0, 2, 1, 512, 512, 1, 1, 11, 8),
    ]
    assert unlazy([divmod(a, b), divmod(19, a), -a, +a, abs(-a), ~a, round(a / 4, 1), round(a / 4)]) == [
        *((2, 1), (2, 1), -9, 9, 9, -10, 2.2, 2),
    ]
    assert unlazy([a == 9, a != 9, a < b, a <= b, a > b, a >= b, a > 5]) == [
        True,
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert all(isinstance(made, LazyObject) for made in (a == 9, a + 1, 1 + a, -a, a[0], a.real, a.bit_length()))


def test_attributes_items_and_methods(real: Path) -> None:
    made = point(3, y=4)
    assert unlazy([made.x, made.plus(5), made.plus(n=made.y), (made + made).y]) == [3, 12, 11, 8]
    assert unlazy(table(5)["all"][-1]) == 6
    assert unlazy(numbers(10)[2:4]) == [2, 3]
    assert unlazy(numbers(10)[square(1) : square(3) : square(2)]) == [1, 5]
    assert unlazy(table(5)[square(0)]) == "zero"
    assert unlazy(lazy("a,b").split(",")) == ["a", "b"]
    with pytest.raises(AttributeError, match="nothing"):
        made.nothing.unlazy()
    with pytest.raises(KeyError, match="none"):
        table(5)["none"].unlazy()


def test_what_must_answer_at_once_evaluates(real: Path) -> None:
    n = square(3)
    assert n
    assert not square(0)
    assert (int(n), float(n), complex(n), str(n), f"{n:>4}", range(10)[n]) == (9, 9.0, 9 + 0j, "9", "   9", 9)
    assert len(numbers(4)) == 4
    assert 3 in numbers(4)
    assert square(2) in numbers(5)
    assert 7 not in numbers(4)
    a, b = numbers(2)
    assert isinstance(a, LazyObject)
    assert unlazy([a, b]) == [0, 1]
    assert list(table(1)) == ["n", "all", 0]
    assert unlazy(list(reversed(numbers(3)))) == [2, 1, 0]
    assert [0, 1, 2][square(1)] == 1
    assert repr(n) == "<lazy test_lazy.square>"


def test_truth_can_be_refused(real: Path) -> None:
    strict = Lazy(onbool=False)
    with pytest.raises(TypeError, match="onbool=False"):
        bool(strict(3))


def test_a_lazy_object_cannot_be_changed_and_is_known_by_itself(real: Path) -> None:
    n = table(1)
    with pytest.raises(TypeError, match="sets x"):
        n.x = 1
    with pytest.raises(TypeError, match="sets the item"):
        n["x"] = 1
    with pytest.raises(TypeError, match="deletes"):
        del n["x"]
    with pytest.raises(TypeError, match="deletes"):
        del n.x
    assert copy.copy(n) is n
    assert copy.deepcopy([n])[0] is n
    assert {n: 1}[n] == 1
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(n)
    with pytest.raises(AttributeError, match="__fspath__"):
        n.__fspath__  # noqa: B018


def test_unlazy_looks_into_lists_tuples_and_dicts(real: Path) -> None:
    n = square(2)
    given = {"a": [n, (n, 1)], n: Pair(n, "x"), "rest": {1, 2}}
    assert unlazy(given) == {"a": [4, (4, 1)], 4: Pair(4, "x"), "rest": {1, 2}}
    assert type(unlazy(Pair(n, 1))) is Pair
    assert unlazy({n, 5}) == {4, 5}
    assert unlazy(cast(Any, slice(n, None))) == slice(4, None)
    assert unlazy(5) == 5
    same = [1]
    assert unlazy(same) is same


def test_values_and_functions_that_are_made_lazy(real: Path) -> None:
    assert lazy(square) is square
    n = lazy(3)
    assert lazy(n) is n
    assert unlazy(n + lazy([1, square(2)])[1]) == 7
    assert unlazy(lazy(len)(numbers(3))) == 3

    class Holder:
        def __init__(self, n: int) -> None:
            self.n = n

        @lazy
        def more(self, m: int) -> int:
            return self.n + m

    assert unlazy(Holder(1).more(2)) == 3


def test_a_class_is_made_lazy(real: Path) -> None:
    made = lazy(Point)(square(1), 2)
    assert unlazy(made) == Point(1, 2)
    assert unlazy(made.plus(1)) == 4


def test_lazy_results_of_lazy_functions_are_evaluated(real: Path) -> None:
    @lazy
    def nested(n: int) -> Any:
        return [square(n), (square(n + 1), n)]

    assert unlazy(nested(2)) == [4, (9, 2)]


def test_lazy_functions_call_each_other(real: Path) -> None:
    @lazy
    def fib(n: int) -> Any:
        return fib(n - 1) + fib(n - 2) if n > 1 else n

    @lazy
    def inner(n: int) -> int:
        return unlazy(square(n)) + square(n).unlazy() + int(square(n))

    @lazy
    def applied(f: Any, n: int) -> Any:
        return f(n)

    assert unlazy(fib(15)) == 610
    assert unlazy(inner(2)) == 12
    assert unlazy([applied(square, 3), applied(fib, 7)]) == [9, 13]


def test_a_default_that_is_lazy_is_refused(real: Path) -> None:
    one = square(1)

    def f(a: int, b: Any = one) -> int:
        return a

    with pytest.raises(larder.CodeError, match="a lazy object"):
        unlazy(lazy(f)(1))
    with pytest.raises(larder.ArgumentError, match=r"a default value of .* is a lazy object"):
        unlazy(lazy(f, version="1")(1))


def test_a_generator_is_the_list_of_what_it_yields(real: Path) -> None:
    @lazy
    def upto(n: int) -> Any:
        yield from range(n)

    assert unlazy(upto(3)) == [0, 1, 2]
    assert unlazy(upto(3)[1]) == 1


# Computed and cached results


def run(*trees: str, offset: int = 0) -> tuple[list[str], list[str]]:
    """Return what a process printed, and the functions that it executed."""
    environment = os.environ | {"LAZY_OFFSET": str(offset)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *trees], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    ran = [line.removeprefix("ran ") for line in lines if line.startswith("ran ")]
    return [line for line in lines if not line.startswith("ran ")], sorted(ran)


def test_another_process_computes_nothing(real: Path) -> None:
    values, ran = run("cutoff", "operators")
    assert values == ["6", "13"]
    assert len(ran) == 8  # source(1) and source(2) are in both trees
    assert run("cutoff", "operators") == (values, [])


def test_what_comes_out_the_same_stops_an_edit(real: Path) -> None:
    first, _ = run("cutoff")
    again, ran = run("cutoff", offset=1)
    assert (first, again) == (["6"], ["6"])
    assert ran == ["source 0", "source 1", "source 2"]
    assert run("cutoff", offset=1)[1] == []
    assert run("cutoff")[1] == []  # both versions are cached


def test_what_comes_out_otherwise_is_computed_on(real: Path) -> None:
    assert run("changed")[0] == ["6"]
    values, ran = run("changed", offset=1)
    assert values == ["12"]
    assert ran == ["double 3", "shifted 0", "shifted 1", "shifted 2", "total [2, 4, 6]"]  # 1 and 2 are cached


def test_an_edit_of_a_method_that_is_called_lazily_is_seen(real: Path) -> None:
    assert run("point") == (["at 3"], ["point 3", "read 3"])
    assert run("point") == (["at 3"], [])
    assert run("point", offset=2) == (["at 5"], ["read 5"])  # the point by its version, its method by its code


def test_an_edit_of_a_lazy_method_is_seen(real: Path) -> None:
    assert run("method") == (["12"], ["read 1", "twice"])
    assert run("method") == (["12"], [])
    assert run("method", offset=1) == (["14"], ["read 1", "twice"])


def pick(values: list[Any], n: int) -> Any:
    values.sort(key=repr)  # which changes its argument
    return values[n % len(values)]


def joined(*args: Any) -> list[Any]:
    return [*args, len(args)]


def placed(x: Any) -> Point:
    return Point(len(repr(x)), 1)


def random_tree(random: Random, call: Callable[..., Any], depth: int, made: list[Any]) -> Any:
    """Return a tree of calls, either lazy or of the functions themselves."""
    if depth == 0 or (made and random.random() < 0.2):
        return random.choice(made) if made and random.random() < 0.7 else random.choice([0, 1, "a", None, 2.5, (1, 2)])
    below = [random_tree(random, call, depth - 1, made) for _ in range(random.randrange(1, 4))]
    which = random.randrange(7)
    if which == 0:
        node = call(pick, [[1], *below], random.randrange(3))
    elif which == 1:
        node = call(joined, *below)
    elif which == 2:
        node = call(joined, *below)[0]
    elif which == 3:
        node = call(placed, below[0]).x + 1
    elif which == 4:
        node = call(placed, {"k": below, "l": (below[0],)}).plus(2)
    elif which == 5:
        node = (call(placed, below[0]) + call(placed, below[-1])).y
    else:
        node = call(joined, below)[0]
    made.append(node)
    return node


@pytest.mark.filterwarnings("ignore:.*arguments changed")
def test_trees_give_what_the_calls_would_have_given(real: Path) -> None:
    functions = {f: lazy(f) for f in (pick, joined, placed)}

    def eager(f: Callable[..., Any], *args: Any) -> Any:
        return copy.deepcopy(f(*copy.deepcopy(args)))

    for seed in range(60):
        made: list[Any] = []
        expected = random_tree(Random(seed), eager, 5, made)
        for _ in range(2):  # the second one finds the results of the first
            nodes: list[Any] = []
            tree = random_tree(Random(seed), lambda f, *args: functions[f](*args), 5, nodes)
            assert unlazy(tree) == expected, seed
            assert unlazy(nodes) == made, seed


def test_nothing_below_a_kept_result_is_loaded(real: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud = Lazy(diag=True)
    part = loud(lambda n: n + 1, version="1")
    whole = loud(lambda values: sum(values), version="1")

    def tree() -> LazyObject[Any]:
        return whole([part(n) * 2 for n in range(3)])

    assert unlazy(tree()) == 12
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()].count("save") == 4
    assert unlazy(tree()) == 12
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["load"]


def test_a_result_that_went_is_made_again(real: Path, program: str) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n + 1)
    assert unlazy(f(f(1))) == 3
    f._kept.forget(2)
    assert unlazy(f(f(1))) == 3
    assert calls == [(1,), (2,), (2,)]


def test_memo_and_lazy_share_results(real: Path) -> None:
    calls: list[Any] = []

    def f(n: int) -> int:
        calls.append(n)
        return n + 1

    assert larder.memo(version="1")(f)(1) == 2
    assert unlazy(lazy(f, version="1")(1)) == 2
    assert calls == [1]


def test_functions_that_are_not_kept_are_part_of_keys(real: Path) -> None:
    calls: list[Any] = []
    cheap = counted(calls, lambda n: n + 1, keep=False)
    costly = counted(calls, lambda n: n * 10)
    assert unlazy(costly(cheap(1))) == 20
    assert unlazy(costly(cheap(1))) == 20
    assert calls == [(1,), (2,)]  # the whole tree has a key
    assert unlazy(cheap(1)) == 2
    assert len(calls) == 3
    nothing = Lazy(cached=False)

    def noted(n: int) -> int:
        calls.append(n)
        return n

    other = nothing(noted, version="1")
    assert unlazy(other(7)) == unlazy(other(7)) == 7
    assert calls[-2:] == [7, 7]


def test_shared_nodes_are_computed_once(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda *args: sum(args), keep=False)
    node = f(1)
    for _ in range(50):
        node = f(node, node)  # with 2**50 paths
    assert unlazy(node) == 2**50
    assert len(calls) == 51
    assert unlazy([f(5), f(5)]) == [5, 5]
    assert len(calls) == 52


def test_deep_trees(real: Path) -> None:
    node: Any = lazy(0)
    for _ in range(100_000):
        node = node + 1
    assert unlazy(node) == 100_000
    plain = lazy(lambda n: n + 1, version="1", keep=False)
    deep: Any = 0
    for _ in range(20_000):
        deep = plain(deep)
    cached = lazy(lambda n: -n, version="1")
    assert unlazy(cached(deep)) == -20_000
    assert unlazy(cached(deep)) == -20_000
    assert len(str(cached(deep + 1).why()).splitlines()) > 20_000
    del node, deep
    gc.collect()


def test_wide_trees(real: Path) -> None:
    calls: list[Any] = []
    part, whole = counted(calls, lambda n: n), counted(calls, sum)
    assert unlazy(whole([part(n) for n in range(3000)])) == sum(range(3000))
    assert len(calls) == 3001
    assert unlazy(whole([part(n) for n in range(3000)])) == sum(range(3000))
    assert len(calls) == 3001


def test_threads_share_trees(real: Path) -> None:
    calls: list[Any] = []
    started = threading.Barrier(8)
    f = counted(calls, lambda *args: [sum(map(sum, args)) if args and isinstance(args[0], list) else 1])
    tree = f(f(), f(), [f()][0])
    results: list[Any] = []

    def evaluate() -> None:
        started.wait()
        results.append(unlazy(tree))

    threads = [threading.Thread(target=evaluate) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [[3]] * 8
    assert len(calls) == 2


# Returned values


def test_nobody_can_change_what_others_get(real: Path) -> None:
    base = numbers(3)
    with pytest.warns(larder.LarderWarning, match="arguments changed"):
        assert unlazy([base, grown(base), base, grown(base[:]), base]) == [
            *([0, 1, 2], [0, 1, 2, 100], [0, 1, 2], [0, 1, 2, 100], [0, 1, 2]),
        ]
    first = unlazy(base)
    first.append(5)
    assert unlazy(base) == [0, 1, 2]
    mine = [1, 2]
    held = lazy(mine)
    unlazy(held).append(3)
    assert unlazy(held) == mine == [1, 2]


def test_parts_of_a_value_are_not_changed_by_who_gets_the_whole(real: Path) -> None:
    whole = table(1)
    with pytest.warns(larder.LarderWarning, match="arguments changed"):
        assert unlazy([whole["all"], grown(whole["all"]), whole["all"], whole]) == [
            *([1, 2], [1, 2, 100], [1, 2], {"n": 1, "all": [1, 2], 0: "zero"}),
        ]


def test_who_gets_a_whole_last_does_not_get_what_parts_are_of(real: Path) -> None:
    def emptied(value: dict[str, Any]) -> int:
        value["all"].clear()
        return 0

    whole = table(3)
    with pytest.warns(larder.LarderWarning, match="arguments changed"):
        assert unlazy([whole["all"], lazy(emptied)(whole)]) == [[3, 4], 0]


def test_arrays(real: Path) -> None:
    np = pytest.importorskip("numpy")
    calls: list[Any] = []
    ones = counted(calls, lambda n: np.ones((n, n)))
    a = ones(3)
    assert unlazy((np.eye(3) + a).sum()) == 12
    assert unlazy((a @ np.eye(3))[0, 0]) == 1
    assert unlazy((np.eye(3) @ a).shape) == (3, 3)
    assert isinstance(np.eye(3) + a, LazyObject)
    with pytest.raises(TypeError, match="is not an array"):
        np.asarray(a)
    with pytest.raises(ValueError, match="read-only"):
        unlazy(a)[0, 0] = 2
    assert len(calls) == 1


def test_pandas_leaves_operators_to_lazy_objects(real: Path) -> None:
    pd = pytest.importorskip("pandas")
    made = pd.Series([1, 2]) + square(2)
    assert isinstance(made, LazyObject)
    assert list(unlazy(made)) == [5, 6]


def test_tables_are_iterated_over_as_they_are(real: Path) -> None:
    pd = pytest.importorskip("pandas")
    series = lazy(pd.Series([10, 20, 30], index=[2, 1, 0]))
    assert list(series) == [10, 20, 30]
    np = pytest.importorskip("numpy")
    assert unlazy(list(lazy(np.arange(3)))) == [0, 1, 2]


# Errors


def test_errors_say_where_in_the_tree_they_came_up(real: Path) -> None:
    @lazy
    def fails(n: int) -> int:
        raise ValueError(f"no {n}")

    @lazy
    def whole(parts: list[int], name: str) -> int:
        return sum(parts)

    with pytest.raises(ValueError, match="no 3") as raised:
        unlazy(whole([square(1), square(2) + fails(3)], name="x") * 2)
    (note,) = raised.value.__notes__
    assert note.startswith("in the tree: * -> [0]: test_lazy.")
    assert "whole -> parts[1]: + -> [1]: test_lazy." in note
    assert note.endswith("fails")


def test_what_memo_refuses_is_refused_with_the_way(real: Path) -> None:
    @lazy
    def clock(n: int) -> float:
        return n + time.time()

    with pytest.raises(larder.CodeError, match="the clock") as raised:
        unlazy(square(clock(1)))
    assert "test_lazy.square -> n: test_lazy." in raised.value.__notes__[0]
    assert "allow=" not in str(raised.value)  # an option of memo only
    with pytest.raises(larder.ArgumentError, match=r"test_lazy.square: arguments.* is a lock"):
        square(threading.Lock())
    with pytest.raises(larder.ArgumentError, match="in a list"):
        square({square(1)})
    with pytest.raises(larder.ArgumentError, match="a lazy object"):
        larder.memo(lambda n: n)(square(1))
    with pytest.raises(TypeError, match="missing a required argument"):
        square()
    with pytest.raises(TypeError, match="coroutine"):

        @lazy
        async def later() -> None: ...


def test_methods_that_no_key_can_tell_are_refused_or_asked_each_time(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda value: value)
    with pytest.raises(larder.ArgumentError, match="clock"):
        unlazy(point(1).now())
    node = f(point(1).age)
    assert unlazy(node) < unlazy(node) < unlazy(node)  # it is not identified by its tree
    assert len(calls) == 3


def test_arguments_that_changed_since_are_refused(real: Path) -> None:
    np = pytest.importorskip("numpy")
    values, listed = np.zeros(3), [1]
    made, other = kind(values), kind(listed)
    values += 1
    listed.append(2)
    with pytest.raises(larder.ArgumentError, match="has changed since"):
        unlazy(made)
    total = lazy(sum)
    grows = total(listed)
    listed.append(3)
    assert unlazy(grows) == 3  # lists are copied
    assert unlazy(other) == "list"


def test_code_that_changes_meanwhile_keeps_no_tree(real: Path) -> None:
    setting, changing = {"n": 1}, [True]

    @lazy
    def reads(x: int) -> int:
        return x + setting["n"]

    def change() -> int:
        if changing:
            setting["n"] += 1
        return 0

    both = lazy(lambda *values: list(values))
    tree = both(lazy(change, version="1", keep=False)(), reads(1))
    assert unlazy(tree) == [0, 3]
    changing.clear()
    setting["n"] = 1
    assert unlazy(tree) == [0, 2]
    assert unlazy(tree) == [0, 2]


def test_files_count_by_their_content_wherever_they_come_from(real: Path, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("one")

    @lazy
    def read(file: larder.File) -> str:
        with open(file) as opened:
            return opened.read()

    @lazy
    def name() -> str:
        return str(path)

    assert unlazy(read(str(path))) == unlazy(read(larder.File(path))) == unlazy(read(name())) == "one"
    before = read(str(path))
    path.write_text("other")
    assert unlazy(read(name())) == "other"
    assert unlazy(read(str(path))) == "other"
    with pytest.raises(larder.ArgumentError, match="has changed since"):
        unlazy(before + "")


# Options


def test_options(real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = Lazy(cache=DirCache(tmp_path / "own"), onplace=True, diag=True)
    f = now(lambda n: n + 1, version="1")
    assert f(1) == 2
    assert f(1) == 2
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["save", "load"]
    eager = Lazy(fastdo=True)
    with pytest.raises(ZeroDivisionError):
        eager(lambda n: 1 / n, version="1")(0)
    for name in ("onuse", "encache", "pedantic", "hint"):
        with pytest.raises(TypeError, match=f"Lazy has no {name} here: "):
            Lazy(**{name: True})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        Lazy(nothing=1)
    with pytest.raises(TypeError, match="lazy has no hint here: pass version="):
        lazy(square, hint="x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="cache must be a path or None, not dict"):
        Lazy(cache={})  # type: ignore[arg-type]
    stop = [os.environ["LARDER_BIN"], "serve", "--cache", str(tmp_path / "own" / "larder"), "--stop"]
    subprocess.run(stop, check=True, capture_output=True)


def test_why(real: Path) -> None:
    @lazy
    def half(n: int) -> float:
        return n / 2

    tree = half(square(4) + 1)
    assert [(n.label.rpartition(".")[2], n.status) for n in tree.why().nodes] == [
        *[("half", "waits"), ("+", "waits"), ("square", "not cached")],
    ]
    assert not larder.why(tree).cached
    unlazy(tree)
    assert [n.status for n in larder.why(tree).nodes] == ["cached"]
    assert tree.why().cached
    unlazy(square(5))
    other = half(square(5) + 1).why()
    assert [n.status for n in other.nodes] == ["not cached", "computed again", "cached"]
    assert "differs: n: changed (17 -> 26)" in str(other)


def test_without_a_server_trees_are_computed(runtime: Path) -> None:
    f = counted([], lambda n: n + 1)
    with pytest.warns(larder.LarderWarning, match="computed and not cached"):
        assert unlazy(f(f(2)) + 1) == 5
