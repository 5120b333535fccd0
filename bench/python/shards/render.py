"""Write the section of docs/benchmarks.md from bench/shards.json."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from page import table

ABOUT = "Measured on {date}: {processor}, {memory}, {go}, Python {python}; {shards} shards; runs: {runs}. Figures are medians. Larder {larder}; {versions}.\n"
TENTH = """### A cache of a tenth

The first epoch, with a local cache of a tenth of the data. *Larder, samples in memory* is its second epoch, with a tenth of the samples in memory as well.
"""
AFTER_TENTH = """The other loaders shuffle within buffers or shards, so they make fewer requests; Larder's windows of shards do the same.
"""
ALL = """### A cache that holds all

The second epoch.
"""


def count(value: float) -> str:
    return f"{value:,.0f}"


def mib(value: float) -> str:
    return f"{value / (1 << 20):,.0f} MiB"


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 0.995 else f"{1000 * value:.0f} ms"


Columns = dict[str, tuple[str, Callable[[float], str]]]

SPEED: Columns = {
    "wall": ("wall", seconds),
    "stall": ("stall", seconds),
    "cpu": ("CPU", seconds),
    "memory": ("memory", mib),
}
COLUMNS: Columns = {
    "requests": ("requests", count),
    "sent": ("bytes", "{:.2f}".format),
    **SPEED,
    "moved": ("moved", "{:.3f}".format),
    "mixed": ("mixed", lambda value: f"{100 * value:.0f} %"),
}


def section(results: dict[str, Any]) -> str:
    """Return the section."""
    about = results["machine"]
    versions = ", ".join(line for line in about["versions"] if "not installed" not in line)
    total = about["shards"] * 1000 * (12 << 10)
    tenth = results.get("a tenth", {}) | results.get("a tenth, twice", {})
    return "\n".join(
        [
            ABOUT.format(**about | {"date": about["date"].split()[0], "versions": versions}),
            *([f"{about['remarks']}\n"] if "remarks" in about else []),
            TENTH,
            figures(tenth, total, COLUMNS),
            AFTER_TENTH,
            *hits(tenth),
            ALL,
            figures(results.get("all", {}), total, SPEED),
        ]
    )


def figures(sides: dict[str, Any], total: int, columns: Columns) -> str:
    """Return the table of medians, those that failed, and those that omitted or repeated samples."""
    lines, notes = [], []
    for name, runs in sides.items():
        ended = [run | {"sent": run["bytes"] / total} for run in runs if "error" not in run]
        if not ended:
            notes.append(f"{name} failed: {runs[0]['error'].removeprefix('Error: ')[:120].rstrip('.')}.")
            continue
        cells = [form(statistics.median(run[column] for run in ended)) for column, (_, form) in columns.items()]
        lines.append([name, *cells])
        for run in ended:
            if not run["samples"] == run["different"] == run["of"]:
                notes.append(f"{name} gave {count(run['samples'])} samples, {count(run['different'])} different.")
    return table([title for title, _ in columns.values()], lines) + (f"\n{' '.join(notes)}\n" if notes else "")


def hits(sides: dict[str, Any]) -> list[str]:
    """Return the hit rates of caches in memory, and their predictions."""
    lines = []
    for name, runs in sides.items():
        for hit in runs[-1].get("hits", []):
            if hit["epoch"] == runs[-1].get("epoch") and hit["predicted"] >= 0:
                actual, predicted = 100 * hit["hits"] / max(hit["reads"], 1), 100 * hit["predicted"]
                lines.append(f"{name}: {actual:.2f} % of the reads hit; the prediction was {predicted:.2f} %.\n")
    return lines
