"""Resolve classes in compiled code to those of the loading program.

numba pickles the classes of errors, enums and named tuples into the code that raises or returns
them. It pickles classes of the script, and those created in functions, by value. A process that
loads the code would get other classes with the same names. So such a class is pickled as a
unique token here. The cached function says which of the things that it reaches each token is,
and a loading process has found the same things before.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from .._identity import distribution
from ._errors import Refused, Unfit
from ._kinds import home
from ._walk import Walk

_TOKEN = re.compile(rb"larder-class-[0-9a-f]{32}")

_tokens: WeakKeyDictionary[type, str] = WeakKeyDictionary()
_classes: dict[str, type] = {}
"""Classes by token. Code with a token lives as long as the process."""


_active: list[bool] = []
"""Whether the value being pickled is code, and not a message to another process; the innermost last."""


@contextmanager
def tokens(active: bool = True) -> Iterator[None]:
    """Pickle classes as tokens within the block, on the thread that holds the compiler's lock."""
    _active.append(active)
    try:
        yield
    finally:
        _active.pop()


def found(token: str) -> type:
    """Return the class of a token."""
    return _classes[token]


def reduced(value: Any) -> Any:
    """Return how a class that no other process can import is pickled into code; None for other values."""
    from numba.cloudpickle.cloudpickle import _should_pickle_by_reference

    if (
        not isinstance(value, type)
        or not (_active and _active[-1])
        or distribution.of_module(value.__module__) is not None
    ):
        return None
    if home(value.__module__) != "__main__" and _should_pickle_by_reference(value):
        return None
    token = _tokens.get(value)
    if token is None:
        token = _tokens[value] = f"larder-class-{secrets.token_hex(16)}"
        _classes[token] = value
    return found, (token,)


def numbers_of(data: bytes, walk: Walk, name: str) -> dict[str, int]:
    """Return the numbers in a walk of the tokens in code, or raise Refused."""
    tokens = sorted({token.decode() for token in _TOKEN.findall(data)})
    places = {id(node.value): i for i, node in reversed(list(enumerate(walk.nodes)))}
    numbers = {}
    for token in tokens:
        number = places.get(id(_classes[token]))
        if number is None:
            shown = f"{home(_classes[token].__module__)}.{_classes[token].__qualname__}"
            raise Refused(name, f"the class {shown} is in its code, but no name that it uses refers to the class")
        numbers[token] = number
    return numbers


def same(numbers: dict[str, int], walk: Walk) -> bool:
    """Report whether the tokens in loaded code are the classes that a walk has found."""
    return all(_classes.get(token) is walk.nodes[number].value for token, number in numbers.items())


def restore(numbers: dict[str, int], walk: Walk) -> None:
    """Bind the tokens in loaded code to the classes that a walk has found, or raise Unfit."""
    for token, number in numbers.items():
        cls = walk.nodes[number].value
        if _classes.setdefault(token, cls) is not cls:
            raise Unfit(f"an equal function of this process has another class {cls.__qualname__} in its code")
        _tokens.setdefault(cls, token)
