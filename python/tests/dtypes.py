"""Values of pandas that differ only in their dtypes, or in how a value is missing."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from larder._identity.digest import digest
from larder._identity.values.frames import PLAIN


def storages() -> list[str]:
    return ["python", *(["pyarrow"] if importlib.util.find_spec("pyarrow") else [])]


def strings() -> list[Any]:
    """Return the dtypes that a column of strings may have, including object."""
    made: list[Any] = [object, *(pd.StringDtype(storage) for storage in storages())]
    if pd.__version__ >= "3":
        made += [pd.StringDtype(storage, na_value=np.nan) for storage in storages()]
    if "pyarrow" in storages():
        import pyarrow as pa

        made += [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
    return made


NUMBERS = ["int64", "int32", "Int64", "Int32", "UInt8", "float64", "Float64", "bool", "boolean", object, "Sparse[int]"]
MISSING = [None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.float64("nan")]

HOLDERS: dict[str, Callable[[Any], Any]] = {
    "array": lambda a: a,
    "series": lambda a: series(a),
    "frame": lambda a: pd.DataFrame({"a": series(a), "b": 1}),
    "index": lambda a: index(a),
    "rows": lambda a: pd.Series(range(len(a)), index=index(a)),
    "columns": lambda a: pd.DataFrame([range(len(a))], columns=index(a)),
    "categories": lambda a: pd.Categorical.from_codes([0], index(a)),
    "series of categories": lambda a: pd.Series(pd.Categorical.from_codes([0], index(a))),
    "dtype of categories": lambda a: pd.CategoricalDtype(index(a)),
    "levels": lambda a: pd.MultiIndex([index(a), [1]], [[0], [0]]),
    "index of categories": lambda a: pd.CategoricalIndex(pd.Categorical.from_codes([0], index(a))),
}


def plain(array: Any) -> Any:
    """Return an array of NumPy, if there is one whose dtype pandas keeps."""
    return array.to_numpy() if type(array) is PLAIN else array


def series(array: Any) -> Any:
    return pd.Series(plain(array), dtype=plain(array).dtype)


def index(array: Any) -> Any:
    return pd.Index(plain(array), dtype=plain(array).dtype)


UNIQUE = ("categories", "series of categories", "dtype of categories", "levels", "index of categories")


def arrays(holder: str) -> list[Any]:
    """Return arrays for a container that must have different keys."""
    texts = [pd.array(["x", "y"], dtype=dtype) for dtype in strings()]
    numbers = [pd.array([0, 1], dtype=dtype) for dtype in NUMBERS]
    if holder == "array":
        return [*texts, *numbers, *missing()]
    if holder in UNIQUE:  # no missing values, and not all types of numbers
        return [*texts, *(pd.array([0, 1], dtype=dtype) for dtype in ("int64", "Int64", "float64", "bool", object))]
    return [*texts, *numbers, *missing()]


def missing() -> list[Any]:
    made = [pd.array(["x", None], dtype=dtype) for dtype in strings() if dtype is not object]
    return made + [PLAIN(np.array(["x", one], dtype=object)) for one in MISSING]


def cases() -> list[tuple[str, Any]]:
    return [(holder, make(array)) for holder, make in HOLDERS.items() for array in arrays(holder)]


def reported(value: Any) -> list[Any]:
    """Return the dtypes of a value, and the classes of its values."""
    if isinstance(value, pd.DataFrame):
        return [reported(value[name]) for name in value.columns] + reported(value.columns)
    if isinstance(value, pd.MultiIndex):
        return [reported(level) for level in value.levels]
    dtype, parts = value.dtype, [type(value), [type(one) for one in value]]
    parts += [type(dtype), str(dtype), getattr(dtype, "storage", None), repr(getattr(dtype, "na_value", None))]
    parts += reported(dtype.categories) if isinstance(dtype, pd.CategoricalDtype) else []
    return parts + (reported(value.index) if isinstance(value, pd.Series) else [])


if __name__ == "__main__":
    sys.stdout.write("\n".join(digest(value).hex() for _, value in cases()))
