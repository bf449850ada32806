"""What is wrong with a command line, and what to type instead."""

import re
from difflib import get_close_matches
from typing import Final

from typer._click.exceptions import ClickException  # typer 0.28 exports no base of its errors

from pmem.cli import render
from pmem.cli.session import CommandSession
from pmem.errors import PmemError

_ALIKE: Final = 0.6
"""How alike a name or a value must be to what was typed to be suggested, from 0 to 1."""
_NO_CHOICE: Final = " is not one of "  # what click says of a value that is none of those allowed
_WORDS: Final = (
    (re.compile(r"^Invalid value for '\w+(?:\|\w+)+'"), "Invalid value"),
    (re.compile(r"is not a valid int(?: range)?\.$"), "is not a whole number"),
    (re.compile(r"is not a valid float(?: range)?\.$"), "is not a number"),
    (re.compile(r"is not in the range x>=(-?[0-9]+)\.$"), r"is too small: \1 is the least"),
    (
        re.compile(r"^Got unexpected extra arguments? ?\(?s?\)? \("),
        "there are too many arguments (",
    ),
)
"""What click says, and how it is said here."""


_MEANT: Final = {
    **dict.fromkeys(("delete", "remove", "del", "forget"), "rm"),
    **dict.fromkeys(("remember", "note", "save", "store"), "add"),
    **dict.fromkeys(("find", "recall", "grep"), "search"),
    "version": "--version",
}
"""What other programs call a command, and what it is called here."""
_RETIRED: Final = {
    "changelog": "log A..B",
    "completion": "setup completion",
    "consent": "inbox proposals",
    "doctor": "check setup",
    "due": "check due",
    "events": "log",
    "facts": "inbox facts",
    "history": "log REF",
    "link": "edit REF --link REF[:TYPE]",
    "pin": "edit REF --pin",
    "repair": "resolve",
    "scan": "check secrets",
    "settle": "resolve REF",
    "sweep": "consolidate",
    "subjects": "list --subjects",
    "sync": "db sync",
    "tags": "list --tags",
    "types": "help types",
    "unlink": "edit REF --unlink REF[:TYPE]",
    "unpin": "edit REF --no-pin",
    "verify": "check citations",
    "week": "log --since 1w",
}
"""What commands were called once, and what does the same now."""
_VALUES: Final = {
    "expired": "`pmem list` marks what has expired, `pmem inbox --kind expired` goes through it"
}
"""What is asked for as if it were a state, and how to get it."""
_NO_READER: Final = (
    "there is no reader for it: write its messages as JSON Lines for `pmem import messages`"
)


def is_out_of_range(error: ClickException) -> bool:
    """Tell whether a number is one, and none that is allowed: that is no wrong command line."""
    return " is not in the range " in error.format_message()


def sentence(error: ClickException) -> tuple[str, str]:
    """Return what is wrong with a command line, and what to do next."""
    context = getattr(error, "ctx", None)
    hint = f"`{context.command_path} --help` shows how" if context else ""
    message = " ".join(error.format_message().split())
    if context and message.startswith("No such command"):
        name, is_root = message.split("'")[1], context.parent is None
        if is_root and name in _RETIRED:
            return f"`pmem {name}` is now `pmem {_RETIRED[name]}`", ""
        close = get_close_matches(name, context.command.list_commands(context), cutoff=_ALIKE)
        close = [_MEANT[name]] if is_root and name in _MEANT else close
        if close:
            hint = f"did you mean {' or '.join(close)}?"
        elif context.command.name == "import":
            hint = _NO_READER
    elif message.startswith("Invalid value") and _NO_CHOICE in message:
        hint = _closest(message) or hint
    elif message.startswith("No such option: -") and "--" not in message:
        hint = f"put `--` before a text that starts with a dash; {hint}"
    elif message.startswith("Missing argument 'REF"):
        hint = f"REF is an id, as lists and searches show it; {hint}"
    elif message.startswith("Missing argument") and "|-'" in message:
        hint = "give it as an argument, or `-` to read it from standard input"
    elif message.startswith("Got unexpected extra"):
        hint = f"put quotes around a text of several words; {hint}"
    for said, instead in _WORDS:
        message = said.sub(instead, message)
    return f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint


def _closest(message: str) -> str:
    before, _, choices = message.partition(_NO_CHOICE)
    value = before.split("'")[-2]
    if value in _VALUES and "'--state'" in before:
        return _VALUES[value]
    close = get_close_matches(value, choices.split("'")[1::2], 1, _ALIKE)
    return f"did you mean {close[0]}?" if close else ""


def tell_bug(session: CommandSession, error: Exception) -> int:
    """Say one sentence about what should never happen, and keep the rest for a report."""
    import traceback

    from pmem.core.secrets import unsecret
    from pmem.project.failures import note_failure

    trace = unsecret("".join(traceback.format_exception(error)))
    where = None if session.opened is None else note_failure(session.opened, trace)
    sentence = f"this is a bug in pmem: {type(error).__name__}: {error}"
    if where is None:
        render.fail(session, PmemError(f"{sentence}\n{trace}"))
    else:
        render.fail(session, PmemError(sentence, f"please report it with {where}"))
    return PmemError.exit_code
