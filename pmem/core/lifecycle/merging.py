"""Which records say the same, and how several become one that loses nothing."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core.duplicates import Claim, Pair, Relation, Verdict, claim_of, compare, pairs
from pmem.core.duplicates.pairing import MOST_COMPARED
from pmem.core.filters import fold
from pmem.core.lifecycle.linking import same_subject
from pmem.core.lifecycle.plan import SOURCE, Action, Draft, Notice
from pmem.core.lifecycle.presence import last_use
from pmem.core.lifecycle.states import moved
from pmem.core.retention import age_in_days, changed, linked, same_link
from pmem.core.text.sentences import split_sentences
from pmem.core.trust import doubt, peers
from pmem.values.records import (
    Access,
    Citation,
    Episode,
    Event,
    EventKind,
    Memory,
    Relationship,
    State,
    TurnRange,
)


def rank(memory: Memory) -> tuple[int, bool, float, datetime, str]:
    """Order memories by which survives a merge: trusted, pinned, important, old ones first."""
    return (doubt(memory), not memory.pinned, -memory.importance, memory.created_at, memory.id)


def absorbing(
    survivor: Memory, others: Sequence[Memory], actor: str, at: datetime, reason: str = ""
) -> Memory:
    """Return a memory that has taken others in: their tags, links, citations, validity and recalls.

    What another one says or claims to be worth (subject, tags, importance, pin, validity) counts
    only where it is trusted as far as the survivor, so that what becomes of both is trusted as the
    survivor was, and rightly so.
    """
    together = (survivor, *others)
    trusted = (survivor, *peers(survivor, others))
    ids = {memory.id for memory in together}
    links: dict[tuple[str, str], Relationship] = {}
    for link in (link for memory in together for link in memory.relationships):
        if link.target not in ids:
            links.setdefault((link.target, link.type), link)
    cited: dict[tuple[str, Any], Citation] = {}
    for one in (one for memory in together for one in memory.citations):
        cited.setdefault((one.file, one.symbol or one.lines), one)
    recalled = [memory.access.last_at for memory in together if memory.access.last_at]
    used = max(last_use(memory) for memory in others)
    if used > last_use(survivor):
        recalled.append(used)  # else it would fade before they would have
    event = _merge_event({"merged": [memory.id for memory in others]}, actor, at, reason)
    return changed(
        survivor,
        event,
        tags=tuple(dict.fromkeys(tag for memory in trusted for tag in memory.tags)),
        subject=next((memory.subject for memory in trusted if memory.subject), None),
        importance=max(memory.importance for memory in trusted),
        pinned=any(memory.pinned for memory in trusted),
        valid_from=min(memory.valid_from for memory in trusted),
        relationships=tuple(links.values()),
        citations=tuple(cited.values()),
        access=Access(
            count=sum(memory.access.count for memory in together),
            last_at=max(recalled, default=None),
        ),
    )


def absorbed(memory: Memory, survivor: str, actor: str, at: datetime, reason: str = "") -> Memory:
    """Return a memory that another one has taken in."""
    event = _merge_event({"into": survivor}, actor, at, reason)
    return moved(memory, event)


def _merge_event(detail: dict[str, Any], actor: str, at: datetime, reason: str) -> Event:
    why = {"reason": reason} if reason else {}
    return Event(event=EventKind.MERGE, at=at, actor=actor, source=SOURCE, detail={**detail, **why})


def redirected(memory: Memory, gone: str, survivor: str, actor: str, at: datetime) -> Memory:
    """Return a memory whose links to a merged one lead to the survivor as well."""
    for link in memory.relationships:
        also = msgspec.structs.replace(link, target=survivor, created_at=at)
        known = any(same_link(also, other) for other in memory.relationships)
        if link.target == gone and not known:
            memory = linked(memory, also, actor, at)
    return memory


def was_undone(one: Memory | Episode, other: Memory | Episode) -> bool:
    """Tell whether two active records were one once, one in the other or both in a third."""
    return not _parts_of(one).isdisjoint(_parts_of(other))


def _parts_of(record: Memory | Episode) -> set[Any]:
    """Return the ids under which a record was known: its own, and those it was merged into."""
    into = (e.detail.get("into") for e in record.history if e.event is EventKind.MERGE)
    return {record.id, *(id_ for id_ in into if isinstance(id_, str))}


def was_cut(memory: Memory, target: str) -> bool:
    """Tell whether a link from a memory to another one was removed on purpose."""
    cuts = (e.detail.get("removed") for e in memory.history if e.event is EventKind.UNLINK)
    return any(
        isinstance(link, dict) and link.get("target") == target
        for links in cuts
        if isinstance(links, list)
        for link in links
    )


COPIES: Final = "the same words"
_Kind = tuple[int, str, datetime | None]
"""What memories that become one have in common: text, category and the end of validity."""


class ReadMemory(NamedTuple):
    """A memory, and what it says, reduced for comparisons."""

    memory: Memory
    claim: Claim


def with_claims(memories: Iterable[Memory]) -> list[ReadMemory]:
    """Return memories with what they say."""
    return [ReadMemory(memory, claim_of(memory.content)) for memory in memories]


class Together(NamedTuple):
    """A memory that stays, and those that say the same, each with the reason."""

    survivor: Memory
    others: list[tuple[Memory, str]]


def gathered(known: Sequence[ReadMemory]) -> Iterator[Together]:
    """Yield the memories that become one, the best survivors first, each in one group at most."""
    texts, twins = _texts(known)
    open_: dict[_Kind, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    text_at: dict[int, int] = {}
    for text, places in enumerate(texts):
        if len(places) > 1 or text in twins:
            for place in places:
                text_at[place] = text
                memory = known[place].memory
                kind = (text, memory.category, memory.valid_until)
                open_[kind][fold(memory.subject or "")].append(place)
    taken: set[int] = set()
    for place in sorted(text_at, key=lambda place: rank(known[place].memory)):
        if place not in taken:
            taken.add(place)
            text = text_at[place]
            also = sorted((other, verdict.reason) for other, verdict in twins[text].items())
            others = _others(known, place, [(text, COPIES), *also], open_, taken)
            if others:
                yield Together(known[place].memory, others)


def _texts(known: Sequence[ReadMemory]) -> tuple[list[list[int]], dict[int, dict[int, Verdict]]]:
    """Find where each text is said, and which texts say the same in other words, both ways.

    Copies of a text are compared with others only once.
    """
    copies: dict[object, list[int]] = {}
    for place, (memory, claim) in enumerate(known):
        copies.setdefault((memory.scope, claim.items, claim.spelled), []).append(place)
    single = [known[places[0]] for places in copies.values()]
    claims, scopes = [one.claim for one in single], [one.memory.scope for one in single]
    twins: dict[int, dict[int, Verdict]] = defaultdict(dict)
    for pair in pairs(claims, scopes, link_min=1.0, most_links=0):
        if pair.verdict.relation is Relation.DUPLICATE:
            twins[pair.first][pair.second] = twins[pair.second][pair.first] = pair.verdict
    return list(copies.values()), twins


def _others(
    known: Sequence[ReadMemory],
    place: int,
    texts: Iterable[tuple[int, str]],
    open_: Mapping[_Kind, dict[str, list[int]]],
    taken: set[int],
) -> list[tuple[Memory, str]]:
    """Take what a memory stands for as well; the first subject that is met is the subject."""
    survivor = known[place].memory
    subject = fold(survivor.subject or "")
    found: list[tuple[Memory, str]] = []
    for text, reason in texts:
        subjects = open_.get((text, survivor.category, survivor.valid_until), {})
        for name in (subject, "") if subject else tuple(subjects):
            if subject and name not in (subject, ""):
                continue
            free = [other for other in subjects.pop(name, ()) if other not in taken]
            parted = [other for other in free if was_undone(survivor, known[other].memory)]
            if parted:
                subjects[name] = parted
            new = set(free).difference(parted)
            taken |= new
            found += [(known[other].memory, reason) for other in sorted(new)]
            subject = subject or (name if new else "")
    return found


def left_alone(known: Sequence[ReadMemory], related: Iterable[Pair]) -> Iterator[Notice]:
    """Yield the memories that say the same and do not become one, and why; few for many copies."""
    told: set[int] = set()
    for pair in related:
        one, other = known[pair.first].memory, known[pair.second].memory
        if pair.verdict.relation is not Relation.DUPLICATE or {pair.first, pair.second} <= told:
            continue
        why = obstacle(one, other)
        if why:
            told |= {pair.first, pair.second}
            first, second = sorted((one, other), key=rank)
            yield Notice(
                records=(first.id, second.id),
                texts=(first.content, second.content),
                score=pair.verdict.score,
                why=why,
            )


def obstacle(one: Memory, other: Memory) -> str:
    """Say why two memories that say the same are not to be merged; nothing if they are."""
    if was_undone(one, other):
        return "they were merged once, and brought back"
    if one.scope != other.scope:
        return "others noted them: their scopes differ"
    if one.category != other.category:
        return f"they are in the categories {one.category} and {other.category}"
    if not same_subject(one, other):
        return f"they are about {one.subject} and {other.subject}"
    if one.valid_until != other.valid_until:
        return "they hold for different times"
    return ""


def crowded(known: Sequence[ReadMemory]) -> list[ReadMemory]:
    """Return the memories of which some were not compared, because too many use their words."""
    words = [(memory.scope, claim.base) for memory, claim in known]
    counts = Counter(words)
    return [one for one, key in zip(known, words, strict=True) if counts[key] > MOST_COMPARED]


OVERLAP: Final = 0.5
"""Share of the turns of two episodes together that both must tell of."""
_ENDS: Final = " ."
_JOINTS: Final = (", and ", ", so ", ", because ")
"""What stands behind a statement that goes on, and holds as it is."""


def merge_overlapping(draft: Draft, most_characters: int) -> None:
    """Merge the episodes of one kind that tell of the same turns of a conversation (S2).

    What is too long for a summary of so many characters stays in the merged episode only.
    """
    alike: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in draft.active_episodes():
        if episode.conversation and episode.turns:
            alike[episode.conversation, episode.type].append(episode)
    for same_kind in alike.values():
        left = same_kind
        while len(left) > 1 and _merge_once(draft, left, most_characters):
            found = (draft.records[episode.id] for episode in left)
            left = [e for e in found if isinstance(e, Episode) and e.state is State.ACTIVE]


def _merge_once(draft: Draft, episodes: list[Episode], most_characters: int) -> bool:
    """Merge what overlaps as it is; a survivor tells of more turns, and may overlap with more."""
    starts = sorted((_turns(episode).start, place) for place, episode in enumerate(episodes))
    gone: set[str] = set()
    for first in sorted(episodes, key=_rank):
        if first.id in gone:
            continue
        turns = _turns(first)
        length = turns.end - turns.start + 1
        near = slice(
            bisect_left(starts, (turns.start - 2 * length, 0)),
            bisect_left(starts, (turns.end + 1, 0)),
        )
        same = [
            episode
            for episode in (episodes[place] for _, place in starts[near])
            if episode.id != first.id
            and episode.id not in gone
            and overlap(first, episode) >= OVERLAP
            and not was_undone(first, episode)
        ]
        if same:
            gone.update((first.id, *(episode.id for episode in same)))
            _merge(draft, first, sorted(same, key=_rank), most_characters)
    return bool(gone)


def _turns(episode: Episode) -> TurnRange:
    assert episode.turns is not None
    return episode.turns


def overlap(one: Episode, other: Episode) -> float:
    """Return the share of the turns of two episodes that both tell of, from 0 to 1."""
    if one.turns is None or other.turns is None:
        return 0.0
    start, end = max(one.turns.start, other.turns.start), min(one.turns.end, other.turns.end)
    first, last = min(one.turns.start, other.turns.start), max(one.turns.end, other.turns.end)
    return max(0, end - start + 1) / max(1, last - first + 1)


def archive_beyond(draft: Draft, most: int, half_life_days: float) -> None:
    """Archive the least present episodes of those that are too many (S2).

    Pinned ones stay in any case.
    """
    episodes = draft.active_episodes()
    free = sorted(
        (episode for episode in episodes if not episode.pinned),
        key=lambda episode: (_weight(episode, draft.now, half_life_days), episode.id),
    )
    for episode in free[: max(0, len(episodes) - most)]:
        weight = _weight(episode, draft.now, half_life_days)
        why = (
            f"one of the least present of {len(episodes)} episodes, and {most} stay:"
            f" significance {episode.significance:g}, with its age {weight:.2f}"
        )
        event = draft.event(EventKind.ARCHIVE, reason=why)
        draft.take(Action.ARCHIVE, why, moved(episode, event))


def _weight(episode: Episode, now: datetime, half_life_days: float) -> float:
    faded: float = 0.5 ** (age_in_days(last_use(episode), now) / half_life_days)
    return episode.significance * faded


def _rank(episode: Episode) -> tuple[int, bool, float, datetime, str]:
    worth = (not episode.pinned, -episode.significance, episode.created_at, episode.id)
    return (doubt(episode), *worth)


def _merge(draft: Draft, first: Episode, others: list[Episode], most: int) -> None:
    trusted = (first, *peers(first, others))  # only what is trusted as far is told by one
    ranges = [episode.turns for episode in (first, *others) if episode.turns]
    summary = _told_together(first, trusted[1:], most)
    survivor = changed(
        first,
        draft.event(EventKind.MERGE, merged=[episode.id for episode in others]),
        summary=summary,
        tokens=draft.count(summary),
        participants=_union(episode.participants for episode in trusted),
        linked_memories=_union(episode.linked_memories for episode in trusted),
        tags=_union(episode.tags for episode in trusted),
        outcome=next((episode.outcome for episode in trusted if episode.outcome), None),
        pinned=any(episode.pinned for episode in trusted),
        turns=TurnRange(
            start=min(turns.start for turns in ranges), end=max(turns.end for turns in ranges)
        ),
    )
    gone = [moved(other, draft.event(EventKind.MERGE, into=first.id)) for other in others]
    draft.take(Action.MERGE, "they tell of the same turns of a conversation", survivor, *gone)


def _told_together(first: Episode, others: Sequence[Episode], most: int) -> str:
    """Return a summary with what the others add to it."""
    told = {first.summary: claim_of(first.summary)}
    for other in others:
        text, claim = other.summary, claim_of(other.summary)
        known = any(
            _holds(one, text) or compare(claim, said).relation is Relation.DUPLICATE
            for one, said in told.items()
        )
        grown = {one: said for one, said in told.items() if not _holds(text, one)} | {text: claim}
        if not known and len(" ".join(grown)) <= most:
            told = grown
    return " ".join(told)


def _holds(longer: str, text: str) -> bool:
    """Tell whether each sentence of a text is one of another text, or goes on there."""
    known = _statements(longer)
    return all(
        said in known
        or any(one.startswith(tuple(said + joint for joint in _JOINTS)) for one in known)
        for said in _statements(text)
    )


def _statements(text: str) -> list[str]:
    return [sentence.strip(_ENDS).casefold() for sentence in split_sentences(text)]


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))
