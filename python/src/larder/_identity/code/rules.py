"""List the parts of the standard library and of other libraries that depend on more than their arguments.

Of the standard library and the built-in functions, only the parts listed here as depending only
on their arguments are allowed. Of other distributions, the parts not listed are allowed.
"""

from __future__ import annotations

from typing import NamedTuple


class Refusal(NamedTuple):
    """Why something is refused, and a fix."""

    what: str
    cure: str


def words(text: str) -> list[str]:
    """Return the words of a string, in which lists of names are easier to read."""
    return text.split()


_PASS = "pass what it gives as an argument"
CLOCK = Refusal("the clock", _PASS)
CHANCE = Refusal("random numbers that no argument decides", "pass a seed and make a generator from it")
ENVIRONMENT = Refusal("the environment", _PASS)
MACHINE = Refusal("the machine or this process", _PASS)
FILES = Refusal(
    "files, whose content is not in the key",
    "take the file as a parameter that is annotated as larder.File, and read that",
)
NETWORK = Refusal("the network", "get it outside, and pass the content as an argument")
PROGRAMS = Refusal("other programs", "run them outside, and pass what they gave as an argument")
DYNAMIC = Refusal("code or variables by names that are only known when it runs", "name them in the code")
PLACES = Refusal("lines of files, which are in no key", "return what the error says, and not where it was raised")
INPUT = Refusal("what somebody types", _PASS)
SETTING = Refusal("a setting of the whole process", "pass it as an argument")
UNKNOWN = Refusal("a part of Python that is not known to depend on its arguments alone", _PASS)


def allowing(name: str, why: Refusal) -> str:
    """Return the advice for results that do not depend on a name's value, if it may be allowed."""
    if not name or why in (FILES, NETWORK, DYNAMIC, INPUT):
        return ""
    return f'say allow=["{name}"] if no result depends on it, '


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

BY_NAME = frozenset(["getattr", "hasattr", "setattr", "delattr", "vars", "attrgetter", "methodcaller"])
"""Functions that access attributes by names in data."""

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
    "secrets": CHANCE,
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

_REFUSED: dict[str, Refusal] = (
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
    | dict.fromkeys(["uuid.uuid1", "uuid.uuid4", "uuid.uuid6", "uuid.uuid7", "uuid.uuid8", "uuid.getnode"], CHANCE)
    | dict.fromkeys(["random.SystemRandom", "os.urandom", "posix.urandom", "random.seed"], CHANCE)
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
        CHANCE,
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
    "numpy.random": CHANCE,
    "torch.nn.init": CHANCE,
    "dotenv": ENVIRONMENT,
    "larder._batches.loader": FILES,
    "larder._batches.dataset": FILES,
    "larder._flows.flow": FILES,
    "larder._flows.graph": FILES,
    "larder._flows.run": PROGRAMS,
}

_RANDOM_CLASSES = "Generator PCG64 PCG64DXSM MT19937 Philox SFC64 SeedSequence BitGenerator default_rng RandomState"

SEEDED = frozenset(["random.Random"] + [f"numpy.random.{n}" for n in _RANDOM_CLASSES.split()])
"""Names that are random only if they are called without an argument."""

_OF_FOLDERS = words(
    "listdir scandir walk fwalk stat lstat access readlink lexists islink ismount getmtime getatime getctime samefile "
    "sameopenfile samestat isjunction isdevdrive"
)

OF_ARGUMENT = frozenset(["time.gmtime"])
"""Names that return the current time only if they are called without an argument."""

READERS = frozenset(
    name for name, why in _REFUSED.items() if why is FILES and name.rpartition(".")[2] not in _OF_FOLDERS
)
"""Functions that read only the content of the file that their first argument names."""

OPENERS = frozenset(
    [
        *words("builtins.open io.open _io.open io.FileIO _io.FileIO codecs.open gzip.open gzip.GzipFile bz2.open"),
        *words("bz2.BZ2File lzma.open lzma.LZMAFile zipfile.ZipFile zipfile.is_zipfile tarfile.open tarfile.TarFile"),
        *words("wave.open sqlite3.connect _sqlite3.connect sqlite3.dbapi2.connect"),
        *words("tarfile.is_tarfile tarfile.TarFile.open xml.etree.ElementTree.parse xml.etree.ElementTree.iterparse"),
        *words("xml.etree.ElementTree.ElementTree xml.dom.minidom.parse"),
        *(f"numpy.{n}" for n in words("load loadtxt genfromtxt fromfile memmap fromregex")),
        *(f"pandas.read_{n}" for n in words("csv table json fwf pickle excel")),
        *words("torch.load torch.serialization.load PIL.Image.open joblib.load scipy.io.loadmat scipy.io.wavfile.read"),
    ]
)
"""Functions that open a file through Python, so that it is reported."""

LOADERS = frozenset(name for name in OPENERS if name.rpartition(".")[2] not in ("FileIO", "GzipFile", "BZ2File")) - {
    *words("builtins.open io.open _io.open codecs.open zipfile.is_zipfile tarfile.is_tarfile")
}
"""Those of them that also read from buffers, which functions create from bytes."""

OPENING = frozenset(words("read_text read_bytes open"))
"""Methods of paths that open them through Python."""

OF_CONTENT = OPENING | frozenset(words("exists is_file"))
"""Methods of paths that depend at most on a file's content."""

NAMING = frozenset(
    words(
        "name stem suffix suffixes parent parents parts with_name with_stem with_suffix relative_to is_relative_to "
        "match full_match joinpath as_posix as_uri filename path format fspath __fspath__ __str__ __repr__ __format__ "
        "__bytes__ __hash__ __mod__ __rmod__ __getattribute__"
    )
)
"""Attributes by which code reads the name of a file."""

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

QUERYING = frozenset(["query"])
"""Methods that evaluate a string in which a variable has @ before its name."""

EVALUATING = QUERYING | frozenset(
    words(
        "eval evaluate re_evaluate sql sqldf from_formula dmatrix dmatrices model_matrix Formula lm anova_lm ols wls "
        "gls glsar glm gee nominal_gee ordinal_gee logit probit poisson mnlogit negativebinomial mixedlm rlm quantreg "
        "phreg conditional_logit conditional_poisson"
    )
)
"""Functions and methods that evaluate a string with the variables of their caller: pandas, numexpr, statsmodels."""

CALLING = frozenset(words("getattr methodcaller attrgetter"))
"""Functions that call methods by names in strings."""

AGGREGATING = frozenset(words("agg aggregate apply transform"))
"""Methods that call others by names in data: those of pandas."""

METHODS: dict[str, Refusal] = (
    dict.fromkeys(["now", "utcnow", "today"], CLOCK)
    | dict.fromkeys(
        words(
            "read_text read_bytes iterdir rglob glob is_file is_dir is_symlink is_mount exists stat lstat "
            "readlink samefile open owner"
        ),
        FILES,
    )
    | dict.fromkeys(["from_pretrained", "from_file"], FILES)
    | dict.fromkeys(["expanduser", "absolute", "resolve", "cwd"], MACHINE)
    | dict.fromkeys(["rvs"], CHANCE)
    | dict.fromkeys(words("normal_ uniform_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_"), CHANCE)
)
"""The effects of methods with these names on objects of unknown type."""

METHODS_OF: dict[str, dict[str, Refusal]] = {
    "tokenizers": dict.fromkeys(words("train read_file"), FILES),
    "sentencepiece": dict.fromkeys(words("load Load LoadFromFile"), FILES),
    "faiss": dict.fromkeys(words("read_index"), FILES),
    "annoy": dict.fromkeys(words("load"), FILES),
    "hnswlib": dict.fromkeys(words("load_index"), FILES),
    "fasttext": dict.fromkeys(words("load_model"), FILES),
    "xgboost": dict.fromkeys(words("load_model"), FILES),
    "catboost": dict.fromkeys(words("load_model"), FILES),
    "duckdb": dict.fromkeys(words("sql query execute read_csv read_json read_parquet from_csv_auto"), FILES),
}
"""The effects of methods with these names in code that uses a package."""

MAKERS_OF_FILES = frozenset(
    [f"tokenizers.models.{n}" for n in words("BPE WordLevel WordPiece")]
    + [
        f"tokenizers.implementations.{m}.{n}"
        for m, n in (
            ("bert_wordpiece", "BertWordPieceTokenizer"),
            ("byte_level_bpe", "ByteLevelBPETokenizer"),
            ("char_level_bpe", "CharBPETokenizer"),
            ("sentencepiece_bpe", "SentencePieceBPETokenizer"),
        )
    ]
)
"""Classes that create objects from values, or from files named by strings."""

INSIDES = frozenset(
    words(
        "__globals__ __subclasses__ __closure__ func_globals f_globals f_locals f_back f_builtins gi_frame cr_frame "
        "ag_frame tb_frame tb_lineno tb_lasti __traceback__ co_firstlineno co_lines co_positions co_linetable f_lineno "
        "__builtins__ cache_info cache_parameters __annotate__ "
        "co_varnames co_cellvars co_freevars co_filename co_lnotab co_code co_consts co_stacksize co_exceptiontable"
    )
)
"""Attributes by which code reaches what it does not name."""

ZONED = frozenset(words("timestamp astimezone mktime ctime localtime tz_localize tz_convert tzlocal strftime"))
"""Methods that depend on the time zone of the machine if a time has none."""

DECIDED = frozenset(["random_state", "rng", "generator"])
"""Parameters that pass a seed or a generator; without them the result is random."""

DRAWING = frozenset(
    f"torch.{n}" for n in words("rand randn randint randperm normal bernoulli multinomial poisson")
) | frozenset(
    [f"torch.{n}" for n in words("rand_like randn_like randint_like")]
    + [f"torch.nn.init.{n}" for n in words("uniform_ normal_ trunc_normal_ orthogonal_ sparse_")]
    + [f"torch.nn.init.{m}_{n}_" for m in ("xavier", "kaiming") for n in ("uniform", "normal")]
)
"""Functions that draw from the generator passed to them."""

GENERATORS = frozenset(["random", "numpy.random", "torch"])
"""Modules with generators of the process, for callers that allow draws from them."""

TRAINING = frozenset(
    f"torch.nn.functional.{n}"
    for n in words("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout rrelu")
)
"""Functions that draw unless an argument says that a model is not in training."""

SILENT = frozenset(["traceback.print_exc", "traceback.print_last", "traceback.print_stack"])
"""Functions that only print to stderr if they are called without an argument."""

OF_ERRORS = frozenset(
    words(
        "exception exceptions return_exceptions error_callback exc_info excepthook last_value __context__ __cause__ "
        "set_exception_handler"
    )
)
"""Names by which code reads errors that it does not catch itself."""

OF_PLACES = frozenset(["lineno", "filename"])
"""Attributes of caught warnings that say where they were raised."""

# Methods that libraries call on their arguments, whatever the class.
CALLED = frozenset(
    words(
        "read readline readlines write writelines flush close seek tell keys values items get forward "
        "run fit transform "
        "predict emit format filter default send throw encode decode update step call apply acquire release"
    )
)


_RAISED = ("Error", "Exception", "Warning", "Iteration", "Interrupt", "Exit", "ExceptionGroup")


def refusal(name: str, standard: bool) -> Refusal | None:
    """Return why a name of the standard library or another one is refused, or None."""
    if name in _REFUSED:
        return _REFUSED[name]
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
