"""Finding what is kept: ranking, filters, and the hits themselves."""

from typing import Any, Final

import msgspec

from pmem.core.filters import Filter
from pmem.core.lifecycle.presence import OUT_OF_RECALL
from pmem.core.retrieval.question import notes_on, searched_part
from pmem.project.workspace import Workspace
from pmem.search.held_words import count_expired, is_near, without_words
from pmem.search.hits import (
    REMEMBERED,
    BranchHit,
    Expectation,
    Related,
    SearchHit,
    describe_related,
    hits_of,
    most_related,
    opened,
    related_to,
)
from pmem.search.picking import SearchRequest, most_hits, pick
from pmem.search.unranked import find_unranked

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
    limit = most_hits(workspace, request)
    first = known[:limit]
    found = [*first, *opened(workspace, others[: limit - len(first)])]
    hits = tuple(hits_of(workspace, found))
    wordless = without_words(request.query, found)
    near = tuple(one.document.id for one in wordless if is_near(one))
    total = picked.total + len(known) - (len(picked.ranked) - len(others))
    most = most_related(request.related)
    yours: tuple[SearchHit, ...] = ()
    told: tuple[str, ...] = ()
    beside: tuple[BranchHit, ...] = ()
    expected: Expectation | None = None
    if request.mine:
        from pmem.search.elsewhere import yours_of  # like the next two: rarely asked for

        yours, told = yours_of(workspace, request)
    if request.worktrees:
        from pmem.search.elsewhere import hits_in_work_trees

        beside = hits_in_work_trees(workspace, request)
    if request.expect is not None:
        from pmem.search.expectation import explain

        expected = explain(workspace, request, hits, total)
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
        elsewhere=beside,
        yours=yours,
        expected=expected,
    )


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
