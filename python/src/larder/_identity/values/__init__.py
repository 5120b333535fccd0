"""Encode values as bytes: two values have the same encoding if and only if they are the same.

A value that cannot be encoded is refused, with its path.
"""

from . import types as types
