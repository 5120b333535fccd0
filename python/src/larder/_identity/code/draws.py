"""Decide whether names of libraries may draw from the random number generators of the process.

What is not known here may draw.
"""

from __future__ import annotations

import sys

from .refusals import words
from .rules import SEEDED

_STANDARD = sys.stdlib_module_names - set(
    words(
        "random secrets statistics tempfile uuid email smtplib mailbox imaplib urllib http socketserver xmlrpc "
        "multiprocessing concurrent subprocess asyncio ctypes importlib runpy code pydoc doctest unittest test"
    )
)


def of_library(name: str) -> bool:
    """Report whether a name of a library may draw, by its full name."""
    package = name.partition(".")[0]
    if package == "numpy":
        return name.startswith(("numpy.random", "numpy.testing", "numpy.ctypeslib")) and name not in SEEDED
    return package not in _STANDARD and name not in SEEDED and package != "larder"
