"""Request results of functions from the server, and compute missing ones in this process."""

from __future__ import annotations

import contextvars
import json
import mmap
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import Error, ProtocolError, ServerError, error_of
from . import framing, server
from .framing import Lost

T = TypeVar("T")

FIND, AGAIN, INLINE = 1, 2, 4
"""Flags of calls: compute nothing; delete the cached result first; return no files."""

BYTES, FILE, KEPT, UNKEPT, FAILED, ERROR, NONE = range(7)
"""Kinds of outcomes. The result as bytes, or in a file. Computed here: cached, not cached, or failed.
ERROR: the server has a reason why there is no result. NONE: not cached, and FIND was set.
"""

_TRIES = 3
_ROOM = 1 << 17
"""The first size of a buffer, for results that come with one system call."""
_PIECE = 4 << 20
_LAST = 1  # flag of a frame of results: the last one of the reply
_MORE = 1  # flag of an entry: more pieces of it follow
_MADE_MORE, _MADE_FAILED, _MADE_LAST = 1, 2, 4
_CALL = struct.Struct("<IHHIIQ")
_MADE = struct.Struct("<IHHQII")
_ENTRY = struct.Struct("<IBBHQI")
_ONE = struct.Struct("<IHHIIBBHQI")
"""The head of a frame of results with one entry, up to its body."""

_within: contextvars.ContextVar[int] = contextvars.ContextVar("larder_within", default=0)
"""The computation in progress here, on whose behalf further results are requested."""


@dataclass(slots=True)
class Function:
    """A function as the server identifies it."""

    name: str
    known_by: bytes
    """Distinguishes it from other functions in this process."""
    code: Callable[[], dict[str, Any]]
    """Returns the identity of its code in the terms of the protocol."""
    near: dict[bytes, Any] = field(default_factory=dict)
    """Results that this process has seen: small ones, and locations of large ones. Other code has another dict."""
    digest: str = ""
    """The digest in `code`, if known before the parts. `claim` then computes the parts only for a computation."""


@dataclass(slots=True)
class Made:
    """A computed result: the encoding, or the reason why there is none."""

    encoded: bytes | bytearray | None
    error: str = ""
    about: Callable[[], list[dict[str, str]]] | None = None
    """Returns a description of the arguments."""


@dataclass(slots=True)
class Outcome:
    """The outcome for one item: its kind, and the encoding if it was not computed here."""

    kind: int
    encoded: Any = None
    text: str = ""
    cycle: bool = False


@dataclass(slots=True, frozen=True)
class Claim:
    """A result that this process must compute, while others wait for it."""

    function: Function
    digest: bytes
    token: int


class _Link:
    """A connection, used by one call at a time."""

    __slots__ = ("digests", "functions", "stream")

    def __init__(self, connected: socket.socket) -> None:
        self.stream = framing.Stream(connected, _ROOM)
        self.functions: dict[tuple[str, bytes], int] = {}
        self.digests: dict[tuple[str, str], int] = {}
        """Functions whose parts the server has not received."""
        client = "larder for Python " + ".".join(map(str, sys.version_info[:3]))
        self.ask(framing.HELLO, {"protocol": [1], "client": client}, framing.WELCOME)

    def close(self) -> None:
        self.stream.close()

    def number(self, function: Function) -> int:
        """Return the number of a function, which is sent to the server once."""
        found = self.functions.get((function.name, function.known_by))
        if found is None:
            found = self.functions[function.name, function.known_by] = self._tell(function, function.code())
        return found

    def number_without_parts(self, function: Function) -> int:
        """Return a number of a function whose parts the server need not receive."""
        if not function.digest or (function.name, function.known_by) in self.functions:
            return self.number(function)
        found = self.digests.get((function.name, function.digest))
        if found is None:
            told = self._tell(function, {"digest": function.digest})
            found = self.digests[function.name, function.digest] = told
        return found

    def _tell(self, function: Function, code: dict[str, Any]) -> int:
        said = self.ask(framing.FUNCTION, {"name": function.name, "code": code}, framing.FUNCTIONED)
        return int(said["function"])

    def ask(self, kind: int, request: dict[str, Any], wanted: int) -> dict[str, Any]:
        """Send a request and return its reply."""
        self.stream.request(kind, json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode())
        return _object(self.reply(wanted)[1])

    def reply(self, *wanted: int) -> tuple[int, bytes]:
        """Return the kind and the body of the next frame, which must be of a wanted kind."""
        while True:
            kind, at, size = self.stream.receive()
            if kind == framing.NOTE:
                continue
            body = bytes(self.stream.view[at : at + size])
            if kind in wanted:
                return kind, body
            if kind == framing.ERROR:
                raise _error(body)
            raise ProtocolError(f"the server sent a frame of kind {kind} where it may not")


def _object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a frame."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise ProtocolError("the server sent a frame without a JSON object; use one version of larder for both")
    return said


def _error(body: bytes) -> Exception:
    said = _object(body)
    if said.get("code") == "ending":
        return Lost(str(said.get("text")))
    return error_of(said.get("code"), said.get("text", ""))


class Client:
    """A client of the server of a cache directory; each call uses one of its connections.

    May be used by many threads, and after a fork.
    """

    def __init__(self, cache: str | os.PathLike[str] | None) -> None:
        self._cache = cache
        self._address: server.Address | None = None
        self._free: list[_Link] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._drop)

    def __del__(self) -> None:
        self._drop()

    def _take(self) -> _Link:
        try:
            return self._free.pop()
        except IndexError:
            pass
        if self._address is None:
            self._address = server.address(self._cache)
        connected = server.connect(self._address, _nothing)
        try:
            return _Link(connected)
        except BaseException:
            connected.close()
            raise

    def one(self, function: Function, digest: bytes, flags: int = 0) -> Any:
        """Return the encoding of the cached result for one set of arguments, or None.

        This is the fastest path, for small cached results. For any other outcome `get` must ask
        again.
        """
        try:
            link = self._free.pop()
        except IndexError:
            return None
        number = link.functions.get((function.name, function.known_by))
        if number is None:
            self._free.append(link)
            return None
        stream = link.stream
        try:
            stream.socket.sendall(_CALL.pack(48, framing.CALL, 0, number, flags | FIND, _within.get()) + digest)
            n = stream.receive_soon()
        except OSError:
            link.close()
            return None
        except BaseException:
            link.close()
            raise
        if n >= 32:
            size, kind, _, last, _, how, _, more, _, length = _ONE.unpack_from(stream.buffer)
            if kind == framing.RESULTS and n == size + 8 == length + 32 and last and how == BYTES and not more:
                encoded = bytes(stream.view[32:n])
                self._free.append(link)
                return encoded
        stream.hold(n)
        outcomes: list[Outcome | None] = [None]
        try:
            self._exchange(link, outcomes)
        except Lost:
            link.close()
            self._drop()
            return None
        except BaseException:
            link.close()
            raise
        self._free.append(link)
        outcome = outcomes[0]
        return outcome.encoded if outcome is not None and outcome.kind in (BYTES, FILE) else None

    def get(
        self,
        function: Function,
        digests: Sequence[bytes],
        compute: Callable[[list[int]], list[Made]],
        flags: int = 0,
    ) -> list[Outcome]:
        """Return the outcome of each item; `compute` computes missing ones, given their positions."""
        made: dict[int, Made] = {}
        for attempt in range(_TRIES + 1):
            try:
                return self._attempt(function, digests, compute, flags, made)
            except Lost as error:
                if attempt == _TRIES:
                    words = self._address.last_words() if self._address else ""
                    raise ServerError(f"the server was lost {attempt} times in a row ({error}); {words}") from error
                self._drop()
        raise AssertionError

    def claim(self, function: Function, digest: bytes, within: int = 0, flags: int = 0) -> Outcome | Claim:
        """Return the outcome of one item, or a claim that this process must compute and deliver.

        `within` is the token of the computation that needs the result, if there is one.
        """
        outcomes: list[Outcome | None] = [None]

        def ask(link: _Link) -> tuple[int, list[int]] | None:
            number = link.number_without_parts(function)
            link.stream.send(_CALL.pack(48, framing.CALL, 0, number, flags | INLINE, within) + digest)
            asked = self._exchange(link, outcomes)
            if asked is not None:
                link.number(function)
            return asked

        asked = self._with_link(ask)
        if asked is not None:
            return Claim(function, digest, asked[0])
        return outcomes[0] or Outcome(UNKEPT, text="the server gave it up")

    def deliver(self, claim: Claim, made: Made) -> Outcome:
        """Deliver a claimed result, or the reason why there is none, to the next server if this one was lost."""
        outcomes: list[Outcome | None] = [None]
        link: _Link | None = None
        try:
            link = self._take()
            _send_made(link, claim.token, [(0, made)])
            self._exchange(link, outcomes)
        except Lost:
            if link is not None:
                link.close()
            self._drop()
            if made.encoded is None:
                return Outcome(FAILED)
            return self.get(claim.function, [claim.digest], lambda which: [made])[0]
        except BaseException:
            if link is not None:
                link.close()
            raise
        self._free.append(link)
        return outcomes[0] or Outcome(UNKEPT, text="the server gave it up")

    def _drop(self) -> None:
        """Close unused connections, which belong to the lost server."""
        while self._free:
            self._free.pop().close()
        self._address = None  # the program may be another one now

    def _attempt(
        self,
        function: Function,
        digests: Sequence[bytes],
        compute: Callable[[list[int]], list[Made]],
        flags: int,
        made: dict[int, Made],
    ) -> list[Outcome]:
        outcomes: list[Outcome | None] = [None] * len(digests)
        asked: tuple[int, list[int]] | None = None
        while True:
            link = self._take()
            try:
                if asked is None:
                    head = _CALL.pack(
                        16 + 32 * len(digests), framing.CALL, 0, link.number(function), flags, _within.get()
                    )
                    link.stream.send(head + b"".join(digests))
                else:
                    _send_made(link, asked[0], [(i, made[i]) for i in asked[1]])
                asked = self._exchange(link, outcomes)
            except Error as error:
                if isinstance(error, ServerError):
                    link.close()
                else:
                    self._free.append(link)
                raise
            except BaseException:
                link.close()
                raise
            self._free.append(link)
            if asked is None:
                return [outcome or Outcome(UNKEPT, text="the server gave it up") for outcome in outcomes]
            missing = [i for i in asked[1] if i not in made]
            if missing:
                before = _within.set(asked[0])
                try:
                    made |= zip(missing, compute(missing), strict=True)
                except BaseException as error:  # also an interrupt
                    self._abandon(asked[0], asked[1], error)
                    raise
                finally:
                    _within.reset(before)

    def _abandon(self, token: int, items: list[int], error: BaseException) -> None:
        """Report that a computation gives no result, so that no process waits for it."""
        failed = [(i, Made(None, type(error).__name__)) for i in items]
        try:
            link = self._take()
            try:
                _send_made(link, token, failed)
            finally:
                link.close()
        except (Lost, Error):
            pass  # the server that knew of it has gone

    def _exchange(self, link: _Link, outcomes: list[Outcome | None]) -> tuple[int, list[int]] | None:
        """Read a reply: fill in outcomes, or return the token and the items to compute."""
        try:
            return self._reply(link, outcomes)
        except (struct.error, IndexError) as error:
            raise ProtocolError("the server sent results that end early; use one version of larder for both") from error

    def _reply(self, link: _Link, outcomes: list[Outcome | None]) -> tuple[int, list[int]] | None:
        pieces: dict[int, list[bytes]] = {}
        while True:
            kind, body = link.reply(framing.RESULTS, framing.COMPUTE)
            if kind == framing.COMPUTE:
                token, *numbers = struct.unpack_from(f"<Q{(len(body) - 8) // 4}I", body)
                return token, numbers
            last, at = struct.unpack_from("<I", body)[0] & _LAST, 4
            while at < len(body):
                index, how, origin, more, size, length = _ENTRY.unpack_from(body, at)
                at += _ENTRY.size
                piece = body[at : at + length]
                at += length
                if more & _MORE:
                    pieces.setdefault(index, []).append(piece)
                    continue
                if index in pieces:
                    piece = b"".join([*pieces.pop(index), piece])
                outcomes[index] = self._outcome(how, origin, size, piece)
            if last:
                return None

    def _outcome(self, how: int, origin: int, size: int, body: bytes) -> Outcome:
        if how == BYTES:
            return Outcome(how, body)
        if how == FILE:
            return Outcome(how, _mapped(body, size))
        return Outcome(how, text=body.decode("utf-8", "replace"), cycle=how == ERROR and origin == 1)

    def forget(self, function: Function, digests: Sequence[bytes]) -> None:
        """Delete cached results."""

        def ask(link: _Link) -> None:
            body = struct.pack("<IIQ", link.number(function), 0, 0) + b"".join(digests)
            link.stream.request(framing.FORGET, body)
            link.reply(framing.FORGOTTEN)

        self._with_link(ask)

    def why(self, function: Function, digest: bytes, arguments: list[dict[str, str]]) -> dict[str, Any]:
        """Return whether a result is cached, and how it differs from the most similar one."""
        said: dict[str, Any] = {}

        def ask(link: _Link) -> None:
            request = {"function": link.number(function), "digest": shown(digest), "arguments": arguments}
            said.update(link.ask(framing.WHY, request, framing.WHYS))

        self._with_link(ask)
        return said

    def _with_link(self, ask: Callable[[_Link], T]) -> T:
        for attempt in range(_TRIES + 1):
            link: _Link | None = None
            try:
                link = self._take()
                answer = ask(link)
            except Lost as error:
                if link is not None:
                    link.close()
                words = self._address.last_words() if self._address else ""
                self._drop()
                if attempt == _TRIES:
                    raise ServerError(f"the server was lost {attempt} times in a row ({error}); {words}") from error
                continue
            except BaseException:
                if link is not None:
                    link.close()
                raise
            self._free.append(link)
            return answer
        raise AssertionError


def _nothing() -> None:
    pass


def _send_made(link: _Link, token: int, items: list[tuple[int, Made]]) -> None:
    """Send computed results, in pieces."""
    about = [{"index": i, "arguments": made.about()} for i, made in items if made.about is not None]
    for at in range(0, len(about), 1000):
        body = json.dumps({"token": token, "items": about[at : at + 1000]}, separators=(",", ":")).encode()
        link.stream.request(framing.ABOUT, body)
    out = bytearray()
    for k, (i, made) in enumerate(items):
        final = _MADE_LAST if k == len(items) - 1 else 0
        if made.encoded is None:
            error = made.error.encode("utf-8", "replace")[:1000]
            out += _MADE.pack(16 + len(error), framing.MADE, 0, token, i, _MADE_FAILED | final) + error
        else:
            view = memoryview(made.encoded)
            for at in range(0, max(1, len(view)), _PIECE):
                piece = view[at : at + _PIECE]
                flags = _MADE_MORE if at + _PIECE < len(view) else final
                out += _MADE.pack(16 + len(piece), framing.MADE, 0, token, i, flags)
                out += piece
                if len(out) >= _PIECE:
                    link.stream.send(out)
                    out = bytearray()
    link.stream.send(out)


class Mapped(mmap.mmap):
    """A mapped file of the store, which is writable memory whose changes stay private."""

    __slots__ = ("place",)
    place: Place
    """The location under which it is found again."""


class Place:
    """A file of the store as the server named it, which for a second is found again without the server.

    The time is bounded so that the server learns which results are in use.
    """

    __slots__ = ("path", "stamp", "until")

    def __init__(self, path: bytes, status: os.stat_result) -> None:
        self.path = path
        self.stamp = _stamp(status)
        self.until = time.monotonic() + _SECOND

    def mapped(self) -> Mapped | None:
        """Return the mapped file, unless it was replaced or the server must be asked."""
        return _mapped(self.path, self.stamp[1], self) if time.monotonic() < self.until else None


_SECOND = 1.0
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _mapped(path: bytes, size: int, place: Place | None = None) -> Mapped | None:
    """Return a mapped file of a given size, also the same file as `place` if given, or None."""
    try:
        file = os.open(path, _READ)
    except OSError:
        return None  # it was removed in the meantime
    try:
        status = os.fstat(file)
        if status.st_size != size or (place is not None and _stamp(status) != place.stamp):
            return None
        made = Mapped(file, size, access=mmap.ACCESS_COPY)
    finally:
        os.close(file)
    made.place = place or Place(path, status)
    return made


def shown(digest: bytes) -> str:
    """Return a digest as the protocol writes it."""
    return "d1-" + digest.hex()


_clients: dict[tuple[str | None, ...], Client] = {}
_PLACES = ("LARDER_CACHE", "LARDER_BIN", "XDG_RUNTIME_DIR", "TMPDIR", "XDG_CACHE_HOME", "HOME")
"""The variables that determine the server of the default cache directory."""


def client_of(cache: str | os.PathLike[str] | None) -> Client:
    """Return the client of a cache directory."""
    folder = None if cache is None else os.path.abspath(os.fspath(cache))
    place = (folder, *map(os.environ.get, _PLACES))
    found = _clients.get(place)
    if found is None:
        found = _clients.setdefault(place, Client(folder))
    return found
