"""What answers the task of a context: memories and episodes, what was said, what they are worth."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Final

import msgspec
from msgspec.structs import replace

from pmem.core import checks
from pmem.core.context.parts import Omitted
from pmem.core.context.worth import Lengths, Valuation, first_subjects
from pmem.core.filters import Filter
from pmem.core.lifecycle.neighbours import SaidOtherwise
from pmem.core.policy import ACTIVITY, EVENT
from pmem.core.retrieval.collection import LinkedMemory
from pmem.core.retrieval.ranked import RankedDocument as Ranked
from pmem.core.retrieval.signals import idf
from pmem.core.selection import Selection
from pmem.core.text.paths import named_paths, named_symbols
from pmem.core.trust import may_be_told
from pmem.errors import InvalidValue
from pmem.project.caller import noted_for
from pmem.project.workspace import Workspace
from pmem.search.context_memories import UsableMemories
from pmem.search.context_request import ContextRequest, modes_of, task_of
from pmem.search.hits import (
    Scored,
    SearchKind,
    SearchRequest,
    as_scored,
    most_related,
    opened,
    related_to,
)
from pmem.search.picking import RankedSet, pick_each

LEAST_RECALLED: Final = 50
"""How many hits a context of any budget looks at."""
TOKENS_A_HIT: Final = 20
"""It looks at one more for every so many tokens of its budget."""
MOST_RECALLED: Final = 300
"""How many hits it looks at, at the most."""
FAINT: Final = 0.1
"""A message that scores less than this share of the best one's score is not recalled."""
WEIGHTY: Final = 0.15
"""What scores so much has more than a chance word of a task."""
SHARED_WORDS: Final = 2
"""So does what has so many words of it."""
MOST_PATHS: Final = 20
"""A task is about so many files at the most."""
RARE: Final = 0.025
"""And what has one of its words that no more than this share of all memories have."""


class ContextSource(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a context draws on: a memory, what it is asked for, and what is found there.

    Attributes:
        asked: the task, or what stands for one.
        found: memories and episodes that answer it, the best first; `said` are messages.
        below: what answers too badly, or is one too many of its category.
        related: what the memories bring along, by id.
        valuation: what memories are worth to the task.
        weighs: whether one of the memories has more than a chance word of the task; an episode
            only repeats what was said.
        differing: how memories stand that contradict each other, by id.
    """

    workspace: Workspace
    request: ContextRequest
    budget: int
    usable: UsableMemories
    asked: str = ""
    found: list[Scored] = []
    said: list[Scored] = []
    below: list[Omitted] = []
    related: dict[str, LinkedMemory] = {}
    valuation: Valuation = Valuation()
    weighs: bool = False
    differing: Mapping[str, SaidOtherwise] = {}

    @property
    def is_plain(self) -> bool:
        """Whether what agents noted is shown as all else is."""
        return self.workspace.settings.trust.is_plain

    @cached_property
    def scores(self) -> dict[str, float]:
        """Return how well each answers, by id, as searches score it."""
        return {place.id: hit.score for _, place, hit in [*self.found, *self.said]}

    def ranked(self) -> list[Scored]:
        """Return all that answers, the best first."""
        return sorted([*self.found, *self.said], key=lambda one: -one[2].score)

    def brought_by(self, identifier: str) -> Iterator[Scored]:
        """Yield what a memory brings along."""
        return (as_scored(one) for one in self.related.values() if one.via == identifier)


def rank_answers(
    workspace: Workspace,
    request: ContextRequest,
    asked: str,
    budget: int,
    hidden: Collection[str] = (),
) -> ContextSource:
    """Return what answers a task, of which an empty one has nothing.

    The larger the budget, the more is looked at. What is `hidden` are messages and chunks that are
    shown elsewhere or not wanted.
    """
    usable = UsableMemories(workspace, request, budget)
    source = ContextSource(workspace=workspace, request=request, budget=budget, usable=usable)
    given = [*request.paths, *_named_here(workspace, asked)]
    applying = usable.read_applying(task_paths(given, asked), task_symbols(asked))
    settings, modes = workspace.settings, modes_of(workspace.settings, request)
    if not asked:
        valuation = Valuation(applying=applying, modes=modes)
        return replace(source, valuation=valuation, weighs=bool(applying))
    most = min(MOST_RECALLED, LEAST_RECALLED + budget // TOKENS_A_HIT)
    remembered, said, standing = _picked(workspace, request, asked, most)
    hits = [*remembered.ranked, *standing.ranked]
    ids = [place.id for kind, place, _ in hits if kind is SearchKind.MEMORY]
    usable.read([*ids, *(tie.id for tie in remembered.ties)])
    below: list[Omitted] = []
    heard = list(_undoubted(usable, workspace, _heard(said, hidden, below)))
    told = _told_episodes(workspace, remembered)
    known = [
        one
        for one in _undoubted(usable, workspace, remembered.ranked)
        if one[1].id in usable or one[1].id in told
    ]
    is_sum = settings.ranking == "weighted_sum"
    passed = _above(known, settings.relevance_threshold if is_sum else 0.0, below)
    lengths = Lengths(modes, settings.categories.rag_length)
    found = _within_lengths(passed, lengths, usable, below)
    visible = [tie for tie in remembered.ties if tie.id in usable]
    along = related_to(found, visible, most_related(request.related))
    relative = _relative(found)
    answers = {place.id: hit for kind, place, hit in found if kind is SearchKind.MEMORY}
    shared = {identifier: remembered.shared[hit.number] for identifier, hit in answers.items()}
    memories = [usable[identifier] for identifier in answers]
    return replace(
        source,
        asked=asked,
        found=found,
        said=heard,
        below=below,
        related={id_: one for id_, one in along.items() if lengths.take(usable[id_])},
        valuation=Valuation(
            answers=relative,
            applying=applying,
            subjects=first_subjects(memories, relative),
            information={identifier: sum(words) for identifier, words in shared.items()},
            standing=_relative([one for one in standing.ranked if one[1].id in usable]),
            modes=modes,
        ),
        weighs=bool(applying)
        or any(hit.score >= WEIGHTY for hit in answers.values())
        or _are_told_apart(shared.values(), usable.count),
    )


def _undoubted(
    usable: UsableMemories, workspace: Workspace, ranked: Iterable[Scored]
) -> Iterator[Scored]:
    """Yield hits but the episodes and messages to be left out as nobody has reviewed them."""
    for one in ranked:
        if usable.doubts.treats == "hide" and one[0] is not SearchKind.MEMORY:
            found = list(opened(workspace, [one]))
            if any(usable.doubts.mark(it.record) for it in found):
                usable.unsaid[one[1].id] = None
                continue
        yield one


def _are_told_apart(shared: Iterable[Sequence[float]], count: int) -> bool:
    """Tell whether one of some hits shares several words with the task, or a rare one."""
    rare = idf(count, max(1.0, RARE * count))
    return any(len(words) >= SHARED_WORDS or rare <= sum(words) for words in shared)


def _told_episodes(workspace: Workspace, found: RankedSet) -> frozenset[str]:
    """Return the ids of the episodes among what was found that a context may show."""
    ids = tuple(one[1].id for one in found.ranked if one[0] is SearchKind.EPISODE)
    shown_to = noted_for(workspace)
    episodes = workspace.episodes.select(Selection(ids=ids)) if ids else ()
    return frozenset(one.id for one in episodes if may_be_told(one, shown_to))


def _within_lengths(
    passed: Iterable[Scored], lengths: Lengths, usable: UsableMemories, below: list[Omitted]
) -> list[Scored]:
    """Return what answers, of each category no more than it may show; the others are noted."""
    found = []
    for one in passed:
        if one[0] is SearchKind.EPISODE or lengths.take(usable[one[1].id]):
            found.append(one)
        else:
            below.append(Omitted(one[1].id, "over_length", one[2].score))
    return found


def task_paths(given: Iterable[str], asked: str) -> tuple[str, ...]:
    """Return the files that a task is about: those that are given, and those that it names."""
    named = (path.removeprefix("./").rstrip("/") for path in named_paths(asked))
    return tuple(filter(checks.is_unicode, dict.fromkeys([*given, *named])))[:MOST_PATHS]


def _named_here(workspace: Workspace, asked: str) -> Iterator[str]:
    """Yield the files that a task names as they are seen from the current folder, if they exist."""
    for name in named_paths(asked)[:MOST_PATHS]:
        if os.path.isfile(name):
            with suppress(InvalidValue):
                yield workspace.sources.named(name)


def task_symbols(asked: str) -> tuple[str, ...]:
    """Return the functions, classes and constants that a task names, without brackets."""
    return tuple(name.removesuffix("()") for name in named_symbols(asked))[:MOST_PATHS]


def _picked(
    workspace: Workspace, request: ContextRequest, asked: str, most: int
) -> Iterator[RankedSet]:
    """Yield what is remembered of a task, what was said of it, and what every task needs."""
    settings = workspace.settings
    wanted = Filter(trust=request.trust)
    modes = settings.categories.context
    remembers = request.only != "conversation"
    hears = request.only != "memories" and request.trust is None and modes.get(ACTIVITY) != "none"
    remembered = (SearchKind.MEMORY, *(SearchKind.EPISODE,) * (modes.get(EVENT) != "none"))
    ask = partial(SearchRequest, wanted=wanted, top_k=most)
    questions = [
        ask(query=asked, kinds=remembered, related=request.related) if remembers else None,
        ask(query=asked, kinds=(SearchKind.MESSAGE,), related=0) if hears else None,
        ask(query=settings.context.standing, kinds=(SearchKind.MEMORY,), related=0)
        if remembers and task_of(request)
        else None,
    ]
    picked = iter(pick_each(workspace, filter(None, questions), spelt=questions[0]))
    for question in questions:
        yield next(picked) if question else RankedSet([], 0, Counter(), [])


def _heard(said: RankedSet, hidden: Collection[str], below: list[Omitted]) -> list[Scored]:
    """Return the messages that are not shown elsewhere, without faint ones, and note these."""
    seen = [one for one in said.ranked if not {one[1].id, one[1].record} & set(hidden)]
    faint = FAINT * max((_relevance(hit) for _, _, hit in said.ranked), default=0.0)
    return _above(seen, faint, below)


def _above(hits: list[Scored], threshold: float, below: list[Omitted]) -> list[Scored]:
    """Return the hits that reach a threshold, and note the others."""
    passed = []
    for one in hits:
        if _relevance(one[2]) < threshold:
            below.append(Omitted(one[1].id, "below_threshold", one[2].score))
        else:
            passed.append(one)
    return passed


def _relative(hits: Collection[Scored]) -> dict[str, float]:
    """Return the scores of hits relative to the best one's, by id."""
    best = max((hit.score for _, _, hit in hits), default=0.0) or 1.0
    return {place.id: hit.score / best for _, place, hit in hits}


def _relevance(hit: Ranked) -> float:
    """Return how well a hit answers: its score without what only ranks it below others.

    That is how many better hits of its conversation there are, and that an insight counts less.
    """
    return hit.score / (hit.signals.get("repeat", 1.0) * hit.signals.get("insight", 1.0))
