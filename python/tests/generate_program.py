"""A program whose generators are sources of flows, run by tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import larder


def load(scale: int) -> dict[str, int]:
    return {"scale": scale}


def rows(model: dict[str, int], count: int) -> Iterator[tuple[int, str]]:
    for n in range(count):
        yield n * model["scale"], f"row {n}"


def main() -> None:
    made = larder.generate(rows, into=["n", "text"], setup=load, args={"scale": 3, "count": 10}).materialise()
    report = larder.run(made.to_jsonl(path=sys.argv[1], overwrite="replace"))
    came = [node.samples for node in report.nodes if node.name == "python"]
    batches = [list(batch["text"]) for batch in made.batch(4, tensors=None)]
    with open(sys.argv[1]) as file:
        print(json.dumps([came, file.read().splitlines()[-1], batches[-1]]))


if __name__ == "__main__":
    main()
