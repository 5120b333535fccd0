"""Compare training jobs on images: torch's DataLoader with torchvision, and Larder.

Each side reads the same images for some epochs: shorter side 256, random crop of 224, flip,
colour jitter, float32 batches. The jobs are JPEG tiles of 500 x 375, photographs of
4000 x 3000, the tiles in WebDataset archives, and the tiles as a map-style dataset.

The table has the CPU seconds of all processes in each epoch, the seconds to the first
batch, and the peak of the proportional memory: its own, and pages of mapped files. Imports
come before. The first row of a job is a process that only imports torch and torchvision.

    python training.py DIRECTORY [JOB ...] [--tiles 1024] [--photos 40] [--epochs 3]
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

JOBS = {
    "tiles": (
        "idle",
        "torch",
        "torch without augmentation",
        "larder cache",
        "larder keep",
        "larder cache without augmentation",
    ),
    "photos": ("idle", "torch", "larder cache", "larder keep", "larder reduced"),
    "shards": ("idle", "torch", "larder cache", "larder keep"),
    "dataset": ("idle", "torch", "torch without augmentation", "larder", "larder keep without augmentation"),
}
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


@functools.cache
def samples() -> list[Any]:
    """Return the photographs of scikit-learn."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    return [Image.fromarray(photo) for photo in load_sample_images().images]


def cut(rng: random.Random, i: int, least: int) -> Any:
    """Cut a rectangle of 4:3 out of a photograph."""
    photo = samples()[i % 2]
    width = rng.randint(least, 560)
    height = width * 3 // 4
    x, y = rng.randint(0, photo.width - width), rng.randint(0, photo.height - height)
    return photo.crop((x, y, x + width, y + height))


def write_tiles(directory: pathlib.Path, count: int) -> None:
    """Write tiles in two classes, and archives of the same files."""
    rng = random.Random(0)
    for i in range(count):
        path = directory / "tiles" / f"class{i % 2}" / f"{i:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        cut(rng, i, 250).resize((500, 375)).save(path, quality=90)
    (directory / "shards").mkdir()
    for shard in range(8):
        with tarfile.open(directory / "shards" / f"{shard:06}.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
            for i in range(shard, count, 8):
                photo = (directory / "tiles" / f"class{i % 2}" / f"{i:05}.jpg").read_bytes()
                for name, content in (f"{i:05}.jpg", photo), (f"{i:05}.cls", b"%d" % (i % 2)):
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))


def write_photos(directory: pathlib.Path, count: int) -> None:
    """Write enlarged photographs with the noise of a camera, in two classes."""
    import numpy as np
    from PIL import Image

    rng, noise = random.Random(1), np.random.default_rng(1)
    for i in range(count):
        path = directory / "photos" / f"class{i % 2}" / f"{i:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.asarray(cut(rng, i, 400).resize((4000, 3000), Image.Resampling.BICUBIC))
        pixels = pixels + noise.normal(0, 5, pixels.shape).astype(np.float32)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path, quality=90)


def transform(augmented: bool) -> Any:
    """Return the transforms of torchvision."""
    import torch
    from torchvision.transforms import v2

    jitter = v2.ColorJitter(0.4, 0.4, 0.4, 0.1)
    chosen = [v2.RandomCrop(224), v2.RandomHorizontalFlip(), jitter] if augmented else [v2.CenterCrop(224)]
    normal = v2.Normalize(MEAN, DEVIATION)
    return v2.Compose([v2.Resize(256), *chosen, v2.ToImage(), v2.ToDtype(torch.float32, scale=True), normal])


def images(directory: pathlib.Path, job: str, augmented: bool) -> Any:
    """Return the map-style dataset of a job."""
    from torchvision import datasets

    place = directory / ("photos" if job == "photos" else "tiles")
    return datasets.ImageFolder(str(place), transform(augmented))


def torch_loader(directory: pathlib.Path, job: str, augmented: bool, batch: int) -> Iterable[Any]:
    """Return torch's side of a job."""
    import torch

    torch.set_num_threads(1)
    if job != "shards":
        data, shuffle = images(directory, job, augmented), True
    else:
        import webdataset

        shards = sorted(map(str, (directory / "shards").iterdir()))
        data = webdataset.WebDataset(shards, shardshuffle=len(shards)).shuffle(1000).decode("pil")
        data, shuffle = data.to_tuple("jpg", "cls").map_tuple(transform(augmented), int), None
    return torch.utils.data.DataLoader(data, batch_size=batch, shuffle=shuffle, num_workers=2, persistent_workers=True)


def flow(directory: pathlib.Path, job: str, augmented: bool, stored: bool, reduced: bool) -> pathlib.Path:
    """Write the flow of a side."""
    cached = "keep: true" if stored else "cache: {policy: lru, bytes: 2GiB}"
    source = "webdataset, with: {path: shards}" if job == "shards" else f"images, with: {{path: {job}, class: true}}"
    name = "jpg" if job == "shards" else "image"
    size = f"item: {name}, shorter: 256" + (", reduce: 2" if reduced else "")
    if augmented:
        epoch = f'items: [{name}], epoch: "${{epoch}}"'
        strengths = "brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1"
        steps = f"""
  small: {{map: image-resize, from: photos, with: {{{size}}}, {cached}}}
  cropped: {{map: random-crop, from: small, with: {{width: 224, height: 224, {epoch}}}}}
  flipped: {{map: image-flip, from: cropped, with: {{{epoch}}}}}
  train: {{map: color-jitter, from: flipped, with: {{{strengths}, {epoch}}}}}
"""
    else:
        steps = f"""
  small: {{map: image-resize, from: photos, with: {{{size}}}}}
  train: {{map: center-crop, from: small, with: {{items: [{name}], width: 224, height: 224}}, {cached}}}
"""
    path = directory / "flow.yaml"
    path.write_text(f"version: 1\nvars: {{epoch: 0}}\nnodes:\n  photos: {{source: {source}}}{steps}")
    return path


def larder_loader(directory: pathlib.Path, job: str, augmented: bool, how: list[str], batch: int) -> Iterable[Any]:
    """Return Larder's side of a job."""
    import larder

    options = {"batch_size": batch, "shuffle": True, "tensors": "torch", "cache_dir": directory / "cache"}
    if job == "dataset":
        return larder.Loader(images(directory, job, augmented), keep="keep" in how, **options)
    shards = job == "shards"
    picture = larder.Field(
        "jpg" if shards else "image", dtype="float32", scale=1 / 255, mean=MEAN, deviation=DEVIATION, planar=True
    )
    file = flow(directory, job, augmented, "keep" in how, "reduced" in how)
    return larder.Loader(file, node="train", fields=[picture, "cls" if shards else "class"], **options)


def family(of: str) -> Iterator[int]:
    """Return the processes with a mark in their environment: a side, and those that it started."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and of.encode() in pathlib.Path("/proc", name, "environ").read_bytes():
                yield int(name)
        except OSError:
            continue


def cpu(of: str) -> float:
    """Return the CPU seconds of a family, with its ended children."""
    total = 0
    for pid in family(of):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def memory(of: str) -> tuple[float, float]:
    """Return the proportional memory of a family in MB: its own, and pages of mapped files."""
    own = files = 0
    for pid in family(of):
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        parts = {line.split()[0]: int(line.split()[1]) for line in lines[1:]}
        own += parts["Pss_Anon:"] + parts["Pss_Shmem:"]
        files += parts["Pss_File:"]
    return own / 1024, files / 1024


def run(directory: pathlib.Path, job: str, side: str, epochs: int) -> None:
    """Run a side in this process, and print its figures."""
    import torch  # noqa: F401
    import torchvision  # noqa: F401

    if side == "idle":
        time.sleep(1)
        print(json.dumps({"cpu": [], "first": 0}))
        return
    if side.startswith("larder"):
        import larder  # noqa: F401
    if job == "shards" and side.startswith("torch"):
        import webdataset  # noqa: F401

    augmented, how, size = "without" not in side, side.split(), 8 if job == "photos" else 32
    spent, first, began = [], 0.0, time.perf_counter()
    before = cpu(os.environ["BENCH_OF"])
    if side.startswith("torch"):
        loader = torch_loader(directory, job, augmented, size)
    else:
        loader = larder_loader(directory, job, augmented, how, size)
    for _ in range(epochs):
        for batch in loader:
            first = first or time.perf_counter() - began
            del batch
        after = cpu(os.environ["BENCH_OF"])
        spent.append(round(after - before, 2))
        before = after
    print(json.dumps({"cpu": spent, "first": round(first, 2)}))


def measure(directory: pathlib.Path, job: str, side: str, epochs: int) -> dict[str, Any]:
    """Run a side in a new process, and watch its memory from here."""
    subprocess.run(["rm", "-rf", directory / "cache"], check=True)
    of = f"training-{os.getpid()}-{time.monotonic_ns()}"
    arguments = [sys.executable, __file__, str(directory), job, "--epochs", str(epochs), "--side", side]
    environment = {**os.environ, "BENCH_OF": of, "LARDER_IDLE": "1"}
    own = files = 0.0
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as process:
        while process.poll() is None:
            now = memory(of)
            own, files = max(own, now[0]), max(files, now[1])
            time.sleep(0.2)
        output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{job}, {side}: status {process.returncode}")
    return {**json.loads(output.splitlines()[-1]), "own": round(own), "files": round(files)}


def main() -> None:
    """Write the images, and run each side of each job."""
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--tiles", type=int, default=1024)
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--side", help="run this side of a job in this process")
    given = parser.parse_args()
    if given.side:
        run(given.directory, given.jobs[0], given.side, given.epochs)
        return
    given.directory.mkdir(parents=True, exist_ok=True)
    if not (given.directory / "tiles").exists():
        write_tiles(given.directory, given.tiles)
    if not (given.directory / "photos").exists():
        write_photos(given.directory, given.photos)
    epochs = "".join(f" epoch {k + 1} |" for k in range(given.epochs))
    print(f"|  |{epochs} first batch | memory | mapped files |\n| --- |{' ---: |' * (given.epochs + 3)}", flush=True)
    for job in given.jobs or JOBS:
        for side in JOBS[job]:
            result = measure(given.directory, job, side, given.epochs)
            seconds = "".join(f" {s:.1f} s |" for s in result["cpu"]) or " |" * given.epochs
            first = f"{result['first']:.2f} s" if result["first"] else ""
            print(f"| {job}: {side} |{seconds} {first} | {result['own']} MB | {result['files']} MB |", flush=True)


if __name__ == "__main__":
    main()
