"""Sentences with one secret or two as a first day of use brought them, and what only looks so.

In a phrase of `sets/trials.txt`, `{p}`, `{q}` stand for passwords of letters and digits, `{u}`,
`{v}` for ones that a person made up, `{b}`, `{c}` for tokens, `{k}` for one of 40 characters, `{a}`
for an access key's id, `{o}` for a seed of one-time passwords; `\\n` begins a new line and `\\t` is
a tabulator.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from tests.core.secrets.drawing import BASE64, UPPER, WORD, drawn, lines_of


class Trial(NamedTuple):
    """A text and all secrets in it."""

    text: str
    secrets: tuple[str, ...]


def _password(random: Random) -> str:
    return drawn(random, UPPER, 1) + "7k" + drawn(random, WORD, 3) + "2Lp4x"


def _token(random: Random, length: int = 16) -> str:
    return "8f3K" + drawn(random, WORD, length - 8) + "Zm9a"


def trials(seed: int) -> Iterator[Trial]:
    """Yield the phrases with secrets drawn for them."""
    random = Random(seed)
    for phrase in lines_of("trials.txt"):
        made = {
            "p": _password(random),
            "q": _password(random),
            "u": f"Winter{random.randrange(2000, 2030)}!",
            "v": f"Summer{random.randrange(2000, 2030)}!",
            "b": _token(random),
            "c": _token(random),
            "k": "wJ7+" + drawn(random, BASE64, 32) + "4xQ2",
            "a": "AKIA" + drawn(random, UPPER + "234567", 16),
            "o": "J4" + drawn(random, UPPER + "234567", 14),
        }
        used = tuple(value for name, value in made.items() if f"{{{name}}}" in phrase)
        yield Trial(_lines(phrase).format(**made), used)


def innocents() -> Iterator[str]:
    """Yield the phrases without a secret."""
    yield from map(_lines, lines_of("trials-innocent.txt"))


def _lines(phrase: str) -> str:
    return phrase.replace("\\n", "\n").replace("\\t", "\t")
