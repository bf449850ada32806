"""Splitting a text into sentences, and a sentence into words: the one way for all readers.

`split_sentences` parts any prose, `sentences` a message, of which only what is its author's own
word is read (see `core.text.blocks`). Quotations, inline code and links stay in the text of a
sentence and stand in its words as one mark each, so that no rule reads into them.

Every pattern has bounded parts, so the time is linear in the text. A sentence longer than
`LONGEST` is data, and only the first `MOST` characters of a message are read.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.text.words import spelled_out
from pmem.values.patterns import lazily

LONGEST: Final = 500  # characters of a sentence
MOST: Final = 100_000  # characters of a message
QUOTE: Final = '"'
CODE: Final = "`"
LINK: Final = "://"
WRAPPED: Final = 60
"""Characters from which on a line without an end may have been broken for its length."""
_CLOSING: Final = r"(?:\*\*|[)\"”’'\]»_]|[☀-➿\U0001f300-\U0001faff]\ufe0f?){0,3}"
_END = lazily(
    rf"`[^`\n]{{1,300}}`|(?<=[^\s.!?…])([.!?…]{{1,8}}){_CLOSING}\s+|([!?]){_CLOSING}\s+"
    r"|[。！？]{1,8}[”’）】]{0,3}(?![。！？」』”’）】])\s*"
)
_NEVER_LAST = lazily(r"(?<![\w.])(?:[Dd]r|[Mm]rs?|Ms|[Pp]rof|St|e\.g|i\.e|vs|cf|[Aa]pprox)\Z")
_SELDOM_LAST = lazily(r"(?<![\w.])(?:etc|al|a\.m|p\.m|[Ii]nc|[Ll]td|[Jj]r)\Z")
_NUMBERED = lazily(r"(?<![\w.])(?:[Nn]o|[Ff]ig|[Vv]ol)\Z")
_ABBREVIATION: Final = 8
"""Characters before a full stop that tell whether it ends an abbreviation."""
_STATEMENT_END = lazily(r";\s+|；")
_MARKER = lazily(r"\s*(?:(?:[-*+•>#]{1,6}|\d{1,3}[.)])\s+|[•])")
_TOKEN = lazily(
    r"`[^`]*`|\"[^\"]*\"|“[^”]*”|https?://\S+"
    r"|\w+(?:[./@:_'’-]\w+|,\d+)*[%+#]*|[,;:()–—]|-(?= )"
)


class ParsedSentence(NamedTuple):
    """A sentence, its words and marks in lower case, and where each stands in the text.

    Contractions count as the words that they stand for ("we've" is "we have"), which then share
    one place.
    """

    text: str
    words: list[str]
    places: list[tuple[int, int]]
    asked: bool

    def capital(self, number: int) -> bool:
        """Tell whether a word begins with a capital letter."""
        return self.text[self.places[number][0]].isupper()


def sentences(text: str) -> Iterator[ParsedSentence]:
    """Yield the sentences that a message's author states or asks, parted at semicolons."""
    from pmem.core.text.blocks import prose_lines

    for sentence in _split_lines(prose_lines(text[:MOST])):
        for piece in map(str.strip, _STATEMENT_END.split(sentence)):
            if 1 < len(piece) <= LONGEST:
                yield read(piece)


def split_sentences(text: str) -> list[str]:
    """Part prose at the ends of its sentences and lines; marks of lists and headings are left out.

    A line broken only for its length goes on in the next. A semicolon ends no sentence.
    """
    return list(_split_lines(text.splitlines()))


def _split_lines(lines: Iterable[str]) -> Iterator[str]:
    for line in unwrapped(lines):
        yield from _split_line(line)


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without marks of lists and headings, those broken for their length joined.

    A long line without an end goes on where the next begins in small letters and with no mark.
    """
    held: list[str] = []
    open_ended = False
    for line in lines:
        marker = _MARKER.match(line)
        said = line[marker.end() if marker else 0 :].strip()
        goes_on = open_ended and not marker and said[:1].islower()
        if held and not goes_on:
            yield " ".join(held)
            held = []
        if said:
            held.append(said)
        open_ended = len(said) >= WRAPPED and said[-1] not in ".!?…:;。！？"
    if held:
        yield " ".join(held)


def _split_line(line: str) -> Iterator[str]:
    begin = 0
    for match in _END.finditer(line):
        if match.group()[0] != "`" and not _goes_on(line, begin, match):
            yield line[begin : match.end()].strip()
            begin = match.end()
    if begin < len(line):
        yield line[begin:].strip()


def _goes_on(line: str, begin: int, match: re.Match[str]) -> bool:
    """Tell whether a sentence goes on after a mark: after an abbreviation, or dots in between."""
    mark, follows = match.group(1), line[match.end() : match.end() + 1]
    if mark in ("…", "...", "...."):
        return follows.islower()
    if mark != "." or match.group()[1:2].strip():
        return False
    before = max(begin, match.start() - _ABBREVIATION)
    return (
        _NEVER_LAST.search(line, before, match.start()) is not None
        or (follows.islower() and _SELDOM_LAST.search(line, before, match.start()) is not None)
        or (follows.isdigit() and _NUMBERED.search(line, before, match.start()) is not None)
    )


@lru_cache(maxsize=1024)
def read(text: str) -> ParsedSentence:
    """Take one sentence apart; the same is taken apart once, so leave its lists as they are."""
    words: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        meant = normal(match.group())
        words += meant
        places += [match.span()] * len(meant)
    if "can" in words:
        words, kept = joining_cannot(words)
        places = [places[i] for i in kept]
    return ParsedSentence(text, words, places, "?" in text[-3:] or "？" in text[-3:])


def joining_cannot(words: list[str]) -> tuple[list[str], list[int]]:
    """Return words with "can not" as one word, and the place that each had before."""
    joined: list[str] = []
    places: list[int] = []
    for place, word in enumerate(words):
        if word == "not" and joined and joined[-1] == "can":
            joined[-1] = "cannot"
        else:
            joined.append(word)
            places.append(place)
    return joined, places


@lru_cache(maxsize=8192)
def normal(token: str) -> tuple[str, ...]:
    """Return a token in lower case, a contraction as the words that it stands for."""
    first = token[0]
    if first in '"“':
        return (QUOTE,)
    if first == CODE:
        return (CODE,)
    return (LINK,) if LINK in token else spelled_out(token.lower())
