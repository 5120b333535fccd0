"""The attributes of a DataLoader that frameworks read of a loader."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .dataset import Dataset
from .session import Session


class Attributes:
    """What a DataLoader has, with values that hold for a loader.

    Larder's server does the work of samplers, workers and collation. Frameworks read these to
    report sizes, to set the epoch, and to skip the batches before a checkpoint.
    """

    _session: Session
    _samples: Any
    """The `MapDataset` of the loader, if there is one."""

    num_workers = 0
    """There are no worker processes of torch."""
    prefetch_factor: int | None = None

    @property
    def batch_size(self) -> int | None:
        """The number of samples in a batch; None if another option bounds the batches."""
        size: int | None = self._session.request["batch"].get("size")
        return size

    @property
    def drop_last(self) -> bool:
        """Whether samples too few for a batch are left out."""
        return bool(self._session.request["batch"].get("last_batch") == "drop")

    @property
    def pin_memory(self) -> bool:
        """Whether batches lie in page-locked memory."""
        return self._session._pin

    @property
    def collate_fn(self) -> Callable[[Sequence[dict[str, Any]]], Any]:
        """A function that puts samples of `dataset` into a batch."""
        return collated if self._samples is None else self._samples.collated

    @property
    def dataset(self) -> Dataset:
        """All samples of the node, by the indices in `Batch.samples`. A loader of several nodes has none."""
        request = self._session.request
        if len(request["parts"]) > 1:
            raise AttributeError("dataset: the loader reads several nodes; create a larder.Dataset for each")
        return Dataset._of(self._session)

    @property
    def batch_sampler(self) -> BatchSampler:
        """The indices of the samples of each batch of the next epoch."""
        return BatchSampler(self)

    @property
    def sampler(self) -> Any:
        """The numbers of the samples of the next epoch: a sampler of torch if torch is imported."""
        return self.batch_sampler.sampler


class BatchSampler:
    """The numbers of the samples of each batch of a loader, from its position to the end of the epoch."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.batch_size = loader.batch_size
        self.drop_last = loader.drop_last
        self.set_epoch = loader.set_epoch

    @property
    def sampler(self) -> Any:
        """The same numbers one by one."""
        return _sampler_class(self.loader._session.request["order"] == "sequential")(self)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self.loader)

    def __iter__(self) -> Iterator[list[int]]:
        """Iterate over a copy of the loader, whose position does not change."""
        with copy.copy(self.loader) as twin:
            for batch in twin:
                yield batch.samples


class _Sampler:
    """Has no `set_epoch`, which Lightning would call after it has loaded a state and begun to iterate."""

    def __init__(self, batches: BatchSampler) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches.loader.dataset)

    def __iter__(self) -> Iterator[int]:
        for samples in self._batches:
            yield from samples


def _sampler_class(sequential: bool) -> type[_Sampler]:
    """Return the class of samplers, which is one of torch's, as Lightning tells by it whether the order is random."""
    if "torch" not in sys.modules:
        return _Sampler
    from torch.utils.data import RandomSampler, SequentialSampler

    kind: Any = SequentialSampler if sequential else RandomSampler
    return type("Sampler", (_Sampler, kind), {"__doc__": _Sampler.__doc__})


def collated(samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return samples as a batch: arrays and tensors of one shape are stacked, other values are lists."""
    return {name: _stacked([sample[name] for sample in samples]) for name in samples[0]}


def _stacked(values: list[Any]) -> Any:
    if not all(type(value).__module__.partition(".")[0] in ("torch", "numpy") for value in values):
        return values
    if any(value.shape != values[0].shape for value in values):
        return values
    if type(values[0]).__module__ == "torch":
        import torch

        return torch.stack(values)
    import numpy as np

    return np.stack(values)
