"""Split the arguments of a call into parameters and options of a node, and check them."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypedDict

from .._yaml.values import Value, Var, plain
from .parameters import PARAMETERS


class Options(TypedDict, total=False):
    """Options of any node besides its parameters, as in flow files."""

    name: str | None
    """The name of the node; by default that of its component."""
    keep: bool | None
    """Cache each computed sample across runs when it is requested."""
    checkpoint: bool | Literal["auto"] | None
    """Compute, cache and pin all samples before anything reads the node."""
    cache: str | Mapping[str, Any] | Literal[False] | None
    """Cache decoded samples in memory: a policy, or {"policy": ..., "size": ..., "bytes": ...}."""
    workers: int | Var | None
    """The number of samples that the node computes concurrently."""
    on_error: Literal["fail", "skip"] | Mapping[str, Any] | None
    """What to do with samples that cannot be computed: "skip", or at most {"skip": N or "P%"}."""


OPTIONS = tuple(Options.__annotations__)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def python_name(name: str) -> str:
    """Return the Python name of a parameter."""
    name = name.replace("-", "_")
    return name + "_" if name in OPTIONS or keyword.iskeyword(name) else name


def split(given: Mapping[str, object], kind: str, component: str) -> tuple[dict[str, object], Options]:
    """Split keyword arguments into parameters, by their names in flows, and options."""
    known = {python_name(p): p for p in PARAMETERS.get(kind, {}).get(component, {})}
    params: dict[str, object] = {}
    options: dict[str, object] = {}
    for name, value in given.items():
        if name in OPTIONS:
            options[name] = value
        else:
            params[known.get(name, name)] = value
    return params, options  # type: ignore[return-value]  # which options check


def parameters(kind: str, component: str, given: Mapping[str, object], call: str) -> dict[str, Value]:
    """Return the parameters of a node, without those that have their default.

    Parameters of a component that is not part of Larder are not checked.
    """
    known = PARAMETERS.get(kind, {}).get(component)
    if known is None:
        return {name: plain(value, f"{call}: {name}") for name, value in given.items()}
    for name in given:
        if name not in known:
            raise _unexpected(call, name, [*map(python_name, known), *OPTIONS])
    missing = [python_name(name) for name, default in known.items() if default is ... and name not in given]
    if missing:
        raise TypeError(f"{call} needs {' and '.join(map(repr, missing))}")
    values = {name: plain(value, f"{call}: {python_name(name)}") for name, value in given.items()}
    return {name: value for name, value in values.items() if not _is_default(value, known[name])}


def _is_default(value: Value, default: object) -> bool:
    return type(value) is type(default) and value == default


def _unexpected(call: str, name: str, valid: Collection[str]) -> TypeError:
    near = difflib.get_close_matches(name, valid, 1)
    hint = f"did you mean {near[0]!r}?" if near else "valid: " + ", ".join(valid)
    return TypeError(f"{call} got an unexpected keyword argument {name!r}; {hint}")


def options(given: Mapping[str, object], component: tuple[str, str], call: str) -> tuple[str | None, dict[str, Value]]:
    """Return the name given to a node, and its options by their names in flows."""
    known = PARAMETERS.get(component[0], {}).get(component[1], {})
    for option in given:
        if option not in OPTIONS:
            raise _unexpected(call, option, [*map(python_name, known), *OPTIONS])
    all_ = {option: plain(value, f"{call}: {option}") for option, value in given.items() if value is not None}
    name = all_.pop("name", None)
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError(f"{call}: {name!r} cannot name a node; use letters, digits, _ and - only")
    if isinstance(all_.get("cache"), str):
        all_["cache"] = {"policy": all_["cache"]}
    return name, {option.replace("_", "-"): value for option, value in all_.items()}
