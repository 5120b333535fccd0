"""Read stencils: kernels whose names keep the meaning that they had when they were created.

numba reads a kernel's code and variables where `@stencil` stands, and compiles it again in each
function that calls it.
"""

from __future__ import annotations

from inspect import Parameter
from typing import Any


def names_in(kernel: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of the global and the captured names in the kernel of a stencil."""
    from numba.core import ir

    variables: dict[str, Any] = {}
    cells: dict[str, Any] = {}
    for block in kernel.blocks.values():
        for assigned in block.find_insts(ir.Assign):
            if isinstance(assigned.value, ir.Global):
                variables[assigned.value.name] = assigned.value.value
            elif isinstance(assigned.value, ir.FreeVar):
                cells[assigned.value.name] = assigned.value.value
    return variables, cells


def said_of(stencil: Any) -> tuple[Any, ...]:
    """Return the declaration of a stencil: mode, options, neighborhood, arguments and their defaults."""
    kernel = stencil.kernel_ir
    parameters = kernel.func_id.pysig.parameters.values()
    defaults = tuple(p.default for p in parameters if p.default is not Parameter.empty)
    options = dict(sorted(stencil.options.items()))
    return stencil.mode, options, _written(options.get("cval")), stencil.neighborhood, tuple(kernel.arg_names), defaults


def _written(value: Any) -> str:
    """Return the string that numba puts into code for the value at borders, by the print options of the process."""
    return str(value) if type(value).__module__ in ("builtins", "numpy") else ""


def unchanged(usual: Any) -> Any:
    """Return numba's method that compiles a stencil, which restores the stencil afterwards.

    numba stores the neighborhood that it found, which could change the next compilation.
    """

    def _stencil_wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.neighborhood
        try:
            return usual(self, *args, **kwargs)
        finally:
            self.neighborhood = before

    return _stencil_wrapper
