"""Find the server, and start it."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..errors import ServerError
from .program import default_cache, environment, find, private

PATIENCE = 60.0
"""The maximum time until a server listens, in seconds."""

KILLS = 3
"""How many servers in a row may be killed before they listen."""

_started: list[_Detached] = []


class _Detached(subprocess.Popen[bytes]):
    """A process that outlives its parent without a ResourceWarning."""

    def __del__(self) -> None:
        pass


@dataclass(frozen=True)
class Address:
    """The program, its cache directory, and the socket of the server for both."""

    program: str
    cache: str
    socket: str

    @property
    def log(self) -> str:
        """The log file of the server."""
        return self.socket.removesuffix(".sock") + ".log"

    def last_words(self) -> str:
        """Return the end of the log, as a part of an error's text."""
        try:
            with open(self.log, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 2000))
                lines = file.read().decode("utf-8", "replace").splitlines()[-10:]
        except OSError:
            lines = []
        if not lines:
            return f"its log {self.log} is empty"
        return "\n  ".join([f"the end of its log {self.log}:", *lines])


def address(cache: str | os.PathLike[str] | None) -> Address:
    """Return the address of the server of a cache directory; None is the default directory."""
    program = os.path.realpath(find())
    directory = os.path.realpath(os.fspath(cache) if cache is not None else default_cache())
    return Address(program, directory, os.path.join(_runtime_directory(), _name(program, directory) + ".sock"))


def _name(program: str, cache: str) -> str:
    seen = os.stat(program)
    lines = ["larder 1", cache, program, f"{seen.st_size} {seen.st_mtime_ns}"]
    text = "".join(line + "\n" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _runtime_directory() -> str:
    """Return the user's own directory for sockets, created if it is missing."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    directory = os.path.join(base, "larder") if base else ""
    if not directory:
        directory = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"larder-{os.getuid()}")
    return private(directory, "set XDG_RUNTIME_DIR")


def connect(at: Address, during: Callable[[], None]) -> socket.socket:
    """Return a connection to the server, which is started if no process listens.

    `during` is called while the server starts, for slow work that is needed anyway.
    """
    found = _try(at)
    if found is not None:
        return found
    process, started, killed, ended = _start(at), time.monotonic(), 0, 0
    during()
    for _ in _pauses(PATIENCE):
        found = _try(at)
        if found is not None:
            return found
        status = process.poll()
        if status == 0 and time.monotonic() - started > 0.5:  # another process was the server, and has ended
            if (ended := ended + 1) > KILLS:
                raise ServerError(f"{at.program} serve ends without having listened; {at.last_words()}")
            process, started = _start(at), time.monotonic()
        elif status is not None and status < 0 and killed < KILLS:
            process, started, killed = _start(at), time.monotonic(), killed + 1
        elif status:
            raise ServerError(f"larder serve ended with status {status}; {at.last_words()}")
    raise ServerError(f"larder serve did not listen at {at.socket} in {PATIENCE:.0f} s; {at.last_words()}")


def _pauses(seconds: float) -> Iterator[None]:
    """Yield until the time is over, after pauses of increasing length."""
    deadline, pause = time.monotonic() + seconds, 0.002
    while time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
        yield


def _try(at: Address) -> socket.socket | None:
    """Connect, or return None if no process listens."""
    if len(os.fsencode(at.socket)) > 103:
        raise ServerError(f"{at.socket} is too long for a socket; set XDG_RUNTIME_DIR to a shorter directory")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(at.socket)
    except (FileNotFoundError, ConnectionRefusedError, ConnectionResetError, BlockingIOError):
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise ServerError(f"the server at {at.socket}: {error}") from error
    return connection


def _start(at: Address) -> _Detached:
    """Start a server in its own session, so that a Ctrl-C of this terminal does not end it."""
    _started[:] = [process for process in _started if process.poll() is None]
    command = [at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--idle", _idle()]
    try:
        with open(at.log, "ab", opener=_private) as log:
            process = _Detached(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                cwd="/",
                env=environment(),
            )
    except OSError as error:
        raise ServerError(f"larder serve could not be started: {error}") from error
    _started.append(process)
    return process


def _idle() -> str:
    """Return how long a server stays after its last client has gone, as the program reads it."""
    given = os.environ.get("LARDER_IDLE") or "60s"
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", given):
        return f"{given}s"
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+", given):
        raise ServerError(f"LARDER_IDLE: {given!r} is not a duration; give seconds, or one such as 5m, or 0 for ever")
    return given


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
