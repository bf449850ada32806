"""Three sets of texts by people who had not seen the rules: secrets, and what looks like them.

The files in `sets` hold a form and a text on each line, with the usual escapes. No secret stands
in them: in `⟦...⟧` stands how one is drawn, with a letter of `_ALPHABETS` for each character, such
as `A`, `a`, `9` and `x` for a capital, a small letter, a digit and a hexadecimal one, `{n}` for so
many of them, and what is between `‹` and `›` as it is. `⟦basic kim⟧` and `⟦pair kim⟧` are a user
with a password in base64, `⟦mixed 12⟧` is a password, `⟦#1⟧` the first secret once more.
"""

import base64
import re
import uuid
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from tests.core.secrets.drawing import (
    BASE64,
    DIGITS,
    HEX,
    LETTERS,
    LOWER,
    UPPER,
    WIDE,
    WORD,
    drawn,
    lines_of,
    mixed,
    web_token,
)

SETS: Final = ("first", "second", "third")
_MARK: Final = re.compile("⟦([^⟧]*)⟧")
_PART: Final = re.compile(r"‹([^›]*)›|([Aa9xwiblOULvs])(?:\{(\d+)\})?")
_ESCAPED: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_ALPHABETS: Final = {
    **{"A": UPPER, "a": LOWER, "l": LETTERS, "9": DIGITS, "x": HEX, "w": WORD, "i": WIDE},
    **{"b": BASE64, "O": UPPER + "234567", "U": UPPER + DIGITS, "L": LOWER + DIGITS},
    **{"v": WORD + "_~.-", "s": WORD + "!@#$%^&*"},
}


class Written(NamedTuple):
    """A text, its form, and the secrets in it."""

    form: str
    text: str
    secrets: tuple[str, ...] = ()


def secrets(name: str, seed: int) -> Iterator[Written]:
    """Yield the texts of a set with secrets drawn for them."""
    random = Random(seed)
    for form, line in rows(f"{name}.txt"):
        yield Written(form, *filled(line, random))


def innocents(name: str) -> Iterator[Written]:
    """Yield the texts of a set without a secret."""
    for form, line in rows(f"{name}-innocent.txt"):
        yield Written(form, _plain(line))


def rows(file: str) -> Iterator[tuple[str, str]]:
    """Yield the form and the text of each line of a file in `sets`."""
    for line in lines_of(file):
        form, _, text = line.partition("\t")
        yield form, text


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]], text)


def filled(line: str, random: Random) -> tuple[str, tuple[str, ...]]:
    """Return a line with secrets drawn for its marks, and these."""
    made: list[str] = []
    parts, end = [], 0
    for match in _MARK.finditer(line):
        parts.append(_plain(line[end : match.start()]))
        if match[1].startswith("#"):
            parts.append(made[int(match[1][1:]) - 1])
        else:
            made.append(_made(match[1], random))
            parts.append(made[-1])
        end = match.end()
    return "".join((*parts, _plain(line[end:]))), tuple(made)


def _made(mark: str, random: Random) -> str:
    """Return a secret drawn by its mark."""
    way, _, rest = mark.partition(" ")
    if way in ("basic", "pair"):
        plain = f"{rest}:{drawn(random, WORD, 12)}{'4x' * (way == 'basic')}"
        return base64.b64encode(plain.encode()).decode()
    if way == "mixed":
        return mixed(random, int(rest))
    if way == "uuid":
        return str(uuid.UUID(int=random.getrandbits(128)))
    if way == "jwt":
        return web_token(random)
    return "".join(
        _plain(match[1] or "") or drawn(random, _ALPHABETS[match[2]], int(match[3] or 1))
        for match in _PART.finditer(mark)
    )
