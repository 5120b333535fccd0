"""Encode and decode tensors of torch."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch

from .._identity.values.tensors import flat as elements
from .kinds import CURES, Data, Kind, Refused, expect, register

_NAMES = (
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex32 complex64 "
    "complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2"
)
_DTYPES: dict[str, Any] = {name: getattr(torch, name) for name in _NAMES.split() if hasattr(torch, name)}
_CALLED = {dtype: name for name, dtype in _DTYPES.items()}


def check(tensor: Any) -> None:
    """Refuse a tensor that would change when it is decoded."""
    why = _unlike(tensor)
    if why:
        raise Refused(why)


def _unlike(tensor: Any) -> str | None:
    if tensor.requires_grad:
        return "a tensor that requires gradients cannot be cached, because its graph would be lost; return .detach()"
    if tensor.layout is not torch.strided:
        return f"a sparse tensor ({tensor.layout}) cannot be cached; return .to_dense(), or its indices and values"
    if getattr(tensor, "is_quantized", False):
        return "a quantized tensor cannot be cached; return .dequantize(), or .int_repr() with its scale"
    if tensor.device.type == "meta":
        return "a tensor of the device meta has no content that could be cached; return its shape"
    if tensor.device.type != "cpu":
        return f"a tensor of the device {tensor.device} cannot be cached; return .cpu()"
    if tensor.dtype not in _CALLED:
        return f"a tensor of {tensor.dtype} cannot be cached; return it as one of another dtype"
    if any(getattr(tensor, "names", ())):
        return "a tensor with named dimensions cannot be cached; return .rename(None)"
    return None


def flat(tensor: Any) -> Data:
    """Return the elements of a tensor, in the order of its dimensions."""
    size = tensor.numel() * tensor.element_size()
    if not size:
        return Data(b"", 0)
    plain = tensor.resolve_conj().resolve_neg() if tensor.is_conj() or tensor.is_neg() else tensor
    plain = elements(plain.contiguous())
    return Data(plain.view(torch.uint8).numpy(), size)


def _parts(tensor: Any) -> tuple[Any, ...]:
    check(tensor)
    return flat(tensor), _CALLED[tensor.dtype], tuple(tensor.shape)


@cache
def _bytes(dtype: Any) -> int:
    return int(torch.empty(0, dtype=dtype).element_size())


def _make(memory: memoryview, name: str, shape: tuple[int, ...]) -> Any:
    dtype = _DTYPES[name]
    expect(tuple, shape)
    if min(shape, default=0) < 0 or math.prod(shape) * _bytes(dtype) != len(memory):
        raise ValueError(f"a tensor of {dtype} and shape {shape} in {len(memory)} bytes")
    if not memory:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(memory) if memory.readonly else memory, dtype=torch.uint8).view(dtype).view(shape)


register(
    Kind("torch.Tensor", torch.Tensor, _parts, _make, private=True),
    Kind("torch.Size", torch.Size, lambda v: (tuple(v),), torch.Size, shared=False),
    Kind("torch.dtype", torch.dtype, lambda v: (_CALLED[v],), _DTYPES.__getitem__, shared=False),
    Kind("torch.device", torch.device, lambda v: (str(v),), torch.device, shared=False),
)

CURES[torch.Tensor] = "return .detach() of it, a plain tensor"
CURES[torch.nn.Module] = "return its state_dict()"
