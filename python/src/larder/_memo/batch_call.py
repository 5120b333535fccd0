"""Return the result of one call of a function of batches."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from .._client import messages
from .._client.messages import Computed, Outcome, shown
from .._identity.digest import digest
from .._identity.values.encoder import BY_NAME
from .._identity.values.text import describe
from .._reads.audit import answered
from .._results import decode, decode_rows
from ..errors import CycleError, Error, ResultError, ServerError
from .batch_function import BatchFunction, BatchState
from .files import path_in_result
from .function import warn_of
from .rows import chosen, difference, encoded_rows, is_array, is_module, is_tensor, joined, mapped, split
from .state import SMALL

_MOST = 16384
"""The maximum number of items of one call to the server."""
_CACHED = (messages.BYTES, messages.FILE, messages.CACHED)


class BatchCall:
    """One call of a function of batches."""

    def __init__(
        self,
        function: BatchFunction,
        state: BatchState,
        bound: inspect.BoundArguments,
        shared: bytes,
        keys: Sequence[Any] | None,
        digests: list[bytes],
    ) -> None:
        self.function, self.state, self.bound, self.digests = function, state, bound, digests
        self.keys = keys  # passed by the caller
        self.shared, self.start = shared, sha256(shared)
        self.changed = ""
        self.results = state.results_of(shared)
        self.encoded: list[Any] = [self.results.get(one) for one in digests]
        self.raised: BaseException | None = None
        self.computed = 0
        """The number of items of the batch that the function was called with."""

    def key(self, i: int) -> bytes:
        h = self.start.copy()
        h.update(self.digests[i])
        return h.digest()

    def result(self) -> Any:
        if not self.digests:
            return self.call(slice(0, 0))
        todo = [i for i, found in enumerate(self.encoded) if found is None]
        hits = [i for i, found in enumerate(self.encoded) if found is not None] if self.function._check else []
        for at in range(0, len(todo), _MOST):
            hits += self.fetch(todo[at : at + _MOST])
        try:
            result = self.joined()
        except ResultError:  # cached in another form
            return self.call(list(range(len(self.digests))))
        if self.function._check and hits:
            self.compare(hits)
        return _placed(result, self.function._function, [self.bound.arguments[name] for name in self.function._items])

    def joined(self) -> Any:
        """Return what the function would have returned for the whole batch."""
        first = decode(self.encoded[0])
        if is_array(first) or is_tensor(first):
            return decode_rows(self.encoded)
        return joined([decode(encoded) for encoded in self.encoded])

    def fetch(self, todo: list[int]) -> list[int]:
        """Request items from the server, and return those that were cached."""

        def compute(which: list[int]) -> list[Computed]:
            return self.compute([todo[i] for i in which])

        keys = [self.key(i) for i in todo]
        try:
            outcomes = self.function._client.get(self.state, keys, compute)
            if any(o.kind == messages.FILE and o.encoded is None for o in outcomes):
                outcomes = self.function._client.get(self.state, keys, compute, messages.INLINE)
        except ServerError as error:
            warn_of(f"results of {self.state.name} are computed and not cached: {error}", self.function._function)
            outcomes = [Outcome(messages.NOT_CACHED)] * len(todo)
        left = [
            i
            for i, outcome in zip(todo, outcomes, strict=True)
            if outcome.encoded is None and outcome.kind != messages.ERROR and self.encoded[i] is None
        ]
        if left and self.raised is None:  # the server has given them up
            self.compute(left)
        if self.raised is not None:
            raise self.raised
        hits = []
        for i, outcome in zip(todo, outcomes, strict=True):
            if outcome.kind == messages.ERROR:
                raise CycleError(outcome.text) if outcome.cycle else Error(outcome.text)
            if outcome.encoded is not None:
                self.encoded[i] = outcome.encoded
                hits.append(i)
            found = self.encoded[i]
            if type(found) is bytes and len(found) <= SMALL and outcome.kind in _CACHED:
                self.results[self.digests[i]] = found
        return hits

    def compute(self, which: list[int]) -> list[Computed]:
        """Call the function with items that are not cached, in parts of limited size."""
        computed: list[Computed] = []
        most = self.function._most or len(which)
        for at in range(0, len(which), most):
            part = which[at : at + most]
            try:
                value = self.call(part)
                self.computed += len(part)
                self.changed = self.changed or self.change(part)
                rows = encoded_rows(value, len(part))
            except Exception as error:
                self.raised = error
                left = len(which) - len(computed)
                return computed + [Computed(None, f"{type(error).__name__}: {error}")] * left
            for i, encoded in zip(part, rows, strict=True):
                self.encoded[i] = encoded
                if self.changed:
                    computed.append(Computed(None, self.changed))
                    continue
                computed.append(Computed(encoded, about=functools.partial(self.about, i)))
        return computed

    def change(self, part: list[int]) -> str:
        """Return what changed since the function was called, or the empty string."""
        function, values = self.function, self.bound.arguments
        try:
            now = function._state()
            if now.identifier != self.state.identifier:
                reason = "code, weights or values that it reaches changed while they were computed"
            elif function._shared(now, values) != self.shared:
                reason = "the arguments changed while they were computed"
            elif (
                function._item_digests(now, [values[name] for name in function._items], len(self.digests), self.keys)
                != self.digests
            ):
                reason = "the items changed while they were computed"
            else:
                return ""
        except Error as error:
            reason = f"their identity changed while they were computed: {error}"
        warn_of(f"results of {self.state.name} are not cached: {reason}", self.function._function)
        return reason

    def call(self, which: Any) -> Any:
        """Call the function with some of the items."""
        arguments = dict(self.bound.arguments)
        whole = isinstance(which, list) and len(which) == len(self.digests)
        for name in (*self.function._items, self.function._key_parameter or ""):
            if arguments.get(name) is not None and not whole:
                arguments[name] = chosen(arguments[name], which)
        bound = inspect.BoundArguments(self.bound.signature, arguments)
        with self.function._counting:
            self.function.executions += 1
        watch = self.function._watch(self.state, bound)
        with watch or answered():
            result = self.function._function(*bound.args, **bound.kwargs)
        reason = "" if watch is None else watch.reason()
        if not reason and watch is not None and self.state.names_files < BY_NAME:
            reason = path_in_result(result, list(watch.files or ())) or ""
        if reason:
            self.changed = reason
            warn_of(f"results of {self.state.name} are not cached: {self.changed}", self.function._function)
        return result

    def about(self, i: int) -> list[dict[str, str]]:
        said = []
        for name, value in self.bound.arguments.items():
            if name in self.function._ignore:
                continue
            one = value[i] if name in self.function._items and value is not None else value
            said.append({"name": name, "text": describe(one), "digest": shown(digest(one, name=name))})
        return said

    def compare(self, hits: list[int]) -> None:
        """Compute a sample of the cached items again, and record how much they differ."""
        which = [i for i in hits if int.from_bytes(os.urandom(4), "little") % self.function._check == 0]
        if not which:
            return
        now = split(self.call(which), len(which))
        for i, row in zip(which, now, strict=True):
            self.function.checked += 1
            self.function.largest = max(self.function.largest, difference(decode(self.encoded[i]), row))


def _placed(value: Any, function: Any, inputs: list[Any]) -> Any:
    """Return tensors on the device on which the function would have computed them."""
    device = _device(function, inputs)
    if device is None or device.type == "cpu":
        return value
    return mapped(value, lambda tensor: tensor.to(device))


def _device(function: Any, inputs: list[Any]) -> Any:
    if is_module(function):
        for tensor in function.parameters():
            return tensor.device
    return next((value.device for value in inputs if is_tensor(value)), None)
