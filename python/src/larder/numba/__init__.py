"""Cache functions compiled by numba in Larder's store.

    import larder.numba
    larder.numba.install()

From then on each function created with `cache=True` is loaded if this or another process
cached its machine code, and otherwise compiled and cached. The key covers the function's
bytecode and options, and everything that numba reads while it compiles, including other
functions, wherever they are. A function without a key is compiled without a cache; `report`
and `why` give the reason.

Machine code has the rights of this process; docs/guides/numba.md says which writers to trust.
"""

from __future__ import annotations

import os
from typing import Any

from ._errors import NumbaError
from ._report import Report, Row
from ._why import Why

__all__ = ["NumbaError", "Report", "Row", "Why", "install", "report", "why"]


def install(*, cache_dir: str | os.PathLike[str] | None = None, key_file: str | os.PathLike[str] | None = None) -> None:
    """Cache all functions with `cache=True` that are created from now on in Larder's store.

    `cache_dir` is the cache directory; None is the default. `key_file` is a file of at least 16
    bytes that only processes have which may compile functions for this one. If it is given, or
    LARDER_SIGNING_KEY names one, functions not signed with it are not loaded.

    Raises NumbaError if numba is missing or its version is not supported. Then nothing changes,
    and numba's own cache stays in use. May be called again, also with another directory or key,
    which apply to functions created from then on.
    """
    _installing().install(cache_dir=cache_dir, key_file=key_file)


def report() -> Report:
    """Return the outcome for each function of this process: loaded, compiled, or refused and why."""
    report: Report = _installing().keeper().report
    return report


def why(function: Any) -> Why:
    """Return the current identity of a compiled function, why it is not cached, and its outcome."""
    from ._why import explained

    return explained(_installing().keeper(), function)


def _installing() -> Any:
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise NumbaError(f"numba cannot be imported: {error}") from error
    from . import _install

    return _install
