"""Import modules of a flow's functions, from the flow's directory first, and from source."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import operator
import os
import sys
from collections.abc import Callable
from typing import Any

from ..errors import CodeError
from . import installed


class _FromSource(importlib.machinery.SourceFileLoader):
    """Reads a module's source instead of its bytecode cache.

    The cache counts as current if the source has the same size and the same second of its
    time. An edit within that second would be missed.
    """

    def path_stats(self, path: Any) -> Any:
        raise OSError("bytecode caches are not read")


def look_in(directories: list[str]) -> None:
    """Search for modules in directories before all others."""
    own = [os.path.join(os.path.realpath(directory), "") for directory in directories]
    finders = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (_FromSource, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    )

    def finder(path: str) -> Any:
        real = os.path.join(os.path.realpath(path), "")
        if installed(real) or not real.startswith(tuple(own)):
            raise ImportError
        return finders(path)

    sys.path_hooks.insert(0, finder)
    sys.path_importer_cache.clear()
    sys.path[:0] = directories


def find(name: str, directory: str) -> Callable[..., Any]:
    """Return the function that a flow names MODULE:NAME, or FILE.py:NAME."""
    module, colon, attribute = name.rpartition(":")
    if not colon or not module or not attribute:
        raise CodeError(
            f'function {name!r}: name it with its module, as in "detect:boxes", or its file, as in "detect.py:boxes"'
        )
    loaded = _file(os.path.join(directory, module)) if module.endswith(".py") else importlib.import_module(module)
    try:
        found: Any = operator.attrgetter(attribute)(loaded)
    except AttributeError:
        raise CodeError(f"there is no {attribute} in {module} ({getattr(loaded, '__file__', 'no file')})") from None
    if not callable(found):
        raise CodeError(f"{name} is not a function but a {type(found).__name__}")
    memo = sys.modules.get("larder._memo.memo")
    if memo is not None and isinstance(found, memo.Memo):
        found = found._function  # the flow caches its results
    function: Callable[..., Any] = found
    return function


@functools.cache
def _file(path: str) -> Any:
    """Return the module of a file that need not be on the search path."""
    name = os.path.basename(path).removesuffix(".py")
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == path:
        return sys.modules[name]
    if not os.path.isfile(path):
        raise CodeError(f"there is no file {path}")
    if name in sys.modules or name in sys.stdlib_module_names:
        name += "_of_flow"
    sys.path.insert(0, os.path.dirname(path))  # like that of a script
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def read() -> list[str]:
    """Return the files that modules outside distributions were read from, and the directories that were searched."""
    files = {directory or os.curdir for directory in sys.path}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not installed(file):
            files.add(file)
    return sorted(os.path.abspath(file) for file in files)
