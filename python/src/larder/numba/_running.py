"""Restrict the code that runs while numba compiles, and read the process settings that it depends on."""

from __future__ import annotations

import builtins
import codecs
import copyreg
import operator
import random
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import Any

from .._identity import distribution
from .._identity.code import members, refusals, rules
from .._identity.code.refusals import words
from .._identity.code.settings import PRINTING, ZONE
from .._identity.digest import digest
from .._identity.environment import nondefault_settings
from .._identity.immutable import fixed
from .._identity.library import library_name
from ._errors import Refused

ANYTHING = frozenset(words("globals locals eval exec open input vars __import__ id"))
"""Built-in functions that may reach anything, or reveal addresses."""

LOGGING = frozenset(words("debug info warning error exception critical log"))
"""Methods of loggers that return nothing."""

_LOGGERS = ("getLogger", "root", "getLevelName")
_CODECS = ("register", "lookup", "unregister")

_THREADS = frozenset(
    words("get_num_threads set_num_threads get_parallel_chunksize set_parallel_chunksize get_thread_id threading_layer")
)
"""Settings of numba that no key covers, by the functions that return them."""

_COMPILED = frozenset(
    words(
        "overloads signatures nopython_signatures inspect_llvm inspect_asm inspect_types inspect_cfg "
        "inspect_disasm_cfg get_metadata get_overload get_compile_result get_annotation_info parallel_diagnostics"
    )
)
"""Names that reveal what a function was compiled for, which differs from process to process."""

_OF_DISPATCHERS = frozenset(
    words("py_func targetoptions locals __name__ __qualname__ __doc__ __module__ __wrapped__ func_code __code__")
)

_OF_CALLERS = frozenset(words("fndesc callstack"))
"""Names by which lowering and typing reach the compiled function, with its variables, lines and docstring."""

GETTING = frozenset(words("getattr hasattr methodcaller attrgetter"))
"""Functions that access attributes by names in strings."""

_ZONED = members.ZONED | frozenset(words("fromtimestamp tzname timezone altzone daylight"))

COPYING = frozenset(words("copy copyreg pickle _pickle"))
"""Modules that read how objects are copied."""


def refuse_named(name: str, owner: Any, path: str) -> None:
    """Refuse a name of a library that code must not depend on while numba compiles."""
    standard = owner is distribution.PYTHON
    module, _, last = name.rpartition(".")
    why = rules.refusal(name, standard)
    if why is None and (name in rules.SEEDED or (standard and module == "random" and last[:1].islower())):
        why = refusals.RANDOMNESS
    if why is None and standard and (module, last in _LOGGERS) == ("logging", True):
        why = refusals.SETTING
    if why is None and module in ("codecs", "_codecs") and last in _CODECS:
        why = refusals.SETTING
    if why is None and last in _THREADS and name.partition(".")[0] == "numba":
        why = refusals.SETTING
    if why is not None:
        raise Refused(path, f"{name} reaches {why.what} while numba compiles")


def refuse_module(name: str, owner: Any, path: str) -> None:
    """Refuse a module of a library as a value, if any part of it may be refused."""
    why = rules.refusal(f"{name}.", owner is distribution.PYTHON)
    if why is not None:
        raise Refused(path, f"the module {name} reaches {why.what} while numba compiles")


def refuse_method(name: str, path: str) -> None:
    """Refuse a method of an object without a name, by its own name."""
    if name in _COMPILED:
        raise Refused(path, f".{name} returns the types that a function was compiled for in this process")
    why = members.METHODS.get(name)
    if why is not None:
        raise Refused(path, f".{name} may reach {why.what} while numba compiles")


def refuse_mentioned(names: frozenset[str], path: str) -> None:
    """Refuse names, in code or in strings, that lead to the compilation around it."""
    for name in sorted(names & _OF_CALLERS):
        raise Refused(path, f".{name} leads to the function that is compiled, of which any part may be read there")


def named_by(value: Any) -> tuple[str, ...]:
    """Return the names of attributes that a function of `operator` reads."""
    if not isinstance(value, (operator.methodcaller, operator.attrgetter)):
        return ()
    texts = (text for text in value.__reduce__()[1] if isinstance(text, str))
    return tuple(name for text in texts for name in text.split("."))


def refuse_of_dispatcher(name: str, path: str) -> None:
    """Refuse an attribute of a compiled function, except those that return its options."""
    if name not in _OF_DISPATCHERS:
        raise Refused(path, f".{name} of a compiled function is its state in this process, or no part of its key")


def is_random(value: Any) -> bool:
    """Report whether a value is the generator behind the functions of `random`, or one of these functions."""
    return getattr(value, "__self__", value) is random._inst


def copied() -> Iterator[tuple[str, Any]]:
    """Yield the copy functions that the program registered for its objects."""
    for kind, function in copyreg.dispatch_table.items():
        if library_name(kind)[1] is None:
            yield f"copyreg.dispatch_table[{kind.__qualname__}]", function


_CODING = frozenset(words("encode decode str bytes bytearray open codecs lookup_error"))
_HANDLERS = words("strict ignore replace xmlcharrefreplace backslashreplace namereplace surrogateescape surrogatepass")

_STATELESS = frozenset(words("builtins logging random"))
"""Modules of Python whose objects have no readable state, or none that is read."""


def handlers(texts: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the program's error handlers of text encodings, if code that mentions some strings may use them."""
    if texts.isdisjoint(_CODING):
        return
    for name in sorted(texts.union(_HANDLERS)):
        try:
            found = codecs.lookup_error(name)
        except (LookupError, ValueError):  # there is none, or the string cannot be a name
            continue
        if name not in _HANDLERS or not isinstance(found, BuiltinFunctionType):
            yield f"codecs.lookup_error({name!r})", found


def state_of(module: str) -> str:
    """Return the shared state of the objects of a Python module, as far as it is plain values."""
    if module in _STATELESS:
        return ""
    lines = []
    for name, value in sorted(vars(sys.modules.get(module, builtins)).items()):
        if type(value).__module__ == module and (held := getattr(value, "__dict__", None)):
            plain = {key: part for key, part in sorted(held.items()) if fixed(part)}
            lines.append(f"{module}.{name} {plain}")
    return "\n".join(lines)


def unusual() -> tuple[str, ...]:
    """Return the settings that all such code depends on and that differ from their defaults, as strings."""
    return tuple(": ".join(map(str, (one[0], ", ".join(map(str, one[1:]))))) for one in nondefault_settings())


def settings(names: set[str], formats: bool) -> dict[str, Any]:
    """Return the settings that code depends on which mentions some names, and may convert values to strings."""
    found: dict[str, Any] = {"settings": digest(nondefault_settings())}
    if formats:
        found["print options"] = repr(PRINTING.read())
    if not names.isdisjoint(_ZONED):
        found["time zone"] = repr(ZONE.read())
    return found
