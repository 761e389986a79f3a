"""Checks of the functions that a subject gets, and where they stand."""
from __future__ import annotations

import difflib
import functools
import inspect
import os
from types import FrameType
from typing import Any, Callable, Iterable, Optional, Sequence

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


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


def is_outside(file: str) -> bool:
    """Whether a file is not one of this package."""
    return not os.path.abspath(file).startswith(PACKAGE)


def place_outside(frame: Optional[FrameType]) -> str:
    """Returns file and line of the innermost call that is outside of this package."""
    while frame is not None and not is_outside(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "rankcheck"
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def why_no_function(what: str, function: Any) -> str:
    """Says why a value is no function. Empty if it is one."""
    if callable(function):
        return ""
    got = type(function).__name__
    return f"{what}: got {got}, expected a function; options have names, such as types=\"f32\""


def why_not_callable(
    what: str, function: Any, arguments: Sequence[str], keywords: Sequence[str] = ()
) -> str:
    """Says why a function cannot be called with these arguments. Empty if it can."""
    why = why_no_function(what, function)
    if why:
        return why
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
        return f"{start}{what}: got a function of {signature}, expected one of ({expected})"
    return ""


def require_ordinary(what: str, function: Any) -> None:
    """Throws TypeError unless a call of the function runs all of its code."""
    why = why_no_function(what, function)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        why = f"{place_of(function)}: {what}: got an async function, expected an ordinary one"
    elif inspect.isgeneratorfunction(function):
        why = f"{place_of(function)}: {what}: got a function with yield, expected an ordinary one"
    if why:
        raise TypeError(why)


def require_arguments(what: str, function: Any, *arguments: str) -> None:
    """Throws TypeError unless the function can be called with these arguments."""
    require_ordinary(what, function)
    why = why_not_callable(what, function, arguments)
    if why:
        raise TypeError(why)


def is_from_the_call_itself(error: BaseException) -> bool:
    """Whether the function that this frame called has not begun."""
    trace: Optional[Any] = error.__traceback__
    return trace is not None and trace.tb_next is None
