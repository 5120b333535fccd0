"""Convert items to arguments of functions, and results of functions to items."""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Callable
from typing import Any

ARRAY, TEXT, BYTES, JSON, IMAGE, CMYK, ERROR = 0, 1, 2, 3, 4, 5, 255

_HEAD = struct.Struct("<BBB5xQ")
_DTYPES = (
    *("", "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
_NUMBERS = {name: number for number, name in enumerate(_DTYPES)}
_DEEPEST = 200

AS = ("value", "numpy", "pil", "torch", "bytes")
"""The forms in which an item may be passed."""


class Reader:
    """Reads the values of a message, one after another."""

    def __init__(self, message: memoryview) -> None:
        self._message = message
        self.at = 8
        """The position of the next value."""
        self.count = int.from_bytes(message[:8], "little")
        """The number of samples."""

    def after(self, values: int) -> int:
        """Return the end position of a number of values."""
        at = self.at
        for _ in range(values):
            _, _, rank, size = _HEAD.unpack_from(self._message, at)
            at += _HEAD.size + 8 * rank + (size + 7) // 8 * 8
        return int(at)

    def next(self, how: str, item: str) -> Any:
        """Return the next value in the form of its item, sharing no memory with the message."""
        form, dtype, rank, size = _HEAD.unpack_from(self._message, self.at)
        at = self.at + _HEAD.size
        shape = struct.unpack_from(f"<{rank}Q", self._message, at)
        at += 8 * rank
        data = self._message[at : at + size]
        self.at = at + (size + 7) // 8 * 8
        if form in (ARRAY, IMAGE, CMYK):
            return _MAKERS[how](data, _DTYPES[dtype], shape, form)
        if how != "value" and not (how == "bytes" and form == BYTES):
            kind = {TEXT: "a string", BYTES: "bytes", JSON: "a document"}[form]
            raise TypeError(f"item {item} is {kind}, and cannot be given as {how}")
        return bytes(data) if form == BYTES else str(data, "utf-8") if form == TEXT else _document(data, item)


def _document(data: memoryview, item: str) -> Any:
    try:
        return json.loads(bytes(data), object_pairs_hook=_once)
    except ValueError as error:
        raise ValueError(f"item {item}: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return made


def _numpy(data: memoryview, dtype: str, shape: tuple[int, ...], form: int) -> Any:
    import numpy as np

    if dtype == "bfloat16":
        raise TypeError('NumPy has no bfloat16: give the item as torch, as in as: {item: "torch"}')
    if not data:
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def _pil(data: memoryview, dtype: str, shape: tuple[int, ...], form: int) -> Any:
    from PIL import Image

    channels = shape[2] if len(shape) == 3 else 1
    mode = {1: "L", 2: "LA", 3: "RGB", 4: "CMYK" if form == CMYK else "RGBA"}.get(channels)
    if dtype == "uint16" and channels == 1:
        mode = "I;16"
    elif dtype != "uint8" or mode is None or len(shape) not in (2, 3):
        raise TypeError(f"PIL has no images of {dtype} with the shape {shape}: give the item as numpy")
    return Image.frombytes(mode, (shape[1], shape[0]), bytes(data))


def _torch(data: memoryview, dtype: str, shape: tuple[int, ...], form: int) -> Any:
    import torch

    kind = getattr(torch, dtype, None)
    if kind is None:
        raise TypeError(f"this torch has no {dtype}: give the item as numpy")
    made = torch.empty(shape, dtype=kind)
    if data:
        made.view(-1).view(torch.uint8)[:] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return made


_SCALARS = {
    "bool": "?",
    "uint8": "B",
    "uint16": "<H",
    "uint32": "<I",
    "uint64": "<Q",
    "int8": "b",
    "int16": "<h",
    "int32": "<i",
    "int64": "<q",
    "float16": "<e",
    "float32": "<f",
    "float64": "<d",
}


def _value(data: memoryview, dtype: str, shape: tuple[int, ...], form: int) -> Any:
    """Return an array of NumPy, or a number if it has no dimensions."""
    if shape or dtype not in _SCALARS:
        return _numpy(data, dtype, shape, form)
    return struct.unpack(_SCALARS[dtype], data)[0]


_MAKERS: dict[str, Callable[[memoryview, str, tuple[int, ...], int], Any]] = {
    "value": _value,
    "numpy": _numpy,
    "pil": _pil,
    "torch": _torch,
}


def failure(text: str) -> list[bytes | memoryview]:
    """Return the parts that represent a sample that could not be computed."""
    return _part(ERROR, text.encode("utf-8", "backslashreplace"))


def value(made: Any, item: str) -> list[bytes | memoryview]:
    """Return the parts of a value that a function returned for an item."""
    if isinstance(made, str):
        return _part(TEXT, _encoded(made, item))
    if isinstance(made, (bytes, bytearray, memoryview)):
        return _part(BYTES, made if isinstance(made, bytes) else bytes(made))
    for cls in type(made).__mro__:  # such as an image of torchvision, which is a tensor
        module = cls.__module__.partition(".")[0]
        if module in _LIBRARIES and module in sys.modules:
            found = _LIBRARIES[module](made, item)
            if found is not None:
                return found
    plain = _plain(made, f"item {item}", 0)
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:  # an integer of very many digits
        raise ValueError(f"item {item}: {error}") from None
    return _part(JSON, _encoded(text, item))


def _encoded(text: str, item: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        at = repr(text[max(0, error.start - 10) : error.end + 10])
        raise ValueError(f"item {item} has a lone surrogate, in {at}, which is not valid in UTF-8") from None


def _part(form: int, data: bytes) -> list[bytes | memoryview]:
    return [_HEAD.pack(form, 0, 0, len(data)), data, bytes(-len(data) % 8)]


def _elements(form: int, dtype: str, shape: tuple[int, ...], data: Any) -> list[bytes | memoryview]:
    flat = memoryview(data).cast("B") if math.prod(shape) else memoryview(b"")
    head = _HEAD.pack(form, _NUMBERS[dtype], len(shape), len(flat)) + struct.pack(f"<{len(shape)}Q", *shape)
    return [head, flat, bytes(-len(flat) % 8)]


_names: dict[Any, str] = {}
"""The names of array types that have the same layout in memory and in messages."""


def _of_numpy(made: Any, item: str) -> list[bytes | memoryview] | None:
    import numpy as np

    if isinstance(made, np.generic):
        return value(_number(made, f"item {item}"), item)
    if not isinstance(made, np.ndarray):
        return None
    if type(made) is not np.ndarray:
        raise TypeError(f"item {item} is a {type(made).__qualname__}; return a plain array of NumPy")
    name = _names.get(made.dtype)
    if name is None:
        name = made.dtype.name
        if name not in _NUMBERS:
            raise TypeError(f"item {item} is an array of {made.dtype}; return numbers or truth values")
        if made.dtype.isnative and sys.byteorder == "little":
            _names[made.dtype] = name
        else:
            made = made.astype(made.dtype.newbyteorder("<"))
    plain = made if made.flags.c_contiguous else np.ascontiguousarray(made)
    return _elements(ARRAY, name, made.shape, plain.view(np.uint8) if plain.ndim and plain.size else plain.tobytes())


def _number(made: Any, where: str) -> Any:
    """Return a NumPy scalar as a Python value; refuse times, and numbers that Python cannot represent."""
    if made.dtype.kind not in "biufSU" or (made.dtype.kind == "f" and made.dtype.itemsize > 8):
        raise TypeError(
            f"{where} is a {made.dtype} of NumPy, which cannot be an item; return a number, a string, or an array"
        )
    return made.item()


def _of_torch(made: Any, item: str) -> list[bytes | memoryview] | None:
    import torch

    from .._identity.values.tensors import flat as elements

    if not isinstance(made, torch.Tensor):
        return None
    name = str(made.dtype).removeprefix("torch.")
    if name not in _NUMBERS or made.layout != torch.strided:
        raise TypeError(f"item {item} is a tensor of {made.dtype}, {made.layout}; return a dense one of numbers")
    plain = made.detach().cpu().contiguous().resolve_conj().resolve_neg()
    data = bytes(elements(plain).view(torch.uint8).numpy()) if plain.numel() else b""
    return _elements(ARRAY, name, tuple(made.shape), data)


def _of_pil(made: Any, item: str) -> list[bytes | memoryview] | None:
    from PIL import Image

    if not isinstance(made, Image.Image):
        return None
    if made.mode == "P" or made.mode == "1":
        made = made.convert("RGBA" if "transparency" in made.info else "RGB" if made.mode == "P" else "L")
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "I;16": 1}.get(made.mode)
    if channels is None:
        raise TypeError(f'item {item} is an image of the mode {made.mode}; convert it, as by image.convert("RGB")')
    shape = (made.height, made.width) if channels == 1 else (made.height, made.width, channels)
    return _elements(IMAGE, "uint16" if made.mode == "I;16" else "uint8", shape, made.tobytes())


_LIBRARIES = {"numpy": _of_numpy, "torch": _of_torch, "PIL": _of_pil}


def _plain(made: Any, where: str, depth: int) -> Any:
    """Return a value that a document can hold, and refuse one that would be decoded as another."""
    if made is None or isinstance(made, (bool, str)):
        return made
    if depth > _DEEPEST:
        raise TypeError(f"{where} is nested too deeply, or contains itself")
    if isinstance(made, int):
        return int(made)
    if isinstance(made, float):
        if not math.isfinite(made):
            raise ValueError(f"{where} is {made}, which is not allowed in a document; return an array, or None")
        return float(made)
    if isinstance(made, (list, tuple)):
        return [_plain(one, f"{where}[{i}]", depth + 1) for i, one in enumerate(made)]
    if isinstance(made, dict):
        for key in made:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}; keys of documents are strings")
        return {key: _plain(one, f"{where}.{key}", depth + 1) for key, one in made.items()}
    if type(made).__module__ == "numpy" and getattr(made, "ndim", 1) == 0 and hasattr(made, "dtype"):
        return _plain(_number(made, where), where, depth + 1)
    raise TypeError(
        f"{where} is of the type {type(made).__module__}.{type(made).__qualname__}, which cannot be an item; "
        "return an array, an image, a string, bytes, or a document of lists, dicts, numbers and strings"
    )
