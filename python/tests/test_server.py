"""Test the package against the real server."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._batches.connection import LocalConnection
from larder._client import server

np = pytest.importorskip("numpy", reason="NumPy is not installed")

N = 50


@pytest.fixture
def flow(real: Path) -> Path:
    """A flow of rows: numbers, lists of some length, text and documents."""
    with open(real / "rows.jsonl", "w") as file:
        for i in range(N):
            row = {"x": [i, 2 * i], "n": i, "seq": list(range(1 + i % 7)), "text": f"é{i}", "doc": {"i": [i, None]}}
            file.write(json.dumps(row) + "\n")
    path = real / "flow.yaml"
    path.write_text("version: 1\nnodes:\n  rows:\n    source: jsonl\n    with: {path: rows.jsonl}\n")
    return path


def test_forms(flow: Path) -> None:
    fields: dict[str, Any] = {
        "x": larder.Field(item="x", dtype=np.float32, scale=0.5),
        "n": None,
        "seq": "pad",
        "text": "text",
        "doc": "json",
    }
    with larder.Loader(flow, "rows", batch_size=8, fields=fields) as loader:
        for k, batch in enumerate(loader):
            i = np.arange(k * 8, min(k * 8 + 8, N))
            assert batch["x"].dtype == np.float32
            assert np.array_equal(batch["x"], np.stack([i / 2, i], 1))
            assert np.array_equal(batch["n"], i)
            assert batch["seq_lengths"].tolist() == [1 + n % 7 for n in i]
            assert batch["seq"].tolist() == [
                [*range(1 + n % 7), *([0] * (batch["seq"].shape[1] - 1 - n % 7))] for n in i
            ]
            assert batch["text"] == [f"é{n}" for n in i]
            assert batch["doc"] == [{"i": [n, None]} for n in i]
            assert batch.samples == i.tolist()


@pytest.mark.parametrize("tensors", ["numpy", None])
def test_lists_and_bytes(flow: Path, tensors: Any) -> None:
    fields = {"seq": "list", "text": "bytes", "n": None}
    with larder.Loader(flow, "rows", batch_size=8, fields=fields, tensors=tensors) as loader:
        batch = next(iter(loader))
    assert [part.tolist() for part in batch["seq"]] == [list(range(1 + n % 7)) for n in range(8)]
    assert [json.loads(bytes(part)) for part in batch["text"]] == [f"é{n}" for n in range(8)]
    assert all(isinstance(part, memoryview) for part in batch["text"])
    assert batch["n"].tolist() == list(range(8))


def test_rows_of_tokens(flow: Path) -> None:
    options: dict[str, Any] = {"pack": 16, "batch_size": 2, "length": "len(seq)", "fields": {"seq": "packed"}}
    with larder.Loader(flow, "rows", **options) as loader:
        lengths: list[int] = []
        for batch in loader:
            assert batch["seq"].shape[1] == 16
            flat = batch["seq"].reshape(-1)
            for offset, length in zip(batch["seq_offsets"], batch["seq_lengths"], strict=True):
                assert flat[offset : offset + length].tolist() == list(range(length))
                lengths.append(int(length))
    assert sorted(lengths) == sorted(1 + n % 7 for n in range(N))


def test_orders(flow: Path) -> None:
    with larder.Loader(flow, "rows", shuffle=True, seed=3, fields=["n"]) as loader:
        epochs = [[int(n) for b in loader for n in b["n"]] for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(N))
    assert epochs[0] != epochs[1]
    with larder.Loader(flow, "rows", replacement=True, draws=70, fields=["n"]) as loader:
        assert sum(len(b["n"]) for b in loader) == 70
    with larder.Loader(flow, "rows", subset=range(3, 30, 9), fields=["n"]) as loader:
        assert [b["n"].tolist() for b in loader] == [[3, 12, 21]]
    with larder.Loader(flow, "rows", subset=[5, 2], fields=["n"]) as loader:
        assert [b["n"].tolist() for b in loader] == [[5, 2]]
    with larder.Loader(flow, "rows", subset=[9, 1, 4], fields=["n"]) as loader:
        assert [b["n"].tolist() for b in loader] == [[9, 1, 4]]
    with larder.Loader(flow, nodes={"rows": 1}, draws=20, fields=["n"]) as loader:
        assert sum(len(b["n"]) for b in loader) == 20


def test_states_go_on_with_any_number_of_ranks(flow: Path) -> None:
    rng = random.Random(int(os.environ.get("LARDER_SEED", "1")))
    options: dict[str, Any] = {"shuffle": True, "seed": 5, "batch_size": 3, "fields": ["n"], "last_step": "uneven"}
    with larder.Loader(flow, "rows", **options) as loader:
        whole = [b.samples for _ in range(3) for b in loader]
    seen: list[list[int]] = []
    state: dict[str, Any] | None = None
    while len(seen) < len(whole):
        ranks, rounds = rng.randint(1, 3), rng.randint(1, 4)
        loaders = [larder.Loader(flow, "rows", rank=r, world_size=ranks, **options) for r in range(ranks)]
        for one in loaders:
            if state is not None:
                one.load_state_dict(state)
        iterations = [iter(one) for one in loaders]
        for _ in range(rounds):
            got = [next(iteration, None) for iteration in iterations]
            seen += [b.samples for b in got if b is not None]
            if got[0] is None:
                break
        state = loaders[0].state_dict()
        assert len(state["state"]) <= 64
        for one in loaders:
            one.close()
    assert seen == whole[: len(seen)]


def test_a_state_of_something_else_is_refused(flow: Path) -> None:
    with larder.Loader(flow, "rows", seed=1, shuffle=True) as loader:
        state = loader.state_dict()
    with larder.Loader(flow, "rows", seed=2, shuffle=True) as other:
        other.load_state_dict(state)
        with pytest.raises(larder.StateError, match="seed"):
            next(iter(other))


def test_a_state_of_another_flow_is_refused(flow: Path) -> None:
    text = flow.read_text()
    with larder.Loader(flow, "rows", fields=["n"]) as loader:
        state = loader.state_dict()
    mapper = "    map: compute\n    with: {set: {m: n}}\n"
    for edited, node in [
        (f"{text}  more:\n    from: rows\n{mapper}", "more"),
        (text.replace("rows:", "plain:") + f"  rows:\n    from: plain\n{mapper}", "rows"),
    ]:
        flow.write_text(edited)
        with larder.Loader(flow, node, fields=["n"]) as other:
            other.load_state_dict(state)
            with pytest.raises(larder.StateError, match="another flow, node or dataset"):
                next(iter(other))
    flow.write_text(text.replace("rows.jsonl", "./rows.jsonl") + "# the same\n")
    with larder.Loader(flow, "rows", fields=["n"]) as same:
        same.load_state_dict(state)
        assert next(iter(same)).samples[0] == 0


def test_a_killed_server_is_started_again_and_nothing_is_lost(flow: Path) -> None:
    with larder.Loader(flow, "rows", batch_size=1, window=4, fields=["n"]) as loader:
        seen = []
        for batch in loader:
            seen.append(int(batch["n"][0]))
            if len(seen) in (10, 30):
                os.kill(loader_server(), signal.SIGKILL)
    assert seen == list(range(N))


def test_files_that_change_while_a_server_is_killed_are_no_part_of_the_same_epoch(flow: Path) -> None:
    rows = flow.with_name("rows.jsonl")

    def edit() -> None:
        os.kill(loader_server(), signal.SIGKILL)
        text = rows.read_text().replace('"n": 49', '"n": 94')
        rows.write_text(text)
        os.utime(rows, (1, 1))

    with larder.Loader(flow, "rows", batch_size=5, fields=["n"], window=2) as loader:
        batches = iter(loader)
        seen = [n for _ in range(4) for n in next(batches)["n"].tolist()]
        edit()

        def read() -> None:
            for batch in batches:
                seen.extend(batch["n"].tolist())

        with pytest.raises(larder.DataError, match="changed during this epoch"):
            read()
        assert seen == list(range(len(seen)))
        assert len(seen) < N
        read()
        assert seen == [*range(N - 1), 94]
        edit()
        assert [n for batch in loader for n in batch["n"].tolist()] == seen  # another epoch may have others


@pytest.mark.parametrize("options", [{"window": 1}, {"window": 2}, {"window": 3}, {"ring": 1}, {"ring": 1 << 16}, {}])
def test_who_keeps_all_batches_gets_all(flow: Path, options: dict[str, Any]) -> None:
    with larder.Loader(flow, "rows", batch_size=1, fields=["x", "n"], **options) as loader:
        with pytest.warns(larder.LarderWarning, match="the program retains"):
            cached = list(loader)
        assert [batch["n"].tolist() for batch in cached] == [[n] for n in range(N)]
        following = list(loader)  # while all of those are in use
        assert [batch["x"].tolist() for batch in cached] == [[[n, 2 * n]] for n in range(N)]
        assert [batch["n"].tolist() for batch in following] == [[n] for n in range(N)]


@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_plain_loop_copies_nothing_whatever_the_window(flow: Path, window: int) -> None:
    with larder.Loader(flow, "rows", batch_size=1, fields=["n"], window=window) as loader, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [n for batch in loader for n in batch["n"].tolist()] == list(range(N))
    with pytest.raises(larder.RequestError, match="window=0"):
        larder.Loader(flow, "rows", window=0)


def test_a_server_that_is_killed_before_it_listens_is_started_again(
    flow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = os.environ["LARDER_BIN"]
    times = flow.with_name("times")
    wrapper = flow.with_name("wrapper")
    wrapper.write_text(
        f'#!/bin/sh\n[ "$1" = serve ] || exec {program} "$@"\necho >> {times}\n'
        f'[ $(wc -l < {times}) -ge 3 ] || kill -9 $$\nexec {program} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("LARDER_BIN", str(wrapper))
    with larder.Loader(flow, "rows") as loader:
        assert len(loader) == 2
        assert len(times.read_text().splitlines()) == 3
        os.kill(loader_server(), signal.SIGTERM)


def loader_server() -> int:
    """Return the process of the server."""
    at = server.address(None)
    command = [at.program, "serve", "--cache", at.cache, "--socket", at.socket, "--status", "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return int(said["pid"])


def test_errors(flow: Path) -> None:
    with pytest.raises(larder.RequestError, match="missing"):
        len(larder.Loader(flow, "missing"))
    with pytest.raises(larder.RequestError, match="batch"):
        len(larder.Loader(flow, "rows", batch_size=-1))
    wrong = flow.with_name("wrong.yaml")
    wrong.write_text("version: 1\nnodes:\n  rows:\n    source: nothing-such\n")
    with pytest.raises(larder.FlowError, match=r"wrong\.yaml:4"):
        len(larder.Loader(wrong, "rows"))
    with pytest.raises(larder.DataError, match="seq"):
        next(iter(larder.Loader(flow, "rows", fields={"seq": "stack"})))


class Text:
    """A flow that is not in a file."""

    name = "rows"

    def __init__(self, text: str) -> None:
        self.text = text

    def to_yaml(self) -> str:
        return self.text


def test_flows_that_are_no_files(flow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(flow.parent)
    text = flow.read_text().replace("rows.jsonl", '"${name}"') + "vars: {name: none}\n"
    with larder.Loader(Text(text), set={"name": "rows.jsonl"}, fields=["n"]) as loader:
        assert len(loader) == 2


def test_samples_by_number(flow: Path) -> None:
    with larder.Dataset(flow, "rows", fields=["x", "n", "text", "doc"]) as dataset:
        assert len(dataset) == N
        sample = dataset[7]
        assert (sample["x"].tolist(), int(sample["n"])) == ([7, 14], 7)
        assert (sample["text"], sample["doc"]) == ("é7", {"i": [7, None]})
        assert dataset[-1]["n"] == N - 1
        assert [int(s["n"]) for s in dataset[10:4:-2]] == [10, 8, 6]
        assert [int(s["n"]) for s in dataset.__getitems__([3, 3, -2])] == [3, 3, N - 2]
        cached = list(dataset)
        assert [int(s["n"]) for s in cached] == list(range(N))
        for wrong in (N, -N - 1):
            with pytest.raises(IndexError, match="no sample"):
                dataset[wrong]


def test_samples_by_threads(flow: Path) -> None:
    seen: dict[int, list[int]] = {}
    with larder.Dataset(flow, "rows", fields=["n"]) as dataset:

        def read(k: int) -> None:
            seen[k] = [int(dataset[i]["n"]) for i in range(k, N, 4)]

        threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == {k: list(range(k, N, 4)) for k in range(4)}


def test_a_second_thread_is_refused_and_takes_nothing(flow: Path) -> None:
    refused: set[str] = set()
    seen: list[int] = []
    with larder.Loader(flow, "rows", batch_size=1, fields=["n"]) as loader:
        batches = iter(loader)

        def read() -> None:
            while len(seen) < N:
                try:
                    seen.extend(next(batches)["n"].tolist())
                except StopIteration:
                    return
                except RuntimeError as error:
                    refused.add(str(error))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(seen) == list(range(N))
    assert all("another thread" in text for text in refused)


def test_copies_go_on_where_the_loader_was(flow: Path) -> None:
    with larder.Loader(flow, "rows", batch_size=20, fields=["n"]) as loader:
        next(iter(loader))
        with pickle.loads(pickle.dumps(loader)) as copy:
            assert [b["n"][0] for b in copy] == [20, 40]
            assert [b["n"][0] for b in copy] == [0, 20, 40]


def test_an_epoch_of_which_nothing_came_is_begun_again(flow: Path) -> None:
    with larder.Loader(flow, "rows", batch_size=20, fields=["n"]) as loader:
        iter(loader)
        assert [b.epoch for b in loader] == [0, 0, 0]
        iter(loader)
        assert [b.epoch for b in loader] == [1, 1, 1]


def test_names_of_fields(flow: Path) -> None:
    with larder.Loader(flow, "rows", fields={"number": larder.Field(item="n"), "seq": "pad"}) as loader:
        assert set(next(iter(loader))) == {"number", "seq", "seq_lengths"}
    with pytest.raises(larder.RequestError, match="the name seq_lengths"):
        next(iter(larder.Loader(flow, "rows", fields={"seq_lengths": larder.Field(item="n"), "seq": "pad"})))
    with pytest.raises(larder.RequestError, match="scale of n=0"):
        larder.Loader(flow, "rows", fields={"n": {"scale": 0}})


def test_plain_memory(flow: Path) -> None:
    with larder.Loader(flow, "rows", batch_size=4, fields=["x"], tensors=None) as loader:
        batch = next(iter(loader))
    assert batch["x"].tolist() == [[n, 2 * n] for n in range(4)]
    with larder.Dataset(flow, "rows", fields=["x"], tensors=None) as dataset:
        assert dataset[3]["x"].tolist() == [3, 6]


def test_many_start_one_server(flow: Path) -> None:
    code = "import larder, sys; print(len(larder.Loader(sys.argv[1], 'rows')))"
    source = str(Path(larder.__file__).parents[1])
    environment = dict(os.environ, PYTHONPATH=source)
    command = [sys.executable, "-W", "error", "-c", code, str(flow)]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)
    ]
    said = [process.communicate(timeout=60) for process in processes]
    assert said == [(b"2\n", b"")] * 6


def test_nothing_is_said_at_exit_while_batches_are_looked_at(flow: Path) -> None:
    code = """
import larder, sys
loader = larder.Loader(sys.argv[1], "rows", batch_size=4, fields=["x"])
batches = [batch for batch, _ in zip(loader, range(3))]
view = batches[0]["x"][1:]
"""
    environment = dict(os.environ, PYTHONPATH=str(Path(larder.__file__).parents[1]))
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, str(flow)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def run(code: str, *words: object) -> subprocess.Popen[bytes]:
    """Start a Python with the package."""
    environment = dict(os.environ, PYTHONPATH=str(Path(larder.__file__).parents[1]))
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def communicated(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Wait for a process, and end it if that takes too long."""
    try:
        return process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(process.communicate()) from None


def test_an_interrupt_of_the_terminal_does_not_reach_the_server(flow: Path) -> None:
    code = """
import larder, sys
loader = larder.Loader(sys.argv[1], "rows", batch_size=1)
try:
    while True:
        for _ in loader:
            if loader.epoch == 2:
                print("reading", flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""
    process = run(code, flow)
    assert process.stdout is not None
    assert process.stdout.readline() == b"reading\n"
    before = loader_server()
    os.killpg(process.pid, signal.SIGINT)
    out, _ = communicated(process)
    assert out.endswith(b"interrupted\n")
    assert loader_server() == before


def test_interrupts_at_any_moment_lose_and_repeat_nothing(flow: Path) -> None:
    code = """
import larder, numpy, random, signal, sys
generator = random.Random(int(sys.argv[2]))
def interrupt(*_):
    raise KeyboardInterrupt
def arm():
    signal.setitimer(signal.ITIMER_REAL, generator.random() * 0.02)
def disarm():
    signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, interrupt)
loader = larder.Loader(sys.argv[1], "rows", batch_size=1, window=4, fields=["n"])
seen, times, epochs = [], 0, int(sys.argv[3])
batches, batch = iter(loader), None
while loader.epoch < epochs:
    try:
        arm()
        for batch in batches:
            seen.append((batch.epoch, batch.samples[0]))
        disarm()
        batches = iter(loader)
    except KeyboardInterrupt:
        times += 1
        if batch is not None and seen[-1:] != [(batch.epoch, batch.samples[0])]:
            seen.append((batch.epoch, batch.samples[0]))
disarm()
print(times, seen == [(e, n) for e in range(epochs) for n in range(50)])
"""
    process = run(code, flow, os.environ.get("LARDER_SEED", "1"), 400)
    out, errors = communicated(process)
    assert out.endswith(b" True\n"), (out, errors)
    times, _ = out.split()
    assert int(times) > 20


def test_a_resumed_reader_has_the_memory_of_the_one_before(flow: Path) -> None:
    with larder.Loader(flow, "rows", batch_size=4, fields=["n"]) as loader:
        held = next(iter(loader))
        state = loader.state_dict()
        connection = loader._session.connection
        assert isinstance(connection, LocalConnection)
        ring = connection.ring
        for _ in range(40):
            loader.load_state_dict(state)
            batch = next(iter(loader))
            assert batch["n"].tolist() == [4, 5, 6, 7]
        assert connection is loader._session.connection
        assert connection.ring is ring
        assert held["n"].tolist() == [0, 1, 2, 3]
