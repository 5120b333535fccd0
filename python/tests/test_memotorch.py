"""Test torch models whose results are cached by item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import larder

torch = pytest.importorskip("torch", reason="torch is not installed")


class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A small model."""

    def __init__(self, seed: int = 0, slope: float = 0.1) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.first = torch.nn.Linear(4, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.slope = slope

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return torch.nn.functional.leaky_relu(self.norm(self.first(x)), self.slope) * scale


class Counter:
    """Counts the rows that modules of a class are called with, by a pre-hook of all modules."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.handle = torch.nn.modules.module.register_module_forward_pre_hook(self.see)

    def see(self, module: Any, inputs: Any) -> None:
        if isinstance(module, Net):
            self.sizes.append(len(inputs[0]))


@pytest.fixture
def counter() -> Any:
    made = Counter()
    yield made
    made.handle.remove()


def model(seed: int = 0, slope: float = 0.1) -> Any:
    return Net(seed, slope).eval().requires_grad_(False)


X = torch.linspace(-1, 1, 256).reshape(64, 4)


def test_the_model_runs_on_what_is_new(real: Path, counter: Any) -> None:
    net = model()
    f = larder.memo_batch(net, items="x")
    y = f(x=X[:60])
    assert torch.equal(y, net(X[:60]))
    assert y.dtype == torch.float32
    assert not y.requires_grad
    counter.sizes.clear()
    assert torch.allclose(f(X), net(X))
    assert counter.sizes == [4, 64]


def test_another_object_of_equal_weights_finds_them(real: Path, counter: Any) -> None:
    larder.memo_batch(model(), items="x")(X)
    larder.memo_batch(model(), items="x")(X)
    assert counter.sizes == [64]


CHANGES: list[tuple[str, Any]] = [
    ("an optimizer's step", lambda net: net.first.weight.sub_(0.1)),
    ("a write by .data", lambda net: net.first.weight.data.mul_(2)),
    ("other data", lambda net: setattr(net.first.weight, "data", torch.ones(8, 4))),
    ("a buffer", lambda net: net.norm.running_mean.add_(1)),
    ("a loaded state", lambda net: net.load_state_dict(model(1).state_dict())),
    ("an attribute", lambda net: setattr(net, "slope", 0.5)),
    ("an attribute of a module in it", lambda net: setattr(net.norm, "eps", 0.5)),
    ("a parameter replaced", lambda net: setattr(net.first, "bias", torch.nn.Parameter(torch.ones(8), False))),
    ("a module replaced", lambda net: setattr(net, "norm", torch.nn.Identity().eval())),
    ("one bit", lambda net: net.first.weight.view(torch.int32).data[0, 0].bitwise_xor_(1)),
    ("two swapped", lambda net: net.first.weight.data[0].copy_(net.first.weight.data[0].flip(0).clone())),
    ("through NumPy", lambda net: net.first.weight.numpy().__setitem__((3, 1), 7.0)),
]


@pytest.mark.parametrize(("what", "change"), CHANGES, ids=[what for what, _ in CHANGES])
def test_what_a_model_computes_by_is_in_the_key(real: Path, what: str, change: Any) -> None:
    net = model()
    f = larder.memo_batch(net, items="x")
    before = f(X)
    change(net)
    assert torch.allclose(f(X), net(X)), what
    if what != "one bit":
        assert not torch.equal(f(X), before), what


def test_writes_through_data_are_seen_in_large_tensors(real: Path) -> None:
    net = torch.nn.Linear(100, 100).eval().requires_grad_(False)
    f = larder.memo_batch(net, items="input")
    x = torch.randn(4, 100)
    rng = torch.Generator().manual_seed(0)
    for _ in range(50):
        i, j = torch.randint(0, 10_000, (2,), generator=rng).tolist()
        flat = net.weight.data.view(-1)
        flat[i], flat[j] = flat[j].clone(), flat[i].clone()
        assert torch.equal(f(x), f(x))
        assert torch.allclose(f(x), net(x), atol=1e-6)


def test_modes_are_in_the_key(real: Path, counter: Any) -> None:
    net = model()
    f = larder.memo_batch(net, items="x")
    with torch.no_grad():
        f(X)
        f(X)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(f(X), net(X))
        assert torch.equal(f(X, scale=2.0), net(X, scale=2.0))
    assert counter.sizes[:2] == [64, 64]


@pytest.mark.parametrize("batch", [False, True])
def test_how_torch_computes_is_in_the_key_of_what_does_not_name_it(real: Path, batch: bool) -> None:
    def by_method(x: Any, w: Any) -> Any:
        return x.detach() @ w.detach()

    f = larder.memo_batch(by_method, items="x") if batch else larder.memo(by_method)
    x, w = torch.ones(2, 2), torch.ones(2, 2)
    assert f(x, w).dtype == f(x, w).dtype == torch.float32
    assert f.executions == 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert f(x, w).dtype == torch.bfloat16
    assert f(x, w).dtype == torch.float32
    assert f.executions == 2


@larder.memo
def described(x: Any) -> tuple[str, bool]:
    return str(x), x.clone().requires_grad_(True).mul(2).requires_grad


def test_settings_of_torch_are_in_the_key(real: Path) -> None:
    x = torch.tensor([1.2345])
    assert described(x) == ("tensor([1.2345])", True)
    torch.set_printoptions(precision=1)
    try:
        assert described(x) == ("tensor([1.2])", True)
    finally:
        torch.set_printoptions(profile="default")
    with torch.no_grad():
        assert described(x) == ("tensor([1.2345])", False)


def test_what_is_refused(real: Path) -> None:
    net = model()
    f = larder.memo_batch(net, items="x")
    net.train()
    with pytest.raises(larder.CodeError, match=r"in training mode.*eval"):
        f(X)
    net.norm.eval()
    assert torch.allclose(larder.memo_batch(net, items="x", train=True)(X), net(X))
    net.eval().requires_grad_(True)
    with pytest.raises(larder.CodeError, match=r"gradients.*no_grad"):
        f(X)
    with torch.no_grad():
        f(X)
    handle = net.first.register_forward_hook(lambda *_: None)
    with torch.no_grad(), pytest.raises(larder.CodeError, match=r"Net.first has hooks"):
        f(X)
    handle.remove()
    net.forward = lambda x: x
    with torch.no_grad(), pytest.raises(larder.CodeError, match="forward was replaced"):
        f(X)


def test_types_of_tensors_are_kept(real: Path) -> None:
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool):
        f = larder.memo_batch(lambda x, dtype: x.to(dtype), items="x", version="1")
        for _ in range(2):
            y = f(X, dtype)
            assert y.dtype == dtype
            assert torch.equal(y, X.to(dtype))


def test_results_are_the_callers_own(real: Path) -> None:
    f = larder.memo_batch(model(), items="x")
    first = f(X)
    want = first.clone()
    first.zero_()
    second = f(X)
    assert torch.equal(second, want)
    second.zero_()
    assert torch.equal(f(X), want)


def test_decorated_functions_of_tensors(real: Path) -> None:
    @larder.memo
    def scaled(x: Any) -> Any:
        return x * 2

    a = scaled(X)
    assert torch.equal(a, X * 2)
    a.zero_()
    assert torch.equal(scaled(X), X * 2)
    assert not torch.equal(scaled(X.to(torch.float64)).float(), torch.zeros(64, 4))


CODE = """
import torch
LIMIT = 1.0
def helper(x):
    return x.clamp(min=-LIMIT)
class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4) * 0 + 1, requires_grad=False)
    def scaled(self, x):
        return x * self.weight
class Net(Base):
    def __init__(self):
        super().__init__()
    @property
    def offset(self):
        return 0.5
    def forward(self, x):
        return helper(self.scaled(x)) + self.offset
"""
EDITS = [
    "LIMIT = 0.2",
    "helper(x):\n    return x.clamp(max=LIMIT / 10)",
    "x * self.weight * 3",
    "return 0.25",
    "helper(self.scaled(x)) - self.offset",
]


@pytest.mark.parametrize("edit", EDITS)
def test_code_of_a_model_is_in_the_key(real: Path, monkeypatch: pytest.MonkeyPatch, edit: str) -> None:
    import sys
    import types

    before = {"LIMIT = 0.2": "LIMIT = 1.0", "return 0.25": "return 0.5"}.get(edit)
    if before is None:
        before = {
            EDITS[1]: "helper(x):\n    return x.clamp(min=-LIMIT)",
            EDITS[2]: "x * self.weight",
            EDITS[4]: "helper(self.scaled(x)) + self.offset",
        }[edit]
    assert before in CODE
    outputs = []
    for text in (CODE, CODE.replace(before, edit)):
        module = types.ModuleType("a_model")
        exec(compile(text, "a_model.py", "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, "a_model", module)
        net = module.Net().eval()
        outputs.append(larder.memo_batch(net, items="x")(X))
        assert torch.equal(outputs[-1], net(X))
    assert not torch.equal(*outputs)
