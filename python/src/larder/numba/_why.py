"""Why a compiled function is kept or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._report import Row


@dataclass(slots=True, frozen=True)
class Why:
    """What a compiled function is known by. `str` makes lines of it."""

    function: str
    digest: str
    parts: tuple[str, ...]
    """What it is known by, each with the way to it."""
    refused: tuple[str, ...]
    """What of it has no key, each with the way to it; empty if it is kept."""
    rows: tuple[Row, ...]
    """What became of it in this process."""

    def __str__(self) -> str:
        lines = [f"{self.function}: {'is not kept' if self.refused else 'is kept'}"]
        lines += [f"  refused: {one}" for one in self.refused]
        lines += [f"  {row.types} {row.state} in {row.seconds:.3f} s {row.reason}".rstrip() for row in self.rows]
        lines += [f"  known by {part}" for part in self.parts]
        return "\n".join(lines)


def explained(keeper: Any, function: Any) -> Why:
    """Return what a function is known by now, and what became of it."""
    from numba.core.caching import NullCache

    from ._cache import LarderCache, cache_of
    from ._errors import Refused
    from ._kinds import UNITS, kernel_of, kind_of, named

    if kind_of(function) == "vectorized":
        function = kernel_of(function)
    elif kind_of(function) not in UNITS:
        raise TypeError(f"{function!r} is no function that numba compiles")
    walk = keeper.walked(function, ())
    refused = [str(one) for one in walk.refused]
    cache = cache_of(function)
    if cache is None or isinstance(cache, NullCache):
        refused.append("it asks for no cache: say cache=True")
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
