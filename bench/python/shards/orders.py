"""How far an order is from one of all samples at random."""

from __future__ import annotations

from typing import Any

OF_SHARD = 1000


def figures(seen: list[int], n: int, batch: int) -> dict[str, Any]:
    """Return what is to be said of the numbers of samples in the order in which they came.

    `moved` is how far a sample is from its place in the bucket, as a part of all samples: a third where
    all are shuffled. It says nothing of what is near to what, since shards may come in any order. So
    `mixed` is how many shards the samples of a batch are of, of as many as there were if all were
    shuffled.
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
