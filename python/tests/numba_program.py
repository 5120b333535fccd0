"""Run a module with functions of numba in a separate process, and print their outcomes."""

from __future__ import annotations

import importlib
import json
import os
import sys


def main() -> None:
    directory, name = sys.argv[1:3]
    sys.path.insert(0, directory)
    sys.dont_write_bytecode = True
    if os.environ.get("TEST_BEFORE"):
        importlib.import_module(os.environ["TEST_BEFORE"])
    import larder.numba

    larder.numba.install(key_file=os.environ.get("TEST_KEY"))
    module = importlib.import_module(name)
    results = module.run()
    rows = [[row.function, row.types, row.state, row.reason] for row in larder.numba.report()]
    print(json.dumps({"results": results, "rows": rows}))


if __name__ == "__main__":
    main()
