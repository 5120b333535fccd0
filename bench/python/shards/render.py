"""The page docs/benchmarks.md, of bench/shards.json."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

HEAD = """# Benchmarks of shards in a bucket

<!-- Written by bench/python/shards/run.py. Do not edit: change render.py and run it with --render. -->

Larder beside other loaders whose data is [in a bucket](places.md): {shards} shards of 1000 samples of 8 to 16 KiB, each contestant in the form of its own, in versitygw behind a proxy that takes 20 ms for each request and counts them. A training reads batches of 64 and takes 10 ms for each. `python3 bench/python/shards/run.py --runs 3` installs the contestants into `bench/.work`, measures all of it again, and writes this page.

| | |
| --- | --- |
| Processor | {processor} |
| Memory | {memory} |
| System | {system} |
| Python, Go | {python}, {go} |
| Larder | {larder} |
| Others | {versions} |
| Measured on | {date}, load before (1, 5, 15 minutes): {load} |

Figures are medians of as many runs as there were ({runs}). The contestants' modules are imported before the clock starts; making the loader, and starting a server or workers, counts.

- *Requests* and *bytes* are what the proxy saw; bytes are for one of a sample. Where Larder reads a bucket for the first time, one of these bytes is that of going through the archives to find the samples.
- *First* is the time to the first batch, *stall* how long the training waited for the others.
- *CPU* is the time of processors of all processes of the side together, without the bucket.
- *Disk* is the most that the local folder took, *memory* the most that all processes had at once, each page counted once, without files that are mapped. Larder's server holds up to 256 MiB of blocks in memory besides.
- *Moved* is how far samples came from where they lie, as a part of the data: 0.333 for a shuffle of all. As shards in any order have that, too, *mixed* says of how many shards the samples of a batch are, of as many as with a shuffle of all.
- *Once* says whether an epoch had each sample once.
{remarks}"""

CASES = {
    "a tenth": "## A cache of a tenth\n\nThe first epoch, with a local cache that may take a tenth of the data.\n",
    "a tenth, twice": "## A tenth, and as much in memory\n\nThe second epoch, where a node's `cache:` holds samples of a tenth of the data, those that are read again soonest. How many of them hit was foreseen when the epoch began:\n",
    "all": "## A cache that holds all\n\nThe second epoch.\n",
}


def count(value: float) -> str:
    return f"{value:,.0f}"


def mib(value: float) -> str:
    return f"{value / (1 << 20):,.0f} MiB"


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 0.995 else f"{1000 * value:.0f} ms"


COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "requests": ("requests", count),
    "sent": ("bytes", "{:.2f}".format),
    "first": ("first", seconds),
    "wall": ("wall", seconds),
    "stall": ("stall", seconds),
    "cpu": ("CPU", seconds),
    "disk": ("disk", mib),
    "memory": ("memory", mib),
    "moved": ("moved", "{:.3f}".format),
    "mixed": ("mixed", lambda value: f"{100 * value:.0f} %"),
}

LESS = ["requests", "sent", "wall", "stall", "cpu", "memory"]
"""Columns of which less is better, and to be compared."""


def page(results: dict[str, Any]) -> str:
    """Return the page."""
    about = results["machine"]
    versions = ", ".join(line for line in about["versions"] if "not installed" not in line)
    remarks = f"\n{about['remarks']}\n" if "remarks" in about else ""
    parts = [HEAD.format(**about | {"versions": versions, "remarks": remarks})]
    total = about["shards"] * 1000 * (12 << 10)
    for case, head in CASES.items():
        if case in results:
            parts += [head, table(results[case], total), *hits(results[case])]
    return "\n".join(parts)


def medians(runs: list[dict[str, Any]], total: int) -> dict[str, float]:
    """Return the medians of the runs that came to their end, with what is derived."""
    runs = [run | {"sent": run["bytes"] / total} for run in runs if "error" not in run]
    return {name: statistics.median(run[name] for run in runs) for name in COLUMNS} if runs else {}


def once(runs: list[dict[str, Any]]) -> str:
    """Say whether all samples came once."""
    bad = next((run for run in runs if run["samples"] != run["different"] or run["samples"] != run["of"]), None)
    return "yes" if bad is None else f"no: {count(bad['samples'])}, {count(bad['different'])} different"


def table(sides: dict[str, Any], total: int) -> str:
    """Return the table of a case, and what is better than Larder."""
    lines = ["|  | " + " | ".join(title for title, _ in COLUMNS.values()) + " | once |", "| --- |" + " ---: |" * (len(COLUMNS) + 1)]
    for name, runs in sides.items():
        shown = f"**{name}**" if name == "Larder" else name
        figures = medians(runs, total)
        if not figures:
            lines.append(f"| {shown} |" + " - |" * len(COLUMNS) + f" {runs[0]['error'][:120].replace('|', '/')} |")
            continue
        cells = [form(figures[column]) for column, (_, form) in COLUMNS.items()]
        lines.append(f"| {shown} | " + " | ".join(cells) + f" | {once(runs)} |")
    return "\n".join(lines) + "\n\n" + better(sides, total)


def better(sides: dict[str, Any], total: int) -> str:
    """List what others do better than Larder by more than 5 %."""
    if "Larder" not in sides or not (ours := medians(sides["Larder"], total)):
        return ""
    lines = []
    for column in LESS:
        title, form = COLUMNS[column]
        others = {name: medians(runs, total) for name, runs in sides.items() if not name.startswith("Larder")}
        ahead = [f"{name} ({form(one[column])})" for name, one in others.items() if one and one[column] < 0.95 * ours[column]]
        if ahead:
            lines.append(f"- {title}, {form(ours[column])} of Larder: {', '.join(ahead)}")
    return "Better than Larder by more than 5 %:\n\n" + "\n".join(lines) + "\n" if lines else ""


def hits(sides: dict[str, Any]) -> list[str]:
    """Say how often caches in memory hit, and how often that was foreseen."""
    lines = []
    for name, runs in sides.items():
        for hit in runs[-1].get("hits", []):
            if hit["epoch"] == runs[-1].get("epoch") and hit["predicted"] >= 0:
                actual = hit["hits"] / max(hit["reads"], 1)
                lines.append(f"{name}: {100 * hit['predicted']:.2f} % of reads were to hit, and {100 * actual:.2f} % did.\n")
    return lines
