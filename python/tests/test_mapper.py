"""Test the program's functions in flows, built in Python and run by workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mapper_program
import pytest
from flow_program import LETTERS

import larder
from larder._flows import functions
from larder._worker import values as _values

HERE = Path(__file__).parent


def test_a_program_maps_by_its_own_functions(real: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    env = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    for computed in (26, 0):
        out = tmp_path / f"out{computed}"
        done = subprocess.run(
            [sys.executable, str(HERE / "mapper_program.py"), str(LETTERS), str(out)],
            capture_output=True,
            text=True,
            env=env,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said = [computed, [32, 32, 3, "uint8", "a"], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
        assert json.loads(done.stdout) == said


def test_the_first_program_of_a_user(real: Path, tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")
    for i in range(3):
        image.fromarray(np.full((4, 5, 3), 51 * i, np.uint8)).save(tmp_path / f"{i}.png")
    done = subprocess.run(
        [sys.executable, str(HERE / "first_program.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent / "src")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['brightness', 'image'] [0.0, 0.2, 0.4]\n"


def test_items_are_parameters_and_the_result_has_the_name_of_the_function() -> None:
    letters = larder.underfolder("data")
    by_name = letters.map(mapper_program.shape, setup=mapper_program.load, args={"scale": 2.5}, keep=True)
    same = letters.map(
        mapper_program.shape,
        items=["image", "metadata"],
        into=["shape"],
        setup=mapper_program.load,
        args={"scale": 2.5},
        keep=True,
    )
    assert by_name == same
    one = letters.map(mapper_program.shout, with_={"items": ["metadata"], "into": ["loud"]})
    assert one == letters.map(mapper_program.shout, items=["metadata"], into=["loud"])
    with pytest.raises(TypeError, match="dict has no signature; give items"):
        letters.map(dict)


def test_the_flow_names_the_function_and_where_it_is() -> None:
    node = larder.underfolder(path="data").map(
        mapper_program.shape, items=["image"], into=["a"], setup=mapper_program.load
    )
    text = node.to_yaml()
    assert "function: mapper_program:shape" in text.replace('"', "")
    assert "setup: mapper_program:load" in text.replace('"', "")
    assert str(HERE) in text
    node = larder.underfolder(path="data").map(json.dumps, items=["image"], into=["a"])
    assert "path:" not in node.to_yaml().partition("map: python")[2]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: a, "is made in a function"),
        ("x".join, "not a function that another process can import"),
        (Path("a").exists, "is bound to an object"),
    ],
)
def test_what_no_other_process_finds_is_refused(function: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        functions.parameters(function, {})
    with pytest.raises(TypeError):
        larder.underfolder(path="data").map(function, items=["a"], into=["b"])


def test_map_takes_mappers_and_functions_alone() -> None:
    with pytest.raises(TypeError, match="int is not a mapper; give its name or a function"):
        larder.underfolder(path="data").map(3)  # type: ignore[arg-type]


def there_and_back(value: Any, how: str = "value") -> Any:
    """Return a value after one function returned it and another received it."""
    parts = [(1).to_bytes(8, "little"), *_values.value(value, "a")]
    return _values.Reader(memoryview(b"".join(parts))).next(how, "a")


@pytest.mark.parametrize(
    "value", ["", "héllo\0", b"", b"\0\xff", {"b": 1, "a": [None, True, 2**80, -0.5]}, 3, 2.5, [], None]
)
def test_plain_values_come_back(value: Any) -> None:
    got = there_and_back(value)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("inf"), "item a is inf"),
        ({"x": [1, {2: 3}]}, r"item a.x\[1\] has the key 2"),
        ({1, 2}, "builtins.set"),
        (object(), "builtins.object"),
        ("a\ud800", r"item a has a lone surrogate, in 'a\\ud800'"),
        (["a\ud800"], "item a has a lone surrogate"),
        pytest.param(10**5000, "item a: Exceeds the limit", id="many digits"),
    ],
)
def test_what_no_item_can_be_is_refused(value: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        there_and_back(value)


@pytest.mark.parametrize(
    "text",
    [
        *("np.datetime64('2020-01-01', 'ns')", "np.timedelta64(5)", "np.datetime64('NaT')", "np.longdouble(1)"),
        *("np.clongdouble(1)", "np.complex64(1)", "np.zeros(1, 'i4, f4')[0]"),
        *("[np.datetime64('2020-01-01', 'ns')]", "{'a': np.longdouble(1)}", "np.zeros(1, 'M8[ns]')[0]"),
    ],
)
def test_scalars_of_numpy_that_are_no_numbers_of_python_are_refused(text: str) -> None:
    np = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="of NumPy, which cannot be an item"):
        there_and_back(eval(text, {"np": np}))


def test_scalars_of_numpy_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    made = [np.int8(3), np.uint64(2**63), np.float32(0.5), np.bool_(True), np.str_("a"), np.float16(2)]
    assert there_and_back(made) == [3, 2**63, 0.5, True, "a", 2.0]


def test_a_document_with_itself_in_it_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="nested too deeply, or contains itself"):
        there_and_back(endless)


def test_arrays_come_back() -> None:
    np = pytest.importorskip("numpy")
    whole = np.arange(24).reshape(2, 3, 4)
    kinds = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128"
    for kind in kinds.split():
        for made in (whole, whole[:, ::-2], whole.T, whole[:0], whole[0, 0, 0], np.asfortranarray(whole)):
            value = np.asarray(made, kind)
            got = there_and_back(value)
            if value.ndim == 0 and not isinstance(made, np.ndarray):
                got = np.asarray(got, kind)
            assert got.dtype == value.dtype
            assert got.shape == value.shape
            assert np.array_equal(got, value)
            if got.ndim:
                got[...] = 0  # it belongs to the function
    assert there_and_back(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]
    assert there_and_back({"score": np.float32(0.5), "n": np.int64(3)}) == {"score": 0.5, "n": 3}
    for wrong in (np.array(["a"]), np.array([object()]), np.ma.array([1]), np.zeros(2, "M8[s]"), {"a": np.zeros(2)}):
        with pytest.raises(TypeError):
            there_and_back(wrong)


def test_arrays_without_dimensions_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    values: dict[str, Any] = {"int64": -3, "uint64": 2**64 - 1, "bool": True, "float16": 1.5, "float64": 0.1}
    for of, value in values.items():
        parts = b"".join(_values.value(np.array(value, of), "x"))
        padded = parts + bytes(-len(parts) % 8)
        reader = _values.Reader(memoryview((1).to_bytes(8, "little") + padded))
        at = reader.at
        got = reader.next("value", "x")
        assert type(got) is type(value)
        assert got == value
        reader.at = at
        assert reader.next("numpy", "x").shape == ()


def test_tensors_come_back() -> None:
    torch = pytest.importorskip("torch")
    for kind in (torch.bfloat16, torch.float32, torch.uint8, torch.bool, torch.int64, torch.complex64):
        for value in (
            torch.arange(6).reshape(2, 3).to(kind),
            torch.arange(6).reshape(2, 3).to(kind).t(),
            torch.tensor(1).to(kind),
        ):
            got = there_and_back(value, "torch")
            assert got.dtype == value.dtype
            assert torch.equal(got, value)
    assert there_and_back(torch.ones(2, requires_grad=True), "torch").tolist() == [1, 1]


def test_images_come_back() -> None:
    image = pytest.importorskip("PIL.Image")
    for mode in ("L", "LA", "RGB", "RGBA", "I;16"):
        value = image.new(mode, (5, 3))
        value.putpixel((4, 2), {"L": 7, "I;16": 700}.get(mode, tuple(range(9, 9 + len(value.getbands())))))
        got = there_and_back(value, "pil")
        assert (got.mode, got.size) == (value.mode, value.size)
        assert got.tobytes() == value.tobytes()
    with pytest.raises(TypeError, match="mode F"):
        there_and_back(image.new("F", (2, 2)))


def test_other_kinds_are_refused_where_one_is_said() -> None:
    pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="item a is a string, and cannot be given as numpy"):
        there_and_back("text", "numpy")


def test_a_document_that_has_a_key_twice_is_refused() -> None:
    head = (1).to_bytes(8, "little") + _values._HEAD.pack(_values.JSON, 0, 0, 15)
    with pytest.raises(ValueError, match="item a: the key 'x' is given twice"):
        _values.Reader(memoryview(head + b'{"x":1,"x": 2} ' + b"\0")).next("value", "a")


def test_what_a_function_draws_or_reads_beside_fails_its_samples(real: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"n": {i}}}\n' for i in range(20)))
    (tmp_path / "own.py").write_text(
        "from statistics import NormalDist\n"
        "import larder\n"
        "def draw(n): return NormalDist(0, 1).samples(n)\n"
        "def seeded(n): return NormalDist(0, 1).samples(n, seed=1)\n"
        "def read(n, words: larder.File): return words.read_text() + open(f'{words}.more').read()\n"
    )
    for name in ("words", "words.more"):
        (tmp_path / name).write_text(name)

    def run(function: str, given: str = "") -> None:
        flow = tmp_path / "flow.yaml"
        flow.write_text(
            "version: 1\nnodes:\n  rows: {source: jsonl, with: {path: rows.jsonl}}\n"
            f"  made: {{map: python, from: rows, with: {{function: 'own:{function}', items: [n], into: [v]{given}}}}}\n"
            "  out: {sink: jsonl, from: made, with: {path: out.jsonl, overwrite: replace}}\n"
        )
        larder.run(flow)

    run("seeded")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 20
    with pytest.raises(larder.RunError, match="it drew random numbers from the generator of random"):
        run("draw")
    with pytest.raises(larder.RunError, match=r"words\.more, which is not a file that it was given"):
        run("read", ", files: {words: words}")


ALLOWED = """
import time

def times(n):
    began = time.perf_counter()
    print(time.perf_counter() - began)
    return 2 * n

def started():
    time.time()
    return 3

def of_setup(three, n):
    return three * n

def rows():
    time.time()
    yield from range(3)
"""


def allowing(cache: Path, function: str, **options: Any) -> tuple[int, int]:
    """Run a flow with a function; return how many samples were computed and how many read back."""
    node = larder.jsonl(path="rows.jsonl").map(
        "python", function=f"allowed:{function}", items=["n"], into=["m"], keep=True, **options
    )
    done = larder.run(node, cache_dir=cache)["python"]
    return done.computed, done.from_store


@pytest.mark.parametrize(
    ("function", "options", "name"),
    [
        ("times", {}, "time.perf_counter"),
        ("of_setup", {"setup": "allowed:started"}, "time.time"),
        ("times", {"batch": 2}, "time.perf_counter"),
    ],
)
def test_names_that_a_function_is_not_refused_for(
    real: Path, monkeypatch: pytest.MonkeyPatch, function: str, options: dict[str, Any], name: str
) -> None:
    monkeypatch.chdir(real)
    (real / "allowed.py").write_text(ALLOWED.replace("2 * n", "[2 * i for i in n]") if "batch" in options else ALLOWED)
    (real / "rows.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    cache = real / "cache"
    for allow in ([], ["socket"], [f"{name}s"], ["time.monotonic"]):
        with pytest.raises(larder.FlowError, match=r'pass allow=\["'):
            allowing(cache, function, allow=allow, **options)
    assert allowing(cache, function, allow=[name], **options) == (2, 0)
    # Other allowed names, and their order, do not change results.
    for allow in ([name, "socket"], ["socket", name, name], [name.partition(".")[0]]):
        assert allowing(cache, function, allow=allow, **options)[0] == 0
    with pytest.raises(larder.FlowError, match="a name is empty"):
        allowing(cache, function, allow=[""], **options)


def test_what_a_function_is_not_refused_for_changes_no_key(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(real)
    (real / "allowed.py").write_text("def plain(n):\n    return n\n")
    (real / "rows.jsonl").write_text('{"n": 1}\n')
    assert allowing(real / "cache", "plain") == (1, 0)
    assert allowing(real / "cache", "plain", allow=["time.time"]) == (0, 1)
    flow = larder.jsonl(path="rows.jsonl").map("python", function="allowed:plain", items=["n"], into=["m"])
    other = larder.jsonl(path="rows.jsonl").map(
        "python", function="allowed:plain", items=["n"], into=["m"], allow=["time.time"]
    )
    assert larder.Flow(flow).fingerprint() == larder.Flow(other).fingerprint()


def test_names_that_functions_of_the_program_are_not_refused_for(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(real)
    monkeypatch.syspath_prepend(real)
    (real / "allowed_here.py").write_text(ALLOWED)
    (real / "rows.jsonl").write_text('{"n": 1}\n')
    import allowed_here  # type: ignore[import-not-found]

    rows = larder.jsonl(path="rows.jsonl")
    for allow, cached in ((["time.perf_counter"], True), (["time.time"], False)):
        node = rows.map(allowed_here.times, items=["n"], into=["m"], allow=allow)
        made = larder.generate(allowed_here.rows, into=["n"], allow=[] if cached else allow).materialise()
        ended, refused = (node, made.to_jsonl(path="out.jsonl")) if cached else (made.to_jsonl(path="out.jsonl"), node)
        assert larder.run(ended).status == "ok"
        with pytest.raises(larder.FlowError, match=r'pass allow=\["time'):
            larder.run(refused)


def test_names_that_a_generator_is_not_refused_for(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(real)
    (real / "allowed.py").write_text(ALLOWED)
    for allow in ([], ["time.time"]):
        rows = larder.python(function="allowed:rows", into=["n"], allow=allow)
        if allow:
            assert larder.run(rows.materialise().to_jsonl(path="out.jsonl")).status == "ok"
            assert (real / "out.jsonl").read_text().count("\n") == 3
        else:
            with pytest.raises(larder.FlowError, match=r'pass allow=\["time.time"\]'):
                larder.run(rows.materialise().to_jsonl(path="out.jsonl"))
