"""Send and receive frames over a socket: the outermost layer of the protocol."""

from __future__ import annotations

import os
import select
import socket
import struct
import weakref
from collections.abc import Callable

from ..errors import ProtocolError

HELLO, WELCOME, OPEN, OPENED, START, STARTED, STOP, STOPPED = range(1, 9)
LAYOUT, BATCH, RELEASE, EPOCH, ERROR, NOTE, GET, GOT, STATUS, STATUSES, END = range(9, 20)
KEEP, FUNCTION, FUNCTIONED, CALL, RESULTS, COMPUTE, ABOUT, COMPUTED, FORGET, FORGOTTEN, WHY, WHYS = range(21, 33)

MOST_REQUEST = 16 << 20
MOST_REPLY = 64 << 20

_HEADER = struct.Struct("<IHH")
_FIRST_BUFFER = 1 << 16
_SOON = 10  # milliseconds after which a wait is a long one
_WAKE = 1000  # and after which it checks again for slots that could not be given back
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_EAGER = 20 if _AT_ONCE else 0  # attempts to receive before a wait, as waking from sleep takes longer
_CLOSED_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


Settle = Callable[[bool], None]

_streams: weakref.WeakSet[Stream] = weakref.WeakSet()


def _nothing() -> Settle | None:
    return None


class Lost(Exception):
    """The connection ended without a message of either side."""


class Stream:
    """Sends and receives frames over one socket.

    One thread at a time uses it.
    """

    def __init__(self, connection: socket.socket, space: int = _FIRST_BUFFER) -> None:
        self.socket = connection
        self.buffer = bytearray(space)
        self.whole = True
        """Whether everything received was handled: True while waiting for a frame."""
        self.view = memoryview(self.buffer)
        self._start = 0
        self._end = 0
        self.closed = False
        self._unsent: list[int] = []
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._fds: list[int] | None = None
        self.before_waiting: Callable[[], Settle | None] = _nothing
        """Returns the action before a wait, if any, which receives whether the wait is long:
        a weak reference.
        """
        _streams.add(self)

    def __del__(self) -> None:
        self.socket.close()

    def close(self) -> None:
        """Close the connection. Mapped memory stays valid."""
        self.closed = True
        self._start = self._end = 0
        self._unsent.clear()
        self.socket.close()
        self.drop_descriptors()

    def request(self, kind: int, body: bytes = b"") -> None:
        """Send one frame."""
        if len(body) > MOST_REQUEST:
            raise ProtocolError(f"a request of {len(body)} bytes exceeds {MOST_REQUEST} bytes; make smaller requests")
        self.send(_HEADER.pack(len(body), kind, 0) + body)

    def send(self, frames: bytes | bytearray) -> None:
        """Send encoded frames."""
        if self.closed:
            raise Lost("the connection is closed")
        try:
            self.socket.sendall(frames)
        except OSError as error:
            raise Lost(str(error)) from error

    def release(self, slot: int, others: int = 0) -> None:
        """Give a slot back, now or soon, without waiting.

        It may be delayed until more than `others` slots are pending, or until a wait, as each send
        costs both sides some microseconds.
        """
        self._unsent.append(slot)
        if len(self._unsent) > others:
            self.flush()

    def flush(self) -> None:
        """Give back the delayed slots, unless that would wait."""
        if self._unsent and not self.closed and self._tell(RELEASE, self._unsent):
            self._unsent.clear()

    def keep(self, slots: list[int]) -> bool:
        """Report slots as in use, unless that would wait; return whether the frame was sent."""
        return not self.closed and self._tell(KEEP, slots)

    def _tell(self, kind: int, slots: list[int]) -> bool:
        frame = _HEADER.pack(4 * len(slots), kind, 0) + struct.pack(f"<{len(slots)}I", *slots)
        return self._send_at_once(frame)

    def _send_at_once(self, frame: bytes) -> bool:
        """Send a frame; return False if that would wait."""
        try:
            sent = self.socket.send(frame, _AT_ONCE)
            if sent < len(frame):
                self.socket.sendall(frame[sent:])
        except BlockingIOError:
            return False
        except OSError:
            pass  # the next receive sees that the connection has ended
        return True

    def receive_soon(self) -> int:
        """Receive into the beginning of the empty buffer, polling for about 20 us first; return the number of bytes.

        They are not treated as frames before `hold`.
        """
        receive, view = self.socket.recv_into, self.view
        for _ in range(_EAGER):
            try:
                return receive(view, 0, _AT_ONCE)
            except BlockingIOError:
                pass
        return receive(view)

    def hold(self, size: int) -> None:
        """Take bytes at the beginning of the buffer for the beginning of the next frames."""
        self._start, self._end = 0, size

    def receive(self) -> tuple[int, int, int]:
        """Return the next frame: its kind, the position of its body in `buffer`, and its size.

        The body is valid until the next call.
        """
        self.whole = False
        while True:
            at, have = self._start, self._end - self._start
            if have >= 8:
                size, kind, zero = _HEADER.unpack_from(self.buffer, at)
                if have >= 8 + size:
                    self._start = at + 8 + size
                    return kind, at + 8, size
                self._check(size, zero)
                self._make_room(8 + size)
            else:
                self._make_room(8)
            self._fill()

    def _check(self, size: int, zero: int) -> None:
        if zero != 0 or size > MOST_REPLY:
            raise ProtocolError("the server sent unexpected data; use one version of larder for client and server")

    def _make_room(self, size: int) -> None:
        """Make space for a frame of that size after the bytes in the buffer."""
        if self._start == self._end:
            self._start = self._end = 0
        if len(self.buffer) - self._start >= max(size, _FIRST_BUFFER // 4):
            return
        rest = self.buffer[self._start : self._end]
        if size > len(self.buffer):
            self.buffer = bytearray(max(size, 2 * len(self.buffer)))
            self.view = memoryview(self.buffer)
        self.buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)

    def _fill(self) -> None:
        """Receive at least one byte."""
        self.flush()
        waited = 0
        while not self._receive_some():
            settle = self.before_waiting()
            if settle is not None:
                settle(waited > 0)
            self.flush()
            self.whole = True  # an interrupt while waiting takes nothing
            self._poll.poll(_WAKE if waited else _SOON)
            self.whole = False
            waited += 1

    def _receive_some(self) -> bool:
        if self.closed:
            raise Lost("the connection is closed")
        try:
            if self._fds is None:
                n = self.socket.recv_into(self.view[self._end :], 0, _AT_ONCE)
            else:
                n = self._receive_descriptors(self._fds)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Lost(str(error)) from error
        if n == 0:
            raise Lost("the server closed the connection")
        self._end += n
        return True

    def _receive_descriptors(self, into: list[int]) -> int:
        space = len(self.buffer) - self._end
        data, fds, _, _ = socket.recv_fds(self.socket, space, 4, _AT_ONCE | _CLOSED_ON_EXEC)
        for fd in fds:
            os.set_inheritable(fd, False)
        into.extend(fds)
        self.buffer[self._end : self._end + len(data)] = data
        return len(data)

    def expect_descriptors(self) -> None:
        """Accept file descriptors from now on."""
        if self._fds is None:
            self._fds = []

    def take_descriptor(self) -> int:
        """Return the only file descriptor received, and accept no others."""
        fds, self._fds = self._fds or [], None
        if len(fds) != 1:
            for fd in fds:
                os.close(fd)
            raise ProtocolError(f"the server sent {len(fds)} files with the ring, which is one")
        return fds[0]

    def drop_descriptors(self) -> None:
        """Close received file descriptors, and accept no others."""
        fds, self._fds = self._fds or [], None
        for fd in fds:
            os.close(fd)


def _leave() -> None:
    """In a child: leave the connections to the parent, sending nothing to the server."""
    for stream in list(_streams):
        stream.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave)
