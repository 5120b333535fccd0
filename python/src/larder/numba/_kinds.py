"""Classify values of numba, NumPy and C."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import sys
import types as pytypes
from typing import Any

from .._identity.library import COMPILED, shown_module

_FUNCTION = ctypes.CFUNCTYPE(None).__mro__[1]  # the base of all functions of ctypes, which has no public name

_BUILTIN = (
    pytypes.BuiltinFunctionType,
    pytypes.MethodDescriptorType,
    pytypes.WrapperDescriptorType,
    pytypes.MethodWrapperType,
    pytypes.ClassMethodDescriptorType,
    pytypes.GetSetDescriptorType,
    pytypes.MemberDescriptorType,
    functools._lru_cache_wrapper,
)


def is_builtin(value: Any) -> bool:
    """Report whether a value is a function that is compiled in C, or a ufunc."""
    if is_ufunc(value) and not is_numpys(value):
        return False
    return isinstance(value, _BUILTIN) or type(value).__name__ in COMPILED


def cached(value: Any) -> Any:
    """Return the function behind a cache of results such as lru_cache, or else the value."""
    wrapped = getattr(value, "__wrapped__", None) if isinstance(value, functools._lru_cache_wrapper) else None
    return wrapped if isinstance(wrapped, pytypes.FunctionType) else value


def is_array(value: Any) -> bool:
    """Report whether a value is an array of NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_ufunc(value: Any) -> bool:
    """Report whether a value is a ufunc."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ufunc)


def is_numpys(value: Any) -> bool:
    """Report whether a ufunc is the one that NumPy or SciPy has under its name, and not a generated one."""
    places = [sys.modules.get(name) for name in ("numpy", "scipy.special")]
    return any(place is not None and getattr(place, value.__name__, None) is value for place in places)


UNITS = ("dispatcher", "kernel", "callback")
"""The kinds that numba compiles separately, and for which it asks a cache."""

_WAYS: dict[type, str | None] = {}


def kind_of(value: Any) -> str | None:
    """Return what a value is to numba: a type, a compiled function, an intrinsic, or why it has no key."""
    cls = type(value)
    if cls not in _WAYS:
        _WAYS[cls] = _kind_of(cls)
    return _WAYS[cls]


def _kind_of(cls: type) -> str | None:
    from numba.core import dispatcher, types
    from numba.core.ccallback import CFunc
    from numba.core.extending import _Intrinsic
    from numba.core.typing.templates import Signature
    from numba.core.withcontexts import WithContext
    from numba.np.ufunc.dufunc import DUFunc
    from numba.np.ufunc.gufunc import GUFunc
    from numba.np.ufunc.ufuncbuilder import UFuncDispatcher
    from numba.stencils.stencil import StencilFunc

    if issubclass(cls, (types.ExternalFunction, types.ExternalFunctionPointer)):
        return "a function that is identified by the address or the symbol alone"
    if issubclass(cls, types.Type):
        return "type"
    if issubclass(cls, Signature):
        return "signature"
    if issubclass(cls, dispatcher.LiftedCode):
        return "lifted code"
    if issubclass(cls, dispatcher.Dispatcher):
        return "dispatcher"
    if issubclass(cls, (DUFunc, GUFunc)):
        return "vectorized"
    if issubclass(cls, UFuncDispatcher):
        return "kernel"
    if issubclass(cls, _Intrinsic):
        return "intrinsic"
    if issubclass(cls, CFunc):
        return "callback"
    if issubclass(cls, WithContext):
        return "object mode, which runs code that Larder cannot follow"
    if issubclass(cls, StencilFunc):
        return "stencil"
    return None


def python_of(value: Any) -> Any:
    """Return the Python function of a value of numba, or else the value itself."""
    way = kind_of(value)
    if way == "stencil":
        return value.kernel_ir.func_id.func
    if way == "callback":
        return value._pyfunc
    return getattr(value, "py_func", value)


def loops_of(value: Any) -> tuple[bool, list[Any]]:
    """Return whether a vectorized function gets no more loops, and the signatures of its loops in order."""
    builder = getattr(value, "gufunc_builder", None)
    if builder is not None:
        return value._frozen or not value.is_dynamic, list(builder._sigs)
    overloads = getattr(getattr(value, "_dispatcher", None), "overloads", {})
    return bool(getattr(value, "_frozen", False)), [compiled.signature for compiled in overloads.values()]


def is_scalar(value: Any) -> bool:
    """Report whether a value is a number of NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def home(module: str | None) -> str:
    """Return the name of a module in keys, which for the script is the same in spawned processes."""
    return "__main__" if module == "__mp_main__" else module or ""


def named(dispatcher: Any) -> str:
    """Return the name of a function that numba compiles, with its module."""
    inner = python_of(dispatcher)
    return f"{shown_module(home(inner.__module__))}.{inner.__qualname__}".lstrip(".")


def kernel_of(value: Any) -> Any:
    """Return the object that holds the function and the options of a vectorized function."""
    inner = getattr(value, "_dispatcher", None) or getattr(value, "gufunc_builder", None) or value
    return getattr(inner, "nb_func", inner)


def pointer(value: Any) -> str:
    """Return a description of a value that holds an address, or the empty string."""
    cls = type(value)
    if isinstance(value, (ctypes._SimpleCData, ctypes._Pointer, _FUNCTION, ctypes.Structure)):
        return f"a function pointer of ctypes ({cls.__name__})" if callable(value) else "a value of ctypes"
    if cls.__module__.startswith(("_cffi_backend", "cffi")):
        return "a value of cffi"
    if cls.__name__ == "PyCapsule":
        return "a capsule"
    if any("__wrapper_address__" in vars(base) for base in cls.__mro__):
        return "a wrapper of an address"
    return ""


def is_models(value: Any) -> bool:
    """Report whether a value is numba's own table of data models."""
    from numba.core.datamodel import default_manager

    return value is default_manager


def setting(value: Any) -> str:
    """Return a description of a value that is state of the whole process, or the empty string."""
    if isinstance(value, (logging.Logger, logging.Handler)):
        return "a logger, whose level is a setting of the whole process,"
    return "the environment" if isinstance(value, type(os.environ)) else ""


def is_stencils(value: Any) -> bool:
    """Report whether a function is the one that creates stencils."""
    from numba.stencils.stencil import stencil

    return value is stencil


def is_jitclass(cls: type) -> bool:
    """Report whether a class is one of jitclass."""
    from numba.experimental.jitclass.base import JitClassType

    return isinstance(cls, JitClassType)
