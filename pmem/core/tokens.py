"""How many tokens a text costs a model: a quick estimate, or the exact count of a vocabulary.

What a record keeps is the estimate as it is. What is held to a budget is counted exactly where a
vocabulary is at hand, and with a reserve on top of the estimate where none is.

The estimate gives every character one of 29 classes and adds up what each pair of neighbouring
classes costs. The costs were fitted to exact counts by non-negative least squares; see
`docs/tokens.md` for how far the sum lies from the truth. A text is read as if a line break stood
before it, so texts that meet at a line break cost, before rounding up, what they cost apart.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

from pmem.errors import InvalidValue
from pmem.values.patterns import lazily

Tokenizer = Literal["auto", "estimate", "o200k_base", "cl100k_base"]
PREFERRED: Final[Tokenizer] = "o200k_base"
"""The vocabulary that budgets are counted by where nothing else is said."""

_SCALE: Final = 100  # the unit of every cost below: a hundredth of a token
_FIRST: Final = "\n"  # the class that stands before every text

# The class of a character: its kind for ASCII, the script that its first byte begins otherwise
_ASCII: Final = {
    "a": "aeiouy",
    "b": "bcdfghlmnprst",
    "z": "jkqvwxz",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0": "0123456789",
    " ": " ",
    "\n": "\n",
    "\t": "\t\r",
    ".": ".,",
    ":": ":;!?",
    "(": "([{<",
    ")": ")]}>",
    '"': '"`',
    "'": "'",
    "-": "-",
    "_": "_",
    "/": "/\\",
}
_REST: Final = "="  # other ASCII signs
_SCRIPTS: Final = {
    "e": range(0xC2, 0xCE),  # accented Latin
    "g": range(0xCE, 0xD0),  # Greek
    "r": range(0xD0, 0xD4),  # Cyrillic
    "m": range(0xD4, 0xE0),  # Armenian, Hebrew, Arabic
    "i": range(0xE0, 0xE2),  # the scripts of India, Thai, Georgian
    "p": range(0xE2, 0xE3),  # typographic signs
    "k": range(0xE3, 0xE4),  # kana
    "h": range(0xE4, 0xEA),  # Han
    "o": range(0xEA, 0xEE),  # Hangul
    "f": range(0xEE, 0xF0),  # full width
    "x": range(0xF0, 0xF8),  # emoji
}
_FOLLOWING: Final = bytes(range(0x80, 0xC0))  # the bytes of a character after its first

# What an ASCII character costs (the column) after another character (the row). Accented letters
# have a row; the other alphabets share "r", Han and kana "h", signs and emoji "p".
_COLUMNS: Final = "abzA0 \n\t.:()\"'-_/="
_ROWS: Final = {
    "a": "7 2 21 56 142 24 84 50 40 11 20 38 4 2 2 16 126 39",
    "b": "7 12 36 54 114 3 114 2 41 3 19 48 3 34 32 53 89 91",
    "z": "2 2 7 111 97 2 102 50 48 54 48 20 30 98 65 35 51 220",
    "A": "25 36 132 7 138 2 101 197 2 73 105 130 3 20 80 2 55 207",
    "0": "59 116 125 143 135 9 132 44 104 75 2 55 21 84 27 3 166 80",
    " ": "74 70 81 82 220 1 220 46 42 18 89 28 84 109 100 154 157 92",
    "\n": "78 88 104 56 90 63 7 44 2 100 75 2 39 68 2 72 2 12",
    "\t": "2 28 54 48 117 2 48 36 129 15 2 178 137 50 209 220 51 140",
    ".": "33 98 5 125 90 39 70 135 21 2 33 175 51 2 2 80 2 71",
    ":": "186 153 108 15 95 80 21 208 220 96 136 220 41 41 2 69 100 2",
    "(": "83 100 126 70 90 2 2 74 2 2 63 2 2 2 220 125 102 143",
    ")": "112 147 43 2 90 48 75 2 2 21 24 7 77 74 2 28 123 79",
    '"': "79 106 156 26 154 99 117 33 45 34 38 11 7 2 106 109 2 19",
    "'": "130 2 23 85 90 132 98 50 73 62 2 2 89 56 2 2 2 2",
    "-": "108 125 127 167 197 2 122 50 8 44 63 53 119 220 7 21 167 55",
    "_": "28 59 79 82 163 92 66 50 73 103 2 74 31 2 2 7 128 57",
    "/": "15 34 2 29 142 2 2 50 100 54 74 185 18 2 2 2 9 2",
    "=": "58 77 2 140 113 34 7 154 56 40 2 2 2 136 173 165 2 7",
    "e": "2 41 149 220 220 145 220 50 2 220 42 129 50 77 2 45 50 146",
    "r": "2 2 78 64 220 2 220 50 2 211 2 178 35 203 154 220 220 46",
    "h": "2 193 220 109 220 2 2 50 220 220 2 90 55 113 220 50 126 180",
    "p": "2 2 172 2 220 67 89 50 89 159 162 220 71 124 123 50 136 198",
}
_SHARED_ROWS: Final = {"r": "grmio", "h": "hk", "p": "pfx"}

# What any other character costs, and how much more after one of another class
_OTHERS: Final = {
    "e": (30, 37), "g": (35, 3), "r": (15, 62), "m": (26, 0), "i": (25, 19), "o": (50, 63),
    "h": (50, 0), "k": (35, 0), "p": (113, 0), "f": (50, 0), "x": (151, 3),
}  # fmt: skip
_PAIRS: Final = {"kh": 115, "hf": 211, "kf": 220, "px": 109, "pp": 204, "hp": 84, "ep": 53}

# What a run of one class costs on top: consonants and capitals in a row spell rare words
_ASCII_RUNS: Final = ((b"bbbb", 68), (b"zz", 143), (b"AAAA", 35))
_OTHER_RUNS: Final = (
    (b"ooo", 30), (b"rrrrr", 26), (b"hhh", 48), (b"kkk", 94), (b"iiii", 70), (b"mmmm", 69),
    (b"gggg", 24),
)  # fmt: skip


# What a budget keeps on top of the estimate: of all, in percent, and for each character of a script
# in which languages, or everyday words and those of manuals, differ most
_RESERVE: Final = 12
_RESERVES: Final = (
    (b"e", 50), (b"h", 20), (b"o", 15), (b"r", 10), (b"g", 8), (b"k", 8), (b"m", 7), (b"i", 3),
)  # fmt: skip


class BudgetCounter(NamedTuple):
    """What holds a text to a budget: a count that is no lower than a model's, and whose it is."""

    count: Callable[[str], int]
    name: str


Kept = Callable[[str, Collection[str], Callable[[str], int]], Mapping[str, int]]
"""Returns by piece how many tokens a vocabulary counts in it, from what is kept where it can: the
vocabulary's name, the pieces, and what counts one."""
_SEAM: Final = lazily(r"(?<=\S)(?= )")
"""Where every vocabulary takes a text apart, whatever stands around: before a space."""
_MOST_KNOWN: Final = 100_000
_DIGITS: Final = 3
"""So many digits are one token in every vocabulary."""


class _PieceCounter:
    """Counts a text as the sum of its pieces, each of which is counted once."""

    def __init__(self, name: str, count: Callable[[str], int], kept: Kept) -> None:
        self._name, self._count, self._kept = name, count, kept
        self._known = _known(name)

    def __call__(self, text: str) -> int:
        known, pieces = self._known, _SEAM.split(text)
        if len(known) > _MOST_KNOWN:
            known.clear()
        new = {piece for piece in pieces if piece not in known}
        for piece in new:
            digits = piece.removeprefix(" ")
            if digits.isdecimal() and digits.isascii():
                known[piece] = len(piece) - len(digits) - -len(digits) // _DIGITS
        new -= known.keys()
        if new:
            known.update(self._kept(self._name, new, self._count))
        return sum(map(known.__getitem__, pieces))


@cache
def _known(name: str) -> dict[str, int]:  # noqa: ARG001 - one for each vocabulary
    """Return what this process knows of pieces, to be added to."""
    return {}


def counter(name: Tokenizer) -> Callable[[str], int]:
    """Return what counts the tokens of a text that is kept.

    `auto` is `estimate` here, so that a record has the same count in every clone.

    Raises:
        InvalidValue: There is no tokenizer of that name, or its library is not installed.
    """
    if name in ("auto", "estimate"):
        return count_tokens
    if name not in ("o200k_base", "cl100k_base"):
        raise InvalidValue(
            f"there is no tokenizer {name!r}", "try auto, estimate, o200k_base or cl100k_base"
        )
    return _exact(name)


def budget_counter(name: Tokenizer, kept: Kept | None = None) -> BudgetCounter:
    """Return what counts a text that must keep a budget.

    `auto` counts by `PREFERRED` where its library is installed, and estimates elsewhere. Where
    counts are `kept`, a vocabulary is loaded for what they do not have.

    Raises:
        InvalidValue: As from `counter`.
    """
    chosen = PREFERRED if name == "auto" else name
    try:
        count = counter(chosen)
    except InvalidValue:
        if name != "auto":
            raise
        chosen = "estimate"
    if chosen == "estimate":
        return BudgetCounter(count_with_reserve, chosen)
    return BudgetCounter(count if kept is None else _PieceCounter(chosen, count, kept), chosen)


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text, without any vocabulary and in linear time.

    What is appended to a text never lowers its estimate.
    """
    return -(-_cost(_shape(text), text.isascii()) // _SCALE) if text else 0


def count_with_reserve(text: str) -> int:
    """Estimate how many tokens a text has at the most, in linear time.

    Of real contexts of many kinds fewer than one in a thousand has more; a short text can.
    """
    shape = _shape(text)
    total = _cost(shape, text.isascii()) if text else 0
    if not text.isascii():
        total += sum(extra * shape.count(script) for script, extra in _RESERVES)
    return -(-total * (100 + _RESERVE) // (100 * _SCALE))


def _cost(shape: bytes, is_ascii: bool) -> int:
    """Add up what the characters of a text cost, in hundredths of a token."""
    cost = _pair_cost()
    pairs = zip(shape, shape[1:], strict=False)  # noqa: RUF007 - pairwise takes half as long again
    total = sum(map(cost.__getitem__, pairs))
    for run, extra in _ASCII_RUNS if is_ascii else _ASCII_RUNS + _OTHER_RUNS:
        total += extra * shape.count(run)
    return total


def _shape(text: str) -> bytes:
    """Return the classes of a text, a byte a character; up to three digits are one token."""
    encoded = (_FIRST + text).encode("utf-8", "surrogatepass")
    classes = encoded.translate(_class_of_byte(), b"" if text.isascii() else _FOLLOWING)
    return classes.replace(b"000", b"0").replace(b"00", b"0")


@cache
def _class_of_byte() -> bytes:
    """Return the class of each byte that begins a character."""
    table = bytearray(_REST.encode() * 256)
    for name, signs in _ASCII.items():
        for sign in signs:
            table[ord(sign)] = ord(name)
    for name, leads in _SCRIPTS.items():
        for lead in leads:
            table[lead] = ord(name)
    return bytes(table)


@cache
def _pair_cost() -> dict[tuple[int, int], int]:
    """Return what the second of two neighbouring classes costs, for every pair of classes."""
    shared = {name: row for row, names in _SHARED_ROWS.items() for name in names}
    costs: dict[tuple[int, int], int] = {}
    for before in (*_COLUMNS, *_SCRIPTS):
        row = _ROWS[shared.get(before, before)].split()
        for after, cost in zip(_COLUMNS, row, strict=True):
            costs[ord(before), ord(after)] = int(cost)
        for after, (alone, more) in _OTHERS.items():
            extra = _PAIRS.get(before + after, 0) + more * (before != after)
            costs[ord(before), ord(after)] = alone + extra
    return costs


def _exact(name: str) -> Callable[[str], int]:
    """Find a vocabulary in the library that has it inside, to be loaded at the first text."""
    from importlib import import_module

    try:
        load = cache(getattr(import_module("rs_bpe.bpe").openai, name))
    except ImportError as error:
        raise InvalidValue(
            f"the tokenizer {name} needs a library that is not installed",
            "run `pip install 'pmem-cli[tokens]'` (it has Python 3.11 to 3.13), or choose estimate",
        ) from error

    def exact(text: str) -> int:
        count = load().count
        try:
            found: int = count(text)
        except UnicodeEncodeError:  # a lone surrogate, which no file holds: U+FFFD stands for it
            found = count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        return found

    return exact
