"""What can go wrong, and what is worth a warning."""

from __future__ import annotations


class Error(Exception):
    """Anything that went wrong in Larder."""


class RequestError(Error):
    """What was asked for makes no sense: an option, or a name that is not there."""


class FlowError(Error):
    """The flow is wrong; the text has the lines."""


class StateError(Error):
    """The state is one of something else; the text says what differs."""


class DataError(Error):
    """A sample could not be read or made."""


class RingError(Error, MemoryError):
    """The memory for batches cannot be as large as a batch needs it."""


class ServerError(Error):
    """The server could not be started or reached, or ended again and again."""


class ProtocolError(ServerError):
    """The two sides did not understand each other: versions that do not fit, or a bug."""


class ResultError(Error):
    """A result cannot be kept, or what was kept cannot be read; the text says what of it."""


class CycleError(Error, RecursionError):
    """A function needs its own result, or two need each other's."""


class UnkeyableError(Error):
    """Something has no key; the text has the way to it and what helps."""


class CodeError(UnkeyableError):
    """A function depends on more than its code and its arguments, or on what has no key."""


class ArgumentError(UnkeyableError, TypeError):
    """A value has no key; the text has the way to it and what helps."""


class LarderWarning(UserWarning):
    """What Larder has to say that is no error."""


class NotKeptWarning(LarderWarning):
    """A result could not be kept, and is computed again next time."""


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
