"""Exceptions for compiled functions."""

from __future__ import annotations

from ..errors import Error


class NumbaError(Error):
    """Compiled functions cannot be cached: numba is missing, or its version is not supported."""


class Refused(Exception):
    """A function cannot be cached: the path to the part without a key, and the reason."""

    def __init__(self, path: str, why: str):
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Unfit(Exception):
    """A cached function is valid, but this process cannot use it: the reason."""
