"""Register batches as tree nodes, for `tree_map` of torch and of optree, when these are imported."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from typing import Any

from .batch import About, Batch, _about_of


class _Names(tuple[str, ...]):
    """The names of a batch's fields, which other batches may share, with the identity of the batch."""

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
    """Register batches with libraries that are imported, and with others when they are."""
    later = [name for name in _MODULES if name not in sys.modules]
    if later:
        sys.meta_path.insert(0, _Finder(later))
    for name in _MODULES.keys() - later:
        _tell(name, importlib.import_module(name))  # which waits for a thread that is importing it


def _tell(name: str, module: Any) -> None:
    with contextlib.suppress(AttributeError, TypeError, ValueError):  # another version, or already registered
        _MODULES[name](module)


class _Finder:
    """Finds nothing itself, but makes imported modules register batches."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec that other finders return, for the names of this finder."""
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
    """Make a loader register batches after it has run a module."""
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: Any) -> None:
        del loader.exec_module
        run(module)
        _tell(name, module)

    with contextlib.suppress(AttributeError):  # a loader without settable attributes
        loader.exec_module = exec_module
