"""Implement connections to servers: requests, replies, and the batches of one reader."""

from __future__ import annotations

import json
import logging
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any, Protocol

from .._client import framing
from .._client.framing import Lost, Stream
from .._warnings import warn
from ..errors import Error, LarderWarning, ProtocolError, SkipWarning, error_of
from .batch import About, Batch
from .layout import Layout, Tensors
from .ring import Ring

_PROTOCOL = 1
_BATCH = struct.Struct("<IIQQQQQQQQII")
_EPOCH = struct.Struct("<QQQ")
_NAMES = {value: name.lower() for name, value in vars(framing).items() if name.isupper() and isinstance(value, int)}
_log = logging.getLogger("larder")

STRANGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error)
"""The exceptions that a malformed frame raises."""


def _not_understood(kind: int, error: Exception) -> ProtocolError:
    return ProtocolError(f"the server sent a frame ({_NAMES.get(kind, kind)}) that is not understood: {error!r}")


DEFAULT_WINDOW = 16
DEFAULT_RING = 256 << 20


class Source(Protocol):
    """A source of frames."""

    buffer: bytearray
    whole: bool
    """Whether everything received was handled: True while waiting for a frame."""
    closed: bool

    def receive(self) -> tuple[int, int, int]:
        """Return the next frame: its kind, the position of its body in `buffer`, and its size."""
        ...

    def close(self) -> None:
        """Close the source."""
        ...


class Connection:
    """One connection, used by one thread at a time. Any thread may use what it returned."""

    def __init__(self, stream: Source, tensors: Tensors, copy_bytes: bool) -> None:
        self.stream = stream
        self.prefix = ""
        self.batches = 0
        """The number of batches that the reader has in the epoch at which it began."""
        self.ended = (0, 0, 0)
        """For the last epoch that ended: its number, and the state after it."""
        self._tensors = tensors
        self._copy_bytes = copy_bytes
        self._layouts: dict[int, Layout] = {}

    @property
    def usable(self) -> bool:
        """Whether it is open, and everything received was returned."""
        return not self.stream.closed and self.stream.whole

    def close(self) -> None:
        """Close the connection. What it returned stays valid."""
        self.stream.close()

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Open the data to read."""
        raise NotImplementedError

    def start(self, request: dict[str, Any]) -> None:
        """Start a reader."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the reader, whether or not it has already ended."""
        raise NotImplementedError

    def get(self, samples: list[int]) -> Iterator[Batch]:
        """Yield each of these samples as a separate batch."""
        self._ask_for(samples)
        for _ in samples:
            batch = self.take()
            if batch is None:
                raise ProtocolError("the server ended an epoch before sending the requested samples")
            yield batch
        self._reply(framing.GOT)

    def _ask_for(self, samples: list[int]) -> None:
        raise NotImplementedError

    def _memory(self, slot: int, begin: int, taken: int, total: int) -> Any:
        """Return the memory of the last batch received."""
        raise NotImplementedError

    def _started(self, said: dict[str, Any]) -> None:
        self._layouts.clear()
        try:
            self.prefix, self.batches = str(said.get("prefix", "")), int(said.get("batches", 0))
        except STRANGE as error:
            raise _not_understood(framing.STARTED, error) from error

    def take(self) -> Batch | None:
        """Return the next batch, or None at the end of an epoch.

        An error of the server is raised, and ends the reader.
        """
        while True:
            kind, at, size = self.stream.receive()
            try:
                if kind == framing.BATCH:
                    return self._batch(at, size)
                if kind == framing.LAYOUT:
                    self._layout(at, size)
                    continue
            except STRANGE as error:
                raise _not_understood(kind, error) from error
            if kind == framing.EPOCH:
                self.ended = self._epoch(at, size)
                return None
            self._other(kind, at, size)

    def _batch(self, at: int, size: int) -> Batch:
        buffer = self.stream.buffer
        number, slot, begin, taken, total, epoch, _, _, after, position, n, padding = _BATCH.unpack_from(buffer, at)
        layout = self._layouts[number]
        if size != 80 + 8 * n or layout.bytes > taken:
            raise ProtocolError("the server sent a batch that does not match its layout")
        memory = self._memory(slot, begin, taken, total)
        make = layout.make
        fields = {name: make(memory, dtype, shape, offset) for name, dtype, shape, offset in layout.arrays}
        for name, read in layout.others:
            fields[name] = read(memory)
        numbers = bytes(buffer[at + 80 : at + size])
        return Batch._of(About(epoch, padding, self.prefix, (after, position), numbers, layout.sizes), fields)

    def _layout(self, at: int, size: int) -> None:
        said = self._object(at, size)
        number = said.get("layout")
        if not isinstance(number, int) or not 0 <= number < 256:
            raise ProtocolError(f"the server sent a layout numbered {number!r}")
        self._tensors.load()
        self._layouts[number] = Layout(said.get("fields", []), self._tensors, self._copy_bytes)

    def _epoch(self, at: int, size: int) -> tuple[int, int, int]:
        if size != _EPOCH.size:
            raise ProtocolError(f"the server sent the end of an epoch of {size} bytes")
        epoch, after, position = _EPOCH.unpack_from(self.stream.buffer, at)
        return epoch, after, position

    def _reply(self, wanted: int) -> dict[str, Any]:
        while True:
            kind, at, size = self.stream.receive()
            if kind == wanted:
                said = self._object(at, size)
                self.stream.whole = True
                return said
            self._other(kind, at, size)

    def _other(self, kind: int, at: int, size: int) -> None:
        """Handle a frame that may come at any time; any other is an error."""
        if kind == framing.ERROR:
            raise self._error(self._object(at, size))
        if kind != framing.NOTE:
            raise ProtocolError(f"the server sent {_NAMES.get(kind, kind)!s} where it may not")
        note = self._object(at, size)
        text = str(note.get("text", ""))
        self.stream.whole = True  # if a warning raises an error, nothing is lost
        match note.get("level"):
            case "warning":
                warn(text, LarderWarning)
            case "skip":
                warn(text, SkipWarning)
            case "alive":
                pass
            case _:
                _log.info("%s", text)

    def _error(self, said: dict[str, Any]) -> Exception:
        code, text = said.get("code"), said.get("text", "")
        if code == "ending":
            return Lost(str(text))
        error: Error = error_of(code, text)
        if code != "protocol":
            self.stream.whole = True
        return error

    def _object(self, at: int, size: int) -> dict[str, Any]:
        try:
            said = json.loads(bytes(self.stream.buffer[at : at + size]))
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"the server sent invalid JSON: {error}") from error
        if not isinstance(said, dict):
            raise ProtocolError("the server sent JSON that is not an object")
        return said


class LocalConnection(Connection):
    """A connection to the server of this machine, with a ring for each reader."""

    stream: Stream

    def __init__(self, connected: socket.socket, tensors: Tensors, pin: bool, copy: bool, copy_bytes: bool) -> None:
        super().__init__(Stream(connected), tensors, copy_bytes)
        self.ring: Ring | None = None
        self._pin = pin
        self._copy = copy

    def hello(self) -> dict[str, Any]:
        """Agree on the version of the protocol."""
        client = "larder for Python " + ".".join(map(str, sys.version_info[:3]))
        said = self._ask(framing.HELLO, {"protocol": [_PROTOCOL], "client": client}, framing.WELCOME)
        if said.get("protocol") != _PROTOCOL:
            raise ProtocolError(f"the server speaks version {said.get('protocol')} of the protocol, not {_PROTOCOL}")
        return said

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Open the data to read."""
        self.hello()
        return self._ask(framing.OPEN, request, framing.OPENED)

    def start(self, request: dict[str, Any]) -> None:
        """Start a reader, with the ring of the previous one if there was one."""
        again = self.ring is not None
        if again:
            request = request | {"again": True}
        self.stream.expect_descriptors()
        try:
            said = self._ask(framing.START, request, framing.STARTED)
        except BaseException:
            self.stream.drop_descriptors()
            raise
        self._started(said)
        if again and said.get("again"):
            self.stream.drop_descriptors()
        else:
            window = request.get("window") or DEFAULT_WINDOW
            most = request.get("ring") or DEFAULT_RING
            fd = self.stream.take_descriptor()
            self.ring = Ring(self.stream, fd, int(said.get("ring", 0)), window, most, self._pin, self._copy)
        self._tensors.load()  # while the first batch is computed

    def stop(self) -> None:
        """End the reader, whether or not it has already ended, and give back batches in flight.

        Each reader ends with one frame, `stopped` or an error.
        """
        self.stream.request(framing.STOP)
        while True:
            kind, at, size = self.stream.receive()
            if kind == framing.BATCH:
                self.stream.release(_BATCH.unpack_from(self.stream.buffer, at)[1])
            elif kind in (framing.STOPPED, framing.ERROR):
                break
            elif kind not in (framing.LAYOUT, framing.EPOCH):
                self._other(kind, at, size)
        self.stream.whole = True

    def take(self) -> Batch | None:
        """Return the next batch, or None at the end of an epoch; give back slots that are not in use."""
        if self.ring is not None:
            self.stream.whole = False
            self.ring.collect()
        return super().take()

    def _memory(self, slot: int, begin: int, taken: int, total: int) -> Any:
        if self.ring is None:
            raise ProtocolError("the server sent a batch without a ring")
        return self.ring.look(slot, begin, taken, total)

    def _ask_for(self, samples: list[int]) -> None:
        if self.ring is None:
            self.start({"window": 0})
        self.stream.request(framing.GET, as_json({"samples": samples}))

    def _ask(self, kind: int, request: dict[str, Any], reply: int) -> dict[str, Any]:
        self.stream.request(kind, as_json(request))
        return self._reply(reply)


def as_json(request: dict[str, Any]) -> bytes:
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
