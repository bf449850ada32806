"""Ranking everything that is kept, of which nothing is read: filters, kinds, words and meaning."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from pmem.core.filters import Filter, judge_of
from pmem.core.retrieval.collection import LinkedMemory
from pmem.core.retrieval.factors import measured, weights_of
from pmem.core.retrieval.pool import Pool, labels
from pmem.core.retrieval.question import ROLES, searched_part
from pmem.core.retrieval.ranked import CONTEXT_HITS, DEPTH, LOOKED_AT, boosted, fused
from pmem.core.retrieval.ranked import RankedDocument as Ranked
from pmem.core.retrieval.ranking import Ranking, rank, rank_by_sum
from pmem.core.text.terms import parse_query, terms
from pmem.errors import InvalidValue
from pmem.project.configuration import embeds
from pmem.project.workspace import Workspace
from pmem.search.hits import REMEMBERED, Scored, SearchKind, SearchRequest, most_related, turns
from pmem.values.rules import AUTO

if TYPE_CHECKING:
    from pmem.core.retrieval.meaning import Nearness
    from pmem.embedding.embedding import Asked


WORDS: Final = 200
"""So many hits by words, at least, stand beside what is near in meaning."""


def asked_by_meaning(workspace: Workspace, question: str, pool: Pool) -> "Asked | None":
    """Return a question that can be asked of vectors; None where no model is chosen.

    What has no word to look for, and what quotes the words that it wants, is not asked either.
    """
    if not embeds(workspace.settings.vectors):
        return None
    query = parse_query(question)
    if query.phrases or not query.terms:
        return None
    from pmem.embedding.embedding import Asked

    return Asked(workspace, question, pool)


class Sieve:
    """The filters of a search, applied to documents by number; counts what each removes."""

    def __init__(self, pool: Pool, wanted: Filter, at: datetime) -> None:
        self.removed: Counter[str] = Counter()
        self._pool = pool
        self._judge = judge_of(wanted)
        self._filtering = wanted != Filter()
        self._invalid = set(pool.invalid(at))
        self.hidden = frozenset(pool.hidden())
        self._judged: dict[int, bool] = {}

    def is_needed(self, kind: SearchKind) -> bool:
        """Tell whether anything of a kind could be filtered away."""
        rarely = kind is SearchKind.MEMORY and bool(self._invalid)
        return self._filtering or bool(self.hidden) or rarely

    def __call__(self, numbers: Collection[int]) -> Collection[int]:
        numbers = [number for number in numbers if number not in self.hidden]
        fresh = [number for number in numbers if number not in self._judged]
        facts = self._pool.facts(fresh) if self._filtering else {}
        for number in fresh:
            reason = "validity" if number in self._invalid else None
            if reason is None and self._filtering:
                reason = self._judge(facts[number])
            self._judged[number] = reason is None
            if reason is not None:
                self.removed[reason] += 1
        return {number for number in numbers if self._judged[number]}


_SIEVED: Final = 100


class RankedSet(msgspec.Struct, frozen=True):
    """The best documents: kind, place, score and signals; how many; what was filtered away.

    `ties` are links of those memories to others that pass the filters, `fill` the newest where
    nothing was found; `shared` is that of the rankings, see `Ranking`.
    """

    ranked: list[Scored]
    total: int
    removed: Counter[str]
    ties: list[LinkedMemory]
    fill: list[Scored] = []
    shared: dict[int, tuple[float, ...]] = {}


def pick(
    workspace: Workspace, request: SearchRequest, *, fill: int = 0, closely: bool = False
) -> RankedSet:
    """Rank everything kept by how well it answers a query, without reading the records.

    Args:
        workspace: Where to look, at the request's moment already.
        request: What to look for.
        fill: How many of the newest to name where nothing is found.
        closely: Whether the best are compared by their letters, too, and vectors are asked, where
            there are any.

    Raises:
        InvalidValue: `top_k`, `threshold` or `related` is out of range.
    """
    return pick_each(workspace, [request], fill=fill, closely=closely)[0]


def pick_each(
    workspace: Workspace,
    requests: Iterable[SearchRequest],
    *,
    fill: int = 0,
    closely: bool = False,
    spelt: SearchRequest | None = None,
) -> list[RankedSet]:
    """Do the same for several requests, in one look at what is kept.

    Raises:
        InvalidValue: `top_k`, `threshold` or `related` of one is out of range.
    """
    asked = []
    for request in requests:
        _check(request)
        context = None if request.context is None else searched_part(request.context)
        one = msgspec.structs.replace(request, query=searched_part(request.query), context=context)
        asked.append((one, closely or (None if request is spelt else False)))
    return workspace.backend.searched(
        lambda pool: [_pick(workspace, one, pool, fill, close) for one, close in asked]
    )


def most_hits(workspace: Workspace, request: SearchRequest) -> int:
    """Return how many hits a request wants."""
    return workspace.settings.retrieval_top_k if request.top_k is None else request.top_k


def _check(request: SearchRequest) -> None:
    if request.top_k is not None and request.top_k < 1:
        raise InvalidValue(f"the number of hits must be at least 1, not {request.top_k}")
    if not 0 <= request.threshold <= 1:
        raise InvalidValue(f"the threshold must lie between 0 and 1, not {request.threshold:g}")
    if request.related is not None and request.related < 0:
        raise InvalidValue(f"related memories must be 0 or more, not {request.related}")
    if request.wanted.by is not None:
        raise InvalidValue("a search does not filter by who wrote something", "`list --by` does")


class _Look(NamedTuple):
    """One request, and one view of what is kept that it is ranked in."""

    workspace: Workspace
    request: SearchRequest
    pool: Pool
    closely: bool | None

    def sieve(self) -> Sieve:
        return Sieve(self.pool, self.request.wanted, self.workspace.now())

    def rank(self, kind: SearchKind, sieve: Sieve, most: int, asked: "Asked | None") -> Ranking:
        """Rank a kind by words and, where there are vectors to ask, by meaning too."""
        if asked is None or kind not in REMEMBERED or self._is_summed:
            has_vectors = asked is not None and self.workspace.settings.vectors.model != AUTO
            nearness = asked.nearness if asked is not None and has_vectors else None
            return self._by_words(kind, sieve, most, nearness)
        ranking = self._by_words(kind, sieve, max(most, WORDS), None)
        numbers = self.pool.newest(labels(kind, self.request.wanted.states), ())
        hits = fused(ranking.hits, asked.nearest(self.sieve()(numbers), DEPTH))
        return ranking._replace(hits=hits, total=max(ranking.total, len(hits)))

    def near_context(self, kind: SearchKind) -> Sequence[Ranked]:
        """Return what the request's context finds; what it filters away counts for nothing."""
        query = self.request.context or ""
        about = msgspec.structs.replace(self.request, query=query, threshold=0.0)
        return (
            self._replace(request=about, closely=False)
            ._by_words(kind, self.sieve(), CONTEXT_HITS, None)
            .hits
        )

    def _by_words(
        self, kind: SearchKind, sieve: Sieve, most: int, nearness: "Nearness | None"
    ) -> Ranking:
        request, settings = self.request, self.workspace.settings
        statistics = self.pool.statistics(labels(kind, request.wanted.states))
        now = self.workspace.now().timestamp()
        accept = sieve if sieve.is_needed(kind) else None
        limit = None if request.threshold > 0 else most
        if self._is_summed:
            weights = request.weights or weights_of(settings)
            return rank_by_sum(
                request.query, statistics, weights, now=now, accept=accept, limit=limit
            )
        return rank(
            request.query,
            statistics,
            measured(settings, kind),
            now=now,
            accept=accept,
            limit=limit,
            score=self.pool.scorer,
            links=self.pool.links if kind is SearchKind.MEMORY else None,
            hidden=sieve.hidden,
            nearness=nearness,
            closely=self.closely,
        )

    @property
    def _is_summed(self) -> bool:
        is_set = self.workspace.settings.ranking == "weighted_sum"
        return is_set or self.request.weights is not None


def _pick(
    workspace: Workspace, request: SearchRequest, pool: Pool, fill: int, closely: bool | None
) -> RankedSet:
    """Rank the kinds one by one, each among its own, and take the best of all."""
    most = most_hits(workspace, request)
    looked_at = most if request.context is None else max(most, LOOKED_AT)
    look = _Look(workspace, request, pool, closely)
    sieve = look.sieve()
    found: list[tuple[SearchKind, Ranked]] = []
    total, shared = 0, dict[int, tuple[float, ...]]()
    asked = asked_by_meaning(workspace, request.query, pool) if closely else None
    for kind in request.kinds or tuple(SearchKind):
        ranking = look.rank(kind, sieve, looked_at, asked)
        hits = ranking.hits
        if hits and request.context is not None:
            hits = boosted(hits, look.near_context(kind))
        found += [(kind, hit) for hit in hits]
        total += ranking.total
        shared |= ranking.shared
    passed = [(kind, hit) for kind, hit in found if hit.score >= request.threshold]
    if len(passed) < len(found):
        sieve.removed["threshold"] = len(found) - len(passed)
        total -= len(found) - len(passed)
    places = pool.places([hit.number for _, hit in passed])
    turn = (lambda _: 0) if request.kinds else turns(passed)
    passed.sort(key=lambda item: (turn(item), -item[1].score, places[item[1].number].id))
    ranked = [(kind, places[hit.number], hit) for kind, hit in passed[:most]]
    removed = sieve.removed.copy()
    wants_related = most_related(request.related) > 0
    ties = _ties(pool, ranked, sieve) if wants_related else []
    newest = [] if found or not fill else _newest(pool, request, sieve, min(fill, most))
    return RankedSet(ranked, total, removed, ties, newest, shared)


def _newest(pool: Pool, request: SearchRequest, sieve: Sieve, most: int) -> list[Scored]:
    """Return the newest of what passes the filters, if the query has a word to look for."""
    kinds = request.kinds or (SearchKind.MEMORY, SearchKind.EPISODE, SearchKind.MESSAGE)
    wanted = [label for kind in kinds for label in labels(kind, request.wanted.states)]
    statistics = pool.statistics(wanted)
    words, known = terms(request.query), statistics.speakers()
    names = {name for word in words if word not in ROLES for name in known.get(word, ())}
    chosen = list(islice(_passed(pool.newest(wanted, names), sieve), most)) if words else []
    documents, places = statistics.documents(chosen), pool.places(chosen)
    return [
        (SearchKind(documents[number].kind), places[number], Ranked(number, 0.0, {}))
        for number in chosen
    ]


def _passed(numbers: Sequence[int], sieve: Sieve) -> Iterator[int]:
    """Yield the documents that pass the filters, without looking at more than are taken."""
    for start in range(0, len(numbers), _SIEVED):
        batch = numbers[start : start + _SIEVED]
        passed = sieve(batch)
        yield from (number for number in batch if number in passed)


def _ties(pool: Pool, ranked: Iterable[Scored], sieve: Sieve) -> list[LinkedMemory]:
    """Return the links of the memories that were found to others that pass the filters."""
    via = {hit.number: place.id for kind, place, hit in ranked if kind is SearchKind.MEMORY}
    links = list(pool.links(via)) if via else []
    passed = pool.places(sieve({link.far for link in links})) if links else {}
    return [
        LinkedMemory(via[link.near], passed[link.far].id, link.type, link.strength, link.forward)
        for link in links
        if link.far in passed
    ]
