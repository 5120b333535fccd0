"""Read the instructions of code like `dis`, without the parts that only people read.

The identity of a function requires thousands of instructions, and `dis` spends most of its time
on their text, position and caches.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple


class Instruction(NamedTuple):
    """One instruction."""

    opname: str
    opcode: int
    arg: int | None
    argval: Any
    """The meaning of its argument: a constant, a name, two names, an offset; or the argument."""
    offset: int
    line: int | None
    is_jump_target: bool
    nulls: bool
    """Whether it pushes an empty slot for the object of a method."""


@lru_cache(256)
def instructions(code: CodeType) -> tuple[Instruction, ...]:
    """Return the instructions of code, cached because they are read several times per function."""
    return tuple(_read(code) if sys.version_info[:2] in _KNOWN else reported(code))


def reported(code: CodeType) -> Iterator[Instruction]:
    """Yield the instructions of code as read by `dis`."""
    for op in dis.get_instructions(code):
        line = op.positions.lineno if op.positions is not None else None
        nulls = op.opname in _NULLING and op.argrepr != op.argval
        yield Instruction(op.opname, op.opcode, op.arg, op.argval, op.offset, line, op.is_jump_target, nulls)


_KNOWN = ((3, 11), (3, 12), (3, 13))
"""Versions of Python whose instructions are read here, each in another form."""

_NULLING = ("LOAD_GLOBAL", "LOAD_ATTR")

JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
VARIABLES = frozenset((*dis.haslocal, *dis.hasfree))
CONSTANTS = frozenset(dis.hasconst)
NAMES = frozenset(dis.hasname)

_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2}
"""How many bits of an argument are not part of the index of the name, since Python 3.12."""

_PAIRED = frozenset(("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"))
_LEAST_BITS = 1 << 31


def _kind(opcode: int, name: str) -> str:
    if opcode in CONSTANTS:
        return "constant"
    if opcode in NAMES:
        return "name"
    if opcode in JUMPS:
        return "backward" if "JUMP_BACKWARD" in name else "forward"
    if name in _PAIRED:
        return "pair"
    return "variable" if opcode in VARIABLES else ""


def _shift(name: str) -> int:
    return _SHIFTS.get(name, 0) if sys.version_info >= (3, 12) or name == "LOAD_GLOBAL" else 0


def _caches(opcode: int, name: str) -> int:
    entries: Any = getattr(dis, "_inline_cache_entries", [])
    return int(entries.get(name, 0) if isinstance(entries, dict) else entries[opcode])


_Form = tuple[str, str, int, int, bool, bool]
_FORMS: list[_Form] = []
"""For each operation: its name, its kind, the shift of names, the number of caches, and whether it has an argument
and may push an empty slot.
"""

if sys.version_info[:2] in _KNOWN:
    _WITH = frozenset(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)))
    for _opcode, _name in enumerate(dis.opname[:256]):
        _nulling = _name in _NULLING and (_name == "LOAD_GLOBAL" or sys.version_info >= (3, 12))
        _caching = 0 if _name.startswith("<") else _caches(_opcode, _name)
        _FORMS.append((_name, _kind(_opcode, _name), _shift(_name), _caching, _opcode in _WITH, _nulling))

_EXTENDED = dis.opmap["EXTENDED_ARG"]


def _read(code: CodeType) -> Iterator[Instruction]:
    data, names, constants, variable = code.co_code, code.co_names, code.co_consts, code._varname_from_oparg  # type: ignore[attr-defined]
    found: list[tuple[str, int, int | None, Any, int, bool]] = []
    targets: set[int] = set()
    at, above = 0, 0
    while at < len(data):
        opcode = data[at]
        name, kind, shift, caches, has_argument, nulling = _FORMS[opcode]
        arg: int | None = None
        value: Any = None
        if has_argument:
            arg = value = data[at + 1] | above
            above = arg << 8 if opcode == _EXTENDED else 0
            if above >= _LEAST_BITS:
                above -= 2 * _LEAST_BITS
            if kind == "constant":
                value = constants[arg]
            elif kind == "name":
                value = names[arg >> shift]
            elif kind == "variable":
                value = variable(arg)
            elif kind == "forward":
                value = at + 2 + 2 * (arg + caches)
                targets.add(value)
            elif kind == "backward":
                value = at + 2 - 2 * (arg - caches)
                targets.add(value)
            elif kind == "pair":
                value = variable(arg >> 4), variable(arg & 15)
        else:
            above = 0
        found.append((name, opcode, arg, value, at, nulling and bool(value) and arg is not None and arg & 1 == 1))
        at += 2 + 2 * caches
    lines = _lines(code)
    for name, opcode, arg, value, at, nulls in found:
        yield Instruction(name, opcode, arg, value, at, lines[at // 2], at in targets, nulls)


def _lines(code: CodeType) -> list[int | None]:
    """Return the line of each two bytes of code."""
    lines: list[int | None] = []
    for start, end, line in code.co_lines():
        lines += [line] * ((end - start) // 2)
    return lines
