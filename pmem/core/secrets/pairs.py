"""Passwords that stand beside a user's name, or in a table's row or column for them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.secrets import assigned
from pmem.core.secrets.assigned import Held
from pmem.core.secrets.innocent import is_password

_BAR: Final = "|"
_PAIR: Final = re.compile(
    r"""(?<!\w)(?:creds?|credentials?|log-?ins?|log[ ]in|sign[ ]in|accounts?|zugangsdaten)
    (?:\s(?:for|of|to|on|in|at|für)(?:\s(?!is|are|sind|with)[\w'./-]{1,24}+){1,5})?
    \s{0,2}(?::|=|is|are|with|sind|as)\s{1,3}["'`]?
    [A-Za-z][\w.@-]{0,40}+["'`]?(?:[ ]?[:/|][ ]?|,?[ ](?:and|und|with)[ ]|[ ])["'`]?
    (?P<value>[^\s"'`<>]{6,64})""",
    re.VERBOSE | re.IGNORECASE,
)
_AFTER_USER: Final = re.compile(
    r"""(?<!\w)(?:user(?:name)?|login|account|benutzer)(?:[ ]is)?[:= ]{1,3}["'`]?
    [\w.@-]{1,40}+["'`]?[,;/ ]{1,3}(?:(?:and|und|with)[ ])?(?:the[ ])?
    (?:pass(?:word|wort)?|pwd?)[ ](?:is[ ])?["'`]?(?P<value>[^\s"'`<>]{6,64})""",
    re.VERBOSE | re.IGNORECASE,
)
_TRAILING: Final = ".,;:)]}"
_RULER: Final = frozenset("|-: \t")
_DRESS: Final = "*_`'\" \t:~"
_LONGEST_NAME: Final = 60


class _Cell(NamedTuple):
    text: str
    start: int


def beside(text: str) -> Iterator[Held]:
    """Yield the passwords that follow a user's name: `the login is kim / ...`.

    Args:
        text: Any text.
    """
    for pattern in (_PAIR, _AFTER_USER):
        for match in pattern.finditer(text):
            value = match["value"].rstrip(_TRAILING)
            if is_password(value):
                start = match.start("value")
                yield Held("password", start, start + len(value))


def in_tables(text: str) -> Iterator[Held]:
    """Yield the secrets in tables: beside what names them, or below it.

    Args:
        text: Any text.
    """
    place, header, previous = 0, [""], [""]
    for line in text.split("\n"):
        cells = _cells(line, place) if _BAR in line else []
        place += len(line) + 1
        if not cells:
            header = previous = [""]
        elif "-" in line and _RULER.issuperset(line):
            header = previous
        else:
            previous = [cell.text for cell in cells]
            yield from _row(cells, header)


def _cells(line: str, place: int) -> list[_Cell]:
    found = []
    for cell in line.split(_BAR):
        inner = cell.lstrip(_DRESS)
        found.append(_Cell(inner.rstrip(_DRESS), place + len(cell) - len(inner)))
        place += len(cell) + 1
    return found if line.lstrip().startswith(_BAR) else []


def _row(cells: list[_Cell], header: list[str]) -> Iterator[Held]:
    for number, cell in enumerate(cells):
        names = [cells[number - 1].text] if number else []
        names += header[number : number + 1]
        for name in names:
            word = _word(name) if len(name) <= _LONGEST_NAME else None
            one_word = cell.text and " " not in cell.text
            found = assigned.judged(word, cell.text, cell.start) if word and one_word else None
            if found is not None:
                yield found
                break


@lru_cache(maxsize=256)
def _word(name: str) -> str | None:
    """Return the word by which a cell names a secret, if it does."""
    lowered = name.lower()
    for word in (*assigned.PASSWORDS, *assigned.TOKENS):
        place = lowered.rfind(word)
        if place >= 0 and assigned.names_a_secret(name, lowered, word, place):
            return word if assigned.is_end(name[place + len(word) :]) else None
    return None
