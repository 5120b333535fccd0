"""Test that bytes other than those of a compiled function are refused before anything is unpickled."""

from __future__ import annotations

import inspect

import pytest
from numba_case import needs_numba

from larder.numba import _artifact

KEY, OTHER, PAYLOAD = b"k" * 32, b"o" * 32, b"\x00payload" * 20
SECRETS = [None, b"s" * 16]


@pytest.mark.parametrize("secret", SECRETS)
def test_an_artifact_is_what_was_sealed(secret: bytes | None) -> None:
    assert _artifact.opened(KEY, _artifact.sealed(KEY, PAYLOAD, secret), secret) == PAYLOAD
    assert _artifact.opened(KEY, _artifact.sealed(KEY, b"", secret), secret) == b""


@pytest.mark.parametrize("secret", SECRETS)
def test_every_truncation_and_every_flipped_bit_is_foreign(secret: bytes | None) -> None:
    whole = _artifact.sealed(KEY, PAYLOAD, secret)
    for size in range(len(whole)):
        with pytest.raises(_artifact.Foreign):
            _artifact.opened(KEY, whole[:size], secret)
    for at in range(len(whole) * 8):
        data = bytearray(whole)
        data[at // 8] ^= 1 << at % 8
        with pytest.raises(_artifact.Foreign):
            _artifact.opened(KEY, bytes(data), secret)
    with pytest.raises(_artifact.Foreign):
        _artifact.opened(KEY, whole + b"\x00", secret)


def test_an_artifact_of_another_key_or_signer_is_foreign() -> None:
    for cached, secret, said in [
        (_artifact.sealed(OTHER, PAYLOAD, None), None, "of another function"),
        (_artifact.sealed(KEY, PAYLOAD, None), b"s" * 16, "not signed"),
        (_artifact.sealed(KEY, PAYLOAD, b"t" * 16), b"s" * 16, "another key"),
        (_artifact.sealed(KEY, PAYLOAD, b"s" * 16), None, "without the key"),
    ]:
        with pytest.raises(_artifact.Foreign, match=said):
            _artifact.opened(KEY, cached, secret)


def test_those_who_sign_and_those_who_do_not_keep_apart() -> None:
    places = {_artifact.place(secret) for secret in (None, b"s" * 16, b"t" * 16)}
    assert len(places) == 3


@needs_numba
def test_what_is_relied_on_is_told_by_its_lines_as_by_its_source() -> None:
    from larder.numba import _pinned, _pins

    for name in _pins.RELIED_ON:
        assert _pins.block(_pins._found(name)) == inspect.getsource(_pins._found(name)), name
        assert _pins.digest_of(name) in _pinned.PINNED[name]
