"""Compute keys of values: two values have the same key if and only if they are the same.

`digest` covers everything that a function can see of a value. A value that cannot be encoded
is refused, with its path. The encoding has a version; keys of Python have nothing in common
with those of Go.
"""

from ._digest import digest, digest_rows, encode
from ._text import describe

__all__ = ["describe", "digest", "digest_rows", "encode"]
