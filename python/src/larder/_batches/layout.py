"""Describe how the fields of a batch lie in memory, and convert them to Python."""

from __future__ import annotations

import itertools
import json
import math
import struct
from collections.abc import Callable
from typing import Any

from ..errors import ProtocolError, RequestError

Block = tuple[str, tuple[int, ...], int, int]  # type of elements, shape, start, bytes

_SIZES = dict.fromkeys(["bool", "uint8", "int8"], 1)
_SIZES |= dict.fromkeys(["uint16", "int16", "float16", "bfloat16"], 2)
_SIZES |= dict.fromkeys(["uint32", "int32", "float32"], 4)
_SIZES |= dict.fromkeys(["uint64", "int64", "float64", "complex64"], 8) | {"complex128": 16}
_FORMATS = {"bool": "?", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i"}
_FORMATS |= {"uint64": "Q", "int64": "q", "float32": "f", "float64": "d"}

Make = Callable[[Any, str, tuple[int, ...], int], Any]
"""Creates an array from memory, a type, a shape, and a start position."""


class Tensors:
    """Creates arrays of one kind over the memory of a batch: of NumPy, of torch, or memoryviews."""

    dtype: Callable[[str], Any]
    array: Make

    def __init__(self, kind: str | None) -> None:
        self.kind = kind
        self._loaded = False

    def load(self) -> None:
        """Import the library, which is called while the server works."""
        if not self._loaded:
            self.dtype, self.array = _MAKERS[self.kind]()
            self._loaded = True


def _numpy() -> tuple[Callable[[str], Any], Make]:
    import numpy as np

    def dtype(name: str) -> Any:
        if name == "bfloat16":
            raise RequestError('NumPy has no bfloat16; give the field a dtype, or take tensors="torch"')
        return np.dtype(name).newbyteorder("<")

    def array(memory: Any, dtype: Any, shape: tuple[int, ...], offset: int) -> Any:
        return np.ndarray(shape, dtype, memory, offset)

    return dtype, array


def _torch() -> tuple[Callable[[str], Any], Make]:
    import torch

    def dtype(name: str) -> Any:
        found = getattr(torch, name, None)
        if found is None:
            raise RequestError(f"this version of torch has no {name}; give the field a dtype, such as int64 or float32")
        return found

    def array(memory: Any, dtype: Any, shape: tuple[int, ...], offset: int) -> Any:
        count = math.prod(shape)
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        owner = getattr(memory, "tensor", None)
        if owner is not None:  # so that torch knows the owner of copies in flight
            return owner[offset : offset + count * dtype.itemsize].view(dtype).view(shape)
        return torch.frombuffer(memory, dtype=dtype, count=count, offset=offset).view(shape)

    return dtype, array


def _plain() -> tuple[Callable[[str], Any], Make]:
    def dtype(name: str) -> Any:
        return _FORMATS.get(name, "B"), _SIZES[name] if name in _FORMATS else 1, _SIZES[name]

    def array(memory: Any, dtype: Any, shape: tuple[int, ...], offset: int) -> Any:
        letter, step, size = dtype
        if step != size:
            shape = (*shape, size)  # elements without a Python type stay bytes
        count = math.prod(shape) * step
        flat = memoryview(memory).cast("B")[offset : offset + count]
        if count == 0 or not shape:
            return flat.cast(letter)
        return flat.cast(letter, shape)

    return dtype, array


_MAKERS: dict[str | None, Callable[[], tuple[Callable[[str], Any], Make]]] = {
    "numpy": _numpy,
    "torch": _torch,
    None: _plain,
}


class Layout:
    """Reads batches of one layout.

    `arrays` are the fields with one array each: name, type, shape, position. `others` create
    each other field from the memory of the batch.
    """

    def __init__(self, described: Any, tensors: Tensors, copy_bytes: bool) -> None:
        self.arrays: list[tuple[str, Any, tuple[int, ...], int]] = []
        self.others: list[tuple[str, Callable[[Any], Any]]] = []
        self.bytes = 0
        self.make = tensors.array
        self._tensors = tensors
        self._copy_bytes = copy_bytes
        try:
            for field in described:
                self._add(field)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise ProtocolError(f"the server described a batch in a way that is not understood: {error!r}") from error
        self.sizes = {name: shape[0] for name, _, shape, _ in self.arrays if shape}
        names = [name for name, *_ in (*self.arrays, *self.others)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise RequestError(f"two fields have the name {twice}; rename one of them")

    def _add(self, field: dict[str, Any]) -> None:
        name, collation, data = str(field["name"]), field["collation"], self._block(field)
        extras = {key: self._block(field[key]) for key in ("lengths", "offsets", "shapes") if field.get(key)}
        if collation in ("stack", "pad", "packed"):
            self._array(name, data)
            for key, block in extras.items():
                self._array(f"{name}_{key}", block)
        elif collation == "list":
            self.others.append((name, self._list(data, extras["offsets"], extras["shapes"])))
        elif collation in ("text", "bytes", "json"):
            self.others.append((name, self._pieces(collation, data, extras["offsets"])))
        else:
            raise ValueError(f"collation {collation}")

    def _block(self, block: dict[str, Any]) -> Block:
        dtype, shape = block["dtype"], tuple(int(n) for n in block["shape"])
        offset, size = int(block["offset"]), int(block["bytes"])
        fits = min(shape, default=0) >= 0 and 0 <= offset < 1 << 62 and math.prod(shape) * _SIZES[dtype] == size
        if not fits:
            raise ValueError(f"a block of {dtype}, shape {shape}, {size} bytes at {offset}")
        self.bytes = max(self.bytes, offset + size)
        return dtype, shape, offset, size

    def _array(self, name: str, block: Block) -> None:
        dtype, shape, offset, _ = block
        self.arrays.append((name, self._tensors.dtype(dtype), shape, offset))

    def _list(self, data: Block, offsets: Block, shapes: Block) -> Callable[[Any], list[Any]]:
        dtype, size = self._tensors.dtype(data[0]), _SIZES[data[0]]
        n = offsets[1][0] - 1
        rank = shapes[1][1] if len(shapes[1]) > 1 else 0

        def read(memory: Any) -> list[Any]:
            starts = _numbers(memory, offsets)
            sides = _numbers(memory, shapes)
            parts = []
            for i in range(n):
                shape = sides[i * rank : (i + 1) * rank]
                if not 0 <= starts[i] <= starts[i] + math.prod(shape) <= starts[n] or starts[n] * size > data[3]:
                    raise ProtocolError("the server sent a list that leaves its memory")
                parts.append(self.make(memory, dtype, shape, data[2] + starts[i] * size))
            return parts

        return read

    def _pieces(self, collation: str, data: Block, offsets: Block) -> Callable[[Any], list[Any]]:
        begin, size = data[2], data[3]
        turn = {"text": _text, "json": json.loads, "bytes": bytes if self._copy_bytes else _same}[collation]
        whole = collation == "bytes" and not self._copy_bytes

        def read(memory: Any) -> list[Any]:
            view: Any = memoryview(memory).cast("B")[begin : begin + size]
            if not whole:
                view = bytes(view)
            at = _numbers(memory, offsets)
            return [turn(view[a:b]) for a, b in itertools.pairwise(at)]

        return read


def _numbers(memory: Any, block: Block) -> tuple[int, ...]:
    return struct.unpack_from(f"<{block[3] // 8}q", memory, block[2])


def _text(data: bytes) -> str:
    return data.decode()


def _same(data: Any) -> Any:
    return data
