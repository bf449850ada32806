"""Messages as items of a chat, and the passages of a long one that answer a question.

A call of a tool goes with its result. A passage is a line, or some sentences of a long one.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain, count
from math import log
from typing import Final, NamedTuple

import msgspec

from pmem.core.context.parts import Item, ToolCall
from pmem.core.text.calls import Link, RecordedCall, call_links, link_ids, recorded_calls
from pmem.core.text.commands import (
    RAN,
    call_line,
    command_line,
    is_result,
    repeats_calls,
    result_text,
    shown_of_tools,
    tool_outcome,
)
from pmem.core.text.speech import TOOLS, Speech, speech_of
from pmem.core.text.terms import terms
from pmem.values.patterns import lazily
from pmem.values.records import Message, Role

UNNAMED: Final = "tool"
"""What a tool is called whose name the record does not keep."""
LONGEST_NAME: Final = 64
"""Characters of a tool's name that chat APIs take."""
_ID = lazily(r"[A-Za-z0-9_-]{1,40}")
_NO_NAME = lazily(r"[^A-Za-z0-9_-]+")


class ToolHalves(NamedTuple):
    """What of a message's calls and results is shown together with its other half.

    `calls` have their result shown, and those `alone` have not; `answers` are the ids of the calls
    that are shown and whose result the message is.
    """

    calls: tuple[ToolCall, ...]
    answers: tuple[str, ...]
    alone: tuple[RecordedCall, ...]


class _Pair(NamedTuple):
    """A call, by its message's place and its number there, and the place of its result."""

    place: int
    number: int
    result: int


def pair_tools(messages: Sequence[Message], bonds: Sequence[int | None]) -> list[ToolHalves]:
    """Pair calls with results, by id where both have one, else by order.

    A call keeps the id that the record has if APIs take it and no call before it has it; else
    one is made of the message's id.

    Returns:
        The halves of each message.
    """
    recorded = [tuple(recorded_calls(message.tool_call)) for message in messages]
    calls: list[dict[int, ToolCall]] = [{} for _ in messages]
    answers: list[list[str]] = [[] for _ in messages]
    taken: set[str] = set()
    for pair in sorted(_pairs(messages, recorded)):
        bond = bonds[pair.place]
        if bond is None or bond != bonds[pair.result]:
            continue
        known = calls[pair.place]
        if pair.number not in known:
            call = recorded[pair.place][pair.number]
            named = _free_id(call.id, messages[pair.place].id, pair.number, taken)
            name = _NO_NAME.sub("_", call.name)[:LONGEST_NAME] or UNNAMED
            known[pair.number] = ToolCall(named, name, call.arguments_json)
        answers[pair.result].append(known[pair.number].id)
    return [
        ToolHalves(
            calls=tuple(known[number] for number in sorted(known)),
            answers=tuple(answered),
            alone=tuple(call for number, call in enumerate(made) if number not in known),
        )
        for known, answered, made in zip(calls, answers, recorded, strict=True)
    ]


def _pairs(
    messages: Sequence[Message], recorded: Sequence[Sequence[RecordedCall]]
) -> Iterator[_Pair]:
    """Yield each call with its result, in the order of the results."""
    waiting = [dict.fromkeys(range(len(calls))) for calls in recorded]
    known = [{call.id: number for number, call in enumerate(calls)} for calls in recorded]
    for place, result in sorted(_links(messages), key=lambda link: (link[1], link[0])):
        if not recorded[place]:
            continue
        names = link_ids(messages[result].tool_result)
        numbers = [known[place][name] for name in names if name in known[place]]
        if place == result:
            numbers = list(waiting[place])
        elif not numbers:
            numbers = list(waiting[place])[:1]
        for number in numbers:
            waiting[place].pop(number, None)
            yield _Pair(place, number, result)


def _links(messages: Sequence[Message]) -> set[Link]:
    """Return which message's call is answered in which; one may bring its result along."""
    own = (
        (place, place)
        for place, message in enumerate(messages)
        if message.role is not Role.SYSTEM
        and message.tool_call is not None
        and message.tool_result is not None
    )
    return set(chain(own, call_links(messages)))


def _free_id(known: str | None, message: str, number: int, taken: set[str]) -> str:
    """Return an id that no call has yet, and note that it is taken."""
    own = [known] if known is not None and _ID.fullmatch(known) else []
    made = (f"call_{message}_{each}" for each in count(number + 1))
    found = next(name for name in chain(own, made) if name not in taken)
    taken.add(found)
    return found


def chat_items(
    items: Sequence[Item], said: Sequence[Message], bonds: Sequence[int | None]
) -> list[Item]:
    """Return items as chat APIs take them: with the calls and answers that have another half."""
    return list(map(_chat_item, items, said, pair_tools(said, bonds)))


def _chat_item(item: Item, message: Message, halves: ToolHalves) -> Item:
    """Return an item of a chat; what has no other half stands as the assistant's words."""
    if halves.answers:
        text = result_text(message)
    elif halves.calls:
        said = "" if repeats_calls(message) else message.content
        alone = [RAN + call_line(halves.alone)] if halves.alone else []
        text = "\n".join([*filter(None, [said]), *alone])
    if halves.calls or halves.answers:
        return msgspec.structs.replace(item, text=text, calls=halves.calls, answers=halves.answers)
    if message.role is Role.SYSTEM or not (message.tool_call or is_result(message)):
        return item
    result = message.tool_result
    named = result.get("name") if isinstance(result, Mapping) else None
    tool = named if isinstance(named, str) and named else "a tool"
    text = item.text if message.tool_call else f"{tool} answered: {item.text}"
    return msgspec.structs.replace(item, text=text, role=Role.ASSISTANT.value, speaker=None)


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

_PASSAGE = lazily(
    rf"[^\n]{{1,{LONGEST_PASSAGE}}}(?:\n+|\Z)|[^\n]{{1,{LONGEST_PASSAGE - 1}}}[.!?;](?=[ \t])"
    rf"|[^\n]{{1,{LONGEST_PASSAGE}}}|\n+"
)
_TOOL = lazily(r"\A[\w.-]{1,40}: ")


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
