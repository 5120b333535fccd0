"""Encode configurations of OmegaConf: as written, and with the values of their interpolations."""

from __future__ import annotations

import sys
from typing import Any

from .encoder import Encoder, Writer


def find(cls: type) -> Writer | None:
    """Return the encoder of mappings and lists of OmegaConf."""
    return _container if cls.__name__ in ("DictConfig", "ListConfig") else None


def _container(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    contents = sys.modules["omegaconf"].OmegaConf.to_container
    e.of_class(b"O", type(value))
    e.add(contents(value, resolve=False))
    try:
        resolved = contents(value, resolve=True)
    except Exception as err:  # from a resolver of the program, or a missing name
        resolved = f"{type(err).__qualname__}: {err}"
    e.add(resolved)
    metadata = value._metadata
    e.add(metadata.flags)
    e.add(metadata.object_type)
