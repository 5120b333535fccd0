"""What abstract classes were told to be the base of."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
from collections.abc import Iterator

from ._library import library_name


def registered(cls: abc.ABCMeta) -> list[str]:
    """Return the classes of the program that were declared to be of an abstract one, or of one based on it."""
    return sorted(
        f"{c.__module__}.{c.__qualname__}"
        for of in _based_on(cls)
        for ref in _abc._get_dump(of)[0]
        # Libraries register their own with those of the standard library, once they are imported.
        if (c := ref()) is not None and (library_name(of)[1] is None or library_name(c)[1] is None)
    )


def below(cls: type) -> Iterator[type]:
    """Yield the classes that are based on one."""
    for sub in type.__subclasses__(cls):
        yield sub
        yield from below(sub)


def _based_on(cls: abc.ABCMeta) -> list[type]:
    """Return an abstract class and those based on it: what is of them is of it."""
    found: dict[int, type] = {id(cls): cls}
    left: list[type] = [cls]
    while left:
        subclasses: list[type] = type.__subclasses__(left.pop())
        for sub in subclasses:
            if id(sub) not in found and isinstance(sub, abc.ABCMeta):
                found[id(sub)] = sub
                left.append(sub)
    return list(found.values())
