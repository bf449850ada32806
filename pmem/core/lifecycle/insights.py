"""Insights: what the histories of a project's memories say that no single memory does.

At most three a day, and none that is known; they are ordinary memories of low importance.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Final, NamedTuple

from pmem.core.filters import fold
from pmem.core.lifecycle.draft import Draft
from pmem.core.lifecycle.merging import SOURCE
from pmem.core.lifecycle.plan import Action
from pmem.core.retention import TAKES_BACK
from pmem.core.text.terms import terms
from pmem.core.threeway.history import SETTLED
from pmem.core.trust import inherited
from pmem.values.defaults import DEFAULT_IMPORTANCE
from pmem.values.ids import derived_id
from pmem.values.records import (
    Episode,
    EpisodeType,
    Event,
    EventKind,
    Memory,
    MemoryType,
    Source,
)
from pmem.values.times import iso

CATEGORY: Final = "relationship_dynamic"  # as S1 has it
MOST: Final = 3
"""Insights of one run."""
TIMES: Final = 3
"""How often something must have happened to say something."""
PERIOD: Final = timedelta(days=30)
"""How far back insights look."""
PAUSE: Final = timedelta(hours=24)
"""No insight follows another one sooner."""
_NAME_CHARACTERS: Final = 80
_QUOTED_CHARACTERS: Final = 160


class Insight(NamedTuple):
    """Something noticed: what kind, what about, in words, and in which records."""

    kind: str
    topic: str
    content: str
    seen_in: tuple[Memory | Episode, ...]


def note_insights(draft: Draft) -> None:
    """Add the insights that the draft's records give."""
    known = [
        record
        for record in draft.records.values()
        if isinstance(record, Memory)
        and is_insight(record)
        and draft.now - record.created_at < PERIOD
    ]
    if any(draft.now - memory.created_at < PAUSE for memory in known):
        return
    told = {memory.tags for memory in known}
    found = chain(_unsettled(draft), _recurring(draft))
    for insight in islice((new for new in found if (new.kind, new.topic) not in told), MOST):
        draft.take(
            Action.INSIGHT,
            _WHY[insight.kind],
            _make_insight_memory(draft, insight),
        )


_WHY: Final = {
    "unsettled": "what is known about it keeps changing",
    "recurring": "problems like this one keep coming up",
}
"""Why an insight is noted, by its kind."""


def is_insight(memory: Memory) -> bool:
    """Tell whether upkeep has noted a memory by itself."""
    return memory.type is MemoryType.INSIGHT and memory.source.kind == SOURCE


def _unsettled(draft: Draft) -> Iterator[Insight]:
    """Yield the subjects whose memories keep changing, those that change most first."""
    changes: dict[str, list[datetime]] = defaultdict(list)
    names: dict[str, str] = {}
    about: dict[str, list[Memory]] = defaultdict(list)
    for _, record in sorted(draft.records.items()):
        if isinstance(record, Memory) and record.subject:
            names[fold(record.subject)] = record.subject
            about[fold(record.subject)].append(record)
            changes[fold(record.subject)] += [
                event.at
                for event in record.history
                if _is_change(event) and _recent(draft, event.at)
            ]
    for topic in sorted(changes, key=lambda topic: (-len(changes[topic]), topic)):
        if len(changes[topic]) >= TIMES:
            yield Insight(
                "unsettled",
                _topic(topic),
                f"{_quote_title(names[topic])} changed {len(changes[topic])} times since"
                f" {min(changes[topic]):%Y-%m-%d}; check which value holds.",
                tuple(about[topic]),
            )


def _recurring(draft: Draft) -> Iterator[Insight]:
    """Yield problems whose titles have a word in common; each problem counts once."""
    issues = [
        episode
        for episode in draft.active_episodes()
        if episode.type is EpisodeType.ISSUE_IDENTIFIED and _recent(draft, episode.created_at)
    ]
    words = {episode.id: set(terms(episode.title)) for episode in issues}
    counts = Counter(word for found in words.values() for word in found)
    often = [(topic, count) for topic, count in counts.items() if count >= TIMES]
    for topic, _ in sorted(often, key=lambda item: (-item[1], item[0])):
        alike = [episode for episode in issues if topic in words[episode.id]]
        if len(alike) >= TIMES and len(topic) > 2:
            issues = [episode for episode in issues if episode not in alike]
            first, *_, last = sorted(alike, key=lambda episode: (episode.created_at, episode.id))
            yield Insight(
                "recurring",
                _topic(topic),
                f'Problems such as "{_quote_title(last.title)}" came up {len(alike)} times'
                f" since {first.created_at:%Y-%m-%d}.",
                tuple(alike),
            )


def _topic(text: str) -> str:
    """Return what an insight is about, as its tag has it."""
    return text[:_NAME_CHARACTERS]


def _quote_title(text: str) -> str:
    """Return a name or a title on one line, so short that the sentence around it has room."""
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED_CHARACTERS else f"{line[: _QUOTED_CHARACTERS - 1]}…"


def _is_change(event: Event) -> bool:
    """Tell whether an event gave a text a new value; one that was undone or resolved had it."""
    if event.event is EventKind.UPDATE and "content" in event.before:
        return event.detail.keys().isdisjoint({TAKES_BACK, SETTLED})
    return event.event is EventKind.ADD and "supersedes" in event.detail


def _recent(draft: Draft, at: datetime) -> bool:
    return draft.now - at < PERIOD


def _make_insight_memory(draft: Draft, insight: Insight) -> Memory:
    noted = draft.event(EventKind.ADD, **inherited(*insight.seen_in))
    return Memory(
        id=derived_id(draft.now, SOURCE, insight.kind, insight.topic, iso(draft.now)),
        type=MemoryType.INSIGHT,
        content=insight.content,
        category=CATEGORY,
        tags=(insight.kind, insight.topic),
        importance=DEFAULT_IMPORTANCE[MemoryType.INSIGHT],
        valid_from=draft.now,
        source=Source(kind=SOURCE),
        created_at=draft.now,
        updated_at=draft.now,
        tokens=draft.count(insight.content),
        history=(noted,),
    )
