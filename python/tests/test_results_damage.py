"""Test that damaged, truncated or foreign encodings give only an error or a value."""

from __future__ import annotations

import collections
import datetime
import os
import random
import struct
import tracemalloc
import zoneinfo
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_results import Color, Frozen, Node, Point, Right

from larder._results import decode, decode_rows, encode, encode_rows
from larder.errors import ResultError


def of_the_language() -> Any:
    texts = ["word", "é"] * 10
    return [
        [1, 2**70, 1.5, 1j, "x" * 70, b"y" * 70, None, True, ...],
        {"a": (1, (2, 3)), 5: {1, "x"}, (1, 2): frozenset({3})},
        [texts, texts, list(range(20)), (0.5,) * 20],
        bytearray(b"abc"),
        "z" * 1100,
        range(3),
        slice(1, 2),
    ]


def of_the_library() -> Any:
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    return [
        datetime.datetime(2020, 1, 1, tzinfo=zone),
        datetime.timedelta(1),
        collections.deque([1], 3),
        collections.Counter("ab"),
        Path("/a"),
    ]


def of_classes() -> Any:
    return [Frozen(1, (2,)), Frozen(3), Node("x", [Color.RED]), Point(1.5), Right.READ | Right.WRITE]


def of_arrays() -> Any:
    pairs = np.zeros(2, [("a", "u1"), ("b", ">f4", (2,))])
    return [np.arange(6.0).reshape(2, 3), pairs, np.array([1, None], object), np.float32(1), np.array(["a"]), pairs[0]]


def of_tensors() -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return [torch.arange(6.0).view(2, 3), torch.float16, torch.ones(2, dtype=torch.bool)]


def of_frames() -> Any:
    pd: Any = pytest.importorskip("pandas", reason="pandas is not installed")
    times = pd.date_range("2020", periods=2, tz="UTC")
    mixed = pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"]), "c": pd.array([1, None], "Int8"), "d": times})
    return [mixed, pd.DataFrame(np.zeros((2, 2)), columns=["a", "b"])]


def of_arrow() -> Any:
    pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pa.table({"a": [1, None], "s": ["x", "yy"], "l": [[1], []], "d": pa.array(["a", "b"]).dictionary_encode()})


def of_images() -> Any:
    image: Any = pytest.importorskip("PIL.Image", reason="PIL is not installed")
    return [image.new("RGB", (3, 2)), image.new("P", (3, 2)), image.new("1", (3, 2))]


KINDS = [of_the_language, of_the_library, of_classes, of_arrays, of_tensors, of_frames, of_arrow, of_images]

pytestmark = pytest.mark.filterwarnings("ignore")  # those of libraries about damaged data


def attempt(encoded: bytes) -> bool:
    """Return whether there is a value; anything but that and `ResultError` fails the test."""
    try:
        value = decode(encoded)
    except ResultError:
        return False
    repr(value)
    return True


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_end_that_is_cut_is_an_error(kind: Any) -> None:
    encoded = encode(kind())
    for end in range(len(encoded)):
        assert not attempt(encoded[:end]), end
    for more in (b"\0", bytes(64), encoded):
        assert not attempt(encoded + more)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_byte_that_is_flipped_is_an_error_or_a_value(kind: Any) -> None:
    encoded = encode(kind())
    tracemalloc.start()
    errors = 0
    for at in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[at] ^= (0x01, 0x80, 0xFF, 0x10)[at % 4]
        errors += not attempt(bytes(damaged))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert errors > 16
    assert peak < 100_000_000


def test_random_bytes_are_errors() -> None:
    seed = int(os.environ.get("LARDER_SEED") or int.from_bytes(os.urandom(4)))
    print(f"LARDER_SEED={seed}")
    rng = random.Random(seed)
    for _ in range(3000):
        tree = bytes(rng.choice(b"NTF.iIfcsbYSB[({<>r:pDXRAOPEKkU\0\x01\x02\x10\xff") for _ in range(rng.randrange(80)))
        attempt(struct.pack("<8sQ", b"LARDVAL\x01", 16 + len(tree)) + tree + bytes(rng.choice([0, 64, 128])))
        attempt(rng.randbytes(rng.randrange(80)))


@pytest.mark.parametrize(
    "tree",
    [
        b"[" + struct.pack("<Q", 1 << 60),
        b"{" + struct.pack("<Q", (1 << 64) - 1) + b"N",
        b"I" + struct.pack("<Q", 1 << 40),
        b"s" + struct.pack("<I", 1 << 31),
        b"S" + b"D" + struct.pack("<Q", 1 << 50),
        b"p[f" + struct.pack("<Q", 1 << 50) + b"D" + struct.pack("<Q", 0),
        b"p[o" + struct.pack("<Q", 1 << 50) + b"D" + struct.pack("<Q", 0) + b"D" + struct.pack("<Q", 0),
        b"p[s" + struct.pack("<Q", 0) + b"D" + struct.pack("<Q", 0) + b"D" + struct.pack("<Q", 0) + b"N",
        b"A\x03<f8C\x02" + struct.pack("<QQQ", 1 << 40, 1 << 40, 0),
        b"A\x03<f8C\x02" + struct.pack("<QQQ", 1 << 31, 1 << 30, 64),
        b"A\x03|O8C\x01" + struct.pack("<QQ", 8, 64),
        b"A\x03<f8C\xff",
        b"R" + struct.pack("<Q", 16),
        b"[" + struct.pack("<Q", 1) + b"R" + struct.pack("<Q", 16),
        b"(" * 10_000,
        (b"(" + struct.pack("<Q", 1)) * 10_000 + b"N",
        b"X\x05a.b.c\x00",
        b"X\x07builtin\x00",
        b"X\x0cnumpy.scalar\x02s" + struct.pack("<I", 2) + b"|Ob" + struct.pack("<I", 8) + bytes(8),
        b"Ok" + struct.pack("<Q", 0),
        b"K",
        b"?",
    ],
    ids=lambda tree: repr(tree[:12]),
)
def test_what_says_more_than_there_is_is_an_error(tree: bytes) -> None:
    encoded = struct.pack("<8sQ", b"LARDVAL\x01", 16 + len(tree)) + tree
    for data in (encoded, encoded + bytes(-len(encoded) % 64) + bytes(64)):
        with pytest.raises(ResultError):
            decode(data)


def test_no_module_and_no_class_but_those_that_results_are_of_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(module: str, name: str, tag: bytes) -> bytes:
        texts = b"".join(b"s" + struct.pack("<I", len(text)) + text.encode() for text in (module, name))
        tree = tag + b"K" + texts + b"K" + struct.pack("<Q", 0) + b"O" + struct.pack("<Q", 0) + b"N"
        return struct.pack("<8sQ", b"LARDVAL\x01", 16 + len(tree)) + tree

    monkeypatch.setattr(os, "_exit", lambda status: pytest.fail("code was run"))
    for module, name in [("os", "_exit"), ("subprocess", "Popen"), ("builtins", "object"), ("builtins", "eval")]:
        for tag in (b"O", b"P", b"E"):
            with pytest.raises(ResultError):
                decode(named(module, name, tag))


def test_other_versions_and_other_files_are_said() -> None:
    encoded = bytearray(encode([1]))
    encoded[7] = 2
    with pytest.raises(ResultError, match="of version 2, and this is version 1; compute it again"):
        decode(encoded)
    for other in (b"", b"\x80\x05K\x01.", b"x" * 100, bytes(25)):
        with pytest.raises(ResultError):
            decode(other)


def test_a_library_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from larder._results import kinds

    monkeypatch.setitem(kinds._MODULES, "absent", "absent")
    tree = b"X\x08absent.A\x00"
    with pytest.raises(ResultError, match="needs a library that cannot be imported"):
        decode(struct.pack("<8sQ", b"LARDVAL\x01", 16 + len(tree)) + tree)


def test_rows_that_are_damaged_are_errors() -> None:
    rows = encode_rows(np.arange(6.0).reshape(2, 3))
    assert decode_rows(rows).tolist() == [[0, 1, 2], [3, 4, 5]]
    for i in range(2):
        for end in range(len(rows[i])):
            damaged = list(rows)
            damaged[i] = rows[i][:end]
            with pytest.raises(ResultError):
                decode_rows(damaged)
