"""Build a chain of small lazy calls with one peer, and evaluate it."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

PEER, NODES, DIRECTORY = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])


def more(n: int) -> int:
    return n + 1


def lazy_of(peer: str) -> Any:
    """Return the decorator of a peer."""
    if peer == "Larder":
        import larder.lazy

        return larder.lazy.lazy
    import evalcache

    return evalcache.Lazy(cache=evalcache.DirCache(str(DIRECTORY / "peer")))


def main() -> None:
    lazy = lazy_of(PEER)
    began = time.perf_counter()
    call = lazy(more)
    node: Any = call(0)
    for _ in range(NODES - 1):
        node = call(node)
    built = time.perf_counter()
    assert node.unlazy() == NODES
    print(json.dumps({"build": built - began, "evaluate": time.perf_counter() - built}))


if PEER == "evalcache":  # it needs several Python calls for each node of a chain
    sys.setrecursionlimit(1 << 30)
    threading.stack_size(1 << 30)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
else:
    main()
