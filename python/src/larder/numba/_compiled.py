"""Follow functions that numba compiles, with the options of their compilation."""

from __future__ import annotations

from typing import Any

from . import _kinds, _stencils
from ._errors import Refused
from ._facts import facts_of, placed, variables
from ._functions import MISSING, add_cells, add_compiled_code, add_names
from ._node import Node
from ._options import USUAL, declared, options_of
from ._walker import Walker
from ._written import is_looked_at


def follow_dispatcher(walk: Walker, node: Node) -> None:
    """Append a compiled function: its options, and the function that is compiled."""
    value = node.value
    if value._compiler.py_func is not value.py_func:
        raise Refused(node.path, "numba compiles another function in its place")
    if value.targetoptions.get("parallel"):
        walk.parallel = walk.mixed = True  # loops are separate functions with their own flags
        node.out.append(variables(value.py_func.__code__))  # errors of arrays with different shapes name them
    if value.targetoptions.get("inline", "never") != "never":
        walk.mixed = True  # what it calls has the flags of where it is inlined
    node.out.append(f"{_kinds.home(value.py_func.__module__)}.{value.py_func.__qualname__} ".encode())
    said = walk.options[id(value)]
    known = walk.option_bytes.get(said) if said is not None else None
    if known is None:
        out, edges = len(node.out), len(node.edges)
        _options(walk, node, value)
        known = node.out[out:], node.edges[edges:], node.inherited
        if said is not None:
            walk.option_bytes[said] = known
    else:
        node.out += known[0]
        node.edges += known[1]
        node.inherited = known[2]
    add_compiled_code(walk, node, value.py_func, value.locals)


def _options(walk: Walker, node: Node, value: Any) -> None:
    """Append the options of a function's compilation."""
    walk.inspects_code = walk.inspects_code or is_looked_at(value, value.targetoptions)
    for name, held in options_of(value):
        if name in ("fastmath", "error_model") and held in USUAL[name]:
            node.inherited += (name,)
        if name in USUAL and held in USUAL[name]:
            continue
        node.out.append(name.encode() + b"=")
        if isinstance(held, (set, frozenset)):
            held = sorted(map(str, held))
        walk.value(node, held, f"{node.path} -> option {name}", True)


def follow_vectorized(walk: Walker, node: Node) -> None:
    """Append a vectorized function: its loops and options, and its kernel."""
    complete, loops = _kinds.loops_of(node.value)
    if complete:
        node.out.append(repr(list(map(str, loops))).encode())
    else:  # the first loop that fits is chosen, and one is added if none does
        node.compiled = " ".join(f"{loop};" for loop in loops)
        node.loops = len(loops)
    names = ("__name__", "identity", "reorderable", "signature")
    node.out.append(repr([getattr(node.value, name, None) for name in names]).encode())
    builder = getattr(node.value, "gufunc_builder", None)
    if builder is not None:  # it has the options; for others the kernel has them
        node.out.append(repr((builder.identity, builder.writable_args)).encode())
        settings = {**builder.targetoptions, "locals": declared(builder.targetoptions.get("locals"))}
        walk.value(node, settings, f"{node.path} -> options", True)
    walk.refer(node, _kinds.kernel_of(node.value), node.path)


def follow_kernel(walk: Walker, node: Node) -> None:
    """Append the function that is compiled for each element, or row, of a vectorized function."""
    walk.mixed = True  # it has its own flags
    inner = node.value
    node.out.append(f"kernel {_kinds.home(inner.py_func.__module__)}.{inner.py_func.__qualname__} ".encode())
    walk.value(node, dict(inner.targetoptions), f"{node.path} -> options", True)
    walk.value(node, declared(inner.locals), f"{node.path} -> locals", True)
    add_compiled_code(walk, node, inner.py_func, inner.locals)


def follow_callback(walk: Walker, node: Node) -> None:
    """Append the function from which a callback for C is compiled."""
    walk.mixed = True  # it has its own flags
    made = node.value._compiler
    if made.targetoptions.get("parallel"):
        walk.parallel = True
        node.out.append(variables(made.py_func.__code__))
    walk.inspects_code = walk.inspects_code or is_looked_at(node.value, made.targetoptions)
    node.out.append(f"callback {_kinds.home(made.py_func.__module__)}.{made.py_func.__qualname__} ".encode())
    settings = {**made.targetoptions, "locals": declared(made.locals), "pipeline": made.pipeline_class}
    walk.value(node, settings, f"{node.path} -> options", True)
    add_compiled_code(walk, node, made.py_func, made.locals)


def follow_stencil(walk: Walker, node: Node) -> None:
    """Append the kernel of a stencil, whose names keep the meaning they had when it was created."""
    walk.mixed = True  # it is compiled with its own flags, unless it is part of a parallel loop
    walk.value(node, _stencils.said_of(node.value), node.path, False)
    kernel = node.value.kernel_ir
    facts = facts_of(kernel.func_id.code)
    if node.flags is not None and node.flags.flags.debuginfo:
        node.out.append(placed(facts.code))
    node.out += (facts.unnamed, b"out" if "out" in facts.code.co_varnames else b"-")  # a name that it must not have
    walk.names |= facts.names
    variables, found = _stencils.names_in(kernel)
    cells = {name: found.get(name, MISSING) for name in facts.code.co_freevars}
    add_cells(walk, node, cells, False)
    add_names(walk, node, variables, facts, cells, False)


def follow_intrinsic(walk: Walker, node: Node) -> None:
    """Append the function that generates the code of an intrinsic."""
    value = node.value
    node.out.append(f"{value._name} {value._prefer_literal} ".encode())
    walk.value(node, dict(value._ctor_kwargs), node.path, True)
    walk.value(node, value._defn, node.path, True)
