"""Test samples by index, against a server in Python."""

from __future__ import annotations

import os
from typing import Any

import pytest
from conftest import Serve
from fake import Gone, Peer, Script

import larder

np = pytest.importorskip("numpy", reason="NumPy is not installed")


def first(sample: dict[str, Any]) -> int:
    return int(sample["x"][0])


def test_samples_are_asked_for_and_given_back(serve: Serve) -> None:
    script = Script(samples=20)
    serve(script)
    with larder.Dataset("flow.yaml", "images") as dataset:
        assert len(dataset) == 20
        cached = [dataset[i] for i in range(10)] + dataset.__getitems__([12, 11])
        assert [first(sample) for sample in cached] == [*range(10), 12, 11]
        script.wait(lambda: len(script.released) == len(script.handed) == 12)
    names = [name for name, _ in script.seen]
    assert names == ["hello", "open", "start", *["get"] * 11]
    assert script.starts() == [{"window": 0}]


def test_a_sample_that_cannot_be_read_is_an_error_of_its_own(serve: Serve) -> None:
    script = Script(samples=20)
    serve(script)
    with larder.Dataset("flow.yaml", "images") as dataset:
        with pytest.raises(larder.DataError, match="sample 13"):
            dataset.__getitems__([3, 13, 5])
        assert first(dataset[5]) == 5
    assert [name for name, _ in script.seen].count("open") == 1


def test_a_server_that_dies_is_asked_again(serve: Serve) -> None:
    deaths: list[int] = []

    def before(peer: Peer, n: int) -> None:
        if n == 2 and not deaths:
            deaths.append(n)
            peer.close()
            raise Gone

    serve(Script(samples=20, before=before))
    with larder.Dataset("flow.yaml", "images") as dataset:
        assert [first(sample) for sample in dataset.__getitems__([4, 3, 2, 1])] == [4, 3, 2, 1]
    assert deaths == [2]


def test_an_interrupt_leaves_nothing_behind(serve: Serve) -> None:
    script = Script(samples=20)
    serve(script)
    with larder.Dataset("flow.yaml", "images") as dataset:
        dataset[0]
        connection = dataset._session.connection
        assert connection is not None
        taken: list[int] = []
        take = connection.take

        def interrupted() -> Any:
            if taken:
                raise KeyboardInterrupt
            taken.append(1)
            return take()

        connection.take = interrupted  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            dataset.__getitems__([1, 2, 3])
        assert [first(sample) for sample in dataset[7:9]] == [7, 8]


def test_a_child_has_a_connection_of_its_own(serve: Serve) -> None:
    script = Script(samples=20)
    serve(script)
    with larder.Dataset("flow.yaml", "images") as dataset:
        dataset[0]
        child = os.fork()
        if child == 0:
            os._exit(0 if first(dataset[3]) == 3 else 1)
        assert first(dataset[4]) == 4
        assert os.waitpid(child, 0)[1] == 0
    assert [name for name, _ in script.seen].count("hello") == 2
