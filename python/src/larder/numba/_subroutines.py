"""Separate the helpers that numba compiles for generated code by everything that they are compiled from.

`compile_internal` compiles a Python function (for a complex division, a list, an intrinsic) once
per process, and shares it between functions with equal code and cells. But it uses the flags of
the first function that needs it, and its own globals. So the code linked into a function would
depend on earlier compilations, which no key covers. Here each set of flags, globals and types of
cells has its own helper.
"""

from __future__ import annotations

from typing import Any

from .._identity.immutable import fixed
from ._options import text_of


def apart(usual: Any) -> Any:
    """Return numba's method that compiles a helper, sharing it only if the result is the same."""
    shared: dict[tuple[Any, ...], tuple[dict[Any, Any], Any]] = {}

    def compile_subroutine(self: Any, builder: Any, impl: Any, *args: Any, **kwargs: Any) -> Any:
        own = impl.__globals__
        place = (id(self.typing_context), id(own), _flags(self), tuple(map(_exact, impl.__closure__ or ())))
        compiled, _ = shared.setdefault(place, ({}, (self.typing_context, own)))
        before, self.cached_internal_func = self.cached_internal_func, compiled
        try:
            return usual(self, builder, impl, *args, **kwargs)
        finally:
            self.cached_internal_func = before

    return compile_subroutine


def _flags(context: Any) -> tuple[str, ...]:
    """Return those of a function's flags that the context of its compilation has."""
    names = ("fastmath", "enable_boundscheck", "enable_debuginfo", "enable_nrt", "auto_parallel")
    return tuple(text_of(getattr(context, name, None)) for name in names)


def _exact(cell: Any) -> Any:
    """Return what distinguishes a value from equal ones, as 1 from 1.0 and True."""
    try:
        value = cell.cell_contents
    except ValueError:
        return None
    return _told(value)


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_told, value))
    return (type(value), repr(value)) if fixed(value) else type(value)
