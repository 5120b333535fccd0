"""Settings of the process that functions depend on without naming them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from .._keys._encoder import Encoder, writes
from .._keys._standard import decimal_context
from .._surroundings import options_of_pandas

# What NumPy prints by where nobody said otherwise, which is no part of keys.
_PRINTING = {
    "edgeitems": 3,
    "threshold": 1000,
    "floatmode": "maxprec",
    "precision": 8,
    "suppress": False,
    "linewidth": 75,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "formatter": None,
    "legacy": False,
    "override_repr": None,
}

FORMATTING = frozenset(["FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE"])
"""Instructions that make text of values."""

METHODS = frozenset(
    [
        *("format", "format_map", "array2string", "array_repr", "array_str", "__str__", "__repr__"),
        *("to_string", "to_html", "to_latex", "to_markdown", "info", "_repr_html_"),
    ]
)
"""Methods and functions of libraries that do."""

OPTIONS = ("pandas.get_option", "pandas.options", "pandas._config", "pandas.describe_option")
"""What tells them."""

PRINTERS = frozenset(["str", "repr", "format", "print", "ascii"])
"""Built-in functions that do."""


class Setting:
    """A setting, which is read when a function is called."""

    def __init__(self, name: str, read: Callable[[], Any]):
        self.name = name
        self.read = read


@writes(Setting)
def _setting(e: Encoder, value: Setting) -> None:
    e.out.append(b"=")
    e.add((value.name, value.read()))


_usual: list[Any] = []  # the very options that were found to be the usual ones


def _printing() -> Any:
    tables = options_of_pandas(("display", "styler"))
    return (_of_numpy(), tables) if tables else _of_numpy()


def _of_numpy() -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    try:
        options = sys.modules["numpy._core.printoptions"].format_options.get()
    except (KeyError, AttributeError):  # of another version
        options = None
    if options is not None and _usual and _usual[0] is options:
        return None
    found = numpy.get_printoptions()
    if all(_PRINTING.get(name) == held for name, held in found.items()):
        if options is not None:
            _usual[:] = [options]
        return None
    return found


def _zone() -> Any:
    return (time.timezone, time.altzone, time.daylight, time.tzname)


def _torch() -> Any:
    torch = sys.modules["torch"]
    device = torch.get_default_device() if hasattr(torch, "get_default_device") else None
    return (str(torch.get_default_dtype()), str(device), torch.is_grad_enabled(), torch.is_autocast_enabled())


DECIMALS = Setting("the context of decimal", decimal_context)
PRINTING = Setting("print options of NumPy and pandas", _printing)
ZONE = Setting("the time zone of the machine", _zone)
TORCH = Setting("modes of torch", _torch)
