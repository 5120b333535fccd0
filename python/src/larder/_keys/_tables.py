"""What writes tables and arrays of Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ._encoder import Encoder, Writer


def find(cls: type) -> Writer | None:
    """Return what writes values of a class of pyarrow."""
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
    _schema(e, value.schema)
    for column in value.columns:
        _stream(e, column)


def _array(e: Encoder, value: Any) -> None:
    if not e.known(value):
        e.out.append(b"QA")
        e.add((isinstance(value, pa.ChunkedArray), len(value)))
        _type(e, value.type)
        _stream(e, value)


def _scalar(e: Encoder, value: Any) -> None:
    e.out.append(b"QS")
    _stream(e, pa.array([value], value.type))


def _stream(e: Encoder, value: Any) -> None:
    """Append the content of a column, however it is cut into chunks and wherever it begins.

    Values are what they are as Python's: bytes that do not count (of what is missing,
    beyond the end of a slice) would show in buffers.
    """
    if pa.types.is_primitive(value.type) and value.null_count == 0 and len(value):
        plain = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
        if isinstance(plain, pa.ChunkedArray):
            plain = pa.concat_arrays(plain.chunks)
        if not pa.types.is_boolean(plain.type):
            width = plain.type.bit_width // 8
            view = memoryview(plain.buffers()[1])[plain.offset * width : (plain.offset + len(plain)) * width]
            e.out.append(b"p")
            e.content(view)
            return
    e.add(value.to_pylist())


def _type(e: Encoder, value: Any) -> None:
    _schema(e, pa.schema([value if isinstance(value, pa.Field) else pa.field("", value)]))


def _schema(e: Encoder, value: Any) -> None:
    e.out.append(b"QH")
    e.add(value.serialize().to_pybytes())


def _buffer(e: Encoder, value: Any) -> None:
    e.out.append(b"QB")
    e.content(memoryview(value))
