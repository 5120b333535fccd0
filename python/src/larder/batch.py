"""What a loader hands out."""

from __future__ import annotations

import copy
import struct
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import ref

from .errors import StateError

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


_abouts: dict[int, ref[About]] = {}
"""By the identities of keys of batches."""


class About:
    """What batch something is, of which batches that are made of it know, too. It never changes."""

    __slots__ = ("__weakref__", "_keys", "after", "epoch", "numbers", "padding", "prefix", "sizes")

    def __init__(
        self, epoch: int, padding: int, prefix: str, after: tuple[int, int], numbers: bytes, sizes: dict[str, int]
    ) -> None:
        self.epoch = epoch
        self.padding = padding
        self.prefix = prefix
        self.after = after
        self.numbers = numbers
        self.sizes = sizes
        """The first side of each array."""
        self._keys: list[str] = []

    def own(self, keys: Iterable[str]) -> list[str]:
        """Return the keys as strings that nobody else has, so that a dict of them is known to be of this."""
        own, this = [], ref(self)
        for key in keys:
            new = str(_Key(key)) if type(key) is str else key
            own.append(new)
            if new is not key:
                self._keys.append(new)  # an identity is that of one object only while that is there
                _abouts[id(new)] = this
        return own

    def __del__(self, abouts: dict[int, ref[About]] = _abouts) -> None:
        for key in self._keys:
            del abouts[id(key)]

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Report whether arrays have as many rows as they had: others are not of the same samples."""
        for name, size in self.sizes.items():
            shape = getattr(values.get(name), "shape", None)
            if shape and shape[0] != size:
                return False
        return True

    def __reduce__(self) -> Any:
        if self is _UNKNOWN:
            return "_UNKNOWN"
        return About, (self.epoch, self.padding, self.prefix, self.after, self.numbers, self.sizes)

    def __deepcopy__(self, memo: object) -> About:
        return self


_trees: list[str] = []
"""Not empty once batches are nodes of trees."""


def _register() -> None:
    """Have `tree_map` go into batches. No `Batch.__new__` does it, as torch.compile takes no class with one."""
    _trees.append("registered")
    from ._trees import register

    register()


class _Key(str):
    """A string of which `str` makes another one, of any length."""

    __slots__ = ()


_UNKNOWN = About(-1, 0, "", (0, 0), b"", {})


class Batch(dict[str, Any]):
    """The fields of one batch by name, and what batch it is.

    Values are arrays or tensors, lists of text, of bytes, of values of JSON, or of
    arrays. What says how a ragged field is to be read is there as NAME_lengths,
    NAME_offsets. Arrays and tensors lie in memory that is shared with the server, which
    gets it back when the last of them, and the last view of any, is gone.

    What is made of a batch is the same batch: a copy, what comes back by pickle, of
    `tree_map`, or of `Batch({name: ... for name, value in batch.items()})`, as frameworks
    move batches to devices. If an array has another number of rows then, it is none of
    the loader's: it has no `samples` and no `state`.
    """

    _about: About = _UNKNOWN

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not _trees:
            _register()
        if args or kwargs:
            self._about = _about_of(self, args[0]._about if args and isinstance(args[0], Batch) else None)

    @classmethod
    def _of(cls, about: About, fields: Mapping[str, Any]) -> Batch:
        """Return a batch of a loader."""
        batch = cls()
        batch.update(zip(about.own(fields), fields.values(), strict=True))
        batch._about = about
        return batch

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 0; -1 where that is not known."""
        return self._about.epoch

    @property
    def padding(self) -> int:
        """How many samples, at the end, are only there to fill up."""
        return self._about.padding

    @property
    def state(self) -> str:
        """The state after this batch, from which any number of ranks can go on."""
        return state_text(self._known().prefix, *self._about.after)

    @property
    def samples(self) -> list[int]:
        """The numbers of the samples, counted through all nodes."""
        numbers = self._known().numbers
        return list(struct.unpack(f"<{len(numbers) // 8}Q", numbers))

    def _known(self) -> About:
        if self._about is _UNKNOWN:
            raise StateError(
                "batch: its samples are not known, as it was made of other rows; ask the loader's own batch"
            )
        return self._about

    def copy(self) -> Batch:
        """Return the same batch as another dict, of the same values."""
        return copy.copy(self)

    def __or__(self, other: Any) -> Any:
        joined = dict.__or__(self, other)
        return joined if joined is NotImplemented else type(self)(joined)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._about is _UNKNOWN:
            return
        if not _trees:
            _register()
        fields = dict(self)
        self.clear()
        self.update(zip(self._about.own(fields), fields.values(), strict=True))


def _about_of(batch: Batch, about: About | None) -> About:
    """Return what batch that is of which keys are, if it is one."""
    if about is None:
        abouts = {found() for key in batch if (found := _abouts.get(id(key))) is not None}
        about = (abouts.pop() if len(abouts) == 1 else None) or _UNKNOWN
    return about if about.fits(batch) else _UNKNOWN
