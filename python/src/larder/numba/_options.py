"""With which options and flags a function is compiled."""

from __future__ import annotations

from typing import Any

_known: dict[tuple[Any, ...], Any] = {}
_MOST = 4096


def options_of(dispatcher: Any) -> list[tuple[str, Any]]:
    """Return all that was said of how a function is to be compiled, in an order of its own."""
    found = [(name, value) for name, value in sorted(dispatcher.targetoptions.items())]
    found.append(("locals", dict(sorted(dispatcher.locals.items()))))
    found.append(("pipeline", dispatcher._compiler.pipeline_class))
    found.append(("dispatcher", type(dispatcher)))
    return found


def effective(dispatcher: Any, within: Any) -> Any:
    """Return the flags that a function is compiled with if it is first met within another one, whose flags these are.

    What a function says nothing of (fastmath, the error model) it takes from there.
    """
    options = dispatcher.targetoptions
    try:
        key = (type(dispatcher), tuple(sorted((k, repr(v)) for k, v in options.items())), repr(within))
    except TypeError:
        return None
    if key not in _known:
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = _effective(dispatcher, within)
    return _known[key]


def _effective(dispatcher: Any, within: Any) -> Any:
    from numba.core.compiler import Flags
    from numba.core.targetconfig import ConfigStack

    flags = Flags()
    parse = dispatcher.targetdescr.options.parse_as_flags
    if within is None:
        parse(flags, dispatcher.targetoptions)
        return flags
    with ConfigStack().enter(within.copy()):
        parse(flags, dispatcher.targetoptions)
    return flags


def around() -> Any:
    """Return the flags of the function that is being compiled, if one is."""
    from numba.core.targetconfig import ConfigStack

    return ConfigStack.top_or_none()


def shown(flags: Any) -> str:
    """Return all flags as text that is the same in each process."""
    return "" if flags is None else " ".join(f"{name}={_text(value)}" for name, value in sorted(flags.values().items()))


def _text(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (set, frozenset)):
        return str(sorted(map(str, value)))
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    held = {**getattr(value, "__dict__", {})}
    for name in getattr(type(value), "__slots__", ()):
        held[name] = getattr(value, name)
    return f"{type(value).__qualname__}({', '.join(f'{k}={_text(v)}' for k, v in sorted(held.items()))})"
