"""Shared fixtures: separate directories, servers in Python, and the real server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake import Script, Server

from larder._client import server as _server

Serve = Callable[[Script], Server]

# A shell makes background processes ignore Ctrl-C, and so would all processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use a separate socket directory, an invalid program, and no ranks."""
    directory = Path(tempfile.mkdtemp(prefix="lp-"))  # socket paths must be short
    program = directory / "program"
    program.write_text("#!/bin/sh\necho 'no server here' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.setenv("LARDER_BIN", str(program))
    monkeypatch.setenv("LARDER_CACHE", str(directory / "cache"))
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def serve(runtime: Path) -> Iterator[Serve]:
    """Start servers that follow a script, at the address that a loader uses."""
    servers: list[Server] = []

    def start(script: Script) -> Server:
        path = _server.address(None).socket
        if os.path.exists(path):
            os.remove(path)
        server = Server(path, script)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def program() -> Iterator[str]:
    """Return the program, built once, or the one that LARDER_TEST_PROGRAM names."""
    named = os.environ.get("LARDER_TEST_PROGRAM")
    if named:
        yield named
        return
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed, and LARDER_TEST_PROGRAM names no program")
    directory = tempfile.mkdtemp(prefix="lp-")
    clone = Path(__file__).parents[2]
    subprocess.run(
        [go, "build", "-buildvcs=false", "-o", os.path.join(directory, "program"), "./cmd/larder"],
        cwd=clone,
        check=True,
    )
    yield os.path.join(directory, "program")
    shutil.rmtree(directory)


@pytest.fixture
def real(program: str, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a directory in which tests start the real server."""
    monkeypatch.setenv("LARDER_BIN", program)
    yield runtime
    stop = [program, "serve", "--cache", str(runtime / "cache"), "--socket", _server.address(None).socket, "--stop"]
    subprocess.run(stop, check=True, capture_output=True)
