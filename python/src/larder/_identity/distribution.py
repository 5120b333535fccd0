"""Find the owner of code: the standard library, a distribution with a version, or the user."""

from __future__ import annotations

import hashlib
import importlib.machinery
import inspect
import json
import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any


@dataclass(slots=True, frozen=True)
class Owner:
    """The owner of code, identified by name and version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


PYTHON = Owner(sys.implementation.name, ".".join(map(str, sys.version_info[:3])) + sys.version_info.releaselevel[:1])
"""Python itself, with its standard library."""

LARDER = Owner("larder", "1")
"""This package; a change in the parts that functions may use needs another number here."""

_STANDARD = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")}
    | {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")}
)
_SITE = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def of_module(name: str) -> Owner | None:
    """Return the owner of a module, by its name; None is the user, whose code is followed."""
    if not name or name == "__main__":
        return None
    if name.partition(".")[0] == __name__.partition(".")[0]:
        return LARDER
    module = sys.modules.get(name)
    path = _file(module) if module is not None else ""
    if not path:
        # A compiled module may contain others, which have no files.
        parent, _, last = name.rpartition(".")
        if isinstance(getattr(sys.modules.get(parent), last, None), ModuleType) and _file(sys.modules[parent]):
            return of_module(parent)
        return PYTHON if name in sys.builtin_module_names else None
    owner = _of(name, path)
    return _compiled(name, path) if owner is None and path.endswith(_COMPILED) else owner


_COMPILED = tuple(importlib.machinery.EXTENSION_SUFFIXES)


@lru_cache(1024)
def _compiled(name: str, path: str) -> Owner | None:
    """Return the identity of a compiled module without a distribution: the bytes of its file."""
    try:
        with open(path, "rb") as file:
            return Owner(name, hashlib.file_digest(file, "sha256").hexdigest())
    except OSError:
        return None


def of_file(path: str) -> Owner | None:
    """Return the owner of a file or a directory."""
    return _of("", path)


def said(module: object, name: str) -> Any:
    """Return an attribute of a module, or None for an object in its place that may answer to any name."""
    if isinstance(module, ModuleType):
        return vars(module).get(name)
    return inspect.getattr_static(module, name, None)


def _file(module: object) -> str:
    spec = said(module, "__spec__")
    if getattr(spec, "origin", None) in ("built-in", "frozen"):
        return "built-in"
    path = said(module, "__file__")
    if isinstance(path, str):
        return path
    if spec is None and said(module, "__name__") in sys.builtin_module_names:
        return "built-in"
    directories = list(said(module, "__path__") or ())
    return os.path.join(directories[0], "") if directories else ""


@lru_cache(4096)
def _of(name: str, path: str) -> Owner | None:
    if path == "built-in":
        return PYTHON
    if not path:
        return None
    path = os.path.abspath(path)
    for mark in _SITE:
        if mark in path:
            before, _, below = path.rpartition(mark)
            return _distribution(before + mark, below)
    if path.startswith(_STANDARD) or os.path.realpath(path).startswith(_STANDARD):
        return PYTHON
    return _elsewhere(path)


def _elsewhere(path: str) -> Owner | None:
    """Return the distribution of a file installed into another directory, as by `pip install --target`."""
    for entry in sys.path:
        directory = os.path.join(os.path.abspath(entry), "")
        if path.startswith(directory) and _is_installed_into(directory):
            return _distribution(directory, path[len(directory) :])
    return None


@lru_cache(1024)
def _is_installed_into(directory: str) -> bool:
    """Report whether an installer wrote into a directory, ignoring metadata of source directories."""
    try:
        infos = [n for n in os.listdir(directory) if n.endswith(".dist-info")]
    except OSError:
        return False
    return any(os.path.exists(os.path.join(directory, info, "INSTALLER")) for info in infos)


def _distribution(directory: str, below: str) -> Owner | None:
    """Return the distribution of a file below a package directory, if its version identifies the file."""
    owners = _owners(directory, _stem(below.split(os.sep)[0]))
    return owners.get(below) or owners.get(_top(below)) or _of_directory(owners, below)


def _of_directory(owners: dict[str, Owner], below: str) -> Owner | None:
    """Return the owner of a directory: the distribution that has files in it."""
    inside = os.path.join(below, "")
    return next((owner for file, owner in owners.items() if file.startswith(inside)), None)


def _stem(top: str) -> str:
    for suffix in sorted(importlib.machinery.all_suffixes(), key=len, reverse=True):
        if top.endswith(suffix):
            return top[: -len(suffix)]
    return top


def _top(below: str) -> str:
    return below.split(os.sep)[0] + os.sep if os.sep in below else below


@lru_cache(1024)
def _owners(directory: str, stem: str) -> dict[str, Owner]:
    """Return the owners of the files of a package, by path, and of the package as a whole."""
    found: dict[str, Owner] = {}
    try:
        infos = [n for n in os.listdir(directory) if n.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return found
    like = stem.lower().replace("_", "").replace("-", "")
    infos.sort(key=lambda n: (not n.lower().replace("_", "").replace("-", "").startswith(like), n))
    for info in infos:
        owner = None
        for path in _listed(os.path.join(directory, info)):
            if path == stem or path.startswith((stem + "/", stem + ".")):
                owner = owner or _described(directory, info)
                if owner is None:
                    break
                found[path.replace("/", os.sep)] = owner
        if found:
            break
    return found


def _listed(info: str) -> list[str]:
    """Return the files of a distribution, or the packages of an old one."""
    for name in ("RECORD", "SOURCES.txt", "top_level.txt"):
        try:
            with open(os.path.join(info, name), encoding="utf-8") as lines:
                text = lines.read().splitlines()
        except OSError:
            continue
        if name == "RECORD":
            return [line.rsplit(",", 2)[0].strip('"') for line in text]
        if name == "top_level.txt":
            return [line + "/" for line in text]
    return []


def _described(directory: str, info: str) -> Owner | None:
    """Return the distribution, unless it was installed from a directory, so that its version says nothing."""
    from importlib.metadata import Distribution

    distribution = Distribution.at(os.path.join(directory, info))
    url = distribution.read_text("direct_url.json")
    if url is not None:
        try:
            if "dir_info" in json.loads(url):
                return None
        except ValueError:
            return None
    try:
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or distribution.read_text("")
    except ValueError:  # the file is damaged
        return None
    name, version = _field(text or "", "name"), _field(text or "", "version")
    return Owner(name, version) if name and version else None


def _field(text: str, name: str) -> str:
    """Return a field from the head of a metadata file, whose body may be very long."""
    for line in text.splitlines():
        field, found, value = line.partition(":")
        if not (found or line[:1].isspace()):
            break
        if field.lower() == name:
            return value.strip()
    return ""
