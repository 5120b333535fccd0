"""Test libraries that generate functions for numba: PyTensor, and numbox's boundaries."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from numba_case import Case, needs_numba
from numba_contest import contest
from numba_pytensor_edits import EDITS

pytestmark = needs_numba

needs_pytensor = pytest.mark.skipif(importlib.util.find_spec("pytensor") is None, reason="pytensor is not installed")
needs_numbox = pytest.mark.skipif(importlib.util.find_spec("numbox") is None, reason="numbox is not installed")


@pytest.fixture
def case(real: Path, tmp_path: Path) -> Case:
    return Case(tmp_path / "case")


GRAPH = """
    import numpy
    import ops
    import pytensor
    import pytensor.tensor as pt

    def run():
        x = pt.vector("x")
        y = pt.cumsum(pt.exp(-x * 1.5)) + ops.Scaled()(x)
        f = pytensor.function([x], [pt.sort(y).sum()], mode="NUMBA")
        return round(float(f(numpy.arange(4.0))[0]), 6)
"""
OPS = """
    import numba
    from pytensor.graph import Apply, Op
    from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key

    SCALE = 2.0

    class Scaled(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0] * SCALE

    @register_funcify_default_op_cache_key(Scaled)
    def scaled(op, node, **kwargs):
        @numba_njit
        def scale(x):
            return x * SCALE
        return scale
"""


@needs_pytensor
def test_graphs_of_pytensor_are_loaded_until_an_op_changes(case: Case) -> None:
    case.write("m", GRAPH)
    case.write("ops", OPS)
    own = {"PYTENSOR_FLAGS": f"base_compiledir={case.directory / 'compiled'}"}
    first, second = case.run(**own), case.run(**own)
    assert first.results == second.results
    assert "refused" not in first.states()
    assert second.states() == ["loaded"]
    case.edit("ops", "SCALE = 2.0", "SCALE = 3.0")
    third = case.run(**own)
    assert third.results == pytest.approx(first.results + 6.0, abs=1e-5)
    assert third.states().count("compiled") == 2
    case.edit("m", "pt.sort(y).sum()", "pt.sort(y).sum() + 1")
    fourth = case.run(**own)
    assert fourth.results == pytest.approx(first.results + 7.0, abs=1e-5)
    assert fourth.states().count("loaded") > fourth.states().count("compiled")


@needs_pytensor
def test_graphs_with_an_op_that_has_no_key_are_reported_with_the_way_to_it(case: Case) -> None:
    register = "register_funcify_default_op_cache_key"
    case.write("m", GRAPH)
    case.write("ops", OPS.replace(f"@{register}", "@numba_funcify.register").replace(register, "numba_funcify"))
    own = {"PYTENSOR_FLAGS": f"base_compiledir={case.directory / 'compiled'}"}
    for _ in range(2):
        ran = case.run(**own)
        rows = {row[0]: row for row in ran.rows if row[2] == "refused"}
        assert set(rows) == {"pytensor.link.utils.numba_funcified_fgraph", "ops.scaled.<locals>.scale"}
        why = "PyTensor asks for no cache of it, as it has no key for the Op Scaled; register it by " + register
        assert rows["ops.scaled.<locals>.scale"][3] == why
        assert rows["pytensor.link.utils.numba_funcified_fgraph"][3].endswith(f" -> scale: {why}")
    assert ran.states("scale") == ["refused"]
    assert set(ran.states()) == {"refused", "loaded"}
    assert "refused" not in case.run(**{"PYTENSOR_FLAGS": f"{own['PYTENSOR_FLAGS']},numba__cache=False"}).states()


@needs_pytensor
def test_a_graph_within_one_that_has_an_op_without_a_key_is_reported_too(case: Case) -> None:
    register = "register_funcify_default_op_cache_key"
    inner = "OpFromGraph([z], [ops.Scaled()(z) * 2])(x)"
    graph = GRAPH.replace("ops.Scaled()(x)", inner)
    graph = graph.replace("import ops", "import ops\n    from pytensor.compile.builders import OpFromGraph")
    case.write("m", graph.replace('x = pt.vector("x")', 'x, z = pt.vector("x"), pt.vector("z")'))
    case.write("ops", OPS.replace(f"@{register}", "@numba_funcify.register").replace(register, "numba_funcify"))
    ran = case.run(PYTENSOR_FLAGS=f"base_compiledir={case.directory / 'compiled'}")
    reasons = [row[3] for row in ran.rows if row[0].startswith("pytensor.link.utils.")]
    assert len(reasons) == 2
    assert all("scale: PyTensor asks for no cache" in reason for reason in reasons)
    assert max(reason.count(" -> ") for reason in reasons) > 1


@needs_pytensor
def test_no_edit_of_an_op_is_answered_with_what_was_compiled_before(real: Path, tmp_path: Path) -> None:
    found = contest("larder", tmp_path, EDITS)
    assert [verdict for verdict in found if verdict.what != "right"] == []
    assert len(found) == len(EDITS)


LIBRARY = """
    # numbox wants functions to stand some lines down in a file.
    #
    #
    #
    from numba import float64
    from numbox.core.proxy.proxy import proxy

    K = 2.0

    @proxy(float64(float64), jit_options={"cache": True})
    def body(x):
        return x * K
"""


@needs_numbox
def test_callers_over_a_boundary_of_numbox_call_the_body_that_is_meant(case: Case) -> None:
    case.write(
        "m",
        """
        import library
        from numba import njit

        @njit(cache=True)
        def caller(x):
            return library.body(x) + 1.0

        @njit(cache=True)
        def other(x):
            return x

        def run():
            return [caller(3.0), other(1)]
        """,
    )
    case.write("library", LIBRARY)
    assert case.run().results == [7.0, 1]
    again = case.run()
    assert (again.results, set(again.states())) == ([7.0, 1], {"loaded"})
    case.edit("library", "K = 2.0", "K = 5.0")
    edited = case.run()
    assert edited.results == [16.0, 1]
    assert edited.states("other") == ["loaded"]
    case.edit("library", "K = 5.0", "K = 2.0")
    back = case.run()
    assert (back.results, set(back.states())) == ([7.0, 1], {"loaded"})
