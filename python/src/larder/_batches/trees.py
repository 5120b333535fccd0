"""Register a class as that of tree nodes, for `tree_map` of torch and of optree, when these are imported."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from typing import Any, NamedTuple


class TreeNode(NamedTuple):
    """A class whose objects are nodes of trees: its values and their names, and an object of these."""

    cls: type
    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]


def _for_torch(module: Any, node: TreeNode) -> None:
    key = getattr(module, "MappingKey", None)
    if key is not None:
        module.register_pytree_node(
            *node,
            serialized_type_name="larder.Batch",
            flatten_with_keys_fn=lambda batch: ([(key(k), v) for k, v in batch.items()], node.flatten(batch)[1]),
        )
    else:  # before 2.3
        module._register_pytree_node(*node)


def _for_optree(module: Any, node: TreeNode) -> None:
    def flatten(batch: Any) -> tuple[list[Any], Any, Any]:
        values, names = node.flatten(batch)
        return values, names, names

    module.register_pytree_node(node.cls, flatten, lambda names, values: node.unflatten(values, names), namespace="")


_MODULES: dict[str, Callable[[Any, TreeNode], None]] = {"torch.utils._pytree": _for_torch, "optree": _for_optree}


def register(node: TreeNode) -> None:
    """Register a class with libraries that are imported, and with others when they are."""
    later = [name for name in _MODULES if name not in sys.modules]
    if later:
        sys.meta_path.insert(0, _Finder(later, node))
    for name in _MODULES.keys() - later:
        _tell(name, importlib.import_module(name), node)  # which waits for a thread that is importing it


def _tell(name: str, module: Any, node: TreeNode) -> None:
    with contextlib.suppress(AttributeError, TypeError, ValueError):  # another version, or already registered
        _MODULES[name](module, node)


class _Finder:
    """Finds nothing itself, but makes imported modules register a class."""

    def __init__(self, names: list[str], node: TreeNode) -> None:
        self._names, self._node = names, node

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
                _follow(name, spec.loader, self._node)
                return spec
        return None


def _follow(name: str, loader: Any, node: TreeNode) -> None:
    """Make a loader register a class after it has run a module."""
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: Any) -> None:
        del loader.exec_module
        run(module)
        _tell(name, module, node)

    with contextlib.suppress(AttributeError):  # a loader without settable attributes
        loader.exec_module = exec_module
