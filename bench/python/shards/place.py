"""Serve the bucket: an S3-compatible server, and a proxy in front of it that adds latency."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

LATENCY = "20ms"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench-secret",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def free_address() -> str:
    """Return an unused address of this machine."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


def wait_for(address: str) -> None:
    """Wait until a process listens at an address."""
    host, _, port = address.partition(":")
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"no server listens at {address}")


@contextlib.contextmanager
def served(work: Path, gateway: str, proxy: str) -> Iterator[tuple[str, str]]:
    """Serve the bucket in a directory; yield the URLs of the server itself and of the proxy."""
    (work / "objects" / "bench").mkdir(parents=True, exist_ok=True)
    direct, slow = free_address(), free_address()
    root = {"ROOT_ACCESS_KEY": CREDENTIALS["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": CREDENTIALS["AWS_SECRET_ACCESS_KEY"]}
    behind = [gateway, "--port", direct, "--quiet", "--keep-alive", "posix", str(work / "objects")]
    with contextlib.ExitStack() as ends:
        for address, command in ((direct, behind), (slow, [proxy, slow, direct, LATENCY])):
            process = subprocess.Popen(command, env=os.environ | root, stdout=subprocess.DEVNULL)
            ends.callback(process.wait)
            ends.callback(process.terminate)
            wait_for(address)
        yield f"http://{direct}", f"http://{slow}"


def counts(endpoint: str) -> dict[str, int]:
    """Return the requests to the proxy since the last call."""
    with urllib.request.urlopen(f"{endpoint}/-/counts") as reply:
        said: dict[str, int] = json.load(reply)
    return said


def size(directory: Path) -> int:
    """Return the size of the files in a directory in bytes, while files come and go."""
    total = 0
    for at, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(at, name)).st_blocks * 512
    return total
