"""Finding the key moments of a conversation as it grows, and the arc that they form.

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

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from pmem.core.extraction.turns import (
    MessageReading,
    Sign,
    Turn,
    empty_terms,
    is_work,
    reading,
    turn_of,
)
from pmem.core.lines import shortened
from pmem.core.text.sentences import read
from pmem.core.text.speech import is_talk
from pmem.core.text.terms import terms
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import Episode, EpisodeType, Message, Role

REACH: Final = 30  # messages that are looked back at
AT_ONCE: Final = 2  # moments of one message
TITLE: Final = 80  # characters
SUMMARY: Final = 300  # characters
KEY: Final = 0.7  # significance of a key moment
_WORTH: Final = {
    EpisodeType.DECISION_MADE: (0.7, 0.8, 0.2),
    EpisodeType.PROBLEM_SOLVED: (0.7, 0.9, 0.7),
    EpisodeType.BREAKTHROUGH: (0.8, 0.8, 0.8),
    EpisodeType.ISSUE_IDENTIFIED: (0.7, 0.9, -0.7),
    EpisodeType.TASK_COMPLETED: (0.6, 0.8, 0.6),
    EpisodeType.PIVOT: (0.8, 0.8, 0.0),
}
"""Significance, significance with the addition, valence."""
_SERIOUS_VALENCE: Final = -0.9
_REASONS: Final = frozenset("because since reason cheaper faster simpler therefore due".split())
_SERIOUS: Final = frozenset(
    """down outage lost loss leaked breach security vulnerability production blocked blocks
    corrupted critical serious hacked customers""".split()
)
_OUT: Final = frozenset("deployed released shipped published launched live production".split())
_MORE: Final = {
    EpisodeType.DECISION_MADE: _REASONS,
    EpisodeType.PROBLEM_SOLVED: _SERIOUS,
    EpisodeType.ISSUE_IDENTIFIED: _SERIOUS,
    EpisodeType.TASK_COMPLETED: _OUT,
}
"""Words by which a moment is worth more."""
_GLAD: Final = frozenset("great happy awesome finally super excellent wonderful yay".split())
_SAD: Final = frozenset("unfortunately sadly sorry frustrating annoying terrible bad".split())


class Moment(NamedTuple):
    """What a message makes of its conversation.

    `context` is what led to it, in the words of an earlier message, or nothing; `outcome` is None
    for an issue, which is still open. It begins at the place `first`; `participants` have spoken
    since. Its valence is from -1 (bad) to 1, its significance from 0 to 1.
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


def moments(said: Sequence[Message]) -> list[Moment]:
    """Return the key moments, at most two, that the last message brings.

    Messages of tools and systems bring none. Questions, conditions, guesses, quotations, code and
    logs are no moments, nor is what one of the last few messages has told already. Of the last
    message the first 4,000 characters are looked at, of each other one the first 1,000.
    """
    if not said or not is_talk(said[-1]):
        return []
    start = max(0, len(said) - 1 - REACH)
    recent = said[start:]
    if is_work(recent):
        turn = turn_of(recent)
        return [] if turn is None else [_moment(turn, recent, start)]
    found: dict[EpisodeType, Turn] = {}
    for turn in turns_of_talk(recent):
        found.setdefault(turn.type, turn)
    if EpisodeType.PIVOT in found:
        found.pop(EpisodeType.DECISION_MADE, None)
    return [_moment(turn, recent, start) for turn in list(found.values())[:AT_ONCE]]


def _moment(turn: Turn, said: Sequence[Message], start: int) -> Moment:
    """Make the moment of a turn; `start` is the place of its first message in the dialogue."""
    words = read(turn.summary[:SUMMARY]).words
    is_more = not _MORE.get(turn.type, frozenset()).isdisjoint(words)
    plain, more, valence = _WORTH[turn.type]
    is_open = turn.type is EpisodeType.ISSUE_IDENTIFIED
    spoken = dict.fromkeys(who(one) for one in said[turn.first :] if is_talk(one))
    return Moment(
        type=turn.type,
        title=shortened(turn.title[:1].upper() + turn.title[1:], TITLE),
        summary=shortened(turn.summary, SUMMARY),
        context=shortened(turn.source, SUMMARY) if turn.source else "",
        participants=tuple(spoken),
        outcome=None if is_open else shortened(turn.told, SUMMARY),
        valence=_valence(_SERIOUS_VALENCE if is_open and is_more else valence, words),
        significance=more if is_more else plain,
        first=turn.first + start,
    )


def _valence(base: float, words: list[str]) -> float:
    mood = 0.1 * (not _GLAD.isdisjoint(words)) - 0.2 * (not _SAD.isdisjoint(words))
    return round(min(1.0, max(-1.0, base + mood)), 2)


def arc(episodes: Iterable[Episode], turns: int | None = None) -> Arc:
    """Place the episodes of a conversation in its beginning, middle and end.

    An episode belongs to the third of the turns in which it ends: there it came about. One
    without turns counts where the one created last before it ends; if none has turns, they count
    by their number.
    Without `turns`, the last turn that an episode knows counts as the last of all.
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


READ: Final = 4000  # characters of the last message that are looked at
BEFORE: Final = 1000  # characters of a message before it
SOON: Final = 6  # messages within which the same is not told again
_START: Final = 80  # characters that show whether a message is a request
CURT: Final = 3  # words; a title of so few says nothing
_ASKED_IN: Final = 8  # messages among which a decision's question is looked for
_REQUESTS: Final = frozenset("please can could would".split())
_BARE: Final = STOP_WORDS | frozenset(
    """done fixed resolved solved finished completed complete works working change changes changed
    plan plans direction new scrap aha eureka thanks great got figured , : ; – — - (""".split()
)
_SOLVED: Final = EpisodeType.PROBLEM_SOLVED
_DONE: Final = (_SOLVED, EpisodeType.TASK_COMPLETED)
_FOUND: Final = (EpisodeType.PIVOT, EpisodeType.BREAKTHROUGH)


class _Problem(NamedTuple):
    """A problem that is open: where it was reported, its words, and what came since."""

    place: int
    words: frozenset[str]
    old: bool = False  # something has been solved since


def turns_of_talk(said: Sequence[Message]) -> Iterator[Turn]:
    """Yield what the last message makes of a dialogue, each sign of it."""
    last = reading(said[-1], READ)
    if not last.signs:
        return
    heard = [*(reading(message, BEFORE) for message in said[:-1]), last]
    for sign in last.signs:
        first = _beginning(sign, said, heard)
        if first is not None:
            yield _turn(sign, heard, first)


def _turn(sign: Sign, heard: Sequence[MessageReading], first: int) -> Turn:
    source = _source(sign, heard, first)
    told = _statement_of(sign, heard[-1])
    summary = _reasoned(sign, heard[-1])
    if told not in summary:
        summary = f"{summary} {told}."
    if source and sign.type is _SOLVED:
        summary = f"{source.rstrip(' .!?')}. {summary}"
    is_curt = sign.type in _DONE and len(sign.title.split()) <= CURT
    title = source if source and (is_curt or _is_bare(told)) else told
    return Turn(sign.type, title, summary, told, first, source)


def _statement_of(sign: Sign, last: MessageReading) -> str:
    """The clause of a sign; behind one that says nothing, such as "Done", what follows it."""
    if not _is_bare(sign.title):
        return sign.title
    rest = sign.sentence.text.partition(sign.title)[2].strip(" .!,;:-–—()")
    if not _is_bare(rest):
        return rest
    following = _following(sign, last) if sign.type in _FOUND else None
    return sign.title if following is None or _is_bare(following) else following.strip(" .!")


def _following(sign: Sign, last: MessageReading) -> str | None:
    """The statement behind that of a sign."""
    pairs = pairwise(last.sentences)
    return next((two.text for one, two in pairs if one is sign.sentence and not two.asked), None)


def _is_bare(text: str) -> bool:
    """Tell whether a clause says only that there is news: "Done", "Change of plan"."""
    return _BARE.issuperset(read(text).words)


def _reasoned(sign: Sign, last: MessageReading) -> str:
    """The sentence of a sign, with the next one if that gives a decision's reason."""
    text = sign.sentence.text
    following = _following(sign, last) if sign.type is EpisodeType.DECISION_MADE else None
    if following is None or not _REASONS.isdisjoint(sign.sentence.words):
        return text
    return text if _REASONS.isdisjoint(read(following).words) else f"{text} {following}"


def _source(sign: Sign, heard: Sequence[MessageReading], first: int) -> str:
    """The sentence of the message at which the episode begins that says what it was about."""
    if first == len(heard) - 1:
        return ""
    if sign.type in (_SOLVED, EpisodeType.BREAKTHROUGH):
        return heard[first].trouble
    own = heard[first].sentences
    asked = [one for one in own if one.asked]
    wishes = [one for one in own if not _REQUESTS.isdisjoint(one.words[:4])]
    return next((one.text for one in reversed(asked or wishes or own)), "")


def _beginning(sign: Sign, said: Sequence[Message], heard: Sequence[MessageReading]) -> int | None:
    """Where the episode begins, or None if there is none or it has been told already."""
    last = len(said) - 1
    if sign.type is _SOLVED:
        return _problem(heard)
    if _is_told(sign, heard):
        return None
    if sign.type is EpisodeType.BREAKTHROUGH:
        problem = _problem(heard)
        return last if problem is None else problem
    if sign.type is EpisodeType.DECISION_MADE:
        return _question(sign, heard)
    return _request(sign, said) if sign.type is EpisodeType.TASK_COMPLETED else last


def _is_told(sign: Sign, heard: Sequence[MessageReading]) -> bool:
    """Tell whether one of the last messages has brought the same."""
    wanted = frozenset(terms(sign.sentence.text))
    return any(
        one.tells(sign.type)
        and (wanted <= one.terms or not wanted.isdisjoint(one.terms - empty_terms()))
        for one in heard[-1 - SOON : -1]
    )


def _problem(heard: Sequence[MessageReading]) -> int | None:
    """The place of the open problem that the last message is about."""
    problems: list[_Problem] = []
    for place, one in enumerate(heard[:-1]):
        if one.tells(_SOLVED):
            solved = _picked(problems, one.terms)
            problems = [other._replace(old=True) for other in problems if other is not solved]
        elif one.trouble:
            words = frozenset(terms(one.trouble)) - empty_terms()
            known = _picked(problems, words)
            if known is None or (words and not known.words & words):
                problems.append(_Problem(place, words))
            else:
                problems.remove(known)
                problems.append(known._replace(words=known.words | words))
    found = _picked(problems, heard[-1].terms)
    return None if found is None else found.place


def _picked(problems: list[_Problem], words: frozenset[str]) -> _Problem | None:
    """The problem that shares the most words, else the latest since the last solution."""
    shared = [one for one in problems if one.words & words]
    if shared:
        return max(shared, key=lambda one: (len(one.words & words), one.place))
    return next((one for one in reversed(problems) if not one.old), None)


def _question(sign: Sign, heard: Sequence[MessageReading]) -> int:
    """The place of the latest question that the decision answers, or the end.

    The question or what was said after it shares a word with the decision.
    """
    wanted = frozenset(terms(sign.sentence.text))
    last = len(heard) - 1
    is_related = False
    for place in range(last - 1, max(-1, last - 1 - _ASKED_IN), -1):
        is_related = is_related or not wanted.isdisjoint(heard[place].terms)
        if is_related and any(one.asked for one in heard[place].sentences):
            return place
    return last


def _request(sign: Sign, said: Sequence[Message]) -> int | None:
    """The place of the latest request that somebody else made, or the end.

    "Done" by itself completes nothing unless something was asked for.
    """
    last = len(said) - 1
    for place in range(last - 1, max(-1, last - SOON - 1), -1):
        is_other = said[place].role is Role.USER and who(said[place]) != who(said[-1])
        if is_other and not _REQUESTS.isdisjoint(read(said[place].content[:_START]).words[:4]):
            return place
    return last if len(sign.sentence.words) > 2 else None


def who(message: Message) -> str:
    """Return who said a message, by name if he has one."""
    return message.speaker or message.role.value
