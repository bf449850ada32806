"""What the end of a turn reports as done: its first words, and the points that follow."""

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from pmem.core.extraction.cues import DONE
from pmem.core.extraction.phrases import phrase_at
from pmem.core.text.blocks import prose_lines
from pmem.core.text.sentences import MOST, ParsedSentence, sentences

_READ: Final = 2000  # characters from which its lines are taken
_LOOKED_AT: Final = 3  # sentences in which the work is named
_BEFORE: Final = frozenset("been is are was were now successfully i we have has just".split())
_SPEAKERS: Final = frozenset("i we you now".split())
_SUMMED_UP: Final = """
summary of|final summary|what was changed|what changed|what i built|what i did|what was done
"""
_ANNOUNCED: Final = "let me|let us|i will|i need to|i am going to|would you"


def outcome(text: str) -> str | None:
    """Return what a message says was done: a piece of it, no longer than a memory should be.

    A message that goes on to do something ("Let me ...", "Now the tests:") tells no outcome.
    """
    text = text[:MOST].rstrip()
    if text.endswith(":"):
        return None
    first = list(islice(sentences(text), _LOOKED_AT))
    telling = next((one for one in first if says_done(one)), None)
    if telling is None or any(_announces(sentence.words) for sentence in first):
        return None
    begin = text.find(telling.text)
    told = "\n".join(filter(None, map(_bare, prose_lines(text[begin : begin + _READ]))))
    return cut_to_memory(_summing_up().sub(r"\1", told).replace("\n", " "))


def _bare(line: str) -> str:
    """A line without marks of bold text and lists; the number of a point is in brackets."""
    return _number().sub(r"(\1) ", _code_or_bold().sub(r"\1\2", line).lstrip(" #*-•"))


def says_done(sentence: ParsedSentence) -> bool:
    """Tell whether a sentence says that something was done."""
    words = sentence.words
    if sentence.asked or not words:
        return False
    if sums_up(words) or ("now" in words[2:] and words[0] not in _SPEAKERS):
        return True
    return any(
        word in DONE and (place == 0 or words[place - 1] in _BEFORE)
        for place, word in enumerate(words)
    )


def sums_up(words: list[str]) -> bool:
    """Tell whether a sentence only says that a summary follows: "Here's what changed"."""
    return _has(words, _SUMMED_UP)


def _announces(words: list[str]) -> bool:
    summing = "summarize" in words or "summarise" in words
    return not summing and _has(words, _ANNOUNCED)


def _has(words: list[str], phrases: str) -> bool:
    return any(phrase_at(words, place, phrases) for place in range(len(words)))


def cut_to_memory(text: str) -> str:
    """Return as much of a text as a memory may hold, up to the end of a sentence or word."""
    from pmem.core.style_rules import MOST_CHARACTERS, MOST_SENTENCES

    ends = [match.end() for match in _end().finditer(text, 0, MOST_CHARACTERS)][:MOST_SENTENCES]
    if len(ends) < MOST_SENTENCES:
        if len(text) <= MOST_CHARACTERS:
            return text
        if not ends or ends[-1] <= MOST_CHARACTERS // 2:
            ends = [max(0, text.rfind(" ", 0, MOST_CHARACTERS)) or MOST_CHARACTERS]
    return text[: ends[-1]].rstrip(" ,;:-–—(")


@lru_cache(maxsize=1)
def _end() -> re.Pattern[str]:
    return re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s)")


@lru_cache(maxsize=1)
def _summing_up() -> re.Pattern[str]:
    """A line's end that says only that points follow, behind what was done."""
    return re.compile(r"([.!])\s+Here(?:'s|’s| is| are) [^.:!?`\n]{1,60}:(?=\n)")


@lru_cache(maxsize=1)
def _number() -> re.Pattern[str]:
    """The number of a point, which ends no sentence."""
    return re.compile(r"^(\d{1,2})[.)]\s+")


@lru_cache(maxsize=1)
def _code_or_bold() -> re.Pattern[str]:
    """Code, which stays as it is, or what stands between the marks of bold text."""
    return re.compile(r"(`[^`]*`)|\*\*((?:`[^`]*`|[^*`])+)\*\*")
