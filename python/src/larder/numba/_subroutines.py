"""What numba compiles for the code that it makes, kept apart by all that it is compiled from.

`compile_internal` compiles a function of Python (of a complex division, a list, an
intrinsic) once for a process, and takes for the same what has equal code and cells. But it
is compiled with the flags of the first function that needs it, and with its own globals.
So what a function is linked with would depend on what was compiled before it, which no key
has. Here each set of flags, globals and kinds of cells has its own.
"""

from __future__ import annotations

from typing import Any

from .._keys._encoder import fixed
from ._options import text_of


def apart(usual: Any) -> Any:
    """Return how numba compiles such a function: as usual, but shared only where it comes out the same."""
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
    """Return what of a function's flags the context has in which it is compiled."""
    names = ("fastmath", "enable_boundscheck", "enable_debuginfo", "enable_nrt", "auto_parallel")
    return tuple(text_of(getattr(context, name, None)) for name in names)


def _exact(cell: Any) -> Any:
    """Return what tells a value from those that are equal to it, as 1 is to 1.0 and to True."""
    try:
        value = cell.cell_contents
    except ValueError:
        return None
    return _told(value)


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_told, value))
    return (type(value), repr(value)) if fixed(value) else type(value)
