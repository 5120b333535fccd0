"""Tell flows on this machine from flows on other machines."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .remote import Remote

TokenArgument = str | os.PathLike[str]
CertificateArgument = str | os.PathLike[str] | tuple[str | os.PathLike[str], str | os.PathLike[str]]


def remote_of(
    flow: object,
    *,
    token: TokenArgument | None,
    ca: str | os.PathLike[str] | None,
    certificate: CertificateArgument | None,
    cleartext: bool,
    here: dict[str, Any],
) -> Remote | None:
    """Return the server that a flow's URL names; None for a flow on this machine.

    `here` are the options that only apply to a flow on this machine.
    """
    if not isinstance(flow, str) or not re.match(r"https?:", flow, re.IGNORECASE):
        there = {"token": token, "ca": ca, "certificate": certificate, "cleartext": cleartext or None}
        _only("a flow of another machine (https://HOST:PORT/FLOW)", there)
        return None
    _only("a flow of this machine: another one keeps its cache and its variables to itself", here)
    from . import remote  # with all of HTTP and TLS, which takes longest to import

    return remote.at(flow, token, ca, certificate, cleartext)


def _only(where: str, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value:
            raise TypeError(f"{name} goes with {where}")
