"""Test loaders of servers on other machines, with real servers over TLS."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import far
import pytest

import larder
from larder._client import remote

np = pytest.importorskip("numpy", reason="NumPy is not installed")

N = 50


@pytest.fixture
def directory(real: Path) -> Path:
    """A flow directory: rows with numbers, lists of some length, text and documents."""
    with open(real / "rows.jsonl", "w") as file:
        for i in range(N):
            row = {"x": [i, 2 * i], "n": i, "seq": list(range(1 + i % 7)), "text": f"é{i}", "doc": {"i": [i, None]}}
            file.write(json.dumps(row) + "\n")
    flow = "version: 1\nnodes:\n  rows:\n    source: jsonl\n    with: {path: rows.jsonl}\n"
    (real / "flow.yaml").write_text(flow)
    far.token_file(real)
    far.certificates(real)
    return real


@pytest.fixture
def server(program: str, directory: Path) -> Iterator[far.Server]:
    tls = ["--tls-cert", str(directory / "server.pem"), "--tls-key", str(directory / "server.key")]
    made = far.Server(program, directory, *tls, "--token-file", str(directory / "token"))
    yield made
    made.close()


Make = Callable[..., larder.Loader]


@pytest.fixture
def loader(server: far.Server) -> Make:
    """Create loaders of the server; `port` connects them through another port."""

    def make(port: int | None = None, **options: Any) -> larder.Loader:
        url = f"https://127.0.0.1:{port or server.port}/flow.yaml"
        said = {"node": "rows", "batch_size": 4, "token": far.TOKEN, "ca": server.directory / "ca.pem", **options}
        return larder.Loader(url, **said)

    return make


def plain(value: Any) -> Any:
    """Return a value of a batch as lists."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, memoryview) and value.format == "B" and value.ndim == 1:
        return bytes(value)
    return value.tolist() if hasattr(value, "tolist") else value


FORMS = [
    {"fields": {"x": {"dtype": "float32", "scale": 0.5}, "n": None, "seq": "pad", "text": "text", "doc": "json"}},
    {"fields": {"seq": "list", "text": "bytes"}, "tensors": None},
    {"fields": {"seq": "packed"}, "pack": 16, "batch_size": 2, "length": "len(seq)"},
    {"fields": ["n"], "shuffle": True, "seed": 3, "drop_last": True, "subset": range(3, 49)},
    {"fields": ["n"], "rank": 1, "world_size": 3, "tokens": 9, "length": "len(seq)"},
]


@pytest.mark.parametrize("options", FORMS)
def test_batches_are_those_of_this_machine(loader: Make, server: far.Server, options: dict[str, Any]) -> None:
    def all_of(batches: larder.Loader) -> list[Any]:
        with batches:
            said = [
                [(b.epoch, b.samples, b.padding, {k: plain(v) for k, v in b.items()}) for b in batches]
                for _ in range(2)
            ]
            return [len(batches), batches.state_dict()["state"].split(".", 2)[2], said]

    here = larder.Loader(server.directory / "flow.yaml", "rows", **{"batch_size": 4, **options})
    assert all_of(loader(**options)) == all_of(here)


def test_arrays_look_at_what_was_received(loader: Make) -> None:
    with loader(fields=["x", "n"]) as batches:
        cached = list(batches)
        owners = []
        for name in ("x", "n"):
            owner = cached[0][name]
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            owners.append(owner.base)
        assert isinstance(owners[0], bytearray)
        assert owners[0] is owners[1]
        cached[0]["x"][:] = -1
        assert [b["n"].tolist() for b in cached] == [list(range(k, min(k + 4, N))) for k in range(0, N, 4)]


def test_states_epochs_and_ranks(loader: Make) -> None:
    options: dict[str, Any] = {"shuffle": True, "seed": 5, "batch_size": 2, "fields": ["n"], "last_step": "uneven"}
    with loader(**options) as batches:
        whole = [b.samples for _ in range(3) for b in batches]
        batches.set_epoch(7)
        assert {b.epoch for b in batches} == {7}
    seen: list[list[int]] = []
    state: dict[str, Any] | None = None
    for ranks in (2, 3, 1):
        loaders = [loader(rank=rank, world_size=ranks, **options) for rank in range(ranks)]
        for one in loaders:
            if state is not None:
                one.load_state_dict(state)
        iterations = [iter(one) for one in loaders]
        for _ in range(3):
            seen += [next(iteration).samples for iteration in iterations]
        state = loaders[0].state_dict()
        for one in loaders:
            one.close()
    assert seen == whole[: len(seen)]
    with loader(**options | {"seed": 6}) as other:
        other.load_state_dict(state or {})
        with pytest.raises(larder.StateError, match="seed"):
            next(iter(other))


def test_break_begins_the_next_epoch(loader: Make) -> None:
    with loader(fields=["n"]) as batches:
        for _ in batches:
            break
        assert [(b.epoch, b.samples[0]) for b in batches] == [(1, n) for n in range(0, N, 4)]


def test_errors_are_of_the_same_classes(loader: Make, server: far.Server) -> None:
    (server.directory / "wrong.yaml").write_text("version: 1\nnodes:\n  rows:\n    source: nothing-such\n")
    with pytest.raises(larder.RequestError, match="missing"):
        len(loader(node="missing"))
    url = f"https://127.0.0.1:{server.port}/"
    known: dict[str, Any] = {"node": "rows", "token": far.TOKEN, "ca": server.directory / "ca.pem"}
    with pytest.raises(larder.FlowError, match=r"wrong\.yaml:4"):
        len(larder.Loader(url + "wrong.yaml", **known))
    with pytest.raises(larder.RequestError, match="no flow"):
        len(larder.Loader(url + "none.yaml", **known))
    with loader(fields={"seq": "stack"}) as batches:
        for _ in range(2):  # retried over the same connection
            with pytest.raises(larder.DataError, match="seq"):
                next(iter(batches))


def test_samples_by_number(server: far.Server) -> None:
    url = f"https://localhost:{server.port}/flow.yaml"
    known: dict[str, Any] = {"token": server.directory / "token", "ca": server.directory / "ca.pem"}
    with larder.Dataset(url, "rows", fields=["x", "n", "text", "doc"], **known) as dataset:
        assert len(dataset) == N
        assert (dataset[7]["x"].tolist(), dataset[7]["text"], dataset[-1]["doc"]) == (
            [7, 14],
            "é7",
            {"i": [N - 1, None]},
        )
        seen: dict[int, list[int]] = {}

        def read(k: int) -> None:
            seen[k] = [int(dataset[i]["n"]) for i in range(k, N, 4)]

        threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == {k: list(range(k, N, 4)) for k in range(4)}
        os.truncate(server.directory / "rows.jsonl", 0)  # data that is open does not change for its clients
        assert [int(s["n"]) for s in dataset[10:4:-2]] == [10, 8, 6]


# Access


def test_tokens(loader: Make, server: far.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(larder.ServerError, match="it has another token") as wrong:
        len(loader(token="not the token at all".replace(" ", "-")))
    with pytest.raises(larder.ServerError, match="LARDER_TOKEN"):
        len(loader(token=None))
    monkeypatch.setenv("LARDER_TOKEN", far.TOKEN)
    assert len(loader(token=None)) == len(loader(token=server.directory / "token")) == 13
    assert "not-the-token" not in str(wrong.value)
    for refused in ("two\nlines", "ümlaut"):
        with pytest.raises(larder.RequestError) as said:
            len(loader(token=refused))
        assert refused not in str(said.value)


def test_authorities(loader: Make, server: far.Server) -> None:
    for ca in (server.directory / "other.pem", None):
        with pytest.raises(larder.ServerError, match=r"is not trusted.*ca="):
            len(loader(ca=ca))
    with pytest.raises(larder.RequestError, match="cannot be read"):
        len(loader(ca=server.directory / "flow.yaml"))
    with pytest.raises(larder.RequestError, match="cannot be read"):
        len(loader(certificate=server.directory / "none.pem"))


def test_certificates_of_clients(program: str, directory: Path) -> None:
    tls = ["--tls-cert", str(directory / "server.pem"), "--tls-key", str(directory / "server.key")]
    server = far.Server(program, directory, *tls, "--client-ca", str(directory / "ca.pem"))
    try:
        url = f"https://127.0.0.1:{server.port}/flow.yaml"
        known: dict[str, Any] = {"node": "rows", "batch_size": 4, "ca": directory / "ca.pem"}
        assert len(larder.Loader(url, **known, certificate=directory / "client-both.pem")) == 13
        with larder.Loader(url, **known, certificate=(directory / "client.pem", directory / "client.key")) as loader:
            assert len(pickle.loads(pickle.dumps(loader))) == 13
        for certificate in (None, (directory / "other.pem", directory / "other.key")):
            with pytest.raises(larder.ServerError, match=rf"127\.0\.0\.1:{server.port}"):
                len(larder.Loader(url, **known, certificate=certificate))
    finally:
        server.close()


def test_credentials_are_in_no_text_and_no_pickle(loader: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = loader(fields=["n"])
    data = pickle.dumps(batches)
    assert far.TOKEN not in repr(batches) + repr(vars(batches)) + repr(vars(batches._session))
    assert far.TOKEN.encode() not in data
    assert len(pickle.loads(data)) == len(copy.copy(batches)) == 13  # in the process that has it
    code = "import pickle, sys; print(len(pickle.load(sys.stdin.buffer)))"
    source = {"PYTHONPATH": str(Path(larder.__file__).parents[1])}
    for token in ({}, {"LARDER_TOKEN": far.TOKEN}):
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | source | token, input=data, capture_output=True, check=False
        )
        if token:
            assert (done.returncode, done.stdout) == (0, b"13\n"), done.stderr
        else:
            assert b"set LARDER_TOKEN" in done.stderr


@pytest.mark.parametrize(
    ("flow", "options", "error", "says"),
    [
        ("http://far.example:1/f.yaml", {}, larder.RequestError, "cleartext=True"),
        ("https://me:secret@far.example/f.yaml", {}, larder.RequestError, "token="),
        ("https://far.example:1", {}, larder.RequestError, "names no flow"),
        ("https://far.example:1/f.yaml?token=secret", {}, larder.RequestError, "names no flow"),
        ("https://far.example:99999/f.yaml", {}, larder.RequestError, "range"),
        ("http://127.0.0.1:1/f.yaml", {"ca": "ca.pem"}, larder.RequestError, "https"),
        (
            "https://far.example:1/f.yaml",
            {"cache_dir": "here"},
            TypeError,
            "cache_dir is valid only with a local flow",
        ),
        ("https://far.example:1/f.yaml", {"set": {"a": 1}}, TypeError, "set is valid only with a local flow"),
        ("flow.yaml", {"token": "secret"}, TypeError, "token is valid only with a remote flow"),
    ],
)
def test_urls(flow: str, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as said:
        larder.Loader(flow, "rows", **options)
    assert "secret" not in str(said.value)
    larder.Loader("http://far.example:1/f.yaml", "rows", cleartext=True, token="secret")


# Failures


def test_a_killed_server_that_comes_back_loses_and_repeats_nothing(loader: Make, server: far.Server) -> None:
    with open(server.directory / "rows.jsonl", "w") as file:  # more than the buffers of the system hold
        file.writelines(json.dumps({"n": i, "text": "x" * (1 << 18)}) + "\n" for i in range(N))
    seen = []
    with loader(batch_size=1, window=2) as batches:
        while batches.epoch < 4:
            for batch in batches:
                seen.append((batch.epoch, int(batch["n"][0])))
                if seen[-1] == (0, 10):
                    server.kill()
                    server.start()
                if seen[-1] == (2, 30):
                    server.kill()
                    timer = threading.Timer(0.3, server.start)
                    timer.start()
    timer.join()
    assert seen == [(epoch, n) for epoch in range(4) for n in range(N)]
    assert server.starts == 3


def test_a_server_that_stays_away_is_an_error(
    loader: Make, server: far.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "TRIES", 3)
    seen: list[tuple[int, int]] = []

    def read(epochs: float) -> None:
        while batches.epoch < epochs:
            for batch in batches:
                seen.append((batch.epoch, batch.samples[0]))
                if len(seen) == 1:
                    server.kill()

    with loader(batch_size=1, window=2, fields=["n"]) as batches:
        with pytest.raises(larder.ServerError, match=rf"4 times in a row.*127\.0\.0\.1:{server.port}"):
            read(float("inf"))
        epochs = batches.epoch + 1
        server.start()
        batches.load_state_dict(batches.state_dict())  # the epoch that was begun continues
        read(epochs)
    assert seen == [(epoch, n) for epoch in range(epochs) for n in range(N)]
    with pytest.raises(larder.ServerError, match="4 times"):
        len(loader(port=1))


def test_a_network_that_breaks_off_loses_and_repeats_nothing(loader: Make, server: far.Server) -> None:
    rng = random.Random(int(os.environ.get("LARDER_SEED", "1")))
    network = far.Network(server.port, lambda _: rng.randint(2000, 30000))
    try:
        with loader(port=network.port, batch_size=1, fields=["n", "text"]) as batches:
            seen = [(b.epoch, b.samples[0], b["text"][0]) for _ in range(10) for b in batches]
        assert seen == [(epoch, n, f"é{n}") for epoch in range(10) for n in range(N)]
        assert network.connections > 5
    finally:
        network.close()


def test_a_machine_that_says_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SILENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/flow.yaml"
        with pytest.raises(larder.ServerError, match="4 times in a row"):
            len(larder.Loader(url, "rows"))


def test_what_is_no_server_is_said(server: far.Server) -> None:
    with pytest.raises(larder.ServerError, match="status 400"):
        len(larder.Loader(f"http://127.0.0.1:{server.port}/flow.yaml", "rows"))
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            peer.recv(1)
            peer.sendall(b"no server\r\n")
            peer.recv(1 << 16)
            peer.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(larder.ServerError, match="do not agree on TLS"):
            len(larder.Loader(f"https://127.0.0.1:{listener.getsockname()[1]}/flow.yaml", "rows"))
        thread.join()


# Prefetch, and slow consumers


def test_a_thread_reads_ahead_as_far_as_it_may(loader: Make) -> None:
    for options, most in (({"window": 5}, 5), ({"ring": 200}, 3)):
        with loader(batch_size=1, fields=["n"], **options) as batches:
            iteration = iter(batches)
            assert next(iteration).samples == [0]
            stream: Any = batches._session.connection and batches._session.connection.stream
            for _ in range(2):
                wait(lambda stream=stream, most=most: len(stream._ahead._waiting) == most)  # type: ignore[misc]
                waiting = [frame for frame in stream._ahead._frames if frame.memory is not None]
                assert len(waiting) <= most
                next(iteration)
            assert [b.samples[0] for b in iteration] == list(range(3, N))


def wait(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    for _ in range(4000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come about")


def test_a_slow_client_costs_the_server_no_memory(loader: Make, server: far.Server) -> None:
    with open(server.directory / "zeros.npy", "wb") as file:  # a sparse file of 4 GiB
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (4096, 1 << 20)})
        file.truncate(file.tell() + (4 << 30))
    (server.directory / "flow.yaml").write_text(
        "version: 1\nnodes:\n  rows: {source: numpy, with: {path: zeros.npy}}\n"
    )

    def status() -> Any:
        return json.loads(server.status())

    with loader(batch_size=16, window=2) as batches:
        iteration = iter(batches)
        next(iteration)
        before = -1
        for _ in range(1000):
            time.sleep(0.1)
            now = status()["connections"][0]["reader"]["bytes"]
            if now == before:
                break
            before = now
        assert now < 512 << 20  # of 4 GiB: batches waiting here, in the system's buffers, and to be sent
        assert status()["memory_bytes"] < 1 << 30
        assert next(iteration).samples == list(range(16, 32))


def test_two_clients(loader: Make, server: far.Server) -> None:
    with loader(rank=0, world_size=2, fields=["n"]) as first, loader(rank=1, world_size=2, fields=["n"]) as second:
        iterations = [iter(first), iter(second)]
        seen = [next(iteration).samples for iteration in iterations]
        readers = json.loads(server.status())["connections"]
        assert [(c["reader"]["rank"], c["reader"]["world_size"]) for c in readers] == [(0, 2), (1, 2)]
        assert all("larder for Python" in c["client"] and "127.0.0.1" in c["client"] for c in readers)
        for batches in zip(*iterations, strict=True):
            seen += [b.samples for b in batches if not b.padding]
    assert [n for samples in seen for n in samples] == list(range(N))


# Processes


def test_a_child_has_a_connection_of_its_own(loader: Make) -> None:
    with loader(fields=["n"]) as batches:
        iteration = iter(batches)
        assert next(iteration).samples[0] == 0
        child = os.fork()
        if child == 0:
            os._exit(0 if [b.samples[0] for b in iteration] == list(range(4, N, 4)) else 1)
        assert [b.samples[0] for b in iteration] == list(range(4, N, 4))
        assert os.waitpid(child, 0)[1] == 0


def run(code: str, *words: object) -> tuple[int, bytes, bytes]:
    environment = dict(os.environ, PYTHONPATH=str(Path(larder.__file__).parents[1]), LARDER_TOKEN=far.TOKEN)
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def test_nothing_is_said_at_exit(server: far.Server) -> None:
    code = """
import larder, sys
loader = larder.Loader(sys.argv[1], "rows", ca=sys.argv[2], batch_size=1, window=2)
batches = [batch for batch, _ in zip(loader, range(3))]
print(len(batches))
"""
    url = f"https://127.0.0.1:{server.port}/flow.yaml"
    assert run(code, url, server.directory / "ca.pem") == (0, b"3\n", b"")


def test_a_loader_that_is_gone_leaves_no_thread_and_no_connection(loader: Make, server: far.Server) -> None:
    before = set(threading.enumerate())
    batches = loader(batch_size=1, window=2, fields=["n"])
    iteration = iter(batches)
    next(iteration)
    del batches, iteration
    wait(lambda: set(threading.enumerate()) <= before)
    wait(lambda: json.loads(server.status())["connections"] == [])


def test_interrupts_at_any_moment_lose_and_repeat_nothing(server: far.Server) -> None:
    code = """
import larder, numpy, random, signal, sys
generator = random.Random(1)
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
def arm():
    signal.setitimer(signal.ITIMER_REAL, 0.001 + generator.random() * 0.03)
def disarm():
    signal.setitimer(signal.ITIMER_REAL, 0)
loader = larder.Loader(sys.argv[1], "rows", ca=sys.argv[2], batch_size=1, window=4, fields=["n"])
seen, times = [], 0
batches, batch = iter(loader), None
while times < 30:
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
print(len(seen), seen == [(k // 50, k % 50) for k in range(len(seen))])
"""
    status, out, errors = run(code, f"https://127.0.0.1:{server.port}/flow.yaml", server.directory / "ca.pem")
    assert status == 0, errors
    assert out.endswith(b" True\n"), (out, errors)


# Arrow


def arrow(server: far.Server, token: str = far.TOKEN, **start: Any) -> Any:
    """Request the batches of an epoch as an Arrow stream, without this package."""
    fields = [
        {"item": "n"},
        {"item": "x", "dtype": "float32"},
        {"item": "seq", "collate": "pad"},
        {"item": "seq", "name": "list", "collate": "list"},
    ]
    fields += [{"item": "text"}, {"item": "text", "name": "raw", "collate": "bytes"}, {"item": "doc"}]
    open_ = {"flow": {"file": "flow.yaml"}, "parts": [{"node": "rows"}], "batch": {"size": 20}, "fields": fields}
    body = json.dumps({"open": open_, "start": {"epochs": 1, **start}}).encode()
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.apache.arrow.stream"}
    asked = urllib.request.Request(f"https://127.0.0.1:{server.port}/v1/batches", body, headers)
    context = ssl.create_default_context(cafile=str(server.directory / "ca.pem"))
    return urllib.request.urlopen(asked, context=context)


def test_arrow(server: far.Server) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with arrow(server) as reply, pa.ipc.open_stream(reply) as stream:
        batches = []
        while True:
            try:
                batches.append(stream.read_next_batch_with_custom_metadata())
            except StopIteration:
                break
    assert [batch.num_rows for batch, _ in batches] == [20, 20, 10]
    table = pa.Table.from_batches([batch for batch, _ in batches])
    table.validate(full=True)
    assert table["n"].to_pylist() == list(range(N))
    assert table["seq_lengths"].to_pylist() == [1 + i % 7 for i in range(N)]
    assert table["list"].to_pylist() == [list(range(1 + i % 7)) for i in range(N)]
    assert table["seq"].to_pylist()[8] == [0, 1, 0, 0, 0, 0, 0]
    assert table["text"].to_pylist() == [f"é{i}" for i in range(N)]
    assert table["raw"].type == pa.binary()
    assert [json.loads(text) for text in table["doc"].to_pylist()] == [{"i": [i, None]} for i in range(N)]
    assert table.schema.field("x").type == pa.fixed_shape_tensor(pa.float32(), [2])
    x = table["x"].combine_chunks()
    x = x.chunk(0) if isinstance(x, pa.ChunkedArray) else x
    assert np.array_equal(x.to_numpy_ndarray(), [[i, 2 * i] for i in range(N)])
    metadata = batches[0][1]
    assert json.loads(metadata[b"larder.samples"]) == list(range(20))
    with arrow(server, **{"from": metadata[b"larder.state"].decode()}) as reply:
        assert pa.ipc.open_stream(reply).read_all()["n"].to_pylist() == list(range(20, N))
    with pytest.raises(urllib.error.HTTPError) as refused:
        arrow(server, token="another token, of some length")
    with refused.value:
        assert refused.value.code == 401


# Torch


def test_memory_for_gpus_is_that_of_torch(loader: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    empty = torch.empty
    asked: list[Any] = []

    def unpinned(*args: Any, pin_memory: bool = False, **options: Any) -> Any:  # there may be no GPU
        asked.append((args, pin_memory))
        return empty(*args, **options)

    monkeypatch.setattr(torch, "empty", unpinned)
    monkeypatch.setattr("larder._batches.pinned.available", lambda: True)
    with loader(fields={"x": None, "n": None, "text": None, "seq": "list"}, pin_memory=True) as batches:
        cached = list(batches)
    assert all(pinned for _, pinned in asked)
    for k, batch in enumerate(cached):
        i = list(range(4 * k, min(4 * k + 4, N)))
        assert (batch["n"].tolist(), batch["x"][:, 1].tolist()) == (i, [2 * n for n in i])
        assert [part.tolist() for part in batch["seq"]] == [list(range(1 + n % 7)) for n in i]
        assert batch["text"] == [f"é{n}" for n in i]
        assert batch["n"].untyped_storage().data_ptr() == batch["x"].untyped_storage().data_ptr()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_the_batches(loader: Make, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setenv("LARDER_TOKEN", far.TOKEN)
    batches = loader(fields=["n"], tensors="torch", token=None)
    workers = torch.utils.data.DataLoader(
        batches, batch_size=None, num_workers=2, persistent_workers=True, multiprocessing_context=method
    )
    for _ in range(2):
        assert [int(n) for batch in workers for n in batch["n"]] == list(range(N))
    del workers
