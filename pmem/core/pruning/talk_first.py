"""The strategy that keeps talk: calls of tools and their results go first.

What readers of coding sessions call essential is nearly always talk. Of these classes the lowest
goes first, and within a class finished tasks, then what has the least merit, such as the older:

1. what tools were told and answered, a call along with its results; errors last;
2. what assistants say;
3. what people say; and last of all their directives and what opens the task at hand.

Where no tools are called, assistants and people are one class.

What is worth more takes room first, so the target is met, and small messages stay where a large
one does not fit.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Final, NamedTuple

from pmem.core.pruning.kinds import Kinds, kinds_of
from pmem.core.pruning.segments import connect
from pmem.core.text.blocks import read_prose
from pmem.core.text.calls import call_links
from pmem.core.text.speech import TOOLS, Speech, speech_of
from pmem.values.records import Message

SHORT_ANSWER: Final = 4
"""Words; so short an answer says nothing without the question before it."""
_TOOL, _ERROR, _ASSISTANT, _PERSON, _STANDING = range(5)
TOOLS_SHARE: Final = 0.5
"""Share of a limit that the latest messages of tools take before others: with more, the output of
the last command could leave no room for the request that it serves."""


class MessageGroup(NamedTuple):
    """Messages that stay or go together: a call with its results, an answer with its question.

    `worth` is the class of the one that is worth most, and `finished` whether their task is.
    """

    places: tuple[int, ...]
    worth: int
    finished: bool

    @property
    def is_of_tools(self) -> bool:
        """Whether these are a tool's call and its results."""
        return self.worth in (_TOOL, _ERROR)

    @property
    def is_standing(self) -> bool:
        """Whether one of these is a directive, or opens the task at hand."""
        return self.worth == _STANDING


def message_groups(
    messages: Sequence[Message], finished: Sequence[bool], opening: int
) -> list[MessageGroup]:
    """Return the groups of a conversation, of which `opening` opens the task at hand."""
    said = [speech_of(message) for message in messages]
    kinds = [kinds_of(message) for message in messages]
    worths = dict(_worths(said, kinds, opening))
    links = [*call_links(messages), *_answer_links(messages, said)]
    return [
        MessageGroup(places, max(map(worths.__getitem__, places)), _all_of(finished, places))
        for places in connect(len(messages), links)
    ]


def unit_group(places: tuple[int, ...], finished: Sequence[bool]) -> MessageGroup:
    """Return a group of messages whose class does not count."""
    return MessageGroup(places, _PERSON, _all_of(finished, places))


def _all_of(finished: Sequence[bool], places: Iterable[int]) -> bool:
    return all(finished[place] for place in places)


def choose_kept(
    groups: Sequence[MessageGroup],
    protected: Set[int],
    tokens: Mapping[int, int],
    most_messages: int,
    most_tokens: int,
) -> set[int]:
    """Return which messages stay: what is protected, then what is worth most as long as it fits.

    Protected talk stays whatever the limits are, then come directives. Protected messages of
    tools take half of the limits at the most before others.
    """
    groups = list(_shown_groups(groups, tokens))
    bound = [group for group in groups if not protected.isdisjoint(group.places)]
    kept = {place for group in bound if not group.is_of_tools for place in group.places}
    used = sum(tokens[place] for place in kept)
    for stage, share in (
        ([group for group in groups if group.is_standing], 1.0),
        ([group for group in bound if group.is_of_tools], TOOLS_SHARE),
        (groups, 1.0),
    ):
        for group in stage:
            count = len(kept) + len(group.places)
            size = used + sum(tokens[place] for place in group.places)
            fits = count <= share * most_messages and size <= share * most_tokens
            if fits and kept.isdisjoint(group.places):
                kept.update(group.places)
                used = size
    return kept


def choose_unfinished(
    groups: Sequence[MessageGroup], protected: Set[int], live: Container[int], done: Set[int]
) -> set[int]:
    """Return which messages stay where a task has ended and no limit is passed.

    What is finished goes, but for directives; the request for the task is none any more. In work
    with tools only their messages go: what was said takes little room there, and is nearly all
    that counts.

    `done` are the requests that the finished tasks began with.
    """
    with_tools = any(group.is_of_tools for group in groups)  # pruned earlier or not
    return {
        place
        for group in _shown_groups(groups, live)
        if not group.finished
        or (group.is_standing and done.isdisjoint(group.places))
        or (with_tools and not group.is_of_tools)
        or not protected.isdisjoint(group.places)
        for place in group.places
    }


def _shown_groups(groups: Iterable[MessageGroup], live: Container[int]) -> Iterator[MessageGroup]:
    """Yield what was not pruned earlier of each group; of a tool's call all or nothing."""
    for group in groups:
        places = tuple(place for place in group.places if place in live)
        if places and (places == group.places or not group.is_of_tools):
            yield group._replace(places=places)


def _worths(
    said: Sequence[Speech], kinds: Sequence[Kinds], opening: int
) -> Iterator[tuple[int, int]]:
    """Yield each message's place and class.

    What people say to people is no request. Where no tools are called, an assistant's words are no
    report on its way, but one side of a talk.
    """
    with_tools = not TOOLS.isdisjoint(said)
    is_work = with_tools or Speech.ASSISTANT in said
    for place, (speech, kind) in enumerate(zip(said, kinds, strict=True)):
        if speech in TOOLS:
            yield place, _ERROR if kind.error else _TOOL
        elif speech is Speech.ASSISTANT:
            yield place, _ASSISTANT if with_tools else _PERSON
        else:
            is_standing = kind.directive or (is_work and place == opening)
            yield place, _STANDING if is_standing else _PERSON


def _answer_links(messages: Sequence[Message], said: Sequence[Speech]) -> Iterator[tuple[int, int]]:
    """Link a person's short answer to the assistant's question right before it."""
    talk = [place for place, speech in enumerate(said) if speech not in TOOLS]
    for asked, answer in pairwise(talk):
        is_answer = (said[asked], said[answer]) == (Speech.ASSISTANT, Speech.PERSON)
        is_short = len(messages[answer].content.split()) <= SHORT_ANSWER
        if (
            is_answer
            and is_short
            and not {"?", "？"}.isdisjoint(read_prose(messages[asked].content))
        ):
            yield asked, answer
