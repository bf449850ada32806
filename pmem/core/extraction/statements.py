"""A message taken apart into sentences, with what is not its author's own word left out.

Fenced code, indented code, quoted lines, logs, stack traces, test output and JSON give no
sentence. Quotations, inline code and links stay in the text of a sentence and stand in its words
as one mark each, so that no rule reads into them.

Everything here looks at bounded pieces: a sentence longer than `LONGEST` is no statement but
data, and only the first `MOST` characters of a message are read.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LONGEST: Final = 500  # characters of a sentence
MOST: Final = 100_000  # characters of a message

QUOTE: Final = '"'
CODE: Final = "`"
LINK: Final = "://"

_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"”]?\s+|(?<=[。！？])|;\s")
_MARKED = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\dT?\b|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL"
    r"|TRACE|FAILED|PASSED|FAIL|PASS|npm ERR|Traceback|Caused by:|commit [0-9a-f]{4,40})\b"
    r"|[$>|{}<]|[+=-]{3}|\w*(?:Error|Exception): |File \"|at \S+\()"
)
_TOKEN = re.compile(
    r"`[^`]*`|\"[^\"]*\"|“[^”]*”|https?://\S+"
    r"|\w+(?:[./@:_'’-]\w+|,\d+)*[%+#]*|[,;:()–—]|-(?= )"
)
_ABBREVIATED: Final = re.compile(
    r"\b(?:dr|mr|ms|mrs|prof|e\.g|i\.e|vs|approx|st)\.$", re.IGNORECASE
)
_ABBREVIATION: Final = 7  # characters of the longest
_SUFFIXES: Final = (
    ("n't", "not"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"), ("'m", "am"),
)  # fmt: skip
_WHOLE: Final = {
    "let's": ("let", "us"), "can't": ("cannot",), "cant": ("cannot",), "won't": ("will", "not"),
    "dont": ("do", "not"), "didnt": ("did", "not"), "doesnt": ("does", "not"),
    "isnt": ("is", "not"), "im": ("i", "am"), "ive": ("i", "have"), "weve": ("we", "have"),
    "gonna": ("going", "to"), "wanna": ("want", "to"),
}  # fmt: skip
_WITH_IS: Final = frozenset("it that he she there what who here where how everything".split())


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
        """Tell whether a word begins with a capital letter.

        Args:
            number: The word's place in `words`.
        """
        return self.text[self.places[number][0]].isupper()


def sentences(text: str) -> Iterator[ParsedSentence]:
    """Yield the sentences that a message's author states or asks, in their order.

    Args:
        text: The content of a message.
    """
    for line in own_lines(text[:MOST]):
        for piece in _pieces(line):
            if 1 < len(piece) <= LONGEST:
                yield read(piece)


def own_lines(text: str) -> Iterator[str]:
    """Yield the lines that are prose: no code, quotation, log, trace or data.

    Args:
        text: The content of a message.
    """
    fence = ""
    for line in text.splitlines():
        start = line.lstrip()
        if fence:
            fence = "" if start.startswith(fence) else fence
        elif start.startswith(("```", "~~~")):
            fence = start[:3]
        elif start and not _is_data(line, start):
            yield start.lstrip("#*-•").lstrip()


def read(text: str) -> ParsedSentence:
    """Take one sentence apart.

    Args:
        text: A sentence, without line breaks.
    """
    words: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        word = match.group().lower()
        if word.isalnum() and word not in _WHOLE:
            words.append(word)
            places.append(match.span())
        else:
            meant = normal(word)
            words += meant
            places += [match.span()] * len(meant)
    if "can" in words:
        words, kept = joining_cannot(words)
        places = [places[i] for i in kept]
    return ParsedSentence(text, words, places, "?" in text[-3:] or "？" in text[-3:])


def joining_cannot(words: list[str]) -> tuple[list[str], list[int]]:
    """Return words with "can not" as one word, and the place that each had before.

    Args:
        words: The words of a sentence.
    """
    joined: list[str] = []
    places: list[int] = []
    for place, word in enumerate(words):
        if word == "not" and joined and joined[-1] == "can":
            joined[-1] = "cannot"
        else:
            joined.append(word)
            places.append(place)
    return joined, places


def normal(token: str) -> tuple[str, ...]:
    """Return a token in lower case, a contraction as the words that it stands for.

    Args:
        token: A word or a mark.
    """
    first = token[0]
    if first in '"“':
        return (QUOTE,)
    if first == CODE:
        return (CODE,)
    if LINK in token:
        return (LINK,)
    word = token.lower().replace("’", "'")
    if word in _WHOLE:
        return _WHOLE[word]
    return _expanded(word) if "'" in word else (word,)


def _expanded(word: str) -> tuple[str, ...]:
    for suffix, meaning in _SUFFIXES:
        if word.endswith(suffix):
            return word.removesuffix(suffix), meaning
    base = word.removesuffix("'s")
    return (base, "is") if base in _WITH_IS else (word,)


def _is_data(line: str, start: str) -> bool:
    """Tell code, quotations, logs and JSON from prose."""
    indented = line.startswith(("    ", "\t")) and not start.startswith(("-", "*", "•"))
    closing = start.rstrip().endswith(("{", "}", "};", "],", "=>", "\\"))
    return indented or closing or '":' in start or _MARKED.match(start) is not None


def _pieces(line: str) -> Iterator[str]:
    """Split a line at the ends of sentences, but not after an abbreviation."""
    begin = 0
    for match in _SENTENCE_END.finditer(line):
        end = match.start()
        if not _ABBREVIATED.search(line, max(begin, end - _ABBREVIATION), end):
            yield line[begin:end].strip()
            begin = match.end()
    yield line[begin:].strip()
