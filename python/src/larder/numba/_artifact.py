r"""Compiled functions as bytes: what they are of, that they are whole, and who made them.

    larder numba 1\\n   then 32 bytes of digest, 32 of signature (zeros if there is none), and
                       what numba makes of the function

The digest is SHA-256 over the key and the rest, so neither a damaged artifact nor one
that lies under another key is taken for right. The signature is HMAC-SHA-256 of that
digest with the key of whoever shares the store. Nothing is unpickled before both are
looked at.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

_MARK = b"larder numba 1\n"
_HEAD = len(_MARK) + 64
_NONE = bytes(32)


class Foreign(Exception):
    """What was found is not what was kept here under this key; the text says what it is."""


def _digest(key: bytes, payload: bytes) -> bytes:
    return sha256(_MARK + len(key).to_bytes(8, "little") + key + payload).digest()


def _signed(secret: bytes | None, digest: bytes) -> bytes:
    return _NONE if secret is None else hmac.digest(secret, b"larder numba signature 1\n" + digest, "sha256")


def sealed(key: bytes, payload: bytes, secret: bytes | None) -> bytes:
    """Return what is kept of a compiled function under a key, signed if there is a secret."""
    digest = _digest(key, payload)
    return b"".join((_MARK, digest, _signed(secret, digest), payload))


def opened(key: bytes, kept: bytes, secret: bytes | None) -> bytes:
    """Return the payload of what was kept under a key, or raise Foreign."""
    if len(kept) < _HEAD or not kept.startswith(_MARK):
        raise Foreign("it is no compiled function")
    digest, signature = kept[len(_MARK) : _HEAD - 32], kept[_HEAD - 32 : _HEAD]
    payload = kept[_HEAD:]
    if not hmac.compare_digest(digest, _digest(key, payload)):
        raise Foreign("it is damaged, or of another function")
    if not hmac.compare_digest(signature, _signed(secret, digest)):
        raise Foreign(_unsigned(signature, secret))
    return payload


def _unsigned(signature: bytes, secret: bytes | None) -> str:
    if secret is None:
        return "its signature does not hold without the key of who made it"
    return "it is not signed" if signature == _NONE else "it is signed with another key"


def place(secret: bytes | None) -> bytes:
    """Return what is part of all keys, so that those who sign and those who do not keep apart."""
    return b"" if secret is None else hmac.digest(secret, b"larder numba place 1\n", "sha256")
