"""Check values of parameters, and convert them to immutable plain values."""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .. import _arguments

# The stored form of a parameter: lists are tuples, and mappings are never returned.
Value: TypeAlias = "bool | int | float | str | Var | tuple[Value, ...] | dict[str, Value] | None"

_DEEPEST = 100

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Var:
    """A variable of a flow in place of a value, or a string with variables in it.

    Created by `var` and `sweep`. `"out/" + size` is a string that ends with the variable
    `size`.
    """

    text: str
    values: dict[str, Value]
    sweeps: frozenset[str] = frozenset()

    def __add__(self, other: str | Var) -> Var:
        """Return both strings joined."""
        return _joined(self, other) if isinstance(other, (str, Var)) else NotImplemented

    def __radd__(self, other: str) -> Var:
        """Return both strings joined."""
        return _joined(other, self) if isinstance(other, str) else NotImplemented

    def __format__(self, spec: str) -> str:
        """Refuse, as a formatted string would lose the variable."""
        raise TypeError(f'{self.text} has no value yet: write "..." + variable in place of a formatted text')

    def __str__(self) -> str:
        return self.text


def var(name: str, default: object) -> Var:
    """Return a variable of a flow, whose value `set` of a run or a loader changes.

    `default` is its value otherwise, and may use other variables.
    """
    value = plain(default, f"variable {name}")
    own = variables(value)
    return Var(
        "${" + _checked(name) + "}",
        merged(own.values, f"variable {name}", Var("", {name: value})),
        own.sweeps,
    )


def sweep(name: str, values: Sequence[object]) -> Var:
    """Return a variable that takes several values.

    Each node that uses it, and each node that reads one of these, exists once for each value.
    """
    all_ = plain(values, f"sweep {name}")
    if not isinstance(all_, tuple) or not all_:
        raise ValueError(f"sweep {name}: there must be a list of values")
    return Var("${" + _checked(name) + "}", {name: all_}, frozenset({name}))


def _checked(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a variable; use letters, digits, _ and - only")
    return name


def _joined(left: str | Var, right: str | Var) -> Var:
    parts = [part if isinstance(part, Var) else Var(part.replace("${", "$${"), {}) for part in (left, right)]
    values = merged(parts[0].values, "a string", parts[1])
    return Var(parts[0].text + parts[1].text, values, parts[0].sweeps | parts[1].sweeps)


def variables(value: Value) -> Var:
    """Return the variables in a value, as the variable of an empty string."""
    if isinstance(value, Var):
        return value
    inner: Sequence[Value] = ()
    if isinstance(value, dict):
        inner = tuple(value.values())
    elif isinstance(value, tuple):
        inner = value
    found = Var("", {})
    for v in inner:
        more = variables(v)
        found = Var("", merged(found.values, "a value", more), found.sweeps | more.sweeps)
    return found


def merged(values: Mapping[str, Value], label: str, more: Var) -> dict[str, Value]:
    """Return the values of variables combined, and refuse conflicts."""
    together = dict(values)
    for name, value in more.values.items():
        if name in together and repr(together[name]) != repr(value):
            raise ValueError(f"{label}: variable {name} has two values, {together[name]!r} and {value!r}; rename one")
        together[name] = value
    return together


def plain(value: object, label: str, depth: int = 0) -> Value:
    """Return a value in the form that flows use.

    `label` names it in errors: ValueError for a value that no flow can have, TypeError for a
    type that is not supported.
    """
    if depth > _DEEPEST:
        raise ValueError(f"{label} is nested too deeply, or contains itself")
    if value is None or isinstance(value, (bool, Var)):
        return value
    if isinstance(value, str):
        return _text(str.__str__(value), label)
    if isinstance(value, numbers.Real):
        return _number(value, label)
    if isinstance(value, os.PathLike):
        return plain(os.fspath(value), label, depth + 1)
    if isinstance(value, Mapping):
        return {_key(k, label): plain(v, f"{label}.{k}", depth + 1) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return tuple(plain(v, f"{label}[{i}]", depth + 1) for i, v in enumerate(value))
    raise TypeError(
        f"{label}: {_arguments.kind(value)} is not a value of a flow; "
        "give None, a bool, number, string, path, list or dict"
    )


def _text(value: str, label: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{label}: {value!r} has a lone surrogate, which is not valid in UTF-8") from None
    return value


def _number(value: numbers.Real, label: str) -> int | float:
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if not -(1 << 63) <= whole < 1 << 63:
            raise ValueError(f"{label} is {whole}, which has more than 64 bits")
        return whole
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{label}: {number} is not allowed in a flow")
    return number


def _key(key: object, label: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{label} has the key {key!r}: keys of mappings must be strings")
    return _text(str.__str__(key), label)
