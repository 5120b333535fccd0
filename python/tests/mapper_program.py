"""A program whose functions flows call, run by tests."""

from __future__ import annotations

import json
import sys
from typing import Any

import larder


def load(scale: float) -> dict[str, float]:
    return {"scale": scale}


def shape(model: dict[str, float], image: Any, metadata: dict[str, Any]) -> tuple[Any, list[float]]:
    return [*image.shape, str(image.dtype), metadata["letter"]], [model["scale"]] * 2


def shout(texts: list[Any]) -> list[str]:
    return [text["letter"].upper() for text in texts]


def main() -> None:
    letters = larder.underfolder(path=sys.argv[1])
    shapes = letters.map(
        shape, items=["image", "metadata"], into=["shape", "scales"], setup=load, args={"scale": 2.5}, keep=True
    )
    shouts = letters.map(shout, items=["metadata"], into=["shout"], batch=10)
    report = larder.run(shapes.to_underfolder(path=sys.argv[2]))
    by_name = {node.name: node.computed for node in report.nodes}
    batch = next(iter(shouts.batch(26, tensors=None)))
    with open(f"{sys.argv[2]}/data/00_shape.json") as file:
        print(json.dumps([by_name.get("python"), json.load(file), "".join(batch["shout"])]))


if __name__ == "__main__":
    main()
