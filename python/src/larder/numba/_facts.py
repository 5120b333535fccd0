"""Extract what a piece of code does and names, once for each code object."""

from __future__ import annotations

import dis
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType

from .._identity.code import bytecode, members, settings
from .._identity.code.patterns import formats_values
from .._identity.instructions import NAMES, instructions
from ._running import GETTING

_MOST = 8192


Mention = tuple[str, str, tuple[str, ...], bytes, str]
"""The kind of a named thing, its name, the attributes that follow, the bytes to append, and its name in messages."""


@dataclass
class Facts:
    """The properties of code that do not depend on the meaning of its names."""

    code: CodeType
    uses: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Globals and captured variables: kind, name, and the attributes that follow."""
    names: frozenset[str]
    """All attributes that code mentions, and strings that may be attributes."""
    methods: frozenset[str]
    """Attributes that code mentions on objects without a name."""
    insides: frozenset[str]
    """Attributes by which code reaches objects that it does not name."""
    formats: bool
    """Whether it converts values to strings."""
    imports: tuple[tuple[bytecode.Imported, tuple[str, ...]], ...]
    """The imports of the code, each with the attributes that follow."""
    unknown: str | None
    """An instruction that names something and is not known."""
    writes: str | None
    """A variable outside of it that it sets."""
    returned: tuple[CodeType, ...]
    """For an overload, the functions in it that it only returns: they are compiled, and not covered here."""

    @cached_property
    def content(self) -> bytes:
        """The digest of what the code does."""
        return bytecode.content(self.code)

    @cached_property
    def _unnamed(self) -> tuple[bytes, dict[str, str]]:
        aliases: dict[str, str] = {}
        return bytecode.content(self.code, lambda code: _aliased(code, aliases)), aliases

    @property
    def unnamed(self) -> bytes:
        """The same with globals numbered instead of named, as generated code has other names each time."""
        return self._unnamed[0]

    @cached_property
    def uses_named(self) -> tuple[Mention, ...]:
        """Its uses, with the bytes appended for each where names count."""
        return tuple(_mention(*use, use[1]) for use in self.uses)

    @cached_property
    def uses_unnamed(self) -> tuple[Mention, ...]:
        """Its uses, with the bytes appended for each where names of globals do not count."""
        return tuple(_mention(*use, self.aliases.get(use[1], use[1])) for use in self.uses)

    @property
    def aliases(self) -> dict[str, str]:
        """The numbered names of globals in these."""
        return self._unnamed[1]


def _mention(kind: str, name: str, attributes: tuple[str, ...], alias: str) -> Mention:
    return kind, name, attributes, f"name {alias} {'.'.join(attributes)} ".encode(), ".".join((name, *attributes))


_known: OrderedDict[tuple[CodeType, bool], Facts] = OrderedDict()


def facts_of(code: CodeType, overload: bool = False) -> Facts:
    """Return the facts of code, which may be that of an overload.

    Comments, lines, names of variables and the file are not part of them.
    """
    found = _known.get((code, overload))
    if found is None:
        if len(_known) >= _MOST:
            _known.popitem(last=False)
        found = _known[code, overload] = _facts(code, overload)
    return found


def _facts(code: CodeType, overload: bool) -> Facts:
    plain = code
    if bytecode.documented(code):
        plain = code.replace(co_consts=(None, *code.co_consts[1:]))
    uses: dict[tuple[str, str, tuple[str, ...]], None] = {}
    names: set[str] = set()
    methods: set[str] = set()
    insides: set[str] = set()
    formats = False
    imports: dict[tuple[bytecode.Imported, tuple[str, ...]], None] = {}
    unknown: list[str] = []
    writes: list[str] = []
    left = [bytecode.Names(code)]
    returned = tuple(_returned(left[0])) if overload else ()
    while left:
        one = left.pop(0)
        names |= one.attributes | one.texts | set(one.code.co_names)
        insides |= (one.attributes | one.texts) & members.INSIDES
        formats = formats or formats_values(one) or not settings.PRINTERS.isdisjoint(one.code.co_names)
        imports |= dict.fromkeys((imported, ()) for imported in one.imports)
        if one.unknown():
            unknown.append(str(one.unknown()))
        writes += [name for _, name, _ in one.writes()]
        for use in one.uses():
            if use.kind in ("global", "cell") and isinstance(use.root, str):
                uses[use.kind, use.root, use.attributes] = None
            elif isinstance(use.root, bytecode.Imported):
                imports[use.root, use.attributes] = None
            else:
                methods |= set(use.attributes)
        if not GETTING.isdisjoint(one.attributes | set(one.code.co_names)):
            methods |= {name for text in one.texts for name in text.split(".")}
        left += [inner for inner in one.nested() if inner.code not in returned]
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
        returned,
    )


def _returned(names: bytecode.Names) -> Iterator[CodeType]:
    """Yield the inner functions that a function only returns."""
    ops = names.ops
    used = {op.value for op, then in pairwise(ops) if _loads(op) and then.name != "RETURN_VALUE"}
    for i, op in enumerate(ops):
        if isinstance(op.value, CodeType):
            after = [o for o in ops[i + 1 : i + 6] if o.name not in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE")]
            stored = bool(after) and after[0].name == "STORE_FAST" and after[0].value not in used
            if stored or (after and after[0].name == "RETURN_VALUE"):
                yield op.value


def _loads(op: bytecode.Op) -> bool:
    return op.name in ("LOAD_FAST", "LOAD_CLOSURE", "LOAD_DEREF")


def _aliased(code: CodeType, aliases: dict[str, str]) -> tuple[str, ...]:
    """Return the names of code with numbers for globals, the same numbers as in the functions within it."""
    loaded: set[str] = set()
    others: set[str] = set()
    for op in instructions(code):
        if op.opcode in NAMES:
            (loaded if op.opname == "LOAD_GLOBAL" else others).add(op.argval)
    return tuple(
        aliases.setdefault(name, f"<{len(aliases)}>") if name in loaded - others else name for name in code.co_names
    )


def placed(code: CodeType) -> bytes:
    """Return the position of code, line by line, for code that is compiled for debugging."""
    lines = [f"{code.co_filename} {code.co_firstlineno} {code.co_varnames}"]
    lines += [f"{line}" for _, line in dis.findlinestarts(code)]
    inner = [placed(c) for c in code.co_consts if isinstance(c, CodeType)]
    return "\n".join(lines).encode() + b"".join(inner)


def variables(code: CodeType) -> bytes:
    """Return the names of variables of code, for code whose errors contain them."""
    inner = [variables(c) for c in code.co_consts if isinstance(c, CodeType)]
    return repr((code.co_varnames, code.co_cellvars)).encode() + b"".join(inner)
