"""Verify the internals of numba that Larder relies on, by the digests of their sources.

numba promises nothing about these, so each is verified at installation. An unknown source is
refused by name, and numba's own cache stays in use.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
import re
import sys
from hashlib import sha256
from types import FunctionType
from typing import Any

from ._errors import NumbaError
from ._pinned import PINNED

RELIED_ON = (
    "cloudpickle.cloudpickle:_should_pickle_by_reference",
    "core.base:BaseContext.compile_subroutine",
    "core.base:BaseContext.install_registry",
    "core.base:BaseContext.refresh",
    "core.bytecode:FunctionIdentity.from_function",
    "core.caching:CompileResultCacheImpl.check_cachable",
    "core.caching:NullCache",
    "core.caching:_Cache",
    "core.ccallback:CFunc",
    "core.codegen:CPUCodeLibrary._unserialize",
    "core.codegen:CPUCodeLibrary.get_defined_functions",
    "core.codegen:CPUCodeLibrary.serialize_using_object_code",
    "core.codegen:CPUCodegen._scan_and_fix_unresolved_refs",
    "core.codegen:JitEngine",
    "core.codegen:RuntimeLinker",
    "core.compiler:CompileResult",
    "core.compiler:CompilerBase.__init__",
    "core.cpu:CPUContext.load_additional_registries",
    "core.cpu:CPUTargetOptions",
    "core.dispatcher:Dispatcher.__init__",
    "core.dispatcher:Dispatcher.compile",
    "core.dispatcher:Dispatcher.enable_caching",
    "core.dispatcher:_DispatcherBase.disable_compile",
    "core.dispatcher:_FunctionCompiler",
    "core.environment:Environment",
    "core.environment:_rebuild_env",
    "core.event:Event",
    "core.event:broadcast",
    "core.event:trigger_event",
    "core.extending:_Intrinsic",
    "core.funcdesc:FunctionDescriptor",
    "core.imputils:Registry",
    "core.pythonapi:PythonAPI.serialize_object",
    "core.pythonapi:PythonAPI.serialize_uncached",
    "core.rewrites.registry:RewriteRegistry",
    "core.serialize:NumbaPickler",
    "core.serialize:dumps",
    "core.targetconfig:ConfigStack",
    "core.targetconfig:TargetConfig.inherit_if_not_set",
    "core.typeconv.rules:_init_casting_rules",
    "core.typeconv.typeconv:TypeManager",
    "core.types.abstract:Type",
    "core.types.misc:Omitted",
    "core.types.misc:SliceLiteral",
    "core.typing.context:BaseContext._load_builtins",
    "core.typing.context:BaseContext.install_possible_conversions",
    "core.typing.context:BaseContext.install_registry",
    "core.typing.context:BaseContext.refresh",
    "core.typing.context:Context.load_additional_registries",
    "core.typing.templates:Registry",
    "core.typing.templates:_IntrinsicTemplate",
    "core.typing.templates:_OverloadAttributeTemplate",
    "core.typing.templates:_OverloadFunctionTemplate",
    "core.typing.templates:_OverloadMethodTemplate",
    "np.ufunc.dufunc:DUFunc._compile_for_argtys",
    "np.ufunc.ufuncbuilder:GUFuncBuilder",
    "np.ufunc.ufuncbuilder:UFuncDispatcher",
    "np.ufunc.ufuncbuilder:UFuncTargetOptions",
    "np.ufunc.ufuncbuilder:_build_element_wise_ufunc_wrapper",
    "np.ufunc.wrappers:_GufuncWrapper",
    "np.ufunc.wrappers:build_ufunc_wrapper",
    "stencils.stencil:StencilFunc",
    "stencils.stencil:StencilFuncLowerer",
    "stencils.stencil:_stencil",
)
"""Modules below numba, and the names used in them."""


def digest_of(name: str) -> str:
    """Return the digest of the source of one name, or why there is none."""
    try:
        return _digest(inspect.getsource(_found(name)))
    except (ImportError, KeyError, OSError, TypeError) as error:
        return f"none ({type(error).__name__})"


def _found(name: str) -> Any:
    module, _, path = name.partition(":")
    found = importlib.import_module(f"numba.{module}")
    for part in path.split("."):
        found = vars(found)[part]
    return getattr(found, "__func__", found)


def _digest(source: str) -> str:
    return sha256(source.encode()).hexdigest()[:32]


def _is_known(name: str) -> bool:
    """Report whether a source is known: by its lines as found by indentation, or else by those of `inspect`."""
    try:
        if _digest(block(_found(name))) in PINNED.get(name, ()):
            return True
    except (ImportError, KeyError, OSError, TypeError):
        pass
    return digest_of(name) in PINNED.get(name, ())


_BEGINS = re.compile(r"\s*(async def|def|class)\b")


def block(value: Any) -> str:
    """Return the lines of a function or a class by their indentation: its source, or less.

    `inspect` would parse the file again for each class.
    """
    value = inspect.unwrap(value)
    if isinstance(value, FunctionType):
        file, at = value.__code__.co_filename, value.__code__.co_firstlineno - 1
        lines = linecache.getlines(file)
    elif isinstance(value, type) and "." not in value.__qualname__:
        lines = linecache.getlines(str(getattr(sys.modules.get(value.__module__), "__file__", "")))
        begins = re.compile(rf"class {value.__name__}\b")
        at = next((i for i, line in enumerate(lines) if begins.match(line)), 0)
        while at > 0 and lines[at - 1].startswith("@"):
            at -= 1
    else:
        raise TypeError
    return "".join(lines[at : _end(lines, at)])


def _end(lines: list[str], at: int) -> int:
    """Return the end of a block that begins at a line: after the last line with more indentation."""
    margin, last, begun = _margin(lines[at]) if at < len(lines) else 0, at, False
    for i in range(at, len(lines)):
        text = lines[i].strip()
        if not begun:
            begun, last = _BEGINS.match(lines[i]) is not None, i + 1
        elif text and _margin(lines[i]) > margin:
            last = i + 1
        elif text and not text.startswith("#"):
            break
    return last


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def check(version: str) -> None:
    """Raise NumbaError if this numba is not supported, with the differences."""
    other = [name for name in RELIED_ON if not _is_known(name)]
    if other:
        raise NumbaError(
            f"numba {version} is unknown to this version of larder, so its compiled functions are not cached and "
            f"numba's own cache is used; these parts of numba differ: {', '.join(other)}"
        )
