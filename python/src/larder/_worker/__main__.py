"""Run a function for the program that started this process, task after task."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys

from .. import _worker
from . import end_if_forked
from .function import Function, failed
from .generator import Generator
from .memory import inline, shared

SETUP, READY, DO, DONE, FAILED, START = 1, 2, 3, 4, 5, 6
END_OF_SAMPLE = b"\x00larder: end of sample\x00"
_FRAME = struct.Struct("<II")
_SIZE = struct.Struct("<Q")


def main() -> None:
    """Read the task, report the function's identity, and run it until the program closes the connection."""
    _worker.process = os.getpid()
    to, frames = _own(1), _Frames(_own(0))  # before anything is imported that may write there
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    kind, body = frames.next()
    if kind != SETUP:
        return
    setup = json.loads(body)
    try:
        function = (Generator if setup.get("generates") else Function)(setup)
    except Exception as error:
        _send(to, FAILED, json.dumps({"text": failed(error)}).encode())
        return
    _send(to, READY, json.dumps(function.known()).encode())
    memory = shared(_own(3), _own(4)) if setup["shared"] else inline()
    while True:
        kind, body = frames.next()
        if kind == START:
            _send(to, *_started(function, setup["logs"]))
            continue
        if kind != DO:
            return
        (size,) = _SIZE.unpack_from(body)
        message = memory.read(size, body[_SIZE.size :])
        _set(body[_SIZE.size : len(body) - (0 if setup["shared"] else size)])
        try:
            made = memory.answer()
            function.answer(message, made)
            answer = DONE, _SIZE.pack(made.size) + memory.sent()
        except BaseException as error:
            answer = FAILED, json.dumps({"text": failed(error)}).encode()
        finally:
            message.release()
        _flush()
        if setup["logs"]:
            os.write(2, END_OF_SAMPLE)
        _send(to, *answer)


def _started(function: Function, logs: bool) -> tuple[int, bytes]:
    """Call the function's setup, and return the frame with its outcome."""
    try:
        function.start()
    except BaseException as error:
        _flush()
        if logs:
            os.write(2, END_OF_SAMPLE)  # nothing more follows
        return FAILED, json.dumps({"text": failed(error)}).encode()
    _flush()
    return READY, b""


_FIRST = 200
"""The first descriptor that this process uses: functions may do anything with lower ones."""


def _own(number: int) -> int:
    """Return a descriptor from the program, under a number that functions do not use."""
    try:
        import fcntl
    except ImportError:  # on Windows
        return os.dup(number)
    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST)


def _flush() -> None:
    """Flush printed output, wherever the function redirects it."""
    end_if_forked()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a failed write changes no result
            stream.flush()


def _set(variables: bytes) -> None:
    """Set variables of the environment, each ended by a zero byte."""
    for variable in variables.split(b"\0")[:-1]:
        name, _, value = os.fsdecode(variable).partition("=")
        os.environ[name] = value


class _Frames:
    """Reads frames from the program with few reads."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._buffer = b""

    def next(self) -> tuple[int, bytes]:
        """Return the kind of the next frame, and its body; end the process if the program has ended."""
        while True:
            try:
                self._read(_FRAME.size)
                kind, size = _FRAME.unpack_from(self._buffer)
                end = _FRAME.size + size
                self._read(end)
            except KeyboardInterrupt:  # the interrupted work is already done
                continue
            body, self._buffer = self._buffer[_FRAME.size : end], self._buffer[end:]
            return kind, body

    def _read(self, size: int) -> None:
        """Read until a number of bytes is available."""
        while len(self._buffer) < size:
            more = os.read(self._file, max(size - len(self._buffer), 1 << 16))
            if not more:
                os._exit(0)
            self._buffer += more


def _send(to: int, kind: int, body: bytes) -> None:
    end_if_forked()
    frame = memoryview(_FRAME.pack(kind, len(body)) + body)
    while frame:
        frame = frame[os.write(to, frame) :]


if __name__ == "__main__":
    main()
