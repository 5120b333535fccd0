"""Encode results as bytes, and decode them.

    encoded = encode(value)
    value = decode(encoded)

The decoded value has the types and the content of the original: 1, 1.0 and True differ, NaN
keeps its bits, dicts their order, arrays their dtype and memory order. An object at two
places of a value is one object again. A value that cannot be restored is refused with its
path. Decoding runs no code of an encoding and unpickles nothing: classes of the program are
looked up by name, and must still have the same fields.

docs/reference/python-results.md lists what can be encoded, and specifies each byte. Arrays are views
of their buffers.
"""

from .reader import decode
from .rows import decode_rows, encode_rows
from .writer import encode, parts

__all__ = ["decode", "decode_rows", "encode", "encode_rows", "parts"]
