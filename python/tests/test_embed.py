"""Test the OpenAI client with larder embed and, for comparison, with the service itself."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import struct
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

openai: Any = pytest.importorskip("openai", reason="the client of OpenAI is not installed")

KEY = "sk-of-the-tests"


def vector(model: str, text: Any, dimensions: int) -> list[float]:
    """Return float32s that depend on the whole request."""
    sum = hashlib.sha256(json.dumps([model, text]).encode()).digest()
    return list(
        struct.unpack(f"<{dimensions}f", struct.pack(f"<{dimensions}f", *(sum[i] / 100 for i in range(dimensions))))
    )


class Service(ThreadingHTTPServer):
    """An embeddings service that counts requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_GET(self) -> None:
        self.answer(200, {"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "me"}]})

    def do_POST(self) -> None:
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return self.refuse(401, "no such key")
        if q["model"] == "busy":
            return self.refuse(429, "too many", {"Retry-After": "3600"})
        if q["model"] != "m":
            return self.refuse(404, "no such model")
        inputs = q["input"] if isinstance(q["input"], list) and not isinstance(q["input"][0], int) else [q["input"]]
        if "too long" in inputs:
            return self.refuse(400, "too long")
        with self.server.lock:
            self.server.seen.update(map(str, inputs))
        data: list[dict[str, Any]] = []
        for i, text in enumerate(inputs):
            made: Any = vector(q["model"], text, q.get("dimensions", 8))
            if q.get("encoding_format") == "base64":
                made = base64.b64encode(struct.pack(f"<{len(made)}f", *made)).decode()
            data.append({"object": "embedding", "index": i, "embedding": made})
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        self.answer(200, {"object": "list", "data": data, "model": "m", "usage": usage})

    def refuse(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
        self.answer(status, {"error": error}, headers)

    def answer(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def url(program: str, service: Service, tmp_path: Path) -> Iterator[str]:
    """The base URL of a larder embed in front of the service."""
    command = [
        program,
        "embed",
        "--upstream",
        service.url,
        "--listen",
        "127.0.0.1:0",
        "--cache",
        str(tmp_path / "cache"),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        yield found[0]
        process.kill()


def client(url: str, key: str = KEY) -> Any:
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0)


CALLS: dict[str, Callable[[Any], Any]] = {
    "a string": lambda c: c.embeddings.create(model="m", input="one"),
    "no text": lambda c: c.embeddings.create(model="m", input=""),
    "texts": lambda c: c.embeddings.create(model="m", input=["one", "ü\u2028😀", "one"]),
    "tokens": lambda c: c.embeddings.create(model="m", input=[1, 2, 3]),
    "lists of tokens": lambda c: c.embeddings.create(model="m", input=[[1, 2], [3]]),
    "dimensions": lambda c: c.embeddings.create(model="m", input="one", dimensions=3),
    "numbers": lambda c: c.embeddings.create(model="m", input=["one", "two"], encoding_format="float"),
    "base64": lambda c: c.embeddings.create(model="m", input=["one", "two"], encoding_format="base64"),
    "a user": lambda c: c.embeddings.create(model="m", input="one", user="me"),
    "more": lambda c: c.embeddings.create(model="m", input="one", extra_body={"input_type": "query"}),
    "models": lambda c: c.models.list(),
    "another model": lambda c: c.embeddings.create(model="n", input="one"),
    "too long": lambda c: c.embeddings.create(model="m", input=["new", "too long"]),
    "busy": lambda c: c.embeddings.create(model="busy", input="one"),
    "another key": lambda c: client(str(c.base_url), "sk-other").embeddings.create(model="m", input="never requested"),
}


def outcome(call: Callable[[Any], Any], url: str) -> Any:
    """Return what the client sees: the result, or the error."""
    try:
        return call(client(url)).model_dump(exclude={"usage"}, warnings="none")
    except openai.APIStatusError as e:
        return type(e), e.status_code, e.body, e.response.headers.get("retry-after")


@pytest.mark.parametrize("name", CALLS)
def test_the_client_notices_no_difference(name: str, service: Service, url: str) -> None:
    want = outcome(CALLS[name], service.url)
    service.seen.clear()
    for _ in range(3):
        assert outcome(CALLS[name], url) == want
    assert set(service.seen.values()) <= {1}


def test_many_clients_at_once_ask_for_each_text_once(service: Service, url: str) -> None:
    async def ask() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as c:

            async def one(n: int) -> None:
                texts = [f"text {(n * 7 + i) % 100}" for i in range(40)]
                got = await c.embeddings.create(model="m", input=texts)
                assert [d.embedding for d in got.data] == [vector("m", text, 8) for text in texts]

            await asyncio.gather(*(one(n) for n in range(50)))

    asyncio.run(ask())
    assert len(service.seen) == 100
    assert set(service.seen.values()) == {1}
