"""Builds the program larder with Go into the package, with the licences of all its parts.

GOOS, GOARCH and GOFLAGS choose the system, as they do for `go build`. LARDER_TURBOJPEG names a
directory of .ci/turbojpeg for the system: its library goes next to the program, which loads it from there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LICENCES = re.compile(r"(UN)?LICEN[CS]E|COPYING|NOTICE|PATENTS|README\.ijg", re.IGNORECASE)
"""The names of files with terms, of modules and of libjpeg-turbo."""

OF_PROGRAM = ["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "Unlicense"]
OF_LIBRARY = ["IJG", "Zlib"]

STATIC = "larder_static"
"""The build tag of a program that needs no C library, as on Alpine Linux."""


def version(root: Path) -> str:
    """Return the version of the commit's tag, as the program says it, in Python's spelling.

    A commit without a tag is a development version, numbered by its distance from the first
    commit. Where there is no repository, as in a source archive, the version is the one that
    the archive says.
    """
    said = root / "PKG-INFO"
    if said.exists():
        found = re.search(r"^Version: (.+)$", said.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1].strip()
    tag = _git(root, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
    if tag:
        return tag.removeprefix("v").replace("-", "", 1).replace("-", ".")
    return f"0.0.0.dev{_git(root, 'rev-list', '--count', 'HEAD') or 0}"


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _go(clone: Path, *words: str) -> list[str]:
    """Return the lines that a command of Go prints, or none where there is no Go or no program."""
    if shutil.which("go") is None or not (clone / "cmd" / "larder").is_dir():
        return []
    done = subprocess.run(
        ["go", *words], cwd=clone, env=_environment(clone), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"larder: `go {' '.join(words)}` in {clone} failed: {done.stderr}")
    return done.stdout.splitlines()


def _clone(root: Path) -> Path:
    """Return the directory of the program's sources: in a source archive below this one."""
    return root / "program" if (root / "program").is_dir() else root.parent


class Metadata(MetadataHookInterface):
    """Gives the package the version of the project, and the licences of all that it contains."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the version and the licence, and collect the files that pyproject.toml names."""
        root, clone, library = Path(self.root), _clone(Path(self.root)), os.environ.get("LARDER_TURBOJPEG")
        metadata["version"] = version(root)
        metadata["license"] = " AND ".join(sorted(OF_PROGRAM + (OF_LIBRARY if library else [])))
        directories = {"larder": clone}
        modules = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"
        for line in filter(None, _go(clone, "list", "-deps", "-f", modules, "./cmd/larder")):
            module, _, directory = line.partition("\t")
            directories[module] = Path(directory)
        for goroot in _go(clone, "env", "GOROOT"):
            directories["go"] = Path(goroot)
        if library:
            directories["libjpeg-turbo"] = Path(library)
        if "go" in directories:  # otherwise those of a source archive stay
            shutil.rmtree(root / "licenses", ignore_errors=True)
        for name, source in directories.items():
            for file in filter(lambda file: LICENCES.match(file.name) and file.is_file(), source.iterdir()):
                of = root / "licenses" / name.replace("/", "_")
                of.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, of / file.name)


class Build(BuildHookInterface[Any]):
    """Builds the program into the package of a wheel, or adds its sources to a source archive."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the program, or list its sources."""
        root, self.staging = Path(self.root), tempfile.mkdtemp(prefix="larder-build-")
        clone = _clone(root)
        if self.target_name == "sdist":
            for name in _git(clone, "ls-files").splitlines():
                if not re.match(r"(bench|docs|examples|python|objectstore/cloud|\.[^/]*)/|(.*/)?testdata/", name):
                    build_data["force_include"][str(clone / name)] = f"program/{name}"
            return
        _check(clone)
        system, machine, flags, name = _go(clone, "env", "GOOS", "GOARCH", "GOFLAGS", "GOEXE")
        # The program of an editable installation lies among the sources, where the package is.
        place = root / "src" / "larder" / "_bin" if version == "editable" else Path(self.staging)
        place.mkdir(exist_ok=True)
        _compile(clone, str(place / f"larder{name}"))
        library = os.environ.get("LARDER_TURBOJPEG")
        if library:
            (file,) = Path(library).glob("libturbojpeg*")
            shutil.copy(file, place)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + _platform(system, machine, STATIC in flags)
        if version != "editable":
            build_data["force_include"][str(place)] = "larder/_bin"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built: the wheel has it."""
        shutil.rmtree(self.staging, ignore_errors=True)


def _platform(system: str, machine: str, static: bool) -> str:
    """Return the tag of the systems on which a program runs that Go built without C."""
    if system == "linux" and machine in ("amd64", "arm64"):
        libc = "musllinux_1_1" if static else "manylinux_2_17"
        return libc + {"amd64": "_x86_64", "arm64": "_aarch64"}[machine]
    if system == "darwin":  # the oldest that Go 1.26 supports
        return "macosx_12_0" + {"amd64": "_x86_64", "arm64": "_arm64"}[machine]
    if system == "windows":
        return f"win_{machine}"
    return re.sub(r"[-.]", "_", sysconfig.get_platform())


def _check(clone: Path) -> None:
    """Say what is missing to build the program, and where to get it."""
    if not (clone / "cmd" / "larder").is_dir():
        raise SystemExit(
            f"larder: {clone} has no sources of the program. This package is built in a clone "
            "of the repository: clone github.com/larder-data/larder and run `pip install ./python` there."
        )
    if shutil.which("go") is None:
        raise SystemExit(
            "larder: there is no wheel for this machine. The program is built with Go, and there is no "
            "command `go` on the PATH. Install Go 1.26 or later from https://go.dev/dl/ and try again."
        )


def _compile(clone: Path, program: str) -> None:
    command = ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/larder"]
    done = subprocess.run(command, cwd=clone, env=_environment(clone), check=False)
    if done.returncode != 0:
        raise SystemExit(f"larder: `{' '.join(command)}` in {clone} failed; its errors are above.")


def _environment(clone: Path) -> dict[str, str]:
    """Return the environment of Go: no C compiler, and on a machine without glibc no C library."""
    environment = dict(os.environ, CGO_ENABLED="0")
    flags = [environment.get("GOFLAGS", "")]
    if not _git(clone, "rev-parse", "HEAD"):  # a clone that belongs to another user has no version
        flags.append("-buildvcs=false")
    if "GOOS" not in environment and "musl" in str(sysconfig.get_config_var("SOABI")):
        flags.append(f"-tags={STATIC}")
    return environment | {"GOFLAGS": " ".join(filter(None, flags))}
