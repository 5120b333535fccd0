"""The loader: batches of the nodes of a flow, epoch after epoch."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Self, cast

from . import _numbers, _options, _ranks, _session
from ._connection import Connection
from ._options import FlowArgument, NodesArgument, Subset
from ._session import Session
from ._stream import Lost
from ._url import CertificateArgument, TokenArgument, remote_of
from .batch import Batch, base36, state_text
from .errors import DataError, Error, ProtocolError, StateError
from .field import FieldsArgument

Place = tuple[int, int]
"""An epoch, and a position in its order."""


@functools.cache
def _with_torch(cls: Any) -> Any:
    """Return the class as one that torch knows to be an iterable dataset."""
    from torch.utils.data import IterableDataset

    if issubclass(cls, IterableDataset):
        return cls
    said = {"__module__": cls.__module__, "__doc__": cls.__doc__, "_own": cls}
    return type(cls.__name__, (cls, IterableDataset), said)


class Loader:
    """Batches of one node of a flow, or of several, for one rank.

    `for batch in loader` goes through what is left of an epoch: first from the place of
    a state that was loaded, or the epoch that `set_epoch` chose, else from the start of
    the epoch after the one that was begun last. The server makes the next batches
    meanwhile, over the end of an epoch, too.

    One thread at a time uses a loader; what it hands out may go anywhere. A new
    iteration ends the one before. A copy, and what a process gets by pickling or
    fork, goes on by itself, from the same place.

    Args:
        flow: the path of a flow file, an object with a method `to_yaml`, or the URL of a
            flow of another machine: "https://HOST:PORT/FLOW.yaml", FLOW.yaml being one in
            the folder of flows of its server.
        node: the node that is read.
        nodes: several, as a list, one after another, or with weights, as a dict: a mixture.
        batch_size: how many samples a batch has at most, or how many rows with `pack`;
            32 where neither this nor `tokens` is given.
        shuffle: each epoch has the samples in another random order.
        seed: of all that is drawn, from 0 to 2**64 - 1.
        drop_last: short for `rest="drop"`.
        rest: what becomes of samples too few for a batch: "keep", "drop" or "fill".
        tokens: what the lengths of a batch's samples add up to at most.
        count_padding: whether padding counts as tokens.
        buckets: bounds of lengths, ascending; batches are of one bucket each.
        pack: how many tokens a row has, in which samples are laid one after another.
        pack_window: how many rows are open at once.
        split: rows are filled to the last token; samples are cut where a row ends.
        length: what a sample's length is: an expression, or {"item": NAME}.
        replace: samples are drawn with replacement.
        draws: how many samples an epoch has, of a mixture or with `replace`.
        stop: where an epoch of a mixture ends: after "draws", with the "first" node that
            has been read once, or when "all" have; "first" without `draws`.
        subset: the samples there are: a range or a list of numbers; of several nodes a
            dict of these.
        fields: what is in a batch: a list of `Field` or names of items, or a dict from
            items to `Field`, to its options, to a form, or to None; all items without it.
        skip: how many samples of an epoch may be left out as they cannot be read. Each
            is a `SkipWarning`.
        tensors: "numpy", "torch", or None for plain memoryviews; "auto" is NumPy where
            it is installed.
        pin_memory: batches lie in memory that a GPU copies from by itself, where there
            is one.
        set: values of the flow's variables.
        profile: the flow's profile.
        cache, cache_dir: the cache folder; LARDER_CACHE or the user's usual one without it.
        epoch: the epoch to begin with.
        replacement: the same as replace, and world_size as ranks.
        rank, ranks: which part of the batches is this process's; else what
            torch.distributed says, or RANK and WORLD_SIZE, or 0 of 1.
        round: what the last round of an epoch is where it has fewer batches than there
            are ranks: "pad", "drop" or "uneven".
        window: how many batches are on their way or in use at most, 2 at least; 16.
        ring: how many bytes these take at most; 256 MiB. Of another machine the two
            bound what was received and not handed out yet.
        token: with a URL, what the server wants to be shown: a text, or the path (a
            `pathlib.Path`) of a file with it; LARDER_TOKEN without it. A text stays in
            this process: what is pickled has it not.
        ca: with a URL, the file of the authority that signed the server's certificate, or
            a folder of such; those of the system without it.
        certificate: with a URL, the client's own certificate with its key, a file, or the
            two in two files.
        cleartext: let a URL be http:// and name another machine than this one.
    """

    _own: type[Loader]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a loader, which is an IterableDataset where torch was imported before."""
        known: Any = _with_torch(cast(Any, cls)) if "torch" in sys.modules else cls
        made: Self = object.__new__(known)
        return made

    def __init__(
        self,
        flow: FlowArgument,
        node: str | None = None,
        *,
        nodes: NodesArgument | None = None,
        batch_size: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        rest: Literal["keep", "drop", "fill"] | None = None,
        tokens: int | None = None,
        count_padding: bool = False,
        buckets: Iterable[int] | None = None,
        pack: int | None = None,
        pack_window: int | None = None,
        split: bool = False,
        length: str | Mapping[str, str] | None = None,
        replace: bool = False,
        draws: int | None = None,
        stop: Literal["draws", "first", "all"] | None = None,
        subset: Subset | Mapping[str, Subset] | None = None,
        fields: FieldsArgument | None = None,
        skip: int = 0,
        tensors: Literal["numpy", "torch", "auto"] | None = "auto",
        pin_memory: bool = False,
        set: Mapping[str, Any] | None = None,
        profile: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        rank: int | None = None,
        ranks: int | None = None,
        round: Literal["pad", "drop", "uneven"] = "pad",
        window: int | None = None,
        ring: int | None = None,
        token: TokenArgument | None = None,
        ca: str | os.PathLike[str] | None = None,
        certificate: CertificateArgument | None = None,
        cleartext: bool = False,
        epoch: int = 0,
        replacement: bool = False,
        world_size: int | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        replace = replace or replacement
        ranks = _options.either("ranks", ranks, "world_size", world_size)
        cache = _options.either("cache", cache, "cache_dir", cache_dir)
        here = {"set": set, "profile": profile, "cache": cache}
        remote = remote_of(flow, token=token, ca=ca, certificate=certificate, cleartext=cleartext, here=here)
        named = _options.node_of(flow, node, nodes)
        request: dict[str, Any] = {
            **_options.flow_request(flow, set, profile, remote),
            "parts": _options.parts_request(named, subset),
            "seed": _numbers.whole("seed", seed, 0, 2**64 - 1),
            "round": round,
            "batch": _options.batch_request(
                batch_size=batch_size,
                rest=rest,
                drop_last=drop_last,
                tokens=tokens,
                count_padding=count_padding,
                buckets=buckets,
                pack=pack,
                pack_window=pack_window,
                split=split,
            ),
        }
        request |= _options.order_request(
            mixed=isinstance(named, Mapping), shuffle=shuffle, replace=replace, draws=draws, stop=stop
        )
        said = {
            "length": _options.length_request(length),
            "fields": _options.fields_request(fields),
            "skip": _numbers.whole("skip", skip) or None,
        }
        request |= {name: value for name, value in said.items() if value is not None}
        self._session = Session(cache, request, _session.tensors_of(tensors, pin_memory), pin_memory, remote=remote)
        self._round = round
        self._given = rank, ranks
        _ranks.here(rank, ranks)  # half an answer is refused here
        window, ring = _numbers.whole("window", window, 1), _numbers.whole("ring", ring, 1)
        if window is not None:
            window = max(2, window)  # a loop looks at one batch while it asks for the next
        self._memory = {name: value for name, value in {"window": window, "ring": ring}.items() if value is not None}
        self._prefix = ""  # of states; "" until a reader was started
        self._at: Place = (0, 0)
        """Where the next batch is, but for the turns of other workers before it."""
        self._turns: int | None = None  # in a worker: how many batches of others come before
        self._begun: int | None = None  # the epoch that was begun last
        self._chosen = True  # the next iteration begins at _at
        self._over = False  # what was loaded is the end of an iteration
        self._reading = False  # what the connection brings next is the batch at _at
        self._running = False  # the connection has a reader that has not ended
        self._iteration = 0
        self._stamp: str | None = None  # of the files that the batches of this epoch are from
        self._busy = 0  # the process in which a thread is reading
        if epoch:
            self.set_epoch(epoch)

    # Which batch comes next

    @property
    def epoch(self) -> int:
        """The epoch of the batch that comes next: after the last one of an epoch, the next."""
        return self._at[0]

    def set_epoch(self, epoch: int) -> None:
        """Have the next iteration begin an epoch.

        A state that was loaded just before, and is within that epoch, is kept.
        """
        epoch = _numbers.whole("epoch", epoch)
        if not (self._chosen and self._at[0] == epoch):
            self._go((epoch, 0))
        self._chosen = True

    def _go(self, place: Place) -> None:
        """Go to a place, which may be where it is already."""
        self._over = False
        if self._at != place or self._turns is not None:
            self._at, self._turns, self._reading = place, None, False

    def state_dict(self) -> dict[str, Any]:
        """Return where the next batch is, at any moment, as text of 64 bytes at most.

        In a worker of a DataLoader it is more than that: which batches are the worker's.
        Before anything was read this asks the server; later it asks nobody.
        """
        if not self._prefix:
            self._begin()
        saved: dict[str, Any] = {"state": state_text(self._prefix, *self._at)}
        worker = _ranks.worker()
        if worker is not None:
            turns = worker[0] if self._turns is None else self._turns
            epoch = self._at[0] if self._chosen or self._begun is None else self._begun
            saved |= {"turns": turns, "workers": worker[1], "epoch": epoch}
        return saved

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Have the next iteration go on with exactly the batch that came next then.

        A state of something else is a `StateError`, here or where reading begins.
        """
        try:
            if not isinstance(state, Mapping):
                raise TypeError("it is no dict")
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
        worker = _ranks.worker()
        workers = 0 if worker is None else worker[1]
        if workers != state.get("workers"):
            raise StateError(
                f"the state is that of one of {state.get('workers')} workers of a DataLoader, and here there are "
                f"{workers}; resume it with as many, or save the state of a loader without workers"
            )

    def __len__(self) -> int:
        """Return how many batches of this rank a whole epoch has.

        It is that of epoch 0: where batches depend on lengths, others may have some more
        or less. It does not depend on the state.
        """
        if not self._session.opened:
            self._session.connected()
        rank, ranks = _ranks.here(*self._given)
        whole, more = divmod(int(self._session.opened["batches"]), ranks)
        if self._round == "drop":
            return whole
        return whole + (1 if more and (self._round == "pad" or rank < more) else 0)

    # Reading

    def __iter__(self) -> Iterator[Batch]:
        """Begin an iteration; the one before ends."""
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
            except BaseException as error:  # also what was taken and not handed out comes again
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
        # From here to the caller nothing interrupts: what is counted is handed out.
        connection.stream.whole = True
        self._at = batch._about.after
        return batch

    def _end(self, connection: Connection) -> None:
        """Note the end of an epoch, if it was not known from its last batch."""
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
        """Return a connection with a reader that begins where the next batch is."""
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
        """Refuse to go on within an epoch with other files than those of its first batches."""
        before, self._stamp = self._stamp, str(self._session.opened.get("stamp"))
        if before not in (None, self._stamp) and self._at[1] != 0:
            raise DataError(
                "files of the flow have changed since this loader opened them, and the server that went on with "
                "what they were has ended; the next batch is of what they are now, or begin an epoch anew by set_epoch"
            )

    def _ready(self) -> Connection:
        """Return a connection without a reader."""
        before = self._session.connection
        if before is not None and before.usable and self._running:
            before.stop()
        self._running = False
        return self._session.connected()

    def _start_request(self) -> dict[str, Any]:
        rank, ranks = _ranks.here(*self._given)
        request: dict[str, Any] = {"rank": rank, "ranks": ranks, **self._memory}
        if self._prefix:
            request["from"] = state_text(self._prefix, *self._at)
        else:
            request["epoch"] = self._at[0]
        worker = _ranks.worker()
        if worker is not None:
            self._turns = worker[0] if self._turns is None else self._turns
            self._workers = worker[1]
            request |= {"share": self._turns, "shares": worker[1], "epochs": 1}
        return request

    def close(self) -> None:
        """End the connection. Batches that were handed out stay; reading again goes on."""
        self._reading = self._running = False
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Copies

    def __getstate__(self) -> dict[str, Any]:
        """Return the options and the state: what another process needs."""
        return self.__dict__ | {
            "_given": _ranks.here(*self._given),
            "_reading": False,
            "_running": False,
            "_busy": 0,
            "_chosen": True,  # it goes on from its place
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

    def __next__(self) -> Batch:
        loader = self._loader
        if loader._iteration != self._number:
            raise RuntimeError("another iteration of this loader has begun, which ended this one")
        process = os.getpid()
        if loader._busy == process:
            raise RuntimeError("another thread is at a batch of this loader, which one at a time may read")
        loader._busy = process  # no lock: nothing may interrupt between the batch and the caller
        try:
            return loader._next()
        finally:
            loader._busy = 0
