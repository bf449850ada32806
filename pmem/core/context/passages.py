"""The passages of a long message that answer a question, with marks for what is left out.

A passage is a line, or some sentences of a long one. They stand as they were said, in their order.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate
from math import log
from typing import Final, NamedTuple

from pmem.core.text.commands import command_line, shown_of_tools, tool_outcome
from pmem.core.text.speech import TOOLS, Speech, speech_of
from pmem.core.text.terms import terms
from pmem.values.records import Message

LEAST_SAID: Final = 1200
"""So many characters of what somebody said may be shown, whatever the budget."""
OVERHEAD: Final = 300
"""Tokens that headings and standing memories take."""
SAID_SHARE: Final = 1.75
"""For each token of the rest so many characters may be shown, somewhat less than half of it."""
LONGEST_PASSAGE: Final = 200
"""Characters of a passage; a longer line is divided, at a sentence's end if it has one."""
LOOKED_AT: Final = 40_000
"""Characters that are looked at: one half at the message's beginning, one at its end."""

_PASSAGE = re.compile(
    rf"[^\n]{{1,{LONGEST_PASSAGE}}}(?:\n+|\Z)|[^\n]{{1,{LONGEST_PASSAGE - 1}}}[.!?;](?=[ \t])"
    rf"|[^\n]{{1,{LONGEST_PASSAGE}}}|\n+"
)
_TOOL = re.compile(r"\A[\w.-]{1,40}: ")


class _Passage(NamedTuple):
    """A passage: where it begins and ends in its message, and how much speaks for it."""

    start: int
    end: int
    is_told: bool
    weight: float


def shown_characters(message: Message, budget: int) -> int:
    """Return how many characters of a recalled message a context of some tokens may show."""
    if speech_of(message) in TOOLS:
        return shown_of_tools(budget)
    return max(LEAST_SAID, int((budget - OVERHEAD) * SAID_SHARE))


def matching_passages(message: Message, wanted: Collection[str], most: int) -> str:
    """Return a message as it is, or of a longer one the passages that answer.

    The first passage stands always, then of a tool what ran or what went wrong, then those
    with most of the terms, rare ones of the message first. What room that leaves is filled
    from the beginning, but for tools.
    """
    text = message.content
    if len(text) <= most:
        return text
    passages = _passages(message, frozenset(wanted))
    fills = speech_of(message) not in TOOLS
    order = sorted(
        range(len(passages)),
        key=lambda place: (place > 0, not passages[place].is_told, -passages[place].weight, place),
    )
    wanting = [
        passages[place]
        for place in order
        if fills or place == 0 or passages[place].is_told or passages[place].weight
    ]
    ends = accumulate(passage.end - passage.start for passage in wanting)
    kept = [passage for passage, end in zip(wanting, ends, strict=True) if end <= most]
    return _with_marks(text, sorted(kept or wanting[:1]))


def _passages(message: Message, wanted: frozenset[str]) -> list[_Passage]:
    text = message.content
    half = LOOKED_AT // 2
    spans = (
        [(0, len(text))] if len(text) <= LOOKED_AT else [(0, half), (len(text) - half, len(text))]
    )
    found = [match.span() for span in spans for match in _PASSAGE.finditer(text, *span)]
    held = [wanted.intersection(terms(text[start:end])) for start, end in found]
    having = Counter(term for each in held for term in each)
    lines = _lines_worth_a_look(message)
    return [
        _Passage(
            start,
            end,
            any(line in " ".join(text[start:end].split()) for line in lines),
            sum(log(1 + len(found) / having[term]) for term in sorted(each)),
        )
        for (start, end), each in zip(found, held, strict=True)
    ]


def _lines_worth_a_look(message: Message) -> Sequence[str]:
    """Return what a tool's message is worth a look for: the command, or the lines of errors."""
    speech = speech_of(message)
    if speech is Speech.CALL:
        told: tuple[str, ...] = (_TOOL.sub("", command_line(message), 1),)
    else:
        told = tool_outcome(message).errors if speech is Speech.RESULT else ()
    return [line.rstrip("…") for line in told if line]


def _with_marks(text: str, kept: Sequence[_Passage]) -> str:
    """Return passages of a text, and between them how many characters are left out."""
    parts: list[str] = []
    at = 0
    for passage in kept:
        if passage.start > at:
            parts.append(_mark(text[at : passage.start]))
        parts.append(text[passage.start : passage.end])
        at = passage.end
    if at < len(text):
        parts.append(_mark(text[at:]))
    return "".join(parts).rstrip("\n")


def _mark(gap: str) -> str:
    """Return what stands for a gap: a mark, or the gap itself where that is no longer."""
    mark = f"[... {len(gap):,} characters left out]\n"
    return mark if gap.strip() and len(gap) > len(mark) else gap
