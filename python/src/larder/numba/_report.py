"""What became of each compiled function, and tables of it for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

LOADED, COMPILED, REFUSED = "loaded", "compiled", "refused"

_LONGEST = 48
"""Characters of a cell in the table; the middle of longer ones is left out."""


@dataclass(slots=True)
class Row:
    """What became of one function for one set of argument types."""

    function: str
    types: str
    state: str
    """"loaded", "compiled" (and kept), or "refused" (compiled and not kept)."""
    seconds: float
    """How long it took to load, or how much processor time to compile, without that of others with a row."""
    saved: float = 0.0
    """Of what was loaded: how much more than that it took whoever compiled it."""
    reason: str = ""
    """Why it is refused, with the way to it."""


@dataclass(slots=True)
class Report:
    """What became of all functions of this process. `str` makes a table, in which long names and types are cut."""

    rows: list[Row] = field(default_factory=list)
    settings: dict[str, None] = field(default_factory=dict)
    """Settings of the process, not as they are at first, by which functions are known whose code runs while numba
    compiles: with others they are compiled anew."""
    uncached: dict[str, float] = field(default_factory=dict)
    """Functions that were compiled here as they ask for no cache (`cache=True`), but for what those that ask for one
    call: how many seconds of processor time each took."""

    @property
    def loaded(self) -> int:
        """How many were loaded."""
        return sum(row.state == LOADED for row in self.rows)

    @property
    def compiled(self) -> int:
        """How many were compiled and kept."""
        return sum(row.state == COMPILED for row in self.rows)

    @property
    def refused(self) -> int:
        """How many were compiled and not kept."""
        return sum(row.state == REFUSED for row in self.rows)

    @property
    def saved(self) -> float:
        """Seconds that were not spent on compiling."""
        return sum(row.saved for row in self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [
            f"{self.loaded} loaded, {self.compiled} compiled and kept, {self.refused} refused: compiled and not kept; "
            f"{self.saved:.1f} s of compiling saved"
        ]
        if self.uncached:
            longest = sorted(self.uncached, key=lambda name: -self.uncached[name])
            more = f" and {len(longest) - 3} more" if len(longest) > 3 else ""
            lines.append(
                f"compiled without cache=True, in {sum(self.uncached.values()):.1f} s: {', '.join(longest[:3])}{more}"
            )
        if self.settings:
            lines.append(f"known by settings of this process, too: {'; '.join(self.settings)}")
        cells = [("function", "types", "is", "seconds", "why")]
        for row in self.rows:
            named = _cut(row.function, _LONGEST), _cut(row.types, _LONGEST)
            cells.append((*named, row.state, f"{row.seconds:.3f}", row.reason))
        widths = [max(len(cell[i]) for cell in cells) for i in range(4)]
        for cell in cells:
            lines.append("  ".join([*(cell[i].ljust(widths[i]) for i in range(4)), cell[4]]).rstrip())
        return "\n".join(lines)


def _cut(text: str, longest: int) -> str:
    """Return text, without its middle if it is long: both ends tell it from others."""
    if len(text) <= longest:
        return text
    end = (longest - 3) // 2
    return f"{text[: longest - 3 - end]}...{text[-end:]}"
