"""Cache the results of functions and models on batches, item by item."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, overload

from .. import _arguments
from .._client import client
from .._client.client import Function, Made, Outcome
from .._identity.code.annotations import file_hints, names_file
from .._identity.code.identity import Identity, identify, may_draw
from .._identity.digest import digest, digest_rows
from .._identity.environment import modes_of_torch, surroundings
from .._identity.values.encoder import BY_CONTENT, BY_NAME
from .._identity.values.text import describe
from .._identity.wrapper import Wrapper
from .._reads.audit import Watch, answered
from .._results import decode, decode_rows, encode, encode_rows
from ..errors import CodeError, CycleError, Error, ResultError, ServerError
from .memo import _SMALL, _code, _warn, allowed, as_files, ignored, path_given, paths_in

_MOST = 16384
"""The maximum number of items of one call to the server."""
_NEAR_CALLS, _NEAR_ITEMS = 64, 65536
_KEPT = (client.BYTES, client.FILE, client.KEPT)
_NOTHING = bytes(32)
"""Replaces the digest of a row where there are no rows."""


@dataclasses.dataclass(slots=True, kw_only=True)
class _Current(Function):
    """The current state of a function or model, published by one assignment as for `memo`."""

    identity: Identity | None = None
    """None for a model."""

    @property
    def names_files(self) -> int:
        return BY_CONTENT if self.identity is None else self.identity.names_files


class MemoBatch(Wrapper):
    """A function of batches whose results are cached by item, created by `memo_batch` and called like the function."""

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
        self._keys_given = key if isinstance(key, str) else None
        self._most = most
        self._check = check
        self._train = train
        self._client = client.client_of(cache)
        self._model = _is_module(function)
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
        self._current: _Current | None = None
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

    def _options(self) -> tuple[Any, ...]:
        return (tuple(self._items), tuple(sorted(self._ignore)), self._keyed or self._keys_given, self._train)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the result of a batch: cached rows, and the others from one call of the function."""
        keys = self._given_keys(kwargs)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        for name in self._files & values.keys():
            values[name] = as_files(values[name], name, self._hints.get(name))
        rows = [values[name] for name in self._items]
        count = self._count(rows)
        if self._model:
            from .models import needs_gradients

            if needs_gradients(self._function, rows):
                raise CodeError(
                    f"{describe(self._function)}: what it makes would have gradients, which are not cached; "
                    "call it under torch.no_grad(), or have it need none (.requires_grad_(False))"
                )
        known = self._function_now()
        own = self._own(known, rows, count, keys)
        batch = _Batch(self, known, bound, self._shared(known, values), keys, own)
        result = batch.result()
        with self._counting:
            self.computed_items += batch.computed
            self.loaded_items += max(0, count - batch.computed)
        return result

    def _count(self, rows: list[Any]) -> int:
        counts = {name: len(value) for name, value in zip(self._items, rows, strict=True) if value is not None}
        if len(set(counts.values())) != 1:
            raise ValueError(f"all parameters with items must have the same length, not {counts}")
        return next(iter(counts.values()))

    def _function_now(self) -> _Current:
        current = self._current
        if self._model:
            now, codes = self._module.now()
            if current is None or current.known_by != now:
                code = functools.partial(_code_of_model, now, codes)
                current = self._current = _Current(self._module.name, now, code)
        elif current is None or current.identity is None or not current.identity.check():
            identity = identify(self._function, version=self._version, allow=self._allow)
            code = functools.partial(_code, identity, False)
            current = _Current(identity.name, identity.digest + b"batch", code, identity=identity)
            self._current = current
        return current

    def _watch(self, known: _Current, bound: inspect.BoundArguments) -> Watch | None:
        """Return the watch of a call, or None if randomness is allowed or a version covers the function."""
        if self._version is not None or self._train:
            return None
        if known.identity is None:
            return Watch(None, allow=self._allow)
        values = [value for name, value in bound.arguments.items() if name not in self._ignore]
        identity = known.identity
        return Watch(
            paths_in(values),
            identity.threads,
            self._allow,
            identity.caches,
            lambda: identity.draws or may_draw(bound.arguments.values()),
            identity.follows,
        )

    def _shared(self, known: _Current, values: Mapping[str, Any]) -> bytes:
        """Return the digest of everything that the items of a batch have in common."""
        left_out = {*self._items, *self._ignore, self._keys_given}
        shared = {name: value for name, value in values.items() if name not in left_out}
        keyed = bool(self._keys_given) or self._keyed is not None
        kinds = () if keyed else tuple(_kind_of(values.get(name)) for name in self._items)
        return digest(
            ("batch", self._items, keyed, kinds, shared, surroundings(), _modes(not self._model)),
            name="arguments",
            used=None if known.identity is None else known.identity.names,
            known=None if known.identity is None else known.identity.known,
            names=known.names_files,
            allow=self._allow,
            version=self._version,
        )

    def _given_keys(self, kwargs: dict[str, Any]) -> Sequence[Any] | None:
        """Return the keys of the items from the arguments, if the caller passes them."""
        if self._keys_given is None:
            return None
        try:
            own = self._keys_given in self._signature.parameters
            keys = kwargs[self._keys_given] if own else kwargs.pop(self._keys_given)
        except KeyError:
            raise TypeError(
                f"{describe(self._function)} needs the keys of its items; pass them as {self._keys_given}=..."
            ) from None
        if isinstance(keys, (str, bytes)):
            raise TypeError(f"{self._keys_given} has a key for each item, and is no text")
        if _is_tensor(keys):
            keys = keys.cpu().numpy()
        return [k.tobytes() for k in keys] if _is_array(keys) and keys.ndim == 2 else list(keys)

    def _own(self, known: _Current, rows: list[Any], count: int, keys: Sequence[Any] | None) -> list[bytes]:
        """Return what distinguishes each item: the digests of its rows, concatenated."""
        if self._keyed is not None:
            keys = list(self._keyed(*rows))
        if keys is not None:
            if len(keys) != count:
                raise ValueError(f"there are {len(keys)} keys of {count} items")
            return [digest(k, name="key") for k in keys]
        columns = [
            [_NOTHING] * count if value is None else _digests(value, name, known.names_files)
            for name, value in zip(self._items, rows, strict=True)
        ]
        return columns[0] if len(columns) == 1 else [b"".join(parts) for parts in zip(*columns, strict=True)]


def _code_of_model(digest: bytes, codes: list[Identity]) -> dict[str, Any]:
    """Return the identity of a model in the terms of the protocol."""
    parts = [
        {"name": part.text, "where": part.path, "digest": client.shown(part.digest)}
        for identity in codes
        for part in identity.parts
    ]
    return {"version": "", "digest": client.shown(digest), "parts": parts}


def _near_of(known: Function, shared: bytes) -> dict[bytes, Any]:
    """Return the small results that this process has seen for items with the same shared digest."""
    near: dict[bytes, Any] | None = known.near.get(shared)
    if near is None:
        if len(known.near) >= _NEAR_CALLS:
            known.near.clear()
        near = known.near[shared] = {}
    elif len(near) >= _NEAR_ITEMS:
        near.clear()
    return near


class _Batch:
    """One call of a function of batches."""

    def __init__(
        self,
        memo: MemoBatch,
        known: _Current,
        bound: inspect.BoundArguments,
        shared: bytes,
        keys: Sequence[Any] | None,
        own: list[bytes],
    ) -> None:
        self.memo, self.known, self.bound, self.own = memo, known, bound, own
        self.keys = keys  # passed by the caller
        self.shared, self.start = shared, sha256(shared)
        self.changed = ""
        self.near = _near_of(known, shared)
        self.encoded: list[Any] = [self.near.get(one) for one in own]
        self.raised: BaseException | None = None
        self.computed = 0
        """The number of items of the batch that the function was called with."""

    def key(self, i: int) -> bytes:
        h = self.start.copy()
        h.update(self.own[i])
        return h.digest()

    def result(self) -> Any:
        if not self.own:
            return self.call(slice(0, 0))
        todo = [i for i, found in enumerate(self.encoded) if found is None]
        hits = [i for i, found in enumerate(self.encoded) if found is not None] if self.memo._check else []
        for at in range(0, len(todo), _MOST):
            hits += self.fetch(todo[at : at + _MOST])
        try:
            made = self.joined()
        except ResultError:  # cached in another form
            return self.call(list(range(len(self.own))))
        if self.memo._check and hits:
            self.compare(hits)
        return _placed(made, self.memo._function, [self.bound.arguments[name] for name in self.memo._items])

    def joined(self) -> Any:
        """Return what the function would have returned for the whole batch."""
        first = decode(self.encoded[0])
        if _is_array(first) or _is_tensor(first):
            return decode_rows(self.encoded)
        return joined([decode(encoded) for encoded in self.encoded])

    def fetch(self, todo: list[int]) -> list[int]:
        """Request items from the server, and return those that were cached."""

        def compute(which: list[int]) -> list[Made]:
            return self.compute([todo[i] for i in which])

        keys = [self.key(i) for i in todo]
        try:
            outcomes = self.memo._client.get(self.known, keys, compute)
            if any(o.kind == client.FILE and o.encoded is None for o in outcomes):
                outcomes = self.memo._client.get(self.known, keys, compute, client.INLINE)
        except ServerError as error:
            _warn(f"results of {self.known.name} are computed and not cached: {error}", self.memo._function)
            outcomes = [Outcome(client.UNKEPT)] * len(todo)
        left = [
            i
            for i, outcome in zip(todo, outcomes, strict=True)
            if outcome.encoded is None and outcome.kind != client.ERROR and self.encoded[i] is None
        ]
        if left and self.raised is None:  # the server has given them up
            self.compute(left)
        if self.raised is not None:
            raise self.raised
        hits = []
        for i, outcome in zip(todo, outcomes, strict=True):
            if outcome.kind == client.ERROR:
                raise CycleError(outcome.text) if outcome.cycle else Error(outcome.text)
            if outcome.encoded is not None:
                self.encoded[i] = outcome.encoded
                hits.append(i)
            found = self.encoded[i]
            if type(found) is bytes and len(found) <= _SMALL and outcome.kind in _KEPT:
                self.near[self.own[i]] = found
        return hits

    def compute(self, which: list[int]) -> list[Made]:
        """Call the function with items that are not cached, in parts of limited size."""
        made: list[Made] = []
        most = self.memo._most or len(which)
        for at in range(0, len(which), most):
            part = which[at : at + most]
            try:
                value = self.call(part)
                self.computed += len(part)
                self.changed = self.changed or self.change(part)
                rows = encoded_rows(value, len(part))
            except Exception as error:
                self.raised = error
                left = len(which) - len(made)
                return made + [Made(None, f"{type(error).__name__}: {error}")] * left
            for i, encoded in zip(part, rows, strict=True):
                self.encoded[i] = encoded
                if self.changed:
                    made.append(Made(None, self.changed))
                    continue
                made.append(Made(encoded, about=functools.partial(self.about, i)))
        return made

    def change(self, part: list[int]) -> str:
        """Return what changed since the function was called, or the empty string."""
        memo, values = self.memo, self.bound.arguments
        try:
            now = memo._function_now()
            if now.known_by != self.known.known_by:
                reason = "code, weights or values that it reaches changed while they were computed"
            elif memo._shared(now, values) != self.shared:
                reason = "the arguments changed while they were computed"
            elif memo._own(now, [values[name] for name in memo._items], len(self.own), self.keys) != self.own:
                reason = "the items changed while they were computed"
            else:
                return ""
        except Error as error:
            reason = f"their identity changed while they were computed: {error}"
        _warn(f"results of {self.known.name} are not cached: {reason}", self.memo._function)
        return reason

    def call(self, which: Any) -> Any:
        """Call the function with some of the items."""
        arguments = dict(self.bound.arguments)
        whole = isinstance(which, list) and len(which) == len(self.own)
        for name in (*self.memo._items, self.memo._keys_given or ""):
            if arguments.get(name) is not None and not whole:
                arguments[name] = chosen(arguments[name], which)
        bound = inspect.BoundArguments(self.bound.signature, arguments)
        with self.memo._counting:
            self.memo.executions += 1
        watch = self.memo._watch(self.known, bound)
        with watch or answered():
            made = self.memo._function(*bound.args, **bound.kwargs)
        reason = "" if watch is None else watch.reason()
        if not reason and watch is not None and self.known.names_files < BY_NAME:
            reason = path_given(made, list(watch.files or ())) or ""
        if reason:
            self.changed = reason
            _warn(f"results of {self.known.name} are not cached: {self.changed}", self.memo._function)
        return made

    def about(self, i: int) -> list[dict[str, str]]:
        said = []
        for name, value in self.bound.arguments.items():
            if name in self.memo._ignore:
                continue
            one = value[i] if name in self.memo._items and value is not None else value
            said.append({"name": name, "text": describe(one), "digest": client.shown(digest(one, name=name))})
        return said

    def compare(self, hits: list[int]) -> None:
        """Compute a sample of the cached items again, and record how much they differ."""
        which = [i for i in hits if int.from_bytes(os.urandom(4), "little") % self.memo._check == 0]
        if not which:
            return
        now = split(self.call(which), len(which))
        for i, row in zip(which, now, strict=True):
            self.memo.checked += 1
            self.memo.largest = max(self.memo.largest, difference(decode(self.encoded[i]), row))


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


def _is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _digests(value: Any, name: str, names: int = BY_CONTENT) -> list[bytes]:
    if _is_tensor(value):
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
    if _is_array(value):
        return digest_rows(value)
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise TypeError(f"{name} is {describe(value)}, which has no rows: pass an array, a tensor or a list")
    return [digest(one, name=f"{name}[{i}]", names=names) for i, one in enumerate(value)]


def chosen(value: Any, which: Any) -> Any:
    """Return some rows of an array, a tensor or a list."""
    if _is_tensor(value) or _is_array(value) or isinstance(which, slice):
        return value[which]
    return type(value)(value[i] for i in which) if isinstance(value, tuple) else [value[i] for i in which]


def encoded_rows(value: Any, count: int) -> Sequence[Any]:
    """Return the encoding of each row of the result for a batch."""
    rows = split(value, count)
    return encode_rows(value) if _is_tensor(value) or _is_array(value) else [encode(row) for row in rows]


def split(value: Any, count: int) -> list[Any]:
    """Return the rows of the result for a batch, split in each array or list in it.

    A row of an array is plain. All others are pairs of a kind and a row: for a list the
    element, for other containers the same container with the rows of its parts.
    """
    if _is_tensor(value) or _is_array(value):
        if value.ndim == 0 or len(value) != count:
            raise ResultError(
                f"of {count} items the function made an array of the shape {tuple(value.shape)}: "
                "its first dimension is to be that of the items"
            )
        if _is_tensor(value) and value.requires_grad:
            raise ResultError("the result has gradients, which are not cached; call the function under torch.no_grad()")
        return [value[i] for i in range(count)]
    if value is None:
        return [("none", None)] * count
    if type(value) is list:
        if len(value) != count:
            raise ResultError(f"of {count} items the function made a list of {len(value)}")
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


def _modes(grad: bool) -> list[Any]:
    """Return the modes in which torch computes, whether code names them or not."""
    return modes_of_torch(grad) if "torch" in sys.modules else []


def _kind_of(value: Any) -> str:
    """Return the type of the container of items, as a function can tell a list from an array."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


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
    if _is_tensor(first):
        import torch

        return torch.stack(rows)
    if _is_array(first) or _is_scalar(first):
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


def _placed(value: Any, function: Any, inputs: list[Any]) -> Any:
    """Return tensors on the device on which the function would have computed them."""
    device = _device(function, inputs)
    if device is None or device.type == "cpu":
        return value
    return _mapped(value, lambda tensor: tensor.to(device))


def _device(function: Any, inputs: list[Any]) -> Any:
    if _is_module(function):
        for tensor in function.parameters():
            return tensor.device
    return next((value.device for value in inputs if _is_tensor(value)), None)


def _mapped(value: Any, f: Callable[[Any], Any]) -> Any:
    if _is_tensor(value):
        return f(value)
    if type(value) is dict:
        return {name: _mapped(held, f) for name, held in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_mapped(held, f) for held in value)
    fields = _fields(value)
    if fields is None:
        return value
    cls = f"{type(value).__module__}:{type(value).__qualname__}"
    return _object(cls, {name: _mapped(getattr(value, name), f) for name in fields})


def difference(a: Any, b: Any) -> float:
    """Return the largest difference of two results; infinity if they differ in shape or type."""
    if _is_tensor(a) or _is_array(a):
        if tuple(a.shape) != tuple(b.shape) or a.dtype != b.dtype:
            return float("inf")
        if _is_tensor(a):
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


@overload
def memo_batch(
    function: Callable[..., Any],
    /,
    *,
    items: str | int | Sequence[str | int],
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Sequence[Any]] | str | None = None,
    most: int | None = None,
    train: bool = False,
    check: int = 0,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> MemoBatch: ...


@overload
def memo_batch(
    *,
    items: str | int | Sequence[str | int],
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Sequence[Any]] | str | None = None,
    most: int | None = None,
    train: bool = False,
    check: int = 0,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[..., Any]], MemoBatch]: ...


def memo_batch(
    function: Callable[..., Any] | None = None,
    /,
    *,
    items: str | int | Sequence[str | int],
    version: str | None = None,
    ignore: Iterable[str] = (),
    key: Callable[..., Sequence[Any]] | str | None = None,
    most: int | None = None,
    train: bool = False,
    check: int = 0,
    allow: Iterable[str] = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Any:
    """Cache the results of a function of batches item by item, and call it with new items only.

    The function is any callable, or a module of torch. `items` has the names or the positions
    (from 0, without `self`) of the parameters that hold the items: the rows of an array or
    tensor, or the elements of a list. All other parameters apply to each item. The function
    returns a row for each item: in an array, a tensor, a list, or a tuple, dict, dataclass or
    output of a model of these.

    The key of an item covers the code, the other arguments and its own rows, but not the other
    items of the batch. A module is identified by the code of all classes in it, by its
    parameters and buffers, and by the modes of torch. The last bits of its results may depend
    on the size of the batch. With `check=n` one of about n cached items is computed again;
    `.largest` is the largest difference found.

    - `version`, `ignore`, `allow` and `cache_dir` are those of `memo`.
    - `key` is called with the named parameters and returns what identifies each item. Or it is
      a name, such as "keys", by which calls pass that: a list, or an array with a row for each
      item, as loaders return for fields with the collation key. The function receives it if it has a
      parameter of that name.
    - `most` is the maximum number of items of one call of the function.
    - `train` allows modules in training mode.
    """
    named = [items] if isinstance(items, (str, int)) else _arguments.several("items", items, "parameters")
    if (most is not None and most < 1) or check < 0:
        raise ValueError("most is at least 1, and check is not negative")

    def made(function: Callable[..., Any]) -> MemoBatch:
        return MemoBatch(
            function,
            named,
            version=version,
            ignore=ignore,
            key=key,
            most=most,
            train=train,
            check=check,
            allow=allow,
            cache=cache_dir,
        )

    return made if function is None else made(function)
