"""Define the base of the functions that Larder creates, for the code that identifies functions."""

from __future__ import annotations

from typing import Any


class Wrapper:
    """The base of what `memo`, `memo_batch` and `lazy` return.

    Its identity is that of the function that it wraps, with attributes that the program set on it.
    `_function` is the program's function, and `_version` represents it, if given. `_inner` are
    the names of Larder's own attributes.
    """

    _function: Any
    _version: str | None
    _inner: frozenset[str]

    def _seal(self) -> None:
        """Mark all attributes as Larder's own, except those of the function."""
        given: set[str] = set()
        if not isinstance(self._function, type):  # attributes of a class are followed there
            given = getattr(self._function, "__dict__", {}).keys() - {"__wrapped__"}
        self._inner = frozenset([*vars(self), "_inner"]) - given

    def _set(self) -> dict[str, Any]:
        """Return the attributes that the program has set, which its code can read."""
        return {name: value for name, value in vars(self).items() if name not in self._inner}

    def _options(self) -> tuple[Any, ...]:
        """Return the options that results depend on."""
        raise NotImplementedError


class Bound:
    """Such a function that is bound to an object, like a method."""

    __self__: Any
    __func__: Any


STATE = frozenset(["executions", "computed_items", "loaded_items", "checked", "largest", "cached", "why"])
"""Attributes that report what is cached, or what was done in this process."""
