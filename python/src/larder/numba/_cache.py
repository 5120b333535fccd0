"""Implement numba's cache of one function on Larder's store.

numba requests a function from the cache before it compiles it, and then passes the compiled
function to the cache. In between this process holds the claim, and others wait for it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from numba.core.caching import _Cache

from .._client.client import Client
from .._client.messages import ERROR, FIND, NOT_CACHED, REFRESH, Claim, Computed, Function, shown
from .._identity.digest import digest
from ..errors import Error
from . import _artifact, _classes, _contexts, _installed, _payload, _values
from ._errors import Refused, Unfit
from ._history import Added, Compiled, History
from ._kinds import kind_of, named, python_of
from ._loops import Kernel, Loops, add_again
from ._pytensor import Unasked
from ._registered import Registered, is_numbas
from ._report import COMPILED, LOADED, REFUSED, Report, Row
from ._types import same
from ._walk import Walk

_SECONDS = 8
"""The number of bytes of the processor time of the compilation, in microseconds."""

_NEAR = 4096
"""How many compiled functions a process holds in memory."""

_PART = "it is compiled as a part of"

_ENOUGH = 3
"""The number of failures in a row after which the server is not asked again."""


@dataclass(slots=True)
class Known:
    """The identity of a function at one moment, for some argument types."""

    walk: Walk
    state: bytes
    """The state of what it reaches: how that has been compiled before."""
    code: bytes
    key: bytes


@dataclass(slots=True)
class Pending:
    """A compilation in progress in this process."""

    of: LarderCache
    known: Known | None
    claim: Claim | None
    reason: str
    begun: float = field(default_factory=time.thread_time)
    """In seconds of processor time, which other processes do not extend."""
    within: float = 0.0
    """The time since then that was spent on others with a row."""


@dataclass(slots=True, frozen=True)
class Held:
    """A compiled function in the memory of this process."""

    compiled: Any
    cost: float
    """The processor time of its compilation in seconds, without that of functions that it calls."""
    classes: dict[str, int]
    """The classes in its code, by their numbers in the walk."""
    within: list[Compiled]
    """The functions that it requested, which were compiled with it or before."""
    loops: list[Added]
    """The loops that vectorized functions got then, in order."""


class Keeper:
    """The state that all caches of a process share."""

    def __init__(self, client: Client, secret: bytes | None) -> None:
        self.client, self.secret = client, secret
        self.loops = Loops(secret)
        self.registered = Registered()
        self.history = History()
        self.report = Report()
        self.unasked = Unasked(self.report)
        self.stack: list[Pending] = []
        """The compilations in progress, the innermost last."""
        self.compiling: list[Any] = []
        """All functions that are being compiled, with a cache or without."""
        self.held: dict[bytes, Held] = {}
        """The functions in the memory of this process, by key."""
        self.late = False
        """Whether functions were compiled before, with names that other processes may use, too."""
        self.lost: list[str] = []
        """The errors of the last consecutive requests to the server."""

    def hold(self, key: bytes, held: Held) -> None:
        """Hold a compiled function for equal functions of this process."""
        if len(self.held) >= _NEAR:
            del self.held[next(iter(self.held))]
        self.held[key] = held

    def loop(self, compiled: Any, how: str, build: Callable[[], Any]) -> Any:
        """Return the library of the loop around a kernel that is called in some way: cached, or else built."""
        client = self.client if len(self.lost) < _ENOUGH else None
        return self.loops.library(client, compiled, how, self.within(), build)

    def within(self) -> int:
        """Return the token of the current compilation, for functions that it needs."""
        tokens = [p.claim.token for p in self.stack if p.claim is not None]
        return tokens[-1] if tokens else 0

    def count(self, function: Any, took: float) -> None:
        """Count a compilation without a cache, unless it was for a function with one."""
        asks = any(isinstance(cache_of(of), LarderCache) for of in (function, *self.compiling))
        if not asks and not is_numbas(python_of(function)):
            self.report.uncached[named(function)] = self.report.uncached.get(named(function), 0.0) + took

    def follow(self, before: Keeper) -> None:
        """Take over the knowledge about this process from a previous installation."""
        self.registered, self.history, self.compiling = before.registered, before.history, before.compiling
        self.loops.follow(before.loops)
        self.report, self.unasked = before.report, before.unasked
        self.late = before.late

    def circle(self, walk: Walk, around: list[Any]) -> str:
        """Return the surrounding compilation that this function calls, as it is then compiled as part of that."""
        return next((named(function) for function in around if walk.reaches(function)), "")

    def known(self, dispatcher: Any, signature: Any, before: Known | None = None) -> Known:
        """Return the current identity of a function, or raise Refused; `before` is the one before its compilation."""
        with _uncollected():
            walk = self.walked(dispatcher, signature, before.walk if before is not None else None)
            if walk.refused:
                raise walk.refused[0]
            self.history.check(walk, before.walk if before is not None else None)
            return self.known_in(walk.state(), walk, signature)

    def walked(self, dispatcher: Any, signature: Any, before: Walk | None = None) -> Walk:
        """Return what a function reaches; `before` is the walk from before its compilation, if any."""
        args, result = normalized(signature)
        with _uncollected():
            walk = Walk(self.registered, before)
            walk.run(dispatcher, named(dispatcher), args if result is None else (*args, result))
        self.report.settings |= dict.fromkeys(walk.settings)
        return walk

    def known_in(self, state: bytes, walk: Walk, signature: Any) -> Known:
        """Return the identity of a function for a given state of what it reaches."""
        code = walk.digest(state)
        lines = [_artifact.place(self.secret), code, _installed.compilers(), _installed.settings()]
        lines += [_installed.processor(), repr(signature).encode() if not isinstance(signature, tuple) else b""]
        if walk.parallel:
            lines.append(_threads())
        return Known(walk, state, code, sha256(b"".join(sha256(line).digest() for line in lines)).digest())


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection within the block: there is little garbage, and all of numba would be scanned."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _threads() -> bytes:
    from numba.core import config

    return f"{config.NUMBA_NUM_THREADS} {config.THREADING_LAYER}".encode()


def normalized(signature: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the types of arguments, and that of the result if it was requested."""
    from numba.core import sigutils

    args, result = sigutils.normalize_signature(signature)
    return tuple(args), result


def cache_of(function: Any) -> Any:
    """Return the cache of a function that numba compiles, or of the kernel of a vectorized one."""
    return getattr(function, "_cache", None) or getattr(function, "cache", None)


def asked(args: tuple[Any, ...], result: Any) -> str:
    """Return the requested result type as a string, if any, which callers receive instead of the inferred one."""
    return "" if result is None else f" {result}{args}"


class LarderCache(_Cache):  # type: ignore[misc]
    """The cache of one function, with numba's interface, on Larder's store.

    On any failure here, the function is compiled as without a cache, and the report gives the
    reason.
    """

    def __init__(self, keeper: Keeper, dispatcher: Any) -> None:
        self._keeper, self._of = keeper, dispatcher
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The location as a word, as it is not a directory of numba's."""
        return "larder"

    def enable(self) -> None:
        """Cache functions compiled from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor cache anything."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing, as cached functions are never stale."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached function for some argument types, or None if it must be compiled."""
        _contexts.begin(target_context)
        if not self._enabled or self._has_failed(sig):
            return None
        begun, used = time.perf_counter(), time.thread_time()
        try:
            known = self._keeper.known(self._of, sig)
        except Refused as refused:
            self._keeper.stack.append(Pending(self, None, None, str(refused)))
            return None
        except Exception as error:
            self._keeper.stack.append(Pending(self, None, None, f"{type(error).__name__}: {error}"))
            return None
        if circle := self._keeper.circle(known.walk, self._keeper.compiling):
            reason = f"{_PART} {circle}, as the two call each other"
            self._keeper.stack.append(Pending(self, None, None, reason))
            return None
        found, pending = self._asked(known, begun, target_context, sig)
        if found is None:
            self._keeper.stack.append(pending)
            return None
        if self._keeper.stack:
            self._keeper.stack[-1].within += time.thread_time() - used
        return found

    def _has_failed(self, sig: Any) -> bool:
        """Report whether numba has failed to compile it for these types, and will raise the same error again."""
        compiler = getattr(self._of, "_compiler", None)
        return compiler is not None and normalized(sig) in compiler._failed_cache

    def _asked(self, known: Known, begun: float, context: Any, sig: Any) -> tuple[Any, Pending]:
        """Request the cached function, or the claim to compile it here.

        If a caller of it was loaded, it would have been compiled with that caller without a cache. So
        its state there is requested first, whatever has been compiled since.
        """
        state = self._keeper.history.cached(self._of, normalized(sig)[0])
        if state is not None and state != known.state:
            there = self._keeper.known_in(state, known.walk, sig)
            found, pending = self._claimed(there, begun, context, sig, FIND)
            if found is not None:
                return found, pending
        return self._claimed(known, begun, context, sig)

    def _claimed(self, known: Known, begun: float, context: Any, sig: Any, flags: int = 0) -> tuple[Any, Pending]:
        """Look in the memory of this process, and then ask the server."""
        held = self._keeper.held.get(known.key)
        if held is not None and not _classes.same(held.classes, known.walk):
            return None, Pending(self, known, None, "an equal function of this process has other classes in it")
        if held is not None:
            try:
                with _uncollected():
                    self._came(known, sig, begun, held)
            except Unfit as unfit:
                return None, Pending(self, known, None, str(unfit))
            return _payload.again(held.compiled, context), Pending(self, known, None, "")
        reason = ""
        while True:
            if len(self._keeper.lost) >= _ENOUGH:
                return None, Pending(self, known, None, self._keeper.lost[-1])
            try:
                found = self._keeper.client.claim(self._function(known), known.key, self._keeper.within(), flags)
                self._keeper.lost.clear()
            except Exception as error:
                self._keeper.lost.append(_said(error))
                return None, Pending(self, known, None, _said(error))
            if isinstance(found, Claim):
                return None, Pending(self, known, found, reason)
            if found.encoded is None:
                return None, Pending(self, known, None, found.text or "no process has the result")
            try:
                with _uncollected():
                    loaded = self._loaded(known, bytes(found.encoded), context, sig, begun)
                return loaded, Pending(self, known, None, "")
            except Unfit as unfit:
                return None, Pending(self, known, None, str(unfit))
            except _artifact.Foreign as foreign:
                reason = str(foreign)
            if flags:
                return None, Pending(self, known, None, reason)
            flags = REFRESH  # the stored bytes are of no use to any process

    def _loaded(self, known: Known, cached: bytes, context: Any, sig: Any, begun: float) -> Any:
        payload = _artifact.opened(known.key, cached, self._keeper.secret)
        inner = python_of(self._of)
        try:
            found = _payload.loaded(payload[_SECONDS:], context, inner.__globals__, known.walk)
        except Unfit:
            raise
        except Exception as error:
            raise _artifact.Foreign(f"it cannot be loaded: {type(error).__name__}: {error}") from error
        compiled = found.compiled
        args, _ = normalized(sig)
        if len(args) != len(compiled.signature.args) or not all(map(same, compiled.signature.args, args)):
            raise _artifact.Foreign("it is for other types")
        compiled = _payload.typed(compiled, args)
        cost = int.from_bytes(payload[:_SECONDS], "little") / 1e6
        held = Held(compiled, cost, found.classes, found.within, found.loops)
        self._keeper.hold(known.key, held)
        self._came(known, sig, begun, held)
        return compiled

    def _came(self, known: Known, sig: Any, begun: float, held: Held) -> None:
        """Record that a function was loaded, with its writer's compilation time; raise Unfit if it cannot be used."""
        took = time.perf_counter() - begun
        self._expect_loop(held.compiled, known, sig)
        args, result = normalized(sig)
        self._keeper.history.note(known.walk, args, asked(args, result))
        self._keeper.history.keep(self._of, args, known.state)
        done = 0
        for added in held.loops:
            self._keeper.history.again(held.within[done : added[3]], known.walk)
            add_again(added, known.walk)
            done = added[3]
        self._keeper.history.again(held.within[done:], known.walk)
        self._note(sig, LOADED, took, saved=max(0.0, held.cost - took))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache the compiled function, if it has a key."""
        pending = self._popped()
        if pending is None:
            return
        whole = time.thread_time() - pending.begun
        if self._keeper.stack:
            self._keeper.stack[-1].within += whole
        took = max(0.0, whole - pending.within)
        try:
            reason = self._saved(sig, data, pending, took)
        except Refused as refused:
            reason = self._way(refused, pending)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        if reason and pending.claim is not None:
            self._deliver(pending.claim, Computed(None, reason))
        self._note(sig, REFUSED if reason else COMPILED, took, reason)

    def _saved(self, sig: Any, data: Any, pending: Pending, took: float) -> str:
        """Cache it, or return the reason why not; `took` is its compilation time in seconds."""
        if pending.known is None or pending.claim is None:
            return pending.reason or "no result was requested"
        if self._keeper.late:
            return "functions were compiled before larder.numba was installed; install it first"
        if _values.confused:
            return f"{next(iter(_values.confused))}; include every difference in its key or name"
        key = pending.known.key
        within, loops = self._keeper.history.within(pending.known.walk)
        classes, dumped = _payload.dumped(data, pending.known.walk, within, loops)
        if path := self._keeper.history.contradicted(pending.known.walk):
            return f"{path}: a cached caller was compiled with a different version of this function"
        payload = int(took * 1e6).to_bytes(_SECONDS, "little") + dumped
        if self._keeper.known(self._of, sig, pending.known).key != key:
            return "its sources changed while it was compiled"
        cached = _artifact.sealed(key, payload, self._keeper.secret)
        claim, pending.claim = pending.claim, None
        reason = self._deliver(claim, Computed(cached, about=lambda: _about(sig)))
        if not reason:
            self._expect_loop(data, pending.known, sig)
            self._keeper.history.keep(self._of, normalized(sig)[0], pending.known.state)
            self._keeper.hold(key, Held(data, took, classes, within, loops))
        return reason

    def _expect_loop(self, compiled: Any, known: Known, sig: Any) -> None:
        if kind_of(self._of) == "kernel":
            about = [*_about(sig), {"name": "loop", "text": "around it", "digest": shown(digest("loop"))}]
            self._keeper.loops.expect(compiled, Kernel(self._function(known), known.key, about))

    def _way(self, refused: Refused, pending: Pending) -> str:
        """Return why a function is refused, with the path to the function within it that is the cause."""
        if pending.known is not None:
            for node in pending.known.walk.nodes[2:]:
                for row in self._keeper.report.rows:
                    if row.state == REFUSED and row.function == _of_node(node) and _PART not in row.reason:
                        return f"{node.path}: {row.reason.rpartition(': ')[2]}"
        return str(refused)

    def _deliver(self, claim: Claim, made: Computed) -> str:
        try:
            outcome = self._keeper.client.deliver(claim, made)
        except Exception as error:
            return _said(error)
        return outcome.text if outcome.kind in (NOT_CACHED, ERROR) else ""

    def failed(self, reason: str) -> None:
        """Report that the last compilation begun gives no result."""
        pending = self._popped()
        if pending is not None and pending.claim is not None:
            self._deliver(pending.claim, Computed(None, reason))

    def _popped(self) -> Pending | None:
        """Return the last compilation begun for this function, and end those begun within it."""
        stack = self._keeper.stack
        if not any(pending.of is self for pending in stack):
            return None
        while stack[-1].of is not self:
            stack[-1].of.failed("it was given up")
        return stack.pop()

    def _function(self, known: Known) -> Function:
        code = b"numba" + known.code
        digest = shown(sha256(code).digest())
        return Function(named(self._of), code, lambda: _code(known, digest), digest=digest)

    def _note(self, sig: Any, state: str, took: float, reason: str = "", saved: float = 0.0) -> None:
        args, _ = normalized(sig)
        row = Row(named(self._of), f"({', '.join(map(str, args))})", state, took, saved, reason)
        self._keeper.report.rows.append(row)


def _said(error: Exception) -> str:
    """Return an error of the server in one line; of its log the last line, which says why it ended."""
    first, *more = (str(error) or type(error).__name__).splitlines()
    if not isinstance(error, Error):
        first = f"{type(error).__name__}: {first}"
    return f"{first.partition('; the end of its log')[0]}: {more[-1].strip()}" if more else first


def _of_node(node: Any) -> str:
    return node.text.partition("compiled function ")[2] if node.kind == "compiled function" else ""


def _about(sig: Any) -> list[dict[str, str]]:
    args, _ = normalized(sig)
    return [
        {"name": f"argument {i}", "text": str(kind)[:500], "digest": shown(digest(str(kind)))}
        for i, kind in enumerate(args)
    ]


def _code(known: Known, digest: str) -> dict[str, Any]:
    """Return the identity of a function in the terms of the protocol."""
    parts = [
        {"name": node.text[:500], "where": node.path[-500:], "digest": shown(node.digest())}
        for node in known.walk.nodes[1:]
    ]
    return {"version": "", "digest": digest, "parts": parts}
