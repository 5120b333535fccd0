"""A server in Python that implements docs/reference/protocol.md, for tests.

It serves samples that are numbers: sample i has `x`, int64 [4], of i, and what `Script.extra`
adds. It logs what it receives, and misbehaves as a script says.
"""

from __future__ import annotations

import array
import contextlib
import json
import mmap
import os
import queue
import socket
import struct
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HEADER = struct.Struct("<IHH")
PREFIX = "1.AAAAAAAAAAAAAAAAAAAA.0"
SLOT_BYTES = 4096  # bytes of a slot
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass
class Script:
    """The behaviour of a server."""

    samples: int = 20
    layout: list[dict[str, Any]] | None = None
    fill: Callable[[list[int], memoryview], None] | None = None
    before: Callable[[Peer, int], None] | None = None  # before the batch of that number of a connection
    on_open: Callable[[Peer, dict[str, Any]], bool] | None = None  # True: it replied
    grow_at: int = -1  # the first batch whose slot lies at the end of a larger ring
    batch_size: int = 4
    seen: list[tuple[str, Any]] = field(default_factory=list)  # requests of all connections
    cached: list[int] = field(default_factory=list)
    released: list[int] = field(default_factory=list)
    handed: list[int] = field(default_factory=list)  # slots
    most_out: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        with self.changed:
            assert self.changed.wait_for(condition, timeout=20), "it did not come about"

    def starts(self) -> list[dict[str, Any]]:
        return [body for name, body in self.seen if name == "start"]


class Server:
    """Listens until it is closed."""

    def __init__(self, path: str, script: Script) -> None:
        self.script = script
        self.peers: list[Peer] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self._listener.accept()
            except OSError:
                return
            self.peers.append(Peer(connected, self.script))

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for peer in self.peers:
            peer.close()
            peer.join()


class Gone(Exception):
    """The connection has ended."""


class Peer:
    """One connection."""

    def __init__(self, connected: socket.socket, script: Script) -> None:
        self.socket = connected
        self.script = script
        self.free: queue.Queue[int] = queue.Queue()
        self.out: set[int] = set()
        self.given_back: list[int] = []
        self.next_slot = 0
        self.stopping = threading.Event()
        self.reader: threading.Thread | None = None
        self.handed = 0
        self.slots = 0
        self.first = 0
        self.grown = False
        self.reported = True
        self.file: Any = None
        self._sending = threading.Lock()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        self._thread.join()
        self.socket.close()

    def send(self, kind: int, body: bytes | dict[str, Any] = b"", fds: list[int] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            with self._sending:
                frame = HEADER.pack(len(data), kind, 0) + data
                if fds:
                    socket.send_fds(self.socket, [frame], fds)
                else:
                    self.socket.sendall(frame)
        except OSError as error:
            raise Gone from error

    def send_raw(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Gone from error

    def _receive(self, n: int) -> bytes:
        data = b""
        while len(data) < n:
            try:
                part = self.socket.recv(n - len(data))
            except OSError:
                part = b""
            if not part:
                raise Gone
            data += part
        return data

    def _serve(self) -> None:
        try:
            while True:
                size, kind, zero = HEADER.unpack(self._receive(8))
                assert zero == 0
                self._request(kind, self._receive(size))
        except Gone:
            self.stopping.set()
            self.free.put(-1)
            if self.reader:
                self.reader.join()
            if self.file:
                self.file.close()

    def _request(self, kind: int, body: bytes) -> None:
        if kind == 11:
            self._released(struct.unpack(f"<{len(body) // 4}I", body))
            return
        if kind == 21:
            with self.script.changed:
                self.script.cached.extend(struct.unpack(f"<{len(body) // 4}I", body))
                self.script.changed.notify_all()
            return
        said = json.loads(body) if body else {}
        names = {1: "hello", 3: "open", 5: "start", 7: "stop", 15: "get"}
        with self.script.changed:
            self.script.seen.append((names[kind], said))
            self.script.changed.notify_all()
        {1: self._hello, 3: self._open, 5: self._start, 7: self._stop, 15: self._get}[kind](said)

    def _released(self, slots: tuple[int, ...]) -> None:
        with self.script.changed:
            for slot in slots:
                assert slot in self.out, f"slot {slot} was released twice, or never given"
                self.out.discard(slot)
                self.given_back.append(slot)
                self.script.released.append(slot)
                if slot >= self.first:  # otherwise of the ring of an earlier reader
                    self.free.put(slot)
            self.script.changed.notify_all()

    def _hello(self, said: dict[str, Any]) -> None:
        assert 1 in said["protocol"]
        self.send(2, {"protocol": 1, "version": "fake", "pid": os.getpid(), "cache": "/", "later": 1})

    def _open(self, said: dict[str, Any]) -> None:
        if self.script.on_open and self.script.on_open(self, said):
            return
        parts = [{"name": part["node"], "samples": self.script.samples} for part in said["parts"]]
        self.script.batch_size = said["batch"].get("size", 4)
        self.send(4, {"parts": parts, "batches": self._batches()})

    def _batches(self) -> int:
        return -(-self.script.samples // self.script.batch_size)

    def _start(self, said: dict[str, Any]) -> None:
        if self.file:
            self.file.close()
        self.slots = said.get("window", 16) or 64
        self.file = tempfile.TemporaryFile()
        self.file.truncate(self.slots * SLOT_BYTES)
        self.map = mmap.mmap(self.file.fileno(), self.slots * SLOT_BYTES)
        self.free = queue.Queue()
        self.first = self.next_slot  # slot numbers are used once in a connection
        self.next_slot += self.slots
        for slot in range(self.slots):
            self.free.put(self.first + slot)
        self.grown = False
        self.send(
            6, {"prefix": PREFIX, "batches": self._batches(), "ring": self.slots * SLOT_BYTES}, [self.file.fileno()]
        )
        self.send(9, {"layout": 3, "fields": self._layout(self.script.batch_size)})
        if said.get("window") == 0:
            return
        self.stopping = threading.Event()
        self.reported = False
        self.reader = threading.Thread(target=self._read, args=(said,))
        self.reader.start()

    def _layout(self, n: int) -> list[dict[str, Any]]:
        if self.script.layout is not None:
            return self.script.layout
        return [{"name": "x", "collation": "stack", "dtype": "int64", "shape": [n, 4], "offset": 0, "bytes": 32 * n}]

    def _stop(self, _: dict[str, Any]) -> None:
        self.stopping.set()
        self.free.put(-1)
        if self.reader:
            self.reader.join()
        self._ended()

    def _ended(self) -> None:
        """Report once that a reader has ended."""
        if not self.reported:
            self.reported = True
            self.send(8)

    def _read(self, said: dict[str, Any]) -> None:
        with contextlib.suppress(Gone):
            self._epochs(said)

    def _epochs(self, said: dict[str, Any]) -> None:
        epoch, position = said.get("epoch", 0), 0
        if "from" in said:
            prefix, *place = said["from"].rsplit(".", 2)
            assert prefix == PREFIX
            epoch, position = (int(text, 36) for text in place)
        rank, ranks = said.get("rank", 0), said.get("world_size", 1)
        share, shares, epochs = said.get("share", 0), said.get("shares", 1), said.get("epochs", 0)
        assert shares == 1 or epochs == 1
        done = 0
        while not self.stopping.is_set() and (epochs == 0 or done < epochs):
            turn = 0
            while position < self.script.samples:
                end = min(self.script.samples, position + self.script.batch_size * ranks)
                after = (epoch, end) if end < self.script.samples else (epoch + 1, 0)
                if turn % shares == share:
                    mine = list(range(position, end))[rank * self.script.batch_size :][: self.script.batch_size]
                    if not self._batch(epoch, mine, (position, end), after):
                        return
                turn, position = turn + 1, end
            epoch, position, done = epoch + 1, 0, done + 1
            self.send(12, struct.pack("<QQQ", epoch - 1, epoch, 0))
        if not self.stopping.is_set():
            self._ended()

    def _batch(self, epoch: int, samples: list[int], between: tuple[int, int], after: tuple[int, int]) -> bool:
        if self.script.before:
            self.script.before(self, self.handed)
        while True:
            slot = self.free.get()
            if self.stopping.is_set():
                return False
            if slot >= 0:
                break
        offset = (slot - self.first) * SLOT_BYTES
        if 0 <= self.script.grow_at <= self.handed:
            offset += self._grow()
        if len(samples) != self.script.batch_size:
            self.send(9, {"layout": 3, "fields": self._layout(len(samples))})
        fill = self.script.fill or numbers
        fill(samples, memoryview(self.map)[offset : offset + SLOT_BYTES])
        with self.script.changed:
            self.out.add(slot)
            self.script.most_out = max(self.script.most_out, len(self.out))
            self.script.handed.append(slot)
            self.script.changed.notify_all()
        self.handed += 1
        where = 3, slot, offset, SLOT_BYTES, len(self.map), epoch, *between, *after, len(samples), 0
        self.send(10, struct.pack("<IIQQQQQQQQII", *where) + array.array("Q", samples).tobytes())
        return True

    def _grow(self) -> int:
        size = self.slots * SLOT_BYTES
        if not self.grown:
            self.grown = True
            self.file.truncate(2 * size)
            self.map = mmap.mmap(self.file.fileno(), 2 * size)
        return size

    def _get(self, said: dict[str, Any]) -> None:
        self.script.batch_size = 1
        for n in said["samples"]:
            if n == 13:
                self.send(13, {"code": "data", "text": "sample 13 cannot be read"})
                return
            self._batch(0, [n], (0, 0), (0, 0))
        self.send(16, {"samples": len(said["samples"])})


def numbers(samples: list[int], space: memoryview) -> None:
    """Fill a slot with four int64 for each sample."""
    data = array.array("q", [n for n in samples for _ in range(4)]).tobytes()
    space[: len(data)] = data
