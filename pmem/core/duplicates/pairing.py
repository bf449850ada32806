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
from itertools import combinations, pairwise
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
_LOOKED_AT: Final = 8
"""Candidates for a neighbour that are weighed."""
_PAIR: Final = 2
"""Characters of a piece of Chinese, which is one of many and no value."""
Key = tuple[int, int]


class Pair(NamedTuple):
    """Two claims by their places in a sequence, the first one first, and how they relate."""

    first: int
    second: int
    verdict: Verdict


def pairs(
    claims: Sequence[Claim],
    groups: Sequence[Hashable],
    *,
    link_min: float,
    most_links: int = 3,
    only: int | None = None,
) -> list[Pair]:
    """Return the claims that relate, in the order of their places.

    Duplicates, updates and contradictions come all, but for the caps above. Neighbours have a
    score of `link_min` at least; the closest are taken first, as long as neither of the two has
    `most_links` of them. Claims of different `groups` are not compared, and where `only` one
    matters, the others are not compared with each other.

    Another order of the claims gives the same pairs, except which of several copies of one text
    stands for them.
    """
    found: dict[Key, Verdict] = {}
    for places in _grouped(range(len(groups)), lambda place: groups[place]):
        single = _pair_copies(claims, places, found)
        scores = _pair_alike(claims, single, found, only)
        if most_links > 0:
            scores |= _weigh_neighbours(claims, single, link_min, found, scores, only)
            _link(claims, single, scores, link_min, most_links, found)
    return [Pair(*places, found[places]) for places in sorted(found)]


def _pair_copies(
    claims: Sequence[Claim], places: Sequence[int], found: dict[Key, Verdict]
) -> list[int]:
    """Pair the copies of each text; return one place for each text, in an order of the texts."""
    single = []
    for same in _grouped(places, lambda p: (claims[p].items, claims[p].spelled, claims[p].said)):
        single.append(same[0])
        few = len(same) <= MOST_TOGETHER
        for key in combinations(same, 2) if few else ((same[0], other) for other in same[1:]):
            found[key] = compare(claims[same[0]], claims[same[1]])
    return sorted(single, key=lambda place: claims[place].items)


def _pair_alike(
    claims: Sequence[Claim], single: Sequence[int], found: dict[Key, Verdict], only: int | None
) -> dict[Key, float]:
    """Find what claims of the same words, or all but one, tell; weigh others of the same words."""
    scores: dict[Key, float] = {}
    for one, other in _alike(claims, single):
        key = (one, other) if one < other else (other, one)
        if _matters(key, only) and key not in found and key not in scores:
            verdict = compare(claims[key[0]], claims[key[1]])
            if verdict.relation not in (Relation.NEIGHBOUR, Relation.DISTINCT):
                found[key] = verdict
            elif claims[one].base == claims[other].base:
                scores[key] = verdict.score
    return scores


def _matters(key: Key, only: int | None) -> bool:
    return only is None or only in key


def _alike(claims: Sequence[Claim], single: Sequence[int]) -> Iterator[Key]:
    for same in _grouped(single, lambda p: (claims[p].base, tuple(sorted(claims[p].numbers)))):
        yield from _pairs_to_compare(same)
    for same in _same_content(claims, single):
        if 1 < len({claims[place].numbers for place in same}) <= MOST_VALUES:
            yield from _pairs_to_compare(same)
    for alike in _same_but_one_word(claims, single):
        values = list(_grouped(alike, lambda place: claims[place].base))
        if 1 < len(values) <= MOST_VALUES:
            yield from _pairs_to_compare([p for value in values for p in value[:MOST_TOGETHER]])


def _same_content(claims: Sequence[Claim], single: Sequence[int]) -> Iterable[list[int]]:
    return _grouped(single, lambda place: (claims[place].base, claims[place].content))


def _same_but_one_word(claims: Sequence[Claim], single: Sequence[int]) -> Iterable[list[int]]:
    """Group claims that are the same, numbers too, without some word of each."""
    first: dict[int, int] = {}
    several: dict[int, list[int]] = {}
    for place in single:
        base = claims[place].base
        if not 2 <= len(base) <= MOST_WORDS:
            continue
        whole = sum(map(hash, base)) + hash(claims[place].numbers)
        for word in base:
            rest = whole - hash(word)
            is_piece = len(word) == _PAIR and not word.isascii()
            if not is_piece and first.setdefault(rest, place) != place:
                several.setdefault(rest, [first[rest]]).append(place)
    return several.values()


def _weigh_neighbours(
    claims: Sequence[Claim],
    single: Sequence[int],
    link_min: float,
    found: dict[Key, Verdict],
    known: dict[Key, float],
    only: int | None,
) -> dict[Key, float]:
    """Weigh claims of different words that share rare ones; some tell what became of others."""
    listed = [
        place
        for same in _same_content(claims, single)
        for place in (same[:1] if len({claims[p].numbers for p in same}) > MOST_VALUES else same)
    ]
    holders: dict[str, list[int]] = {}
    for place in listed:
        for word in claims[place].base:
            holders.setdefault(word, []).append(place)
    rank = {place: number for number, place in enumerate(listed)}
    scores: dict[Key, float] = {}
    for place in listed:
        for other in _sharing_rare_words(place, claims[place], holders, rank):
            key = (place, other) if place < other else (other, place)
            one, two = claims[key[0]], claims[key[1]]
            is_told = key in found or key in known or key in scores
            if is_told or not _matters(key, only) or one.base == two.base:
                continue
            changed = find_change(one, two)
            if changed is not None:
                found[key] = changed
            elif (score := closeness(one, two)) >= link_min:
                scores[key] = score
    return scores


def _sharing_rare_words(
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


def _link(
    claims: Sequence[Claim],
    single: Sequence[int],
    scores: dict[Key, float],
    link_min: float,
    most_links: int,
    found: dict[Key, Verdict],
) -> None:
    """Keep the closest neighbours of each claim."""
    rank = {place: number for number, place in enumerate(single)}
    links = dict.fromkeys(single, 0)

    def order(key: Key) -> tuple[float, int, int]:
        one, other = sorted((rank[key[0]], rank[key[1]]))
        return -scores[key], one, other

    for key in sorted((key for key in scores if scores[key] >= link_min), key=order):
        if max(links[key[0]], links[key[1]]) < most_links:
            verdict = near(claims[key[0]], claims[key[1]])
            if verdict.relation is Relation.NEIGHBOUR:
                links[key[0]] += 1
                links[key[1]] += 1
                found[key] = verdict


def _pairs_to_compare(places: list[int]) -> Iterator[Key]:
    """All pairs of not too many, or each with the one next to it."""
    return combinations(places, 2) if len(places) <= MOST_COMPARED else pairwise(places)


def _grouped(places: Iterable[int], key: Callable[[int], Hashable]) -> Iterable[list[int]]:
    found: dict[Hashable, list[int]] = {}
    for place in places:
        found.setdefault(key(place), []).append(place)
    return found.values()
