"""The command `rankcheck` of an installed wheel, which has the program in the folder `program`."""
from __future__ import annotations

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "rankcheck")


def main() -> None:
    """Replaces this process by the program. Subjects in Python then get this interpreter."""
    os.environ.setdefault("RANKCHECK_PYTHON", sys.executable)
    os.execv(PROGRAM, ["rankcheck", *sys.argv[1:]])
