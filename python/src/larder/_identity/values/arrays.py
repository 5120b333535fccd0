"""Encode arrays and scalars of NumPy."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from ..immutable import FIXED
from ..library import made_of
from .encoder import _INLINE, FORMAT, Encoder, Unkeyed, Writer, items, writes
from .hash import tree
from .objects import attributes


def find(cls: type) -> Writer | None:
    """Return the encoder of values of a class of NumPy, or of a subclass."""
    if cls is np.ndarray:
        return _array
    if issubclass(cls, np.generic):
        if cls.__module__ == "numpy":
            FIXED.add(cls)
            return _scalar
        return None
    if issubclass(cls, np.dtype):
        return _dtype
    if cls is np.ufunc:
        return _ufunc
    if cls is np.vectorize:
        return _vectorized
    if cls is np.ma.MaskedArray:
        return _masked
    if cls in (np.random.Generator, np.random.RandomState) or issubclass(cls, np.random.BitGenerator):
        return _generator
    if issubclass(cls, np.ndarray):
        return _subclass
    return None


def rows(array: Any) -> list[bytes] | None:
    """Return the digests of the rows of an array whose bytes are its content, else None."""
    if type(array) is not np.ndarray or array.ndim < 2 or array.dtype.hasobject:
        return None
    if array.ndim > 2 and not array.flags.c_contiguous:
        return None  # its rows may be in Fortran order
    array = np.ascontiguousarray(array)
    shape = array.shape[1:]
    size = array.dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if size == 0:
        return None
    start = FORMAT + _start(array.dtype, shape, False) + b"%x;" % size
    view = memoryview(array.reshape(-1).view(np.uint8))
    spans = range(0, len(view), size)
    if size > _INLINE:
        return [sha256(start + tree(view[at : at + size])).digest() for at in spans]
    begun = sha256(start)
    found = []
    for at in spans:
        h = begun.copy()
        h.update(view[at : at + size])
        found.append(h.digest())
    return found


def _is_fortran(array: Any) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


_starts: dict[tuple[Any, ...], bytes] = {}


def _start(dtype: Any, shape: tuple[int, ...], fortran: bool) -> bytes:
    cached = (dtype.str, dtype.num, shape, fortran)
    plain = dtype.names is None and dtype.subdtype is None and dtype.metadata is None and dtype.isbuiltin == 1
    if plain and (found := _starts.get(cached)):
        return found
    e = Encoder(bytes)
    _dtype(e, dtype)
    text = b"".join(e.out) + b"%x;" % len(shape) + b"".join(b"%x;" % n for n in shape)
    made = (b"A" if not fortran else b"a") + text
    if plain and len(_starts) < 1024:
        _starts[cached] = made
    return made


@writes(np.ndarray)
def _array(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.out.append(_start(value.dtype, value.shape, _is_fortran(value)))
    if value.dtype.hasobject:
        if value.dtype != object:
            raise Unkeyed(f"an array of {value.dtype}, which has objects in its fields", "pass each field separately")
        items(e, value.ravel().tolist())
        return
    if not value.flags.c_contiguous:
        value = np.ascontiguousarray(value)
    if value.nbytes == 0:
        e.out.append(b"0;")
    else:
        e.content(memoryview(value.reshape(-1).view(np.uint8)))
    _shared(e, value)


def _shared(e: Encoder, value: Any) -> None:
    """Append the identity of the memory that an array is a view of, if another value shares it."""
    root = value
    while type(root.base) is np.ndarray:
        root = root.base
    if root is value:
        return
    met = id(root) in e.seen
    if e.known(root) and met:
        e.out.append(b"%x;" % (value.ctypes.data - root.ctypes.data))


def _subclass(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.of_class(b"Y", type(value))
    e.add(np.asarray(value))
    for name, held in getattr(value, "__dict__", {}).items():
        e.named(b".", name, held)
    e.out.append(b"$")


def _masked(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.out.append(b"Z")
    for part in (value.data, np.ma.getmask(value), value.fill_value, bool(value.hardmask)):
        e.add(part)


def _scalar(e: Encoder, value: Any) -> None:
    e.out.append(b"n")
    _dtype(e, value.dtype)
    e.content(value.tobytes())


def _dtype(e: Encoder, value: Any) -> None:
    e.out.append(b"D")
    e.add(value.str)
    if value.isbuiltin == 1 and np.dtype(value.str).num != value.num:
        e.add(value.char)  # long and long long have the same size, and are two types
    if value.metadata is not None:
        e.named(b".", "metadata", dict(value.metadata))
    if value.subdtype is not None:
        base, shape = value.subdtype
        e.add(shape)
        _dtype(e, base)
    elif value.names is not None:
        e.add((value.itemsize, value.isalignedstruct, value.names))
        for name in value.names:
            field = value.fields[name]
            e.add((field[1], field[2] if len(field) > 2 else None))
            _dtype(e, field[0])
    elif value.isbuiltin != 1:
        if value.kind not in "biufcSUmMVO":
            raise Unkeyed(f"of the dtype {value}, which is not one of NumPy's own", "convert it to one of these")
        e.add(value.name)


def _vectorized(e: Encoder, value: Any) -> None:
    if not e.known(value):
        e.of_class(b"O", type(value))
        attributes(e, value, type(value), frozenset(["_ufunc"]))  # computed from the others in a call


def _ufunc(e: Encoder, value: Any) -> None:
    if getattr(np, value.__name__, None) is not value and not made_of(value):
        raise Unkeyed(f"the ufunc {value.__name__}, which is not one of NumPy's own", "wrap it in a function")
    e.out.append(b"U")
    e.out.append(e.code(value))


def _generator(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.out.append(b"G")
    if value is getattr(np.random.mtrand, "_rand", None):
        return  # of the process: draws from it are not cached, and its state differs between processes
    bits = getattr(value, "bit_generator", value)
    e.add(type(value).__name__)
    if type(value) is np.random.RandomState:
        e.add(value.get_state(legacy=False))
    else:
        e.add(bits.state)
        seeds = getattr(bits, "seed_seq", None) or getattr(bits, "_seed_seq", None)
        e.add(getattr(seeds, "n_children_spawned", None))  # which determines the generators that it spawns next
        e.add(getattr(seeds, "state", None))
