"""Cache the loops in which vectorized functions call their kernels on arrays.

numba compiles a loop for each kernel, with the kernel in it. Its key is that of the kernel with
the way in which the kernel is called.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaNotImplementedError

from .._client.client import Client
from .._client.messages import REFRESH, Claim, Computed, Function
from . import _artifact, _payload
from ._errors import Unfit
from ._history import Added
from ._kinds import kernel_of, loops_of
from ._options import inheriting
from ._walk import Walk

Build = Callable[[], Any]
"""Builds the library of a loop."""


@dataclass(slots=True, frozen=True)
class Kernel:
    """A cached kernel for which this process has no loop yet."""

    function: Function
    key: bytes
    about: list[dict[str, str]]


class Loops:
    """The loops around a process's kernels, used only by the thread that holds the compiler's lock."""

    def __init__(self, secret: bytes | None) -> None:
        self._secret = secret
        self._kernels: WeakKeyDictionary[Any, Kernel] = WeakKeyDictionary()
        """By the libraries of the kernels' code."""
        self._made: dict[bytes, Any] = {}
        """Libraries by key: equal functions have one kernel, whose loop has one name in the process."""

    def follow(self, before: Loops) -> None:
        """Take over the loops of this process."""
        self._kernels, self._made = before._kernels, before._made

    def expect(self, compiled: Any, kernel: Kernel) -> None:
        """Record that a kernel is cached, so that its loop may be."""
        self._kernels[compiled.library] = kernel

    def library(self, client: Client | None, compiled: Any, how: str, within: int, build: Build) -> Any:
        """Return the library of the loop around a kernel that is called in some way: cached, or else built and cached.

        `client` is None if there is no server; `within` is the token of the computation that needs it, if any.
        """
        kernel = self._kernels.pop(compiled.library, None)
        if kernel is None:
            return build()
        key = sha256(kernel.key + f" loop {how} {compiled.fndesc.mangled_name}".encode()).digest()
        if key not in self._made:
            got = build() if client is None else self._got(client, key, kernel, compiled.target_context, within, build)
            self._made[key] = got
        return self._made[key]

    def _got(self, client: Client, key: bytes, kernel: Kernel, context: Any, within: int, build: Build) -> Any:
        flags = 0
        while True:
            try:
                found = client.claim(kernel.function, key, within, flags)
            except Exception:  # there is no server, which the kernel's row reports
                return build()
            if isinstance(found, Claim):
                return self._built(client, found, key, kernel, build)
            if found.encoded is None:
                return build()
            try:
                return self._loaded(key, bytes(found.encoded), context)
            except _artifact.Foreign:
                if flags:
                    return build()
                flags = REFRESH  # the stored bytes are of no use to any process

    def _built(self, client: Client, claim: Claim, key: bytes, kernel: Kernel, build: Build) -> Any:
        made = Computed(None, "it could not be compiled")
        try:
            library = build()
            made = Computed(None, "it has addresses in it")
            if not library.has_dynamic_globals and not _payload.unresolved(library):
                data = pickle.dumps(library.serialize_using_object_code())
                made = Computed(_artifact.sealed(key, data, self._secret), about=lambda: kernel.about)
            return library
        finally:
            with suppress(Exception):  # then no other process has it
                client.deliver(claim, made)

    def _loaded(self, key: bytes, cached: bytes, context: Any) -> Any:
        data = _artifact.opened(key, cached, self._secret)
        try:
            return context.codegen().unserialize_library(pickle.loads(data))
        except Exception as error:
            raise _artifact.Foreign(f"it cannot be loaded: {type(error).__name__}: {error}") from error


def add_again(added: Added, walk: Walk) -> None:
    """Add a loop to a vectorized function that it got where a caller of it was compiled.

    Raise Unfit if the loop cannot be created, as the function would then be called in another way.
    """
    number, signature, flags, _ = added
    node = walk.nodes[number]
    if _has(node.value, signature):
        return
    try:
        with inheriting(flags):
            _add(node.value, signature)
    except Exception as error:
        if isinstance(error, NumbaNotImplementedError) and _has(node.value, signature):
            return  # for types unknown to NumPy, such as optional ones, compiled code calls a compiled kernel
        why = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise Unfit(f"{node.path}: its loop for {signature} cannot be compiled again: {why}") from error


def keep(kernel: Any) -> None:
    """Enable the cache of a kernel, as a cached caller adds it to its vectorized function."""
    if isinstance(kernel.cache, NullCache):
        kernel.enable_caching()


def _has(function: Any, signature: Any) -> bool:
    return any(signature.args == other.args for other in loops_of(function)[1])


def _add(function: Any, signature: Any) -> None:
    keep(kernel_of(function))
    builder = getattr(function, "gufunc_builder", None)
    if builder is not None:
        builder.add(signature)
    else:
        function._compile_for_argtys(tuple(signature.args))


def kept_apart(loops: Callable[..., Any], wrappers: Any) -> tuple[Any, Any]:
    """Return numba's compilers of loops of rows and of elements, which request each library from `loops`."""
    usual_rows, usual_elements = wrappers._GufuncWrapper.build, wrappers.build_ufunc_wrapper

    @global_compiler_lock  # type: ignore[untyped-decorator]
    def build_rows(self: Any) -> Any:
        if self.is_parfors:
            return usual_rows(self)
        layout = f"{self.sin} {self.sout}"
        # numba names it by the kernel alone, so those of other layouts would be linked in its place.
        name = f"__gufunc__.{sha256(layout.encode()).hexdigest()[:16]}.{self.fndesc.mangled_name}"
        library = loops(self.cres, f"rows {layout}", lambda: self._compile_wrapper(name))
        return wrappers._wrapper_info(library=library, env=self.env, name=name)

    def build_ufunc_wrapper(library: Any, context: Any, fname: str, signature: Any, objmode: bool, cres: Any) -> Any:
        def build() -> Any:
            made = usual_elements(library, context, fname, signature, objmode, cres).library
            made.enable_object_caching()
            return made

        made = loops(cres, f"elements {signature} {fname}", build)
        return wrappers._wrapper_info(library=made, env=cres.environment, name=f"__ufunc__.{fname}")

    return build_rows, build_ufunc_wrapper
