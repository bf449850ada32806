"""Passwords that stand beside a user's name, or in a table's row or column for them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.secrets import assigned
from pmem.core.secrets.innocent import is_password
from pmem.core.secrets.secret import Secret
from pmem.core.secrets.spoken import looks_drawn

_BAR: Final = "|"
_PAIR: Final = re.compile(
    r"""(?<!\w)(?:creds?|credentials?|log-?ins?|log[ ]in|sign[ ]in|accounts?|zugangsdaten)
    (?:\s(?:for|of|to|on|in|at|für)(?:\s(?!is|are|sind|with)[\w'./-]{1,24}+){1,5})?
    \s{0,2}(?::|=|is|are|with|sind|as)\s{1,3}["'`]?
    [A-Za-z][\w.@-]{0,40}+["'`]?(?:[ ]?[:/|][ ]?|,?[ ](?:and|und|with|using)[ ]|[ ])["'`]?
    (?P<value>[^\s"'`<>]{6,64})""",
    re.VERBOSE | re.IGNORECASE,
)
_SLASHED: Final = re.compile(
    r"""(?<!\w)(?:creds?|credentials?|log-?in|log[ ]in|sign[ ]in|account)[ ]
    [A-Za-z][\w.@-]{0,40}+[ ]?[/|][ ]?["'`]?(?P<value>[^\s"'`<>]{6,64})""",
    re.VERBOSE | re.IGNORECASE,
)
_VERBS: Final = ("log in", "sign in")
"""What also people do that have no password for: `sign in with Firefox`."""
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


_SEPARATORS: Final = ",;|\t"
_HEADER: Final = {
    sign: re.compile(
        rf"""[ ]?["']?[A-Za-z][\w -]{{0,30}}+["']?[ ]?"""
        rf"""(?:{re.escape(sign)}[ ]?["']?[A-Za-z][\w -]{{0,30}}+["']?[ ]?){{1,30}}\r?"""
    )
    for sign in _SEPARATORS
}
_INSIDE: Final = {
    sign: re.compile(rf"""(?:"[^"\n]{{0,256}}+"|[^\n{re.escape(sign)}])*+""")
    for sign in _SEPARATORS
}
_LONGEST_HEADER: Final = 240
_MOST_WORDS: Final = 2
"""How many words a column's name has; more are a sentence with commas."""
_NO_PLAIN: Final = ("pass", "pw")
"""Names of columns that say little where nothing says whose: `suite,pass,fail`."""
_WHOSE: Final = ("user", "login", "name", "account", "host", "mail", "service", "server")


class _Cell(NamedTuple):
    text: str
    start: int


def beside(text: str) -> Iterator[Secret]:
    """Yield the passwords that follow a user's name: `the login is kim / ...`.

    Args:
        text: Any text.
    """
    for pattern in (_PAIR, _AFTER_USER, _SLASHED):
        for match in pattern.finditer(text):
            value = match["value"].rstrip(_TRAILING)
            is_hint = pattern is _SLASHED or match[0].lower().startswith(_VERBS)
            if looks_drawn(value, is_short=True) if is_hint else is_password(value):
                start = match.start("value")
                yield Secret("password", start, start + len(value))


def in_tables(text: str) -> Iterator[Secret]:
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


def in_columns(text: str) -> Iterator[Secret]:
    """Yield the secrets below a header in lines that commas, semicolons, tabs or bars part.

    Args:
        text: Any text.
    """
    place, sign, words = 0, "", list[str | None]()
    for line in text.split("\n"):
        if not sign or sign not in line:
            sign, words = _header(line)
        elif not _RULER.issuperset(line):
            cells = _parted(line, place, sign)
            for word, cell in zip(words, cells, strict=False):
                if word and cell.text and " " not in cell.text and len(cells) == len(words):
                    found = assigned.judged(word, cell.text, cell.start)
                    found = found or _drawn(word, cell)
                    if found is not None:
                        yield found
        place += len(line) + 1


def _drawn(word: str, cell: _Cell) -> Secret | None:
    """Return a short value of a column for tokens that looks drawn."""
    fits = looks_drawn(cell.text, is_short=False)
    return assigned.judged(word, cell.text, cell.start, is_drawn=True) if fits else None


def _header(line: str) -> tuple[str, list[str | None]]:
    """Return what parts the names of columns, and the word for secrets in each; else nothing."""
    if len(line) <= _LONGEST_HEADER:
        for sign in _SEPARATORS:
            if sign in line and _HEADER[sign].fullmatch(line):
                names = [cell.text for cell in _parted(line, 0, sign)]
                if all(len(name.split()) <= _MOST_WORDS for name in names):
                    words = [_column(name, names) for name in names]
                    return (sign, words) if any(words) else ("", [])
    return "", []


def _column(name: str, names: list[str]) -> str | None:
    word = _word(name)
    if word in _NO_PLAIN and not any(other in " ".join(names).lower() for other in _WHOSE):
        return None
    return word


def _parted(line: str, place: int, sign: str) -> list[_Cell]:
    """Return the cells of a line; what stands in quotes is one."""
    found, start = list[_Cell](), 0
    while start <= len(line):
        match = _INSIDE[sign].match(line, start)
        end = match.end() if match else start
        inner = line[start:end].lstrip(_DRESS)
        bare = inner.rstrip(_DRESS + "\r")
        found.append(_Cell(bare, place + end - len(inner)))
        start = end + 1
    return found


def _cells(line: str, place: int) -> list[_Cell]:
    found = []
    for cell in line.split(_BAR):
        inner = cell.lstrip(_DRESS)
        found.append(_Cell(inner.rstrip(_DRESS), place + len(cell) - len(inner)))
        place += len(cell) + 1
    return found if line.lstrip().startswith(_BAR) else []


def _row(cells: list[_Cell], header: list[str]) -> Iterator[Secret]:
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
