"""Test flows that Python reads, edits and writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from flow_program import LETTERS, ROOT, built, larder, lint

from larder import Editor, Flow, Node, jsonl, rewrite, step, underfolder, var
from larder._batches.loader import Loader
from larder._flows.read import read_flow
from larder._flows.run import run
from larder.errors import FlowError


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LARDER_BIN", built())
    monkeypatch.setenv("LARDER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").symlink_to(LETTERS)
    return tmp_path


TEXT = """version: 1
nodes:
  in: {source: underfolder, with: {path: data}}
  mixed: {op: shuffle, from: in, with: {seed: 3}}
  flip:
    op: map-if
    from: mixed
    with: {step: {map: compose, with: {steps: [{map: image-flip, with: {seed: 5, epoch: 1}}]}}, probability: 0.5}
  run: {map: exec, from: flip, with: {command: [cp], items: [image], into: [x]}}
  out: {sink: underfolder, from: run, with: {path: deep/out, overwrite: replace}}
"""


def read(text: str = TEXT, file: str = "flow.yaml") -> Flow:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text)
    return read_flow(file)


def edited(flow: Flow, edit: Callable[[Editor], object]) -> Flow:
    e = flow.edit()
    edit(e)
    return e.flow()


def go_fingerprint(text: str, *only: str) -> str:
    """Return the program's fingerprint of a hand-written flow."""
    done = larder("flow", "-", "--fingerprint", *[f"--only={name}" for name in only], text=text)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_file_is_read_as_what_it_is() -> None:
    files = [f for f in sorted((ROOT / "examples").glob("*/*.yaml")) if "extension" not in str(f)]
    assert len(files) > 3
    for file in [*files, Path("flow.yaml")]:
        if file == Path("flow.yaml"):
            file.write_text(TEXT)
        flow = read_flow(file)
        written = larder("flow", str(file))
        assert written.returncode == 0
        again = larder("flow", "-", f"--stdin-filename={file}", text=flow.to_yaml())
        assert again.stdout == written.stdout, again.stderr
        if any(node._kind == "sink" for node in flow.nodes.values()):
            assert flow.fingerprint() == larder("flow", str(file), "--fingerprint").stdout.strip()
        name = next(iter(flow.nodes))
        assert flow.fingerprint(name) == larder("flow", str(file), "--fingerprint", f"--only={name}").stdout.strip()


def test_texts_variables_and_sweeps(directory: Path) -> None:
    text = """version: 1
vars: {w: 8}
profiles: {big: {w: 64}}
sweep: {a: [1, 2]}
limits: {pixels: 10}
nodes:
  in: {source: underfolder, with: {path: data}, cache: {policy: lru, size: 3}}
  odd: {map: set-value, from: in, with: {key: k, value: {"$${x}": ["$${y}", 2.0, true, null, "on", "a\\nb", "é"]}}}
  small: {map: image-resize, from: odd, with: {width: "${w}"}, on-error: {skip: 5%}, workers: 2, keep: true}
  parts: {op: split, from: small, with: {sizes: {t: 0.5, u: null}}}
  out: {sink: jsonl, from: parts.t, with: {path: "out/${a}"}}
"""
    flow = read(text)
    assert flow.nodes["odd"]._params["value"] == {"${x}": ("${y}", 2.0, True, None, "on", "a\nb", "é")}
    assert flow.nodes["small"]._params["width"] == 8
    assert list(flow.nodes) == ["in", "odd", "small", "parts", "out-a-1", "out-a-2"]
    assert len(flow.ends) == 2
    lint(flow.to_yaml())
    assert larder("flow", "-", text=flow.to_yaml()).stdout == larder("flow", "flow.yaml").stdout
    assert read_flow("flow.yaml", profile="big").nodes["small"]._params["width"] == 64
    assert read_flow("flow.yaml", set={"w": 9}).nodes["small"]._params["width"] == 9
    with pytest.raises(FlowError, match="no such file or directory"):
        read_flow("none.yaml")
    with pytest.raises(FlowError, match=r"flow.yaml:2:"):
        read("version: 1\nnodes: {in: {source: nothing}}\n")


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (rewrite.no_shuffle, "op: shuffle, from: in, with: {seed: 3}", "op: clone, from: in"),
        (
            lambda e: rewrite.shuffle(e, "in", 4),
            "mixed: {op: shuffle, from: in",
            "in-shuffled: {op: shuffle, from: in, with: {seed: 4}}\n  mixed: {op: shuffle, from: in-shuffled",
        ),
        (lambda e: rewrite.shard(e, "mixed", 1, 2), "    from: mixed", "    from: share"),
        (lambda e: rewrite.workers(e, "run", 2), "", ""),
        (lambda e: rewrite.time_limit(e, "run", "1m30s"), "", ""),
        (lambda e: e.remove("mixed"), "from: mixed", "from: in"),
        (lambda e: e.replace("mixed", Node.reverse), "shuffle, from: in, with: {seed: 3}", "reverse, from: in"),
        (lambda e: e.set("mixed", seed=9), "seed: 3", "seed: 9"),
        (lambda e: e.before("flip", "few", lambda n: n.slice(stop=2)), "    from: mixed", "    from: few"),
        (lambda e: e.after("mixed", "few", lambda n: n.slice(stop=2)), "    from: mixed", "    from: few"),
    ],
)  # fmt: skip
def test_edited_flows_are_those_one_would_write(edit: Callable[[Editor], object], old: str, new: str) -> None:
    flow = read()
    was = flow.to_yaml()
    other = edited(flow, edit)
    by_hand = TEXT.replace(old, new)
    few = "few: {op: slice, from: mixed, with: {stop: 2}}"
    share = "share: {op: shard, from: mixed, with: {rank: 1, world-size: 2}}"
    by_hand = by_hand.replace("  run:", f"  {few}\n  {share}\n  run:")
    assert other.fingerprint() == go_fingerprint(by_hand)
    assert (other.fingerprint() == flow.fingerprint()) == (old == "")
    assert flow.to_yaml() == was
    lint(other.to_yaml())


def test_seeds_are_added_to() -> None:
    other = edited(read(), lambda e: rewrite.reseed(e, 10))
    by_hand = TEXT.replace("seed: 3", "seed: 13").replace("seed: 5", "seed: 15")
    by_hand = by_hand.replace("probability: 0.5", "probability: 0.5, seed: 10")
    assert other.fingerprint() == go_fingerprint(by_hand)
    other = edited(read(), lambda e: rewrite.epoch(e, 2))
    by_hand = TEXT.replace("seed: 3", "seed: 3, epoch: 2").replace("epoch: 1", "epoch: 2")
    assert other.fingerprint() == go_fingerprint(by_hand.replace("probability: 0.5", "probability: 0.5, epoch: 2"))
    with pytest.raises(ValueError, match="not an integer"):
        edited(Flow(underfolder(path="data").shuffle_once(seed=var("s", 1))), lambda e: rewrite.reseed(e, 1))


def test_options_and_wrapping() -> None:
    node = underfolder(path="data").image_flip(horizontal=1.0, name="flip", keep=True).image_stats(name="stats")
    flow = Flow(node, name="letters")

    def edit(e: Editor) -> None:
        e.wrap("flip", lambda n, s: n.map_if(step=s, probability=0.25))
        e.set("stats", checkpoint=True, workers=3)
        e.set("flip", keep=None)

    other = edited(flow, edit)
    by_hand = underfolder(path="data").map_if(step=step("image-flip", horizontal=1.0), probability=0.25, name="flip")
    by_hand = by_hand.image_stats(name="stats", checkpoint=True, workers=3)
    assert other.to_yaml() == Flow(by_hand).to_yaml()
    assert flow.to_yaml() == Flow(node).to_yaml()


def test_an_edited_flow_computes_what_one_by_hand_does(directory: Path) -> None:
    letters = underfolder(path="data", name="letters")
    flow = Flow(
        letters.image_stats(name="stats", keep=True).keep_keys(keys=["stats"], name="only").to_jsonl(path="made")
    )

    def edit(e: Editor) -> None:
        e.after("letters", "few", lambda n: n.slice(stop=3))
        e.before("stats", "small", lambda n: n.image_resize(width=8, keep=True))

    by_hand = letters.slice(stop=3).image_resize(width=8, keep=True).image_stats(keep=True).keep_keys(keys=["stats"])
    assert run(by_hand.to_jsonl(path="by hand"))["image-stats"].computed == 3
    report = run(edited(flow, edit))
    assert report["stats"].computed == 0, "it has other keys"
    assert report["stats"].samples == 3
    made, wanted = ({f.name: f.read_bytes() for f in Path(p).rglob("*") if f.is_file()} for p in ("made", "by hand"))
    assert made == wanted


def test_a_trial_touches_nothing_of_the_flow(directory: Path) -> None:
    flow = Flow(
        underfolder(path="data", name="in").repeat(times=2).to_underfolder(path="deep/out", name="out"), name="letters"
    )
    other = edited(flow, lambda e: rewrite.trial(e, 3, "trial"))
    report = run(other)
    assert (report.flow, report["out"].samples) == ("letters-trial", 6)
    assert not Path("deep").exists()
    assert Path("trial/out/out").is_dir()


def test_a_file_of_another_folder(directory: Path) -> None:
    (directory / "there").mkdir()
    (directory / "there" / "data").symlink_to(LETTERS)
    (directory / "data").unlink()
    flow = read(
        "version: 1\nnodes:\n  in: {source: underfolder, with: {path: data}}\n  loose: {map: image-stats, from: in}\n"
        "  only: {map: keep-keys, from: in, with: {keys: [metadata]}}\n"
        "  out: {sink: jsonl, from: only, with: {path: made.jsonl}}\n",
        "there/flow.yaml",
    )
    report = run(flow)
    assert report.status == "ok"
    assert (directory / "there" / "made.jsonl").exists()
    assert [n.name for n in report.nodes] == ["in", "only", "out"], "what a file would not run was run"
    assert "loose" in flow.nodes
    assert run(edited(flow, lambda e: e.set("out", overwrite="replace"))).status == "ok"
    with flow.nodes["only"].batch(26, fields=["metadata"]) as loader:
        assert sum(len(batch.samples) for batch in loader) == 26
    with pytest.raises(ValueError, match="several directories cannot be combined"):
        flow.nodes["in"].cat(underfolder(path="data"))
    with pytest.raises(ValueError, match="several directories"):
        Flow(flow.nodes["in"], underfolder(path="data"))
    assert flow.nodes["in"] != underfolder(path="data", name="in")


def test_an_included_command_starts_where_it_did(directory: Path) -> None:
    (directory / "inc").mkdir()
    (directory / "inc" / "in.jsonl").write_text('{"n": 1}\n')
    (directory / "inc" / "mod.py").write_text("def f(n: int) -> str: return 'theirs'\n")
    (directory / "mod.py").write_text("def f(n: int) -> str: return 'ours'\n")
    (directory / "inc" / "i.yaml").write_text(
        "version: 1\nnodes:\n  in: {source: jsonl, with: {path: in.jsonl}}\n"
        '  call: {map: python, from: in, with: {function: "mod:f", items: [n], into: [q]}}\n'
    )
    flow = read("version: 1\ninclude: inc/i.yaml\nnodes:\n  o: {sink: jsonl, from: call, with: {path: o.jsonl}}\n")
    run(flow)
    assert '"theirs"' in (directory / "o.jsonl").read_text()


def test_an_epoch_stays_one(directory: Path) -> None:
    (directory / "in.jsonl").write_text("".join(f'{{"n": {i}}}\n' for i in range(32)))
    text = (
        "version: 1\nvars: {epoch: 0}\nnodes:\n  in: {source: jsonl, with: {path: in.jsonl}}\n"
        '  mixed: {op: shuffle, from: in, with: {epoch: "${epoch}"}}\n'
    )
    flow = read(text)
    orders = []
    for what in (str(directory / "flow.yaml"), flow, flow.edit().flow()):
        with Loader(what, node="mixed", batch_size=32) as loader:
            orders.append([[int(n) for n in batch["n"]] for _ in range(2) for batch in loader])
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][0] != orders[0][1]
    assert "epoch}" not in str(read_flow("flow.yaml", set={"epoch": 1}))


def test_edits_of_edits() -> None:
    def edit(e: Editor) -> None:
        rewrite.trial(e, 3, "t")
        rewrite.shuffle(e, "in")
        rewrite.shard(e, "in", 0, 2)

    flow = edited(edited(read(), edit), edit)
    assert {"in-first-2", "in-shuffled-2", "in-share-2"} <= set(flow.nodes)
    flow.fingerprint()


def test_seeds_that_are_of_no_use_stay() -> None:
    parts = underfolder(path="data").split(sizes={"a": 0.5, "b": 0.5}, name="parts")["a"].shuffle_once(name="mixed")
    other = edited(Flow(parts), lambda e: rewrite.reseed(e, 7))
    assert "seed" not in other.nodes["parts"]._params
    assert other.nodes["mixed"]._params["seed"] == 7
    other.fingerprint("mixed")


def test_outputs_stay_theirs() -> None:
    parts = underfolder(path="data", name="in").split(sizes={"a": 0.5, "b": None}, name="parts")
    flow = parts["a"].image_stats(name="one").to_jsonl(path="a") + parts["b"].to_jsonl(path="b")

    def edit(e: Editor) -> None:
        e.after("parts", "stats", lambda n: n.image_stats(into="s"))
        e.replace("in", jsonl(path="other"))

    other = edited(flow, edit)
    assert [n._output for n in other.nodes["one"]._inputs] == ["a"]
    assert other.nodes["one"]._inputs[0]._name == "stats"
    assert other.nodes["in"]._component == "jsonl"
    removed = edited(flow, lambda e: e.remove("parts"))
    assert [n._name for n in removed.nodes["one"]._inputs] == ["in"]


def test_edits_that_are_wrong() -> None:
    flow = read()
    wrong: list[tuple[Callable[[Editor], object], str]] = [
        (lambda e: e.remove("mixd"), "unknown node 'mixd'; did you mean 'mixed'?"),
        (lambda e: e.remove("in"), "node in: a source reads nothing, so mixed would have no input"),
        (lambda e: e.remove("out"), "node out: the flow would be empty"),
        (lambda e: e.wrap("mixed", lambda n, s: n.map(s)), "node mixed: op shuffle cannot be wrapped"),
        (lambda e: e.after("in", "mixed", lambda n: n.reverse()), "two nodes are named 'mixed'"),
        (lambda e: e.after("in", "a b", lambda n: n.reverse()), "cannot name a node"),
        (
            lambda e: e.after("in", "two", lambda n: n.reverse().reverse()),
            "return a node that reads exactly its arguments",
        ),
        (lambda e: e.after("out", "more", lambda n: n.reverse()), "a sink has no outputs"),
        (lambda e: e.set("mixed", sead=1), "unexpected keyword argument 'sead'; did you mean 'seed'?"),
        (lambda e: e.set("mixed", items=3), "unexpected keyword argument 'items'"),
        (lambda e: e.set("mixed", name="other"), "a node cannot be renamed"),
        (lambda e: e.replace("mixed", lambda n: 3), "the function must return a node, not int"),  # type: ignore[arg-type, return-value]
        (lambda e: rewrite.time_limit(e, "mixed", "1s"), "node mixed: op shuffle has no timeout"),
    ]
    for edit, want in wrong:
        e = flow.edit()
        with pytest.raises(ValueError, match=want.replace("(", r"\(").replace("?", r"\?")):
            edit(e)
        assert e.flow().to_yaml() == flow.to_yaml(), f"{want}: the edit left something"
    parts = underfolder(path="data").split(sizes={"x": 0.5, "y": 0.5}, name="d")["x"].map("hash", name="m")
    e = Flow(parts).edit()
    with pytest.raises(ValueError, match=r"node m: .* has no output 'x'"):
        e.replace("d", lambda n: n.chunk(n=2))
    assert str(e.flow()) == str(Flow(parts, name=e.name))
    with pytest.raises(FlowError, match=r"^node in-share: .*rank is 2 of 2"):
        edited(flow, lambda e: rewrite.shard(e, "in", 2, 2)).fingerprint()


def test_a_large_flow_is_edited(directory: Path) -> None:
    node: Node = underfolder(path="data", name="in")
    for i in range(60):  # every node is reached by very many paths
        node = node.cat(node, name=f"n{i}")
    other = edited(Flow(node), lambda e: e.after("in", "few", lambda n: n.slice(stop=1)))
    assert len(other.nodes) == 62
    assert json.loads(larder("flow", "-", "--json", text=other.to_yaml()).stdout)["nodes"]["n0"]["from"] == [
        "few",
        "few",
    ]
    assert os.listdir(directory) == ["data"]
