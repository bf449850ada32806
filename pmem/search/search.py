"""Finding what is kept: ranking, filters, and the hits themselves."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core.filters import Filter, rejected_by
from pmem.core.policy import CATEGORY_OF_KIND
from pmem.core.retrieval.documents import text_of
from pmem.core.retrieval.pool import DocumentKey, Pool, labels
from pmem.core.retrieval.question import notes_on, searched_part
from pmem.core.retrieval.ranking import RankedDocument as Ranked
from pmem.core.retrieval.ranking import Ranking, RankingSettings, rank
from pmem.core.retrieval.relations import LinkedMemory, RelatedHit, brought_along
from pmem.core.retrieval.weighted_sum import Weights, rank_by_sum
from pmem.core.trust import Trust, trust_of
from pmem.errors import Damaged, InvalidValue, NotFound, StorageRefused
from pmem.memory.reading import Staleness
from pmem.project.workspace import Workspace
from pmem.storage.store import Store
from pmem.values.config import Settings
from pmem.values.ids import short
from pmem.values.records import Conversation, Memory, Record

RELATION_WEIGHT: Final = 0.1
"""Weight of a memory's strongest link, among the priors."""


class SearchKind(StrEnum):
    """What a search can find."""

    MEMORY = "memory"
    EPISODE = "episode"
    CHUNK = "chunk"
    MESSAGE = "message"


REMEMBERED: Final = (SearchKind.MEMORY, SearchKind.EPISODE)
"""Kinds whose recalls count."""


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for.

    `top_k` limits the hits (the setting `retrieval_top_k` when None), `threshold` drops
    lower scores, `at` judges memories as they were and by what was valid at that moment,
    `weights` ranks by the weighted sum of signals instead of by relevance and structure, and
    `related` limits the memories that hits bring along (the setting `related_memories` when None).
    Without `counts` what is found does not count as recalled.
    """

    query: str
    kinds: tuple[SearchKind, ...] = ()
    wanted: Filter = Filter()
    top_k: int | None = None
    threshold: float = 0.0
    at: datetime | None = None
    revision: str | None = None
    weights: Weights | None = None
    counts: bool = True
    related: int | None = None

    @property
    def named_categories(self) -> tuple[str, ...]:
        """The categories that it asks for by name, or by the kinds that they are of."""
        of_kinds = (CATEGORY_OF_KIND.get(kind) for kind in self.kinds)
        return (*self.wanted.categories, *filter(None, of_kinds))

    @property
    def named_app(self) -> str | None:
        """The app whose records it asks for by name."""
        return self.wanted.app


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that answers a query; `stale` are citations that do not hold any more.

    `trust` is that of a memory or an episode.
    """

    id: str
    short: str
    kind: SearchKind
    score: float
    text: str
    created_at: datetime
    external_id: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    signals: dict[str, float] = {}
    stale: tuple[str, ...] = ()
    trust: Trust | None = None


class Related(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that a hit brings along: the link's type and strength, and the hit's id.

    The link leads from the hit to the memory if it is `forward`, else the other way.
    """

    id: str
    short: str
    text: str
    type: str
    strength: float
    via: str
    forward: bool


class SearchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A search's answer: hits, what they bring along, how many there were in all, and what
    filters took away; `notes` say what of a very long query was not searched for.
    """

    query: str
    hits: tuple[SearchHit, ...]
    total: int
    removed: dict[str, int]
    related: tuple[Related, ...]
    notes: tuple[str, ...] = ()

    @property
    def recalled(self) -> list[str]:
        """The ids of what counts as recalled."""
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
    picked = pick(workspace, request)
    hits = tuple(hits_of(workspace, opened(workspace, picked.ranked)))
    most = most_related(workspace, request.related)
    return SearchResult(
        query=searched_part(request.query),
        hits=hits,
        related=tuple(_describe_related(workspace, related_to(picked.ranked, picked.ties, most))),
        total=picked.total,
        removed=dict(sorted(picked.removed.items())),
        notes=notes_on(request.query),
    )


Scored = tuple[SearchKind, DocumentKey, Ranked]


class RankedSet(msgspec.Struct, frozen=True):
    """The best documents: kind, place, score and signals; how many; what was filtered away.

    `ties` are links of those memories to others that pass the filters.
    """

    ranked: list[Scored]
    total: int
    removed: Counter[str]
    ties: list[LinkedMemory]


class LoadedHit(NamedTuple):
    """A ranked document, read: the record that holds it, and the document itself."""

    kind: SearchKind
    record: Record
    document: Any
    hit: Ranked

    @property
    def conversation(self) -> str | None:
        """The conversation that it belongs to, if it does to one."""
        if isinstance(self.record, Conversation):
            return self.record.id
        return getattr(self.record, "conversation", None)


def pick(workspace: Workspace, request: SearchRequest) -> RankedSet:
    """Rank everything kept by how well it answers a query, without reading the records.

    Args:
        workspace: Where to look, at the request's moment already.

    Raises:
        InvalidValue: `top_k`, `threshold` or `related` is out of range.
    """
    return pick_each(workspace, [request])[0]


def pick_each(workspace: Workspace, requests: Iterable[SearchRequest]) -> list[RankedSet]:
    """Do the same for several requests, in one look at what is kept.

    Args:
        workspace: Where to look, at the requests' moment already.
        requests: What to look for.

    Raises:
        InvalidValue: `top_k`, `threshold` or `related` of one is out of range.
    """
    asked = []
    for request in requests:
        _check(request)
        asked.append(msgspec.structs.replace(request, query=searched_part(request.query)))
    return workspace.backend.searched(lambda pool: [_pick(workspace, one, pool) for one in asked])


def opened(workspace: Workspace, ranked: Iterable[Scored]) -> Iterator[LoadedHit]:
    """Yield ranked documents, each read when it is asked for.

    Args:
        ranked: What to read; what vanished since the ranking is left out.
    """
    for kind, place, hit in ranked:
        store: Store[Any] = workspace.store(place.type)
        try:
            record = store.get(place.record)
            document: Any = place.find_in(record)
        except (NotFound, Damaged, StorageRefused):
            continue
        yield LoadedHit(kind, record, document, hit)


def related_to(
    hits: Iterable[Scored], ties: Iterable[LinkedMemory], most: int
) -> dict[str, RelatedHit]:
    """Return the memories that hits bring along, by their ids, the strongest first.

    Args:
        hits: What was found and is shown.
        ties: Links of these hits, and perhaps of others.
        most: How many to bring at the most.
    """
    scores = {place.id: hit.score for kind, place, hit in hits if kind is SearchKind.MEMORY}
    return {brought.tie.id: brought for brought in brought_along(scores, ties, most)}


def as_scored(brought: RelatedHit) -> Scored:
    """Return a memory that is brought along as if it were a hit, to be opened like one."""
    identifier = brought.tie.id
    return (
        SearchKind.MEMORY,
        DocumentKey(Memory, identifier, identifier),
        Ranked(0, brought.value, {}),
    )


def most_related(workspace: Workspace, given: int | None) -> int:
    """Return how many memories may be brought along: what was given, else the setting."""
    return workspace.settings.related_memories if given is None else given


def _describe_related(workspace: Workspace, along: dict[str, RelatedHit]) -> Iterator[Related]:
    """Describe what is brought along; what vanished since the ranking is left out."""
    for found in opened(workspace, map(as_scored, along.values())):
        tie = along[found.document.id].tie
        yield Related(
            id=tie.id,
            short=short(tie.id),
            text=workspace.mask.text(text_of(found.document)),
            type=tie.type,
            strength=tie.strength,
            via=tie.via,
            forward=tie.forward,
        )


def _check(request: SearchRequest) -> None:
    if request.top_k is not None and request.top_k < 1:
        raise InvalidValue(f"the number of hits must be at least 1, not {request.top_k}")
    if not 0 <= request.threshold <= 1:
        raise InvalidValue(f"the threshold must lie between 0 and 1, not {request.threshold:g}")
    if request.related is not None and request.related < 0:
        raise InvalidValue(f"related memories must be 0 or more, not {request.related}")


def _pick(workspace: Workspace, request: SearchRequest, pool: Pool) -> RankedSet:
    """Rank the kinds one by one, each among its own, and take the best of all."""
    most = workspace.settings.retrieval_top_k if request.top_k is None else request.top_k
    sieve = _Sieve(pool, request.wanted, workspace.now())
    found: list[tuple[SearchKind, Ranked]] = []
    total = 0
    for kind in request.kinds or tuple(SearchKind):
        ranking = _rank(workspace, request, pool, kind, sieve, most)
        found += [(kind, hit) for hit in ranking.hits]
        total += ranking.total
    passed = [(kind, hit) for kind, hit in found if hit.score >= request.threshold]
    if len(passed) < len(found):
        sieve.removed["threshold"] = len(found) - len(passed)
        total -= len(found) - len(passed)
    places = pool.places([hit.number for _, hit in passed])
    passed.sort(key=lambda item: (-item[1].score, places[item[1].number].id))
    ranked = [(kind, places[hit.number], hit) for kind, hit in passed[:most]]
    removed = sieve.removed.copy()
    wants_related = most_related(workspace, request.related) > 0
    return RankedSet(ranked, total, removed, _ties(pool, ranked, sieve) if wants_related else [])


def _ties(pool: Pool, ranked: Iterable[Scored], sieve: "_Sieve") -> list[LinkedMemory]:
    """Return the links of the memories that were found to others that pass the filters."""
    via = {hit.number: place.id for kind, place, hit in ranked if kind is SearchKind.MEMORY}
    links = list(pool.links(via)) if via else []
    passed = pool.places(sieve({link.far for link in links})) if links else {}
    return [
        LinkedMemory(via[link.near], passed[link.far].id, link.type, link.strength, link.forward)
        for link in links
        if link.far in passed
    ]


def _rank(
    workspace: Workspace,
    request: SearchRequest,
    pool: Pool,
    kind: SearchKind,
    sieve: "_Sieve",
    most: int,
) -> Ranking:
    settings = workspace.settings
    statistics = pool.statistics(labels(kind, request.wanted.states))
    accept = sieve if sieve.is_needed(kind) else None
    limit = None if request.threshold > 0 else most
    if settings.ranking == "weighted_sum" or request.weights is not None:
        return rank_by_sum(
            request.query,
            statistics,
            request.weights or _weights(settings),
            now=workspace.now().timestamp(),
            half_life=settings.half_life_days,
            accept=accept,
            limit=limit,
        )
    return rank(
        request.query,
        statistics,
        _measured(settings),
        now=workspace.now().timestamp(),
        accept=accept,
        limit=limit,
        score=pool.scorer,
        links=pool.links if kind is SearchKind.MEMORY else None,
    )


def _weights(settings: Settings) -> Weights:
    return Weights(
        semantic=settings.semantic_weight,
        keyword=settings.keyword_weight,
        recency=settings.recency_weight,
        importance=settings.importance_weight,
        access=settings.access_weight,
    )


def _measured(settings: Settings) -> RankingSettings:
    """Return the measured weights with the project's priors."""
    return RankingSettings(
        prior=settings.prior_share,
        merits=(
            settings.recency_weight,
            settings.importance_weight,
            settings.access_weight,
            RELATION_WEIGHT,
        ),
        half_life=settings.half_life_days,
    )


class _Sieve:
    """The filters of a search, applied to documents by number; counts what each removes.

    Args:
        pool: Knows what filters ask.
        wanted: The filters.
        at: The moment at which memories must hold.
    """

    def __init__(self, pool: Pool, wanted: Filter, at: datetime) -> None:
        self.removed: Counter[str] = Counter()
        self._pool = pool
        self._wanted = wanted
        self._filtering = wanted != Filter()
        self._invalid = set(pool.invalid(at))
        self._hidden = frozenset(pool.hidden())
        self._judged: dict[int, bool] = {}

    def is_needed(self, kind: SearchKind) -> bool:
        """Tell whether anything of a kind could be filtered away."""
        rarely = kind is SearchKind.MEMORY and bool(self._invalid)
        return self._filtering or bool(self._hidden) or rarely

    def __call__(self, numbers: Collection[int]) -> Collection[int]:
        numbers = [number for number in numbers if number not in self._hidden]
        fresh = [number for number in numbers if number not in self._judged]
        facts = self._pool.facts(fresh) if self._filtering else {}
        for number in fresh:
            reason = "validity" if number in self._invalid else None
            if reason is None and self._filtering:
                reason = rejected_by(facts[number], self._wanted)
            self._judged[number] = reason is None
            if reason is not None:
                self.removed[reason] += 1
        return {number for number in numbers if self._judged[number]}


def hits_of(workspace: Workspace, found: Iterable[LoadedHit]) -> Iterator[SearchHit]:
    """Describe documents without secrets, each when it is asked for.

    Args:
        found: What was found.
    """
    staleness = Staleness(workspace)
    mask = workspace.mask.fields
    return (
        _hit(one._replace(document=mask(one.document)), staleness(one.document)) for one in found
    )


def _hit(found: LoadedHit, stale: tuple[str, ...]) -> SearchHit:
    """Describe a document of a record: the record itself, or a message within it."""
    kind, _, document, hit = found
    return SearchHit(
        id=document.id,
        short=short(document.id),
        kind=kind,
        score=hit.score,
        text=text_of(document),
        created_at=document.created_at,
        external_id=getattr(document, "external_id", None),
        conversation=found.conversation,
        speaker=getattr(document, "speaker", None),
        signals=hit.signals,
        stale=stale,
        trust=trust_of(document),
    )
