"""What numba makes of a compiled function, as bytes and back.

It is numba's own form, with three things added: environments of functions whose globals
have no name of a module, as those that are made by exec have none, which get the globals
of the function that is loaded; which classes are in it, if nobody can import them; and
addresses of functions that call each other in a circle, which numba fills in by itself
only where it has compiled them.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from . import _classes
from ._errors import Refused
from ._history import Compiled
from ._kinds import home
from ._types import holds_functions
from ._walk import Walk

_UNRESOLVED = ".numba.unresolved$"

_kept: list[Any] = []
"""Environments that were loaded. Code holds their addresses, and functions that are equal share code."""


def check(compiled: Any, walk: Walk) -> None:
    """Raise Refused if numba's compiled function cannot be loaded by another process."""

    def refuse(reason: str) -> None:
        raise Refused(walk.nodes[1].path, reason)

    if compiled.objectmode:
        refuse("it is compiled in object mode")
    if compiled.lifted:
        refuse("it has loops or blocks that are lifted out of it, such as object mode")
    if compiled.library.has_dynamic_globals:
        refuse("it has addresses in it, such as function pointers and large arrays")
    if circle := unresolved(compiled.library):
        if not walk.circles():
            raise Refused(_way_to(circle, walk), "it calls itself for other types, and is called by itself for these")
        if not {function.name for function in compiled.library.get_defined_functions()}.issuperset(circle):
            refuse("functions in it call each other, and one of these is not a part of it")
    signature = compiled.signature
    for kind in (*signature.args, signature.return_type):
        if holds_functions(kind):
            refuse(f"the type {type(kind).__name__} of an argument or the result is of this process alone")


def _way_to(symbols: list[str], walk: Walk) -> str:
    """Return the way to the function that has one of some symbols."""
    for node in walk.nodes:
        if node.kind == "compiled function":
            for compiled in node.value.overloads.values():
                if compiled.fndesc.mangled_name in symbols:
                    return node.path
    return walk.nodes[1].path


def unresolved(library: Any) -> list[str]:
    """Return the functions whose addresses code of a circle looks up, as they were not there when it was compiled."""
    names = (variable.name for variable in library._final_module.global_variables)
    return [name.removeprefix(_UNRESOLVED) for name in names if name.startswith(_UNRESOLVED)]


def dumped(compiled: Any, walk: Walk, within: list[Compiled], loops: list[Any]) -> tuple[dict[str, int], bytes]:
    """Return a compiled function as bytes, with the classes in it as what a walk has found, or raise Refused.

    `within` is what was compiled while it was, which who loads it takes for compiled, and `loops` what vectorized
    functions got then, which they get where it is loaded.
    """
    from numba.core import serialize

    check(compiled, walk)
    described = compiled.fndesc
    held, described.global_dict = described.global_dict, None
    kinds = described.typemap, described.calltypes
    try:
        parts = list(compiled._reduce())
        parts[2] = _detached(compiled.environment)
        parts[8] = tuple(_detached(env) for env in _environments(compiled))
        with _classes.tokens():
            made: bytes = serialize.dumps((held is not None, tuple(parts), loops))
        numbers = _classes.numbers_of(made, walk, described.qualname)
        circle = bool(unresolved(compiled.library))
        return numbers, pickle.dumps((numbers, within, circle, made))
    finally:
        described.global_dict = held
        described.typemap, described.calltypes = kinds


@dataclass(slots=True, frozen=True)
class Loaded:
    """A compiled function from its bytes, with what `dumped` was told."""

    compiled: Any
    classes: dict[str, int]
    within: list[Compiled]
    loops: list[Any]


def loaded(data: bytes, context: Any, space: dict[str, Any], walk: Walk) -> Loaded:
    """Return a compiled function from its bytes, which must be known to be right, with the classes of a walk."""
    from numba.core.compiler import CompileResult

    numbers, within, circle, made = pickle.loads(data)
    _classes.restore(numbers, walk)
    dynamic, parts, loops = pickle.loads(made)
    parts = list(parts)
    if dynamic:
        parts[1].global_dict = space
    parts[2] = _attached(parts[2], space)
    parts[8] = tuple(_attached(env, space) for env in parts[8])
    _kept.extend((parts[2], *parts[8]))
    if circle:
        _declare(context.codegen(), parts[0])
    compiled = CompileResult._rebuild(context, *parts)
    if circle:
        _resolve(context.codegen(), compiled.library)
    return Loaded(compiled, numbers, within, loops)


def _declare(codegen: Any, library: Any) -> None:
    """Make room for the addresses that the code of a library looks up, before it is linked."""
    import llvmlite.binding as llvm

    _, _, (_, bitcode) = library
    codegen._rtlinker.scan_unresolved_symbols(llvm.parse_bitcode(bitcode), codegen._engine)


def _resolve(codegen: Any, library: Any) -> None:
    """Fill in the addresses that the code of a library looks up: all of them are its own functions."""
    codegen._rtlinker.scan_defined_symbols(library._shared_module)
    codegen._rtlinker.resolve(codegen._engine)


def typed(compiled: Any, args: tuple[Any, ...]) -> Any:
    """Return a compiled function with the types by which it was asked for, which may be equal to no others (NaN)."""
    if tuple(compiled.signature.args) == args:
        return compiled
    compiled.fndesc.argtypes = args
    return compiled._replace(signature=compiled.signature.replace(args=args))


def again(compiled: Any, context: Any) -> Any:
    """Return a compiled function for another equal one of this process: with the same code, under another address."""
    entry = context.get_executable(compiled.library, compiled.fndesc, compiled.environment)
    return compiled._replace(entry_point=entry, metadata=None)


def _environments(compiled: Any) -> list[Any]:
    """Return the environments that the code refers to, those without a name included."""
    from numba.core.environment import lookup_environment

    names = [v.name for v in compiled.library._final_module.global_variables if v.name.startswith("_ZN08NumbaEnv")]
    return [env for name in names if (env := lookup_environment(name)) is not None]


def _detached(env: Any) -> tuple[str | None, list[Any], str]:
    name = env.globals.get("__name__")
    return home(name) if name else name, list(env.consts), env.env_name


def _attached(state: tuple[str | None, list[Any], str], space: dict[str, Any]) -> Any:
    from numba.core.environment import Environment, _rebuild_env, lookup_environment

    module, consts, name = state
    if module is not None:
        try:
            return _rebuild_env(module, consts, name)
        except ImportError:
            pass  # the name of a module that is none: it was made by exec
    env = lookup_environment(name)
    if env is None:
        env = Environment(space)
        env.consts[:] = consts
        env.env_name = name
        Environment._memo[name] = env
    return env
