"""Test what is imported, and when."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from conftest import Serve
from fake import Script

import larder
from larder._batches import layout
from larder._client import program, server


def imported(code: str) -> set[str]:
    """Return the modules that a process has imported after running code."""
    code += "; import sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_what_trains_imports_neither_flows_nor_arrays() -> None:
    modules = imported("import larder; larder.Loader('flow.yaml', 'images')")
    assert "larder._batches.loader" in modules
    assert not modules & {
        "larder._flows.flow",
        "larder._flows.components",
        "larder._flows.run",
        "importlib.metadata",
        "http.client",
        "ssl",
        "numpy",
        "torch",
    }


def test_every_name_is_there_when_it_is_asked_for() -> None:
    assert all(getattr(larder, name) is not None for name in larder.__all__)
    assert set(larder.__all__) <= set(dir(larder))
    assert "larder.lazy" in imported("import larder; larder.lazy.Lazy")
    assert "larder._flows.flow" in imported("from larder import images")
    with pytest.raises(AttributeError, match="nothing"):
        larder.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_version_is_that_of_the_package() -> None:
    try:
        assert larder.__version__ == version("larder")
    except PackageNotFoundError:
        assert larder.__version__ == "0.0.0.dev0"


def test_the_program_is_found_among_the_files_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_PACKAGE", str(tmp_path / "somewhere" / "larder"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), str(tmp_path / "lib")])
    assert program._installed() is None
    listed = tmp_path / "lib" / "larder-1.0.dist-info"
    listed.mkdir(parents=True)
    files = ["larder/__init__.py", "../share/larder", "../bin/larder"]
    (listed / "RECORD").write_text("".join(f"{name},sha256=x,1\n" for name in files))
    assert program._installed() is None  # it was removed
    for name in files:
        (tmp_path / "lib" / name).resolve().parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).touch(mode=0o755)
    assert program._installed() == str(tmp_path / "bin" / "larder")


def test_arrays_are_imported_while_the_server_is_at_work(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script()
    order: list[str] = []
    script.before = lambda peer, number: order.append("batch")
    load = layout.Tensors.load

    def loaded(self: layout.Tensors) -> None:
        script.wait(lambda: len(order) > 0)  # the server computes it without another request
        order.append("import")
        load(self)

    monkeypatch.setattr(layout.Tensors, "load", loaded)
    serve(script)
    with larder.Loader("flow.yaml", "images", batch_size=4, tensors=None) as batches:
        next(iter(batches))
    assert order[0] == "batch"
    assert "import" in order


def test_arrays_are_imported_while_a_server_starts(runtime: Path) -> None:
    running: list[bool] = []

    def meanwhile() -> None:
        running.append(len(server._started) > 0)

    with pytest.raises(larder.ServerError, match="status 3"):  # the program is invalid
        server.connect(server.address(None), meanwhile)
    assert running == [True]
