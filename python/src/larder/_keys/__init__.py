"""Keys of values: what two values have in common if and only if they are the same.

`digest` is of everything that a function can see of a value. What cannot be told is
refused, with the way to it. The encoding has a version; it is that of Larder's keys in
Python, which have nothing in common with those of Go.
"""

from ._digest import digest, digest_rows, encode
from ._text import describe

__all__ = ["describe", "digest", "digest_rows", "encode"]
