"""Key moments of work with an assistant, told by the shape of the dialogue.

Where tools are called, a person's words and the last words of each turn are what counts. A
person who reports trouble, or pastes it, raises an issue; one who rules or chooses decides; and an
assistant that says what was done has solved the open issue, or completed the task. An issue is
open until something was done about it and its reporter goes on with something else.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.extraction.cues import IMPERATIVES, SETS
from pmem.core.extraction.facts import extract
from pmem.core.extraction.outcomes import outcome
from pmem.core.text.blocks import BlockKind, blocks
from pmem.core.text.sentences import ParsedSentence, sentences
from pmem.core.text.speech import is_talk
from pmem.values.records import EpisodeType, MemoryType, Message, Role

READ: Final = 1000  # characters of a message
_STEPS: Final = 6  # tool messages of a turn that was a task
_CURT: Final = 3  # words; a message of so few only says to go on
_SENTENCES: Final = 4  # of a message, in which trouble is looked for
_CHOICE: Final = 200  # characters of an answer to options
_SHOWN: Final = frozenset((BlockKind.PROSE, BlockKind.LOG, BlockKind.CODE))
_RULES: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT)
_TROUBLE: Final = frozenset(
    """fail fails failed failing failure crash crashes broken breaks error errors bug issue problem
    missing wrong empty denied stuck twice duplicates exception traceback panic
    regression""".split()
)
_DENIALS: Final = tuple(
    tuple(phrase.split())
    for phrase in (
        "is not|are not|does not|do not see|did not|was not|were not|has not|have not|will not"
        "|left out|no longer|see no|cannot|why did not"
    ).split("|")
)
_ASKING: Final = (["can"], ["could"], ["would"])
_AGAIN: Final = frozenset("still again better same".split())
_WORKS: Final = frozenset("run write fix make".split()) | IMPERATIVES | set(SETS["request"].split())


class Turn(NamedTuple):
    """What a message makes of a dialogue.

    Attributes:
        type: What kind of key moment it is.
        told: The words that tell of it.
        first: The place of the message at which it began: the report, or the request.
        source: What was reported or asked for there, or nothing.
    """

    type: EpisodeType
    told: str
    first: int
    source: str


class _Open(NamedTuple):
    """The issue that is open: where it was reported, and whether something was done about it."""

    place: int
    told: str
    done: bool


def is_work(said: Sequence[Message]) -> bool:
    """Tell whether tools were called in a dialogue.

    Args:
        said: Its messages.
    """
    return any(message.tool_call is not None for message in said)


def turn_of(said: Sequence[Message]) -> Turn | None:
    """Return what the last message makes of a dialogue, if it does.

    Args:
        said: The messages in their order.
    """
    last = len(said) - 1
    issue: _Open | None = None
    asked, steps, has_told = last, 0, False
    for place, message in enumerate(said):
        beginning = message.content[:READ]
        if not is_talk(message):
            steps += 1
        elif message.role is Role.USER:
            trouble = _trouble(beginning)
            is_new = issue is None or (issue.done and not _goes_on(beginning))
            if place == last:
                return _of_person(message, trouble if is_new else "", last)
            if trouble:
                issue = _Open(place, trouble, done=False)
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


def _of_person(message: Message, trouble: str, place: int) -> Turn | None:
    if trouble:
        return Turn(EpisodeType.ISSUE_IDENTIFIED, trouble, place, "")
    rule = next((fact for fact in extract(message) if fact.type in _RULES), None)
    if rule is not None:
        return Turn(EpisodeType.DECISION_MADE, rule.content, place, "")
    text = message.content.strip()
    is_choice = len(text) <= _CHOICE and _option().search(text) is not None
    asks = any(one.asked or one.words[:1] in _ASKING for one in sentences(text[:_CHOICE]))
    return Turn(EpisodeType.DECISION_MADE, text, place, "") if is_choice and not asks else None


def _of_assistant(
    said: Sequence[Message], done: str, issue: _Open | None, asked: int, steps: int
) -> Turn | None:
    if issue is not None and not issue.done:
        return Turn(EpisodeType.PROBLEM_SOLVED, done, issue.place, issue.told)
    if steps < _STEPS and _sent().match(done) is None:
        return None
    request = "" if asked == len(said) - 1 else _first_sentence(said[asked].content[:READ])
    return Turn(EpisodeType.TASK_COMPLETED, done, asked, request)


@lru_cache(maxsize=128)
def _done(text: str) -> str | None:
    return outcome(text)


@lru_cache(maxsize=128)
def _trouble(text: str) -> str:
    """The sentence or line in which a person reports trouble, or nothing."""
    own = list(sentences(text))
    told = next((one.text for one in own[:_SENTENCES] if _reports(one)), "")
    if told:
        return told
    shown = "\n".join(block.text for block in blocks(text) if block.kind in _SHOWN)
    pasted = _pasted().search(shown)
    return "" if pasted is None else pasted.group().strip()


def _reports(sentence: ParsedSentence) -> bool:
    words = sentence.words
    if not words or words[0] in _WORKS:
        return False
    if sentence.asked:
        return words[:3] == ["why", "did", "not"]
    if not _TROUBLE.isdisjoint(words):
        return True
    return any(
        tuple(words[place : place + len(denial)]) == denial
        for denial in _DENIALS
        for place in range(len(words))
    )


def _goes_on(text: str) -> bool:
    return not _AGAIN.isdisjoint(text.lower().split())


def _first_sentence(text: str) -> str:
    return next((one.text for one in sentences(text)), "")


@lru_cache(maxsize=1)
def _option() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b(?:options? (?:\d|[a-e]\b)|both\b|neither\b"
        r"|the (?:first|second|third|last) (?:one|option))|(?<!\S)#\d\b"
    )


@lru_cache(maxsize=1)
def _sent() -> re.Pattern[str]:
    return re.compile(r"(?i)\W*(?:committed|merged|pushed|released|deployed|published)")


@lru_cache(maxsize=1)
def _pasted() -> re.Pattern[str]:
    """What a program wrote, and a prompt before it."""
    return re.compile(
        r"(?im)^[ \t]{0,8}(?:[❯$%>] \S.*|\w{0,30}error\b.{0,40}:.*|fatal:.*|traceback \(.*"
        r"|panic:.*|failed?[: ].*)"
    )
