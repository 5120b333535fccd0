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
    """How long it took to compile, or to load."""
    saved: float = 0.0
    """Of what was loaded: by how much longer it took whoever compiled it."""
    reason: str = ""
    """Why it is refused, with the way to it."""


@dataclass(slots=True)
class Report:
    """What became of all functions of this process. `str` makes a table, in which long names and types are cut."""

    rows: list[Row] = field(default_factory=list)
    settings: dict[str, None] = field(default_factory=dict)
    """Settings of the process, not as they are at first, by which functions are known whose code runs while numba
    compiles: with others they are compiled anew."""

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
            f"{self.loaded} loaded, {self.compiled} compiled and kept, {self.refused} compiled and not kept; "
            f"{self.saved:.1f} s saved"
        ]
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
