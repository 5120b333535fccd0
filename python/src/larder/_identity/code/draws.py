"""Decide whether code may draw from the random number generators of the process.

If it cannot, draws of other threads while it runs do not count for it. Code that is not known
here may draw.
"""

from __future__ import annotations

import datetime
import decimal
import pathlib
import sys
import types
from typing import Any

from ...errors import CodeError
from ..values.encoder import FIXED
from ..wrapper import Wrapper
from .rules import SEEDED, words
from .settings import Setting

_STANDARD = sys.stdlib_module_names - set(
    words(
        "random secrets statistics tempfile uuid email smtplib mailbox imaplib urllib http socketserver xmlrpc "
        "multiprocessing concurrent subprocess asyncio ctypes importlib runpy code pydoc doctest unittest test"
    )
)
_PLAIN = FIXED | {bytearray, datetime.date, datetime.time, datetime.datetime, datetime.timedelta, decimal.Decimal}
_LISTS = (list, tuple, set, frozenset)
_MOST = 100_000


def of_library(name: str) -> bool:
    """Report whether a name of a library may draw, by its full name."""
    package = name.partition(".")[0]
    if package == "numpy":
        return name.startswith(("numpy.random", "numpy.testing", "numpy.ctypeslib")) and name not in SEEDED
    return package not in _STANDARD and name not in SEEDED and package != "larder"


def of_values(values: Any) -> bool:
    """Report whether methods of values, or functions among them, may draw."""
    left, seen = list(values), set[int]()
    while left:
        value = left.pop()
        if type(value) in _PLAIN or isinstance(value, (pathlib.PurePath, Setting)) or id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > _MOST:
            return True
        if type(value) in _LISTS:
            left += value
        elif type(value) is dict:
            left += [*value, *value.values()]
        elif isinstance(value, (type, types.FunctionType, Wrapper)):
            if _of_code(value):
                return True
        elif not _is_numeric(value):
            if not hasattr(value, "__dict__") or hasattr(type(value), "__slots__") or _of_code(type(value)):
                return True
            left += vars(value).values()
    return False


def _is_numeric(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject


def _of_code(value: Any) -> bool:
    from .identity import identity_of

    try:
        return identity_of(value).draws
    except CodeError:
        return True
