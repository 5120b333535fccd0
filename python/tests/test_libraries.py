"""Objects and settings of libraries, of whatever version."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import larder
from larder._keys import digest
from larder._results import encode
from larder._surroundings import modes_of_torch, surroundings


def test_what_a_version_of_a_library_lacks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1]})
    monkeypatch.delattr(pandas.core.generic.NDFrame, "flags")
    with pytest.raises(larder.ArgumentError, match=r"DataFrame of pandas \d.*AttributeError.*say key="):
        digest(frame)
    with pytest.raises(larder.ArgumentError, match=r"value\[1\] is a DataFrame of pandas"):
        digest([1, frame])
    with pytest.raises(larder.ResultError, match="this DataFrame cannot be kept: AttributeError"):
        encode(frame)


@pytest.mark.parametrize("lacking", ["flags", "attrs"])
def test_functions_with_values_that_cannot_be_read_are_refused(monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    pandas = pytest.importorskip("pandas")
    held = pandas.Series([1])

    def function() -> int:
        return int(held[0])

    monkeypatch.delattr(pandas.core.generic.NDFrame, lacking)
    with pytest.raises(larder.UnkeyableError, match=r"captured held.*Series of pandas"):
        larder.memo(function).why()


def test_settings_that_a_version_of_a_library_lacks_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "numpy", "sklearn", "pandas"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert surroundings() is not None
    assert modes_of_torch(True) == []


def test_tensors_have_keys_in_every_version() -> None:
    torch = pytest.importorskip("torch")
    assert digest(torch.ones(3)) == digest(torch.ones(3)) != digest(torch.zeros(3))


_HELD = {
    "options of pandas": (
        "pandas",
        "import pandas\ndef f(x): return '%d' % V\npandas.set_option('display.float_format', f)",
        "str(pandas.Series([1.5]))",
    ),
    "options of NumPy": (
        "numpy",
        "import numpy\ndef f(x): return '%d' % V\nnumpy.set_printoptions(formatter={'float': f})",
        "str(numpy.array([1.5]))",
    ),
    "accessors": (
        "pandas",
        "import pandas\n@pandas.api.extensions.register_series_accessor('mine')\nclass A:\n"
        "    def __init__(self, s): pass\n    def total(self): return V",
        "pandas.Series([1]).mine.total()",
    ),
    "handlers of errors": (
        "",
        "import codecs\ndef f(e): return str(V), e.end\ncodecs.register_error('mine', f)",
        "'\\xe9'.encode('ascii', 'mine')",
    ),
    "codecs": (
        "",
        "import codecs\ncodecs.register(lambda n: codecs.CodecInfo(lambda s, e='': (b'%d' % V, len(s)), None, name=n)"
        " if n == 'mine' else None)",
        "'a'.encode('mine')",
    ),
    "methods of the encoder of json": (
        "",
        "import json\ndef f(self, o): return V\njson.JSONEncoder.default = f",
        "json.dumps(object())",
    ),
    "what shows warnings": (
        "",
        "import warnings\ndef show(*a, **k): raise ValueError(V)\nwarnings.showwarning = show",
        "warnings.warn('a')",
    ),
    "what makes records of loggers": (
        "",
        "import logging\ndef f(*a, **k): raise ValueError(V)\nlogging.setLogRecordFactory(f)",
        "1",
    ),
    "a time zone of the same names": (
        "",
        "import datetime, os, time\nos.environ['TZ'] = ('', 'Europe/Berlin', 'Europe/Paris')[V]\ntime.tzset()",
        "datetime.datetime(1940, 1, 1).astimezone().isoformat()",
    ),
    "a tokenizer": (
        "tokenizers",
        "import tokenizers\nt = tokenizers.Tokenizer(tokenizers.models.WordLevel({'a': V, 'u': 0}, unk_token='u'))",
        "t.encode('a').ids",
    ),
    "a distribution with the generator of the process": (
        "scipy",
        "import scipy.stats\nD = scipy.stats.norm(0, V)",
        "float(D.cdf(0.5))",
    ),
    "hooks of all modules": (
        "torch",
        "import torch\nm = torch.nn.Identity().eval()\n"
        "torch.nn.modules.module.register_module_forward_hook(lambda mod, given, out: out * V)",
        "m(torch.ones(1)).tolist()",
    ),
}

_KEY = """
import larder
@larder.memo
def g(x): return {expression}
known = g._function_now()
print(g._key(known, (1,), {{}}).hex(), known.identity.digest.hex())
"""


@pytest.mark.parametrize("name", _HELD)
def test_what_libraries_hold_is_part_of_keys(name: str, tmp_path: Path) -> None:
    needs, made, expression = _HELD[name]
    if needs:
        pytest.importorskip(needs)
    if "zone" in name and not Path("/usr/share/zoneinfo/Europe/Paris").exists():
        pytest.skip("the machine has no time zones")

    def key(v: int) -> str:
        program = tmp_path / "program.py"
        program.write_text(f"V = {v}\n{made}\n" + _KEY.format(expression=expression))
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert key(1) == key(1) != key(2)
