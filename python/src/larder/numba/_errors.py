"""What can go wrong with compiled functions."""

from __future__ import annotations

from ..errors import Error


class NumbaError(Error):
    """Compiled functions cannot be kept: numba is missing, or it is not one that is known here."""


class Refused(Exception):
    """One function cannot be kept: the way to what has no key, and what that is."""

    def __init__(self, path: str, why: str):
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Unfit(Exception):
    """What is kept is right, and of no use to this process as it is by now: why."""
