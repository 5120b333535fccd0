"""Test the loader against a server in Python."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import queue
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Serve
from fake import Gone, Peer, Script

import larder

np = pytest.importorskip("numpy", reason="NumPy is not installed")


def firsts(batches: Any) -> list[int]:
    """Return the first sample of each batch, read from its memory."""
    return [int(batch["x"][0, 0]) for batch in batches]


def loader(**options: Any) -> larder.Loader:
    return larder.Loader("flow.yaml", "images", **{"batch_size": 4, **options})


def test_an_epoch_is_all_batches_in_their_order(serve: Serve) -> None:
    script = Script(samples=10)
    serve(script)
    with loader() as batches:
        assert len(batches) == 3
        seen = [(b["x"].tolist(), b.samples, b.epoch, b.padding) for b in batches]
    assert seen == [([[n] * 4 for n in part], part, 0, 0) for part in ([0, 1, 2, 3], [4, 5, 6, 7], [8, 9])]


def test_requests_are_as_the_protocol_says(serve: Serve) -> None:
    script = Script()
    serve(script)
    options: dict[str, Any] = {"shuffle": True, "seed": 7, "drop_last": True, "window": 8, "ring": 1 << 20}
    with loader(**options, set={"n": 3}, fields={"x": "pad"}) as batches:
        next(iter(batches))
    (hello, said), (opened, request), (started, start) = script.seen[:3]
    assert (hello, opened, started) == ("hello", "open", "start")
    assert said["protocol"] == [1]
    assert request == {
        "flow": {"file": os.path.abspath("flow.yaml")},
        "python": os.path.abspath(sys.executable),
        "set": {"n": "3"},
        "parts": [{"node": "images"}],
        "order": "shuffled",
        "seed": 7,
        "last_step": "pad",
        "batch": {"size": 4, "last_batch": "drop"},
        "fields": [{"item": "x", "collate": "pad"}],
    }
    assert start == {"rank": 0, "world_size": 1, "epoch": 0, "window": 8, "ring": 1 << 20}


def test_epochs_follow_each_other_from_one_reader(serve: Serve) -> None:
    script = Script(samples=8)
    serve(script)
    with loader() as batches:
        epochs = [[b.epoch for b in batches] for _ in range(3)]
    assert epochs == [[0, 0], [1, 1], [2, 2]]
    assert len(script.starts()) == 1


def test_break_begins_the_next_epoch(serve: Serve) -> None:
    script = Script(samples=20)
    serve(script)
    with loader() as batches:
        for _ in batches:
            break
        assert [(b.epoch, b.samples[0]) for b in batches] == [(1, n) for n in range(0, 20, 4)]
    assert [name for name, _ in script.seen].count("open") == 1  # stopped, and started again


def test_set_epoch_chooses(serve: Serve) -> None:
    serve(Script(samples=8))
    with loader() as batches:
        batches.set_epoch(5)
        assert [b.epoch for b in batches] == [5, 5]
        batches.set_epoch(6)
        assert [b.epoch for b in batches] == [6, 6]
        batches.set_epoch(6)
        assert [b.epoch for b in batches] == [6, 6]
        assert batches.epoch == 7


def test_state_goes_on_with_exactly_the_next_batch(serve: Serve) -> None:
    script = Script(samples=40)
    serve(script)
    with loader() as whole:
        every = [(b.epoch, b.samples) for _ in range(2) for b in whole]
    for n in range(1, 20):
        with loader() as first:
            seen: list[Any] = []
            while len(seen) < n:
                for batch in first:
                    seen.append((batch.epoch, batch.samples))
                    if len(seen) == n:
                        break
            asked = len(script.seen)
            state = first.state_dict()
            assert len(script.seen) == asked  # no request was sent
            assert state == {"state": batch.state}
            assert len(state["state"]) <= 64
        with loader() as second:
            second.load_state_dict(state)
            second.set_epoch(state["state"].count("~") + second.epoch)  # of the same epoch: nothing changes
            while second.epoch < 2:
                seen += [(b.epoch, b.samples) for b in second]
        assert seen == every


def test_state_before_reading_is_the_start(serve: Serve) -> None:
    script = Script(samples=8)
    serve(script)
    with loader() as batches:
        state = batches.state_dict()
        assert state["state"].endswith(".0.0")
        assert firsts(batches) == [0, 4]
    assert len(script.starts()) == 1


@pytest.mark.parametrize("state", [{}, {"state": 3}, {"state": "nonsense"}, {"state": "a.b.-.~"}, None])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(larder.StateError, match="not the state of a loader"):
        loader().load_state_dict(state)


def test_ranks_share_the_batches(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(samples=16)
    serve(script)
    with loader(rank=1, world_size=2) as second:
        assert [b.samples[0] for b in second] == [4, 12]
        assert len(second) == 2
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with loader() as first:
        assert [b.samples[0] for b in first] == [0, 8]


@pytest.mark.parametrize(("how", "lengths"), [("pad", [3, 3, 3]), ("drop", [2, 2, 2]), ("uneven", [3, 2, 2])])
def test_len_is_that_of_the_rank(serve: Serve, how: Any, lengths: list[int]) -> None:
    serve(Script(samples=28))  # 7 batches
    assert [len(loader(rank=r, world_size=3, last_step=how)) for r in range(3)] == lengths


def test_memory_is_shared_and_given_back_when_the_last_view_is_gone(serve: Serve) -> None:
    script = Script(samples=400)
    serve(script)
    with loader(window=4) as batches:
        iteration = iter(batches)
        view = next(iteration)["x"][1:3, ::2]
        assert view.tolist() == [[1, 1], [2, 2]]
        for _ in range(50):
            next(iteration)
        script.wait(lambda: len(script.released) >= 48)  # the last ones soon
        cached = script.handed[0]
        assert cached not in script.released
        assert view.tolist() == [[1, 1], [2, 2]]
        del view
        while cached not in script.released:
            next(iteration)


def test_views_outlive_the_loader(serve: Serve) -> None:
    serve(Script(samples=40))
    batches = loader()
    view = next(iter(batches))["x"]
    batches.close()
    del batches
    gc.collect()
    assert view[3].tolist() == [3] * 4
    view[0, 0] = 9  # the reader may write to it


def test_who_keeps_batches_gets_copies_and_is_told_once(serve: Serve) -> None:
    script = Script(samples=400)
    serve(script)
    with loader(window=8) as batches, pytest.warns(larder.LarderWarning, match="copied") as warned:
        cached = list(batches)
    assert firsts(cached) == list(range(0, 400, 4))
    assert len(warned) == 1
    assert script.most_out <= 8


def test_memory_that_is_half_full_by_bytes_is_copied(serve: Serve) -> None:
    serve(Script(samples=80))
    with loader(window=16, ring=1) as batches, pytest.warns(larder.LarderWarning, match="copied"):
        assert firsts(list(batches)) == list(range(0, 80, 4))


def test_a_ring_that_grows(serve: Serve) -> None:
    script = Script(samples=80, grow_at=5)
    serve(script)
    with loader(window=16) as batches:
        iteration = iter(batches)
        cached = [next(iteration) for _ in range(7)]
        assert firsts(cached) + firsts(iteration) == list(range(0, 80, 4))


def die(peer: Peer) -> None:
    peer.close()
    raise Gone


def test_a_server_that_dies_loses_and_repeats_nothing(serve: Serve) -> None:
    deaths: list[int] = []

    def before(peer: Peer, n: int) -> None:
        if n == 3 and len(deaths) < 4:
            deaths.append(n)
            die(peer)

    script = Script(samples=80, before=before)
    serve(script)
    with loader() as batches:
        assert [b.samples[0] for b in batches] == list(range(0, 80, 4))
    assert len(deaths) == 4
    assert [start.get("from", "").rsplit(".", 1)[-1] for start in script.starts()] == ["", "c", "o", "10", "1c"]


def test_a_server_that_always_dies_is_an_error(serve: Serve) -> None:
    script = Script(before=lambda peer, n: die(peer))
    serve(script)
    with loader() as batches:
        with pytest.raises(larder.ServerError, match="4 times in a row"):
            next(iter(batches))
        assert len(script.starts()) == 4


def test_a_server_that_is_ending_is_asked_again(serve: Serve) -> None:
    endings: list[int] = []

    def on_open(peer: Peer, said: Any) -> bool:
        if len(endings) < 2:
            endings.append(1)
            peer.send(13, {"code": "ending", "text": "about to end"})
            return True
        return False

    serve(Script(samples=8, on_open=on_open))
    with loader() as batches:
        assert firsts(batches) == [0, 4]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("request", larder.RequestError),
        ("flow", larder.FlowError),
        ("state", larder.StateError),
        ("data", larder.DataError),
        ("memory", MemoryError),
        ("new", larder.Error),
    ],
)
def test_errors_have_classes(serve: Serve, code: str, error: type[Exception]) -> None:
    def on_open(peer: Peer, said: Any) -> bool:
        peer.send(13, {"code": code, "text": "because", "later": 0})
        return True

    serve(Script(on_open=on_open))
    with pytest.raises(error, match="because"):
        next(iter(loader()))


def test_an_error_while_reading_ends_the_reader_and_not_the_connection(serve: Serve) -> None:
    def before(peer: Peer, n: int) -> None:
        if n == 2:
            peer.handed += 1
            peer.send(13, {"code": "data", "text": "sample 9 is broken"})
            raise Gone

    script = Script(before=before)
    serve(script)
    with loader() as batches:
        iteration = iter(batches)
        assert [b.samples[0] for b in (next(iteration), next(iteration))] == [0, 4]
        with pytest.raises(larder.DataError, match="broken"):
            next(iteration)
        assert [b.samples[0] for b in iteration] == [8, 12, 16]  # retried from the same position
    assert [name for name, _ in script.seen].count("open") == 1


def strange_layouts() -> Iterator[bytes]:
    """Yield layouts with a part of another type, or a missing part."""
    yield b"[" * 100_000
    field = {"name": "x", "dtype": "int64", "shape": [1, 4], "offset": 0, "bytes": 32, "collation": "stack"}
    strange = [None, True, -1, 1 << 70, 1.5, "", "?", [], [None], [[-1]], {}, {"x": 1}]
    for name in ("dtype", "shape", "offset", "bytes", "collation"):
        for value in strange:
            if name == "offset" and value in (True, 1.5):
                continue  # which is valid
            yield json.dumps({"layout": 1, "fields": [field | {name: value}]}).encode()
    for fields in (None, True, 7, "x", {"a": 1}, [field, None], [[field]]):
        yield json.dumps({"layout": 1, "fields": fields}).encode()


garbage = [
    struct.pack("<IHH", 0, 10, 1),  # not zero
    struct.pack("<IHH", 65 << 20, 10, 0),  # too large
    struct.pack("<IHH", 4, 10, 0) + b"abcd",  # a batch that is too short
    struct.pack("<IHH", 80, 10, 0) + struct.pack("<I", 9) + bytes(76),  # of no layout
    struct.pack("<IHH", 80, 10, 0) + struct.pack("<IIQQ", 3, 1000, 1 << 40, 4096) + bytes(56),  # outside of the ring
    struct.pack("<IHH", 2, 9, 0) + b"{]",
    struct.pack("<IHH", 2, 14, 0) + b"[]",
    struct.pack("<IHH", 27, 9, 0) + b'{"layout":1,"fields":[{ }]}',
    struct.pack("<IHH", 27, 9, 0) + b'{"layout":256,"fields":[]} ',
    struct.pack("<IHH", 0, 77, 0),
    struct.pack("<IHH", 3, 12, 0) + b"abc",
    *(struct.pack("<IHH", len(body), 9, 0) + body for body in strange_layouts()),
]


@pytest.mark.parametrize("data", garbage)
def test_garbage_is_an_error_and_reading_can_go_on(serve: Serve, data: bytes) -> None:
    sent: list[int] = []

    def before(peer: Peer, n: int) -> None:
        if n == 2 and not sent:
            sent.append(n)
            peer.send_raw(data)

    serve(Script(before=before))
    with loader() as batches:
        iteration = iter(batches)
        seen = [next(iteration).samples[0], next(iteration).samples[0]]
        with pytest.raises(larder.ProtocolError):
            next(iteration)
        assert seen + [b.samples[0] for b in iteration] == [0, 4, 8, 12, 16]


def test_frames_in_pieces(serve: Serve) -> None:
    def before(peer: Peer, n: int) -> None:
        note = b'{"level":"info","text":"' + b"a" * 200_000 + b'"}'
        frame = struct.pack("<IHH", len(note), 14, 0) + note
        for at in range(0, len(frame), 7919):
            peer.send_raw(frame[at : at + 7919])

    serve(Script(before=before))
    with loader() as batches:
        assert firsts(batches) == [0, 4, 8, 12, 16]


def test_notes_are_warnings_and_nothing_is_lost_where_these_are_errors(serve: Serve) -> None:
    def before(peer: Peer, n: int) -> None:
        if n == 1:
            peer.send(14, {"level": "skip", "text": "sample 3 was left out", "part": "images", "index": 3, "epoch": 0})
            peer.send(14, {"level": "warning", "text": "the disk is full"})

    serve(Script(samples=12, before=before))
    with loader() as batches:
        iteration = iter(batches)
        seen = [next(iteration).samples[0]]
        with pytest.raises(larder.SkipWarning, match="left out"):  # filterwarnings = error
            next(iteration)
        with pytest.raises(larder.LarderWarning, match="full"):
            next(iteration)
        assert seen + [b.samples[0] for b in iteration] == [0, 4, 8]


def test_interrupts_lose_nothing(serve: Serve) -> None:
    script = Script(samples=40)
    serve(script)
    with loader() as batches:
        iteration = iter(batches)
        seen = [next(iteration).samples[0]]
        connection = batches._session.connection
        assert connection is not None
        connection._batch = interrupted  # type: ignore[method-assign,assignment]
        with pytest.raises(KeyboardInterrupt):
            next(iteration)
        assert seen + [b.samples[0] for b in iteration] == list(range(0, 40, 4))
    assert len(script.starts()) == 2


def interrupted(*_: Any) -> Any:
    raise KeyboardInterrupt


def test_an_interrupt_while_waiting_keeps_the_connection(serve: Serve) -> None:
    script = Script(samples=40)
    serve(script)
    with loader(window=2) as batches:
        iteration = iter(batches)
        held = [next(iteration)]
        connection = batches._session.connection
        assert connection is not None

        class Poll:
            def poll(self, _: int) -> Any:
                raise KeyboardInterrupt

        held.append(next(iteration))
        stream: Any = connection.stream
        poll, stream._poll = stream._poll, Poll()
        with pytest.raises(KeyboardInterrupt):
            next(iteration)  # the window is empty, and it waits
        stream._poll = poll
        seen = [b.samples[0] for b in held]
        held.clear()
        assert seen + [b.samples[0] for b in iteration] == list(range(0, 40, 4))
    assert len(script.starts()) == 1


def test_arrays_may_go_in_any_thread(serve: Serve) -> None:
    script = Script(samples=400)
    serve(script)
    left: queue.Queue[Any] = queue.Queue()
    seen: list[int] = []

    def look() -> None:
        while (batch := left.get()) is not None:
            seen.append(int(batch["x"][0, 0]))

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    with loader(window=1024) as batches:
        for batch in batches:
            left.put(batch)
            del batch
    for _ in threads:
        left.put(None)
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(0, 400, 4))


def test_a_fork_goes_on_by_itself_in_both_processes(serve: Serve) -> None:
    script = Script(samples=40)
    server = serve(script)
    with loader(window=6) as batches:
        iteration = iter(batches)
        held = next(iteration)
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                rest = [held["x"][0, 0]] + [b.samples[0] for b in iteration]
                del held
                gc.collect()
                os.write(into, repr([int(n) for n in rest]).encode())
            finally:
                os._exit(0)
        os.close(into)
        rest = [held["x"][0, 0]] + [b.samples[0] for b in iteration]
        with os.fdopen(out) as pipe:
            assert pipe.read() == repr(list(range(0, 40, 4)))
        assert rest == list(range(0, 40, 4))
        os.waitpid(child, 0)
        del held
        peer = server.peers[0]
        script.wait(lambda: len(peer.given_back) >= 6)
        assert 0 not in peer.given_back  # the child uses it, too
    assert len(script.starts()) == 2


def test_many_forks_do_not_use_up_the_ring(serve: Serve) -> None:
    script = Script(samples=400)
    serve(script)
    with loader(window=4) as batches:
        seen = []
        for batch in batches:
            seen.append(batch.samples[0])
            if len(seen) < 12:
                child = os.fork()
                if child == 0:
                    os._exit(0)
                os.waitpid(child, 0)
    assert seen == list(range(0, 400, 4))
    assert 3 <= len(script.starts()) <= 6


def test_copies_and_pickles_go_on_by_themselves(serve: Serve) -> None:
    serve(Script(samples=24))
    with loader(rank=0, world_size=1) as batches:
        iteration = iter(batches)
        next(iteration)
        state = batches.state_dict()
        for twin in (pickle.loads(pickle.dumps(batches)), copy.copy(batches), copy.deepcopy(batches)):
            assert twin.state_dict() == state
            twin.load_state_dict(state)
            assert [b.samples[0] for b in twin] == [4, 8, 12, 16, 20]
            twin.close()
        assert [b.samples[0] for b in iteration] == [4, 8, 12, 16, 20]


def test_one_iteration_at_a_time(serve: Serve) -> None:
    serve(Script())
    with loader() as batches:
        first = iter(batches)
        next(first)
        second = iter(batches)
        next(second)
        with pytest.raises(RuntimeError, match="another iteration"):
            next(first)


def test_after_the_end_comes_the_end(serve: Serve) -> None:
    serve(Script(samples=4))
    with loader() as batches:
        iteration = iter(batches)
        next(iteration)
        for _ in range(3):
            assert next(iteration, None) is None


def test_close_and_go_on(serve: Serve) -> None:
    serve(Script(samples=12))
    batches = loader()
    iteration = iter(batches)
    next(iteration)
    batches.close()
    assert [b.samples[0] for b in iteration] == [4, 8]
    batches.close()


def test_a_program_that_fails_is_quoted(runtime: Path) -> None:
    began = time.monotonic()
    with pytest.raises(larder.ServerError, match=r"status 3.*\n.*no server here"):
        next(iter(loader()))
    assert time.monotonic() - began < 20


def test_batches_are_pickled_with_what_they_say(serve: Serve) -> None:
    serve(Script())
    with loader() as batches:
        batch = next(iter(batches))
        twin = pickle.loads(pickle.dumps(batch))
        assert (twin.epoch, twin.state, twin.samples) == (batch.epoch, batch.state, batch.samples)
        assert (twin["x"] == batch["x"]).all()
