"""The process in which functions of flows run: `python -m larder._worker`, which the program starts."""

import os
import sys

importing: bool = False
"""Whether the function's module is being imported in such a process."""

process: int = 0
"""Such a process; 0 in others."""

_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


def installed(file: str) -> bool:
    """Report whether a file is of the standard library or of an installed distribution."""
    return (
        f"{os.sep}site-packages{os.sep}" in file
        or f"{os.sep}dist-packages{os.sep}" in file
        or file.startswith(_STANDARD)
    )


def end_if_forked() -> None:
    """End a process that a function forked and that came back from it: another one answers for the sample."""
    if process and os.getpid() != process:
        os._exit(1)


def refuse_importing(what: str) -> None:
    """Refuse what a script does where it is only imported for a function in it."""
    if importing:
        raise RuntimeError(
            f"{what} while a worker imports {sys.argv[0] or 'this script'} for a function in it; "
            'write `if __name__ == "__main__":` above it'
        )
