"""How code was written, of which the compiler shows its own passes and rewrites more than counts elsewhere.

Lines, names of variables, files and docstrings are no part of what compiled code does, so
keys have nothing of them. A pass, a rewrite or a rule for inlining that the program adds
to numba gets all of it with the code that it looks at, and may make anything of it.
"""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Any

from .._code._annotations import hints
from .._code._library import library_name


def is_looked_at(function: Any, options: dict[str, Any]) -> bool:
    """Report whether code of the program looks at a function while numba compiles it."""
    makers = (type(function), function._compiler.pipeline_class)
    return callable(options.get("inline")) or not all(map(_is_numbas, makers))


def _is_numbas(maker: type) -> bool:
    """Report whether a class is numba's own, whatever it is based on: classes in C have modules of other names."""
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
