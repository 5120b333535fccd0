"""Run all edits with one memoizer, and print a line of JSON for each."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import pickle
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

from code_edits import CASES, Case

warnings.simplefilter("ignore")


def use_larder(directory: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Cache results by function identity and argument key, unless anything else is read or drawn."""
    from larder._identity.code.identity import identify
    from larder._identity.digest import digest
    from larder._memo.files import paths_in
    from larder._identity.environment import nondefault_settings
    from larder._reads.audit import Watch

    def call(*args: Any) -> Any:
        identity = identify(f)
        key = digest((args, nondefault_settings()), used=identity.names, names=identity.names_files)
        path = os.path.join(directory, identity.digest.hex() + key.hex())
        if os.path.exists(path):
            with open(path, "rb") as file:
                return pickle.load(file)
        with Watch(paths_in(args), identity.threads) as watch:
            value = f(*args)
        if not watch.reason():
            with open(path, "wb") as file:
                pickle.dump(value, file)
        return value

    return call


def use_joblib(directory: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Cache results with joblib."""
    import joblib

    return joblib.Memory(directory, verbose=0).cache(f)


def use_diskcache(directory: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Cache results with diskcache."""
    import diskcache

    return diskcache.Cache(directory).memoize()(f)


def use_evalcache(directory: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Cache results with evalcache."""
    import evalcache

    lazy = evalcache.Lazy(cache=directory)(f)
    return lambda *args: lazy(*args).unlazy()


class _Said:
    """A return value, represented by its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def use_torchcache(directory: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Cache results with torchcache, as tensors of the bytes of their texts, as it caches only tensors.

    It receives the source of the function itself, by which it identifies functions.
    """
    import torch
    import torchcache

    held: list[Any] = []

    @functools.wraps(f)
    def rows(x: Any) -> Any:
        text = repr(f(*held[-1])).encode()
        return torch.tensor([list(text.ljust(_ROW))], dtype=torch.uint8)

    cached = torchcache.torchcache(persistent=True, persistent_cache_dir=directory)(rows)

    def call(*args: Any) -> Any:
        held.append(args)
        row = cached(torch.ones(1, 8))[0]  # in the type of its argument
        return _Said(bytes(map(int, row.tolist())).decode().rstrip(" "))

    return call


_ROW = 4096

TOOLS = {
    "larder": use_larder,
    "joblib": use_joblib,
    "diskcache": use_diskcache,
    "evalcache": use_evalcache,
    "torchcache": use_torchcache,
}


def attempt(files: dict[str, str], call: str, directory: str, tool: str | None, cache: str) -> dict[str, Any]:
    """Write a program, call its function, and return its result and whether it was executed."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    os.chdir(directory)
    sys.path.insert(0, directory)
    for name, text in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    import m

    name, _, rest = call.partition("(")
    function = eval(name, {"m": m})
    args = eval("(" + rest[:-1] + ",)", {"m": m})
    found: dict[str, Any] = {"ran": False}

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(directory):
            found["ran"] = True

    try:
        if tool is not None:
            os.makedirs(cache, exist_ok=True)
            function = TOOLS[tool](cache, function)
            sys.setprofile(seen)
        found["value"] = repr(function(*args))
    except Exception as err:
        kind = type(err).__name__
        found["refused" if kind in ("CodeError", "ArgumentError") else "failed"] = f"{kind}: {err}"
    finally:
        sys.setprofile(None)
    return found


def apart(*task: Any) -> dict[str, Any]:
    """Run `attempt` in a separate process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        out = os.dup(2)
        os.dup2(out, 1)
        try:
            found = attempt(*task)
        except BaseException as err:
            found = {"failed": f"{type(err).__name__}: {err}"}
        os.write(write, json.dumps(found).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answered:
        text = answered.read().decode()
    os.waitpid(child, 0)
    found = json.loads(text or '{"failed": "it died"}')
    return found


def verdict(case: Case, tool: str, place: str) -> str:
    """Return the outcome of an edit with a tool."""
    directory, cache = f"{place}/program", f"{place}/cache"
    shutil.rmtree(cache, ignore_errors=True)
    before = apart(case.before, case.call, directory, tool, cache)
    after = apart(case.after, case.call, directory, tool, cache)
    truth = apart(case.after, case.call, directory, None, cache)
    if "refused" in before or "refused" in after:
        return "refused"
    raised = "failed" in truth and truth.get("failed") == after.get("failed")
    if "failed" in before or ("failed" in after and not raised):
        return "failed"
    if case.want == "differ":
        return "stale" if not after["ran"] and after.get("value") != truth.get("value") else "right"
    return "needless" if case.want == "same" and after["ran"] else "right"


def main() -> None:
    """Run all edits with the named tool."""
    tool = sys.argv[1]
    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401  # once, and not in each child
    if tool != "larder":
        __import__(tool)
    place = tempfile.mkdtemp()
    for case in CASES:
        if case.needs == "torch" or (case.needs and importlib.util.find_spec(case.needs) is None):
            continue  # torch is installed for torchcache only
        print(json.dumps({"name": case.name, "want": case.want, "verdict": verdict(case, tool, place)}), flush=True)
    shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
