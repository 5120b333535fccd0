"""Identify the compiler: numba, llvmlite, NumPy, Python, the processor, and the settings."""

from __future__ import annotations

import csv
import os
import platform
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import file_digest, sha256
from importlib.metadata import Distribution, PackageNotFoundError
from typing import Any

from .._identity import distribution
from .._identity.code.bytecode import content
from ._registered import is_numbas

_SHOWN = (
    "CACHE_DIR CACHE_LOCATOR_CLASSES CHROME_TRACE COLOR_SCHEME DEBUG_CACHE DEBUG_FRONTEND DEBUG_INLINE_CLOSURE "
    "DEBUG_PRINT_AFTER DEBUG_PRINT_BEFORE DEBUG_PRINT_WRAP DEBUG_TYPEINFER DEVELOPER_MODE DIFF_IR "
    "DISABLE_PERFORMANCE_WARNINGS ALWAYS_WARN_UNINIT_VAR ANNOTATE DUMP_ANNOTATION FULL_TRACEBACKS FUNCTION_CACHE_SIZE "
    "GDB_BINARY HIGHLIGHT_DUMPS HTML JIT_COVERAGE LLVM_PASS_TIMINGS NUMBA_DEFAULT_NUM_THREADS NUMBA_NUM_THREADS "
    "PARALLEL_DIAGNOSTICS SHOW_HELP THREADING_LAYER THREADING_LAYER_PRIORITY TRACE WARNINGS"
)
_NO_MATTER = frozenset(_SHOWN.split())
"""Settings of output, locations and the number of threads, which do not affect compiled code."""


def settings() -> bytes:
    """Return numba's current settings without those that do not affect compiled code, and the added rewrites."""
    global _seen
    from numba.core import config
    from numba.core.rewrites import rewrite_registry

    held = [*vars(config).values(), *map(list, rewrite_registry.rewrites.values())]
    if _seen is None or _seen[0] != held:
        _seen = held, _settings()
    return _seen[1]


_seen: tuple[list[Any], bytes] | None = None
"""All settings as they were read last, and their encoding."""


def _settings() -> bytes:
    from numba.core import config
    from numba.core.rewrites import rewrite_registry

    lines = [
        f"{name}={value!r}"
        for name, value in sorted(vars(config).items())
        if name.isupper()
        and name not in _NO_MATTER
        and not name.startswith(("CUDA_", "DUMP_", "IS_", "_"))
        and isinstance(value, (int, float, str, tuple, frozenset, type(None)))
    ]
    for kind, classes in rewrite_registry.rewrites.items():
        names = [f"{c.__module__}.{c.__qualname__}" for c in classes if not is_numbas(c)]  # imported when needed
        if names:
            lines.append(f"rewrites {kind}={names}")
    return "\n".join(lines).encode()


def processor() -> bytes:
    """Return the target of compiled code: the triple, the name of the processor and its features."""
    from numba.core.registry import cpu_target

    return repr(cpu_target.target_context.codegen().magic_tuple()).encode()


COMPILERS = ("numba", "llvmlite", "numpy")
"""The distributions that are identified by all of their files."""

_CODE = (".py", ".so", ".pyd", ".dylib", ".dll")


@lru_cache(1)
def compilers() -> bytes:
    """Return the identity of numba, llvmlite, NumPy and Python as installed."""
    lines = [f"{distribution.PYTHON} {sys.implementation.cache_tag} {platform.machine()} {sys.platform}".encode()]
    for name in COMPILERS:
        lines.append(name.encode() + b" " + _digest(name))
    return b"\n".join(lines)


def _digest(name: str) -> bytes:
    """Return the digest of a package's files, by the digests recorded at its installation if there are any."""
    package = sys.modules[name] if name in sys.modules else __import__(name)
    directory = os.path.dirname(os.path.abspath(str(package.__file__)))
    try:
        found = Distribution.from_name(name)
    except PackageNotFoundError:
        return _of_files(directory)
    record = found.read_text("RECORD")
    if record is None or os.path.abspath(str(found.locate_file(name))) != directory:
        return _of_files(directory)
    return sha256(record.encode() + _edited(str(found.locate_file("")), record)).digest()


@lru_cache(1024)
def edits(owner: distribution.Owner) -> str:
    """Return a digest of the files of a library that were edited after its installation; empty if none were."""
    if owner in (distribution.PYTHON, distribution.LARDER) or owner.name in COMPILERS:
        return ""
    try:
        found = Distribution.from_name(owner.name)
        record = found.read_text("RECORD") if found.version == owner.version else None
        root = str(found.locate_file(""))
        edited = _edited(root, record, _of_code) + _added(root, record) if record else b""
    except (PackageNotFoundError, OSError, ValueError):
        return ""
    return f" edited {sha256(edited).hexdigest()}" if edited else ""


def _edited(root: str, record: str, known: Callable[[str], bytes] | None = None) -> bytes:
    """Return the paths and digests of files that changed since the package was installed.

    The list of files is written last, so only files that are newer, or have another size, are read.
    """
    rows = [row for row in csv.reader(record.splitlines()) if len(row) == 3]
    listed = next((row[0] for row in rows if row[0].endswith("RECORD")), "")
    installed = os.stat(os.path.join(root, listed)).st_mtime
    lines = []
    for path, noted, size in rows:
        if not path.endswith(_CODE):
            continue
        file = f"{root}{os.sep}{path}"
        try:
            found = os.stat(file)
            if found.st_mtime <= installed and size in ("", str(found.st_size)):
                continue
            digest = _of_file(file)
        except OSError:
            lines.append(path.encode() + b" gone")
            continue
        if noted != "sha256=" + urlsafe_b64encode(digest).decode().rstrip("="):
            lines.append(path.encode() + b" " + (known(file) if known is not None else digest))
    return b"\n".join(lines)


def _added(root: str, record: str) -> bytes:
    """Return the paths and digests of files in a package's directories that were not installed."""
    listed = {row[0] for row in csv.reader(record.splitlines()) if row}
    lines = []
    for directory in sorted({path.rpartition("/")[0] for path in listed if path.endswith(_CODE)} - {""}):
        if directory.startswith(("..", "/")):
            continue
        try:
            for name in sorted(os.listdir(os.path.join(root, directory))):
                path = f"{directory}/{name}"
                if name.endswith(_CODE) and path not in listed:
                    lines.append(b"\nadded " + path.encode() + b" " + _of_code(os.path.join(root, path)))
        except OSError:  # it was removed, as tests are from container images; other edits still count
            lines.append(b"\nunreadable " + directory.encode())
    return b"".join(lines)


def _of_code(file: str) -> bytes:
    """Return the digest of what a Python file does, without its comments, or else of the file."""
    if file.endswith(".py"):
        with open(file, "rb") as opened, suppress(SyntaxError, ValueError, TypeError):
            return sha256(content(compile(opened.read(), "", "exec", dont_inherit=True))).digest()
    return _of_file(file)


def _of_files(directory: str) -> bytes:
    """Return the digest of all files of a package without recorded digests."""
    lines = []
    for place, directories, names in sorted(os.walk(directory)):
        directories[:] = [n for n in directories if n not in ("__pycache__", "tests")]
        for name in sorted(names):
            if name.endswith(_CODE):
                file = os.path.join(place, name)
                lines.append(os.path.relpath(file, directory).encode() + b" " + _of_file(file))
    return sha256(b"\n".join(lines)).digest()


def _of_file(file: str) -> bytes:
    with open(file, "rb") as opened:
        return file_digest(opened, "sha256").digest()
