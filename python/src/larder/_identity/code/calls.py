"""List the functions of libraries that depend on more than their arguments in some calls only."""

from __future__ import annotations

from .refusals import FILES, words
from .rules import REFUSED

_OF_FOLDERS = words(
    "listdir scandir walk fwalk stat lstat access readlink lexists islink ismount getmtime getatime getctime samefile "
    "sameopenfile samestat isjunction isdevdrive"
)

OF_ARGUMENT = frozenset(["time.gmtime"])
"""Names that return the current time only if they are called without an argument."""

READERS = frozenset(
    name for name, why in REFUSED.items() if why is FILES and name.rpartition(".")[2] not in _OF_FOLDERS
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

TRAINING = frozenset(
    f"torch.nn.functional.{n}"
    for n in words("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout rrelu")
)
"""Functions that draw unless an argument says that a model is not in training."""

SILENT = frozenset(["traceback.print_exc", "traceback.print_last", "traceback.print_stack"])
"""Functions that only print to stderr if they are called without an argument."""
