"""Request one result from the server, and compute it in this process if no process has it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from .._client import messages
from .._client.messages import Computed, Outcome
from .._identity.code.identity import Identity
from .._identity.values.encoder import BY_NAME
from .._reads.audit import Watch, answered, bound
from ..errors import CycleError, Error, ResultError, ServerError
from .files import path_in_result
from .function import KeyedFunction, warn_of
from .state import State

MISSING = object()

_COPY = "change a copy (copy.deepcopy) in the function, or give it"


class _Unreadable(ResultError):
    """The cached result cannot be read."""


class Computation:
    """A request for a result, with its computation in this process if no process has the result."""

    def __init__(
        self,
        function: KeyedFunction[..., Any],
        state: State,
        key: bytes,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.function, self.state, self.key, self.args, self.kwargs = function, state, key, args, kwargs
        self.value: Any = MISSING
        self.encoded: bytes | bytearray | None = None
        self.raised: BaseException | None = None
        self.not_cached = False
        """Whether the result computed here must not be cached."""

    def result(self, flags: int = 0) -> Any:
        """Request the result from the server, which requests its computation here if it is not cached."""
        self.state.results.pop(self.key, None)
        outcome = self._request(self.compute, flags)
        if outcome is None or self._is_left(outcome):
            self.compute([0])
            outcome = Outcome(messages.NOT_CACHED)
        try:
            return self._result(outcome)
        except _Unreadable:  # it was cached in another form
            return self._result(self._request(self.compute, messages.REFRESH) or Outcome(messages.NOT_CACHED))

    async def result_of_coroutine(self, flags: int = 0) -> Any:
        """Request the result as `result` does, and await its computation in this event loop."""
        loop = asyncio.get_running_loop()
        begun: list[Future[list[Computed]]] = []
        cancelled: list[bool] = []

        def compute(which: list[int]) -> list[Computed]:
            computation = asyncio.run_coroutine_threadsafe(self._compute_coroutine(), loop)
            begun.append(computation)
            if cancelled:  # cancelled before the computation existed
                computation.cancel()
            return computation.result()

        async def result(flags: int) -> Any:
            outcome = await _in_a_thread(bound(lambda: self._request(compute, flags)))
            if outcome is None or self._is_left(outcome):
                await self._compute_coroutine()
                outcome = Outcome(messages.NOT_CACHED)
            return self._result(outcome)

        try:
            try:
                return await result(flags)
            except _Unreadable:
                return await result(messages.REFRESH)
        except asyncio.CancelledError:
            cancelled.append(True)
            for computation in begun:
                computation.cancel()
            raise

    def _request(self, compute: Callable[[list[int]], list[Computed]], flags: int) -> Outcome | None:
        """Ask the server; return None if there is no server."""
        function, client = self.function, self.function._client
        try:
            outcome = client.get(self.state, [self.key], compute, flags)[0]
            if outcome.kind == messages.FILE and outcome.encoded is None:  # it was removed in the meantime
                outcome = client.get(self.state, [self.key], compute, flags | messages.INLINE)[0]
            return outcome
        except ServerError as error:
            if not function._warned:
                function._warned = True
                warn_of(f"results of {self.state.name} are computed and not cached: {error}", function._function)
            return None

    def _is_left(self, outcome: Outcome) -> bool:
        """Report whether the server gave the result up without an error, and nothing was computed here."""
        nothing = outcome.encoded is None and outcome.kind != messages.ERROR
        return nothing and self.value is MISSING and self.raised is None

    def _result(self, outcome: Outcome) -> Any:
        if self.raised is not None:
            raise self.raised
        if outcome.kind == messages.ERROR:
            raise CycleError(outcome.text) if outcome.cycle else Error(outcome.text)
        if outcome.kind == messages.NOT_CACHED and outcome.text:
            self.function._warn_not_cached(f"a result of {self.state.name} is not cached: {outcome.text}")
        if outcome.encoded is None:
            return self._computed_result()
        try:
            return self.function._decoded(outcome.encoded)
        except ResultError as error:
            raise _Unreadable(str(error)) from error

    def _computed_result(self) -> Any:
        """Return the result computed here, decoded as from the store if possible."""
        if self.encoded is not None:
            return self.function._decoded(self.encoded)
        return iter(self.value) if self.function._generates else self.value

    def compute(self, which: list[int]) -> list[Computed]:
        """Call the function, and return the encoded result."""
        watch = self.function._watch(self.state, self.args, self.kwargs)
        try:
            with watch or answered():
                self.value = self.function._execute(self.args, self.kwargs)
        except Exception as error:
            return self._failed(error)
        return self._done(watch)

    async def _compute_coroutine(self) -> list[Computed]:
        watch = self.function._watch(self.state, self.args, self.kwargs)
        try:
            with watch or answered():
                self.function._count()
                self.value = await self.function._function(*self.args, **self.kwargs)
        except Exception as error:
            return self._failed(error)
        return self._done(watch)

    def _failed(self, error: Exception) -> list[Computed]:
        self.raised = error
        return [Computed(None, f"{type(error).__name__}: {error}")]

    def _done(self, watch: Watch | None) -> list[Computed]:
        function, state = self.function, self.state
        self.raised, self.not_cached = None, False
        reason = (watch and watch.reason()) or self._changed()
        if reason is None and watch is not None and state.identity.names_files < BY_NAME:
            reason = path_in_result(self.value, function._arguments.paths(self.args, self.kwargs))
        if reason is None:
            try:
                self.encoded = function._encoded(self.value)
            except Exception as error:
                reason = str(error) or type(error).__name__
        if reason is not None:
            self.not_cached = True
            function._warn_not_cached(f"a result of {state.name} is not cached: {reason}")
            return [Computed(None, reason)]
        return [Computed(self.encoded, about=lambda: function._about(state, self.args, self.kwargs))]

    def _changed(self) -> str | None:
        """Return what changed since the computation began, or None."""
        function, before = self.function, self.state
        try:
            now = function._state()
            if now.identifier != before.identifier:
                if not before.identity.check(fresh=True):
                    return (
                        f"{_differing(before.identity, now.identity)} changed while it was computed; {_COPY} a version="
                    )
            elif function._key(now, self.args, self.kwargs) == self.key:
                return None
            # If objects were complete before, what they fill in themselves is not a change.
            if function._key(now, self.args, self.kwargs, fresh=True) != self.key:
                return f"its arguments changed while it was computed; {_COPY} a key="
        except Error as error:
            return f"its identity changed while it was computed: {error}"
        return None


def _differing(before: Identity, now: Identity) -> str:
    """Return the first part that differs, for messages."""
    were = {part.path: part.digest for part in before.parts}
    for part in now.parts:
        if were.get(part.path, part.digest) != part.digest:
            return part.path
    return "code or a value that it reaches"


async def _in_a_thread(ask: Callable[[], Any]) -> Any:
    """Return the result of a function that waits for coroutines, in a thread of its own.

    The event loop has few threads, and the coroutines may need them.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(value)

    def work() -> None:
        value, raised = None, None
        try:
            value = ask()
        except BaseException as error:
            raised = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, value, raised)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    return await done
