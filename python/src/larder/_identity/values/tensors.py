"""Encode tensors, and the types and devices of torch."""

from __future__ import annotations

from typing import Any

import torch

from ..environment import modes_of_torch
from ..immutable import FIXED
from .encoder import Encoder, Unkeyed, Writer


def find(cls: type) -> Writer | None:
    """Return the encoder of a class of torch, or of a subclass."""
    if cls in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer if hasattr(torch.nn, "Buffer") else torch.Tensor):
        return _tensor
    if issubclass(cls, torch.Tensor):
        return _refuse
    if cls in (torch.dtype, torch.layout, torch.memory_format):
        FIXED.add(cls)
        return _named
    if cls is torch.device:
        return _device
    if cls is torch.Size:
        return _size
    if cls is torch.Generator:
        return _generator
    return None


def _tensor(e: Encoder, value: Any) -> None:
    if e.known(value):
        return
    if value.layout is not torch.strided:
        raise Unkeyed(f"a tensor of the layout {value.layout}", "pass its indices and values, or a dense tensor")
    if getattr(value, "is_quantized", False):
        raise Unkeyed("a quantized tensor", "pass its integers, scale and zero point")
    if any(name is not None for name in getattr(value, "names", ())):  # newer versions have no names
        raise Unkeyed("a tensor with named dimensions", "pass it with .rename(None)")
    if value.is_meta:
        raise Unkeyed("a tensor without content", "pass its shape and its dtype")
    grad = bool(value.requires_grad)
    e.out.append(b"X")
    e.add((type(value).__name__, str(value.dtype), tuple(value.shape), grad, value.is_conj(), value.is_neg()))
    e.add(modes_of_torch(grad))  # which its operators depend on
    for hooks in ("_backward_hooks", "_post_accumulate_grad_hooks"):  # by numbers that the process counts
        if held := getattr(value, hooks, None):
            e.named(b".", hooks, list(held.values()))
    plain = value.detach().resolve_conj().resolve_neg()
    order = plain.dim() > 1 and not plain.is_contiguous() and plain.mT.is_contiguous() if plain.dim() > 1 else False
    e.add(order)
    plain = plain.cpu().contiguous()
    if plain.numel() == 0:
        e.out.append(b"0;")
    else:
        e.content(memoryview(flat(plain).view(torch.uint8).numpy()))


def flat(plain: Any) -> Any:
    """Return the elements of a contiguous, nonempty tensor, one after another.

    A dimension of size 1 may have any stride, which a view as bytes does not accept.
    """
    return plain.as_strided((plain.numel(),), (1,))


def _refuse(e: Encoder, value: Any) -> None:
    raise Unkeyed(f"of the class {type(value).__qualname__} of tensors, which Larder does not know", "pass a Tensor")


def _named(e: Encoder, value: Any) -> None:
    e.out.append(b"t")
    e.add(str(value))


def _device(e: Encoder, value: Any) -> None:
    e.out.append(b"d")
    e.add(str(value))


def _size(e: Encoder, value: Any) -> None:
    e.out.append(b"S")
    e.add(tuple(value))


def _generator(e: Encoder, value: Any) -> None:
    if not e.known(value):
        e.out.append(b"g")
        # Draws from the generator of the process are not cached, and its state differs between processes.
        e.add((str(value.device), None if value is torch.default_generator else value.get_state()))
