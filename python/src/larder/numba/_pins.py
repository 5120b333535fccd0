"""What is relied on inside numba, and by which sources it is known.

numba promises nothing about these, so each is looked at when it is installed: code that
is not known here is refused by its name, and numba's own cache stays in force.
"""

from __future__ import annotations

import importlib
import inspect
from hashlib import sha256

from ._errors import NumbaError
from ._pinned import PINNED

RELIED_ON = (
    "cloudpickle.cloudpickle:_should_pickle_by_reference",
    "core.bytecode:FunctionIdentity.from_function",
    "core.caching:CompileResultCacheImpl.check_cachable",
    "core.caching:NullCache",
    "core.caching:_Cache",
    "core.ccallback:CFunc.__init__",
    "core.ccallback:CFunc.compile",
    "core.ccallback:CFunc.enable_caching",
    "core.codegen:CPUCodeLibrary._unserialize",
    "core.codegen:CPUCodeLibrary.serialize_using_object_code",
    "core.compiler:CompileResult",
    "core.dispatcher:Dispatcher.__init__",
    "core.dispatcher:Dispatcher.compile",
    "core.dispatcher:Dispatcher.enable_caching",
    "core.dispatcher:_FunctionCompiler",
    "core.environment:Environment",
    "core.environment:_rebuild_env",
    "core.event:Event",
    "core.event:broadcast",
    "core.event:trigger_event",
    "core.extending:_Intrinsic",
    "core.funcdesc:FunctionDescriptor",
    "core.imputils:Registry",
    "core.pythonapi:PythonAPI.serialize_uncached",
    "core.rewrites.registry:RewriteRegistry",
    "core.serialize:NumbaPickler",
    "core.serialize:dumps",
    "core.targetconfig:ConfigStack",
    "core.typeconv.rules:_init_casting_rules",
    "core.typeconv.typeconv:TypeManager",
    "core.typing.context:BaseContext.install_possible_conversions",
    "core.typing.templates:Registry",
    "core.typing.templates:_OverloadAttributeTemplate",
    "core.typing.templates:_OverloadFunctionTemplate",
    "core.typing.templates:_IntrinsicTemplate",
    "np.ufunc.dufunc:DUFunc._compile_for_argtys",
    "np.ufunc.ufuncbuilder:UFuncDispatcher",
    "np.ufunc.wrappers:_GufuncWrapper.__init__",
)
"""Modules below numba, and what is used of them."""


def digest_of(name: str) -> str:
    """Return the digest of the source of one thing, or why there is none."""
    module, _, path = name.partition(":")
    try:
        found = importlib.import_module(f"numba.{module}")
        for part in path.split("."):
            found = vars(found)[part]
        return sha256(inspect.getsource(getattr(found, "__func__", found)).encode()).hexdigest()[:32]
    except (ImportError, KeyError, OSError, TypeError) as error:
        return f"none ({type(error).__name__})"


def check(version: str) -> None:
    """Raise NumbaError if numba is not one that is known here, with what of it differs."""
    other = [name for name in RELIED_ON if digest_of(name) not in PINNED.get(name, ())]
    if other:
        raise NumbaError(
            f"numba {version} is not known to this version of larder, so its compiled functions are not kept and "
            f"its own cache stays in force; of what is relied on, these differ: {', '.join(other)}"
        )
