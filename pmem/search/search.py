"""Finding what is kept: by rank, by an error known before, and by words too common to rank.

Beside it stands what is known elsewhere: in other work trees, and in one's own memory.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from itertools import chain, product
from operator import and_
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.core.filters import Filter, judge_of
from pmem.core.lifecycle.neighbours import OUTRANKS, differences, newer_first
from pmem.core.lifecycle.presence import OUT_OF_RECALL
from pmem.core.outcomes import warns
from pmem.core.record_keys import fixed_key, proven_key
from pmem.core.retention import valid_at
from pmem.core.retrieval.documents import entries
from pmem.core.retrieval.forms import joined_words, likeness
from pmem.core.retrieval.pool import Pool, labels
from pmem.core.retrieval.question import is_english, notes_on, searched_part
from pmem.core.retrieval.ranked import RankedDocument
from pmem.core.retrieval.signals import day_terms
from pmem.core.text.terms import characters, fold, parse_query, terms
from pmem.errors import PmemError
from pmem.project.origins import Doubts
from pmem.project.workspace import Workspace
from pmem.search.hits import (
    REMEMBERED,
    BranchHit,
    Expectation,
    LoadedHit,
    Related,
    Scored,
    SearchHit,
    SearchKind,
    SearchRequest,
    describe_related,
    hits_of,
    most_related,
    opened,
    related_to,
)
from pmem.search.picking import RankedSet, most_hits, pick
from pmem.values.bounds import QUERY_CHARACTERS
from pmem.values.patterns import lazily
from pmem.values.records import Chunk, Episode, Memory, Message

if TYPE_CHECKING:
    from pmem.search.hits import SearchRequest
    from pmem.storage.git.work_trees import WorkTree

AS_IT_IS: Final = ("show", "mark")
"""How hits in doubt are treated where they keep their places."""
_DEEPER: Final = 4
"""So many times more hits are looked at where too many were left out."""
FILL: Final = 5
"""How many of the newest are shown, at the most, where nothing answers."""
_MOST_WORDS: Final = 32
_TELLING: Final = frozenset({"error", "words", "meaning"})
"""Signals of a hit that answers whatever words it holds."""


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
    doubts = Doubts(workspace, reviewed=request.reviewed)
    known, notes = find_unranked(workspace, request)
    picked, found, left_out = _best_of(workspace, request, known, doubts)
    hits = tuple(hits_of(workspace, found, doubts))
    wordless = without_words(request.query, found)
    near = tuple(one.document.id for one in wordless if is_near(one))
    twice = {place.id for _, place, _ in picked.ranked} & {each.record.id for each in known}
    total = picked.total + len(known) - len(twice) - left_out
    removed = {**picked.removed, **({"unreviewed": left_out} if left_out else {})}
    most = most_related(request.related)
    ids = {one.document.id for one in found}
    shown = [one for one in picked.ranked if one[1].id in ids or doubts.treats in AS_IT_IS]
    newest = _kept(workspace, picked.fill, doubts)
    yours: tuple[SearchHit, ...] = ()
    told: tuple[str, ...] = ()
    beside: tuple[BranchHit, ...] = ()
    expected: Expectation | None = None
    if request.mine:
        yours, told = yours_of(workspace, request)
    if request.worktrees:
        beside = hits_in_work_trees(workspace, request)
    if request.expect is not None:
        from pmem.search.expectation import explain

        expected = explain(workspace, request, hits, total)
    return SearchResult(
        query=searched_part(request.query),
        hits=hits,
        associated=tuple(one.document.id for one in wordless if not is_near(one)),
        by_meaning=near,
        related=tuple(describe_related(workspace, related_to(shown, picked.ties, most), doubts)),
        total=total,
        removed=dict(sorted(removed.items())),
        notes=(*notes, *notes_on(request.query), *told),
        expired=count_expired(workspace, request) if picked.removed["validity"] else 0,
        out_of_recall={} if len(near) < len(hits) else matches_out_of_recall(workspace, request),
        fill=() if yours else tuple(hits_of(workspace, newest, doubts)),
        elsewhere=beside,
        yours=yours,
        expected=expected,
    )


def _best_of(
    workspace: Workspace, request: SearchRequest, known: Sequence[LoadedHit], doubts: Doubts
) -> tuple[RankedSet, list[LoadedHit], int]:
    """Return a ranking, the best of it and of what is known, and how many hits are left out.

    Where what is in doubt is left out, or stands below the rest, so much more is looked at; what
    is left out of that is counted.
    """
    limit = most = most_hits(workspace, request)
    known_ids = {each.record.id for each in known}
    while True:
        asked = msgspec.structs.replace(request, top_k=most)
        picked = pick(workspace, asked, fill=0 if known else FILL, closely=True)
        others = [one for one in picked.ranked if one[1].id not in known_ids]
        if doubts.treats in AS_IT_IS:
            first = list(known[:limit])
            found = [*first, *opened(workspace, others[: limit - len(first)])]
            return picked, _lesser_behind(found, doubts), 0
        both = [*known, *opened(workspace, others)]
        doubted = doubts.of(one.record for one in both)
        kept = [one for one in both if one.record.id not in doubted]
        if len(kept) >= limit or len(picked.ranked) < most:
            break
        most *= _DEEPER
    if doubts.treats == "below":
        kept += [one for one in both if one.record.id in doubted]
    return picked, _lesser_behind(kept[:limit], doubts), len(both) - len(kept)


def _lesser_behind(found: list[LoadedHit], doubts: Doubts) -> list[LoadedHit]:
    """Return hits in their order, but what nobody stands for behind what it contradicts."""
    memories = [one.record for one in found if isinstance(one.record, Memory)]
    differing = differences(memories, doubts.is_lesser)
    behind = {id_: one for id_, one in differing.items() if one.relation == OUTRANKS}
    if not behind:
        return found
    return [found[place] for place in newer_first([one.record.id for one in found], behind)]


def _kept(workspace: Workspace, ranked: Iterable[Scored], doubts: Doubts) -> Iterator[LoadedHit]:
    """Yield what is read of a ranking, but what is to be left out."""
    for one in opened(workspace, ranked):
        if doubts.treats != "hide" or doubts.mark(one.record) is None:
            yield one


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


def without_words(query: str, found: Iterable[LoadedHit]) -> list[LoadedHit]:
    """Return the hits that have no query term: related ones, and those near in meaning."""
    query = query[:QUERY_CHARACTERS]
    asked = {*parse_query(query).terms, *joined_words(query), *characters(query)}
    has_forms = not is_english(query)
    return [
        one
        for one in found
        if _TELLING.isdisjoint(one.hit.signals)
        and not _holds(one.document, asked, has_forms=has_forms)
    ]


def is_near(found: LoadedHit) -> bool:
    """Tell whether a hit is among the nearest in meaning."""
    return "nearness" in found.hit.signals


def _holds(
    document: Memory | Episode | Chunk | Message, asked: AbstractSet[str], *, has_forms: bool
) -> bool:
    """Return whether a document holds one of some terms, or a form of one that has forms.

    Mostly its text tells, and is cheap.
    """
    plain = document.content if isinstance(document, Memory | Message) else document.summary
    if not asked.isdisjoint(terms(plain)):
        return True
    held = set(_terms(document))
    if not has_forms:
        return not asked.isdisjoint(held)
    return not asked.isdisjoint(held) or any(likeness(*pair) for pair in product(asked, held))


def _terms(document: Memory | Episode | Chunk | Message) -> Iterable[str]:
    """Return the terms by which a document is found."""
    if isinstance(document, Memory | Episode):
        return chain.from_iterable(entry.frequencies for entry in entries(document))
    if isinstance(document, Chunk):
        text = " ".join((document.summary, *document.key_topics))
        return [*terms(text), *joined_words(text), *characters(text)]
    text = f"{document.speaker or ''} {document.content}"
    days = day_terms(document.content, document.created_at.date())
    return [*terms(text), *joined_words(text), *characters(text), *days]


def count_expired(workspace: Workspace, request: SearchRequest) -> int:
    """Count the memories that hold every word of a query, and held once."""
    words = list(dict.fromkeys(terms(request.query[:QUERY_CHARACTERS])))[:_MOST_WORDS]
    if not words or SearchKind.MEMORY not in (request.kinds or SearchKind):
        return 0
    judge, now = judge_of(request.wanted), workspace.now()

    def count(pool: Pool) -> int:
        statistics = pool.statistics(labels(SearchKind.MEMORY, request.wanted.states))
        holding = reduce(and_, (set(statistics.postings(word)) for word in words))
        found = holding.intersection(pool.invalid(now)).difference(pool.hidden())
        return sum(
            facts.valid_until is not None and facts.valid_until <= now and judge(facts) is None
            for facts in pool.facts(found).values()
        )

    return workspace.backend.searched(count)


MOST_OF_YOURS: Final = 3
"""So many memories of one's own stand beside the hits, at the most."""
LEAST_OF_YOURS: Final = 0.2
"""What scores less shares a word and hardly answers."""


def yours_of(
    workspace: Workspace, request: SearchRequest
) -> tuple[tuple[SearchHit, ...], tuple[str, ...]]:
    """Return what the memory of whoever asks has, and what is wrong with it."""
    from pmem.project.own_memory import own_beside, told_as_left_out

    kinds = tuple(kind for kind in request.kinds or REMEMBERED if kind in REMEMBERED)
    try:
        own = own_beside(workspace) if kinds else None
        if own is None:
            return (), ()
        asked = msgspec.structs.replace(
            request,
            kinds=kinds,
            related=0,
            threshold=max(request.threshold, LEAST_OF_YOURS),
            top_k=min(most_hits(workspace, request), MOST_OF_YOURS),
        )
        return _hits(own, asked), ()
    except PmemError as error:
        return (), told_as_left_out(workspace, error)


def hits_in_work_trees(workspace: Workspace, request: SearchRequest) -> tuple[BranchHit, ...]:
    """Return the memories of other work trees that are not here, the best first.

    A work tree's memory that cannot be asked is left out: it is somebody's work in progress.
    """
    from pmem.storage.git.work_trees import other_work_trees

    wanted = msgspec.structs.replace(request, kinds=(SearchKind.MEMORY,), related=0)
    found: dict[str, BranchHit] = {}
    for tree in other_work_trees(os.path.dirname(workspace.root), workspace.environment):
        for hit in _hits_of_tree(workspace, tree, wanted):
            if not workspace.memories.ids(hit.id):
                found.setdefault(hit.id, hit)
    best = sorted(found.values(), key=lambda hit: (-hit.score, hit.id))
    return tuple(best[: most_hits(workspace, request)])


def _hits_of_tree(
    workspace: Workspace, tree: "WorkTree", wanted: SearchRequest
) -> Iterator[BranchHit]:
    root = os.path.join(tree.folder, os.path.basename(workspace.root))
    if not os.path.isdir(root) or os.path.islink(root):
        return
    other = Workspace(
        root,
        now=workspace.given_now,
        read_only=True,
        environment=workspace.environment,
        caller=workspace.caller,
    )
    try:
        hits = _hits(other, wanted)
    except PmemError:
        return
    finally:
        other.shared.indexes.close()
    branch = tree.branch or tree.folder
    for hit in hits:
        yield BranchHit(id=hit.id, short=hit.short, branch=branch, score=hit.score, text=hit.text)


def _hits(workspace: Workspace, request: SearchRequest) -> tuple[SearchHit, ...]:
    ranked = pick(workspace, request, closely=True).ranked
    return tuple(hits_of(workspace, opened(workspace, ranked)))


def find_known(
    workspace: Workspace, error: str, wanted: Filter
) -> tuple[list[LoadedHit], tuple[str, ...]]:
    """Return what is known of an error, and what is to be said of the error itself."""
    from pmem.core.error_fingerprint import evidence_of, telling_line

    evidence = evidence_of(error)
    if not evidence:
        return [], ("the error says too little to be told from others",)
    judge = judge_of(wanted)
    exact = RankedDocument(0, 1.0, {"error": 1.0})
    return [
        LoadedHit(SearchKind.MEMORY, memory, memory, exact)
        for memory in known_of(workspace, evidence)
        if judge(memory) is None
    ], (f"the error is told by this line: {telling_line(error)}",)


def known_of(workspace: Workspace, evidence: Sequence[str]) -> list[Memory]:
    """Return the memories that name an error as their evidence, and what fixed them.

    Returns:
        Dead ends that still warn first, then the newest; behind each what fixed it.
    """
    found: dict[str, Memory] = {}
    keys = [proven_key(each) for each in evidence]
    for memory in (one for key in keys for one in _newest(workspace, key)):
        for one in (memory, *_newest(workspace, fixed_key(memory.id))):
            found.setdefault(one.id, one)
    return list(found.values())


def _newest(workspace: Workspace, key: str) -> Iterable[Memory]:
    """Return what is found by a key and holds now, what warns before all else."""
    found = [one for one in workspace.memories.twins(key) if valid_at(one, workspace.now())]
    return sorted(found, key=lambda memory: (warns(memory), memory.id), reverse=True)


_WORD: Final = lazily(r"[^\W_]+")


def find_unranked(
    workspace: Workspace, request: "SearchRequest"
) -> tuple[list[LoadedHit], tuple[str, ...]]:
    """Return what no ranking finds, and what is to be said of it.

    That is what is known of a request's error, or what says the words of a query that has none but
    such as "hello" and "you", which the index leaves out.
    """
    if SearchKind.MEMORY not in (request.kinds or SearchKind):
        return [], ()
    if request.error is not None:
        return find_known(workspace, request.error, request.wanted)
    query = request.query[:QUERY_CHARACTERS]
    if query and not terms(query):
        return list(_memories_saying(workspace, query, request.wanted)), ()
    return [], ()


def _memories_saying(workspace: Workspace, query: str, wanted: Filter) -> Iterator[LoadedHit]:
    """Yield the memories that say every word of a query, the newest first; each is read."""
    asked = _words(query)
    if not asked:
        return
    now = workspace.now()
    every = RankedDocument(0, 1.0, {"words": 1.0})
    saying = [
        memory
        for memory in workspace.memories.find(wanted)
        if asked <= _words(f"{memory.content} {memory.subject or ''} {' '.join(memory.tags)}")
        and valid_at(memory, now)
    ]
    for memory in sorted(saying, key=lambda one: one.updated_at, reverse=True):
        yield LoadedHit(SearchKind.MEMORY, memory, memory, every)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(fold(text).casefold()))
