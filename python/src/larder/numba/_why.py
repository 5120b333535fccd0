"""Explain why a compiled function is cached or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._report import Row


@dataclass(slots=True, frozen=True)
class Why:
    """The identity of a compiled function. `str` returns it as lines."""

    function: str
    digest: str
    parts: tuple[str, ...]
    """Its parts, each with its path."""
    refused: tuple[str, ...]
    """The parts without a key, each with its path; empty if it is cached."""
    rows: tuple[Row, ...]
    """Its outcomes in this process."""

    def __str__(self) -> str:
        lines = [f"{self.function}: {'is not cached' if self.refused else 'is cached'}"]
        lines += [f"  refused: {one}" for one in self.refused]
        lines += [f"  {row.types} {row.state} in {row.seconds:.3f} s {row.reason}".rstrip() for row in self.rows]
        lines += [f"  identified by {part}" for part in self.parts]
        return "\n".join(lines)


def explained(keeper: Any, function: Any) -> Why:
    """Return the current identity of a function, and its outcomes."""
    from numba.core.caching import NullCache

    from ._cache import LarderCache, cache_of
    from ._errors import Refused
    from ._kinds import UNITS, kernel_of, kind_of, named

    if kind_of(function) == "vectorized":
        function = kernel_of(function)
    elif kind_of(function) not in UNITS:
        raise TypeError(f"{function!r} is not a function that numba compiles")
    walk = keeper.walked(function, ())
    refused = [str(one) for one in walk.refused]
    cache = cache_of(function)
    if cache is None or isinstance(cache, NullCache):
        refused.append("it is not cached; pass cache=True")
    elif not isinstance(cache, LarderCache):
        refused.append("it was made before larder.numba was installed")
    try:
        keeper.history.check(walk)
    except Refused as one:
        refused.append(str(one))
    rows = tuple(row for row in keeper.report.rows if row.function == named(function))
    refused += [row.reason for row in rows if row.state == "refused" and row.reason not in refused]
    parts = tuple(f"{node.path} ({node.text}) {node.digest().hex()[:12]}" for node in walk.nodes[1:])
    parts += tuple(f"the setting of the process {one}" for one in walk.settings)
    return Why(named(function), walk.digest(walk.state()).hex(), parts, tuple(refused), rows)
