"""Test that the pages match the package."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from pathlib import Path
from typing import Any

import pytest

import larder
import larder.numba

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "docs" / "guides" / "training.md"
PAGES = [*sorted((ROOT / "docs").glob("*/*.md")), ROOT / "README.md", ROOT / "python" / "README.md"]


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
            found.append((f"{page.name}:{text[: match.start()].count(chr(10)) + 2}", match[1]))
    return found


@pytest.mark.parametrize(("where", "code"), blocks())
def test_code_of_the_pages_calls_what_there_is(where: str, code: str) -> None:
    for node in ast.walk(ast.parse(code, where)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "larder":
            assert hasattr(larder, node.attr), f"{where}: larder.{node.attr}"
        if isinstance(node, ast.Call) and re.fullmatch(r"larder(\.\w+)+", called := ast.unparse(node.func)):
            made: Any = larder
            for name in called.split(".")[1:]:
                made = getattr(made, name)
            forms = typing.get_overloads(made) or [made]
            parameters = [p for form in forms for p in inspect.signature(form).parameters.values()]
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                assert {word.arg for word in node.keywords} <= {p.name for p in parameters}, where


def test_the_page_has_all_options_and_errors() -> None:
    text = TRAINING.read_text()
    for made in (larder.Loader, larder.Dataset, larder.Field):
        for name in list(inspect.signature(made.__init__).parameters)[1:]:
            assert f"`{name}" in text or f"{name}=" in text or name in ("flow", "name", "item"), name
    for name in larder.__all__:
        if name.endswith("Error") and name != "Error":
            assert f"| `{name}` |" in text, name
