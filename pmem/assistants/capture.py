"""Asking an assistant what of a session is worth keeping: as it stops, or at the next start."""

import math
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from heapq import nlargest
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pmem.assistants.events import spoken
from pmem.assistants.trial import can_serve
from pmem.core.context.parts import Item
from pmem.core.context.writing import fence_of
from pmem.core.filters import Filter
from pmem.core.lines import shortened
from pmem.core.own_words import ASKS
from pmem.core.selection import Selection
from pmem.core.visible import one_visible_line
from pmem.project.workspace import Workspace
from pmem.values.records import MemoryType, Message, Role, State
from pmem.values.times import UNDATED, in_utc

if TYPE_CHECKING:
    from pmem.assistants.session_work import SessionPart

MOST_QUOTES: Final = 12
_TURNS: Final = 3
"""Turns that one quotation is from at most."""
LONGEST: Final = (300, 160, 80)
"""Characters that are quoted of a message: as many as leave room for all that counts."""
MOST_CHARACTERS: Final = 2200
"""Of all quotations."""
LATER: Final = "Said earlier, and perhaps worth keeping:"
_CLOSING: Final = (
    "Keep what the code does not show: one sentence each, with the files that it is about"
    " ({}). Drop the rest, and do not speak of it."
)
_ANSWER: Final = "If a program reads your answer, give it once more at the end."
_READ: Final = 1500
"""Characters of a message in which signs are looked for."""
_SIGNS: Final = frozenset(
    "not only although should must always instead because except unless if whenever until".split()
)
"""Signs of the comparison (see `duplicates.tables`) that rule, limit or give a reason."""
_RULES: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
_RULE: Final = 2
"""Signs that a message has at least which states a rule."""
_MOST_SIGNS: Final = 3
"""So many count of one message."""
_LEAST_WORDS: Final = 4
"""Of a sentence in which signs count."""
_MUCH: Final = 30
"""Words of a message that count as a sign."""
_LEAST_SIGNS: Final = 1.5
_TURNS_PER_SIGN: Final = 7
"""Signs that a session has where something is asked, and one more for so many turns."""
_LEAST_SAID: Final = 3
_LEAST_ANSWERED: Final = 8
"""Words of a message that is quoted."""
_PERSON: Final = 4.0
_QUESTION: Final = 3.0
_MIDDLE: Final = 3.0
_NEAR: Final = 2
"""Messages within which two are about one matter; it costs `_SAME_MATTER`."""
_SAME_MATTER: Final = 2.0
_MOST_TRIED: Final = 100
"""Messages that may be quoted, the best ones."""
_LONG: Final = 200
"""Words beyond which a message counts no more."""
_NOTED: Final = 0.5
"""Share of a quotation's terms that a memory has which says it."""


class SessionWords(NamedTuple):
    """What somebody said in a session.

    Attributes:
        place: which message it was, those of tools counted.
        turn: which message of the person it was, or followed.
        by_person: whether a person said it, else the assistant.
        ends_turn: whether the assistant said nothing more before the person's next message.
        text: the message.
    """

    place: int
    turn: int
    by_person: bool
    ends_turn: bool
    text: str


def is_worth_asking(said: Iterable[SessionWords]) -> bool:
    """Tell whether people said enough in a session that may be worth keeping."""
    signs = [_signs(one.text) for one in said if one.by_person]
    return sum(signs) >= _LEAST_SIGNS + len(signs) / _TURNS_PER_SIGN


def question_now(said: Sequence[SessionWords], noted: Iterable[str] = ()) -> str:
    """Write what an assistant is asked before its turn ends; see `own_words`.

    `noted` is what the memory has of it already. Empty where there is nothing to quote.
    """
    quoted = list(_numbered(_chosen(said, noted), "you: "))
    return "\n".join([ASKS, *fence_of(quoted), f"{_closing()} {_ANSWER}"]) if quoted else ""


def question_later(said: Sequence[SessionWords], noted: Iterable[str] = ()) -> str:
    """Write what an assistant is asked at a start of what was said in an earlier session."""
    quoted = list(_numbered(_chosen(said, noted), "the assistant: "))
    return "\n".join([LATER, *fence_of(quoted), _closing()]) if quoted else ""


def _closing() -> str:
    """Return what to do with what is quoted, by the tools, or by commands where none start."""
    return _CLOSING.format("`remember`, `tried`" if can_serve() else "`pmem add`, `pmem tried`")


def _numbered(chosen: Mapping[SessionWords, str], assistant: str) -> Iterator[Item]:
    """Yield a numbered item for each quotation: what was said in turns that follow another.

    What a person said has no name before it.
    """
    firsts = _first_turns({one.turn for one in chosen})
    parts = groupby(sorted(chosen), key=lambda one: firsts[one.turn])
    for number, (first, together) in enumerate(parts, start=1):
        said = (f'{"" if one.by_person else assistant}"{chosen[one]}"' for one in together)
        text = one_visible_line(f"turn {first}: {' / '.join(said)}")
        yield Item(id="", label=f"({number}) ", text=text)


def _first_turns(turns: Collection[int]) -> dict[int, int]:
    """Return of each turn the first one that it is quoted with."""
    firsts: dict[int, int] = {}
    first = -_TURNS
    for turn in sorted(turns):
        first = first if turn < first + _TURNS else turn
        firsts[turn] = first
    return firsts


def _chosen(said: Sequence[SessionWords], noted: Iterable[str]) -> dict[SessionWords, str]:
    """Return the messages that are quoted, and what is quoted of each."""
    from pmem.core.text.terms import terms

    kept = [frozenset(terms(text)) for text in noted]
    words = [  # "go ahead" and "All tests pass now." are no more than remarks
        one
        for one in said
        if len(one.text.split()) >= (_LEAST_SAID if one.by_person else _LEAST_ANSWERED)
    ]
    tried = nlargest(_MOST_TRIED, words, key=_value)
    chosen: dict[SessionWords, str] = {}
    for longest in LONGEST:
        quotes = {one: _quote(one.text, longest) for one in tried}
        quotes = {one: quote for one, quote in quotes.items() if quote and not _has(kept, quote)}
        chosen = _best_of(quotes)
        if len(chosen) == len(quotes):
            break
    return chosen


def _best_of(quotes: Mapping[SessionWords, str]) -> dict[SessionWords, str]:
    """Return the best quotations that there is room for."""
    values = {one: _value(one) for one in quotes}
    chosen: dict[SessionWords, str] = {}
    room = MOST_CHARACTERS
    while values:
        near = {
            place + by for place in (one.place for one in chosen) for by in range(-_NEAR, _NEAR + 1)
        }
        best = max(values, key=lambda one: values[one] - _SAME_MATTER * (one.place in near))
        del values[best]
        turns = _first_turns({best.turn, *(one.turn for one in chosen)})
        if len(quotes[best]) <= room and len({*turns.values()}) <= MOST_QUOTES:
            chosen[best] = quotes[best]
            room -= len(quotes[best])
    return chosen


def _value(said: SessionWords) -> float:
    """Return how much a message counts; the weights were chosen on labelled sessions."""
    text = said.text.strip()
    length = math.log1p(min(_LONG, len(text.split())))
    if said.by_person:
        return length + _PERSON - _QUESTION * text.endswith("?")
    return length if said.ends_turn else length - _MIDDLE


@lru_cache(maxsize=512)
def _prose(text: str) -> str:
    from pmem.core.text.blocks import read_prose

    return read_prose(text)


@lru_cache(maxsize=512)
def _signs(text: str) -> int:
    """Return how much a person's message rules, limits or reasons; questions do not."""
    from pmem.core.duplicates.lexicon import WordClass, look  # what most starts and stops need not
    from pmem.core.extraction.facts import extract
    from pmem.core.text.sentences import read, split_sentences

    prose = _prose(text[:_READ])
    told = (one for one in split_sentences(prose) if len(one.split()) >= _LEAST_WORDS)
    words = (word for one in told if not one.endswith("?") for word in read(one).words)
    items = (item for word in words for item in look(word).items)
    found = {item.value for item in items if item.kind is WordClass.SIGN} & _SIGNS
    message = Message(id="said", role=Role.USER, content=prose, created_at=UNDATED)
    states_rule = any(fact.type in _RULES for fact in extract(message))
    signs = max(min(_MOST_SIGNS, len(found)), _RULE * states_rule)
    return signs + (len(prose.split()) >= _MUCH)


def _quote(text: str, longest: int) -> str:
    """Return the part of a message that is quoted: its own words, from its first sign on."""
    from pmem.core.text.sentences import split_sentences

    prose = " ".join(_prose(text).split()).replace('"', "'")
    if len(prose) > longest:
        told = split_sentences(prose)
        first = next((place for place, one in enumerate(told) if _signs(one)), 0)
        prose = " ".join(told[first:])
    return shortened(prose, longest)


def _has(noted: Collection[frozenset[str]], quote: str) -> bool:
    """Tell whether a memory says what a quotation says."""
    from pmem.core.text.terms import terms

    told = frozenset(terms(quote))
    return any(len(told & one) >= _NOTED * len(told) for one in noted if told)


_MOST_SESSIONS: Final = 3
"""Earlier sessions that a start looks at, the latest ones."""
_MOST_MESSAGES: Final = 500
"""Of a part of a session, so many are looked at, the last ones."""
_OVER: Final = timedelta(days=1)
"""A session that nobody went on with for so long has nothing to come that may be worth keeping."""


def ask_at_stop(workspace: Workspace, path: str) -> str:
    """Return what an assistant is asked before its turn ends; nothing where nothing is asked.

    A session that was asked about before, also at a start, is not asked at its stops again: what is
    said in it afterwards is asked about at a later start.
    """
    transcripts = workspace.own.noted_transcripts
    if workspace.settings.capture != "ask" or workspace.read_only or not os.path.isabs(path):
        return ""
    part = None if transcripts.asked(path) else _part(path, 0)
    asked = _question(workspace, part, question_now)
    if part is None or not asked:
        return ""
    is_first = transcripts.note_asked(path, part.end, workspace.now())
    return asked if is_first else ""


def ask_at_start(workspace: Workspace, thread: str | None, source: str) -> str:
    """Return what an assistant is asked of an earlier session; nothing where nothing is asked.

    After a compaction that is the session itself, up to there. One session is asked about at a
    start, the latest first.
    """
    if workspace.settings.capture == "off" or workspace.read_only:
        return ""
    transcripts, is_compacted = workspace.own.noted_transcripts, source == "compact"
    waiting = [one for one in transcripts.all() if (one.session == thread) is is_compacted]
    for noted in waiting[: -_MOST_SESSIONS - 1 : -1]:
        start = transcripts.asked(noted.path)
        part = _part(noted.path, start) if noted.offset > start else None
        asked = _question(workspace, part, question_later)
        is_over = noted.noted_at < workspace.now() - _OVER
        if part is None or not (asked or is_over):
            continue
        if transcripts.note_asked(noted.path, part.end, workspace.now()) and asked:
            return asked
    return ""


def _part(path: str, start: int) -> "SessionPart | None":
    from pmem.assistants.session_work import part_since

    try:
        return part_since(path, start)
    except OSError:
        return None


def _question(
    workspace: Workspace,
    part: "SessionPart | None",
    write: Callable[[Sequence[SessionWords], Iterable[str]], str],
) -> str:
    """Write what is asked of a part of a session; nothing where it is not worth asking about."""
    said = [] if part is None else list(deque(_said_in(part.lines), _MOST_MESSAGES))
    if part is None or not is_worth_asking(said):
        return ""
    masked = [one._replace(text=workspace.mask.text(one.text)) for one in said]
    return write(masked, _noted(workspace, part))


def _noted(workspace: Workspace, part: "SessionPart") -> list[str]:
    """Return what the memory was told since a part of a session began, and what was dropped."""
    for line in part.lines:
        with suppress(ValueError, OverflowError, TypeError):
            began = in_utc(datetime.fromisoformat(line["timestamp"]))
            states = (State.ACTIVE, State.SOFT_DELETED)
            since = Selection(wanted=Filter(updated_after=began, states=states))
            return [one.content for one in workspace.memories.select(since)]
    return []


def _said_in(lines: Iterable[Mapping[str, Any]]) -> Iterator[SessionWords]:
    """Yield what a person and an assistant said, without what a hook put in."""
    turn, last = 0, None
    for place, line in enumerate(lines):
        text = spoken(line["content"])
        if line["role"] == Role.USER and text:
            if last is not None:
                yield last._replace(ends_turn=True)
            turn, last = turn + 1, None
            yield SessionWords(place, turn, by_person=True, ends_turn=False, text=text)
        elif line["role"] == Role.ASSISTANT and "tool_call" not in line and text:
            if last is not None:
                yield last
            last = SessionWords(place, turn, by_person=False, ends_turn=False, text=text)
    if last is not None:
        yield last._replace(ends_turn=True)
