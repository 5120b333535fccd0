"""Loops around kernels: what a vectorized function runs over arrays.

numba compiles one for each kernel, with the kernel in it: it is known by the kernel's key
and by how the kernel is called.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

from .. import _calls
from . import _artifact, _payload

Build = Callable[[], Any]
"""Makes the library of a loop."""


@dataclass(slots=True, frozen=True)
class Kernel:
    """A kernel that is kept, of which this process has no loop yet."""

    function: _calls.Function
    key: bytes
    about: list[dict[str, str]]


class Loops:
    """The loops around a process's kernels. Used by one thread at a time: who has the compiler's lock."""

    def __init__(self, secret: bytes | None) -> None:
        self._secret = secret
        self._kernels: WeakKeyDictionary[Any, Kernel] = WeakKeyDictionary()
        """By the libraries of the kernels' code."""

    def expect(self, compiled: Any, kernel: Kernel) -> None:
        """Note that a kernel is kept, so that its loop may be."""
        self._kernels[compiled.library] = kernel

    def library(self, client: _calls.Client, compiled: Any, how: str, within: int, build: Build) -> Any:
        """Return the library of the loop around a kernel that is called in some way: kept, or else built and kept.

        `within` is the token of the computation that needs it, if one does.
        """
        kernel = self._kernels.pop(compiled.library, None)
        if kernel is None:
            return build()
        key = sha256(kernel.key + f" loop {how} {compiled.fndesc.mangled_name}".encode()).digest()
        flags = 0
        while True:
            try:
                found = client.claim(kernel.function, key, within, flags)
            except Exception:  # the server cannot be had, as the kernel's row says
                return build()
            if isinstance(found, _calls.Claim):
                return self._built(client, found, key, kernel, build)
            if found.encoded is None:
                return build()
            try:
                return self._loaded(key, bytes(found.encoded), compiled.target_context)
            except _artifact.Foreign:
                if flags:
                    return build()
                flags = _calls.AGAIN  # what is there is of no use to anybody

    def _built(self, client: _calls.Client, claim: _calls.Claim, key: bytes, kernel: Kernel, build: Build) -> Any:
        made = _calls.Made(None, "it could not be compiled")
        try:
            library = build()
            made = _calls.Made(None, "it has addresses in it")
            if not library.has_dynamic_globals and not _payload.unresolved(library):
                data = pickle.dumps(library.serialize_using_object_code())
                made = _calls.Made(_artifact.sealed(key, data, self._secret), about=lambda: kernel.about)
            return library
        finally:
            with suppress(Exception):  # then nobody else has it
                client.deliver(claim, made)

    def _loaded(self, key: bytes, kept: bytes, context: Any) -> Any:
        data = _artifact.opened(key, kept, self._secret)
        try:
            return context.codegen().unserialize_library(pickle.loads(data))
        except Exception as error:
            raise _artifact.Foreign(f"it cannot be loaded: {type(error).__name__}: {error}") from error


def kept_apart(loops: Callable[..., Any], wrappers: Any) -> tuple[Any, Any]:
    """Return how numba compiles loops of rows and of elements: `loops` is asked for the library of each."""
    usual_rows, usual_elements = wrappers._GufuncWrapper._compile_wrapper, wrappers.build_ufunc_wrapper

    def _compile_wrapper(self: Any, wrapper_name: str) -> Any:
        def build() -> Any:
            return usual_rows(self, wrapper_name)

        if self.is_parfors:
            return build()
        return loops(self.cres, f"rows {self.sin} {self.sout} {wrapper_name}", build)

    def build_ufunc_wrapper(library: Any, context: Any, fname: str, signature: Any, objmode: bool, cres: Any) -> Any:
        def build() -> Any:
            made = usual_elements(library, context, fname, signature, objmode, cres).library
            made.enable_object_caching()
            return made

        made = loops(cres, f"elements {signature} {fname}", build)
        return wrappers._wrapper_info(library=made, env=cres.environment, name=f"__ufunc__.{fname}")

    return _compile_wrapper, build_ufunc_wrapper
