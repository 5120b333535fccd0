"""Test that no edit of what the compiler shows to a program, or asks it, returns stale code."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba_case import Case, needs_numba
from numba_contest import contest
from numba_edits import Edit
from numba_edits_compiler import EDITS

pytestmark = needs_numba


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_gives_what_a_fresh_compilation_gives(edit: Edit, real: Path, tmp_path: Path) -> None:
    (found,) = contest("larder", tmp_path, [edit])
    assert found.what == "right", found.text


FILES = """
    import configparser
    import pathlib
    from numba import njit
    from numba.extending import overload
    FILE = pathlib.Path(__file__).parent / "settings.ini"

    def load():
        found = configparser.ConfigParser()
        found.read(FILE)
        return found.getint("a", "b")

    def g(x):
        pass

    @overload(g)
    def of_g(x):
        k = load()
        return lambda x: x + k

    @njit(cache=True)
    def first(x):
        return g(x)

    @njit(cache=True)
    def again(x):
        return g(x) * 2

    @njit
    def inner(x):
        return g(x) * 3

    @njit(cache=True)
    def outer(x):
        return inner(x)

    @njit(cache=True)
    def other(x):
        return x + 1

    def run():
        return [first(1), again(1), inner(1), outer(1), other(1)]
"""


def test_what_opens_a_file_while_it_is_compiled_is_not_kept_and_neither_is_what_calls_it(
    real: Path, tmp_path: Path
) -> None:
    case = Case(tmp_path / "case")
    case.write("m", FILES)
    settings = case.directory / "settings.ini"
    settings.write_text("[a]\nb = 3\n")
    ran = case.run()
    assert ran.results == [4, 8, 12, 12, 2]
    assert [row[2] for row in ran.rows if row[0] in ("m.first", "m.again", "m.outer")] == ["refused"] * 3
    assert all("it opened" in reason and "settings.ini" in reason for reason in ran.reasons())
    settings.write_text("[a]\nb = 4\n")
    ran = case.run()
    assert ran.results == [5, 10, 15, 15, 2]
    assert ran.states("m.other") == ["loaded"]


def test_what_is_written_while_it_is_compiled_does_not_matter(real: Path, tmp_path: Path) -> None:
    logs = "import logging\n    LOGGER = logging.getLogger('larder')\n"
    logs += "    LOGGER.addHandler(logging.FileHandler(FILE.with_suffix('.log'), delay=True))\n    def load"
    case = Case(tmp_path / "case")
    case.write("m", FILES.replace("k = load()", "LOGGER.warning('compiles'); k = 3").replace("def load", logs))
    assert case.run().states() == ["compiled"] * 4
    assert "compiles" in (case.directory / "settings.log").read_text()
    assert case.run().states() == ["loaded"] * 4


def test_settings_of_the_process_that_count_are_named(real: Path, tmp_path: Path) -> None:
    case = Case(tmp_path / "case")
    text = """
        import decimal
        import typing
        import larder.numba
        larder.numba.install()
        from numba import njit
        from numba.extending import overload
        KIND = typing.Literal[3]

        def g(x):
            pass

        @overload(g)
        def of_g(x):
            k = typing.get_args(KIND)[0]
            return lambda x: x + k

        @njit(cache=True)
        def f(x):
            return g(x)

        decimal.getcontext().prec = PRECISION
        f(1)
        said = (str(larder.numba.report()), str(larder.numba.why(f)))
        print([row.state for row in larder.numba.report()], ["setting" in one and "decimal: 5" in one for one in said])
    """
    for digits, wanted in (("5", "['compiled'] [True, True]"), ("28", "['compiled'] [False, False]")):
        case.write("one", text.replace("PRECISION", digits))
        assert case.script("one") == [wanted]
        assert case.script("one") == [wanted.replace("compiled", "loaded")]
