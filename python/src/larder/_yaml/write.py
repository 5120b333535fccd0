"""Write values as YAML for flow files, mostly in the subset that is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from .values import Value, Var

# Strings that YAML reads without quotes in any position.
_PLAIN = re.compile(r"(?:[A-Za-z_/]|\.\.?/)[A-Za-z0-9_./-]*")

# Words that some version of YAML does not read as a string.
_WORDS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"])

_WIDTH = 100


def text(value: str) -> str:
    """Return a string, quoted if necessary."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else _escaped(c) for c in quoted)


def _escaped(c: str) -> str:
    code = ord(c)
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def scalar(value: bool | int | float | str | None) -> str:
    """Return a value as it is passed for a variable on the command line, unquoted."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def inline(value: Value) -> str:
    """Return a value of a node on one line; a `${` in it stays literal."""
    if isinstance(value, Var):
        return text(value.text)
    if isinstance(value, str):
        return text(value.replace("${", "$${"))
    if isinstance(value, tuple):
        return "[" + ", ".join(inline(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(_entry(k, v) for k, v in value.items()) + "}"
    return scalar(value)


def _entry(key: str, value: Value) -> str:
    return f"{inline(key)}: {inline(value)}"


def field(indent: int, key: str, value: Value) -> list[str]:
    """Return the lines of an entry of a mapping, short ones on one line."""
    pad = " " * indent
    line = f"{pad}{_entry(key, value)}"
    if len(line) <= _WIDTH or not isinstance(value, dict):
        return [line]
    return [f"{pad}{inline(key)}:", *(f"{pad}  {_entry(k, v)}" for k, v in value.items())]
