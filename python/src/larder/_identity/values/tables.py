"""Encode tables and arrays of Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .encoder import Encoder, Writer


def find(cls: type) -> Writer | None:
    """Return the encoder of a class of pyarrow."""
    if cls in (pa.Table, pa.RecordBatch):
        return _table
    if issubclass(cls, (pa.Array, pa.ChunkedArray)):
        return _array
    if issubclass(cls, pa.Scalar):
        return _scalar
    if issubclass(cls, (pa.DataType, pa.Field)):
        return _type
    if cls is pa.Schema:
        return _schema
    if cls is pa.Buffer:
        return _buffer
    return None


def _table(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.out.append(b"QT")
    e.add((type(value).__name__, value.num_rows))
    if isinstance(value, pa.Table):
        e.add([[len(chunk) for chunk in column.chunks] for column in value.columns])
    _schema(e, value.schema)
    for column in value.columns:
        stream(e, column)


def _array(e: Encoder, value: Any) -> None:
    if not e.known(value):
        e.out.append(b"QA")
        chunked = isinstance(value, pa.ChunkedArray)
        e.add((chunked, len(value), [len(chunk) for chunk in value.chunks] if chunked else None))
        _type(e, value.type)
        stream(e, value)


def _scalar(e: Encoder, value: Any) -> None:
    e.out.append(b"QS")
    stream(e, pa.array([value], value.type))


def stream(e: Encoder, value: Any) -> None:
    """Append the content of a column, whatever its offset and chunks.

    Buffers may have bytes that do not count, for missing values or beyond the end of a slice, so
    only the bytes of present values are appended. A column without simple buffers is encoded as
    its Python values.
    """
    kind = value.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        value = value.cast(pa.large_string()).cast(pa.large_binary())
        _texts(e, value)
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        _texts(e, value.cast(pa.large_binary()))
    elif (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and value.null_count:
        e.out.append(b"n")
        stream(e, value.is_null().cast(pa.uint8()))
        stream(e, value.fill_null(pa.scalar(0, pa.int64()).cast(kind)))
    elif pa.types.is_boolean(kind):
        e.out.append(b"b")
        stream(e, value.cast(pa.uint8()))
    elif pa.types.is_primitive(kind) and value.null_count == 0 and len(value):
        plain, width = _whole(value), kind.bit_width // 8
        view = memoryview(plain.buffers()[1])[plain.offset * width : (plain.offset + len(plain)) * width]
        e.out.append(b"p")
        e.content(view)
    else:
        e.add(value.to_pylist())


def _texts(e: Encoder, value: Any) -> None:
    """Append strings: the length of each, -1 for a missing one, and all of them joined."""
    e.out.append(b"s")
    stream(e, pc.binary_length(value).fill_null(-1))
    plain = _whole(value.fill_null(b""))
    if len(plain) == 0:
        return
    _, offsets, content = plain.buffers()
    view = memoryview(offsets).cast("q")
    start, end = view[plain.offset], view[plain.offset + len(plain)]
    e.content(memoryview(content or b"")[start:end])


def _whole(value: Any) -> Any:
    """Return a column in one chunk."""
    if not isinstance(value, pa.ChunkedArray):
        return value
    plain = value.combine_chunks()
    if isinstance(plain, pa.ChunkedArray):
        plain = pa.concat_arrays(plain.chunks) if plain.num_chunks else pa.array([], value.type)
    return plain


def _type(e: Encoder, value: Any) -> None:
    _schema(e, pa.schema([value if isinstance(value, pa.Field) else pa.field("", value)]))


def _schema(e: Encoder, value: Any) -> None:
    e.out.append(b"QH")
    e.add(value.serialize().to_pybytes())


def _buffer(e: Encoder, value: Any) -> None:
    e.out.append(b"QB")
    e.content(memoryview(value))
