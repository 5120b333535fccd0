"""The contestants: each reads batches of 64 samples of the bucket, through a local directory.

A contestant is a function from a `Job` to an `Epochs`.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data import BUCKET

BATCH = 64
WORKERS = 2
"""Workers of a DataLoader, one per processor."""
BUFFER = 1000
"""The size of webdataset's shuffle buffer in samples, in each worker."""
WINDOW = 5
"""The number of shards in one of Larder's shuffle windows, if not all are shuffled."""


@dataclass
class Job:
    """What to read."""

    shards: int
    directory: Path  # of the local cache, empty
    space: int  # its maximum size in bytes


class Epochs:
    """A loader in use: an iteration over the result of `make` is an epoch. `get` returns samples of a batch."""

    def __init__(self, loader: Any, get: Callable[[Any], list[Any]] = list) -> None:
        self.loader, self.get = loader, get

    def epoch(self, number: int) -> Iterator[list[Any]]:
        yield from map(self.get, self.loader)

    def hits(self) -> list[dict[str, Any]]:
        """Return the hit rate of the cache in memory, and its prediction."""
        return []

    def close(self) -> None:
        """End everything that does not end on its own."""


def archives(shards: int) -> str:
    return f"s3://{BUCKET}/tar/{{000..{shards - 1:03d}}}.tar"


class Larder(Epochs):
    """A separate server, and a loader."""

    def __init__(self, job: Job, flow: str, *, shuffle: bool = True) -> None:
        import larder

        self.place = job.directory.parent / "run"
        self.place.mkdir(mode=0o700, exist_ok=True)
        path = self.place / "flow.yaml"
        path.write_text(flow)
        os.environ["XDG_RUNTIME_DIR"] = str(self.place)
        os.environ["LARDER_CACHE"] = str(job.directory)
        os.environ["LARDER_CACHE_SIZE"] = str(job.space)
        self.program = os.environ["LARDER_BIN"]
        flags = os.environ.get("LARDER_FLAGS", "").split()
        self.server = subprocess.Popen([self.program, "serve", *flags])
        while subprocess.run([self.program, "serve", "--status"], capture_output=True, check=False).returncode != 0:
            time.sleep(0.01)
        options: dict[str, Any] = {"batch_size": BATCH, "shuffle": shuffle, "seed": 7, "tensors": None}
        super().__init__(larder.Loader(path, "train", fields=["bin"], **options), lambda batch: batch["bin"])

    def status(self) -> Any:
        said = subprocess.run([self.program, "serve", "--status", "--json"], capture_output=True, check=True, text=True)
        return json.loads(said.stdout)

    def hits(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []

        def look(at: Any) -> None:
            if isinstance(at, dict) and {"reads", "hits", "predicted"} <= at.keys():
                found.append(at)
            elif isinstance(at, dict | list):
                for one in at.values() if isinstance(at, dict) else at:
                    look(one)

        look(self.status())
        return found

    def close(self) -> None:
        self.loader.close()
        subprocess.run([self.program, "serve", "--stop"], capture_output=True, check=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.server.wait(30)


def larder_flow(shards: int, cache: str = "") -> str:
    return f'version: 1\nnodes:\n  train: {{source: webdataset, with: {{path: "{archives(shards)}"}}{cache}}}\n'


def larder_all(job: Job) -> Epochs:
    """Shuffle all samples, and cache blocks of the archives on disk."""
    return Larder(job, larder_flow(job.shards))


def larder_memory(job: Job) -> Epochs:
    """Do the same, and cache as many bytes of samples in memory: those that are read again soonest."""
    return Larder(job, larder_flow(job.shards, f", cache: {{policy: opt, bytes: {job.space}}}"))


def larder_windows(job: Job) -> Epochs:
    """Shuffle samples within windows of a few shards, one window after another."""
    nodes, names = [], []
    for first in range(0, job.shards, WINDOW):
        last = min(first + WINDOW, job.shards) - 1
        path = f"s3://{BUCKET}/tar/{{{first:03d}..{last:03d}}}.tar"
        nodes.append(f'  of{first}: {{source: webdataset, with: {{path: "{path}"}}}}')
        nodes.append(f"  mixed{first}: {{op: shuffle, from: of{first}, with: {{seed: {first}}}}}")
        names.append(f"mixed{first}")
    import random

    random.Random(7).shuffle(names)
    flow = "\n".join(["version: 1", "nodes:", *nodes, f"  train: {{op: cat, from: [{', '.join(names)}]}}", ""])
    return Larder(job, flow, shuffle=False)


def dataloader(dataset: Any, **options: Any) -> Any:
    from torch.utils.data import DataLoader

    return DataLoader(dataset, num_workers=WORKERS, persistent_workers=True, **options)


def content(samples: list[dict[str, bytes]]) -> list[bytes]:
    return [sample["bin"] for sample in samples]


def copied(samples: list[Any]) -> list[bytes]:
    return [bytes(sample) for sample in samples]


def signed(shards: int) -> list[str]:
    """Return commands that fetch archives, by signed URLs."""
    import boto3
    from botocore.config import Config

    s3 = boto3.client("s3", config=Config(signature_version="s3v4"))
    keys = [f"tar/{i:03d}.tar" for i in range(shards)]
    urls = [s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": key}, ExpiresIn=86400) for key in keys]
    return [f"pipe:curl -s -f '{url}'" for url in urls]


def name(url: str) -> str:
    """Return webdataset's name of a cached archive."""
    return url.partition("/tar/")[2].partition("?")[0]


def webdataset(job: Job, cached: bool = False) -> Epochs:
    """Read archives one after another, without a cache, or with one that holds all."""
    import webdataset as wds

    cache: dict[str, Any] = {"cache_dir": str(job.directory), "url_to_name": name} if cached else {}
    samples = wds.WebDataset(signed(job.shards), shardshuffle=job.shards, seed=7, **cache).shuffle(BUFFER)
    batches = samples.to_tuple("bin").batched(BATCH, collation_fn=firsts, partial=True)
    return Epochs(wds.WebLoader(batches, batch_size=None, num_workers=WORKERS, persistent_workers=True))


def webdataset_kept(job: Job) -> Epochs:
    return webdataset(job, cached=True)


def firsts(rows: list[tuple[bytes]]) -> list[bytes]:
    return [row[0] for row in rows]


def mosaic(job: Job, **options: Any) -> Epochs:
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    clean_stale_shared_memory()  # of an aborted run
    os.environ["S3_ENDPOINT_URL"] = os.environ["AWS_ENDPOINT_URL"]
    limits: dict[str, Any] = {"cache_limit": job.space, **options}
    dataset = StreamingDataset(
        remote=f"s3://{BUCKET}/mds", local=str(job.directory), shuffle=True, shuffle_algo="py1e", shuffle_seed=7, batch_size=BATCH, **limits
    )
    return Epochs(dataloader(dataset, batch_size=BATCH, collate_fn=content))


def mosaic_blocks(job: Job) -> Epochs:
    """Shuffle among the samples of fewer shards, for a cache as small as this."""
    return mosaic(job, shuffle_block_size=4000, num_canonical_nodes=1)


def litdata(job: Job) -> Epochs:
    import litdata
    from litdata.streaming import downloader

    downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = "true"  # the server of this contest has no TLS
    dataset = litdata.StreamingDataset(
        f"s3://{BUCKET}/lit",
        cache_dir=str(job.directory),
        shuffle=True,
        seed=7,
        max_cache_size=job.space,
        storage_options={"endpoint_url": os.environ["AWS_ENDPOINT_URL"]},
    )
    return Epochs(litdata.StreamingDataLoader(dataset, batch_size=BATCH, num_workers=WORKERS, collate_fn=copied, persistent_workers=True))


TENTH, TWICE, ALL = "a tenth", "a tenth, twice", "all"
"""The part of the data that the cache holds, for one epoch or two. The last epoch is reported."""

SIDES: dict[str, tuple[str, list[str], Callable[[Job], Epochs]]] = {
    "Larder": ("tar", [TENTH, ALL], larder_all),
    "Larder, samples in memory": ("tar", [TWICE], larder_memory),
    "Larder, windows of 5 shards": ("tar", [TENTH, ALL], larder_windows),
    "webdataset, buffers of 1000": ("tar", [TENTH], webdataset),
    "webdataset, archives cached": ("tar", [ALL], webdataset_kept),
    "Mosaic Streaming, py1e": ("mds", [TENTH, ALL], mosaic),
    "Mosaic Streaming, py1e, blocks of 4000": ("mds", [TENTH], mosaic_blocks),
    "litdata": ("lit", [TENTH, ALL], litdata),
}
"""By name: the data format, the measured cases, and the reader."""
