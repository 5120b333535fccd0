"""Compute SHA-256 of large content on several threads."""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

# The digest of more than one piece is that of the digests of its pieces, so their size
# is part of the format.
PIECE = 256 << 10

_THREADS = min(os.cpu_count() or 1, 8)

_pool: ThreadPoolExecutor | None = None


def tree(content: Any) -> bytes:
    """Return the digest of bytes, without copying them."""
    view = memoryview(content)
    if view.nbytes <= PIECE:
        return sha256(view).digest()
    view = view.cast("B")
    count = -(-len(view) // PIECE)
    digests = [b""] * count
    left = list(range(count))  # taking from it is atomic

    def work() -> None:
        while left:
            try:
                i = left.pop()
            except IndexError:  # another thread was faster
                return
            digests[i] = sha256(view[i * PIECE : (i + 1) * PIECE]).digest()

    others = []
    with contextlib.suppress(RuntimeError):  # the interpreter ends, so this thread does everything
        others = [_threads().submit(work) for _ in range(min(_THREADS, count) - 1)]
    work()
    for other in others:
        if not other.cancel():
            other.result()
    return sha256(b"".join(digests)).digest()


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_THREADS, "larder-digest")
    return _pool


def _forget() -> None:
    global _pool
    _pool = None  # its threads do not exist in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
