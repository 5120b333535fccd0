"""Test servers that end or answer incorrectly: every call returns a result or raises an error of Larder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._client import framing
from larder._client import server as _server
from larder._results import encode
from larder.lazy import Lazy, unlazy

HEAD = struct.Struct("<IHH")
RESULT = struct.Struct("<IHHIIQ")


def frame(kind: int, body: bytes) -> bytes:
    return HEAD.pack(len(body), kind, 0) + body


def results(index: int, how: int, body: bytes) -> bytes:
    """Return a frame of results with one entry."""
    return frame(framing.RESULTS, struct.pack("<IIBBHQI", 1, index, how, 0, 0, len(body), len(body)) + body)


ANSWERS: dict[str, bytes] = {
    "nothing": b"",
    "half a head": b"\x10\x00",
    "half a frame": HEAD.pack(100, framing.RESULTS, 0) + b"\x01\x00\x00\x00",
    "too large": HEAD.pack(0xFFFFFFFF, framing.RESULTS, 0),
    "another kind": frame(framing.WELCOME, b"{}"),
    "an error without JSON": frame(framing.ERROR, b"\xff\xfe"),
    "an error that is a list": frame(framing.ERROR, b"[1]"),
    "the server ends": frame(framing.ERROR, json.dumps({"code": "ending", "text": "it ends"}).encode()),
    "too few bytes for a head of results": frame(framing.RESULTS, b"\x01"),
    "half an entry": frame(framing.RESULTS, struct.pack("<III", 1, 0, 0)),
    "an item that was not requested": results(7, 0, b"x"),
    "what to compute without a token": frame(framing.COMPUTE, b"\x01"),
}


class Fickle:
    """Greets each client, answers each request after the first ones with the same bytes, and hangs up."""

    def __init__(self, path: str, answer: bytes, good: Callable[[int], bytes | None]) -> None:
        self.answer, self.good, self.asked = answer, good, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.connections: list[socket.socket] = []
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connected)
            self.threads.append(threading.Thread(target=self._serve, args=(connected,)))
            self.threads[-1].start()

    def _serve(self, connected: socket.socket) -> None:
        with connected, connected.makefile("rb") as received, contextlib.suppress(OSError, struct.error):
            while True:
                size, kind, _ = HEAD.unpack(received.read(8))
                received.read(size)
                if kind == framing.HELLO:
                    connected.sendall(frame(framing.WELCOME, b"{}"))
                elif kind == framing.FUNCTION:
                    connected.sendall(frame(framing.FUNCTIONED, b'{"function": 1}'))
                else:
                    self.asked += 1
                    good = self.good(self.asked)
                    connected.sendall(self.answer if good is None else good)
                    if good is None:
                        return

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.threads[0].join()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self.threads[1:]:
            thread.join()


@pytest.fixture
def fickle(runtime: Path) -> Iterator[Callable[..., Fickle]]:
    servers: list[Fickle] = []

    def start(answer: bytes, good: Callable[[int], bytes | None] = lambda n: None) -> Fickle:
        servers.append(Fickle(_server.address(None).socket, answer, good))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def double(n: int) -> int:
    return n * 2


async def double_later(n: int) -> int:
    return n * 2


def doubles(items: list[int]) -> list[int]:
    return [n * 2 for n in items]


def calls() -> dict[str, Callable[[], Any]]:
    f, later, batch = larder.memo(double), larder.memo(double_later), larder.memo_batch(doubles, items="items")
    return {
        "call": lambda: f(2),
        "refresh": lambda: f.refresh(2),
        "cached": lambda: f.cached(2),
        "forget": lambda: f.forget(2),
        "why": lambda: f.why(2),
        "coroutine": lambda: asyncio.run(later(2)),
        "coroutine refresh": lambda: asyncio.run(later.refresh(2)),
        "batch": lambda: batch([2]),
        "lazy": lambda: unlazy(Lazy()(double)(2)),
    }


COMPUTING = ["call", "refresh", "coroutine", "coroutine refresh", "batch", "lazy"]


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_each_call_ends_with_a_result_or_an_error_of_larder(answer: str, fickle: Callable[..., Fickle]) -> None:
    fickle(ANSWERS[answer])
    for name, call in calls().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", larder.LarderWarning)
            if name in COMPUTING:
                value = call()
                assert value == ([4] if name == "batch" else 4), name
            else:
                with pytest.raises(larder.ServerError):
                    call()


@pytest.mark.parametrize("answer", ["nothing", "half a frame", "the server ends"])
def test_a_hit_that_is_not_answered_is_asked_for_again(answer: str, fickle: Callable[..., Fickle]) -> None:
    """The connection ends after the server has read the second request; the third is answered."""
    cached = encode(7)
    server = fickle(ANSWERS[answer], lambda n: None if n == 2 else results(0, 0, bytes(cached)))
    f = larder.memo(double)
    assert f(1) == 7  # the result that is cached there
    assert f(2) == 7
    assert server.asked == 3
    assert f.executions == 0


def test_without_a_program_all_that_computes_goes_on(runtime: Path) -> None:
    assert os.access(os.environ["LARDER_BIN"], os.X_OK)
    for name, call in calls().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", larder.LarderWarning)
            if name in COMPUTING:
                assert call() == ([4] if name == "batch" else 4), name
            else:
                with pytest.raises(larder.ServerError):
                    call()
