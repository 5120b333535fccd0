"""Implement the protocol over HTTP, for a server on another machine."""

from __future__ import annotations

from typing import Any

from .._client import framing
from .._client.remote import Remote
from .._client.reply import RemoteStream
from ..errors import ProtocolError
from . import pinned
from .batch import Batch
from .connection import DEFAULT_RING, DEFAULT_WINDOW, Connection, as_json
from .layout import Tensors


class RemoteConnection(Connection):
    """A connection to a server on another machine, with one request for each reader.

    A thread prefetches the batches of a reader into separate memory.
    """

    stream: RemoteStream

    def __init__(self, remote: Remote, id: str, tensors: Tensors, pin: bool, copy_bytes: bool) -> None:
        super().__init__(RemoteStream(remote, pinned.space if pin else bytearray), tensors, copy_bytes)
        self._open: dict[str, Any] = {}
        self._id = id  # of what was open before

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Open the data to read."""
        self._open = request
        self._post("/v1/samples", {"samples": []})
        said = self._opened()
        self._reply(framing.GOT)
        return said

    def start(self, request: dict[str, Any]) -> None:
        """Start a reader, whose batches a thread reads."""
        window = request.get("window") or DEFAULT_WINDOW
        most = request.get("ring") or DEFAULT_RING
        start = {name: value for name, value in request.items() if name not in ("window", "ring")}
        self._post("/v1/batches", {"start": start})
        self._opened()
        self._started(self._reply(framing.STARTED))
        self.stream.read_ahead(window, most)

    def stop(self) -> None:
        """End the reader."""
        self.stream.hang_up()
        self.stream.whole = True

    def take(self) -> Batch | None:
        """Return the next batch, or None at the end of an epoch."""
        batch = super().take()
        self.stream.memory = None
        return batch

    def _ask_for(self, samples: list[int]) -> None:
        self._post("/v1/samples", {"samples": samples})
        self._opened()

    def _post(self, path: str, request: dict[str, Any]) -> None:
        self.stream.request(path, as_json({"open": self._open, "id": self._id, **request}))

    def _opened(self) -> dict[str, Any]:
        self._layouts.clear()  # each reply has its own
        said = self._reply(framing.OPENED)
        self._id = str(said.get("id", ""))
        return said

    def _memory(self, slot: int, begin: int, taken: int, total: int) -> Any:
        memory = self.stream.memory
        if begin != 0 or memory is None or memoryview(memory).nbytes != taken:
            raise ProtocolError("the server sent a batch whose size differs from the announced size")
        return memory
