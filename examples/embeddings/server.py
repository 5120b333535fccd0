"""Serve a small model with OpenAI's API: python server.py [--port N] [--key KEY]."""

from __future__ import annotations

import argparse
import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from model import Model


class Service(ThreadingHTTPServer):
    """State shared by requests: the model, used by one at a time, and the number of texts it received."""

    daemon_threads = True

    def __init__(self, port: int, key: str) -> None:
        super().__init__(("127.0.0.1", port), Answer)
        self.key, self.model = key, Model()
        self.lock, self.texts, self.calls = threading.Lock(), 0, 0


class Answer(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Service

    def do_GET(self) -> None:
        if self.path == "/counts":
            self.answer(200, {"texts": self.server.texts, "calls": self.server.calls})
        else:
            model = {"id": self.server.model.name, "object": "model", "created": 0, "owned_by": "me"}
            self.answer(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {self.server.key}":
            return self.refuse(401, "no such key")
        if q["model"] != self.server.model.name:
            return self.refuse(404, f"no such model: {q['model']}")
        inputs = [q["input"]] if isinstance(q["input"], str) else q["input"]
        with self.server.lock:
            self.server.calls += 1
            self.server.texts += len(inputs)
            data, used = [], 0
            for i, text in enumerate(inputs):
                tokens = self.server.model.tokens(text)
                used += len(tokens)
                vector = self.server.model.embed(tokens)
                shown: Any = vector.tolist()
                if q.get("encoding_format") == "base64":
                    shown = base64.b64encode(vector.tobytes()).decode()
                data.append({"object": "embedding", "index": i, "embedding": shown})
        usage = {"prompt_tokens": used, "total_tokens": used}
        self.answer(200, {"object": "list", "data": data, "model": q["model"], "usage": usage})

    def refuse(self, status: int, message: str) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
        self.answer(status, {"error": error})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8600, help="0 takes any")
    parser.add_argument("--key", default="sk-mine", help="what clients send")
    args = parser.parse_args()
    service = Service(args.port, args.key)
    print(f"http://127.0.0.1:{service.server_address[1]}/v1", flush=True)
    service.serve_forever()
