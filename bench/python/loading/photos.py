"""Loaders of photographs: JPEG files of several sizes, decoded and resized to 224 x 224.

As in rows.py, but batches are bytes of 32 images. Only Larder caches its results, as the other
loaders have no cache for them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rows import Larder, Reader, Spdl, options

SIDE = 224


def larder(data: Path, workers: int, node: str, planar: bool = False) -> Reader:
    import larder

    fields = {"image": larder.Field(item="image", channels=3, planar=planar)}
    return Larder(data / "flow.yaml", node, tensors="torch", fields=fields)


class Files:
    """Decoded images, by index."""

    def __init__(self, data: Path, decode: Callable[[str], Any]) -> None:
        self.paths, self.decode = sorted(map(str, data.glob("*.jpg"))), decode

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> Any:
        return self.decode(self.paths[i])


def by_torchvision(path: str) -> Any:
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms.v2 import functional

    return functional.resize(decode_jpeg(read_file(path), ImageReadMode.RGB), [SIDE, SIDE], antialias=True)


def by_pil(path: str, draft: bool = False) -> Any:
    import numpy as np
    import torch
    from PIL import Image

    with Image.open(path) as image:
        if draft:  # to decode it at reduced size
            image.draft("RGB", (2 * SIDE, 2 * SIDE))
        small = image.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
    return torch.from_numpy(np.array(small))


def dataloader(data: Path, workers: int, decode: Callable[[str], Any]) -> Reader:
    from torch.utils.data import DataLoader

    start = {"worker_init_fn": one_thread}
    return Reader(lambda: DataLoader(Files(data, decode), **options(workers, **start)))


def one_thread(_: int) -> None:
    import torch

    torch.set_num_threads(1)


def spdl(data: Path, workers: int) -> Reader:
    return SpdlImages(Files(data, by_pil), workers)


class SpdlImages(Spdl):
    """SPDL with its own decoder, which decodes a batch of images at a time."""

    def read(self, numbers: list[int]) -> Any:
        import spdl.io
        import torch

        paths = [self.packed.paths[i] for i in numbers]
        buffer = spdl.io.load_image_batch(paths, width=SIDE, height=SIDE, pix_fmt="rgb24")
        return spdl.io.to_torch(buffer) if hasattr(spdl.io, "to_torch") else torch.from_numpy(spdl.io.to_numpy(buffer))


def remembered(data: Path, workers: int) -> Reader:
    """Read photographs that stay decoded in the memory of this process."""
    from torch.utils.data import DataLoader

    return Reader(lambda: DataLoader(Files(data, functools.cache(by_pil)), **options(0)))


LOADERS: dict[str, tuple[str, Callable[..., Reader], int]] = {
    "Larder": ("jpeg", functools.partial(larder, node="cached"), 0),
    "Larder, cached on disk": ("jpeg", functools.partial(larder, node="cached"), 0),
    "Larder, decoded at reduced size": ("jpeg", functools.partial(larder, node="reduced"), 0),
    "DataLoader, torchvision, 2 workers": ("jpeg", functools.partial(dataloader, decode=by_torchvision), 2),
    "DataLoader, PIL, 2 workers": ("jpeg", functools.partial(dataloader, decode=by_pil), 2),
    "DataLoader, PIL at reduced size, 2 workers": (
        "jpeg",
        functools.partial(dataloader, decode=functools.partial(by_pil, draft=True)),
        2,
    ),
    "SPDL, 2 threads": ("jpeg", spdl, 2),
}

SHARING = {
    "Larder": ("jpeg", functools.partial(larder, node="cached"), 0),
    "DataLoader without workers, images in a dict": ("jpeg", remembered, 0),
}
"""Loaders that run in several processes, each with all images in memory in its second epoch."""
