"""Test what is imported, and when."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from conftest import Serve
from fake import Script

import larder
from larder._batches import layout
from larder._client import server

PACKAGE = Path(larder.__file__).parent

BASE = {"errors", "_arguments", "_numbers", "_warnings"}
"""Modules that every other one may import."""

MAY_IMPORT = {
    "_yaml": set[str](),
    "_client": set[str](),
    "_identity": set[str](),
    "_reads": {"_identity"},
    "_results": {"_identity"},
    "_worker": {"_reads", "_identity"},
    "_memo": {"_client", "_reads", "_results", "_identity"},
    "_batches": {"_client", "_worker", "_yaml", "_identity"},
    "lazy": {"_memo", "_client", "_reads", "_results", "_identity"},
    "_flows": {"_batches", "_client", "_worker", "_yaml"},
    "rewrite": {"_flows", "_yaml"},
    "numba": {"_client", "_identity"},
}
"""By directory, or module at the top: the directories that it may import."""

NUMBA_MAY_IMPORT = {
    "_client": {"client", "messages"},
    "_identity": {"digest", "distribution", "environment", "immutable", "instructions", "library"},
    "_identity.values": {"encoder", "objects", "text"},
    "_identity.code": {
        *("abstract", "annotations", "bytecode", "members", "patterns", "refusals", "rules", "settings"),
    },
}
"""The modules on which the cache of compiled functions builds, by directory."""


def imports_of_all() -> dict[str, set[str]]:
    """Return the modules of the package that each module imports, also in functions and for types alone.

    They include the packages around a module, but not those around the importing one.
    """
    files = {".".join(file.relative_to(PACKAGE).with_suffix("").parts): file for file in PACKAGE.rglob("*.py")}
    modules = {name.removesuffix("__init__").rstrip("."): file for name, file in files.items()}
    found = {}
    for name, file in modules.items():
        inside = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
        found[name] = set[str]()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                of = ".".join([*filter(None, inside[: len(inside) - node.level + 1]), *filter(None, [node.module])])
                paths = [f"{of}.{alias.name}".lstrip(".") for alias in node.names]
                for path in [path if path in modules else of for path in paths]:
                    around = [path[:i] for i, c in enumerate(path) if c == "."]
                    found[name] |= {path, *(outer for outer in around if not f"{name}.".startswith(f"{outer}."))}
    return found


def test_directories_import_only_those_below() -> None:
    found = imports_of_all()
    assert {name.split(".")[0] for name in found} - {""} == MAY_IMPORT.keys() | BASE
    for name, others in found.items():
        top = name.split(".")[0]
        allowed = MAY_IMPORT.get(top, set()) | BASE | {top}
        wrong = {other for other in others if other.split(".")[0] not in allowed}
        assert name == "" or not wrong, f"{name} may not import {wrong}"


def test_numba_builds_on_few_modules() -> None:
    found = imports_of_all()
    used = {other for name in found if name.split(".")[0] == "numba" for other in found[name]}
    allowed = {f"{of}.{name}" for of, names in NUMBA_MAY_IMPORT.items() for name in names}
    assert {other for other in used if other.startswith("_") and other not in BASE | NUMBA_MAY_IMPORT.keys()} == allowed


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = imports_of_all()
    assert "_identity.code.functions" in found["_identity.digest"]
    assert "_client.remote" in found["_batches.session"]  # in a function
    graphlib.TopologicalSorter(found).prepare()  # which raises an error with the circle


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

    def during() -> None:
        running.append(len(server._started) > 0)

    with pytest.raises(larder.ServerError, match="status 3"):  # the program is invalid
        server.connect(server.address(None), during)
    assert running == [True]
