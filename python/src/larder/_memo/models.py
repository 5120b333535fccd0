"""Identify modules of torch by their code, their values, and the modes of torch."""

from __future__ import annotations

import weakref
from hashlib import sha256
from typing import Any

import torch

from .._identity.code.identity import Identity, identify_made
from .._identity.digest import digest
from .._identity.environment import asked, modes_of_torch
from ..errors import CodeError

_OWN = frozenset(vars(torch.nn.Module()))
_HOOKS = [name for name in _OWN if "hook" in name and "state_dict" not in name]  # those are called by loading


class ModuleIdentity:
    """The identity of a module, checked at each call.

    It covers the code of the classes of all modules in it, the content of parameters and
    buffers, and all other attributes. A tensor is read again if it was replaced, moved or
    written to, or if its sum changed.
    """

    def __init__(self, module: torch.nn.Module, train: bool, version: str | None) -> None:
        self.name = f"{type(module).__module__}.{type(module).__qualname__}"
        self._module = module
        self._train = train
        self._version = version
        self._codes: dict[type, Identity] = {}
        self._tensors: dict[int, tuple[weakref.ref[torch.Tensor], Any, bytes]] = {}

    def now(self) -> tuple[bytes, list[Identity]]:
        """Return the digest of everything and the identities of code; raise CodeError for what has no key.

        Threads share only digests of tensors and identities of classes, each published by one assignment.
        """
        codes: dict[type, Identity] = {}
        h = sha256(b"larder module 1\n")
        for name, module in self._module.named_modules(remove_duplicate=False):
            where = f"{self.name}.{name}" if name else self.name
            h.update(b"module" + len(name.encode()).to_bytes(8, "little") + name.encode())
            code = self._code(type(module))
            if code is None:
                h.update(digest(("version", self._version)))
            else:
                codes[type(module)] = code
                h.update(code.digest)
            self._refuse(module, where)
            h.update(self._attributes(module, where, code))
            for kind, tensors in (("parameter", module._parameters), ("buffer", module._buffers)):
                for key, tensor in tensors.items():
                    h.update(digest((kind, key, tensor is None)))
                    if tensor is not None:
                        h.update(self._tensor(tensor))
        h.update(digest(_modes()))
        return h.digest(), list(codes.values())

    def _code(self, cls: type) -> Identity | None:
        if self._version is not None:
            return None
        identity = self._codes.get(cls)
        if identity is None or not identity.check():
            identity = self._codes[cls] = identify_made(cls)
        return identity

    def _refuse(self, module: torch.nn.Module, where: str) -> None:
        if module.training and not self._train:
            raise CodeError(
                f"{where} is in training mode, in which results differ from call to call; call .eval(), "
                "or pass train=True if they do not"
            )
        if self._version is None and "forward" in vars(module):
            raise CodeError(f"{where}.forward was replaced on the object; make a class with it, or give a version")
        for name in _HOOKS:
            if self._version is None and getattr(module, name, None):
                raise CodeError(f"{where} has hooks ({name.strip('_')}); remove them, or give a version")

    def _attributes(self, module: torch.nn.Module, where: str, code: Identity | None) -> bytes:
        held = {name: value for name, value in vars(module).items() if name not in _OWN or name == "training"}
        return digest(held, name=where, used=None if code is None else code.names)

    def _tensor(self, tensor: torch.Tensor) -> bytes:
        """Return the digest of a tensor, computed again only if it may have changed."""
        plain = tensor.detach()
        state = (
            tensor.data_ptr() if not tensor.is_meta else 0,
            tensor._version,
            tuple(tensor.shape),
            tensor.stride(),
            str(tensor.dtype),
            _sum(plain),
        )
        known = self._tensors.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == state:
            return known[2]
        found = digest(plain)
        self._tensors[id(tensor)] = (weakref.ref(tensor), state, found)
        return found


def _sum(tensor: torch.Tensor) -> Any:
    """Return numbers that almost every change of a tensor changes: the sums of its rows and columns.

    Writes through `.data` do not change its version. A small tensor is read completely.
    """
    if tensor.is_meta:
        return 0
    size = tensor.element_size()
    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(size)
    if whole is None or not tensor.is_contiguous() or tensor.numel() < _WHOLE:
        return digest(tensor)
    flat = tensor.view(whole).reshape(-1)
    rows = flat[: len(flat) // _COLUMNS * _COLUMNS].view(-1, _COLUMNS)
    along, down = rows.sum(1, dtype=torch.int64), rows.sum(0, dtype=torch.int64)
    order = torch.arange(1, len(along) + 1, device=tensor.device)
    rest = flat[rows.numel() :].tolist()
    return int((along * order * order).sum()), int((down * _order(tensor.device)).sum()), rest


_WHOLE, _COLUMNS = 4096, 256


def _order(device: torch.device) -> torch.Tensor:
    return torch.arange(1, _COLUMNS + 1, device=device) ** 2


def _modes() -> tuple[Any, ...]:
    """Return the modes that modules depend on and do not hold."""
    return (str(torch.__version__), modes_of_torch(False), bool(asked(torch, "are_deterministic_algorithms_enabled")))


def needs_gradients(module: Any, values: list[Any]) -> bool:
    """Report whether the result of a module would have gradients."""
    if not torch.is_grad_enabled():
        return False
    tensors = [*module.parameters()] if isinstance(module, torch.nn.Module) else []
    return any(isinstance(t, torch.Tensor) and t.requires_grad for t in [*tensors, *values])
