"""List the parts of the standard library and of other libraries that depend on more than their arguments.

Of the standard library and the built-in functions, only the parts listed here as depending only
on their arguments are allowed. Of other distributions, the parts not listed are allowed.
"""

from __future__ import annotations

from .refusals import (
    CLOCK,
    DYNAMIC,
    ENVIRONMENT,
    FILES,
    INPUT,
    MACHINE,
    NETWORK,
    PLACES,
    PROGRAMS,
    RANDOMNESS,
    SETTING,
    UNKNOWN,
    Refusal,
    words,
)

BUILTINS = frozenset(
    words(
        "abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict divmod "
        "enumerate filter float format frozenset getattr hasattr hash hex id int isinstance issubclass iter "
        "len list map "
        "max memoryview min next object oct ord pow print property range repr reversed round set setattr slice sorted "
        "staticmethod str sum super tuple type zip __build_class__ __debug__ NotImplemented Ellipsis None NoneType "
        "True False"
    )
)

_PURE = frozenset(
    words(
        "__future__ _collections _collections_abc _functools _io _json _operator _struct _thread "
        "_weakref _weakrefset abc "
        "array ast asyncio base64 binascii bisect builtins bz2 calendar cmath codecs collections colorsys concurrent "
        "contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib enum fnmatch fractions functools "
        "genericpath graphlib hashlib heapq hmac html io ipaddress itertools json keyword logging lzma math numbers "
        "operator opcode pathlib pickle pprint queue quopri random re reprlib statistics string stringprep struct "
        "textwrap threading token types typing unicodedata urllib.parse uuid warnings weakref "
        "zlib zoneinfo "
        "_hashlib _sha2 _sha1 _sha256 _md5 _blake2 _sha3 _random _bisect _heapq _csv _datetime _pydatetime _decimal "
        "_statistics _abc _warnings _contextvars _asyncio _codecs _lzma _bz2 _pickle _queue _uuid pyexpat "
        "_typing _strptime _py_abc _string sre_constants sre_parse sre_compile difflib tomllib "
        "gzip zipfile tarfile html.parser errno stat cmath unittest.mock configparser wave "
        "_pydecimal _compat_pickle encodings posixpath ntpath _struct annotationlib string.templatelib compression"
    )
)

_BY_MODULE = {
    "time": CLOCK,
    "secrets": RANDOMNESS,
    "os": MACHINE,
    "posix": MACHINE,
    "nt": MACHINE,
    "sys": MACHINE,
    "platform": MACHINE,
    "locale": SETTING,
    "getpass": INPUT,
    "gc": MACHINE,
    "signal": MACHINE,
    "resource": MACHINE,
    "multiprocessing": MACHINE,
    "subprocess": PROGRAMS,
    "_posixsubprocess": PROGRAMS,
    "socket": NETWORK,
    "_socket": NETWORK,
    "ssl": NETWORK,
    "http": NETWORK,
    "urllib": NETWORK,
    "ftplib": NETWORK,
    "smtplib": NETWORK,
    "shutil": FILES,
    "glob": FILES,
    "tempfile": FILES,
    "fileinput": FILES,
    "linecache": FILES,
    "traceback": PLACES,
    "shelve": FILES,
    "dbm": FILES,
    "sqlite3": FILES,
    "_sqlite3": FILES,
    "mmap": FILES,
    "xml": FILES,
    "importlib": DYNAMIC,
    "inspect": DYNAMIC,
    "runpy": DYNAMIC,
    "pkgutil": DYNAMIC,
    "ctypes": DYNAMIC,
    "code": DYNAMIC,
}

_ALLOWED = frozenset(
    [
        "time.sleep",
        "time.struct_time",
        "argparse.Namespace",
        "gc.collect",
        "sys.platform",
        "glob.escape",
        "glob.translate",
        "inspect.isclass",
        "inspect.isfunction",
    ]
    + ["inspect.signature", "inspect.Parameter", "inspect.Signature", "inspect.cleandoc", "inspect.iscoroutinefunction"]
    + [f"sys.{n}" for n in words("maxsize byteorder float_info int_info hash_info version_info hexversion version")]
    + [f"sys.{n}" for n in words("implementation maxunicode stdout stderr exit intern getsizeof")]
    + [
        f"os.{n}"
        for n in words("fspath fsencode fsdecode sep linesep pathsep extsep altsep curdir pardir PathLike path")
    ]
    + [f"builtins.{n}" for n in words("wrapper_descriptor method_descriptor method-wrapper module")]
    + ["os.strerror", "posix.fspath", "posix.strerror", "nt.fspath", "time.strptime"]
    + [f"torch.nn.init.{n}" for n in words("zeros_ ones_ constant_ eye_ dirac_ constant eye dirac calculate_gain")]
    + ["multiprocessing.pool.ThreadPool", "traceback.format_exception_only"]
    + [f"xml.etree.ElementTree.{n}" for n in words("fromstring fromstringlist tostring tostringlist Element XML")]
    + [f"xml.etree.ElementTree.{n}" for n in words("SubElement indent dump iselement Comment QName ParseError")]
    + [f"_elementtree.{n}" for n in words("Element SubElement TreeBuilder")]
    + [f"xml.sax.saxutils.{n}" for n in words("escape unescape quoteattr")]
)

REFUSED: dict[str, Refusal] = (
    dict.fromkeys(["builtins.open", "io.open", "_io.open", "io.FileIO", "_io.FileIO", "io.open_code"], FILES)
    | dict.fromkeys(["_io.open_code", "codecs.open", "gzip.open", "gzip.GzipFile", "bz2.open", "lzma.open"], FILES)
    | dict.fromkeys(["bz2.BZ2File", "lzma.LZMAFile", "zipfile.is_zipfile", "tarfile.is_tarfile"], FILES)
    | dict.fromkeys(["wave.open"], FILES)
    | dict.fromkeys([f"{m}.{n}" for m in ("pickle", "_pickle") for n in words("load loads Unpickler")], DYNAMIC)
    | dict.fromkeys([f"yaml.{n}" for n in words("unsafe_load unsafe_load_all UnsafeLoader CUnsafeLoader")], DYNAMIC)
    | dict.fromkeys(
        [
            "yaml.Loader",
            "yaml.CLoader",
            "yaml.loader.Loader",
            "yaml.loader.UnsafeLoader",
            "yaml.cyaml.CLoader",
            "jsonpickle.decode",
            "jsonpickle.unpickler.decode",
        ],
        DYNAMIC,
    )
    | dict.fromkeys([f"hydra.utils.{n}" for n in words("instantiate call get_class get_method get_object")], DYNAMIC)
    | dict.fromkeys(
        [f"logging.config.{n}" for n in words("BaseConfigurator DictConfigurator dictConfig fileConfig")], DYNAMIC
    )
    | dict.fromkeys(
        ["typing.get_overloads", "pydoc.locate", "pydantic.ImportString", "pkg_resources.EntryPoint"], DYNAMIC
    )
    | dict.fromkeys(["zipfile.ZipFile", "tarfile.open", "tarfile.TarFile", "logging.FileHandler"], FILES)
    | dict.fromkeys([f"logging.{n}" for n in words("LogRecord makeLogRecord Formatter BufferingFormatter")], CLOCK)
    | dict.fromkeys(["pathlib.Path.owner", "pathlib.Path.group"], FILES)
    | dict.fromkeys(["gzip.compress", "asyncio.get_event_loop.time"], CLOCK)
    | dict.fromkeys(["datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow"], CLOCK)
    | dict.fromkeys(["datetime.date.today"], CLOCK)
    | dict.fromkeys(["datetime.datetime.fromtimestamp", "datetime.date.fromtimestamp"], SETTING)
    | dict.fromkeys(["uuid.uuid1", "uuid.uuid4", "uuid.uuid6", "uuid.uuid7", "uuid.uuid8", "uuid.getnode"], RANDOMNESS)
    | dict.fromkeys(["random.SystemRandom", "os.urandom", "posix.urandom", "random.seed"], RANDOMNESS)
    | dict.fromkeys(["os.environ", "os.environb", "os.getenv", "os.getenvb", "posix.environ"], ENVIRONMENT)
    | dict.fromkeys(["pathlib.Path.cwd", "pathlib.Path.home", "os.getcwd", "posix.getcwd"], MACHINE)
    | dict.fromkeys(
        [
            f"{m}.{n}"
            for m in ("posixpath", "ntpath", "genericpath")
            for n in words(
                "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime samefile "
                "sameopenfile samestat isjunction isdevdrive"
            )
        ],
        FILES,
    )
    | dict.fromkeys(
        [
            f"{m}.{n}"
            for m in ("posixpath", "ntpath", "genericpath")
            for n in words("abspath realpath expanduser expandvars relpath")
        ],
        MACHINE,
    )
    | dict.fromkeys(
        [f"os.{n}" for n in words("listdir scandir walk fwalk stat lstat open read access readlink")], FILES
    )
    | dict.fromkeys([f"posix.{n}" for n in words("listdir scandir stat lstat open read access readlink")], FILES)
    | dict.fromkeys(["os.system", "os.popen", "posix.system"], PROGRAMS)
    | dict.fromkeys(["sys.modules", "sys._getframe", "sys._current_frames", "builtins.__import__"], DYNAMIC)
    | dict.fromkeys(
        [f"builtins.{n}" for n in words("eval exec compile globals locals vars dir breakpoint help")], DYNAMIC
    )
    | dict.fromkeys(["sys.stdin", "builtins.input", "sys.__stdin__"], INPUT)
    | dict.fromkeys(["decimal.getcontext", "decimal.setcontext", "_decimal.getcontext", "_decimal.setcontext"], SETTING)
    | dict.fromkeys(["asyncio.open_connection", "asyncio.start_server", "asyncio.streams.open_connection"], NETWORK)
    | dict.fromkeys(["threading.local", "_thread._local", "weakref.finalize"], SETTING)
    | dict.fromkeys(["threading.get_ident", "threading.current_thread", "threading.active_count"], MACHINE)
    | dict.fromkeys(["contextvars.ContextVar.get", "contextvars.copy_context", "_contextvars.copy_context"], SETTING)
    | dict.fromkeys(["unittest.mock"], DYNAMIC)
    # NumPy
    | dict.fromkeys([f"numpy.{n}" for n in words("load loadtxt genfromtxt fromfile memmap fromregex")], FILES)
    | dict.fromkeys(
        [
            f"numpy.{n}"
            for n in words(
                "seterr geterr seterrcall geterrcall setbufsize getbufsize "
                "set_printoptions get_printoptions set_string_function"
            )
        ],
        SETTING,
    )
    # torch
    | dict.fromkeys(
        [
            f"torch.{n}"
            for n in words(
                "rand randn randint randperm rand_like randn_like randint_like normal "
                "bernoulli multinomial poisson manual_seed seed initial_seed get_rng_state set_rng_state "
                "default_generator"
            )
        ],
        RANDOMNESS,
    )
    | dict.fromkeys(["torch.load", "torch.jit.load", "torch.hub.load", "torch.from_file"], FILES)
    | dict.fromkeys(
        [
            f"torch.{n}"
            for n in words("get_default_dtype set_default_dtype get_num_threads is_grad_enabled get_default_device")
        ],
        SETTING,
    )
    # others
    | dict.fromkeys(
        [
            "PIL.Image.open",
            "cv2.imread",
            "cv2.VideoCapture",
            "imageio.imread",
            "imageio.v2.imread",
            "imageio.v3.imread",
            "skimage.io.imread",
            "torchvision.io.read_image",
            "soundfile.read",
            "librosa.load",
            "torchaudio.load",
            "h5py.File",
            "zarr.open",
            "xarray.open_dataset",
            "joblib.load",
            "scipy.io.loadmat",
            "scipy.io.wavfile.read",
            "safetensors.safe_open",
            *(f"safetensors.{n}.load_file" for n in words("torch numpy flax paddle tensorflow mlx")),
            *("tifffile.imread", "tifffile.TiffFile", "tifffile.tifffile.imread", "tifffile.tifffile.TiffFile"),
            *("sklearn.datasets.load_files", "sklearn.datasets.load_svmlight_file", "sklearn.datasets.fetch_openml"),
            *("sklearn.datasets._base.load_files", "sklearn.datasets._svmlight_format_io.load_svmlight_file"),
            "fsspec.open",
            *("numpy.rec.fromfile", "pandas.io.common.get_handle", "pandas.io.parsers.readers.TextFileReader"),
            *(f"pyarrow.fs.{n}" for n in words("LocalFileSystem FileSystem SubTreeFileSystem S3FileSystem")),
            *(f"pyarrow._fs.{n}" for n in words("LocalFileSystem FileSystem SubTreeFileSystem")),
            *(
                f"polars.{m}_{n}"
                for m in ("read", "scan")
                for n in words("csv csv_batched parquet ipc ipc_stream json ndjson avro delta excel ods lines")
            ),
            *(
                f"{m}.{n}"
                for m in ("pyarrow", "pyarrow.lib")
                for n in words("memory_map OSFile MemoryMappedFile input_stream create_memory_map")
            ),
            *(
                f"{m}.{n}"
                for m in ("pyarrow.parquet", "pyarrow.parquet.core")
                for n in words("read_table read_pandas read_schema read_metadata ParquetFile ParquetDataset")
            ),
            *("pyarrow.csv.read_csv", "pyarrow.csv.open_csv", "pyarrow.json.read_json", "pyarrow.orc.read_table"),
            *("pyarrow.orc.ORCFile", "pyarrow.feather.read_table", "pyarrow.feather.read_feather"),
            "pyarrow.dataset.dataset",
            *("PIL.ImageFont.truetype", "PIL.ImageFont.load", "PIL.ImageFont.load_path", "PIL.ImageFont.FreeTypeFont"),
            *("pandas.ExcelFile", "pandas.HDFStore", "pandas.io.excel._base.ExcelFile", "pandas.io.pytables.HDFStore"),
            # files opened by native code, which Python does not report
            *(
                f"tokenizers.models.{m}.{n}"
                for m in words("BPE WordLevel WordPiece")
                for n in ("read_file", "from_file")
            ),
            *(f"cv2.{n}" for n in words("imreadmulti imreadanimation imcount FileStorage CascadeClassifier")),
            *(f"cv2.dnn.{n}" for n in words("readNet readNetFromONNX readNetFromCaffe readNetFromTensorflow")),
            *(f"torchvision.io.{n}" for n in words("read_file read_video VideoReader decode_image")),
            *(f"torchvision.io.image.{n}" for n in words("read_file read_image decode_image")),
            *(f"duckdb.{n}" for n in words("connect sql query execute read_csv read_json read_parquet from_csv_auto")),
            *("onnx.load", "onnxruntime.InferenceSession", "faiss.read_index", "fasttext.load_model", "lmdb.open"),
            *("lightgbm.Booster", "sentencepiece.SentencePieceProcessor", "netCDF4.Dataset", "rasterio.open"),
            *("nibabel.load", "pydicom.dcmread", "SimpleITK.ReadImage", "geopandas.read_file", "fiona.open", "av.open"),
            *("trimesh.load", "decord.VideoReader", "tensorflow.io.read_file", "llama_cpp.Llama", "pyvips.Image"),
            *("numpy.lib.format.open_memmap", "numpy.lib._format_impl.open_memmap", "numpy.lib.npyio.DataSource"),
        ],
        FILES,
    )
    | dict.fromkeys(
        [
            f"pandas.read_{n}"
            for n in words(
                "csv table json parquet excel hdf pickle feather orc fwf html xml "
                "sql sql_query sql_table stata sas spss"
            )
        ],
        FILES,
    )
)

_DISTRIBUTION_MODULES = {
    "requests": NETWORK,
    "httpx": NETWORK,
    "urllib3": NETWORK,
    "aiohttp": NETWORK,
    "boto3": NETWORK,
    "botocore": NETWORK,
    "openai": NETWORK,
    "anthropic": NETWORK,
    "huggingface_hub": NETWORK,
    "psutil": MACHINE,
    "numpy.random": RANDOMNESS,
    "torch.nn.init": RANDOMNESS,
    "dotenv": ENVIRONMENT,
    "larder._batches.loader": FILES,
    "larder._batches.dataset": FILES,
    "larder._flows.flow": FILES,
    "larder._flows.graph": FILES,
    "larder._flows.run": PROGRAMS,
}

UNSEEN = {
    "joblib": ("Parallel", "parallel"),
    "torch": ("utils.data",),
    "tqdm": ("contrib.concurrent",),
    "concurrent": ("futures.ProcessPoolExecutor", "futures.process"),
    "dask": ("",),
    "ray": ("",),
    "loky": ("",),
    "multiprocess": ("",),
    "pathos": ("",),
    "ipyparallel": ("",),
}
"""Packages, and parts of them, that call functions in other processes, whose opened files are not reported."""

THREADED = frozenset(words("threading concurrent _thread multiprocessing asyncio _asyncio joblib"))
"""Packages that call functions in other threads."""

GENERATORS = frozenset(["random", "numpy.random", "torch"])
"""Modules with generators of the process, for callers that allow draws from them."""

_RANDOM_CLASSES = "Generator PCG64 PCG64DXSM MT19937 Philox SFC64 SeedSequence BitGenerator default_rng RandomState"

SEEDED = frozenset(["random.Random"] + [f"numpy.random.{n}" for n in _RANDOM_CLASSES.split()])
"""Names that are random only if they are called without an argument."""

_RAISED = ("Error", "Exception", "Warning", "Iteration", "Interrupt", "Exit", "ExceptionGroup")


def refusal(name: str, standard: bool) -> Refusal | None:
    """Return why a name of the standard library or another one is refused, or None."""
    if name in REFUSED:
        return REFUSED[name]
    if name in _ALLOWED or name in SEEDED:
        return None
    if not standard:
        return _by_prefix(name, _DISTRIBUTION_MODULES)
    module, _, rest = name.rpartition(".")
    if module == "builtins":
        return None if rest in BUILTINS or rest.endswith(_RAISED) else UNKNOWN
    if module.partition(".")[0] in _PURE or module in _PURE or _is_listed(module):
        return None
    return _by_prefix(name, _BY_MODULE) or UNKNOWN


def _is_listed(module: str) -> bool:
    """Report whether a module, or a package of it, is listed as depending only on its arguments."""
    while module:
        if module in _PURE:
            return True
        module = module.rpartition(".")[0]
    return False


def _by_prefix(name: str, table: dict[str, Refusal]) -> Refusal | None:
    while name:
        if name in table:
            return table[name]
        name = name.rpartition(".")[0]
    return None
