"""What code may not reach that runs while numba compiles, and which settings of the process it depends on."""

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

from .._code import _owner, _rules, _settings
from .._code._library import library_name
from .._code._rules import words
from .._keys import digest
from .._keys._encoder import fixed
from .._surroundings import surroundings
from ._errors import Refused

ANYTHING = frozenset(words("globals locals eval exec open input vars __import__ id"))
"""Built-in functions that may reach anything, or tell addresses."""

LOGGING = frozenset(words("debug info warning error exception critical log"))
"""Methods of loggers that return nothing."""

_LOGGERS = ("getLogger", "root", "getLevelName")
_CODECS = ("register", "lookup", "unregister")

_THREADS = frozenset(
    words("get_num_threads set_num_threads get_parallel_chunksize set_parallel_chunksize get_thread_id threading_layer")
)
"""Settings of numba that no key has, by the functions that tell them."""

_COMPILED = frozenset(
    words(
        "overloads signatures nopython_signatures inspect_llvm inspect_asm inspect_types inspect_cfg "
        "inspect_disasm_cfg get_metadata get_overload get_compile_result get_annotation_info parallel_diagnostics"
    )
)
"""By what code gets at what a function was compiled for, which differs from process to process."""

_OF_DISPATCHERS = frozenset(
    words("py_func targetoptions locals __name__ __qualname__ __doc__ __module__ __wrapped__ func_code __code__")
)

_OF_CALLERS = frozenset(words("fndesc callstack"))
"""By what lowering and typing get at the function that is compiled, with its variables, lines and docstring."""

GETTING = frozenset(words("getattr hasattr methodcaller attrgetter"))
"""What gets at attributes by names that are texts."""

_ZONED = _rules.ZONED | frozenset(words("fromtimestamp tzname timezone altzone daylight"))

COPYING = frozenset(words("copy copyreg pickle _pickle"))
"""Modules that look at how objects are to be copied."""


def refuse_named(name: str, owner: Any, path: str) -> None:
    """Refuse what a library has by a name, if code that runs while numba compiles may not depend on it."""
    standard = owner is _owner.PYTHON
    module, _, last = name.rpartition(".")
    why = _rules.refusal(name, standard)
    if why is None and (name in _rules.SEEDED or (standard and module == "random" and last[:1].islower())):
        why = _rules.CHANCE
    if why is None and standard and (module, last in _LOGGERS) == ("logging", True):
        why = _rules.SETTING
    if why is None and module in ("codecs", "_codecs") and last in _CODECS:
        why = _rules.SETTING
    if why is None and last in _THREADS and name.partition(".")[0] == "numba":
        why = _rules.SETTING
    if why is not None:
        raise Refused(path, f"{name} reaches {why.what} while numba compiles")


def refuse_module(name: str, owner: Any, path: str) -> None:
    """Refuse a module of a library as a value, if anything of it may be refused."""
    why = _rules.refusal(f"{name}.", owner is _owner.PYTHON)
    if why is not None:
        raise Refused(path, f"the module {name} reaches {why.what} while numba compiles")


def refuse_method(name: str, path: str) -> None:
    """Refuse a method of something that has no name, by its own name."""
    if name in _COMPILED:
        raise Refused(path, f".{name} says what a function was compiled for in this process so far")
    why = _rules.METHODS.get(name)
    if why is not None:
        raise Refused(path, f".{name} may reach {why.what} while numba compiles")


def refuse_mentioned(names: frozenset[str], path: str) -> None:
    """Refuse names, in code or in texts, that lead to what is compiled around it."""
    for name in sorted(names & _OF_CALLERS):
        raise Refused(path, f".{name} leads to the function that is compiled, of which any part may be read there")


def named_by(value: Any) -> tuple[str, ...]:
    """Return the names of attributes that a function gets which `operator` makes."""
    if not isinstance(value, (operator.methodcaller, operator.attrgetter)):
        return ()
    texts = (text for text in value.__reduce__()[1] if isinstance(text, str))
    return tuple(name for text in texts for name in text.split("."))


def refuse_of_dispatcher(name: str, path: str) -> None:
    """Refuse an attribute of a compiled function, but for those that say what was said of it."""
    if name not in _OF_DISPATCHERS:
        raise Refused(path, f".{name} of a compiled function is its state in this process, or no part of its key")


def is_chance(value: Any) -> bool:
    """Report whether a value is the generator that the functions of `random` draw from, or one of these."""
    return getattr(value, "__self__", value) is random._inst


def copied() -> Iterator[tuple[str, Any]]:
    """Yield how objects of the program are copied, where it has said so."""
    for kind, function in copyreg.dispatch_table.items():
        if library_name(kind)[1] is None:
            yield f"copyreg.dispatch_table[{kind.__qualname__}]", function


_CODING = frozenset(words("encode decode str bytes bytearray open codecs lookup_error"))
_HANDLERS = words("strict ignore replace xmlcharrefreplace backslashreplace namereplace surrogateescape surrogatepass")

_STATELESS = frozenset(words("builtins logging random"))
"""Modules of Python of whose objects nothing may be read, or nothing is."""


def handlers(texts: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield what the program does about errors in texts, where code that mentions these texts may ask for it."""
    if texts.isdisjoint(_CODING):
        return
    for name in sorted(texts.union(_HANDLERS)):
        try:
            found = codecs.lookup_error(name)
        except (LookupError, ValueError):  # there is none, or it can be no name
            continue
        if name not in _HANDLERS or not isinstance(found, BuiltinFunctionType):
            yield f"codecs.lookup_error({name!r})", found


def state_of(module: str) -> str:
    """Return what objects hold that a module of Python has for all who use it, as far as these are plain values."""
    if module in _STATELESS:
        return ""
    lines = []
    for name, value in sorted(vars(sys.modules.get(module, builtins)).items()):
        if type(value).__module__ == module and (held := getattr(value, "__dict__", None)):
            plain = {key: part for key, part in sorted(held.items()) if fixed(part)}
            lines.append(f"{module}.{name} {plain}")
    return "\n".join(lines)


def unusual() -> tuple[str, ...]:
    """Return the settings that all such code is taken to depend on, and are not as they are at first, in words."""
    return tuple(": ".join(map(str, (one[0], ", ".join(map(str, one[1:]))))) for one in surroundings())


def settings(names: set[str], formats: bool) -> dict[str, Any]:
    """Return the settings that code depends on which mentions some names, and may make text of values."""
    found: dict[str, Any] = {"settings": digest(surroundings())}
    if formats:
        found["print options"] = repr(_settings.PRINTING.read())
    if not names.isdisjoint(_ZONED):
        found["time zone"] = repr(_settings.ZONE.read())
    return found
