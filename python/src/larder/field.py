"""What the items of samples become in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, Literal

from . import _arguments, _numbers
from .errors import RequestError

Form = Literal["auto", "stack", "pad", "list", "text", "bytes", "json", "packed", "key"]


@dataclass(frozen=True)
class Field:
    """One field of the batches.

    What is left out stays as the item is.
    """

    item: str
    """The item of the samples that it is made of."""
    _: KW_ONLY
    name: str | None = None
    """What it is called in the batch: as the item, where that is not said."""
    form: Form = "auto"
    """How the samples' values are put together; by itself as the first sample says."""
    dtype: Any = None
    """What elements become: a name such as "float32", or a dtype of NumPy or torch."""
    scale: float | None = None
    """Elements become (x * scale - mean) / deviation."""
    mean: float | Sequence[float] | None = None
    """A number for each channel, or one for all."""
    deviation: float | Sequence[float] | None = None
    """A number for each channel, or one for all."""
    planar: bool = False
    """Whether images become (channels, height, width)."""
    channels: int | None = None
    """How many channels images become, 1 to 4."""
    dims: int | None = None
    """Of form pad: how many of the first dimensions are padded."""
    multiple: int | None = None
    """Of form pad: these become multiples of it."""
    fill: float | None = None
    """What elements of padding are; 0 where that is not said."""

    def __post_init__(self) -> None:
        """Refuse what names no item."""
        _arguments.text("item of a Field", self.item)

    def request(self) -> dict[str, Any]:
        """Return it as the server is told."""
        said: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or value is False or value == "auto":
                continue
            said[_SAID.get(field.name, field.name)] = _TURNED.get(field.name, _same)(
                f"{field.name} of {self.item}", value
            )
        return said


_SAID = {"form": "as", "fill": "with"}


def _same(name: str, value: Any) -> Any:
    return value


def _several(name: str, value: float | Sequence[float]) -> list[float]:
    values = value if isinstance(value, Iterable) else [value]
    return [_numbers.finite(name, v) for v in values]


def _scale(name: str, value: Any) -> float:
    scale = _numbers.finite(name, value)
    if scale == 0:
        raise RequestError(f"{name}=0: all elements would be the same")
    return scale


def dtype_name(dtype: Any) -> str:
    """Return what a type of elements is called, whosever it is."""
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
    """Return fields as the server is told, whichever way they are declared.

    They are a list of `Field` or names of items, or a dict from items to `Field`, to
    options of one, to a form, or to None for an item as it is.
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
        return Field(item=item, form=options)  # type: ignore[arg-type]
    if not isinstance(options, Mapping):
        raise TypeError(f"fields: {_arguments.kind(options)} is not a field; give item {item!r:.40} a larder.Field")
    return Field(**{"item": item, **options})
