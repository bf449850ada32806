"""Secrets in rows: below or beside what names them, and beside a user's name."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from pmem.core.secrets import words
from pmem.core.secrets.false_positives import is_drawn, is_password
from pmem.core.secrets.named import NEAR, judged, word_of
from pmem.core.secrets.rules import Secret
from pmem.values.patterns import lazily

_RULER: Final = frozenset("|-:=+ \t")
_SPACE: Final = " \t\r"
_DRESS: Final = "*_`'\"~"
_LONGEST_NAME: Final = 60
_SEPARATORS: Final = ("\t", "|", ",", ";", "  ")
_INSIDE: Final = {
    sign: lazily(rf"""(?>(?:"[^"\n]{{0,256}}+"|[^\n{re.escape(sign)}])*)""") for sign in "\t|,;"
} | {"  ": lazily(r"(?>(?:\S| (?! ))*)")}
_HEAD: Final = lazily(r"""["']?[^\W\d_*`][\w /*`().-]{0,30}+["']?""")
_LONGEST_HEADER: Final = 240
_MOST_WORDS: Final = 2
"""How many words a column's name has; more are a sentence with commas."""
_WHOSE: Final = ("user", "login", "name", "account", "host", "mail", "service", "server")
_INSERT: Final = lazily(r"\(([^()\n]{1,240})\)\s{0,8}values\s{0,8}\(", re.IGNORECASE)
_FIELD: Final = lazily(r"""\s*+('[^'\n]{0,256}+'|"[^"\n]{0,256}+"|[^,()\n]{0,256}+)[,)]""")
_PAIR: Final = lazily(
    r"""(?<![\w/.@:#=-])(?P<user>[A-Za-z][\w.@+-]{0,40}+)["'`*]{0,2}
    (?P<sign>[ ]?[:/][ ]?|,?[ ](?:(?:and|with|und|mit|using|via|y|et|con|avec)[ ])|,[ ]?)["'`*]{0,2}
    (?=[^\s"'`<>0-9]{0,63}[0-9])(?P<value>[^\s"'`<>]{6,64})""",
    re.VERBOSE,
)
_LOGIN: Final = lazily(
    r"(?<![a-z])(?:log-?ins?|logs? ?-?(?:in|on)|sign-? ?in|creds?|credentials?|accounts?"
    r"|user(?:name)?|zugang"
    r"|zugangsdaten|anmeld\w{2,6}|auth(?:enticate)?|connect|identifiants?"
    r"|usuario|acceso|accès)(?![a-z])|basic_?auth"
)
"""What stands near a name and a password: `the login is kim / ...`."""
_FIRST: Final = lazily(
    rf"(?:{_LOGIN.pattern})" + r"[^:=\n]{0,40}(?:[:=]|(?<= )(?:is|are|sind|with|as))\s{0,2}[\"'`]?$"
)
_ABOUT: Final = 60
_QUOTES: Final = ("'", '"')
_CLOSE: Final = 16
_SHORTER: Final = 30
_SIGNS: Final = ("/", ":")
_TRAILING: Final = ".,;:)]}"


class _Cell(NamedTuple):
    text: str
    start: int


def in_rows(text: str, lowered: str) -> Iterator[Secret]:
    """Yield the secrets in tables: below what names them, or beside it."""
    place, sign, names = 0, "", list[str | None]()
    spoken = [word for word in (*words.PASSWORDS, *words.TOKENS) if word in lowered]
    for line in text.split("\n"):
        is_named = any(map(lowered[place : place + len(line)].__contains__, spoken))
        if _RULER.issuperset(line) and line:
            cells: list[_Cell] = []
        elif not sign or sign not in line:
            sign, names = _header(line) if is_named else ("", [])
            cells = []
        else:
            cells = _split_cells(line, place, sign)
        if len(cells) == len(names):
            for word, cell in zip(names, cells, strict=True):
                yield from _in_cell(word, cell)
        if is_named and line.lstrip()[:1] == "|":
            for name, cell in pairwise(_split_cells(line, place, "|")):
                if len(name.text) <= _LONGEST_NAME:
                    yield from _in_cell(word_of(name.text), cell)
        place += len(line) + 1


def in_inserts(text: str) -> Iterator[Secret]:
    """Yield the secrets that SQL puts into columns named for them."""
    for match in _INSERT.finditer(text):
        place = match.end()
        for name in match[1].split(","):
            field = _FIELD.match(text, place)
            if field is None:
                break
            place, value = field.end(), field[1].strip("'\" ")
            word = word_of(name.strip(_DRESS + _SPACE))
            found = judged(word, value, text.find(value, field.start(1))) if word else None
            if found is not None:
                yield found


def beside_users(text: str, lowered: str) -> Iterator[Secret]:
    """Yield the passwords that follow a user's name: `the login is kim / ...`."""
    place = 0
    while (match := _PAIR.search(text, place)) is not None:
        value = match["value"].rstrip(_TRAILING)
        place = match.start("value")
        fits = _is_user(lowered, match) and is_drawn(value, is_short=True, is_near=False)
        if fits or (_is_first(lowered, match) and is_password(value)):
            yield Secret("password", place, place + len(value))
            place += len(value)


def _is_user(lowered: str, match: re.Match[str]) -> bool:
    """Tell whether what stands before a value is the name of somebody who logs in."""
    user, sign = match["user"].lower(), match["sign"].strip(" \"',")
    if user in words.USERS and sign in _SIGNS:
        return True
    if (
        match["sign"].strip() == ","
        and "@" not in user
        and match.string[match.end("user")] not in _QUOTES
    ):
        return False
    if user in words.OTHER_THINGS or user in words.ABOUT or user in words.COPULAS:
        return False
    about = _CLOSE if "," in match["sign"] and not sign else _ABOUT
    near = lowered[max(0, match.start() - about) : match.start()].rpartition("\n")[2]
    after = (
        lowered[match.end() : match.end() + _SHORTER].partition("\n")[0] if sign in _SIGNS else ""
    )
    return _LOGIN.search(near) is not None or _LOGIN.search(after) is not None


def _is_first(lowered: str, match: re.Match[str]) -> bool:
    """Tell whether a pair is what the text before it says that it gives: `creds are kim:...`."""
    near = lowered[max(0, match.start() - _ABOUT) : match.start()]
    return match["sign"].strip() in (*_SIGNS, "and") and _FIRST.search(near) is not None


def _in_cell(word: str | None, cell: _Cell) -> Iterator[Secret]:
    if word and cell.text and " " not in cell.text:
        found = judged(word, cell.text, cell.start)
        found = found or judged(word, cell.text, cell.start, NEAR)
        if found is not None:
            yield found


@lru_cache(maxsize=64)
def _header(line: str) -> tuple[str, list[str | None]]:
    """Return what parts the names of columns, and the word for secrets in each; else nothing."""
    if len(line) <= _LONGEST_HEADER:
        for sign in _SEPARATORS:
            if sign in line:
                names = [cell.text for cell in _split_cells(line, 0, sign)]
                is_framed = sign == "|" and line.lstrip()[:1] == "|"
                inner = names[1:-1] if is_framed else names
                if len(names) > 1 and (is_framed or all(map(_is_head, inner))):
                    found = _columns(names)
                    return (sign, found) if any(found) else ("", [])
    return "", []


def _columns(names: list[str]) -> list[str | None]:
    """Return the words for columns; one for values belongs to the word beside it."""
    found = [_column(name, names) for name in names]
    word = next(filter(None, found), None)
    return [
        word if name.lower() in words.VALUES else own
        for name, own in zip(names, found, strict=True)
    ]


def _is_head(name: str) -> bool:
    return _HEAD.fullmatch(name) is not None and (
        len(name.split()) <= _MOST_WORDS or bool(word_of(name))
    )


def _column(name: str, names: list[str]) -> str | None:
    word = word_of(name)
    if (
        word in words.SHORT
        and name.lower() == word
        and not any(other in " ".join(names).lower() for other in _WHOSE)
    ):
        return None
    return word


def _undressed(cell: str, place: int) -> _Cell:
    """Return a cell without the spaces, quotes and stars around it."""
    inner = cell.strip(_SPACE)
    place += cell.find(inner)
    while len(inner) > 1 and inner[0] in _DRESS and inner[-1] == inner[0]:
        inner, place = inner[1:-1], place + 1
    return _Cell(inner, place)


def _split_cells(line: str, place: int, sign: str) -> list[_Cell]:
    """Return the cells of a line; what stands in quotes is one."""
    found, start = list[_Cell](), 0
    while start <= len(line):
        match = _INSIDE[sign].match(line, start)
        end = match.end() if match else start
        found.append(_undressed(line[start:end], place + start))
        start = end + 1
        while sign == "  " and line[start : start + 1] == " ":
            start += 1
    return found
