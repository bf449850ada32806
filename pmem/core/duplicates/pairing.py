"""Which of many memories are worth comparing, found without looking at all pairs.

Claims of one group are put together three ways, each by a dictionary:

* Claims with the same words, whatever their numbers and opposites, are duplicates of each other,
  number updates or contradictions.
* Claims with the same words but one, the same numbers too, may be updates.
* Claims that share rare words may be neighbours.

Every such collection has a cap, which bounds the time and is all that may be missed:

* Of more than `MOST_TOGETHER` copies of one text each is paired with the first only, and only the
  first has neighbours.
* Of more than `MOST_COMPARED` texts with the same words and numbers (in other orders, other
  quantifiers) each is compared with its neighbours in the order of the alphabet.
* What takes more than `MOST_VALUES` values in one place is a series ("service 17 listens on port
  8017"): a list, no updates. Of a series of numbers only the first has neighbours.
* A claim of more than `MOST_WORDS` words has no updates of a word, but of numbers; none has
  updates where one word became several, which only `compare` sees.
* Neighbours share one of a claim's `RAREST` rarest words, two where it has more than `LONG`, of
  those found in at most `MOST_COMMON` claims.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from pmem.core.duplicates.comparing import Relation, Verdict, closeness, compare, find_change, near
from pmem.core.duplicates.reading import Claim

MOST_TOGETHER: Final = 8
MOST_COMPARED: Final = 24
MOST_VALUES: Final = 3
MOST_WORDS: Final = 40
MOST_COMMON: Final = 32
RAREST: Final = 5
LONG: Final = 12
_NEAR: Final = 1
_PAIR: Final = 2
_LOOKED_AT: Final = 8
"""Candidates for a neighbour that are weighed."""


class Pair(NamedTuple):
    """Two claims that have something to do with each other.

    Attributes:
        first: The place of the one in the sequence that was given.
        second: The place of the other, behind the first.
        verdict: How they relate.
    """

    first: int
    second: int
    verdict: Verdict


def pairs(
    claims: Sequence[Claim],
    groups: Sequence[Hashable],
    *,
    link_min: float,
    most_links: int = 3,
) -> list[Pair]:
    """Return the claims that relate, in the order of their places.

    Duplicates, updates and contradictions come all, but for the caps above. Neighbours are taken
    the closest first, as long as neither of the two has `most_links` of them.

    Args:
        claims: What is compared.
        groups: For each claim its group; claims of different groups are not compared.
        link_min: The least score of neighbours.
        most_links: The most neighbours of one claim.

    Returns:
        Each pair once. Another order of the claims gives the same pairs, except which of several
        copies of one text stands for them.
    """
    members: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    found: dict[tuple[int, int], Verdict] = {}
    for places in members.values():
        _Group(claims, places, found).pair(link_min, most_links)
    return [Pair(*places, found[places]) for places in sorted(found)]


class _Group:
    """The claims of one group, and what is found among all."""

    def __init__(
        self, claims: Sequence[Claim], places: list[int], found: dict[tuple[int, int], Verdict]
    ) -> None:
        self.claims = claims
        self.places = places
        self.found = found
        self.near: dict[tuple[int, int], float] = {}

    def pair(self, link_min: float, most_links: int) -> None:
        """Find what relates."""
        single = self._copies()
        single.sort(key=lambda place: self.claims[place].items)
        indexed = self._blocks(single)
        self._slots(single)
        if most_links > 0:
            self._neighbours(indexed, link_min)
            self._link(single, link_min, most_links)

    def _keep(self, one: int, other: int, verdict: Verdict) -> None:
        self.found[min(one, other), max(one, other)] = verdict

    def _copies(self) -> list[int]:
        """Pair the copies of each text; return one place for each text."""
        claims = self.claims
        copies: dict[object, list[int]] = {}
        for place in self.places:
            claim = claims[place]
            copies.setdefault((claim.items, claim.spelled, claim.said), []).append(place)
        for same in copies.values():
            if len(same) > 1:
                verdict = compare(claims[same[0]], claims[same[1]])
                for one, other in _together(same):
                    self._keep(one, other, verdict)
        return [same[0] for same in copies.values()]

    def _blocks(self, single: list[int]) -> list[int]:
        """Pair claims of the same words; return those that may have neighbours elsewhere."""
        blocks: dict[frozenset[str], list[int]] = {}
        for place in single:
            blocks.setdefault(self.claims[place].base, []).append(place)
        indexed: list[int] = []
        for base, block in blocks.items():
            if len(block) > 1:
                self._same_numbers(block)
            listed = self._numbers_changed(block) if len(block) > 1 else block
            indexed += listed if base else ()
        return indexed

    def _same_numbers(self, block: list[int]) -> None:
        """Find what tells among claims of the same words and numbers."""
        for same in _grouped(block, lambda place: tuple(sorted(self.claims[place].numbers))):
            for one, other in _pairs_to_compare(same):
                verdict = self._compare(one, other)
                if verdict.relation in _TELLING:
                    self._keep(one, other, verdict)
                elif verdict.relation is Relation.NEIGHBOUR:
                    self.near[min(one, other), max(one, other)] = verdict.score

    def _numbers_changed(self, block: list[int]) -> list[int]:
        """Find updates among claims of the same words; return the claims without long series."""
        kept: list[int] = []
        for alike in _grouped(block, lambda place: self.claims[place].content):
            numbers = {self.claims[place].numbers for place in alike}
            if len(numbers) > MOST_VALUES:
                kept.append(alike[0])
                continue
            kept += alike
            if len(numbers) > 1:
                self._updates(_pairs_to_compare(alike))
        return kept

    def _slots(self, single: list[int]) -> None:
        """Find updates of one word: claims that are the same without it."""
        seen: dict[int, int] = {}
        several: dict[int, list[int]] = {}
        for place in single:
            base = self.claims[place].base
            if not 2 <= len(base) <= MOST_WORDS:
                continue
            whole = sum(map(hash, base)) + hash(self.claims[place].numbers)
            for word in base:
                if len(word) == _PAIR and not word.isascii():
                    continue  # two of many Chinese characters are no value
                rest = whole - hash(word)
                if seen.setdefault(rest, place) != place:
                    several.setdefault(rest, [seen[rest]]).append(place)
        for alike in several.values():
            values = list(_grouped(alike, lambda place: self.claims[place].base))
            if 2 <= len(values) <= MOST_VALUES:
                few = [place for value in values for place in value[:MOST_TOGETHER]]
                self._updates(_pairs_to_compare(few))

    def _updates(self, candidates: Iterable[tuple[int, int]]) -> None:
        for one, other in candidates:
            if (min(one, other), max(one, other)) not in self.found:
                verdict = self._compare(one, other)
                if verdict.relation is Relation.UPDATE:
                    self._keep(one, other, verdict)

    def _compare(self, one: int, other: int) -> Verdict:
        """Compare in the order of the places, which may be that of time."""
        return compare(self.claims[min(one, other)], self.claims[max(one, other)])

    def _neighbours(self, indexed: list[int], link_min: float) -> None:
        """Weigh the claims that share rare words."""
        claims = self.claims
        holders: dict[str, list[int]] = {}
        for place in indexed:
            for word in claims[place].base:
                holders.setdefault(word, []).append(place)
        rank = {place: number for number, place in enumerate(indexed)}
        for place in indexed:
            claim = claims[place]
            for other in _candidates(place, claim, holders, rank):
                key = (place, other) if place < other else (other, place)
                if key in self.near or key in self.found or claim.base == claims[other].base:
                    continue
                changed = find_change(claims[key[0]], claims[key[1]])
                if changed is not None:
                    self.found[key] = changed
                    continue
                score = closeness(claim, claims[other])
                if score >= link_min:
                    self.near[key] = score

    def _link(self, single: list[int], link_min: float, most_links: int) -> None:
        """Keep the closest neighbours of each claim."""
        rank = {place: number for number, place in enumerate(single)}
        links = dict.fromkeys(single, 0)

        def order(key: tuple[int, int]) -> tuple[float, int, int]:
            one, other = sorted((rank[key[0]], rank[key[1]]))
            return -self.near[key], one, other

        for key in sorted(self.near, key=order):
            one, other = key
            if self.near[key] < link_min:
                break
            if links[one] < most_links and links[other] < most_links:
                verdict = near(self.claims[one], self.claims[other])
                if verdict.relation is Relation.NEIGHBOUR:
                    links[one] += 1
                    links[other] += 1
                    self.found[key] = verdict


_TELLING: Final = (Relation.DUPLICATE, Relation.UPDATE, Relation.CONTRADICTION)


def _candidates(
    place: int, claim: Claim, holders: dict[str, list[int]], rank: dict[int, int]
) -> list[int]:
    """The claims that share most of a claim's rarest words."""
    rare = [(len(holders[word]), word) for word in claim.base]
    rare = sorted(each for each in rare if 1 < each[0] <= MOST_COMMON)[:RAREST]
    shared: dict[int, int] = {}
    for _, word in rare:
        for other in holders[word]:
            shared[other] = shared.get(other, 0) + 1
    shared.pop(place, None)
    if len(claim.base) > LONG:
        shared = {other: number for other, number in shared.items() if number > 1}
    if len(shared) <= _LOOKED_AT:
        return list(shared)
    return sorted(shared, key=lambda other: (-shared[other], rank[other]))[:_LOOKED_AT]


def _together(places: list[int]) -> Iterator[tuple[int, int]]:
    """All pairs of a few, or the first with each of the others."""
    if len(places) <= MOST_TOGETHER:
        return combinations(places, 2)
    return ((places[0], other) for other in places[1:])


def _pairs_to_compare(places: list[int]) -> Iterator[tuple[int, int]]:
    """All pairs of not too many, or each with those next to it."""
    if len(places) <= MOST_COMPARED:
        yield from combinations(places, 2)
        return
    for number, place in enumerate(places):
        for other in places[number + 1 : number + 1 + _NEAR]:
            yield place, other


def _grouped(places: list[int], key: Callable[[int], Hashable]) -> Iterable[list[int]]:
    found: dict[Hashable, list[int]] = {}
    for place in places:
        found.setdefault(key(place), []).append(place)
    return found.values()
