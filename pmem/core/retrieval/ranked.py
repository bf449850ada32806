"""A ranked document with the parts of its score, and the steps that put the best in a new order."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from pmem.core.retrieval.collection import CollectionStatistics, Document
from pmem.core.retrieval.evidence import Constants, Evidence
from pmem.core.retrieval.signals import idf, length_norm, repeats, saturation
from pmem.core.text.terms import fold
from pmem.values.patterns import lazily

if TYPE_CHECKING:
    from pmem.core.retrieval.meaning import Nearness

Parts = tuple[float, float, float]  # in the order of ADDED
ADDED = ("text", "neighbours", "session")
FACTORS = (
    "speaker", "elsewhere", "time", "number", "quoted", "question", "substance", "bulk", "phrase",
    "exact", "insight", "role", "prior", "letters", "meaning", "repeat",
)  # fmt: skip
DIGITS = 12  # of a score


class RankedDocument(NamedTuple):
    """A ranked document: its number, its score in [0, 1] and the parts of the score."""

    number: int
    score: float
    signals: dict[str, float]


def total(signals: Mapping[str, float]) -> float:
    """Return the score that these parts add up to: the sum of ADDED times all of FACTORS.

    By `nearness`, a share, it comes nearer to 1.
    Rounded, so that equals stay equal when their parts were summed in another order.
    """
    score = sum_of((signals["text"], signals["neighbours"], signals["session"]))
    for name in FACTORS:
        score *= signals.get(name, 1.0)
    score += signals.get("nearness", 0.0) * (1.0 - score)
    return round(score, DIGITS)


def sum_of(parts: Parts) -> float:
    """Return what the parts add up to."""
    return parts[0] + parts[1] + parts[2]


MOST_GROUPS: Final = 512
"""Groups of letters of a question that are looked for, at the most."""
_SIZE: Final = 4
_K1: Final = 0.9
_B: Final = 0.4
_WORD: Final = lazily(r"\w+")
_EDGE: Final = " "


def alike_by_letters(question: str, texts: Sequence[str]) -> list[float]:
    """Return how alike each text is to a question, from 0 to 1 for the most alike; 1 if none is.

    That is BM25 over groups of four letters within words, of which a word's first and last begin
    and end with a space; how rare a group is, these texts alone say.
    """
    written = [_words(text) for text in texts]
    lengths = [len(text) for text in written]
    written = [_without_repeats(text) for text in written]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    norms = [length_norm(length, mean, _K1, _B) for length in lengths]
    scores = [0.0] * len(texts)
    for group in islice(dict.fromkeys(_groups(_words(question))), MOST_GROUPS):
        held = [text.count(group) for text in written]
        rare = idf(len(texts), sum(map(bool, held)))
        for place, count in enumerate(held):
            if count:
                scores[place] += rare * saturation(count, norms[place], _K1)
    best = max(scores, default=0.0)
    return [score / best if best else 1.0 for score in scores]


def _words(text: str) -> str:
    """Return the folded words of a text, each between spaces."""
    return _EDGE + _EDGE.join(_WORD.findall(fold(text).casefold())) + _EDGE


def _without_repeats(words: str) -> str:
    """Return words, but those that a text repeats to be found as often as it may."""
    found = words.split()
    too_often = repeats(found)
    if not too_often:
        return words
    kept: list[str] = []
    for word in found:
        too_often[word] = too_often.get(word, 0) - 1
        if too_often[word] < 0:
            kept.append(word)
    return _EDGE + _EDGE.join(kept) + _EDGE


def _groups(words: str) -> Iterator[str]:
    """Yield the groups of letters of words."""
    for word in words.split():
        edged = f"{_EDGE}{word}{_EDGE}"
        yield from (edged[at : at + _SIZE] for at in range(max(1, len(edged) - _SIZE + 1)))


CONTEXT_BOOST: Final = 0.5
"""A hit that answers the context best comes so much nearer to a score of 1."""
LOOKED_AT: Final = 50
"""So many hits are looked at where a context may bring one to the front."""
CONTEXT_HITS: Final = 200
"""And so many of what the context finds."""


def boosted(
    hits: Sequence[RankedDocument], context: Sequence[RankedDocument]
) -> list[RankedDocument]:
    """Return hits with higher scores for those that answer a context as well.

    Each comes so much nearer to 1 as it answers the context beside what answers it best.
    """
    best = max((hit.score for hit in context), default=0.0) or 1.0
    near = {hit.number: hit.score / best for hit in context}
    return [
        hit._replace(
            score=hit.score + CONTEXT_BOOST * near[hit.number] * (1 - hit.score),
            signals={**hit.signals, "context": near[hit.number]},
        )
        if near.get(hit.number)
        else hit
        for hit in hits
    ]


DEPTH: Final = 60
"""So many of the nearest count."""
_NEW: Final = 3
"""So many of the nearest are found by meaning alone: something is always nearest."""
_SHARE: Final = 0.3
_STEADY: Final = 3.0


def fused(hits: Sequence[RankedDocument], nearest: Sequence[int]) -> list[RankedDocument]:
    """Return hits by words and documents that are near in meaning, best first, ties by number.

    The signal `nearness` is 0.3 * 3 / (3 + r), r the number of documents that are nearer.
    """
    signals = {hit.number: hit.signals for hit in hits}
    for number in nearest[:_NEW]:
        signals.setdefault(number, dict.fromkeys(ADDED, 0.0))
    for place, number in enumerate(nearest):
        if number in signals:
            share = _SHARE * _STEADY / (_STEADY + place)
            signals[number] = {**signals[number], "nearness": share}
    found = [RankedDocument(number, total(parts), parts) for number, parts in signals.items()]
    return sorted(found, key=lambda hit: (-hit.score, hit.number))


def by_letters(
    question: str,
    hits: list[RankedDocument],
    statistics: CollectionStatistics,
    constants: Constants,
) -> list[RankedDocument]:
    """Rank the best hits by how alike they are to a question; the others stay below them."""
    best, weight = [hit.number for hit in hits[: constants.spelt]], constants.letters
    texts = statistics.texts(best)
    alike = alike_by_letters(question, [texts[number] for number in best])
    shares = [*alike, *[min(alike, default=0.0)] * (len(hits) - len(alike))]
    judged = [
        _with_factor(hit, "letters", (1.0 + weight * share) / (1.0 + weight))
        for hit, share in zip(hits, shares, strict=True)
    ]
    return sorted(judged, key=lambda hit: (-hit.score, hit.number))


def by_meaning(
    hits: list[RankedDocument], evidence: Evidence, nearness: "Nearness", weight: float
) -> list[RankedDocument]:
    """Rank the best hits by their nearness in meaning too; the others stay below them."""
    from pmem.core.retrieval.meaning import NEAREST, nearness_factors, turns_after, with_turns_after

    best, others = hits[:NEAREST], hits[NEAREST:]
    numbers = [hit.number for hit in best]
    after = turns_after(numbers, evidence.sessions.values())
    known = nearness([*dict.fromkeys([*numbers, *after.values()])])
    factors = nearness_factors(with_turns_after(numbers, after, known), weight)
    least = min(factors, default=1.0)
    judged = [
        _with_factor(hit, "meaning", factor)
        for hit, factor in zip(hits, [*factors, *[least] * len(others)], strict=True)
    ]
    return sorted(judged, key=lambda hit: (-hit.score, hit.number))


def mixed(
    hits: list[RankedDocument], documents: Mapping[int, Document], rate: float, wanted: int
) -> list[RankedDocument]:
    """Mix sessions: each hit counts `rate` times less for every better hit of its session.

    Greedy selection in the manner of maximal marginal relevance (Carbonell and Goldstein, 1998),
    with the session in the place of textual similarity. A hit's place among those of its
    session, best first, is how often it is repeated.
    """
    sessions: dict[int, int] = {}
    mixed = []
    for hit in hits:
        session = documents[hit.number].session
        count = 0 if session is None else sessions.get(session, 0)
        if session is not None:
            sessions[session] = count + 1
        mixed.append(_with_factor(hit, "repeat", rate**count) if count else hit)
    return heapq.nsmallest(wanted, mixed, key=lambda hit: (-hit.score, hit.number))


def _with_factor(hit: RankedDocument, name: str, factor: float) -> RankedDocument:
    if factor == 1.0:
        return hit
    signals = {**hit.signals, name: factor}
    return RankedDocument(hit.number, total(signals), signals)
