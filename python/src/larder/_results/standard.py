"""Encode and decode types of the standard library."""

from __future__ import annotations

import datetime
import decimal
import fractions
import ipaddress
import pathlib
import uuid
import zoneinfo
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any

from .kinds import Data, Kind, Refused, expect, register


def _texts(cls: Any) -> Kind:
    """Return the kind of a type whose values are stored as their strings."""

    def make(text: Any) -> Any:
        value = cls(expect(str, text))
        if str(value) != text:
            raise ValueError(f"{text!r} is not how {value!r} is stored")
        return value

    return Kind(
        f"{cls.__module__.partition('.')[0]}.{cls.__name__}", cls, lambda value: (str(value),), make, shared=False
    )


def _zone(value: zoneinfo.ZoneInfo) -> tuple[str]:
    try:
        value.__reduce__()  # raises an error if it was read from its own file
    except Exception as error:
        raise Refused("a time zone of a file cannot be cached; make it by zoneinfo.ZoneInfo(key)") from error
    return (value.key,)


def _folded(cls: Any, *parts: Any) -> Any:
    *numbers, fold, zone = parts
    return cls(*numbers, zone, fold=fold)


def _decimal(text: Any) -> decimal.Decimal:
    return decimal.Decimal(expect(str, text))


def _fraction(numerator: Any, denominator: Any) -> fractions.Fraction:
    return fractions.Fraction(expect(int, numerator), expect(int, denominator))


_FACTORIES: dict[Any, str] = {cls: cls.__name__ for cls in (list, dict, set, tuple, int, float, str, bool, bytes)}
_MADE_BY = {name: cls for cls, name in _FACTORIES.items()} | {None: None}


def _defaults(value: defaultdict[Any, Any]) -> tuple[Any, ...]:
    if value.default_factory is None:
        return None, dict(value)
    if value.default_factory not in _FACTORIES:
        raise Refused("a defaultdict with a function of its own cannot be cached; return dict(...) of it")
    return _FACTORIES[value.default_factory], dict(value)


def _bare(value: dict[Any, Any]) -> tuple[dict[Any, Any]]:
    """Return the content of a dict that may have attributes, and has none."""
    if vars(value):
        raise Refused(f"a {type(value).__name__} with attributes cannot be cached; return a dataclass")
    return (dict(value),)


def _counter(counts: Any) -> Counter[Any]:
    made: Counter[Any] = Counter()
    dict.update(made, expect(dict, counts))
    return made


def _numbers(letter: Any, size: Any, data: Any) -> array[Any]:
    made = array(expect(str, letter))
    if made.itemsize != size:
        raise ValueError(f"numbers {letter} of {size} bytes, which here have {made.itemsize}")
    made.frombytes(data)
    return made


def _plain(name: str, cls: type, parts: Callable[[Any], tuple[Any, ...]], make: Callable[..., Any]) -> Kind:
    return Kind(name, cls, parts, make, shared=False)


register(
    _plain("datetime.date", datetime.date, lambda v: (v.year, v.month, v.day), datetime.date),
    Kind(
        "datetime.datetime",
        datetime.datetime,
        lambda v: (v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.fold, v.tzinfo),
        partial(_folded, datetime.datetime),
        ("",) * 8 + (".tzinfo",),
        shared=False,
    ),
    Kind(
        "datetime.time",
        datetime.time,
        lambda v: (v.hour, v.minute, v.second, v.microsecond, v.fold, v.tzinfo),
        partial(_folded, datetime.time),
        ("",) * 5 + (".tzinfo",),
        shared=False,
    ),
    _plain("datetime.timedelta", datetime.timedelta, lambda v: (v.days, v.seconds, v.microseconds), datetime.timedelta),
    _plain("datetime.timezone", datetime.timezone, lambda v: v.__getinitargs__(), datetime.timezone),
    _plain("zoneinfo.ZoneInfo", zoneinfo.ZoneInfo, _zone, lambda key: zoneinfo.ZoneInfo(expect(str, key))),
    _plain("fractions.Fraction", fractions.Fraction, lambda v: (v.numerator, v.denominator), _fraction),
    _plain(
        "uuid.UUID",
        uuid.UUID,
        lambda v: (v.bytes, v.is_safe.value),
        lambda data, safe: uuid.UUID(bytes=data, is_safe=uuid.SafeUUID(safe)),
    ),
    # Its string has e where the context says so.
    _plain("decimal.Decimal", decimal.Decimal, lambda v: (str(v).replace("e", "E"),), _decimal),
    *map(
        _texts,
        (
            pathlib.PurePosixPath,
            pathlib.PureWindowsPath,
            pathlib.PosixPath,
            pathlib.WindowsPath,
            ipaddress.IPv4Address,
            ipaddress.IPv6Address,
            ipaddress.IPv4Network,
            ipaddress.IPv6Network,
            ipaddress.IPv4Interface,
            ipaddress.IPv6Interface,
        ),
    ),
    Kind("collections.deque", deque, lambda v: (list(v), v.maxlen), lambda v, n: deque(expect(list, v), n)),
    Kind("collections.OrderedDict", OrderedDict, _bare, lambda v: OrderedDict(expect(dict, v))),
    Kind("collections.Counter", Counter, _bare, _counter),
    Kind("collections.defaultdict", defaultdict, _defaults, lambda f, v: defaultdict(_MADE_BY[f], expect(dict, v))),
    Kind(
        "array.array",
        array,
        lambda v: (v.typecode, v.itemsize, Data(v, len(v) * v.itemsize)),
        _numbers,
    ),
)
