"""Why a search did not recall something: the first stage that dropped it.

The stages stand in the order in which a search has them. Who may not see a record is told what
is said of one that does not exist.
"""

from collections.abc import Sequence
from functools import partial

import msgspec

from pmem.core.filters import judge_of
from pmem.core.retrieval.documents import IndexedDocument, entries
from pmem.core.retrieval.pool import holds_at
from pmem.core.retrieval.ranked import RankedDocument
from pmem.core.secrets import unsecret
from pmem.core.text.terms import terms
from pmem.errors import Damaged, NotFound, Refused, StorageRefused
from pmem.memory import reading
from pmem.memory.reading import MessageRef
from pmem.project.configuration import embeds
from pmem.project.workspace import Workspace
from pmem.search.hits import Expectation, ExpectedHit, SearchHit, SearchKind, SearchRequest, Stage
from pmem.search.picking import pick
from pmem.values.ids import short
from pmem.values.records import Record
from pmem.values.times import iso


def explain(
    workspace: Workspace, request: SearchRequest, hits: Sequence[SearchHit], total: int
) -> Expectation:
    """Say whether a search recalled what it was to recall, and why not."""
    reference = unsecret(request.expect or "")
    known = _find_expected(workspace, reference)
    if known is None:
        reason = "nothing that it could find has this id"
        return Expectation(reference=reference, stage=Stage.MISSING, reason=reason)
    identifier, record = known
    last = _expected_hit(hits[-1], len(hits), hits[-1].id) if hits else None
    answer = partial(Expectation, reference=reference, id=identifier, last=last)
    for rank, shown in enumerate(hits, start=1):
        if shown.id == identifier:
            hit, reason = _expected_hit(shown, rank, identifier), f"it is at rank {rank} of {total}"
            return answer(stage=Stage.FOUND, reason=reason, hit=hit, matches=total)
    entry = next((one for one in entries(record) if one.id == identifier), None)
    dropped = _stage_before(workspace, request, entry)
    if dropped is not None:
        return answer(stage=dropped[0], reason=dropped[1])
    asked = msgspec.structs.replace(request, threshold=0.0, related=0, top_k=1)
    every = max(1, pick(workspace, asked, closely=True).total)
    asked = msgspec.structs.replace(asked, top_k=every)
    ranked = pick(workspace, asked, closely=True).ranked
    for rank, (_, key, document) in enumerate(ranked, start=1):
        if key.id == identifier:
            is_low = document.score < request.threshold
            reason = f"it is at rank {rank} of {len(ranked)}, beyond the {len(hits)} that are shown"
            if is_low:
                limit = f"the threshold {request.threshold:g}"
                reason = f"its score {document.score:.3f} is below {limit}"
            hit = _expected_hit(document, rank, identifier)
            stage = Stage.THRESHOLD if is_low else Stage.CAP
            return answer(stage=stage, reason=reason, hit=hit, matches=len(ranked))
    has_words = terms(request.query) or embeds(workspace.settings.vectors)
    reason = "no word of the query is in it" if has_words else "the query has no word that counts"
    if embeds(workspace.settings.vectors):
        reason += ", and its meaning is not near"
    return answer(stage=Stage.WORDS, reason=reason, matches=len(ranked))


def _find_expected(workspace: Workspace, reference: str) -> tuple[str, Record] | None:
    """Return the id that a reference means and the record that holds it, if it may be seen."""
    try:
        found = reading.find(workspace, reference)
    except (NotFound, Refused):
        return None
    except (Damaged, StorageRefused):
        if workspace.reach is None:
            raise
        return None
    if not isinstance(found, MessageRef):
        return found.id, found
    identifier = found.message.id
    for chunk in workspace.chunks.find():
        is_of_it = chunk.conversation == found.conversation
        if is_of_it and any(message.id == identifier for message in chunk.messages):
            return identifier, chunk
    return identifier, workspace.conversations.get(found.conversation)


def _stage_before(
    workspace: Workspace, request: SearchRequest, entry: IndexedDocument | None
) -> tuple[Stage, str] | None:
    """Return the stage before the ranking that drops a document, and why; None if none does."""
    if entry is None:
        return Stage.KIND, "it is never found itself; what it holds is"
    kind = SearchKind(entry.document.kind)
    if request.kinds and kind not in request.kinds:
        return Stage.KIND, f"it is of the kind {kind}, which was not searched"
    facts, now = entry.facts, workspace.now()
    failed = judge_of(request.wanted)(facts)
    if failed == "state":
        state = facts.state
        return Stage.STATE, f"it is {state.replace('_', ' ')}; `--state {state}` finds it"
    if failed is not None:
        return Stage.FILTER, f"the filter {failed.replace('_', '-')} takes it away"
    reason = f"it holds only from {iso(facts.valid_from)} on" if facts.valid_from else ""
    if facts.valid_until is not None and facts.valid_until <= now:
        reason = f"it held until {iso(facts.valid_until)}"
    return None if holds_at(facts, now) else (Stage.VALIDITY, reason)


def _expected_hit(hit: SearchHit | RankedDocument, rank: int, id_: str) -> ExpectedHit:
    return ExpectedHit(id=id_, short=short(id_), rank=rank, score=hit.score, signals=hit.signals)
