"""Exceptions and warnings."""

from __future__ import annotations


class Error(Exception):
    """Any failure in Larder."""


class RequestError(Error):
    """A request is invalid: an option, or a name that does not exist."""


class FlowError(Error):
    """The flow is invalid; the message has the lines."""


class StateError(Error):
    """The state belongs to something else; the message says what differs."""


class DataError(Error):
    """A sample cannot be read or computed."""


class RingError(Error, MemoryError):
    """The memory for batches cannot be as large as a batch needs."""


class ServerError(Error):
    """The server cannot be started or reached, or ended repeatedly."""


class ProtocolError(ServerError):
    """Client and server do not understand each other: incompatible versions, or a bug."""


class ResultError(Error):
    """A result cannot be cached, or a cached one cannot be read; the message says which part."""


class CycleError(Error, RecursionError):
    """A function needs its own result, or two functions need each other's."""


class UnkeyableError(Error):
    """A value or a function has no key; the message has its path and a fix."""


class CodeError(UnkeyableError):
    """A function depends on more than its code and arguments, or on something without a key."""


class ArgumentError(UnkeyableError, TypeError):
    """A value has no key; the message has its path and a fix."""


class LarderWarning(UserWarning):
    """A problem that is not an error."""


class NotCachedWarning(LarderWarning):
    """A result could not be cached, and is computed again next time."""


class SkipWarning(LarderWarning):
    """A sample could not be read and was left out."""


_CODES: dict[str, type[Error]] = {
    "request": RequestError,
    "flow": FlowError,
    "state": StateError,
    "data": DataError,
    "memory": RingError,
    "protocol": ProtocolError,
}


def error_of(code: object, text: object) -> Error:
    """Return the exception for an error of the server."""
    return _CODES.get(str(code), Error)(str(text))
