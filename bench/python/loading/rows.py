"""Loaders of rows of bytes, each with its preferred data format.

Each is a function from its data directory and a number of workers to a `Reader`: batches of 32
rows, shuffled again in each epoch, as one array or tensor of bytes.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BATCH = 32


class Reader:
    """A loader in use. `make` creates the loader; an iteration is an epoch."""

    def __init__(self, make: Callable[[], Any], get: Callable[[Any], Any] = lambda batch: batch) -> None:
        self.make, self.get = make, get
        self.loader = make()

    def epoch(self) -> Iterator[Any]:
        """Yield the batches of an epoch."""
        yield from map(self.get, self.loader)

    def state(self) -> Any:
        """Return the position of the next batch, or None if the loader does not support it."""
        return self.loader.state_dict() if hasattr(self.loader, "state_dict") else None

    def load(self, state: Any) -> None:
        """Resume from a state."""
        self.loader.load_state_dict(state)

    def server(self) -> int | None:
        """Return the process that does the work, if it is not a child of this one."""
        return None


class Larder(Reader):
    """The loader of Larder."""

    def get_batch(self, batch: Any) -> Any:
        return next(iter(batch.values()))

    def __init__(self, flow: Path, node: str, **options: Any) -> None:
        import larder

        options = {"batch_size": BATCH, "shuffle": True, "drop_last": True, **options}
        super().__init__(lambda: larder.Loader(flow, node, **options), self.get_batch)

    def server(self) -> int | None:
        import socket
        import struct

        connected = self.loader._session.connection.stream.socket
        return struct.unpack("iII", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def larder(data: Path, workers: int, tensors: str = "torch") -> Reader:
    return Larder(data / "flow.yaml", "rows", tensors=tensors)


class Packed:
    """Rows of one file, by index, each read when it is requested."""

    def __init__(self, data: Path) -> None:
        import numpy as np

        array = np.load(data / "x.npy", mmap_mode="r")
        self.path, self.offset, (self.n, self.size) = array.filename, array.offset, array.shape
        self.file: int | None = None

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> bytes:
        if self.file is None:  # each worker opens the file itself
            self.file = os.open(self.path, os.O_RDONLY)
        return os.pread(self.file, self.size, self.offset + i * self.size)


class Mapped(Packed):
    """The same, a whole batch at a time by NumPy, from a mapped file."""

    def __getitems__(self, numbers: list[int]) -> Any:
        import numpy as np
        import torch

        if self.file is None:
            self.file = np.load(self.path, mmap_mode="r")
        return torch.from_numpy(self.file[numbers])


def joined(rows: list[bytes]) -> Any:
    """Join rows of bytes into one tensor."""
    import torch

    return torch.frombuffer(bytearray(b"".join(rows)), dtype=torch.uint8).view(len(rows), -1)


def same(batch: Any) -> Any:
    return batch


def options(workers: int, **more: Any) -> dict[str, Any]:
    more = {"batch_size": BATCH, "num_workers": workers, "persistent_workers": workers > 0, **more}
    return {"drop_last": True, "shuffle": True, **more}


def dataloader(data: Path, workers: int) -> Reader:
    from torch.utils.data import DataLoader

    return Reader(lambda: DataLoader(Packed(data), collate_fn=joined, **options(workers)))


def dataloader_mapped(data: Path, workers: int) -> Reader:
    from torch.utils.data import DataLoader

    return Reader(lambda: DataLoader(Mapped(data), collate_fn=same, **options(workers)))


def stateful(data: Path, workers: int) -> Reader:
    from torchdata.stateful_dataloader import StatefulDataLoader

    return Reader(lambda: StatefulDataLoader(Packed(data), collate_fn=joined, **options(workers)))


def nodes(data: Path, workers: int) -> Reader:
    import torchdata.nodes as tn
    from torchdata.stateful_dataloader.sampler import RandomSampler

    packed = Packed(data)

    def make() -> Any:
        numbers = tn.Batcher(tn.SamplerWrapper(RandomSampler(range(len(packed)))), BATCH, drop_last=True)
        batches = tn.ParallelMapper(numbers, functools.partial(read, packed), num_workers=workers, method="thread")
        return tn.Loader(batches)

    return Reader(make)


def read(packed: Packed, numbers: list[int]) -> Any:
    return joined([packed[i] for i in numbers])


class Spdl(Reader):
    """SPDL: a pipeline of threads for each epoch."""

    def __init__(self, packed: Packed, workers: int) -> None:
        self.packed, self.workers = packed, workers

    def numbers(self) -> Iterator[list[int]]:
        import torch

        order = torch.randperm(len(self.packed)).tolist()
        yield from (order[i : i + BATCH] for i in range(0, len(order) - BATCH + 1, BATCH))

    def epoch(self) -> Iterator[Any]:
        from spdl.pipeline import PipelineBuilder

        builder = PipelineBuilder().add_source(self.numbers())
        builder = builder.pipe(self.read, concurrency=self.workers).add_sink(4)
        pipeline = builder.build(num_threads=self.workers)
        with pipeline.auto_stop():
            yield from pipeline

    def read(self, numbers: list[int]) -> Any:
        return read(self.packed, numbers)

    def state(self) -> None:
        return None


def spdl(data: Path, workers: int) -> Reader:
    return Spdl(Packed(data), workers)


def webdataset(data: Path, workers: int) -> Reader:
    import webdataset as wds

    def make() -> Any:
        urls = sorted(map(str, data.glob("*.tar")))
        samples = wds.WebDataset(urls, shardshuffle=len(urls)).shuffle(1000)
        batches = samples.to_tuple("bin").batched(BATCH, collation_fn=first, partial=False)
        return wds.WebLoader(batches, batch_size=None, num_workers=workers, persistent_workers=workers > 0)

    return Reader(make)


def first(rows: list[tuple[bytes]]) -> Any:
    return joined([row[0] for row in rows])


def litdata(data: Path, workers: int) -> Reader:
    from litdata import StreamingDataLoader, StreamingDataset

    def make() -> Any:
        rows = StreamingDataset(str(data / "chunks"), shuffle=True, drop_last=True)
        return StreamingDataLoader(rows, batch_size=BATCH, num_workers=workers, drop_last=True, collate_fn=joined)

    return Reader(make)


def mosaic(data: Path, workers: int) -> Reader:
    from streaming import StreamingDataLoader, StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    clean_stale_shared_memory()

    def make() -> Any:
        rows = StreamingDataset(local=str(data / "mds"), shuffle=True, batch_size=BATCH)
        more = {"persistent_workers": workers > 0, "drop_last": True, "collate_fn": of_dicts}
        return StreamingDataLoader(rows, batch_size=BATCH, num_workers=workers, **more)

    return Reader(make)


def of_dicts(rows: list[dict[str, bytes]]) -> Any:
    return joined([row["x"] for row in rows])


LOADERS: dict[str, tuple[str, Callable[..., Reader], int]] = {
    "Larder": ("numpy", larder, 0),
    "Larder, which starts its server": ("numpy", larder, 0),
    "Larder, arrays of NumPy": ("numpy", functools.partial(larder, tensors="numpy"), 0),
    "DataLoader, no workers": ("numpy", dataloader, 0),
    "DataLoader, 2 workers": ("numpy", dataloader, 2),
    "DataLoader, whole batches, no workers": ("numpy", dataloader_mapped, 0),
    "DataLoader, whole batches, 2 workers": ("numpy", dataloader_mapped, 2),
    "StatefulDataLoader, no workers": ("numpy", stateful, 0),
    "StatefulDataLoader, 2 workers": ("numpy", stateful, 2),
    "torchdata.nodes, 2 threads": ("numpy", nodes, 2),
    "SPDL, 2 threads": ("numpy", spdl, 2),
    "webdataset, no workers": ("tar", webdataset, 0),
    "webdataset, 2 workers": ("tar", webdataset, 2),
    "litdata, no workers": ("chunks", litdata, 0),
    "litdata, 2 workers": ("chunks", litdata, 2),
    "Mosaic Streaming, no workers": ("mds", mosaic, 0),
    "Mosaic Streaming, 2 workers": ("mds", mosaic, 2),
}
"""By name: the data format, the function that creates the reader, and its number of workers."""
