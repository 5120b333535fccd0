"""Common edits of flows, for `Flow.edit`.

e = flow.edit()
rewrite.reseed(e, 7)
rewrite.trial(e, 100, "trial")
larder.run(e.flow())
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any, cast

from ._flows.ask import wrong_in
from ._flows.edit import EditNode
from ._flows.flow import Editor
from ._flows.parameters import PARAMETERS, PLACES, STEPS
from ._yaml.values import Value

__all__ = ["epoch", "no_shuffle", "reseed", "shard", "shuffle", "time_limit", "trial", "workers"]


def no_shuffle(e: Editor) -> None:
    """Make all shuffle operators pass on samples in their order."""
    for n in e.find(lambda n: (n.kind, n.component) == ("op", "shuffle")):
        n.component, n.params = "clone", {}


def shuffle(e: Editor, node: str, seed: int = 0) -> None:
    """Shuffle the output of a node for all its readers, by a node NODE-shuffled, or NODE-shuffled-2 if there is one."""
    e.after(node, _fresh(e, f"{node}-shuffled"), lambda n: n.shuffle_once(seed=seed))


def shard(e: Editor, node: str, rank: int, ranks: int) -> None:
    """Give all readers of a node the share of one process, by a node NODE-share, or NODE-share-2 if there is one.

    Shuffle before sharding.
    """
    e.after(node, _fresh(e, f"{node}-share"), lambda n: n.shard_once(rank=rank, world_size=ranks))


def _fresh(e: Editor, name: str) -> str:
    """Return a name for another node, with a number appended if the name is used."""
    taken = {n.name for n in e.nodes}
    return next(n for n in itertools.chain([name], (f"{name}-{i}" for i in itertools.count(2))) if n not in taken)


def reseed(e: Editor, by: int) -> None:
    """Add a number to every seed, so that all is drawn again; different seeds stay different.

    A seed without effect, as in a split by sizes, stays.
    """

    def added(name: str, seed: Value) -> Value:
        if not isinstance(seed, int):
            raise ValueError(f"node {name}: its seed is {seed!s}, not an integer")
        return seed + by

    _each(e, "seed", added)


def epoch(e: Editor, epoch: int) -> None:
    """Set every epoch parameter that has an effect."""
    _each(e, "epoch", lambda _name, _value: epoch)


def workers(e: Editor, node: str, workers: int) -> None:
    """Limit how many samples a node computes concurrently; 0 leaves it to the run."""
    e.set(node, workers=workers or None)


def time_limit(e: Editor, node: str, limit: str) -> None:
    """Limit how long the command or function of a node may take for a sample, such as "1m30s"."""
    n = e.called(node)
    if not _change(n.name, n.kind, n.component, n.params, "timeout", lambda _name, _value: limit):
        raise ValueError(f"node {node}: {n.kind} {n.component} has no timeout; set one for exec or python")


def trial(e: Editor, samples: int, dir: str | os.PathLike[str]) -> None:
    """Make each source pass on only its first samples, and each sink write into a directory of its name in `dir`.

    It changes no output of other runs. A relative `dir` starts where the flow's paths do.
    """
    e.name += "-trial"
    for n in e.nodes:
        if n.kind == "source":
            e.after(n.name, _fresh(e, f"{n.name}-first"), lambda node: node.slice(stop=samples))
        elif n.kind == "sink":
            _move(n, os.path.join(os.fspath(dir), n.name))


def _move(n: EditNode, dir: str) -> None:
    for name, path in n.params.items():
        if (n.kind, n.component, name) not in PLACES or not path:
            continue
        if not isinstance(path, str):
            raise ValueError(f"node {n.name}: its output path is {path}, but only a string can be replaced")
        n.options.pop("folder", None)
        n.params[name] = os.path.join(dir, os.path.basename(os.path.normpath(path)))


def _each(e: Editor, name: str, to: Callable[[str, Value], Value]) -> None:
    """Change all parameters of a name whose default is an integer, where the program accepts the new value."""
    was = {n.name: dict(n.params) for n in e.nodes}
    try:
        for n in e.nodes:
            _change(n.name, n.kind, n.component, n.params, name, to, int)
        changed = [n for n in e.nodes if n.params != was[n.name]]
        wrong = wrong_in(e.flow()) if changed else set()
    except ValueError:
        for n in e.nodes:
            n.params = was[n.name]
        raise
    for n in changed:
        if n.name in wrong:
            n.params = was[n.name]


def _change(
    node: str,
    kind: str,
    component: str,
    params: dict[str, Value],
    name: str,
    to: Callable[[str, Value], Value],
    type_: type = object,
) -> bool:
    """Change parameters of a name, also those of mappers; report whether there are any."""
    found = False

    def changed(step: Value) -> Value:
        nonlocal found
        if isinstance(step, tuple):
            return tuple(map(changed, step))
        if not isinstance(step, dict) or not isinstance(mapper := step.get("map"), str):
            return step
        given = step.get("with")
        inner = dict(given) if isinstance(given, dict) else {}
        found |= _change(node, "map", mapper, inner, name, to, type_)
        return {**step, "with": inner} if inner else {k: v for k, v in step.items() if k != "with"}

    for step in [n for n in params if (kind, component, n) in STEPS]:
        params[step] = changed(params[step])
    by_itself: Any = PARAMETERS.get(kind, {}).get(component, {}).get(name, ...)
    if by_itself is ... or not isinstance(by_itself, type_) or isinstance(by_itself, bool):
        return found
    now = to(node, cast("Value", params.get(name, by_itself)))
    params.pop(name, None)
    if now != by_itself:
        params[name] = now
    return True
