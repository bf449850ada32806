"""Program text without the white space that means nothing, so that reformatting changes nothing.

What is folded depends on the layout of the language. In a free one white space is kept, as one
blank, only where it parts two words, or two signs that would be another sign together. Where
indentation has a meaning, outside of brackets, each line begins with how many steps it is
indented, whatever their width. Everywhere else lines stay, and runs of blanks become one. Literals
keep every byte; of comments, and of what documents a function of Python, the words count. What
formatters add where they break lines goes: a comma before a closing bracket, unless it makes a
tuple, and brackets around all that is returned, assigned or asked.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Final, NamedTuple

from pmem.core.code.languages import Language, Layout
from pmem.core.code.literals import Stretch, pieces

MOST_BYTES: Final = 256 * 1024
"""Of a longer text no folded digest is taken."""

_PRIME: Final = (1 << 61) - 1
_LENGTH_DIGITS: Final = 8
_SUM_DIGITS: Final = 16
_HASH_BYTES: Final = 12
_TAB: Final = 8
_LEFT_OUT: Final = b" \t\r\n\f\v,\\()"
"""Bytes that folding may leave out; without them texts are compared first."""
_TOKEN: Final = re.compile(rb"(?:\s|\\\r?\n)+|[\w$\x80-\xff]+|.", re.DOTALL)
_OPENING: Final = b"([{"
_CLOSING: Final = b")]}"
_WORD: Final = re.compile(rb"[\w$\x80-\xff]")
_APART: Final = frozenset({b"++", b"--", b"&&", b"||", b"<-", b"//", b"/*"})
"""Two signs that are another one without the blank between them."""
_STAYS_ON_LINE: Final = frozenset({b"return", b"throw", b"break", b"continue", b"yield"})
"""Words after which a line end is the statement's in some languages without need for a sign."""
_NO_CALL: Final = frozenset(
    b"return yield in and or not if elif else assert await for while with del is raise match case"
    b" import from lambda print throw new".split()
)
"""Words that take what stands in brackets as a value: `return (a,)` is a tuple."""
_GIVES: Final = frozenset({b"return", b"yield", b"="})
_ASKS: Final = frozenset({b"if", b"elif", b"while", b"with"})
_COMPARES: Final = frozenset({b"=", b"<", b">", b"!"})
_TRIPLE: Final = (b'"""', b"'''")
_MOST_ENDS: Final = 4
"""A text may end before or after so many lines that hold brackets alone."""


class Bare(NamedTuple):
    """What a text has without all that folding may leave out: its length, and a checksum."""

    length: int
    checksum: int


class FoldedLines:
    """Sums over the lines of a file, to find where a folded text may stand whatever its lines.

    Args:
        lines: The lines, without line ends.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self._has_text = [bool(line) for line in lines]
        bare = [line.translate(None, _LEFT_OUT) for line in lines]
        self._ends = list(accumulate(map(len, bare), initial=0))
        self._sums = [0]
        for line in bare:
            self._sums.append(_appended(self._sums[-1], line))

    def places(self, wanted: Bare) -> list[tuple[int, int]]:
        """Return the stretches of whole lines with such a text, counted from one.

        Args:
            wanted: The text's; an empty one stands nowhere.
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
                found += ((at + 1, last) for last in self._lasts(end))
        return found

    def _lasts(self, end: int) -> Iterator[int]:
        """Yield the last lines that a text may have which has all but brackets in so many."""
        yield end
        for at in range(end, min(end + _MOST_ENDS, len(self._has_text))):
            if self._ends[at + 1] != self._ends[at]:
                return
            if self._has_text[at]:
                yield at + 1


def folded_digest(text: bytes, language: Language) -> str | None:
    """Return what recognises a text after reformatting; None where it is too long.

    Eight digits are the length of the text without anything that folding may leave out, sixteen
    its checksum (a polynomial over a prime, as in the search of Rabin and Karp), and the others
    BLAKE2b of the folded text.

    Args:
        text: The text.
        language: How it is written.
    """
    if len(text) > MOST_BYTES:
        return None
    bare = text.translate(None, _LEFT_OUT)
    hash_ = blake2b(fold(text, language), digest_size=_HASH_BYTES).hexdigest()
    return f"{len(bare):0{_LENGTH_DIGITS}x}-{_appended(0, bare):0{_SUM_DIGITS}x}-{hash_}"


def bare_of(digest: str) -> Bare:
    """Return the parts of a folded digest that places are found by; of another text none fits.

    Args:
        digest: The digest.
    """
    length, checksum, _ = (*digest.split("-", 2), "", "")[:3]
    try:
        return Bare(int(length, 16), int(checksum, 16))
    except ValueError:
        return Bare(-1, -1)


def fold(text: bytes, language: Language) -> bytes:
    """Return a text without the white space that means nothing.

    Args:
        text: The text, in UTF-8 or anything like it.
        language: How it is written.
    """
    folding = _Folding(language.layout, text)
    for kind, start, end in pieces(text, language.literals):
        if kind is Stretch.CODE:
            folding.take_code(text, start, end)
        elif kind is Stretch.STRING:
            folding.take_string(text[start:end])
        else:
            folding.take_comment(text[start:end])
    return folding.end()


def indentation(line: bytes) -> int:
    """Return how many columns of white space a line begins with; a tab leads to the next eighth.

    Args:
        line: The line.
    """
    white = line[: len(line) - len(line.lstrip(b" \t"))]
    return len(white.expandtabs(_TAB))


class _Bracket:
    """An open bracket.

    `makes_tuple` where one comma makes a tuple of what it holds, `commas` how many it has, `ends`
    the tokens before which it goes if it holds all of a statement's value, `part` where it is, and
    `end` where what closes it is.
    """

    def __init__(
        self, sign: bytes, *, makes_tuple: bool, ends: tuple[bytes, ...] = (), part: int = 0
    ) -> None:
        self.sign = sign
        self.makes_tuple = makes_tuple
        self.commas = 0
        self.ends = ends
        self.part = part
        self.end = part


class _Steps:
    """Counts how many steps each line is indented, relative to the first one."""

    def __init__(self, first: int) -> None:
        self._widths = [first]
        self._floor = 0

    def step(self, width: int) -> int:
        widths = self._widths
        while len(widths) > 1 and width < widths[-1]:
            widths.pop()
        if width > widths[-1]:
            widths.append(width)
        elif width < widths[0]:
            widths[0] = width
            self._floor -= 1
        return self._floor + len(widths) - 1


class _Folding:
    """Takes the tokens of a text and keeps what means something."""

    def __init__(self, layout: Layout, text: bytes) -> None:
        self.parts: list[bytes] = []
        self._layout = layout
        self._steps = _Steps(indentation(text))
        self._last = self._before_last = b""
        self._white = b""
        self._open: list[_Bracket] = []
        self._closed: _Bracket | None = None
        self._has_ended_line = False

    def take_code(self, text: bytes, start: int, end: int) -> None:
        for found in _TOKEN.finditer(text, start, end):
            token = found.group()
            if token[:1].isspace() or (len(token) > 1 and token[:1] == b"\\"):
                self._white += token
            elif token in _CLOSING:
                self._close(token)
            elif token in _OPENING:
                self._begin(token)
            else:
                self._put(token)
                if token == b"," and self._open:
                    self._open[-1].commas += 1

    def take_string(self, text: bytes) -> None:
        stands_alone = not self.parts or b"\n" in self._white
        is_free = self._layout is not Layout.INDENTED or bool(self._open)
        documents = stands_alone and not is_free and text[:3] in _TRIPLE
        self._put(b" ".join(text.split()) if documents else text)

    def take_comment(self, text: bytes) -> None:
        if self._layout is Layout.LINES:
            self._put(b" ".join(text.split()))
            return
        self.parts.append(b"\n" + b" ".join(text.split()))
        self._has_ended_line = True

    def end(self) -> bytes:
        self._leave_out_brackets(b"\n")
        return b"".join(self.parts)

    def _put(self, token: bytes) -> None:
        between = self._between(token)
        is_new_line = self._layout is Layout.INDENTED and between[:1] == b"\n"
        self._leave_out_brackets(b"\n" if is_new_line else token)
        self.parts.append(between + token)
        self._before_last, self._last = self._last, token
        self._white = b""
        self._has_ended_line = False

    def _begin(self, sign: bytes) -> None:
        makes_tuple, ends = _makes_tuple(sign, self._last), self._ends(sign)
        self._put(sign)
        part = len(self.parts) - 1
        self._open.append(_Bracket(sign, makes_tuple=makes_tuple, ends=ends, part=part))

    def _close(self, token: bytes) -> None:
        bracket = self._open[-1] if self._open else _Bracket(b"", makes_tuple=True)
        is_at_the_end = self._layout is not Layout.LINES and self.parts[-1:] == [b","]
        if is_at_the_end and (bracket.commas > 1 or not bracket.makes_tuple):
            self.parts.pop()
        self._put(token)
        if self._open:
            self._closed = self._open.pop()
            self._closed.end = len(self.parts) - 1

    def _ends(self, sign: bytes) -> tuple[bytes, ...]:
        """Return the tokens before which brackets are those of a formatter, if they may be."""
        is_statement = not self._open or (
            self._layout is Layout.FREE and self._open[-1].sign == b"{"
        )
        if sign != b"(" or self._layout is Layout.LINES or not is_statement:
            return ()
        if self._last in _ASKS and self._layout is Layout.INDENTED:
            return (b":",)
        is_compared = self._last == b"=" and self._before_last in _COMPARES
        if self._last not in _GIVES or is_compared:
            return ()
        return (b";", b"\n") if self._layout is Layout.INDENTED else (b";",)

    def _leave_out_brackets(self, following: bytes) -> None:
        """Leave out the brackets that were closed last, if a statement's value ends with them."""
        bracket, self._closed = self._closed, None
        if bracket is None or following not in bracket.ends or not self.parts:
            return
        start, end = bracket.part, bracket.end
        if end == start + 1:
            return
        before = self.parts[start - 1][-1:] if start else b""
        gap = b" " if _are_words(before, self.parts[start + 1][:1]) else b""
        self.parts[start] = self.parts[start][:-1] + gap
        self.parts[end] = self.parts[end][:-1]

    def _between(self, token: bytes) -> bytes:
        """Return what is left of the white space before a token."""
        if not self.parts:
            return b""
        has_line_end = b"\n" in self._white.replace(b"\\\r\n", b"").replace(b"\\\n", b"")
        if self._layout is Layout.LINES and not has_line_end:
            return self._white and b" "
        lines_count = self._layout is not Layout.FREE and not (
            self._layout is Layout.INDENTED and self._open
        )
        if has_line_end and lines_count:
            return self._new_line()
        if self._has_ended_line or (has_line_end and self._last in _STAYS_ON_LINE):
            return b"\n"
        return b" " if self._white and self._parts_words(token) else b""

    def _new_line(self) -> bytes:
        lines = self._white.split(b"\n")
        blank = b"\n" if self._layout is Layout.LINES and len(lines) > 2 else b""
        return b"%b\n%d:" % (blank, self._steps.step(indentation(lines[-1])))

    def _parts_words(self, token: bytes) -> bool:
        last, first = self._last[-1:], token[:1]
        return _are_words(last, first) or last + first in _APART


def _are_words(last: bytes, first: bytes) -> bool:
    """Tell whether two signs that meet are of two words, or of a word and a string."""
    is_word, was_word = (_WORD.match(one) or (one and one in b"\"'`") for one in (first, last))
    return bool(is_word and was_word)


def _makes_tuple(bracket: bytes, before: bytes) -> bool:
    """Tell whether a lone comma before the end would make a tuple of what stands in brackets."""
    is_after_value = bool(_WORD.match(before[-1:])) or before[-1:] in (b")", b"]", b">")
    if bracket == b"(":
        return not is_after_value or before in _NO_CALL
    return bracket == b"[" and is_after_value


def _appended(checksum: int, text: bytes) -> int:
    """Return the checksum of a text to which another one is appended."""
    shift = pow(256, len(text), _PRIME)
    return (checksum * shift + int.from_bytes(text, "big")) % _PRIME
