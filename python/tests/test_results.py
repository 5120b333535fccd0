"""Test the encoding of results: values of the language and its library, classes of the program."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import ipaddress
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import threading
import typing
import uuid
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from restored import back, same

from larder._results import decode, encode, parts
from larder.errors import Error, ResultError

NAN = struct.unpack("<d", bytes.fromhex("010000000000f4ff"))[0]

PLAIN: list[Any] = [
    None,
    True,
    False,
    ...,
    0,
    1,
    -1,
    2**63 - 1,
    -(2**63),
    2**63,
    -(2**63) - 1,
    2**64,
    -(10**4000),
    0.0,
    -0.0,
    1.0,
    math.inf,
    math.nan,
    NAN,
    5e-324,
    1j,
    complex(-0.0, NAN),
    "",
    "a",
    "é€𝄞",
    "\ud800 and \udfff",
    "\0" * 3,
    "x" * 63,
    "x" * 64,
    "é" * 600,
    "x" * 100_000,
    b"",
    b"\0\xff",
    b"x" * 5000,
    bytearray(),
    bytearray(b"abc"),
    bytearray(5000),
    range(5),
    range(10**30, 0, -3),
    slice(None),
    slice(1, "b", [2]),
]

HOLDING: list[Any] = [
    [],
    [[], [[]], [None, [1.5, "a"]]],
    (),
    ((), (1,), (1, (2, "b"))),
    {},
    {"b": 1, "a": 2, 1: 3, 1.5: 4, None: 5, (1, "x"): 6, b"k": 7, frozenset({1}): 8},
    set(),
    {1, "1", 1.5, None, (1, 2), b"1"},
    {"b", "a", "c"},
    {3, -1, 10**30},
    frozenset(),
    frozenset({frozenset({1, "a"}), frozenset(), 7}),
    [1, True, 1.0, "1", b"1"],
    list(range(-50, 50)),
    [2**63, *range(20)],
    [1.5, NAN, -0.0, *map(float, range(20))],
    (0.5,) * 16,
    [1] * 15,
    [*range(20), True],
    ["é", "", "\ud800", "abc"] * 10,
    ["long" * 100] * 20,
    ("a",) * 20,
    [None] * 100,
    [None, "é", "", "\ud800 and", None] * 10,
    ("a", *[None] * 30),
    ["long" * 100, None] * 20,
    [None, "a", 1] * 20,
]

STANDARD: list[Any] = [
    datetime.date(1, 1, 1),
    datetime.date(9999, 12, 31),
    datetime.datetime(2020, 10, 25, 2, 30, 1, 999999, zoneinfo.ZoneInfo("Europe/Berlin"), fold=1),
    datetime.datetime(2020, 1, 1),
    datetime.time(1, 2, 3, 4, datetime.UTC, fold=1),
    datetime.timedelta(-5, 3, 7),
    datetime.UTC,
    datetime.timezone(datetime.timedelta(hours=-3, seconds=7), "here"),
    decimal.Decimal("-0.00"),
    decimal.Decimal("1E+1000000"),
    decimal.Decimal("NaN123"),
    decimal.Decimal("-Infinity"),
    decimal.Decimal(10**100),
    fractions.Fraction(-7, 10**40),
    uuid.UUID(int=5),
    uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe),
    pathlib.Path("/a/b c"),
    pathlib.Path("\udcff"),
    pathlib.PurePosixPath("a"),
    pathlib.PureWindowsPath("C:\\a"),
    ipaddress.ip_address("10.0.0.1"),
    ipaddress.ip_address("fe80::1%eth0"),
    ipaddress.ip_network("10.0.0.0/8"),
    ipaddress.ip_interface("fe80::1/64"),
    collections.deque([1, [2]], 5),
    collections.deque(),
    collections.OrderedDict([("b", 1), ("a", [2])]),
    collections.Counter("aab"),
    collections.defaultdict(list, {"a": [1]}),
    collections.defaultdict(None, {1: 2}),
    array.array("d", [1.5, NAN]),
    array.array("b"),
]


@pytest.mark.parametrize("value", PLAIN + HOLDING + STANDARD, ids=lambda value: repr(value)[:40])
def test_values_come_back_as_they_were(value: Any) -> None:
    back(value)
    back([value, {"key": value}, (value, value)])


def test_the_same_of_signalling_numbers() -> None:
    value = decimal.Decimal("sNaN12")
    assert str(decode(encode(value))) == "sNaN12"
    with decimal.localcontext() as context:
        encoded = encode(decimal.Decimal("1E+50"))
        context.capitals = 0
        assert encode(decimal.Decimal("1E+50")) == encoded
        assert decode(encoded) == decimal.Decimal("1E+50")
    assert (
        uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe).is_safe
        is decode(encode(uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe))).is_safe
    )


def test_what_is_equal_but_not_the_same_has_encodings_of_its_own() -> None:
    alike: list[Any] = [1, 1.0, True, 1 + 0j, decimal.Decimal(1), fractions.Fraction(1), [1], (1,), {1}, frozenset({1})]
    alike += ["1", b"1", bytearray(b"1"), 0.0, -0.0, {1: 2, 3: 4}, {3: 4, 1: 2}, range(0), range(1, 1)]
    alike += [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, fold=1), datetime.date(2020, 1, 1)]
    assert len({encode(value) for value in alike}) == len(alike)


def test_what_is_equal_has_one_encoding() -> None:
    texts = ["".join(["x"] * n) for n in (3, 100, 5000) for _ in range(2)]
    assert encode(texts) == encode(["x" * len(text) for text in texts])
    whens = [datetime.datetime(2020, 1, 1) for _ in range(3)]
    assert encode(whens) == encode([whens[0]] * 3)
    made = tuple(map(int, "12"))
    assert encode([(1, 2), (1, 2)]) == encode([(1, 2), made])


def random_value(rng: random.Random, depth: int, hashable: bool = False) -> Any:
    if depth == 0 or rng.random() < 0.3:
        small: list[Callable[[], Any]] = [
            lambda: rng.choice((None, True, False, ..., "", b"")),
            lambda: rng.getrandbits(rng.randrange(1, 200)) * rng.choice([1, -1]),
            lambda: struct.unpack("<d", rng.randbytes(8))[0],
            lambda: "".join(chr(rng.randrange(0x11000)) for _ in range(rng.randrange(2000) // 7)),
            lambda: rng.randbytes(rng.choice([1, 63, 64, 1023, 1024, 3000])),
            lambda: datetime.timedelta(rng.randrange(-1000, 1000), rng.randrange(86400)),
            lambda: Point(rng.random(), "y"),
            lambda: rng.choice(list(Color)),
        ]
        return rng.choice(small)()
    n = rng.choice([0, 1, 2, 3, 5, 20])
    inner: Callable[[], Any] = lambda: random_value(rng, depth - 1, hashable)  # noqa: E731
    key: Callable[[], Any] = lambda: random_value(rng, depth - 1, True)  # noqa: E731
    if hashable:
        return tuple(inner() for _ in range(n))
    made: list[Callable[[], Any]] = [
        lambda: [inner() for _ in range(n)],
        lambda: tuple(inner() for _ in range(n)),
        lambda: {key(): inner() for _ in range(n)},
        lambda: [rng.random() for _ in range(n * 10)],
        lambda: {rng.getrandbits(40) for _ in range(n)},
        lambda: Node(inner(), [inner()]),
        lambda: [inner()] * 3,
    ]
    return rng.choice(made)()


def test_random_values_come_back() -> None:
    seed = int(os.environ.get("LARDER_SEED") or int.from_bytes(os.urandom(4)))
    print(f"LARDER_SEED={seed}")
    rng = random.Random(seed)
    for _ in range(300):
        back(random_value(rng, 4))


# Classes of the program


class Point(NamedTuple):
    x: float
    y: str = ""


class Longer(Point):
    def size(self) -> float:
        return self.x


Pair = collections.namedtuple("Pair", "left right")


class Color(enum.Enum):
    RED = 1
    GREEN = "green"
    CRIMSON = 1


class Odd(enum.Enum):
    NAN = math.nan
    LIST = (1, [2])


class Level(enum.IntEnum):
    LOW = 1


class Name(enum.StrEnum):
    A = "a"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Node:
    value: Any
    below: list[Any] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        if self.value == "never made":
            raise AssertionError("__init__ was run")

    class Inner(enum.Enum):
        ONE = 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: tuple[Any, ...] = ()


@dataclasses.dataclass(slots=True, weakref_slot=True)
class Slotted:
    a: int
    b: Any = dataclasses.field(init=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Both(Frozen):
    c: float = 1.5


class Plainer(Frozen):
    pass


T = typing.TypeVar("T")


@dataclasses.dataclass
class Box(typing.Generic[T]):
    content: T


@dataclasses.dataclass
class Output(collections.OrderedDict[str, Any]):
    logits: Any = None
    hidden: Any = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        super().__setattr__(key, value)


@dataclasses.dataclass
class Listed(list[int]):
    a: int = 0


class Hiding:
    __slots__ = ("hidden",)


@dataclasses.dataclass(slots=True)
class Shown(Hiding):
    a: int


class Counted(list[int]):
    pass


OBJECTS: list[Any] = [
    Point(1.5, "a"),
    Longer(1.5),
    Pair(1, [2]),
    Color.RED,
    Color.CRIMSON,
    Color.GREEN,
    Odd.NAN,
    Odd.LIST,
    Level.LOW,
    Name.A,
    Right.READ,
    Right.READ | Right.WRITE,
    Right(0),
    Node.Inner.ONE,
    Node(1, [Node(2)]),
    Frozen(1, (Frozen(2),)),
    Both(1, (), -0.0),
    Plainer(3),
    Box[int](5),
    [Frozen(n) for n in range(20)],
    {Frozen(1): Level.LOW, Point(1.0): Color.RED},
    {Frozen(1), Frozen(2), Point(3.0)},
]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: repr(value)[:40])
def test_objects_come_back_as_they_were(value: Any) -> None:
    back(value)
    back([value, value])


def test_classes_are_written_once() -> None:
    one, many = len(encode([Frozen(1)])), len(encode([Frozen(n) for n in range(101)]))
    assert many - one <= 100 * 60


def test_no_method_of_a_class_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    value = Node(1)
    value.value = "never made"
    monkeypatch.setattr(Node, "__setattr__", lambda *_: pytest.fail("__setattr__ was run"))
    assert decode(encode(value)).value == "never made"


def test_fields_that_are_not_set_stay_so() -> None:
    value = decode(encode(Slotted(1)))
    assert value.a == 1
    assert not hasattr(value, "b")
    node = Node(1)
    del node.below
    assert vars(decode(encode(node))) == {"value": 1}


def test_attributes_beside_the_fields_come_back() -> None:
    node: Any = Node(1)
    node.note = ["a note"]
    assert decode(encode(node)).note == ["a note"]


def test_slots_beside_the_fields_are_refused() -> None:
    value: Any = Shown(1)
    back([value])
    value.hidden = 2
    with pytest.raises(ResultError, match=r"result\[0\]: .*hidden., which is not a field of .*Shown"):
        encode([value])


def test_an_ordered_dict_that_is_a_dataclass_comes_back() -> None:
    value = Output(logits=[1.5])
    made = decode(encode(value))
    assert type(made) is Output
    assert list(made.items()) == [("logits", [1.5])]
    assert made.logits is made["logits"]
    assert made.hidden is None


def test_a_class_that_changed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[__name__]
    cached = {
        name: encode(value) for name, value in [("Frozen", Frozen(1)), ("Point", Point(1.0)), ("Color", Color.RED)]
    }

    @dataclasses.dataclass
    class Other:
        a: int

    class Hue(enum.Enum):
        RED = 2

    for name, cls in [("Frozen", Other), ("Point", Pair), ("Color", Hue), ("Frozen", 7), ("Point", 7), ("Color", 7)]:
        monkeypatch.setattr(module, name, cls)
        with pytest.raises(ResultError, match="of the result"):
            decode(cached[name])
    monkeypatch.delattr(module, "Frozen")
    with pytest.raises(ResultError, match=r"class test_results\.Frozen of the result no longer exists"):
        decode(cached["Frozen"])


# Shared objects


def test_what_is_one_object_is_one_again() -> None:
    inner: list[Any] = [1]
    node = Node(inner)
    deep = (inner, "x" * 100)
    value = decode(encode([inner, {"a": inner}, node, node, deep, deep, bytearray(b"x"), collections.deque([inner])]))
    assert value[0] is value[1]["a"] is value[2].value is value[4][0] is value[7][0]
    assert value[2] is value[3]
    assert value[4] is value[5]
    value[0].append(2)
    assert value[2].value == [1, 2]
    data = bytearray(b"x")
    made = decode(encode([data, data, bytearray(b"x")]))
    assert made[0] is made[1] is not made[2]


def test_what_is_met_twice_is_written_once() -> None:
    value: Any = ["x" * 10]
    for _ in range(100):
        value = (value, value)
    assert len(encode(value)) < 10_000
    texts = ["y" * 10_000] * 1000
    assert len(encode(texts)) < 40_000
    assert decode(encode(texts)) == texts


@pytest.mark.parametrize("make", [lambda v: v.append(v), lambda v: v.append({"a": (v,)}), lambda v: v.append(Node(v))])
def test_what_contains_itself_is_refused(make: Callable[[list[Any]], None]) -> None:
    value: list[Any] = []
    make(value)
    with pytest.raises(ResultError, match=r"^result\[0\].*it contains itself"):
        encode(value)


def test_deep_nesting_is_kept_or_refused() -> None:
    def nested(n: int, around: Callable[[Any], Any]) -> Any:
        value: Any = 1
        for _ in range(n):
            value = around(value)
        return value

    around: list[Callable[[Any], Any]] = [
        lambda v: [v],
        lambda v: (v,),
        lambda v: {1: v},
        Frozen,
        lambda v: Node(v, []),
    ]
    around += [lambda v: frozenset({v}), lambda v: slice(v), lambda v: collections.deque([v])]
    for way in around:
        decode(encode(nested(100, way)))
    for way in around:
        value = nested(10_000, way)
        with pytest.raises(ResultError, match=r"nested more than 200 deep"):
            encode(value)
        while value != 1:  # the interpreter cannot release it immediately
            value = next(iter(vars(value).values())) if isinstance(value, (Frozen, Node)) else inner_of(value)


def inner_of(value: Any) -> Any:
    if isinstance(value, slice):
        return value.stop
    return next(iter(value.values() if isinstance(value, dict) else value))


# Refused values


@dataclasses.dataclass
class Model:
    model: Any


def local_class() -> Any:
    class Here(NamedTuple):
        a: int

    return Here(1)


def attributed() -> Any:
    value: Any = collections.OrderedDict(a=1)
    value.b = 2
    return value


def zone_of_a_file() -> zoneinfo.ZoneInfo:
    counts = struct.pack(">4s16x6l", b"TZif", 0, 0, 0, 0, 1, 4)
    return zoneinfo.ZoneInfo.from_file(io.BytesIO(counts + bytes(6) + b"UTC\0"), key="Europe/Berlin")


REFUSED: list[tuple[Any, str]] = [
    (threading.Lock(), r"result: a value of type _thread.lock cannot be cached; return a dataclass of what is in it,"),
    ([1, 2, Model(threading.Lock())], r"result\[2\]\.model: a value of type _thread.lock"),
    ({"a": {"b" * 100: (1, object())}}, r"result\['a'\]\['bb*\.\.\.\]\[1\]: a value of type object"),
    ({(1, object()): 2}, r"result, a key\[1\]: a value of type object"),
    ({object: 2}, r"result, a key: a value of type type cannot be cached; return its name"),
    ({frozenset({object()})}, r"result\{\.\.\.\}\{\.\.\.\}: a value of type object"),
    (slice(None, object()), r"result\.stop: "),
    (Point(1.0, lambda: 1), r"result\.y: a value of type function cannot be cached; return what it makes"),  # type: ignore[arg-type]
    (Counted([1]), r"type test_results.Counted cannot be cached; return a list"),
    (Listed(1), r"type test_results.Listed cannot be cached; return a list"),
    (collections.UserDict(), r"type collections.UserDict cannot be cached"),
    (NotImplemented, r"NotImplementedType cannot be cached"),
    (memoryview(b"x"), r"memoryview cannot be cached; return bytes"),
    ((n for n in [1]), r"generator cannot be cached; return a list"),
    (ValueError("x"), r"ValueError cannot be cached"),
    (sys, r"module cannot be cached; return its name"),
    (local_class(), r"as its class is made by a function; move the class"),
    (collections.defaultdict(lambda: 1), r"defaultdict with a function of its own cannot be cached"),
    (collections.deque([object()]), r"result\[0\]: "),
    (zone_of_a_file(), r"a time zone of a file cannot be cached; make it by zoneinfo.ZoneInfo\(key\)"),
    (attributed(), r"a OrderedDict with attributes cannot be cached; return a dataclass"),
    (os.stat("/"), r"os.stat_result cannot be cached; return a tuple"),
    (type("Text", (str,), {})("x"), r"Text cannot be cached; return a str"),
    (type("Truth", (int,), {})(1), r"Truth cannot be cached; return an int"),
    (datetime.datetime(2020, 1, 1, tzinfo=type("Zone", (datetime.tzinfo,), {})()), r"result\.tzinfo: "),
]


@pytest.mark.parametrize(("value", "words"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_cannot_be_kept_is_refused_with_the_way_to_it(value: Any, words: str) -> None:
    with pytest.raises(ResultError, match=words):
        encode(value)
    assert issubclass(ResultError, Error)


def test_an_instance_of_a_class_that_was_replaced_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old = [Frozen(1), Color.RED, Point(1.0)]
    for cls in (Frozen, Color, Point):
        monkeypatch.setattr(sys.modules[__name__], cls.__name__, object())
    for value in old:
        with pytest.raises(ResultError, match="the name does not refer to its class"):
            encode(value)


def test_the_way_to_something_far_below_is_short() -> None:
    value: Any = object()
    for _ in range(150):
        value = [value]
    with pytest.raises(ResultError) as raised:
        encode(value)
    assert str(raised.value).startswith("result[0][0][0][0]...[0][0][0][0]: ")


# Other processes


PROGRAM = """
import sys
from larder._results import decode, encode
import test_results
for line in sys.stdin:
    encoded = bytes.fromhex(line)
    print(encode(decode(encoded)) == encoded)
for value in test_results.PORTABLE:
    print(encode(value).hex())
"""

PORTABLE = [*PLAIN, *HOLDING, *STANDARD, *OBJECTS]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_reads_and_writes_the_same(seed: str) -> None:
    here = Path(__file__).parent
    search = [str(here), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(search)}
    cached = [encode(value).hex() for value in PORTABLE]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(cached),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == ["True"] * len(cached) + cached


def test_classes_of_the_program_itself_are_found() -> None:
    program = """
import dataclasses
from larder._results import decode, encode
@dataclasses.dataclass
class A:
    b: int
value = decode(encode([A(1), A(2)]))
assert type(value[0]) is A and value == [A(1), A(2)], value
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)


def test_nothing_is_imported_for_plain_values() -> None:
    program = """
import sys
from larder._results import decode, encode
decode(encode([1, "a", {"b": (1.5, b"x")}]))
print(*sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True)
    assert not set(done.stdout.split()) & {"numpy", "torch", "pandas", "pyarrow", "PIL", "pickle", "zoneinfo"}


# Sizes and forms


@pytest.mark.parametrize(
    ("value", "size"),
    [(None, 17), (1.5, 25), (1, 25), ("hello", 26), ([1.5] * 1000, 8064), (["word"] * 1000, 8128), (b"x" * 4096, 4160)],
    ids=lambda value: repr(value)[:20],
)
def test_encodings_are_small(value: Any, size: int) -> None:
    assert len(encode(value)) <= size


def test_the_pieces_make_the_encoding() -> None:
    value = [b"x" * 5000, bytearray(3000), "y" * 2000]
    pieces = parts(value)
    assert b"".join(pieces) == encode(value)
    assert any(piece is value[0] for piece in pieces)


@pytest.mark.parametrize("turn", [bytes, bytearray, memoryview, lambda data: memoryview(data).cast("B")])
def test_any_memory_is_read(turn: Callable[[bytes], Any]) -> None:
    for value in (1.5, "a", [1, "b" * 5000]):
        assert same(decode(turn(encode(value))), value)


def test_memory_of_other_numbers_is_read_as_bytes() -> None:
    padded = encode(["x" * 170])
    assert len(padded) == 200
    numbers: Any = memoryview(padded).cast("d")  # 25 of them, as many bytes as a float has
    assert decode(numbers) == ["x" * 170]


def test_texts_and_bytes_that_hash_alike_are_told_apart() -> None:
    program = """
from larder._results import decode, encode
value = ["x" * 100, b"x" * 100, "x" * 100]
assert decode(encode(value)) == value
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-bb", "-c", program], env=environment, check=True, timeout=60)
