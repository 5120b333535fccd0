"""Encode tables and columns of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .encoder import Encoder, Unkeyed, Writer, items

PLAIN: Any = getattr(pd.arrays, "NumpyExtensionArray", None) or pd.arrays.PandasArray  # its name before 2.1


def find(cls: type) -> Writer | None:
    """Return the encoder of a class of pandas."""
    if cls is pd.DataFrame:
        return _frame
    if cls is pd.Series:
        return _series
    if issubclass(cls, (pd.DataFrame, pd.Series)):
        return _derived
    if cls is pd.MultiIndex:
        return _levels
    if issubclass(cls, pd.Index) and cls.__module__.partition(".")[0] == "pandas":
        return _index
    if issubclass(cls, pd.api.extensions.ExtensionArray):
        return _column
    if issubclass(cls, pd.api.extensions.ExtensionDtype):
        return _dtype
    if cls in (pd.Timestamp, pd.Timedelta):
        return _moment
    if cls in (type(pd.NA), type(pd.NaT)):
        return _missing
    if cls is pd.Interval:
        return _interval
    if cls is pd.Period:
        return _period
    return None


def _derived(e: Encoder, value: Any) -> None:
    """Append a table or column of a subclass of those of pandas, with the attributes that it declares."""
    e.of_class(b"PD", type(value))
    e.add([(name, getattr(value, name, None)) for name in type(value)._metadata])
    (_frame if isinstance(value, pd.DataFrame) else _series)(e, value)


def _frame(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.out.append(b"PF")
    e.add((value.shape, dict(value.attrs), value.flags.allows_duplicate_labels))
    try:
        e.add(value.columns)
    except Unkeyed as err:
        raise err.step(".columns") from None
    try:
        e.add(value.index)
    except Unkeyed as err:
        raise err.step(".index") from None
    for i in range(value.shape[1]):
        try:
            _column(e, value.iloc[:, i].array)
        except Unkeyed as err:
            raise err.step(f"[{value.columns[i]!r}]") from None


def _series(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    e.out.append(b"PS")
    e.add((value.name, dict(value.attrs), value.flags.allows_duplicate_labels))
    e.add(value.index)
    _column(e, value.array)


def _index(e: Encoder, value: Any) -> None:
    e.out.append(b"PI")
    e.add((type(value).__name__, value.name, len(value)))
    if isinstance(value, pd.RangeIndex):
        e.add((value.start, value.stop, value.step))
        return
    freq = getattr(value, "freq", None)
    e.add(None if freq is None else freq.freqstr)
    _column(e, value.array)


def _levels(e: Encoder, value: Any) -> None:
    e.out.append(b"PL")
    e.add((list(value.names), value.nlevels, len(value)))
    for level, codes in zip(value.levels, value.codes, strict=True):
        e.add(level)
        e.add(np.asarray(codes))


def _column(e: Encoder, value: Any) -> None:
    """Append a column as a whole if its values are contiguous: one by one takes a thousand times as long."""
    if isinstance(value, PLAIN) and not isinstance(value.dtype, pd.StringDtype):  # strings without pyarrow are both
        value = value.to_numpy()
    e.out.append(b"PC")
    if type(value).__module__.partition(".")[0] not in ("pandas", "numpy"):
        _own(e, value)
    _dtype(e, value.dtype)
    e.out.append(b"%x;" % len(value))
    if isinstance(value.dtype, pd.CategoricalDtype):
        _plain(e, value.codes)
    elif isinstance(value.dtype, np.dtype):
        content = np.asarray(value)
        if value.dtype.hasobject:
            _objects(e, content.tolist())
        else:
            _plain(e, content)
    elif isinstance(value.dtype, pd.DatetimeTZDtype):
        _plain(e, value.asi8)
    elif isinstance(value, _MASKED):
        missing = np.asarray(value._mask)
        _plain(e, missing)
        _plain(e, np.where(missing, np.zeros(1, value._data.dtype), value._data))  # any value may lie there
    elif isinstance(value.dtype, pd.ArrowDtype) or getattr(value.dtype, "storage", "") == "pyarrow":
        from .tables import stream

        stream(e, value.__arrow_array__())
    elif isinstance(value.dtype, pd.StringDtype):
        _objects(e, value.to_numpy(dtype=object).tolist())
    else:
        if isinstance(value.dtype, pd.SparseDtype):
            e.add((value.kind, value.npoints))
        items(e, list(value))


def _own(e: Encoder, value: Any) -> None:
    """Append the code of an array that is not of pandas, and the attributes that its dtype declares."""
    e.of_class(b"PX", type(value))
    e.of_class(b"PX", type(value.dtype))
    e.add([(name, getattr(value.dtype, name, None)) for name in value.dtype._metadata])


_MASKED = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)


def _plain(e: Encoder, value: Any) -> None:
    """Append the content of an array, whatever its layout: equal frames may have their columns in other blocks."""
    content: Any = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
    e.content(memoryview(content))


def _objects(e: Encoder, value: list[Any]) -> None:
    """Append objects: strings together, and others one by one."""
    if set(map(type, value)) != {str}:
        items(e, value)
        return
    texts = [text.encode("utf-8", "surrogatepass") for text in value]
    e.out.append(b"PO")
    _plain(e, np.fromiter(map(len, texts), np.int64, len(texts)))
    e.content(b"".join(texts))


def _dtype(e: Encoder, value: Any) -> None:
    if isinstance(value, np.dtype):
        e.add(value)
        return
    e.out.append(b"PD")
    e.add((type(value).__name__, str(value)))
    if isinstance(value, pd.CategoricalDtype):
        e.add(value.ordered)
        e.add(value.categories)
    elif isinstance(value, pd.StringDtype):
        e.add((value.storage, repr(value.na_value)))


def _moment(e: Encoder, value: Any) -> None:
    e.out.append(b"PT")
    e.add((type(value).__name__, value.unit, value._value, getattr(value, "fold", 0), getattr(value, "tzinfo", None)))


def _missing(e: Encoder, value: Any) -> None:
    e.out.append(b"PN")
    e.add(type(value).__name__)


def _interval(e: Encoder, value: Any) -> None:
    e.out.append(b"PV")
    e.add((value.left, value.right, value.closed))


def _period(e: Encoder, value: Any) -> None:
    e.out.append(b"PP")
    e.add((value.ordinal, value.freqstr))
