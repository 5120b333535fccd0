"""Test the encoding of arrays and scalars of NumPy, and of rows of arrays."""

from __future__ import annotations

import mmap
import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from restored import back, same_arrays

from larder._results import decode, decode_rows, encode, encode_rows, parts
from larder.errors import ResultError

ma: Any = np.ma


def arrays() -> list[Any]:
    found: list[Any] = []
    for char in "?bBhHiIlLqQpPefdgFDG":
        found += [np.arange(6).astype(char).reshape(2, 3), np.dtype(char).type(1)]
    counted = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    found += [counted.astype(">i2"), np.asfortranarray(counted), counted.transpose(1, 0, 2), counted[::-1, ::2]]
    found += [np.broadcast_to(np.float32(3), (4, 5)), np.array(5), np.zeros((0, 3)), np.zeros((2, 0), order="F")]
    found += [np.frombuffer(bytes.fromhex("010000000000f4ff000000000000f87f"), "<f8"), np.array([-0.0, 0.0])]
    found += [np.array(["a", "bcd", "\ud800"]), np.array([b"a\0b", b""]), np.array([b"abc"], "V3"), np.array("")]
    found += [np.array(["2020-01-01", "NaT"], "M8[D]"), np.array([1, 2], "m8[25us]"), np.array([1], ">M8[ns]")]
    found += [np.zeros(3, "V0"), np.zeros(2, []), np.zeros((1,) * 32)]
    pair = np.dtype([("a", "u1"), ("b", ">f8", (2, 2)), ("c", [("d", "U3")])])
    aligned = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    gaps: Any = {"names": ["x", "y"], "formats": ["i4", "i2"], "offsets": [8, 2], "itemsize": 16, "titles": [None, "t"]}
    found += [np.zeros(2, pair), np.zeros(2, aligned), np.zeros(2, np.dtype(gaps)), np.zeros((2, 2), np.dtype(gaps)).T]
    found += [np.ones(2, pair)[0], np.array([b"abc"], "V3")[0], np.zeros(1, np.dtype((np.record, aligned)))]
    found += [np.zeros(1, np.dtype((np.record, aligned)))[0]]
    found += [np.datetime64("2020-01-01T00:00"), np.timedelta64(3, "h"), np.datetime64("NaT", "s"), np.longlong(3)]
    found += [np.dtype(">f4"), aligned, pair, np.dtype("M8[3s]"), np.dtype("q")]
    objects = np.empty((2, 3), object, order="F")
    objects[:] = [[1, "a", None], [2.5, b"x", True]]
    return [*found, objects, objects.T, np.array(None), np.empty((0, 2), object)]


@pytest.mark.parametrize(
    "value", arrays(), ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', value)}"
)
def test_arrays_come_back_as_they_were(value: Any) -> None:
    made = back(value)
    back([1, value, "x" * 2000, (value, value)])
    if isinstance(value, np.ndarray):
        assert not made.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            made[...] = made
    if isinstance(value, np.generic):
        assert made.dtype.char == value.dtype.char
        assert made.tobytes() == value.tobytes()


def test_texts_with_zeros_at_their_end_come_back() -> None:
    text = decode(encode(np.str_("ab\0")))
    assert type(text) is np.str_
    assert str.__str__(text) == "ab\0"
    data = decode(encode(np.bytes_(b"a\0")))
    assert type(data) is np.bytes_
    assert bytes(data) == b"a\0"


@pytest.mark.parametrize(
    "value",
    [
        ma.array([1, 2, 3], mask=[0, 1, 0], fill_value=9),
        ma.array([1.5, 2]),
        ma.array([[1, 2]], mask=[[1, 0]], hard_mask=True),
        ma.array([(1, 2.0)], mask=[(0, 1)], dtype=[("a", int), ("b", float)]),
        ma.masked_all((2, 2)),
    ],
    ids=repr,
)
def test_masked_arrays_come_back(value: Any) -> None:
    made = decode(encode(value))
    assert type(made) is type(value)
    assert same_arrays(made.data, np.asarray(value.data))
    assert (made.mask is np.ma.nomask) == (value.mask is np.ma.nomask)
    assert np.array_equal(made.mask, value.mask)
    assert made.fill_value == value.fill_value
    assert made.hardmask == value.hardmask
    assert decode(encode([np.ma.masked]))[0] is np.ma.masked


def test_an_array_is_a_view_of_the_encoding() -> None:
    big = np.arange(1000.0)
    encoded = encode(["x", big, np.ones(2, "f4")])
    memory = np.frombuffer(encoded, np.uint8)
    for array in decode(encoded)[1:]:
        assert np.shares_memory(array, memory)
        assert (array.ctypes.data - memory.ctypes.data) % 64 == 0


def test_an_array_of_memory_that_may_be_written_to_cannot_be() -> None:
    array = decode(bytearray(encode(np.arange(3))))
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        array.flags.writeable = True


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY])
def test_an_array_of_a_mapping_stays(access: int, tmp_path: Path) -> None:
    file = tmp_path / "result"
    file.write_bytes(encode({"a": np.arange(10_000), "b": "text"}))
    with open(file, "rb") as opened:
        mapping = mmap.mmap(opened.fileno(), 0, access=access)
    value = decode(mapping)
    del mapping
    file.unlink()
    assert value["b"] == "text"
    assert value["a"].sum() == 49_995_000


def test_an_array_that_comes_twice_is_one_array_again() -> None:
    array, objects = np.arange(1000), np.array([[], None], object)
    value = decode(encode([array, {"a": array}, array.copy(), objects, objects]))
    assert value[0] is value[1]["a"] is not value[2]
    assert value[3] is value[4]
    assert len(encode([array] * 10)) < 9000


def test_arrays_in_an_array_of_objects_stay_arrays() -> None:
    items: list[Any] = [np.array(5), np.array([1, 2]), [1, 2], np.array([7]), [3], np.array([[None]]), ma.array([1])]
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    made = decode(encode(array))
    assert list(map(type, made)) == list(map(type, items))
    assert [np.shape(item) for item in made] == [np.shape(item) for item in items]


def test_the_pieces_of_an_array_are_its_memory() -> None:
    array = np.arange(1000)
    assert any(isinstance(piece, np.ndarray) and np.shares_memory(piece, array) for piece in parts({"a": array}))


def loop() -> Any:
    array = np.empty(1, object)
    array[0] = [array]
    return array


class Own(np.ndarray):
    pass


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: np.zeros(2, [("a", int), ("o", object)]),
        r"array with objects in fields cannot be cached; return one array",
    ),
    (
        lambda: [np.matrix([1])],
        r"result\[0\]: a value of type numpy.*matrix cannot be cached; return numpy.asarray of it",
    ),
    (lambda: np.zeros(2).view(np.recarray), r"recarray cannot be cached; return numpy.asarray of it"),
    (lambda: np.zeros(2).view(Own), r"test_results_arrays.Own cannot be cached; return numpy.asarray of it"),
    (lambda: np.zeros(2, np.dtype("i4", metadata={"a": 1})), r"dtype.*cannot be cached; return it as one of a dtype"),
    (lambda: {"a": np.array([[1, object()]], object)}, r"result\['a'\]\[1\]: a value of type object"),
    (lambda: np.array([np.sin], object), r"result\[0\]: a value of type numpy.ufunc cannot be cached"),
    (lambda: np.dtype("S0"), r"dtype.*cannot be cached"),
    (loop, r"result\[0\]\[0\]: it contains itself"),
    (lambda: np.random.default_rng(1), r"Generator cannot be cached"),
    (lambda: np.array(["a"], "T") if np.__version__ >= "2" else np.matrix(1), r"cannot be cached"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_arrays_that_cannot_be_kept_are_refused(make: Callable[[], Any], words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = make()
    with pytest.raises(ResultError, match=words):
        encode(value)


def test_random_arrays_come_back() -> None:
    seed = int(os.environ.get("LARDER_SEED") or int.from_bytes(os.urandom(4)))
    print(f"LARDER_SEED={seed}")
    rng = random.Random(seed)
    for _ in range(200):
        shape = tuple(rng.randrange(5) for _ in range(rng.randrange(5)))
        dtype = np.dtype(rng.choice(["u1", "<f4", ">f8", "c16", "M8[s]", "U3", "S5", "?", "i4,f8", "V7"]))
        flat = np.frombuffer(rng.randbytes(int(np.prod(shape)) * dtype.itemsize), np.uint8)
        if dtype.kind in "?bU":
            flat = np.zeros_like(flat)
        array = np.ndarray(shape, dtype, flat.tobytes(), order=rng.choice(["C", "F"]))
        for way in (array, array.T, array[..., ::2] if shape else array):
            back(way)


# Rows

BATCHES: list[Any] = [
    np.arange(12.0).reshape(4, 3),
    np.arange(5),
    np.zeros((3, 0, 2)),
    np.asfortranarray(np.arange(30.0).reshape(5, 3, 2)),
    np.arange(40)[::-2],
    np.array(["a", "bc"]),
    np.array(["2020", "NaT"], "M8[Y]"),
    np.zeros(4, [("a", "i4"), ("b", "f8", 3)]),
    np.arange(6, dtype=">u2").reshape(1, 2, 3),
]


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: f"{batch.dtype} {batch.shape}")
def test_rows_come_back(batch: Any) -> None:
    rows = encode_rows(batch)
    assert rows == [encode(batch[i, ...].copy("C")) for i in range(len(batch))]
    made = decode_rows(rows)
    assert same_arrays(made, np.ascontiguousarray(batch))
    assert not made.flags.writeable
    assert same_arrays(decode_rows([memoryview(row) for row in rows[::-1]]), np.ascontiguousarray(batch[::-1]))
    assert same_arrays(decode(rows[0]), batch[0, ...].copy("C"))


def test_rows_in_the_order_of_columns_come_back() -> None:
    batch = np.arange(24.0).reshape(2, 3, 4)
    rows = [encode(np.asfortranarray(row)) for row in batch]
    made = decode_rows(rows)
    assert np.array_equal(made, batch)
    assert not made.flags.writeable


def test_rows_that_are_not_alike_are_refused() -> None:
    for other in (np.zeros(3, "f4"), np.zeros((1, 3)), np.zeros(4), [1], None):
        with pytest.raises(ResultError, match="row 2 is not of the dtype, shape and order of row 0"):
            decode_rows([encode(np.zeros(3)), encode(np.zeros(3)), encode(other)])
    with pytest.raises(ResultError, match="there are none"):
        decode_rows([])
    with pytest.raises(ResultError, match="row 0 is a list"):
        decode_rows([encode([1])])
    with pytest.raises(ResultError, match="damaged"):
        decode_rows([encode(np.zeros(3))[:-1]])


def test_what_has_no_rows_is_refused() -> None:
    for value in (np.array(1), [1, 2], 5):
        with pytest.raises(ResultError, match="has no rows"):
            encode_rows(value)
    with pytest.raises(ResultError, match="objects"):
        encode_rows(np.array([None]))
    assert encode_rows(np.zeros((0, 3))) == []
