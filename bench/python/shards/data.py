"""Write the samples into a bucket, in the format of each contestant.

    python data.py FORM DIRECTORY SHARDS

A sample is its number in eight bytes and noise, 8 to 16 KiB in all; a shard has 1000. Existing
data stays. DIRECTORY is for files before their upload.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import numpy as np

BUCKET = "bench"
OF_SHARD = 1000
LEAST, MOST = 8 << 10, 16 << 10


def sample(i: int) -> bytes:
    """Return a sample, which is a function of its number."""
    random = np.random.Generator(np.random.PCG64(i))
    return i.to_bytes(8, "little") + random.bytes(int(random.integers(LEAST, MOST)) - 8)


def samples(shards: int) -> Iterator[bytes]:
    yield from map(sample, range(shards * OF_SHARD))


def tar(to: Path, shards: int) -> None:
    """Write archives with one member per sample."""
    for shard in range(shards):
        with tarfile.open(to / f"{shard:03d}.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
            for i in range(shard * OF_SHARD, (shard + 1) * OF_SHARD):
                content = sample(i)
                member = tarfile.TarInfo(f"{i:06d}.bin")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def mds(to: Path, shards: int) -> None:
    """Write shards with Mosaic Streaming: their size is in bytes, so about 1000 samples are in each."""
    from streaming import MDSWriter

    limit = (LEAST + MOST) // 2 * OF_SHARD
    with MDSWriter(out=str(to), columns={"bin": "bytes"}, size_limit=limit) as writer:
        for content in samples(shards):
            writer.write({"bin": content})


def lit(to: Path, shards: int) -> None:
    """Write chunks with litdata."""
    import litdata

    litdata.optimize(sample, list(range(shards * OF_SHARD)), str(to), chunk_size=OF_SHARD, num_workers=1, reorder_files=False, verbose=False)


FORMS: dict[str, Callable[[Path, int], None]] = {"tar": tar, "mds": mds, "lit": lit}


def there(s3: Any, form: str, shards: int) -> bool:
    """Report whether a format is complete in the bucket."""
    try:
        return json.loads(s3.get_object(Bucket=BUCKET, Key=f"{form}.json")["Body"].read())["shards"] == shards
    except s3.exceptions.NoSuchKey:
        return False


def put(form: str, directory: Path, shards: int) -> None:
    """Write a format and upload it to the bucket, with a marker at the end."""
    s3 = boto3.client("s3")
    if there(s3, form, shards):
        return
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{form}/"):
        for one in page.get("Contents", []):
            s3.delete_object(Bucket=BUCKET, Key=one["Key"])
    to = directory / form
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    try:
        FORMS[form](to, shards)
        for path in sorted(to.rglob("*")):
            if path.is_file():
                s3.upload_file(str(path), BUCKET, f"{form}/{path.relative_to(to)}")
                path.unlink()
    finally:
        shutil.rmtree(to, ignore_errors=True)
    note = {"shards": shards, "bytes": sum(map(len, samples(shards)))}
    s3.put_object(Bucket=BUCKET, Key=f"{form}.json", Body=json.dumps(note).encode())


if __name__ == "__main__":
    put(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
