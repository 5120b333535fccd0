"""Record what compiled functions were compiled from in this process.

numba reads a variable when it compiles, and never again. A function that was compiled while a
variable was 1 keeps the 1, and so does any function that calls it and is compiled later. Another
process in which the variable is 2 from the start must not load that function. So each
compilation records the state of everything that it reached. A later caller is cached only if
that state is unchanged. The same holds for numba's settings.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._identity.library import library_name
from . import _installed
from ._errors import Refused
from ._kinds import kernel_of, kind_of, loops_of
from ._node import Node
from ._opened import Opened
from ._options import Passed, inheriting, passed
from ._types import ADDRESS
from ._walk import Walk

_MOST = 50_000

Reference = Callable[[], Any]
Types = tuple[Any, ...]
Way = tuple[str, Passed]
"""How a function was compiled: a string, and the flags that functions inherited which were compiled within it."""
Asked = tuple[weakref.ref[Any], str]
"""A function, and the types of its arguments."""
Compiled = tuple[int, str, Way, bytes | None]
"""The number of a function in a walk, the types of its arguments, how it was compiled, and its cached state, if any."""
Added = tuple[int, Any, Passed, int]
"""The number of a vectorized function in a walk, the signature of a loop that it got, the flags around its kernel,
and the number of functions requested by then.
"""


def _reference(value: Any) -> Reference:
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _ran(node: Node) -> bool:
    """Report whether a node is code of the program that runs while numba compiles."""
    if not node.runs or node.kind not in ("function", "overload", "intrinsic"):
        return False
    return node.kind == "intrinsic" or library_name(node.value)[1] is None


def _is_compiled(node: Node) -> bool:
    """Report whether a part of its callers, such as a kernel or stencil, is already compiled or typed."""
    return (node.kind == "kernel" and bool(node.value.overloads)) or (
        node.kind == "stencil" and bool(node.value._type_cache)
    )


def _shown(args: Types) -> str:
    """Return types as a string with their classes, by which alone numba tells `*args` from a tuple."""
    return ADDRESS.sub("...", ", ".join(f"{type(kind).__name__} {kind}" for kind in args))


@dataclass(slots=True, frozen=True)
class Seen:
    """A thing as it was when it, or a function that contains it, was compiled."""

    value: Reference
    content: bytes
    held: tuple[Reference, ...]
    said: dict[str, int]
    settled: dict[str, Any]
    """The process settings that code could read which ran for it; empty if none ran."""

    def holds(self, node: Node, walk: Walk) -> bool:
        """Report whether it is unchanged."""
        return (
            self.content == node.content()
            and len(self.held) == len(node.edges)
            and all(of() is walk.nodes[n].value for of, n in zip(self.held, node.edges, strict=True))
        )

    def differs(self, node: Node) -> str:
        """Return the names in it whose meaning changed, for messages."""
        names = [name for name, held in node.said.items() if self.said.get(name) != held]
        return f" ({', '.join(names[:5])})" if names else ""

    def unsettled(self, node: Node, walk: Walk) -> list[str]:
        """Return the process settings that changed and that it could read when it ran."""
        if not _ran(node):
            return []
        return [name for name, was in self.settled.items() if walk.settled.get(name, was) != was]


class History:
    """What was seen when functions were compiled, used only by the thread that holds the compiler's lock."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, bool, str], Seen | None] = {}
        """By address: what was seen, or None if it was seen in two ways."""
        self._most = _MOST
        self._settings: dict[bytes, None] = {}
        """The settings of numba during compilations, the latest at the end."""
        self._ways: weakref.WeakKeyDictionary[Any, dict[str, Way]] = weakref.WeakKeyDictionary()
        """How functions were compiled, by the types of their arguments."""
        self._loaded: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
        """The types for which functions count as compiled because a function that contains them was loaded."""
        self._states: weakref.WeakKeyDictionary[Any, dict[str, bytes]] = weakref.WeakKeyDictionary()
        """The states under which functions are cached, by types of arguments."""
        self._inner: weakref.WeakKeyDictionary[Any, dict[str, tuple[Asked, ...]]] = weakref.WeakKeyDictionary()
        """The functions requested while functions were compiled or loaded, by the types of their arguments."""
        self._asked: list[dict[Asked, None]] = []
        """The functions requested by each function that is being compiled, the innermost last."""
        self.opened = Opened()

    def note(self, walk: Walk, args: Types, asked: str = "") -> None:
        """Record what was reached when a function was compiled for some types, and the requested result, if any."""
        self.compiles()
        references = [_reference(node.value) for node in walk.nodes]
        for node, reference in zip(walk.nodes[1:], references[1:], strict=True):
            place = (id(node.value), node.runs, node.kind)
            if place in self._seen:
                known = self._seen[place]
                if known is None:
                    continue
                if known.value() is node.value:
                    if not known.holds(node, walk) or known.unsettled(node, walk):
                        self._seen[place] = None
                    elif _ran(node):
                        known.settled.update(walk.settled)
                    continue
            held = tuple(references[n] for n in node.edges)
            settled = dict(walk.settled) if _ran(node) else {}
            self._seen[place] = Seen(reference, node.content(), held, node.said, settled)
        if len(self._seen) > self._most:
            self._seen = {k: s for k, s in self._seen.items() if s is None or s.value() is not None}
            self._most = 2 * len(self._seen) + _MOST
        root = walk.nodes[1]
        if root.flags is not None and root.kind in ("compiled function", "kernel"):
            self._loaded.get(root.value, set()).discard(_shown(args))
            self._states.get(root.value, {}).pop(_shown(args), None)
            self._compiled_as(root.value, _shown(args), (root.flags.text + asked, passed(root.flags.flags)))

    def _compiled_as(self, function: Any, args: str, way: Way) -> None:
        self._ways.setdefault(function, {})[args] = way

    def keep(self, function: Any, args: Types, state: bytes) -> None:
        """Record that a function is cached, and the state of what it reaches."""
        self._states.setdefault(function, {})[_shown(args)] = state

    def cached(self, function: Any, args: Types) -> bytes | None:
        """Return the state in which a function is cached that counts as compiled, or None."""
        shown = _shown(args)
        return self._states.get(function, {}).get(shown) if shown in self._loaded.get(function, ()) else None

    def missing(self, function: Any) -> list[str]:
        """Return the types for which a function counts as compiled, and was neither compiled nor loaded here."""
        here = {_shown(args) for args in function.overloads}
        return [
            args for args in self._ways.get(function, {}) if args not in here and args in self._loaded.get(function, ())
        ]

    @contextmanager
    def asking(self, function: Any, args: Types) -> Iterator[None]:
        """Record that a function is requested, and what it requests if it is compiled or loaded now.

        If its first caller was loaded, it is compiled with the flags that it had where that was compiled.
        """
        shown = _shown(args)
        asked = (weakref.ref(function), shown)
        taken = shown in self._loaded.get(function, ())
        if self._asked and kind_of(function) == "kernel":
            self._asked[-1][asked] = None  # before its own requests, as its loop is created again by then
        self._asked.append({})
        try:
            with inheriting(self._ways[function][shown][1] if taken else {}):
                yield
            if taken:
                self._order(function)
            inner = self._inner.setdefault(function, {}).setdefault(shown, tuple(self._asked[-1]))
            self._asked[-1] = dict.fromkeys((*inner, asked))
        finally:
            found = self._asked.pop()
            if self._asked:
                self._asked[-1] |= found

    def _order(self, function: Any) -> None:
        """Order the compiled types of a function as without a cache, as callers get the first of two that fit."""
        numbers = {args: i for i, args in enumerate(self._ways[function])}
        for args in sorted(function.overloads, key=lambda args: numbers.get(_shown(args), 0)):
            function.overloads[args] = function.overloads.pop(args)

    def within(self, walk: Walk) -> tuple[list[Compiled], list[Added]]:
        """Return the parts of a walk that the current compilation requested, directly or indirectly.

        Also return the loops that vectorized functions got since the walk, through which they are called from then on.
        """
        numbers = {id(node.value): i for i, node in enumerate(walk.nodes) if node.kind == "compiled function"}
        found: list[Compiled] = []
        before: dict[Asked, tuple[int, int]] = {}
        for place, (of, args) in enumerate(self._asked[-1]):
            function = of()
            number = numbers.get(id(function), 0)
            before[of, args] = (place, len(found))
            if number > 1 and args in self._ways.get(function, {}):
                state = self._states.get(function, {}).get(args)
                found.append((number, args, self._ways[function][args], state))
        return found, self._added(walk, before, (len(before), len(found)))

    def _added(self, walk: Walk, before: dict[Asked, tuple[int, int]], last: tuple[int, int]) -> list[Added]:
        """Return the new loops, in the order in which their kernels were requested, or else at the end."""
        found = []
        for number, node in enumerate(walk.nodes):
            if node.loops is not None:
                kernel = weakref.ref(kernel_of(node.value))
                for loop, (_, flags) in self._loops(node)[node.loops :]:
                    place, asked = before.get((kernel, _shown(loop.args)), last)
                    found.append((place, (number, loop, flags, asked)))
        return [added for _, added in sorted(found, key=lambda placed: placed[0])]

    def again(self, compiled: list[Compiled], walk: Walk) -> None:
        """Mark functions as compiled that were where a loaded function was compiled.

        So the next compilation has the same key here as there, and the same result.
        """
        for number, args, way, state in compiled:
            function = walk.nodes[number].value
            self._asked[-1][weakref.ref(function), args] = None
            if args not in self._ways.get(function, {}):
                self._compiled_as(function, args, way)
                self._loaded.setdefault(function, set()).add(args)
                if state is not None:
                    self._states.setdefault(function, {})[args] = state

    def _loops(self, node: Node) -> list[tuple[Any, Way]]:
        """Return the signatures of a vectorized function's loops, and how their kernels were compiled."""
        ways = self._ways.get(kernel_of(node.value), {})
        return [(loop, ways.get(_shown(loop.args), ("", {}))) for loop in loops_of(node.value)[1]]

    def contradicted(self, walk: Walk) -> str:
        """Return the path to a function that counted as compiled, and was then compiled in another way, if any."""
        for node in walk.nodes:
            ways = self._ways.get(node.value, {}) if node.loaded else {}
            if any(args in ways and ways[args][0] != how for args, how in node.loaded.items()):
                return node.path
        return ""

    def compiles(self) -> None:
        """Record that something is compiled now, with numba's current settings."""
        self._settings[_installed.settings()] = None

    def _check_settings(self, path: str) -> None:
        """Refuse everything if settings changed since a compilation, because their effect stays linked."""
        now = _installed.settings()
        for before in self._settings:
            if before != now:
                lines = set(before.decode().split("\n")) ^ set(now.decode().split("\n"))
                names = sorted({line.partition("=")[0] for line in lines})
                raise Refused(path, f"functions were compiled before {' and '.join(names)} of numba was changed")

    def _check_opened(self, walk: Walk) -> None:
        """Refuse what opens files while numba compiles, and what is compiled from that; the innermost of these."""
        for node in reversed(walk.nodes[1:]):
            if what := self.opened.by(node.value):
                raise Refused(node.path, f"it opened {what} while numba compiled, which no key has anything of")

    def check(self, walk: Walk, before: Walk | None = None) -> None:
        """Raise Refused if a function was compiled from a state that has changed.

        Records in nodes how functions were compiled, if that differs from how they would be now.
        `before` is the walk before the function was compiled, if it has been.
        """
        self._check_settings(walk.nodes[1].path)
        self._check_opened(walk)
        back = any(1 in node.edges for node in walk.nodes[1:])
        for number, node in enumerate(walk.nodes[1:], 1):
            place = (id(node.value), node.runs, node.kind)
            if place not in self._seen and _is_compiled(node):
                raise Refused(node.path, "it was compiled before larder.numba was installed")
            if place not in self._seen or (number == 1 and not back):
                continue
            known = self._seen[place]
            if known is None or (known.value() is node.value and not known.holds(node, walk)):
                names = known.differs(node) if known is not None else ""
                raise Refused(node.path, f"it is not what it was when it was compiled before, in this process{names}")
            if known.value() is node.value and (other := known.unsettled(node, walk)):
                raise Refused(
                    node.path, f"it ran while numba compiled something else, with other {' and '.join(other)}"
                )
        circles = walk.circles()
        for number, node in enumerate(walk.nodes):
            if node.kind == "compiled function" and (number > 1 or number in circles):
                self._compiled(node, walk.mixed or number in circles)
            elif node.loops is not None:
                node.compiled = "".join(f"{loop} {how};" for loop, (how, _) in self._loops(node))
        if before is not None:
            walk.follows(before)

    def _compiled(self, node: Node, mixed: bool) -> None:
        """Record for which types a function was compiled with other flags than from here, or with any.

        All types count if flags are mixed, or if functions call each other, as their compiled versions
        determine the types.
        """
        ways, function = self._ways.get(node.value, {}), node.value
        unseen = [args for args in function.overloads if _shown(args) not in ways]
        if unseen and (ways or function.py_func.__module__.partition(".")[0] != "numba"):
            raise Refused(node.path, "it was compiled before larder.numba was installed")
        own = node.flags.text if node.flags is not None else ""
        others = {args: how for args, (how, _) in ways.items() if mixed or how != own}
        reported = [f"{args} {how}" for args, how in others.items()]
        if others and function.py_func.__code__.co_flags & inspect.CO_VARARGS:
            reported = [f"{args} {how}" for args, (how, _) in ways.items()]  # a tuple fits, too: the first one counts
        else:
            reported.sort()
        node.compiled = f"compiled with {reported}" if others else ""
        node.loaded = {args: how for args, how in others.items() if args in self._loaded.get(function, ())}
        if function.overloads and not function._can_compile:  # callers choose the first that fits best
            node.compiled += repr(list(map(str, function.overloads)))
