"""What a piece of code does and names, found once for each code object."""

from __future__ import annotations

import dis
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from types import CodeType

from .._code import _bytecode, _rules, _settings
from .._code._follow import _formats

_MOST = 8192


@dataclass
class Facts:
    """What there is to know of code without what its names mean."""

    code: CodeType
    uses: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Globals and captured variables, each with the attributes that follow: what kind, its name, these."""
    names: frozenset[str]
    """All attributes that are mentioned, and texts that may be."""
    methods: frozenset[str]
    """Those that are mentioned of what has no name."""
    insides: frozenset[str]
    """Those by which code gets at what it does not name."""
    formats: bool
    """Whether it makes text of values."""
    imports: tuple[_bytecode.Imported, ...]
    unknown: str | None
    """An instruction that names something and is not known."""
    writes: str | None
    """A variable outside of it that it sets."""

    @cached_property
    def content(self) -> bytes:
        """What it does."""
        return _bytecode.content(self.code)

    @cached_property
    def _unnamed(self) -> tuple[bytes, dict[str, str]]:
        aliases: dict[str, str] = {}
        return _bytecode.content(self.code, lambda code: _aliased(code, aliases)), aliases

    @property
    def unnamed(self) -> bytes:
        """The same without the names of globals, but for which of them are one: generated code has others each time."""
        return self._unnamed[0]

    @property
    def aliases(self) -> dict[str, str]:
        """What globals are called in that."""
        return self._unnamed[1]


_known: OrderedDict[CodeType, Facts] = OrderedDict()


def facts_of(code: CodeType) -> Facts:
    """Return what there is to know of code. Comments, lines, names of variables and the file are no part of it."""
    found = _known.get(code)
    if found is None:
        if len(_known) >= _MOST:
            _known.popitem(last=False)
        found = _known[code] = _facts(code)
    return found


def _facts(code: CodeType) -> Facts:
    plain = code
    if _bytecode.documented(code):
        plain = code.replace(co_consts=(None, *code.co_consts[1:]))
    uses: dict[tuple[str, str, tuple[str, ...]], None] = {}
    names: set[str] = set()
    methods: set[str] = set()
    insides: set[str] = set()
    formats = False
    imports: list[_bytecode.Imported] = []
    unknown: list[str] = []
    writes: list[str] = []
    left = [_bytecode.Names(code)]
    while left:
        one = left.pop(0)
        names |= one.attributes | one.texts | set(one.code.co_names)
        insides |= (one.attributes | one.texts) & _rules.INSIDES
        formats = formats or _formats(one) or not _settings.PRINTERS.isdisjoint(one.code.co_names)
        imports += one.imports
        if one.unknown():
            unknown.append(str(one.unknown()))
        writes += [name for _, name, _ in one.writes()]
        for use in one.uses():
            if use.kind in ("global", "cell") and isinstance(use.root, str):
                uses[use.kind, use.root, use.attributes] = None
            else:
                methods |= set(use.attributes)
        left += one.nested()
    return Facts(
        plain,
        tuple(uses),
        frozenset(names),
        frozenset(methods),
        frozenset(insides),
        formats,
        tuple(imports),
        unknown[0] if unknown else None,
        writes[0] if writes else None,
    )


def _aliased(code: CodeType, aliases: dict[str, str]) -> tuple[str, ...]:
    """Return the names of code with numbers for those of globals, the same ones in the functions within it."""
    loaded: set[str] = set()
    others: set[str] = set()
    for op in _bytecode.instructions(code):
        if op.opcode in dis.hasname:
            (loaded if op.opname == "LOAD_GLOBAL" else others).add(op.argval)
    return tuple(
        aliases.setdefault(name, f"<{len(aliases)}>") if name in loaded - others else name for name in code.co_names
    )


def placed(code: CodeType) -> bytes:
    """Return where code stands, line by line, for code that is compiled to be debugged."""
    lines = [f"{code.co_filename} {code.co_firstlineno} {code.co_varnames}"]
    lines += [f"{line}" for _, line in dis.findlinestarts(code)]
    inner = [placed(c) for c in code.co_consts if isinstance(c, CodeType)]
    return "\n".join(lines).encode() + b"".join(inner)
