"""Flows of datasets, batches of their samples for training, and cached functions.

`Loader` returns batches, epoch after epoch. `Dataset` returns samples by index. Sources such as
`underfolder` and the methods of `Node` build flows, and `run` runs them. `memo` caches the
results of a function. Larder does the work in a separate process.
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
    except PackageNotFoundError:  # used from its directory, not installed
        return "0.0.0.dev0"


if not TYPE_CHECKING:  # type checkers would accept any name otherwise

    def __getattr__(name: str) -> Any:
        value = globals()[name] = _later(name)
        return value

    def __dir__() -> list[str]:
        return sorted(set(globals()) | set(__all__))
