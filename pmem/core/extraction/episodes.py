"""Key moments of a conversation, found as it goes on, and the arc that they make.

`moments` looks at the last message only; the earlier ones say where an episode began and whether
it has been told already. What a moment is worth follows from its type and one addition:

| type | significance | with the addition | valence |
|---|---|---|---|
| decision made | 0.7 | 0.8 with a reason | 0.2 |
| problem solved | 0.7 | 0.9 after a serious problem | 0.7 |
| breakthrough | 0.8 | 0.8 | 0.8 |
| issue identified | 0.7 | 0.9 if serious: down, lost, leaked, blocked | -0.7, serious -0.9 |
| task completed | 0.6 | 0.8 if something went out to users | 0.6 |
| pivot | 0.8 | 0.8 | 0.0 |

Glad words ("great", "finally") add 0.1 to the valence, sad ones ("unfortunately") take 0.2.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from pmem.core.extraction.outcomes import sums_up
from pmem.core.extraction.signs import MessageBeginning, Sign, empty_terms
from pmem.core.extraction.turns import Turn, is_work, turn_of
from pmem.core.shortening import shortened
from pmem.core.text.sentences import read, sentences
from pmem.core.text.speech import is_talk
from pmem.core.text.terms import terms
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import Episode, EpisodeType, Message, Role

REACH: Final = 30  # messages that are looked back at
SOON: Final = 6  # messages within which the same is not told again
AT_ONCE: Final = 2  # moments of one message
TITLE: Final = 80  # characters
CURT: Final = 3  # words; a title of so few says nothing
SUMMARY: Final = 300  # characters
KEY: Final = 0.7  # significance of a key moment
READ: Final = 4000  # characters of the last message that are looked at
_START: Final = 80  # characters that show whether a message is a request
BEFORE: Final = 1000  # characters of a message before it

_WORTH: Final = {
    EpisodeType.DECISION_MADE: (0.7, 0.8, 0.2),
    EpisodeType.PROBLEM_SOLVED: (0.7, 0.9, 0.7),
    EpisodeType.BREAKTHROUGH: (0.8, 0.8, 0.8),
    EpisodeType.ISSUE_IDENTIFIED: (0.7, 0.9, -0.7),
    EpisodeType.TASK_COMPLETED: (0.6, 0.8, 0.6),
    EpisodeType.PIVOT: (0.8, 0.8, 0.0),
}
"""Significance, significance with the addition, valence."""

_SERIOUS: Final = frozenset(
    """down outage lost loss leaked breach security vulnerability production blocked blocks
    corrupted critical serious hacked customers""".split()
)
_OUT: Final = frozenset("deployed released shipped published launched live production".split())
_REASONS: Final = frozenset("because since reason cheaper faster simpler therefore due".split())
_GLAD: Final = frozenset("great happy awesome finally super excellent wonderful yay".split())
_SAD: Final = frozenset("unfortunately sadly sorry frustrating annoying terrible bad".split())
_REQUESTS: Final = frozenset("please can could would".split())
_BARE: Final = STOP_WORDS | frozenset(
    """done fixed resolved solved finished completed complete works working change changes changed
    plan plans direction new scrap aha eureka thanks great got figured , : ; – — - (""".split()
)


class Moment(NamedTuple):
    """What a message makes of its conversation.

    Attributes:
        type: What kind of key moment it is.
        title: At most 80 characters of the message.
        summary: One or two sentences of the messages.
        context: What led to it, in the words of an earlier message, or nothing.
        participants: Who spoke since it began, each once.
        outcome: What came out of it; None for an issue, which is still open.
        valence: From -1 (bad) to 1 (good).
        significance: From 0 to 1.
        first: The place in the messages at which the episode begins.
    """

    type: EpisodeType
    title: str
    summary: str
    context: str
    participants: tuple[str, ...]
    outcome: str | None
    valence: float
    significance: float
    first: int


class Arc(msgspec.Struct, frozen=True):
    """The episodes of a conversation by thirds of it, and the significant ones once more."""

    beginning: tuple[Episode, ...]
    middle: tuple[Episode, ...]
    end: tuple[Episode, ...]
    key_moments: tuple[Episode, ...]


class _Problem(NamedTuple):
    """A problem that is open: where it was reported, its words, and what came since."""

    place: int
    words: frozenset[str]
    old: bool = False  # something has been solved since


def moments(said: Sequence[Message]) -> list[Moment]:
    """Return the key moments, at most two, that the last message brings.

    Messages of tools and systems bring none. Questions, conditions, guesses, quotations, code and
    logs are no moments, nor is what one of the last few messages has told already. Of the last
    message the first 4,000 characters are looked at, of each other one the first 1,000.

    Args:
        said: The messages in their order; up to 30 before the last one are looked at.
    """
    if not said or not is_talk(said[-1]):
        return []
    start = max(0, len(said) - 1 - REACH)
    if is_work(said[start:]):
        turn = turn_of(said[start:])
        return [] if turn is None else [_of_turn(turn, said[start:], start)]
    recent = [MessageBeginning(message, BEFORE) for message in said[start:-1]]
    recent.append(MessageBeginning(said[-1], READ))
    found: dict[EpisodeType, Moment] = {}
    for sign in recent[-1].signs:
        moment = _moment(sign, recent) if sign.type not in found else None
        if moment is not None:
            found[sign.type] = moment._replace(first=moment.first + start)
    if EpisodeType.PIVOT in found:
        found.pop(EpisodeType.DECISION_MADE, None)
    return list(found.values())[:AT_ONCE]


def arc(episodes: Iterable[Episode], turns: int | None = None) -> Arc:
    """Place the episodes of a conversation in its beginning, middle and end.

    An episode belongs to the third of the turns in which it ends: there it came about. One
    without turns counts where the one created last before it ends; if none has turns, they count
    by their number.

    Args:
        episodes: Those of one conversation.
        turns: How many turns it has; without it, the last turn that an episode knows.

    Returns:
        Each episode in exactly one third, in order, and those of a significance of at least 0.7.
    """
    placed = _with_turns(sorted(episodes, key=lambda episode: (episode.created_at, episode.id)))
    total = max([turns or 1, *(end for end, _ in placed)])
    thirds: tuple[list[Episode], ...] = ([], [], [])
    for end, episode in placed:
        thirds[max(0, min(2, (end - 1) * 3 // total))].append(episode)
    key = tuple(episode for _, episode in placed if episode.significance >= KEY)
    return Arc(tuple(thirds[0]), tuple(thirds[1]), tuple(thirds[2]), key)


def _with_turns(episodes: list[Episode]) -> list[tuple[int, Episode]]:
    """Episodes with the turn at which they count, from one on, in the order of these turns."""
    if all(episode.turns is None for episode in episodes):
        return list(enumerate(episodes, start=1))
    placed, end = [], 1
    for episode in episodes:
        end = episode.turns.end if episode.turns else end
        placed.append((end, episode))
    return sorted(placed, key=lambda item: item[0])


def _of_turn(turn: Turn, said: Sequence[Message], start: int) -> Moment:
    """Make the moment of a turn of work; its title says what it was about."""
    plain, more, valence = _WORTH[turn.type]
    told = " ".join(turn.told.split())
    open_ended = turn.type is EpisodeType.ISSUE_IDENTIFIED
    noted = _is_more(turn.type, read(told[:SUMMARY]).words)
    spoken = [MessageBeginning(message, 0) for message in said[turn.first :]]
    is_outcome = turn.type in (EpisodeType.PROBLEM_SOLVED, EpisodeType.TASK_COMPLETED)
    title = _outcome_title(told, turn.source) if is_outcome else told
    return Moment(
        type=turn.type,
        title=shortened(title[:1].upper() + title[1:], TITLE),
        summary=shortened(
            f"{turn.source.rstrip(' .!?')}. {told}" if turn.source else told, SUMMARY
        ),
        context=shortened(turn.source, SUMMARY) if turn.source else "",
        participants=_participants(spoken),
        outcome=None if open_ended else shortened(told, SUMMARY),
        valence=-0.9 if open_ended and noted else valence,
        significance=more if noted else plain,
        first=turn.first + start,
    )


def _outcome_title(told: str, source: str) -> str:
    """What was done: the first sentence, or what was asked for if that only sums up."""
    first = next(sentences(told), None)
    if first is None:
        return told
    if sums_up(first.words):
        return source or told.partition(":")[2].strip() or told
    return _number().sub("", first.text)


@lru_cache(maxsize=1)
def _number() -> re.Pattern[str]:
    """The number of a first point, which ends a sentence before the list."""
    return re.compile(r":? \d\.$")


def _moment(sign: Sign, said: Sequence[MessageBeginning]) -> Moment | None:
    first = _beginning(sign, said)
    if first is None:
        return None
    source = _source(sign, said, first)
    solved = sign.type is EpisodeType.PROBLEM_SOLVED
    sentence = _reasoned(sign, said[-1])
    told = _statement_of(sign, said[-1])
    if told not in sentence:
        sentence = f"{sentence} {told}."
    summary = f"{source.rstrip(' .!?')}. {sentence}" if solved and source else sentence
    plain, more, valence = _WORTH[sign.type]
    noted = _is_more(sign.type, read(summary).words)
    if sign.type is EpisodeType.ISSUE_IDENTIFIED and noted:
        valence = -0.9
    return Moment(
        type=sign.type,
        title=_title(sign, told, source),
        summary=shortened(summary, SUMMARY),
        context=shortened(source, SUMMARY) if source else "",
        participants=_participants(said[first:]),
        outcome=None if valence < 0 else shortened(told, SUMMARY),
        valence=_valence(valence, sign.sentence.words),
        significance=more if noted else plain,
        first=first,
    )


def _title(sign: Sign, told: str, source: str) -> str:
    """What was told, or what it was about if that is only "Done"."""
    curt = sign.type in (EpisodeType.PROBLEM_SOLVED, EpisodeType.TASK_COMPLETED)
    short = len(sign.title.split()) <= CURT
    text = source if source and (_is_bare(told) or (curt and short)) else told
    return shortened(text[:1].upper() + text[1:], TITLE)


def _statement_of(sign: Sign, heard: MessageBeginning) -> str:
    """The clause of a sign; behind one that says nothing, such as "Done", what follows it."""
    if not _is_bare(sign.title):
        return sign.title
    text = sign.sentence.text
    rest = text[text.find(sign.title) + len(sign.title) :].strip(" .!,;:-–—()")
    if not _is_bare(rest):
        return rest
    if sign.type in (EpisodeType.PIVOT, EpisodeType.BREAKTHROUGH):
        for sentence, following in pairwise(heard.sentences):
            if sentence is sign.sentence and not (following.asked or _is_bare(following.text)):
                return following.text.strip(" .!")
    return sign.title


def _is_bare(text: str) -> bool:
    """Tell whether a clause says only that there is news: "Done", "Change of plan"."""
    return _BARE.issuperset(read(text).words)


def _is_more(kind: EpisodeType, words: list[str]) -> bool:
    telling = {
        EpisodeType.DECISION_MADE: _REASONS,
        EpisodeType.PROBLEM_SOLVED: _SERIOUS,
        EpisodeType.ISSUE_IDENTIFIED: _SERIOUS,
        EpisodeType.TASK_COMPLETED: _OUT,
    }.get(kind, frozenset())
    return not telling.isdisjoint(words)


def _valence(base: float, words: list[str]) -> float:
    mood = 0.1 * (not _GLAD.isdisjoint(words)) - 0.2 * (not _SAD.isdisjoint(words))
    return round(min(1.0, max(-1.0, base + mood)), 2)


def _beginning(sign: Sign, said: Sequence[MessageBeginning]) -> int | None:
    """Where the episode begins, or None if there is none or it has been told already."""
    last = len(said) - 1
    if sign.type is EpisodeType.PROBLEM_SOLVED:
        return _problem(said)
    if _is_told(sign, said):
        return None
    if sign.type is EpisodeType.BREAKTHROUGH:
        problem = _problem(said)
        return last if problem is None else problem
    if sign.type is EpisodeType.DECISION_MADE:
        return _question(sign, said)
    if sign.type is EpisodeType.TASK_COMPLETED:
        return _request(sign, said)
    return last


def _problem(said: Sequence[MessageBeginning]) -> int | None:
    """The place of the open problem that the last message is about."""
    problems: list[_Problem] = []
    for place, heard in enumerate(said[:-1]):
        if heard.solves:
            solved = _picked(problems, heard.terms)
            problems = [one._replace(old=True) for one in problems if one is not solved]
        elif heard.trouble:
            problems = _with_problem(problems, place, heard)
    found = _picked(problems, said[-1].terms)
    return None if found is None else found.place


def _picked(problems: list[_Problem], words: frozenset[str]) -> _Problem | None:
    """The problem that shares the most words, else the latest since the last solution."""
    shared = [one for one in problems if one.words & words]
    if shared:
        return max(shared, key=lambda one: (len(one.words & words), one.place))
    return next((one for one in reversed(problems) if not one.old), None)


def _with_problem(problems: list[_Problem], place: int, heard: MessageBeginning) -> list[_Problem]:
    """The problems with a further report: it is of a new one if a user tells of other things."""
    words = frozenset(terms(heard.trouble)) - empty_terms()
    known = _picked(problems, words)
    goes_on = heard.message.role is not Role.USER or not words
    if known is None or not (goes_on or known.words & words):
        return [*problems, _Problem(place, words)]
    more = known._replace(words=known.words | words)
    return [more if one is known else one for one in problems]


def _is_told(sign: Sign, said: Sequence[MessageBeginning]) -> bool:
    """Tell whether one of the last messages has brought the same.

    A breakthrough may be told in several sentences, so there the whole messages are compared.
    """
    wide = sign.type is EpisodeType.BREAKTHROUGH
    wanted = said[-1].terms if wide else frozenset(terms(sign.sentence.text))
    for heard in said[-1 - SOON : -1]:
        if heard.may_tell(sign.type) and _is_about(wanted, heard.terms):
            others = [other.sentence.text for other in heard.signs if other.type is sign.type]
            if others and (wide or any(_is_about(wanted, frozenset(terms(t))) for t in others)):
                return True
    return False


def _is_about(wanted: frozenset[str], words: frozenset[str]) -> bool:
    """Tell whether words are shared that say more than that something works or fails, or all."""
    return wanted <= words or not wanted.isdisjoint(words - empty_terms())


def _question(sign: Sign, said: Sequence[MessageBeginning]) -> int:
    """The place of the latest question that the decision answers, or the end.

    The question or what was said after it shares a word with the decision.
    """
    wanted = set(terms(sign.sentence.text))
    last = len(said) - 1
    related = False
    for place in range(last - 1, max(-1, last - 9), -1):
        related = related or not wanted.isdisjoint(said[place].terms)
        if related and said[place].asks:
            return place
    return last


def _request(sign: Sign, said: Sequence[MessageBeginning]) -> int | None:
    """The place of the latest request that somebody else made, or the end.

    "Done" by itself completes nothing unless something was asked for.
    """
    last = len(said) - 1
    for place in range(last - 1, max(-1, last - SOON - 1), -1):
        other = said[place].message
        if _who(other) != _who(said[-1].message) and other.role is Role.USER:
            words = read(other.content[:_START]).words
            if not _REQUESTS.isdisjoint(words[:4]):
                return place
    return last if len(sign.sentence.words) > 2 else None


def _source(sign: Sign, said: Sequence[MessageBeginning], first: int) -> str:
    """The sentence of the message at which the episode begins that says what it was about."""
    if first == len(said) - 1:
        return ""
    if sign.type in (EpisodeType.PROBLEM_SOLVED, EpisodeType.BREAKTHROUGH):
        return said[first].trouble
    own = said[first].sentences
    asked = [sentence.text for sentence in own if sentence.asked]
    wishes = [one.text for one in own if not _REQUESTS.isdisjoint(one.words[:4])]
    return (asked or wishes or [sentence.text for sentence in own] or [""])[-1]


def _reasoned(sign: Sign, heard: MessageBeginning) -> str:
    """The sentence of a sign, with the next one if that gives a decision's reason."""
    text = sign.sentence.text
    if sign.type is not EpisodeType.DECISION_MADE or not _REASONS.isdisjoint(sign.sentence.words):
        return text
    for sentence, following in pairwise(heard.sentences):
        if sentence.text == text and not _REASONS.isdisjoint(following.words):
            return f"{text} {following.text}"
    return text


def _who(message: Message) -> str:
    return message.speaker or message.role.value


def _participants(said: Sequence[MessageBeginning]) -> tuple[str, ...]:
    messages = (heard.message for heard in said)
    people = (one for one in messages if one.role in (Role.USER, Role.ASSISTANT))
    return tuple(dict.fromkeys(map(_who, people)))
