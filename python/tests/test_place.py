"""Test where the program, its cache and its server are."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import larder
from larder._client import program
from larder._client import server as _server


def test_the_address_is_that_of_the_protocol(runtime: Path) -> None:
    at = _server.address(runtime / "a" / ".." / "cache")
    seen = os.stat(at.program)
    text = f"larder 1\n{os.path.realpath(runtime)}/cache\n{at.program}\n{seen.st_size} {seen.st_mtime_ns}\n"
    assert at.socket == str(runtime / "larder" / (hashlib.sha256(text.encode()).hexdigest()[:32] + ".sock"))
    assert (runtime / "larder").stat().st_mode & 0o777 == 0o700


def test_links_are_resolved(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = _server.address(runtime / "cache")
    (runtime / "link").symlink_to(runtime / "program")
    (runtime / "here").symlink_to(runtime)
    monkeypatch.setenv("LARDER_BIN", str(runtime / "link"))
    assert _server.address(runtime / "here" / "cache") == at


def test_the_program_agrees(real: Path) -> None:
    at = _server.address(None)
    command = [at.program, "serve", "--cache", at.cache, "--status"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert at.socket in done.stderr  # no process listens there


def test_without_a_runtime_folder(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setenv("TMPDIR", str(runtime))
    assert os.path.dirname(_server.address(None).socket) == str(runtime / f"larder-{os.getuid()}")


def test_a_folder_of_somebody_else_is_refused(runtime: Path) -> None:
    (runtime / "larder").symlink_to(runtime)
    with pytest.raises(larder.ServerError, match="not a directory of yours"):
        _server.address(None)


def test_paths_that_are_too_long_for_a_socket(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = runtime / ("x" * 80)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    with pytest.raises(larder.ServerError, match="shorter directory"):
        _server.connect(_server.address(None), lambda: None)


def test_a_program_that_is_none(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LARDER_BIN", str(runtime / "nothing"))
    with pytest.raises(larder.ServerError, match="LARDER_BIN names"):
        program.find()
    monkeypatch.delenv("LARDER_BIN")
    monkeypatch.setenv("PATH", str(runtime))
    monkeypatch.setattr(program, "_PACKAGE", str(runtime))
    with pytest.raises(larder.ServerError, match="pip install"):
        program.find()


def test_how_long_a_server_stays(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (runtime / "program").write_text(f'#!/bin/sh\necho "$@" > {runtime}/said\nexit 3\n')
    idles = {"": "60s", "1h30m": "1h30m", "0": "0s", "0.5s": "0.5s", "90": "90s", "0.01": "0.01s"}
    for given, idle in [(None, "60s"), *idles.items()]:
        if given is not None:
            monkeypatch.setenv("LARDER_IDLE", given)
        with pytest.raises(larder.ServerError, match="status 3"):
            len(larder.Loader("flow.yaml", "rows"))
        assert (runtime / "said").read_text().endswith(f" --idle {idle}\n")
    for given in ("1d", "soon", "-1s", "-1", "1s ", "nan", "1e3", "1s\n"):
        monkeypatch.setenv("LARDER_IDLE", given)
        with pytest.raises(
            larder.ServerError, match=re.escape(f"LARDER_IDLE: {given!r} is not a duration; give seconds")
        ):
            len(larder.Loader("flow.yaml", "rows"))


def test_a_server_ends_after_its_last_client(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LARDER_IDLE", "10ms")
    (real / "rows.jsonl").write_text('{"n": 1}\n')
    (real / "flow.yaml").write_text("version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n")
    before = list(_server._started)
    with larder.Loader(real / "flow.yaml", "rows") as one, larder.Loader(real / "flow.yaml", "rows") as other:
        assert len(one) == len(other) == 1
        (server,) = [process for process in _server._started if process not in before]
        one.close()
        assert next(iter(other))["n"].tolist() == [1]  # it stays for this one
        assert server.poll() is None
    assert server.wait() == 0


def test_the_usual_cache(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LARDER_CACHE")
    monkeypatch.setenv("HOME", "/home/someuser")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    usual = "Library/Caches" if sys.platform == "darwin" else ".cache"
    assert program.default_cache() == f"/home/someuser/{usual}/larder"
    if sys.platform != "darwin":
        monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
        assert program.default_cache() == "/cache/larder"
    monkeypatch.setenv("LARDER_CACHE", "here")
    assert program.default_cache() == "here"


def test_what_cannot_be_built_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    import hatch_build

    with pytest.raises(SystemExit, match="clone"):
        hatch_build._check(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"Install Go 1\.26"):
        hatch_build._check(Path(__file__).parents[2])
