"""Three sets of texts by people who had not seen the rules: secrets, and what looks like them.

The files in `sets` hold a form and a text on each line, with the usual escapes. No secret stands
in them: in `⟦...⟧` stands how one is drawn, with `A`, `a`, `9` and `x` for a capital, a small
letter, a digit and a hexadecimal one, `{n}` for so many of them, and what is between `‹` and `›`
as it is. `⟦basic kim⟧` is a user with a password in base64, `⟦#1⟧` the first secret once more.
"""

import base64
import re
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from tests.core.secrets.drawing import DIGITS, HEX, LOWER, UPPER, WORD, drawn, lines_of

SETS: Final = ("first", "second", "third")
_MARK: Final = re.compile("⟦([^⟧]*)⟧")
_PART: Final = re.compile(r"‹([^›]*)›|([Aa9x])(?:\{(\d+)\})?")
_ESCAPED: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_ALPHABETS: Final = {"A": UPPER, "a": LOWER, "9": DIGITS, "x": HEX}


class Written(NamedTuple):
    """A text, its form, and the secrets in it."""

    form: str
    text: str
    secrets: tuple[str, ...] = ()


def secrets(name: str, seed: int) -> Iterator[Written]:
    """Yield the texts of a set with secrets drawn for them."""
    random = Random(seed)
    for form, line in _lines(f"{name}.txt"):
        made: list[str] = []
        text = "".join(_filled(line, made, random))
        yield Written(form, text, tuple(made))


def innocents(name: str) -> Iterator[Written]:
    """Yield the texts of a set without a secret."""
    for form, line in _lines(f"{name}-innocent.txt"):
        yield Written(form, _plain(line))


def _lines(file: str) -> Iterator[tuple[str, str]]:
    for line in lines_of(file):
        form, _, text = line.partition("\t")
        yield form, text


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]], text)


def _filled(line: str, made: list[str], random: Random) -> Iterator[str]:
    """Yield the parts of a line, its secrets drawn and noted."""
    end = 0
    for match in _MARK.finditer(line):
        yield _plain(line[end : match.start()])
        if match[1].startswith("#"):
            yield made[int(match[1][1:]) - 1]
        else:
            made.append(_made(match[1], random))
            yield made[-1]
        end = match.end()
    yield _plain(line[end:])


def _made(mark: str, random: Random) -> str:
    """Return a secret drawn by its mark."""
    if mark.startswith("basic "):
        plain = f"{mark[6:]}:{drawn(random, WORD, 12)}4x"
        return base64.b64encode(plain.encode()).decode()
    return "".join(
        _plain(match[1] or "") or drawn(random, _ALPHABETS[match[2]], int(match[3] or 1))
        for match in _PART.finditer(mark)
    )
