"""Bind the arguments of a call to the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .. import _arguments
from .._identity.code.annotations import file_hints, names_file
from .._identity.digest import digest
from .._identity.values.text import describe
from .files import as_files, paths_in


class Arguments:
    """The arguments of a call: each parameter with its value, however it was passed."""

    def __init__(self, function: Callable[..., Any], ignore: frozenset[str], keyed: Callable[..., Any] | None) -> None:
        self.signature = _signature(function)
        parameters = list(self.signature.parameters.values())
        unknown = ignore - set(self.signature.parameters)
        if unknown:
            raise TypeError(f"ignore names {sorted(unknown)}, which are not parameters of {describe(function)}")
        plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        self.plain = plain and not ignore and keyed is None
        self.ignore = ignore
        self.keyed = keyed
        self.count = len(parameters)
        self.named_files = names_file(function)
        self.files = frozenset() if keyed else self.named_files
        self.hints = file_hints(function) if self.named_files else {}
        self.kind = digest(("ignore", *sorted(ignore), "key" if keyed else "")) if ignore or keyed else b""
        """Distinguishes a subset or a key of the arguments from arguments that look like it."""

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values from which the key is computed."""
        if self.plain and not kwargs and len(args) == self.count:
            return args
        if self.keyed is not None:
            return (self.keyed(*args, **kwargs),)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(value for name, value in bound.arguments.items() if name not in self.ignore)

    def with_files(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with paths replaced by files where parameters are annotated as files."""
        if not self.files:
            return args, kwargs
        bound = self.signature.bind(*args, **kwargs)
        for name in self.files & bound.arguments.keys():
            bound.arguments[name] = as_files(bound.arguments[name], name, self.hints.get(name))
        return bound.args, bound.kwargs

    def paths(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """Return the paths of the files whose content the key has, or with `key` those that the caller vouches for."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self.keyed is None:
            return list(paths_in([v for name, v in bound.arguments.items() if name not in self.ignore]))
        return list(
            paths_in([as_files(bound.arguments.get(name), name, self.hints.get(name)) for name in self.named_files])
        )

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the same values by name, for messages."""
        if self.keyed is not None:
            return {"key": self.keyed(*args, **kwargs)}
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name not in self.ignore}


def allowed(names: Iterable[str]) -> frozenset[str]:
    """Return the names of things that no result depends on."""
    found = _arguments.several("allow", names, 'names, such as ["time.perf_counter"]')
    return frozenset(_arguments.text("allow", name) for name in found)


def ignored(names: Iterable[str]) -> frozenset[str]:
    """Return the names of parameters that no result depends on."""
    found = _arguments.several("ignore", names, 'names, such as ["verbose"]')
    return frozenset(_arguments.text("ignore", name) for name in found)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if not callable(function):
        raise TypeError(f"function: {type(function).__name__} cannot be called; decorate a function")
    try:
        return inspect.signature(function)
    except ValueError:  # some built-in types have no signature
        return inspect.signature(lambda *args, **kwargs: None)
    except TypeError as error:
        raise TypeError(f"function: parameters of {describe(function)} cannot be read; decorate a function") from error
