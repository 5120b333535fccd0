"""Settings of the process that results may depend on, whatever computes them."""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any


def surroundings() -> tuple[Any, ...]:
    """Return the settings that are not as they are at first, by their names: nothing as a rule."""
    found: list[Any] = []
    if sys.flags.optimize:
        found.append(("optimize", sys.flags.optimize))  # without assertions
    digits = getattr(sys, "get_int_max_str_digits", lambda: 4300)()
    if digits != 4300:
        found.append(("digits of int", digits))
    if "csv" in sys.modules and (most := sys.modules["csv"].field_size_limit()) != 131072:
        found.append(("fields of csv", most))
    errors = [f for f in sys.modules["warnings"].filters if f[0] == "error"] if "warnings" in sys.modules else []
    if errors:  # what is a warning elsewhere is raised
        found.append(("warnings", sorted(_warning(*f) for f in errors)))
    if "decimal" in sys.modules:
        decimal = sys.modules["decimal"]
        context = decimal.getcontext()
        if (context.prec, context.rounding, context.Emin, context.Emax) != (28, "ROUND_HALF_EVEN", -999999, 999999):
            traps = sorted(signal.__name__ for signal, on in context.traps.items() if on)
            found.append(("decimal", context.prec, context.rounding, context.Emin, context.Emax, traps))
    if "numpy" in sys.modules:
        handling = sys.modules["numpy"].geterr()
        if handling != _ERRORS:
            found.append(("numpy", sorted(handling.items())))
    found += options_of_pandas(("mode", "compute", "future", "io"))
    if "torch" in sys.modules:
        found.extend(_torch(sys.modules["torch"]))
    return tuple(found)


def _warning(action: str, message: Any, category: type, module: Any, line: int) -> tuple[Any, ...]:
    texts = (getattr(pattern, "pattern", pattern) or "" for pattern in (message, module))
    return (*texts, category.__module__, category.__qualname__, line)


_seen: list[Any] = []  # the options of pandas, and those that are not as they are at first


def options_of_pandas(groups: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the options of pandas in some groups that are not as they are at first."""
    config = sys.modules.get("pandas._config.config")
    options = getattr(config, "_global_config", None)
    registered = getattr(config, "_registered_options", None)
    if not options or not registered:
        return []
    if not _seen or _seen[0] != options:  # which takes a microsecond
        changed = []
        for name, option in list(registered.items()):
            value = options
            for part in name.split("."):
                value = value[part]
            if value != option.defval:
                changed.append((name, repr(value)))
        _seen[:] = [deepcopy(options), sorted(changed)]
    return [(name, value) for name, value in _seen[1] if name.startswith(groups)]


_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def _torch(torch: Any) -> list[Any]:
    found = []
    backends = torch.backends
    for name in ("mkldnn", "cudnn"):
        if not getattr(getattr(backends, name, None), "enabled", True):
            found.append(("torch without", name))
    if torch.are_deterministic_algorithms_enabled():
        found.append(("torch", "deterministic"))
    return found
