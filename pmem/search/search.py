"""Finding what is kept: ranking, filters, and the hits themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec

from pmem.core.filters import Filter
from pmem.core.lifecycle.presence import OUT_OF_RECALL
from pmem.core.policy import CATEGORY_OF_KIND
from pmem.core.retrieval.boost import CONTEXT_HITS, LOOKED_AT, boosted
from pmem.core.retrieval.pool import Pool, labels
from pmem.core.retrieval.question import ROLES, notes_on, searched_part
from pmem.core.retrieval.ranking import RankedDocument as Ranked
from pmem.core.retrieval.ranking import Ranking, rank
from pmem.core.retrieval.ranking_settings import Weights
from pmem.core.retrieval.relations import LinkedMemory
from pmem.core.text.terms import terms
from pmem.errors import InvalidValue, PmemError
from pmem.project.workspace import Workspace
from pmem.search.by_meaning import WORDS, asked_by_meaning, nearness_of_talk, with_nearest
from pmem.search.held_words import count_expired, is_near, without_words
from pmem.search.hits import (
    REMEMBERED,
    BranchHit,
    Expectation,
    Related,
    Scored,
    SearchHit,
    SearchKind,
    describe_related,
    hits_of,
    most_related,
    opened,
    related_to,
    turns,
)
from pmem.search.ranking_choice import measured, weights_of
from pmem.search.sieve import Sieve
from pmem.search.unranked import find_unranked
from pmem.values.fields import AsOf, asked

if TYPE_CHECKING:
    from pmem.core.retrieval.meaning import Nearness
    from pmem.embedding.embedding import Asked

_SIEVED: Final = 100


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for.

    `top_k` limits the hits (the setting `retrieval_top_k` when None), `threshold` drops
    lower scores, `at` judges memories as they were and by what was valid at that moment,
    `weights` ranks by the weighted sum of signals instead of by relevance and structure, and
    `related` limits the memories that hits bring along (two when None).
    Without `counts` what is found does not count as recalled. `worktrees` wants the memories of the
    repository's other work trees as well that are not here yet.
    What a program wrote as it failed is its `error`: what is known of it comes first, whatever its
    words, and then what the query finds, which may be empty.
    With `mine`, whoever asks is shown what their own memory has, beside the hits.
    `context` is what else is known, such as what is being done: of what the query finds, that
    which it speaks of as well comes first. It finds nothing by itself.
    `expect` names what should be found: the answer says what became of it, and nothing counts as
    recalled.
    """

    query: Annotated[
        str, asked("What to look for.", shown="QUERY|-", reading="text", is_argument=True)
    ]
    kinds: Annotated[tuple[SearchKind, ...], asked("Only this kind.", flag="--kind")] = ()
    wanted: Filter = Filter()
    top_k: Annotated[int | None, asked("At most N hits [retrieval_top_k].", flag="-k --top-k")] = (
        None
    )
    threshold: Annotated[float, asked("Leave out lower scores, from 0 to 1.")] = 0.0
    at: AsOf = None
    revision: str | None = None
    weights: Weights | None = None
    counts: bool = True
    related: int | None = None
    worktrees: Annotated[bool, asked("Search the other work trees too.")] = False
    error: Annotated[
        str | None,
        asked("An error; what is known about it comes first.", shown="TEXT|-", reading="log"),
    ] = None
    expect: Annotated[
        str | None,
        asked("Say why this is not found; exits with 1 if so.", shown="REF", completes="memory"),
    ] = None
    mine: bool = False
    context: Annotated[
        str | None, asked("What else you are working on: hits on it come first.")
    ] = None

    @property
    def named_categories(self) -> tuple[str, ...]:
        """The categories that it asks for by name, or by the kinds that they are of."""
        of_kinds = (CATEGORY_OF_KIND.get(kind) for kind in self.kinds)
        return (*self.wanted.categories, *filter(None, of_kinds))

    @property
    def named_app(self) -> str | None:
        """The app whose records it asks for by name."""
        return self.wanted.app


MOST_OF_YOURS: Final = 3
"""So many memories of one's own stand beside the hits, at the most."""
LEAST_OF_YOURS: Final = 0.2
"""What scores less shares a word and hardly answers."""
FILL: Final = 5
"""How many of the newest are shown, at the most, where nothing answers."""


class SearchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A search's answer: hits, what they bring along, how many there were in all, and what
    filters took away; `notes` say what of a very long query was not searched for.

    Where there is no hit at all, `out_of_recall` says how many memories of other states match, by
    their state, and `fill` is the newest of what passes the filters, of the people
    whom the query names if it names any. It answers nothing, has no score, and is not counted.
    `elsewhere` are memories of other work trees, `yours` are those of the memory of whoever asks,
    which are not the project's, and `expected` is what became of what was expected.
    `associated` are the ids of hits that hold none of the query's words: words that are related to
    them, or what was said beside them, brought these. `by_meaning` are those of hits that hold
    none either, and are near the query in meaning. `expired` counts the memories that hold all
    the words, but do not hold any more.
    """

    query: str
    hits: tuple[SearchHit, ...]
    total: int
    removed: dict[str, int]
    related: tuple[Related, ...]
    notes: tuple[str, ...] = ()
    out_of_recall: dict[str, int] = {}
    fill: tuple[SearchHit, ...] = ()
    elsewhere: tuple[BranchHit, ...] = ()
    yours: tuple[SearchHit, ...] = ()
    expected: Expectation | None = None
    associated: tuple[str, ...] = ()
    by_meaning: tuple[str, ...] = ()
    expired: int = 0

    @property
    def is_answered(self) -> bool:
        """Whether something holds a word of the query; something is always near in meaning."""
        return bool(self.yours) or len(self.associated) + len(self.by_meaning) < len(self.hits)

    @property
    def recalled(self) -> list[str]:
        """The ids of what counts as recalled."""
        if self.expected is not None:
            return []
        return [hit.id for hit in self.hits if hit.kind in REMEMBERED]

    @property
    def noted(self) -> dict[str, Any]:
        """What the log of operations says of it."""
        if not self.hits:
            return {"status": "skipped"}
        return {"status": "ok", "sim": round(self.hits[0].score, 4)}

    def to_plain(self) -> "SearchResult":
        """Return the same without the secrets that the query repeats."""
        from pmem.core.secrets import unsecret

        return msgspec.structs.replace(self, query=unsecret(self.query))


def search(workspace: Workspace, request: SearchRequest) -> SearchResult:
    """Rank everything kept by how well it answers a query.

    Raises:
        InvalidValue: `top_k`, `threshold` or `related` is out of range.
    """
    known, notes = find_unranked(workspace, request)
    picked = pick(workspace, request, fill=0 if known else FILL, closely=True)
    others = [one for one in picked.ranked if one[1].id not in {each.record.id for each in known}]
    limit = workspace.settings.retrieval_top_k if request.top_k is None else request.top_k
    first = known[:limit]
    found = [*first, *opened(workspace, others[: limit - len(first)])]
    hits = tuple(hits_of(workspace, found))
    wordless = without_words(request.query, found)
    near = tuple(one.document.id for one in wordless if is_near(one))
    total = picked.total + len(known) - (len(picked.ranked) - len(others))
    most = most_related(request.related)
    yours, told = _yours(workspace, request) if request.mine else ((), ())
    return SearchResult(
        query=searched_part(request.query),
        hits=hits,
        associated=tuple(one.document.id for one in wordless if not is_near(one)),
        by_meaning=near,
        related=tuple(describe_related(workspace, related_to(picked.ranked, picked.ties, most))),
        total=total,
        removed=dict(sorted(picked.removed.items())),
        notes=(*notes, *notes_on(request.query), *told),
        expired=count_expired(workspace, request) if picked.removed["validity"] else 0,
        out_of_recall={} if len(near) < len(hits) else matches_out_of_recall(workspace, request),
        fill=() if yours else tuple(hits_of(workspace, opened(workspace, picked.fill))),
        elsewhere=_elsewhere(workspace, request) if request.worktrees else (),
        yours=yours,
        expected=None if request.expect is None else _expected(workspace, request, hits, total),
    )


def _expected(
    workspace: Workspace, request: SearchRequest, hits: Sequence[SearchHit], total: int
) -> Expectation:
    """Return what became of what a request expects."""
    from pmem.search.expectation import explain

    return explain(workspace, request, hits, total, partial(pick, closely=True))


def _yours(
    workspace: Workspace, request: SearchRequest
) -> tuple[tuple[SearchHit, ...], tuple[str, ...]]:
    """Return what the memory of whoever asks has, and what is to be told of it."""
    from pmem.project.own_memory import own_beside, told_as_left_out

    kinds = tuple(kind for kind in request.kinds or REMEMBERED if kind in REMEMBERED)
    try:
        own = own_beside(workspace) if kinds else None
        if own is None:
            return (), ()
        least = max(request.threshold, LEAST_OF_YOURS)
        limit = workspace.settings.retrieval_top_k if request.top_k is None else request.top_k
        asked = msgspec.structs.replace(
            request, kinds=kinds, related=0, threshold=least, top_k=min(limit, MOST_OF_YOURS)
        )
        return tuple(hits_of(own, opened(own, pick(own, asked, closely=True).ranked))), ()
    except PmemError as error:
        return (), told_as_left_out(workspace, error)


def _elsewhere(workspace: Workspace, request: SearchRequest) -> tuple[BranchHit, ...]:
    """Return what other work trees know that is not here."""
    from pmem.search.worktrees import hits_elsewhere

    wanted = msgspec.structs.replace(request, kinds=(SearchKind.MEMORY,), related=0)

    def find(other: Workspace) -> tuple[SearchHit, ...]:
        return tuple(hits_of(other, opened(other, pick(other, wanted, closely=True).ranked)))

    most = workspace.settings.retrieval_top_k if request.top_k is None else request.top_k
    return hits_elsewhere(workspace, find, most)


def matches_out_of_recall(workspace: Workspace, request: SearchRequest) -> dict[str, int]:
    """Count the memories and episodes out of recall that would answer a search, by their state.

    What was removed is not among them: somebody did not want it found.
    """
    kinds = tuple(kind for kind in request.kinds or REMEMBERED if kind in REMEMBERED)
    if not kinds or request.wanted.states != Filter().states:
        return {}
    found = {}
    for state in OUT_OF_RECALL:
        wanted = msgspec.structs.replace(request.wanted, states=(state,))
        asked = msgspec.structs.replace(request, kinds=kinds, wanted=wanted, related=0)
        total = pick(workspace, asked).total
        if total:
            found[str(state)] = total
    return found


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
            return self._by_words(kind, sieve, most, nearness_of_talk(self.workspace, asked))
        ranking = self._by_words(kind, sieve, max(most, WORDS), None)
        numbers = self.pool.newest(labels(kind, self.request.wanted.states), ())
        return with_nearest(ranking, asked, self.sieve()(numbers))

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
            from pmem.core.retrieval.weighted_sum import rank_by_sum

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
    most = workspace.settings.retrieval_top_k if request.top_k is None else request.top_k
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
    passed = _passed(pool.newest(wanted, names), sieve) if words else iter(())
    chosen = list(islice(passed, most))
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
