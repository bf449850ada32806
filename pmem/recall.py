"""Finding what is kept, and building the context that a model reads."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum

import msgspec

from pmem.conversations import all_messages, current
from pmem.core import context, dialogue
from pmem.core.filters import EVERYTHING, Filter, rejected_by
from pmem.core.ranking import Document, Priors, rank
from pmem.core.retention import as_of, valid_at
from pmem.errors import Damaged, InvalidValue, NotFound, StorageRefused
from pmem.ids import short
from pmem.lookup import conversation_named
from pmem.records import Chunk, Conversation, Episode, Memory, Message, Status
from pmem.times import iso
from pmem.workspace import Workspace


class Kind(StrEnum):
    """What a search can find."""

    MEMORY = "memory"
    EPISODE = "episode"
    CHUNK = "chunk"
    MESSAGE = "message"


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for.

    `top_k` limits the hits (the setting `retrieval_top_k` when None), `threshold` drops
    lower scores, `at` judges memories as they were and by what was valid at that moment.
    """

    query: str
    kinds: tuple[Kind, ...] = ()
    wanted: Filter = Filter()
    top_k: int | None = None
    threshold: float = 0.0
    at: datetime | None = None


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that answers a query."""

    id: str
    short: str
    kind: Kind
    score: float
    text: str
    created_at: datetime
    external_id: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    signals: dict[str, float] = {}


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A search's answer: hits, how many there were in all, and what filters took away."""

    query: str
    hits: tuple[Hit, ...]
    total: int
    removed: dict[str, int]


class ContextRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a context is for; without a budget it gets the setting's."""

    query: str | None = None
    budget: int | None = None
    conversation: str | None = None
    agent: str | None = None
    format: context.Format = "markdown"
    at: datetime | None = None


class _Candidate(msgspec.Struct, frozen=True):
    kind: Kind
    record: Memory | Episode | Chunk | Message
    conversation: str | None


def search(workspace: Workspace, request: SearchRequest) -> Found:
    """Rank everything kept by how well it answers a query.

    Args:
        workspace: Where to look.
        request: What to look for.

    Raises:
        InvalidValue: `top_k` or `threshold` is out of range.
    """
    _check(request)
    removed: Counter[str] = Counter()
    pool: list[_Candidate] = []
    for candidate in _pool(workspace, request):
        reason = rejected_by(candidate.record, request.wanted)
        if reason is None:
            pool.append(candidate)
        else:
            removed[reason] += 1
    hits = _ranked(workspace, request.query, pool)
    passed = [hit for hit in hits if hit.score >= request.threshold]
    if len(passed) < len(hits):
        removed["threshold"] = len(hits) - len(passed)
    most = workspace.settings.retrieval_top_k if request.top_k is None else request.top_k
    return Found(
        query=request.query,
        hits=tuple(passed[:most]),
        total=len(passed),
        removed=dict(sorted(removed.items())),
    )


def build_context(workspace: Workspace, request: ContextRequest) -> context.Context:
    """Write the block that a model reads, within a budget.

    Args:
        workspace: What to draw on.
        request: What it is for.

    Raises:
        InvalidValue: The budget is below one token.
        NotFound, Ambiguous: The conversation.
    """
    settings = workspace.settings
    budget = settings.default_budget if request.budget is None else request.budget
    if budget < 1:
        raise InvalidValue(f"a budget must be at least 1 token, not {budget}")
    memories = _valid_memories(workspace, request)
    stable = sorted(memories, key=lambda memory: (not memory.pinned, -memory.importance, memory.id))
    recent, summaries = _conversation_items(workspace, request.conversation)
    recalled, below = _recalled(workspace, request, stable)
    candidates = context.Candidates(
        memory=[_memory_item(memory) for memory in stable],
        recalled=recalled,
        summaries=summaries,
        recent=recent,
        left_out=below,
    )
    return context.build(
        f"Memory of {settings.project_name}",
        candidates,
        budget,
        recent_share=settings.recent_share,
        format_=request.format,
        count=workspace.count,
    )


def _check(request: SearchRequest) -> None:
    if request.top_k is not None and request.top_k < 1:
        raise InvalidValue(f"the number of hits must be at least 1, not {request.top_k}")
    if not 0 <= request.threshold <= 1:
        raise InvalidValue(f"the threshold must lie between 0 and 1, not {request.threshold:g}")


def _pool(workspace: Workspace, request: SearchRequest) -> Iterator[_Candidate]:
    kinds = request.kinds or tuple(Kind)
    if Kind.MEMORY in kinds:
        for memory in _at(workspace.memories.find(), request.at):
            if valid_at(memory, request.at or workspace.now()):
                yield _Candidate(Kind.MEMORY, memory, None)
    if Kind.EPISODE in kinds:
        for episode in workspace.episodes.find():
            if request.at is None or episode.created_at <= request.at:
                yield _Candidate(Kind.EPISODE, episode, episode.conversation)
    if Kind.CHUNK in kinds:
        for chunk in workspace.chunks.find():
            if request.at is None or chunk.created_at <= request.at:
                yield _Candidate(Kind.CHUNK, chunk, chunk.conversation)
    if Kind.MESSAGE in kinds:
        for said in all_messages(workspace):
            if request.at is None or said.message.created_at <= request.at:
                yield _Candidate(Kind.MESSAGE, said.message, said.conversation)


def _at(memories: Iterable[Memory], at: datetime | None) -> Iterator[Memory]:
    for memory in memories:
        earlier = memory if at is None else as_of(memory, at)
        if earlier is not None:
            yield earlier


def _ranked(workspace: Workspace, query: str, pool: list[_Candidate]) -> list[Hit]:
    settings = workspace.settings
    priors = Priors(
        recency=settings.recency_weight,
        importance=settings.importance_weight,
        share=settings.prior_share,
        half_life_days=settings.half_life_days,
    )
    documents = [_document(candidate) for candidate in pool]
    return [
        _hit(pool[place.position], place.score, place.signals)
        for place in rank(query, documents, workspace.now(), priors)
    ]


def _document(candidate: _Candidate) -> Document:
    record = candidate.record
    importance = getattr(record, "importance", None)
    return Document(
        key=record.id,
        text=_searchable(record),
        at=record.created_at,
        importance=0.5 if importance is None else importance,
    )


def _searchable(record: Memory | Episode | Chunk | Message) -> str:
    if isinstance(record, Memory):
        return " ".join((record.content, record.subject or "", record.category, *record.tags))
    if isinstance(record, Episode):
        parts = (record.title, record.summary, record.context, record.outcome or "")
        return " ".join((*parts, *record.tags))
    if isinstance(record, Chunk):
        return record.summary
    return f"{record.speaker or ''} {record.content}"


def _hit(candidate: _Candidate, score: float, signals: dict[str, float]) -> Hit:
    record = candidate.record
    return Hit(
        id=record.id,
        short=short(record.id),
        kind=candidate.kind,
        score=score,
        text=_shown(record),
        created_at=record.created_at,
        external_id=getattr(record, "external_id", None),
        conversation=candidate.conversation,
        speaker=getattr(record, "speaker", None),
        signals=signals,
    )


def _shown(record: Memory | Episode | Chunk | Message) -> str:
    if isinstance(record, Episode):
        return f"{record.title}: {record.summary}"
    return record.summary if isinstance(record, Chunk) else record.content


def _valid_memories(workspace: Workspace, request: ContextRequest) -> list[Memory]:
    at = request.at or workspace.now()
    wanted = Filter(agent=request.agent)
    return [
        memory
        for memory in _at(workspace.memories.find(EVERYTHING), request.at)
        if valid_at(memory, at) and rejected_by(memory, wanted) is None
    ]


def _memory_item(memory: Memory) -> context.Item:
    subject = f"[{memory.subject}] " if memory.subject else ""
    text = f"[id:{short(memory.id)}] {subject}{_one_line(memory.content)}"
    return context.Item(id=memory.id, text=text, heading=memory.category)


def _conversation_items(
    workspace: Workspace, reference: str | None
) -> tuple[list[context.Item], list[context.Item]]:
    """Return the recent messages that a context may show, and the summaries before them."""
    if reference is None:
        conversation = _usable_current(workspace)
    else:
        conversation = conversation_named(workspace, reference)
    if conversation is None:
        return [], []
    settings = workspace.settings
    in_chunks = conversation.turns - len(conversation.recent_messages)
    recent = dialogue.shown(
        conversation.recent_messages[max(0, conversation.cleared_turns - in_chunks) :],
        most=settings.max_messages,
        most_tokens=settings.conversation_tokens,
        keep=settings.min_recent_messages,
        strategy=settings.pruning_strategy,
        now=workspace.now(),
    )
    first = conversation.turns - settings.short_term_retention_turns
    summaries = [
        context.Item(id=chunk.id, text=_one_line(chunk.summary))
        for chunk in _chunks_after(
            workspace, conversation, in_chunks, max(first, conversation.cleared_turns)
        )
    ]
    return [_message_item(message) for message in recent], summaries


def _chunks_after(
    workspace: Workspace, conversation: Conversation, last: int, turn: int
) -> Iterator[Chunk]:
    """Yield the chunks that reach beyond a turn, the latest first; `last` is where they end."""
    for identifier in reversed(conversation.chunks):
        if last <= turn:
            return
        chunk = _usable_chunk(workspace, identifier)
        if chunk is not None:
            yield chunk
            last -= len(chunk.messages)


def _usable_current(workspace: Workspace) -> Conversation | None:
    """Return the current conversation; a damaged one is passed over, and noted by the scan."""
    try:
        return current(workspace)
    except (Damaged, StorageRefused):
        found = [item for item in workspace.conversations.find() if item.status is Status.ACTIVE]
        return max(found, key=lambda item: item.id, default=None)


def _usable_chunk(workspace: Workspace, identifier: str) -> Chunk | None:
    """Return a chunk, or None after a scan has noted what is wrong with its file."""
    try:
        return workspace.chunks.get(identifier)
    except (NotFound, Damaged, StorageRefused):
        return next((item for item in workspace.chunks.find() if item.id == identifier), None)


def _recalled(
    workspace: Workspace, request: ContextRequest, stable: list[Memory]
) -> tuple[list[context.Item], list[context.Omitted]]:
    """Return what answers the query, or what matters most when there is none."""
    if not request.query or not request.query.strip():
        return [_memory_item(memory) for memory in stable], []
    settings = workspace.settings
    kinds = (Kind.MEMORY, Kind.EPISODE, Kind.MESSAGE)
    asked = SearchRequest(query=request.query, kinds=kinds, top_k=1000, at=request.at)
    hits = search(workspace, asked).hits
    allowed = {memory.id for memory in stable}
    keep: list[context.Item] = []
    below: list[context.Omitted] = []
    for hit in hits:
        if hit.kind is Kind.MEMORY and hit.id not in allowed:
            continue
        if hit.kind is Kind.MEMORY and hit.score < settings.relevance_threshold:
            below.append(context.Omitted(hit.id, "below_threshold"))
        else:
            keep.append(_hit_item(hit))
    return keep, below


def _hit_item(hit: Hit) -> context.Item:
    day = iso(hit.created_at)[:10]
    who = f"{hit.speaker}: " if hit.speaker else ""
    text = _one_line(hit.text)
    label = f"[id:{hit.short}]" if hit.kind is Kind.MEMORY else f"[{day}]"
    return context.Item(id=hit.id, external_id=hit.external_id, text=f"{label} {who}{text}")


def _message_item(message: Message) -> context.Item:
    return context.Item(
        id=message.id,
        external_id=message.external_id,
        text=f"{message.speaker or message.role}: {_one_line(message.content)}",
        role=message.role,
    )


def _one_line(text: str) -> str:
    """Fold a text into one line, so that it cannot pass for the context's own lines."""
    return " ".join(text.split())
