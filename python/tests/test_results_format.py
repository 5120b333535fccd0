"""Test the bytes of docs/reference/python-results.md, which later versions must read."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import struct
from typing import Any, NamedTuple

import numpy as np
import pytest
from restored import same

from larder._results import decode, encode


class Point(NamedTuple):
    x: int
    y: int


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass(repr=False)
class Node:
    value: Any = dataclasses.field(init=False)


def text(value: str) -> bytes:
    return b"s" + struct.pack("<I", len(value)) + value.encode()


def number(value: int) -> bytes:
    return b"i" + struct.pack("<q", value)


def count(letter: bytes, n: int) -> bytes:
    return letter + struct.pack("<Q", n)


def of_class(name: str, *fields: str) -> bytes:
    return b"K" + text(__name__) + text(name) + count(b"K", len(fields)) + b"".join(map(text, fields))


def whole(tree: bytes, *buffers: bytes) -> bytes:
    made = b"LARDVAL\x01" + struct.pack("<Q", 16 + len(tree)) + tree
    for buffer in buffers:
        made += bytes(-len(made) % 64) + buffer
    return made


FLOATS = [0.5 * i for i in range(16)]
LONG = "x" * 64
SHARED: list[Any] = [1]
NODE = Node()

CASES: list[tuple[Any, bytes]] = [
    (None, whole(b"N")),
    ([True, False, ...], whole(count(b"[", 3) + b"TF.")),
    (5, whole(number(5))),
    (-(2**63) - 1, whole(count(b"I", 9) + (-(2**63) - 1).to_bytes(9, "little", signed=True))),
    (2**63, whole(count(b"I", 9) + (2**63).to_bytes(9, "little"))),
    (1.5, whole(b"f" + struct.pack("<d", 1.5))),
    (1 - 2j, whole(b"c" + struct.pack("<dd", 1, -2))),
    ("\ud800", whole(b"s\3\0\0\0\xed\xa0\x80")),
    (b"ab", whole(b"b\2\0\0\0ab")),
    ("y" * 1024, whole(count(b"SD", 1024), b"y" * 1024)),
    ([b"y" * 1024, bytearray(b"z")], whole(count(b"[", 2) + count(b"BD", 1024) + count(b"YD", 1), b"y" * 1024, b"z")),
    (bytearray(), whole(count(b"YD", 0))),
    ((1, (), {"a": None}), whole(count(b"(", 3) + number(1) + count(b"(", 0) + count(b"{", 1) + text("a") + b"N")),
    ({2, 1}, whole(count(b"<", 2) + number(1) + number(2))),
    (frozenset({(), None}), whole(count(b">", 2) + b"N" + count(b"(", 0))),
    (range(3), whole(b"r" + number(0) + number(3) + number(1))),
    (slice(1), whole(b":N" + number(1) + b"N")),
    (FLOATS, whole(b"p[" + count(b"f", 16) + count(b"D", 128), struct.pack("<16d", *FLOATS))),
    (tuple(range(16)), whole(b"p(" + count(b"i", 16) + count(b"D", 128), struct.pack("<16q", *range(16)))),
    (
        ["é", "ab"] * 8,
        whole(
            b"p[" + count(b"s", 16) + count(b"D", 64) + count(b"D", 32),
            struct.pack("<16I", *[1, 2] * 8),
            "éab".encode() * 8,
        ),
    ),
    (
        [None, "ab"] * 8,
        whole(
            b"p[" + count(b"o", 16) + count(b"D", 64) + count(b"D", 16),
            struct.pack("<16I", *[2**32 - 1, 2] * 8),
            b"ab" * 8,
        ),
    ),
    (
        np.array([[1, 2], [3, 4]], "<i2", order="F"),
        whole(b"A\3<i2F\2" + struct.pack("<QQQ", 2, 2, 8), struct.pack("<4h", 1, 3, 2, 4)),
    ),
    (np.zeros((0, 3), ">f4"), whole(b"A\3>f4C\2" + struct.pack("<QQQ", 0, 3, 0))),
    ([LONG, LONG], whole(count(b"[", 2) + text(LONG) + count(b"R", 25))),
    ((SHARED, SHARED), whole(count(b"(", 2) + count(b"[", 1) + number(1) + count(b"R", 25))),
    (
        [Point(1, 2), Point(3, 4)],
        whole(
            count(b"[", 2)
            + (b"P" + of_class("Point", "x", "y") + number(1) + number(2))
            + (b"P" + count(b"k", 0) + number(3) + number(4))
        ),
    ),
    (Color.RED, whole(b"E" + of_class("Color") + text("RED") + number(1))),
    (NODE, whole(b"O" + of_class("Node", "value") + b"U" + count(b"O", 0) + b"N")),
    (
        datetime.date(2020, 2, 3),
        whole(b"X\x0ddatetime.date\3" + number(2020) + number(2) + number(3)),
    ),
]


@pytest.mark.parametrize(("value", "encoded"), CASES, ids=lambda value: repr(value)[:30])
def test_encodings_are_as_the_page_says(value: Any, encoded: bytes) -> None:
    assert encode(value) == encoded
    assert same(decode(encoded), value)
