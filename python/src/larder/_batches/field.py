"""Declare how items of samples become fields of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, Literal

from .. import _arguments, _numbers
from ..errors import RequestError

Collation = Literal["auto", "stack", "pad", "list", "text", "bytes", "json", "packed", "key"]


@dataclass(frozen=True)
class Field:
    """One field of the batches.

    Options that are not given leave the item as it is.
    """

    item: str
    """The item of the samples that the field is read from."""
    _: KW_ONLY
    name: str | None = None
    """The name in the batch; by default that of the item."""
    collate: Collation = "auto"
    """How the values of the samples are combined; "auto" follows the first sample."""
    dtype: Any = None
    """The type of elements: a name such as "float32", or a dtype of NumPy or torch."""
    scale: float | None = None
    """Elements become (x * scale - mean) / deviation."""
    mean: float | Sequence[float] | None = None
    """A number for each channel, or one for all."""
    deviation: float | Sequence[float] | None = None
    """A number for each channel, or one for all."""
    planar: bool = False
    """Whether images become (channels, height, width)."""
    channels: int | None = None
    """The number of channels of images, 1 to 4."""
    dims: int | None = None
    """With collate="pad": the number of leading dimensions that are padded."""
    multiple: int | None = None
    """With collate="pad": round padded dimensions up to a multiple of this."""
    fill: float | None = None
    """The value of padding; 0 by default."""

    def __post_init__(self) -> None:
        """Refuse a field without an item."""
        _arguments.text("item of a Field", self.item)

    def request(self) -> dict[str, Any]:
        """Return the field as the server receives it."""
        said: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or value is False or value == "auto":
                continue
            said[_SAID.get(field.name, field.name)] = _TURNED.get(field.name, _same)(
                f"{field.name} of {self.item}", value
            )
        return said


_SAID = {"fill": "with"}


def _same(name: str, value: Any) -> Any:
    return value


def _several(name: str, value: float | Sequence[float]) -> list[float]:
    values = value if isinstance(value, Iterable) else [value]
    return [_numbers.finite(name, v) for v in values]


def _scale(name: str, value: Any) -> float:
    scale = _numbers.finite(name, value)
    if scale == 0:
        raise RequestError(f"{name}=0: all elements would be equal; leave scale out")
    return scale


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype of any library."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(name).removeprefix("torch.")


_TURNED: dict[str, Callable[[str, Any], Any]] = {
    "mean": _several,
    "deviation": _several,
    "dtype": lambda _, dtype: dtype_name(dtype),
    "scale": _scale,
    "fill": _numbers.finite,
    "channels": lambda name, n: _numbers.whole(name, n, 1, 4),
    "dims": lambda name, n: _numbers.whole(name, n, 1),
    "multiple": lambda name, n: _numbers.whole(name, n, 1),
}

FieldsArgument = Mapping[str, "Field | Mapping[str, Any] | str | None"] | Sequence["Field | str"]


def requests_of(given: FieldsArgument | None) -> list[dict[str, Any]] | None:
    """Return fields as the server receives them, however they are declared.

    They are a list of `Field` or item names, or a dict from items to fields. A field in the dict is
    a `Field`, its options, a collation, or None for the item as it is.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        return [_of_item(item, options).request() for item, options in given.items()]
    listed = _arguments.several("fields", given, "items, or a dict from items to fields")
    return [(field if isinstance(field, Field) else Field(item=field)).request() for field in listed]


def _of_item(item: str, options: Field | Mapping[str, Any] | str | None) -> Field:
    if isinstance(options, Field):
        named = options.name or (item if item != options.item else None)
        return replace(options, name=named)
    if options is None:
        return Field(item=item)
    if isinstance(options, str):
        return Field(item=item, collate=options)  # type: ignore[arg-type]
    if not isinstance(options, Mapping):
        raise TypeError(f"fields: {_arguments.kind(options)} is not a field; give item {item!r:.40} a larder.Field")
    return Field(**{"item": item, **options})
