"""Samples of a map-style dataset in a worker: the functions of the flow that `map_style` builds.

The worker unpickles the dataset once, and computes one sample for each index.
"""

from __future__ import annotations

import importlib
import importlib.util
import operator
import os
import pickle
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from .. import _worker
from .._worker import modules

FILE = "larder-dataset.pickle"
SEEDED = ("numpy", "torch")
"""Libraries whose global generators are seeded."""


class _Unpickler(pickle.Unpickler):
    """Finds classes of the user's main module, which is not `__main__` in a worker."""

    main = ""
    """The path of the script, or the name of the module."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and self.main:
            return operator.attrgetter(name)(_imported(self.main))
        return super().find_class(module, name)


def _imported(main: str) -> Any:
    _worker.importing = True
    try:
        return modules._file(main) if os.path.isabs(main) else importlib.import_module(main)
    finally:
        _worker.importing = False


def load(dataset: Any = None) -> Any:
    """Return the dataset that a loader wrote into a file, or into a directory of the search path."""
    file = dataset or next(at for at in (os.path.join(path, FILE) for path in sys.path) if os.path.isfile(at))
    with open(file, "rb") as opened:
        start = pickle.load(opened)
        sys.path += [path for path in start["path"] if path not in sys.path]
        unpickler = _Unpickler(opened)
        unpickler.main = start["main"]
        for library in start["libraries"]:
            importlib.import_module(library)
        return unpickler.load()


def sample(dataset: Any, index: int, epoch: int = 0, /, *, seed: str, names: list[str]) -> Any:
    """Return the items of a sample: an equal one for each call with the same seed, epoch and index."""
    found = items(drawn(dataset, index, f"{seed}.{epoch}.{index}"))
    if [*found] != names:
        raise TypeError(f"sample {index} has the items {[*found]}; the first one has {names}")
    values = [_array(value) for value in found.values()]
    return values[0] if len(names) == 1 else tuple(values)


def items(made: Any) -> dict[str, Any]:
    """Return a sample as items: those of a dict, the fields of a named tuple, or "0", "1" and so on."""
    if isinstance(made, Mapping):
        for name in made:
            if not isinstance(name, str):
                raise TypeError(f"a sample has the key {name!r}; give strings as keys")
        return dict(made)
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return dict(zip(made._fields, made, strict=True))
    return {str(i): value for i, value in enumerate(made if isinstance(made, (tuple, list)) else [made])}


def drawn(dataset: Any, index: int, seed: str) -> Any:
    """Return `dataset[index]`, with global generators seeded for the call."""
    while True:
        before = [name for name in SEEDED if name in sys.modules]
        with _seeded(int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "little")):
            made = dataset[index]
        if before == [name for name in SEEDED if name in sys.modules]:
            return made  # otherwise the call imported a library, whose generator was not seeded


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    numpy, torch = (sys.modules.get(name) for name in SEEDED)
    states = random.getstate(), numpy and numpy.random.get_state(), torch and torch.get_rng_state()
    random.seed(seed)
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    if torch is not None:
        torch.default_generator.manual_seed(seed % 2**63)
    try:
        yield
    finally:
        random.setstate(states[0])
        if numpy is not None:
            numpy.random.set_state(states[1])
        if torch is not None:
            torch.set_rng_state(states[2])


def _array(value: Any) -> Any:
    """Return a number as an array, so that numbers of a batch are one array as in torch.

    An image whose pixels are not colours of 8 or 16 bits is returned as an array, too: with a
    palette, it is a mask of class numbers.
    """
    pillow = sys.modules.get("PIL.Image")
    if pillow is not None and isinstance(value, pillow.Image) and value.mode not in ("L", "LA", "RGB", "RGBA", "I;16"):
        import numpy as np

        return np.asarray(value)
    if type(value) not in (bool, int, float) or importlib.util.find_spec("numpy") is None:
        return value
    import numpy as np

    if type(value) is int and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value}: takes more than 64 bits; return a string or a float")
    return np.asarray(value, {bool: np.bool_, int: np.int64, float: np.float64}[type(value)])
