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


_PASS = "pass what it gives as an argument"
CLOCK = Refusal("the clock", _PASS)
CHANCE = Refusal("random numbers that no argument decides", "pass a seed and make a generator from it")
ENVIRONMENT = Refusal("the environment", _PASS)
MACHINE = Refusal("the machine or this process", _PASS)
FILES = Refusal(
    "files, whose content is not in the key",
    "take the file as a parameter that is annotated as larder.File, and read that",
)
NETWORK = Refusal("the network", "get it outside, and pass the content as an argument")
PROGRAMS = Refusal("other programs", "run them outside, and pass what they gave as an argument")
DYNAMIC = Refusal("code or variables by names that are only known when it runs", "name them in the code")
PLACES = Refusal("lines of files, which are in no key", "return what the error says, and not where it was raised")
INPUT = Refusal("what somebody types", _PASS)
SETTING = Refusal("a setting of the whole process", "pass it as an argument")
UNKNOWN = Refusal("a part of Python that is not known to depend on its arguments alone", _PASS)


def allowing(name: str, why: Refusal) -> str:
    """Return the advice for results that do not depend on a name's value, if it may be allowed."""
    if not name or why in (FILES, NETWORK, DYNAMIC, INPUT):
        return ""
    return f'say allow=["{name}"] if no result depends on it, '
