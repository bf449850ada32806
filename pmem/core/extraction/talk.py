"""Key moments of everyday talk, found by the words of its messages.

Only the last message can be a moment; the earlier ones show where the episode began, and whether
it has been reported already.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from pmem.core.extraction.turns import MessageReading, Sign, Turn, empty_terms, reading
from pmem.core.text.sentences import read
from pmem.core.text.terms import terms
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import EpisodeType, Message, Role

READ: Final = 4000  # characters of the last message that are looked at
BEFORE: Final = 1000  # characters of a message before it
SOON: Final = 6  # messages within which the same is not told again
_START: Final = 80  # characters that show whether a message is a request
CURT: Final = 3  # words; a title of so few says nothing
_ASKED_IN: Final = 8  # messages among which a decision's question is looked for
REASONS: Final = frozenset("because since reason cheaper faster simpler therefore due".split())
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
    if following is None or not REASONS.isdisjoint(sign.sentence.words):
        return text
    return text if REASONS.isdisjoint(read(following).words) else f"{text} {following}"


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
