"""Checks of values: each returns the value as it is stored, or raises `InvalidValue`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from math import isfinite
from typing import Any

from pmem.errors import InvalidValue, NotFound
from pmem.values.rules import Categories
from pmem.values.times import iso

_JSON = (dict, list, tuple, str, int, float, bool)
_SHORTER = "make it shorter"
MOST_WORD_CHARACTERS = 200
MOST_TOOL_LEVELS = 32
"""How deep a tool's call or result may be nested; a record holds twice as much."""


def text(value: str, what: str, most: int) -> str:
    """Return a text without the space around it; refuse an empty, too long or broken one."""
    if not isinstance(value, str):
        raise InvalidValue(f"{what} must be text, not {type(value).__name__}")
    stripped = value.strip()
    if not stripped:
        raise InvalidValue(f"{what} must not be empty")
    if len(stripped) > most:
        raise InvalidValue(
            f"{what} has {len(stripped)} characters, and the limit is {most}", _SHORTER
        )
    try:
        stripped.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{what} is not valid UTF-8") from None
    return stripped


def limit(value: int) -> None:
    """Refuse a limit below zero."""
    if value < 0:
        raise InvalidValue(f"a limit must not be below zero, and {value} is")


def share(what: str, value: float) -> float:
    """Return a number between 0 and 1."""
    if not 0 <= value <= 1:
        raise InvalidValue(f"{what} must lie between 0 and 1, not {value:g}")
    return value


def category(name: str, allowed: Categories, most: int) -> str:
    """Return a category without the space around it; one line, and a known one if need be."""
    name = text(name, "a category", most)
    if not name.isprintable():
        raise InvalidValue(
            "a category must be one line of visible characters", "write it on one line"
        )
    if allowed.strict and name not in allowed.names:
        raise InvalidValue(
            f"{name!r} is not among the project's categories",
            "`pmem config get categories.names` shows them",
        )
    return name


def meant_category(name: str, allowed: Categories) -> str | None:
    """Return the known category that a new one may be a typing mistake for, or None."""
    if name in allowed.names:
        return None
    return nearest(name.casefold(), allowed.names, 0.8) or None


def nearest(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """Return the known name that another one is probably a slip of; else nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=least)), "")


def nesting(value: Any, most: int) -> Any:
    """Return JSON that is nested no deeper than a record can hold it."""
    level = [value]
    for _ in range(most):
        level = [inner for outer in level for inner in _inside(outer)]
    if any(isinstance(inner, dict | list | tuple) for inner in level):
        raise InvalidValue(f"is nested deeper than {most} levels")
    return value


def json(value: Any) -> Any:
    """Return what can be written as JSON and read back as it was."""
    left = [value]
    while left:
        item = left.pop()
        left.extend(_inside(item))
        if isinstance(item, dict) and not all(isinstance(key, str) for key in item):
            raise InvalidValue("has a key that is no text")
        if isinstance(item, float) and not isfinite(item):
            raise InvalidValue("has a number that JSON does not know: NaN or infinity")
        if item is not None and not isinstance(item, _JSON):
            raise InvalidValue(f"must be JSON, not {type(item).__name__}")
        for word in (*(item if isinstance(item, dict) else ()), item):
            if isinstance(word, str) and not is_unicode(word):
                raise InvalidValue("has a text that is not valid UTF-8")
    return value


def is_unicode(word: str) -> bool:
    """Tell whether a text can be written as UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def named(where: str) -> Iterator[None]:
    """Say in refusals where the value stands; an empty name says nothing."""
    try:
        yield
    except InvalidValue as error:
        if not where:
            raise
        raise InvalidValue(f"{where}: {error.message}", error.hint) from None


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def word(value: str | None, what: str) -> str | None:
    """Return a name without the space around it; None stays None."""
    return None if value is None else text(value, what, MOST_WORD_CHARACTERS)


def app_name(value: str) -> str:
    """Return an app's name in lower case, without the space around it."""
    name = text(value, "an app", MOST_WORD_CHARACTERS).casefold()
    if not any(map(str.isalnum, name)) or not all(one.isalnum() or one in "._-" for one in name):
        raise InvalidValue(
            f"{value!a} cannot be an app's name", "letters, digits, `.`, `_` and `-` make one"
        )
    return name


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Return tags in alphabetical order, each once: `API` is the tag `api` once more."""
    checked = [text(value, "a tag", MOST_WORD_CHARACTERS) for value in values]
    return tuple(sorted({tag.casefold(): tag for tag in reversed(checked)}.values()))


def changed_tags(
    known: Iterable[str], more: Iterable[str], fewer: Iterable[str]
) -> tuple[str, ...]:
    """Return a memory's tags once some are added and others taken away, letter case aside."""
    left = {tag.casefold(): tag for tag in known}
    for tag in fewer:
        if left.pop(tag.strip().casefold(), None) is None:
            raise NotFound(f"the memory has no tag {tag}", "`pmem show` tells its tags")
    return tags([*left.values(), *more])


def texts(values: Iterable[str], what: str, most: int) -> tuple[str, ...]:
    """Return texts without the space around them, each once; see `text`."""
    return tuple(dict.fromkeys(text(value, what, most) for value in values))


def validity(start: datetime, end: datetime | None) -> None:
    """Refuse a memory that stops being valid before it starts."""
    if end is not None and end <= start:
        raise InvalidValue(
            f"a memory that is valid from {iso(start)} cannot be valid until {iso(end)}",
            "give a later end, or an earlier start",
        )
