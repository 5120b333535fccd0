"""Where things lie in an encoding: what its writer and its reader agree on."""

from __future__ import annotations

import struct

MAGIC = b"LARDVAL\x01"
HEAD = struct.Struct("<8sQ")
"""The magic, and where the tree ends."""

FLOAT = struct.Struct("<8sQBd")
INT = struct.Struct("<8sQBq")
"""Whole encodings of numbers."""

COUNTED = struct.Struct("<BQ")
"""A node that says how many bytes or nodes it has."""
SHORT = struct.Struct("<BI")
"""A text or bytes that lie in the tree."""
OF_FLOAT = struct.Struct("<Bd")
OF_INT = struct.Struct("<Bq")
COMPLEX = struct.Struct("<dd")

SMALL, LARGE = -(1 << 63), (1 << 63) - 1
"""What an int of 64 bits can be."""

INLINE = 1024
"""Texts and bytes from here on are buffers."""

SHARED = 64
"""Texts, bytes and tuples that take at least as much are written once."""

PACKED = 16
"""Lists and tuples of so many numbers or short texts, and no others, are packed."""

DEEPEST = 200
"""How many containers there may be in each other."""

ALIGNED = 64
ZEROS = [bytes(n) for n in range(ALIGNED)]
