"""Identify the libraries that own objects, as far as compiled code depends on them."""

from __future__ import annotations

from typing import Any

from .._identity import distribution
from ._installed import COMPILERS, edits


def whole(owner: Any) -> bool:
    """Report whether the identity of an installed library covers all of its code."""
    return owner is distribution.PYTHON or owner.name in COMPILERS


def shown(owner: distribution.Owner) -> str:
    """Return the identity of a library: its version, and the edits of its installed files."""
    return f"{owner}{edits(owner)}"
