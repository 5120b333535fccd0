"""Request results of functions from the server, and compute missing ones in this process."""

from __future__ import annotations

import contextvars
import os
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import Error, ServerError
from . import framing, server
from .connection import CALL, ONE_RESULT, Connection
from .framing import Lost
from .messages import BYTES, FAILED, FILE, FIND, INLINE, NOT_CACHED, Claim, Computed, Function, Outcome, shown

T = TypeVar("T")

_TRIES = 3
_parent: contextvars.ContextVar[int] = contextvars.ContextVar("larder_parent", default=0)
"""The computation in progress here, on whose behalf further results are requested."""


class Client:
    """A client of the server of a cache directory; each call uses one of its connections.

    May be used by many threads, and after a fork.
    """

    def __init__(self, cache: str | os.PathLike[str] | None) -> None:
        self._cache = cache
        self._address: server.Address | None = None
        self._free: list[Connection] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._drop)

    def __del__(self) -> None:
        self._drop()

    def _take(self) -> Connection:
        try:
            return self._free.pop()
        except IndexError:
            pass
        if self._address is None:
            self._address = server.address(self._cache)
        connected = server.connect(self._address, _nothing)
        try:
            return Connection(connected)
        except BaseException:
            connected.close()
            raise

    def one(self, function: Function, digest: bytes, flags: int = 0) -> Any:
        """Return the encoding of the cached result for one set of arguments, or None.

        This is the fastest path, for small cached results. For any other outcome `get` must ask
        again.
        """
        try:
            connection = self._free.pop()
        except IndexError:
            return None
        number = connection.functions.get((function.name, function.identifier))
        if number is None:
            self._free.append(connection)
            return None
        stream = connection.stream
        try:
            stream.socket.sendall(CALL.pack(48, framing.CALL, 0, number, flags | FIND, _parent.get()) + digest)
            n = stream.receive_soon()
        except OSError:
            connection.close()
            return None
        except BaseException:
            connection.close()
            raise
        if n >= 32:
            size, kind, _, last, _, how, _, more, _, length = ONE_RESULT.unpack_from(stream.buffer)
            if kind == framing.RESULTS and n == size + 8 == length + 32 and last and how == BYTES and not more:
                encoded = bytes(stream.view[32:n])
                self._free.append(connection)
                return encoded
        stream.hold(n)
        outcomes: list[Outcome | None] = [None]
        try:
            connection.exchange(outcomes)
        except Lost:
            connection.close()
            self._drop()
            return None
        except BaseException:
            connection.close()
            raise
        self._free.append(connection)
        outcome = outcomes[0]
        return outcome.encoded if outcome is not None and outcome.kind in (BYTES, FILE) else None

    def get(
        self,
        function: Function,
        digests: Sequence[bytes],
        compute: Callable[[list[int]], list[Computed]],
        flags: int = 0,
    ) -> list[Outcome]:
        """Return the outcome of each item; `compute` computes missing ones, given their positions."""
        computed: dict[int, Computed] = {}
        for attempt in range(_TRIES + 1):
            try:
                return self._attempt(function, digests, compute, flags, computed)
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

        def ask(connection: Connection) -> tuple[int, list[int]] | None:
            number = connection.number_without_parts(function)
            connection.stream.send(CALL.pack(48, framing.CALL, 0, number, flags | INLINE, within) + digest)
            asked = connection.exchange(outcomes)
            if asked is not None:
                connection.number(function)
            return asked

        asked = self._with_connection(ask)
        if asked is not None:
            return Claim(function, digest, asked[0])
        return outcomes[0] or Outcome(NOT_CACHED, text="the server did not return a result")

    def deliver(self, claim: Claim, computed: Computed) -> Outcome:
        """Deliver a claimed result, or the reason why there is none, to the next server if this one was lost."""
        outcomes: list[Outcome | None] = [None]
        connection: Connection | None = None
        try:
            connection = self._take()
            connection.deliver(claim.token, [(0, computed)])
            connection.exchange(outcomes)
        except Lost:
            if connection is not None:
                connection.close()
            self._drop()
            if computed.encoded is None:
                return Outcome(FAILED)
            return self.get(claim.function, [claim.digest], lambda which: [computed])[0]
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        self._free.append(connection)
        return outcomes[0] or Outcome(NOT_CACHED, text="the server did not return a result")

    def _drop(self) -> None:
        """Close unused connections, which belong to the lost server."""
        while self._free:
            self._free.pop().close()
        self._address = None  # the program may be another one now

    def _attempt(
        self,
        function: Function,
        digests: Sequence[bytes],
        compute: Callable[[list[int]], list[Computed]],
        flags: int,
        computed: dict[int, Computed],
    ) -> list[Outcome]:
        outcomes: list[Outcome | None] = [None] * len(digests)
        asked: tuple[int, list[int]] | None = None
        while True:
            connection = self._take()
            try:
                if asked is None:
                    head = CALL.pack(
                        16 + 32 * len(digests), framing.CALL, 0, connection.number(function), flags, _parent.get()
                    )
                    connection.stream.send(head + b"".join(digests))
                else:
                    connection.deliver(asked[0], [(i, computed[i]) for i in asked[1]])
                asked = connection.exchange(outcomes)
            except Error as error:
                if isinstance(error, ServerError):
                    connection.close()
                else:
                    self._free.append(connection)
                raise
            except BaseException:
                connection.close()
                raise
            self._free.append(connection)
            if asked is None:
                return [
                    outcome or Outcome(NOT_CACHED, text="the server did not return a result") for outcome in outcomes
                ]
            missing = [i for i in asked[1] if i not in computed]
            if missing:
                before = _parent.set(asked[0])
                try:
                    computed |= zip(missing, compute(missing), strict=True)
                except BaseException as error:  # also an interrupt
                    self._abandon(asked[0], asked[1], error)
                    raise
                finally:
                    _parent.reset(before)

    def _abandon(self, token: int, items: list[int], error: BaseException) -> None:
        """Report that a computation gives no result, so that no process waits for it."""
        failed = [(i, Computed(None, type(error).__name__)) for i in items]
        try:
            connection = self._take()
            try:
                connection.deliver(token, failed)
            finally:
                connection.close()
        except (Lost, Error):
            pass  # the server that knew of it has gone

    def forget(self, function: Function, digests: Sequence[bytes]) -> None:
        """Delete cached results."""

        def ask(connection: Connection) -> None:
            body = struct.pack("<IIQ", connection.number(function), 0, 0) + b"".join(digests)
            connection.stream.request(framing.FORGET, body)
            connection.reply(framing.FORGOTTEN)

        self._with_connection(ask)

    def why(self, function: Function, digest: bytes, arguments: list[dict[str, str]]) -> dict[str, Any]:
        """Return whether a result is cached, and how it differs from the most similar one."""
        said: dict[str, Any] = {}

        def ask(connection: Connection) -> None:
            request = {"function": connection.number(function), "digest": shown(digest), "arguments": arguments}
            said.update(connection.ask(framing.WHY, request, framing.WHYS))

        self._with_connection(ask)
        return said

    def _with_connection(self, ask: Callable[[Connection], T]) -> T:
        for attempt in range(_TRIES + 1):
            connection: Connection | None = None
            try:
                connection = self._take()
                answer = ask(connection)
            except Lost as error:
                if connection is not None:
                    connection.close()
                words = self._address.last_words() if self._address else ""
                self._drop()
                if attempt == _TRIES:
                    raise ServerError(f"the server was lost {attempt} times in a row ({error}); {words}") from error
                continue
            except BaseException:
                if connection is not None:
                    connection.close()
                raise
            self._free.append(connection)
            return answer
        raise AssertionError


def _nothing() -> None:
    pass


_clients: dict[tuple[str | None, ...], Client] = {}
_VARIABLES = ("LARDER_CACHE", "LARDER_BIN", "XDG_RUNTIME_DIR", "TMPDIR", "XDG_CACHE_HOME", "HOME")
"""The variables that determine the server of the default cache directory."""


def client_of(cache: str | os.PathLike[str] | None) -> Client:
    """Return the client of a cache directory."""
    directory = None if cache is None else os.path.abspath(os.fspath(cache))
    key = (directory, *map(os.environ.get, _VARIABLES))
    found = _clients.get(key)
    if found is None:
        found = _clients.setdefault(key, Client(directory))
    return found
