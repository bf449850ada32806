"""A marked block of lines in a text file of somebody else: inserted, found and removed."""

import re
from typing import Final

from pmem.core.lines import split_lines

BEGIN: Final = "# BEGIN PMEM"
END: Final = "# END PMEM"
MARKS: Final = ("<!-- BEGIN REMEMBERED BY PMEM", "<!-- END REMEMBERED BY PMEM -->")
"""How the block of AGENTS.md begins and ends that says what the memory says."""
SIGN: Final = "<!-- Made by pmem: "
"""How the line begins by which a whole file is known to say what the memory says."""
_REMEMBERED: Final = (MARKS[0].encode(), SIGN.encode())
_REPOS: Final = re.compile(r"""["']?repos["']?[ \t]*:""")
_PLAIN_REPOS: Final = re.compile(r"repos:[ \t]*(#.*)?")
_ITEM: Final = re.compile(r"( *)-(?: |$)")
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})


class Unclear(Exception):
    """A text whose blocks cannot be told apart: a marker is missing, or stands there twice.

    Whatever looks for a block raises it.
    """


def found(text: str, begin: str = BEGIN, end: str = END) -> str | None:
    """Return the block that stands in a text, with its markers; None where there is none."""
    place = _place(text, begin, end)
    return None if place is None else text[place[0] : place[1]].replace("\r\n", "\n")


def others_words(data: bytes) -> bytes:
    """Return a file's bytes with an empty line for each line that says what the memory says."""
    if not any(mark in data for mark in _REMEMBERED):
        return data
    text = data.decode("latin-1")
    try:
        place = (0, len(text)) if f"\n{SIGN}" in f"\n{text}" else _place(text, *MARKS)
    except Unclear:
        return data
    if place is None:
        return data
    return data[: place[0]] + b"\n" * text.count("\n", *place) + data[place[1] :]


def without(text: str) -> str:
    """Return a text without its block, as it was before that was put in."""
    place = _place(text)
    return text if place is None else text[: place[0]] + text[place[1] :]


def after_first_line(text: str, block: str) -> str:
    """Put a block below the first line of a script, where nothing before it leaves."""
    first, end, rest = text.partition("\n")
    return first + (end or "\n") + block + rest


def is_shell_script(text: str) -> bool:
    """Tell whether a file is a script for a POSIX shell."""
    first = text.partition("\n")[0]
    if not first.startswith("#!") or "\0" in text:
        return False
    words = [word.rpartition("/")[2] for word in first[2:].split()]
    return (words[1:] if words[:1] == ["env"] else words)[:1] in [[name] for name in _SHELLS]


def first_repository(text: str, block: str) -> str | None:
    """Put an entry in front of the repositories of a pre-commit configuration, if that is safe."""
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if _REPOS.match(line)]
    if len(places) != 1 or places[0] == len(lines) - 1:
        return None
    head = lines[places[0]]
    indent = _indent(lines[places[0] + 1 :])
    if not _PLAIN_REPOS.fullmatch(head.rstrip("\r")) or indent is None:
        return None
    end = "\r" if head.endswith("\r") else ""
    entry = [f"{indent}{line}{end}" for line in split_lines(block)]
    return "\n".join([*lines[: places[0] + 1], *entry, *lines[places[0] + 1 :]])


def _indent(lines: list[str]) -> str | None:
    """Return how far a list is indented of which these are the lines; None where it is none."""
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            item = _ITEM.match(line.rstrip("\r"))
            return item[1] if item else None
    return ""


def at_end(text: str | None, block: str) -> str:
    """Put a block at the end of a text; a text without a final line end stays without one.

    The text is None for a file that is made for the block.
    """
    newline = "\r\n" if text and "\r\n" in text else "\n"
    lines = block.replace("\n", newline)
    if text is None or text.endswith("\n"):
        return (text or "") + lines
    return text + newline * bool(text) + lines.removesuffix(newline)


def replaced(text: str, block: str, begin: str, end: str) -> str:
    """Put a block in the place of the one that stands in a text."""
    place = _place(text, begin, end)
    if place is None:
        raise Unclear
    lines = block.replace("\n", "\r\n" if "\r\n" in text else "\n")
    if not text[: place[1]].endswith("\n"):
        lines = lines.rstrip("\r\n")
    return text[: place[0]] + lines + text[place[1] :]


def without_end(text: str, begin: str, end: str) -> str | None:
    """Take out what `at_end` put in; None where there was no text before."""
    place = _place(text, begin, end)
    if place is None:
        return text
    before, after = text[: place[0]], text[place[1] :]
    if not text[: place[1]].endswith("\n"):
        return before.removesuffix("\n").removesuffix("\r")
    return before + after or None


def _place(text: str, begin: str = BEGIN, end: str = END) -> tuple[int, int] | None:
    """Return where a block begins and ends."""
    starts, ends, place = [], [], 0
    for line in text.split("\n"):
        after = min(place + len(line) + 1, len(text))
        if line.lstrip(" ").startswith(begin):
            starts.append(place)
        elif line.lstrip(" ").startswith(end):
            ends.append(after)
        place = after
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or starts[0] >= ends[0]:
        raise Unclear
    return starts[0], ends[0]
