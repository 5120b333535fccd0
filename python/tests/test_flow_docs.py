"""Test that the examples in the pages about flows work."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from flow_program import LETTERS, ROOT

from larder._flows import graph

DOCS = ROOT / "docs"


def carried_out(page: Path, at_least: int) -> dict[str, object]:
    """Run the blocks of a page, where each shows the output of the one before."""
    Path("examples/letters").mkdir(parents=True)
    Path("examples/letters/data").symlink_to(LETTERS)
    Path("examples/letters/flow.yaml").symlink_to(LETTERS.parent / "flow.yaml")
    said, names = "", dict[str, object](__name__="page")
    blocks = re.findall(r"```(python|text)\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) > at_least
    for kind, content in blocks:
        if kind == "text":
            assert said.rstrip("\n") == content.rstrip("\n")
            said = ""
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(content, page.name, "exec"), names)
        said = out.getvalue()
    assert said == ""
    return names


def test_the_page_does_what_it_shows(real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(graph, "_flow_name", lambda name: name or "flow")  # not that of the tests
    names = carried_out(DOCS / "guides" / "python-flows.md", 6)
    for name, drawn in [("loader", 26), ("mixture", 100)]:
        with names[name] as loader:  # type: ignore[attr-defined]
            assert sum(len(batch.samples) for batch in loader) == drawn


def test_the_section_about_surgery_does_what_it_shows(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = carried_out(DOCS / "guides" / "editing-flows.md", 1)
    assert str(names["other"]) != str(names["flow"])
