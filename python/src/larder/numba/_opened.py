"""Record files, directories, sockets and programs that the program's code opens while numba compiles.

A list of names refuses what code must not reach, and no list is complete. Python reports each
file that is opened under any name (PEP 578). So functions compiled in the meantime are not
cached. Neither are their callers, nor later functions with code that opened files.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from .._identity import distribution
from .._identity.code.refusals import words

_NAMED = frozenset(words("open os.listdir os.scandir os.system os.getxattr os.listxattr os.startfile"))
_BEGINNING = ("socket.", "urllib.", "subprocess.", "os.exec", "os.posix_spawn", "os.spawn", "sqlite3.", "winreg.")
_FINDING = frozenset(words("importlib._bootstrap importlib._bootstrap_external zipimport linecache"))
_MODULES = (*importlib.machinery.all_suffixes(), ".zip")
_COMPILERS = ("numba", "llvmlite")
_OF_SYSTEM = ("/proc/", "/sys/", "/dev/", "/usr/share/zoneinfo/", "/etc/localtime")


class Opened:
    """What was opened during compilations, used only by the thread that holds the compiler's lock."""

    def __init__(self) -> None:
        self._compiling: list[tuple[int, Any]] = []
        """Threads, and what they compile, the innermost last."""
        self._codes: dict[CodeType, str] = {}
        self._functions: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._hears = False

    def begin(self, what: Any) -> None:
        """Record the start of a compilation."""
        if not self._hears:  # other processes must not pay for the hook
            self._hears = True
            sys.addaudithook(self._heard)
        self._compiling.append((threading.get_ident(), what))

    def end(self) -> None:
        """Record the end of the last compilation begun."""
        if self._compiling:
            self._compiling.pop()

    def by(self, value: Any) -> str:
        """Return what a function, or a part of it, opened during a compilation, or the empty string."""
        code = getattr(value, "__code__", None)
        if isinstance(code, CodeType):
            return self._codes.get(code, "")
        try:
            return self._functions.get(value, "")
        except TypeError:  # without weak references
            return ""

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._compiling or not (event in _NAMED or event.startswith(_BEGINNING)):
            return
        if self._compiling[-1][0] != threading.get_ident() or (event == "open" and not _reads(args)):
            return
        what = "." if not args or args[0] is None else args[0]
        what = os.fsdecode(what) if isinstance(what, (str, bytes)) else f"what {event} gave"
        codes = tuple(_asking(sys._getframe(1), event, what))
        for code in codes:
            self._codes.setdefault(code, what)
        for _, function in self._compiling if codes else ():
            self._functions.setdefault(function, what)


def _reads(args: tuple[Any, ...]) -> bool:
    """Report whether a file is opened for reading, and by its name."""
    path, mode, flags = (*args, None, 0)[:3]
    if not isinstance(path, (str, bytes)):
        return False
    if isinstance(mode, str):
        return not set("r+").isdisjoint(mode)
    return bool(flags & 3 != os.O_WRONLY)


def _asking(frame: FrameType | None, event: str, what: str) -> Iterator[CodeType]:
    """Yield the program's code that opened something, up to the call by numba; nothing if it belongs to a library."""
    found = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if not found and _is_of_import(module, event, what):
            return
        owner = distribution.of_module(module)
        if owner is None:
            found = True
            yield frame.f_code
        elif owner.name in _COMPILERS or (owner is not distribution.PYTHON and not found and _is_of_library(what)):
            return
        frame = frame.f_back


def _is_of_import(module: str, event: str, what: str) -> bool:
    """Report whether the event belongs to the search for a module, or to this package."""
    if module in _FINDING:
        return event != "open" or what.endswith((*_MODULES, ".pyc"))
    return module.startswith(("larder.", "importlib.metadata"))


def _is_of_library(what: str) -> bool:
    return what.startswith(_OF_SYSTEM) or distribution.of_file(what) is not None
