"""Why a result is kept or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from ._code import Identity
from ._code._library import shown_module
from ._keys import describe

if TYPE_CHECKING:
    from ._lazywhy import WhyTree
    from .lazy import LazyObject


@dataclass(frozen=True)
class Why:
    """What is known of one result of a function; printed, it is for people."""

    function: str
    kept: bool
    key: str
    """Of the record, for `larder why` and `larder ls`."""
    code: list[str]
    """What the function is known by: its name, and each function, class, value and library that it reaches."""
    arguments: dict[str, str]
    changes: list[str]
    """If it is not kept: how it differs from the kept result that is most like it, if there is one."""

    @classmethod
    def of(cls, identity: Identity, arguments: dict[str, Any], said: dict[str, Any]) -> Why:
        return cls(
            function=identity.name,
            kept=bool(said.get("kept")),
            key=str(said.get("key", "")),
            code=[_named(identity.name), *(part.text for part in identity.parts)],
            arguments={name: describe(value) for name, value in arguments.items()},
            changes=[str(change) for change in said.get("changes") or []] if not said.get("kept") else [],
        )

    def __str__(self) -> str:
        call = ", ".join(f"{name}={text}" for name, text in self.arguments.items())
        lines = [f"{self.function}({call}): {'kept' if self.kept else 'not kept'}", f"  key {self.key}"]
        if self.changes:
            lines += ["  differs from what is kept:", *(f"    {change}" for change in self.changes)]
        return "\n".join([*lines, "  known by:", *(f"    {part}" for part in self.code)])


def _named(name: str) -> str:
    """Return the name that counts, and where a script has it from."""
    script = shown_module("__main__")
    return f"name {name}" + (f", as the script is called {script}" if name.startswith(f"{script}.") else "")


@overload
def why(function: LazyObject[Any], /) -> WhyTree: ...


@overload
def why(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Why: ...


def why(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Why | WhyTree:
    """Say whether a result of a function made by `memo` is kept, what it is known by, and what differs if not.

    Of a lazy object, say so of each node of its tree.
    """
    ask = getattr(function, "why", None)
    if ask is None:
        raise TypeError(f"{describe(function)} is no function whose results are kept: decorate it with larder.memo")
    found: Why | WhyTree = ask(*args, **kwargs)
    return found
