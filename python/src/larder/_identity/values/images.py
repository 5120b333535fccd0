"""Encode images of PIL."""

from __future__ import annotations

from typing import Any

from PIL import Image

from .encoder import Encoder, Writer


def find(cls: type) -> Writer | None:
    """Return the encoder of images, also of those opened from files."""
    return _image if issubclass(cls, Image.Image) else None


def _image(e: Encoder, value: Any) -> None:
    """Append the pixels, and what was read with them: format, palette and metadata."""
    if e.known(value):
        return
    value.load()
    palette = value.palette
    e.out.append(b"I")
    e.add((type(value).__name__, value.mode, value.size, value.format))
    e.add(None if palette is None else (palette.mode, palette.rawmode, bytes(palette.palette)))
    e.named(b".", "info", {str(name): held for name, held in value.info.items()})
    e.content(memoryview(value.tobytes()))
