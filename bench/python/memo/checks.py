"""Print the time to check identities and to compute keys, as medians in microseconds.

PYTHONPATH=python/src python3 bench/python/memo/checks.py
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from larder._identity.code.identity import identify
from larder._identity.digest import digest, digest_rows

TEXT = "import math\n" + "".join(f"K{i} = {i + 1000}\ndef h{i}(x): return x + K{i}\n" for i in range(200))


@dataclass
class Settings:
    """A typical argument of functions."""

    size: int = 1
    name: str = "a"


def function(text: str) -> Callable[..., Any]:
    """Return the function f of a program."""
    space: dict[str, Any] = {"__name__": "made"}
    exec(compile(TEXT + text, "made.py", "exec"), space)
    found: Callable[..., Any] = space["f"]
    return found


def took(call: Callable[[], object], number: int = 2000, items: int = 1) -> str:
    """Return the median time of a call, per item."""
    runs = timeit.repeat(call, number=number, repeat=9)
    return f"{statistics.median(runs) / number / items * 1e6:8.2f} µs"


def main() -> None:
    """Print all rows."""
    ten = "def f(x): return math.sqrt(x) + math.pi + K1 + K2 + h4(x) + h5(x) + h6(x) + len([x]) + max(x, 1)"
    programs = {
        "10 references": ten,
        "100 constants": "def f(x): return " + " + ".join(f"K{i}" for i in range(100)),
        "50 functions with a constant each": "def f(x): return " + " + ".join(f"h{i}(x)" for i in range(50)),
        "a list": "T = [1, 2]\ndef f(x): return T",
    }
    for name, text in programs.items():
        print(f"check, {name:<40} {took(identify(function(text)).check)}")
    for value in [(1, "a"), ((1, "a"), {"k": 1.5}), Settings()]:
        print(f"key of {value!r:<40} {took(lambda value=value: digest(value))}")
    try:
        import numpy as np
    except ImportError:
        return
    array, rows = np.zeros(1 << 17), np.zeros((256, 128))
    print(f"key of {'an array of 1 MiB':<40} {took(lambda: digest(array), 20)}")
    print(f"key of {'a row of 1 KiB, of 256':<40} {took(lambda: digest_rows(rows), 20, 256)}")


if __name__ == "__main__":
    main()
