"""List the names of methods and attributes by which code depends on more than its arguments."""

from __future__ import annotations

from .refusals import CLOCK, FILES, MACHINE, RANDOMNESS, Refusal, words

BY_NAME = frozenset(["getattr", "hasattr", "setattr", "delattr", "vars", "attrgetter", "methodcaller"])
"""Functions that access attributes by names in data."""

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
    | dict.fromkeys(["rvs"], RANDOMNESS)
    | dict.fromkeys(
        words("normal_ uniform_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_"), RANDOMNESS
    )
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
