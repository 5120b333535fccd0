"""Explain why a result is cached or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, overload

from .._identity.code.identity import Identity
from .._identity.library import shown_module
from .._identity.values.text import describe

T_co = TypeVar("T_co", covariant=True)


class Explained(Protocol[T_co]):
    """An object that explains itself, as a lazy object does."""

    def why(self) -> T_co: ...


@dataclass(frozen=True)
class Why:
    """What is known about one result of a function; printing it is human-readable."""

    function: str
    cached: bool
    key: str
    """The key of the record, for `larder why` and `larder ls`."""
    code: list[str]
    """The identity of the function: its name, and each function, class, value and library that it reaches."""
    arguments: dict[str, str]
    changes: list[str]
    """If it is not cached: how it differs from the most similar cached result, if there is one."""

    @classmethod
    def of(cls, identity: Identity, arguments: dict[str, Any], said: dict[str, Any]) -> Why:
        return cls(
            function=identity.name,
            cached=bool(said.get("cached")),
            key=str(said.get("key", "")),
            code=[_named(identity.name), *(part.text for part in identity.parts)],
            arguments={name: describe(value) for name, value in arguments.items()},
            changes=[str(change) for change in said.get("changes") or []] if not said.get("cached") else [],
        )

    def __str__(self) -> str:
        call = ", ".join(f"{name}={text}" for name, text in self.arguments.items())
        lines = [f"{self.function}({call}): {'cached' if self.cached else 'not cached'}", f"  key {self.key}"]
        if self.changes:
            lines += ["  differs from what is cached:", *(f"    {change}" for change in self.changes)]
        return "\n".join([*lines, "  identified by:", *(f"    {part}" for part in self.code)])


def _named(name: str) -> str:
    """Return the name that counts, and where a script takes it from."""
    script = shown_module("__main__")
    return f"name {name}" + (f", as the script is called {script}" if name.startswith(f"{script}.") else "")


@overload
def why(function: Explained[T_co], /) -> T_co: ...


@overload
def why(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Why: ...


def why(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Report whether a result of a `memo` function is cached, what identifies it, and what differs if not.

    For a lazy object, report this for each node of its tree.
    """
    ask = getattr(function, "why", None)
    if ask is None:
        raise TypeError(f"{describe(function)} is not a cached function; decorate it with larder.memo")
    return ask(*args, **kwargs)
