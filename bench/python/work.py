"""The memoized functions, in a separate module so that every tool can pickle them by name,
with a counter of their executions.
"""

import hashlib
import io

import numpy as np
from PIL import Image

executions = 0


def tiny(k: int) -> int:
    global executions
    executions += 1
    return k + 1


def array(k: int) -> np.ndarray:
    global executions
    executions += 1
    return np.arange(1 << 18, dtype=np.float32) + np.float32(k)


def total(a: np.ndarray) -> float:
    global executions
    executions += 1
    return float(a.sum())


BLOCK = bytes(8 << 20)


def busy(k: int) -> int:
    """Hash 8 MiB: about 5 ms of processor time."""
    global executions
    executions += 1
    return k + hashlib.sha256(BLOCK).digest()[0]


def measure(image) -> dict:
    global executions
    executions += 1
    a = np.asarray(image)
    return {"mean": a.mean((0, 1)).tolist(), "std": a.std((0, 1)).tolist()}


def measure_bytes(content: bytes) -> dict:
    return measure(Image.open(io.BytesIO(content)))


def measure_sample(sample) -> dict:
    return measure(sample["image"])
