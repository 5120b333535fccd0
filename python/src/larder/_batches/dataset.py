"""Read samples by index."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast, overload

from .. import _arguments
from .._client.framing import Lost
from .._client.url import CertificateArgument, TokenArgument
from ..errors import Error
from . import options, session
from .batch import Batch
from .field import FieldsArgument
from .options import FlowArgument
from .session import Session, remote_of

_AT_ONCE = 64  # samples per request when iterating over all


class Dataset:
    """The samples of one node of a flow, by index.

    `dataset[i]` is a dict from items to values: arrays, strings, bytes, JSON values. Values
    are copies that belong to the caller. Any thread may use a dataset. A pickled dataset and
    a forked process have their own connection.

    Args:
        flow: the path of a flow file, an object with a method `to_yaml`, or the URL of a
            flow on another machine: "https://HOST:PORT/FLOW.yaml".
        node: the node to read.
        fields: the fields of a sample, as for `Loader`; all items if not given.
        tensors: "numpy", "torch", or None for plain memoryviews; "auto" is NumPy if it
            is installed.
        set: values of the flow's variables.
        profile: the flow's profile.
        cache_dir: the cache directory; LARDER_CACHE or the user's default if not given.
        token, ca, certificate, cleartext: as for `Loader`, with a URL.
    """

    def __init__(
        self,
        flow: FlowArgument,
        node: str | None = None,
        *,
        fields: FieldsArgument | None = None,
        tensors: Literal["numpy", "torch", "auto"] | None = "auto",
        set: Mapping[str, Any] | None = None,
        profile: str | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        token: TokenArgument | None = None,
        ca: str | os.PathLike[str] | None = None,
        certificate: CertificateArgument | None = None,
        cleartext: bool = False,
    ) -> None:
        here = {"set": set, "profile": profile, "cache_dir": cache_dir}
        remote = remote_of(flow, token=token, ca=ca, certificate=certificate, cleartext=cleartext, here=here)
        request: dict[str, Any] = {
            **options.flow_request(flow, set, profile, remote),
            "parts": options.parts_request(options.node_of(flow, node, None), None),
            "batch": {"size": 1},
        }
        said = options.fields_request(fields)
        if said is not None:
            request["fields"] = said
        self._session = Session(cache_dir, request, session.tensors_of(tensors, False), copy=True, remote=remote)
        self._lock = threading.Lock()
        self._pid = os.getpid()

    @classmethod
    def _of(cls, loaded: Session) -> Dataset:
        """Return the samples that a loader reads from one node."""
        said = {n: v for n, v in loaded.request.items() if n in ("flow", "set", "profile", "python", "parts", "fields")}
        dataset = object.__new__(cls)
        own = Session(loaded.cache, said | {"batch": {"size": 1}}, loaded._tensors, copy=True, remote=loaded._remote)
        dataset.__setstate__({"_session": own})
        return dataset

    def __len__(self) -> int:
        """Return the number of samples."""
        if not self._session.opened:
            with self._locked():
                self._session.connected()
        return int(self._session.opened["parts"][0]["samples"])

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Return a sample, counted from the end if negative, or a list for a slice."""
        if isinstance(index, slice):
            return self.__getitems__(list(range(*index.indices(len(self)))))
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Return several samples by one request."""
        n = len(self)
        numbers = [_number(i, n) for i in indices]
        if not numbers:
            return []
        with self._locked():
            while True:
                try:
                    return self._get(numbers)
                except Lost as error:
                    self._session.lost(error)
                except Error as error:
                    self._session.failed(error)
                    raise
                except BaseException:
                    self._session.close()  # some requested samples are still to arrive
                    raise

    def _get(self, numbers: list[int]) -> list[dict[str, Any]]:
        samples = [_sample(batch) for batch in self._session.connected().get(numbers)]
        self._session.found()
        return samples

    def _locked(self) -> threading.Lock:
        """Return the lock; in a forked child a new one, as a thread may hold the parent's."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.Lock(), os.getpid()
        return self._lock

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over all samples."""
        n = len(self)
        for begin in range(0, n, _AT_ONCE):
            yield from self.__getitems__(range(begin, min(begin + _AT_ONCE, n)))

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        with self._locked():
            self._session.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_session": self._session}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._session = object.__new__(Session)
        self._session.__dict__.update(state["_session"].__getstate__())
        self._lock, self._pid = threading.Lock(), os.getpid()


def _number(index: int, n: int) -> int:
    try:
        number = operator.index(index)
    except TypeError:
        raise TypeError(f"sample: {_arguments.kind(index)} is not an index; give an int or a slice") from None
    if not -n <= number < n:
        raise IndexError(f"no sample {number}; the dataset has {n}")
    return number % n


def _sample(batch: Batch) -> dict[str, Any]:
    """Return the only sample of a batch."""
    return {name: _first(value) for name, value in batch.items()}


def _first(value: Any) -> Any:
    if isinstance(value, memoryview) and value.ndim > 1:
        return value.cast("B").cast(cast(Any, value.format), value.shape[1:] if value.shape else ())
    return value[0]
