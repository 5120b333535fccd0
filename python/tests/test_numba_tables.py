"""Test tables of numba in which a program registers how compiler passes treat its own kinds of code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from numba_case import Case, needs_numba

pytestmark = needs_numba

TABLES = """
    import json
    import os
    import sys
    import larder.numba
    larder.numba.install()
    import numba.parfors.parfor
    from numba import njit
    from larder.numba import _registered

    class Kind:
        pass

    class Other:
        pass

    @njit(cache=True)
    def f(x):
        return x + 1

    def made(k):
        def step(*args):
            return k
        return step

    def digest(table, kind, k):
        out, into = os.pipe()
        if os.fork() == 0:
            if kind and isinstance(table, list):
                table.append(made(k))
            elif kind:
                table[kind] = made(k)
            os.write(into, larder.numba.why(f).digest.encode())
            os._exit(0)
        os.close(into)
        with open(out) as said:
            return said.read()

    def numbas():
        for module in [m for name, m in sorted(sys.modules.items()) if name.partition(".")[0] == "numba"]:
            for name, table in vars(module).items():
                if _registered.is_extended(name) and isinstance(table, (dict, list)):
                    yield f"{module.__name__}.{name}", table

    read = dict(_registered.extensions())
    lacking = [name for name, table in numbas() if not any(table is one for one in read.values())]
    edits = [(None, 0), (Kind, 1), (Kind, 1), (Kind, 2), (Other, 1), (("g", "m"), 1), (("h", "m"), 1)]
    found = {}
    for name, table in read.items():
        some = edits[:4] if isinstance(table, list) else edits
        found[name] = [digest(table, *edit) for edit in some]
    print(json.dumps([found, lacking]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_an_edit_of_what_is_in_any_table_of_extensions_counts(real: Path, tmp_path: Path) -> None:
    case = Case(tmp_path / "case")
    case.write("tables", TABLES)
    found, lacking = json.loads(case.script("tables")[-1])
    assert lacking == []
    assert {name.rpartition(".")[2] for name in found} >= {
        "alias_func_extensions",
        "array_analysis_extensions",
        "ir_extension_insert_dels",
        "ir_extension_usedefs",
        "remove_call_handlers",
        "remove_dead_extensions",
        "typeinfer_extensions",
        "visit_vars_extensions",
    }
    for name, (without, one, same, *others) in found.items():
        assert one == same, name
        assert len({without, one, *others}) == 2 + len(others), name
