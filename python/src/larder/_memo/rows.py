"""Split batches into the rows of their items, and join rows into batches."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from .._identity.digest import digest, digest_rows
from .._identity.values.encoder import BY_CONTENT
from .._identity.values.text import describe
from .._results import encode, encode_rows
from ..errors import ResultError


def is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def digests(value: Any, name: str, names: int = BY_CONTENT) -> list[bytes]:
    if is_tensor(value):
        import torch

        from .._identity.values.tensors import flat as elements

        plain = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
        mark = digest(("tensor", str(plain.dtype)))
        if plain.dim() == 0:
            raise ValueError(f"{name} has no rows: it is a tensor of no dimensions")
        if plain.element_size() * plain[:1].numel() == 0:
            return [digest((mark, tuple(plain.shape[1:])))] * len(plain)
        flat = elements(plain).view(torch.uint8).numpy().reshape(len(plain), -1)
        shape = digest((mark, tuple(plain.shape[1:])))
        return [sha256(shape + row).digest() for row in digest_rows(flat)]
    if is_array(value):
        return digest_rows(value)
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise TypeError(f"{name} is {describe(value)}, which has no rows: pass an array, a tensor or a list")
    return [digest(one, name=f"{name}[{i}]", names=names) for i, one in enumerate(value)]


def chosen(value: Any, which: Any) -> Any:
    """Return some rows of an array, a tensor or a list."""
    if is_tensor(value) or is_array(value) or isinstance(which, slice):
        return value[which]
    return type(value)(value[i] for i in which) if isinstance(value, tuple) else [value[i] for i in which]


def encoded_rows(value: Any, count: int) -> Sequence[Any]:
    """Return the encoding of each row of the result for a batch."""
    rows = split(value, count)
    return encode_rows(value) if is_tensor(value) or is_array(value) else [encode(row) for row in rows]


def split(value: Any, count: int) -> list[Any]:
    """Return the rows of the result for a batch, split in each array or list in it.

    A row of an array is plain. All others are pairs of a kind and a row: for a list the
    element, for other containers the same container with the rows of its parts.
    """
    if is_tensor(value) or is_array(value):
        if value.ndim == 0 or len(value) != count:
            raise ResultError(
                f"the function received {count} items and returned an array of shape {tuple(value.shape)}; "
                "the first dimension must be {count}"
            )
        if is_tensor(value) and value.requires_grad:
            raise ResultError("the result has gradients, which are not cached; call the function under torch.no_grad()")
        return [value[i] for i in range(count)]
    if value is None:
        return [("none", None)] * count
    if type(value) is list:
        if len(value) != count:
            raise ResultError(f"the function received {count} items and returned a list of {len(value)}")
        return [("list", one) for one in value]
    if type(value) is dict:
        columns = {name: split(held, count) for name, held in value.items()}
        return [("dict", {name: rows[i] for name, rows in columns.items()}) for i in range(count)]
    if type(value) is tuple:
        parts = [split(held, count) for held in value]
        return [("tuple", tuple(rows[i] for rows in parts)) for i in range(count)]
    fields = _fields(value)
    if fields is None:
        raise ResultError(
            f"a function of batches made {describe(value)}, which has no rows; return arrays, tensors, "
            "a list with an element for each item, or a tuple, dict or dataclass of these"
        )
    columns = {name: split(getattr(value, name), count) for name in fields}
    cls = f"{type(value).__module__}:{type(value).__qualname__}"
    return [(cls, {name: rows[i] for name, rows in columns.items()}) for i in range(count)]


def _fields(value: Any) -> list[str] | None:
    """Return the names of the fields of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [f.name for f in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(value._fields)
    return None


def joined(rows: list[Any]) -> Any:
    """Return the result for a batch from the rows of its items."""
    first = rows[0]
    if is_tensor(first):
        import torch

        return torch.stack(rows)
    if is_array(first) or _is_scalar(first):
        import numpy

        return numpy.stack(rows)
    if type(first) is not tuple or any(type(row) is not tuple or row[0] != first[0] for row in rows):
        raise ResultError("items of one batch were cached in different forms")
    kind, held = first
    if kind == "none":
        return None
    if kind == "list":
        return [row[1] for row in rows]
    if kind == "tuple":
        return tuple(joined([row[1][k] for row in rows]) for k in range(len(held)))
    columns = {name: joined([row[1][name] for row in rows]) for name in held}
    return columns if kind == "dict" else _object(kind, columns)


def _object(kind: str, fields: dict[str, Any]) -> Any:
    """Return an object of a class that a cached result names, running no code of it except for dicts."""
    module, _, name = kind.partition(":")
    cls: Any = sys.modules.get(module)
    for part in name.split("."):
        cls = getattr(cls, part, None)
    if not isinstance(cls, type):
        raise ResultError(f"there is no class {name} in the module {module}; import it first")
    if issubclass(cls, tuple):
        return tuple.__new__(cls, fields.values())
    if issubclass(cls, dict):  # as outputs of models, which hold their content in both forms
        return cls(**{name: value for name, value in fields.items() if value is not None})
    made = object.__new__(cls)
    for field, value in fields.items():
        object.__setattr__(made, field, value)
    return made


def _is_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def mapped(value: Any, f: Callable[[Any], Any]) -> Any:
    if is_tensor(value):
        return f(value)
    if type(value) is dict:
        return {name: mapped(held, f) for name, held in value.items()}
    if type(value) in (tuple, list):
        return type(value)(mapped(held, f) for held in value)
    fields = _fields(value)
    if fields is None:
        return value
    cls = f"{type(value).__module__}:{type(value).__qualname__}"
    return _object(cls, {name: mapped(getattr(value, name), f) for name in fields})


def difference(a: Any, b: Any) -> float:
    """Return the largest difference of two results; infinity if they differ in shape or type."""
    if is_tensor(a) or is_array(a):
        if tuple(a.shape) != tuple(b.shape) or a.dtype != b.dtype:
            return float("inf")
        if is_tensor(a):
            a, b = a.detach().cpu().double().numpy(), b.detach().cpu().double().numpy()
        import numpy

        if a.size == 0:
            return 0.0
        a, b = numpy.asarray(a, float), numpy.asarray(b, float)
        gap = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, numpy.abs(a - b))
        return float(numpy.nan_to_num(gap, nan=numpy.inf).max())
    if isinstance(a, Mapping):
        return max((difference(a[name], b[name]) for name in a), default=0.0)
    if isinstance(a, (tuple, list)):
        return max((difference(x, y) for x, y in zip(a, b, strict=True)), default=0.0)
    if isinstance(a, (int, float)):
        return abs(float(a) - float(b))
    return 0.0 if a == b else float("inf")
