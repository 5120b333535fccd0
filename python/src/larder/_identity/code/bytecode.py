"""Encode compiled code independently of its position, and find what it names.

Comments, blank lines, line numbers, names of files and of local variables are not part of
`content`: code that differs only in these does the same.
"""

from __future__ import annotations
import __future__

import dis
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from types import CodeType
from typing import Any, NamedTuple

from ..instructions import CONSTANTS, JUMPS, NAMES, VARIABLES, instructions
from ..values.encoder import Encoder
from .refusals import words

_HAS_DOCSTRING = 0x4000000  # since Python 3.13
_NO_MATTER = _HAS_DOCSTRING | __future__.annotations.compiler_flag  # annotations with an effect are in the instructions
_VARARGS = 0x04
_VARKEYWORDS = 0x08

# Instructions with a string that names something. Any other belongs to an unknown version of Python.
_NAMING = frozenset(
    words(
        "LOAD_NAME STORE_NAME DELETE_NAME LOAD_GLOBAL STORE_GLOBAL DELETE_GLOBAL LOAD_ATTR STORE_ATTR "
        "DELETE_ATTR LOAD_METHOD IMPORT_NAME IMPORT_FROM LOAD_SUPER_ATTR LOAD_FROM_DICT_OR_GLOBALS"
    )
)

_GLOBAL = frozenset(["LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"])
_CELL = frozenset(["LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"])
_ATTRIBUTE = frozenset(["LOAD_ATTR", "LOAD_METHOD"])
STORE = frozenset(["STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"])
_TESTING = frozenset(["COPY", "TO_BOOL"])
_IDLE = frozenset(["NOP", "EXTENDED_ARG", "CACHE"])
_SILENT = frozenset(["PUSH_NULL", "PRECALL", "NOP", "NOT_TAKEN", "EXTENDED_ARG", "KW_NAMES"])


def _no_code(value: Any) -> bytes:
    raise TypeError(f"constant of {type(value)}")


def documented(code: CodeType) -> bool:
    """Report whether the first constant of a function is only its docstring."""
    if code.co_flags & _HAS_DOCSTRING == 0 and not (code.co_consts and type(code.co_consts[0]) is str):
        return False
    return not any(i.arg == 0 and i.opcode in CONSTANTS for i in instructions(code))


def content(code: CodeType, called: Callable[[CodeType], tuple[str, ...]] = attrgetter("co_names")) -> bytes:
    """Return what code does, as bytes that are equal only if it does the same.

    `called` returns what its names count as.
    """
    e = Encoder(_no_code)
    _write(e, code, called)
    return b"".join(e.out)


def _write(e: Encoder, code: CodeType, called: Callable[[CodeType], tuple[str, ...]]) -> None:
    given = code.co_argcount + code.co_kwonlyargcount
    given += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
    e.out.append(b"code")
    e.add((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~_NO_MATTER))
    e.add((code.co_varnames[:given], len(code.co_varnames), called(code)))
    e.add((len(code.co_cellvars), len(code.co_freevars)))
    cells = {name: i for i, name in enumerate(code.co_varnames) if name in code.co_cellvars}
    e.add(tuple(cells.values()))
    _write_instructions(e, code, called)
    e.out.append(b"end")


def _write_instructions(e: Encoder, code: CodeType, called: Callable[[CodeType], tuple[str, ...]]) -> None:
    """Append instructions without those that do nothing, and jumps by the number of their target.

    Line breaks change the number of instructions, and which of them are combined.
    """
    variables = {name: i for i, name in enumerate((*code.co_varnames, *code.co_cellvars, *code.co_freevars))}
    places: dict[int, int] = {}
    count = 0
    for op in instructions(code):
        places[op.offset] = count
        count += len(_parts(op.opname)) if op.opname not in _IDLE else 0
    for op in instructions(code):
        if op.opname in _IDLE:
            continue
        names = _parts(op.opname)
        values = op.argval if len(names) == 2 else (op.argval,)
        for name, value in zip(names, values, strict=True):
            e.out.append(name.encode() + b" ")
            if op.opname == "KW_NAMES":  # dis does not show it in 3.11
                e.add(code.co_consts[op.arg or 0])
            elif op.opcode in JUMPS:
                e.out.append(b">%x;" % places[value])
            elif op.opcode in VARIABLES:
                e.out.append(b"$%x;" % variables[value])
            elif op.opcode not in CONSTANTS:
                e.out.append(b",%x;" % (op.arg or 0))
            elif isinstance(value, CodeType):
                e.add(value.co_name)
                _write(e, value, called)
            else:
                e.add(value)
    for entry in dis.Bytecode(code).exception_entries if code.co_exceptiontable else ():  # type: ignore[attr-defined]
        start, end = places[entry.start], places.get(entry.end, count)
        e.add((start, end, places[entry.target], entry.depth, entry.lasti))


class Op(NamedTuple):
    """An instruction; a combined one is split into two."""

    name: str
    value: Any
    line: int | None
    target: bool
    calls: bool
    at: int
    """The index of the instruction in the code."""


def _ops(code: CodeType) -> list[Op]:
    found: list[Op] = []
    line: int | None = code.co_firstlineno
    for at, op in enumerate(instructions(code)):
        line = op.line if op.line is not None else line
        calls = op.nulls or op.opname == "LOAD_METHOD"
        names = _parts(op.opname)
        values = op.argval if len(names) == 2 else (op.argval,)
        for name, value in zip(names, values, strict=True):
            name = "LOAD_FAST" if name in _LOADING else name
            found.append(Op(name, value, line, op.is_jump_target, calls, at))
    return [op for op in found if op.name not in _SILENT]


# Instructions that combine two, which the compiler uses depending on line breaks.
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
}

_LOADING = frozenset(["LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR"])


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of an instruction in order."""
    return _PAIRS.get(name, (name,))


@dataclass(slots=True, frozen=True)
class Imported:
    """A module, or a name of one, that code imports while it runs."""

    module: str
    level: int
    name: str | None = None


@dataclass(slots=True, frozen=True)
class Use:
    """Something that code names: a global, a cell, an import or a local variable, with attributes of it."""

    root: str | Imported | None
    kind: str  # global, cell, import, local, value
    attributes: tuple[str, ...]
    line: int | None
    called: bool
    """It is only called."""
    written: bool
    """An attribute of it is set."""
    after: tuple[Op, ...]
    """The next instructions, which have the arguments if it is called."""
    before: tuple[Op, ...]
    """The two instructions before."""
    code: CodeType
    at: int
    """The index of the instruction in the code that puts it on the stack."""

    @classmethod
    def in_text(cls, name: str, attributes: tuple[str, ...], code: CodeType) -> Use:
        """Return the use of a global that a string names, in any way and at no instruction."""
        return cls(name, "global", attributes, None, False, False, (), (), code, len(instructions(code)))

    def names(self, which: frozenset[str]) -> bool:
        """Report whether its last name is one of these."""
        return (self.attributes[-1] if self.attributes else getattr(self.root, "name", self.root)) in which

    def call(self) -> tuple[int, tuple[str, ...]] | None:
        """Return the number of arguments of its call, and the names of keyword arguments, if known."""
        called = _call(self.code, self.at)
        return called and called[:2]

    def end(self) -> int | None:
        """Return the index of the instruction that calls it, if known."""
        called = _call(self.code, self.at)
        return called and called[2]


def _call(code: CodeType, at: int) -> tuple[int, tuple[str, ...], int] | None:
    """Return the call of the value that an instruction puts on the stack, and its position."""
    ops = instructions(code)
    depth, named = 0, ()
    for i in range(at + 1, len(ops)):
        op = ops[i]
        if op.opcode in JUMPS or op.is_jump_target:
            return None  # one or the other value is an argument
        if op.opname == "KW_NAMES":
            named = code.co_consts[op.arg or 0]
        elif op.opname == "CALL_KW":
            named = ops[i - 1].argval
        if op.opname in ("CALL", "CALL_KW"):
            given = (op.arg or 0) + (op.opname == "CALL_KW")
            if depth - given <= 1:
                return (op.arg or 0), tuple(named), i
            named = ()
            depth -= given + 1
            continue
        if op.opname == "PRECALL":
            continue  # its arguments are the call's
        depth += dis.stack_effect(op.opcode, op.arg if op.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
        if depth < 0:
            return None
    return None


class Names:
    """The names in a piece of code and in those nested in it."""

    def __init__(self, code: CodeType, cells: dict[str, tuple[Imported, ...]] | None = None):
        self.code = code
        self.ops = _ops(code)
        self.cells = dict(cells or {})
        self.locals: dict[str, tuple[Imported, ...]] = {}
        self.stored = {op.value for op in self.ops if op.name == "STORE_NAME"}
        self._find_imports()
        own = code.co_consts[documented(code) :]
        self.texts = {text for text in own if type(text) is str}
        self.texts |= {t for many in own if type(many) in (tuple, frozenset) for t in many if type(t) is str}
        self.attributes = {op.value for op in self.ops if op.name in (*_ATTRIBUTE, "STORE_ATTR", "LOAD_SUPER_ATTR")}

    def nested(self) -> Iterator[Names]:
        """Yield the names in nested functions and classes."""
        for op in self.ops:
            if isinstance(op.value, CodeType):
                inner = {name: self.locals.get(name, ()) for name in self.code.co_cellvars}
                yield Names(op.value, {**self.cells, **inner})

    def unknown(self) -> str | None:
        """Return the name of an instruction that names something and is not known here."""
        for op in instructions(self.code):
            if op.opcode in NAMES and op.opname not in _NAMING:
                return op.opname
        return None

    def writes(self) -> Iterator[tuple[str, str, int | None]]:
        """Yield the variables that are set and outlive a call: kind, name and line."""
        outside = set(self.code.co_freevars) - set(self.cells)
        for op in self.ops:
            if op.name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                yield "global", op.value, op.line
            elif op.name in ("STORE_DEREF", "DELETE_DEREF") and op.value in outside:
                yield "variable of the function around", op.value, op.line

    def variables(self) -> tuple[str, ...]:
        """Return the names of variables that errors may contain, without parameters."""
        code = self.code
        given = code.co_argcount + code.co_kwonlyargcount
        given += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
        return (*code.co_varnames[given:], *code.co_cellvars, *code.co_freevars)

    def caught(self) -> Iterator[tuple[str | None, ...]]:
        """Yield the types of errors that are caught and read, by name: None is one without a name."""
        if self.code.co_name in ("__exit__", "__aexit__"):
            yield (None,)
        for i, op in enumerate(self.ops):
            if op.name not in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH"):
                continue
            after = [o.name for o in self.ops[i + 1 : i + 5] if "JUMP" not in o.name and o.name not in _TESTING]
            if op.name == "CHECK_EXC_MATCH" and (not after or after[0] not in STORE):
                continue  # the error is not read
            yield self._matched(i)

    def _matched(self, i: int) -> tuple[str | None, ...]:
        """Return the names of the types that instruction i matches."""
        before, count = i - 1, 1
        if self.ops[before].name == "BUILD_TUPLE":
            count, before = int(self.ops[before].value or 0), before - 1
        if before - count < -1:
            return (None,)
        loads = self.ops[before - count + 1 : before + 1]
        return tuple(str(o.value) if o.name in _GLOBAL else None for o in loads)

    def _find_imports(self) -> None:
        """Find the imports that local variables are bound to; there may be several for one."""
        found: dict[str, list[Imported]] = {}
        for i, op in enumerate(self.ops):
            if op.name == "IMPORT_NAME":
                for at, imported in self._stores(i):
                    found.setdefault(self.ops[at].value, []).append(imported)
        self.locals = {name: tuple(dict.fromkeys(imports)) for name, imports in found.items()}
        self.imports = list(dict.fromkeys(imported for imports in found.values() for imported in imports))

    def _stores(self, i: int) -> Iterator[tuple[int, Imported]]:
        """Yield the instructions that store the import of instruction i, with the import."""
        ops = self.ops
        level, names, module = ops[i - 2].value, ops[i - 1].value, ops[i].value
        level = level if isinstance(level, int) else 0
        j = i + 1
        if names is None:
            whole = j < len(ops) and ops[j].name == "IMPORT_FROM"  # import a.b as c
            while j < len(ops) and ops[j].name not in STORE:
                j += 1
            yield j, Imported(module if whole else module.partition(".")[0], level)
            return
        while j + 1 < len(ops) and ops[j].name == "IMPORT_FROM":
            yield j + 1, Imported(module, level, ops[j].value)
            j += 2

    def uses(self) -> Iterator[Use]:
        """Yield all uses of names, in the order of the code."""
        ops, i = self.ops, 0
        while i < len(ops):
            op = ops[i]
            starts = self._starts(op)
            if not starts and op.name not in _ATTRIBUTE:
                i += 1
                continue
            first = i + 1 if starts else i
            end = first
            while end < len(ops) and ops[end].name in _ATTRIBUTE and (end == i or not ops[end].target):
                end += 1
            for root, kind in starts or [(None, "value")]:
                yield Use(
                    root,
                    kind,
                    tuple(o.value for o in ops[first:end]),
                    op.line,
                    self._is_called(op, ops[first:end]),
                    end < len(ops) and ops[end].name in ("STORE_ATTR", "DELETE_ATTR"),
                    tuple(ops[end : end + 6]),
                    tuple(ops[max(i - 2, 0) : i]),
                    self.code,
                    (ops[end - 1] if end > first else op).at,
                )
            i = max(end, i + 1)

    def _is_called(self, op: Op, attributes: list[Op]) -> bool:
        """Report whether an attribute of a named object is only called.

        If so, the slot on the stack for the object of a method is empty. It is pushed before the name, or
        last since Python 3.13.
        """
        last = attributes[-1] if attributes else op
        if op.calls or last.calls:
            return True
        following = instructions(self.code)[last.at + 1 : last.at + 2] if sys.version_info >= (3, 13) else ()
        return any(one.opname == "PUSH_NULL" for one in following)

    def _starts(self, op: Op) -> list[tuple[str | Imported | None, str]]:
        """Return what an instruction pushes, if it has a name."""
        if op.name in _GLOBAL:
            bound = self.locals.get(op.value, ()) if op.name != "LOAD_GLOBAL" else ()
            return [(imported, "import") for imported in bound] or [(op.value, "global")]
        if op.name == "LOAD_FAST":
            if op.value in self.code.co_cellvars or op.value in self.code.co_freevars:
                return []  # the cell, for a function that is created
            bound = self.locals.get(op.value, ())
            return [(imported, "import") for imported in bound] or [(op.value, "local")]
        if op.name in _CELL:
            own = op.value in self.code.co_cellvars
            bound = self.locals.get(op.value, ()) if own else self.cells.get(op.value, ())
            kind = "local" if own or op.value in self.cells else "cell"
            return [(imported, "import") for imported in bound] or [(op.value, kind)]
        return []
