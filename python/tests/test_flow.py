from __future__ import annotations

import copy
import inspect
import pickle
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from flow_program import lint

import larder
from larder import Flow, Node, Step, source, step, sweep, underfolder, var
from larder._flows import sources
from larder._flows.components import Methods
from larder._flows.parameters import PARAMETERS


@pytest.fixture
def letters() -> Node:
    return underfolder(path="data")


def test_the_flow_of_a_node_is_as_one_would_write_it(letters: Node) -> None:
    stats = letters.image_stats(item="image", into="stats", checkpoint=True, name="stats")
    out = stats.repeat(times=var("times", 10)).group_by(by="metadata.color").to_underfolder(path="out")
    assert str(out) == (
        "version: 1\n"
        "vars: {times: 10}\n"
        "nodes:\n"
        "  underfolder:\n"
        "    source: underfolder\n"
        "    with: {path: data}\n"
        "  stats:\n"
        "    map: image-stats\n"
        "    from: underfolder\n"
        "    checkpoint: true\n"
        "  repeat:\n"
        "    op: repeat\n"
        "    from: stats\n"
        '    with: {times: "${times}"}\n'
        "  group-by:\n"
        "    op: group-by\n"
        "    from: repeat\n"
        "    with: {by: metadata.color}\n"
        "  underfolder-2:\n"
        "    sink: underfolder\n"
        "    from: group-by\n"
        "    with: {path: out}\n"
    )
    lint(str(out))


def test_a_node_that_two_read_is_one(letters: Node) -> None:
    small = letters.image_resize(width=8)
    both = small.image_flip(seed=1).cat(small)
    assert list(Flow(both).nodes) == ["underfolder", "image-resize", "image-flip", "cat"]
    assert str(both).count("from: image-resize\n") == 1
    assert "from: [image-flip, image-resize]\n" in str(both)


def test_nodes_that_are_made_alike_are_one(letters: Node) -> None:
    one, other = letters.image_resize(width=8), letters.map("image-resize", width=8)
    assert one == other
    assert hash(one) == hash(other)
    assert list(Flow(one.to_jsonl(path="a"), other.to_jsonl(path="b")).nodes) == [
        "underfolder",
        "image-resize",
        "jsonl",
        "jsonl-2",
    ]
    for changed in (
        letters.image_resize(width=9),
        letters.image_resize(width=8, keep=True),
        letters.image_resize(width=8, name="small"),
        underfolder(path="other").image_resize(width=8),
        letters.image_resize(width=var("width", 8)),
    ):
        assert changed != one
    assert letters.set_value(key="a", value=1) != letters.set_value(key="a", value=True)
    assert letters.set_value(key="a", value=1) != letters.set_value(key="a", value=1.0)


def test_a_chain_of_diamonds_is_made_and_printed_at_once(letters: Node) -> None:
    node = letters
    for seed in range(300):
        node = node.cat(node.shuffle_once(seed=seed))
    assert len(Flow(node).nodes) == 601
    assert node == copy.deepcopy(node)


def test_names_are_numbered_and_keep_clear_of_given_ones(letters: Node) -> None:
    node = letters.clone(name="clone-2").clone().reverse().clone()
    assert list(Flow(node).nodes) == ["underfolder", "clone-2", "clone", "reverse", "clone-3"]
    assert node.name == "clone-3"


def test_two_nodes_of_one_name_are_refused(letters: Node) -> None:
    with pytest.raises(ValueError, match="two different nodes have the name 'a'"):
        letters.clone(name="a").reverse(name="a").to_yaml()


@pytest.mark.parametrize("name", ["", "a b", "a.b", "-a", "ä", "a\n"])
def test_names_that_no_node_can_have_are_refused(letters: Node, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a node"):
        letters.clone(name=name)


def test_what_a_method_does_not_take_is_said_with_what_is_near(letters: Node) -> None:
    wrong: Any = letters
    with pytest.raises(TypeError, match=r"image_resize\(\) got .* 'widht'; did you mean 'width'\?"):
        wrong.image_resize(widht=8)
    with pytest.raises(TypeError, match=r"image_resize\(\) got .* 'chekpoint'; did you mean 'checkpoint'\?"):
        wrong.image_resize(width=8, chekpoint=True)
    with pytest.raises(TypeError, match=r"map\('image-resize'\) got .* 'widht'; did you mean 'width'\?"):
        letters.map("image-resize", widht=8)
    with pytest.raises(TypeError, match=r"step\('image-resize'\) got .* 'widht'; did you mean 'width'\?"):
        step("image-resize", widht=8)
    with pytest.raises(TypeError, match=r"op\('shard'\) needs 'rank' and 'world_size'"):
        letters.op("shard")
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'n'"):
        wrong.chunk()
    with pytest.raises(TypeError, match="reads one dataset, not 2; join them first by cat or zip"):
        letters.op("repeat", letters, times=2)
    with pytest.raises(TypeError, match="str is not a node; give nodes"):
        wrong.cat("letters")
    with pytest.raises(TypeError, match="width is given both in with_ and by keyword"):
        letters.map("image-resize", width=1, with_={"width": 1})


def test_parameters_have_names_that_python_allows(letters: Node) -> None:
    typed = letters.shard_once(rank=0, world_size=2)
    assert typed == letters.op("shard", rank=0, world_size=2)
    assert typed == letters.op("shard", with_={"rank": 0, "world-size": 2})
    assert "with: {rank: 0, world-size: 2}" in str(typed)
    padded = letters.pad(length=30, with_=0)
    assert padded == letters.op("pad", length=30, with_={"with": 0})
    assert "with: {length: 30, with: 0}" in str(padded)
    with pytest.raises(TypeError, match="with_ is not a dict; give parameters by their names in flow files"):
        letters.op("pad", length=30, with_=0)  # type: ignore[arg-type]
    assert "with: {path: out, name: label}" in str(letters.to_images(path="out", name_="label", name="pictures"))
    assert "  pictures:\n" in str(letters.to("images", path="out", name_="label", name="pictures"))


def test_defaults_are_left_out_and_null_is_not(letters: Node) -> None:
    assert "with" not in str(letters.image_stats(item="image", into="stats")).split("image-stats:")[1]
    assert "with: {key: a, value: null}" in str(letters.set_value(key="a", value=None))
    assert "with: {horizontal: 1}" in str(letters.image_flip(items=["image"], horizontal=1, vertical=0))
    assert "with: {seed: false}" in str(letters.shuffle_once(seed=False))  # which the program refuses


def test_components_that_do_not_come_with_larder_are_taken_as_they_are(letters: Node) -> None:
    node = source("station", path="july.txt").map("fahrenheit", digits=2, with_={"max-heat": 40.5}, keep=True)
    text = str(node.op("every", letters, n=2)["even"])
    assert "    source: station\n" in text
    assert "    with: {max-heat: 40.5, digits: 2}\n    keep: true\n" in text
    assert "    op: every\n    from: [fahrenheit, underfolder]\n" in text


def test_options_are_those_of_flow_files(letters: Node) -> None:
    node = letters.image_stats(
        keep=True,
        checkpoint="auto",
        cache={"policy": "lru", "bytes": "1MiB"},
        workers=2,
        on_error={"skip": "5%"},
    ).clone(cache="auto", keep=None)
    text = str(node)
    assert (
        '    keep: true\n    checkpoint: auto\n    cache: {policy: lru, bytes: "1MiB"}\n'
        '    workers: 2\n    on-error: {skip: "5%"}\n'
    ) in text
    assert "    from: image-stats\n    cache: {policy: auto}\n" in text
    lint(text)


def test_a_flow_has_defaults_and_limits(letters: Node) -> None:
    both = Flow(letters.image_stats(), defaults={"workers": 2, "on_error": "skip"}, limits={"pixels": 1000})
    assert "\ndefaults: {workers: 2, on-error: skip}\nlimits: {pixels: 1000}\nnodes:\n" in str(both)
    lint(str(both))
    with pytest.raises(TypeError, match="defaults cannot name nodes"):
        Flow(letters, defaults={"name": "a"})
    with pytest.raises(ValueError, match="has defaults or limits, so it cannot"):
        Flow(both)
    with pytest.raises(ValueError, match="different defaults or limits"):
        both + Flow(letters)


def test_steps_are_mappers_in_operators(letters: Node) -> None:
    small = step("image-resize", width=8)
    text = str(letters.map_if(step=small, where="true").compose(steps=[small, {"map": "image-stats"}]))
    assert 'with: {step: {map: image-resize, with: {width: 8}}, where: "true"}' in text
    assert "with: {steps: [{map: image-resize, with: {width: 8}}, {map: image-stats}]}" in text
    lint(text)
    assert letters.map(small) == letters.image_resize(width=8)
    assert isinstance(small, Step)
    with pytest.raises(TypeError, match="keep is an option of nodes"):
        step("image-resize", width=8, keep=True)


def test_outputs_by_name_and_by_number(letters: Node) -> None:
    parts = letters.split(sizes={"train": 0.8, "test": None})
    train, test = parts
    assert (train, test) == (parts["train"], parts[1])
    assert test == parts[-1]
    assert train.name == "split.train"
    assert parts.outputs == ("train", "test")
    lint(str(train.image_resize(width=8).cat(test)))
    small, smaller = parts.image_resize(width=8)  # applied to each
    assert (small.name, smaller.name) == ("image-resize.train", "image-resize.test")
    lint(str(small.cat(smaller)))
    assert len(list(letters.chunk(n=3))) == 3
    assert [part.name for part in letters.split(sizes=[0.5, 0.5])] == ["split.0", "split.1"]
    lint(str(letters.group_by(by="metadata.color")[0]))


def test_outputs_that_there_are_not(letters: Node) -> None:
    parts = letters.split(sizes={"train": 0.8, "test": 0.2})
    with pytest.raises(KeyError, match="has no output 'trian'; valid: train, test"):
        parts["trian"]
    with pytest.raises(IndexError):
        parts[2]
    with pytest.raises(TypeError, match="outputs one dataset"):
        parts["train"]["train"]
    with pytest.raises(TypeError, match="outputs one dataset"):
        letters[0]
    with pytest.raises(TypeError, match=r"larder\.Dataset reads its samples"):
        list(letters)
    with pytest.raises(TypeError, match="are not known before it runs"):
        list(letters.group_by(by="metadata.color"))
    with pytest.raises(TypeError, match="are not known before it runs"):
        list(letters.split(sizes=var("sizes", [0.5, 0.5])))
    with pytest.raises(IndexError):
        letters.group_by(by="metadata.color")[-1]
    with pytest.raises(KeyError):
        letters.group_by(by="metadata.color")[""]


def test_variables(letters: Node) -> None:
    root = var("root", "out")
    size = sweep("size", [8, 16])
    out = letters.image_resize(width=size).to_jsonl(path=var("file", root + "/a-") + size + "${x}.jsonl")
    text = str(out)
    assert text.startswith('version: 1\nvars: {root: out, file: "${root}/a-"}\nsweep: {size: [8, 16]}\n')
    assert 'path: "${file}${size}$${x}.jsonl"' in text
    lint(text)
    with pytest.raises(TypeError, match="has no value yet"):
        f"{root}/a"
    with pytest.raises(ValueError, match="variable root has two values, 'out' and 'in'"):
        str(letters.to_jsonl(path=root) + letters.to_jsonl(path=var("root", "in")))
    for name in ("", "a b", "a}"):
        with pytest.raises(ValueError, match="cannot name a variable"):
            var(name, 1)


def test_what_no_flow_has_is_refused(letters: Node) -> None:
    around: list[object] = []
    around.append(around)
    for value, error, says in [
        (float("nan"), ValueError, r"set_value\(\): value: nan is not allowed"),
        (float("inf"), ValueError, "value: inf is not allowed"),
        (1 << 63, ValueError, "has more than 64 bits"),
        ("\ud800", ValueError, "a lone surrogate"),
        (around, ValueError, "nested too deeply, or contains itself"),
        (b"a", TypeError, "bytes is not a value"),
        ({1: 2}, TypeError, "the key 1: keys of mappings must be strings"),
        ({1, 2}, TypeError, "set is not a value"),
        ([[object()]], TypeError, r"value\[0\]\[0\]: object is not a value of a flow"),
    ]:
        with pytest.raises(error, match=says):
            letters.set_value(key="a", value=value)


def test_nodes_do_not_change(letters: Node) -> None:
    sizes = {"train": 0.5, "test": 0.5}
    parts = letters.split(sizes=sizes)
    before = str(parts)
    sizes["test"] = 0.25
    assert str(parts) == before
    with pytest.raises(AttributeError):
        parts._kind = "map"  # type: ignore[misc]


def test_nodes_and_flows_travel(letters: Node) -> None:
    train, _ = letters.map_if(step=step("image-resize", width=var("w", 8)), where="true").split(sizes=[0.5, 0.5])
    out = train.to_jsonl(path=Path("a") / "b")
    assert pickle.loads(pickle.dumps(train)) == train
    assert str(pickle.loads(pickle.dumps(out))) == str(out)


def test_a_flow_of_several_sinks(letters: Node) -> None:
    first, second = letters.to_jsonl(path="a"), letters.to("csv", path="b")
    for both in (first + second, Flow(first, second), Flow(first, second, first)):
        assert both.ends == ("jsonl", "csv")
    with pytest.raises(ValueError, match="has no nodes"):
        Flow()
    with pytest.raises(TypeError, match="str is not a node; give nodes"):
        Flow("flow.yaml")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="is not in this flow"):
        first.name_of(letters.clone())


@pytest.mark.parametrize("name", ["", "a/b", "a\n", "\0"])
def test_names_that_no_flow_can_have(letters: Node, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a flow"):
        Flow(letters, name=name)


def test_every_component_is_a_method_or_a_function() -> None:
    generated = {n for n, f in vars(Methods).items() if inspect.isfunction(f) and not n.startswith("_")}
    number = sum(len(PARAMETERS[kind]) for kind in ("map", "op", "sink"))
    assert len(generated) == number
    for name in generated:
        assert getattr(Node, name) is getattr(Methods, name), f"{name} is hidden by a method of nodes"
    for name in PARAMETERS["source"]:
        assert getattr(larder, name) is getattr(sources, name)


class FakeLoader:
    def __init__(self, of: Flow, **options: Any) -> None:
        self.of, self.options = of, options


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("larder._batches.loader")
    module.Loader = FakeLoader  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "larder._batches.loader", module)


@pytest.mark.usefixtures("loader")
def test_batches_are_made_by_a_loader(letters: Node) -> None:
    def options(made: Any) -> dict[str, Any]:
        assert isinstance(made, FakeLoader)
        assert str(made.of) == str(node)
        return made.options

    node = letters.split(sizes=[0.5, 0.5])[0]
    assert options(node.batch(32)) == {"node": "split.0", "batch_size": 32}
    assert options(node.shuffle(seed=3).shard().batch(8, window=2)) == {
        "node": "split.0",
        "shuffle": True,
        "seed": 3,
        "batch_size": 8,
        "window": 2,
    }
    assert options(node.shard(1, 2).batch(tokens=512)) == {
        "node": "split.0",
        "rank": 1,
        "world_size": 2,
        "tokens": 512,
    }
    with pytest.raises(TypeError, match="takes rank and world_size, or neither"):
        node.shard(1)
    with pytest.raises(TypeError, match="outputs several datasets; load one"):
        letters.split(sizes=[0.5, 0.5]).batch(1)
