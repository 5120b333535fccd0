r"""Write and read compiled functions as bytes that are checked and signed.

    larder numba 1\\n   then 32 bytes of digest, 32 of signature (zeros if there is none), and
                       numba's serialized function

The digest is SHA-256 over the key and the rest, so a damaged artifact is refused, and so is
one under another key. The signature is HMAC-SHA-256 of the digest with the key that the
users of the store share. Nothing is unpickled before both are verified.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

_MARK = b"larder numba 1\n"
_HEAD = len(_MARK) + 64
_NONE = bytes(32)


class Foreign(Exception):
    """The bytes found were not stored here under this key; the message says what they are."""


def _digest(key: bytes, payload: bytes) -> bytes:
    return sha256(_MARK + len(key).to_bytes(8, "little") + key + payload).digest()


def _signed(secret: bytes | None, digest: bytes) -> bytes:
    return _NONE if secret is None else hmac.digest(secret, b"larder numba signature 1\n" + digest, "sha256")


def sealed(key: bytes, payload: bytes, secret: bytes | None) -> bytes:
    """Return the stored form of a compiled function under a key, signed if there is a secret."""
    digest = _digest(key, payload)
    return b"".join((_MARK, digest, _signed(secret, digest), payload))


def opened(key: bytes, cached: bytes, secret: bytes | None) -> bytes:
    """Return the payload stored under a key, or raise Foreign."""
    if len(cached) < _HEAD or not cached.startswith(_MARK):
        raise Foreign("not a compiled function")
    digest, signature = cached[len(_MARK) : _HEAD - 32], cached[_HEAD - 32 : _HEAD]
    payload = cached[_HEAD:]
    if not hmac.compare_digest(digest, _digest(key, payload)):
        raise Foreign("it is damaged, or of another function")
    if not hmac.compare_digest(signature, _signed(secret, digest)):
        raise Foreign(_unsigned(signature, secret))
    return payload


def _unsigned(signature: bytes, secret: bytes | None) -> str:
    if secret is None:
        return "its signature cannot be checked without the key of its author"
    return "it is not signed" if signature == _NONE else "it is signed with another key"


def place(secret: bytes | None) -> bytes:
    """Return a part of all keys, which separates processes that sign from those that do not."""
    return b"" if secret is None else hmac.digest(secret, b"larder numba place 1\n", "sha256")
