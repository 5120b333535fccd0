"""Compute the keys of the items of a function of batches."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._client import client
from .._client.messages import Function, shown
from .._identity.code.annotations import file_hints, names_file
from .._identity.code.identity import Identity, identify, may_draw
from .._identity.digest import digest
from .._identity.environment import modes_of_torch, nondefault_settings
from .._identity.values.encoder import BY_CONTENT
from .._identity.values.text import describe
from .._identity.wrapper import Wrapper
from .._reads.audit import Watch
from .arguments import allowed, ignored
from .files import paths_in
from .rows import digests, is_array, is_module, is_tensor
from .state import code_of

_MOST_CALLS, _MOST_ITEMS = 64, 65536
_NO_ROW = bytes(32)
"""Replaces the digest of a row where there are no rows."""


@dataclasses.dataclass(slots=True, kw_only=True)
class BatchState(Function):
    """The current state of a function or model, published by one assignment as for `memo`."""

    identity: Identity | None = None
    """None for a model."""
    results: dict[bytes, dict[bytes, Any]] = dataclasses.field(default_factory=dict)
    """Encoded small results of items, by the digest of what the items of a batch share and the items' own."""

    @property
    def names_files(self) -> int:
        return BY_CONTENT if self.identity is None else self.identity.names_files

    def results_of(self, shared: bytes) -> dict[bytes, Any]:
        """Return the small results that this process has seen for items with the same shared digest."""
        found = self.results.get(shared)
        if found is None:
            if len(self.results) >= _MOST_CALLS:
                self.results.clear()
            found = self.results[shared] = {}
        elif len(found) >= _MOST_ITEMS:
            found.clear()
        return found


class BatchFunction(Wrapper):
    """A function of batches with what caching its results by item needs: the keys of its items."""

    def __init__(
        self,
        function: Callable[..., Any],
        items: Sequence[str | int],
        *,
        version: str | None,
        ignore: Iterable[str],
        key: Callable[..., Sequence[Any]] | str | None,
        most: int | None,
        train: bool,
        check: int,
        allow: Iterable[str],
        cache: str | os.PathLike[str] | None,
    ) -> None:
        self._function = function
        self._ignore = ignored(ignore)
        self._version = version
        self._allow = allowed(allow)
        self._keyed = key if callable(key) else None
        self._key_parameter = key if isinstance(key, str) else None
        self._most = most
        self._check = check
        self._train = train
        self._client = client.client_of(cache)
        self._model = is_module(function)
        self._files = names_file(function) if inspect.isfunction(function) else frozenset()
        self._hints = file_hints(function) if self._files else {}
        if not callable(function):
            raise TypeError(f"function: {type(function).__name__} cannot be called; decorate a function")
        if _is_compiled(function):
            raise TypeError(
                f"{describe(function)}: compiled models cannot be identified; "
                "pass the original model, or a function with version= that calls this one"
            )
        self._signature = inspect.signature(function.forward if self._model else function)  # type: ignore[attr-defined]
        self._items = [_parameter(self._signature, one) for one in items]
        self._current: BatchState | None = None
        self._module: Any = None
        """The identity of a model, which caches digests of tensors."""
        self._counting = threading.Lock()
        self.executions = 0
        """The number of calls of the function in this process."""
        self.computed_items = 0
        """The number of items that the function was called with."""
        self.loaded_items = 0
        """The number of items that were cached, or repeated in a batch."""
        self.checked = 0
        """The number of cached results that `check` computed again."""
        self.largest = 0.0
        """The largest difference that `check` found."""
        unknown = {*self._items, *self._ignore} - set(self._signature.parameters)
        if not self._items or unknown:
            raise TypeError(
                f"items names the parameters of {describe(function)} that have an item in each row: "
                f"some of {[*self._signature.parameters]}, not {sorted(unknown) or 'nothing'}"
            )
        if self._model:
            from .models import ModuleIdentity

            self._module = ModuleIdentity(function, train, version)
        else:
            functools.update_wrapper(self, function)
        self._seal()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _options(self) -> tuple[Any, ...]:
        return (tuple(self._items), tuple(sorted(self._ignore)), self._keyed or self._key_parameter, self._train)

    def _count(self, rows: list[Any]) -> int:
        counts = {name: len(value) for name, value in zip(self._items, rows, strict=True) if value is not None}
        if len(set(counts.values())) != 1:
            raise ValueError(f"all parameters with items must have the same length, not {counts}")
        return next(iter(counts.values()))

    def _state(self) -> BatchState:
        current = self._current
        if self._model:
            now, codes = self._module.now()
            if current is None or current.identifier != now:
                code = functools.partial(_code_of_model, now, codes)
                current = self._current = BatchState(self._module.name, now, code)
        elif current is None or current.identity is None or not current.identity.check():
            identity = identify(self._function, version=self._version, allow=self._allow)
            code = functools.partial(code_of, identity, False)
            current = BatchState(identity.name, identity.digest + b"batch", code, identity=identity)
            self._current = current
        return current

    def _watch(self, state: BatchState, bound: inspect.BoundArguments) -> Watch | None:
        """Return the watch of a call, or None if randomness is allowed or a version covers the function."""
        if self._version is not None or self._train:
            return None
        if state.identity is None:
            return Watch(None, allow=self._allow)
        values = [value for name, value in bound.arguments.items() if name not in self._ignore]
        identity = state.identity
        return Watch(
            paths_in(values),
            identity.threads,
            self._allow,
            identity.caches,
            lambda: identity.draws or may_draw(bound.arguments.values()),
            identity.follows,
        )

    def _shared(self, state: BatchState, values: Mapping[str, Any]) -> bytes:
        """Return the digest of everything that the items of a batch have in common."""
        left_out = {*self._items, *self._ignore, self._key_parameter}
        shared = {name: value for name, value in values.items() if name not in left_out}
        keyed = bool(self._key_parameter) or self._keyed is not None
        kinds = () if keyed else tuple(_kind_of(values.get(name)) for name in self._items)
        return digest(
            ("batch", self._items, keyed, kinds, shared, nondefault_settings(), _modes(not self._model)),
            name="arguments",
            used=None if state.identity is None else state.identity.names,
            reached=None if state.identity is None else state.identity.reached,
            names=state.names_files,
            allow=self._allow,
            version=self._version,
        )

    def _passed_keys(self, kwargs: dict[str, Any]) -> Sequence[Any] | None:
        """Return the keys of the items from the arguments, if the caller passes them."""
        if self._key_parameter is None:
            return None
        try:
            own = self._key_parameter in self._signature.parameters
            keys = kwargs[self._key_parameter] if own else kwargs.pop(self._key_parameter)
        except KeyError:
            raise TypeError(
                f"{describe(self._function)} needs the keys of its items; pass them as {self._key_parameter}=..."
            ) from None
        if isinstance(keys, (str, bytes)):
            raise TypeError(f"{self._key_parameter} must be a list of keys, one for each item, not a string")
        if is_tensor(keys):
            keys = keys.cpu().numpy()
        return [k.tobytes() for k in keys] if is_array(keys) and keys.ndim == 2 else list(keys)

    def _item_digests(self, state: BatchState, rows: list[Any], count: int, keys: Sequence[Any] | None) -> list[bytes]:
        """Return what distinguishes each item: the digests of its rows, concatenated."""
        if self._keyed is not None:
            keys = list(self._keyed(*rows))
        if keys is not None:
            if len(keys) != count:
                raise ValueError(f"there are {len(keys)} keys of {count} items")
            return [digest(k, name="key") for k in keys]
        columns = [
            [_NO_ROW] * count if value is None else digests(value, name, state.names_files)
            for name, value in zip(self._items, rows, strict=True)
        ]
        return columns[0] if len(columns) == 1 else [b"".join(parts) for parts in zip(*columns, strict=True)]


def _code_of_model(digest: bytes, codes: list[Identity]) -> dict[str, Any]:
    """Return the identity of a model in the terms of the protocol."""
    parts = [
        {"name": part.text, "where": part.path, "digest": shown(part.digest)}
        for identity in codes
        for part in identity.parts
    ]
    return {"version": "", "digest": shown(digest), "parts": parts}


def _parameter(signature: inspect.Signature, which: str | int) -> str:
    """Return the name of a parameter given by name or position."""
    if isinstance(which, str):
        return which
    names = [p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if type(which) is not int or not 0 <= which < len(names):
        raise TypeError(f"items: {which!r} is not a position; there are {len(names)} parameters: {', '.join(names)}")
    return names[which]


def _is_compiled(function: Any) -> bool:
    """Report whether torch compiled or traced a model or function, so that its code cannot be identified."""
    kinds = ("ScriptModule", "ScriptFunction", "OptimizedModule", "GraphModule")
    return any(cls.__name__ in kinds and cls.__module__.startswith("torch") for cls in type(function).__mro__)


def _modes(grad: bool) -> list[Any]:
    """Return the modes in which torch computes, whether code names them or not."""
    return modes_of_torch(grad) if "torch" in sys.modules else []


def _kind_of(value: Any) -> str:
    """Return the type of the container of items, as a function can tell a list from an array."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
