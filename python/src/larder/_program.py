"""Where the program larder is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

from .errors import ServerError

_NAME = "larder.exe" if sys.platform == "win32" else "larder"


def find() -> str:
    """Return the path of the program.

    It is what LARDER_PROGRAM names, else what was installed with this package, else
    the first one on the PATH.
    """
    named = os.environ.get("LARDER_PROGRAM")
    if named:
        return _executable(named, "LARDER_PROGRAM")
    program = _installed() or shutil.which(_NAME)
    if program is None:
        raise ServerError(
            "there is no program larder: none was installed with this package, and none is on the PATH; "
            "run `pip install ./python` in a clone, or name it in LARDER_PROGRAM"
        )
    return os.path.abspath(program)


def _executable(path: str, who: str) -> str:
    found = shutil.which(path)
    if found is None:
        raise ServerError(f"{who} names {path!r}, which is no program that can be run")
    return os.path.abspath(found)


def _installed() -> str | None:
    """Return the program among the files that this package was installed with.

    The list of these is read here, as importlib.metadata takes longer to import than a
    server to start.
    """
    for folder in [os.path.dirname(os.path.dirname(__file__)), *sys.path]:
        for record in _records(folder):
            with open(record, encoding="utf-8") as lines:
                names = [line.rsplit(",", 2)[0].strip('"') for line in lines]
            for name in names:
                if f"/{name}".endswith(("/bin/" + _NAME, "/Scripts/" + _NAME)):
                    path = os.path.normpath(os.path.join(folder, name))
                    if os.access(path, os.X_OK) and os.path.isfile(path):
                        return path
    return None


def _records(folder: str) -> Iterator[str]:
    """Yield the lists of files that were installed with this package into a folder."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    for name in names:
        if name.startswith("larder-") and name.endswith(".dist-info"):
            path = os.path.join(folder, name, "RECORD")
            if os.path.isfile(path):
                yield path


def default_cache() -> str:
    """Return the cache folder that is used where none is named, as the program does.

    It is LARDER_CACHE, else "larder" in the user's cache folder.
    """
    named = os.environ.get("LARDER_CACHE")
    if named:
        return named
    return os.path.join(_user_cache(), "larder")


def _user_cache() -> str:
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        folder = _below_home("Library", "Caches")
    else:
        folder = os.environ.get("XDG_CACHE_HOME", "") or _below_home(".cache")
    if not folder or not os.path.isabs(folder):
        raise ServerError("the user's cache folder is not known; set LARDER_CACHE, or name a folder by cache=")
    return folder


def _below_home(*names: str) -> str:
    home = os.environ.get("HOME", "")
    return os.path.join(home, *names) if home else ""
