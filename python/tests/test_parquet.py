"""Test that Parquet files written by pyarrow in any form are read, and that pyarrow reads ours."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any, Literal

import pytest

import larder

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
np = pytest.importorskip("numpy")


def rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    with larder.Dataset(larder.source("parquet", path=str(path), **options)) as dataset:
        return [plain(dataset[i]) for i in range(len(dataset))]


def plain(row: Any) -> dict[str, Any]:
    return {k: row[k].tolist() if isinstance(row[k], np.ndarray) else row[k] for k in row}


def table(n: int) -> Any:
    draw = np.random.default_rng(0)
    missing = draw.random(n) < 0.2
    maybe = [None if m else int(v) for m, v in zip(missing, draw.integers(-(2**62), 2**62, n), strict=True)]
    tokens = [draw.integers(0, 1000, k).tolist() for k in draw.integers(0, 9, n)]
    return pa.table(
        {
            "i": pa.array(draw.integers(-5, 5, n), pa.int64()),
            "i8": pa.array(draw.integers(-128, 128, n), pa.int8()),
            "u32": pa.array(draw.integers(0, 2**32, n), pa.uint32()),
            "u64": pa.array(draw.integers(0, 2**64, n, np.uint64), pa.uint64()),
            "maybe": pa.array(maybe, pa.int64()),
            "f": pa.array(draw.random(n).astype(np.float32), pa.float32()),
            "d": pa.array(draw.random(n), pa.float64()),
            "b": pa.array(draw.random(n) < 0.5, pa.bool_()),
            "s": pa.array([None if m else f"text {k % 7} ä" for k, m in enumerate(missing)], pa.string()),
            "bytes": pa.array([draw.bytes(k % 50) for k in range(n)], pa.binary()),
            "fixed": pa.array([draw.bytes(5) for _ in range(n)], pa.binary(5)),
            "tokens": pa.array(tokens, pa.list_(pa.int32())),
            "grid": pa.array([[[1.5 * k, 2], [3, 4], [5, 6]] for k in range(n)], pa.list_(pa.list_(pa.float32(), 2))),
            "ragged": pa.array([None if m else [["a"], [], None, ["b", None]] for m in missing]),
            "boxes": pa.array([[{"x": k, "tags": ["t"] * (j % 3)} for j in range(k % 4)] for k in range(n)]),
            "struct": pa.array([None if m else {"p": {"q": k}, "r": None} for k, m in enumerate(missing)]),
            "nothing": pa.nulls(n),
        }
    )


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4"])
def test_what_pyarrow_writes_is_read(real: Path, tmp_path: Path, version: str, compression: str) -> None:
    want = table(500)
    pq.write_table(
        want,
        tmp_path / "a.parquet",
        compression=compression,
        data_page_version=version,
        row_group_size=170,
        data_page_size=300,
        write_page_checksum=compression == "zstd",
    )
    got = rows(tmp_path / "a.parquet")
    assert len(got) == 500
    for w, g in zip(want.to_pylist(), got, strict=True):
        assert {k: bytes(v) if isinstance(v, memoryview) else v for k, v in g.items()} == w


@pytest.mark.parametrize(
    ("column", "encoding"),
    [
        ("i", "DELTA_BINARY_PACKED"),
        ("u32", "DELTA_BINARY_PACKED"),
        ("maybe", "DELTA_BINARY_PACKED"),
        ("s", "DELTA_LENGTH_BYTE_ARRAY"),
        ("s", "DELTA_BYTE_ARRAY"),
        ("bytes", "DELTA_BYTE_ARRAY"),
        ("fixed", "DELTA_BYTE_ARRAY"),
        ("f", "BYTE_STREAM_SPLIT"),
        ("i", "BYTE_STREAM_SPLIT"),
        ("fixed", "BYTE_STREAM_SPLIT"),
        ("b", "RLE"),
        ("i8", "PLAIN"),
    ],
)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_encodings(real: Path, tmp_path: Path, column: str, encoding: str, version: str) -> None:
    want = table(3000).select([column])
    pq.write_table(
        want,
        tmp_path / "a.parquet",
        use_dictionary=False,
        column_encoding={column: encoding},
        data_page_version=version,
        data_page_size=2000,
    )
    got = [bytes(g[column]) if isinstance(g[column], memoryview) else g[column] for g in rows(tmp_path / "a.parquet")]
    assert got == want.column(column).to_pylist()


def test_values_that_documents_have_not_are_texts(real: Path, tmp_path: Path) -> None:
    when = datetime.datetime(2024, 2, 29, 23, 59, 59, 120_000)
    pq.write_table(
        pa.table(
            {
                "date": [datetime.date(1969, 12, 31)],
                "utc": pa.array([when], pa.timestamp("ms", "UTC")),
                "local": pa.array([when], pa.timestamp("us")),
                "nanos": pa.array([1], pa.timestamp("ns")),
                "time": [datetime.time(1, 2, 3)],
                "small": pa.array([decimal.Decimal("-1.05")], pa.decimal128(5, 2)),
                "large": pa.array([decimal.Decimal(10) ** 40], pa.decimal256(50, 3)),
                "half": pa.array([np.float16(0.1)], pa.float16()),
                "nan": [float("nan")],
                "map": pa.array([[("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int64())),
            }
        ),
        tmp_path / "a.parquet",
    )
    (got,) = rows(tmp_path / "a.parquet")
    assert np.isnan(got.pop("nan"))
    assert got == {
        "date": "1969-12-31",
        "utc": "2024-02-29T23:59:59.12Z",
        "local": "2024-02-29T23:59:59.12",
        "nanos": "1970-01-01T00:00:00.000000001",
        "time": "01:02:03",
        "small": "-1.05",
        "large": "1" + 40 * "0" + ".000",
        "half": float(np.float16(0.1)),
        "map": {"a": 1, "b": None},
    }


def test_pyarrow_reads_what_is_written(real: Path, tmp_path: Path) -> None:
    want = table(400)
    pq.write_table(want, tmp_path / "a.parquet")
    types = {"i8": "int8", "f": "float32", "u64": "uint64"}
    ways: list[Literal["zstd", "snappy", "gzip", "none"]] = ["zstd", "snappy", "gzip", "none"]
    for compress in ways:
        source = larder.source("parquet", path=str(tmp_path / "a.parquet"))
        larder.run(source.to_parquet(path=str(tmp_path / f"{compress}.parquet"), types=types, compress=compress))
        pq.ParquetFile(tmp_path / f"{compress}.parquet", page_checksum_verification=True).read()
        got = pq.read_table(tmp_path / f"{compress}.parquet")
        assert got.column_names == want.column_names
        assert got.to_pylist() == want.to_pylist()
        assert got.schema.field("nothing").type == pa.null()
        assert got.schema.field("f").type == pa.float32()
        assert got.schema.field("tokens").type.value_type == pa.int32()
        assert rows(tmp_path / f"{compress}.parquet") == rows(tmp_path / "a.parquet")
