"""Run the function of a node: its identity, its arguments, and its results."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import traceback
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from types import GeneratorType
from typing import Any

from .. import _worker
from .._identity.code.identity import identify
from .._identity.digest import digest
from .._identity.environment import nondefault_settings
from .._identity.values.encoder import Encoder
from .._identity.values.text import describe
from .._reads.audit import Watch
from .._reads.file import File, ending
from ..errors import CodeError
from . import modules
from .memory import Answer
from .values import AS, Reader, failure, value

_FORMS = {"ndarray": "numpy", "NDArray": "numpy", "Image": "pil", "Tensor": "torch", "bytes": "bytes"}
_LIST = re.compile(r"(?:typing\.)?(?:list|List|Sequence|Iterable)\[(.*)\]", re.DOTALL)
_SHOWN = 8
_HERE = os.path.dirname(__file__)
_SAMPLES = os.path.join(os.path.dirname(_HERE), "_batches", "samples.py")


class Function:
    """A function with its arguments besides items."""

    def __init__(self, setup: Mapping[str, Any]) -> None:
        self._setup = setup
        self._name: str = setup["function"]
        self._items: list[str] = setup["items"]
        self._into: list[str] = setup["into"]
        self._batch: bool = setup["batch"]
        _worker.importing = True
        modules.look_in([setup["dir"], *setup["path"]])
        self._call = modules.find(self._name, setup["dir"])
        start = setup.get("setup")
        self._start = modules.find(start, setup["dir"]) if start else None
        _worker.importing = False
        self._refuse()
        given = {**(setup.get("args") or {}), **{name: File(path) for name, path in (setup.get("files") or {}).items()}}
        self._given, self._start_given = self._share(given)
        self._as = self._forms()
        version = setup.get("version")
        self._allow = frozenset[str](setup.get("allow") or ())
        functions = [f for f in (self._call, self._start) if f is not None]
        self._identities = [identify(f, version=version, allow=self._allow) for f in functions]
        self._checked = [] if version else self._identities
        self._files = [file.path for file in given.values() if isinstance(file, File)]
        self._caches = [cache for identity in self._identities for cache in identity.caches]
        self._threads = any(identity.threads for identity in self._identities)
        self._follows = lambda value: any(identity.follows(value) for identity in self._identities)
        self._first: list[Any] = []

    def known(self) -> dict[str, Any]:
        """Return the identity of the function."""
        settings = nondefault_settings()
        named = Encoder(bytes)
        named.add([ending(path) for path in self._files])
        named.files += self._files
        named.name_files(max(identity.names_files for identity in self._identities))
        whole = digest(
            (_own_code(), self._as, settings, b"".join(named.out), *(identity.digest for identity in self._identities))
        )
        parts = [
            {"name": f"{part.text} ({part.path})", "digest": part.digest.hex()}
            for identity in self._identities
            for part in identity.parts
        ]
        return {
            "identity": whole.hex(),
            "parts": parts,
            "as": self._as,
            "files": modules.read(),
        }

    def start(self) -> None:
        """Call the setup, if there is one; its result is the first argument of the function."""
        if self._start is not None:
            with self._watched():
                self._first = [self._start(**self._start_given)]

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Refuse the result if files are opened that were not passed, or unseeded random numbers are drawn."""
        if not self._checked:  # a version covers it
            yield
            return
        with Watch(self._files, self._threads, self._allow, self._caches, follows=self._follows) as watch:
            yield
        if watch.reason():
            raise CodeError(watch.reason())

    def answer(self, message: memoryview, answer: Answer) -> None:
        """Answer a message that has some samples."""
        reader = Reader(message)
        with self._watched():  # for all samples together: checking generators takes as long as a small sample
            if self._batch:
                self._several([self._read(reader) for _ in range(reader.count)], answer)
            else:
                for _ in range(reader.count):
                    answer.add(self._one(reader))
        self._check()

    def _read(self, reader: Reader) -> list[Any]:
        return [reader.next(how, item) for how, item in zip(self._as, self._items, strict=True)]

    def _one(self, reader: Reader) -> list[bytes | memoryview]:
        """Return the parts of the answer for one sample; an error fails only that sample."""
        after = reader.after(len(self._items))
        try:
            made = self._call(*self._first, *self._read(reader), **self._given)
            if isinstance(made, GeneratorType):
                made.close()
                raise TypeError(self._yields(self._name))
            return self._parts(self._split(made, "return"))
        except BaseException as error:
            return failure(failed(error))
        finally:
            reader.at = after

    def _several(self, samples: list[list[Any]], answer: Answer) -> None:
        columns = [list(column) for column in zip(*samples, strict=True)] if self._items else []
        made = self._call(*self._first, *columns, **self._given)
        if isinstance(made, GeneratorType) and len(self._into) == 1:
            self._yielded(made, len(samples), answer)
            return
        all_ = self._split(
            list(islice(made, len(self._into) + 1)) if isinstance(made, GeneratorType) else made, "return"
        )
        for item, column in zip(self._into, all_, strict=True):
            if not _is_ordered(column) or len(column) != len(samples):
                raise TypeError(
                    f"{self._name} was given {len(samples)} samples and returned {shown(column)} for {item}; "
                    "it must be as many values, in their order"
                )
        for row in zip(*all_, strict=True):
            answer.add(self._encoded(self._failed_or(row)))

    def _yielded(self, made: GeneratorType[Any, Any, Any], samples: int, answer: Answer) -> None:
        """Write each value when it is yielded, as the next one may be the same object, changed."""
        count = 0
        for one in made:
            count += 1
            if count > samples:  # the generator may be infinite
                made.close()
                break
            answer.add(self._encoded(self._failed_or((one,))))
        if count != samples:
            more = "more" if count > samples else f"{count} values"
            raise TypeError(
                f"{self._name} was given {samples} samples and yielded {more}; "
                "it must be as many values, in their order"
            )

    def _failed_or(self, row: tuple[Any, ...]) -> Any:
        errors = [one for one in row if isinstance(one, BaseException)]
        return errors[0] if errors else row

    def _split(self, made: Any, verb: str) -> tuple[Any, ...]:
        """Return the returned or yielded values by item."""
        if len(self._into) == 1:
            return (made,)
        if isinstance(made, dict) and made.keys() == set(self._into):
            return tuple(made[item] for item in self._into)
        if isinstance(made, (tuple, list)) and len(made) == len(self._into):
            return tuple(made)
        raise TypeError(
            f"{self._name} {verb}ed {shown(made)}, and is to make {len(self._into)} items: "
            f"{verb} a tuple of them, or a dict"
        )

    @staticmethod
    def _yields(name: str) -> str:
        return (
            f"{name} yields; a function of one sample must return, as a sample stays one sample: "
            "return a list, and have op: unbatch make samples of its elements"
        )

    def _encoded(self, values: Any) -> list[bytes | memoryview]:
        """Return the parts of one of several results, or of the error in its place."""
        if isinstance(values, BaseException):
            return failure(failed(values))
        try:
            return self._parts(values)
        except (TypeError, ValueError) as error:
            return failure(failed(error))

    def _parts(self, values: tuple[Any, ...]) -> list[bytes | memoryview]:
        parts: list[bytes | memoryview] = []
        for item, made in zip(self._into, values, strict=True):
            parts += value(made, item)
        return parts

    def _check(self) -> None:
        """Refuse a change of what identifies the function, as results would depend on earlier calls."""
        for identity in self._checked:
            if not identity.check():
                raise CodeError(
                    f"{identity.name} changed a variable that it uses, so its result for a sample depends on "
                    "earlier samples; store such values in what setup returns, or set a version"
                )

    def _refuse(self) -> None:
        for f in (self._call, self._start):
            if f is not None and (inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f)):
                raise CodeError(f"{describe(f)} is asynchronous; give a plain function")
        self._refuse_generators()

    def _refuse_generators(self) -> None:
        if inspect.isgeneratorfunction(self._call) and not self._batch:
            raise CodeError(
                f"{self._yields(describe(self._call))}. With batch it may yield one result for each; "
                "the source python takes generators"
            )

    def _share(self, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments of the function, and those of its setup."""
        taken = {f: _keywords(f) for f in (self._call, self._start) if f is not None}
        shares: list[dict[str, Any]] = []
        for f in (self._call, self._start):
            own = taken.get(f) if f is not None else frozenset()
            shares.append({name: v for name, v in given.items() if own is None or name in own})
        lost = [name for name in given if all(name not in share for share in shares)]
        if lost:
            names = " nor ".join(describe(f) for f in taken)
            raise CodeError(f"{lost[0]} is given, and {names} has no parameter of that name")
        return shares[0], shares[1]

    def _forms(self) -> list[str]:
        """Return the form in which each item is passed: by the flow, else by the function's annotations."""
        said: dict[str, str] = self._setup.get("as") or {}
        for item, how in said.items():
            if how not in AS:
                raise CodeError(f"as: {item} is given as {how!r}; it can be {', '.join(AS)}")
            if item not in self._items:
                raise CodeError(f"as: {item} is not an item of this function; it has {', '.join(self._items)}")
        annotations = _annotations(self._call)[1 if self._start else 0 :]
        annotations += [""] * len(self._items)
        return [said.get(item, _form(held, self._batch)) for item, held in zip(self._items, annotations, strict=False)]


def _own_code() -> bytes:
    """Return the identity of the code that converts items to values and back."""
    own, loader = sha256(), __spec__.loader  # also the loader of an archive
    for name in sorted(["__init__", *(module.name for module in pkgutil.iter_modules([_HERE]))]):
        own.update(loader.get_data(os.path.join(_HERE, f"{name}.py")))  # type: ignore[union-attr]
    return own.digest()


def _is_ordered(column: Any) -> bool:
    """Report whether the results of several samples are ordered; those of a set belong to no sample."""
    if isinstance(column, (str, bytes, bytearray, Mapping, Set)):
        return False
    return hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0


def _keywords(function: Any) -> frozenset[str] | None:
    """Return the names of parameters that can be passed by keyword, or None if any can."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def _annotations(function: Any) -> list[str]:
    """Return the annotations of the positional parameters, as strings."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [inspect.formatannotation(p.annotation) if p.annotation is not p.empty else "" for p in parameters]


def _form(annotation: str, batch: bool) -> str:
    text = annotation.strip("'\"")
    if batch:
        inner = _LIST.fullmatch(text)
        text = inner[1] if inner else ""
    name = re.sub(r"\[.*", "", text, flags=re.DOTALL).rpartition(".")[2]
    return _FORMS.get(name, "value")


def shown(made: Any) -> str:
    """Return a description of a value in a word or two."""
    if isinstance(made, (list, tuple, dict)):
        return f"a {type(made).__name__} of {len(made)}"
    return f"a {type(made).__name__}"


def failed(error: BaseException) -> str:
    """Return the message of an error, and where in the function it was raised."""
    said = _cut("".join(traceback.format_exception_only(error)).strip())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _ours(f.filename)]
    lines = [f"    {f.filename}:{f.lineno}, in {f.name}" for f in frames[-_SHOWN:]]
    if isinstance(error, CodeError):
        return str(error)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if isinstance(error, BaseExceptionGroup):
        lines += ["    with " + _cut(failed(one), 500).replace("\n", "\n    ") for one in error.exceptions[:_SHOWN]]
    elif cause is not None:
        lines.append("    because of " + _cut("".join(traceback.format_exception_only(cause)).strip(), 500))
    return "\n".join([said, *lines])


def _cut(text: str, most: int = 4000) -> str:
    """Return a string, or its beginning and end if it is long."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def _ours(file: str) -> bool:
    return file.startswith((_HERE, _SAMPLES, "<frozen importlib"))
