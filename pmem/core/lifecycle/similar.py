"""Which memories say the same, which of them become one, and which are left alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from pmem.core.duplicates import Claim, Pair, Relation, Verdict, claim_of, pairs
from pmem.core.duplicates.pairing import MOST_COMPARED
from pmem.core.filters import fold
from pmem.core.lifecycle import merging
from pmem.core.lifecycle.linking import same_subject
from pmem.core.lifecycle.plan import Notice
from pmem.core.lifecycle.scopes import Concern, concern_of
from pmem.values.records import Memory, Scope

COPIES: Final = "the same words"
_Kind = tuple[int, str, datetime | None]
"""What memories that become one have in common: text, category and the end of validity."""


class Similar(msgspec.Struct, frozen=True):
    """Memories, and what each says, reduced for comparisons, in the same order."""

    memories: list[Memory]
    claims: list[Claim]

    @property
    def scopes(self) -> list[Scope]:
        """The scope of each; only what has the same one is merged."""
        return [memory.scope for memory in self.memories]

    @property
    def concerns(self) -> list[Concern]:
        """Whom each concerns; what concerns others is never linked."""
        return [concern_of(memory.scope) for memory in self.memories]

    def at(self, places: Iterable[int]) -> "Similar":
        """Return those at the given places."""
        kept = list(places)
        return Similar([self.memories[i] for i in kept], [self.claims[i] for i in kept])

    def without(self, gone: set[str]) -> "Similar":
        """Return those whose ids are not among the given ones."""
        return self.at(place for place, memory in enumerate(self.memories) if memory.id not in gone)


def similar(memories: Iterable[Memory]) -> Similar:
    """Return memories with their claims."""
    known = list(memories)
    return Similar(known, [claim_of(memory.content) for memory in known])


class Texts(msgspec.Struct, frozen=True):
    """The different texts of memories: where each is said, and which say the same in other words.

    `twins` has the texts by their place in `said`, both ways.
    """

    said: list[list[int]]
    twins: Mapping[int, Mapping[int, Verdict]]


class Together(NamedTuple):
    """A memory that stays, and those that say the same, each with the reason."""

    survivor: Memory
    others: list[tuple[Memory, str]]


def texts_of(known: Similar) -> Texts:
    """Find out who says the same; copies of a text are compared with others only once."""
    copies: dict[object, list[int]] = {}
    for place, (memory, claim) in enumerate(zip(known.memories, known.claims, strict=True)):
        copies.setdefault((memory.scope, claim.items, claim.spelled), []).append(place)
    said = list(copies.values())
    single = known.at(places[0] for places in said)
    twins: dict[int, dict[int, Verdict]] = defaultdict(dict)
    for pair in pairs(single.claims, single.scopes, link_min=1.0, most_links=0):
        if pair.verdict.relation is Relation.DUPLICATE:
            twins[pair.first][pair.second] = twins[pair.second][pair.first] = pair.verdict
    return Texts(said, twins)


def gathered(known: Similar, texts: Texts) -> Iterator[Together]:
    """Yield the memories that become one, the best survivors first, each in one group at most."""
    open_: dict[_Kind, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    text_at: dict[int, int] = {}
    for text, places in enumerate(texts.said):
        if len(places) > 1 or text in texts.twins:
            for place in places:
                text_at[place] = text
                memory = known.memories[place]
                kind = (text, memory.category, memory.valid_until)
                open_[kind][fold(memory.subject or "")].append(place)
    taken: set[int] = set()
    for place in sorted(text_at, key=lambda place: merging.rank(known.memories[place])):
        if place not in taken:
            taken.add(place)
            others = _others(known, texts, place, text_at[place], open_, taken)
            if others:
                yield Together(known.memories[place], others)


def _others(
    known: Similar,
    texts: Texts,
    place: int,
    text: int,
    open_: Mapping[_Kind, dict[str, list[int]]],
    taken: set[int],
) -> list[tuple[Memory, str]]:
    """Take what a memory stands for as well; the first subject that is met is the subject."""
    survivor = known.memories[place]
    subject = fold(survivor.subject or "")
    found: list[tuple[Memory, str]] = []
    also = sorted((other, verdict.reason) for other, verdict in texts.twins.get(text, {}).items())
    for same, reason in ((text, COPIES), *also):
        subjects = open_.get((same, survivor.category, survivor.valid_until), {})
        for name in (subject, "") if subject else tuple(subjects):
            if subject and name not in (subject, ""):
                continue
            free = [other for other in subjects.pop(name, ()) if other not in taken]
            parted = [o for o in free if merging.was_undone(survivor, known.memories[o])]
            if parted:
                subjects[name] = parted
            new = set(free).difference(parted)
            taken |= new
            found += [(known.memories[other], reason) for other in sorted(new)]
            subject = subject or (name if new else "")
    return found


def left_alone(known: Similar, related: Iterable[Pair]) -> Iterator[Notice]:
    """Yield the memories that say the same and do not become one, and why; few for many copies."""
    told: set[int] = set()
    for pair in related:
        one, other = known.memories[pair.first], known.memories[pair.second]
        if pair.verdict.relation is not Relation.DUPLICATE or {pair.first, pair.second} <= told:
            continue
        why = obstacle(one, other)
        if why:
            told |= {pair.first, pair.second}
            first, second = sorted((one, other), key=merging.rank)
            yield Notice(
                records=(first.id, second.id),
                texts=(first.content, second.content),
                score=pair.verdict.score,
                why=why,
            )


def obstacle(one: Memory, other: Memory) -> str:
    """Say why two memories that say the same are not to be merged; nothing if they are."""
    if merging.was_undone(one, other):
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


def crowded(known: Similar) -> Similar:
    """Return the memories of which some were not compared, because too many use their words."""
    words = [(m.scope, claim.base) for m, claim in zip(known.memories, known.claims, strict=True)]
    counts = Counter(words)
    return known.at(place for place, key in enumerate(words) if counts[key] > MOST_COMPARED)
