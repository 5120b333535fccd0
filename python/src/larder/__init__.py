"""Flows of datasets, batches of them for training, and functions whose results are kept.

`Loader` hands out batches, epoch after epoch; `Dataset` samples by number. Flows are made
by sources such as `underfolder` and the methods of `Node`, and run by `run`. `memo` keeps
the results of a function. All of that is done by Larder in a process of its own.
"""

from typing import TYPE_CHECKING, Any

from .batch import Batch
from .dataset import Dataset
from .errors import (
    ArgumentError,
    CodeError,
    CycleError,
    DataError,
    Error,
    FlowError,
    LarderWarning,
    NotKeptWarning,
    ProtocolError,
    RequestError,
    ResultError,
    RingError,
    ServerError,
    SkipWarning,
    StateError,
    UnkeyableError,
)
from .field import Field
from .loader import Loader

if TYPE_CHECKING:
    from . import lazy
    from ._edit import EditNode, Editor
    from ._file import File
    from ._memo import Memo, memo
    from ._memobatch import MemoBatch, memo_batch
    from ._read import read_flow
    from ._run import RunError, run
    from ._why import Why, why
    from .flow import (
        Flow,
        Node,
        Options,
        Order,
        Step,
        Var,
        arrow,
        csv,
        generate,
        hf,
        images,
        jsonl,
        mds,
        numpy,
        parquet,
        python,
        source,
        step,
        sweep,
        text,
        tfrecord,
        underfolder,
        var,
        webdataset,
    )
    from .flow import zip as zip
    from .lazy import Lazy, LazyFunction, LazyObject
    from .report import CacheReport, NodeReport, Report, Skip

    __version__: str

__all__ = [
    "ArgumentError",
    "Batch",
    "CacheReport",
    "CodeError",
    "CycleError",
    "DataError",
    "Dataset",
    "EditNode",
    "Editor",
    "Error",
    "Field",
    "File",
    "Flow",
    "FlowError",
    "LarderWarning",
    "Lazy",
    "LazyFunction",
    "LazyObject",
    "Loader",
    "Memo",
    "MemoBatch",
    "Node",
    "NodeReport",
    "NotKeptWarning",
    "Options",
    "Order",
    "ProtocolError",
    "Report",
    "RequestError",
    "ResultError",
    "RingError",
    "RunError",
    "ServerError",
    "Skip",
    "SkipWarning",
    "StateError",
    "Step",
    "UnkeyableError",
    "Var",
    "Why",
    "__version__",
    "arrow",
    "csv",
    "generate",
    "hf",
    "images",
    "jsonl",
    "lazy",
    "mds",
    "memo",
    "memo_batch",
    "numpy",
    "parquet",
    "python",
    "read_flow",
    "run",
    "source",
    "step",
    "sweep",
    "text",
    "tfrecord",
    "underfolder",
    "var",
    "webdataset",
    "why",
]  # and zip, which a star would put in the place of the builtin one

# What makes and runs flows is imported when it is asked for, as batches do without it
# and each process that trains imports this.
_FLOW = (
    "Flow Node Options Order Step Var arrow csv generate hf images jsonl mds numpy parquet python source step "
    "sweep text tfrecord underfolder var webdataset"
)
_LATER = dict.fromkeys([*_FLOW.split(), "zip"], "flow")
_LATER |= dict.fromkeys(["CacheReport", "NodeReport", "Report", "Skip"], "report")
_LATER |= dict.fromkeys(["RunError", "run"], "_run") | {"File": "_file", "read_flow": "_read"}
_LATER |= dict.fromkeys(["EditNode", "Editor"], "_edit")
_LATER |= dict.fromkeys(["Memo", "memo"], "_memo") | dict.fromkeys(["MemoBatch", "memo_batch"], "_memobatch")
_LATER |= dict.fromkeys(["Why", "why"], "_why") | dict.fromkeys(["Lazy", "LazyFunction", "LazyObject"], "lazy")


def _later(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return _installed_version()
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    if name in _LATER.values():
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("larder")
    except PackageNotFoundError:  # used from its folder
        return "0.0.0.dev0"


if not TYPE_CHECKING:  # or any name would do

    def __getattr__(name: str) -> Any:
        value = globals()[name] = _later(name)
        return value

    def __dir__() -> list[str]:
        return sorted(set(globals()) | set(__all__))
