"""Count key collisions among 50 000 random or nearly equal items.

    python3 bench/python/memo/collisions.py [--items N] [--torchcache]

Needs a Python with torch and the package larder (PYTHONPATH=python/src), and torchcache if
requested. An item is an image of 3 x 224 x 224 floats. Random ones are drawn from the normal
distribution. Nearly equal ones are one image with one element, at another position in each,
changed by the smallest possible amount.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

SHAPE = (3, 224, 224)
BATCH = 50


def drawn(items: int) -> Iterator[torch.Tensor]:
    """Yield batches of images drawn at random."""
    torch.manual_seed(0)
    for _ in range(items // BATCH):
        yield torch.randn(BATCH, *SHAPE)


def near(items: int) -> Iterator[torch.Tensor]:
    """Yield batches of one image in which one element differs, at another position each time."""
    torch.manual_seed(0)
    base = torch.randn(SHAPE)
    for first in range(0, items, BATCH):
        batch = base.repeat(BATCH, 1, 1, 1)
        flat = batch.view(BATCH, -1)
        for row in range(BATCH):
            at = (first + row) % flat.shape[1]
            flat[row, at] = torch.nextafter(flat[row, at], torch.tensor(float("inf")))
        yield batch


def by_larder() -> Callable[[torch.Tensor], list[Any]]:
    """Return Larder's key function for the rows of a batch."""
    from larder._identity.digest import digest

    return lambda batch: [digest(row) for row in batch]


def by_torchcache() -> Callable[[torch.Tensor], list[Any]]:
    """Return torchcache's key function for the rows of a batch."""
    import torchcache

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.flatten(1)[:, :1]

    model = torchcache.torchcache()(Model)()
    hashes: list[Any] = []

    def keys(batch: torch.Tensor) -> list[Any]:
        model(batch)
        hashes[:] = model.cache_instance.current_hashes.tolist()
        return hashes

    return keys


def collisions(keys: Callable[[torch.Tensor], list[Any]], batches: Iterator[torch.Tensor]) -> tuple[int, float]:
    """Return the number of items with the key of an earlier one, and the microseconds per key."""
    seen: set[Any] = set()
    items, spent = 0, 0.0
    for batch in batches:
        start = time.process_time()
        found = keys(batch)
        spent += time.process_time() - start
        seen.update(bytes(k) if isinstance(k, bytes) else k for k in found)
        items += len(batch)
    return items - len(seen), spent / items * 1e6


def main() -> None:
    """Count, and print a line for each kind of items and each memoizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--torchcache", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    tools = {"larder": by_larder}
    if given.torchcache:
        tools["torchcache"] = by_torchcache
    for kind, make in (("drawn", drawn), ("near-equal", near)):
        for name, tool in tools.items():
            count, cost = collisions(tool(), make(given.items))
            print(f"{kind:>10} {name:>10}: {count} of {given.items} have the key of another one; {cost:.0f} us a key")


if __name__ == "__main__":
    main()
