"""Flows of datasets, and batches of them for training, made by Larder in a process of its own.

`Loader` hands out batches, epoch after epoch; `Dataset` samples by number. Flows are made
by sources such as `underfolder` and the methods of `Node`, and run by `run`.
"""

from importlib.metadata import PackageNotFoundError as _Missing
from importlib.metadata import version as _version

from ._run import RunError, run
from .batch import Batch
from .dataset import Dataset
from .errors import (
    DataError,
    Error,
    FlowError,
    LarderWarning,
    ProtocolError,
    RequestError,
    RingError,
    ServerError,
    SkipWarning,
    StateError,
)
from .field import Field
from .flow import (
    Flow,
    Node,
    Options,
    Order,
    Step,
    Var,
    csv,
    images,
    jsonl,
    numpy,
    source,
    step,
    sweep,
    underfolder,
    var,
)
from .loader import Loader
from .report import CacheReport, NodeReport, Report, Skip

try:
    __version__ = _version("larder")
except _Missing:  # used from its folder
    __version__ = "0.0.0.dev0"

__all__ = [
    "Batch",
    "CacheReport",
    "DataError",
    "Dataset",
    "Error",
    "Field",
    "Flow",
    "FlowError",
    "LarderWarning",
    "Loader",
    "Node",
    "NodeReport",
    "Options",
    "Order",
    "ProtocolError",
    "Report",
    "RequestError",
    "RingError",
    "RunError",
    "ServerError",
    "Skip",
    "SkipWarning",
    "StateError",
    "Step",
    "Var",
    "__version__",
    "csv",
    "images",
    "jsonl",
    "numpy",
    "run",
    "source",
    "step",
    "sweep",
    "underfolder",
    "var",
]
