"""Test Arrow files and streams that pyarrow writes, and directories that datasets saves."""

from __future__ import annotations

import datetime
import decimal
import io
from pathlib import Path
from typing import Any

import pytest

import larder

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")
np = pytest.importorskip("numpy")


def rows(node: larder.Node) -> list[dict[str, Any]]:
    with larder.Dataset(node) as dataset:
        return [{k: plain(dataset[i][k]) for k in dataset[i]} for i in range(len(dataset))]


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return bytes(value) if isinstance(value, memoryview) else value


def table(n: int) -> Any:
    draw = np.random.default_rng(0)
    missing = draw.random(n) < 0.2
    words = [None if m else f"text {k % 7} ä" * (1 + k % 3) for k, m in enumerate(missing)]
    fields = {
        "i": pa.array(draw.integers(-5, 5, n), pa.int64()),
        "i8": pa.array(draw.integers(-128, 128, n), pa.int8()),
        "u32": pa.array(draw.integers(0, 2**32, n), pa.uint32()),
        "u64": pa.array(draw.integers(0, 2**64, n, np.uint64), pa.uint64()),
        "maybe": pa.array([None if m else k for k, m in enumerate(missing)], pa.int16()),
        "f": pa.array(draw.random(n).astype(np.float32), pa.float32()),
        "h": pa.array(draw.random(n).astype(np.float16), pa.float16()),
        "d": pa.array(draw.random(n), pa.float64()),
        "b": pa.array([None if m else bool(k % 3) for k, m in enumerate(missing)]),
        "s": pa.array(words, pa.string()),
        "large": pa.array(words, pa.large_string()),
        "view": pa.array(words, pa.string_view()),
        "bytes": pa.array([draw.bytes(k % 50) for k in range(n)], pa.binary()),
        "fixed": pa.array([draw.bytes(5) for _ in range(n)], pa.binary(5)),
        "kind": pa.array(words).dictionary_encode(),
        "tokens": pa.array([draw.integers(0, 1000, k % 9).tolist() for k in range(n)], pa.list_(pa.int32())),
        "flags": pa.array([[True, False] * (k % 9) for k in range(n)], pa.large_list(pa.bool_())),
        "grid": pa.array([[[1.5 * k, 2], [3, 4], [5, 6]] for k in range(n)], pa.list_(pa.list_(pa.float32(), 2), 3)),
        "ragged": pa.array([None if m else [[1], [], None, [2, None], [3, 4]] for m in missing]),
        "boxes": pa.array([[{"x": k, "tags": ["t"] * (j % 3)} for j in range(k % 4)] for k in range(n)]),
        "struct": pa.array([None if m else {"p": {"q": k}, "r": None} for k, m in enumerate(missing)]),
        "nothing": pa.nulls(n),
    }
    return pa.table(fields)


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_what_pyarrow_writes_is_read(real: Path, tmp_path: Path, kind: str, compression: str | None) -> None:
    want = table(500)
    options = ipc.IpcWriteOptions(compression=compression)
    new = ipc.new_file if kind == "file" else ipc.new_stream
    with new(str(tmp_path / "a.arrow"), want.schema, options=options) as writer:
        writer.write_table(want, max_chunksize=170)
    got = rows(larder.arrow(path=str(tmp_path / "a.arrow")))
    assert len(got) == 500
    for w, g in zip(want.to_pylist(), got, strict=True):
        assert g == {k: float(v) if k == "h" else v for k, v in w.items()}


@pytest.mark.parametrize("deltas", [False, True])
def test_dictionaries_that_change(real: Path, tmp_path: Path, deltas: bool) -> None:
    batches = [
        pa.record_batch({"k": pa.DictionaryArray.from_arrays([1, 0, None], ["a", "b"])}),
        pa.record_batch({"k": pa.DictionaryArray.from_arrays([2, 0, 1], ["a", "b", "c"])}),
        pa.record_batch({"k": pa.DictionaryArray.from_arrays([0], ["x"])}),
    ]
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
    with ipc.new_stream(str(tmp_path / "a.arrows"), batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    got = rows(larder.arrow(path=str(tmp_path / "a.arrows")))
    assert [g["k"] for g in got] == ["b", "a", None, "c", "a", "b", "x"]


def test_values_that_documents_have_not_are_texts(real: Path, tmp_path: Path) -> None:
    when = datetime.datetime(2024, 2, 29, 23, 59, 59, 120_000)
    want = pa.table(
        {
            "date": pa.array([datetime.date(1969, 12, 31)], pa.date64()),
            "utc": pa.array([when], pa.timestamp("ms", "UTC")),
            "local": pa.array([when], pa.timestamp("us")),
            "time": [datetime.time(1, 2, 3)],
            "small": pa.array([decimal.Decimal("-1.05")], pa.decimal128(5, 2)),
            "large": pa.array([decimal.Decimal(10) ** 40], pa.decimal256(50, 3)),
            "map": pa.array([[("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int64())),
            "took": pa.array([datetime.timedelta(seconds=2)], pa.duration("ms")),
        }
    )
    with ipc.new_file(str(tmp_path / "a.arrow"), want.schema) as writer:
        writer.write_table(want)
    (got,) = rows(larder.arrow(path=str(tmp_path / "a.arrow")))
    assert got == {
        "date": "1969-12-31",
        "utc": "2024-02-29T23:59:59.12Z",
        "local": "2024-02-29T23:59:59.12",
        "time": "01:02:03",
        "small": "-1.05",
        "large": "1" + 40 * "0" + ".000",
        "map": {"a": 1, "b": None},
        "took": 2000,
    }


def test_folders_that_datasets_saves(real: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    image = pytest.importorskip("PIL.Image")
    encoded = []
    for shade in range(6):
        to = io.BytesIO()
        image.new("RGB", (4, 3), (40 * shade, 0, 0)).save(to, "PNG")
        encoded.append(to.getvalue())
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["cat", "dog"]),
            "grid": datasets.Array2D((2, 2), "float32"),
            "text": datasets.Value("string"),
        }
    )
    data = {
        "image": [{"bytes": b, "path": None} for b in encoded],
        "label": [0, 1, 0, 1, 0, 1],
        "grid": [[[k, 1], [2, 3]] for k in range(6)],
        "text": [f"row {k}" for k in range(6)],
    }
    saved = datasets.Dataset.from_dict(data, features=features)
    saved.save_to_disk(str(tmp_path / "one"), num_shards=2)
    datasets.DatasetDict(train=saved, test=saved.select([4, 1])).save_to_disk(str(tmp_path / "two"))
    order = {"one": range(6), "train": range(6), "test": [4, 1]}
    for name, indices in order.items():
        node = (
            larder.hf(path=str(tmp_path / "one"))
            if name == "one"
            else larder.hf(path=str(tmp_path / "two"), split=name)
        )
        got = rows(node)
        assert [g["text"] for g in got] == [f"row {k}" for k in indices]
        assert [g["label"] for g in got] == [k % 2 for k in indices]
        assert [g["grid"] for g in got] == [[[k, 1], [2, 3]] for k in indices]
        assert [g["image"] for g in got] == [[[[40 * k, 0, 0]] * 4] * 3 for k in indices]


@pytest.mark.parametrize("name", ["b.arrow", "b.arrows"])
def test_pyarrow_reads_what_is_written(real: Path, tmp_path: Path, name: str) -> None:
    want = table(400)
    with ipc.new_file(str(tmp_path / "a.arrow"), want.schema) as writer:
        writer.write_table(want)
    types = {"struct": "json", "i8": "int8", "f": "float32", "u64": "uint64", "maybe": "int16"}
    source = larder.source("arrow", path=str(tmp_path / "a.arrow"))
    larder.run(source.to_arrow(path=str(tmp_path / name), types=types))
    opened = ipc.open_file(str(tmp_path / name)) if name == "b.arrow" else ipc.open_stream(str(tmp_path / name))
    got = opened.read_all()
    got.validate(full=True)
    assert got.column_names == want.column_names
    plain = [n for n in want.column_names if n != "struct"]
    assert got.select(plain).to_pylist() == want.select(plain).to_pylist()
    assert got.schema.field("f").type == pa.float32()
    assert got.schema.field("tokens").type.value_type == pa.int32()
    if hasattr(pa, "json_"):
        assert got.schema.field("struct").type == pa.json_(pa.string())
    assert rows(larder.arrow(path=str(tmp_path / name))) == rows(larder.arrow(path=str(tmp_path / "a.arrow")))


def test_values_are_what_they_are_in_parquet(real: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    want = pa.table(
        {
            "nothing": [[None], [], [None, None]],
            "twice": pa.array([[("a", 1), ("a", 2)], [("b", 1)], []], pa.map_(pa.string(), pa.int8())),
            "numbered": pa.array([[(1, 1)], [], []], pa.map_(pa.int32(), pa.int8())),
            "dated": pa.array([[(datetime.date(2035, 1, 1), 1)], [], None], pa.map_(pa.date32(), pa.int8())),
            "inside": [{"box": [1, 2], "n": 1}, {"box": [], "n": 2}, None],
            "boxes": [[{"box": [1.5]}], [], [{"box": [1.0, 2.0]}]],
        }
    )
    with ipc.new_file(str(tmp_path / "a.arrow"), want.schema) as writer:
        writer.write_table(want)
    parquet.write_table(want, tmp_path / "a.parquet")
    got = rows(larder.arrow(path=str(tmp_path / "a.arrow")))
    assert got == rows(larder.parquet(path=str(tmp_path / "a.parquet")))
    assert [row["nothing"] for row in got] == [[None], [], [None, None]]
    assert got[0]["twice"] == [{"key": "a", "value": 1}, {"key": "a", "value": 2}]
    assert got[1]["twice"] == {"b": 1}
    assert [row["numbered"] for row in got] == [[{"key": 1, "value": 1}], [], []]
    assert got[0]["inside"] == {"box": [1, 2], "n": 1}


def test_lists_of_which_some_have_nulls_are_written_as_json(real: Path, tmp_path: Path) -> None:
    want = pa.table({"l": [[1, None], [2, 3], []]})
    with ipc.new_file(str(tmp_path / "a.arrow"), want.schema) as writer:
        writer.write_table(want)
    source = larder.source("arrow", path=str(tmp_path / "a.arrow"))
    larder.run(source.to_parquet(path=str(tmp_path / "b.parquet"), types={"l": "json"}))
    assert [row["l"] for row in rows(larder.parquet(path=str(tmp_path / "b.parquet")))] == [[1, None], [2, 3], []]


def test_a_schema_without_all_columns_is_an_error(real: Path, tmp_path: Path) -> None:
    one, two = pa.table({"a": [1]}), pa.table({"a": [1], "b": [2]})
    parts = []
    for i, table in enumerate((one, two)):
        with ipc.new_stream(str(tmp_path / f"{i}.arrows"), table.schema) as writer:
            writer.write_table(table)
        parts.append((tmp_path / f"{i}.arrows").read_bytes())
    schema = len(parts[0]) - len(_without_schema(parts[0]))
    (tmp_path / "c.arrows").write_bytes(parts[0][:schema] + _without_schema(parts[1]))
    with pytest.raises(larder.Error, match=r"c\.arrows"):
        rows(larder.arrow(path=str(tmp_path / "c.arrows")))


def _without_schema(stream: bytes) -> bytes:
    return stream[8 + int.from_bytes(stream[4:8], "little") :]
