"""Tell flows on this machine from flows on other machines."""

from __future__ import annotations

import os
import re
from typing import TypeGuard

TokenArgument = str | os.PathLike[str]
CertificateArgument = str | os.PathLike[str] | tuple[str | os.PathLike[str], str | os.PathLike[str]]


def is_url(flow: object) -> TypeGuard[str]:
    """Report whether a flow is on another machine."""
    return isinstance(flow, str) and re.match(r"https?:", flow, re.IGNORECASE) is not None
