"""Select the encoder of values by the names of their types or of their bases."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from . import objects, standard
from .encoder import Encoder, Unkeyed, Writer, finds

# The modules that encode types of a library, by package. No library is imported here: a value
# of it shows that it is imported.
_LIBRARIES = {
    "numpy": "arrays",
    "torch": "tensors",
    "pandas": "frames",
    "pyarrow": "tables",
    "PIL": "images",
    "omegaconf": "omegaconf",
    "pydantic": "pydantic",
    "sympy": "symbols",
    "numba": "jitted",
}

_CURE = (
    "create it in the function, pass the values it is created from, "
    "or give its class a method __larder_key__ that returns them"
)

# Live objects, by the module and name of their class or of a base, with a description.
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


@finds
def find(cls: type) -> Writer:
    """Return the encoder of a type that has no encoder of its own."""
    if (known := standard.find(cls)) is not None:
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
    return objects.find(cls)


def _of_library(cls: type, package: str) -> Writer | None:
    """Return the encoder for a library, whose other versions may lack the attributes that it reads."""
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


# The exceptions of libraries that lack an attribute, or refuse a request on a value.
_LACKING = (AttributeError, TypeError, ValueError, LookupError, RuntimeError, ImportError, OSError)


def _unread(cls: type, package: str, err: Exception) -> Unkeyed:
    version = getattr(sys.modules.get(package), "__version__", "of an unknown version")
    what = f"a {cls.__qualname__} of {package} {version} that cannot be read ({type(err).__name__}: {err})"
    return Unkeyed(what, "pass the values it is created from, or pass key=")


def _own_key(e: Encoder, value: object) -> None:
    if e.known(value):
        return
    e.of_class(b"K", type(value))
    try:
        e.add(value.__larder_key__())  # type: ignore[attr-defined]
    except Unkeyed as err:
        raise err.step(".__larder_key__()") from None


def _mock(e: Encoder, value: object) -> None:
    """Append an encoding that never occurs again: a mock has any attribute and counts its calls."""
    e.out.append(b"mock" + os.urandom(16))


def _refusing(words: str) -> Writer:
    def refuse(e: Encoder, value: object) -> None:
        raise Unkeyed(words, _CURE)

    return refuse
