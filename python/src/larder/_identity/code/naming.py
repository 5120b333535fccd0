"""Decide how much code may see of the names of its files.

A file is identified by its content, so it may be renamed and moved. But code may read its
name: then the key covers the name, or only the order of the names if code can only compare them.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from ..values.encoder import BY_CONTENT, BY_NAME, BY_ORDER
from .bytecode import STORE, Names, Use
from .members import NAMING
from .refusals import words

_BUILTINS = dict.fromkeys(words("str repr ascii format bytes hash print"), BY_NAME) | dict.fromkeys(
    words("sorted min max"), BY_ORDER
)

_VALUES = {id(getattr(builtins, name)): level for name, level in _BUILTINS.items()}

_LIBRARIES = (
    dict.fromkeys(words("heapq _heapq bisect _bisect functools.cmp_to_key numpy pandas polars"), BY_ORDER)
    | {f"_operator.{name}": BY_ORDER for name in words("lt le gt ge")}
    | dict.fromkeys(words("posixpath ntpath genericpath os.fsencode os.fsdecode fnmatch mimetypes"), BY_NAME)
    | dict.fromkeys(words("pickle _pickle pprint reprlib csv.writer _csv.writer csv.DictWriter"), BY_NAME)
    | dict.fromkeys(
        words("string.Template string.Formatter numpy.str_ numpy.bytes_ _operator.mod _operator.imod"), BY_NAME
    )
)
"""Library names that see more of files than their content, but do not read them."""

_NUMBERS = frozenset(words("len int float bool ord"))
"""Built-in functions whose results are numbers, whatever their arguments."""

_TEXTS = frozenset(words("read_text read_bytes"))
"""Methods of files that return their content."""

_REMAINDERS = (6, 19)
"""The BINARY_OP arguments of % and %=."""


def of_library(name: str) -> int:
    """Return how much a library function sees of the names of files."""
    while name:
        if name in _LIBRARIES:
            return _LIBRARIES[name]
        name = name.rpartition(".")[0]
    return BY_CONTENT


def of_value(value: Any) -> int:
    """Return how much a built-in function sees that is passed as a value, with unknown arguments."""
    return _VALUES.get(id(value), BY_CONTENT)


class Sight:
    """What one piece of code sees. `files` are its file variables, `space` its global variables.

    `opened` are the positions of strings that only open files: `imread(str(path))`.
    """

    def __init__(self, names: Names, files: frozenset[str], space: Mapping[str, Any], opened: Iterable[int]) -> None:
        self.prints = False
        """Whether it prints, and so sees names if it reads what was printed."""
        self._names = names
        self._space = space
        self._opened = frozenset(opened)
        self._uses = list(names.uses())
        self._calls = {end for use in self._uses if self._is_plain_call(use, files) and (end := use.end()) is not None}
        self._plain = self._variables()

    def level(self) -> int:
        """Return how much it sees."""
        names = self._names
        texts = names.texts if any(op.name == "MATCH_CLASS" for op in names.ops) else frozenset()
        if not NAMING.isdisjoint(names.attributes | texts):
            return BY_NAME
        compares = "sort" in names.attributes or any(op.name == "COMPARE_OP" for op in names.ops)
        found = [BY_ORDER if compares else BY_CONTENT]
        found += [self._formatted(at) for at in range(len(names.ops))]
        found += [self._used(use) for use in self._uses if use.kind == "global"]
        return max(found)

    def _used(self, use: Use) -> int:
        name = str(use.root)
        if name == "getattr" and not self._has_text(use):
            return BY_NAME
        if name not in _BUILTINS or use.at in self._opened or use.attributes:
            return BY_CONTENT
        if any(op.value in ("isinstance", "issubclass") for op in use.before[:1]):
            return BY_CONTENT
        given, named = (use.call() if use.called else None) or (0, ("file",))
        if name == "print" and "file" not in named:
            self.prints = True
            return BY_CONTENT
        end = use.end()
        if _BUILTINS[name] is BY_NAME and given == 1 and end is not None and self._is_plain(self._before(end)):
            return BY_CONTENT
        return _BUILTINS[name]

    def _has_text(self, use: Use) -> bool:
        """Report whether a string names an attribute, as strings are checked separately."""
        end = use.end()
        return end is not None and any(
            op.name == "LOAD_CONST" and type(op.value) is str for op in self._names.ops if use.at < op.at < end
        )

    def _formatted(self, at: int) -> int:
        """Return how much an instruction sees that converts a value to a string."""
        ops = self._names.ops
        op = ops[at]
        if op.name == "BINARY_OP" and op.value in _REMAINDERS:
            right = ops[at - 1]
            number = right.name in ("LOAD_CONST", "LOAD_SMALL_INT") and not isinstance(right.value, tuple)
            return BY_CONTENT if number and not op.target else BY_NAME
        if op.name == "CONVERT_VALUE" or (op.name.startswith("FORMAT") and not self._is_specified(at)):
            return BY_CONTENT if not op.target and self._is_plain(at - 1) else BY_NAME
        return BY_CONTENT

    def _is_specified(self, at: int) -> bool:
        """Report whether a value has a format that paths do not support: `f"{x:5}"`."""
        op, spec = self._names.ops[at], self._names.ops[at - 1]
        constant = spec.name == "LOAD_CONST" and bool(spec.value) and not op.target
        return constant and (op.name == "FORMAT_WITH_SPEC" or (op.name == "FORMAT_VALUE" and op.value == 4))

    # Values on the stack after an instruction that are numbers or strings computed from no name.

    def _is_plain_call(self, use: Use, files: frozenset[str]) -> bool:
        if not use.called:
            return False
        if use.kind == "global":
            return use.root in _NUMBERS and not use.attributes and use.root not in self._space
        return use.kind == "local" and use.root in files and len(use.attributes) == 1 and use.attributes[0] in _TEXTS

    def _before(self, at: int) -> int:
        """Return the index of the operation before an instruction, or -1 if it is not unique."""
        for i, op in enumerate(self._names.ops):
            if op.at == at:
                return -1 if op.target else i - 1
        return -1

    def _is_plain(self, i: int, plain: frozenset[str] | None = None) -> bool:
        if i < 0:
            return False
        op = self._names.ops[i]
        if op.target:
            return False
        if op.name == "LOAD_FAST":
            return op.value in (self._plain if plain is None else plain)
        if op.name == "BINARY_OP":
            loads = all(o.name.startswith("LOAD_") for o in self._names.ops[max(i - 2, 0) : i])
            return loads and self._is_plain(i - 1, plain) and self._is_plain(i - 2, plain)
        constant = op.name == "LOAD_CONST" and type(op.value) in (int, float, str, bytes, bool)
        return constant or op.name == "LOAD_SMALL_INT" or op.at in self._calls

    def _variables(self) -> frozenset[str]:
        """Return the variables that are numbers and strings wherever they are set."""
        ops, code = self._names.ops, self._names.code
        inside = {*code.co_cellvars, *code.co_freevars, *code.co_varnames[: _given(code)]}
        stores = [(i, op) for i, op in enumerate(ops) if op.name in STORE]
        found = frozenset(str(op.value) for _, op in stores if op.value not in inside)
        while True:
            others = {op.value for i, op in stores if op.target or not self._is_plain(i - 1, found)}
            if found.isdisjoint(others):
                return found
            found -= others


def _given(code: Any) -> int:
    count: int = code.co_argcount + code.co_kwonlyargcount
    return count + bool(code.co_flags & 4) + bool(code.co_flags & 8)
