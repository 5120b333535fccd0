"""Run programs of `numba_edits` in one process, and print the result and the compilations of each.

    numba_edits_program.py none|numba|larder DIRECTORY NAME...

With none, there is no cache; with numba, its own cache is used.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from typing import Any


def main() -> None:
    tool, directory, *names = sys.argv[1:]
    sys.path.insert(0, directory)
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    from numba.core import dispatcher, event
    from numba.core.caching import NullCache
    from numba.np.ufunc import ufuncbuilder, wrappers

    if tool == "none":
        for cls in (dispatcher.Dispatcher, ufuncbuilder.UFuncDispatcher):
            cls.enable_caching = lambda self: None
        wrappers.GufWrapperCache = lambda py_func: NullCache()
    if tool == "larder":
        import larder.numba

        larder.numba.install()
    compiled: list[str] = []

    class Counts(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            found = event.data["dispatcher"]
            if isinstance(found, dispatcher.Dispatcher) and found.stats.cache_path is not None:
                compiled.append(found.py_func.__qualname__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Counts())
    for name in names:
        compiled.clear()
        try:
            result = importlib.import_module(f"{name}.m").run()
        except Exception as error:
            result = f"failed: {type(error).__name__}: {error}"
        print(json.dumps({"name": name, "result": result, "compiled": len(compiled)}), flush=True)
    if tool == "larder":
        rows = [[r.function, r.state, r.reason] for r in larder.numba.report()]
        print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
