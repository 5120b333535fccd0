"""Compare each mapper of images with torchvision and Pillow: CPU time and pixels.

The images are tiles of 500 x 375 in memory. Printed are milliseconds of CPU per image, the least
of some epochs: for Larder those of server and client, less those of an epoch without the mapper;
so they hold the effect of another size on the batch. Then follow the differences of pixels.

    python mappers.py DIRECTORY [TILES] [EPOCHS]
"""

from __future__ import annotations

import os
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import larder
import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageOps
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional

from training import cpu, tiles

Step = Callable[[Any], Any]
FIXED = {"brightness": 0.7, "contrast": 0.7, "saturation": 0.7, "hue": 0.1}


def factor(name: str) -> tuple[str, Step, Step | None]:
    """Return color-jitter with a fixed factor, for each side."""
    value = FIXED[name]
    enhance = {
        "brightness": ImageEnhance.Brightness,
        "contrast": ImageEnhance.Contrast,
        "saturation": ImageEnhance.Color,
    }
    pillow = (lambda image: enhance[name](image).enhance(value)) if name in enhance else None
    vision = getattr(functional, f"adjust_{name}")
    return f"color-jitter, with: {{{name}: [{value}, {value}]}}", lambda tensor: vision(tensor, value), pillow


# Mapper with parameters, torchvision, Pillow. Those that draw are compared in time alone.
SAME: dict[str, tuple[str, Step, Step | None]] = {
    "resize": (
        "image-resize, with: {shorter: 256}",
        v2.Resize(256, antialias=True),
        lambda image: image.resize((341, 256), Image.Resampling.BILINEAR),
    ),
    "center crop": (
        "center-crop, with: {width: 224, height: 224}",
        v2.CenterCrop(224),
        lambda image: image.crop((138, 76, 362, 300)),
    ),
    "resized crop": (
        "random-resized-crop, with: {width: 224, height: 224, scale: [1, 1], ratio: [1.3333334, 1.3333334]}",
        v2.Resize((224, 224), antialias=True),
        lambda image: image.resize((224, 224), Image.Resampling.BILINEAR),
    ),
    "flip": ("image-flip, with: {horizontal: 1}", v2.RandomHorizontalFlip(1), ImageOps.mirror),
    **{name: factor(name) for name in FIXED},
}
DRAWN: dict[str, tuple[str, Step, Step | None]] = {
    "jitter of all": (
        "color-jitter, with: {brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1}",
        v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        None,
    ),
    "random resized crop": (
        "random-resized-crop, with: {width: 224, height: 224}",
        v2.RandomResizedCrop(224, antialias=True),
        None,
    ),
    "random erasing": ("random-erasing, with: {probability: 1}", v2.RandomErasing(1), None),
}


def loader(directory: pathlib.Path, mapper: str | None) -> larder.Loader:
    """Return a loader of the mapped tiles, which stay in memory before the mapper."""
    text = """version: 1
nodes:
  tiles: {source: images, with: {path: tiles, class: true}}
  held: {map: image-crop, from: tiles, cache: {policy: lru, bytes: 1GiB}, with: {width: 500, height: 375}}
"""
    if mapper is not None:
        text += f"  mapped: {{map: {mapper}, from: held, cache: {{policy: lru, bytes: 1}}}}\n"
    path = directory / f"{abs(hash(mapper))}.yaml"
    path.write_text(text)
    node = "held" if mapper is None else "mapped"
    return larder.Loader(path, node, batch_size=32, fields=["image"], cache_dir=directory / "cache")


def larder_side(directory: pathlib.Path, mapper: str | None, epochs: int) -> tuple[float, np.ndarray]:
    """Return the CPU seconds of an epoch, and all images of the last one."""
    with loader(directory, mapper) as batches:
        spent = []
        for _ in range(epochs + 1):  # the first one reads the files
            before = cpu()
            images = [np.array(batch["image"]) for batch in batches]
            spent.append(cpu() - before)
    return min(spent[1:]), np.concatenate(images)


def one_by_one(images: list[Any], step: Step, epochs: int) -> tuple[float, list[Any]]:
    """Return the CPU seconds of mapping the images, and the results."""
    spent = []
    for _ in range(epochs):
        before = time.process_time()
        mapped = [step(image) for image in images]
        spent.append(time.process_time() - before)
    return min(spent), mapped


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Describe how the pixels differ."""
    if ours.shape != theirs.shape:
        return f"{ours.shape[1:]} and {theirs.shape[1:]}"
    apart = np.abs(ours.astype(int) - theirs.astype(int))
    return f"at most {apart.max()}, {100 * (apart > 1).mean():.2f} % by more than 1"


def main() -> None:
    """Run each mapper on each side."""
    directory = pathlib.Path(sys.argv[1]).absolute()
    count, epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 256, int(sys.argv[3]) if len(sys.argv) > 3 else 3
    os.environ["BENCH_OF"] = str(os.getpid())
    torch.set_num_threads(1)
    if not (directory / "tiles").exists():
        tiles(directory / "tiles", count)
    paths = sorted((directory / "tiles").glob("*/*.jpg"))
    idle, decoded = larder_side(directory, None, epochs)  # decoded by Larder, so that decoders do not matter
    tensors = [torch.from_numpy(image).permute(2, 0, 1).contiguous() for image in decoded]
    pictures = [Image.fromarray(image) for image in decoded]
    print(f"{len(paths)} images; ms of CPU per image\n{'':20}{'torchvision':>12}{'Pillow':>12}{'Larder':>12}")
    for name, (mapper, vision, pillow) in {**SAME, **DRAWN}.items():
        spent, mapped = larder_side(directory, mapper, epochs)
        each, tensor = one_by_one(tensors, vision, epochs)
        row = [each]
        notes = []
        if name in SAME:
            notes.append("torchvision: " + difference(mapped, torch.stack(tensor).permute(0, 2, 3, 1).numpy()))
        if pillow is None:
            row.append(float("nan"))
        else:
            each, images = one_by_one(pictures, pillow, epochs)
            row.append(each)
            notes.append("Pillow: " + difference(mapped, np.stack([np.asarray(image) for image in images])))
        figures = "".join(f"{1000 * seconds / len(paths):12.2f}" for seconds in [*row, spent - idle])
        print(f"{name:20}{figures}  {'; '.join(notes)}", flush=True)


if __name__ == "__main__":
    main()
