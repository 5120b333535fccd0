"""Test flows that write and read at URLs, with the real program and an S3-compatible service."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from flow_program import LETTERS, built

from larder import jsonl, underfolder
from larder._flows.run import run
from larder.errors import FlowError


class Objects(BaseHTTPRequestHandler):
    """Objects in memory with their metadata, without conditions and signatures."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, tuple[bytes, dict[str, str]]]
    asked: list[str]

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        meta = {name: value for name, value in self.headers.items() if name.lower().startswith("x-amz-meta-")}
        self.objects[self.path] = (body, meta)
        self._say(200, body, meta, False)

    def do_HEAD(self) -> None:
        self._get(False)

    def do_GET(self) -> None:
        self._get(True)

    def _get(self, send: bool) -> None:
        if "list-type=2" in self.path:
            self._say(200, b"<ListBucketResult></ListBucketResult>", {}, send)
            return
        if self.path not in self.objects:
            self._say(404, b"<Error><Code>NoSuchKey</Code></Error>", {}, send)
            return
        body, meta = self.objects[self.path]
        if send and (span := self.headers["Range"]):
            first, last = (int(n) for n in span.removeprefix("bytes=").split("-"))
            said = meta | {"Content-Range": f"bytes {first}-{min(last, len(body) - 1)}/{len(body)}"}
            self._say(206, body[first : last + 1], said | {"ETag": _tag(body)}, True)
            return
        self._say(200, body, meta, send)

    def _say(self, status: int, body: bytes, headers: dict[str, str], send: bool) -> None:
        self.asked.append(self.command)
        self.send_response(status)
        for name, value in ({"ETag": _tag(body)} | headers).items():
            self.send_header(name, value)
        self.send_header("Last-Modified", "Thu, 02 Jan 2020 03:04:05 GMT")
        self.send_header("Content-Length", "0" if self.command == "PUT" else str(len(body)))
        self.end_headers()
        if send:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _tag(body: bytes) -> str:
    return '"' + hashlib.md5(body).hexdigest() + '"'


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Objects]]:
    handler = type("Handler", (Objects,), {"objects": {}, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LARDER_BIN", built())
    monkeypatch.setenv("LARDER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "name")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    (tmp_path / "data").symlink_to(LETTERS)
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_flow_writes_at_a_url_what_it_writes_here(service: type[Objects], tmp_path: Path) -> None:
    letters = underfolder(path="data").keep_keys(keys=["metadata"])
    run(letters.to_jsonl(path="here.jsonl"))
    url = "s3://bucket/made%20there.jsonl"
    there = letters.to_jsonl(path=url, overwrite="replace")
    assert [n.computed for n in run(there).nodes][-1] == 26
    assert service.objects["/bucket/made%20there.jsonl"][0] == (tmp_path / "here.jsonl").read_bytes()
    assert [(n.computed, n.from_store) for n in run(there).nodes][-1] == (0, 26)
    assert service.asked.count("PUT") == 1
    run(jsonl(path=url).to_jsonl(path="back.jsonl"))
    assert (tmp_path / "back.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()


def test_a_flow_does_not_write_what_it_reads(service: type[Objects]) -> None:
    with pytest.raises(FlowError, match="an input is never overwritten"):
        run(jsonl(path="s3://bucket/part-{00..20}.jsonl").to_jsonl(path="s3://bucket/part-07.jsonl"))
    assert not service.asked
