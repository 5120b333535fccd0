"""What compiled functions were made from in this process, which they are made from for good.

numba reads a variable when it compiles and never again. A function that was compiled
while a variable was 1 goes on with 1, and so does what is compiled later and calls it;
another process, in which the variable is 2 from the beginning, must not get that. So of
all that was reached when something was compiled it is noted what it was, and what calls
it later on is kept only if it still is that. The same holds for numba's settings.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._code._library import library_name
from . import _installed
from ._errors import Refused
from ._kinds import kernel_of, kind_of, loops_of
from ._opened import Opened
from ._options import Passed, inheriting, passed
from ._types import ADDRESS
from ._walk import Node, Walk

_MOST = 50_000

Reference = Callable[[], Any]
Types = tuple[Any, ...]
Way = tuple[str, Passed]
"""How something was compiled: in words, and the flags that those took which were compiled within it."""
Asked = tuple[weakref.ref[Any], str]
"""A function, and the types of its arguments."""
Compiled = tuple[int, str, Way, bytes | None]
"""The number of a function in a walk, the types of its arguments, how it was compiled, and in which state it is kept,
if it is."""
Added = tuple[int, Any, Passed, int]
"""The number of a vectorized function in a walk, the signature of a loop that it got, flags around its kernel, and
how many functions had been asked for by then."""


def _reference(value: Any) -> Reference:
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _ran(node: Node) -> bool:
    """Report whether something is code of the program that runs while numba compiles."""
    if not node.runs or node.kind not in ("function", "overload", "intrinsic"):
        return False
    return node.kind == "intrinsic" or library_name(node.value)[1] is None


def _is_compiled(node: Node) -> bool:
    """Report whether something is compiled, or typed, already that is so as a part of what calls it."""
    return (node.kind == "kernel" and bool(node.value.overloads)) or (
        node.kind == "stencil" and bool(node.value._type_cache)
    )


def _shown(args: Types) -> str:
    """Return types as text, with their classes: by these alone numba tells `*args` from a tuple."""
    return ADDRESS.sub("...", ", ".join(f"{type(kind).__name__} {kind}" for kind in args))


@dataclass(slots=True, frozen=True)
class Seen:
    """One thing as it was when it was compiled, or something that it is part of."""

    value: Reference
    content: bytes
    held: tuple[Reference, ...]
    said: dict[str, int]
    settled: dict[str, Any]
    """Settings of the process that code could see which ran for it; none if none did."""

    def holds(self, node: Node, walk: Walk) -> bool:
        """Report whether it is as it was."""
        return (
            self.content == node.content()
            and len(self.held) == len(node.edges)
            and all(of() is walk.nodes[n].value for of, n in zip(self.held, node.edges, strict=True))
        )

    def differs(self, node: Node) -> str:
        """Return which names in it mean something else by now, if any does."""
        names = [name for name, held in node.said.items() if self.said.get(name) != held]
        return f" ({', '.join(names[:5])})" if names else ""

    def unsettled(self, node: Node, walk: Walk) -> list[str]:
        """Return which settings of the process are others by now that it could see as it ran."""
        if not _ran(node):
            return []
        return [name for name, was in self.settled.items() if walk.settled.get(name, was) != was]


class History:
    """What was seen when functions were compiled. Used by one thread at a time: who has the compiler's lock."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, bool, str], Seen | None] = {}
        """By addresses: what was seen, or nothing if it was seen in two ways."""
        self._most = _MOST
        self._settings: dict[bytes, None] = {}
        """What numba's settings were, the last ones at the end."""
        self._ways: weakref.WeakKeyDictionary[Any, dict[str, Way]] = weakref.WeakKeyDictionary()
        """How functions were compiled, by the types of their arguments."""
        self._loaded: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
        """For which types functions are taken for compiled that were not, as what they are part of was loaded."""
        self._states: weakref.WeakKeyDictionary[Any, dict[str, bytes]] = weakref.WeakKeyDictionary()
        """What had been compiled already of what functions reach, by which they are kept, by types of arguments."""
        self._inner: weakref.WeakKeyDictionary[Any, dict[str, tuple[Asked, ...]]] = weakref.WeakKeyDictionary()
        """What was asked for where functions were compiled, or loaded, by the types of their arguments."""
        self._asked: list[dict[Asked, None]] = []
        """What has been asked for by each function that is being compiled, the innermost last."""
        self.opened = Opened()

    def note(self, walk: Walk, args: Types, asked: str = "") -> None:
        """Note what was reached when a function was compiled for some types, and which result was asked for, if any."""
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
        """Note that a function is kept, and what had been compiled already of what it reaches."""
        self._states.setdefault(function, {})[_shown(args)] = state

    def kept(self, function: Any, args: Types) -> bytes | None:
        """Return in which state a function is kept that is taken for compiled, or None."""
        shown = _shown(args)
        return self._states.get(function, {}).get(shown) if shown in self._loaded.get(function, ()) else None

    def missing(self, function: Any) -> list[str]:
        """Return the types for which a function is taken for compiled, and has not been compiled, nor loaded, here."""
        here = {_shown(args) for args in function.overloads}
        return [
            args for args in self._ways.get(function, {}) if args not in here and args in self._loaded.get(function, ())
        ]

    @contextmanager
    def asking(self, function: Any, args: Types) -> Iterator[None]:
        """Note that a function is asked for, and what it asks for if it is compiled, or loaded, now.

        It is compiled with the flags that it has where what called it first was compiled, if that was loaded.
        """
        shown = _shown(args)
        asked = (weakref.ref(function), shown)
        taken = shown in self._loaded.get(function, ())
        if self._asked and kind_of(function) == "kernel":
            self._asked[-1][asked] = None  # before what it asks for, as its loop is made again by that time
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
        """Have what a function is compiled for in the order without a cache: of two that fit callers get the first."""
        numbers = {args: i for i, args in enumerate(self._ways[function])}
        for args in sorted(function.overloads, key=lambda args: numbers.get(_shown(args), 0)):
            function.overloads[args] = function.overloads.pop(args)

    def within(self, walk: Walk) -> tuple[list[Compiled], list[Added]]:
        """Return what of a walk was asked for by the function that is being compiled, and by what it asked for.

        With the loops that vectorized functions have got since the walk, by which they are called from then on.
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
        """Return the loops that are new, in the order in which their kernels were asked for, or else as the last."""
        found = []
        for number, node in enumerate(walk.nodes):
            if node.loops is not None:
                kernel = weakref.ref(kernel_of(node.value))
                for loop, (_, flags) in self._loops(node)[node.loops :]:
                    place, asked = before.get((kernel, _shown(loop.args)), last)
                    found.append((place, (number, loop, flags, asked)))
        return [added for _, added in sorted(found, key=lambda placed: placed[0])]

    def again(self, compiled: list[Compiled], walk: Walk) -> None:
        """Take for compiled what was where a function that is loaded was compiled.

        So what is compiled next is known by the same here as there, and is compiled as it would be there.
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
        """Return the way to a function that was taken for compiled, and was then compiled in another way, if any."""
        for node in walk.nodes:
            ways = self._ways.get(node.value, {}) if node.loaded else {}
            if any(args in ways and ways[args][0] != how for args, how in node.loaded.items()):
                return node.path
        return ""

    def compiles(self) -> None:
        """Note that something is compiled now, with numba's settings as they are."""
        self._settings[_installed.settings()] = None

    def _check_settings(self, path: str) -> None:
        """Refuse all if settings were others when something was compiled: what numba has in it is linked for good."""
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
        """Raise Refused if something that was compiled is not made from what it would be made from now.

        Notes in nodes how functions were compiled, where that is another way than they would be now.
        `before` is what was walked before the function was compiled, if it has been.
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
        """Note for which types a function was compiled with other flags than from here, or with any.

        With any where flags are mixed, or functions call each other: of these each is typed by those that are compiled.
        """
        ways, function = self._ways.get(node.value, {}), node.value
        unseen = [args for args in function.overloads if _shown(args) not in ways]
        if unseen and (ways or function.py_func.__module__.partition(".")[0] != "numba"):
            raise Refused(node.path, "it was compiled before larder.numba was installed")
        own = node.flags.text if node.flags is not None else ""
        others = {args: how for args, (how, _) in ways.items() if mixed or how != own}
        told = [f"{args} {how}" for args, how in others.items()]
        if others and function.py_func.__code__.co_flags & inspect.CO_VARARGS:
            told = [f"{args} {how}" for args, (how, _) in ways.items()]  # a tuple fits, too: the first one counts
        else:
            told.sort()
        node.compiled = f"compiled with {told}" if others else ""
        node.loaded = {args: how for args, how in others.items() if args in self._loaded.get(function, ())}
        if function.overloads and not function._can_compile:  # callers choose the first that fits best
            node.compiled += repr(list(map(str, function.overloads)))
