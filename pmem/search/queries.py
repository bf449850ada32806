"""The one tool of agents: a request for memories, answered within its allowlist and its budget."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from pmem.core import queries
from pmem.core.lifecycle.presence import describe_matches
from pmem.core.policy import ACTIVITY, EVENT, EVERYTHING, PROCEDURAL, Reach, serving
from pmem.core.queries import Item, QueryRequest
from pmem.core.retrieval.question import notes_on, searched_part
from pmem.core.text.terms import terms
from pmem.project.caller import within
from pmem.project.workspace import Workspace
from pmem.search.hits import (
    REMEMBERED,
    SearchKind,
    SearchRequest,
    as_scored,
    most_related,
    opened,
    related_to,
)
from pmem.search.picking import RankedSet, pick
from pmem.search.search import matches_out_of_recall
from pmem.values.times import parse_time

_TALK: Final = (SearchKind.CHUNK, SearchKind.MESSAGE)


class QueryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answers, the best first, and the ids of those that count as recalled.

    `reason` says why there are none, or what was left out.
    """

    items: tuple[Item, ...]
    reason: str = ""
    recalled: tuple[str, ...] = ()

    @property
    def noted(self) -> dict[str, str]:
        """What the log of operations says of it."""
        return {"status": "ok" if self.items else "skipped"}

    def to_plain(self) -> tuple[Item, ...]:
        """Return the answers."""
        return self.items


def query(workspace: Workspace, request: QueryRequest) -> QueryAnswer:
    """Answer an agent's request.

    The storage applies the agent's allowlist and the filters, and leaves out what belongs to apps,
    but for the one that asks. What tells how something is done
    answers only where the category `procedural` is named, and what was said only where
    `activity` is.

    Raises:
        Refused: A category lies beyond the agent's allowlist, or the agent has none.
        InvalidValue: A time is none.
    """
    seen = within(workspace, _reach(workspace, request))
    picked = pick(seen, _search(seen, request))
    modes = workspace.settings.categories
    found = queries.within_lengths(_items(seen, request, picked), modes.context, modes.rag_length)
    shown, too_long = queries.within_budget(
        list(found), request.budget_tokens, workspace.budget_counter.count
    )
    reason = ""
    if too_long:
        reason = f"{too_long} left out: over the budget of {request.budget_tokens} tokens"
    elif not shown:
        left = matches_out_of_recall(seen, _search(seen, request))
        reason = f"nothing found{_why_nothing(request, picked, left)}"
    told = "; ".join(filter(None, (*notes_on(request.query), reason)))
    counting = {place.id for kind, place, _ in picked.ranked if kind in REMEMBERED}
    recalled = tuple(item.id for item in shown if item.id in counting)
    return QueryAnswer(items=tuple(shown), reason=told, recalled=recalled)


def _reach(workspace: Workspace, request: QueryRequest) -> Reach:
    """Return what may answer: what is asked for, as far as the agent may see it."""
    own = workspace.reach or EVERYTHING
    return msgspec.structs.replace(
        serving(own, None),
        categories=own.categories if request.wanted is None else request.wanted,
        procedures=PROCEDURAL in request.named_categories,
    )


def _search(workspace: Workspace, request: QueryRequest) -> SearchRequest:
    named = request.named_categories
    kinds = REMEMBERED if not named or EVENT in named else (SearchKind.MEMORY,)
    now = workspace.now()
    return SearchRequest(
        query=request.query,
        kinds=(*kinds, *_TALK) if ACTIVITY in named else kinds,
        wanted=queries.filter_of(request, lambda text: parse_time(text, now)),
        top_k=request.top_k,
        threshold=request.threshold,
    )


def _items(workspace: Workspace, request: QueryRequest, picked: RankedSet) -> Iterator[Item]:
    """Yield the answers, and behind them, beside the number asked for, what they bring along."""
    mask = workspace.mask.fields
    for one in opened(workspace, picked.ranked):
        yield queries.item_of(mask(one.document), one.kind, one.hit.score, request.form)
    along = related_to(picked.ranked, picked.ties, most_related(None))
    for one in opened(workspace, map(as_scored, along.values())):
        tie = along[one.document.id]
        via = queries.Via(id=tie.via, type=tie.type, forward=tie.forward)
        yield queries.item_of(mask(one.document), one.kind, 0.0, request.form, via)


def _why_nothing(request: QueryRequest, picked: RankedSet, out_of_recall: Mapping[str, int]) -> str:
    """Say why there is no answer, as the end of a sentence."""
    if not request.query.strip():
        return ": the query is empty"
    if not terms(searched_part(request.query)):
        return ": the query has no word that counts"
    if out_of_recall:
        return f"; {describe_matches(out_of_recall)}"
    if picked.removed:
        gone = ", ".join(f"{name} removed {n}" for name, n in sorted(picked.removed.items()))
        return f": {gone}"
    named = ", ".join(sorted(set(request.named_categories)))
    where = f" of {named}" if named else ""
    return f": no word of the query is in a memory{where} that may be seen"
