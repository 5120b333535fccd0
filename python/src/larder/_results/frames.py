"""Encode and decode frames, series, indexes and arrays of pandas.

They are stored as the arrays in them, and decoded into their own memory, as programs write to
frames. Each is decoded when it is encoded, and refused if the two differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from .._identity.values.frames import PLAIN
from .checked import checked
from .kinds import CURES, Kind, Refused, expect, register


def _values(value: Any) -> Any:
    """Return the values of a series or an index: an array of NumPy, or one of pandas."""
    return value.to_numpy() if isinstance(value.dtype, np.dtype) else value.array


def _own(values: Any) -> Any:
    """Return values with their own memory."""
    if not isinstance(values, (np.ndarray, ExtensionArray)):
        raise TypeError(f"a {type(values).__name__} where an array must be")
    return values.copy()


# Frames, series and indexes


def _frame_parts(frame: Any) -> tuple[Any, ...]:
    kinds = set(frame.dtypes)
    if len(frame.columns) > 1 and len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind != "O":
        content: Any = frame.to_numpy()
    else:
        content = [_values(frame.iloc[:, i]) for i in range(len(frame.columns))]
    return content, frame.columns, frame.index, frame.attrs, frame.flags.allows_duplicate_labels


def _frame(content: Any, columns: Any, index: Any, attrs: Any, duplicates: Any) -> Any:
    if type(content) is np.ndarray:
        frame = pd.DataFrame(content.copy(order="K"), index=index, columns=columns, copy=False)
    else:
        series = [_series_of(values, index, None) for values in expect(list, content)]
        frame = pd.DataFrame(dict(enumerate(series)), index=index)
        frame.columns = columns
    return _flagged(frame, attrs, duplicates)


def _flagged(made: Any, attrs: Any, duplicates: Any) -> Any:
    made.attrs = expect(dict, attrs)
    return made if duplicates else made.set_flags(allows_duplicate_labels=False)


def _series_parts(series: Any) -> tuple[Any, ...]:
    return _values(series), series.index, series.name, series.attrs, series.flags.allows_duplicate_labels


def _series_of(values: Any, index: Any, name: Any) -> Any:
    own = _own(values)
    if not isinstance(index, pd.Index) or len(index) != len(own):
        raise TypeError(f"an index that does not fit {len(own)} values")
    return pd.Series(own, index, own.dtype, name, copy=False)


def _series(values: Any, index: Any, name: Any, attrs: Any, duplicates: Any) -> Any:
    return _flagged(_series_of(values, index, name), attrs, duplicates)


def _index_parts(index: Any) -> tuple[Any, ...]:
    return _values(index), index.name


def _index(values: Any, name: Any) -> Any:
    own = _own(values)
    return pd.Index(own, own.dtype, name=name)


def _multi_parts(index: Any) -> tuple[Any, ...]:
    return list(index.levels), [np.asarray(codes) for codes in index.codes], list(index.names), index.sortorder


def _multi(levels: Any, codes: Any, names: Any, order: Any) -> Any:
    return pd.MultiIndex(expect(list, levels), expect(list, codes), order, names)


def _typed(cls: Any) -> Kind:
    """Return the kind of an index of values of one type."""
    return checked(
        Kind(
            f"pandas.{cls.__name__}",
            cls,
            lambda v: (v.array, v.name),
            lambda values, name: cls(_own(values), name=name),
            ("", ".name"),
        )
    )


def _spaced(cls: Any) -> Kind:
    """Return the kind of an index of times that may have a frequency."""
    return checked(
        Kind(
            f"pandas.{cls.__name__}",
            cls,
            lambda v: (v.array, v.name, _freq(v)),
            lambda values, name, freq: cls(_own(values), name=name, freq=freq),
            ("", ".name"),
        )
    )


def _freq(value: Any) -> Any:
    freq = getattr(value, "freq", None)  # arrays do not have it in newer versions
    return freq and freq.freqstr


# Arrays


def _zone(zone: Any) -> Any:
    """Return the stored form of a time zone: a tuple for one of pytz, which older versions have."""
    name = getattr(zone, "zone", None)
    if name is None or not type(zone).__module__.startswith("pytz"):
        return zone
    return ("pytz", name)


def _zone_of(entry: Any) -> Any:
    if type(entry) is not tuple:
        return entry
    import pytz

    return pytz.timezone(entry[1])


def _dates_parts(array: Any) -> tuple[Any, ...]:
    naive = array if array.tz is None else array.tz_convert("UTC").tz_localize(None)
    return naive.to_numpy(), _zone(array.tz), _freq(array)


def _dates(values: Any, zone: Any, freq: Any) -> Any:
    index = pd.DatetimeIndex(_own(values))
    if zone is not None:
        index = index.tz_localize("UTC").tz_convert(_zone_of(zone))
    if freq is not None:
        index.freq = freq
    return index.array


def _spans_parts(array: Any) -> tuple[Any, ...]:
    return array.to_numpy(), _freq(array)


def _spans(values: Any, freq: Any) -> Any:
    index = pd.TimedeltaIndex(_own(values))
    if freq is not None:
        index.freq = freq
    return index.array


def _category_parts(array: Any) -> tuple[Any, ...]:
    return np.asarray(array.codes), array.categories, array.ordered


def _category(codes: Any, categories: Any, ordered: Any) -> Any:
    return pd.Categorical.from_codes(_own(codes), categories, ordered)


def _interval_parts(array: Any) -> tuple[Any, ...]:
    return _values(array.left), _values(array.right), array.closed


def _interval(left: Any, right: Any, closed: Any) -> Any:
    return pd.arrays.IntervalArray.from_arrays(_own(left), _own(right), closed)


def _period(ordinals: Any, freq: Any) -> Any:
    return pd.arrays.PeriodArray(_own(ordinals), pd.PeriodDtype(expect(str, freq)))


def _texts_parts(array: Any) -> tuple[Any, ...]:
    dtype = array.dtype
    if dtype.storage == "pyarrow":  # as stored in memory: Python strings take twenty times as long
        values: Any = array.__arrow_array__().combine_chunks().cast("large_string")  # 2.1 has it as strings
    else:
        values = array.to_numpy(object, na_value=None).tolist()
    return values, dtype.storage, dtype.na_value is not pd.NA


def _texts(values: Any, storage: Any, nan: Any) -> Any:
    missing: Any = {"na_value": np.nan} if nan else {}
    if storage == "pyarrow":
        import pyarrow as pa

        values = expect(pa.LargeStringArray, values)
    return pd.array(values if storage == "pyarrow" else expect(list, values), pd.StringDtype(storage, **missing))


def _nullable(cls: Any) -> Kind:
    return checked(
        Kind(
            f"pandas.{cls.__name__}",
            cls,
            lambda v: (v._data, v._mask),
            lambda values, mask: cls(_own(values), _own(mask)),
        )
    )


def _arrow(array: Any) -> Any:
    return pd.arrays.ArrowExtensionArray(array)


# Scalars


def _time_parts(time: Any) -> tuple[Any, ...]:
    return (time if time.tz is None else time.tz_convert("UTC").tz_localize(None)).asm8, _zone(time.tz)


def _time(value: Any, zone: Any) -> Any:
    time = pd.Timestamp(expect(np.datetime64, value))
    return time if zone is None else time.tz_localize("UTC").tz_convert(_zone_of(zone))


def _sparse(array: Any) -> tuple[Any, ...]:
    raise Refused("a sparse array of pandas cannot be cached; return .to_dense() of it")


register(
    checked(
        Kind(
            "pandas.DataFrame",
            pd.DataFrame,
            _frame_parts,
            _frame,
            (".column", ".columns", ".index", ".attrs"),
        )
    ),
    checked(Kind("pandas.Series", pd.Series, _series_parts, _series, ("", ".index", ".name", ".attrs"))),
    checked(Kind("pandas.Index", pd.Index, _index_parts, _index, ("", ".name"))),
    Kind(
        "pandas.RangeIndex",
        pd.RangeIndex,
        lambda v: (v.start, v.stop, v.step, v.name),
        lambda start, stop, step, name: pd.RangeIndex(start, stop, step, name=name),
        ("", "", "", ".name"),
    ),
    checked(Kind("pandas.MultiIndex", pd.MultiIndex, _multi_parts, _multi, (".levels", ".codes", ".names"))),
    *map(_typed, (pd.PeriodIndex, pd.CategoricalIndex, pd.IntervalIndex)),
    *map(_spaced, (pd.DatetimeIndex, pd.TimedeltaIndex)),
    checked(Kind("pandas.DatetimeArray", pd.arrays.DatetimeArray, _dates_parts, _dates, ("", ".tz", ".freq"))),
    checked(Kind("pandas.TimedeltaArray", pd.arrays.TimedeltaArray, _spans_parts, _spans)),
    checked(Kind("pandas.Categorical", pd.Categorical, _category_parts, _category, ("", ".categories"))),
    checked(Kind("pandas.IntervalArray", pd.arrays.IntervalArray, _interval_parts, _interval)),
    checked(Kind("pandas.PeriodArray", pd.arrays.PeriodArray, lambda v: (v.asi8, v.freqstr), _period)),
    *(
        checked(Kind("pandas.StringArray", cls, _texts_parts, _texts))
        for cls in {type(pd.array([], pd.StringDtype("python"))), pd.arrays.StringArray, pd.arrays.ArrowStringArray}
    ),
    *map(_nullable, (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)),
    checked(
        Kind(
            "pandas.ArrowExtensionArray",
            pd.arrays.ArrowExtensionArray,
            lambda v: (v.__arrow_array__(),),
            _arrow,
        )
    ),
    checked(
        Kind(
            "pandas.NumpyExtensionArray",
            PLAIN,
            lambda v: (v.to_numpy(),),
            lambda v: PLAIN(_own(v)),
        )
    ),
    Kind("pandas.SparseArray", pd.arrays.SparseArray, _sparse, _arrow),
    Kind("pandas.NaT", type(pd.NaT), lambda v: (), lambda: pd.NaT, shared=False),
    Kind("pandas.NA", type(pd.NA), lambda v: (), lambda: pd.NA, shared=False),
    checked(Kind("pandas.Timestamp", pd.Timestamp, _time_parts, _time, ("", ".tz"), shared=False)),
    checked(
        Kind(
            "pandas.Period",
            pd.Period,
            lambda v: (v.ordinal, v.freqstr),
            lambda ordinal, freq: pd.Period(ordinal=expect(int, ordinal), freq=expect(str, freq)),
            shared=False,
        )
    ),
    Kind(
        "pandas.Interval",
        pd.Interval,
        lambda v: (v.left, v.right, v.closed),
        pd.Interval,
        (".left", ".right"),
        shared=False,
    ),
    checked(
        Kind(
            "pandas.Timedelta",
            pd.Timedelta,
            lambda v: (v.asm8,),
            lambda v: pd.Timedelta(expect(np.timedelta64, v)),
            shared=False,
        )
    ),
)

for cls in (pd.DataFrame, pd.Series):
    CURES[cls] = f"return pandas.{cls.__name__}(...) of it"
