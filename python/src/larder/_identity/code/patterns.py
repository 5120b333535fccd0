"""Recognize patterns of instructions: how code uses a value, as far as its instructions show."""

from __future__ import annotations

from . import bytecode, calls, settings


def formats_values(names: bytecode.Names) -> bool:
    """Report whether code converts values to strings."""
    return (
        any(op.name in settings.FORMATTING for op in names.ops)
        or not names.attributes.isdisjoint(settings.METHODS)
        or any("%" in text for text in names.texts)
    )


def without_arguments(use: bytecode.Use) -> bool:
    after = [op for op in use.after if op.name not in ("PUSH_NULL", "PRECALL")]
    return bool(after) and after[0].name == "CALL" and (after[0].value or 0) == 0


def zoned(use: bytecode.Use) -> bool:
    """Report whether a call that converts seconds to a time passes the zone."""
    count, names = use.call() or (0, ())
    return count >= 2 or "tz" in names


def is_tested(use: bytecode.Use) -> bool:
    """Report whether a value is only tested for existence."""
    after = [op for op in use.after if op.name != "TO_BOOL"][:2]
    if not after:
        return False
    none = after[0].name == "LOAD_CONST" and after[0].value is None and after[-1].name == "IS_OP"
    return none or after[0].name.startswith("POP_JUMP") or after[0].name == "UNARY_NOT"


def passes_generator(use: bytecode.Use) -> bool:
    """Report whether a call passes a seed or a generator by name."""
    call = use.call()
    return call is not None and not calls.DECIDED.isdisjoint(call[1])


def reads_given(use: bytecode.Use, files: frozenset[str]) -> bool:
    """Report whether a reader of a file receives one that is in the key, or bytes."""
    if not use.after:
        return False
    first, *after = use.after
    if first.name == "LOAD_GLOBAL" and first.value in ("str", "Path") and len(after) > 2:
        made = after[1].name == "CALL" and after[1].value == 1
        return made and _is_file(after[0], files) and _is_argument(after[2:])
    if _is_file(first, files):
        return _is_argument(after)
    return first.name == "LOAD_GLOBAL" and first.value in ("io", "BytesIO", "StringIO")


def _is_argument(after: list[bytecode.Op]) -> bool:
    """Report whether a value is passed unchanged: the call follows, or another separate argument."""
    if not after or after[0].name.startswith("CALL"):
        return True
    if after[0].name not in ("LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF"):
        return False
    left = [op for op in after[1:] if op.name not in _ATTRIBUTES]
    return not left or left[0].name.startswith(("CALL", "LOAD_"))


_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


def _is_file(op: bytecode.Op, files: frozenset[str]) -> bool:
    return op.name in ("LOAD_FAST", "LOAD_DEREF") and op.value in files


def text_of_file(use: bytecode.Use, files: frozenset[str]) -> set[int]:
    """Return where a file in the key is converted to a string as the first argument of a reader: imread(str(path))."""
    made = use.after[:3]
    given = len(made) == 3 and made[0].name == "LOAD_GLOBAL" and made[0].value == "str"
    return {made[0].at} if given and _is_file(made[1], files) and made[2].name == "CALL" else set()


def is_made_of_file(before: tuple[bytecode.Op, ...], files: frozenset[str]) -> bool:
    """Report whether the preceding value is the result of one call on a file in the key, such as Path(file)."""
    return (
        len(before) == 2
        and before[1].name == "CALL"
        and before[1].value == 1
        and before[0].name in ("LOAD_FAST", "LOAD_DEREF")
        and before[0].value in files
    )


def file_variables(names: bytecode.Names, files: frozenset[str]) -> frozenset[str]:
    """Return the variables that are always files in the key: the given ones, and those of loops over them."""
    ops = names.ops
    stores = [i for i, op in enumerate(ops) if op.name in bytecode.STORE or op.name.startswith("DELETE_")]
    files -= {ops[i].value for i in stores} | _stored_inside(names)
    listed = {i for i in stores if i > 2 and _is_loop(ops[i - 3 : i], files)}
    others = {ops[i].value for i in stores if i not in listed}
    return files | ({ops[i].value for i in listed} - others - _stored_inside(names))


def _is_loop(before: list[bytecode.Op], files: frozenset[str]) -> bool:
    first, second, third = before
    return first.value in files and second.name == "GET_ITER" and third.name == "FOR_ITER"


def _stored_inside(names: bytecode.Names) -> set[str]:
    """Return the variables that nested functions set."""
    found: set[str] = set()
    for inner in names.nested():
        found |= {op.value for op in inner.ops if op.name in ("STORE_DEREF", "DELETE_DEREF")} | _stored_inside(inner)
    return found
