"""Encode values of types of the standard library that have hidden state."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

from ..immutable import FIXED
from .encoder import Encoder, Unkeyed, Writer, items, pairs


def find(cls: type) -> Writer | None:
    """Return the encoder of a type of the standard library, if it is listed here."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    reduce = _PARTS.get(name)
    if reduce is None or not _is_of_library(cls):
        return None
    if name in _FIXED:
        FIXED.add(cls)
    letter = b"l%x;%b" % (len(name), name.encode())

    def write(e: Encoder, value: Any) -> None:
        if name not in _FIXED and e.known(value):
            return
        e.out.append(letter)
        parts = reduce(value)
        if type(parts) is dict:
            e.out.append(b"%x;" % len(parts))
            pairs(e, parts)
        else:
            e.out.append(b"%x;" % len(parts))
            items(e, parts)

    return write


def _is_of_library(cls: type) -> bool:
    """Report whether a class is the one that its module has under its name."""
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls or cls.__module__ in ("types", "builtins", "functools", "re", "collections", "operator")


def _moment(value: Any) -> tuple[Any, ...]:
    zone = value.tzinfo
    rest = (value.hour, value.minute, value.second, value.microsecond, value.fold, zone)
    # The offset is included, as the rules of zones are data of the machine.
    return rest if zone is None else (*rest, value.utcoffset())


def _datetime(value: Any) -> tuple[Any, ...]:
    return (value.year, value.month, value.day, *_moment(value))


def _zone(value: Any) -> tuple[Any, ...]:
    if value.key is None:
        raise Unkeyed("a time zone without a name", "make it by its name")
    return (value.key,)


def decimal_context() -> tuple[Any, ...] | None:
    """Return the context of decimal computations, or None for the default."""
    import decimal

    c = decimal.getcontext()
    traps = tuple(sorted(signal.__name__ for signal, on in c.traps.items() if on))
    found = (c.prec, c.rounding, c.Emin, c.Emax, c.capitals, c.clamp, traps)
    return None if found == _USUAL else found


_USUAL = (28, "ROUND_HALF_EVEN", -999999, 999999, 1, 0, ("DivisionByZero", "InvalidOperation", "Overflow"))


def _random(value: Any) -> tuple[Any, ...]:
    # Draws from the generator of the process are not cached, so its state is not part of keys.
    return () if value is random._inst else (value.getstate(),)


def _tokenizer(value: Any) -> tuple[Any, ...]:
    try:
        text = value.to_str()
    except Exception as err:  # a part of it belongs to the program
        raise Unkeyed(f"a tokenizer that cannot be serialized ({err})", "pass its file, or pass key=") from None
    return (sys.modules["tokenizers"].__version__, text, getattr(value, "encode_special_tokens", None))


def _generic(value: Any) -> tuple[Any, ...]:
    return (value.__origin__, value.__args__)


def _reduced(value: Any) -> tuple[Any, ...]:
    return tuple(value.__reduce__()[1])


_PARTS: dict[str, Callable[[Any], Any]] = (
    {
        "datetime.date": lambda v: (v.year, v.month, v.day),
        "datetime.time": _moment,
        "datetime.datetime": _datetime,
        "datetime.timedelta": lambda v: (v.days, v.seconds, v.microseconds),
        "datetime.timezone": lambda v: (v.utcoffset(None), v.tzname(None), repr(v)),
        "zoneinfo.ZoneInfo": _zone,
        # Includes the context of computations, which a function of the value need not name.
        "decimal.Decimal": lambda v: (*v.as_tuple(), decimal_context()),
        "fractions.Fraction": lambda v: (v.numerator, v.denominator),
        "uuid.UUID": lambda v: (v.int, v.is_safe.value),
        "re.Pattern": lambda v: (v.pattern, v.flags),
        "re.Match": lambda v: (v.re, v.string, v.span(), v.pos, v.endpos),
        "collections.OrderedDict": lambda v: dict(v.items()),
        "collections.Counter": lambda v: dict(v.items()),
        "collections.defaultdict": lambda v: (v.default_factory, dict(v.items())),
        "collections.deque": lambda v: (v.maxlen, list(v)),
        "array.array": lambda v: (v.typecode, v.itemsize, v.tobytes()),
        "types.SimpleNamespace": lambda v: dict(vars(v)),
        "builtins.mappingproxy": lambda v: dict(v.items()),
        "types.MappingProxyType": lambda v: dict(v.items()),
        "types.GenericAlias": _generic,
        "types.UnionType": lambda v: v.__args__,
        "typing.Union": lambda v: v.__args__,
        "typing.TypeVar": lambda v: (v.__name__, v.__bound__, v.__constraints__),
        "typing.ParamSpec": lambda v: (v.__name__,),
        "typing.TypeVarTuple": lambda v: (v.__name__,),
        "typing.NewType": lambda v: (v.__name__, v.__supertype__),
        "typing.ForwardRef": lambda v: (v.__forward_arg__,),
        "typing._SpecialForm": lambda v: (v._name,),
        "typing._AnyMeta": lambda v: (v.__qualname__,),
        "typing._SpecialGenericAlias": lambda v: (v._name, v.__origin__),
        "typing._GenericAlias": _generic,
        "typing._UnionGenericAlias": _generic,
        "typing._LiteralGenericAlias": _generic,
        "typing._CallableGenericAlias": _generic,
        "typing._AnnotatedAlias": lambda v: (v.__origin__, v.__metadata__),
        "_struct.Struct": lambda v: (v.format,),
        "random.Random": _random,
        "tokenizers.Tokenizer": _tokenizer,
        "functools.partial": lambda v: (v.func, v.args, dict(v.keywords), dict(vars(v))),
        "operator.itemgetter": _reduced,
        "operator.attrgetter": _reduced,
        "operator.methodcaller": lambda v: tuple(_methodcaller(v)),
        "_collections._tuplegetter": _reduced,
        "collections._tuplegetter": _reduced,
        "dataclasses._MISSING_TYPE": lambda v: (),
        "dataclasses._HAS_DEFAULT_FACTORY_CLASS": lambda v: (),
        "dataclasses._DataclassParams": lambda v: tuple((n, getattr(v, n)) for n in v.__slots__),
        "logging.Logger": lambda v: (v.name,),
        "logging.RootLogger": lambda v: (),
    }
    | {
        f"pathlib.{name}": lambda v: (str(v),)
        for name in (
            "Path",
            "PosixPath",
            "WindowsPath",
            "PurePath",
            "PurePosixPath",
            "PureWindowsPath",
        )
    }
    | {
        f"pathlib._local.{name}": lambda v: (str(v),)
        for name in (
            "Path",
            "PosixPath",
            "WindowsPath",
            "PurePath",
            "PurePosixPath",
            "PureWindowsPath",
        )
    }
)

# These are immutable, with everything that they refer to.
_FIXED = {
    "datetime.date",
    "datetime.timedelta",
    "decimal.Decimal",
    "fractions.Fraction",
    "uuid.UUID",
    "re.Pattern",
    "_struct.Struct",
    "dataclasses._MISSING_TYPE",
    "dataclasses._HAS_DEFAULT_FACTORY_CLASS",
    "dataclasses._DataclassParams",
    "_collections._tuplegetter",
    "collections._tuplegetter",
    "logging.Logger",
    "logging.RootLogger",
    *(name for name in _PARTS if name.startswith("pathlib")),
}


def _methodcaller(value: Any) -> list[Any]:
    made, args = value.__reduce__()[:2]
    return [*getattr(made, "args", ()), getattr(made, "keywords", {}), *args]
