"""Read the nodes of a flow in batches, epoch after epoch."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from .. import _numbers
from .._client.framing import Lost
from .._client.url import CertificateArgument, TokenArgument
from .._worker import refuse_importing
from ..errors import DataError, Error, ProtocolError, StateError
from . import distributed, options
from .attributes import Attributes
from .batch import Batch, base36, state_text
from .connection import Connection
from .field import FieldsArgument
from .options import Collate, FlowArgument, MapStyle, NodesArgument, Subset
from .session import Session, remote_of, tensors_of

if TYPE_CHECKING:
    from .map_style import MapDataset

Place = tuple[int, int]
"""An epoch, and the number of its samples before the next batch."""


@functools.cache
def _with_torch(cls: Any) -> Any:
    """Return the class as a subclass of torch's IterableDataset."""
    from torch.utils.data import IterableDataset

    if issubclass(cls, IterableDataset):
        return cls
    said = {"__module__": cls.__module__, "__doc__": cls.__doc__, "_own": cls}
    return type(cls.__name__, (cls, IterableDataset), said)


class Loader(Attributes):
    """Batches of one node of a flow, or of several, for one rank.

    `for batch in loader` iterates over the rest of an epoch. It begins at a loaded state or
    at the epoch that `set_epoch` chose; otherwise at the start of the epoch after the one
    begun last. The server prefetches the next batches, also across the end of an epoch.

    Only one thread at a time may use a loader; any thread may use its batches. A new
    iteration ends the previous one. A copy, a pickled loader and a forked process continue
    separately from the same position.

    Args:
        flow: the path of a flow file, an object with a method `to_yaml`, or the URL of a
            flow on another machine: "https://HOST:PORT/FLOW.yaml", where FLOW.yaml is in
            the flow directory of its server. Or a map-style dataset: an object with
            `__len__` and `__getitem__`, which worker processes get as a pickle.
        node: the node to read.
        nodes: several nodes: a list reads one after another, a dict with weights is a mixture.
        batch_size: the maximum number of samples in a batch, or of rows with `pack`;
            32 if neither this nor `tokens` is given.
        shuffle: whether each epoch has the samples in another random order.
        seed: the seed of all random draws, from 0 to 2**64 - 1.
        drop_last: short for `last_batch="drop"`.
        last_batch: what to do with samples too few for a batch: "keep" them as a smaller batch,
            "drop" them, or "pad" the batch with its own samples.
        tokens: the maximum total length of the samples of a batch.
        count_padding: whether padding counts as tokens.
        buckets: ascending bounds of lengths; each batch has samples of one bucket.
        pack: the number of tokens of a row in which samples are laid one after another.
        pack_window: the number of rows that are open at the same time.
        split: whether rows are filled to the last token, cutting samples at the end of a row.
        length: the length of a sample: an expression, or {"item": NAME}.
        replacement: whether samples are drawn with replacement.
        draws: the number of samples of an epoch, for a mixture or with `replacement`.
        stop: when an epoch of a mixture ends. "draws": after `draws` samples, the default with
            `draws`. "first": when any node has been read once, the default otherwise. "all":
            when every node has.
        subset: the samples to use: a range or a list of indices; for several nodes a dict
            of these.
        fields: the fields of a batch: a list of `Field` or item names, or a dict from
            items to `Field`, to its options, to a collation, or to None; all items if not given.
        skip: the maximum number of samples of an epoch that may be left out because they
            cannot be read. Each is a `SkipWarning`.
        tensors: "numpy", "torch", or None for plain memoryviews; "auto" is NumPy if it
            is installed.
        pin_memory: whether batches lie in page-locked memory for copies to a GPU, if there
            is one.
        set: values of the flow's variables.
        profile: the flow's profile.
        cache_dir: the cache directory; LARDER_CACHE or the user's default if not given.
        epoch: the epoch to begin with.
        rank, world_size: the share of the batches that this process reads; by default from
            torch.distributed, or RANK and WORLD_SIZE, or 0 of 1.
        last_step: what to do with the last step of an epoch if it has fewer batches than
            there are ranks: "pad", "drop" or "uneven".
        window: the maximum number of batches prefetched or in use, at least 2; 16 by default.
        ring: the maximum number of bytes of these; 64 MiB by default. For another machine
            the two bound the batches that were received and not yet returned.
        token: with a URL, the token that the server requires: a string, or the path (a
            `pathlib.Path`) of a file with it; LARDER_TOKEN if not given. A string stays in
            this process and is not pickled.
        ca: with a URL, the file of the authority that signed the server's certificate, or
            a directory of such files; those of the system if not given.
        certificate: with a URL, the client's certificate and key, in one file or in two.
        cleartext: whether an http:// URL may name another machine.
        collate_fn: with a dataset, a function that makes a batch of a list of samples.
        keep: with a dataset, whether its samples are cached; they are then the same in each epoch.
    """

    _own: type[Loader]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Create a loader, which is an IterableDataset if torch is already imported."""
        known: Any = _with_torch(cast(Any, cls)) if "torch" in sys.modules else cls
        made: Self = object.__new__(known)
        return made

    def __init__(
        self,
        flow: FlowArgument | MapStyle,
        node: str | None = None,
        *,
        nodes: NodesArgument | None = None,
        batch_size: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        last_batch: Literal["keep", "drop", "pad"] | None = None,
        tokens: int | None = None,
        count_padding: bool = False,
        buckets: Iterable[int] | None = None,
        pack: int | None = None,
        pack_window: int | None = None,
        split: bool = False,
        length: str | Mapping[str, str] | None = None,
        replacement: bool = False,
        draws: int | None = None,
        stop: Literal["draws", "first", "all"] | None = None,
        subset: Subset | Mapping[str, Subset] | None = None,
        fields: FieldsArgument | None = None,
        skip: int = 0,
        tensors: Literal["numpy", "torch", "auto"] | None = "auto",
        pin_memory: bool = False,
        set: Mapping[str, Any] | None = None,
        profile: str | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        last_step: Literal["pad", "drop", "uneven"] = "pad",
        window: int | None = None,
        ring: int | None = None,
        token: TokenArgument | None = None,
        ca: str | os.PathLike[str] | None = None,
        certificate: CertificateArgument | None = None,
        cleartext: bool = False,
        epoch: int = 0,
        collate_fn: Collate | None = None,
        keep: bool = False,
    ) -> None:
        self._samples: MapDataset | None = None
        if options.is_map_style(flow):
            from .map_style import MapDataset  # rarely needed

            refuse_importing("a dataset is read")
            seed = _numbers.whole("seed", seed, 0, 2**64 - 1)
            self._samples = MapDataset(cast(MapStyle, flow), seed, keep, collate_fn)
            self._samples.remove_with(self)
            flow = self._samples.flow
            tensors = "torch" if tensors == "auto" and "torch" in sys.modules else tensors
        elif collate_fn is not None or keep:
            raise TypeError(
                "collate_fn and keep apply only to map-style datasets; "
                "for a flow use fields=, and keep: true in the flow file"
            )
        flow = cast(FlowArgument, flow)
        here = {"set": set, "profile": profile, "cache_dir": cache_dir}
        remote = remote_of(flow, token=token, ca=ca, certificate=certificate, cleartext=cleartext, here=here)
        named = options.node_of(flow, node, nodes)
        request: dict[str, Any] = {
            **options.flow_request(flow, set, profile, remote),
            "parts": options.parts_request(named, subset),
            "seed": _numbers.whole("seed", seed, 0, 2**64 - 1),
            "last_step": last_step,
            "batch": options.batch_request(
                batch_size=batch_size,
                last_batch=last_batch,
                drop_last=drop_last,
                tokens=tokens,
                count_padding=count_padding,
                buckets=buckets,
                pack=pack,
                pack_window=pack_window,
                split=split,
            ),
        }
        request |= options.order_request(
            mixed=isinstance(named, Mapping), shuffle=shuffle, replacement=replacement, draws=draws, stop=stop
        )
        said = {
            "length": options.length_request(length),
            "fields": options.fields_request(fields),
            "skip": _numbers.whole("skip", skip) or None,
        }
        request |= {name: value for name, value in said.items() if value is not None}
        self._session = Session(cache_dir, request, tensors_of(tensors, pin_memory), pin_memory, remote=remote)
        self._last_step = last_step
        self._given = rank, world_size
        distributed.here(rank, world_size)  # refuses one of the two without the other
        window, ring = _numbers.whole("window", window, 1), _numbers.whole("ring", ring, 1)
        if window is not None:
            window = max(2, window)  # a loop uses one batch while it requests the next
        self._memory = {name: value for name, value in {"window": window, "ring": ring}.items() if value is not None}
        self._prefix = ""  # of states; "" until a reader has started
        self._at: Place = (0, 0)
        """The position of the next batch, before the turns of other workers are counted."""
        self._turns: int | None = None  # in a worker: the number of batches of other workers that come first
        self._begun: int | None = None  # the epoch begun last
        self._chosen = True  # the next iteration begins at _at
        self._over = False  # the loaded state is the end of an iteration
        self._reading = False  # the next batch of the connection is the one at _at
        self._running = False  # the connection has a reader that has not ended
        self._iteration = 0
        self._stamp: str | None = None  # of the files that the batches of this epoch are from
        self._busy = 0  # the process in which a thread is reading
        if epoch:
            self.set_epoch(epoch)

    # Position of the next batch

    @property
    def epoch(self) -> int:
        """The epoch of the next batch: after the last batch of an epoch, the next epoch."""
        return self._at[0]

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration begin at an epoch.

        A state within that epoch that was loaded just before stays chosen.
        """
        epoch = _numbers.whole("epoch", epoch)
        if not (self._chosen and self._at[0] == epoch):
            self._go((epoch, 0))
        self._chosen = True

    def _go(self, place: Place) -> None:
        """Go to a position, which may be the current one."""
        self._over = False
        if self._at != place or self._turns is not None:
            self._at, self._turns, self._reading = place, None, False

    def state_dict(self) -> dict[str, Any]:
        """Return the position of the next batch, at any time, as a string of at most 64 bytes.

        In a worker of a DataLoader it also says which batches are the worker's. Before the first
        read this asks the server; later it does not.
        """
        if not self._prefix:
            self._begin()
        saved: dict[str, Any] = {"state": state_text(self._prefix, *self._at)}
        worker = distributed.worker()
        if worker is not None:
            turns = worker[0] if self._turns is None else self._turns
            epoch = self._at[0] if self._chosen or self._begun is None else self._begun
            saved |= {"turns": turns, "workers": worker[1], "epoch": epoch}
        return saved

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next iteration resume at exactly the batch that was next in the state.

        A state of another loader raises `StateError`, here or when reading begins.
        """
        try:
            if not isinstance(state, Mapping):
                raise TypeError("the state is not a dict")
            text = state["state"]
            prefix, epoch, position = text.rsplit(".", 2)
            place = int(epoch, 36), int(position, 36)
            if (epoch, position) != (base36(place[0]), base36(place[1])):
                raise ValueError("numbers have one form")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise StateError(f"{state!r:.200} is not the state of a loader") from error
        if "turns" in state:
            self._check_worker(state)
        self._prefix, self._at, self._turns = prefix, place, state.get("turns")
        self._over = state.get("epoch", place[0]) != place[0]
        self._reading, self._chosen, self._stamp = False, True, None

    def _check_worker(self, state: Mapping[str, Any]) -> None:
        worker = distributed.worker()
        workers = 0 if worker is None else worker[1]
        if workers != state.get("workers"):
            raise StateError(
                f"the state is of a DataLoader with {state.get('workers')} workers, not {workers}; "
                "resume with as many workers, or save the state of a loader without workers"
            )

    def __len__(self) -> int:
        """Return the number of batches of this rank in a whole epoch.

        It is the number of epoch 0. If batches depend on lengths, other epochs may have a few
        more or less. It does not depend on the state.
        """
        if not self._session.opened:
            self._session.connected()
        rank, world_size = distributed.here(*self._given)
        whole, more = divmod(int(self._session.opened["batches"]), world_size)
        if self._last_step == "drop":
            return whole
        return whole + (1 if more and (self._last_step == "pad" or rank < more) else 0)

    # Reading

    def __iter__(self) -> Iterator[Any]:
        """Begin an iteration, over objects of `Batch` or of `collate_fn`, and end the previous one."""
        self._iteration += 1
        if not self._chosen and self._begun is not None and self._at != (self._begun, 0):
            self._go((self._begun + 1, 0))
        self._begun = self._at[0] - 1 if self._over else self._at[0]
        self._chosen = self._over = False
        return _Iteration(self, self._iteration)

    def _next(self) -> Batch:
        while self._at[0] == self._begun:
            connection = self._session.connection
            if connection is None or not self._reading:
                connection = self._begin()
            try:
                batch = connection.take()
                if batch is not None:
                    return self._hand(connection, batch)
                self._end(connection)
            except Lost as error:
                self._reading = self._running = False
                self._session.lost(error)
                continue
            except BaseException as error:  # a batch that was taken and not returned is sent again
                self._failed(error)
                raise
        if self._turns is not None:  # a worker's reader has one epoch
            self._turns, self._reading = None, False
        raise StopIteration

    def _hand(self, connection: Connection, batch: Batch) -> Batch:
        if batch.epoch != self._begun:
            self._session.close()
            raise ProtocolError(f"the server sent a batch of epoch {batch.epoch} in epoch {self._begun}")
        self._session._losses = 0
        if self._turns is not None:
            self._turns = self._workers - 1
        # Nothing interrupts from here to the caller: a batch that is counted is returned.
        connection.stream.whole = True
        self._at = batch._about.after
        return batch

    def _end(self, connection: Connection) -> None:
        """Record the end of an epoch, if the last batch did not announce it."""
        epoch, after, position = connection.ended
        connection.stream.whole = True
        if epoch == self._begun:
            self._at = after, position

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, Error):  # the reader ended with it
            self._reading = self._running = False
        if self._session.failed(error):
            self._reading = self._running = False

    def _begin(self) -> Connection:
        """Return a connection with a reader that begins at the next batch."""
        while True:
            try:
                connection = self._ready()
                connection.start(self._start_request())
            except Lost as error:
                self._running = False
                self._session.lost(error)
                continue
            except BaseException:
                self._running = False
                self._session.close()
                raise
            self._reading = self._running = True
            self._prefix = connection.prefix
            self._check_files()
            return connection

    def _check_files(self) -> None:
        """Refuse to continue an epoch with other files than those of its first batches."""
        before, self._stamp = self._stamp, str(self._session.opened.get("stamp"))
        if before not in (None, self._stamp) and self._at[1] != 0:
            raise DataError(
                "files of the flow changed during this epoch, and the server that had opened the old ones has ended; "
                "continue with the changed files, or call set_epoch to begin the epoch again"
            )

    def _ready(self) -> Connection:
        """Return a connection without a reader."""
        before = self._session.connection
        if before is not None and before.usable and self._running:
            before.stop()
        self._running = False
        return self._session.connected()

    def _start_request(self) -> dict[str, Any]:
        rank, world_size = distributed.here(*self._given)
        request: dict[str, Any] = {"rank": rank, "world_size": world_size, **self._memory}
        if self._prefix:
            request["from"] = state_text(self._prefix, *self._at)
        else:
            request["epoch"] = self._at[0]
        worker = distributed.worker()
        if worker is not None:
            self._turns = worker[0] if self._turns is None else self._turns
            self._workers = worker[1]
            request |= {"share": self._turns, "shares": worker[1], "epochs": 1}
        return request

    def close(self) -> None:
        """Close the connection. Returned batches stay valid; reading again continues."""
        self._reading = self._running = False
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Copies

    def __getstate__(self) -> dict[str, Any]:
        """Return the options and the state, which another process needs."""
        return self.__dict__ | {
            "_given": distributed.here(*self._given),
            "_reading": False,
            "_running": False,
            "_busy": 0,
            "_chosen": True,  # it continues from its position
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _copied(self._session)

    def __reduce__(self) -> tuple[Any, ...]:
        own = getattr(type(self), "_own", type(self))
        return own.__new__, (own,), self.__getstate__()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()

    def __repr__(self) -> str:
        nodes = ", ".join(part["node"] for part in self._session.request["parts"])
        return f"<larder.Loader of {nodes}, at epoch {self._at[0]}, position {self._at[1]}>"


def _copied(session: Session) -> Session:
    copy = object.__new__(Session)
    copy.__dict__.update(session.__getstate__())
    return copy


class _Iteration:
    """One iteration of a loader."""

    __slots__ = ("_loader", "_number")

    def __init__(self, loader: Loader, number: int) -> None:
        self._loader = loader
        self._number = number

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        loader = self._loader
        if loader._iteration != self._number:
            raise RuntimeError("this iteration ended, because another iteration of the loader began")
        process = os.getpid()
        if loader._busy == process:
            raise RuntimeError("another thread is reading from this loader; only one thread at a time may do so")
        loader._busy = process  # no lock: nothing may interrupt between the batch and the caller
        try:
            batch = loader._next()
        finally:
            loader._busy = 0
        return batch if loader._samples is None else loader._samples.batch(batch)
