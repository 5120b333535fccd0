"""Encode and decode tables and arrays of Arrow, as Arrow streams."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from .kinds import Data, Kind, Refused, register


def _stream(schema: Any, batches: list[Any]) -> tuple[Any, ...]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    data = sink.getvalue()
    with pa.ipc.open_stream(data) as reader:
        if not reader.schema.equals(schema, check_metadata=True):
            raise Refused(f"a table of schema {schema} cannot be cached, as Arrow makes {reader.schema} of it")
    return Data(memoryview(data), data.size), _extended(schema)


def _extended(schema: Any) -> bool:
    """Return whether there are extension types, which Arrow drops where they are not registered."""
    return "extension<" in " ".join(map(str, schema.types))


def _read(data: Any, extended: bool) -> Any:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        table = reader.read_all()
    table.validate(full=True)
    if _extended(table.schema) != extended:
        raise ImportError("a type of Arrow that is not registered")
    return table


def _batch(data: Any, extended: bool) -> Any:
    table = _read(data, extended)
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    if len(batches) != 1:
        raise ValueError(f"{len(batches)} batches where one must be")
    return batches[0]


def _array_parts(array: Any) -> tuple[Any, ...]:
    batch = pa.RecordBatch.from_arrays([array], names=[""])
    return _stream(batch.schema, [batch])


def _chunked_parts(array: Any) -> tuple[Any, ...]:
    table = pa.table([array], names=[""])
    return _stream(table.schema, table.to_batches())


def _classes(cls: type) -> set[type]:
    return {cls}.union(*map(_classes, cls.__subclasses__()))


register(
    Kind("pyarrow.Table", pa.Table, lambda v: _stream(v.schema, v.to_batches()), _read),
    Kind("pyarrow.RecordBatch", pa.RecordBatch, lambda v: _stream(v.schema, [v]), _batch),
    Kind("pyarrow.ChunkedArray", pa.ChunkedArray, _chunked_parts, lambda *parts: _read(*parts).column(0)),
    *(Kind("pyarrow.Array", cls, _array_parts, lambda *parts: _batch(*parts).column(0)) for cls in _classes(pa.Array)),
)
