"""Test that the program reads the YAML of flows as the values that were given."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from flow_program import built, larder, lint

from larder import Flow, jsonl, var
from larder._flows.run import run
from larder._yaml import write

WORDS = [
    *["null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "yes", "no", "on", "off"],
    *["y", "n", "NaN", ".nan", ".inf", "-.inf", "inf", "0", "-0", "1", "007", "0x1f", "0o17"],
    *["1e3", "1_000", "1.5", ".5", "+1", "-", "--", "---", "...", "?", ":", "=", "<<", "<<:"],
    *["&", "*", "!", "!!str", "|", ">", "%", "@", "`", "#", "[]", "{}", "[", "]", "{", "}"],
    *[",", "12:30:45", "2024-01-01", "2024-01-01T00:00:00Z", "a:b", "a:", ":a", "a#b", "'a'"],
    *['"', "'", "\\", "\\n", "./a", "../a", "/", "a/", "a.b", "$", "${", "$${", "$$${"],
    *["${a}", "${a", "${}", "}{", "${a}${", "", " ", "  a", "a  ", "a b", "a: b", "a #b"],
    *["- a", "? a", "\n", "a\nb", "a\n", "\ta", "a\tb", "\r", "\r\n", "\0", "\x01"],
    *["\x1b[31m", "\x7f", "\x80", "\x85", "\xa0", "\xad", "\u2028", "\u2029", "\ufeff"],
    *["\ufeffa", "\ufffd", "\ufffe", "\uffff", "\u200b", "\ue000", "é", "e\u0301", "日本", "😀"],
    *["\U000e0001", "\U0010ffff"],
]

ALPHABET = "ab0.-_:#,[]{}&*!|>'\"%@`\\$ \n\t\r\0\x7f\x85\u2028\ufeff😀é~?=/<"


def texts(draw: random.Random) -> str:
    if draw.random() < 0.4:
        return draw.choice(WORDS)
    length = draw.choice([1, 2, 3, 8, 40, 1500 if draw.random() < 0.1 else 5])
    return "".join(draw.choice(ALPHABET) for _ in range(length))


def values(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(6 if depth < 4 else 4)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind == 1:
        return draw.choice([0, -1, 10**6, 2**63 - 1, -(2**63), draw.randrange(-1000, 1000)])
    if kind == 2:
        return draw.choice([0.5, -1.5, 1e300, -1e-300, 5e-324, 1e16, 0.1, draw.random()])
    if kind == 3:
        return texts(draw)
    if kind == 4:
        return [values(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {texts(draw): values(draw, depth + 1) for _ in range(draw.randrange(4))}


def is_switch(value: Any) -> bool:
    return isinstance(value, dict) and {"switch", "cases"} <= value.keys()


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LARDER_BIN", built())
    monkeypatch.setenv("LARDER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n')
    return tmp_path


def came_through(directory: Path, given: Any, **options: Any) -> Any:
    """Return what the program reads for a value that a mapper sets."""
    out = jsonl(path="in.jsonl").set_value(key="v", value=given).to_jsonl(path="out.jsonl", overwrite="replace")
    run(Flow(out), **options)
    return json.loads((directory / "out.jsonl").read_text())["v"]


def same(one: Any, other: Any) -> bool:
    """Report whether two values are the same, of the same types, except for integral floats.

    Mappings are written in the order of their keys.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return not isinstance(other, bool) and one == other
    return type(one) is type(other) and one == other


def test_words_come_through(directory: Path) -> None:
    assert came_through(directory, WORDS) == WORDS


def test_words_come_through_as_keys(directory: Path) -> None:
    given = {word: i for i, word in enumerate(WORDS)}
    assert came_through(directory, given) == given


def test_words_come_through_as_values_of_variables(directory: Path) -> None:
    variables = [var(f"v{i}", word) for i, word in enumerate(WORDS)]
    assert came_through(directory, variables) == WORDS
    reversed_ = {f"v{i}": word for i, word in enumerate(reversed(WORDS))}
    assert came_through(directory, variables, set=without_nul(reversed_)) == [
        without_nul(reversed_).get(f"v{i}", word) for i, word in enumerate(WORDS)
    ]


def without_nul(given: dict[str, str]) -> dict[str, str]:
    """Leave out strings with NUL, which no command line can have; quoted strings in flows can."""
    return {name: word for name, word in given.items() if "\0" not in write.scalar(word)}


def test_any_values_come_through(directory: Path) -> None:
    seed = int(os.environ.get("LARDER_SEED") or random.SystemRandom().randrange(1 << 32))
    draw = random.Random(seed)
    given = [v for v in (values(draw) for _ in range(400)) if not is_switch(v)]
    got = came_through(directory, given)
    wrong = [(a, b) for a, b in zip(given, got, strict=True) if not same(a, b)]
    assert not wrong, f"LARDER_SEED={seed}: {wrong[0]}"


def test_a_value_stays_when_it_is_printed_in_lines(directory: Path) -> None:
    given = {f"key {i}": "x" * 30 for i in range(8)}
    assert came_through(directory, given) == given


def test_a_long_key_comes_through(directory: Path) -> None:
    given = {"k" * 5000: {"a " * 2000: [1]}}
    assert came_through(directory, given) == given


def test_names_of_nodes_that_yaml_takes_for_something_else(directory: Path) -> None:
    node = jsonl(path="in.jsonl")
    for name in ["null", "true", "10", "1e3", "0x1f", "_", "no", "a-b_c", "2024-01-01"]:
        node = node.clone(name=name)
    lint(str(node))
    assert list(Flow(node).nodes)[1:] == [
        "null",
        "true",
        "10",
        "1e3",
        "0x1f",
        "_",
        "no",
        "a-b_c",
        "2024-01-01",
    ]
    assert larder("run", "-", "--only", "2024-01-01", "--progress", "none", text=str(node)).returncode == 0
