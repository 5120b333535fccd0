"""Test generators of programs as sources of flows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import generate_program
import pytest

import larder

HERE = Path(__file__).parent


def test_a_program_reads_its_own_generators(real: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    for came in (10, 0):
        done = subprocess.run(
            [sys.executable, str(HERE / "generate_program.py"), str(tmp_path / "out.jsonl")],
            capture_output=True,
            text=True,
            env=env,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == [[came], '{"n":27,"text":"row 9"}', ["row 8", "row 9"]]


def test_the_flow_names_the_generator_and_where_it_is() -> None:
    node = larder.generate(generate_program.rows, into=["n", "text"], setup=generate_program.load)
    text = node.to_yaml().replace('"', "")
    assert "source: python" in text
    assert "function: generate_program:rows" in text
    assert "setup: generate_program:load" in text
    assert str(HERE) in text
    by_name = larder.python(
        function="generate_program:rows", into=["n", "text"], setup="generate_program:load", path=[str(HERE)]
    )
    assert node == by_name


@pytest.mark.parametrize("function", [(n for n in "abc"), [1, 2], lambda: iter([1])])
def test_what_no_other_process_finds_is_refused(function: Any) -> None:
    with pytest.raises(TypeError):
        larder.generate(function, into=["a"])
