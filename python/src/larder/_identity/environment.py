"""Read the process settings on which any result may depend."""

from __future__ import annotations

import codecs
import locale
import os
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from functools import cache, partial
from hashlib import sha256
from operator import itemgetter
from typing import Any


def nondefault_settings() -> tuple[Any, ...]:
    """Return the settings that differ from their defaults, with names; usually none."""
    found: list[Any] = []
    if sys.flags.optimize:
        found.append(("optimize", sys.flags.optimize))  # without assertions
    digits = getattr(sys, "get_int_max_str_digits", lambda: 4300)()
    if digits != 4300:
        found.append(("digits of int", digits))
    if "csv" in sys.modules and (most := sys.modules["csv"].field_size_limit()) != 131072:
        found.append(("fields of csv", most))
    errors = [f for f in sys.modules["warnings"].filters if f[0] == "error"] if "warnings" in sys.modules else []
    if errors:  # warnings that are raised as errors
        found.append(("warnings", sorted(_warning(*f) for f in errors)))
    if (encoding := _encoding()) != "utf-8":
        found.append(("encoding of texts", encoding))
    if (zone := local_zone()) is not None:
        found.append(("time zone", *zone))
    if _SMALLEST * 0.5 == 0.0:
        found.append(("floats", "flushed to 0"))
    if "decimal" in sys.modules:
        decimal = sys.modules["decimal"]
        for context in (decimal.getcontext(), decimal.DefaultContext):  # the latter is that of new threads
            if (context.prec, context.rounding, context.Emin, context.Emax) != _DECIMALS:
                traps = sorted(signal.__name__ for signal, on in context.traps.items() if on)
                found.append(("decimal", context.prec, context.rounding, context.Emin, context.Emax, traps))
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        handling = asked(numpy, "geterr", _ERRORS)
        if handling != _ERRORS:
            called = asked(numpy, "geterrcall") if "call" in handling.values() or "log" in handling.values() else None
            found.append(("numpy", sorted(handling.items()), called))
    if "sklearn" in sys.modules:
        settings: dict[str, Any] = asked(sys.modules["sklearn"], "get_config", {})
        found += [("sklearn", name, held) for name, held in settings.items() if _is_unusual(name, held)]
    found += options_of_pandas(("mode", "compute", "future", "io"))
    if "torch" in sys.modules:
        found.extend(_torch(sys.modules["torch"]))
    return tuple(found)


_SMALLEST = 1e-310


def local_zone() -> tuple[Any, ...] | None:
    """Return the name and rules of the machine's time zone, or None for UTC.

    Functions of many libraries depend on it, so it is part of every key.
    """
    global _zone
    variables = getattr(os.environ, "_data", {})  # 20 times faster than os.environ.get
    variable, names = variables.get(b"TZ"), time.tzname  # which tzset replaces
    zone = _zone
    if zone is None or zone[0] is not names or zone[1] != variable:
        usual = names == ("UTC", "UTC") and variable in (None, b"UTC", b"")
        known_by = None if usual else (variable, names, time.timezone, time.altzone, _rules(variable))
        _zone = zone = names, variable, known_by
    return zone[2]


# The names, the variable, and the identity: one tuple, so that no thread sees a mix of two zones.
_zone: tuple[tuple[str, str], bytes | None, tuple[Any, ...] | None] | None = None


def _rules(variable: bytes | None) -> bytes | None:
    """Return the digest of the zone's rules, which may differ for zones with the same names today."""
    name = os.fsdecode(variable or b"").removeprefix(":")
    file = os.path.join(os.environ.get("TZDIR", "/usr/share/zoneinfo"), name) if name else "/etc/localtime"
    try:
        with open(file, "rb") as rules:
            return sha256(rules.read(1 << 20)).digest()
    except (OSError, ValueError):  # the variable has the rules, or there are none
        return None


@cache
def _encoding() -> str:
    """Return the default encoding of text files, which is fixed for a process."""
    return "utf-8" if sys.flags.utf8_mode else codecs.lookup(locale.getencoding()).name


_DECIMALS = (28, "ROUND_HALF_EVEN", -999999, 999999)

# Defaults of scikit-learn's settings. A setting that is not listed always counts, as its default is not known.
_LEARNING = {
    "assume_finite": False,
    "working_memory": 1024,
    "pairwise_dist_chunk_size": 256,
    "enable_cython_pairwise_dist": True,
    "array_api_dispatch": False,
    "transform_output": "default",
    "enable_metadata_routing": False,
    "skip_parameter_validation": False,
    "sparse_interface": "spmatrix",
}


PRINTING_OF_SKLEARN = {"print_changed_only": True, "display": "diagram"}
"""Defaults of its print settings, which count only where code formats values."""


def _is_unusual(name: str, held: Any) -> bool:
    return name not in PRINTING_OF_SKLEARN and (name not in _LEARNING or held != _LEARNING[name])


def _warning(action: str, message: Any, category: type, module: Any, line: int) -> tuple[Any, ...]:
    texts = (getattr(pattern, "pattern", pattern) or "" for pattern in (message, module))
    return (*texts, category.__module__, category.__qualname__, line)


# The options of pandas, and those that differ from their defaults: one tuple, as above.
_seen: tuple[Any, list[tuple[str, Any]]] | None = None


def options_of_pandas(groups: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Return the options of pandas in some groups that differ from their defaults, including functions."""
    global _seen
    config = sys.modules.get("pandas._config.config")
    options = getattr(config, "_global_config", None)
    registered = getattr(config, "_registered_options", None)
    if not options or not registered:
        return []
    seen = _seen
    if seen is None or seen[0] != options:  # which takes a microsecond
        changed, held = [], deepcopy(options)  # read from the copy, as another thread may set them
        for name, option in list(registered.items()):
            value = held
            for part in name.split("."):
                value = value[part]
            if value != option.defval:
                changed.append((name, value))
        _seen = seen = held, sorted(changed, key=itemgetter(0))
    return [(name, value) for name, value in seen[1] if name.startswith(groups)]


_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def asked(library: Any, function: str, otherwise: Any = None, *given: Any) -> Any:
    """Return the result of a library function, or a default if its version lacks it or rejects the call."""
    try:
        return getattr(library, function)(*given)
    except (AttributeError, TypeError, ValueError, RuntimeError, LookupError):
        return otherwise


def _torch(torch: Any) -> list[Any]:
    """Return the settings of torch's backends that differ from their defaults."""
    names, askers, usual = _askers(torch)
    try:
        held = [ask() for ask in askers]
    except RuntimeError:  # if old and new ways to set precision are mixed
        held = [asked(ask, "__call__", "mixed") for ask in askers]
    if held == usual:
        return []
    return [("torch", *name, str(one)) for name, one, first in zip(names, held, usual, strict=True) if one != first]


@cache
def _askers(torch: Any) -> tuple[list[tuple[str, ...]], list[Callable[[], Any]], list[Any]]:
    """Return the names of torch's settings, the functions that read them, and their defaults."""
    inside, backends = getattr(torch, "_C", None), getattr(torch, "backends", None)
    found: list[tuple[tuple[str, ...], Callable[[], Any], Any]] = []
    for name, first, *given in _BACKENDS:
        if (ask := getattr(inside, f"_get_{name}", None)) is not None:
            found.append(((name, *given), partial(ask, *given) if given else ask, first))
    linalg = getattr(inside, "_get_linalg_preferred_backend", None)
    if linalg is not None:  # its default is not a constant of Python
        found.append((("linalg",), linalg, getattr(getattr(inside, "_LinalgBackend", None), "Default", None)))
    einsum = getattr(backends, "opt_einsum", None)
    for module, name, first in (
        (getattr(backends, "mha", None), "_is_fastpath_enabled", True),
        (einsum, "enabled", asked(einsum, "is_available")),
        (einsum, "strategy", "auto" if asked(einsum, "is_available") else None),
    ):
        if hasattr(module, name):
            found.append(((name,), partial(getattr, module, name), first))
    return [one[0] for one in found], [one[1] for one in found], [one[2] for one in found]


# Getters of torch._C without their prefix _get_, the default, and the arguments of the getter.
_BACKENDS: tuple[tuple[Any, ...], ...] = (
    ("mkldnn_enabled", True),
    ("mkldnn_deterministic", False),
    ("nnpack_enabled", True),
    ("cpu_allow_fp16_reduced_precision_reduction", False),
    ("deterministic_algorithms", False),
    ("deterministic_fill_uninitialized_memory", True),
    ("cudnn_enabled", True),
    ("cudnn_benchmark", False),
    ("cudnn_deterministic", False),
    ("cudnn_allow_tf32", True),
    ("cudnn_sdp_enabled", True),
    ("cublas_allow_tf32", False),
    ("cublas_allow_fp16_accumulation", False),
    ("flash_sdp_enabled", True),
    ("math_sdp_enabled", True),
    ("mem_efficient_sdp_enabled", True),
    ("math_sdp_allow_fp16_bf16_reduction", False),
    ("fp32_precision_getter", "none", "generic", "all"),
    *(("fp32_precision_getter", "none", "mkldnn", of) for of in ("all", "matmul", "conv", "rnn")),
    *(("fp32_precision_getter", "none", "cuda", of) for of in ("all", "matmul")),
    *(("fp32_precision_getter", "tf32", "cuda", of) for of in ("conv", "rnn")),
)


def modes_of_torch(grad: bool) -> list[Any]:
    """Return the modes of torch that differ from their defaults, with the gradient mode if `grad` is set."""
    torch = sys.modules["torch"]
    found: list[Any] = []
    if (dtype := str(asked(torch, "get_default_dtype", _FLOAT))) != _FLOAT:
        found.append(dtype)
    device = asked(torch, "get_default_device")
    if device is not None and device.type != "cpu":
        found.append(str(device))
    if grad and not asked(torch, "is_grad_enabled", True):
        found.append("no gradients")
    found += autocasts()
    if (precision := asked(torch, "get_float32_matmul_precision", "highest")) != "highest":
        found.append(("precision", precision))
    if asked(torch, "is_anomaly_enabled"):
        found.append("anomalies")
    return found


_FLOAT = "torch.float32"


def autocasts() -> list[Any]:
    """Return the devices on which autocast is on or has another type than its default, with that type."""
    torch = sys.modules["torch"]
    found = []
    for device, infix, name, usual in (
        ("cpu", "_cpu", "cpu", "torch.bfloat16"),
        ("cuda", "", "gpu", "torch.float16"),
    ):
        on = asked(torch, "is_autocast_enabled", None, device)
        if on is not None:
            dtype = asked(torch, "get_autocast_dtype", None, device)
        else:  # an old version, which has a function for each device
            on = asked(torch, f"is_autocast{infix}_enabled")
            dtype = asked(torch, f"get_autocast_{name}_dtype")
        if on or (dtype is not None and str(dtype) != usual):
            found.append((device, on, str(dtype)))
    return found
