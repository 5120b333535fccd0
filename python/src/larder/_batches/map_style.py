"""Read a map-style dataset, an object with `__len__` and `__getitem__`, as a flow.

The flow has a row for each index, and calls `dataset[index]` in worker processes. They get the
dataset as a pickle, in a private file that is removed with the loader.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._client import server
from .._identity.code.identity import identify
from .._identity.digest import digest
from .._identity.environment import nondefault_settings
from .._yaml import write
from .._yaml.values import plain, var
from ..errors import UnkeyableError
from . import samples
from .attributes import collated
from .batch import Batch
from .options import Collate, MapStyle


@dataclass(frozen=True)
class SamplesFlow:
    """A flow with the name of the node to read."""

    name: str
    lines: list[str]

    def to_yaml(self) -> str:
        """Return the flow as the text of a flow file."""
        return "".join(f"{line}\n" for line in self.lines)


class MapDataset:
    """A dataset as the node that a loader reads, with the collation of its samples."""

    def __init__(self, dataset: MapStyle, seed: int, keep: bool, collate: Collate | None) -> None:
        if len(dataset) == 0:
            raise ValueError(f"the dataset {type(dataset).__name__} has no samples")
        first = samples.drawn(dataset, 0, f"{seed}.0.0")
        found = samples.items(first)
        if not found:
            raise ValueError(f"a sample of {type(dataset).__name__} has no items; return at least one")
        self._names = list(found)
        self._numbers = {name for name, value in found.items() if type(value) in (bool, int, float)}
        self._form = _form(first)
        self._collate = collate
        version = _identity(dataset) if keep else "of its pickle"
        self._directory = _written(dataset)
        self.flow = self._flow(len(dataset), str(seed), keep, version)

    def _flow(self, count: int, seed: str, keep: bool, version: str) -> SamplesFlow:
        """Return a flow of one row for each sample, with its index, of which workers compute the sample."""
        computed: dict[str, Any] = {
            "function": f"{samples.__name__}:sample",
            "items": ["__index"],
            "into": self._names,
            "setup": f"{samples.__name__}:load",
            "args": {"seed": seed, "names": self._names},
            "version": version,
        }
        nodes: dict[str, Any] = {
            "row": {"source": "jsonl", "with": {"path": os.path.join(self._directory, "row.jsonl")}},
            "rows": {"op": "repeat", "from": "row", "with": {"times": count}},
            "indices": {"op": "enumerate", "from": "rows", "with": {"into": "__index"}},
        }
        if keep:  # what is cached is the same in each epoch
            computed["path"] = [self._directory]
            nodes["computed"] = {"map": "python", "from": "indices", "with": computed, "keep": True}
        else:
            epoch = {"key": "__epoch", "value": var("epoch", 0)}
            nodes["epochs"] = {"map": "set-value", "from": "indices", "with": epoch}
            computed["items"].append("__epoch")
            computed["files"] = {"dataset": os.path.join(self._directory, samples.FILE)}
            nodes["computed"] = {"map": "python", "from": "epochs", "with": computed}
        nodes["samples"] = {"map": "keep-keys", "from": "computed", "with": {"keys": self._names}}
        fields: dict[str, Any] = {"version": 1, "vars": {"epoch": 0}, "nodes": nodes}
        return SamplesFlow("samples", [line for n, v in fields.items() for line in write.field(0, n, plain(v, n))])

    def remove_with(self, loader: object) -> None:
        """Remove the file when the loader is gone, or at the end of this process."""
        weakref.finalize(loader, _remove, self._directory, os.getpid())

    def batch(self, batch: Batch) -> Any:
        """Return a batch as the user's collation makes it."""
        if self._collate is None:
            return batch
        count = len(batch.samples)
        return self.collated([{name: values[i] for name, values in batch.items()} for i in range(count)])

    def collated(self, rows: Sequence[dict[str, Any]]) -> Any:
        """Return the batch that the user's collation makes of samples, which it gets in the form of the dataset's."""
        if self._collate is None:
            return collated(rows)
        return self._collate([self._form([self._value(name, row[name]) for name in self._names]) for row in rows])

    def _value(self, name: str, value: Any) -> Any:
        return value.item() if name in self._numbers and hasattr(value, "item") else value

    def __getstate__(self) -> dict[str, Any]:
        first = self._form([None] * len(self._names))
        return self.__dict__ | {"_form": first, "flow": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_form": _form(state["_form"])})


def _form(first: Any) -> Callable[[Sequence[Any]], Any]:
    """Return the function that puts values into a sample like the first one."""
    if isinstance(first, dict) or not isinstance(first, (tuple, list)):
        names = list(samples.items(first))
        return (lambda row: dict(zip(names, row, strict=True))) if isinstance(first, dict) else lambda row: row[0]
    made = type(first)
    return (lambda row: made(*row)) if hasattr(made, "_fields") else lambda row: made(row)


def _identity(dataset: MapStyle) -> str:
    """Return the identity of the dataset's value and code, as `memo` has it for an argument."""
    code = identify(_item)
    try:
        value = digest(
            (dataset,),
            name="dataset",
            used=code.names,
            reached=code.reached,
            names=code.names_files,
            takes_files=code.takes_files,
        )
    except UnkeyableError as error:
        reason = str(error).partition(", which has no key")[0]
        raise type(error)(
            f"keep: samples of {type(dataset).__name__} have no key, as {reason}; "
            "derive randomness from the index, or remove keep"
        ) from error
    return (digest(nondefault_settings()) + code.digest + value).hex()


def _item(dataset: Any, index: int) -> Any:
    return dataset[index]


def _written(dataset: MapStyle) -> str:
    """Write the dataset into a private directory of the server's, and return the directory."""
    main = sys.modules["__main__"]
    spec, script = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    start = {
        "path": [os.path.abspath(path) for path in sys.path],
        "main": spec.name if spec is not None else os.path.abspath(script) if script else "",
        "libraries": [name for name in samples.SEEDED if name in sys.modules],
    }
    try:
        pickled = pickle.dumps(start) + pickle.dumps(dataset)
    except Exception as error:
        raise TypeError(f"worker processes get the dataset as a pickle, and {error}") from error
    directory = tempfile.mkdtemp(prefix="dataset-", dir=os.path.dirname(server.address(None).socket))
    for name, content in {"row.jsonl": json.dumps({}).encode() + b"\n", samples.FILE: pickled}.items():
        with open(os.open(os.path.join(directory, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    return directory


def _remove(directory: str, process: int) -> None:
    if os.getpid() == process:  # not in a forked child
        shutil.rmtree(directory, ignore_errors=True)
