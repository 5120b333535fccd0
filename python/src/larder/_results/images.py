"""Encode and decode images of PIL."""

from __future__ import annotations

from typing import Any

from PIL import Image

from .kinds import CURES, Data, Kind, Refused, expect, register

_BYTES = {"L": 1, "P": 1, "LA": 2, "PA": 2, "La": 2, "RGB": 3, "YCbCr": 3, "LAB": 3, "HSV": 3}
_BYTES |= {"RGBA": 4, "RGBX": 4, "RGBa": 4, "CMYK": 4, "I": 4, "F": 4}
_BYTES |= {"I;16": 2, "I;16L": 2, "I;16B": 2, "I;16N": 2}


def _parts(image: Any) -> tuple[Any, ...]:
    if image.mode not in (*_BYTES, "1"):
        raise Refused(f"an image of mode {image.mode} cannot be cached; convert it to another mode")
    data = image.tobytes()
    palette = None
    if image.mode in ("P", "PA"):
        mode = image.palette.mode
        palette = (mode, bytes(image.getpalette(mode)))
    return image.mode, image.size, palette, image.info, Data(data, len(data))


def _make(mode: str, size: tuple[int, int], palette: Any, info: dict[Any, Any], data: Any) -> Any:
    width, height = size
    row = (width + 7) // 8 if mode == "1" else width * _BYTES[mode]
    if min(size) < 0 or row * height != len(data):
        raise ValueError(f"an image of mode {mode} and size {size} in {len(data)} bytes")
    image = Image.frombytes(mode, size, data) if data else Image.new(mode, size)
    if palette is not None:
        kind, colors = palette
        image.putpalette(expect(bytes, colors), expect(str, kind))
    image.info = expect(dict, info)
    return image


register(Kind("PIL.Image", Image.Image, _parts, _make, ("", "", "", ".info")))

CURES[Image.Image] = "return .copy() of it"
