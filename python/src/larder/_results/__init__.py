"""Results of functions as bytes, and back.

    encoded = encode(value)
    value = decode(encoded)

What comes back has the types and the contents of what was given: 1, 1.0 and True stay
apart, NaN keeps its bits, dicts their order, arrays their dtype and their order in memory,
and what was one object at two places of a value is one again. What cannot be restored
is refused with the way to it. No code of an encoding is run, and nothing is pickled:
classes of the program are looked up by name, where their fields are still the same.

docs/reference/python-results.md says what can be kept, and how, to the byte. Arrays are views of their
buffers.
"""

from .reader import decode
from .rows import decode_rows, encode_rows
from .writer import encode, parts

__all__ = ["decode", "decode_rows", "encode", "encode_rows", "parts"]
