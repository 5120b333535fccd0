"""Run a function that yields samples: it is called once, and read piece by piece."""

from __future__ import annotations

import contextlib
import signal
import struct
from collections.abc import Iterator, Mapping, Set
from time import monotonic
from typing import Any

from .._reads.audit import Watch
from ..errors import CodeError
from .function import Function, failed, shown
from .memory import Answer
from .values import failure

_ORDER = struct.Struct("<6Q")
"""A request: number, whether to close, elements to skip, elements, bytes, bytes of an element."""

_HEAD = struct.Struct("<4Q")
"""A reply: number, elements, skipped elements, whether there are no more."""

_COUNT, _PASSED, _ENDED = 8, 16, 24
_NUMBER = struct.Struct("<Q")
_SLICE = 0.004
"""How many seconds elements are computed before the available ones are sent to the program."""

_END = object()


class Generator(Function):
    """A generator, or any iterable that a function returns."""

    def __init__(self, setup: Mapping[str, Any]) -> None:
        super().__init__(setup)
        self._elements: Iterator[Any] | None = None
        self._watch: Watch | None = None
        self._watching = contextlib.ExitStack()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored where the program began

    def _refuse_generators(self) -> None:
        pass

    def answer(self, message: memoryview, answer: Answer) -> None:
        """Serve a request."""
        number, close, skip, elements, size, most = _ORDER.unpack_from(message)
        answer.add([_HEAD.pack(0, 0, 0, 0)])  # no request, until it is completely written
        answer.put(0, _NUMBER.pack(number))
        if close:
            self._close()
            return
        ended = self._piece(answer, skip, elements, size, most)
        if self._watch is not None and (reason := self._watch.so_far()):
            raise CodeError(reason)
        self._check()
        if ended:
            answer.put(_ENDED, _NUMBER.pack(1))

    def _piece(self, answer: Answer, skip: int, elements: int, size: int, most: int) -> bool:
        """Skip elements, and add some to an answer; return whether there are no more."""
        passed = count = 0
        end = monotonic() + _SLICE
        try:
            if self._elements is None:
                self._elements = self._begun()
            while passed < skip or (count < elements and answer.size < size):
                made = next(self._elements, _END)
                if made is _END:
                    return True
                if passed < skip:
                    passed += 1
                    answer.put(_PASSED, _NUMBER.pack(passed))
                else:
                    answer.add(self._element(made, most))
                    count += 1
                    answer.put(_COUNT, _NUMBER.pack(count))
                if monotonic() > end:
                    break
        except BaseException as error:
            answer.add(failure(failed(error)))
            answer.put(_COUNT, _NUMBER.pack(count + 1))
        return False

    def _element(self, made: Any, most: int) -> list[bytes | memoryview]:
        parts = self._parts(self._split(made, "yield"))
        size = sum(map(len, parts[1::3]))
        if size > most:
            raise ValueError(f"the yielded value has {size} bytes, but max-bytes is {most}")
        return parts

    def _begun(self) -> Iterator[Any]:
        """Call the function, watched until its end, as any piece may draw or open files."""
        if self._checked:
            watch = Watch(self._files, self._threads, self._allow, self._caches, follows=self._follows)
            self._watch = self._watching.enter_context(watch)
        made = self._call(*self._first, **self._given)
        if isinstance(made, (str, bytes, bytearray, Mapping, Set)) or not hasattr(type(made), "__iter__"):
            raise TypeError(
                f"{self._name} returned {shown(made)}, which has no elements in an order that could be samples: "
                "yield them, or return an iterator or a list"
            )
        return iter(made)

    def _close(self) -> None:
        """Run the `finally` blocks of the generator."""
        elements, self._elements = self._elements, None
        with self._watching:
            close = getattr(elements, "close", None)
            if close is not None:
                close()
