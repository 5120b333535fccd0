"""Identify code by everything that a function can reach.

An identity is precise only where that is proved. Code that is not understood is refused, or
counts by its content; it is never left out.
"""

from ._identity import Identity, Part, identify, identify_made, identity_of, of_version
from ._library import CURES, is_in_module, is_model
from ._walk import told

__all__ = [
    "Identity",
    "Part",
    "identify",
    "identify_made",
    "identity_of",
    "CURES",
    "is_in_module",
    "is_model",
    "of_version",
    "told",
]
