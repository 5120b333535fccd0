"""Test library objects and functions that fill in attributes when they are used, and the advice in messages."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._identity import distribution
from larder._identity.digest import digest


def require(library: str) -> Any:
    module = pytest.importorskip(library)
    if distribution.of_module(library) is None:
        pytest.skip(f"{library} is of no distribution with a version here, so it is followed as the program's own")
    return module


PROGRAMS = {
    "functions of networkx": """
import networkx as nx
@nx.utils.not_implemented_for("multigraph")
def mine(graph): return {number}
@larder.memo
def f():
    graph = nx.path_graph(3)
    return nx.shortest_path_length(graph, 0, 2) + mine(graph)
""",
    "expressions of sympy": """
import sympy
x = sympy.symbols("x", positive=True)
expression = x**2 + {number}
@larder.memo
def f(): return int(expression.subs(x, 1)) + 1 if expression.is_positive else 0
""",
    "the same as arguments": """
import sympy
x = sympy.symbols("x")
@larder.memo
def g(e): return int(e.subs(x, 1)) + 1
f = lambda: g(x**2 + {number})
f.executions = 0
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_libraries_fill_in_is_no_change(name: str, real: Path, tmp_path: Path) -> None:
    require(name.split()[-1] if "of" in name else "sympy")
    said = []
    for number in (1, 1, 2, 2):
        text = f"import larder\n{PROGRAMS[name].format(number=number)}\nprint(f(), f())\n"
        text += "print((g if 'g' in globals() else f).executions)\n"
        (tmp_path / "program.py").write_text(text)
        run = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=True)
        assert "NotCached" not in run.stderr
        said.append(run.stdout.split())
    assert said == [["3", "3", "1"], ["3", "3", "0"], ["4", "4", "1"], ["4", "4", "0"]]


def test_expressions_are_told_apart() -> None:
    sympy = require("sympy")
    x, y = sympy.symbols("x y")
    different = [
        *(x, y, sympy.Symbol("x", positive=True), sympy.Dummy("x"), x + y, x * y, x**2, sympy.Integer(1), sympy.true),
        *(sympy.Float("1.0", 15), sympy.Float("1.0", 30), sympy.Rational(1, 2), sympy.Matrix([[x]]), sympy.sin(x)),
        *(sympy.Poly(x, x, domain="ZZ"), sympy.Poly(x, x, domain="QQ"), sympy.Poly(x, x, modulus=5)),
    ]
    assert len({digest(one) for one in different}) == len(different)
    one = x + y
    before = digest(one)
    hash(one), one.is_positive
    assert digest(one) == before == digest(sympy.symbols("x") + sympy.symbols("y"))


def test_what_the_messages_recommend_for_changes_works(real: Path) -> None:
    def changes(values: list[int]) -> int:
        values.append(1)
        return len(values)

    with pytest.warns(larder.NotCachedWarning, match=r"; change a copy \(copy\.deepcopy\) .* or give it a key="):
        larder.memo(changes)([1])

    @larder.memo
    def copies(values: list[int]) -> int:
        own = copy.deepcopy(values)
        own.append(1)
        return len(own)

    keyed = larder.memo(key=lambda values: 1)(changes)
    for memo in (copies, keyed):
        assert [memo([1]), memo([1]), memo.executions] == [2, 2, 1]
    held = [1]
    reaches = lambda: held.append(1)  # noqa: E731
    with pytest.warns(larder.NotCachedWarning, match=r"held changed .* or give it a version="):
        larder.memo(reaches)()
    versioned = larder.memo(version="1")(reaches)
    assert [versioned(), versioned(), versioned.executions] == [None, None, 1]


def test_a_tree_of_sklearn_that_counts_its_queries(real: Path) -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    numpy = pytest.importorskip("numpy")

    @larder.memo
    def near(tree: object, point: object) -> object:
        return copy.deepcopy(tree).query(point)[0]  # type: ignore[attr-defined]

    for _ in range(2):
        near(neighbors.KDTree(numpy.eye(3)), numpy.ones((1, 3)))
    assert near.executions == 1
