"""How secrets and what looks like them are drawn for the labelled sets."""

import base64
import string
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

LOWER: Final = string.ascii_lowercase
UPPER: Final = string.ascii_uppercase
DIGITS: Final = string.digits
LETTERS: Final = string.ascii_letters
WORD: Final = LETTERS + DIGITS
WIDE: Final = WORD + "-_"
HEX: Final = "0123456789abcdef"
BASE64: Final = WORD + "+/"

Maker = Callable[[Random], str]
Sentence = Callable[[Random], str]


class Case(NamedTuple):
    """A text, and the secret in it with its kind, if there is one."""

    text: str
    secret: str = ""
    kind: str = ""


def lines_of(file: str) -> list[str]:
    """Return the lines of one of the files in `sets`."""
    return (Path(__file__).parent / "sets" / file).read_text(encoding="utf-8").splitlines()


def drawn(random: Random, alphabet: str, length: int) -> str:
    """Return characters of an alphabet; no two texts of a set are the same."""
    return "".join(random.choices(alphabet, k=length))


def token(prefix: str, alphabet: str = WORD, length: int = 40) -> Maker:
    """Return a maker of tokens: a prefix and random characters."""
    return lambda random: prefix + drawn(random, alphabet, length)


def mixed(random: Random, length: int) -> str:
    """Return a password with capitals, small letters, digits and a sign."""
    middle = drawn(random, WORD, length - 4)
    return drawn(random, UPPER, 1) + middle[:3] + random.choice("!@#%^&*") + middle[3:] + "7k"


def web_token(random: Random) -> str:
    """Return a signed JSON web token."""
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"%d"}' % random.randrange(10**9)).decode().rstrip("=")
    return f"{head}.{body}.{drawn(random, WIDE, 43)}"
