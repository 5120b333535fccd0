"""Name what no key covers, with a fix for each."""

from __future__ import annotations

from typing import NamedTuple


class Refusal(NamedTuple):
    """Why something is refused, and a fix."""

    what: str
    fix: str


def words(text: str) -> list[str]:
    """Return the words of a string, in which lists of names are easier to read."""
    return text.split()


_PASS = "pass its result as an argument"
CLOCK = Refusal("the clock", _PASS)
RANDOMNESS = Refusal("random numbers without a seed", "pass a seed and create a generator from it")
ENVIRONMENT = Refusal("the environment", _PASS)
MACHINE = Refusal("the machine or this process", _PASS)
FILES = Refusal(
    "files, whose content is not in the key",
    "pass the file as a parameter annotated with larder.File, and read it",
)
NETWORK = Refusal("the network", "download before the call, and pass the content as an argument")
PROGRAMS = Refusal("other programs", "run them before the call, and pass their output as an argument")
DYNAMIC = Refusal("code or variables by names that are computed at run time", "name them in the code")
PLACES = Refusal("line numbers, which no key covers", "return the message of the error, not its position")
INPUT = Refusal("user input", _PASS)
SETTING = Refusal("a setting of the whole process", "pass it as an argument")
UNKNOWN = Refusal("a part of Python whose results may depend on more than its arguments", _PASS)


def allowing(name: str, why: Refusal) -> str:
    """Return the advice for results that do not depend on a name's value, if it may be allowed."""
    if not name or why in (FILES, NETWORK, DYNAMIC, INPUT):
        return ""
    return f'pass allow=["{name}"] if no result depends on it, '
