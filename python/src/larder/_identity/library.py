"""Find the full names of library objects, and their owners."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
import types
from typing import Any

from . import distribution
from .immutable import fixed
from .wrapper import Bound, Wrapper

_HEAP = 1 << 9

COMPILED = frozenset(["cython_function_or_method", "fused_cython_function", "_ArrayFunctionDispatcher", "ufunc"])
"""Names of the types that libraries use for their functions, whose modules identify them."""

_FUNCTIONS = frozenset(
    (
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.MethodWrapperType,
        types.ClassMethodDescriptorType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        functools._lru_cache_wrapper,
        staticmethod,
        classmethod,
        property,
    )
)

CURES = 'or set version="1" and change it whenever results change'

# The class in which torch holds its functions, under their own names.
_TORCH = "_VariableFunctionsClass"

# Modules whose objects NumPy gives no public name elsewhere.
_PRIVATE = re.compile(r"^numpy\.random\.(_\w+|mtrand|bit_generator)")


def library_name(value: Any) -> tuple[str, distribution.Owner | None]:
    """Return the full name of a function or a class, and its owner: None is the user."""
    if isinstance(value, type):
        return _of_class(value)
    if isinstance(value, types.FunctionType):
        module = value.__globals__.get("__name__", "")
        return f"{module}.{value.__code__.co_qualname}", distribution.of_module(module)
    holder = getattr(value, "__objclass__", None)
    if isinstance(holder, type):
        name, owner = _of_class(holder)
        return f"{name}.{getattr(value, '__name__', '')}", owner
    if isinstance(value, types.MethodWrapperType):
        name, owner = _of_class(type(value.__self__))
        return f"{name}.{value.__name__}", owner
    own = getattr(value, "__self__", None)
    if isinstance(value, types.BuiltinFunctionType) and isinstance(own, type):
        name, owner = _of_class(own)
        return f"{'torch' if name.endswith(_TORCH) else name}.{value.__name__}", owner
    if isinstance(value, types.BuiltinFunctionType):
        module = value.__module__ or (own.__name__ if isinstance(own, types.ModuleType) else "")
        if not module and own is not None:
            name, owner = _of_class(type(own))
            return f"{name}.{value.__name__}", owner
        return (
            f"{_PRIVATE.sub('numpy.random', module)}.{value.__qualname__.removeprefix(_TORCH + '.')}",
            distribution.of_module(module),
        )
    if is_compiled(value):
        if made := made_of(value):
            return library_name(made[0]) if all(map(is_code, made)) else (value.__name__, None)
        module = getattr(value, "__module__", None) or type(value).__module__
        return f"{_PRIVATE.sub('numpy.random', module)}.{getattr(value, '__name__', '?')}", distribution.of_module(
            module
        )
    return getattr(value, "__qualname__", type(value).__qualname__), None


def is_bound(value: Any) -> bool:
    """Report whether a value is a method bound to a value, and not a function."""
    if isinstance(value, (types.MethodType, Bound)):
        return True
    if not isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType)):
        return False
    return value.__self__ is not None and not isinstance(value.__self__, (type, types.ModuleType))


def is_compiled(value: Any) -> bool:
    """Report whether a value is a function of a library's own type."""
    return type(value).__name__ in COMPILED and type(value).__module__.partition(".")[0] not in ("__main__",)


def made_of(value: Any) -> list[Any]:
    """Return the functions from which a ufunc was created at run time (`numpy.frompyfunc`).

    Only the garbage collector reveals these. Other ufuncs refer only to their attributes and an identity.
    """
    if type(value).__name__ != "ufunc":
        return []
    return [one for one in gc.get_referents(value) if not isinstance(one, (int, float, complex, dict))]


def patched_methods(cls: type) -> list[tuple[str, types.FunctionType]]:
    """Return the methods that the user has put into a class of a library."""
    found = []
    for base in cls.__mro__:
        if base.__flags__ & _HEAP:
            for name, held in sorted(vars(base).items()):
                held = getattr(held, "__func__", held)
                if isinstance(held, types.FunctionType) and _is_patch(held, base):
                    found.append((name, held))
    return found


def _is_patch(function: types.FunctionType, cls: type) -> bool:
    name = function.__globals__.get("__name__", "")
    if name == cls.__module__ or function.__code__.co_filename.startswith("<"):
        return False
    return distribution.of_module(name) is None


def _of_class(cls: type) -> tuple[str, distribution.Owner | None]:
    module = cls.__module__ if isinstance(cls.__module__, str) else ""
    name = f"{_PRIVATE.sub('numpy.random', module)}.{cls.__qualname__}"
    owner = distribution.of_module(module)
    if owner is None and not cls.__flags__ & _HEAP:
        return name, distribution.PYTHON if module in ("builtins", "types") or "." not in module else owner
    if owner is not None and cls.__flags__ & _HEAP and not is_in_module(cls, module):
        return name, None  # a class can claim to belong to a library
    return name, owner


def is_in_module(cls: Any, module: str) -> bool:
    """Report whether a module has a class or a function by its name."""
    found: Any = sys.modules.get(module)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls


_CHANGING = (list, dict, set, bytearray)
_PLAIN = (str, bytes, int, float, complex, list, dict, set, tuple, frozenset, bytearray)


def is_of_library(value: Any, owner: distribution.Owner | None) -> bool:
    """Report whether a value is an object of a library, of one of the library's own classes."""
    if owner is None or fixed(value) or is_bound(value):
        return False
    if isinstance(value, (type, types.FunctionType, types.ModuleType, types.BuiltinFunctionType)):
        return False
    if isinstance(value, _CHANGING) or type(value) in _PLAIN or type(value).__name__ == "ndarray":
        return False
    cls = type(value)
    if not cls.__flags__ & _HEAP and cls.__module__.partition(".")[0] not in sys.modules:
        return True  # compiled, in a part of the library without its own name
    return _of_class(cls)[1] == owner and cls.__module__ != "builtins"


def is_model(cls: type) -> bool:
    """Report whether objects of a class are modules of torch, which are created and then called."""
    module = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    return isinstance(module, type) and issubclass(cls, module)


def is_code(value: Any) -> bool:
    """Report whether a value is a function or a class of exactly a known type."""
    return type(value) in _FUNCTIONS or isinstance(value, (type, Wrapper)) or is_compiled(value)


def shown_module(name: str) -> str:
    """Return the displayed name of a module; the running script is named by its file."""
    if name != "__main__":
        return name
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.splitext(os.path.basename(path))[0] if isinstance(path, str) else "__main__"
