"""Follow the classes that the program gave its modules, and the attributes that their methods may use."""

from __future__ import annotations

import types

from .. import distribution
from ..library import library_name
from .node import Node
from .walker import Walker


def follow_class(walk: Walker, node: Node, module: types.ModuleType) -> None:
    """Follow the class that the program gave a module, whose properties are attributes of the module."""
    cls = type(module)
    given = library_name(cls)[1] is None
    if id(module) in walk.modules or distribution.of_module(module.__name__) or not (given or cls is types.ModuleType):
        return
    walk.guards.attribute(module, "__class__", cls)
    walk.modules[id(module)] = module, node
    if given:
        walk.follow(node, type(module), f"{node.path} -> class of module {module.__name__}")


def follow_members(walk: Walker) -> bool:
    """Follow attributes of modules that methods of such classes may use; report whether there is any."""
    before = len(walk.seen_members)
    whole = walk.any_name or not walk.names.isdisjoint(("__dict__", "__getattribute__"))
    for module, node in [one for one in walk.modules.values() if type(one[0]) is not types.ModuleType]:
        space = vars(module)
        for name in sorted(space if whole else walk.names & space.keys()):
            held = space[name]
            own = isinstance(held, types.ModuleType) and distribution.of_module(held.__name__) is not None
            if not name.startswith("__") and not own and (module.__name__, name) not in walk.seen_members:
                walk.seen_members.add((module.__name__, name))
                walk.guards.name(space, name, held)
                walk.follow(node, held, f"{node.path} -> {module.__name__}.{name}")
    return len(walk.seen_members) != before
