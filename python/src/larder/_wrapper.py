"""What the functions that Larder makes have in common, for those that tell what they are known by."""

from __future__ import annotations

from typing import Any


class Wrapper:
    """A function in place of one of the program: what is followed is that one, and what was set on this.

    `_function` is the one of the program and `_version` stands for it, if there is one. `_inner` are the
    names of attributes that are Larder's own.
    """

    _function: Any
    _version: str | None
    _inner: frozenset[str]

    def _seal(self) -> None:
        """Take all attributes for Larder's own, but those that the function has given."""
        given: set[str] = set()
        if not isinstance(self._function, type):  # what a class has is followed there
            given = getattr(self._function, "__dict__", {}).keys() - {"__wrapped__"}
        self._inner = frozenset([*vars(self), "_inner"]) - given

    def _set(self) -> dict[str, Any]:
        """Return the attributes that the program has set, which its code can read."""
        return {name: value for name, value in vars(self).items() if name not in self._inner}

    def _options(self) -> tuple[Any, ...]:
        """Return the options that results depend on."""
        raise NotImplementedError


class Bound:
    """Such a function that is bound to an object, as a method is."""

    __self__: Any
    __func__: Any


STATE = frozenset(["executions", "computed_items", "loaded_items", "checked", "largest", "cached", "why"])
"""Attributes that say what is kept, or what was done in this process."""
