"""Test functions with cached results."""

from __future__ import annotations

import asyncio
import copy
import decimal
import functools
import json
import logging
import os
import pickle
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest

import larder

PROGRAM = Path(__file__).parent / "memo_program.py"
RESULT = {"numbers": [1, 2.5, (3, None)], "name": "ä", "raw": b"\x00\xff"}


@pytest.fixture
def log(real: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = real / "log"
    path.touch()
    monkeypatch.setenv("MEMO_LOG", str(path))
    return path


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments], env=os.environ | environment, stdout=subprocess.PIPE, text=True
    )


def run(*arguments: str) -> list[str]:
    process = start(*arguments)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out.split("\n")[:-1]


def counted(calls: list[Any], function: Callable[..., Any], **options: Any) -> Any:
    """Return a function that is cached by a version, and logs its calls."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return function(*args, **kwargs)

    return larder.memo(version="1", **options)(noted)


def test_a_result_is_computed_once(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda *args: RESULT)
    assert [f(1), f(1), f(1.0), f(True), f("1"), f(1)] == [RESULT] * 6
    assert [args for args, _ in calls] == [(1,), (1.0,), (True,), ("1",)]
    assert all(type(a[0]) is t for (a, _), t in zip(calls, [int, float, bool, str], strict=True))


def test_processes_share_results(log: Path) -> None:
    assert run("square", "3", "3", "4") == ["9", "9", "16"]
    assert run("square", "4", "3", "5") == ["16", "9", "25"]
    assert log.read_text().split("\n")[:-1] == ["square 3", "square 4", "square 5"]
    assert run("upto", "3") == run("upto", "3")
    assert log.read_text().count("upto 3") == 1


def test_processes_that_ask_at_once_compute_each_result_once(log: Path) -> None:
    numbers = [str(n) for n in range(200)]
    for process in [start("square", *numbers) for _ in range(8)]:
        out, _ = process.communicate(timeout=120)
        assert out.split() == [str(n * n) for n in range(200)]
    assert sorted(log.read_text().split("\n")[:-1]) == sorted(f"square {n}" for n in range(200))


def test_batches_of_processes_compute_each_item_once(log: Path) -> None:
    for process in [start("squares", str(k)) for k in range(8)]:
        process.communicate(timeout=120)
        assert process.returncode == 0
    computed = log.read_text().split("\n")[:-1]
    assert len(computed) == len(set(computed)) > 0


def test_who_waits_for_a_process_that_is_killed_computes(log: Path) -> None:
    first = start("slow", "1", MEMO_DIES="1")
    assert first.stdout is not None
    assert first.stdout.readline() == "computing\n"
    second = start("slow", "1")
    first.kill()
    first.communicate()
    assert second.communicate(timeout=60)[0] == "1\n"
    assert log.read_text().count("slow 1") == 2


def test_a_server_that_is_killed_is_started_again(real: Path, program: str) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n + 1)
    assert f(1) == 2
    stop = [program, "serve", "--cache", str(real / "cache"), "--status", "--json"]
    status = subprocess.run(stop, capture_output=True, text=True, check=True).stdout
    os.kill(json.loads(status)["pid"], signal.SIGKILL)
    assert f(2) == 3
    assert f(1) == 2
    assert len(calls) == 2


def test_a_cache_that_was_removed_is_forgotten(real: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import larder, sys\n"
        "@larder.memo_batch(version='1', items='xs')\n"
        "def f(xs): return [[sys.argv[1]] * 500 for x in xs]\n"
        "print(f(list(range(200)))[7][0], f.computed_items)\n"
    )

    def run(value: str) -> str:
        path = str(Path(__file__).parents[1] / "src")
        env = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, script, value], env=env, capture_output=True, text=True, check=True
        ).stdout

    assert run("a") == "a 200\n"
    assert run("b") == "a 0\n"
    shutil.rmtree(os.environ["LARDER_CACHE"])
    assert run("b") == "b 200\n"


def test_one_call_has_many_spellings(real: Path) -> None:
    calls: list[Any] = []

    def f(a: int, b: int = 2, *rest: int, c: int = 3, **more: int) -> list[Any]:
        calls.append(a)
        return [a, b, *rest, c, sorted(more.items())]

    cached = larder.memo(version="1")(f)
    first = cached(1)
    assert first == cached(1, 2) == cached(1, b=2) == cached(a=1, b=2) == cached(1, 2, c=3) == f(1)
    assert len(calls) == 2
    assert cached(1, 2, 3) == f(1, 2, 3)
    assert cached(1, d=4) == f(1, d=4)
    assert cached(1, c=5) == f(1, c=5)


def test_what_is_ignored_is_no_part_of_the_key(real: Path) -> None:
    calls: list[int] = []

    @larder.memo(version="1", ignore=["verbose"])
    def f(n: int, verbose: bool = False) -> int:
        calls.append(n)
        return n

    assert f(1) == f(1, verbose=True) == f(1, True) == 1
    assert len(calls) == 1
    with pytest.raises(TypeError, match=r"\['loud'\], which are not parameters"):
        larder.memo(version="1", ignore=["loud"])(lambda n: n)


def test_a_key_of_the_callers(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda sample: sample["id"], key=lambda sample: sample["id"])
    assert f({"id": 1, "lock": threading.Lock()}) == f({"id": 1, "lock": threading.Lock()}) == 1
    assert len(calls) == 1


def test_exceptions_are_raised_and_not_kept(real: Path) -> None:
    fails = [True]

    @larder.memo(version="1")
    def f(n: int) -> int:
        if fails:
            fails.pop()
            raise LookupError(f"no {n}")
        return n

    with pytest.raises(LookupError, match="no 1"):
        f(1)
    assert f(1) == 1


def test_cached_forget_refresh(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: len(calls))
    assert not f.cached(1)
    assert not calls
    assert f(1) == 1
    assert f.cached(1)
    assert not f.cached(2)
    assert f.refresh(1) == 2
    assert f(1) == 2
    f.forget(1)
    assert not f.cached(1)
    assert f(1) == 3


def test_results_are_the_same_whether_they_were_kept_or_not(real: Path) -> None:
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")

    @larder.memo(version="1")
    def f(n: int) -> Any:
        return {"a": numpy.arange(n, dtype="float32").reshape(2, -1), "t": (1, [2])}

    for n in (10, 400_000):  # one that is sent, and one that is in a file
        f(n)
        f._state().results.clear()
        for cached in (f(n), f(n)):
            assert type(cached["t"]) is tuple
            assert cached["a"].dtype == "float32"
            assert numpy.array_equal(cached["a"], numpy.arange(n, dtype="float32").reshape(2, -1))
            assert not cached["a"].flags.writeable


def test_large_results_that_were_just_seen_are_found_without_the_server(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def large(n: int) -> bytes:
        calls.append(n)
        return bytes([n, len(calls)]) * 200_000

    f, other = larder.memo(version="1")(large), larder.memo(version="1")(large)
    first = f(1)
    assert f(1) == first  # requested from the server
    asked: list[int] = []
    one = f._client.one

    def noted(*given: Any) -> Any:
        asked.append(1)
        return one(*given)

    monkeypatch.setattr(f._client, "one", noted)
    assert f(1) == f(1) == first
    assert not asked

    def a_second_later() -> None:
        known = f._state()
        known.results[f._key(known, (1,), {})].until = 0

    a_second_later()
    assert f(1) == first
    assert len(asked) == 1
    assert f(1) == first
    assert len(asked) == 1
    second = other.refresh(1)
    assert second == bytes([1, 2]) * 200_000
    a_second_later()
    assert f(1) == second
    other.forget(1)
    a_second_later()
    assert f(1) == bytes([1, 3]) * 200_000
    assert calls == [1, 1, 1]


def test_what_cannot_be_kept_is_handed_out_with_a_warning(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: threading.Lock())
    for k in (1, 2):
        with pytest.warns(larder.LarderWarning, match="is not cached: .*lock"):
            assert f(1) is not None
        assert len(calls) == k


def test_pickle_is_used_where_it_is_asked_for_by_name(real: Path) -> None:
    calls: list[Any] = []
    with pytest.warns(larder.LarderWarning, match="can run code in this program"):
        f = counted(calls, lambda n: range(n), codec="pickle")
    assert f(3) == f(3) == range(3)
    assert len(calls) == 1
    g = counted(calls, lambda n: range(n))
    assert g(3) == range(3)
    assert len(calls) == 2
    with pytest.raises(TypeError, match='codec must be "pickle" or None'):
        larder.memo(codec="json")(lambda n: n)


def test_code_without_a_key_is_refused(real: Path) -> None:
    @larder.memo
    def now() -> float:
        return time.time()

    with pytest.raises(larder.CodeError, match=r"time\.time reaches the clock"):
        now()
    f = larder.memo(version="1")(lambda lock: 1)
    with pytest.raises(larder.ArgumentError, match="lock"):
        f(threading.Lock())


def test_arguments_that_change_meanwhile_are_not_kept(real: Path) -> None:
    @larder.memo(version="1")
    def f(numbers: list[int]) -> int:
        numbers.append(1)
        return len(numbers)

    for _ in range(2):
        with pytest.warns(larder.LarderWarning, match="arguments changed while it was computed"):
            assert f([]) == 1


def test_an_edit_of_what_a_function_reaches_is_seen_at_once(real: Path, tmp_path: Path) -> None:
    module = tmp_path / "edited.py"
    text = "import larder\nLIMIT = 1\ndef helper(n):\n    return n + LIMIT\n"
    text += "@larder.memo\ndef f(n):\n    return helper(n)\n"
    ask = [sys.executable, "-c", "import edited; print(edited.f(1))"]
    for before, after, want in [
        ("", "", "2"),
        ("= 1", "= 5", "6"),
        ("n + L", "n - L", "-4"),
        ("helper(n)\n", "helper(n) * 2\n", "-8"),
    ]:
        text = text.replace(before, after) if before else text
        module.write_text(text)
        seen = subprocess.run(
            ask,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert seen.stdout.strip() == want


def test_functions_within_functions(real: Path) -> None:
    calls: list[str] = []

    @larder.memo(version="1")
    def inner(n: int) -> int:
        calls.append(f"inner {n}")
        return n + 1

    @larder.memo(version="1")
    def outer(n: int) -> int:
        calls.append(f"outer {n}")
        return inner(n) * inner(n + 1)

    assert outer(1) == 6
    assert inner(1) == 2
    assert calls == ["outer 1", "inner 1", "inner 2"]


def test_a_function_that_needs_its_own_result_is_told(real: Path) -> None:
    @larder.memo(version="1")
    def f(n: int) -> int:
        return int(f(n))

    with pytest.raises(larder.CycleError):
        f(1)

    @larder.memo(version="1")
    def fibonacci(n: int) -> int:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    assert fibonacci(40) == 102334155


def test_threads_share_a_function(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n * n)
    wrong: list[Any] = []

    def ask() -> None:
        for n in range(50):
            if f(n) != n * n:
                wrong.append(n)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(calls) == 50


def test_methods_are_known_by_their_object(real: Path) -> None:
    class Scaler:
        def __init__(self, by: int) -> None:
            self.by = by

        @larder.memo
        def scale(self, n: int) -> int:
            return n * self.by

    assert not Scaler(2).scale.cached(3)
    assert Scaler(2).scale(3) == 6
    assert Scaler(2).scale.cached(3)
    assert not Scaler(2).scale.cached(4)
    assert not Scaler(5).scale.cached(3)
    assert Scaler(5).scale(3) == 15


def test_generators_are_kept_whole(real: Path) -> None:
    calls: list[int] = []

    @larder.memo(version="1")
    def count(n: int) -> Any:
        calls.append(n)
        yield from range(n)

    assert list(count(3)) == list(count(3)) == [0, 1, 2]
    assert calls == [3]
    assert next(count(3)) == 0


def test_coroutines(real: Path) -> None:
    calls: list[int] = []

    @larder.memo(version="1")
    async def f(n: int) -> int:
        calls.append(n)
        await asyncio.sleep(0)
        return n + 1

    async def main() -> list[int]:
        return [await f(1), await f(1), *(await asyncio.gather(*(f(n % 3) for n in range(9))))]

    assert asyncio.run(main()) == [2, 2, *([1, 2, 3] * 3)]
    assert sorted(calls) == [0, 1, 2]


def test_what_is_interrupted_can_be_asked_for_again(real: Path) -> None:
    interrupts: list[type[BaseException]] = [KeyboardInterrupt, SystemExit, GeneratorExit]

    @larder.memo(version="1")
    def f(n: int) -> int:
        if interrupts:
            raise interrupts.pop()
        return n

    for kind in reversed(list(interrupts)):
        with pytest.raises(kind):
            f(1)
    assert f(1) == 1


def test_a_coroutine_that_is_cancelled_can_be_asked_for_again(real: Path) -> None:
    begun = asyncio.Event()
    ended: list[str] = []

    @larder.memo(version="1")
    async def f(n: int) -> int:
        if not ended:
            begun.set()
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
        return n

    async def main() -> int:
        task = asyncio.create_task(f(1))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not ended:
            await asyncio.sleep(0)
        return await f(1)

    assert asyncio.run(main()) == 1
    assert ended == ["cancelled"]


def test_a_fork_has_connections_of_its_own(real: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n + 1)
    assert f(1) == 2
    child = os.fork()
    if child == 0:
        os._exit(0 if f(1) == 2 and f(2) == 3 and len(calls) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert f(2) == 3
    assert len(calls) == 1


def test_without_a_server_results_are_computed(runtime: Path) -> None:
    calls: list[Any] = []
    f = counted(calls, lambda n: n + 1)
    with pytest.warns(larder.LarderWarning, match="are computed and not cached: larder serve ended with status 3"):
        assert f(1) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(1) == 2
    assert len(calls) == 2


def test_why(real: Path) -> None:
    @larder.memo
    def area(width: int, height: int = 2) -> int:
        return width * height

    area(3)
    cached, other = larder.why(area, 3), larder.why(area, 4)
    assert cached.cached
    assert not cached.changes
    assert not other.cached
    assert other.changes == ["width: changed (3 -> 4)"]
    assert "area(width=4, height=2): not cached" in str(other)
    assert any("function" in part for part in other.code)
    with pytest.raises(TypeError, match="decorate it with"):
        larder.why(len, [])


def test_files_are_known_by_their_content(real: Path, tmp_path: Path) -> None:
    calls: list[str] = []

    @larder.memo(version="1")
    def size(file: larder.File) -> int:
        calls.append(str(file))
        return len(Path(file).read_bytes())

    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("text")
    second.write_text("text")
    assert size(larder.File(first)) == size(larder.File(second)) == 4
    first.write_text("longer")
    assert size(larder.File(first)) == 6
    assert len(calls) == 2


def test_of_a_file_only_the_content_is_in_the_key(real: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")

    def reads(path: larder.File) -> Any:
        with open(path) as file:
            return Path(path).read_text(), Path(path).exists(), os.path.getsize(path), file.read()

    def adjacent(path: larder.File) -> Any:
        return len(list(Path(path).parent.iterdir()))

    def found(path: larder.File) -> Any:
        return len(list(Path(path).parent.rglob("*")))

    def when(path: larder.File) -> Any:
        return os.path.getmtime(path)

    def status(path: larder.File) -> Any:
        return os.stat(path).st_mtime

    def state(path: larder.File) -> Any:
        return Path(path).stat().st_mtime

    assert larder.memo(reads)(larder.File(tmp_path / "a")) == ("text", True, 4, "text")
    for function in (adjacent, found, when, status, state):
        with pytest.raises(larder.CodeError, match=r"reach(es)? files"):
            larder.memo(function)(larder.File(tmp_path / "a"))


def test_a_path_where_a_file_is_said_to_be_is_the_file(real: Path, tmp_path: Path) -> None:
    @larder.memo
    def read(path: larder.File) -> str:
        with open(path) as file:
            return file.read()

    file, ask = tmp_path / "file", cast(Any, read)
    for text in ("one", "two, longer"):
        file.write_text(text)
        assert ask(file) == ask(str(file)) == ask(larder.File(file)) == ask(path=file) == text
    assert ask.cached(str(file))
    with pytest.raises(larder.ArgumentError, match=r"path is 3, but its annotation is larder\.File"):
        ask(3)


def test_versions_of_one_name_in_two_places(real: Path, tmp_path: Path) -> None:
    said = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        text = f"import larder\n@larder.memo(version='1')\ndef load(n):\n    return {name!r}\nprint(load(1))\n"
        (tmp_path / name / "main.py").write_text(text)
        command = [sys.executable, "main.py"]
        run = subprocess.run(command, cwd=tmp_path / name, capture_output=True, text=True, check=True)
        said.append(run.stdout.strip())
    assert said == ["first", "second"]
    add, times = larder.memo(version="1")(lambda n: n + 1), larder.memo(version="1")(lambda n: n * 100)
    assert (add(5), times(5)) == (6, 500)


def test_settings_that_results_depend_on(real: Path) -> None:
    @larder.memo
    def third(number: decimal.Decimal) -> decimal.Decimal:
        return number / 3

    one = decimal.Decimal(1)
    seen = {str(third(one))}
    with decimal.localcontext() as context:
        context.prec = 5
        seen.add(str(third(one)))
    assert len(seen) == 2


@larder.memo(version="1")
def doubled(n: int) -> int:
    return 2 * n


def test_functions_are_pickled_by_their_names() -> None:
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert copy.deepcopy(doubled) is doubled


def test_static_methods_and_names_of_parameters(real: Path) -> None:
    class Tool:
        @larder.memo(version="1")
        @staticmethod
        def twice(n: int, by: int = 2) -> int:
            return n * by

    assert Tool.twice(3) == Tool().twice(3) == 6
    with pytest.raises(TypeError, match="write @classmethod above"):
        larder.memo(version="1")(cast(Any, classmethod(lambda cls: 1)))
    assert larder.memo(version="1")(lambda self, func: self + func)(self=1, func=2) == 3


def test_objects_that_answer_to_every_name(real: Path) -> None:
    class Answers(dict[str, int]):
        __getattr__ = dict.__getitem__

    f = larder.memo(version="1")(lambda config: config["n"])
    assert f(Answers(n=3)) == f(Answers(n=3)) == 3


def test_ways_to_name_arguments_are_told_apart(real: Path) -> None:
    def f(a: Any, b: Any = 0) -> Any:
        return ["f", a, b]

    by_b = larder.memo(version="1", ignore=["a"])(f)
    by_a = larder.memo(version="1", ignore=["b"])(f)
    whole = larder.memo(version="1")(f)
    by_key = larder.memo(version="1", key=lambda a, b=0: b)(f)
    assert by_b(1, 2) == ["f", 1, 2]
    assert by_a(2, 9) == ["f", 2, 9]
    assert by_key(5, "k") == ["f", 5, "k"]
    assert whole("key", "k") == ["f", "key", "k"]
    assert whole("k") == ["f", "k", 0]


class Stamped:
    def __init__(self, n: int) -> None:
        self.n = n

    def stamp(self) -> float:
        return time.time()


def test_what_nothing_calls_does_not_keep_an_argument_from_being_described(real: Path) -> None:
    @larder.memo
    def f(value: Stamped) -> int:
        return value.n

    assert f(Stamped(1)) == 1
    assert f.cached(Stamped(1))


def test_functions_of_libraries_and_classes_are_kept(real: Path) -> None:
    assert larder.memo(len)([1, 2]) == 2
    assert larder.memo(complex)(1, 2) == 1 + 2j


def test_a_part_of_a_function_of_files_gets_files(real: Path, tmp_path: Path) -> None:
    def read(file: larder.File, more: str) -> str:
        with open(file) as opened:
            return opened.read() + more

    path = tmp_path / "data"
    path.write_text("one")
    f = larder.memo(version="1")(functools.partial(read, more="!"))
    assert f(str(path)) == "one!"
    path.write_text("other")
    assert f(str(path)) == "other!"


def timed(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def inner(value: int) -> int:
        began = time.perf_counter()
        made = function(value)
        logging.getLogger("tests").debug("took %s", time.perf_counter() - began)
        return made

    return inner


def test_what_no_result_depends_on_may_be_allowed(real: Path) -> None:
    @timed
    def double(value: int) -> int:
        return 2 * value

    with pytest.raises(larder.CodeError, match=r'allow=\["time.perf_counter"\] if no result depends on it'):
        larder.memo(double)(1)
    cached = larder.memo(allow=["time.perf_counter"])(double)
    assert cached(4) == cached(4) == 8
    assert cached.executions == 1
    whole = larder.memo_batch(lambda values: [time.monotonic() and v for v in values], items="values", allow=["time"])
    assert whole([1, 2]) == whole([1, 2]) == [1, 2]
    assert whole.executions == 1
    with pytest.raises(TypeError, match="a list of names"):
        larder.memo(allow="time")(double)


def test_a_variable_that_is_set_later_counts(real: Path) -> None:
    def pipeline(scale: int) -> tuple[int, int]:
        @larder.memo
        def step(n: int) -> int:
            return 0 if n == 0 else n * factor

        first = step(0)
        factor = scale
        return first, step(2)

    assert [pipeline(10), pipeline(20)] == [(0, 20), (0, 40)]


class Filled:
    """An object that fills in an attribute when it is first read."""

    def __init__(self, scale: int) -> None:
        self.scale = scale

    @functools.cached_property
    def weights(self) -> list[int]:
        return [self.scale] * 3


FILLED = Filled(2)


def test_what_objects_fill_in_by_themselves_is_no_change(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @larder.memo
    def total(value: int, of: Filled) -> int:
        return value + sum(FILLED.weights) + sum(of.weights)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert total(1, Filled(1)) == 10
    FILLED.__dict__.pop("weights")  # as in another process
    assert total(1, Filled(1)) == 10
    assert total.executions == 1
    FILLED.scale = 3
    FILLED.__dict__.pop("weights", None)
    assert total(1, Filled(1)) == 13


def test_chance_is_handed_out_and_not_kept(real: Path) -> None:
    @larder.memo
    def drawn(count: int) -> list[float]:
        return statistics.NormalDist(0, 1).samples(count)

    @larder.memo(allow=["random"])
    def anyhow(count: int) -> list[float]:
        return statistics.NormalDist(0, 1).samples(count)

    @larder.memo
    def seeded(count: int) -> list[float]:
        return statistics.NormalDist(0, 1).samples(count, seed=3)

    with pytest.warns(larder.NotCachedWarning, match="drew random numbers from the generator of random"):
        first = drawn(2)
    with pytest.warns(larder.NotCachedWarning, match="drew"):
        assert drawn(2) != first
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert seeded(2) == seeded(2)
        assert anyhow(2) == anyhow(2)
    assert (drawn.executions, seeded.executions, anyhow.executions) == (2, 1, 1)


def test_keys_may_be_a_parameter_of_the_function(real: Path) -> None:
    seen: list[Any] = []

    def note(values: list[int], ids: list[int]) -> list[int]:
        seen.append((values, ids))
        return [v + i for v, i in zip(values, ids, strict=True)]

    cached = larder.memo_batch(note, items="values", key="ids", version="1")
    assert cached([1, 2], ids=[10, 20]) == [11, 22]
    assert cached([2, 3], ids=[20, 30]) == [22, 33]
    assert seen == [([1, 2], [10, 20]), ([3], [30])]


def test_functions_of_a_factory_with_a_version_are_told_apart(real: Path) -> None:
    def power(n: int) -> Any:
        @larder.memo(version="1")
        def raised(value: int) -> int:
            return int(value**n)

        return raised

    assert [power(n)(3) for n in (2, 3, 2)] == [9, 27, 9]


def test_a_script_may_be_moved_and_its_name_counts(real: Path, tmp_path: Path) -> None:
    text = "import larder\n@larder.memo\ndef f(x): return x\n"
    text += "f(1)\nprint(f.executions, larder.why(f, 1).code[0], sep='|')\n"
    said = []
    for place in ("one.py", "sub/one.py", "two.py"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
        said.append(run.stdout.strip())
    called = "name one.f, as the script is called one"
    assert said == [f"1|{called}", f"0|{called}", f"1|{called.replace('one', 'two')}"]


def helped(x: int) -> int:
    return x + 1


@larder.memo
def helps(x: int) -> int:
    return helped(x)


def test_what_a_mock_returns_is_not_cached(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert helps(1) == 2
    for kind in (mock.Mock, mock.MagicMock):
        with monkeypatch.context() as patched:
            patched.setitem(globals(), "helped", kind(return_value=5))
            with pytest.warns(larder.NotCachedWarning, match="helped changed"):
                assert helps(1) == 5
    assert helps(1) == 2
    assert helps.executions == 3
