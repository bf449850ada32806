"""A text as its kinds are read from it: sentence by sentence, clause by clause.

Code and quoted lines speak for somebody else and are set aside. Of a very long text its
beginning and its end are read.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

HEAD: Final = 4000
TAIL: Final = 2000
"""How many characters of a long text are read at its beginning and at its end."""

_MARKS: Final = tuple('.,:;!?()*"') + tuple("，。！？、；：…")
"""What may stand at a word's edge; replacing these one by one is quicker than translating."""
_ENDS: Final = (". ", "! ", "? ", "。", "！", "？")
_PAUSES: Final = (", ", "; ", ": ", " - ", " – ", " — ", "(", ") ", "，", "；", "：")


class PlainSentence(NamedTuple):
    """A sentence in lower case, with single blanks, and its words."""

    text: str
    words: frozenset[str]


class Reading(NamedTuple):
    """A text in lower case: its prose without code and quotes, its code, its sentences."""

    prose: str
    code: str
    sentences: list[PlainSentence]


def ends(text: str) -> str:
    """Return as much of a text as is read: of a long one its beginning and its end."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def read(text: str) -> Reading:
    """Divide a text into code and sentences; of a long one only its beginning and end are read."""
    text = ends(text)
    prose, code = text.lower().replace("’", "'"), ""
    if "```" in prose:
        parts = prose.split("```")
        prose, code = "\ncode\n".join(parts[::2]), "\n".join(parts[1::2])
    if "`" in prose:
        prose = re.sub(r"`[^`\n]*`", " code ", prose)
    if ">" in prose:
        prose = re.sub(r"^[ \t]*>.*$", "quote", prose, flags=re.M)
    return Reading(prose, code, list(_sentences(prose)))


def words_of(text: str) -> list[str]:
    """Return the words of a clause without the marks at their edges."""
    return _bare(text).split()


def clauses(sentence: PlainSentence) -> list[str]:
    """Divide a sentence at its commas and brackets, and before "but"."""
    text = sentence.text.rstrip(".!。！,;:)")
    for pause in _PAUSES:
        if pause in text:
            text = text.replace(pause, "\n")
    for turn in (" but ", " however "):
        text = text.replace(turn, f"\n{turn[1:]}")
    return [clause.strip() for clause in text.split("\n") if clause.strip()]


def asks(sentence: PlainSentence) -> bool:
    """Tell whether a sentence is a question."""
    return sentence.text.endswith(("?", "？"))


def _sentences(prose: str) -> Iterator[PlainSentence]:
    for end in _ENDS:
        prose = prose.replace(end, f"{end}\n")
    lines, bare = prose.splitlines(), _bare(prose).splitlines()
    for line, words in zip(lines, bare, strict=True):
        text = " ".join(line.split()) if "  " in line or "\t" in line else line.strip()
        if text:
            yield PlainSentence(text, frozenset(words.split()))


def _bare(text: str) -> str:
    for mark in _MARKS:
        if mark in text:
            text = text.replace(mark, " ")
    return text
