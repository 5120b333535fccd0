"""Identify functions of programs, each in a separate process.

Reads a line of JSON for each: files, call and directory. Answers with a line: the digest of the
function and of its arguments, or why they are refused, and its result.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import signal
import sys
import warnings
from typing import Any

from larder import Error
from larder._identity.code.identity import identify
from larder._identity.digest import digest
from larder._identity.environment import nondefault_settings
from larder._memo.files import paths_in
from larder._reads.audit import Watch

warnings.simplefilter("ignore")


def answer(task: dict[str, Any]) -> dict[str, Any]:
    os.chdir(task["directory"])
    sys.path.insert(0, task["directory"])
    for name, text in task["files"].items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    import m  # type: ignore[import-not-found]

    call = ast.parse(task["call"], mode="eval").body
    assert isinstance(call, ast.Call)
    space = {"m": m}
    function = eval(ast.unparse(call.func), space)
    args = eval(f"({', '.join(map(ast.unparse, call.args))},)", space)
    found: dict[str, Any] = {}
    try:
        identity = identify(function)
        found["digest"] = (
            identity.digest.hex()
            + digest(
                (args, nondefault_settings()), used=identity.names, reached=identity.reached, names=identity.names_files
            ).hex()
        )
        found["check"] = identity.check()
    except Error as err:
        found["refused"] = str(err)
    watch = None
    if "digest" in found:
        watch = Watch(paths_in(args), identity.threads, caches=identity.caches, follows=identity.follows)
    try:
        with watch or contextlib.nullcontext():
            found["result"] = repr(function(*args))
    except Exception as err:
        found["result"] = type(err).__name__
    if watch is not None and watch.reason():
        found["refused"] = watch.reason()
    return found


def main() -> None:
    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401  # once, and not in each child
    for line in sys.stdin:
        task = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(90)
            sys.stdout = sys.stderr
            try:
                found = answer(task)
            except BaseException as err:
                found = {"failed": f"{type(err).__name__}: {err}"}
            os.write(write, json.dumps(found).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as answered:
            text = answered.read().decode()
        os.waitpid(child, 0)
        print(text or '{"failed": "it died"}', flush=True)


if __name__ == "__main__":
    main()
