"""Find the program larder."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from typing import TYPE_CHECKING

from ..errors import ServerError

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_NAME = "larder.exe" if sys.platform == "win32" else "larder"


def find() -> str:
    """Return the path of the program.

    It is the value of LARDER_BIN, else the program in this package, else the first one on the
    PATH.
    """
    named = os.environ.get("LARDER_BIN")
    if named:
        return _executable(named, "LARDER_BIN")
    program = _installed() or shutil.which(_NAME)
    if program is None:
        raise ServerError(_missing())
    return os.path.abspath(program)


def environment() -> dict[str, str]:
    """Return the environment of the program, in which workers run this Python and find this package."""
    mine = os.path.dirname(_PACKAGE)
    given = os.environ.get("PYTHONPATH", "")
    import site

    found = [*site.getsitepackages(), site.getusersitepackages(), *filter(None, given.split(os.pathsep))]
    more = {} if mine in found else {"PYTHONPATH": os.pathsep.join(filter(None, [given, mine]))}
    return {"LARDER_PYTHON": sys.executable, **os.environ, **more}


def _executable(path: str, option: str) -> str:
    found = shutil.which(path)
    if found is None:
        raise ServerError(f"{option} names {path!r}, which is not an executable program")
    return os.path.abspath(found)


def _missing() -> str:
    """Return the message that there is no program, or that one may not be run."""
    if os.path.isfile(_inside()):
        return f"program larder: {_inside()} is not executable; run `chmod +x` on it, or set LARDER_BIN"
    return (
        "program larder: this package was copied without it, and none is on the PATH; "
        "run `pip install ./python` in a clone, or set LARDER_BIN"
    )


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _inside() -> str:
    return os.path.join(_PACKAGE, "_bin", _NAME)


def _installed() -> str | None:
    """Return the program in this package, or in the archive that has the package."""
    if _is_program(_inside()):
        return _inside()
    archive = _archive()
    return _extracted(archive) if archive else None


def _archive() -> str | None:
    """Return the archive (a zipapp, a wheel) that this package is imported from, if there is one."""
    at = os.path.dirname(_PACKAGE)
    while at != os.path.dirname(at) and not os.path.exists(at):
        at = os.path.dirname(at)
    return at if os.path.isfile(at) else None


def _extracted(archive: str) -> str | None:
    """Return the program in an archive, copied with its library to where it can run.

    Each archive has one copy.
    """
    import hashlib
    import zipfile

    of = hashlib.sha256(os.fsencode(os.path.realpath(archive))).hexdigest()[:16]
    try:
        with zipfile.ZipFile(archive) as files:
            members = [m for m in files.infolist() if os.path.dirname(f"/{m.filename}").endswith("/larder/_bin")]
            members = [m for m in members if not m.is_dir()]
            if not members:
                return None
            copies = os.path.join(private(os.path.join(_user_cache(), "larder-programs"), "set LARDER_BIN"), of)
            directory = os.path.join(copies, "-".join(sorted(f"{m.CRC:08x}" for m in members)))
            if not os.path.isdir(directory):
                _copy(files, members, directory)
    except (OSError, zipfile.BadZipFile) as error:
        raise ServerError(
            f"program larder: {archive} has it, and it cannot be copied: {error}; set LARDER_BIN"
        ) from None
    program = os.path.join(directory, _NAME)
    if not _is_program(program):
        raise ServerError(f"program larder: {program} cannot be executed there; set LARDER_BIN")
    return program


def _copy(files: ZipFile, members: list[ZipInfo], directory: str) -> None:
    """Create a directory with files atomically, and remove those of earlier versions of their archive."""
    import tempfile

    copies = os.path.dirname(directory)
    os.makedirs(copies, mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=copies, prefix=".", ignore_cleanup_errors=True) as made:
        whole = os.path.join(made, "of")
        os.mkdir(whole, mode=0o700)
        for member in members:
            path = os.path.join(whole, os.path.basename(member.filename))
            with files.open(member) as content, open(path, "xb") as file:
                shutil.copyfileobj(content, file)
            os.chmod(path, 0o700)
        try:
            os.rename(whole, directory)
        except OSError:
            if not os.path.isdir(directory):  # another process was faster
                raise
    for name in os.listdir(copies):
        if not name.startswith(".") and name != os.path.basename(directory):
            shutil.rmtree(os.path.join(copies, name), ignore_errors=True)


def private(directory: str, fix: str) -> str:
    """Return the absolute path of a directory of this user only, created if it is missing."""
    directory = os.path.abspath(directory)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        seen = os.lstat(directory)
    except OSError as error:
        raise ServerError(f"directory {directory}: {error}; {fix}") from error
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid():
        raise ServerError(f"{directory} is not a directory of yours; {fix}")
    return directory


def default_cache() -> str:
    """Return the default cache directory, the same as the program's.

    It is LARDER_CACHE, else "larder" in the user's cache directory.
    """
    named = os.environ.get("LARDER_CACHE")
    if named:
        return named
    return os.path.join(_user_cache(), "larder")


def _user_cache() -> str:
    if sys.platform == "win32":
        directory = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        directory = _below_home("Library", "Caches")
    else:
        directory = os.environ.get("XDG_CACHE_HOME", "") or _below_home(".cache")
    if not directory or not os.path.isabs(directory):
        raise ServerError("the user's cache directory is not known; set LARDER_CACHE, or give cache_dir=")
    return directory


def _below_home(*names: str) -> str:
    home = os.environ.get("HOME", "")
    return os.path.join(home, *names) if home else ""
