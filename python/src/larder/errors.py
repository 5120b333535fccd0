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
    """A result that cannot be kept, with the way to what is in it, or one kept that is not understood."""


class LarderWarning(UserWarning):
    """What Larder has to say that is no error."""


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
