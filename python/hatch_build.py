"""Builds the program larder with Go and puts it beside the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PROGRAM = "larder.exe" if sys.platform == "win32" else "larder"


def version(root: Path) -> str:
    """Return the version of the commit's tag, as the program says it, in Python's spelling.

    A commit without a tag is a development version of none. Where there is no
    repository, as in a source archive, the version is the one that the archive says.
    """
    said = root / "PKG-INFO"
    if said.exists():
        found = re.search(r"^Version: (.+)$", said.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1].strip()
    tag = _git(root, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
    if tag:
        return tag.removeprefix("v").replace("-", "", 1).replace("-", ".")
    commit = _git(root, "rev-parse", "--short=12", "HEAD")
    return f"0.0.0.dev0+g{commit}" if commit else "0.0.0.dev0"


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


class Version(MetadataHookInterface):
    """Gives the package the version of the project."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the version."""
        metadata["version"] = version(Path(self.root))


class Build(BuildHookInterface[Any]):
    """Builds the program into the wheel's scripts, so that it is on the PATH."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the program, for wheels only."""
        if self.target_name != "wheel":
            return
        self.folder = tempfile.mkdtemp(prefix="larder-build-")
        program = os.path.join(self.folder, PROGRAM)
        _compile(Path(self.root).parent, program)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
        build_data["shared_scripts"][program] = PROGRAM

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built: the wheel has it."""
        if self.target_name == "wheel":
            shutil.rmtree(self.folder, ignore_errors=True)


def _compile(clone: Path, program: str) -> None:
    """Build the program from the clone, or say what is missing and where to get it."""
    if not (clone / "cmd" / "larder").is_dir():
        raise SystemExit(
            f"larder: {clone} has no sources of the program. This package is built in a clone "
            "of the repository: clone github.com/larder-data/larder and run `pip install ./python` there."
        )
    go = shutil.which("go")
    if go is None:
        raise SystemExit(
            "larder: the program is built with Go, and there is no command `go` on the PATH. "
            "Install Go 1.26 or later from https://go.dev/dl/ and try again."
        )
    command = [go, "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/larder"]
    # A clone that belongs to somebody else has no version that git would say.
    done = subprocess.run(command, cwd=clone, env=_environment(clone), check=False)
    if done.returncode != 0:
        raise SystemExit(f"larder: `{' '.join(command)}` in {clone} failed; its errors are above.")


def _environment(clone: Path) -> dict[str, str]:
    environment = dict(os.environ, CGO_ENABLED="0")
    if not _git(clone, "rev-parse", "HEAD"):
        environment["GOFLAGS"] = (environment.get("GOFLAGS", "") + " -buildvcs=false").strip()
    return environment
