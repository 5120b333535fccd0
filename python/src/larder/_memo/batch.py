"""Cache the results of functions and models on batches, item by item."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from .. import _arguments
from .._identity.values.text import describe
from ..errors import CodeError
from .batch_call import BatchCall
from .batch_function import BatchFunction
from .files import as_files


class MemoBatch(BatchFunction):
    """A function of batches whose results are cached by item, created by `memo_batch` and called like the function."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the result of a batch: cached rows, and the others from one call of the function."""
        keys = self._passed_keys(kwargs)
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
                    f"{describe(self._function)}: its result would require gradients, which are not cached; "
                    "call it under torch.no_grad()"
                )
        state = self._state()
        own = self._item_digests(state, rows, count, keys)
        batch = BatchCall(self, state, bound, self._shared(state, values), keys, own)
        result = batch.result()
        with self._counting:
            self.computed_items += batch.computed
            self.loaded_items += max(0, count - batch.computed)
        return result


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
    returns one row per item: an array, a tensor or a list; or a tuple, dict, dataclass or model
    output with such values.

    The key of an item covers the code, the other arguments and its own rows, but not the other
    items of the batch. A module is identified by the code of all classes in it, by its
    parameters and buffers, and by the modes of torch. The last bits of its results may depend
    on the size of the batch. With `check=n` one of about n cached items is computed again;
    `.largest` is the largest difference found.

    - `version`, `ignore`, `allow` and `cache_dir` are those of `memo`.
    - `key` is a function of the named parameters that returns one key per item. If it is a
      string, it names a keyword argument of calls that holds one key per item: a list, or the
      array of a field of a loader with `collate="key"`. The function receives it if it has a
      parameter of that name.
    - `most` is the maximum number of items of one call of the function.
    - `train` allows modules in training mode.
    """
    named = [items] if isinstance(items, (str, int)) else _arguments.several("items", items, "parameters")
    if (most is not None and most < 1) or check < 0:
        raise ValueError("most must be at least 1, and check must not be negative")

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
