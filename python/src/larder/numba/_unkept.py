"""What is compiled in each process, as numba's own cache of it would be stale: it is in the report."""

from __future__ import annotations

import time
from typing import Any

from numba.core.caching import NullCache

from ._cache import normalized
from ._kinds import named
from ._report import REFUSED, Report, Row

_REASON = "callbacks are compiled in each process: numba's cache of them would be stale"


class Unkept(NullCache):  # type: ignore[misc]
    """In place of numba's cache of a callback: it keeps nothing, and says so."""

    def __init__(self, report: Report, function: Any) -> None:
        self._report, self._function = report, function
        self._begun = 0.0

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Note when it is begun; there is never anything to load."""
        self._begun = time.perf_counter()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Note that it was compiled, and is not kept."""
        args, _ = normalized(sig)
        took = time.perf_counter() - self._begun
        row = Row(named(self._function), f"({', '.join(map(str, args))})", REFUSED, took, reason=_REASON)
        self._report.rows.append(row)
