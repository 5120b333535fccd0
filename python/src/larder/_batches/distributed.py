"""Determine the share of the batches of this process."""

from __future__ import annotations

import os
import sys
from typing import Any

from .. import _numbers
from ..errors import RequestError


def here(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Return the rank, and the number of ranks.

    They are the given ones, else those of torch.distributed if it is initialised, else RANK
    and WORLD_SIZE of the environment, else 0 of 1.
    """
    if (rank is None) != (world_size is None):
        raise TypeError("give both rank and world_size, or neither")
    if rank is not None and world_size is not None:
        return _one_of("rank", rank, "world_size", world_size)
    found = _of_torch()
    if found is not None:
        return found
    in_environment = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    if in_environment[0] is not None and in_environment[1] is not None:
        return _one_of("RANK", _number("RANK"), "WORLD_SIZE", _number("WORLD_SIZE"))
    return 0, 1


def _number(name: str) -> int:
    try:
        return int(os.environ[name])
    except ValueError:
        raise RequestError(f"{name}={os.environ[name]!r:.80} of the environment is not an integer") from None


def _one_of(name: str, rank: Any, names: str, ranks: Any) -> tuple[int, int]:
    ranks = _numbers.whole(names, ranks, 1)
    return _numbers.whole(name, rank, 0, ranks - 1), ranks


def _of_torch() -> tuple[int, int] | None:
    if "torch" not in sys.modules:
        return None
    import torch.distributed

    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return int(torch.distributed.get_rank()), int(torch.distributed.get_world_size())


def worker() -> tuple[int, int] | None:
    """Return the index of this DataLoader worker and the number of workers; None in other processes."""
    if "torch" not in sys.modules:
        return None
    import torch.utils.data

    info = torch.utils.data.get_worker_info()
    return None if info is None else (int(info.id), int(info.num_workers))
