"""The batches that a loader returns."""

from __future__ import annotations

import copy
import struct
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import ref

from ..errors import StateError

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def base36(number: int) -> str:
    """Return a number in base 36."""
    digits = ""
    while number >= 36:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return _DIGITS[number] + digits


def state_text(prefix: str, epoch: int, position: int) -> str:
    """Return a state as a string of at most 64 bytes."""
    return f"{prefix}.{base36(epoch)}.{base36(position)}"


_abouts: dict[int, ref[About]] = {}
"""From the identity of a batch's key to the `About` of the batch."""


class About:
    """Identifies a batch, also for batches that are computed from it. It is immutable."""

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
        """The length of the first dimension of each array."""
        self._keys: list[str] = []

    def own(self, keys: Iterable[str]) -> list[str]:
        """Return the keys as new strings, by whose `id` a dict with these keys is found to come from this batch."""
        own, this = [], ref(self)
        for key in keys:
            new = str(_Key(key)) if type(key) is str else key
            own.append(new)
            if new is not key:
                self._keys.append(new)  # an identity is unique only while its object exists
                _abouts[id(new)] = this
        return own

    def __del__(self, abouts: dict[int, ref[About]] = _abouts) -> None:
        for key in getattr(self, "_keys", ()):  # an interrupt may come at any point of the above
            abouts.pop(id(key), None)

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Report whether arrays have the same number of rows as before; otherwise they are not of the same samples."""
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


_registered: list[bool] = []
"""Not empty once batches are registered as tree nodes."""


def _register() -> None:
    """Make `tree_map` enter batches. This is not in `Batch.__new__`, as torch.compile rejects a class that has one."""
    _registered.append(True)
    from .trees import TreeNode, register

    register(TreeNode(Batch, _flatten, _unflatten))


class _Key(str):
    """A string that `str` copies into a new object, whatever its length."""

    __slots__ = ()


_UNKNOWN = About(-1, 0, "", (0, 0), b"", {})


class Batch(dict[str, Any]):
    """The fields of one batch by name, and the identity of the batch.

    Values are arrays or tensors, or lists of strings, bytes, JSON values or arrays. For a
    ragged field, NAME_lengths and NAME_offsets say how to read it. Arrays and tensors lie in
    memory shared with the server. The server gets it back when the last array, tensor or view
    of it is deleted.

    A batch that is computed from a batch keeps its identity. This holds for a copy, a pickled
    batch, the result of `tree_map`, and `Batch({name: ... for name, value in batch.items()})`,
    with which frameworks move batches to devices. If an array has another number of rows,
    the result has no identity: no `samples` and no `state`.
    """

    _about: About = _UNKNOWN

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not _registered:
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
        """The number of the epoch, from 0; -1 if it is not known."""
        return self._about.epoch

    @property
    def padding(self) -> int:
        """The number of samples at the end that are padding."""
        return self._about.padding

    @property
    def state(self) -> str:
        """The state after this batch, from which any number of ranks can resume."""
        return state_text(self._known().prefix, *self._about.after)

    @property
    def samples(self) -> list[int]:
        """The indices of the samples, counted through all nodes."""
        numbers = self._known().numbers
        return list(struct.unpack(f"<{len(numbers) // 8}Q", numbers))

    def _known(self) -> About:
        if self._about is _UNKNOWN:
            raise StateError("batch: samples unknown, because it was assembled from rows; use the batch of the loader")
        return self._about

    def copy(self) -> Batch:
        """Return the same batch as another dict with the same values."""
        return copy.copy(self)

    def __or__(self, other: Any) -> Any:
        joined = dict.__or__(self, other)
        return joined if joined is NotImplemented else type(self)(joined)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._about is _UNKNOWN:
            return
        if not _registered:
            _register()
        fields = dict(self)
        self.clear()
        self.update(zip(self._about.own(fields), fields.values(), strict=True))


def _about_of(batch: Batch, about: About | None) -> About:
    """Return the `About` of the batch that the keys come from, or `_UNKNOWN`."""
    if about is None:
        abouts = {found() for key in batch if (found := _abouts.get(id(key))) is not None}
        about = (abouts.pop() if len(abouts) == 1 else None) or _UNKNOWN
    return about if about.fits(batch) else _UNKNOWN


class _Names(tuple[str, ...]):
    """The names of a batch's fields, which other batches may share, with the identity of the batch."""

    about: About


def _flatten(batch: Batch) -> tuple[list[Any], _Names]:
    names = _Names(batch)
    names.about = batch._about
    return list(batch.values()), names


def _unflatten(values: Iterable[Any], names: Any) -> Batch:
    batch = Batch()
    batch.update(zip(names, values, strict=True))
    batch._about = _about_of(batch, getattr(names, "about", None))
    return batch
