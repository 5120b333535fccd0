"""Run the program of the package larder: the command `larder`.

This module is outside the package, whose import would take longer than a short command.
"""

import os
import sys


def main() -> None:
    """Replace this process by the program."""
    name = "larder.exe" if sys.platform == "win32" else "larder"
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "larder", "_bin", name)
    command = [program, *sys.argv[1:]]
    try:
        if sys.platform == "win32":
            import subprocess

            raise SystemExit(subprocess.call(command))
        os.execv(program, command)
    except OSError as error:
        raise SystemExit(f"larder: {program}: {error.strerror}; install the package again") from None
