"""What the last words of a turn say was done: how they begin, with the points that follow."""

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from pmem.core.extraction.cues import DONE
from pmem.core.text.blocks import prose_lines
from pmem.core.text.sentences import MOST, ParsedSentence, sentences

LONGEST: Final = 400  # characters of an outcome
_READ: Final = 2000  # characters from which its lines are taken
_LOOKED_AT: Final = 3  # sentences in which the work is named
_SHORTEST: Final = 4  # words of a sentence that names it
_BEFORE: Final = frozenset("been is are was were now successfully i we have has just".split())
_SPEAKERS: Final = frozenset("i we you now".split())
_PASSED: Final = frozenset(("pass", "passes", "passing"))
_SUMMED_UP: Final = (
    ("summary", "of"), ("final", "summary"), ("what", "was", "changed"), ("what", "changed"),
    ("what", "i", "built"), ("what", "i", "did"), ("what", "was", "done"),
)  # fmt: skip
_ANNOUNCED: Final = (
    ("let", "me"), ("let", "us"), ("i", "will"), ("i", "need", "to"),
    ("not", "actually"), ("i", "am", "going", "to"), ("would", "you"), ("it", "appears"),
    ("not", "applied"),
)  # fmt: skip


def outcome(text: str) -> str | None:
    """Return what a message says was done: a piece of it, of at most 400 characters.

    A message that goes on to do something ("Let me ...", "Now the tests:") tells no outcome.

    Args:
        text: What an assistant said.
    """
    text = text[:MOST].rstrip()
    if text.endswith(":"):
        return None
    first = list(islice(sentences(text), _LOOKED_AT))
    telling = next((one for one in first if says_done(one)), None)
    if telling is None or any(_announces(sentence.words) for sentence in first):
        return None
    begin = text.find(telling.text)
    lines = (line.lstrip(" #*-•") for line in prose_lines(text[begin : begin + _READ]))
    return _cut(" ".join(filter(None, lines)))


def says_done(sentence: ParsedSentence) -> bool:
    """Tell whether a sentence says that something was done.

    Args:
        sentence: The sentence.
    """
    words = sentence.words
    if sentence.asked or not words:
        return False
    if len(words) < _SHORTEST:
        return words[0] in DONE
    if sums_up(words):
        return True
    if "now" in words[2:] and words[0] not in _SPEAKERS and _PASSED.isdisjoint(words):
        return True
    return any(
        word in DONE and (place == 0 or words[place - 1] in _BEFORE)
        for place, word in enumerate(words)
    )


def sums_up(words: list[str]) -> bool:
    """Tell whether a sentence only says that a summary follows: "Here's what changed".

    Args:
        words: Its words.
    """
    return any(_has(words, phrase) for phrase in _SUMMED_UP)


def _announces(words: list[str]) -> bool:
    summing = "summarize" in words or "summarise" in words
    return not summing and any(_has(words, phrase) for phrase in _ANNOUNCED)


def _has(words: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(words[i : i + size]) == phrase for i in range(len(words) - size + 1))


def _cut(text: str) -> str:
    """The beginning of a text, cut at the end of a sentence, else of a word."""
    if len(text) <= LONGEST:
        return text
    ends = [match.end() for match in _end().finditer(text, 0, LONGEST)]
    end = ends[-1] if ends and ends[-1] > LONGEST // 2 else text.rfind(" ", 0, LONGEST)
    return text[: end if end > 0 else LONGEST].rstrip(" ,;:-–—(")


@lru_cache(maxsize=1)
def _end() -> re.Pattern[str]:
    return re.compile(r"[.!?](?=\s)")
