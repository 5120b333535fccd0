"""Find the classes registered with abstract classes."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc

from ..library import library_name


def registered(cls: abc.ABCMeta) -> list[str]:
    """Return the program's classes registered with an abstract class, or with a class based on it."""
    return sorted(
        f"{c.__module__}.{c.__qualname__}"
        for of in below(cls)
        if isinstance(of, abc.ABCMeta)
        for ref in _abc._get_dump(of)[0]
        # Libraries register their own with those of the standard library when they are imported.
        if (c := ref()) is not None and (library_name(of)[1] is None or library_name(c)[1] is None)
    )


def below(cls: type) -> list[type]:
    """Return a class and its subclasses."""
    found: dict[type, None] = {cls: None}
    left: list[type] = [cls]
    while left:
        subclasses: list[type] = type.__subclasses__(left.pop())
        left += [sub for sub in subclasses if sub not in found]
        found.update(dict.fromkeys(subclasses))
    return list(found)
