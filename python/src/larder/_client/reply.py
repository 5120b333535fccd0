"""Read frames of replies of a remote server, prefetched by a thread."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from ..errors import ProtocolError
from . import framing
from .framing import Lost
from .remote import Remote

DATA = 20

_MOST_BATCH = 1 << 30
"""The maximum size in bytes of a batch of another machine."""
_HEADER = struct.Struct("<IHH")
_LAST = (framing.STOPPED, framing.GOT, framing.ERROR)

Rooms = Callable[[int], Any]
"""Allocates memory of a given size for a batch."""


class Frame(NamedTuple):
    """A frame, with the memory of the batch if it holds one."""

    kind: int
    body: bytearray
    memory: Any = None


class Reply:
    """Reads the frames of one reply; raises `Lost` for a reply that is invalid or breaks off."""

    def __init__(self, response: http.client.HTTPResponse, rooms: Rooms) -> None:
        self._response = response
        self._rooms = rooms
        self.ended = False

    def next(self, wait: Callable[[int], None] | None = None) -> Frame:
        """Return the next frame, waiting for memory before the bytes of a batch are read."""
        kind, size = self._header()
        if size > framing.MOST_REPLY or kind == DATA:
            raise ProtocolError("the server sent unexpected data; use one version of larder for client and server")
        body = bytearray(size)
        self._fill(body)
        if kind in _LAST:
            self.ended = True
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                self._response.read(1)  # its end, so that the connection can be reused
        if kind != framing.BATCH:
            return Frame(kind, body)
        data, size = self._header()
        if data != DATA:
            raise ProtocolError("the server sent a batch without its bytes")
        if size > _MOST_BATCH:
            raise ProtocolError(f"the server sent a batch of {size} bytes; {_MOST_BATCH} are the most")
        if wait is not None:
            wait(size)
        memory = self._rooms(size)
        self._fill(memory)
        return Frame(kind, body, memory)

    def _header(self) -> tuple[int, int]:
        head = bytearray(8)
        self._fill(head)
        size, kind, zero = _HEADER.unpack(head)
        if zero != 0:
            raise ProtocolError("the server sent unexpected data; use one version of larder for client and server")
        return kind, size

    def _fill(self, memory: Any) -> None:
        view = memoryview(memory).cast("B")
        while len(view) > 0:
            try:
                n = self._response.readinto(view)
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise Lost(_what(error)) from error
            if n == 0:
                raise Lost("the connection was interrupted")
            view = view[n:]

    def close(self) -> None:
        """Close the reply."""
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            self._response.close()


def _what(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no data for a minute"
    return "the connection was interrupted" if isinstance(error, http.client.IncompleteRead) else str(error)


class Ahead:
    """Prefetches a reply, in a thread of its own.

    At most `window` batches, or `most` bytes of them, wait to be taken; a larger batch waits
    alone. The thread and the consumer share no lock, as the consumer may be interrupted or end
    at any moment.
    """

    def __init__(self, connection: http.client.HTTPConnection, reply: Reply, window: int, most: int) -> None:
        self._connection = connection
        self._reply = reply
        self._window = window
        self._most = most
        self._frames: deque[Frame | BaseException] = deque()
        self._came: SimpleQueue[None] = SimpleQueue()  # one for each of the frames
        self._taken: SimpleQueue[int] = SimpleQueue()  # bytes of batches that were taken; negative: stop
        self._waiting: deque[int] = deque()  # used by the thread: bytes of batches not yet taken
        threading.Thread(target=self._read, name="larder reads ahead", daemon=True).start()

    def _read(self) -> None:
        try:
            while not self._reply.ended:
                self._put(self._reply.next(self._room))
        except BaseException as error:
            self._put(error)
        finally:
            self._reply.close()
            self._connection.close()

    def _put(self, frame: Frame | BaseException) -> None:
        self._frames.append(frame)
        self._came.put(None)

    def _room(self, size: int) -> None:
        """Wait until there is space for a batch."""
        while self._waiting and (len(self._waiting) >= self._window or sum(self._waiting) + size > self._most):
            if self._taken.get() < 0:
                raise Lost("it was closed")
            self._waiting.popleft()
        with contextlib.suppress(Empty):
            while self._taken.get_nowait() >= 0:
                self._waiting.popleft()
            raise Lost("it was closed")
        self._waiting.append(size)

    def take(self) -> Frame | None:
        """Return a received frame, or None; raise an error after all frames before it were taken."""
        if not self._frames:
            return None
        frame = self._frames.popleft()
        with contextlib.suppress(Empty):
            self._came.get_nowait()
        if isinstance(frame, BaseException):
            self._frames.append(frame)  # the next call raises it again
            raise frame
        if frame.memory is not None:
            self._taken.put(memoryview(frame.memory).nbytes)
        return frame

    def wait(self) -> None:
        """Wait until there is something to take."""
        self._came.get()

    def close(self) -> None:
        """End the thread and its connection."""
        self._taken.put(-1)
        _shut(self._connection)

    def leave(self) -> None:
        """In a child: leave the connection to the parent."""
        _detach(self._connection)


def _shut(connection: http.client.HTTPConnection) -> None:
    """Make a read from a connection in another thread end."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)  # without the messages of TLS


def _detach(connection: http.client.HTTPConnection) -> None:
    """Close a descriptor, and nothing else."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            os.close(connection.sock.detach())


_streams: weakref.WeakSet[RemoteStream] = weakref.WeakSet()


class RemoteStream:
    """Frames from a server on another machine, in replies to requests.

    One thread at a time uses it, like a `Stream`.
    """

    def __init__(self, remote: Remote, rooms: Rooms) -> None:
        self.remote = remote
        self.buffer = bytearray()
        """The body of the last frame."""
        self.memory: Any = None
        """The memory of the last batch."""
        self.whole = True
        self.closed = False
        self._rooms = rooms
        self._connection: http.client.HTTPConnection | None = None
        self._reply: Reply | None = None
        self._ahead: Ahead | None = None
        _streams.add(self)

    def __del__(self) -> None:
        self.close()

    def request(self, path: str, body: bytes) -> None:
        """Post a request, whose reply is received from now on."""
        if len(body) > framing.MOST_REQUEST:
            raise ProtocolError(f"a request of {len(body)} bytes; {framing.MOST_REQUEST} are the most")
        self.whole = False
        self.hang_up()
        if self._connection is None:
            self._connection = self.remote.connection()
            self.remote.connect(self._connection)
        self._reply = Reply(self.remote.post(self._connection, path, body), self._rooms)

    def read_ahead(self, window: int, most: int) -> None:
        """Make a thread read the rest of the reply."""
        connection, self._connection = self._connection, None  # it belongs to the thread
        if connection is not None and self._reply is not None:
            self._ahead = Ahead(connection, self._reply, window, most)

    def receive(self) -> tuple[int, int, int]:
        """Return the next frame: its kind, the position of its body in `buffer`, and its size."""
        self.whole = False
        frame = self._next()
        self.buffer, self.memory = frame.body, frame.memory
        return frame.kind, 0, len(frame.body)

    def _next(self) -> Frame:
        if self.closed or self._reply is None:
            raise Lost("the connection is closed")
        if self._ahead is None:
            return self._reply.next()
        while True:
            frame = self._ahead.take()
            if frame is not None:
                return frame
            self.whole = True  # an interrupt while waiting takes nothing
            self._ahead.wait()
            self.whole = False

    def hang_up(self) -> None:
        """End the reply, keeping the connection if it was read to the end."""
        reply, self._reply, ahead, self._ahead = self._reply, None, self._ahead, None
        if reply is None or (ahead is None and reply.ended):
            return
        if ahead is not None:
            ahead.close()
            return
        connection, self._connection = self._connection, None
        reply.close()
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Close the connection. What it returned stays valid."""
        self.closed = True
        self.hang_up()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def leave(self) -> None:
        """In a child: leave the connection to the parent, and its thread, which does not exist here."""
        self.closed = True
        connection, self._connection, ahead, self._ahead = self._connection, None, self._ahead, None
        self._reply = None
        if connection is not None:
            _detach(connection)
        if ahead is not None:
            ahead.leave()


def _leave() -> None:
    for stream in list(_streams):
        stream.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave)
