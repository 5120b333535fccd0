"""Test that a library's own files, also those read at import, do not count, and files passed to it do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_LIBRARY = {
    "lib/__init__.py": """
import importlib
def lazily(name): return importlib.import_module("lib." + name).value()
""",
    "lib/data/table.txt": "1",
    "lib/parts/one.py": "",
    "lib/lists.py": """
import os, pkgutil
PARTS = [m.name for m in pkgutil.walk_packages(__import__("lib").__path__)]
NAMES = sorted(os.listdir(os.path.dirname(__file__)))
def value(): return len(PARTS)
""",
    "lib/configured.py": """
import os
try:
    with open(os.path.join(os.path.expanduser("~"), ".librc")) as file: V = file.read()
except FileNotFoundError:
    V = "none"
def value(): return V
""",
    "lib/resources.py": """
import importlib.resources, os, pkgutil
def value():
    directory = importlib.resources.files("lib").joinpath("data")
    names = [one.name for one in directory.iterdir()], sorted(os.listdir(os.path.dirname(__file__)))
    return names, directory.joinpath("table.txt").read_text(), pkgutil.get_data("lib", "data/table.txt")
""",
    "lib/reader.py": """
import os
def value():
    return open(os.environ["GIVEN"]).read()
def listed():
    return os.listdir(os.path.dirname(os.environ["GIVEN"]))
""",
}
_PROGRAM = """
import larder, lib
import lib.reader

@larder.memo
def f(): return {}

f()
print("executions", f.executions)
"""


@pytest.mark.parametrize(
    ("body", "cached"),
    [
        ("lib.lazily('lists')", True),
        ("lib.lazily('configured')", True),
        ("lib.lazily('resources')", True),
        ("lib.reader.value()", False),
        ("lib.reader.listed()", False),
    ],
)
def test_what_a_library_reads(body: str, cached: bool, real: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    for name, text in _LIBRARY.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    (info := site / "lib-1.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1\n")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in _LIBRARY))
    given = tmp_path / "given.txt"
    given.write_text("a")
    (tmp_path / ".librc").write_text("b")
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM.format(body))
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH"), *sys.path])])
    environment = os.environ | {"PYTHONPATH": path, "GIVEN": str(given), "HOME": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [one.stdout for one in said] == ["executions 1\n", f"executions {int(not cached)}\n"]
    assert all(("it read" in one.stderr) is not cached for one in said), said[0].stderr
