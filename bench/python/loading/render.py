"""The page docs/benchmarks.md, of bench/loading.json."""

from __future__ import annotations

from typing import Any

HEAD = """# Benchmarks of loaders in Python

<!-- Written by bench/python/loading/run.py. Do not edit: change render.py and run it with --render. -->

The loader of [the package for Python](python.md) beside other loaders on the same work, each in a process of its own and with its data in the form that it likes best. `python3 bench/python/loading/run.py` installs them into `bench/.work`, measures all of it again, in {minutes:.0f} minutes here, and writes this page.

| | |
| --- | --- |
| Processor | {processor} |
| Memory | {memory} |
| System | {system} |
| Python, Go | {python}, {go} |
| Larder | {larder} |
| Others | {versions} |
| Measured on | {date}, load before (1, 5, 15 minutes): {load} |

The page cache is warm. Batches are 32 samples, shuffled anew in each epoch, collated to one tensor. NumPy, torch and larder are imported before the clock starts; what each loader imports besides, its first batch pays. Of rows each figure is the better one of {runs} runs.

- *CPU a sample* is the time of processors of all processes together: the program, its workers, and for Larder its server. It is that of whole epochs after a first one, with workers that stay.
- *First batch* is the time from making the loader to having a batch, workers or a server started on the way if they were not there.
- *Memory* is the most that all processes had at once, each page counted once, without files of the page cache that are mapped.
"""

ROWS = {
    "1 KB": "## Rows of 1 KB\n\n20 000 rows of 1024 bytes: an array of NumPy in one file, or four shards of tar, MDS or chunks.\n",
    "100 KB": "## Rows of 100 KB\n\n2560 rows of 102 400 bytes, as above.\n",
}
STATES = """## States

Stopped after 20 batches of an epoch of rows of 1 KB. *Resume* is the time from loading the state into the loader to the next batch. *Exact* says whether this was the batch that came next before. Loaders that are not here have no state in the middle of an epoch.
"""
PHOTOS = """## Photographs

5000 JPEG files of about 500 x 375, cut from photographs, decoded and made 224 x 224 by two workers, threads or processors. Larder keeps what it made, in memory or on disk; the others make it again in each epoch.
"""
SHARING = """## Eight clients

Eight processes read the same 1000 photographs, decoded and in memory after their first epoch. Memory of all of them together, and of Larder's server, when the last is done.
"""
IMPORTS = """## Imports

How long a process takes to import a module, beyond the start of Python itself, with its files in memory.
"""

COLUMNS = {
    "rows": {"cpu": "CPU a sample", "rate": "samples/s", "first": "first batch", "memory": "memory"},
    "states": {"state": "bytes of the state", "resume": "resume", "exact": "exact"},
    "photos": {
        "cpu 1": "first epoch: CPU a sample",
        "rate 1": "samples/s",
        "cpu 2": "second epoch: CPU a sample",
        "rate 2": "samples/s",
        "memory": "memory",
    },
    "few photos": {"memory": "memory"},
    "imports": {"time": "import"},
}


def page(results: dict[str, Any]) -> str:
    """Return the page."""
    machine = dict(results["machine"])
    versions = ", ".join(machine.pop("versions"))
    text = HEAD.format(**machine, versions=versions, minutes=machine["seconds"] / 60)
    text += f"\n{results['older']}\n" if "older" in results else ""  # what --only left as it was
    for work, head in ROWS.items():
        text += section(head, results.get(work, {}), COLUMNS["rows"])
    stated = {name: figures for name, figures in results.get("1 KB", {}).items() if "resume" in figures}
    text += section(STATES, stated, COLUMNS["states"])
    text += section(PHOTOS, results.get("photos", {}), COLUMNS["photos"])
    text += section(SHARING, results.get("few photos", {}), COLUMNS["few photos"])
    return text + section(IMPORTS, results.get("imports", {}), COLUMNS["imports"])


def section(head: str, table: dict[str, Any], columns: dict[str, str]) -> str:
    if not table:
        return ""
    lines = [f"\n{head}", "|  | " + " | ".join(columns.values()) + " |", "| --- |" + " ---: |" * len(columns)]
    for name, figures in table.items():
        cells = [figure(column, figures[column]) if column in figures else "" for column in columns]
        if "error" in figures:
            cells[0] = "not run: " + figures["error"].replace("|", "\\|")[:200]
        bold = "**" if name == "Larder" else ""
        lines.append(f"| {bold}{name}{bold} | " + " | ".join(cells) + " |")
    notes = [f"{name}: {figures['note']}." for name, figures in table.items() if "note" in figures]
    return "\n".join([*lines, "", *better(table, columns), *notes]) + ("\n" if notes else "")


def better(table: dict[str, Any], columns: dict[str, str]) -> list[str]:
    """Return what is better than Larder by more than a twentieth."""
    ours, lines = table.get("Larder", {}), []
    for column, title in columns.items():
        least = column.startswith("rate")
        if column not in ours or isinstance(ours[column], bool):
            continue
        found = [
            f"{name} ({figure(column, figures[column])})"
            for name, figures in table.items()
            if not name.startswith("Larder") and column in figures
            if (figures[column] > 1.05 * ours[column] if least else 1.05 * figures[column] < ours[column])
        ]
        if found:
            lines.append(f"- {title}, {figure(column, ours[column])} of Larder: {', '.join(found)}")
    return ["Better than Larder by more than 5 %:", "", *lines, ""] if lines else []


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
