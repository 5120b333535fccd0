"""Test the encoding of torch tensors, and of rows of tensors."""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from larder._results import decode, decode_rows, encode, encode_rows
from larder.errors import ResultError

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support:UserWarning")

NAMES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16"]
NAMES += ["float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e4m3fnuz"]
NAMES += ["float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2"]
DTYPES = [name for name in NAMES if hasattr(torch, name)]


def raw(tensor: Any) -> bytes:
    data: bytes = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return data


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and raw(a) == raw(b)


def tensor_of(name: str, shape: tuple[int, ...]) -> Any:
    dtype = getattr(torch, name)
    size = torch.empty(0, dtype=dtype).element_size()
    count = size
    for n in shape:
        count *= n
    data = torch.arange(count, dtype=torch.uint8) % (2 if name == "bool" else 251)
    return data.view(dtype).view(shape) if count else torch.empty(shape, dtype=dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_of_each_dtype_come_back(name: str) -> None:
    for shape in ((), (3,), (2, 3, 4), (0, 2), (2, 0)):
        tensor = tensor_of(name, shape)
        encoded = encode({"y": [tensor]})
        made = decode(encoded)["y"][0]
        assert same(made, tensor)
        assert encode({"y": [made]}) == encoded
    batch = tensor_of(name, (5, 2, 3))
    assert same(decode_rows(encode_rows(batch)), batch)


def test_tensors_come_back_in_the_order_of_their_dimensions() -> None:
    tensor = torch.arange(24.0).view(2, 3, 4)
    for view in (
        tensor.transpose(0, 2),
        tensor[:, ::2],
        tensor[1:, 1],
        torch.ones(1).expand(3, 4),
        torch.ones(2, 2).t(),
    ):
        made = decode(encode(view))
        assert torch.equal(made, view)
        assert made.is_contiguous()
    numbers = torch.complex(tensor, tensor)
    assert torch.equal(decode(encode(numbers.conj())), numbers.conj())
    assert torch.equal(decode(encode(numbers.conj().imag)), numbers.conj().imag)


def test_a_tensor_is_private_memory(tmp_path: Path) -> None:
    cached = torch.arange(5000.0)
    file = tmp_path / "result"
    file.write_bytes(encode(cached))
    encoded = file.read_bytes()
    for _ in range(2):
        made = decode(encoded)
        assert torch.equal(made, cached)
        made += 1
    with open(file, "rb") as opened:
        for access in (mmap.ACCESS_READ, mmap.ACCESS_COPY):
            mapping = mmap.mmap(opened.fileno(), 0, access=access)
            made = decode(mapping)
            made += 1
            assert torch.equal(made, cached + 1)
            changed = float.fromhex("0x1p0") == memoryview(mapping)[128:132].cast("f")[0]
            assert changed == (access == mmap.ACCESS_COPY)  # this one is a view of it
            del mapping
    assert file.read_bytes() == encoded


def test_a_tensor_that_comes_twice_is_one_tensor_again() -> None:
    tensor = torch.ones(1000)
    value = decode(encode((tensor, {"a": tensor}, tensor.clone())))
    assert value[0] is value[1]["a"] is not value[2]


def test_what_describes_tensors_comes_back() -> None:
    value = [torch.float32, torch.bfloat16, torch.device("cuda", 1), torch.device("cpu"), torch.ones(2, 3).shape]
    made = decode(encode(value))
    assert made == value
    assert list(map(type, made)) == list(map(type, value))


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: torch.ones(2, requires_grad=True), r"result\[0\]: a tensor that requires gradients .*return \.detach\(\)"),
    (lambda: torch.ones(2, requires_grad=True) * 2, r"requires gradients"),
    (lambda: torch.nn.Parameter(torch.ones(2)), r"Parameter cannot be cached; return \.detach\(\) of it"),
    (lambda: torch.nn.Parameter(torch.ones(2), requires_grad=False), r"Parameter cannot be cached; return \.detach"),
    (lambda: torch.ones(2, 2).to_sparse(), r"sparse tensor .* cannot be cached; return \.to_dense\(\)"),
    (lambda: torch.empty(2, device="meta"), r"device meta has no content that could be cached; return its shape"),
    (lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8), r"quantized tensor cannot be cached"),
    (lambda: torch.ones(2, 2).max(1), r"return_types.max cannot be cached; return a tuple"),
    (lambda: torch.nn.Linear(1, 1), r"Linear cannot be cached; return its state_dict\(\)"),
    (lambda: torch.qint8, r"dtype cannot be cached"),
    (lambda: torch.Generator(), r"Generator cannot be cached"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_tensors_that_cannot_be_kept_are_refused(make: Callable[[], Any], words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = make()
    with pytest.raises(ResultError, match=words):
        encode([value])


def test_rows_of_tensors_are_encodings() -> None:
    batch = torch.arange(12.0).view(4, 3).t()
    rows = encode_rows(batch)
    assert rows == [encode(row) for row in batch]
    made = decode_rows(rows)
    made += 1
    assert torch.equal(made, batch + 1)
    assert torch.equal(decode_rows(rows), batch)
    assert torch.equal(decode_rows(encode_rows(torch.arange(5))), torch.arange(5))
    assert decode_rows(encode_rows(torch.empty(3, 0))).shape == (3, 0)
    assert encode_rows(torch.empty(0, 3)) == []


def test_rows_of_tensors_that_are_not_alike_are_refused() -> None:
    for other in (torch.ones(3, dtype=torch.float64), torch.ones(4), torch.ones(1, 3)):
        with pytest.raises(ResultError, match="row 1 is not of"):
            decode_rows([encode(torch.ones(3)), encode(other)])
    with pytest.raises(ResultError, match="requires gradients"):
        encode_rows(torch.ones(2, 2, requires_grad=True))
    with pytest.raises(ResultError, match="has no rows"):
        encode_rows(torch.tensor(1))
