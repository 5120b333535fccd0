"""What writes values of types that are known by their names or by their bases."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from ._encoder import Encoder, Unkeyed, Writer

# What knows the types of a library, by the package that they are of. No library is
# imported here: a value of it says that it is there.
_LIBRARIES = {
    "numpy": "_arrays",
    "torch": "_tensors",
    "pandas": "_frames",
    "pyarrow": "_tables",
    "PIL": "_images",
    "omegaconf": "_omegaconf",
    "pydantic": "_pydantic",
    "sympy": "_symbols",
    "numba": "_jitted",
}

_CURE = "make it in the function, pass what it is made of, or give its class a method __larder_key__ that returns that"

# What is alive, by the module and name of its class, or of one of its bases, in words.
_ALIVE = {
    "_io._IOBase": "an open file",
    "_socket.socket": "a socket",
    "_thread.lock": "a lock",
    "_thread.RLock": "a lock",
    "threading.Condition": "a lock",
    "threading.Semaphore": "a lock",
    "threading.Event": "an event of threads",
    "threading.Thread": "a thread",
    "_thread._local": "a variable of threads",
    "builtins.generator": "a generator",
    "builtins.coroutine": "a coroutine",
    "builtins.async_generator": "a generator",
    "builtins.frame": "a frame",
    "builtins.traceback": "a traceback",
    "builtins.module": "a module",
    "subprocess.Popen": "a process",
    "sqlite3.Connection": "a connection",
    "_contextvars.ContextVar": "a context variable",
    "builtins.weakref": "a weak reference",
    "weakref.ReferenceType": "a weak reference",
}


def find(cls: type) -> Writer:
    """Return what writes values of a type that has no writer of its own."""
    from . import _objects, _standard

    if (known := _standard.find(cls)) is not None:
        return known
    if any("__larder_key__" in vars(base) for base in cls.__mro__):
        return _own_key
    for base in cls.__mro__:
        if f"{base.__module__}.{base.__qualname__}" == "unittest.mock.Base":
            return _mock
        words = _ALIVE.get(f"{base.__module__}.{base.__qualname__}")
        if words:
            return _refusing(words)
    for base in cls.__mro__:
        package = str(base.__module__).partition(".")[0]
        if package in _LIBRARIES:
            found = _of_library(cls, package)
            if found is not None:
                return found
    return _objects.find(cls)


def _of_library(cls: type, package: str) -> Writer | None:
    """Return what writes values of a library, whose other versions may lack what it reads of them."""
    try:
        write: Writer | None = import_module(f".{_LIBRARIES[package]}", __package__).find(cls)
    except _LACKING as err:
        raise _unread(cls, package, err) from err
    if write is None:
        return None

    def guarded(e: Encoder, value: object) -> None:
        try:
            write(e, value)
        except RecursionError:
            raise
        except _LACKING as err:
            raise _unread(cls, package, err) from err

    return guarded


# What libraries raise that lack an attribute, or refuse what is asked of a value.
_LACKING = (AttributeError, TypeError, ValueError, LookupError, RuntimeError, ImportError, OSError)


def _unread(cls: type, package: str, err: Exception) -> Unkeyed:
    version = getattr(sys.modules.get(package), "__version__", "of an unknown version")
    what = f"a {cls.__qualname__} of {package} {version} that cannot be read ({type(err).__name__}: {err})"
    return Unkeyed(what, "pass what it is made of, or say key=")


def _own_key(e: Encoder, value: object) -> None:
    if e.known(value):
        return
    e.of_class(b"K", type(value))
    try:
        e.add(value.__larder_key__())  # type: ignore[attr-defined]
    except Unkeyed as err:
        raise err.step(".__larder_key__()") from None


def _mock(e: Encoder, value: object) -> None:
    """Append what is never there again: a mock has any attribute and counts its calls."""
    e.out.append(b"mock" + os.urandom(16))


def _refusing(words: str) -> Writer:
    def refuse(e: Encoder, value: object) -> None:
        raise Unkeyed(words, _CURE)

    return refuse
