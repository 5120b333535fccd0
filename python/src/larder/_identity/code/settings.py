"""Read process settings that functions depend on without naming them."""

from __future__ import annotations

import codecs
import os
import re
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from ..environment import PRINTING_OF_SKLEARN, asked, local_zone, modes_of_torch, options_of_pandas
from ..values.encoder import Encoder, writes
from ..values.standard import decimal_context
from .guards import Guards

# The default print options of NumPy, which are not part of keys.
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
"""Instructions that convert values to strings."""

METHODS = frozenset(
    [
        *("format", "format_map", "array2string", "array_repr", "array_str", "__str__", "__repr__"),
        *("to_string", "to_html", "to_latex", "to_markdown", "info", "_repr_html_"),
    ]
)
"""Methods and functions of libraries that do so."""

OPTIONS = ("pandas.get_option", "pandas.options", "pandas._config", "pandas.describe_option")
"""Names that read these options."""

PRINTERS = frozenset(["str", "repr", "format", "print", "ascii"])
"""Built-in functions that do so."""


class Setting:
    """A setting, read when a function is called."""

    def __init__(self, name: str, read: Callable[[], Any]):
        self.name = name
        self.read = read


@writes(Setting)
def _setting(e: Encoder, value: Setting) -> None:
    e.out.append(b"=")
    e.add((value.name, value.read()))


_usual: Any = None  # the options object that was found to have the defaults


def _printing() -> Any:
    tables = options_of_pandas(("display", "styler"))
    others = [tables, _of_torch(), _of_locale(), _of_sklearn()]
    return (_of_numpy(), *others) if any(others) else _of_numpy()


def _of_torch() -> list[Any]:
    options = getattr(sys.modules.get("torch._tensor_str"), "PRINT_OPTS", None)
    found = [(name, getattr(options, name, usual)) for name, usual in _TENSORS.items()]
    return [(name, held) for name, held in found if held != _TENSORS[name]]


_TENSORS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def _of_sklearn() -> list[Any]:
    settings = asked(sys.modules.get("sklearn"), "get_config", {})
    return [(name, settings[name]) for name, held in PRINTING_OF_SKLEARN.items() if settings.get(name, held) != held]


def _of_locale() -> list[str]:
    if "locale" not in sys.modules:
        return []
    locale = sys.modules["locale"]
    places = [locale.setlocale(of) for of in (locale.LC_NUMERIC, locale.LC_TIME)]
    return places if places != ["C", "C"] else []


def _of_numpy() -> Any:
    global _usual
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    try:
        options = sys.modules["numpy._core.printoptions"].format_options.get()
    except (KeyError, AttributeError):  # of another version
        options = None
    if options is not None and _usual is options:
        return None
    found = asked(numpy, "get_printoptions", {})
    if all(_PRINTING.get(name) == held for name, held in found.items()):
        if options is not None:
            _usual = options
        return None
    return found


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
"""Settings of Python packages, which count for code that uses them."""


def _of_yaml() -> tuple[str, ...]:
    classes = [f"{kind}{base}" for base in ("Loader", "Dumper") for kind in ("", "Base", "Safe", "CBase", "CSafe", "C")]
    tables = {
        "Loader": ("constructors", "multi_constructors", "implicit_resolvers", "path_resolvers"),
        "Dumper": ("representers", "multi_representers", "implicit_resolvers", "path_resolvers"),
    }
    return tuple(
        f"yaml.{cls}.yaml_{table}"
        for cls in (*classes, "FullLoader", "CFullLoader", "UnsafeLoader", "CUnsafeLoader")
        for table in tables[cls[-6:]]
    )


_COPIED = ("copyreg.dispatch_table",)

_OPTIONS = {
    "dask": ("dask.config.config",),
    "mpmath": ("mpmath.mp._prec_rounding", "mpmath.mp.pretty", "mpmath.mp.trap_complex", "mpmath.iv._prec"),
    "networkx": ("networkx.config",),
    "PIL": ("PIL.ImageFile.LOAD_TRUNCATED_IMAGES", "PIL.Image.MAX_IMAGE_PIXELS", "PIL.TiffImagePlugin.READ_LIBTIFF"),
    "plotly": ("plotly.io.templates._default", "plotly.io.renderers._default_renderers"),
    "sympy": ("sympy.core.parameters.global_parameters", "sympy.printing.printer.Printer._global_settings"),
    "tabulate": ("tabulate.PRESERVE_WHITESPACE", "tabulate.WIDE_CHARS_MODE", "tabulate.MIN_PADDING"),
    "xarray": ("xarray.core.options.OPTIONS",),
}


_FIRST = {"PIL.ImageFile.LOAD_TRUNCATED_IMAGES": False, "PIL.TiffImagePlugin.READ_LIBTIFF": False}
"""The initial values of options of modules that their library imports on demand."""


def _options(paths: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the options in variables of libraries, as strings."""
    found = []
    for path in paths:
        held = _at(path)
        if held is None:
            held = _FIRST.get(path)
        found.append((path, repr(getattr(held, "__dict__", None) or held)))
    return found


def _at(path: str) -> Any:
    """Return the object at a path in a loaded module, or None."""
    module, _, name = path.rpartition(".")
    while module and module not in sys.modules:
        module, _, more = module.rpartition(".")
        name = f"{more}.{name}"
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


OF_PACKAGES.update(
    (package, Setting(f"the options of {package}", partial(_options, paths))) for package, paths in _OPTIONS.items()
)


def _of_polars() -> list[Any]:
    config = sys.modules.get("polars.config")
    names: Any = getattr(config, "_POLARS_CFG_ENV_VARS", None) or getattr(config, "POLARS_CFG_ENV_VARS", None)
    direct = getattr(config, "_POLARS_CFG_DIRECT_VARS", {})
    printing = sorted(name for name in names or () if name.startswith("POLARS_FMT"))  # others change its computations
    found: list[Any] = [(name, os.environ[name]) for name in printing if name in os.environ]
    return found + [(name, str(read())) for name, read in direct.items()]


def _of_xgboost() -> list[Any]:
    return sorted(asked(sys.modules["xgboost"], "get_config", {}).items())


OF_PACKAGES["polars"] = Setting("the options of polars", _of_polars)
OF_PACKAGES["xgboost"] = Setting("the options of xgboost", _of_xgboost)

HELD = {
    "": (
        *("warnings.showwarning", "warnings.formatwarning"),
        *("logging._logRecordFactory", "logging._loggerClass"),
    ),
    **dict.fromkeys(("copyreg", "pickle", "_pickle"), _COPIED),
    "copy": (*_COPIED, "copy._copy_dispatch", "copy._deepcopy_dispatch"),
    "datasets": ("datasets.formatting._FORMAT_TYPES", "datasets.features.features._FEATURE_TYPES"),
    "jinja2": ("jinja2.filters.FILTERS", "jinja2.tests.TESTS", "jinja2.defaults.DEFAULT_NAMESPACE"),
    "json": ("json._default_encoder", "json._default_decoder"),
    "logging": ("logging._levelToName", "logging._nameToLevel"),
    "pandas": (
        *("pandas.core.dtypes.base._registry.dtypes", "pandas.io.excel._util._writers"),
        *("pandas.plotting._core._backends", "pandas.tseries.holiday.holiday_calendars"),
    ),
    "pprint": ("pprint.PrettyPrinter._dispatch",),
    "sklearn": ("sklearn.metrics._scorer._SCORERS",),
    "sqlite3": ("sqlite3.adapters", "sqlite3.converters"),
    "PIL": ("PIL.Image.OPEN", "PIL.Image.SAVE", "PIL.Image.SAVE_ALL", "PIL.Image.DECODERS", "PIL.Image.ENCODERS"),
    "matplotlib": (
        *("matplotlib.units.registry", "matplotlib.scale._scale_mapping"),
        *("matplotlib.projections.projection_registry._all_projection_types",),
    ),
    "torch": (
        *(
            f"torch.nn.modules.module._global_{name}_hooks"
            for name in (
                *("forward", "forward_pre", "backward", "backward_pre"),
                *("parameter_registration", "module_registration", "buffer_registration"),
            )
        ),
        "torch.distributions.kl._KL_REGISTRY",
        "torch.distributions.constraint_registry.biject_to._registry",
        "torch.distributions.constraint_registry.transform_to._registry",
        *("torch.utils._pytree.SUPPORTED_NODES", "torch.utils.data._utils.collate.default_collate_fn_map"),
        *("torch.utils.data.IterDataPipe.functions", "torch.utils.data.MapDataPipe.functions"),
        *("torch.serialization._package_registry", "torch._weights_only_unpickler._marked_safe_globals_set"),
    ),
    "webdataset": ("webdataset.autodecode.decoders", "webdataset.writer.default_handlers"),
    "yaml": _of_yaml(),
}
"""Where packages hold settings and the program's functions that they call; those of "" apply to every function."""

BASES = {"pyarrow": ("pyarrow.lib.ExtensionType",)}
"""Bases of program classes that packages look up by name in a registry that cannot be read."""

WHOLE = ("yaml.", "logging._levelToName", "logging._nameToLevel")
"""Registries of which every entry counts, as a program registers more than functions."""

SIDE = ("warnings", "logging", "torch.nn", "torch.distributions", "torch.utils", "torch.serialization")
"""Packages that often only report: code registered there may do anything, and an edit of it counts."""

ENCODING = frozenset(["encode", "decode", "open", "lookup", "getencoder", "getdecoder", "str", "bytes", "read_text"])
"""Names that look up codecs by strings."""


def held(path: str, guards: Guards) -> Any:
    """Return the object at a path in a loaded module, its classes or objects; None if there is none."""
    module = path
    while module not in sys.modules:
        module = module.rpartition(".")[0]
        if not module:
            return None
    value: Any = sys.modules[module]
    for name in path[len(module) + 1 :].split("."):
        spaces = value.__mro__ if isinstance(value, type) else (value,)
        if not any(name in getattr(space, "__dict__", {}) for space in spaces):
            return None
        holder, value = value, getattr(value, name)
        guards.attribute(holder, name, value)
    return value


def codecs_of(texts: set[str], looked_up: bool) -> list[Setting]:
    """Return the error handlers that strings name, and codecs if they are looked up, without those of Python."""
    found = []
    for text in sorted(texts):
        if _CODEC.fullmatch(text):
            found.append(Setting(f"the handler of errors {text}", partial(_handler, text)))
            if looked_up:
                found.append(Setting(f"the codec {text}", partial(_codec, text)))
    return [one for one in found if one.read() is not None]


_CODEC = re.compile(r"[A-Za-z][\w.:-]{0,40}")


def _handler(name: str) -> Any:
    found = asked(codecs, "lookup_error", None, name)
    return found if isinstance(found, types.FunctionType) else None


def _codec(name: str) -> Any:
    try:
        found = codecs.lookup(name)
    except Exception:  # also an error of the program's codecs
        return None
    functions = [f for f in found if isinstance(f, types.FunctionType) and not _is_pythons(f)]
    return functions or None


def _is_pythons(function: types.FunctionType) -> bool:
    return str(function.__globals__.get("__name__", "")).partition(".")[0] in ("encodings", "codecs")


def _matplotlib() -> Any:
    library = sys.modules["matplotlib"]
    usual, now = getattr(library, "rcParamsDefault", {}), getattr(library, "rcParams", {})
    return [(name, repr(now[name])) for name in sorted(now) if name not in usual or now[name] != usual[name]]


OF_PACKAGES["matplotlib"] = OF_PACKAGES["seaborn"] = Setting("the parameters of matplotlib", _matplotlib)


def _gradients() -> Any:
    torch = sys.modules.get("torch")
    return torch is None or asked(torch, "is_grad_enabled", True)


GRADIENTS = Setting("whether torch notes gradients", _gradients)
OF_GRADIENTS = frozenset(["requires_grad_", "requires_grad", "backward", "grad_fn", "is_leaf"])
"""Attributes of tensors that depend on it."""

FILTERS = Setting("the filters of warnings", _filters)
DECIMALS = Setting("the context of decimal", decimal_context)
PRINTING = Setting("print options of NumPy and pandas", _printing)
ZONE = Setting("the time zone of the machine", local_zone)
TORCH = Setting("modes of torch", _torch)
