"""Prepare numba's contexts before compiled code is looked up and loaded.

numba refreshes its contexts before it asks a cache. It imports its modules and those of
extensions, starts its runtime, and creates an object for each of thousands of templates. Only
compilation needs these objects, and numba refreshes the contexts again before it. So this
module does everything else, once, and lists the registries that numba would install.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class _Listed:
    """A context that only records which registries it would install."""

    def __init__(self) -> None:
        self.registries: list[Any] = []

    def install_registry(self, registry: Any) -> None:
        self.registries.append(registry)


def begin(context: Any) -> None:
    """Create everything that loading code for a context needs."""
    from numba.core.cpu import CPUContext

    if type(context) is CPUContext:
        _usual()
    else:
        context.refresh()


def registries() -> tuple[list[Any], list[Any]]:
    """Return the registries of templates and those of lowering, whether installed already or not."""
    from numba.core.registry import cpu_target

    templates, lowering = _usual()
    return (
        _once([*templates, *cpu_target.typing_context._registries]),
        _once([*lowering, *cpu_target.target_context._registries]),
    )


def _once(registries: list[Any]) -> list[Any]:
    return list({id(registry): registry for registry in registries}.values())


@lru_cache(1)
def _usual() -> tuple[list[Any], list[Any]]:
    from numba.core import imputils, typing
    from numba.core.cpu import CPUContext
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    rtsys.initialize(cpu_target.target_context)
    templates, lowering = _Listed(), _Listed()
    CPUContext.load_additional_registries(lowering)
    lowering.install_registry(imputils.builtin_registry)
    typing.Context.load_additional_registries(templates)
    typing.Context._load_builtins(templates)
    return templates.registries, lowering.registries
