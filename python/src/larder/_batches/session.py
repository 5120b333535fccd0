"""Keep a flow open at the server while connections are lost and replaced."""

from __future__ import annotations

import importlib.util
import os
import time
from typing import TYPE_CHECKING, Any

from .. import _arguments
from .._client import server
from .._client.framing import Lost
from .._client.url import CertificateArgument, TokenArgument, is_url
from ..errors import Error, ServerError
from . import distributed, pinned
from .connection import Connection, LocalConnection
from .layout import Tensors

if TYPE_CHECKING:
    from .._client.remote import Remote

TRIES = 3
"""How many times in a row a connection may be lost before that is an error."""


def tensors_of(given: str | None, pin: bool) -> str | None:
    """Return the kind of arrays to create."""
    if given == "auto":
        if pin:
            return "torch"
        return "numpy" if importlib.util.find_spec("numpy") else None
    if given not in ("numpy", "torch", None):
        raise TypeError(f'tensors: {given!r} is not valid; give "numpy", "torch", "auto" or None')
    if pin and given != "torch":
        raise TypeError('pin_memory requires torch; give tensors="torch", or leave pin_memory out')
    return given


def remote_of(
    flow: object,
    *,
    token: TokenArgument | None,
    ca: str | os.PathLike[str] | None,
    certificate: CertificateArgument | None,
    cleartext: bool,
    here: dict[str, Any],
) -> Remote | None:
    """Return the server that a flow's URL names; None for a flow on this machine.

    `here` are the options that only apply to a flow on this machine. HTTP and TLS take longest to
    import, so they are imported here.
    """
    if not is_url(flow):
        there = {"token": token, "ca": ca, "certificate": certificate, "cleartext": cleartext or None}
        _only("a remote flow (https://HOST:PORT/FLOW)", there)
        return None
    _only("a local flow", here)
    from .._client import remote

    return remote.at(flow, token, ca, certificate, cleartext)


def _only(where: str, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value:
            raise TypeError(f"{name} is valid only with {where}")


class Session:
    """One open flow, which opens a connection when it needs one.

    It is pickled without its connection.
    """

    def __init__(
        self,
        cache: str | os.PathLike[str] | None,
        request: dict[str, Any],
        tensors: str | None,
        pin: bool = False,
        copy: bool = False,
        remote: Remote | None = None,
    ) -> None:
        self.cache = None if cache is None else os.path.abspath(_arguments.path("cache_dir", cache))
        self.request = request
        self.opened: dict[str, Any] = {}
        """The server's reply when it was opened the first time."""
        self.connection: Connection | None = None
        self._tensors = tensors
        self._pin = pin
        self._copy = copy
        self._losses = 0
        self._address: server.Address | None = None
        self._remote = remote

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"connection": None, "_address": None, "_losses": 0}

    def connected(self) -> Connection:
        """Return a connection on which it is open."""
        while True:
            connection = self.connection
            if connection is not None and connection.usable:
                return connection
            self.close()
            try:
                return self._open()
            except Lost as error:
                self.lost(error)
            except BaseException:
                self.close()
                raise

    def _open(self) -> Connection:
        in_worker = distributed.worker() is not None
        pin = self._pin and not in_worker and pinned.available()
        tensors = Tensors(self._tensors)
        copy = in_worker or self._copy  # workers pickle their batches, which is not possible for views of memory
        connection: Connection
        if self._remote is not None:
            from .remote import RemoteConnection

            connection = RemoteConnection(self._remote, str(self.opened.get("id", "")), tensors, pin, copy)
        else:
            self._address = server.address(self.cache)
            connection = LocalConnection(
                server.connect(self._address, during=tensors.load), tensors, pin, self._copy, copy
            )
        self.connection = connection
        self.opened = connection.open(self.request)
        return connection

    def lost(self, error: Lost) -> None:
        """Drop a lost connection; raise if connections are lost repeatedly."""
        ours = self.connection is not None and self.connection.stream.closed  # left at a fork
        self.close()
        if ours:
            return
        self._losses += 1
        losses = self._losses
        if losses > self._tries():
            self._losses = 0
            raise ServerError(f"the server was lost {losses} times in a row ({error}); {self._words()}") from error
        if self._remote is not None:
            time.sleep(self._remote.pause(losses))

    def _tries(self) -> int:
        if self._remote is None:
            return TRIES
        return self._remote.tries(known=bool(self.opened))

    def _words(self) -> str:
        if self._remote is not None:
            return f"does larder serve --listen run at {self._remote.name}?"
        return self._address.last_words() if self._address else ""

    def found(self) -> None:
        """Record that the connection works."""
        self._losses = 0

    def failed(self, error: BaseException) -> bool:
        """Close the connection if its next frame is not known; report whether it is closed."""
        connection = self.connection
        if connection is None:
            return True
        if connection.usable and isinstance(error, (Error, Warning, KeyboardInterrupt)):
            return False
        self.close()
        return True

    def close(self) -> None:
        """Close the connection. What it returned stays valid."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()
