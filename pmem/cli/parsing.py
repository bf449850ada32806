"""The plain way from a command line to a command: a line that is written as help shows it.

Whatever is not plain (a slip, a call for help, letters put together, other capitals) is left to
`pmem.cli.tree`, which knows all ways and says what is wrong. Both give a command the same values;
this one does without Typer, whose loading takes a third of a short command's time.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin

from pmem.cli.asking import AskedCommand, Field
from pmem.cli.commands import ALONE, COMMANDS, DEFAULTS, GROUPS, SHARED, CommandEntry, SharedOption
from pmem.cli.session import CommandSession


class ParsedLine(NamedTuple):
    """A command, what is given to it, and the shared options at each place of the line."""

    command: AskedCommand
    given: Mapping[str, Any]
    shared: Sequence[Mapping[SharedOption, str | bool]]

    def run(self, session: CommandSession) -> Any:
        """Run the command as the line says, and return its answer."""
        for options in self.shared:
            for option, value in options.items():
                option.apply(session, value)
        return self.command.run(session, self.given)


def parse(arguments: Sequence[str]) -> ParsedLine | None:
    """Return what a command line says; nothing where it is not plain."""
    try:
        return _parse_line(deque(arguments))
    except _NotPlainError:
        return None


class _NotPlainError(Exception):
    """A line may be right, or wrong: another has to tell."""


class _Option(NamedTuple):
    of: Field | SharedOption
    constant: bool | None  # what it means by itself; nothing where a value follows


class _Words(NamedTuple):
    """What stands behind a command's name."""

    given: dict[str, Any]  # by its own options
    shared: dict[SharedOption, Any]
    places: list[str]  # words that belong to no option


def _parse_line(words: deque[str]) -> ParsedLine:
    at_root = _take_shared(words)
    name = words.popleft() if words else ""
    in_group = {} if name in COMMANDS else _take_shared(words)
    command = (COMMANDS[name] if name in COMMANDS else _take_member(name, words)).loaded()
    fields = command.fields.values()
    given, shared, places = _parse_words(words, _options_of(fields))
    given |= _parse_places([field for field in fields if field.is_argument], places)
    given = {field.name: given.get(field.name, field.absent) for field in fields}
    if ... in given.values():
        raise _NotPlainError
    return ParsedLine(command, given, (at_root, in_group, shared))


def _take_shared(words: deque[str]) -> dict[SharedOption, Any]:
    """Take the options that stand before a command's name from the front."""
    options, found = _shared_options(), {}
    while words and words[0].partition("=")[0] in options:
        option, value = _take_option(words, options)
        found[cast(SharedOption, option)] = value
    return found


def _take_member(group: str, words: deque[str]) -> CommandEntry:
    """Return the command of a group that is named next, or its default."""
    _, members = GROUPS.get(group, ("", {}))
    if words and words[0] in members:
        return members[words.popleft()]
    is_slip = group in ALONE and words and not words[0].startswith("-")
    if group not in DEFAULTS or is_slip or (words and words[0] == "--"):
        raise _NotPlainError
    return members[DEFAULTS[group]]


def _parse_words(words: deque[str], options: Mapping[str, _Option]) -> _Words:
    found = _Words({}, {}, [])
    while words:
        if words[0] == "--":
            words.popleft()
            found.places.extend(words)
            break
        if words[0] == "-" or not words[0].startswith("-"):
            found.places.append(words.popleft())
            continue
        option, value = _take_option(words, options)
        if isinstance(option, SharedOption):
            found.shared[option] = value
        elif option.is_many:
            found.given.setdefault(option.name, []).append(value)
        else:
            found.given[option.name] = value
    return found


def _take_option(
    words: deque[str], options: Mapping[str, _Option]
) -> tuple[Field | SharedOption, Any]:
    """Take an option and its value from the front."""
    flag, sign, text = words.popleft().partition("=")
    option = options.get(flag)
    if option is None or (sign and (option.constant is not None or flag[1] != "-")):
        raise _NotPlainError
    if option.constant is not None:
        return option.of, option.constant
    if not sign:
        if not words:
            raise _NotPlainError
        text = words.popleft()
    return option.of, _value_of(option.of, text) if isinstance(option.of, Field) else text


def _parse_places(fields: Sequence[Field], places: list[str]) -> dict[str, Any]:
    """Return the values of a command's arguments; one may take any number of words."""
    found: dict[str, Any] = {}
    for before, field in enumerate(fields):
        spare = len(places) - (len(fields) - before - 1)  # what those behind it leave
        count = spare if field.is_many else 1
        values = [_value_of(field, text) for text in places[:count]] if count > 0 else []
        del places[: len(values)]
        if values:
            found[field.name] = values if field.is_many else values[0]
    if places:
        raise _NotPlainError
    return found


def _value_of(field: Field, text: str) -> Any:
    """Return a text as a value of the field's type."""
    kind = field.type
    if kind in (str, datetime, Any):
        return text
    if get_origin(kind) is Literal and text in get_args(kind):
        return text
    if kind in (int, float) or (isinstance(kind, type) and issubclass(kind, StrEnum)):
        try:
            value = kind(text)
        except ValueError:
            raise _NotPlainError from None
        if field.least is None or value >= field.least:
            return value
    raise _NotPlainError


def _options_of(fields: Collection[Field]) -> dict[str, _Option]:
    found: dict[str, _Option] = {}
    for field in fields:
        for flags in () if field.is_argument else field.flags:
            flag, _, off = flags.partition("/")
            found[flag] = _Option(field, True if field.type is bool else None)
            found |= {off: _Option(field, False)} if off else {}
    for option in SHARED:
        if found.keys().isdisjoint(option.flags):
            found |= {flag: _shared_options()[flag] for flag in option.flags}
    return found


@cache
def _shared_options() -> dict[str, _Option]:
    return {
        flag: _Option(option, None if option.metavar else True)
        for option in SHARED
        for flag in option.flags
    }
