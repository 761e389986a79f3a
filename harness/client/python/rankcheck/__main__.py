"""Serves a subject of a file that does not serve it itself: python -m rankcheck FILE [NAME]."""
from __future__ import annotations

import os
import runpy
import sys
from typing import List

from rankcheck.failures import place_in_last_line
from rankcheck.launch import without_ranks
from rankcheck.subject import Subject


def find_subject(file: str, name: str) -> Subject:
    """Runs the file and returns its subject of this name, or its only subject."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    values = runpy.run_path(file, run_name="rankcheck_subject").values()
    found = {each.name: each for each in values if isinstance(each, Subject)}
    if not name and len(found) == 1:
        name = next(iter(found))
    if name in found:
        found[name].file = os.path.abspath(file)
        found[name].require_places(file)
        return found[name]
    if not found:
        raise SystemExit(f"{file}: defines no subject, expected one: s = rankcheck.Subject(NAME)")
    names = ", ".join(sorted(found))
    wanted = f"a subject with the name {name}" if name else "one subject, or a name behind the file"
    raise SystemExit(f"{file}: got these subjects: {names}; expected {wanted}")


def main(arguments: List[str]) -> None:
    """Serves what the arguments name."""
    words = without_ranks(arguments)
    if not 1 <= len(words) <= 2:
        raise SystemExit("usage: python -m rankcheck FILE [NAME] [--ranks N]")
    with place_in_last_line():
        find_subject(words[0], words[1] if len(words) == 2 else "").serve()


if __name__ == "__main__":
    main(sys.argv[1:])
