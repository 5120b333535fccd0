"""Cache the results of functions, shared by all processes, across restarts."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import os
import pathlib
import pickle
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Union, get_origin, overload

from .. import _arguments
from .._client import client
from .._client.client import Function, Made, Mapped, Outcome, Place
from .._identity.code.annotations import file_hints, mentions_file, names_file
from .._identity.code.identity import Identity, identify, may_draw
from .._identity.digest import digest
from .._identity.environment import surroundings
from .._identity.values.encoder import BY_NAME
from .._identity.values.text import describe
from .._identity.wrapper import Bound, Wrapper
from .._reads.audit import Watch, answered, bound
from .._reads.file import File
from .._results import decode, encode
from .._warnings import warn
from ..errors import ArgumentError, CycleError, Error, LarderWarning, NotCachedWarning, ResultError, ServerError

if TYPE_CHECKING:
    from .why import Why

P = ParamSpec("P")
R = TypeVar("R")

_PICKLED = b"larder pickle 1\n"
MISSING = object()
_COPY = "change a copy (copy.deepcopy) in the function, or give it"

_SMALL, _NEAR = 1024, 4096
"""The maximum size of a small result in bytes, and how many results each function holds in this process."""


class Arguments:
    """The arguments of a call: each parameter with its value, however it was passed."""

    def __init__(self, function: Callable[..., Any], ignore: frozenset[str], keyed: Callable[..., Any] | None) -> None:
        self.signature = _signature(function)
        parameters = list(self.signature.parameters.values())
        unknown = ignore - set(self.signature.parameters)
        if unknown:
            raise TypeError(f"ignore names {sorted(unknown)}, which are no parameters of {describe(function)}")
        plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        self.plain = plain and not ignore and keyed is None
        self.ignore = ignore
        self.keyed = keyed
        self.count = len(parameters)
        self.named_files = names_file(function)
        self.files = frozenset() if keyed else self.named_files
        self.hints = file_hints(function) if self.named_files else {}
        self.kind = digest(("ignore", *sorted(ignore), "key" if keyed else "")) if ignore or keyed else b""
        """Distinguishes a subset or a key of the arguments from arguments that look like it."""

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values from which the key is computed."""
        if self.plain and not kwargs and len(args) == self.count:
            return args
        if self.keyed is not None:
            return (self.keyed(*args, **kwargs),)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(value for name, value in bound.arguments.items() if name not in self.ignore)

    def filed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with paths replaced by files where parameters are annotated as files."""
        if not self.files:
            return args, kwargs
        bound = self.signature.bind(*args, **kwargs)
        for name in self.files & bound.arguments.keys():
            bound.arguments[name] = as_files(bound.arguments[name], name, self.hints.get(name))
        return bound.args, bound.kwargs

    def paths(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """Return the paths of the files whose content the key has, or with `key` those that the caller answers for."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self.keyed is None:
            return list(paths_in([v for name, v in bound.arguments.items() if name not in self.ignore]))
        return list(
            paths_in([as_files(bound.arguments.get(name), name, self.hints.get(name)) for name in self.named_files])
        )

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the same values by name, for messages."""
        if self.keyed is not None:
            return {"key": self.keyed(*args, **kwargs)}
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name not in self.ignore}


def allowed(names: Iterable[str]) -> frozenset[str]:
    """Return the names of things that no result depends on."""
    found = _arguments.several("allow", names, 'names, such as ["time.perf_counter"]')
    return frozenset(_arguments.text("allow", name) for name in found)


def ignored(names: Iterable[str]) -> frozenset[str]:
    """Return the names of parameters that no result depends on."""
    found = _arguments.several("ignore", names, 'names, such as ["verbose"]')
    return frozenset(_arguments.text("ignore", name) for name in found)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if not callable(function):
        raise TypeError(f"function: {type(function).__name__} cannot be called; decorate a function")
    try:
        return inspect.signature(function)
    except ValueError:  # some built-in types have no signature
        return inspect.signature(lambda *args, **kwargs: None)
    except TypeError as error:
        raise TypeError(f"function: parameters of {describe(function)} cannot be read; decorate a function") from error


def as_files(value: Any, name: str, hint: Any = None) -> Any:
    """Return a value with its paths replaced by files where its annotation has files.

    `hint` is the annotation, or None if its meaning is not known: then all paths are files.
    """
    if value is None or isinstance(value, File):
        return value
    if hint is not None and not mentions_file(hint):
        return value
    if isinstance(value, (str, os.PathLike)):
        return File(value)
    inner = tuple(getattr(hint, "__args__", ()))
    if hint is not None and get_origin(hint) in (Union, types.UnionType):
        inner = tuple(i for one in inner if mentions_file(one) for i in getattr(one, "__args__", ()))
    if type(value) is tuple and len(inner) == len(value) and ... not in inner:
        return tuple(as_files(one, name, of) for one, of in zip(value, inner, strict=True))
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(as_files(one, name, inner[0] if inner else None) for one in value)
    if type(value) is dict:
        return {key: as_files(one, name, inner[-1] if inner else None) for key, one in value.items()}
    raise ArgumentError(f"{name} is {describe(value)}, and its annotation says larder.File; pass one, or a path")


def paths_in(value: Any, kind: type[os.PathLike[str]] = File) -> Iterator[str]:
    """Yield the paths of the files in a value, in lists, tuples, dicts, sets and dataclasses."""
    left, seen = [value], set()
    while left:
        one = left.pop()
        if isinstance(one, kind):
            yield os.fspath(one)
        elif isinstance(one, (list, tuple, set, frozenset, dict)) or is_record(type(one)):
            if id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, dict):
                left += [*one, *one.values()]
            elif isinstance(one, (list, tuple, set, frozenset)):
                left += one
            else:
                left += [getattr(one, f.name, None) for f in fields(one)]


def is_record(cls: type) -> bool:
    """Report whether a class is a dataclass, without asking a metaclass that may answer to any name."""
    return any("__dataclass_fields__" in vars(base) for base in cls.__mro__)


def path_given(value: Any, files: list[str]) -> str | None:
    """Return the problem of a result with the path of a file in it, of which the key has only the content."""
    if files and any(file in path for path in paths_in(value, pathlib.PurePath) for file in files):
        return "it has the path of a file that is identified by its content; return str(path)"
    return None


@dataclass(slots=True, kw_only=True)
class Current(Function):
    """The current state of a function, with its identity.

    A memo publishes both by one assignment, and a call continues with those that it began with. So
    threads that share a memo never see one without the other. Only `near` changes.
    """

    identity: Identity


class Memo(Wrapper, Generic[P, R]):
    """A function whose results are cached, created by `memo` and called like the function."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        version: str | None,
        ignore: Iterable[str],
        key: Callable[..., Any] | None,
        codec: str | None,
        allow: Iterable[str] | None,
        cache: str | os.PathLike[str] | None,
    ) -> None:
        if codec not in (None, "pickle"):
            raise TypeError(f'codec is "pickle" or nothing, not {codec!r}')
        if isinstance(function, classmethod):
            raise TypeError("memo of a class method: write @classmethod above @larder.memo")
        self._static = isinstance(function, staticmethod)
        if isinstance(function, staticmethod):
            function = function.__func__
        if inspect.isasyncgenfunction(function):
            raise TypeError(f"{describe(function)} is an asynchronous generator, whose results are not cached")
        functools.update_wrapper(self, function)
        self._function = function
        self._version = version
        self._promised = version
        """The version that the user gave, or None; it then also covers classes of arguments.

        `_version` may also be one of Larder itself, as that of a lazy method.
        """
        self._allow = None if allow is None else allowed(allow)
        self._pickle = codec == "pickle"
        self._arguments = Arguments(function, ignored(ignore), key)
        self._client = client.client_of(cache)
        self._generates = inspect.isgeneratorfunction(function)
        self._waits = inspect.iscoroutinefunction(function)
        self._current: Current | None = None
        self._warned = False
        self._counting = threading.Lock()
        self.executions = 0
        """The number of executions of the function in this process."""
        self._seal()
        if self._pickle:
            _warn(
                f"results of {describe(function)} are cached with pickle: whoever can write to the cache folder "
                "can run code in this program",
                function,
            )

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the cached result, or else compute it."""
        if self._waits:
            return self._later(args, kwargs)  # type: ignore[return-value]
        known = self._function_now()
        given, named = self._arguments.filed(args, kwargs)
        key = self._key(known, given, named)
        found = known.near.get(key)
        if type(found) is Place:
            found = found.mapped()
        if found is None:
            found = self._client.one(known, key)
        if found is not None:
            try:
                result: R = self._decoded(found)
            except ResultError:
                return self._made(known, key, given, named, client.AGAIN)  # the cached result has another form
            self._hold(known, key, found)
            return result
        return self._made(known, key, given, named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None or self._static else Method(self, instance)

    def _options(self) -> tuple[Any, ...]:
        return (self._pickle, tuple(sorted(self._arguments.ignore)), self._arguments.keyed)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined,no-any-return]  # as functions are pickled: by their names

    def __repr__(self) -> str:
        return f"<larder.memo of {getattr(self._function, '__qualname__', self._function)}>"

    def cached(self, /, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Report whether the result is cached, without computing anything."""
        known = self._function_now()
        key = self._key(known, *self._arguments.filed(args, kwargs))
        outcome = self._client.get(known, [key], never, client.FIND)[0]
        return outcome.kind in (client.BYTES, client.FILE)

    def forget(self, /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Delete the cached result, if there is one."""
        known = self._function_now()
        known.near.clear()
        self._client.forget(known, [self._key(known, *self._arguments.filed(args, kwargs))])

    def refresh(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute the result, whether it is cached or not, and cache it."""
        if self._waits:
            return self._later(args, kwargs, client.AGAIN)  # type: ignore[return-value]
        known = self._function_now()
        given, named = self._arguments.filed(args, kwargs)
        return self._made(known, self._key(known, given, named), given, named, client.AGAIN)

    def why(self, /, *args: P.args, **kwargs: P.kwargs) -> Why:
        """Report whether the result is cached, the parts of its key, and what differs if it is not."""
        from .why import Why

        known = self._function_now()
        key = self._key(known, *self._arguments.filed(args, kwargs))
        said = self._client.why(known, key, self._about(known, args, kwargs))
        return Why.of(known.identity, self._arguments.named(args, kwargs), said)

    def _function_now(self) -> Current:
        """Return the current state of the function, with everything that it reaches."""
        current = self._current
        if current is None or not current.identity.check():
            identity = identify(self._function, version=self._version, allow=self._allow)
            mark = b"pickle" if self._pickle else b""
            code = functools.partial(_code, identity, self._pickle)
            current = Current(identity.name, identity.digest + mark, code, identity=identity)
            self._current = current
        return current

    @staticmethod
    def _hold(known: Function, key: bytes, encoded: Any) -> None:
        """Hold a small result, or the location of a large one, in this process for the next call."""
        if type(encoded) is Mapped:
            encoded = encoded.place
        elif type(encoded) is not bytes or len(encoded) > _SMALL:
            return
        if len(known.near) >= _NEAR:
            known.near.clear()
        known.near[key] = encoded

    def _key(self, known: Current, args: tuple[Any, ...], kwargs: dict[str, Any], fresh: bool = False) -> bytes:
        """Return the key of a call whose arguments already have files in place of paths (`Arguments.filed`)."""
        values = self._arguments.of(args, kwargs)
        identity, settings = known.identity, surroundings()
        key = digest(
            values,
            name="arguments",
            used=identity.names,
            known=identity.known,
            fresh=fresh,
            names=identity.names_files,
            filed=identity.filed,
            allow=self._allow,
            version=self._promised,
        )
        if settings or self._arguments.kind:  # a prefix that no argument can have
            key = sha256(digest(settings) + self._arguments.kind + key).digest()
        return key

    def _about(self, known: Current, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[dict[str, str]]:
        identity = known.identity
        options: dict[str, Any] = {"used": identity.names, "names": identity.names_files, "filed": identity.filed}
        options |= {"allow": self._allow, "version": self._promised}
        return [
            {
                "name": name,
                "text": describe(value),
                "digest": client.shown(digest(value, name=name, **options)),
            }
            for name, value in self._arguments.named(args, kwargs).items()
        ]

    def _made(self, known: Current, key: bytes, args: tuple[Any, ...], kwargs: dict[str, Any], flags: int = 0) -> R:
        """Request the result from the server, which requests its computation here if it is not cached."""
        return self._finished(Run(self, known, key, args, kwargs), flags)

    def _finished(self, run: Run, flags: int) -> R:
        run.known.near.pop(run.key, None)
        outcome = self._asked(run, run.compute, flags)
        if outcome is None or run.is_left(outcome):
            run.compute([0])
            outcome = Outcome(client.UNKEPT)
        try:
            return self._result(run, outcome)
        except _Unreadable:  # it was cached in another form
            return self._result(run, self._asked(run, run.compute, client.AGAIN) or Outcome(client.UNKEPT))

    def _asked(self, run: Run, compute: Callable[[list[int]], list[Made]], flags: int) -> Outcome | None:
        """Ask the server; return None if there is no server."""
        try:
            outcome = self._client.get(run.known, [run.key], compute, flags)[0]
            if outcome.kind == client.FILE and outcome.encoded is None:  # it was removed in the meantime
                outcome = self._client.get(run.known, [run.key], compute, flags | client.INLINE)[0]
            return outcome
        except ServerError as error:
            if not self._warned:
                self._warned = True
                _warn(f"results of {run.known.name} are computed and not cached: {error}", self._function)
            return None

    def _result(self, run: Run, outcome: Outcome) -> R:
        if run.raised is not None:
            raise run.raised
        if outcome.kind == client.ERROR:
            raise CycleError(outcome.text) if outcome.cycle else Error(outcome.text)
        if outcome.kind == client.UNKEPT and outcome.text:
            self._unkept(f"a result of {run.known.name} is not cached: {outcome.text}")
        if outcome.encoded is None:
            return self._own(run)
        try:
            kept: R = self._decoded(outcome.encoded)
        except ResultError as error:
            raise _Unreadable(str(error)) from error
        return kept

    def _own(self, run: Run) -> R:
        """Return the result computed here, decoded as from the store if possible."""
        value = run.value if run.encoded is None else self._decoded(run.encoded)
        own: R = iter(value) if self._generates and run.encoded is None else value
        return own

    def _applied(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function; for a generator, return a list of all that it yields."""
        self._count()
        value = self._function(*args, **kwargs)
        return list(value) if self._generates else value

    def _watch(self, known: Current, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Watch | None:
        """Return the watch of a call, or None if a version covers everything that the function does."""
        if self._promised is not None:
            return None
        identity = known.identity
        return Watch(
            self._arguments.paths(args, kwargs),
            identity.threads,
            self._allow or frozenset(),
            identity.caches,
            lambda: identity.draws or may_draw((args, kwargs)),
            identity.follows,
        )

    def _count(self) -> None:
        with self._counting:
            self.executions += 1

    def _unkept(self, text: str) -> None:
        _warn(text, self._function)

    def _encoded(self, value: Any) -> bytes | bytearray:
        if self._pickle:
            return _PICKLED + pickle.dumps(value, protocol=5)
        return encode(value)

    def _decoded(self, encoded: Any) -> Any:
        if self._pickle:
            if bytes(encoded[: len(_PICKLED)]) != _PICKLED:
                raise ResultError("it was cached in another form")
            try:
                value = pickle.loads(memoryview(encoded)[len(_PICKLED) :])
            except Exception as error:
                raise ResultError(f"it cannot be unpickled: {error}") from error
        else:
            value = decode(encoded)
        return iter(value) if self._generates else value

    async def _later(self, args: tuple[Any, ...], kwargs: dict[str, Any], flags: int = 0) -> Any:
        known = self._function_now()
        args, kwargs = self._arguments.filed(args, kwargs)
        key = self._key(known, args, kwargs)
        found = None if flags else self._client.one(known, key)
        if found is not None:
            try:
                return self._decoded(found)
            except ResultError:
                flags = client.AGAIN  # the cached result has another form
        run = Run(self, known, key, args, kwargs)
        loop = asyncio.get_running_loop()
        begun: list[Future[list[Made]]] = []
        cancelled: list[bool] = []

        def compute(which: list[int]) -> list[Made]:
            computation = asyncio.run_coroutine_threadsafe(run.later(), loop)
            begun.append(computation)
            if cancelled:  # cancelled before the computation existed
                computation.cancel()
            return computation.result()

        async def result(flags: int) -> Any:
            outcome = await _in_a_thread(bound(lambda: self._asked(run, compute, flags)))
            if outcome is None or run.is_left(outcome):
                await run.later()
                outcome = Outcome(client.UNKEPT)
            return self._result(run, outcome)

        try:
            try:
                return await result(flags)
            except _Unreadable:
                return await result(client.AGAIN)
        except asyncio.CancelledError:
            cancelled.append(True)
            for computation in begun:
                computation.cancel()
            raise


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


class _Unreadable(ResultError):
    """The cached result cannot be read."""


class Run:
    """A request for a result, with its computation in this process if no process has the result."""

    def __init__(
        self, memo: Memo[..., Any], known: Current, key: bytes, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.memo, self.known, self.key, self.args, self.kwargs = memo, known, key, args, kwargs
        self.value: Any = MISSING
        self.encoded: bytes | bytearray | None = None
        self.raised: BaseException | None = None
        self.unkept = False
        """Whether the result computed here must not be cached."""

    def is_left(self, outcome: Outcome) -> bool:
        """Report whether the server gave the result up without an error, and nothing was computed here."""
        nothing = outcome.encoded is None and outcome.kind != client.ERROR
        return nothing and self.value is MISSING and self.raised is None

    def compute(self, which: list[int]) -> list[Made]:
        watch = self.memo._watch(self.known, self.args, self.kwargs)
        try:
            with watch or answered():
                self.value = self.memo._applied(self.args, self.kwargs)
        except Exception as error:
            return self._failed(error)
        return self._done(watch)

    async def later(self) -> list[Made]:
        watch = self.memo._watch(self.known, self.args, self.kwargs)
        try:
            with watch or answered():
                self.memo._count()
                self.value = await self.memo._function(*self.args, **self.kwargs)
        except Exception as error:
            return self._failed(error)
        return self._done(watch)

    def _failed(self, error: Exception) -> list[Made]:
        self.raised = error
        return [Made(None, f"{type(error).__name__}: {error}")]

    def _done(self, watch: Watch | None) -> list[Made]:
        self.raised, self.unkept = None, False
        reason = (watch and watch.reason()) or self._changed()
        if reason is None and watch is not None and self.known.identity.names_files < BY_NAME:
            reason = path_given(self.value, self.memo._arguments.paths(self.args, self.kwargs))
        if reason is None:
            try:
                self.encoded = self.memo._encoded(self.value)
            except Exception as error:
                reason = str(error) or type(error).__name__
        if reason is not None:
            self.unkept = True
            self.memo._unkept(f"a result of {self.known.name} is not cached: {reason}")
            return [Made(None, reason)]
        return [Made(self.encoded, about=lambda: self.memo._about(self.known, self.args, self.kwargs))]

    def _changed(self) -> str | None:
        """Return what changed since the computation began, or None."""
        memo, before = self.memo, self.known
        try:
            now = memo._function_now()
            if now.known_by != before.known_by:
                if not before.identity.check(fresh=True):
                    return (
                        f"{_differing(before.identity, now.identity)} changed while it was computed; {_COPY} a version="
                    )
            elif memo._key(now, self.args, self.kwargs) == self.key:
                return None
            # If objects were complete before, what they fill in themselves is not a change.
            if memo._key(now, self.args, self.kwargs, fresh=True) != self.key:
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


class Method(Bound):
    """A memo bound to an object, which is its first argument."""

    def __init__(self, memo: Memo[..., Any], instance: Any) -> None:
        self.__self__, self.__func__ = instance, memo
        functools.update_wrapper(self, memo._function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("cached", "forget", "refresh", "why"):
            return functools.partial(getattr(self.__func__, name), self.__self__)
        return getattr(self.__func__, name)


def _code(identity: Identity, pickled: bool) -> dict[str, Any]:
    """Return the identity of a function in the terms of the protocol."""
    mark = "pickle " if pickled else ""
    return {
        "version": "",
        "digest": client.shown(digest((mark, identity.digest))),
        "parts": [
            {"name": part.text, "where": part.path, "digest": client.shown(part.digest)} for part in identity.parts
        ],
    }


def never(which: list[int]) -> list[Made]:
    """Compute nothing, because only cached results are requested."""
    raise AssertionError("nothing is to be computed")


def _warn(text: str, function: Any) -> None:
    warn(text, NotCachedWarning if " not cached" in text else LarderWarning, function)


@overload
def memo(function: Callable[P, R], /) -> Memo[P, R]: ...


@overload
def memo(
    *,
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Any] | None = None,
    codec: str | None = None,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[P, R]], Memo[P, R]]: ...


def memo(
    function: Callable[..., Any] | None = None,
    /,
    *,
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Any] | None = None,
    codec: str | None = None,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Any:
    """Cache the results of a function; use this as a decorator.

    A cached result is returned only if the function would compute the same. Its key covers the
    code of the function with everything that it reaches, and the content of the arguments.
    What has no key is refused: `CodeError` names the part of the function, and
    `ArgumentError` the part of the arguments. Exceptions are raised and never cached.

    - `version` replaces the key of the code: a string to change by hand whenever results do.
    - `ignore` names parameters that results do not depend on.
    - `key` is a function that is called with the arguments and returns what identifies them,
      in place of their content.
    - `codec="pickle"` caches results that cannot be cached otherwise. Reading such a result
      runs code of the process that wrote it.
    - `allow` names things that would be refused and that no result depends on, such as
      "time.perf_counter" for times that are logged. The name of a module covers all in it.
    - `cache_dir` is the cache directory; None is the default.

    A call returns the cached result, also the first time: arrays of NumPy are read-only. The
    result of a generator is everything that it yields.
    """
    options: dict[str, Any] = {"version": version, "ignore": ignore, "key": key, "codec": codec, "allow": allow}
    options["cache"] = cache_dir
    if function is None:
        return lambda function: Memo(function, **options)
    return Memo(function, **options)
