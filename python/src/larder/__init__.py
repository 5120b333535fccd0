"""Flows of datasets, batches of their samples for training, and cached functions.

`Loader` returns batches, epoch after epoch. `Dataset` returns samples by index. Sources such as
`underfolder` and the methods of `Node` build flows, and `run` runs them. `memo` caches the
results of a function. Larder does the work in a separate process.
"""

from typing import TYPE_CHECKING, Any

from ._batches.batch import Batch
from ._batches.dataset import Dataset
from ._batches.field import Field
from ._batches.loader import Loader
from .errors import (
    ArgumentError,
    CodeError,
    CycleError,
    DataError,
    Error,
    FlowError,
    LarderWarning,
    NotCachedWarning,
    ProtocolError,
    RequestError,
    ResultError,
    RingError,
    ServerError,
    SkipWarning,
    StateError,
    UnkeyableError,
)

if TYPE_CHECKING:
    from . import lazy
    from ._flows.edit import EditNode
    from ._flows.flow import Editor, Flow, Node, Order, generate, source, step
    from ._flows.graph import Step
    from ._flows.node_args import Options
    from ._flows.read import read_flow
    from ._flows.report import CacheReport, NodeReport, Report, Skip
    from ._flows.run import RunError, run
    from ._flows.sources import (
        arrow,
        csv,
        hf,
        images,
        jsonl,
        mds,
        numpy,
        parquet,
        python,
        text,
        tfrecord,
        underfolder,
        webdataset,
    )
    from ._flows.sources import zip as zip
    from ._memo.batch import MemoBatch, memo_batch
    from ._memo.memo import Memo, memo
    from ._memo.why import Why, why
    from ._reads.file import File
    from ._yaml.values import Var, sweep, var
    from .lazy import Lazy, LazyFunction, LazyObject

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
    "NotCachedWarning",
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
]  # and zip, which a star import would put in place of the builtin

# The modules that build and run flows are imported on first use: batches do not need them,
# and each training process imports this module.
_SOURCES = "arrow csv hf images jsonl mds numpy parquet python text tfrecord underfolder webdataset zip"
_LATER = dict.fromkeys(_SOURCES.split(), "_flows.sources")
_LATER |= dict.fromkeys(["Editor", "Flow", "Node", "Order", "generate", "source", "step"], "_flows.flow")
_LATER |= dict.fromkeys(["Var", "sweep", "var"], "_yaml.values")
_LATER |= {"EditNode": "_flows.edit", "Options": "_flows.node_args", "Step": "_flows.graph"}
_LATER |= dict.fromkeys(["CacheReport", "NodeReport", "Report", "Skip"], "_flows.report")
_LATER |= dict.fromkeys(["RunError", "run"], "_flows.run") | {"read_flow": "_flows.read", "File": "_reads.file"}
_LATER |= dict.fromkeys(["Memo", "memo"], "_memo.memo") | dict.fromkeys(["MemoBatch", "memo_batch"], "_memo.batch")
_LATER |= dict.fromkeys(["Why", "why"], "_memo.why") | dict.fromkeys(["Lazy", "LazyFunction", "LazyObject"], "lazy")


def _later(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return _installed_version()
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    if name == "lazy":
        return import_module(f"{__name__}.lazy")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("larder")
    except PackageNotFoundError:  # used from its directory, not installed
        return "0.0.0.dev0"


if not TYPE_CHECKING:  # type checkers would accept any name otherwise

    def __getattr__(name: str) -> Any:
        value = globals()[name] = _later(name)
        return value

    def __dir__() -> list[str]:
        return sorted(set(globals()) | set(__all__))
