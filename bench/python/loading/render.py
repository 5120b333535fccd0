"""Write the section of docs/benchmarks.md from bench/loading.json."""

from __future__ import annotations

from typing import Any

from page import table

ABOUT = "Measured on {date}: {processor}, {memory}, {go}, Python {python}. Larder {larder}; {versions}.\n"
ROWS = """### Rows of 1 KB and of 100 KB

20 000 rows of 1024 bytes, and 2560 rows of 102 400 bytes: a NumPy array in one file, or four shards of tar, MDS or chunks.
"""
AFTER_ROWS = """`DataLoader` without workers is faster for rows of 1 KB in memory, and most systems take less memory than Larder.
"""
STATES = """### States

Stopped after 20 batches of rows of 1 KB. *Resume* is the time from loading the state to the next batch. *Exact* says whether it was the next batch. Other loaders have no state within an epoch.
"""
PHOTOS = """### Photographs

5000 JPEG files of about 500 x 375, decoded and resized to 224 x 224 by two workers. Larder caches the result; the others compute it again in each epoch.
"""
SHARING = "Memory of eight processes that read the same 1000 photographs, and of Larder's server: {}.\n"
IMPORTS = "Imports take: {}.\n"

COLUMNS: dict[str, list[tuple[str, str, str]]] = {
    "rows": [
        ("1 KB", "cpu", "CPU, 1 KB"),
        ("1 KB", "rate", "samples/s"),
        ("1 KB", "first", "first batch"),
        ("1 KB", "memory", "memory"),
        ("100 KB", "cpu", "CPU, 100 KB"),
        ("100 KB", "rate", "samples/s"),
    ],
    "states": [
        ("1 KB", "state", "bytes of the state"),
        ("1 KB", "resume", "resume"),
        ("1 KB", "exact", "exact"),
    ],
    "photos": [
        ("photos", "cpu 1", "first epoch: CPU a sample"),
        ("photos", "rate 1", "samples/s"),
        ("photos", "cpu 2", "second epoch: CPU a sample"),
        ("photos", "rate 2", "samples/s"),
        ("photos", "memory", "memory"),
    ],
}
"""For each table: the workload, its figure, and the title."""


def section(results: dict[str, Any]) -> str:
    """Return the section."""
    about = results["machine"] | {"versions": ", ".join(results["machine"]["versions"])}
    about["date"] = about["date"].split()[0]
    imports = sorted(results.get("imports", {}).items(), key=lambda item: item[1]["time"])
    shared = results.get("few photos", {}).items()
    return "\n".join(
        [
            ABOUT.format(**about),
            *([f"{results['older']}\n"] if "older" in results else []),  # rows that --only left unchanged
            ROWS,
            figures(results, "rows"),
            AFTER_ROWS,
            STATES,
            figures(results, "states"),
            PHOTOS,
            figures(results, "photos"),
            SHARING.format(
                ", ".join(f"{figure('memory', one['memory'])} ({name})" for name, one in shared if "memory" in one)
            ),
            IMPORTS.format(", ".join(f"{name} {figure('time', one['time'])}" for name, one in imports)),
        ]
    )


def figures(results: dict[str, Any], name: str) -> str:
    """Return a table, and the contestants that failed."""
    columns, lines, failed = COLUMNS[name], [], []
    for contestant, first in results.get(columns[0][0], {}).items():
        if "error" in first:
            failed.append(f"{contestant} ({first['error'][:120]})")
        elif columns[0][1] in first:
            ones = [(results.get(work, {}).get(contestant, {}), column) for work, column, _ in columns]
            lines.append([contestant, *(figure(column, one[column]) if column in one else "" for one, column in ones)])
    text = table([title for _, _, title in columns], lines)
    return text + (f"\nNot measured: {'; '.join(failed)}.\n" if failed else "")


def figure(column: str, value: Any) -> str:
    """Return a figure with its unit, to three digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column == "state":
        return f"{value}"
    if column == "memory":
        return f"{value / (1 << 20):.0f} MiB"
    if column.startswith("rate"):
        return f"{float(f'{value:.3g}'):,.0f}"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size or unit == "µs":
            return f"{value / size:.3g} {unit}"
    return ""
