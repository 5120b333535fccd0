"""Settings of the process that functions depend on without naming them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from .._keys._encoder import Encoder, writes
from .._keys._standard import decimal_context
from .._surroundings import asked, modes_of_torch, options_of_pandas

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
    tensors, places = _of_torch(), _of_locale()
    return (_of_numpy(), tables, tensors, places) if tables or tensors or places else _of_numpy()


def _of_torch() -> list[Any]:
    options = getattr(sys.modules.get("torch._tensor_str"), "PRINT_OPTS", None)
    found = [(name, getattr(options, name, usual)) for name, usual in _TENSORS.items()]
    return [(name, held) for name, held in found if held != _TENSORS[name]]


_TENSORS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def _of_locale() -> list[str]:
    if "locale" not in sys.modules:
        return []
    locale = sys.modules["locale"]
    places = [locale.setlocale(of) for of in (locale.LC_NUMERIC, locale.LC_TIME)]
    return places if places != ["C", "C"] else []


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
    found = asked(numpy, "get_printoptions", {})
    if all(_PRINTING.get(name) == held for name, held in found.items()):
        if options is not None:
            _usual[:] = [options]
        return None
    return found


def _zone() -> Any:
    return (time.timezone, time.altzone, time.daylight, time.tzname)


def _torch() -> Any:
    return modes_of_torch(True)


def _names_of_xml() -> Any:
    return sorted(getattr(sys.modules.get("xml.etree.ElementTree"), "_namespace_map", {}).items())


def _dialects() -> Any:
    csv = sys.modules["csv"]
    found = [(name, csv.get_dialect(name)) for name in sorted(csv.list_dialects())]
    return [(name, [repr(getattr(dialect, field, None)) for field in _OF_DIALECTS]) for name, dialect in found]


_OF_DIALECTS = ("delimiter", "doublequote", "escapechar", "lineterminator", "quotechar", "quoting", "skipinitialspace")


def _filters() -> Any:
    return [repr(one) for one in sys.modules["warnings"].filters]


def _first_day() -> Any:
    return sys.modules["calendar"].firstweekday()


OF_PACKAGES = {
    "xml": Setting("the prefixes of xml.etree", _names_of_xml),
    "csv": Setting("the dialects of csv", _dialects),
    "_csv": Setting("the dialects of csv", _dialects),
    "calendar": Setting("the first day of a week", _first_day),
}
"""Settings of packages of Python, for who uses these."""


def _gradients() -> Any:
    torch = sys.modules.get("torch")
    return torch is None or asked(torch, "is_grad_enabled", True)


GRADIENTS = Setting("whether torch notes gradients", _gradients)
OF_GRADIENTS = frozenset(["requires_grad_", "requires_grad", "backward", "grad_fn", "is_leaf"])
"""Attributes of tensors that depend on that."""

FILTERS = Setting("the filters of warnings", _filters)
DECIMALS = Setting("the context of decimal", decimal_context)
PRINTING = Setting("print options of NumPy and pandas", _printing)
ZONE = Setting("the time zone of the machine", _zone)
TORCH = Setting("modes of torch", _torch)
