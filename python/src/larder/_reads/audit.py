"""Record what a function does while it runs that its key does not cover: files and randomness.

Python reports each file that is opened (PEP 578) anywhere in this process. So a function
may pass its files on, convert their names to strings and read them in any way: each file
that it opens is covered by its key, or its result is not cached.
"""

from __future__ import annotations

import os
import sys
import threading
from asyncio import _get_running_loop
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from types import FrameType
from typing import Any

from .._identity import distribution
from .._identity.code.rules import GENERATORS
from .rng import GeneratorStates, pardoned

_current: ContextVar[tuple[Watch, ...] | None] = ContextVar("larder watch", default=None)
"""All watches of the running code: of the innermost function and of its callers. None in a separate thread."""
_active: list[Watch] = []
_lock = threading.Lock()
_hooked = False

# System directories that libraries read to find out how to work.
_OF_SYSTEM = ("/proc/", "/sys/", "/dev/")
_ZONES = ("/usr/share/zoneinfo/", "/usr/lib/zoneinfo/", "/etc/localtime")
_IMPORTING = frozenset(["importlib._bootstrap_external", "importlib._bootstrap", "zipimport", "linecache"])
# Modules with files of their own, whose content does not change results.
_CACHES = frozenset(["matplotlib.font_manager", "numba.core.caching", "numba.core.codegen", "llvmlite.binding.ffi"])


_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


class Watch:
    """Records the side effects of a function while it is entered, also those of functions that it calls.

    `files` are those that it may open; None means that it opens none, by its code. With `threads`,
    files that any thread opens count. `allow` are names that do not matter. `caches` may hold
    content that was read before, and are emptied. `may_draw` says whether the function can draw
    random numbers, in case a draw is found. `follows` says whether its key covers the code of a
    function or a class.

    Side effects of a function also count for its callers, whose keys do not cover them either.
    """

    def __init__(
        self,
        files: Iterable[str] | None,
        threads: bool = False,
        allow: frozenset[str] = frozenset(),
        caches: Iterable[Any] = (),
        may_draw: Callable[[], bool] = lambda: True,
        follows: Callable[[object], bool] = lambda _: False,
    ) -> None:
        self._caches, self._may_draw, self._follows = caches, may_draw, follows
        self._draws = not allow.isdisjoint(GENERATORS)
        self.files = None if files is None else frozenset(map(os.path.abspath, files))
        self.threads = threads
        self.stranger = ""
        """The first opened file that is not one of `files`."""
        self.written = ""
        """The first file that was opened only for writing, from its start."""
        self.program = ""
        """The first program that was run."""
        self.unpickled: dict[tuple[str, str], None] = {}
        """Functions and classes that were found by name: their modules and names."""
        self.drawn = ""
        """The generator from which random numbers were drawn."""
        self._by = ""
        """The function that drew."""
        self._above: tuple[Watch, ...] = ()
        self._before: Token[tuple[Watch, ...] | None] | None = None
        self._generators: GeneratorStates | None = None
        self._pardon: AbstractContextManager[None] = nullcontext()

    def __enter__(self) -> Watch:
        for cache in self._caches:
            cache.cache_clear()
        self._above = _watching()
        if self._draws:  # which is allowed, also where it is called
            self._pardon = pardoned(watch._generators for watch in self._above)
            self._pardon.__enter__()
        else:
            self._generators = GeneratorStates(self._may_draw)
        if self.files is not None:
            _hook()
            with _lock:
                _active.append(self)
            self._before = _current.set((self, *self._above))
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            _current.reset(self._before)
            with _lock:
                _active.remove(self)
        if self._generators is not None:
            self._look(self._generators)
        self._pardon.__exit__(None, None, None)

    def _look(self, rng: GeneratorStates) -> None:
        drawn = rng.drawn()
        for watch in (self, *self._above) if drawn else ():
            if not watch._draws:
                watch.drawn = watch.drawn or drawn
                watch._by = "it, or code that ran concurrently," if rng.accompanied() else "it"

    def so_far(self) -> str:
        """Return the same as `reason` for the time so far, while it is entered."""
        if self._generators is not None:
            self._look(self._generators)
        return self.reason()

    def reason(self) -> str:
        """Return why the result cannot be cached, or the empty string."""
        if self.stranger:
            return (
                f"it read {self.stranger}, which is not a file that it was given; "
                "take it as a parameter that is annotated as larder.File, too"
            )
        if self.written:
            return f"it wrote {self.written}, and a hit would not write it again; return the content instead"
        if self.program:
            return (
                f"it started {self.program}, whose inputs Larder cannot observe; "
                "run it before the call and pass its output"
            )
        for module, name in self.unpickled:
            if (module, name) in _MAKERS:
                return (
                    f"it unpickled code ({module}.{name}), and what that uses is not in its key; "
                    "import the function, or unpickle it outside and pass it as an argument"
                )
            # Checked here, as Python reports a name before it imports its module.
            if distribution.of_module(module) is None and not self._follows(_named(module, name)):
                return (
                    f"it unpickled {module}.{name}, whose code is not in its key; "
                    "name that in the function, or unpickle it outside and pass it as an argument"
                )
        if self.drawn:
            return (
                f"{self._by} drew random numbers from {self.drawn}, so another call may return something else; "
                "give what draws a seed or a generator (random_state=, rng=, generator=)"
            )
        return ""

    def opened(self, path: str, flags: int = os.O_RDONLY) -> None:
        """Record that a file was opened with these flags of `os.open`; appending to a log is not a result."""
        if flags & _ACCESS == os.O_WRONLY:
            if not flags & os.O_APPEND:
                self.written = self.written or path
        elif not self.stranger and not self._has(os.path.abspath(path)):
            self.stranger = path

    def _has(self, path: str) -> bool:
        assert self.files is not None
        return path in self.files or any(_is_same(path, own) for own in self.files)


def opened(path: str) -> None:
    """Record that the running code depends on the content of a file."""
    # A coroutine without a watch is not part of the functions that run next to it.
    for watch in _watching() if _get_running_loop() is None else _current.get() or ():
        watch.opened(path)


def bound(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return the same call, which reports to the watches of the present code in any thread."""
    watches = _current.get() or ()

    def called() -> Any:
        before = _current.set(watches)
        try:
            return call()
        finally:
            _current.reset(before)

    return called


@contextmanager
def answered() -> Iterator[None]:
    """Record nothing within the block, because a version covers it."""
    with pardoned(watch._generators for watch in _watching()):
        before = _current.set(())
        try:
            yield
        finally:
            _current.reset(before)


def _watching() -> tuple[Watch, ...]:
    """Return the watches of the running code; in a separate thread, all that include threads."""
    current = _current.get()
    if current is not None:
        return current
    return tuple(dict.fromkeys(one for watch in list(_active) if watch.threads for one in (watch, *watch._above)))


def _hook() -> None:
    global _hooked
    with _lock:
        if not _hooked:
            _hooked = True
            sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _active or event not in _EVENTS:
        return
    if event == "socket.connect":
        if isinstance(args[1], tuple):
            for watch in _watching():
                watch.stranger = watch.stranger or f"from {args[1][0]}"
        return
    watching = _watching()
    if event == "pickle.find_class":
        for watch in watching:
            watch.unpickled[str(args[0]), str(args[1])] = None
        return
    if event == "subprocess.Popen":
        if watching and not _is_of_library(""):
            for watch in watching:
                watch.program = watch.program or str(args[0])
        return
    if watching and isinstance(path := "." if args[0] is None else args[0], (str, bytes)):
        name = os.fsdecode(path)
        if any(not watch._has(os.path.abspath(name)) for watch in watching) and not _is_of_library(name):
            for watch in watching:
                watch.opened(name, args[2] if event == "open" and isinstance(args[2], int) else os.O_RDONLY)


_EVENTS = frozenset(
    ["socket.connect", "open", "os.listdir", "os.scandir", "sqlite3.connect", "subprocess.Popen", "pickle.find_class"]
)
"""Events that are recorded, whose first argument is a file or directory unless stated otherwise."""


_MAKERS = {
    ("cloudpickle.cloudpickle", name)
    for name in ("_make_function", "_make_skeleton_class", "_make_skeleton_enum", "subimport", "_dynamic_subimport")
} | {("dill._dill", name) for name in ("_create_function", "_create_code", "_create_type", "_import_module")}
"""Functions that create functions, classes and modules from the content of a pickle."""


def _named(module: str, name: str) -> object:
    value: object = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _is_of_library(path: str) -> bool:
    """Report whether a library opens a file for its own use, whatever its arguments were.

    Without a path, report whether a library runs a program to inspect the machine.
    """
    if path.startswith(_ZONES):
        return True
    asked = False
    for frame in _frames(sys._getframe(2)):
        module = str(frame.f_globals.get("__name__", ""))
        if module in _IMPORTING:
            return True  # an import reads code, with everything that it reads for that
        if module in _CACHES or module.startswith(("larder.", "importlib.metadata")):
            return not asked  # files of keys are recorded separately
        owner = distribution.of_module(module)
        if owner is None:
            return False  # the program's, which opens or passed the file
        if owner is not distribution.PYTHON and not asked:
            if not path or path.startswith(_OF_SYSTEM) or distribution.of_file(path) is not None:
                return True
            asked = True  # unless it is being imported
    return False


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
