"""Encode and decode arrays and scalars of NumPy."""

from __future__ import annotations

import math
import struct
import sys
from typing import Any

import numpy as np

from .kinds import CURES, Data, Kind, Refused, expect, register
from .reader import Reader, reads
from .writer import Writer, of_kind

Described = Any
"""The stored form of a dtype: a string such as "<f4", (base, shape) for a field that is an array, or
(fields, bytes, aligned, record) with (name, title, described, offset) of each field.
"""

_PLAIN = "biufcmMSUV"
_known: dict[str, Any] = {}


def describe(dtype: Any) -> Described:
    """Return the stored form of a dtype, or refuse it."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        described: Described = (describe(base), shape)
    elif dtype.names is not None:
        described = (_fields(dtype), dtype.itemsize, dtype.isalignedstruct, dtype.type is np.record)
    else:
        described = dtype.str
        if _known.get(described) is dtype:  # NumPy has one object for each of the common dtypes
            return described
        if dtype.char in "lLqQ" and np.dtype(described).char != dtype.char:  # they have the same string
            described = dtype.byteorder.replace("=", "") + dtype.char
    if dtype.metadata is not None or not _same(dtype, described):
        raise Refused(
            f"an array of dtype {dtype!r} cannot be cached; return it as one of a dtype of NumPy's own without metadata"
        )
    return described


def _fields(dtype: Any) -> tuple[Any, ...]:
    found = []
    for name in dtype.names:
        field, offset, *title = dtype.fields[name]
        found.append((name, title[0] if title else None, describe(field), offset))
    return tuple(found)


def _same(dtype: Any, described: Described) -> bool:
    try:
        made = dtype_of(described)
    except (TypeError, ValueError):
        return False
    return (
        bool(made == dtype)
        and made.type is dtype.type
        and made.char == dtype.char
        and made.isalignedstruct == dtype.isalignedstruct
    )


def dtype_of(described: Described) -> Any:
    """Return a dtype whose parts are plain data."""
    if type(described) is str:
        return _plain(described)
    if len(described) == 2:
        base, shape = described
        return np.dtype((dtype_of(base), expect(tuple, shape)))
    fields, size, aligned, record = described
    names, titles, formats, offsets = zip(*fields, strict=True) if fields else ((), (), (), ())
    spec: Any = {"names": names, "formats": list(map(dtype_of, formats)), "offsets": offsets, "itemsize": size}
    if any(title is not None for title in titles):
        spec["titles"] = titles
    made = np.dtype(spec, align=expect(bool, aligned))
    return np.dtype((np.record, made)) if record else made


def _plain(text: str) -> Any:
    made = _known.get(text)
    if made is not None:
        return made
    made = np.dtype(text)
    if made.kind not in _PLAIN or made.hasobject or made.names is not None or made.isbuiltin == 2:
        raise TypeError(f"dtype {text!r}")
    if made.kind in "SU" and not made.itemsize:
        raise TypeError(f"dtype {text!r}, which NumPy reads as another dtype")
    if len(_known) < 1000:  # strings of damaged results must not fill memory
        _known[text] = made
    return made


def flat(array: Any) -> Data:
    """Return the elements of an array, in memory order if there are no gaps."""
    if not array.nbytes:
        return Data(b"", 0)
    return Data(array.ravel("A").view(np.uint8), array.nbytes)


def write_array(writer: Writer, array: Any) -> None:
    """Add an array: its dtype, the order of its elements, its shape, and its elements as a buffer."""
    dtype = array.dtype
    text = dtype.str
    if _known.get(text) is not dtype and (dtype.hasobject or describe(dtype) != text):
        _write_other(writer, array)
        return
    at = writer.begin(array)
    if not at:
        return
    shape, size = array.shape, array.nbytes
    n = len(shape)
    writer.tree += _ARRAY + bytes((len(text),)) + text.encode()
    writer.tree += _SHAPES[n].pack(_FORTRAN if array.flags.fnc else _C, n, *shape, size)
    if size:
        writer.buffers.append((array.ravel("A").view(_BYTE), size))
    writer.end(array, at)


def read_array(reader: Reader) -> Any:
    """Return an array that is a view of its buffer."""
    tree, at = reader.tree, reader.at
    begin = at + 1 + tree[at]
    text = tree[at + 1 : begin].decode()
    dtype = _plain(text)
    _, n, *rest = _SHAPES[tree[begin + 1]].unpack_from(tree, begin)
    size = rest.pop()
    reader.at = begin + _SHAPES[n].size
    array = reader.memo[at - 1] = _array(
        dtype, tree[begin] == _FORTRAN, tuple(rest), size, reader.data, reader.find(size) if size else 0
    )
    return array


def _array(dtype: Any, fortran: bool, shape: tuple[int, ...], size: int, memory: memoryview, at: int) -> Any:
    count = math.prod(shape)
    if count * dtype.itemsize != size:
        raise ValueError(f"an array of {dtype} and shape {shape} in {size} bytes")
    if not size:
        return _empty(shape, dtype, fortran)
    array = np.frombuffer(memory, dtype, count, at)  # the only way to make it permanently read-only
    if dtype.kind in "UV":
        _check_texts(array, dtype)
    return array if len(shape) == 1 else array.reshape(shape, order="F" if fortran else "C")


_ARRAY = b"A"
_C, _FORTRAN = b"CF"
_BYTE = np.dtype(np.uint8)
_SHAPES = [struct.Struct(f"<BB{n}QQ") for n in range(65)]
"""Order, dimensions, shape, bytes."""


def _parts(array: Any) -> tuple[Any, ...]:
    fortran = array.flags.fnc
    if array.dtype.hasobject and array.dtype.names is not None:
        raise Refused("an array with objects in fields cannot be cached; return one array for each field")
    if array.dtype.char == "O":
        return fortran, array.shape, array.ravel("F" if fortran else "C").tolist()
    return describe(array.dtype), fortran, array.shape, flat(array)


def _make(*parts: Any) -> Any:
    if len(parts) == 3:
        return _objects(*parts)
    described, fortran, shape, data = parts
    return _array(dtype_of(described), fortran, shape, len(data), data, 0)


def _check_texts(array: Any, dtype: Any) -> None:
    """Refuse strings with invalid characters, for which NumPy raises a worse error when they are read."""
    for name in dtype.names or ():
        _check_texts(array[name], dtype[name].base)
    if dtype.kind == "U" and array.size:
        characters = np.ascontiguousarray(array).reshape(-1).view(dtype.byteorder + "u4")
        if characters.max() > sys.maxunicode:
            raise ValueError("invalid text")


def _empty(shape: tuple[int, ...], dtype: Any, fortran: bool) -> Any:
    array: Any = np.ndarray(shape, dtype, order="F" if fortran else "C")
    array.flags.writeable = False
    return array


def _objects(fortran: bool, shape: tuple[int, ...], items: list[Any]) -> Any:
    if math.prod(shape) != len(items):
        raise ValueError(f"an array of shape {shape} of {len(items)} objects")
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    array = array.reshape(shape, order="F" if fortran else "C")
    array.flags.writeable = False
    return array


def _scalar_parts(value: Any) -> tuple[Any, ...]:
    return describe(value.dtype), value.tobytes()


def _scalar(described: Described, data: bytes) -> Any:
    dtype = dtype_of(described)
    if dtype.itemsize != len(data):
        raise ValueError(f"a {dtype} of {len(data)} bytes")
    if not data:
        return dtype.type()
    array: Any = np.ndarray((), dtype, bytearray(data))
    _check_texts(array, dtype)
    return array[()]


def _masked_parts(array: Any) -> tuple[Any, ...]:
    mask = None if array.mask is np.ma.nomask else array.mask
    if type(array.data) is not np.ndarray or array.dtype.hasobject:
        raise Refused("a masked array of objects, or of another class, cannot be cached; return a plain one")
    return array.data, mask, np.array(array.fill_value), array.hardmask


def _masked(data: Any, mask: Any, fill: Any, hard: bool) -> Any:
    data = expect(np.ndarray, data)
    if mask is not None and expect(np.ndarray, mask).shape != data.shape:
        raise ValueError("a mask of another shape")
    return np.ma.MaskedArray(
        data, np.ma.nomask if mask is None else mask, fill_value=fill, hard_mask=hard, keep_mask=False
    )


def _scalars() -> list[Kind]:
    types = {np.dtype(char).type for char in np.typecodes["All"] if char not in "OSU"}
    found = [Kind("numpy.scalar", cls, _scalar_parts, _scalar, shared=False) for cls in types if cls is not np.void]
    return [
        *found,
        Kind("numpy.scalar", np.record, _scalar_parts, _scalar),
        Kind("numpy.scalar", np.void, _scalar_parts, _scalar),
        Kind("numpy.str", np.str_, lambda v: (str.__str__(v),), lambda v: np.str_(expect(str, v)), shared=False),
        Kind("numpy.bytes", np.bytes_, lambda v: (bytes(v),), lambda v: np.bytes_(expect(bytes, v)), shared=False),
    ]


_OTHER = Kind("numpy.ndarray", np.ndarray, _parts, _make, write=write_array)
_write_other = of_kind(_OTHER)
reads(_ARRAY[0], read_array)

register(
    _OTHER,
    Kind("numpy.ma.masked", type(np.ma.masked), lambda v: (), lambda: np.ma.masked, shared=False),
    Kind("numpy.ma.MaskedArray", np.ma.MaskedArray, _masked_parts, _masked, (".data", ".mask", ".fill_value")),
    *(
        Kind("numpy.dtype", cls, lambda v: (describe(v),), dtype_of, shared=False)
        for cls in {type(np.dtype(char)) for char in np.typecodes["All"] if char != "O"}
    ),
    *_scalars(),
)

CURES[np.ndarray] = "return numpy.asarray of it"
