"""Exchange the frames of calls with the server over one connection."""

from __future__ import annotations

import json
import socket
import struct
import sys
from typing import Any

from ..errors import ProtocolError, error_of
from . import framing
from .framing import Lost
from .mapped_file import mapped
from .messages import BYTES, ERROR, FILE, Computed, Function, Outcome

_BUFFER = 1 << 17
"""The first size of a buffer, for results that come with one system call."""
_PIECE = 4 << 20
_LAST = 1  # flag of a frame of results: the last one of the reply
_MORE = 1  # flag of an entry: more pieces of it follow
_COMPUTED_MORE, _COMPUTED_FAILED, _COMPUTED_LAST = 1, 2, 4
CALL = struct.Struct("<IHHIIQ")
_COMPUTED = struct.Struct("<IHHQII")
_ENTRY = struct.Struct("<IBBHQI")
ONE_RESULT = struct.Struct("<IHHIIBBHQI")
"""The head of a frame of results with one entry, up to its body."""


class Connection:
    """A connection to a server, used by one call at a time."""

    __slots__ = ("digests", "functions", "stream")

    def __init__(self, connected: socket.socket) -> None:
        self.stream = framing.Stream(connected, _BUFFER)
        self.functions: dict[tuple[str, bytes], int] = {}
        self.digests: dict[tuple[str, str], int] = {}
        """Functions whose parts the server has not received."""
        client = "larder for Python " + ".".join(map(str, sys.version_info[:3]))
        self.ask(framing.HELLO, {"protocol": [1], "client": client}, framing.WELCOME)

    def close(self) -> None:
        self.stream.close()

    def number(self, function: Function) -> int:
        """Return the number of a function, which is sent to the server once."""
        found = self.functions.get((function.name, function.identifier))
        if found is None:
            found = self.functions[function.name, function.identifier] = self._register(function, function.code())
        return found

    def number_without_parts(self, function: Function) -> int:
        """Return a number of a function whose parts the server need not receive."""
        if not function.digest or (function.name, function.identifier) in self.functions:
            return self.number(function)
        found = self.digests.get((function.name, function.digest))
        if found is None:
            registered = self._register(function, {"digest": function.digest})
            found = self.digests[function.name, function.digest] = registered
        return found

    def _register(self, function: Function, code: dict[str, Any]) -> int:
        reply = self.ask(framing.FUNCTION, {"name": function.name, "code": code}, framing.FUNCTIONED)
        return int(reply["function"])

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

    def exchange(self, outcomes: list[Outcome | None]) -> tuple[int, list[int]] | None:
        """Read a reply: fill in outcomes, or return the token and the items to compute."""
        try:
            return self._outcomes(outcomes)
        except (struct.error, IndexError) as error:
            raise ProtocolError("the server sent results that end early; use one version of larder for both") from error

    def _outcomes(self, outcomes: list[Outcome | None]) -> tuple[int, list[int]] | None:
        pieces: dict[int, list[bytes]] = {}
        while True:
            kind, body = self.reply(framing.RESULTS, framing.COMPUTE)
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
                outcomes[index] = _outcome(how, origin, size, piece)
            if last:
                return None

    def deliver(self, token: int, items: list[tuple[int, Computed]]) -> None:
        """Send computed results, in pieces."""
        about = [{"index": i, "arguments": computed.about()} for i, computed in items if computed.about is not None]
        for at in range(0, len(about), 1000):
            body = json.dumps({"token": token, "items": about[at : at + 1000]}, separators=(",", ":")).encode()
            self.stream.request(framing.ABOUT, body)
        out = bytearray()
        for k, (i, computed) in enumerate(items):
            final = _COMPUTED_LAST if k == len(items) - 1 else 0
            if computed.encoded is None:
                error = computed.error.encode("utf-8", "replace")[:1000]
                out += _COMPUTED.pack(16 + len(error), framing.COMPUTED, 0, token, i, _COMPUTED_FAILED | final) + error
            else:
                view = memoryview(computed.encoded)
                for at in range(0, max(1, len(view)), _PIECE):
                    piece = view[at : at + _PIECE]
                    flags = _COMPUTED_MORE if at + _PIECE < len(view) else final
                    out += _COMPUTED.pack(16 + len(piece), framing.COMPUTED, 0, token, i, flags)
                    out += piece
                    if len(out) >= _PIECE:
                        self.stream.send(out)
                        out = bytearray()
        self.stream.send(out)


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


def _outcome(how: int, origin: int, size: int, body: bytes) -> Outcome:
    if how == BYTES:
        return Outcome(how, body)
    if how == FILE:
        return Outcome(how, mapped(body, size))
    return Outcome(how, text=body.decode("utf-8", "replace"), cycle=how == ERROR and origin == 1)
