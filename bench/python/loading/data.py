"""Write the benchmark data in the preferred format of each loader.

    python data.py KIND FORM DIRECTORY

Kinds are those of `KINDS`. Existing data stays.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

KINDS = {"1 KB": (20_000, 1 << 10), "100 KB": (2_560, 100 << 10)}
"""For rows: their number, and the bytes of each."""
PHOTOS = {"photos": 5_000, "few photos": 1_000}
DRAWN = ("chessboard", "color", "logo")
PHOTO_FLOW = """version: 1
nodes:
  photos: {source: images, with: {path: ., include: ["*.jpg"]}}
  cached: {map: image-resize, from: photos, with: {width: 224, height: 224}, cache: {policy: opt, bytes: 2GiB}}
  cached: {map: image-resize, from: photos, with: {width: 224, height: 224, format: bmp}, keep: true}
  reduced: {map: image-resize, from: photos, with: {width: 224, height: 224, reduce: 2}}
"""
SHARDS = 4
"""The approximate number of files in formats with several, as each worker needs some."""


def rows(kind: str) -> Iterator[bytes]:
    """Yield rows of bytes that contain their row number and are random otherwise."""
    import numpy as np

    n, size = KINDS[kind]
    rng = np.random.default_rng(0)
    for i in range(n):
        yield i.to_bytes(8, "little") + rng.bytes(size - 8)


def shard(kind: str) -> int:
    """Return the size in bytes of a file in formats with several."""
    n, size = KINDS[kind]
    return n * size // SHARDS


def numpy(kind: str, directory: Path) -> None:
    """Write one array, for loaders that read rows directly from a file."""
    import numpy as np

    n, size = KINDS[kind]
    array = np.lib.format.open_memmap(directory / "x.npy", "w+", np.uint8, (n, size))
    for i, row in enumerate(rows(kind)):
        array[i] = np.frombuffer(row, np.uint8)
    (directory / "flow.yaml").write_text("version: 1\nnodes:\n  rows: {source: numpy, with: {path: x.npy}}\n")


def tar(kind: str, directory: Path) -> None:
    """Write shards of webdataset."""
    import webdataset

    with webdataset.ShardWriter(f"{directory}/%06d.tar", maxsize=shard(kind), verbose=0) as writer:
        for i, row in enumerate(rows(kind)):
            writer.write({"__key__": f"{i:08d}", "bin": row})


def mds(kind: str, directory: Path) -> None:
    """Write shards of Mosaic Streaming."""
    from streaming import MDSWriter

    with MDSWriter(out=f"{directory}/mds", columns={"x": "bytes"}, size_limit=shard(kind)) as writer:
        for row in rows(kind):
            writer.write({"x": row})


def chunks(kind: str, directory: Path) -> None:
    """Write chunks of litdata."""
    from litdata.streaming.writer import BinaryWriter

    writer = BinaryWriter(f"{directory}/chunks", chunk_bytes=shard(kind))
    for i, row in enumerate(rows(kind)):
        writer.add_item(i, row)
    writer.done()
    writer.merge()


def jpeg(kind: str, directory: Path) -> None:
    """Write photographs of about 500 x 375, each cut from another part of a real one."""
    import numpy as np
    from PIL import Image, ImageEnhance

    rng = np.random.default_rng(0)
    whole = photographs()
    for i in range(PHOTOS[kind]):
        image = whole[i % len(whole)]
        width, height = 500 + int(rng.integers(-60, 60)), 375 + int(rng.integers(-40, 40))
        zoom = min(image.width / width, image.height / height) * rng.uniform(0.6, 1)
        w, h = int(width * zoom), int(height * zoom)
        x, y = rng.integers(0, image.width - w + 1), rng.integers(0, image.height - h + 1)
        cut = image.resize((width, height), Image.BICUBIC, (x, y, x + w, y + h))
        if rng.random() < 0.5:
            cut = cut.transpose(Image.FLIP_LEFT_RIGHT)
        cut = ImageEnhance.Brightness(cut).enhance(rng.uniform(0.7, 1.3))
        cut.save(directory / f"{i:05d}.jpg", quality=int(rng.integers(80, 95)))
    (directory / "flow.yaml").write_text(PHOTO_FLOW)


def photographs() -> list:
    """Return the photographs that come with Python packages."""
    import skimage
    import sklearn.datasets
    from PIL import Image

    found = [Image.fromarray(a) for a in sklearn.datasets.load_sample_images().images]
    for name in sorted(os.listdir(os.path.join(os.path.dirname(skimage.__file__), "data"))):
        if name.rpartition(".")[2] in ("jpg", "png"):
            image = Image.open(os.path.join(os.path.dirname(skimage.__file__), "data", name))
            if image.mode == "RGB" and min(image.size) >= 300 and not name.startswith(DRAWN):
                found.append(image.copy())
    return found


FORMS: dict[str, Callable[[str, Path], None]] = {"numpy": numpy, "tar": tar, "mds": mds, "chunks": chunks, "jpeg": jpeg}


def made(kind: str, form: str, directory: Path) -> Path:
    """Return the directory with data of a kind in a format, written if it does not exist."""
    at = directory / f"{kind.replace(' ', '')}-{form}"
    if not at.exists():
        part = at.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        FORMS[form](kind, part)
        part.rename(at)
    return at


def make(python: str, kind: str, form: str, directory: Path) -> None:
    """Write data with a suitable interpreter, for several contestants that need it at the same time."""
    subprocess.run([python, __file__, kind, form, str(directory)], check=True)


if __name__ == "__main__":
    made(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
