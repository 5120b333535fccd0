"""Test batches of nodes of flows built in Python, read by the real server."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from flow_program import LETTERS

import larder


@pytest.fixture
def numbers(real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> larder.Node:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(26)))
    return larder.jsonl(path="rows.jsonl").compute(set={"m": "n * 2"})


def epoch(loader: larder.Loader) -> list[int]:
    return [int(m) for batch in loader for m in list(batch["m"])]


def test_each_epoch_has_another_order(numbers: larder.Node) -> None:
    with numbers.shuffle(seed=1).batch(8) as loader:
        assert len(loader) == 4
        first, second = epoch(loader), epoch(loader)
    assert sorted(first) == sorted(second) == list(range(0, 52, 2))
    assert first != second
    with numbers.shuffle(seed=1).batch(5) as again:
        assert epoch(again) == first


def test_one_fixed_order_is_the_same_in_each_epoch(numbers: larder.Node) -> None:
    with numbers.shuffle_once(seed=1).batch(8) as loader:
        first, second = epoch(loader), epoch(loader)
    assert first == second != sorted(first)


def test_shards_have_all_samples_together(numbers: larder.Node) -> None:
    order = numbers.shuffle(seed=3)
    shares = []
    for rank in range(2):
        with order.shard(rank, 2).batch(2, last_step="uneven") as loader:
            shares.append(epoch(loader))
    assert sorted(shares[0] + shares[1]) == list(range(0, 52, 2))
    assert not set(shares[0]) & set(shares[1])


def test_outputs_and_variables(numbers: larder.Node) -> None:
    train, test = numbers.split(sizes={"train": larder.var("train", 20), "test": None})
    with train.batch(32) as loader:
        assert epoch(loader) == list(range(0, 40, 2))
    with test.batch(32, set={"train": 25}) as loader:
        assert epoch(loader) == [50]
    assert len(larder.Dataset(test, node=test.name)) == 6


def test_a_loader_travels_with_its_flow(numbers: larder.Node) -> None:
    with numbers.shuffle(seed=1).batch(26) as loader:
        travelled = pickle.loads(pickle.dumps(loader))
        with travelled:
            assert epoch(travelled) == epoch(loader)


def test_what_is_wrong_with_the_flow_is_said(numbers: larder.Node) -> None:
    with pytest.raises(larder.FlowError, match='there is no map "image-resise"; did you mean "image-resize"'):
        next(iter(numbers.map("image-resise").batch(1)))


def test_pictures_come_as_they_are_in_the_flow(real: Path) -> None:
    letters = larder.underfolder(path=LETTERS).image_resize(width=8, height=4).keep_keys(keys=["image"])
    with letters.batch(26) as loader:
        (batch,) = loader
        assert tuple(batch["image"].shape)[:3] == (26, 4, 8)
