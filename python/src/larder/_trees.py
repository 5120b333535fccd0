"""Batches as nodes of trees, for `tree_map` of torch and of optree, whenever these are imported."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from typing import Any

from .batch import About, Batch, _about_of


class _Names(tuple[str, ...]):
    """The names of a batch's fields, which other batches may have, and what batch it is."""

    about: About


def _flatten(batch: Batch) -> tuple[list[Any], _Names]:
    names = _Names(batch)
    names.about = batch._about
    return list(batch.values()), names


def _unflatten(values: Iterable[Any], names: Any) -> Batch:
    batch = Batch()
    batch.update(zip(names, values, strict=True))
    batch._about = _about_of(batch, getattr(names, "about", None))
    return batch


def _for_torch(module: Any) -> None:
    key = getattr(module, "MappingKey", None)
    if key is not None:
        module.register_pytree_node(
            Batch,
            _flatten,
            _unflatten,
            serialized_type_name="larder.Batch",
            flatten_with_keys_fn=lambda batch: ([(key(k), v) for k, v in batch.items()], _flatten(batch)[1]),
        )
    else:  # before 2.3
        module._register_pytree_node(Batch, _flatten, _unflatten)


def _for_optree(module: Any) -> None:
    def flatten(batch: Batch) -> tuple[list[Any], _Names, _Names]:
        values, names = _flatten(batch)
        return values, names, names

    module.register_pytree_node(Batch, flatten, lambda names, values: _unflatten(values, names), namespace="")


_MODULES: dict[str, Callable[[Any], None]] = {"torch.utils._pytree": _for_torch, "optree": _for_optree}


def register() -> None:
    """Register batches where that is imported already, and else when it is."""
    later = [name for name in _MODULES if name not in sys.modules]
    if later:
        sys.meta_path.insert(0, _Finder(later))
    for name in _MODULES.keys() - later:
        _tell(name, importlib.import_module(name))  # which waits for a thread that is importing it


def _tell(name: str, module: Any) -> None:
    with contextlib.suppress(AttributeError, TypeError, ValueError):  # another version, or somebody has done it
        _MODULES[name](module)


class _Finder:
    """Finds nothing by itself: it has modules followed by what they are to be told."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return what others find, for the names of this."""
        if name not in self._names:
            return None
        self._names.remove(name)
        if not self._names:
            sys.meta_path.remove(self)
        for finder in list(sys.meta_path):
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                _follow(name, spec.loader)
                return spec
        return None


def _follow(name: str, loader: Any) -> None:
    """Have a module that a loader is about to run be told when it has run."""
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: Any) -> None:
        del loader.exec_module
        run(module)
        _tell(name, module)

    with contextlib.suppress(AttributeError):  # a loader of which nothing can be set
        loader.exec_module = exec_module
