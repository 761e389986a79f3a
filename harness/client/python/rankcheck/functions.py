"""Checks of the functions that a subject gets, and where they stand."""
from __future__ import annotations

import difflib
import functools
import inspect
import os
from typing import Any, Callable, Iterable, Optional, Sequence


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Returns "; did you mean NAME?" for the name that is closest. Empty if no name is close."""
    close = difflib.get_close_matches(word, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def place_of(function: Callable[..., Any]) -> str:
    """Returns file and line of a function. Empty if the function is not written in Python."""
    inner: Any = inspect.unwrap(function)
    while isinstance(inner, functools.partial):
        inner = inspect.unwrap(inner.func)
    if inspect.isclass(inner):
        inner = inner.__init__
    code = getattr(inner, "__code__", None)
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code else ""


def why_not_callable(
    what: str, function: Any, arguments: Sequence[str], keywords: Sequence[str] = ()
) -> str:
    """Says why a function cannot be called with these arguments. Empty if it can."""
    if not callable(function):
        got = type(function).__name__
        return f"{what}: expected a function, got {got}; options have names, such as types=\"f32\""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Not all functions of C say what they take.
        return ""
    try:
        signature.bind(*arguments, **dict.fromkeys(keywords))
    except TypeError:
        place = place_of(function)
        start = f"{place}: " if place else ""
        expected = ", ".join([*arguments, *keywords])
        return f"{start}{what}: expected a function of ({expected}), got one of {signature}"
    return ""


def require_arguments(what: str, function: Any, *arguments: str) -> None:
    """Throws TypeError unless the function can be called with these arguments."""
    why = why_not_callable(what, function, arguments)
    if why:
        raise TypeError(why)


def is_from_the_call_itself(error: BaseException) -> bool:
    """Whether the function that this frame called has not begun."""
    trace: Optional[Any] = error.__traceback__
    return trace is not None and trace.tb_next is None
