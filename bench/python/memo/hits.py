"""Run one memoizer: fill its cache, measure its hits, or request cached results of other processes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DIRECTORY = Path(sys.argv[3])


def note(n: int) -> int:
    """Log an execution, and take a while."""
    file = os.open(DIRECTORY / "executions", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, b"%d\n" % n)
    os.close(file)
    time.sleep(0.002)
    return n * n


def add(a: int, b: int) -> int:
    return a + b


def total(x: np.ndarray) -> float:
    return float(x.sum())


def ones(n: int) -> np.ndarray:
    return np.ones(n)


def double(x: np.ndarray) -> np.ndarray:
    return x * 2


def memoizer(peer: str) -> Callable[[Any], Any]:
    """Return the decorator of a peer; results of evalcache are evaluated immediately."""
    if peer == "Larder":
        import larder

        return lambda f: larder.memo(version="1")(f) if f is note else larder.memo(f)
    if peer == "diskcache":
        import diskcache

        return diskcache.Cache(str(DIRECTORY / "peer"), size_limit=1 << 40).memoize()
    if peer == "joblib":
        import joblib

        return joblib.Memory(str(DIRECTORY / "peer"), verbose=0).cache
    import evalcache

    lazy = evalcache.Lazy(cache=evalcache.DirCache_v2(str(DIRECTORY / "peer")))

    def decorate(f: Any) -> Any:
        made = lazy(f)
        return lambda *args: made(*args).unlazy()

    return decorate


def least(f: Callable[[], Any], seconds: float = 0.3) -> float:
    """Return the time of a call: the median of rounds."""
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < seconds / 3:
        f()
        n += 1
    rounds = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(max(1, n // 3)):
            f()
        rounds.append((time.perf_counter() - began) / max(1, n // 3))
    return sorted(rounds)[2]


def main() -> None:
    peer, what = sys.argv[1], sys.argv[2]
    memo = memoizer(peer)
    kept_add, kept_total, kept_ones = memo(add), memo(total), memo(ones)
    x = np.random.default_rng(0).random(1 << 17)
    rows = np.random.default_rng(1).random((256, 16)).astype("float32")
    batch = None
    if peer == "Larder":
        import larder

        batch = larder.memo_batch(double, items="x")
    if what == "same":
        cached = memo(note)
        for n in range(200):
            assert cached(n) == n * n
        return
    if what == "fill":
        for n in range(2000):
            kept_add(n, 1)
        kept_total(x)
        kept_ones(1 << 17)
        if batch is not None:
            batch(rows)
        return
    figures = {}
    began = time.perf_counter()
    kept_add(0, 1)
    first = time.perf_counter() - began
    began = time.perf_counter()
    for n in range(1, 2000):
        kept_add(n, 1)
    figures["another process"] = (time.perf_counter() - began) / 1999
    figures["first"] = first
    figures["tiny"] = least(lambda: kept_add(5, 1))
    if peer == "evalcache":  # hashes each number separately
        figures["argument"] = least(lambda: kept_total(x), 0.001)
    else:
        figures["argument"] = least(lambda: kept_total(x))
    figures["result"] = least(lambda: kept_ones(1 << 17))
    if batch is not None:
        figures["batch"] = least(lambda: batch(rows)) / 256
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
