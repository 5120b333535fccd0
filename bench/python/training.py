"""Compare a training job's images: torch's DataLoader with torchvision, and Larder.

Each side reads the same JPEG tiles of 500 x 375 for some epochs: shorter side 256, random crop
of 224, flip, colour jitter, float32 batches of 32. Printed are the CPU seconds of all processes
in each epoch, the seconds to the first batch, and the peak of the proportional memory.

    python training.py DIRECTORY [TILES] [EPOCHS]
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

SIDES = ("torch", "torch without augmentation", "larder", "larder keep", "larder without augmentation")


def tiles(directory: pathlib.Path, count: int) -> None:
    """Cut tiles out of the photographs of scikit-learn, in two classes."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    photos = [Image.fromarray(photo) for photo in load_sample_images().images]
    rng = random.Random(0)
    for i in range(count):
        photo = photos[i % 2]
        width = rng.randint(250, 560)
        height = width * 3 // 4
        x, y = rng.randint(0, photo.width - width), rng.randint(0, photo.height - height)
        path = directory / f"class{i % 2}" / f"{i:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        photo.crop((x, y, x + width, y + height)).resize((500, 375)).save(path, quality=90)


def flow(directory: pathlib.Path, augmented: bool, stored: bool) -> pathlib.Path:
    """Write the flow of a side."""
    cached = "keep: true" if stored else "cache: {policy: lru, bytes: 2GiB}"
    random_nodes = """
  cropped: {map: random-crop, from: small, with: {width: 224, height: 224, epoch: "${epoch}"}}
  flipped: {map: image-flip, from: cropped, with: {epoch: "${epoch}"}}
  train: {map: color-jitter, from: flipped, with: {brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1, epoch: "${epoch}"}}
"""
    fixed = "\n  train: {map: center-crop, from: small, with: {width: 224, height: 224}, " + cached + "}\n"
    path = directory / f"{'augmented' if augmented else 'fixed'}-{'kept' if cached else 'held'}.yaml"
    path.write_text(f"""version: 1
vars: {{epoch: 0}}
nodes:
  photos: {{source: images, with: {{path: tiles, class: true}}}}
  small: {{map: image-resize, from: photos, with: {{shorter: 256}}, {cached if augmented else "keep: false"}}}
{(random_nodes if augmented else fixed).strip(chr(10))}
""")
    return path


def larder_side(directory: pathlib.Path, augmented: bool, cached: bool) -> Iterable[Callable[[], Iterable[Any]]]:
    """Yield an iteration for each epoch."""
    import larder

    mean, deviation = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    picture = larder.Field("image", dtype="float32", scale=1 / 255, mean=mean, deviation=deviation, planar=True)
    loader = larder.Loader(
        flow(directory, augmented, cached),
        node="train",
        batch_size=32,
        shuffle=True,
        fields=[picture, "class"],
        tensors="torch",
        cache_dir=directory / "cache",
    )
    while True:
        yield lambda: loader


def torch_side(directory: pathlib.Path, augmented: bool) -> Iterable[Callable[[], Iterable[Any]]]:
    """Yield an iteration for each epoch."""
    import torch
    from torchvision import datasets
    from torchvision.transforms import v2

    jitter = v2.ColorJitter(0.4, 0.4, 0.4, 0.1)
    chosen = [v2.RandomCrop(224), v2.RandomHorizontalFlip(), jitter] if augmented else [v2.CenterCrop(224)]
    normal = v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    steps = [v2.Resize(256), *chosen, v2.ToImage(), v2.ToDtype(torch.float32, scale=True), normal]
    data = datasets.ImageFolder(str(directory / "tiles"), v2.Compose(steps))
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    while True:
        yield lambda: loader


def family() -> list[int]:
    """Return this process and those below it, and servers that it started."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = pathlib.Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
                environment = pathlib.Path("/proc", name, "environ").read_bytes()
            except OSError:
                continue
            mine = f"BENCH_OF={os.getpid()}".encode() in environment
            parents[int(name)] = os.getpid() if mine else int(fields[1])
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid and child not in found]
    return found


def cpu() -> float:
    """Return the CPU seconds of the family, with its ended children."""
    total = 0
    for pid in family():
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def memory() -> float:
    """Return the proportional memory of the family in MB."""
    total = 0
    for pid in family():
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def measure(side: str, directory: pathlib.Path, epochs: int) -> dict[str, Any]:
    """Run a side in this process."""
    os.environ["BENCH_OF"] = str(os.getpid())
    import torch  # noqa: F401  # in the process of each side, before the clock starts

    peak, ended = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.2):
            peak = max(peak, memory())

    name, _, how = side.partition(" ")
    augmented, cached = "without" not in how, "keep" in how
    sides = torch_side(directory, augmented) if name == "torch" else larder_side(directory, augmented, cached)
    watcher = threading.Thread(target=watch)
    watcher.start()
    spent, first, began = [], 0.0, time.perf_counter()
    for _, epoch in zip(range(epochs), sides, strict=False):
        before = cpu()
        for batch in epoch():
            first = first or time.perf_counter() - began
            del batch
        spent.append(round(cpu() - before, 2))
    ended.set()
    watcher.join()
    return {"cpu": spent, "first": round(first, 2), "memory": round(peak)}


def main() -> None:
    """Make the tiles, and run each side in a new process."""
    directory = pathlib.Path(sys.argv[1]).absolute()
    count, epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 1024, int(sys.argv[3]) if len(sys.argv) > 3 else 3
    if len(sys.argv) > 4:
        print(json.dumps(measure(sys.argv[4], directory, epochs)))
        return
    if not (directory / "tiles").exists():
        tiles(directory / "tiles", count)
    for side in SIDES:
        subprocess.run(["rm", "-rf", directory / "cache"], check=True)
        arguments = [sys.executable, __file__, str(directory), str(count), str(epochs), side]
        done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout.splitlines()[-1])
        print(f"{side:28} CPU s {result['cpu']}, first batch {result['first']} s, {result['memory']} MB", flush=True)


if __name__ == "__main__":
    main()
