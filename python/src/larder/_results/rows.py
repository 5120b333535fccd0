"""Encode and decode rows of arrays and tensors in bulk, each as a separate encoding."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..errors import ResultError
from .kinds import Refused
from .reader import decode
from .writer import encode

Encoded = bytes | bytearray | memoryview


def encode_rows(array: Any) -> list[bytes]:
    """Return what `encode` returns for each row of an array or tensor, along its first dimension.

    A row of a one-dimensional array is a scalar. Rows that cannot be stored raise `ResultError`.
    """
    try:
        memory, size = _flat(array)
    except Refused as refused:
        raise ResultError(f"result: {refused.why}") from None
    n = len(array)
    if not n:
        return []
    first = encode(_first(array))
    if not size:
        return [first] * n
    step = size // n
    head = first[: len(first) - step]
    return [head + memory[at : at + step] for at in range(0, size, step)]


def _flat(array: Any) -> tuple[memoryview, int]:
    """Return the elements of an array or tensor, row after row."""
    kind = _library(array)
    if kind is None or not array.ndim:
        raise Refused(f"a {type(array).__name__} has no rows; return an array or a tensor with a first dimension")
    if kind == "numpy":
        from . import arrays as found

        if array.dtype.hasobject:
            raise Refused("rows of an array of objects cannot be cached together; return an array of numbers")
        found.describe(array.dtype)
        data = found.flat(array if array.flags.c_contiguous else array.copy("C"))
    else:
        from . import tensors

        tensors.check(array)
        data = tensors.flat(array)
    return memoryview(data.memory), data.bytes


def _first(array: Any) -> Any:
    row = array[0, ...]
    return row.copy("C") if _library(array) == "numpy" else row


def _library(array: Any) -> str | None:
    """Return the library of an array."""
    for library, name in (("numpy", "ndarray"), ("torch", "Tensor")):
        module = sys.modules.get(library)
        if module is not None and type(array) is getattr(module, name):
            return library
    return None


def decode_rows(rows: Sequence[Encoded]) -> Any:
    """Return the array or tensor of rows that `encode_rows` or `encode` returned.

    Rows of different dtypes or shapes raise `ResultError`, as do rows that `decode` refuses. An
    array is read-only; a tensor is writable.
    """
    if not rows:
        raise ResultError("cannot restore rows: there are none, so dtype and shape are unknown")
    first = decode(rows[0])
    library = _library(first)
    if library is None:
        raise ResultError(f"row 0 is a {type(first).__name__}, and neither an array nor a tensor")
    size = first.nbytes if library == "numpy" else first.numel() * first.element_size()
    begin = len(rows[0]) - size
    head, end = bytes(rows[0][:begin]), len(rows[0])
    for i, row in enumerate(rows):
        if row[:begin] != head or len(row) != end:
            raise ResultError(f"row {i} is not of the dtype, shape and order of row 0")
    joined = bytearray().join([memoryview(row)[begin:] for row in rows])
    return _array(first, joined, len(rows)) if library == "numpy" else _tensor(first, joined, len(rows))


def _array(first: Any, joined: bytearray, n: int) -> Any:
    import numpy as np

    shape = first.shape
    if first.dtype.hasobject:
        raise ResultError("row 0 has dtype object, which cannot be restored as one array")
    if first.flags.fnc:
        array = np.ndarray((n, *shape[::-1]), first.dtype, joined or None)
        array = array.transpose(0, *range(len(shape), 0, -1))
    else:
        array = np.ndarray((n, *shape), first.dtype, joined or None)
    array.flags.writeable = False
    return array


def _tensor(first: Any, joined: bytearray, n: int) -> Any:
    import torch

    if not joined:
        return torch.empty((n, *first.shape), dtype=first.dtype)
    return torch.frombuffer(joined, dtype=torch.uint8).view(first.dtype).view(n, *first.shape)
