"""Test loaders of map-style datasets, read by the real server."""

from __future__ import annotations

import gc
import importlib.util
import os
import pickle
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import larder
from larder._batches import samples

np = pytest.importorskip("numpy")


class Rows:
    """Twenty samples that a function computes."""

    def __init__(self, row: Callable[[int], Any], count: int = 20) -> None:
        self.row, self.count = row, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.row(index)


class Pair(NamedTuple):
    left: int
    right: str


def augmented(i: int) -> dict[str, Any]:
    drawn = [random.random(), float(np.random.rand())]
    return {"x": np.full((2, 3), i, np.float32), "drawn": np.array(drawn), "n": i, "name": f"s{i}", "more": {"a": [i]}}


def plain(i: int) -> dict[str, Any]:
    return {"x": np.arange(3) * i, "n": i}


def pair(i: int) -> tuple[Any, float]:
    return np.full(2, i), i / 2


def named(i: int) -> Pair:
    return Pair(i, f"s{i}")


def single(i: int) -> Any:
    return np.full(2, i)


def bad(i: int) -> dict[str, Any]:
    return {"deep": {"array": np.zeros(2)}} if i == 7 else {"deep": {"array": 0}}


def huge(index: int) -> Any:
    return {"n": 2**63 if index else 0}


def changing(i: int) -> dict[str, Any]:
    return {"a": i} if i < 7 else {"b": i}


def shown(batch: Any) -> Any:
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in batch.items()}


def load(row: Callable[[int], Any], **options: Any) -> larder.Loader:
    return larder.Loader(Rows(row), **{"batch_size": 8, "tensors": "numpy", **options})


def test_batches_are_stacked_samples(real: Path) -> None:
    with load(augmented) as loader:
        assert (len(loader), len(loader.dataset)) == (3, 20)
        batches = list(loader)
        assert [len(batch["n"]) for batch in batches] == [8, 8, 4]
        last = batches[2]
        assert sorted(last) == ["drawn", "more", "n", "name", "x"]
        assert (last["x"].shape, str(last["x"].dtype), str(last["n"].dtype)) == ((4, 2, 3), "float32", "int64")
        assert shown(last)["n"] == last.samples == [16, 17, 18, 19]
        assert (last["name"][0], last["more"][3]) == ("s16", {"a": [19]})


def test_draws_depend_on_seed_epoch_and_index(real: Path) -> None:
    random.seed(5)
    state = random.getstate()
    with load(augmented, shuffle=True, seed=3) as loader, load(augmented, shuffle=True, seed=3) as other:
        assert random.getstate() == state
        first = [shown(batch) for batch in loader]
        iteration = iter(loader)
        begun = shown(next(iteration))
        saved = loader.state_dict()
        rest = [shown(batch) for batch in iteration]
        other.load_state_dict(saved)
        assert [shown(batch) for batch in other] == rest
        drawn = {n: d for batch in first for n, d in zip(batch["n"], batch["drawn"], strict=True)}
        assert begun["drawn"][0] != drawn[begun["n"][0]]
        other.set_epoch(0)
        assert [shown(batch) for batch in other] == first
    with load(augmented, seed=3, batch_size=20) as ordered, load(augmented, seed=4, batch_size=20) as seeded:
        assert shown(next(iter(ordered)))["drawn"] == [drawn[i] for i in range(20)]
        assert shown(next(iter(seeded)))["drawn"][0] != drawn[0]


def test_ranks_have_all_samples_together(real: Path) -> None:
    shares = []
    for rank in range(2):
        with load(plain, shuffle=True, rank=rank, world_size=2, batch_size=2) as loader:
            shares.append([n for batch in loader for n in batch["n"].tolist()])
    assert sorted(shares[0] + shares[1]) == list(range(20))


@pytest.mark.parametrize(
    ("row", "names", "second"),
    [(pair, ["0", "1"], 0.5), (named, ["left", "right"], "s1"), (single, ["0"], None)],
)
def test_names_of_items(real: Path, row: Callable[[int], Any], names: list[str], second: Any) -> None:
    with load(row) as loader:
        batch = next(iter(loader))
        assert sorted(batch) == names
        assert second is None or batch[names[1]][1] == second


@pytest.mark.parametrize("row", [pair, named, single, plain])
def test_collation_gets_the_samples_of_the_dataset(real: Path, row: Callable[[int], Any]) -> None:
    with load(row, collate_fn=list, batch_size=20) as loader:
        (batch,) = loader
        for made, expected in zip(batch, map(row, range(20)), strict=True):
            assert type(made) is type(expected)
            assert repr(made) == repr(expected)
        assert repr(loader.collate_fn(loader.dataset[:20])) == repr(batch)


def test_a_list_is_a_dataset(real: Path) -> None:
    with larder.Loader([5, 6, 7], batch_size=2, tensors="numpy") as loader:
        assert [batch["0"].tolist() for batch in loader] == [[5, 6], [7]]


def test_kept_samples_are_computed_once(real: Path, tmp_path: Path) -> None:
    for computed in (20, 0):
        with load(plain, keep=True) as loader:
            assert loader._samples is not None
            (tmp_path / "samples.yaml").write_text(loader._samples.flow.to_yaml())
            report = larder.run(tmp_path / "samples.yaml", only=["samples"])
            assert report["computed"].computed == computed
            assert [n for batch in loader for n in batch["n"].tolist()] == list(range(20))


def test_what_has_no_identity_is_not_kept(real: Path) -> None:
    with pytest.raises(larder.UnkeyableError, match="random"):
        load(augmented, keep=True)


def mask(i: int) -> Any:
    image = pytest.importorskip("PIL.Image").new("P", (3, 2), i)
    image.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    return image


def test_images_that_are_no_colours(real: Path) -> None:
    first = next(iter(larder.Loader(Rows(mask, 2), batch_size=2)))
    assert first["0"].tolist() == [[[0] * 3] * 2, [[1] * 3] * 2]  # class numbers, not colours
    for mode, channels in {"CMYK": (4,), "F": (), "I": ()}.items():
        images = [pytest.importorskip("PIL.Image").new(mode, (3, 2), 7 if not channels else (1, 2, 3, 4))] * 2
        first = next(iter(larder.Loader(images, batch_size=2)))
        assert first["0"].shape == (2, 2, 3, *channels), mode
        assert first["0"][0].tolist() == np.asarray(images[0]).tolist(), mode


def test_samples_have_items(real: Path) -> None:
    with pytest.raises(ValueError, match="a sample of Rows has no items; return at least one"):
        larder.Loader(Rows(lambda i: {}), batch_size=2)
    with pytest.raises(TypeError, match="give a dataset with __len__ and __getitem__"):
        larder.Loader(np.arange(6).reshape(3, 2), batch_size=2)


def test_errors_name_the_sample(real: Path) -> None:
    with load(bad) as loader, pytest.raises(larder.DataError, match=r"item deep.array is of the type numpy.ndarray"):
        list(loader)
    with load(changing) as loader, pytest.raises(larder.DataError, match=r"sample 7 has the items \['b'\]"):
        list(loader)
    with load(huge) as loader, pytest.raises(larder.DataError, match=f"{2**63}: takes more than 64 bits"):
        list(loader)
    with pytest.raises(TypeError, match="worker processes get the dataset as a pickle"):
        larder.Loader([threading.Lock()])
    with pytest.raises(ValueError, match="has no samples"):
        larder.Loader([])
    with pytest.raises(TypeError, match="collate_fn and keep apply only to map-style datasets"):
        larder.Loader("flow.yaml", "node", keep=True)


def test_the_file_is_private_and_goes_with_the_loader(real: Path) -> None:
    loader = load(plain)
    (file,) = real.rglob(samples.FILE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    twin = pickle.loads(pickle.dumps(loader))
    assert len(list(twin)) == len(list(loader)) == 3
    twin.close()
    loader.close()
    del loader
    gc.collect()
    assert not list(real.rglob(samples.FILE))


SCRIPT = """
import larder

class Squares:
    def __len__(self):
        return 5
    def __getitem__(self, i):
        return {"square": i * i}

if __name__ == "__main__":
    with larder.Loader(Squares(), batch_size=5, tensors="numpy") as loader:
        print(next(iter(loader))["square"].tolist())
"""


def test_a_dataset_of_the_script(real: Path, tmp_path: Path) -> None:
    (tmp_path / "squares.py").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    done = subprocess.run(
        [sys.executable, "squares.py"], capture_output=True, text=True, env=env, cwd=tmp_path, check=False
    )
    assert (done.stdout, done.stderr) == ("[0, 1, 4, 9, 16]\n", "")


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="datasets is not installed")
@pytest.mark.filterwarnings("ignore")
def test_a_dataset_of_hugging_face(real: Path) -> None:
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"n": list(range(10)), "text": [f"s{i}" for i in range(10)]})
    with larder.Loader(table, batch_size=4, shuffle=True, tensors="numpy") as loader:
        batches = list(loader)
    assert sorted(n for batch in batches for n in batch["n"].tolist()) == list(range(10))
    assert batches[0]["text"] == [f"s{n}" for n in batches[0]["n"].tolist()]


def torch_row(i: int) -> tuple[Any, int]:
    import torch

    return torch.rand(2), i


def torch_subclass(i: int) -> Any:
    import torch

    class Marked(torch.Tensor):  # type: ignore[misc]  # without torch it is of type Any
        """A tensor of another module, such as an image of torchvision."""

    return torch.full((2,), i).as_subclass(Marked)


def test_subclasses_of_tensors(real: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    with larder.Loader(Rows(torch_subclass), batch_size=4) as loader:
        assert next(iter(loader))["0"].tolist() == [[i, i] for i in range(4)]


def test_tensors_as_of_a_dataloader(real: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with larder.Loader(Rows(torch_row), batch_size=8) as loader, larder.Loader(Rows(torch_row), batch_size=8) as other:
        for batch, same in zip(loader, other, strict=True):
            assert torch.equal(batch["0"], same["0"])
            assert batch["1"].dtype == torch.int64
