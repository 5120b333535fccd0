"""Test that file names are in keys where code can see them, and nowhere else."""

from __future__ import annotations

import contextlib
import enum
import io
import operator
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import larder


class Color(enum.StrEnum):
    RED = "red"


class Namer:
    def of(self, path: Any) -> str:
        return str(path.name)


text_of = str
LABEL = "%s"


def number(path: larder.File) -> Any:
    return max(len(line) for line in path.read_text().split())


def smallest(path: larder.File) -> Any:
    return min(path.read_text()), sorted(path.read_bytes())


def printed(path: larder.File) -> Any:
    print(path)
    return len(path.read_text())


def counted(path: larder.File) -> Any:
    count = 0
    for _ in path.read_text():
        count += 1
    size = len(path.read_bytes())
    return f"{count} {size} {count:04d}" + str(size) + str(len(path.read_text()))


def odd(path: larder.File) -> Any:
    return len(path.read_text()) % 2


def opened(path: larder.File) -> Any:
    with open(str(path)) as file:
        return file.read()


def of_enum(path: larder.File) -> Any:
    return Color.RED.value, path.read_text(), isinstance(path, str)


@pytest.mark.parametrize("function", [number, smallest, printed, counted, odd, opened, of_enum])
def test_a_renamed_file_is_found(function: Callable[..., Any], real: Path, tmp_path: Path) -> None:
    cached = larder.memo(function)
    one, two = _equal(tmp_path)
    assert cached(one) == cached(two) == function(two)
    assert cached.executions == 1


def by_str(path: larder.File) -> Any:
    return str(path)


def by_repr(path: larder.File) -> Any:
    return repr([path])


def by_bytes(path: larder.File) -> Any:
    return bytes(path)


def by_percent(path: larder.File) -> Any:
    return b"%b" % cast(Any, path), LABEL % path


def by_text(path: larder.File) -> Any:
    return f"{path}"


def by_getattr(path: larder.File) -> Any:
    return getattr(path, "name")  # noqa: B009


def by_any_attribute(path: larder.File, attribute: str = "name") -> Any:
    return getattr(path, attribute)


def by_attrgetter(path: larder.File) -> Any:
    return operator.attrgetter("name")(path)


def by_match(path: larder.File) -> Any:
    match path:
        case Path(name=name):
            return name


def by_alias(path: larder.File) -> Any:
    return text_of(path)


def by_default(path: larder.File, convert: Callable[..., str] = str) -> Any:
    return convert(path)


def by_map(path: larder.File) -> Any:
    return list(map(str, [path]))


def by_pickle(path: larder.File) -> Any:
    return pickle.dumps(path, protocol=2)


def by_print(path: larder.File) -> Any:
    out = io.StringIO()
    print(path, file=out)
    return out.getvalue()


def by_stdout(path: larder.File) -> Any:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print(path)
    return out.getvalue()


def by_jump(path: larder.File) -> Any:
    label: Any = path if len(path.read_text()) else 1
    return f"{label}"


def by_number(path: larder.File) -> Any:
    size: Any = len(path.read_text())
    for size in [path]:  # noqa: B007
        pass
    return f"{size}"


def load(path: Any) -> Any:
    return path


def by_own_load(path: larder.File) -> Any:
    return load(str(path))


def unannotated(path: Any) -> Any:
    return path.name


def handed(function: Any, path: Any) -> Any:
    out = io.StringIO()
    function(path, file=out)
    return out.getvalue()


def by_print_of_others(path: larder.File) -> Any:
    return handed(print, path)


def same(function: Any, value: Any) -> Any:
    return value if function is len else function


def by_len_of_others(path: larder.File) -> Any:
    return f"{same(len, path)}"


SEEN = [
    by_print_of_others,
    by_len_of_others,
    by_str,
    by_repr,
    by_bytes,
    by_percent,
    by_text,
    by_getattr,
    by_any_attribute,
    by_attrgetter,
    by_match,
]
SEEN += [by_alias, by_default, by_map, by_pickle, by_print, by_stdout, by_jump, by_number, by_own_load, unannotated]


@pytest.mark.parametrize("function", SEEN)
def test_a_name_that_is_seen_counts(function: Callable[..., Any], real: Path, tmp_path: Path) -> None:
    cached = larder.memo(function)
    one, two = _equal(tmp_path)
    cached(one)
    assert cached(two) == function(two)
    assert cached.executions == 2


def test_a_name_that_code_among_the_arguments_sees_counts(real: Path, tmp_path: Path) -> None:
    def by_method(path: Any, namer: Namer) -> Any:
        return namer.of(path)

    def by_function(path: Any, function: Any) -> Any:
        return function(path)

    one, two = _equal(tmp_path)
    cases: list[tuple[Any, Any]] = [(by_method, Namer()), (by_function, Namer().of), (by_function, str)]
    for function, argument in cases:
        cached = larder.memo(function)
        cached(one, argument)
        assert cached(two, argument) == function(two, argument)


def test_a_file_in_a_variable_counts_with_its_name(real: Path, tmp_path: Path) -> None:
    def made(file: larder.File) -> Callable[[], str]:
        return larder.memo(lambda: str(file))

    one, two = _equal(tmp_path)
    assert made(one)() == str(one)
    assert made(two)() == str(two)


@pytest.mark.parametrize("wrap", [lambda path: path, lambda path: Path(path), lambda path: {"a": [path / ".."]}])
def test_a_path_that_is_returned_is_not_kept(wrap: Callable[[Any], Any], real: Path, tmp_path: Path) -> None:
    def returned(path: larder.File) -> Any:
        return wrap(path)

    cached: Any = larder.memo(returned)
    for file in _equal(tmp_path):
        with pytest.warns(larder.NotCachedWarning, match=r"path of a file.*return str\(path\)"):
            assert cached(file) == wrap(file)
    rows: Any = larder.memo_batch(items="paths")(lambda paths: [Path(path) for path in paths])
    for file in _equal(tmp_path):
        with pytest.warns(larder.NotCachedWarning, match="path of a file"):
            assert rows([file]) == [Path(file)]


def first(paths: list[larder.File]) -> Any:
    return paths.index(min(paths))


def in_order(paths: list[larder.File]) -> Any:
    paths = list(paths)
    paths.sort()
    return [path.read_text() for path in paths]


def before(paths: list[larder.File]) -> Any:
    return paths[0] < paths[1]


def by_numpy(paths: list[larder.File]) -> Any:
    return np.argsort(np.array(paths, dtype=object)).tolist()


@pytest.mark.parametrize("function", [first, in_order, before, by_numpy])
def test_files_that_are_compared_count_with_their_order(
    function: Callable[..., Any], real: Path, tmp_path: Path
) -> None:
    (tmp_path / "b").write_text("other")
    a, b, c = larder.File(tmp_path / "a"), larder.File(tmp_path / "b"), larder.File(tmp_path / "c")
    (tmp_path / "a").write_text("text")
    (tmp_path / "c").write_text("text")
    (tmp_path / "aa").write_text("text")
    cached: Any = larder.memo(function)
    for files, executions in [([a, b], 1), ([c, b], 2), ([larder.File(tmp_path / "aa"), b], 2), ([b, c], 3)]:
        assert cached(files) == function(files)
        assert cached.executions == executions


def test_files_that_are_one_differ_from_equal_ones(real: Path, tmp_path: Path) -> None:
    @larder.memo
    def different(paths: list[larder.File]) -> int:
        return len(set(paths))

    one, two = _equal(tmp_path)
    again = larder.File(str(one))
    assert [different([one, two]), different([one, again]), different([two, one])] == [2, 1, 2]
    assert different.executions == 2


def test_files_of_a_set_have_one_key(real: Path, tmp_path: Path) -> None:
    from larder._identity.digest import digest

    one, two = _equal(tmp_path)
    assert digest({one, two}, names=1) == digest({two, one}, names=1)


def _equal(directory: Path) -> tuple[larder.File, larder.File]:
    (directory / "one.txt").write_text("some text of\nthree lines\n")
    (directory / "two.txt").write_text("some text of\nthree lines\n")
    return larder.File(directory / "one.txt"), larder.File(directory / "two.txt")
