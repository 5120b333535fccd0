"""Install Larder's store under numba's caches."""

from __future__ import annotations

import itertools
import os
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core import base, bytecode, ccallback, compiler, dispatcher, event, pythonapi, serialize
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack
from numba.np.ufunc import ufuncbuilder, wrappers
from numba.stencils import stencil

from .._client import client
from . import _classes, _conversions, _loops, _pins, _stencils, _subroutines, _values
from ._cache import Keeper, LarderCache, asked, cache_of, normalized
from ._errors import NumbaError
from ._kinds import UNITS, kind_of, named, python_of
from ._registered import is_numbas
from ._walk import Walk

_KEY = "LARDER_SIGNING_KEY"
_LEAST = 16

_keeper: Keeper | None = None


class _Numbers(Iterator[int]):
    """Numbers that no other process uses.

    numba numbers the functions that it compiles, and puts the numbers into the names that it
    links. Those of two processes must differ, or one function is linked for another.
    """

    def __next__(self) -> int:
        return secrets.randbits(62)


class _Compiled(event.Listener):  # type: ignore[misc]
    """Listens to each compilation, with Larder's cache or without a cache."""

    def __init__(self) -> None:
        self._begun: list[float] = []
        self._within: list[float] = []
        """The time since the start that was spent on others, in seconds."""
        self._walks: list[Walk | None] = []
        """The walks of the compilations in progress, if they were recorded."""

    def on_start(self, event: Any) -> None:
        """Record what a function is compiled from."""
        self._begun.append(time.thread_time())
        self._within.append(0.0)
        self._walks.append(None)
        found = event.data["dispatcher"]
        if _keeper is None:
            return
        _keeper.history.opened.begin(found)
        _keeper.compiling.append(found)
        if kind_of(found) not in UNITS:
            return
        args, result = tuple(event.data["args"]), event.data["return_type"]
        _keeper.history.compiles()
        if self._is_numbas_alone(found):
            return
        pending = _keeper.stack[-1] if _keeper.stack and isinstance(cache_of(found), LarderCache) else None
        try:
            if pending is not None and pending.known is not None:
                walk = pending.known.walk
            else:
                walk = _keeper.walked(found, args)
            circle = _keeper.circle(walk, _keeper.compiling[:-1])
            _keeper.history.note(walk, args, asked(args, result) + (f" within {circle}" if circle else ""))
            self._walks[-1] = walk
        except Exception:  # its callers are then refused, as its compilation was not recorded
            return

    def _is_numbas_alone(self, function: Any) -> bool:
        """Report whether numba created a function for another one that it compiles, and nothing else refers to it.

        What it is compiled from was recorded with the other one.
        """
        noted = [walk for walk in self._walks if walk is not None]
        if not noted or not is_numbas(python_of(function)) or isinstance(cache_of(function), LarderCache):
            return False
        return not any(walk.reaches(function) for walk in noted)

    def on_end(self, event: Any) -> None:
        """Release the claim of a function that failed to compile; record one for which no cache was requested."""
        found = event.data["dispatcher"]
        took = self._took(found)
        del self._walks[-1:]
        if _keeper is None:
            return
        _keeper.history.opened.end()
        del _keeper.compiling[-1:]
        if kind_of(found) not in UNITS:
            return
        if not _failed(event):
            _keeper.count(found, took)
            _keeper.unasked.note(found, tuple(event.data["args"]), took)
        elif isinstance(cache_of(found), LarderCache):
            cache_of(found).failed(f"it could not be compiled: {event.data['args']}")

    def _took(self, function: Any) -> float:
        """Return the processor seconds of the ending compilation; numba's own functions count for their callers."""
        if not self._begun:
            return 0.0
        whole, within = time.thread_time() - self._begun.pop(), self._within.pop()
        if self._within:
            self._within[-1] += within if is_numbas(python_of(function)) else whole
        return max(0.0, whole - within)


def _failed(ended: Any) -> bool:
    details = ended._exc_details
    return details is not None and details[0] is not None


def install(*, cache_dir: str | os.PathLike[str] | None = None, key_file: str | os.PathLike[str] | None = None) -> None:
    """Cache all functions with `cache=True` that are created from now on in Larder's store.

    `cache_dir` is the cache directory; None is the default. `key_file` is a file of at least 16
    bytes that only processes have which may compile functions for this one. If it is given, or
    LARDER_SIGNING_KEY names one, functions not signed with it are not loaded.

    Raises NumbaError if the version of numba is not supported, and then changes nothing. May be
    called again, also with another directory or key, which apply to functions from then on.
    """
    global _keeper
    secret = _secret(key_file)
    first, before = _keeper is None, _keeper
    if first:
        _pins.check(numba.__version__)
    _keeper = Keeper(client.client_of(cache_dir), secret)
    if before is not None:
        _keeper.follow(before)
    if first:
        _patch()


def _secret(key_file: str | os.PathLike[str] | None) -> bytes | None:
    named = key_file if key_file is not None else os.environ.get(_KEY)
    if key_file is not None and not named:
        raise NumbaError("the key for signing has no name: key_file is empty")
    if not named:
        return None
    try:
        with open(named, "rb") as file:
            secret = file.read().strip()
    except OSError as error:
        raise NumbaError(f"the key {os.fspath(named)!r} for signing cannot be read: {error.strerror}") from error
    if len(secret) < _LEAST:
        raise NumbaError(f"the key {os.fspath(named)!r} for signing has {len(secret)} bytes; {_LEAST} are needed")
    return secret


def _patch() -> None:
    assert _keeper is not None
    dispatcher.Dispatcher.enable_caching = _enable
    dispatcher.Dispatcher.compile = _compiling(dispatcher.Dispatcher.compile)
    dispatcher.Dispatcher.disable_compile = _disabling(dispatcher.Dispatcher.disable_compile)
    ufuncbuilder.UFuncDispatcher.enable_caching = _enable_vectorized
    ufuncbuilder.UFuncDispatcher._compile_core = _compile_core
    ccallback.CFunc.enable_caching = _enable
    ccallback.CFunc.compile = _callback(ccallback.CFunc.compile)
    ccallback.CFunc._compile_uncached = _compile_callback
    ufuncbuilder.GUFuncBuilder.__init__ = _building(ufuncbuilder.GUFuncBuilder.__init__)
    wrappers.GufWrapperCache = _no_cache
    rows, elements = _loops.kept_apart(_loop, wrappers)
    wrappers._GufuncWrapper.build = rows
    ufuncbuilder.build_ufunc_wrapper = elements
    serialize.NumbaPickler.reducer_override = _pickling(serialize.NumbaPickler.reducer_override)
    for name in ("serialize_uncached", "serialize_object"):  # in numba 0.67 the one no longer calls the other
        setattr(pythonapi.PythonAPI, name, _into_code(getattr(pythonapi.PythonAPI, name)))
    base.BaseContext.compile_subroutine = _subroutines.apart(base.BaseContext.compile_subroutine)
    stencil.StencilFunc._stencil_wrapper = _stencils.unchanged(stencil.StencilFunc._stencil_wrapper)
    numbers = bytecode.FunctionIdentity._unique_ids
    if isinstance(numbers, itertools.count):
        _keeper.late = next(numbers) > 1
        bytecode.FunctionIdentity._unique_ids = _Numbers()
    event.register("numba:compile", _Compiled())
    _conversions.hear()
    _values.told_apart()


def _enable(self: Any) -> None:
    assert _keeper is not None
    self._cache = LarderCache(_keeper, self)


def _enable_vectorized(self: Any) -> None:
    assert _keeper is not None
    self.cache = LarderCache(_keeper, self)


def _compiling(usual: Any) -> Any:
    """Return numba's method that compiles a function, with the request recorded."""

    def compile(self: Any, sig: Any) -> Any:
        assert _keeper is not None
        args, _ = normalized(sig)
        with global_compiler_lock, _keeper.history.asking(self, args):
            return usual(self, sig)

    return compile


def _disabling(usual: Any) -> Any:
    """Return numba's method that disables further compilation, refusing it if a compiled type is missing here."""

    def disable_compile(self: Any, val: bool = True) -> None:
        assert _keeper is not None
        if val and (missing := _keeper.history.missing(self)):
            raise NumbaError(
                f"{named(self)}: disable_compile() is not possible yet: a cached caller needs it for "
                f"({'), ('.join(missing)}); call it with these types first"
            )
        usual(self, val)

    return disable_compile


def _compile_core(self: Any, sig: Any, flags: Any, locals: Any) -> Any:
    """Compile the kernel of a vectorized function as numba does, and trigger numba's event for other functions."""
    assert _keeper is not None
    if _keeper.stack:
        _loops.keep(self)
    args, result = normalized(sig)
    typing, target = self.targetdescr.typing_context, self.targetdescr.target_context
    with global_compiler_lock, _keeper.history.asking(self, args), ConfigStack().enter(flags.copy()):
        compiled = self.cache.load_overload(sig, target)
        if compiled is None:
            reported = {"dispatcher": self, "args": args, "return_type": result}
            with event.trigger_event("numba:compile", data=reported):
                compiled = compiler.compile_extra(typing, target, self.py_func, args, result, flags, locals)
            self.cache.save_overload(sig, compiled)
        else:
            target.refresh()  # the loop that calls the kernel is compiled here, whether the kernel is loaded or not
        if compiled.signature not in self.overloads:
            self.overloads[compiled.signature] = compiled
        return compiled


def _building(usual: Any) -> Any:
    """Return numba's constructor of a guvectorized function, with the declared types of variables set on its kernel."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        usual(self, *args, **kwargs)
        self.nb_func.locals = dict(self.targetoptions.get("locals", {}))

    return __init__


def _loop(compiled: Any, how: str, build: Callable[[], Any]) -> Any:
    """Return the library of the loop around the kernel of a vectorized function."""
    assert _keeper is not None
    return _keeper.loop(compiled, how, build)


def _callback(usual: Any) -> Any:
    """Return numba's method that compiles or loads a function for C, with its requests recorded."""

    def compile(self: Any) -> None:
        assert _keeper is not None
        with global_compiler_lock, _keeper.history.asking(self, tuple(self._sig.args)):
            usual(self)

    return compile


def _compile_callback(self: Any) -> Any:
    """Compile a function for C as numba does, and trigger numba's event for other functions."""
    args, result = tuple(self._sig.args), self._sig.return_type
    with event.trigger_event("numba:compile", data={"dispatcher": self, "args": args, "return_type": result}):
        return self._compiler.compile(args, result)


def _no_cache(*args: Any, **kwargs: Any) -> Any:
    return NullCache()


def _pickling(usual: Any) -> Any:
    """Return numba's method that pickles values, with classes in code replaced by tokens."""

    def reducer_override(self: Any, value: Any) -> Any:
        found = _classes.reduced(value)
        return usual(self, value) if found is None else found

    return reducer_override


def _into_code(usual: Any) -> Any:
    """Return numba's method that pickles values into code, without tokens if the code is compiled ahead of time."""

    def serialize(self: Any, value: Any) -> Any:
        with _classes.tokens(not self.context.aot_mode):
            return usual(self, value)

    return serialize


def keeper() -> Keeper:
    """Return the installed keeper, or raise NumbaError."""
    if _keeper is None:
        raise NumbaError("nothing is installed: call larder.numba.install() first")
    return _keeper
