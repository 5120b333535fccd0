"""Test functions of batches whose results are cached by item."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import larder

np = pytest.importorskip("numpy", reason="NumPy is not installed")


class Doubler:
    """A function of arrays that logs its arguments."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, x: Any, by: float = 2.0) -> Any:
        self.sizes.append(len(x))
        return x * by


def cached(function: Any, items: Any = "x", **options: Any) -> Any:
    return larder.memo_batch(function, items=items, version="1", **options)


def test_a_function_is_called_with_what_is_new(real: Path) -> None:
    double = Doubler()
    f = cached(double)
    rng = np.random.default_rng(0)
    seen, new = rng.normal(size=(60, 3)), rng.normal(size=(4, 3))
    assert np.array_equal(f(seen), seen * 2)
    batch = np.concatenate([new[:2], seen, new[2:]])
    for _ in range(3):
        assert np.array_equal(f(x=batch), batch * 2)
    assert double.sizes == [60, 4]


def test_equal_items_of_a_batch_are_computed_once(real: Path) -> None:
    double = Doubler()
    f = cached(double)
    assert f(np.zeros((8, 2))).shape == (8, 2)
    assert f(np.zeros((0, 2))).shape == (0, 2)
    assert double.sizes == [1, 0]


def test_other_arguments_count_for_each_item(real: Path) -> None:
    double = Doubler()
    f = cached(double)
    x = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(f(x), f(x, 2.0))
    assert np.array_equal(f(x, by=3.0), x * 3)
    assert np.array_equal(f(x.astype("float32")), x * 2)
    assert f(x.astype("float32")).dtype == "float32"
    assert double.sizes == [3, 3, 3]
    g = cached(Doubler(), ignore=["by"])
    assert np.array_equal(g(x, by=1.0), g(x, by=9.0))


def test_at_most_so_many_at_once(real: Path) -> None:
    double = Doubler()
    x = np.arange(10.0).reshape(10, 1)
    assert np.array_equal(cached(double, most=4)(x), x * 2)
    assert double.sizes == [4, 4, 2]


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Output:
    logits: Any
    hidden: Any = None


@pytest.mark.parametrize(
    "form",
    [
        lambda x: x,
        lambda x: x.sum(axis=1),
        lambda x: (x, x.sum(axis=1)),
        lambda x: {"a": x, "b": (x, None)},
        lambda x: Pair(x, [str(v) for v in x]),
        lambda x: Output(x),
        lambda x: [list(row) for row in x],
        lambda x: [np.array(row) for row in x],
        lambda x: [float(row.sum()) for row in x],
    ],
)
def test_forms_come_back_as_they_were(real: Path, form: Any) -> None:
    f = cached(form)
    x = np.arange(12.0).reshape(4, 3)
    want = form(x)
    for _ in range(2):
        same(f(x), want)
    same(f(x[[2, 0]]), form(x[[2, 0]]))


def same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
    elif isinstance(a, Output):
        same(a.logits, b.logits)
        same(a.hidden, b.hidden)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for name in a:
            same(a[name], b[name])
    else:
        assert a == b


def test_several_inputs_belong_to_each_row(real: Path) -> None:
    sizes: list[int] = []

    def masked(ids: Any, mask: Any) -> Any:
        sizes.append(len(ids))
        return (ids * mask).sum(axis=1)

    f = cached(masked, items=["ids", "mask"])
    ids, mask = np.arange(8).reshape(4, 2), np.array([[1, 0], [1, 1], [0, 1], [1, 1]])
    assert f(ids, mask).tolist() == [0, 5, 5, 13]
    mask[2] = 1
    assert f(ids, mask).tolist() == [0, 5, 9, 13]
    assert sizes == [4, 1]
    with pytest.raises(ValueError, match=r"must have the same length, not \{'ids': 4, 'mask': 3\}"):
        f(ids, mask[:3])


def test_texts_are_items(real: Path) -> None:
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> Any:
        asked.append(list(texts))
        return np.array([[len(text), text.count("a")] for text in texts], "float32")

    f = cached(embed, items="texts")
    assert f(["a", "bb", "a"]).tolist() == [[1, 1], [2, 0], [1, 1]]
    assert f(["cc", "bb"]).tolist() == [[2, 0], [2, 0]]
    assert asked == [["a", "bb"], ["cc"]]
    with pytest.raises(TypeError, match="has no rows"):
        f("abc")


def test_a_failure_is_raised_and_what_came_before_it_is_kept(real: Path) -> None:
    double = Doubler()

    def picky(x: Any) -> Any:
        if (x > 5).any():
            raise OverflowError("too much")
        return double(x)

    f = cached(picky, most=2)
    with pytest.raises(OverflowError, match="too much"):
        f(np.array([[1.0], [2.0], [9.0]]))
    assert f(np.array([[1.0], [2.0]])).tolist() == [[2], [4]]
    assert double.sizes == [2]


def test_what_has_no_rows_is_refused(real: Path) -> None:
    x = np.arange(6.0).reshape(3, 2)
    for wrong, message in [
        (lambda x: x.sum(), "has no rows"),
        (lambda x: x[:2], "of shape"),
        (lambda x: ["a"], "a list of 1"),
        (lambda x: "abc", "has no rows"),
    ]:
        with pytest.raises(larder.ResultError, match=message):
            cached(wrong)(x)


def test_parameters_that_are_not_there(real: Path) -> None:
    with pytest.raises(TypeError, match=r"items names the parameters of .*\['x', 'by'\], not \['y'\]"):
        cached(Doubler(), items="y")


def test_keys_of_the_callers(real: Path) -> None:
    double = Doubler()
    f = cached(double, key=lambda x: [str(k) for k in range(len(x))])
    assert np.array_equal(f(np.ones((3, 1))), f(np.zeros((3, 1))))
    assert double.sizes == [3]
    with pytest.raises(ValueError, match="there are 1 keys of 2 items"):
        cached(double, key=lambda x: ["a"])(np.ones((2, 1)))


def test_kept_items_are_checked(real: Path) -> None:
    offset = [0.0]
    f = cached(lambda x: x + offset[0], check=1)
    x = np.arange(4.0).reshape(2, 2)
    f(x)
    f(x)
    assert (f.checked, f.largest) == (2, 0.0)
    offset[0] = 0.25
    f(x)
    assert (f.checked, f.largest) == (4, 0.25)


def test_near_equal_items_have_results_of_their_own(real: Path) -> None:
    f = cached(lambda x: x * 1.0)
    base = np.random.default_rng(1).normal(size=(1, 32)).astype("float32")
    near = np.repeat(base, 5000, axis=0)
    for k in range(5000):
        near[k, k % 32] += np.float32(k + 1) * np.float32(1e-6)
    assert np.array_equal(f(near), near)
    assert np.array_equal(f(near[::-1]), near[::-1])


def test_a_function_can_tell_what_kind_of_batch_it_is_given(real: Path) -> None:
    f = cached(lambda x: [type(x).__name__ for _ in x])
    for batch in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0]), [np.float64(1.0), np.float64(2.0)]):
        assert f(batch) == [type(batch).__name__] * 2


def test_what_changes_while_it_is_computed_is_not_kept(real: Path) -> None:
    class Counting:
        def __init__(self) -> None:
            self.n = 0

        def step(self, x: list[int]) -> list[int]:
            self.n += 1
            return [self.n * i for i in x]

    def grown(x: list[int], seen: list[int]) -> list[int]:
        seen.append(1)
        return [len(seen) * i for i in x]

    def overwritten(x: Any) -> Any:
        x += 1
        return x * 1

    step = larder.memo_batch(Counting().step, items="x")
    with pytest.warns(larder.LarderWarning, match="changed while they were computed"):
        assert [step([5]), step([5])] == [[5], [10]]
    seen: list[int] = []
    f = larder.memo_batch(grown, items="x")
    with pytest.warns(larder.LarderWarning, match="arguments changed"):
        assert [f([5], seen), f([5], seen)] == [[5], [10]]
    with pytest.warns(larder.LarderWarning, match="items changed"):
        larder.memo_batch(overwritten, items="x")(np.arange(4.0).reshape(2, 2))


def test_paths_where_files_are_said_to_be(real: Path, tmp_path: Path) -> None:
    @larder.memo_batch(items="files")
    def sizes(files: list[larder.File]) -> list[int]:
        found = []
        for file in files:
            with open(file) as opened:
                found.append(len(opened.read()))
        return found

    file = tmp_path / "file"
    for text in ("one", "longer"):
        file.write_text(text)
        assert sizes([str(file)]) == sizes([larder.File(file)]) == [len(text)]


def test_keys_of_the_callers_are_no_items(real: Path) -> None:
    def upper(texts: list[str]) -> list[str]:
        return [text.upper() for text in texts]

    named = cached(upper, items="texts", key=lambda texts: ["a"] * len(texts))
    assert named(["other"]) == ["OTHER"]
    assert cached(upper, items="texts")(["a"]) == ["A"]


@pytest.mark.parametrize("items", [0, [0], "first", ["first"]])
def test_items_are_named_or_given_by_position(real: Path, items: Any) -> None:
    f = cached(lambda first, second: [a + second for a in first], items=items)
    assert f([1, 2], 10) == [11, 12]
    assert f([2, 3], 10) == [12, 13]
    assert (f.computed_items, f.loaded_items) == (3, 1)


def test_several_positions(real: Path) -> None:
    f = cached(
        lambda first, second, third: [a + b + third for a, b in zip(first, second, strict=True)], items=[1, "first"]
    )
    assert f([1, 2], [3, 4], 10) == [14, 16]
    assert f([1, 9], [3, 4], 10) == [14, 23]
    assert f.computed_items == 3


@pytest.mark.parametrize("items", [2, -1, [True], [0.0]])
def test_positions_that_are_none(real: Path, items: Any) -> None:
    with pytest.raises(TypeError, match="is not a position; there are 2 parameters: first, second"):
        cached(lambda first, second: first, items=items)
