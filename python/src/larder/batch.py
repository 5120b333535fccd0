"""What a loader hands out."""

from __future__ import annotations

import struct
from typing import Any

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def base36(number: int) -> str:
    """Return a number to the base 36."""
    digits = ""
    while number >= 36:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return _DIGITS[number] + digits


def state_text(prefix: str, epoch: int, position: int) -> str:
    """Return a state as text of 64 bytes at most."""
    return f"{prefix}.{base36(epoch)}.{base36(position)}"


class Batch(dict[str, Any]):
    """The fields of one batch by name, and what batch it is.

    Values are arrays or tensors, lists of text, of bytes, of values of JSON, or of
    arrays. What says how a ragged field is to be read is there as NAME_lengths,
    NAME_offsets. Arrays and tensors lie in memory that is shared with the server, which
    gets it back when the last of them, and the last view of any, is gone.
    """

    epoch: int = -1
    """The number of the epoch, from 0."""
    padding: int = 0
    """How many samples, at the end, are only there to fill up."""
    _prefix: str = ""
    _after: tuple[int, int] = (0, 0)
    _numbers: bytes = b""

    @property
    def state(self) -> str:
        """The state after this batch, from which any number of ranks can go on."""
        return state_text(self._prefix, *self._after)

    @property
    def samples(self) -> list[int]:
        """The numbers of the samples, counted through all nodes."""
        return list(struct.unpack(f"<{len(self._numbers) // 8}Q", self._numbers))
