"""The page for users says what there is."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import larder

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "python.md", ROOT / "python" / "README.md"]


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
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("larder."):
            made = getattr(larder, ast.unparse(node.func).removeprefix("larder."))
            names = inspect.signature(made.__init__).parameters
            assert {word.arg for word in node.keywords} <= set(names), where


def test_the_page_has_all_options_and_errors() -> None:
    text = PAGES[0].read_text()
    for made in (larder.Loader, larder.Dataset, larder.Field):
        for name in list(inspect.signature(made.__init__).parameters)[1:]:
            assert f"`{name}" in text or f"{name}=" in text or name in ("flow", "name", "item"), name
    for name in larder.__all__:
        if name.endswith("Error") and name != "Error":
            assert f"| `{name}` |" in text, name
