"""Write sections of the benchmarks page from result files."""

from __future__ import annotations

from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
PAGE = "docs/benchmarks.md"


def rewrite(source: str, text: str) -> None:
    """Replace the text between the markers of a source; the rest of the page is written by hand."""
    begin, end = f"<!-- begin {source} -->\n", f"<!-- end {source} -->\n"
    before, found, rest = (CLONE / PAGE).read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise SystemExit(f"{PAGE}: has no markers of {source}; add them")
    (CLONE / PAGE).write_text(f"{before}{begin}\n{text}\n{end}{after}")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table whose first column is text; the row of Larder is bold."""
    lines = [["", *head], ["---", *["---:"] * len(head)]]
    lines += [[f"**{name}**" if name == "Larder" else name, *cells] for name, *cells in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
