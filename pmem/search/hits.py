"""What a search finds: kinds, ranked documents read and described, what they bring along."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from pmem.core.filters import Filter
from pmem.core.policy import CATEGORY_OF_KIND
from pmem.core.retrieval.collection import LinkedMemory, brought_along
from pmem.core.retrieval.documents import shown_text
from pmem.core.retrieval.factors import Weights
from pmem.core.retrieval.pool import DocumentKey
from pmem.core.retrieval.ranked import RankedDocument as Ranked
from pmem.core.trust import RecordOrigin, Trust, noted_by, trust_of
from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.project.origins import Doubts
from pmem.project.workspace import Workspace
from pmem.storage.store import Store
from pmem.values.fields import AsOf, asked
from pmem.values.ids import short
from pmem.values.records import Conversation, Memory, Record, State


class SearchKind(StrEnum):
    """What a search can find."""

    MEMORY = "memory"
    EPISODE = "episode"
    CHUNK = "chunk"
    MESSAGE = "message"


RELATED_MEMORIES: Final = 2
"""Linked memories that recall brings along."""
REMEMBERED: Final = (SearchKind.MEMORY, SearchKind.EPISODE)
"""Kinds whose recalls count."""


ANSWERS: Final = 0.5
"""A memory with at least this share of the best memory's score comes before what was said."""
HARDLY: Final = 0.25
"""But not with a smaller share of the best score of all."""


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that answers a query; `stale` are citations that do not hold any more.

    `trust` and `state` are those of a memory or an episode, `subject` and `places` a memory's;
    `noted_by` is the agent that noted it, where nobody has confirmed it. `origin` is there where
    nobody has reviewed it, and whoever works here did not write it.
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
    state: State | None = None
    subject: str | msgspec.UnsetType = msgspec.UNSET
    places: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    origin: RecordOrigin | msgspec.UnsetType = msgspec.UNSET
    noted_by: str | msgspec.UnsetType = msgspec.UNSET


class BranchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of another work tree that answers a query, and the branch that has it."""

    id: str
    short: str
    branch: str
    score: float
    text: str


class Stage(StrEnum):
    """Where a search drops what it does not recall, in order; `FOUND` is recalled."""

    MISSING = "missing"
    KIND = "kind"
    FILTER = "filter"
    STATE = "state"
    VALIDITY = "validity"
    WORDS = "words"
    THRESHOLD = "threshold"
    CAP = "cap"
    FOUND = "found"


class ExpectedHit(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a ranking: `rank` counts from one, `signals` are the parts of the score."""

    id: str
    short: str
    rank: int
    score: float
    signals: dict[str, float]


class Expectation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a search recalled what was expected, and if not, what became of it.

    `reference` is as it was named, and `reason` says in words which stage dropped it. Its `id` is
    None where nothing has this reference. `hit` is its place among all of the `matches`, if it is
    one, beside the `last` of the hits that were shown.
    """

    reference: str
    stage: Stage
    reason: str
    id: str | None = None
    hit: ExpectedHit | None = None
    matches: int = 0
    last: ExpectedHit | None = None

    @property
    def is_met(self) -> bool:
        """Whether it was among the hits."""
        return self.stage is Stage.FOUND


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
    origin: RecordOrigin | msgspec.UnsetType = msgspec.UNSET


Scored = tuple[SearchKind, DocumentKey, Ranked]


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


def turns(
    found: Collection[tuple[SearchKind, Ranked]],
) -> Callable[[tuple[SearchKind, Ranked]], int]:
    """Return what tells which of several kinds' hits come first, by a number, the lowest first.

    A memory that answers comes before what was said, so that talk does not bury it. Summaries come
    last, because what they are made of is found itself.
    """
    memories = [hit.score for kind, hit in found if kind is SearchKind.MEMORY]
    best = max((hit.score for _, hit in found), default=0.0)
    least = max(ANSWERS * max(memories, default=0.0), HARDLY * best)

    def turn(one: tuple[SearchKind, Ranked]) -> int:
        kind, hit = one
        if kind is SearchKind.MEMORY:
            return 0 if hit.score >= least else 1
        return 2 if kind is SearchKind.CHUNK else 1

    return turn


def opened(workspace: Workspace, ranked: Iterable[Scored]) -> Iterator[LoadedHit]:
    """Yield ranked documents, each read when it is asked for."""
    for kind, place, hit in ranked:
        store: Store[Any] = workspace.store(place.type)
        try:
            record = store.get(place.record)
            document: Any = place.find_in(record)
        except (NotFound, Damaged, StorageRefused):
            continue
        yield LoadedHit(kind, record, document, hit)


def hits_of(
    workspace: Workspace, found: Iterable[LoadedHit], doubts: Doubts | None = None
) -> Iterator[SearchHit]:
    """Describe documents without secrets."""
    from pmem.memory.reading import Staleness  # what finds nothing needs none of it

    staleness = Staleness(workspace)
    mask = workspace.mask.fields
    read = list(found)
    doubted = (doubts or Doubts(workspace)).of(one.record for one in read)
    for one in read:
        hit = _hit(one._replace(document=mask(one.document)), staleness(one.document))
        origin = doubted.get(one.record.id)
        yield hit if origin is None else msgspec.structs.replace(hit, origin=origin)


def related_to(
    hits: Iterable[Scored], ties: Iterable[LinkedMemory], most: int
) -> dict[str, LinkedMemory]:
    """Return the memories that hits bring along, by their ids, the strongest first."""
    scores = {place.id: hit.score for kind, place, hit in hits if kind is SearchKind.MEMORY}
    return brought_along(scores, ties, most)


def as_scored(tie: LinkedMemory) -> Scored:
    """Return a memory that is brought along as if it were a hit, to be opened like one."""
    return SearchKind.MEMORY, DocumentKey(Memory, tie.id, tie.id), Ranked(0, tie.value, {})


def most_related(given: int | None) -> int:
    """Return how many memories may be brought along: what was given, else two."""
    return RELATED_MEMORIES if given is None else given


def describe_related(
    workspace: Workspace, along: dict[str, LinkedMemory], doubts: Doubts
) -> Iterator[Related]:
    """Describe what is brought along; what vanished since the ranking is left out.

    What is in doubt is not, unless it is only to be marked.
    """
    for found in opened(workspace, map(as_scored, along.values())):
        origin = doubts.mark(found.record)
        if origin is not None and doubts.treats != "mark":
            continue
        tie = along[found.document.id]
        yield Related(
            id=tie.id,
            short=short(tie.id),
            text=workspace.mask.text(shown_text(found.document)),
            type=tie.type,
            strength=tie.strength,
            via=tie.via,
            forward=tie.forward,
            origin=origin or msgspec.UNSET,
        )


def _hit(found: LoadedHit, stale: tuple[str, ...]) -> SearchHit:
    """Describe a document of a record: the record itself, or a message within it."""
    kind, _, document, hit = found
    return SearchHit(
        id=document.id,
        short=short(document.id),
        kind=kind,
        score=hit.score,
        text=shown_text(document),
        created_at=document.created_at,
        state=getattr(document, "state", None),
        external_id=getattr(document, "external_id", None),
        conversation=found.conversation,
        speaker=getattr(document, "speaker", None),
        signals=hit.signals,
        stale=stale,
        trust=trust_of(document),
        subject=getattr(document, "subject", None) or msgspec.UNSET,
        places=getattr(document, "places", ()) or msgspec.UNSET,
        noted_by=noted_by(document) or msgspec.UNSET,
    )


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
    With `reviewed`, only what the reviewed branch holds is found.
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
    reviewed: Annotated[bool, asked("Only what was reviewed.")] = False
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
