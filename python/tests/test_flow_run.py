"""Test runs of flows with the real program."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flow_program import LETTERS, ROOT, built, larder

from larder import Flow, Node, jsonl, source, underfolder, var
from larder._flows.report import report_of
from larder._flows.run import RunError, run
from larder.errors import FlowError, LarderWarning


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LARDER_BIN", built())
    monkeypatch.setenv("LARDER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").symlink_to(LETTERS)
    return tmp_path


@pytest.fixture
def letters() -> Node:
    """Return a node whose samples can be written as JSON."""
    return underfolder(path="data").keep_keys(keys=["metadata"], name="letters")


@pytest.fixture
def pictures() -> Node:
    return underfolder(path="data")


def test_a_flow_has_the_keys_of_the_file_that_one_would_write(pictures: Node, directory: Path) -> None:
    node = pictures.image_resize(width=8, keep=True).image_stats(keep=True).keep_keys(keys=["stats"])
    report = run(node.to_jsonl(path="made.jsonl"))
    assert [(n.name, n.computed) for n in report.nodes] == [
        ("underfolder", 0),
        ("image-resize", 26),
        ("image-stats", 26),
        ("keep-keys", 0),
        ("jsonl", 26),
    ]
    (directory / "by hand.yaml").write_text("""version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  small: {map: image-resize, from: letters, with: {width: 8}, keep: true}
  stats: {map: image-stats, from: small, with: {item: image, into: stats}, keep: true}
  only: {map: keep-keys, from: stats, with: {keys: [stats]}}
  out: {sink: jsonl, from: only, with: {path: written.jsonl}}
""")
    again = run(directory / "by hand.yaml")
    assert [(n.computed, n.from_store) for n in again.nodes][1:3] == [
        (0, 0),
        (0, 26),
    ]  # nothing below is read
    assert (directory / "made.jsonl").read_bytes() == (directory / "written.jsonl").read_bytes()


def test_the_report_is_that_of_the_program(pictures: Node, directory: Path) -> None:
    flow = Flow(pictures.image_stats().keep_keys(keys=["stats"]).to_jsonl(path="a.jsonl"), name="measured")
    report = run(flow)
    assert (report.flow, report.status, report.error, report["jsonl"].samples) == ("measured", "ok", "", 26)
    assert report.cache == str(directory / "cache")
    with pytest.raises(KeyError, match="there was no node 'x'; there were underfolder, image-stats, keep-keys, jsonl"):
        report["x"]
    assert str(report).splitlines()[4].split() == ["jsonl", "26", "26", ".", ".", "."]
    done = larder(
        "run",
        "-",
        "--report",
        "-",
        text=str(pictures.image_stats().keep_keys(keys=["stats"]).to_jsonl(path="b.jsonl")),
    )
    document = json.loads(done.stdout)
    assert set(document["nodes"][0]) <= set(type(report.nodes[0]).__dataclass_fields__)
    assert report_of({**document, "new": 1}).nodes[1].computed == 26


def test_a_node_is_run_without_a_sink(pictures: Node) -> None:
    train, test = pictures.image_resize(width=8).split(sizes={"train": 20, "test": None})
    assert run(train)["image-resize"].computed == 20
    report = run(Flow(train.image_stats(), test.to_images(path="a")))
    assert report["image-stats"].computed == 20
    assert report["images"].samples == 6


def test_only_what_is_asked_for_is_run(letters: Node, directory: Path) -> None:
    one, other = letters.to_jsonl(path="one.jsonl"), letters.to_csv(path="other.csv", columns=["metadata"])
    flow = one + other
    run(flow, only=["jsonl"])
    assert (directory / "one.jsonl").exists()
    assert not (directory / "other.csv").exists()
    assert run(flow, only=[letters]).nodes[-1].name == "letters"
    for wrong in ("jsonl", letters):
        with pytest.raises(TypeError, match=r"only: .* is not a list; give a list of nodes"):
            run(flow, only=wrong)  # type: ignore[arg-type]
    with pytest.raises(FlowError, match='unknown node "jsnl"; did you mean "jsonl"'):
        run(flow, only=["jsnl"])
    with pytest.raises(KeyError, match="is not in this flow"):
        run(flow, only=[letters.clone()])


def test_values_of_variables(letters: Node) -> None:
    node = letters.repeat(times=var("times", 1)).set_value(key="a", value=var("text", "x"))
    flow = node.to_jsonl(path="a.jsonl", overwrite="replace")
    assert run(flow)["jsonl"].samples == 26
    assert run(flow, set={"times": 2, "text": "007"})["jsonl"].samples == 52
    assert json.loads(Path("a.jsonl").read_text().splitlines()[0])["a"] == "007"
    with pytest.raises(TypeError, match="variable times takes a string, a number or a boolean, not list"):
        run(flow, set={"times": [2]})  # type: ignore[dict-item]
    with pytest.raises(FlowError, match='the flow has no variable "time" to set; did you mean "times"'):
        run(flow, set={"time": 2})


def test_profiles_of_a_flow_file(directory: Path) -> None:
    (directory / "f.yaml").write_text("""version: 1
vars: {times: 1}
profiles: {twice: {times: 2}}
nodes:
  letters: {source: underfolder, with: {path: data}}
  many: {op: repeat, from: letters, with: {times: "${times}"}}
""")
    assert run("f.yaml", profile="twice", only=["many"])["many"].samples == 52


def test_what_is_wrong_is_said_with_the_node(pictures: Node) -> None:
    for node, says in [
        (
            pictures.map("image-resise", width=8),
            r"node image-resise: there is no map \"image-resise\"; did you mean",
        ),
        (pictures.image_resize(width=-3, name="small"), r"^[\w.-]+\.yaml:\d+:5: node small: width is -3"),
        (pictures.compute(set={"x": "1 +"}, name="sum"), "node sum: set x: expression"),
        (pictures.map("image-resize", width="8"), r'node image-resize: width must be an integer, not the string "8"'),
        (pictures.clone(workers=0), "node clone: workers must be an integer from 1"),
    ]:
        with pytest.raises(FlowError, match=says):
            run(node)


def test_a_run_that_fails_says_how_far_it_got(pictures: Node) -> None:
    with pytest.raises(RunError, match="node image-stats: sample 0: item metadata is a mapping, not an image") as e:
        run(pictures.image_stats(item="metadata").to_underfolder(path="a"), workers=1)
    assert isinstance(e.value, FlowError)
    assert e.value.report is not None
    assert e.value.report.status == "failed"
    assert not Path("a").exists()


def test_a_sink_does_not_write_over_what_is_there(letters: Node) -> None:
    flow = letters.to_jsonl(path="a.jsonl")
    run(flow)
    with pytest.raises(FlowError, match=r"a\.jsonl"):
        run(flow)


def test_samples_that_are_skipped_are_in_the_report() -> None:
    Path("rows.jsonl").write_text('{"a": 1}\n{"a": "x"}\n{"a": 3}\n')
    flow = jsonl(path="rows.jsonl").compute(set={"b": "a * 2"}, name="double").to_jsonl(path="out.jsonl")
    report = run(flow, on_error=1)
    assert [(s.node, s.sample) for s in report.skips] == [("double", 1)]
    assert report["double"].skipped == 1
    assert "x" in report.skips[0].error or "text" in report.skips[0].error
    with pytest.raises(RunError):
        run(jsonl(path="rows.jsonl").compute(set={"c": "a * 2"}).to_jsonl(path="none.jsonl"), on_error="fail")


def test_warnings_of_the_run_are_warnings(monkeypatch: pytest.MonkeyPatch, directory: Path, pictures: Node) -> None:
    # Nothing can be cached if the cache directory cannot be created: the run reports it and continues.
    (directory / "file").write_text("")
    monkeypatch.delenv("LARDER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory / "file"))
    with pytest.warns(LarderWarning, match="no cache directory: results are cached for this run only"):
        report = run(pictures.image_stats())
    assert report["image-stats"].computed == 26


def test_relative_paths_start_at_the_current_folder(monkeypatch: pytest.MonkeyPatch, letters: Node) -> None:
    Path("below").mkdir()
    (Path("below") / "data").symlink_to(LETTERS)
    monkeypatch.chdir("below")
    run(letters.to_jsonl(path="out.jsonl"))
    assert Path("out.jsonl").exists()
    assert not Path("../out.jsonl").exists()


class Turns:
    """A command that requests a turn for each picture and waits for it, unless turns are over."""

    def __init__(self, directory: Path) -> None:
        self._asked, self._given, self._over = (directory / name for name in ("asked", "given", "over"))
        os.mkfifo(self._asked)
        os.mkfifo(self._given)
        script = directory / "wait.sh"
        script.write_text(
            f'[ -e "{self._over}" ] || {{ echo > "{self._asked}"; read _ < "{self._given}"; }}\n'
            'cp "$LARDER_IN"/image.* "$LARDER_OUT/"\n'
        )
        self.params: dict[str, Any] = {"command": ["sh", str(script)], "items": ["image"], "into": ["image"]}

    def give(self, times: int, then: Callable[[], None]) -> threading.Thread:
        """Give a number of turns, and call a function when the next one is requested."""

        def turns() -> None:
            for _ in range(times):
                self._asked.read_text()
                self._given.write_text("\n")
            self._asked.read_text()
            then()

        thread = threading.Thread(target=turns, daemon=True)
        thread.start()
        return thread

    def end(self) -> None:
        """Release all waiting commands, and let later ones pass."""
        self._over.touch()

    def end_and_give(self) -> None:
        self.end()
        self._given.write_text("\n")


def test_progress_is_drawn_on_one_line_and_cleared(
    pictures: Node, monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    class Screen(io.StringIO):
        def write(self, text: str) -> int:
            if "waiting: 1 of 26" in text:
                seen.set()
            return super().write(text)

    seen, out = threading.Event(), Screen()
    monkeypatch.setattr("sys.stderr", out)
    turns = Turns(directory)

    def when_seen() -> None:
        seen.wait(60)
        turns.end_and_give()

    giver = turns.give(1, then=when_seen)
    run(pictures.exec(**turns.params, name="waiting", checkpoint=True), workers=1, progress=True)
    giver.join(60)
    assert seen.is_set()
    assert not out.getvalue().split("\r")[-1].strip()
    assert "\n" not in out.getvalue()


def test_ctrl_c_ends_the_run_and_keeps_what_was_computed(
    pictures: Node, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            started.append(self)
            super().__init__(*args, **options)

    started: list[Noted] = []
    monkeypatch.setattr(subprocess, "Popen", Noted)
    turns = Turns(directory)
    giver = turns.give(3, then=lambda: os.kill(os.getpid(), signal.SIGINT))
    node = pictures.exec(**turns.params, keep=True, name="waiting")
    with pytest.raises(KeyboardInterrupt):
        run(node, workers=1)
    giver.join(60)
    assert started[0].returncode == 130  # it ended on its own
    turns.end()
    report = run(node, workers=1)
    assert report["waiting"].from_store >= 3
    assert report["waiting"].computed + report["waiting"].from_store == 26


KILLED = """
import os, sys, threading
import larder

def work(n):
    if n == 4 and os.path.exists("begun"):
        with open("begun", "w") as begun:
            begun.write("begun")
        while True:  # what it says has no reader then
            print("at work", file=sys.stderr, flush=True)
            threading.Event().wait(0.001)
    return n

if __name__ == "__main__":
    node = larder.jsonl(path="rows.jsonl").map(work, items=["n"], into=["m"], keep=True, version="1", name="work")
    running = threading.Thread(target=larder.run, args=[node.to_jsonl(path="out.jsonl")], kwargs={"workers": 1})
    running.start()
    with open("begun") as begun:
        begun.read()
    if sys.argv[1:] == ["fork"] and not (child := os.fork()):
        sys.stdin.read()  # it outlives its parent
        os._exit(0)
    print("killed", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("options", [[], ["fork"]])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_end_of_python_ends_the_run_and_keeps_what_was_computed(
    directory: Path, options: list[str], number: signal.Signals
) -> None:
    (directory / "killed.py").write_text(KILLED)
    (directory / "rows.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(8)))
    for fifo in ("begun", "lives"):
        os.mkfifo(directory / fifo)
    # The program and everything that it starts hold the pipe open.
    program = directory / "program"
    program.write_text(f'#!/bin/sh\nexec 9> "{directory}/lives"\nexec "{built()}" "$@"\n')
    program.chmod(0o755)
    before = set(os.listdir(directory))
    command = [sys.executable, "killed.py", *options]
    environment = {**os.environ, "LARDER_BIN": str(program), "TMPDIR": str(directory)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as killed:
        lives = os.open(directory / "lives", os.O_RDONLY)  # once the program has begun
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"killed\n"
        killed.send_signal(number)
        assert os.read(lives, 1) == b""  # no started process is left
        os.close(lives)
        assert killed.wait() == -number
    left = {name for name in set(os.listdir(directory)) - before if name != "__pycache__"}
    assert left <= {"cache", *(name for name in left if name.startswith("larder-"))}, "a part of the output is left"
    (directory / "begun").unlink()
    done = subprocess.run([sys.executable, "-c", AGAIN], check=True, capture_output=True, text=True)
    # The fourth result may have been in flight to the store.
    assert done.stdout in ("4 4\n", "3 5\n")
    assert (directory / "out.jsonl").read_text().count("\n") == 8


AGAIN = """
import killed, larder
node = larder.jsonl(path="rows.jsonl").map(killed.work, items=["n"], into=["m"], keep=True, version="1", name="work")
report = larder.run(node.to_jsonl(path="out.jsonl"))
print(report["work"].from_store, report["work"].computed)
"""


def test_components_of_ones_own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LARDER_BIN", built("./examples/extension"))
    july = source("station", path=str(ROOT / "examples" / "extension" / "july.txt"))
    report = run(july.map("fahrenheit", digits=1).keep_keys(keys=["fahrenheit"]).to_jsonl(path="july.jsonl"))
    assert report["fahrenheit"].component == "fahrenheit"
    assert "fahrenheit" in json.loads(Path("july.jsonl").read_text().splitlines()[0])


def test_a_program_that_cannot_be_run_is_said(letters: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Path("silent")
    script.write_text("#!/bin/sh\ncat >/dev/null\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("LARDER_BIN", str(script.resolve()))
    with pytest.raises(RunError, match="larder ended with status 3"):
        run(letters)


def test_options_are_checked(letters: Node) -> None:
    wrong: Any = run
    with pytest.raises(TypeError):
        wrong(letters, worker=1)
    with pytest.raises(FlowError, match="--on-error"):
        run(letters, on_error="sometimes")
