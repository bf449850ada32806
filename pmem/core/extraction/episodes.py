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

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from pmem.core.extraction.talk import REASONS, turns_of_talk, who
from pmem.core.extraction.turns import Turn, is_work, turn_of
from pmem.core.lines import shortened
from pmem.core.text.sentences import read
from pmem.core.text.speech import is_talk
from pmem.values.records import Episode, EpisodeType, Message

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
_SERIOUS: Final = frozenset(
    """down outage lost loss leaked breach security vulnerability production blocked blocks
    corrupted critical serious hacked customers""".split()
)
_OUT: Final = frozenset("deployed released shipped published launched live production".split())
_MORE: Final = {
    EpisodeType.DECISION_MADE: REASONS,
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
