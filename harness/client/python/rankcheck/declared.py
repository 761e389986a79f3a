"""Checks of what a file says about its subject.

Each message says what was got and what was expected.
"""
from __future__ import annotations

import functools
import inspect
import re
from typing import Any, Callable, List, NoReturn, Optional, Sequence, Tuple, TypeVar, Union

from .functions import did_you_mean

# Names with spaces between them, or a list of names.
Names = Union[str, Sequence[str]]
# The least and the most ranks of a call. Any number if it is None.
Members = Optional[Tuple[int, int]]
Method = TypeVar("Method", bound=Callable[..., Any])


def shown(value: Any) -> str:
    """Returns a value as messages show it."""
    if inspect.isroutine(value):
        return f"the function {value.__name__}, which is not called"
    return repr(value)


def refuse(what: str, expected: str, value: Any) -> NoReturn:
    """Throws TypeError."""
    raise TypeError(f"{what}: got {shown(value)}, expected {expected}")


def name_of_subject(name: str) -> str:
    """Returns the name. Throws if the program would change it, or could take it for a pattern."""
    expected = "letters, digits, '-', '_' and '.'"
    if not isinstance(name, str):
        refuse("name", expected, name)
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise ValueError(f"name: got {shown(name)}, expected {expected}")
    return name


def one_of(what: str, word: str, allowed: Sequence[str]) -> str:
    """Returns the word. Throws ValueError if it is not allowed."""
    if not isinstance(word, str):
        refuse(what, f"some of {' '.join(allowed)}", word)
    if word not in allowed:
        hint = did_you_mean(word, allowed)
        raise ValueError(f"{what}: got {word}, expected some of {' '.join(allowed)}{hint}")
    return word


def words_of(what: str, names: Names, allowed: Sequence[str]) -> List[str]:
    """Returns a list of names. Throws ValueError if one of them is not allowed."""
    if not isinstance(names, (str, list, tuple)):
        refuse(what, "names with spaces between them or a list of names", names)
    words = names.split() if isinstance(names, str) else list(names)
    if not words:
        raise ValueError(f"{what}: got none, expected some of {' '.join(allowed)}")
    return [one_of(what, word, allowed) for word in words]


def yes_or_no(what: str, value: bool) -> bool:
    """Returns True or False. Throws TypeError if it is something else, such as "no"."""
    if not isinstance(value, bool):
        refuse(what, "True or False", value)
    return value


def at_least_one(what: str, number: int) -> int:
    """Returns the number. Throws if it is not an integer, or less than 1."""
    if not isinstance(number, int) or isinstance(number, bool):
        refuse(what, "a number", number)
    if number < 1:
        raise ValueError(f"{what}: got {number}, expected at least 1")
    return number


def members_of(members: Members) -> Members:
    """Returns the least and the most ranks of a call."""
    if members is None:
        return None
    is_pair = isinstance(members, (tuple, list)) and len(members) == 2
    if not is_pair or not all(isinstance(each, int) for each in members):
        expected = "the least and the most ranks, such as (2, 4)"
        raise ValueError(f"members: got {shown(members)}, expected {expected}")
    if not 1 <= members[0] <= members[1]:
        raise ValueError(f"members: got {members}, expected the least and the most ranks")
    return members[0], members[1]


def values_of(what: str, values: Any) -> List[Any]:
    """Returns the values that a field may have. One value need not be in a list."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return [values]
    chosen = list(values)
    if not chosen:
        raise ValueError(f"{what}: got none, expected a value or a list of values")
    return chosen


def with_known_keywords(what: str, method: Method) -> Method:
    """Returns a method that refuses unknown keywords with the nearest one."""
    known = [name for name in inspect.signature(method).parameters if name != "self"]

    @functools.wraps(method)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                hint = did_you_mean(name, known)
                raise TypeError(f"{what}: got {name}, expected some of {' '.join(known)}{hint}")
        return method(*arguments, **keywords)

    changed: Any = checked
    chosen: Method = changed
    return chosen
