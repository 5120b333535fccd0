"""Report the outcome for each compiled function, with human-readable tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

LOADED, COMPILED, REFUSED = "loaded", "compiled", "refused"

_LONGEST = 48
"""The maximum number of characters of a cell in the table; the middle of longer ones is left out."""


@dataclass(slots=True)
class Row:
    """The outcome for one function and one set of argument types."""

    function: str
    types: str
    state: str
    """"loaded", "compiled" (and cached), or "refused" (compiled and not cached)."""
    seconds: float
    """The time to load, or the processor time to compile, without that of others with a row."""
    saved: float = 0.0
    """For a loaded function: how much longer its writer took to compile it."""
    reason: str = ""
    """Why it is refused, with the path to the cause."""


@dataclass(slots=True)
class Report:
    """The outcomes for all functions of this process. `str` returns a table, in which long names and types are cut."""

    rows: list[Row] = field(default_factory=list)
    settings: dict[str, None] = field(default_factory=dict)
    """Process settings that differ from their defaults and are in keys of functions whose code runs while numba
    compiles. A change of them compiles these functions again.
    """
    uncached: dict[str, float] = field(default_factory=dict)
    """Functions compiled here without `cache=True`, except those that cached functions call, with the processor
    time of each in seconds.
    """

    @property
    def loaded(self) -> int:
        """The number of loaded functions."""
        return sum(row.state == LOADED for row in self.rows)

    @property
    def compiled(self) -> int:
        """The number of functions that were compiled and cached."""
        return sum(row.state == COMPILED for row in self.rows)

    @property
    def refused(self) -> int:
        """The number of functions that were compiled and not cached."""
        return sum(row.state == REFUSED for row in self.rows)

    @property
    def saved(self) -> float:
        """The compilation time saved, in seconds."""
        return sum(row.saved for row in self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [
            f"{self.loaded} loaded, {self.compiled} compiled and cached, "
            f"{self.refused} refused: compiled and not cached; "
            f"{self.saved:.1f} s of compiling saved"
        ]
        if self.uncached:
            longest = sorted(self.uncached, key=lambda name: -self.uncached[name])
            more = f" and {len(longest) - 3} more" if len(longest) > 3 else ""
            lines.append(
                f"compiled without cache=True, in {sum(self.uncached.values()):.1f} s: {', '.join(longest[:3])}{more}"
            )
        if self.settings:
            lines.append(f"also identified by settings of this process: {'; '.join(self.settings)}")
        cells = [("function", "types", "is", "seconds", "why")]
        for row in self.rows:
            named = _cut(row.function, _LONGEST), _cut(row.types, _LONGEST)
            cells.append((*named, row.state, f"{row.seconds:.3f}", row.reason))
        widths = [max(len(cell[i]) for cell in cells) for i in range(4)]
        for cell in cells:
            lines.append("  ".join([*(cell[i].ljust(widths[i]) for i in range(4)), cell[4]]).rstrip())
        return "\n".join(lines)


def _cut(text: str, longest: int) -> str:
    """Return a string without its middle if it is long, as both ends distinguish it from others."""
    if len(text) <= longest:
        return text
    end = (longest - 3) // 2
    return f"{text[: longest - 3 - end]}...{text[-end:]}"
