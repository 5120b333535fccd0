"""Test that frameworks keep the identity of batches, and that a change of the rows removes it."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Serve
from fake import Script

import larder
from larder._batches.batch import About, Batch, _abouts

SAMPLES = [7, 8]


def made(names: tuple[str, ...] = ("x", "image"), array: Callable[[Any], Any] = np.asarray) -> Batch:
    numbers = b"".join(n.to_bytes(8, "little") for n in SAMPLES)
    about = About(3, 1, "prefix", (3, 8), numbers, dict.fromkeys(names, 2))
    return Batch._of(about, {name: array([1.0, 2.0]) for name in names} | {"text": ["a", "b"]})


def check(batch: Any) -> None:
    assert type(batch) is Batch
    assert (batch.samples, batch.epoch, batch.padding, batch.state) == (SAMPLES, 3, 1, "prefix.3.8")


def moved(value: Any) -> Any:
    return value + 0 if hasattr(value, "shape") else value


def by_items(data: Any) -> Any:
    """Copy as transformers' Trainer and accelerate do."""
    return type(data)({k: moved(v) for k, v in data.items()})


def by_pairs(data: Any) -> Any:
    """Copy as Lightning does."""
    return type(data)(OrderedDict([(k, moved(v)) for k, v in data.items()]))


def by_update(data: Any) -> Any:
    """Copy as torch does where it pins, converts and collates."""
    clone = copy.copy(data)
    clone.update({k: moved(v) for k, v in data.items()})
    return clone


def pickled(data: Any) -> Any:
    return pickle.loads(pickle.dumps(data))


WAYS: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    pickled,
    by_items,
    by_pairs,
    by_update,
    lambda b: b.copy(),
    lambda b: type(b)(b),
    lambda b: type(b)(**b),
    lambda b: type(b)({k: b[k] for k in b}),
    lambda b: type(b)(zip(b.keys(), b.values(), strict=True)),
    lambda b: type(b)({k: v for k, v in b.items() if k != "image"}),
    lambda b: b | {"more": 1},
]


@pytest.mark.parametrize("names", [("x", "image"), ("x",), ("é",), ("two words",)])
def test_what_is_made_of_a_batch_is_the_same_batch(names: tuple[str, ...]) -> None:
    for way in WAYS:
        for then in WAYS:
            first = way(made(names))
            check(first)
            second = then(first)
            del first
            gc.collect()
            check(second)
            check(by_items(second))
            assert [type(name) for name in second] == [str] * len(second)


def test_batches_of_a_loader_are_the_same_after_a_move(serve: Serve) -> None:
    serve(Script(samples=8))
    with larder.Loader("flow.yaml", "images", batch_size=4) as loader:
        for batch in loader:
            for way in WAYS:
                other = way(batch)
                assert (other.samples, other.epoch, other.state) == (batch.samples, batch.epoch, batch.state)


@pytest.mark.parametrize(
    "other",
    [
        lambda b: Batch(),
        lambda b: Batch({"x": b["x"], "image": b["image"]}),
        lambda b: Batch({k: v[:1] if k == "x" else v for k, v in b.items()}),
        lambda b: Batch({k: np.concatenate([v, v]) for k, v in b.items() if k != "text"}),
    ],
)
def test_other_rows_are_no_batch_of_a_loader(other: Callable[[Batch], Batch]) -> None:
    batch = made()
    for it in (other(batch), copy.copy(other(batch)), pickled(other(batch))):
        assert (it.epoch, it.padding) == (-1, 0)
        with pytest.raises(larder.StateError, match="samples unknown"):
            _ = it.samples
        with pytest.raises(larder.StateError, match="samples unknown"):
            _ = it.state


def test_fields_of_two_batches_are_of_neither() -> None:
    one, two = made(("x",)), made(("image",))
    assert Batch({**one, **{k: v for k, v in two.items() if k != "text"}}).epoch == -1


def test_nothing_stays_of_a_batch_that_is_gone() -> None:
    gc.collect()
    before = len(_abouts)
    batch = made()
    twin = pickled(batch)
    assert len(_abouts) > before
    del batch, twin
    gc.collect()
    assert len(_abouts) == before


def tree(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name}: {str(error).split(',')[0]}")


@pytest.mark.parametrize("name", ["torch.utils._pytree", "torch.utils._cxx_pytree", "optree"])
def test_trees(name: str) -> None:
    trees = tree(name)
    check(trees.tree_map(moved, made()))
    leaves, structure = trees.tree_flatten(made())[:2]
    gc.collect()
    if name == "optree":
        check(trees.tree_unflatten(structure, leaves))
    else:
        check(trees.tree_unflatten(leaves, structure))
        assert leaves[-2:] == ["a", "b"]
    assert trees.tree_map(lambda v: v[:1] if hasattr(v, "shape") else v, made()).epoch == -1


def test_trees_of_two_batches() -> None:
    trees = tree("torch.utils._pytree")
    if not hasattr(trees, "tree_map_with_path"):
        pytest.skip("this torch maps over one tree")
    check(trees.tree_map(lambda one, two: one, made(), by_items(made())))
    check(trees.tree_map_with_path(lambda path, value: value, made()))


@pytest.mark.parametrize("first", ["torch", "larder", "batch"])
def test_trees_whatever_is_imported_first(first: str) -> None:
    tree("torch.utils._pytree")
    torch, package = "import torch.utils._pytree as trees", "from larder._batches.batch import About, Batch"
    make = 'batch = Batch._of(About(3, 1, "p", (3, 8), b"", {}), {"x": 1})'
    lines = {"torch": [torch, package, make], "larder": [package, torch, make], "batch": [package, make, torch]}
    check_ = "assert trees.tree_map(lambda v: v + 1, batch) == {'x': 2}, trees.tree_map(repr, batch)"
    subprocess.run([sys.executable, "-c", "\n".join([*lines[first], check_])], check=True)


def test_workers_of_torch() -> None:
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")
    torch = importlib.import_module("torch")
    batch = made(array=torch.tensor)
    check(data._utils.collate.default_convert(batch))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "pin_memory", lambda self, *device: self.clone())
        check(data._utils.pin_memory.pin_memory(batch))


def test_compiled_by_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not hasattr(torch, "compile"):
        pytest.skip("this torch compiles nothing")
    twice = torch.compile(lambda batch: batch["x"] * 2, backend="eager", fullgraph=True)
    assert twice(made(array=torch.tensor)).tolist() == [2, 4]


def test_lightning() -> None:
    lightning = pytest.importorskip("lightning.fabric.utilities", reason="lightning is not installed")
    torch = importlib.import_module("torch")
    check(lightning.move_data_to_device(made(array=torch.tensor), "cpu"))


def test_accelerate() -> None:
    operations = pytest.importorskip("accelerate.utils.operations", reason="accelerate is not installed")
    torch = importlib.import_module("torch")
    batch = made(array=torch.tensor)
    check(operations.send_to_device(batch, "cpu"))
    assert operations.slice_tensors(batch, slice(0, 1)).epoch == -1


def test_transformers() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch = importlib.import_module("torch")

    class Trainer:
        args = type("Arguments", (), {"device": "cpu"})
        is_deepspeed_enabled = False
        _prepare_input = transformers.Trainer._prepare_input

    check(Trainer()._prepare_input(made(array=torch.tensor)))
