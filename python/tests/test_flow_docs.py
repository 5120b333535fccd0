"""The page about flows does what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from flow_program import LETTERS, ROOT

from larder import flow

PAGE = ROOT / "docs" / "python-flows.md"


def test_the_page_does_what_it_shows(real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(flow, "_flow_name", lambda name: name or "flow")  # not that of the tests
    Path("examples/letters").mkdir(parents=True)
    Path("examples/letters/data").symlink_to(LETTERS)
    said, names = "", {"__name__": "page"}
    blocks = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 6
    for kind, content in blocks:
        if kind == "text":
            assert said.rstrip("\n") == content.rstrip("\n")
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(content, PAGE.name, "exec"), names)
        said = out.getvalue()
    assert said == ""
    for name, drawn in [("loader", 26), ("mixture", 100)]:
        with names[name] as loader:  # type: ignore[attr-defined]
            assert sum(len(batch.samples) for batch in loader) == drawn
