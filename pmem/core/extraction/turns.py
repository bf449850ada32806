"""Key moments of work with an assistant, told by the shape of the dialogue.

Where tools are called, a person's words and the last words of each turn are what counts. A
person who reports trouble, or pastes it, raises an issue; one who rules or chooses decides; and an
assistant that says what was done has solved the open issue, or completed the task. An issue is
open until something was done about it and its reporter goes on with something else.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from pmem.core.extraction.facts import extract
from pmem.core.extraction.outcomes import outcome, sums_up
from pmem.core.extraction.signs import trouble
from pmem.core.text.sentences import read, sentences
from pmem.core.text.speech import is_talk
from pmem.values.records import EpisodeType, MemoryType, Message, Role

READ: Final = 1000  # characters of a message
_STEPS: Final = 6  # tool messages of a turn that was a task
_CURT: Final = 3  # words; a message of so few only says to go on
_BARE: Final = 2  # words of "Done" or "All set"
_CHOICE: Final = 200  # characters of an answer to options
_RULES: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT)
_ASKING: Final = (["can"], ["could"], ["would"])
_SENT: Final = frozenset("committed merged pushed released deployed published".split())


class Turn(NamedTuple):
    """What a message makes of a dialogue.

    Attributes:
        type: What kind of key moment it is.
        title: What it was about.
        summary: One or two sentences of the messages.
        told: The words that tell of it.
        first: The place of the message at which it began: the report, or the request.
        source: What was reported or asked for there, or nothing.
    """

    type: EpisodeType
    title: str
    summary: str
    told: str
    first: int
    source: str


class _Open(NamedTuple):
    """The issue that is open: where it was reported, and whether something was done about it."""

    place: int
    told: str
    done: bool


def is_work(said: Sequence[Message]) -> bool:
    """Tell whether tools were called in a dialogue."""
    return any(message.tool_call is not None for message in said)


def turn_of(said: Sequence[Message]) -> Turn | None:
    """Return what the last message makes of a dialogue, if it does."""
    last = len(said) - 1
    issue: _Open | None = None
    asked, steps, has_told = last, 0, False
    for place, message in enumerate(said):
        beginning = message.content[:READ]
        if not is_talk(message):
            steps += 1
        elif message.role is Role.USER:
            told = _trouble(beginning)
            is_new = issue is None or issue.done
            if place == last:
                return _of_person(message, told if is_new else "", last)
            if told:
                issue = _Open(place, told, done=False)
            elif issue is not None and issue.done:
                issue = None
            is_request = len(beginning.split()) > _CURT
            asked, steps, has_told = place if is_request else asked, 0, False
        elif (done := _done(beginning)) is not None:
            if place == last:
                return None if has_told else _of_assistant(said, done, issue, asked, steps)
            has_told = True
            issue = None if issue is None else issue._replace(done=True)
    return None


def _of_person(message: Message, report: str, place: int) -> Turn | None:
    if report:
        return _turn(EpisodeType.ISSUE_IDENTIFIED, report, place)
    rule = next((fact for fact in extract(message) if fact.type in _RULES), None)
    if rule is not None:
        return _turn(EpisodeType.DECISION_MADE, rule.content, place)
    text = message.content.strip()
    is_choice = len(text) <= _CHOICE and _option().search(text) is not None
    asks = any(one.asked or one.words[:1] in _ASKING for one in sentences(text[:_CHOICE]))
    return _turn(EpisodeType.DECISION_MADE, text, place) if is_choice and not asks else None


def _of_assistant(
    said: Sequence[Message], done: str, issue: _Open | None, asked: int, steps: int
) -> Turn | None:
    if issue is not None and not issue.done:
        return _turn(EpisodeType.PROBLEM_SOLVED, done, issue.place, issue.told)
    if steps < _STEPS and read(done).words[0] not in _SENT:
        return None
    request = "" if asked == len(said) - 1 else _first_sentence(said[asked].content[:READ])
    return _turn(EpisodeType.TASK_COMPLETED, done, asked, request)


def _turn(kind: EpisodeType, told: str, first: int, source: str = "") -> Turn:
    told = " ".join(told.split())
    summary = f"{source.rstrip(' .!?')}. {told}" if source else told
    is_outcome = kind in (EpisodeType.PROBLEM_SOLVED, EpisodeType.TASK_COMPLETED)
    title = _outcome_title(told, source) if is_outcome else told
    return Turn(kind, title, summary, told, first, source)


def _outcome_title(told: str, source: str) -> str:
    """What was done: the first sentence that says more than "Committed" or that a list follows.

    Where neither of the first two does, it is what was asked for.
    """
    for sentence in islice(sentences(told), 2):
        title = _first_point().sub("", sentence.text)
        if len(title.split()) > _BARE and title[-1] != ":" and not sums_up(read(title).words):
            return title
    return source or told.partition(":")[2].strip() or told


@lru_cache(maxsize=1)
def _first_point() -> re.Pattern[str]:
    """The number of a first point, and all that follows."""
    return re.compile(r":? \(1\)(?:\s.*)?$")


@lru_cache(maxsize=128)
def _done(text: str) -> str | None:
    return outcome(text)


@lru_cache(maxsize=128)
def _trouble(text: str) -> str:
    return trouble((one for one in sentences(text) if not one.asked), text)


def _first_sentence(text: str) -> str:
    return next((one.text for one in sentences(text)), "")


@lru_cache(maxsize=1)
def _option() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b(?:options? (?:\d|[a-e]\b)|both\b|neither\b"
        r"|the (?:first|second|third|last) (?:one|option))|(?<!\S)#\d\b"
    )
