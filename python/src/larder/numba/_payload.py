"""Serialize numba's compiled functions, and load them.

The format is numba's own, with three additions. Environments of functions whose globals belong
to no module, as with exec, get the globals of the loaded function. Classes that no process can
import are listed. Addresses of functions that call each other in a circle are filled in, which
numba does only where it compiled them.
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
"""Loaded environments. Code holds their addresses, and equal functions share code."""


def check(compiled: Any, walk: Walk) -> None:
    """Raise Refused if another process cannot load numba's compiled function."""

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
    """Return the path to the function that has one of some symbols."""
    for node in walk.nodes:
        if node.kind == "compiled function":
            for compiled in node.value.overloads.values():
                if compiled.fndesc.mangled_name in symbols:
                    return node.path
    return walk.nodes[1].path


def unresolved(library: Any) -> list[str]:
    """Return the functions whose addresses code of a circle looks up, as they did not exist at its compilation."""
    names = (variable.name for variable in library._final_module.global_variables)
    return [name.removeprefix(_UNRESOLVED) for name in names if name.startswith(_UNRESOLVED)]


def dumped(compiled: Any, walk: Walk, within: list[Compiled], loops: list[Any]) -> tuple[dict[str, int], bytes]:
    """Return a compiled function as bytes, with its classes by their numbers in a walk, or raise Refused.

    `within` lists the functions compiled during its compilation, which a loading process counts as
    compiled. `loops` are the loops that vectorized functions got then, and get where it is loaded.
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
    """A compiled function loaded from its bytes, with the other arguments that `dumped` received."""

    compiled: Any
    classes: dict[str, int]
    within: list[Compiled]
    loops: list[Any]


def loaded(data: bytes, context: Any, space: dict[str, Any], walk: Walk) -> Loaded:
    """Return a compiled function from verified bytes, with the classes of a walk."""
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
    """Declare the addresses that the code of a library looks up, before it is linked."""
    import llvmlite.binding as llvm

    _, _, (_, bitcode) = library
    codegen._rtlinker.scan_unresolved_symbols(llvm.parse_bitcode(bitcode), codegen._engine)


def _resolve(codegen: Any, library: Any) -> None:
    """Fill in the addresses that the code of a library looks up: all of them are its own functions."""
    codegen._rtlinker.scan_defined_symbols(library._shared_module)
    codegen._rtlinker.resolve(codegen._engine)


def typed(compiled: Any, args: tuple[Any, ...]) -> Any:
    """Return a compiled function with the requested types, which may equal no others (NaN)."""
    if tuple(compiled.signature.args) == args:
        return compiled
    compiled.fndesc.argtypes = args
    return compiled._replace(signature=compiled.signature.replace(args=args))


def again(compiled: Any, context: Any) -> Any:
    """Return a compiled function for an equal one of this process: the same code under another address."""
    entry = context.get_executable(compiled.library, compiled.fndesc, compiled.environment)
    return compiled._replace(entry_point=entry, metadata=None)


def _environments(compiled: Any) -> list[Any]:
    """Return the environments that the code refers to, including those without a name."""
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
            pass  # its module's name names no module: exec created it
    env = lookup_environment(name)
    if env is None:
        env = Environment(space)
        env.consts[:] = consts
        env.env_name = name
        Environment._memo[name] = env
    return env
