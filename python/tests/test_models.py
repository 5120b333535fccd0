"""Test torch models that are created and passed on, and functions that initialize tensors."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import larder

torch: Any = pytest.importorskip("torch")
init, empty = torch.nn.init, torch.empty


class Net(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        init.xavier_uniform_(self.layer.weight)
        self.apply(self.start)
        self.reset_parameters()

    def start(self, module: Any) -> None:
        if isinstance(module, torch.nn.Linear):
            init.normal_(module.weight)

    def reset_parameters(self) -> None:
        init.normal_(self.layer.bias)

    def again(self, x: Any) -> Any:
        self.reset_parameters()
        return self(x)

    def forward(self, x: Any) -> Any:
        return self.layer(x)


@pytest.fixture
def net() -> Any:
    return Net().eval().requires_grad_(False)


held: Any = None
X = torch.ones(1, 3)


@larder.memo
def of_held(x: Any) -> Any:
    return held(x)


@larder.memo
def of_argument(model: Any, x: Any) -> Any:
    return model(x)


@larder.memo
def of_list(models: list[Any], x: Any) -> Any:
    return models[0](x)


def another(model: Any, x: Any) -> Any:
    return type(model)()(x)


def of_class(model: Any, x: Any) -> Any:
    return model.__class__()(x)


def named(model: Any, x: Any) -> Any:
    return Net()(x) if model is None else model(x)


def resets(model: Any, x: Any) -> Any:
    model.reset_parameters()
    return model(x)


def resets_inside(model: Any, x: Any) -> Any:
    return model.again(x)


class Timed(torch.nn.Module):  # type: ignore[misc]
    def train(self, mode: bool = True) -> Any:
        self.at = time.time()
        return super().train(mode)

    def forward(self, x: Any) -> Any:
        return x


def evaluated(model: Any) -> Any:
    return model.eval().at


def test_what_a_library_may_call_of_a_model_is_followed(real: Path) -> None:
    model = Timed()
    with pytest.raises(larder.UnkeyableError, match="the clock"):
        larder.memo(evaluated)(model)
    assert torch.equal(larder.memo_batch(items=[0])(model.eval())(X), X)


def test_a_model_that_was_made_is_known_by_what_it_computes_with(
    net: Any, real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "held", net)
    calls: dict[Any, Callable[[], Any]] = {
        of_held: lambda: of_held(X),
        of_argument: lambda: of_argument(net, X),
        of_list: lambda: of_list([net], X),
    }
    for memo, call in calls.items():
        for count in (1, 1):
            assert torch.equal(call(), net(X))
            assert memo.executions == count
    with torch.no_grad():
        net.layer.weight.mul_(2)
    for memo, call in calls.items():
        assert torch.equal(call(), net(X))
        assert memo.executions == 2


@pytest.mark.parametrize("function", [another, of_class, named, resets, resets_inside])
def test_code_that_may_make_another_model_is_refused(function: Callable[..., Any], net: Any, real: Path) -> None:
    with pytest.raises(larder.UnkeyableError, match=r"torch\.nn\.init\.\w+ reaches random numbers"):
        larder.memo(function)(net, X)


@pytest.mark.parametrize(
    "options",
    [
        {"version": "1"},
        {"allow": ["torch.nn.init.xavier_uniform_", "torch.nn.init.normal_"]},
        {"allow": ["torch.nn.init"]},
        {"key": lambda model, x: x},
    ],
    ids=str,
)
def test_what_messages_recommend_works_for_arguments(options: dict[str, Any], net: Any, real: Path) -> None:
    def passes(model: Any, x: Any) -> Any:
        return model(x) if type(model) is not None else None

    with pytest.raises(larder.ArgumentError, match=r"pass allow=.*or set version="):
        larder.memo(passes)(net, X)
    memo = larder.memo(**options)(passes)
    assert torch.equal(memo(net, X), memo(net, X))
    assert memo.executions == 1


def test_a_version_still_tells_values_apart(real: Path) -> None:
    memo = larder.memo(version="1")(lambda model, x: model(x) if type(model) is not None else None)
    for _ in range(2):
        net = Net().eval().requires_grad_(False)
        assert torch.equal(memo(net, X), net(X))
    assert memo.executions == 2


@pytest.mark.parametrize("options", [{}, {"version": "1"}], ids=str)
def test_a_cached_model_as_a_value_counts_with_its_weights(options: dict[str, Any], real: Path) -> None:
    before = of_argument.executions
    for count in (1, 2):
        net = torch.nn.Linear(3, 2).requires_grad_(False).eval()
        model = larder.memo_batch(items=[0], **options)(net)
        assert torch.equal(of_argument(model, X), of_argument(model, X))
        assert torch.equal(of_argument(model, X), net(X))
        assert of_argument.executions - before == count


def draws(x: Any) -> Any:
    return x + torch.rand(1)


def test_what_messages_recommend_works_for_functions_as_arguments(real: Path) -> None:
    def apply(function: Any, x: Any) -> Any:
        return x if function is None else x * 2

    def inner(x: Any) -> Any:
        return x + torch.rand(1)

    with pytest.raises(larder.ArgumentError, match=r"pass allow=\[\"torch\.rand\"\] .*, or set version="):
        larder.memo(apply)(draws, X)
    with pytest.raises(larder.ArgumentError, match=r"pass allow=\[\"torch\.rand\"\] .*, or pass key=") as raised:
        larder.memo(apply)(inner, X)
    assert "version" not in str(raised.value)
    memos = [
        (larder.memo(version="1")(apply), draws),
        (larder.memo(allow=["torch.rand"])(apply), draws),
        (larder.memo(allow=["torch.rand"])(apply), inner),
        (larder.memo(key=lambda function, x: x)(apply), inner),
    ]
    for memo, function in memos:
        memo.refresh(function, X)
        assert memo.cached(function, X)


DRAWS_NOTHING: list[Callable[[], Any]] = [
    lambda: init.zeros_(empty(2)),
    lambda: init.ones_(empty(2)),
    lambda: init.constant_(empty(2), 0.5),
    lambda: init.eye_(empty(2, 2)),
    lambda: init.dirac_(empty(2, 2, 1)),
    lambda: init.calculate_gain("relu"),
    lambda: init.normal_(empty(2), generator=torch.Generator().manual_seed(3)),
    lambda: init.uniform_(empty(2), generator=torch.Generator().manual_seed(3)),
    lambda: init.trunc_normal_(empty(2), generator=torch.Generator().manual_seed(3)),
    lambda: init.xavier_uniform_(empty(2, 2), generator=torch.Generator().manual_seed(3)),
    lambda: init.kaiming_normal_(empty(2, 2), generator=torch.Generator().manual_seed(3)),
    lambda: init.orthogonal_(empty(2, 2), generator=torch.Generator().manual_seed(3)),
]


@pytest.mark.parametrize("make", DRAWS_NOTHING)
def test_what_initializes_without_chance_or_with_a_generator(make: Callable[[], Any], real: Path) -> None:
    try:
        made = make()
    except TypeError:
        pytest.skip(f"torch {torch.__version__} takes no generator there")
    memo = larder.memo(make)
    for _ in range(2):
        assert torch.equal(torch.as_tensor(memo()), torch.as_tensor(made))
    assert memo.executions == 1


@pytest.mark.parametrize("make", [lambda: init.normal_(empty(2)), lambda: init.xavier_uniform_(empty(2, 2))])
def test_what_initializes_by_chance_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(larder.CodeError, match="random numbers without a seed"):
        larder.memo(make)()


COMPILED: dict[str, Callable[[Any], Any]] = {
    "torch.compile": lambda model: torch.compile(model, backend="eager"),
    "torch.jit.trace": lambda model: torch.jit.trace(model, X),
    "torch.jit.script": torch.jit.script,
    "torch.jit.freeze": lambda model: torch.jit.freeze(torch.jit.script(model)),
    "torch.fx": torch.fx.symbolic_trace,
}


@pytest.mark.parametrize("how", COMPILED)
@pytest.mark.filterwarnings("ignore")
def test_what_a_refused_compiled_model_recommends_works(how: str, real: Path) -> None:
    plain = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()).eval().requires_grad_(False)
    if how == "torch.compile" and not hasattr(torch, "compile"):
        pytest.skip(f"torch {torch.__version__} has no torch.compile")
    compiled = COMPILED[how](plain)
    kinds: list[dict[str, Any]] = [{}, {"version": "1"}]
    for options in kinds:
        for items in ([0], "x"):
            with pytest.raises(TypeError, match=r"^a [\w.<>]+: compiled models .* a function with version="):
                larder.memo_batch(compiled, items=items, **options)
    for memo in (
        larder.memo_batch(plain, items=[0]),
        larder.memo_batch(lambda x: compiled(x), items="x", version=how),
    ):
        assert torch.equal(memo(X), plain(X))
        assert torch.equal(memo(X), plain(X))
        assert memo.executions == 1
