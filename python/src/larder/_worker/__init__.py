"""Run functions of flows in a process that the program starts: `python -m larder._worker`."""

import os
import sys

importing: bool = False
"""Whether the function's module is being imported in a worker."""

process: int = 0
"""The process id of a worker; 0 in other processes."""

_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


def installed(file: str) -> bool:
    """Report whether a file belongs to the standard library or an installed distribution."""
    return (
        f"{os.sep}site-packages{os.sep}" in file
        or f"{os.sep}dist-packages{os.sep}" in file
        or file.startswith(_STANDARD)
    )


def end_if_forked() -> None:
    """End a process that a function forked and that returned from it, as its parent computes the sample."""
    if process and os.getpid() != process:
        os._exit(1)


def refuse_importing(what: str) -> None:
    """Refuse an action of a script that is only imported for a function in it."""
    if importing:
        raise RuntimeError(
            f"{what} while a worker imports {sys.argv[0] or 'this script'} for a function in it; "
            'write `if __name__ == "__main__":` above it'
        )
