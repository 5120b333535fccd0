"""Objects and settings of libraries, of whatever version."""

from __future__ import annotations

import sys
import types

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
