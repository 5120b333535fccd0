"""Classes in compiled code, as the program's own ones.

numba pickles the classes of errors, enums and named tuples into the code that raises or
returns them. It pickles those of the script, and those that functions make, by value, so
who loads the code would get other classes of the same names. Here such a class is pickled
as a token that nothing else has. What is kept says which of the things that the function
reaches each token is, and who loads it has found the same things before.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from .._code import _owner
from ._errors import Refused, Unfit
from ._kinds import home
from ._walk import Walk

_TOKEN = re.compile(rb"larder-class-[0-9a-f]{32}")

_tokens: WeakKeyDictionary[type, str] = WeakKeyDictionary()
_classes: dict[str, type] = {}
"""Classes by their tokens. Code that has a token in it lives as long as the process."""


_active: list[bool] = []
"""Whether what is pickled now is code, and no message to another process; the innermost last."""


@contextmanager
def tokens(active: bool = True) -> Iterator[None]:
    """Have classes pickled as tokens meanwhile, by the thread that has the compiler's lock."""
    _active.append(active)
    try:
        yield
    finally:
        _active.pop()


def found(token: str) -> type:
    """Return the class of a token."""
    return _classes[token]


def reduced(value: Any) -> Any:
    """Return how a class is pickled into code that no other process can import, or None for all other values."""
    from numba.cloudpickle.cloudpickle import _should_pickle_by_reference

    if not isinstance(value, type) or not (_active and _active[-1]) or _owner.of_module(value.__module__) is not None:
        return None
    if home(value.__module__) != "__main__" and _should_pickle_by_reference(value):
        return None
    token = _tokens.get(value)
    if token is None:
        token = _tokens[value] = f"larder-class-{secrets.token_hex(16)}"
        _classes[token] = value
    return found, (token,)


def numbers_of(data: bytes, walk: Walk, name: str) -> dict[str, int]:
    """Return which things of a walk the tokens in code are, or raise Refused."""
    tokens = sorted({token.decode() for token in _TOKEN.findall(data)})
    places = {id(node.value): i for i, node in reversed(list(enumerate(walk.nodes)))}
    numbers = {}
    for token in tokens:
        number = places.get(id(_classes[token]))
        if number is None:
            shown = f"{home(_classes[token].__module__)}.{_classes[token].__qualname__}"
            raise Refused(name, f"the class {shown} is in its code, and nothing that it reaches names it")
        numbers[token] = number
    return numbers


def same(numbers: dict[str, int], walk: Walk) -> bool:
    """Report whether the tokens in code that is here are the classes that a walk has found."""
    return all(_classes.get(token) is walk.nodes[number].value for token, number in numbers.items())


def restore(numbers: dict[str, int], walk: Walk) -> None:
    """Let the tokens in code that is loaded be the classes that a walk has found, or raise Unfit."""
    for token, number in numbers.items():
        cls = walk.nodes[number].value
        if _classes.setdefault(token, cls) is not cls:
            raise Unfit(f"an equal function of this process has another class {cls.__qualname__} in its code")
        _tokens.setdefault(cls, token)
