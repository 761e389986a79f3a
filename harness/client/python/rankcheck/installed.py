"""The command `rankcheck` of an installed wheel, which has the program in the folder `program`."""
from __future__ import annotations

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "rankcheck")


def main() -> None:
    """Replaces this process by the program. Subjects in Python then get this interpreter."""
    os.environ.setdefault("RANKCHECK_PYTHON", sys.executable)
    try:
        os.execv(PROGRAM, ["rankcheck", *sys.argv[1:]])
    except OSError as error:
        # The package of rankcheck's sources has no program. It comes before that of the wheel if it
        # is on PYTHONPATH.
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        raise SystemExit(
            f"{PROGRAM}: {error.strerror}: expected the program of the wheel: remove {folder} from "
            "PYTHONPATH, or start a built program by its own path"
        ) from None
