"""Test cached functions that read files other than their arguments."""

from __future__ import annotations

import asyncio
import csv
import pickle
import statistics
import sys
import threading
import types
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._reads.audit import Watch


def text_of(path: Any) -> str:
    return Path(path).read_text()


def more_of(path: Any) -> Path:
    return Path(path).with_suffix(".more")


@larder.memo
def read(path: larder.File) -> str:
    return text_of(path)


@larder.memo
def words(path: larder.File) -> list[str]:
    return read(path).split()


@larder.memo
def sums(paths: list[larder.File]) -> list[int]:
    return [sum(map(int, words(path))) for path in paths]


@larder.memo
def rows(path: larder.File) -> list[list[str]]:
    with open(str(path), newline="") as file:
        return list(csv.reader(file))


@larder.memo
def with_more(path: larder.File) -> str:
    return text_of(path) + text_of(more_of(path))


@larder.memo
def kept_more(path: larder.File) -> str:
    return read(path) + read(larder.File(more_of(path)))


@larder.memo
def in_a_thread(path: larder.File) -> str:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(text_of(more_of(path))))
    thread.start()
    thread.join()
    return found[0]


@larder.memo
async def later(path: larder.File) -> str:
    await asyncio.sleep(0)
    return text_of(path) + text_of(more_of(path))


@pytest.fixture
def files(tmp_path: Path, real: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two files, and a cache without results for them."""
    cached: list[Any] = [read, words, sums, rows, with_more, kept_more, in_a_thread, later]
    for function in cached:
        monkeypatch.setitem(globals(), function.__name__, larder.memo(function.__wrapped__))
    one, two = tmp_path / "data.txt", tmp_path / "data.more"
    one.write_text("1 2")
    two.write_text("3 4")
    return one, two


def test_a_file_may_go_through_other_functions(files: tuple[Path, Path]) -> None:
    one, two = larder.File(files[0]), larder.File(files[1])
    assert [read(one), words(one), sums([one, two]), rows(one)] == ["1 2", ["1", "2"], [3, 7], [["1 2"]]]
    executed = [f.executions for f in (read, words, sums, rows)]
    assert sums([one, two]) == [3, 7]
    files[0].write_text("1 20")
    assert sums([one, two]) == [21, 7]
    assert [f.executions for f in (read, words, sums, rows)] == [
        executed[0] + 1,
        executed[1] + 1,
        executed[2] + 1,
        executed[3],
    ]


@pytest.mark.parametrize("name", ["with_more", "kept_more", "in_a_thread"])
def test_a_file_that_is_read_beside_is_in_no_key(name: str, files: tuple[Path, Path]) -> None:
    one, two = files
    function = globals()[name]
    with pytest.warns(larder.NotCachedWarning, match=r"it read .*data\.more, which is not a file that it was given"):
        first = function(one)
    two.write_text("5 6")
    with pytest.warns(larder.NotCachedWarning, match="data.more"):
        assert function(one) == first.replace("3 4", "5 6")


def test_a_coroutine_is_watched(files: tuple[Path, Path]) -> None:
    one, two = files

    async def both() -> list[str]:
        return list(await asyncio.gather(later(larder.File(one)), later(larder.File(two))))

    with pytest.warns(larder.NotCachedWarning, match="data.more"):
        assert asyncio.run(both()) == ["1 23 4", "3 43 4"]
    assert not later.cached(larder.File(one))
    assert later.cached(larder.File(two))


def test_a_batch_is_watched(files: tuple[Path, Path]) -> None:
    one, two = files

    @larder.memo_batch(items="paths")
    def own(paths: list[larder.File]) -> list[str]:
        return [text_of(path) for path in paths]

    @larder.memo_batch(items="paths")
    def more(paths: list[larder.File]) -> list[str]:
        return [text_of(more_of(path)) for path in paths]

    assert own([larder.File(one), larder.File(two)]) == own([larder.File(one), larder.File(two)]) == ["1 2", "3 4"]
    assert own.executions == 1
    with pytest.warns(larder.NotCachedWarning, match="data.more"):
        assert more([larder.File(one)]) == ["3 4"]
    two.write_text("5 6")
    with pytest.warns(larder.NotCachedWarning, match="data.more"):
        assert more([larder.File(one)]) == ["5 6"]


def test_what_libraries_read_for_themselves_is_theirs(files: tuple[Path, Path]) -> None:
    @larder.memo
    def imported(path: larder.File) -> str:
        import nturl2path  # noqa: F401  # which no test has imported

        return text_of(path)

    assert imported(larder.File(files[0])) == "1 2"
    assert imported.cached(larder.File(files[0]))


def test_a_function_that_is_given_reads_what_nobody_watches(files: tuple[Path, Path]) -> None:
    @larder.memo
    def apply(function: Callable[[Any], str], path: str) -> str:
        return function(path)

    def reads(path: larder.File) -> str:
        return open(path).read()

    with pytest.raises(larder.ArgumentError, match="reaches files"):
        apply(reads, str(files[0]))


class Reader:
    """An object with a cached method that reads files."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    @larder.memo
    def read(self, path: larder.File) -> str:
        return self.mark + path.read_text()

    def load(self, path: larder.File) -> str:
        return self.mark + path.read_text()


def test_methods_read_the_files_that_they_are_given(files: tuple[Path, Path]) -> None:
    @larder.memo
    def by_object(reader: Reader, path: larder.File) -> str:
        return reader.load(path)

    one = larder.File(files[0])
    cached = Reader.__dict__["read"]
    before = cached.executions
    assert Reader("a").read(one) == Reader("a").read(one) == "a1 2"
    assert cached.executions == before + 1
    assert by_object(Reader("b"), one) == by_object(Reader("b"), one) == "b1 2"
    assert by_object.executions == 1


def test_only_what_is_said_to_be_a_file_is_one(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files[0].parent)

    @larder.memo
    def labelled(items: list[tuple[larder.File, str]], more: dict[str, larder.File | None]) -> list[str]:
        return [path.read_text() + label.upper() for path, label in items] + sorted(more)

    items: Any = [("data.txt", "data.more"), ("data.more", "x")]
    assert labelled(items, {"k": None}) == ["1 2DATA.MORE", "3 4X", "k"]


@larder.memo
def logged(path: larder.File, log: str) -> int:
    with open(log, "a") as file:
        file.write("asked\n")
    return len(text_of(path))


@larder.memo
def copied(path: larder.File, target: str) -> str:
    with open(target, "w") as file:
        file.write(text_of(path))
    return target


@larder.memo
def reread(path: larder.File, log: str) -> str:
    with open(log, "a+") as file:
        file.seek(0)
        return file.read()


def test_lines_that_are_appended_to_a_log_are_no_result(files: tuple[Path, Path], tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert logged(larder.File(files[0]), log) == logged(larder.File(files[0]), log)
    assert Path(log).read_text() == "asked\n"


def test_a_file_that_is_written_is_no_file_that_is_read(files: tuple[Path, Path], tmp_path: Path) -> None:
    target = str(tmp_path / "copy")
    for _ in range(2):
        with pytest.warns(larder.NotCachedWarning, match="it wrote .*copy, and a hit would not write it again"):
            assert copied(larder.File(files[0]), target) == target
        Path(target).unlink()


def test_a_log_that_is_read_as_well_is_read(files: tuple[Path, Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    for text in ("one", "another"):
        log.write_text(text)
        with pytest.warns(larder.NotCachedWarning, match="it read"):
            assert reread(larder.File(files[0]), str(log)) == text


def test_classes_of_libraries_that_unpickling_imports_are_no_code_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "xmlrpc.client", raising=False)
    with Watch([]) as watch:
        pickle.loads(b"cxmlrpc.client\nBinary\n.")
    assert watch.reason() == ""
    with Watch([]) as watch:
        pickle.loads(f"c{__name__}\ntext_of\n.".encode())
    assert f"it unpickled {__name__}.text_of" in watch.reason()


@pytest.mark.parametrize("maker", ["cloudpickle.cloudpickle _make_function", "dill._dill _create_function"])
def test_code_that_a_pickle_holds_is_not_kept(monkeypatch: pytest.MonkeyPatch, maker: str) -> None:
    module, name = maker.split()
    made = types.ModuleType(module)
    setattr(made, name, len)
    for path in (module.partition(".")[0], module):
        monkeypatch.setitem(sys.modules, path, made)
    with Watch([]) as watch:
        pickle.loads(f"c{module}\n{name}\n.".encode())
    assert f"it unpickled code ({module}.{name})" in watch.reason()


TABLE: dict[str, Any] = {}


def untold(path: Any) -> str:
    """Read a file that no key covers."""
    return text_of(more_of(path))


@pytest.fixture
def nested(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> tuple[larder.File, Path]:
    """Cached functions that call a function which reads a file that no key covers."""

    @larder.memo
    def plain(path: larder.File) -> str:
        return untold(path)

    @larder.memo
    def fails(path: larder.File) -> str:
        raise ValueError(untold(path))

    @larder.memo
    def each(path: larder.File) -> Any:
        yield untold(path)

    @larder.memo
    async def awaited(path: larder.File) -> str:
        return untold(path)

    @larder.memo(version="1")
    def promised(path: larder.File) -> str:
        return untold(path)

    def rows(paths: list[larder.File]) -> list[str]:
        return [untold(path) for path in paths]

    inner = {"plain": plain, "fails": fails, "each": each, "awaited": awaited, "promised": promised}
    for name, function in (inner | {"batch": larder.memo_batch(rows, items="paths")}).items():
        monkeypatch.setitem(TABLE, name, function)
    return larder.File(files[0]), files[1]


def by_plain(path: larder.File) -> Any:
    return TABLE["plain"](path)


def by_error(path: larder.File) -> Any:
    try:
        return TABLE["fails"](path)
    except ValueError as error:
        return str(error)


def by_generator(path: larder.File) -> Any:
    return list(TABLE["each"](path))


def by_batch(path: larder.File) -> Any:
    return TABLE["batch"]([path])


def by_thread(path: larder.File) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(TABLE["plain"], path).result()


async def by_coroutine(path: larder.File) -> Any:
    return await TABLE["awaited"](path), TABLE["plain"](path)


def by_promise(path: larder.File) -> Any:
    return TABLE["promised"](path)


@pytest.mark.parametrize("name", ["by_plain", "by_error", "by_generator", "by_batch", "by_thread", "by_coroutine"])
def test_what_keeps_an_inner_result_from_being_kept_does_so_for_all_outer_ones(
    name: str, nested: tuple[larder.File, Path]
) -> None:
    middle = larder.memo(globals()[name])

    @larder.memo
    def outer(path: larder.File) -> Any:
        made = middle(path)
        return asyncio.run(made) if asyncio.iscoroutine(made) else made

    given, read = nested
    for text in ("3 4", "5 6"):
        read.write_text(text)
        with pytest.warns(larder.NotCachedWarning, match=r"it read .*data\.more"):
            assert text in str(outer(given))
    assert not outer.cached(given)
    assert not middle.cached(given)


def test_a_version_answers_for_what_a_function_reads(nested: tuple[larder.File, Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outer = larder.memo(by_promise)
        assert outer(nested[0]) == "3 4"
    assert outer.cached(nested[0])


def test_a_file_of_which_a_thread_has_a_result_kept_is_read(files: tuple[Path, Path]) -> None:
    @larder.memo
    def outer(path: larder.File) -> str:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(read, larder.File(more_of(path))).result()

    one, two = files
    for text in ("3 4", "5 6"):
        two.write_text(text)
        assert read(larder.File(two)) == text
        with pytest.warns(larder.NotCachedWarning, match=r"it read .*data\.more"):
            assert outer(larder.File(one)) == text


def drawn(n: int) -> float:
    return float(TABLE["draw"](n))


@pytest.mark.parametrize("options", [{"version": "1"}, {"allow": ["random"]}])
def test_what_answers_for_chance_does_so_where_it_is_called(
    options: dict[str, Any], real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLE, "draw", lambda n: n + statistics.NormalDist(0, 1).samples(1)[0])
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # other tests leave threads
    inner = larder.memo(**options)(drawn)
    monkeypatch.setitem(TABLE, "inner", inner)

    @larder.memo
    def outer(n: int) -> float:
        return float(TABLE["inner"](n) * 2)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outer(1) == inner(1) * 2
    assert outer.cached(1)
