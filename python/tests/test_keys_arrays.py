"""Test keys of arrays, tensors, tables and images."""

from __future__ import annotations

import datetime
import itertools
import os
import subprocess
import sys
import threading
from hashlib import sha256
from typing import Any

import pytest

import larder
from larder._identity.digest import digest, digest_rows
from larder._identity.values import hash
from larder._identity.values.text import describe
from larder._results import decode, encode

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")

np: Any = pytest.importorskip("numpy", reason="NumPy is not installed")


def different() -> list[Any]:
    base = np.arange(6, dtype=np.int32)
    return [
        base,
        base.astype(np.int64),
        base.astype(np.uint32),
        base.astype(">i4"),
        base.astype(np.float32),
        base.reshape(2, 3),
        base.reshape(3, 2),
        base.reshape(6, 1),
        base.reshape(1, 6),
        np.asfortranarray(base.reshape(2, 3)),
        base[::-1],
        base[:5],
        list(range(6)),
        base.tolist(),
        base.tobytes(),
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros(0, np.float32),
        np.zeros(()),
        np.float64(0),
        0.0,
        np.float32(0),
        np.int64(1),
        np.bool_(True),
        np.array([0.0]),
        np.array([-0.0]),
        np.array([np.nan]),
        -np.array([np.nan]),
        np.array(["a"]),
        np.array(["a"], dtype="U2"),
        np.array([b"a"]),
        np.array(["a"], dtype=object),
        np.array([1, None], dtype=object),
        np.array([1.0, None], dtype=object),
        np.array(["2020-01-01"], "M8[D]"),
        np.array(["2020-01-01"], "M8[s]"),
        np.array([1], "m8[D]"),
        np.zeros(2, [("a", "i4"), ("b", "i4")]),
        np.zeros(2, [("b", "i4"), ("a", "i4")]),
        np.zeros(2, np.dtype([("a", "i4"), ("b", "i4")], align=True)),
        np.zeros(2, np.dtype({"names": ["a"], "formats": ["i4"], "offsets": [4]})),
        np.ma.array([1, 2], mask=[0, 1]),
        np.ma.array([1, 2], mask=[1, 0]),
        np.ma.array([1, 2]),
        np.ma.array([1, 2], mask=[0, 1], fill_value=7),
        np.matrix([[1]]),
        np.array([[1]]),
        np.rec.array([(1,)], dtype=[("a", "i4")]),
        np.dtype("i4"),
        np.dtype("i8"),
        np.int32,
        np.random.default_rng(1),
        np.random.default_rng(2),
        np.random.RandomState(1),
        np.random.PCG64(1),
        np.add,
        np.subtract,
    ]


def test_different_arrays_have_different_keys() -> None:
    values = different()
    found = [digest(value) for value in values]
    for (a, one), (b, two) in itertools.combinations(zip(values, found, strict=True), 2):
        both_lists = isinstance(a, list) and isinstance(b, list)
        assert both_lists or one != two, (a, b)


def test_the_same_content_has_one_key_whatever_its_memory() -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (whole[:, ::2], whole[::2], whole[1:], whole.T, whole[:, 1], np.broadcast_to(whole[0], (3, 6))):
        assert digest(view.copy(order="K")) == digest(np.array(view, order="K"))
        assert digest(np.ascontiguousarray(view)) == digest(np.array(view, order="C"))
    assert digest(whole[:, 1]) == digest(whole[:, 1].copy())
    unaligned = np.frombuffer(b"x" + whole.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)
    assert digest(unaligned) == digest(whole)


def test_a_changed_element_changes_the_key() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 1000, 5000, 70_000, 300_000):
        a = rng.integers(0, 255, size, dtype=np.uint8)
        seen = {digest(a)}
        for at in {0, size // 2, size - 1}:
            a[at] ^= 1
            seen.add(digest(a))
        assert len(seen) == 1 + len({0, size // 2, size - 1})


def test_arrays_that_share_memory_are_told_apart_from_copies() -> None:
    a = np.arange(4)
    assert digest((a, a)) != digest((a, a.copy()))
    assert digest((a, a[:])) != digest((a, a.copy()))
    assert digest((a[:2], a[2:])) != digest((a[:2].copy(), a[2:].copy()))
    assert digest((a[:2],)) == digest((a[:2].copy(),))


def test_large_content_is_a_tree_of_pieces() -> None:
    for size in (0, 1, hash.PIECE - 1, hash.PIECE, hash.PIECE + 1, 3 * hash.PIECE, 5 * hash.PIECE + 7):
        content = os.urandom(size)
        pieces = [content[at : at + hash.PIECE] for at in range(0, size, hash.PIECE)]
        whole = sha256(content) if size <= hash.PIECE else sha256(b"".join(sha256(p).digest() for p in pieces))
        assert hash.tree(content) == whole.digest()


def test_many_threads_and_a_child_digest_at_once() -> None:
    content = os.urandom(4 * hash.PIECE)
    want = hash.tree(content)
    got: list[bytes] = []
    threads = [threading.Thread(target=lambda: got.append(hash.tree(content))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [want] * 8
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, hash.tree(content))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 64) == want
    os.close(read)
    os.close(write)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.arange(24).reshape(2, 3, 4),
        np.arange(24).reshape(2, 3, 4).transpose(0, 2, 1),
        np.arange(24).reshape(4, 6)[:, ::2],
        np.arange(5),
        np.zeros((3, 0)),
        np.zeros((0, 3)),
        np.zeros((2, 3000)),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array([["a", None]], dtype=object),
        np.zeros((2, 2), [("a", "i4")]),
    ],
    ids=range(11),
)
def test_rows_have_the_keys_that_they_have_alone(array: Any) -> None:
    want = [digest(row) for row in array]
    assert digest_rows(array) == want


def test_arrays_with_what_has_no_key_are_refused() -> None:
    with pytest.raises(larder.ArgumentError, match=r"value\[1\] is a lock"):
        digest(np.array([1, threading.Lock()], dtype=object))


def test_generators_are_known_by_how_many_were_made_of_them() -> None:
    one, two = np.random.default_rng(1), np.random.default_rng(1)
    assert digest(one) == digest(two)
    if not hasattr(one, "spawn"):
        pytest.skip("this NumPy is older than 1.25, so its generators have no spawn")
    one.spawn(1)
    assert digest(one) != digest(two)
    two.spawn(1)
    assert digest(one) == digest(two)


def test_arrays_in_words() -> None:
    text = describe(np.zeros((3, 224, 224), np.float32))
    assert text.startswith("float32 array of 3 x 224 x 224, ")
    assert text.endswith("…")


def test_tensors() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)
    base = torch.arange(6, dtype=torch.float32)
    values = [
        base,
        base.double(),
        base.half(),
        base.bfloat16(),
        base.int(),
        base.reshape(2, 3),
        base.reshape(3, 2),
        base.reshape(3, 2).t(),
        base.clone().requires_grad_(),
        torch.nn.Parameter(base.clone()),
        base.numpy(),
        torch.zeros(0),
        torch.zeros(0, 2),
        torch.zeros(()),
        torch.float32,
        torch.device("cpu"),
        torch.Size([2]),
        base + 1,
        torch.complex(base, base),
    ]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(torch.arange(12.0)[::2]) == digest(torch.arange(12.0)[::2].clone())
    with pytest.raises(larder.ArgumentError, match="sparse"):
        digest(base.reshape(2, 3).to_sparse())
    a = torch.zeros(3)
    assert digest((a, a)) != digest((a, a.clone()))


def test_frames() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    other = frame.copy()
    other.attrs["k"] = 1
    values = [
        frame,
        frame.rename(columns={"a": "c"}),
        frame[["b", "a"]],
        frame.astype({"a": "int32"}),
        frame.astype({"a": "Int64"}),
        frame.astype({"b": "category"}),
        frame.assign(b=pd.Categorical(["x", "y"], ["y", "x"])),
        frame.assign(b=pd.Categorical(["x", "y"], ["x", "y"], ordered=True)),
        frame.set_index("b"),
        frame.iloc[::-1],
        frame.assign(a=[1, 3]),
        frame.assign(b=pd.Series(["x", None], dtype=object)),
        frame.assign(b=pd.Series(["x", pd.NA], dtype=object)),
        frame.assign(a=pd.to_datetime(["2020-01-01", "2020-01-02"])),
        frame.assign(a=pd.to_datetime(["2020-01-01", "2020-01-02"]).tz_localize("UTC")),
        frame.assign(a=pd.to_datetime(["2020-01-01", None])),
        other,
        frame["a"],
        frame["b"],
        frame.index,
        frame.columns,
        pd.Index([0, 1]),
        pd.MultiIndex.from_tuples([(1, 2), (3, 4)]),
        pd.MultiIndex.from_tuples([(1, 2), (3, 5)]),
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-01", tz="UTC"),
        pd.Timedelta(1),
        pd.NA,
        pd.NaT,
        pd.Interval(0, 1),
        pd.Interval(0, 1, closed="both"),
        pd.Period("2020-01"),
    ]
    found = [digest(value) for value in values]
    for (a, one), (b, two) in itertools.combinations(zip(values, found, strict=True), 2):
        assert one != two, (a, b)
    assert digest(frame) == digest(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})) == digest(frame.copy())
    # The same columns, in blocks of another layout.
    one = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])
    two = pd.DataFrame({"a": [0.0, 2.0, 4.0], "b": [1.0, 3.0, 5.0]})
    assert digest(one) == digest(two)
    long = pd.DataFrame({"a": np.arange(1000)})
    before = digest(long)
    long.loc[500, "a"] = -1
    assert digest(long) != before


def test_dtypes_and_missing_values_of_pandas_are_told_apart_in_every_process() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    import dtypes

    cases = dtypes.cases()
    found = [digest(value) for _, value in cases]
    met: dict[bytes, tuple[str, Any]] = {}
    for (holder, value), key in zip(cases, found, strict=True):
        assert key not in met, (holder, value, met[key])
        met[key] = holder, value
    done = subprocess.run([sys.executable, dtypes.__file__], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [key.hex() for key in found]


def test_results_of_pandas_come_back_with_their_dtypes() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    import dtypes

    for holder, value in dtypes.cases():
        if holder == "dtype of categories" or "Sparse" in str(dtypes.reported(value)):
            with pytest.raises(larder.ResultError, match="cannot be cached"):
                encode(value)
            continue
        cached = encode(value)
        assert dtypes.reported(decode(cached)) == dtypes.reported(value), (holder, value)


def test_arrays_of_pandas_of_classes_of_the_program_are_known_by_their_code() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    from pandas.tests.extension.date.array import DateArray

    def made(rate: int) -> Any:
        class Own(DateArray):  # type: ignore[misc]
            def double(self) -> int:
                return len(self) * rate

        return Own([datetime.date(2020, 1, 1)])

    assert digest(made(2)) == digest(made(2)) != digest(made(3))


def test_tables_of_classes_of_the_program() -> None:
    pd = pytest.importorskip("pandas")

    class Named(pd.DataFrame):  # type: ignore[misc, name-defined]
        _metadata = ("unit",)

        @property
        def _constructor(self) -> type:
            return Named

    one, two = Named({"a": [1]}), Named({"a": [1]})
    one.unit = two.unit = "m"
    assert digest(one) == digest(two) != digest(pd.DataFrame({"a": [1]}))
    two.unit = "s"
    assert digest(one) != digest(two)


def test_tables_of_arrow() -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    chunks = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert digest(table) == digest(pa.concat_tables([table, table]).slice(3)) == digest(chunks.combine_chunks())
    assert digest(table) != digest(chunks)  # which to_batches shows
    assert digest(table["a"]) != digest(chunks["a"])
    values = [
        table,
        table.slice(1),
        table.select(["b", "a"]),
        table.cast(pa.schema([("a", pa.int32()), ("b", pa.string())])),
        table.replace_schema_metadata({"k": "v"}),
        pa.array([1, 2]),
        pa.array([1, 2], pa.int8()),
        pa.array([1, None]),
        pa.array([True, False]),
        pa.array([[1], [2, 3]]),
        pa.chunked_array([[1, 2]]),
        pa.scalar(1),
        pa.scalar(1, pa.int8()),
        pa.int8(),
        pa.int16(),
        table.schema,
    ]
    assert len({digest(value) for value in values}) == len(values)


def test_images() -> None:
    image: Any = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    one = image.new("RGB", (4, 3), (1, 2, 3))
    other = one.copy()
    other.putpixel((0, 0), (9, 9, 9))
    grey, palette = one.convert("L"), one.convert("P")
    swapped = palette.copy()
    swapped.putpalette([7] * 768)
    values = [one, other, grey, palette, swapped, one.resize((3, 4)), np.asarray(one)]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(one) == digest(image.new("RGB", (4, 3), (1, 2, 3)))
