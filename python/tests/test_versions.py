"""Test that functions with a version are identified by name, and not by location."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import larder

TEXT = "import larder\n@larder.memo(version='1')\ndef load(n):\n    return {what!r}, n\n"
ASK = "\nprint(load(1)[0], load.executions)\n"
IMPORT = "from {module} import load" + ASK


def project(directory: Path, what: str, *, name: str = "", module: str = "own/loads.py") -> Path:
    """Write a program with one function with a version, in a project that may have a name."""
    file = directory / module
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TEXT.format(what=what))
    if name:
        (directory / "pyproject.toml").write_text(f"[project]\nname = {name!r}\n")
    return directory


def run(directory: Path, command: Sequence[str]) -> str:
    paths = os.pathsep.join([str(directory), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, *command], cwd=directory, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def asked(directory: Path, module: str = "own.loads") -> str:
    return run(directory, ["-c", IMPORT.format(module=module)])


def test_a_package_elsewhere_has_the_same_keys(real: Path, tmp_path: Path) -> None:
    assert asked(project(tmp_path / "first", "a")) == "a 1"
    assert asked(project(tmp_path / "second", "a")) == "a 0"
    assert asked(project(tmp_path / "second", "edited")) == "a 0", "a version identifies all code"


def test_packages_of_two_projects_are_two(real: Path, tmp_path: Path) -> None:
    assert asked(project(tmp_path / "first", "a", name="one")) == "a 1"
    assert asked(project(tmp_path / "second", "b", name="two")) == "b 1"
    assert asked(project(tmp_path / "third", "a", name="one")) == "a 0"
    assert asked(project(tmp_path / "first", "a", name="one", module="more/loads.py"), "more.loads") == "a 1"


def test_modules_and_scripts_of_a_project_are_found_elsewhere(real: Path, tmp_path: Path) -> None:
    first, second = (project(tmp_path / n, "a", name="one", module="loads.py") for n in ("first", "second"))
    assert [asked(first, "loads"), asked(second, "loads")] == ["a 1", "a 0"]
    for directory in (first, second):
        (directory / "tools").mkdir()
        for file in (directory / "script.py", directory / "tools" / "script.py"):
            file.write_text(TEXT.format(what=str(file.relative_to(directory))) + ASK)
    scripts = ["script.py", "tools/script.py"]
    assert [run(first, [s]) for s in scripts] == ["script.py 1", "tools/script.py 1"]
    assert [run(second, [s]) for s in scripts] == ["script.py 0", "tools/script.py 0"]


def test_modules_and_scripts_of_no_project_are_their_files(real: Path, tmp_path: Path) -> None:
    for what in ("first", "second"):
        directory = project(tmp_path / what, what, module="loads.py")
        (directory / "main.py").write_text(TEXT.format(what=what) + ASK)
        assert asked(directory, "loads") == f"{what} 1"
        assert run(directory, ["main.py"]) == f"{what} 1"
    (tmp_path / "first" / "main.py").write_text(TEXT.format(what="edited") + ASK)
    assert run(tmp_path / "first", ["main.py"]) == "first 0"


def test_what_has_no_file_is_told_apart_by_its_code(real: Path, tmp_path: Path) -> None:
    for what, executions in (("a", 1), ("b", 1), ("a", 0)):
        assert run(tmp_path, ["-c", TEXT.format(what=what) + ASK]) == f"{what} {executions}"


def test_functions_with_arguments_given_in_advance_are_told_apart(real: Path) -> None:
    def scaled(by: int, value: int) -> int:
        return by * value

    twice = larder.memo(version="1")(functools.partial(scaled, 2))
    thrice = larder.memo(version="1")(functools.partial(scaled, 3))
    named = larder.memo(version="1")(functools.partial(scaled, value=5))
    assert [twice(5), thrice(5), named(7)] == [10, 15, 35]


def test_functions_of_other_parameters_are_told_apart(real: Path, tmp_path: Path) -> None:
    assert asked(project(tmp_path / "first", "a")) == "a 1"
    other = project(tmp_path / "second", "b") / "own" / "loads.py"
    other.write_text(other.read_text().replace("(n)", "(m)").replace(", n", ", m"))
    assert asked(tmp_path / "second") == "b 1"
