"""Resize a directory of images to 256 columns as JPEG, with Larder and with PIL.

    python images.py LARDER IMAGES WORK [CHANGES] [PARAMETER=VALUE ...]

LARDER is the program, IMAGES an underfolder of images (data/000000_image.jpg ...), which is
copied into WORK, a new directory. Each line of the output is one process: wall time,
processor time with that of its children, and the peak memory of the largest one. In order:
Larder with an empty cache; a pool of two processes of PIL; PIL that may decode JPEG at reduced
size (draft); Larder again; and CHANGES times (4) Larder after one file of the input was
replaced by another, and again. PARAMETERs are of image-resize.

Files must be older than 40 seconds before they are identified by their states, so the script
waits for that long after the copy.
"""

import os
import shutil
import subprocess
import sys
import time
from multiprocessing import Pool

import freshmemory

FLOW = """version: 1
nodes:
  in: {source: underfolder, with: {path: in}}
  small: {map: image-resize, from: in, keep: true, with: {width: 256, format: jpeg%s}}
  out: {sink: underfolder, from: small, with: {path: out, overwrite: replace}}
"""


def resize(args):
    from PIL import Image

    source, target, draft = args
    image = Image.open(source)
    size = 256, max(1, round(image.height * 256 / image.width))
    if draft:
        image.draft(None, (2 * size[0], 2 * size[1]))
    if image.mode not in ("L", "RGB"):
        image = image.convert("RGB")
    image.resize(size, Image.BILINEAR).save(target, quality=80)


def pil(source, target, draft):
    os.mkdir(target)
    todo = [(os.path.join(source, n), os.path.join(target, os.path.splitext(n)[0] + ".jpg"), draft) for n in sorted(os.listdir(source))]
    with Pool(2) as pool:
        for _ in pool.imap_unordered(resize, todo, chunksize=8):
            pass


def timed(what, command):
    """Run a command. Memory is that of the largest process, as the system counts it."""
    start = time.time()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{what} failed: {command}")
    print(f"{what:24} {time.time() - start:8.2f} s  processor {used.ru_utime + used.ru_stime:8.2f} s  "
          f"memory {used.ru_maxrss / 1024:6.0f} MB  load {os.getloadavg()[0]:.1f}", flush=True)


def main():
    larder, images, work = (os.path.abspath(a) for a in sys.argv[1:4])
    rest = sys.argv[4:]
    changes = int(rest.pop(0)) if rest and rest[0].isdigit() else 4
    freshmemory.touch()
    os.mkdir(work)
    data = os.path.join(work, "in", "data")
    shutil.copytree(os.path.join(images, "data"), data)
    flow = os.path.join(work, "flow.yaml")
    with open(flow, "w") as f:
        f.write(FLOW % "".join(", " + p.replace("=", ": ") for p in rest))
    run = [larder, "run", flow, "--cache", os.path.join(work, "cache"), "--progress", "none", "--workers", "2"]
    time.sleep(45)
    timed("larder, cold", run)
    me = [sys.executable, os.path.abspath(__file__), "--pil", data]
    timed("PIL, pool of 2", me + [os.path.join(work, "pil"), ""])
    timed("PIL with draft, pool of 2", me + [os.path.join(work, "draft"), "draft"])
    timed("larder, warm", run)
    photos = [n for n in sorted(os.listdir(data)) if n.endswith(".jpg")]
    for i in range(changes):
        changed, other = photos[i * 311 % len(photos)], photos[(i * 97 + 41) % len(photos)]
        new = os.path.join(work, "new")
        shutil.copyfile(os.path.join(data, other), new)
        os.rename(new, os.path.join(data, changed))
        timed("larder, one changed", run)
        timed("larder, warm", run)


if __name__ == "__main__":
    if sys.argv[1] == "--pil":
        pil(*sys.argv[2:5])
    elif len(sys.argv) < 4:
        sys.exit(__doc__)
    else:
        main()
