"""What is said of an exception in the code of a subject."""
from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from typing import Any, Iterator, List, NoReturn, Optional

from .functions import is_outside, place_of

REASON_LENGTH_MAX = 300
PLACES_MAX = 6
# The program shows so many bytes of the last line that a process has printed.
LINE_LENGTH_MAX = 300


def places_of(error: BaseException) -> List[str]:
    """Returns the places of an error outside of this package, the innermost first."""
    places: List[str] = []
    frames = traceback.extract_tb(error.__traceback__)
    for each in reversed(frames):
        # Python's own functions that import a module or run a file say nothing.
        is_import = each.filename.startswith("<frozen ") or each.filename == runpy.__file__
        if is_outside(each.filename) and not is_import:
            places.append(f"{os.path.basename(each.filename)}:{each.lineno}")
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        places.insert(0, f"{os.path.basename(error.filename)}:{error.lineno}")
    return places


def describe(
    error: BaseException, function: Optional[Any], length_max: Optional[int] = None
) -> str:
    """Returns one line: the error, and the places outside of this package, innermost first.

    If the error did not come from such a place, the line names the place of the function. If the
    line is longer than `length_max`, it has a shorter text of the error.
    """
    # The text of a SyntaxError has its place in other words.
    said = str(error.msg if isinstance(error, SyntaxError) else error)
    text = f"{type(error).__name__}: {' '.join(said.split())}"[:REASON_LENGTH_MAX]
    places = places_of(error)
    if not places and function is not None:
        places = [place for place in [place_of(function)] if place and place not in text]
    # Messages about a mistake in a declaration begin with its place.
    if not places or f"{places[0]}: " in text:
        return text
    where = f" ({', called from '.join(places[:PLACES_MAX])})"
    if length_max is not None:
        text = text[: max(0, length_max - len(where))]
    return text + where


def print_traceback(error: BaseException) -> None:
    """Prints the error with its whole traceback, before the process may be ended."""
    traceback.print_exception(type(error), error, error.__traceback__)
    sys.stderr.flush()


def end_process(message: str) -> NoReturn:
    """Ends this process with a line on stderr and exit status 1.

    The line is one write, because the ranks of a subject share their stderr. Python itself would
    write the end of the line apart, so that the lines of two ranks could become one.
    """
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()
    raise SystemExit(1)


@contextlib.contextmanager
def place_in_last_line(function: Optional[Any] = None) -> Iterator[None]:
    """Ends the process after an exception: with its traceback, and its place in the last line.

    The program shows the last line that a process has printed.
    """
    try:
        yield
    except Exception as error:
        print_traceback(error)
        end_process(describe(error, function, LINE_LENGTH_MAX))
