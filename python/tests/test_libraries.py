"""Test objects and settings of libraries, in any version."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import larder
from larder._identity import distribution
from larder._identity.code import patches, refusals, rules, settings
from larder._identity.code.identity import identify
from larder._identity.digest import digest
from larder._identity.environment import modes_of_torch, nondefault_settings
from larder._results import encode


def test_what_a_version_of_a_library_lacks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1]})
    monkeypatch.delattr(pandas.core.generic.NDFrame, "flags")
    with pytest.raises(larder.ArgumentError, match=r"DataFrame of pandas \d.*AttributeError.*pass key="):
        digest(frame)
    with pytest.raises(larder.ArgumentError, match=r"value\[1\] is a DataFrame of pandas"):
        digest([1, frame])
    with pytest.raises(larder.ResultError, match="this DataFrame cannot be cached: AttributeError"):
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
    assert nondefault_settings() is not None
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
    "a path in a string": (
        "",
        "import sys, types\nparts = types.ModuleType('parts')\nparts.go = lambda: V\nsys.modules['parts'] = parts",
        "str('parts.go')",
    ),
    "hooks of all modules": (
        "torch",
        "import torch\nm = torch.nn.Identity().eval()\n"
        "torch.nn.modules.module.register_module_forward_hook(lambda mod, given, out: out * V)",
        "m(torch.ones(1)).tolist()",
    ),
}

_PATCHED = {
    "a method": ("pandas", "import pandas\ndef f(self): return V\npandas.DataFrame.mine = f", "x.mine()"),
    "an accessor": (
        "pandas",
        "import pandas\n@pandas.api.extensions.register_dataframe_accessor('mine')\nclass A:\n"
        "    def __init__(self, s): pass\n    def total(self): return V",
        "x.mine.total()",
    ),
    "a replaced method": ("pandas", "import pandas\npandas.Series.clip = lambda self, *a: V", "x.clip(0)"),
    "a method of a class that is based on others": (
        "pandas",
        "import pandas\npandas.core.groupby.DataFrameGroupBy.mine = lambda self: V",
        "x.groupby('a').mine()",
    ),
    "an operator": ("pandas", "import pandas\npandas.DataFrame.__add__ = lambda self, o: V", "x + 1"),
    "a method by a name that only data has": (
        "pandas",
        "import pandas\npandas.DataFrame.mine = lambda self: V",
        "getattr(x, x)()",
    ),
    "a property of paths": ("", "import pathlib\npathlib.PurePath.mine = property(lambda self: V)", "x.mine"),
    "a method of tensors": ("torch", "import torch\ntorch.Tensor.mine = lambda self: V", "x.mine()"),
    "what calls of a module call": (
        "torch",
        "import torch\nold = torch.nn.Linear.forward\n"
        "torch.nn.Linear.forward = lambda self, given: old(self, given) * V",
        "x(1)",
    ),
}

_REGISTERED = {
    "constructors of YAML": (
        "yaml",
        "import yaml\nyaml.SafeLoader.add_constructor('!x', lambda loader, node: V)",
        "yaml.load('!x a', Loader=yaml.SafeLoader)",
    ),
    "tags of YAML": (
        "yaml",
        "import yaml\nyaml.SafeLoader.add_constructor(f'!{V}', lambda loader, node: 1)",
        "yaml.load('!1 a', Loader=yaml.SafeLoader)",
    ),
    "patterns of YAML": (
        "yaml",
        "import re, yaml\nyaml.SafeLoader.add_implicit_resolver('!x', re.compile(f'{V}'), ['1', '2'])",
        "yaml.safe_load('1')",
    ),
    "representers of YAML": (
        "yaml",
        "import yaml\nclass Q: pass\nyaml.SafeDumper.add_representer(Q, lambda d, o: d.represent_scalar('!q', str(V)))",
        "yaml.safe_dump(x)",
    ),
    "divergences": (
        "torch",
        "import torch\nclass D(torch.distributions.Normal): pass\n"
        "@torch.distributions.register_kl(D, D)\ndef kl(p, q): return V",
        "torch.distributions.kl_divergence(x, x)",
    ),
    "trees": (
        "torch",
        "import torch\nclass Q: pass\n"
        "trees = vars(torch.utils._pytree)\n"  # under another name in old versions
        "register = trees.get('register_pytree_node') or trees['_register_pytree_node']\n"
        "register(Q, lambda n: ([V], None), lambda c, _: Q())",
        "torch.utils._pytree.tree_flatten(x)[0]",
    ),
    "names of levels": ("", "import logging\nlogging.addLevelName(35, str(V))", "logging.getLevelName(x)"),
    "how objects are copied": (
        "",
        "import copy, copyreg\nclass Q: pass\ncopyreg.pickle(Q, lambda q: (str, (V,)))",
        "copy.copy(x)",
    ),
    "types of pandas": (
        "pandas",
        "import pandas\n@pandas.api.extensions.register_extension_dtype\n"
        "class T(pandas.api.extensions.ExtensionDtype):\n    name = 'mine'\n    type = (int, int, float)[V]",
        "pandas.array([1], dtype='mine')",
    ),
    "calendars of pandas": (
        "pandas",
        "import pandas\nfrom pandas.tseries.holiday import AbstractHolidayCalendar\n"
        "class C(AbstractHolidayCalendar):\n    rules = []\n    start = V\n",
        "pandas.tseries.holiday.get_calendar('C').start",
    ),
    "extension types of Arrow": (
        "pyarrow",
        "import pyarrow\nclass S(pyarrow.ExtensionScalar):\n    def as_py(self): return V\n"
        "class T(pyarrow.ExtensionType):\n    def __init__(self): super().__init__(pyarrow.int64(), 'mine')\n"
        "    def __arrow_ext_serialize__(self): return b''\n"
        "    @classmethod\n    def __arrow_ext_deserialize__(cls, storage, data): return cls()\n"
        "    def __arrow_ext_scalar_class__(self): return S\n"
        "pyarrow.register_extension_type(T())",
        "pyarrow.ipc.open_stream(x).read_all().to_pylist()",
    ),
    "classes that torch may load": (
        "torch>=2.5",
        "import torch\nclass C:\n    def val(self): return V\ntorch.serialization.add_safe_globals([C])",
        "torch.load(io.BytesIO(x)).val()",
    ),
}

_KEY = """
import io, larder
@larder.memo
def g(x): return {expression}
known = g._state()
print(g._key(known, (1,), {{}}).hex(), known.identity.digest.hex())
"""


@pytest.mark.parametrize("name", [*_HELD, *_PATCHED, *_REGISTERED])
def test_what_libraries_hold_is_part_of_keys(name: str, tmp_path: Path) -> None:
    needs, made, expression = {**_HELD, **_PATCHED, **_REGISTERED}[name]
    _import(needs)
    if "zone" in name and not Path("/usr/share/zoneinfo/Europe/Paris").exists():
        pytest.skip("the machine has no time zones")
    keys = [_key_of(tmp_path, v, made, expression) for v in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("name", [one for one in _PATCHED if one not in ("an operator", "what calls of a module call")])
def test_what_a_program_puts_into_classes_changes_no_key_of_code_that_names_it_not(name: str, tmp_path: Path) -> None:
    needs, made, _ = _PATCHED[name]
    _import(needs)
    keys = {_key_of(tmp_path, v, made, "x.other(1) + 1") for v in (1, 2)}
    keys.add(_key_of(tmp_path, 1, "", "x.other(1) + 1"))
    assert len(keys) == 1


@pytest.mark.parametrize("name", _REGISTERED)
def test_what_a_program_registers_changes_no_key_of_code_without_the_library(name: str, tmp_path: Path) -> None:
    needs, made, _ = _REGISTERED[name]
    _import(needs)
    keys = [_key_of(tmp_path, v, made, "x * 3") for v in (1, 2)]
    keys.append(_key_of(tmp_path, 1, "", "x * 3"))
    assert len(set(keys)) == 1


def _import(needs: str) -> None:
    """Skip a test if a library is missing or older than a version ("torch>=2.5")."""
    if needs:
        name, _, version = needs.partition(">=")
        pytest.importorskip(name, version or None)


def _key_of(directory: Path, v: int, made: str, expression: str) -> str:
    program = directory / "program.py"
    program.write_text(f"V = {v}\n{made}\n" + _KEY.format(expression=expression))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("cls", "name"), [("Linear", "forward"), ("ReLU", "half")])
def test_methods_that_are_put_into_classes_of_a_library_after_a_call(cls: str, name: str) -> None:
    torch = pytest.importorskip("torch")
    nets = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval()

    @larder.memo
    def net(x: Any) -> Any:
        with torch.no_grad():
            return nets(x) if x is not None else nets[1].half()

    before = net._state().identity.digest
    assert net._state().identity.digest == before
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(getattr(torch.nn, cls), name, lambda *_: 7)  # half is inherited
        assert net._state().identity.digest != before
    assert net._state().identity.digest == before


_OWN = {
    "a format that PIL loads": (
        "PIL",
        "import io\nfrom PIL import Image\ndef f(n):\n    b = io.BytesIO()\n"
        "    Image.new('L', (1, 1), n).save(b, format='TIFF')\n    return len(b.getvalue())",
    ),
    "a class of sympy": (
        "sympy>=1.13",
        "import sympy\nclass Square(sympy.Function):\n    @classmethod\n    def eval(cls, x):\n"
        "        return x**2 if x.is_Number else None\ndef f(n): return str(Square(sympy.Integer(n)))",
    ),
}


@pytest.mark.parametrize("name", _OWN)
def test_what_libraries_do_by_themselves_changes_no_key(name: str, tmp_path: Path) -> None:
    library, code = _OWN[name]
    _import(library)
    lines = f"{code}\nfrom larder._identity.code.identity import identify\nprint(identify(f).digest.hex())\nf(3)\n"
    (tmp_path / "main.py").write_text(lines + "print(identify(f).digest.hex())\n")
    found = set[str]()
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "main.py"], cwd=tmp_path, env=environment, capture_output=True, check=True
        )
        found.update(ran.stdout.decode().split())
    assert len(found) == 1


class Echo:
    """An object that answers to any name."""

    rate = 2

    def __getattr__(self, name: str) -> str:
        return name.upper()


class Bare:
    """The same, without own attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> str:
        return name.upper()


class Itself:
    def __getattr__(self, name: str) -> Any:
        return self


@pytest.mark.parametrize("cls", [Echo, Bare, Itself])
def test_objects_that_answer_to_any_name(cls: type, monkeypatch: pytest.MonkeyPatch, real: Path) -> None:
    held = cls()
    monkeypatch.setitem(sys.modules, "standing_in", held)
    import standing_in  # type: ignore[import-not-found]

    def by_global() -> str:
        return str(type(standing_in.rate))

    def by_import() -> str:
        import standing_in

        return str(type(standing_in.rate))

    def by_name() -> str:
        from standing_in import rate

        return str(type(rate))

    def annotated(value: Any) -> int:
        return 1

    annotated.__annotations__["value"] = held
    for function in (by_global, by_import, by_name):
        assert larder.memo(function)() == str(type(held.rate))
    assert larder.memo(annotated)(held) == larder.memo(lambda value: 1)(held) == 1


def _decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@_decorated
@larder.memo
def next_of(value: int) -> int:
    return value + 1


def test_what_a_decorator_copies_of_a_cached_function_is_no_code(real: Path) -> None:
    @larder.memo
    def outer(value: int) -> int:
        return int(next_of.__wrapped__(value))

    assert outer(2) == 3
    assert outer.cached(2)


def test_a_signature_that_is_set_is_refused_by_name() -> None:
    def signed(value: int) -> int:
        return value

    signed.__signature__ = inspect.Signature()  # type: ignore[attr-defined]

    @larder.memo
    def outer(value: int) -> str:
        return str(inspect.signature(signed))

    with pytest.raises(larder.CodeError, match=r"signed\.__signature__: a signature that is set has no key; leave it"):
        outer(1)


@pytest.mark.parametrize("package", ["dask", "xgboost"])
def test_options_are_read_when_a_function_is_called(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    options: dict[str, Any] = {"n": 1}
    made = types.ModuleType(package)
    made.config = types.SimpleNamespace(config=options)  # type: ignore[attr-defined]
    made.get_config = lambda: options  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, package, made)
    setting = settings.OF_PACKAGES[package]
    before = setting.read()
    assert setting.read() == before
    options["n"] = 2
    assert setting.read() != before


def test_classes_and_functions_may_have_no_module() -> None:
    cls = type("C", (), {"__module__": None, "go": lambda self: 1})
    assert patches.is_of_program(cls)
    assert patches.is_of_program(cls())

    def function() -> int:
        return 1

    function.__module__ = None  # type: ignore[assignment]
    assert patches.is_of_program(function)
    held = {"c": cls(), "f": function}

    @larder.memo
    def called(x: int) -> Any:
        return [held["c"].go(), held["f"](), x]

    assert called(1) == called(1) == [1, 1, 1]
    assert called.executions == 1


@pytest.mark.parametrize("name", ["instantiate", "get_class", "call"])
def test_what_imports_by_names_in_data_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert rules.refusal(f"hydra.utils.{name}", False) is refusals.DYNAMIC
    assert rules.refusal("logging.config.dictConfig", True) is refusals.DYNAMIC
    utils = types.ModuleType("hydra.utils")
    exec(f"def {name}(config): return config", vars(utils))
    hydra = types.ModuleType("hydra")
    hydra.utils = utils  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hydra", hydra)
    monkeypatch.setitem(sys.modules, "hydra.utils", utils)
    monkeypatch.setattr(distribution, "_file", _file_of_hydra(distribution._file))
    space: dict[str, Any] = {"hydra": hydra}
    exec(f"def f(x): return hydra.utils.{name}(x)", space)
    with pytest.raises(larder.CodeError, match=f"hydra.utils.{name} reaches code or variables by names"):
        identify(space["f"])


def _file_of_hydra(usual: Any) -> Any:
    """Return a function that makes the modules of hydra files of an installed distribution: of pytest."""
    return lambda module: pytest.__file__ if module.__name__.startswith("hydra") else usual(module)
