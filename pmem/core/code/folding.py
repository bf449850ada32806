"""Program text without insignificant white space, so that reformatting changes no citation.

In a free layout white space is kept, as one blank, only where it parts two words, or two signs
that would be another sign together. Where lines have a meaning, outside of the brackets of Python,
each begins with how many steps it is indented, whatever their width, and runs of blanks become
one. Literals keep every byte, of comments the words count. The comma that formatters add goes: one
before a closing bracket in another line.
"""

import re
from hashlib import blake2b
from itertools import accumulate
from typing import Final, NamedTuple

from pmem.core.code.languages import Language, Layout, Stretch, pieces

MOST_BYTES: Final = 256 * 1024
"""Of a longer text no folded digest is taken."""
_PRIME: Final = (1 << 61) - 1
_LENGTH_DIGITS: Final = 8
_SUM_DIGITS: Final = 16
_HASH_BYTES: Final = 12
_TAB: Final = 8
_LEFT_OUT: Final = b" \t\r\n\f\v,\\()"
"""Bytes that may differ between two formats; without them texts are compared first."""
_TOKEN: Final = re.compile(rb"(?:\s|\\\r?\n)+|[\w$\x80-\xff]+|.", re.DOTALL)
_OPENING: Final = (b"(", b"[", b"{")
_CLOSING: Final = (b")", b"]", b"}")
_WORD_OR_QUOTE: Final = re.compile(rb"[\w$\x80-\xff\"'`]")
_APART: Final = frozenset({b"++", b"--", b"&&", b"||", b"<-", b"//", b"/*"})
"""Two signs that are another one without the blank between them."""
_STAYS_ON_LINE: Final = frozenset({b"return", b"throw", b"break", b"continue", b"yield"})
"""Words after which a line end is the statement's in some languages without need for a sign."""
_MOST_ENDS: Final = 4
"""A text may end before or after so many lines that hold brackets alone."""


class Bare(NamedTuple):
    """What a text has without all that may differ between formats: its length, and a checksum."""

    length: int
    checksum: int


class FoldedLines:
    """Sums over the lines of a file, to find where a folded text may stand whatever its lines."""

    def __init__(self, lines: list[bytes]) -> None:
        bare = [line.translate(None, _LEFT_OUT) for line in lines]
        self._ends = list(accumulate(map(len, bare), initial=0))
        self._sums = [0]
        for line in bare:
            self._sums.append(_appended(self._sums[-1], line))

    def places(self, wanted: Bare) -> list[tuple[int, int]]:
        """Return the stretches of whole lines with such a text, counted from one.

        Behind the last line others follow that have nothing but brackets: with each of them it is
        another stretch.
        """
        if wanted.length <= 0 or wanted.length > self._ends[-1]:
            return []
        first_at = {end: at for at, end in reversed(list(enumerate(self._ends)))}
        shift = pow(256, wanted.length, _PRIME)
        found: list[tuple[int, int]] = []
        for at in range(len(self._ends) - 1):
            begin = self._ends[at]
            end = first_at.get(begin + wanted.length) if self._ends[at + 1] != begin else None
            if end is None:
                continue
            if (self._sums[end] - self._sums[at] * shift) % _PRIME == wanted.checksum:
                lasts = range(end, min(end + _MOST_ENDS + 1, len(self._ends)))
                found += ((at + 1, last) for last in lasts if self._ends[last] == self._ends[end])
        return found


def folded_digest(text: bytes, language: Language) -> str | None:
    """Return what recognises a text after reformatting; None where it is too long.

    Eight digits are the length of the text without anything that formats may differ in, sixteen
    its checksum (a polynomial over a prime, as in the search of Rabin and Karp), and the others
    BLAKE2b of the folded text.
    """
    if len(text) > MOST_BYTES:
        return None
    bare = text.translate(None, _LEFT_OUT)
    hash_ = blake2b(fold(text, language), digest_size=_HASH_BYTES).hexdigest()
    return f"{len(bare):0{_LENGTH_DIGITS}x}-{_appended(0, bare):0{_SUM_DIGITS}x}-{hash_}"


def bare_of(digest: str) -> Bare:
    """Return the parts of a folded digest that places are found by; of another text none fits."""
    length, checksum, _ = (*digest.split("-", 2), "", "")[:3]
    try:
        return Bare(int(length, 16), int(checksum, 16))
    except ValueError:
        return Bare(-1, -1)


def fold(text: bytes, language: Language) -> bytes:
    """Return a text, in UTF-8 or anything like it, without the white space that means nothing."""
    folding = _Folding(language.layout, text)
    for kind, start, end in pieces(text, language.literals):
        if kind is Stretch.CODE:
            for found in _TOKEN.finditer(text, start, end):
                folding.take(found.group())
        elif kind is Stretch.STRING:
            folding.put(text[start:end])
        else:
            folding.put_comment(b" ".join(text[start:end].split()))
    return b"".join(folding.parts)


def indentation(line: bytes) -> int:
    """Return how many columns of white space a line begins with; a tab leads to the next eighth."""
    white = line[: len(line) - len(line.lstrip(b" \t"))]
    return len(white.expandtabs(_TAB))


class _Folding:
    """Takes the tokens of a text and keeps what means something."""

    def __init__(self, layout: Layout, text: bytes) -> None:
        self.parts: list[bytes] = []
        self._layout = layout
        self._widths = [indentation(text)]
        self._floor = 0
        self._depth = 0
        self._last = self._white = b""
        self._ends_line = False

    def take(self, token: bytes) -> None:
        """Take a token of code."""
        if token[:1].isspace() or (len(token) > 1 and token[:1] == b"\\"):
            self._white += token
            return
        is_broken = b"\n" in self._white and self._layout is not Layout.LINES
        if token in _CLOSING and self.parts[-1:] == [b","] and is_broken:
            self.parts.pop()
        self.put(token)
        self._depth = max(0, self._depth + (token in _OPENING) - (token in _CLOSING))

    def put(self, token: bytes) -> None:
        """Add a token, with what is left of the white space before it."""
        self.parts.append(self._between(token) + token)
        self._last, self._white, self._ends_line = token, b"", False

    def put_comment(self, words: bytes) -> None:
        """Add a comment; where lines mean nothing it has one of its own."""
        if self._layout is Layout.LINES:
            self.put(words)
        else:
            self.parts.append(b"\n" + words)
            self._ends_line = True

    def _between(self, token: bytes) -> bytes:
        if not self.parts:
            return b""
        has_line_end = b"\n" in self._white.replace(b"\\\r\n", b"").replace(b"\\\n", b"")
        is_in_brackets = self._layout is Layout.INDENTED and self._depth > 0
        if has_line_end and self._layout is not Layout.FREE and not is_in_brackets:
            lines = self._white.split(b"\n")
            blank = b"\n" if self._layout is Layout.LINES and len(lines) > 2 else b""
            return b"%b\n%d:" % (blank, self._step(indentation(lines[-1])))
        if self._layout is Layout.LINES:
            return self._white and b" "
        if self._ends_line or (has_line_end and self._last in _STAYS_ON_LINE):
            return b"\n"
        last = self._last[-1:]
        are_words = _WORD_OR_QUOTE.match(last) and _WORD_OR_QUOTE.match(token)
        return b" " if self._white and (are_words or last + token in _APART) else b""

    def _step(self, width: int) -> int:
        """Count how many steps a line is indented, relative to the first one."""
        widths = self._widths
        while len(widths) > 1 and width < widths[-1]:
            widths.pop()
        if width > widths[-1]:
            widths.append(width)
        elif width < widths[0]:
            widths[0] = width
            self._floor -= 1
        return self._floor + len(widths) - 1


def _appended(checksum: int, text: bytes) -> int:
    """Return the checksum of a text to which another one is appended."""
    shift = pow(256, len(text), _PRIME)
    return (checksum * shift + int.from_bytes(text, "big")) % _PRIME
