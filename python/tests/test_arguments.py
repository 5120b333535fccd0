"""Test that arguments of the wrong type are refused with a short message that has a fix."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larder


class Endless:
    """A map-style dataset whose iteration by index never ends, as for many datasets."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        return index


class Stream:
    def __iter__(self) -> Iterator[int]:
        return iter([1])


@pytest.fixture
def place(real: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (real / "rows.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    (real / "empty.jsonl").write_text("")
    (real / "directory").mkdir()
    nodes = ["version: 1", "nodes:"]
    nodes += [f"  {name}: {{source: jsonl, with: {{path: {name}.jsonl}}}}" for name in ("rows", "empty")]
    (real / "flow.yaml").write_text("\n".join(nodes) + "\n")
    monkeypatch.chdir(real)
    return real


def loader(**options: Any) -> Any:
    with larder.Loader(**{"flow": "flow.yaml", "node": "rows", **options}) as batches:
        return next(iter(batches))


def sample(number: Any) -> Any:
    with larder.Dataset("flow.yaml", "rows") as dataset:
        return dataset[number]


FLOWS: list[tuple[Any, str]] = [
    (None, "flow: None is not a flow; give a flow file's path or a source such as"),
    (3, "flow: int is not a flow; give a flow file's path or a source such as"),
    (len, "flow: builtin_function_or_method is not a flow; give a flow file's path"),
    (Endless, "flow: class Endless is not a flow; "),
    (larder.Flow, "flow: class Flow is not a flow; "),
    ([1], "flow: list is not a flow; read its files by a source such as larder.images(PATH)"),
    ({"version": 1}, "flow: dict is not a flow; read its files by a source"),
    (Endless(), "flow: Endless is not a flow; read its files by a source"),
    (Stream(), "flow: Stream is not a flow; read its files by a source"),
    (np.zeros(2), "flow: ndarray is not a flow; read its files by a source"),
    (b"flow.yaml", "flow: bytes is not a flow; "),
    ("directory", "flow: 'directory' is a directory, not a flow file; read it by a source such as"),
    (pathlib.Path("directory"), "flow: 'directory' is a directory, not a flow file; "),
    ("", "flow: the path is empty; give one"),
    ("a\0b", "flow: 'a\\x00b' is not a path; leave out the zero byte"),
]
ENTRIES: dict[str, Callable[[Any], Any]] = {
    "Loader": lambda flow: larder.Loader(flow, "rows"),
    "Loader of no node": lambda flow: larder.Loader(flow),
    "Dataset": lambda flow: larder.Dataset(flow, "rows"),
    "run": lambda flow: larder.run(flow),
    "read_flow": lambda flow: larder.read_flow(flow),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_no_flow(place: Path, entry: str) -> None:
    for flow, said in FLOWS:
        if "Loader" not in entry or not isinstance(flow, (Endless, list)):
            refused(partial(ENTRIES[entry], flow), said)


def test_datasets_and_loaders_of_torch(place: Path) -> None:
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")
    for given in (data.DataLoader(Endless()), data.TensorDataset()):
        for name, entry in ENTRIES.items():
            if "Loader" not in name or isinstance(given, data.DataLoader):
                refused(partial(entry, given), f"flow: {type(given).__name__} is not a flow; read its")


def node() -> Any:
    return larder.jsonl(path="rows.jsonl")


ARGUMENTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: loader(node=3), "node: int is not a name; give a string"),
    (lambda: loader(node=["rows"]), "node: list is not a name; give a string"),
    (lambda: loader(node=""), "node: the name is empty; give one"),
    (lambda: loader(node=None, nodes=Endless()), "nodes: Endless is not a list; give a list of names, or a dict"),
    (lambda: loader(node=None, nodes="rows"), "nodes: str is not a list; "),
    (lambda: loader(node=None, nodes=[]), "nodes: empty; give a list of names"),
    (lambda: loader(node=None, nodes=[1]), "nodes: int is not a name; give a string"),
    (lambda: loader(node=None, nodes={"rows": "a"}), "the weight of rows: 'a' is not a number"),
    (lambda: loader(fields="n"), "fields: str is not a list; give a list of items, or a dict"),
    (lambda: loader(fields=Endless()), "fields: Endless is not a list; "),
    (lambda: loader(fields=[3]), "item of a Field: int is not a name; give a string"),
    (lambda: loader(fields={"n": 3}), "fields: int is not a field; give item 'n' a larder.Field"),
    (lambda: larder.Field(None), "item of a Field: None is not a name; give a string"),  # type: ignore[arg-type]
    (lambda: loader(subset=3), "subset: int is not a list; give a list of numbers of samples"),
    (lambda: loader(subset=Endless()), "subset: Endless is not a list; "),
    (lambda: loader(tokens=4, buckets=Endless()), "buckets: Endless is not a list; give a list of lengths"),
    (lambda: loader(length=3), 'length: int is not a dict; give a dict of one item, {"item": NAME}'),
    (lambda: loader(set=[1]), "set: list is not a dict; give a dict of values by the names of variables"),
    (lambda: loader(set={1: 2}), "set: key 1 is not a string; "),
    (lambda: loader(profile=3), "profile: int is not a name; give a string"),
    (lambda: loader(cache_dir=3), "cache_dir: int is not a path; give a string or a pathlib.Path"),
    (lambda: loader(cache_dir=b"cache"), "cache_dir: bytes is not a path; "),
    (lambda: loader(batch_size="4"), "batch_size: '4' is not an integer"),
    (lambda: sample("n"), "sample: str is not an index; give an int or a slice"),
    (lambda: sample(1.0), "sample: float is not an index; "),
    (lambda: larder.run("flow.yaml", only="rows"), "only: str is not a list; give a list of nodes"),
    (lambda: larder.run("flow.yaml", only=None), "only: None is not a list; "),  # type: ignore[arg-type]
    (lambda: larder.run("flow.yaml", only=[1]), "only: int is not a name; give a string"),  # type: ignore[list-item]
    (lambda: larder.run("flow.yaml", only=node()), "only: Node is not a list; give a list of nodes"),
    (lambda: larder.run("flow.yaml", set=3), "set: int is not a dict; "),  # type: ignore[arg-type]
    (lambda: larder.run("flow.yaml", workers=[1]), "workers: [1] is not an integer"),  # type: ignore[arg-type]
    (lambda: larder.run("flow.yaml", cache_dir=3), "cache_dir: int is not a path; "),  # type: ignore[arg-type]
    (lambda: larder.source(["jsonl"]), "component of source(): list is not a name; give a string"),  # type: ignore[arg-type]
    (lambda: larder.source(""), "component of source(): the name is empty; give one"),
    (lambda: larder.step(None), "component of step(): None is not a name; "),  # type: ignore[arg-type]
    (lambda: node().op(3), "component of op(): int is not a name; give a string"),
    (lambda: node().to({}), "component of to(): dict is not a name; give a string"),
    (lambda: node().map(3), "map(): int is not a mapper; give its name or a function"),
    (lambda: node().cat(Endless()), "cat(): Endless is not a node; give nodes, such as larder.images(PATH)"),
    (lambda: larder.memo(3), "function: int cannot be called; decorate a function"),  # type: ignore[call-overload]
    (lambda: larder.memo_batch([1], items=["x"]), "function: list cannot be called; decorate a function"),  # type: ignore[call-overload]
    (lambda: larder.memo(allow="time.time")(len), "allow: str is not a list; give a list of names, such as"),
    (lambda: larder.memo(allow=Endless())(len), "allow: Endless is not a list; "),  # type: ignore[call-overload]
    (lambda: larder.memo(allow=[""])(len), "allow: the name is empty; give one"),
    (lambda: larder.memo(ignore=Endless())(len), "ignore: Endless is not a list; "),  # type: ignore[call-overload]
    (lambda: larder.memo(ignore="obj")(len), "ignore: str is not a list; give a list of names"),
    (lambda: larder.memo_batch(len, items=Endless()), "items: Endless is not a list; give a list of parameters"),  # type: ignore[call-overload]
    (lambda: larder.memo_batch(len, items=["obj"], ignore=Endless()), "ignore: Endless is not a list; "),  # type: ignore[call-overload]
    (lambda: larder.memo_batch(len, items=None), "items: None is not a list; "),  # type: ignore[call-overload]
    (lambda: larder.Flow(Endless()), "Flow(): Endless is not a node; give nodes, such as larder.images(PATH)"),  # type: ignore[arg-type]
    (lambda: larder.Flow(None), "Flow(): None is not a node; "),  # type: ignore[arg-type]
    (lambda: larder.Flow(node()).name_of("rows"), "name_of(): str is not a node; give one of the flow"),  # type: ignore[arg-type]
    (lambda: larder.generate(Endless(), into=["n"]), "generate(): Endless is not a function; give one, or a source"),  # type: ignore[arg-type]
    (lambda: larder.File(None), "File(): None is not a path; give a string or a pathlib.Path"),  # type: ignore[arg-type]
    (
        lambda: node().map(len, items=["n"], into=["m"], allow=Endless()),
        "allow: Endless is not a value of a flow; give ",
    ),
    (
        lambda: node().map("python", function="f:f", items=["n"], into=["m"], allow="time.time").run(),
        'allow must be a list, not the string "time.time"',
    ),
    # Nodes without samples, and invalid weights.
    (
        lambda: loader(node=None, nodes={"rows": 1, "empty": 1}),
        "node empty: no samples to mix; leave it out, or give it",
    ),
    (lambda: loader(node=None, nodes={"rows": 1, "empty": 1}, replacement=True), "node empty: no samples to mix; "),
    (lambda: loader(node=None, nodes={"rows": 0, "empty": 0}), "nodes: all weights are 0; give one of them more"),
    (lambda: loader(node=None, nodes={"rows": -1}), "node rows: weight -1; give it 0 or more"),
    (lambda: loader(node="empty"), "node empty: no samples; give it a source that has some, or another subset"),
    (
        lambda: node().mix(larder.jsonl(path="empty.jsonl"), n=4).run(),
        "dataset 2 of 2 is empty; leave it out, or give it weight 0",
    ),
]


@pytest.mark.parametrize("number", range(len(ARGUMENTS)))
def test_arguments_of_another_kind(place: Path, number: int) -> None:
    refused(*ARGUMENTS[number])


def test_states_of_another_kind(place: Path) -> None:
    for state in (None, 3, "text", [1], Endless(), np.zeros(2), {"a": 1}, {"state": 3}):
        with larder.Loader("flow.yaml", "rows") as batches, pytest.raises(larder.StateError, match="is not the state"):
            batches.load_state_dict(state)  # type: ignore[arg-type]


def test_what_is_empty_may_be_left_out_by_its_weight(place: Path) -> None:
    for options in ({}, {"replacement": True}):
        batch = loader(node=None, nodes={"rows": 1, "empty": 0}, **options)
        assert set(batch["n"].tolist()) <= {1, 2}


def test_arguments_of_many_kinds_are_taken(place: Path) -> None:
    assert loader(subset=np.array([1]))["n"].tolist() == [2]
    assert loader(subset=(1,), fields=("n",), flow=pathlib.Path("flow.yaml"))["n"].tolist() == [2]
    assert loader(fields=[larder.Field("n", dtype="float32")])["n"].dtype == np.float32
    assert sample(np.int64(1))["n"] == 2


def refused(call: Callable[[], Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError, larder.Error)) as caught:
        call()
    text = str(caught.value)
    assert said in text, text
    last = text.splitlines()[-1]
    assert len(re.findall(r"[\w.'{}-]+", last.replace(os.getcwd(), "PATH"))) <= 26, last
