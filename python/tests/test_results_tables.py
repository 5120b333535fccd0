"""Test the encoding of pandas frames and Arrow tables."""

from __future__ import annotations

import datetime
import io
from typing import Any

import numpy as np
import pytest

from larder._results import decode, encode
from larder.errors import ResultError

pd: Any = pytest.importorskip("pandas", reason="pandas is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def columns() -> dict[str, Any]:
    return {
        "ints": [1, 2, 3],
        "floats": [1.5, np.nan, -0.0],
        "texts": ["a", None, "c"],
        "objects": pd.Series([1, "x", None], dtype=object),
        "categories": pd.Categorical(["a", None, "b"], ["b", "a", "unused"], ordered=True),
        "times": pd.date_range("2020", periods=3, unit="ms")
        if pd.__version__ >= "2"
        else pd.date_range("2020", periods=3),
        "zoned": pd.date_range("2020-10-25", periods=3, freq="h", tz="Europe/Berlin"),
        "fixed": pd.date_range("2020", periods=3, tz=datetime.timezone(datetime.timedelta(hours=1))),
        "nullable": pd.array([1, None, 3], "Int64"),
        "small": pd.array([1, None, 3], "UInt8"),
        "truths": pd.array([True, None, False], "boolean"),
        "nullable floats": pd.array([1.5, None, 2], "Float32"),
        "strings": pd.array(["x", None, "é"], "string"),
        "python strings": pd.array(["x", None, "z"], pd.StringDtype("python")),
        "arrow strings": pd.array(["x", None, "z"], pd.StringDtype("pyarrow")),
        "periods": pd.period_range("2020", periods=3, freq="M"),
        "intervals": pd.interval_range(0, 3, closed="left"),
        "spans": pd.to_timedelta([1, 2, None], unit="s"),
        "arrow": pd.array([1, 2, None], dtype=pd.ArrowDtype(pa.int32())),
        "arrow lists": pd.array([[1], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
        "bools": [True, False, True],
        "float16": np.array([1, 2, 3], "f2"),
    }


def frames() -> dict[str, Any]:
    frame = pd.DataFrame(columns())
    named = pd.DataFrame(np.arange(15.0).reshape(5, 3), columns=pd.Index(["a", "b", "c"], name="letters"))
    noted = pd.DataFrame({"a": [1]}).set_flags(allows_duplicate_labels=False)
    noted.attrs["source"] = {"a": [1]}
    return {
        "all columns": frame,
        "by an index": frame.set_index("texts"),
        "by several": frame.set_index(["ints", "categories", "zoned"]),
        "one column": frame[["ints"]],
        "of numbers": named,
        "in the order of rows": pd.DataFrame(np.arange(6).reshape(2, 3)),
        "turned": named.T,
        "every other row": named.iloc[::2],
        "sorted": named.sort_values("a", ascending=False),
        "nothing": pd.DataFrame(),
        "rows alone": pd.DataFrame(index=[1, 2]),
        "columns alone": pd.DataFrame(columns=["a", "b"]),
        "columns of one name": pd.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"]),
        "columns of two levels": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
        "notes": noted,
        "labels that come twice": pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=[0, 0, None]),
        "of objects": pd.DataFrame({"a": ["x", 1], "b": [None, (1, 2)]}, dtype=object),
        "bytes per column": pd.DataFrame({"a": np.array([1, 2], "i1"), "b": np.array([1, 2], "i1")}),
    }


def rest() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in columns():
        column = pd.DataFrame(columns())[name]
        found |= {f"series {name}": column.rename(("a", 1)), f"array {name}": column.array}
        if name not in ("arrow lists", "float16"):
            found[f"index {name}"] = pd.Index(column, name="i")
    found |= {
        "range": pd.RangeIndex(3, 30, 3, name="x"),
        "two levels": pd.MultiIndex.from_product([[1, 2], ["a", "b"]], names=["x", None]),
        "days": pd.date_range("2020", periods=3, freq="D", tz="UTC", name="d"),
        "hours": pd.timedelta_range("1s", periods=3, freq="h"),
        "no values": pd.Series([], dtype="int8"),
        "objects": pd.Series(["a"], dtype=object),
        "index of objects": pd.Index(["a", 1, None]),
        "time": pd.Timestamp("2020-10-25 01:30:00.000000001", tz="UTC").tz_convert("Europe/Berlin"),
        "time in utc": pd.Timestamp("2020", tz=datetime.UTC),
        "time of no zone": pd.Timestamp(2020, 1, 1),
        "span": pd.Timedelta("1D"),
        "period": pd.Period("2020-03", "M"),
        "interval": pd.Interval(1, 2.5, "both"),
        "no time": pd.NaT,
        "nothing known": pd.NA,
    }
    return found


def check_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True, check_freq=True, check_flags=True)
        assert a.attrs == b.attrs
    elif isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b, check_exact=True, check_freq=True, check_flags=True)
    elif isinstance(a, pd.Index):
        pd.testing.assert_index_equal(a, b, exact=True)
        assert getattr(a, "freq", None) == getattr(b, "freq", None)
    elif isinstance(a, pd.api.extensions.ExtensionArray):
        pd.testing.assert_extension_array_equal(a, b)
    else:
        assert repr(a) == repr(b)


@pytest.mark.parametrize(("name", "value"), [*frames().items(), *rest().items()], ids=[*frames(), *rest()])
def test_values_of_pandas_come_back(name: str, value: Any) -> None:
    encoded = encode([1, value])
    made = decode(encoded)[1]
    check_same(made, value)
    assert encode([1, made]) == encoded


def test_a_frame_may_be_written_to() -> None:
    for frame in frames().values():
        encoded = encode(frame)
        made = decode(encoded)
        for i, name in enumerate(made.columns if len(made) else ()):
            if name != "arrow lists":  # pandas does not accept a list for one position
                made.iloc[0, i] = made.iloc[-1, i]
        made.insert(0, "new" if made.columns.nlevels == 1 else ("new", 1), 1)
        check_same(decode(encoded), frame)


def test_frames_that_are_one_are_one_again() -> None:
    frame = pd.DataFrame({"a": range(1000)})
    value = decode(encode({"x": frame, "y": [frame]}))
    assert value["x"] is value["y"][0]


class Own(pd.DataFrame):  # type: ignore[misc]
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (pd.DataFrame({"a": [1], "b": [object()]}), r"result\.column\[1\]\[0\]: a value of type object"),
        (pd.Series([1], name=object()), r"result\.name: a value of type object"),
        (pd.Series(pd.arrays.SparseArray([0, 1])), r"sparse array of pandas cannot be cached; return \.to_dense\(\)"),
        (Own(), r"test_results_tables.Own cannot be cached; return pandas.DataFrame\(...\) of it"),
        (pd.Series([1]).groupby([1]), r"SeriesGroupBy cannot be cached"),
        (pa.scalar(1), r"Int64Scalar cannot be cached"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_cannot_be_kept_are_refused(value: Any, words: str) -> None:
    with pytest.raises(ResultError, match=words):
        encode(value)


def test_a_frame_that_would_come_back_as_another_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [1.5, 2]})
    encode(frame)
    made = pd.DataFrame
    monkeypatch.setattr("larder._results.frames.pd.Series", lambda *a, **k: made({"a": [1, 3]})["a"])
    with pytest.raises(ResultError, match="this DataFrame cannot be cached, as it would be restored with a different"):
        encode(frame)


# Arrow


def tables() -> dict[str, Any]:
    table = pa.table({"a": [1, 2, None], "s": ["x", None, "é"], "f": pa.array([1.5, float("nan"), None])})
    return {
        "table": table,
        "slice": table.slice(1, 1),
        "chunks": pa.table({"a": pa.chunked_array([[1, 2], [3]]), "b": pa.chunked_array([["x"], ["y", None]])}),
        "no columns": pa.table({}),
        "rows alone": table.select([]),
        "no rows": table.slice(0, 0),
        "notes": table.replace_schema_metadata({"k": "v"}),
        "columns of one name": pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], ["a", "a"]),
        "batch": pa.RecordBatch.from_pylist([{"a": 1, "b": [1, 2]}]),
        "batch of no rows": pa.RecordBatch.from_pylist([], pa.schema([("a", pa.int8())])),
        "numbers": pa.array([1.5, None]),
        "lists": pa.array([[1], None, [2, 3]]),
        "structs": pa.array([{"a": 1, "b": "x"}, None]),
        "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
        "times": pa.array([datetime.datetime(2020, 1, 1)], pa.timestamp("us", "Europe/Berlin")),
        "nothing": pa.array([]),
        "nulls": pa.nulls(3),
        "part": pa.array([1, 2, 3, 4])[1:3],
        "bools": pa.array([True, None, False])[1:],
        "chunked": pa.chunked_array([[1], [2, None]]),
        "no chunks": pa.chunked_array([], pa.int8()),
        "decimals": pa.array([None], pa.decimal128(10, 2)),
    }


@pytest.mark.parametrize(("name", "value"), tables().items(), ids=list(tables()))
def test_tables_of_arrow_come_back(name: str, value: Any) -> None:
    encoded = encode([1, value])
    made = decode(encoded)[1]
    assert type(made) is type(value)
    assert encode([1, made]) == encoded
    assert str(made.to_pylist()) == str(value.to_pylist())
    if hasattr(value, "schema"):
        assert made.schema.equals(value.schema, check_metadata=True)
    else:
        assert made.type == value.type
    made.validate(full=True)


class Meters(pa.ExtensionType):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(pa.float64(), "test.meters")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Meters:
        return cls()


def test_types_of_arrow_that_are_registered_come_back_where_they_are() -> None:
    array = pa.ExtensionArray.from_storage(Meters(), pa.array([1.5]))
    with pytest.raises(ResultError, match="cannot be cached, as Arrow makes"):
        encode(pa.table({"a": array}))
    pa.register_extension_type(Meters())
    try:
        encoded = encode([array, pa.table({"a": array})])
        made = decode(encoded)
        assert made[0].type == made[1].schema.field(0).type == Meters()
    finally:
        pa.unregister_extension_type("test.meters")
    with pytest.raises(ResultError, match="a type of Arrow that is not registered"):
        decode(encoded)


def test_a_table_is_a_view_of_the_encoding() -> None:
    encoded = encode(pa.table({"a": np.arange(10_000)}))
    allocated = pa.total_allocated_bytes()
    table = decode(encoded)
    assert pa.total_allocated_bytes() - allocated < 10_000
    assert table["a"].chunk(0).buffers()[1].size == 80_000


# Images


def test_images_come_back() -> None:
    image_module: Any = pytest.importorskip("PIL.Image", reason="PIL is not installed")
    rng = np.random.default_rng(1)
    color = image_module.fromarray(rng.integers(0, 256, (7, 5, 3), dtype=np.uint8))
    images = [color.convert(mode) for mode in ("1", "L", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "P", "I", "F")]
    images += [image_module.new(mode, (5, 3)) for mode in ("LA", "LAB", "I;16", "La", "RGBa", "RGBX")]
    images += [image_module.new("RGB", (0, 3)), images[7].convert("PA")]
    images[0].info = {"dpi": (72.0, 72.0), "exif": b"x"}
    clear = image_module.new("P", (2, 2))
    clear.putpalette(bytes(range(256)) * 4, "RGBA")
    images += [
        image_module.new(mode, size) for mode in ("P", "PA", "1", "RGB", "F") for size in ((0, 0), (1, 1), (9, 1))
    ]
    for image in [*images, clear]:
        encoded = encode([image, image])
        made, twice = decode(encoded)
        assert made is twice
        assert type(made) is type(image)
        assert made == image
        assert made.info == image.info
        assert encode([made, made]) == encoded
        made.info["new"] = 1
        made.paste(0, (0, 0, 1, 1)) if made.size[0] and made.mode != "PA" else None


def test_images_that_cannot_be_kept_are_refused() -> None:
    image_module: Any = pytest.importorskip("PIL.Image", reason="PIL is not installed")
    file = io.BytesIO()
    image_module.new("RGB", (2, 2)).save(file, "png")
    opened = image_module.open(file)
    with pytest.raises(ResultError, match=r"PngImageFile cannot be cached; return \.copy\(\) of it"):
        encode(opened)
    assert decode(encode(opened.copy())) == opened.copy()
    image = image_module.new("RGB", (2, 2))
    image.info["made by"] = object()
    with pytest.raises(ResultError, match=r"result\.info\['made by'\]: a value of type object"):
        encode(image)
