"""Test the package with torch: tensors, ranks, workers of a DataLoader, pinned memory."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Serve
from fake import Script

import larder

torch = pytest.importorskip("torch", reason="torch is not installed")
data: Any = pytest.importorskip("torch.utils.data")

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")


def loader(**options: Any) -> larder.Loader:
    return larder.Loader("flow.yaml", "images", **{"batch_size": 4, "tensors": "torch", **options})


def test_tensors_share_memory_until_the_last_is_gone(serve: Serve) -> None:
    script = Script(samples=400)
    serve(script)
    with loader(window=4) as batches:
        iteration = iter(batches)
        view = next(iteration)["x"][1:3].view(-1)[::4]
        assert view.tolist() == [1, 2]
        for _ in range(50):
            next(iteration)
        cached = script.handed[0]
        assert cached not in script.released
        assert view.tolist() == [1, 2]
        del view
        while cached not in script.released:
            next(iteration)


def test_tensors_of_no_elements(serve: Serve) -> None:
    layout = [{"name": "x", "collation": "stack", "dtype": "float32", "shape": [4, 0], "offset": 0, "bytes": 0}]
    serve(Script(layout=layout, fill=lambda samples, space: None))
    with loader() as batches:
        assert next(iter(batches))["x"].shape == (4, 0)


def test_it_is_an_iterable_dataset(serve: Serve) -> None:
    serve(Script(samples=12))
    batches = loader()
    assert isinstance(batches, larder.Loader)
    assert isinstance(batches, data.IterableDataset)
    twin = pickle.loads(pickle.dumps(batches))
    assert isinstance(twin, data.IterableDataset)
    assert [int(b["x"][0, 0]) for b in data.DataLoader(batches, batch_size=None)] == [0, 4, 8]
    batches.close()


def test_ranks_are_those_of_torch(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(Script(samples=16))
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setattr(torch.distributed, "is_available", lambda: True)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True, raising=False)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1, raising=False)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2, raising=False)
    with loader() as batches:
        assert [b.samples[0] for b in batches] == [4, 12]


class Cuda:
    """The parts of CUDA that pinned memory needs; tests end its events."""

    def __init__(self) -> None:
        self.registered: list[int] = []
        self.unregistered: list[int] = []
        self.events: list[Any] = []
        self.waits = 0
        cuda = self

        class Event:
            def __init__(self) -> None:
                self.over = False
                cuda.events.append(self)

            def record(self) -> None:
                pass

            def query(self) -> bool:
                return self.over

            def synchronize(self) -> None:
                cuda.waits += 1
                self.over = True

        self.Event = Event

    def is_available(self) -> bool:
        return True

    def cudart(self) -> Cuda:
        return self

    def cudaHostRegister(self, start: int, size: int, flags: int) -> int:
        self.registered.append(start)
        return 0

    def cudaHostUnregister(self, start: int) -> int:
        self.unregistered.append(start)
        return 0


def test_pinned_slots_are_given_back_when_copies_have_ended(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(samples=400)
    serve(script)
    cuda = Cuda()
    monkeypatch.setattr(torch, "cuda", cuda)
    with loader(pin_memory=True, window=4) as batches:
        iteration = iter(batches)
        assert [int(next(iteration)["x"][0, 0]) for _ in range(100)] == list(range(0, 400, 4))
        # No copy was reported as ended, so the loader waited for one each time that no slot was left.
        assert cuda.waits > 0
        assert len(script.released) <= 100
    assert len(cuda.registered) == 1
    del batches, iteration
    gc.collect()
    assert cuda.unregistered == cuda.registered


def test_pinned_slots_are_not_given_back_before(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(samples=400)
    serve(script)
    cuda = Cuda()
    monkeypatch.setattr(torch, "cuda", cuda)
    with loader(pin_memory=True, window=8) as batches:
        iteration = iter(batches)
        next(iteration)
        script.wait(lambda: len(script.handed) == 8)
        for _ in range(3):
            next(iteration)
        assert script.released == []
        for event in cuda.events:
            event.over = True
        next(iteration)
        script.wait(lambda: len(script.released) > 0)


def test_memory_that_cannot_be_pinned_is_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(Script(samples=8))
    cuda = Cuda()
    monkeypatch.setattr(cuda, "cudaHostRegister", lambda *_: 2)
    monkeypatch.setattr(torch, "cuda", cuda)
    with (
        loader(pin_memory=True) as batches,
        pytest.warns(larder.LarderWarning, match="could not be pinned"),
    ):
        assert [b.samples[0] for b in batches] == [0, 4]
    gc.collect()
    assert cuda.unregistered == []


# Workers connect to a server themselves: the real one.


@pytest.fixture
def flow(real: Path) -> Path:
    rows = "".join(f'{{"n": {i}, "name": "{i}"}}\n' for i in range(45))
    (real / "rows.jsonl").write_text(rows)
    path = real / "flow.yaml"
    path.write_text("version: 1\nnodes:\n  rows:\n    source: jsonl\n    with: {path: rows.jsonl}\n")
    return path


def rows(flow: Path, **options: Any) -> larder.Loader:
    return larder.Loader(flow, "rows", **{"batch_size": 4, "shuffle": True, "fields": ["n"], **options})


def numbers(batches: Any) -> list[list[int]]:
    return [[int(n) for n in batch["n"]] for batch in batches]


def dataloader(dataset: Any, workers: int, **options: Any) -> Any:
    return data.DataLoader(dataset, batch_size=None, num_workers=workers, **options)


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_workers_share_the_batches_in_their_order(flow: Path, how: str) -> None:
    with rows(flow) as alone:
        epochs = [numbers(alone) for _ in range(2)]
    with rows(flow) as shared:
        for epoch in range(2):
            shared.set_epoch(epoch)
            batches = dataloader(shared, 3, multiprocessing_context=how)
            assert len(batches) == 12
            assert numbers(batches) == epochs[epoch]


def test_workers_that_stay_begin_the_next_epoch(flow: Path) -> None:
    with rows(flow) as alone:
        epochs = [numbers(alone) for _ in range(3)]
    batches = dataloader(rows(flow), 2, persistent_workers=True)
    assert [numbers(batches) for _ in range(3)] == epochs


def test_workers_of_a_loader_in_use_go_on_by_themselves(flow: Path) -> None:
    with rows(flow) as loader:
        iteration = iter(loader)
        first = next(iteration)
        second = numbers(dataloader(loader, 2))  # as iter() does: the next epoch
        rest = numbers([first]) + numbers(iteration)
    with rows(flow) as alone:
        assert [rest, second] == [numbers(alone), numbers(alone)]


def test_bytes_and_text_come_from_workers(flow: Path) -> None:
    loader = rows(flow, shuffle=False, fields={"name": "bytes"})
    batches = list(dataloader(loader, 2))
    assert batches[0]["name"] == [b'"0"', b'"1"', b'"2"', b'"3"']


class Stateful(data.IterableDataset):  # type: ignore[misc]
    """Return batches with the state after each, as a stateful DataLoader's workers do."""

    def __init__(self, loader: larder.Loader, states: dict[int, Any] | None = None) -> None:
        self.loader = loader
        self.states = states or {}

    def __iter__(self) -> Iterator[Any]:
        worker = data.get_worker_info().id
        if worker in self.states:
            self.loader.load_state_dict(self.states[worker])
        for batch in self.loader:
            yield worker, batch["n"].tolist(), self.loader.state_dict()


@pytest.mark.parametrize("taken", range(1, 12))
def test_states_of_workers_go_on_exactly(flow: Path, taken: int) -> None:
    with rows(flow) as alone:
        whole, following = numbers(alone), numbers(alone)
    states: dict[int, Any] = {}
    seen: list[Any] = []
    for worker, got, state in dataloader(Stateful(rows(flow)), 3, prefetch_factor=1):
        if len(seen) == taken:
            break
        states[worker] = state
        seen.append(got)
    left: dict[int, list[list[int]]] = {0: [], 1: [], 2: []}
    for worker, got, _ in dataloader(Stateful(rows(flow), states), 3):
        left[worker].append(got)
    order = [(taken + k) % 3 for k in range(len(whole))]  # whose turn it is
    for worker in order:
        if left[worker]:
            seen.append(left[worker].pop(0))
    assert seen == whole
    assert following != whole


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_the_stateful_dataloader_of_torchdata_goes_on_exactly(flow: Path, workers: int) -> None:
    stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")

    def batches() -> Any:
        return stateful.StatefulDataLoader(rows(flow), batch_size=None, num_workers=workers)

    with rows(flow) as alone:
        whole = numbers(alone)
    for taken in (0, 1, len(whole) // 2, len(whole) - 1):
        first = batches()
        iteration = iter(first)
        seen = [next(iteration)["n"].tolist() for _ in range(taken)]
        state = first.state_dict()
        del iteration
        second = batches()
        second.load_state_dict(state)
        assert seen + [batch["n"].tolist() for batch in second] == whole, (workers, taken)


def test_a_state_of_other_workers_is_refused(flow: Path) -> None:
    _, _, state = next(iter(dataloader(Stateful(rows(flow)), 2)))
    with pytest.raises(larder.StateError, match="with 2 workers"):
        rows(flow).load_state_dict(state)


def test_samples_in_workers(flow: Path) -> None:
    dataset = larder.Dataset(flow, "rows", fields=["n"])
    assert len(dataset) == 45
    for how in ("fork", "spawn"):
        batches = data.DataLoader(dataset, batch_size=10, num_workers=2, multiprocessing_context=how)
        assert [n for batch in batches for n in batch["n"].tolist()] == list(range(45))
    assert int(dataset[3]["n"]) == 3
    dataset.close()


def test_forked_children_read_by_themselves(flow: Path) -> None:
    with rows(flow) as loader:
        iteration = iter(loader)
        next(iteration)
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()

        def read() -> None:
            queue.put(numbers(iteration))
            os._exit(0)

        child = context.Process(target=read)
        child.start()
        there = queue.get()
        child.join()
        assert there == numbers(iteration)
