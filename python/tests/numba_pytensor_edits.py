"""Edits of PyTensor Ops, and of functions that they call, like the edits of functions in `numba_edits`."""

from __future__ import annotations

import textwrap

from numba_edits import Edit

GRAPH = """
import numpy
import pytensor
import pytensor.tensor as pt
from . import ops

def run():
    x = pt.vector("x")
    f = pytensor.function([x], [ops.Scaled()(pt.exp(x)).sum()], mode="NUMBA")
    return round(float(f(numpy.arange(4.0))[0]), 6)
"""

OPS = """
import numba
from pytensor.graph import Apply, Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key
from . import dep

SCALE = 2.0
VALUES = (1.0, 2.0)

class Scaled(Op):
    __props__ = ("shift",)

    def __init__(self, shift=1.0):
        self.shift = shift

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * SCALE

@register_funcify_default_op_cache_key(Scaled)
def scaled(op, node, **kwargs):
    shift = op.shift
    factor = len(VALUES)
    @numba_njit
    def scale(x):
        return dep.twice(x * SCALE) + shift + VALUES[1] * factor
    return scale
"""

DEP = """
import numba
TWO = 2

@numba.njit
def twice(x):
    return x * TWO
"""


def _edit(name: str, *changes: tuple[str, str, str], differs: bool = True) -> Edit:
    files = {"m": textwrap.dedent(GRAPH), "ops": OPS, "dep": DEP}
    return Edit("edit_" + name.replace(" ", "_"), files, changes, differs)


EDITS = [
    _edit("op constant", ("ops", "SCALE = 2.0", "SCALE = 3.0")),
    _edit("op body", ("ops", "x * SCALE", "x - SCALE")),
    _edit("op tuple", ("ops", "(1.0, 2.0)", "(1.0, 5.0)")),
    _edit("op length of a tuple", ("ops", "(1.0, 2.0)", "(1.0, 2.0, 3.0)")),
    _edit("op property", ("ops", "shift=1.0", "shift=4.0")),
    _edit("op callee", ("dep", "x * TWO", "x + TWO")),
    _edit("op constant of callee", ("dep", "TWO = 2", "TWO = 5")),
    _edit("op options", ("ops", "@numba_njit", "@numba_njit(locals={'shift': numba.types.int64})")),
    _edit("op graph", ("m", "pt.exp(x)", "pt.exp(x) + 1")),
    _edit("op constant of graph", ("m", "pt.exp(x)", "pt.exp(x * 2.0)")),
    _edit("same op comment", ("ops", "    shift = op.shift", "    # Why.\n    shift = op.shift"), differs=False),
    _edit("same op docstring", ("dep", "    return x", "    '''Twice.'''\n    return x"), differs=False),
    _edit("same op perform", ("ops", "inputs[0] * SCALE", "SCALE * inputs[0]"), differs=False),
]
