"""Search the paragraphs of a directory of pages by meaning.

    python search.py [--pages DIRECTORY] [--url URL] WORDS...

Each paragraph is embedded each time; larder embed returns the cached ones. The script needs only
Python. The key of the service is in OPENAI_API_KEY.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import urllib.request
from operator import mul
from pathlib import Path

AT_ONCE = 100
"""Texts per request."""


def paragraphs(directory: Path) -> list[tuple[str, str]]:
    """Return the paragraphs of all pages, each with the name of its page."""
    found = []
    for page in sorted(directory.rglob("*.md")):
        texts = re.split(r"\n\s*\n", page.read_text(encoding="utf-8"))
        found += [(page.name, text.strip()) for text in texts if len(text) > 40]
    return found


def embed(url: str, model: str, texts: list[str]) -> tuple[list[list[float]], int]:
    """Return the vectors of texts, and the number of texts that the service computed."""
    vectors: list[list[float]] = []
    asked = 0
    for i in range(0, len(texts), AT_ONCE):
        body = json.dumps({"model": model, "input": texts[i : i + AT_ONCE]}).encode()
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}",
        }
        with urllib.request.urlopen(urllib.request.Request(f"{url}/embeddings", body, headers)) as reply:
            asked += int(reply.headers.get("X-Larder-Asked", len(texts[i : i + AT_ONCE])))
            vectors += [d["embedding"] for d in json.load(reply)["data"]]
    return vectors, asked


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="+")
    parser.add_argument("--pages", type=Path, default=Path(__file__).resolve().parents[2] / "docs")
    parser.add_argument("--url", default="http://127.0.0.1:8700/v1")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    args = parser.parse_args()
    pages = paragraphs(args.pages)
    start = time.perf_counter()
    (query, *vectors), asked = embed(args.url, args.model, [" ".join(args.words), *(text for _, text in pages)])
    took = time.perf_counter() - start
    print(f"{len(pages)} paragraphs and a question in {took:.2f} s; {asked} of them requested\n")
    best = sorted(((sum(map(mul, query, v)), *page) for v, page in zip(vectors, pages, strict=True)), reverse=True)
    for score, page, text in best[:3]:
        print(f"{score:.2f} {page}: {' '.join(text.split())[:160]}")
