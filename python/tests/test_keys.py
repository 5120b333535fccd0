"""Test that different values have different keys, and the same values the same key."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import json
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import types
import uuid
import zoneinfo
from typing import Any, NamedTuple

import pytest

import larder
from larder._identity.digest import digest, encode
from larder._identity.values.text import describe


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Mode(enum.Flag):
    A = 1
    B = 2


class Number(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class Config:
    size: int
    rate: float = 0.5


@dataclasses.dataclass(frozen=True)
class Frozen:
    size: int


@dataclasses.dataclass
class Other:
    size: int
    rate: float = 0.5


class Pair(NamedTuple):
    a: int
    b: int


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a: object) -> None:
        self.a = a


class Text(str):
    pass


class Bag(dict[str, int]):
    pass


class Keyed:
    def __init__(self, key: object) -> None:
        self.key = key
        self.lock = threading.Lock()

    def __larder_key__(self) -> object:
        return self.key


def add(a: int) -> int:
    return a + 1


def subtract(a: int) -> int:
    return a - 1


def nan(bits: int) -> float:
    value: float = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000000 | bits))[0]
    return value


def adder(k: int) -> Any:
    return lambda x: x + k


def cycle() -> list[Any]:
    found: list[Any] = [1]
    found.append(found)
    return found


def deep(n: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(n):
        found = [found]
    return found


def shared(inner: Any) -> list[Any]:
    return [inner, inner]


UTC = datetime.UTC

# All of these are different to a function.
DIFFERENT: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**70, -(2**70), 1.0, 0.0, -0.0, float("inf"), nan(0), nan(1), 1j, 1 + 0j),
    *("", "1", "a", "ab", "\ud800", "é", "e\u0301", b"", b"1", b"a", bytearray(b"a"), memoryview(b"a")),
    *(..., NotImplemented, (), (1,), (1, 2), ((1,), 2), (1, (2,)), [], [1], [1, 2], [[1], 2], [(1,)], ([1],)),
    *({}, {1: 2}, {1: 2, 3: 4}, {3: 4, 1: 2}, {"1": 2}, {1: {}}, {(): 1}),
    *(set(), {1}, {1, 2}, frozenset(), frozenset({1}), frozenset({1, 2}), frozenset({frozenset()})),
    *(range(3), range(0, 3, 2), range(1, 3), slice(None), slice(1), slice(1, 2, 3)),
    *(decimal.Decimal(1), decimal.Decimal("1.0"), decimal.Decimal("NaN"), fractions.Fraction(1, 2)),
    *(datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, fold=1)),
    *(datetime.datetime(2020, 1, 1, tzinfo=UTC), datetime.time(1), datetime.timedelta(1), UTC),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    datetime.datetime(2020, 1, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Rome")),
    *(uuid.UUID(int=1), pathlib.Path("a"), pathlib.PurePosixPath("a"), re.compile("a"), re.compile("a", re.I)),
    *(Colour.RED, Colour.BLUE, Mode.A, Mode.B, Mode.A | Mode.B, Number.ONE, Colour, Mode),
    *(Config(1), Config(2), Config(1, 0.25), Other(1), Frozen(1), Pair(1, 2), Pair(2, 1), Config, Other),
    *(Slots(1), Slots(2), Text("a"), Bag(), Bag(a=1), Keyed(1), Keyed("1")),
    *(collections.OrderedDict(), collections.Counter(), collections.deque(), collections.deque(maxlen=1)),
    *(collections.defaultdict(list), collections.defaultdict(int), types.SimpleNamespace(a=1)),
    *(array.array("i", [1]), array.array("I", [1]), array.array("q", [1])),
    *(random.Random(1), random.Random(2), add, subtract, adder(1), adder(2), len, int, max, str.upper, [].append),
    *(ValueError("a"), ValueError("b"), KeyError("a"), list[int], list[str], int | str),
    *(cycle(), shared([]), [[], []], shared(Config(1)), [Config(1), Config(1)], Config(1).__eq__),
    *([1, cycle()], {"a": cycle()}, deep(50), deep(51), ["a", "b"], ["ab", ""], ["", "ab"], [b"a"], ["a", ["b"]]),
]


def test_different_values_have_different_keys() -> None:
    found: dict[bytes, Any] = {}
    for value in DIFFERENT:
        key = digest(value)
        assert len(key) == 32
        assert key not in found, f"{found[key]!r} and {value!r}"
        found[key] = value


def test_different_values_differ_where_they_are_nested() -> None:
    for wrap in (lambda v: [v], lambda v: {"a": v}, lambda v: (1, v, 2), lambda v: Config(v)):
        assert len({digest(wrap(value)) for value in DIFFERENT}) == len(DIFFERENT)


def test_no_encoding_is_the_beginning_of_another() -> None:
    texts = sorted(encode(value) for value in DIFFERENT)
    for a, b in itertools.pairwise(texts):
        assert a == b or not b.startswith(a)


def built(rng: random.Random, depth: int) -> tuple[Any, Any]:
    """Return a value twice, created in two ways."""
    kind = rng.randrange(9 if depth else 5)
    if kind == 0:
        n = rng.randrange(-(10**6), 10**6) << rng.randrange(70)
        return n, int(str(n))
    if kind == 1:
        text = "".join(map(chr, (rng.randrange(1, 0xD800) for _ in range(rng.randrange(9)))))
        return text, "".join(list(text))
    if kind == 2:
        number = rng.random()
        return number, float(repr(number))
    if kind == 3:
        raw = rng.randbytes(rng.randrange(5000))
        return raw, bytes(bytearray(raw))
    if kind == 4:
        return rng.choice([(None, None), (True, not False), (..., Ellipsis)])
    pairs = [built(rng, depth - 1) for _ in range(rng.randrange(5))]
    one, two = [a for a, _ in pairs], [b for _, b in pairs]
    if kind == 5:
        return one, list(two)
    if kind == 6:
        return tuple(one), tuple(iter(two))
    if kind == 7:
        return {str(i): v for i, v in enumerate(one)}, dict(zip(map(str, range(len(two))), two, strict=True))
    whole = [rng.randrange(1000) for _ in one]
    return set(whole), set(dict.fromkeys(whole[::-1]))


def test_equal_values_have_one_key_however_they_were_made() -> None:
    rng = random.Random(0)
    keys = set()
    for _ in range(500):
        one, two = built(rng, 4)
        assert digest(one) == digest(two), one
        keys.add((digest(one), repr(one)))
    assert len({key for key, _ in keys}) == len(keys), "two values have one key"


def test_a_changed_value_has_another_key() -> None:
    rng = random.Random(1)
    for _ in range(300):
        value, _ = built(rng, 4)
        if isinstance(value, list):
            before = digest(value)
            value.insert(rng.randrange(len(value) + 1), None)
            assert digest(value) != before


PROGRAM = """
import sys
sys.path[:0] = {path!r}
import json, test_keys
from larder._identity.digest import digest
values = [*test_keys.DIFFERENT, {{"b", "a", "c", "d"}}, {{int, str, float}}, {{test_keys.Colour.RED, 1, "x"}}]
print(json.dumps([digest(value).hex() for value in values]))
"""


def test_keys_are_the_same_in_every_process() -> None:
    def keys(seed: int) -> list[str]:
        path = [os.path.dirname(__file__), *sys.path]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(path=path)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            check=True,
        )
        found: list[str] = json.loads(done.stdout)
        return found

    assert keys(1) == keys(2) == keys(3)


def test_what_is_shared_in_sets_is_told_apart() -> None:
    class Node:
        def __init__(self, name: str) -> None:
            self.name = name

    a, b = Node("a"), Node("a")
    one = Node("c")
    one.next = a  # type: ignore[attr-defined]
    assert digest(([a, b], {a})) == digest(([b, a], {b}))
    assert digest(([a, b], {a})) != digest(([a, b], {b}))
    assert digest(([a, b], {a, b})) == digest(([b, a], {a, b}))


def test_an_object_that_is_changed_has_another_key() -> None:
    config = Config(1)
    before = digest(config)
    config.size = 2
    assert digest(config) != before
    config.size = 1
    assert digest(config) == before


def test_temporary_objects_do_not_take_the_place_of_others() -> None:
    class Fresh:
        def __larder_key__(self) -> object:
            return [object.__hash__(self) * 0]

    assert digest([Fresh() for _ in range(50)]) == digest([Fresh() for _ in range(50)])


REFUSED: list[tuple[Any, str]] = [
    ({"config": Config([0, 0, socket.socket()])}, r"""value\["config"\]\.size\[2\] is a socket"""),  # type: ignore[arg-type]
    ([threading.Lock()], r"value\[0\] is a lock"),
    ((i for i in range(3)), "value is a generator"),
    (sys.stdout, "value is an open file"),
    ({"a": iter([1])}, r"""value\["a"\] is of the type builtins.list_iterator"""),
    ({1: object()}, ""),
    (sys, "value is a module"),
    (types.SimpleNamespace(a=threading.RLock()), r"a lock"),
    (deep(100_000), "nested too deeply"),
]


@pytest.mark.parametrize(("value", "text"), REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_key_is_refused_with_the_way_to_it(value: Any, text: str) -> None:
    if text:
        with pytest.raises(larder.ArgumentError, match=text):
            digest(value)
    else:
        assert digest(value)


def test_refusals_name_the_argument_and_the_cure() -> None:
    with pytest.raises(larder.ArgumentError, match=r'arguments\["x"\] is a lock, which has no key: .*__larder_key__'):
        digest({"x": threading.Lock()}, name="arguments")
    with pytest.raises(TypeError):
        digest(threading.Lock())


def test_methods_of_arguments_are_refused_only_if_they_may_be_called() -> None:
    class Saved:
        def __init__(self) -> None:
            self.a = 1

        def area(self) -> int:
            return self.a

        def save(self, path: str) -> None:
            with open(path, "w") as file:
                file.write(str(self.a))

    assert digest(Saved(), used=frozenset({"area"}))
    with pytest.raises(larder.ArgumentError, match=r"save.*files"):
        digest(Saved(), used=frozenset({"save"}))
    with pytest.raises(larder.ArgumentError, match="save"):
        digest(Saved())


def test_an_object_that_says_it_is_of_another_class_is_known_by_its_own() -> None:
    class Stand:
        def __init__(self, inner: object) -> None:
            self.inner = inner

        @property  # type: ignore[misc]
        def __class__(self) -> type:
            return int

    assert digest(Stand(1)) == digest(Stand(1))
    assert len({digest(Stand(1)), digest(Stand(2)), digest(1)}) == 3


def test_functions_are_told_apart_by_what_they_say_of_themselves() -> None:
    def low(a: list[int]) -> int:
        return min(a)

    def high(a: list[int]) -> int:
        return min(a)

    assert digest(low) != digest(high)
    assert digest([low]) != digest([high])
    assert digest(functools.partial(low)) != digest(functools.partial(high))
    low.__module__ = None  # type: ignore[assignment]  # as of what is made by hand
    assert digest(low) != digest(high)


def test_files_are_known_by_their_content(tmp_path: pathlib.Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"abc")
    two.write_bytes(b"abc")
    assert digest(larder.File(one)) == digest(larder.File(two))
    before = one.stat()
    one.write_bytes(b"abd")
    os.utime(one, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert digest(larder.File(one)) != digest(larder.File(two))
    assert digest(larder.File(one)) != digest(b"abd")
    with open(larder.File(one), "rb") as file:
        assert file.read() == b"abd"
    assert larder.File(one) == larder.File(str(one)) != larder.File(two)
    for name in ("one.csv", "one.csv.gz", "one.tsv", "x.csv"):  # libraries read them by their extensions
        (tmp_path / name).write_bytes(b"abd")
    keys = {name: digest(larder.File(tmp_path / name)) for name in ("one", "one.csv", "one.csv.gz", "one.tsv")}
    assert len(set(keys.values())) == 4
    assert digest(larder.File(tmp_path / "x.csv")) == keys["one.csv"]
    with pytest.raises(FileNotFoundError):
        digest(larder.File(tmp_path / "none"))
    with pytest.raises(AttributeError):
        larder.File(one).path = "x"  # type: ignore[misc]


def test_a_file_is_read_once_it_is_old(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    path = tmp_path / "a"
    path.write_bytes(b"abc")
    reads: list[int] = []
    read = hashlib.file_digest

    def counted(*args: Any) -> Any:
        reads.append(1)
        return read(*args)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    file = larder.File(path)
    digest(file), digest(file)
    assert len(reads) == 2, "it may be written again without a trace"
    later = path.stat().st_ctime_ns + 10**10
    monkeypatch.setattr("time.time_ns", lambda: later)
    digest(file), digest(file), digest(file)
    assert len(reads) == 3
    path.write_bytes(b"xyz")
    digest(file)
    assert len(reads) == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (64, "64"),
        ("a.png", '"a.png"'),
        ('say "a"', r'"say \"a\""'),
        (b"ab", "b'ab'"),
        (None, "None"),
        (1.5, "1.5"),
        ([1, "a"], '[1, "a"]'),
        ((1,), "(1,)"),
        ({"a": [1]}, '{"a": [1]}'),
        ({1, 2}, "a set of 2"),
        (Colour.RED, "Colour.RED"),
        (Config(1), "a Config"),
        (add, "test_keys.add"),
        (Config, "test_keys.Config"),
        (pathlib.Path("a"), '"a"'),
        (10**1000, "a number of 3322 bits"),
    ],
)
def test_values_in_words(value: Any, text: str) -> None:
    assert describe(value) == text


def test_words_are_short() -> None:
    for value in [*DIFFERENT, "a" * 10**6, [list(range(100))] * 100, deep(1000), {str(i): i for i in range(10**4)}]:
        assert len(describe(value)) <= 80
        assert "\n" not in describe(value)
