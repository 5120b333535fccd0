"""Test uses of torchcache with Larder: the cases of its tests, and its defects."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._client import server

torch = pytest.importorskip("torch")


class Doubler(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Doubles its input, and logs the number of rows of each call."""

    def __init__(self, factor: float = 2.0) -> None:
        super().__init__()
        self.factor = factor
        self.weight = torch.nn.Parameter(torch.tensor([factor]), requires_grad=False)

    def forward(self, x: Any, *more: Any) -> Any:
        CALLS.append(len(x))
        out = x * self.weight.to(x.dtype)
        for at, one in enumerate(more):
            out = out + one * 10**at
        return out


CALLS: list[int] = []


@pytest.fixture(autouse=True)
def fresh(real: Path) -> Any:
    CALLS.clear()
    with torch.no_grad():
        yield


def cached(factor: float = 2.0, **options: Any) -> Any:
    # The log is not part of its key.
    return larder.memo_batch(Doubler(factor).eval(), items="x", version="1", **options)


def rows(n: int, columns: int = 8) -> Any:
    torch.manual_seed(n)
    return torch.rand(n, columns)


def test_kept_over_restarts() -> None:
    x = rows(16)
    first = cached()(x)
    at = server.address(None)
    subprocess.run([at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--stop"], check=True)
    assert torch.equal(cached()(x), first)
    assert CALLS == [16]


def test_mixed_hits_in_any_place_and_larger_batches_after_them() -> None:
    model, x = cached(), rows(64)
    known = x[torch.randperm(64)[:60]]
    assert torch.equal(model(known), known * 2)
    assert torch.equal(model(x), x * 2)
    assert CALLS == [60, 4]
    larger = torch.rand(300, 8)
    assert torch.equal(model(larger), larger * 2)
    assert CALLS == [60, 4, 300]


def test_small_values_are_told_apart() -> None:
    model = cached()
    for x in ([[0.10, 0.20, 0.05]], [[0.30, 0.45, 0.20]], [[0.0, 0.0, 0.0]], [[-0.0, 0.0, 0.0]]):
        assert torch.equal(model(torch.tensor(x)), torch.tensor(x) * 2)
    assert CALLS == [1, 1, 1, 1]


def test_values_that_add_up_to_the_same_are_told_apart() -> None:
    model = cached()
    swapped = torch.arange(32.0).reshape(1, 32)
    other = swapped.clone()
    other[0, 0], other[0, 15] = swapped[0, 15], swapped[0, 0]
    for x in ([[3.0, 1.0]], [[1.0, 2.0]], [[1.0, 2.0, 0.0]], swapped, other, torch.ones(1, 2, 3), torch.ones(1, 3, 2)):
        x = torch.as_tensor(x)
        got = model(x)
        assert got.shape == x.shape
        assert torch.equal(got, x * 2)
    assert CALLS == [1] * 7


def test_values_between_those_that_are_looked_at() -> None:
    model, x = cached(), torch.rand(1, 3, 64, 64)
    y = x.clone()
    y.view(-1)[1::2] += 1
    assert torch.equal(model(x), x * 2)
    assert torch.equal(model(y), y * 2)


def test_other_arguments_count_by_their_places_and_names() -> None:
    model, x = cached(), rows(1)
    for more in ((1, 2), (2, 1), (3, 3), (7, 7), (3,), (3.0,), ()):
        assert torch.equal(model(x, *more), Doubler().eval()(x, *more))
    assert len(CALLS) == 2 * 7


def test_instances_are_told_apart_by_what_they_hold() -> None:
    x = rows(2)
    for factor in (2.0, 3.0, 2.0):
        assert torch.equal(cached(factor)(x), x * factor)
    assert CALLS == [2, 2]


def test_other_weights_in_the_same_module() -> None:
    module = Doubler().eval()
    model, x = larder.memo_batch(module, items="x", version="1"), rows(2)
    model(x)
    module.load_state_dict({"weight": torch.tensor([5.0])})
    assert torch.equal(model(x), x * 5)


def test_results_are_not_written_over_by_the_next_call() -> None:
    model = cached()
    first, second = rows(4), rows(5)
    a = model(first)
    model(second)
    b = model(first)
    b.zero_()
    model(second)
    assert torch.equal(a, first * 2)
    assert torch.equal(model(first), first * 2)


def test_types_of_elements_are_told_apart() -> None:
    model, x = cached(), torch.ones(1, 4)
    for kind in (torch.float32, torch.float64, torch.bfloat16):
        got = model(x.to(kind))
        assert got.dtype == kind
    assert CALLS == [1, 1, 1]


def test_equal_rows_of_a_batch_are_computed_once() -> None:
    assert torch.equal(cached()(torch.ones(3, 4)), torch.full((3, 4), 2.0))
    assert CALLS == [1]


def test_the_cache_keeps_to_its_size(monkeypatch: pytest.MonkeyPatch, real: Path) -> None:
    monkeypatch.setenv("LARDER_CACHE_SIZE", "4MiB")
    for session in range(4):
        x = torch.rand(300, 1024) + session
        assert torch.equal(cached()(x), x * 2)
        at = server.address(None)
        subprocess.run([at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--stop"], check=True)
    files = [f.stat().st_blocks * 512 for f in (real / "cache").rglob("*") if f.is_file()]
    assert sum(files) < 6 << 20, sum(files)


def test_near_equal_rows_have_results_of_their_own() -> None:
    base = torch.rand(1024)
    x = base.repeat(1024, 1)
    for row in range(1024):
        x[row, row] = torch.nextafter(x[row, row], torch.tensor(2.0))
    assert torch.equal(cached()(x), x * 2)
    assert CALLS == [1024]
