"""Define the layout of encodings, shared by writer and reader."""

from __future__ import annotations

import struct

MAGIC = b"LARDVAL\x01"
HEAD = struct.Struct("<8sQ")
"""The magic, and the end of the tree."""

FLOAT = struct.Struct("<8sQBd")
INT = struct.Struct("<8sQBq")
"""Whole encodings of numbers."""

COUNTED = struct.Struct("<BQ")
"""A node with its number of bytes or nodes."""
SHORT = struct.Struct("<BI")
"""A string or bytes that lie in the tree."""
OF_FLOAT = struct.Struct("<Bd")
OF_INT = struct.Struct("<Bq")
COMPLEX = struct.Struct("<dd")

SMALL, LARGE = -(1 << 63), (1 << 63) - 1
"""The range of a 64-bit int."""

INLINE = 1024
"""Strings and bytes of at least this size are buffers."""

SHARED = 64
"""Strings, bytes and tuples of at least this size are written once."""

PACKED = 16
"""Lists and tuples of at least this many numbers or short strings, and nothing else, are packed."""

DEEPEST = 200
"""The maximum depth of nested containers."""

ALIGNED = 64
ZEROS = [bytes(n) for n in range(ALIGNED)]
