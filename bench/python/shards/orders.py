"""Measure how far an order is from a random order of all samples."""

from __future__ import annotations

from typing import Any

OF_SHARD = 1000


def figures(seen: list[int], n: int, batch: int) -> dict[str, Any]:
    """Return figures about the order in which samples were read.

    `moved` is the mean distance of a sample from its place in the bucket, as a part of all samples: a
    third if all are shuffled. It does not tell which samples are close together, since shards may come
    in any order. So `mixed` is the number of shards in a batch, relative to that of a full shuffle.
    """
    distance = sum(abs(at - number) for at, number in enumerate(seen))
    shards = max(n // OF_SHARD, 1)
    batches = [seen[at : at + batch] for at in range(0, len(seen) - batch + 1, batch)]
    different = sum(len({number // OF_SHARD for number in one}) for one in batches) / max(len(batches), 1)
    expected = shards * (1 - (1 - 1 / shards) ** batch)
    return {
        "samples": len(seen),
        "different": len(set(seen)),
        "moved": distance / max(len(seen), 1) / n,
        "mixed": different / expected,
    }
