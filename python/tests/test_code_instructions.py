"""Test that instructions match those of `dis`."""

from __future__ import annotations

import dis
import os
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from larder._identity import instructions

# For these `dis` shows human-readable text; for the names of arguments in Python 3.11, nothing.
TEXTS = {"COMPARE_OP", "FORMAT_VALUE", "CONVERT_VALUE", "KW_NAMES"}


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def test_instructions_of_the_standard_library_are_what_dis_says() -> None:
    files = sorted(Path(os.__file__).parent.glob("*.py"))[::3]
    assert len(files) > 30
    kinds = set()
    for file in files:
        for code in codes(compile(file.read_text("utf-8"), str(file), "exec")):
            read, reported = instructions.instructions(code), tuple(instructions.reported(code))
            assert len(read) == len(reported)
            for one, other in zip(read, reported, strict=True):
                same = one._replace(argval=None) == other._replace(argval=None)
                assert same, (file, code, one, other)
                assert one.opname in TEXTS or one.argval == other.argval, (file, code, one, other)
            kinds |= {one.opcode for one in read}
    for known in (instructions.JUMPS, instructions.VARIABLES, instructions.CONSTANTS, instructions.NAMES):
        assert kinds & known
    assert dis.opmap["EXTENDED_ARG"] in kinds


def test_an_attribute_that_is_called_null_makes_no_empty_place() -> None:
    code = compile("a.NULL = b.NULL", "f.py", "exec")
    assert not any(op.nulls for op in instructions.instructions(code))
    assert not any(op.nulls for op in instructions.reported(code))
