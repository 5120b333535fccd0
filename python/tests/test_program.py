"""Test that the package finds the program however it was installed, and that its workers find the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._client import program as _program

PACKAGE = Path(__file__).parents[1]

MAIN = """
import os, sys
import larder
from larder._client import program as _program

def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    with open("rows.jsonl", "w") as file:
        file.write('{"n": 1}\\n{"n": 2}\\n')
    with open("twice.py", "w") as file:
        file.write("def twice(n):\\n    return 2 * n\\n")
    with open("flow.yaml", "w") as file:
        file.write('''version: 1
nodes:
  rows: {source: jsonl, with: {path: rows.jsonl}}
  twice: {map: python, from: rows, with: {function: "twice:twice", items: [n], into: [m]}}
''')
    try:
        assert larder.run("flow.yaml", only=["twice"]).status == "ok"
        with larder.Loader("flow.yaml", "twice") as loader:
            assert next(iter(loader))["m"].tolist() == [2, 4]
    finally:
        os.system(_program.find() + " serve --stop 2>&1")
    print(_program.find())

if __name__ == "__main__":
    main()
"""


def pip(*words: object, python: str = sys.executable, **environment: str) -> None:
    command = [python, "-m", "pip", "-q", "--disable-pip-version-check", *map(str, words)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def building(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a command go that has built the program already."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    pytest.importorskip("pip", reason="pip is not installed")
    real = shutil.which("go") or pytest.skip("Go is not installed")
    directory = tmp_path_factory.mktemp("go")
    go = directory / "go"
    build = f'while [ "$1" != -o ]; do shift; done\nexec cp {program} "$2"\n'
    go.write_text(f'#!/bin/sh\n[ "$1" = build ] || exec {real} "$@"\n{build}')
    go.chmod(0o755)
    return directory


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the sources of the program: builds write into it."""
    directory = tmp_path_factory.mktemp("clone")
    for entry in PACKAGE.parent.iterdir():
        if entry.name in (".git", "python"):
            continue
        if entry.is_file():  # Go embeds no links
            shutil.copy(entry, directory)
        else:
            (directory / entry.name).symlink_to(entry)
    shutil.copytree(PACKAGE, directory / "python", ignore=shutil.ignore_patterns("tests", "licenses", "_bin"))
    return directory / "python"


@pytest.fixture(scope="session")
def wheel(building: Path, clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    library = tmp_path_factory.mktemp("turbojpeg")
    (library / "libturbojpeg.so.0").write_text("the library")
    (library / "README.ijg").write_text("its terms")
    search = f"{building}:{os.environ['PATH']}"
    words = "wheel", "--no-build-isolation", "--no-deps", "-w", directory, clone
    pip(*words, PATH=search, LARDER_TURBOJPEG=str(library))
    (made,) = directory.glob("larder-*.whl")
    return made


@pytest.fixture
def place(tmp_path: Path, runtime: Path) -> Iterator[Path]:
    (tmp_path / "main.py").write_text(MAIN)
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)  # each of which has a program


def inside(packages: Path) -> str:
    return str(packages / "larder" / "_bin" / "larder")


def found(place: Path, *command: object, **more: str) -> str:
    """Run a program that uses the package, with no larder on the PATH; return the program that it found."""
    cached = {k: v for k, v in os.environ.items() if k not in ("LARDER_BIN", "PYTHONPATH", "LARDER_PYTHON")}
    environment = {**cached, "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(place / "cache"), **more}
    words = [*map(str, command), str(place / "work")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def test_installed_by_target(place: Path, wheel: Path) -> None:
    target = place / "a" / "b"
    pip("install", "--no-deps", "--no-index", "--target", target, wheel)
    assert found(place, sys.executable, place / "main.py", PYTHONPATH=str(target)) == inside(target)
    start = (
        f"import sys; sys.path.insert(0, {str(target)!r}); sys.path.insert(0, {str(place)!r}); import main; main.main()"
    )
    assert found(place, sys.executable, "-c", start) == inside(target)


def environment(place: Path, system_site_packages: bool = False) -> Path:
    """Return a new environment with the packages of this one, except the package itself."""
    venv.create(place / "venv", symlinks=True, system_site_packages=system_site_packages)
    (packages,) = (place / "venv").glob("lib/python*/site-packages")
    for directory in [Path(p) for p in sys.path if p.endswith("-packages")]:
        for entry in directory.iterdir():
            if not entry.name.startswith(("larder", "_larder")) and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    return place / "venv" / "bin"


def test_installed_by_prefix(place: Path, wheel: Path) -> None:
    pip("install", "--no-deps", "--no-index", "--ignore-installed", "--prefix", place / "p", wheel)
    (packages,) = (place / "p").rglob("*-packages")
    assert found(place, sys.executable, place / "main.py", PYTHONPATH=str(packages)) == inside(packages)


def test_installed_for_the_user(place: Path, wheel: Path) -> None:
    python, base = environment(place, system_site_packages=True) / "python", str(place / "u")
    pip("install", "--no-deps", "--no-index", "--user", wheel, python=str(python), PYTHONUSERBASE=base)
    (packages,) = (place / "u").rglob("*-packages")
    assert found(place, python, place / "main.py", PYTHONUSERBASE=base) == inside(packages)


def test_installed_as_editable(place: Path, building: Path, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    binaries = environment(place)
    path = f"{building}:{os.environ['PATH']}"
    words = "install", "--no-build-isolation", "--no-deps", "-e", clone
    pip(*words, python=str(binaries / "python"), PATH=path)
    assert found(place, binaries / "python", place / "main.py") == inside(clone / "src")
    done = subprocess.run([binaries / "larder", "version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("larder ")


def test_the_command(place: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    binaries = environment(place)
    pip("install", "--no-deps", "--no-index", wheel, python=str(binaries / "python"))
    (packages,) = (place / "venv").glob("lib/python*/site-packages")
    command = [str(binaries / "larder"), "schema", "--a", "--b"]
    (packages / "larder" / "_bin" / "larder").write_text(
        '#!/bin/sh\nread word; echo "$@" $word $$\ntrap "echo stopped >&2; exit 4" INT; kill -INT $$\nexit 5\n'
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        out, err = process.communicate("word\n")
    assert (out, err) == (f"schema --a --b word {process.pid}\n", "stopped\n")
    assert process.returncode == 4
    (packages / "larder" / "_bin" / "larder").unlink()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("larder/_bin/larder: No such file or directory; install the package again\n")


def test_a_copy_of_the_package(place: Path, program: str) -> None:
    binaries = environment(place)
    shutil.copytree(PACKAGE / "src" / "larder", place / "copy" / "larder", ignore=shutil.ignore_patterns("_bin"))
    (place / "there").mkdir()
    os.symlink(program, place / "there" / "larder")
    search = {"PYTHONPATH": "copy", "PATH": f"{place}/there:/usr/bin:/bin"}
    assert found(place, binaries / "python", place / "main.py", **search) == str(place / "there" / "larder")


def test_what_a_wheel_contains(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (metadata,) = [files.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
    assert {"larder/_bin/larder", "larder/_bin/libturbojpeg.so.0", "_larder_command.py"} <= set(names)
    assert ("manylinux_2_17" in wheel.name) == sys.platform.startswith("linux")
    said = {line.partition(": ")[2] for line in metadata.splitlines() if line.startswith("License-File: ")}
    assert said == {name.partition(".dist-info/licenses/")[2] for name in names if ".dist-info/licenses/" in name}
    of = {name.split("/")[1] for name in said}
    assert {"larder", "go", "github.com_spf13_cobra", "golang.org_x_image", "libjpeg-turbo"} <= of
    assert "\nLicense-Expression: Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND IJG AND MIT AND Un" in metadata
    (version,) = [line for line in metadata.splitlines() if line.startswith("Version: ")]
    assert "+" not in version, "an index refuses local versions"


def test_run_from_a_zipapp(place: Path, wheel: Path) -> None:
    content = place / "content"
    pip("install", "--no-deps", "--no-index", "--target", content, wheel)
    shutil.copy(place / "main.py", content / "app.py")
    archive = place / "app.pyz"
    for _ in range(2):
        subprocess.run([sys.executable, "-m", "zipapp", content, "-o", archive, "-m", "app:main"], check=True)
        first = found(place, sys.executable, archive)
        assert found(place, sys.executable, archive) == first
        copies = {path for path in (place / "cache" / "larder-programs").rglob("*") if path.is_file()}
        assert copies == {Path(first), Path(first).parent / "libturbojpeg.so.0"}, "one copy for each archive"
        with open(content / "larder" / "_bin" / "libturbojpeg.so.0", "a") as library:
            library.write("another one")
    shutil.rmtree(content / "larder" / "_bin")
    subprocess.run([sys.executable, "-m", "zipapp", content, "-o", archive, "-m", "app:main"], check=True)
    with pytest.raises(AssertionError, match="was copied without it"):
        found(place, sys.executable, archive)


def test_processes_that_copy_a_program_at_once(place: Path, wheel: Path) -> None:
    code = "import sys; from larder._client import program as _program; sys.stdin.read(); print(_program.find())"
    cached = {k: v for k, v in os.environ.items() if k != "LARDER_BIN"}
    environment = {**cached, "PYTHONPATH": str(wheel), "XDG_CACHE_HOME": str(place / "cache")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment, "umask": 0}
    begun = [subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(4)]
    for process in begun:
        assert process.stdin is not None
        process.stdin.close()
    said = []
    for process in begun:
        assert process.stdout is not None
        with process.stdout as out:
            said.append(out.read().decode().strip())
    assert [process.wait() for process in begun] == [0] * 4
    assert len(set(said)) == 1
    files = list((place / "cache" / "larder-programs").rglob("*"))
    assert {file.name for file in files if file.is_file()} == {"larder", "libturbojpeg.so.0"}
    assert {file.stat().st_mode & 0o777 for file in [*files, place / "cache" / "larder-programs"]} == {0o700}


def test_copies_in_a_folder_of_another_are_not_run(place: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    copy = _program._extracted(str(wheel))
    assert copy is not None
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(larder.ServerError, match="is not a directory of yours; set LARDER_BIN"):
        _program._extracted(str(wheel))


def test_a_copy_that_is_cut_is_none(place: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    with monkeypatch.context() as full:
        full.setattr(shutil, "copyfileobj", cut)
        with pytest.raises(larder.ServerError, match="cannot be copied: no space left; set LARDER_BIN"):
            _program._extracted(str(wheel))
    assert not [file for file in (place / "larder-programs").rglob("*") if file.is_file()]
    assert _program._extracted(str(wheel)) is not None


def test_a_wheel_that_is_not_installed(place: Path, wheel: Path) -> None:
    assert str(place / "cache") in found(place, sys.executable, place / "main.py", PYTHONPATH=str(wheel))


def test_a_program_that_lost_its_mode(place: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        files.extractall(place / "out")
    with pytest.raises(AssertionError, match="is not executable; run `chmod"):
        found(place, environment(place) / "python", place / "main.py", PYTHONPATH=str(place / "out"))
