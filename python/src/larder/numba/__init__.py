"""Functions that numba compiled, kept in Larder's store and never stale.

    import larder.numba
    larder.numba.install()

From then on each function that is made with `cache=True` is loaded if its machine code
is kept, by this or another process, and compiled and kept if not. Functions are known by
content: their bytecode and options, and all that numba reads while it compiles them,
other functions included, wherever they are. What has no key is compiled as without a
cache; `report` and `why` say for what reason.

Machine code runs as this process does: see docs/guides/numba.md for whom to trust.
"""

from __future__ import annotations

import os
from typing import Any

from ._errors import NumbaError
from ._report import Report, Row
from ._why import Why

__all__ = ["NumbaError", "Report", "Row", "Why", "install", "report", "why"]


def install(*, cache: str | os.PathLike[str] | None = None, key_file: str | os.PathLike[str] | None = None) -> None:
    """Keep all functions with `cache=True` that are made from now on in Larder's store.

    `cache` is the cache folder; None is the usual one. `key_file` is a file with at least
    16 bytes that only those have who may make compiled functions for this process; if it
    is given, or LARDER_SIGNING_KEY names one, what is not signed with it is not loaded.

    Raises NumbaError if numba is missing or is one that is not known here; then nothing is
    changed, and numba's own cache stays in force. May be called again, also with another
    folder or key: that holds for functions that are made from then on.
    """
    _installing().install(cache=cache, key_file=key_file)


def report() -> Report:
    """Return what became of the functions of this process: loaded, compiled, refused and why."""
    report: Report = _installing().keeper().report
    return report


def why(function: Any) -> Why:
    """Say what a compiled function is known by now, why it is not kept if it is not, and what became of it."""
    from ._why import explained

    return explained(_installing().keeper(), function)


def _installing() -> Any:
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise NumbaError(f"numba cannot be imported: {error}") from error
    from . import _install

    return _install
