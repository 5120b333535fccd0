"""Follow the settings that code depends on, and what the program registered with libraries or patched in them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from ..values.text import describe
from . import members, patches, registries, settings
from .abstract import below
from .node import Node
from .walker import Walker

_WATCHED = 16
"""In larger registries, entries of libraries are only counted, which is fast."""


def follow_settings(walk: Walker, node: Node) -> bool:
    """Follow the settings that code depends on by now, and report whether there are any."""
    before = len(walk.nodes), len(walk.methods), len(node.edges)
    wanted = [settings.PRINTING] if walk.formats else []
    wanted += [settings.ZONE] if walk.zoned else []
    wanted += [settings.FILTERS] if walk.warns else []
    if walk.any_name or not walk.names.isdisjoint(settings.OF_GRADIENTS):
        wanted.append(settings.GRADIENTS)
    codecs = settings.codecs_of(walk.texts | walk.strings, not walk.names.isdisjoint(settings.ENCODING))
    for setting in [*wanted, *codecs]:
        if setting.name not in walk.followed_settings:
            walk.followed_settings.add(setting.name)
            walk.refer_to_value(node, setting, setting.name, "")
    for package in sorted({"", *walk.packages} - walk.followed_settings):
        walk.followed_settings.add(package)
        for path in settings.HELD.get(package, ()):
            _follow_held(walk, node, package, path, patches.of_program)
        for path in settings.BASES.get(package, ()):
            _follow_based(walk, node, path)
        if package not in settings.HELD and package not in patches.LISTED:
            for path in registries.of_package(package):
                _follow_held(walk, node, package, path, registries.of_program)
    _follow_patches(walk, node)
    return (len(walk.nodes), len(walk.methods), len(node.edges)) != before


def _follow_held(
    walk: Walker, node: Node, package: str, path: str, of_program: Callable[[Any, str], list[Any]]
) -> None:
    """Follow what the program registered in a variable of a library, directly or in a list or a mapping."""
    value = settings.held(path, walk.guards)
    if isinstance(value, dict) and len(value) <= _WATCHED:
        walk.guards.watch_mapping(value)
    elif isinstance(value, (dict, list, set)):
        walk.guards.size(value)
    listed = sorted(value, key=patches.text) if isinstance(value, set) else value
    listed = listed if isinstance(listed, list) else [value]
    for key, one in value.items() if isinstance(value, dict) else [("", one) for one in listed]:
        parts = of_program(one, package)
        if parts or path.startswith(settings.WHOLE):
            node.out.append(f"{path} {patches.text(key)} {patches.text(one)}".encode())
        if parts and isinstance(value, dict):
            walk.guards.name(value, key, one)
        if isinstance(one, list):
            walk.guards.size(one)
        for part in parts:
            if path.startswith(settings.SIDE):
                walk.uncalled.append((f"{path}.{patches.text(key)}", part, node))
            else:
                walk.follow(node, part, f"{path}[{describe(key)}]" if one is not value else path)


def _follow_based(walk: Walker, node: Node, path: str) -> None:
    """Follow the program's subclasses of a class of a library."""
    base = settings.held(path, walk.guards)
    based = below(base) if isinstance(base, type) else []
    for cls in sorted(filter(patches.is_of_program, based), key=patches.text):
        walk.follow(node, cls, f"{path} -> {cls.__qualname__}")


def _follow_patches(walk: Walker, node: Node) -> None:
    """Follow what the program put into classes of libraries under names that are used."""
    named = walk.names | walk.texts | walk.strings  # as in frame.agg("mine")
    for name, package in patches.loaded():
        names: AbstractSet[str] | None = named
        if name in walk.packages:
            names = None if walk.any_name else named | members.CALLED
        for patch in _new(walk, node, package.patches(names)):
            for part in patch.parts:
                walk.follow(node, part, patch.path)


def add_uncalled_patches(walk: Walker, node: Node) -> None:
    """Add patches that operators, or names in data, may call: they may do anything, and an edit counts."""
    any_name = walk.any_name or not walk.names.isdisjoint(members.AGGREGATING)
    for _, package in patches.loaded():
        for patch in _new(walk, node, package.unnamed() + (package.patches(None) if any_name else [])):
            walk.uncalled += [(patch.path, part, node) for part in patch.parts]


def _new(walk: Walker, node: Node, candidates: list[patches.Patch]) -> list[patches.Patch]:
    """Return the patches that are new here, and record them."""
    found = [patch for patch in candidates if patch.path not in walk.followed_settings]
    for patch in found:
        walk.followed_settings.add(patch.path)
        walk.guards.name(vars(patch.cls), patch.name, patch.value)
        node.out.append(patch.path.encode())
    return found
