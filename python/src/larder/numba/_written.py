"""Encode how code is written, which the compiler shows to its own passes and rewrites.

Lines, names of variables, files and docstrings do not affect compiled code, so keys do not cover
them. But a pass, a rewrite or an inlining rule that the program adds to numba receives all of
them with the code, and may use any of them.
"""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Any

from .._identity.code.annotations import hints
from .._identity.library import library_name


def is_looked_at(function: Any, options: dict[str, Any]) -> bool:
    """Report whether code of the program reads a function's code while numba compiles it."""
    makers = (type(function), function._compiler.pipeline_class)
    return callable(options.get("inline")) or not all(map(_is_numbas, makers))


def _is_numbas(maker: type) -> bool:
    """Report whether a class is numba's own, regardless of its bases: C classes have modules of other names."""
    name, owner = library_name(maker)
    return owner is not None and name.startswith("numba.")


def written(function: FunctionType) -> bytes:
    """Return how a function was written, and where."""
    said = (function.__module__, function.__name__, function.__qualname__, function.__doc__, hints(function))
    return repr((said, _code(function.__code__))).encode()


def _code(code: CodeType) -> tuple[Any, ...]:
    inner = tuple(_code(c) for c in code.co_consts if isinstance(c, CodeType))
    names = (code.co_name, code.co_qualname, code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    places = (code.co_filename, code.co_firstlineno, tuple(code.co_positions()), tuple(dis.findlinestarts(code)))
    return names, places, code.co_code, inner
