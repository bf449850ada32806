"""`pmem search` and `pmem query`."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from pmem.cli.asking import asks, own, scoped
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core import exactjson
from pmem.core.lifecycle.presence import describe_matches, state_mark, state_option
from pmem.core.retrieval.factors import Weights
from pmem.core.text.terms import snippet, terms
from pmem.core.trust import mark_of, origin_mark
from pmem.core.visible import subject_before
from pmem.errors import InvalidValue
from pmem.operations import table
from pmem.search.hits import Expectation, Related, SearchHit, SearchRequest
from pmem.search.search import SearchResult
from pmem.values.bounds import TEXT_BYTES
from pmem.values.fields import NoArguments
from pmem.values.ids import short
from pmem.values.times import day

if TYPE_CHECKING:
    from pmem.core.queries import Full, Item

_SNIPPET_WORDS = 40
RELATED_WORDS = 20
_PLAIN_LINK = "related_to"


@asks(SearchRequest, query="", without=("weights", "by"))
def search(
    session: CommandSession,
    request: SearchRequest,
    query: str | None = own("What to look for.", shown="QUERY|-", is_argument=True),
    all_states: bool = own("In any state.", group="Filters"),
    explain: bool = own("Show each score's parts."),
    weights: str | None = own(
        "Rank by a weighted sum: semantic, keyword, recency, importance, access.",
        shown="NAME=N,...",
    ),
    no_related: bool = own("Leave out linked memories."),
    around: bool = own("Show the messages next to a hit, too."),
    no_mine: bool = own("Leave out your own memory."),
    exit_status: bool = own("Exit with 1 when nothing is found."),
) -> Answer:
    """Find memories, episodes, chunk summaries and messages."""
    is_error = query is None and request.error is not None
    request = msgspec.structs.replace(
        request,
        query="" if is_error else session.input(query, "the query"),
        wanted=scoped(session, request.wanted, all_states=all_states),
        weights=None if weights is None else _weights(weights),
        related=0 if no_related else None,
        mine=not no_mine and request.expect is None,
    )
    session.take_in_at_terminal()
    found = session.run(table.SEARCH, request)
    asked, marks = set(terms(found.query)), marks_in(found)
    is_lost = found.expected is not None and not found.expected.is_met
    is_no = is_lost or (exit_status and not found.is_answered)
    return Answer(
        data=found,
        lines=chain(
            _hit_lines(found, asked, marks, explain=explain),
            (
                [
                    ("  ", ""),
                    (related.short, "cyan"),
                    (f" {tie_of(related)}: ", "dim"),
                    (snippet(related.text.split(), asked, RELATED_WORDS), ""),
                ]
                for related in found.related
            ),
            lines_elsewhere(found),
            (_hit_line(hit, asked, marks[hit.id]) for hit in (*found.yours, *found.fill)),
            expected_lines(found.expected),
        ),
        screen=drawn(session, "hits.hit_screen", found, explain=explain, around=around),
        note="\n".join((*found.notes, *_notes_on(found, request.error))),
        exit_code=int(is_no),
    )


def expected_lines(expected: Expectation | None) -> Iterator[Line]:
    """Yield what became of what was expected; the parts of scores stand below one another."""
    if expected is None:
        return
    word = ("recalled ", "green") if expected.is_met else ("not recalled ", "red")
    stage = "" if expected.is_met else f" ({expected.stage})"
    yield [word, (expected.reference, "cyan"), (f"{stage}: {expected.reason}", "")]
    last = None if expected.is_met else expected.last
    for name, hit in (("expected", expected.hit), ("last hit", last)):
        if hit is not None:
            parts = "  ".join(f"{part} {value:.3f}" for part, value in hit.signals.items())
            yield [
                (f"  {name} ", "dim"),
                (hit.short, "cyan"),
                (f" rank {hit.rank} score {hit.score:.3f}  {parts}", "dim"),
            ]


def lines_elsewhere(found: SearchResult) -> Iterator[Line]:
    """Yield the memories of other work trees, each with its branch."""
    for hit in found.elsewhere:
        yield [
            (hit.short, "cyan"),
            (f" {hit.score:.2f} ", "dim"),
            (f"[{hit.branch}] ", "yellow"),
            (" ".join(hit.text.split()), ""),
        ]


def _notes_on(found: SearchResult, error: str | None) -> Iterator[str]:
    """Say what the hits themselves do not: that none holds a word, that some have expired."""
    if not (found.hits or found.yours):
        yield _reason(found, error)
    if found.hits and not found.is_answered:
        how = "near it in meaning" if found.by_meaning else "only related to it"
        yield f"no hit holds a word of the query: what is shown is {how}"
    if found.expired:
        have = "match has" if found.expired == 1 else "matches have"
        yield f"{found.expired} {have} expired: `--at TIME` finds what held then"


def _weights(text: str) -> Weights:
    """Read weights such as `semantic=0.4,keyword=0.3`; those that are left out are 0."""
    given: dict[str, float] = dict.fromkeys(Weights._fields, 0.0)
    for part in text.split(","):
        name, _, number = map(str.strip, part.partition("="))
        try:
            weight = float(number)
        except ValueError:
            hint = "write it as semantic=0.4,keyword=0.3"
            raise InvalidValue(f"{part.strip()!r} is not a weight", hint) from None
        if name not in given:
            raise InvalidValue(f"there is no weight {name!r}", f"there are {', '.join(given)}")
        given[name] = weight
    return Weights(**given)


def _hit_lines(
    found: SearchResult, asked: set[str], marks: dict[str, str], *, explain: bool
) -> Iterator[Line]:
    """Yield the hits by rank; further ones from one conversation follow its best, indented."""
    for hits in by_conversation(found.hits):
        for place, hit in enumerate(hits):
            indent = "  " * bool(place)
            mark = "" if place else marks.get(hit.id, "")
            yield [(indent, ""), *_hit_line(hit, asked, mark)]
            if explain:
                parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items())
                yield [(f"{indent}         {parts}", "dim")]


def by_conversation(hits: Iterable[SearchHit]) -> Iterable[list[SearchHit]]:
    """Put the hits of one conversation together, behind its best."""
    groups: dict[str, list[SearchHit]] = {}
    for hit in hits:
        groups.setdefault(hit.conversation or hit.id, []).append(hit)
    return groups.values()


def marks_in(found: SearchResult) -> dict[str, str]:
    """Return what is said of hits that are no match, or not this project's, by their ids."""
    marks = dict.fromkeys(found.associated, "only related")
    marks |= dict.fromkeys(found.by_meaning, "by meaning")
    marks |= {hit.id: "yours" for hit in found.yours}
    return marks | {hit.id: "not a match, only recent" for hit in found.fill}


def tie_of(related: Related) -> str:
    """Say what a memory has to do with the hit that brought it along."""
    hit, how = short(related.via), related.type.replace("_", " ")
    mark = origin_mark(related.origin)
    if related.type == _PLAIN_LINK:
        return f"{mark}related to {hit}"
    return f"{mark}({hit} {how} it)" if related.forward else f"{mark}{how} {hit}"


def _hit_line(hit: SearchHit, asked: set[str], mark: str = "") -> Line:
    who = [(f"{hit.speaker}: ", "bold")] if hit.speaker else []
    return [
        (hit.short, "cyan"),
        (f" {hit.score:.2f} ", "green"),
        (f"{hit.kind:<8}{day(hit.created_at)} ", "dim"),
        (f"[{mark}] " if mark else "", "yellow"),
        (origin_mark(hit.origin), "yellow"),
        (mark_of(hit.trust, hit.noted_by or ""), "yellow"),
        *who,
        (subject_before(hit.subject or "", hit.text), "bold"),
        *marked_words(snippet(hit.text.split(), asked, _SNIPPET_WORDS), asked),
        (state_mark(hit.state), "yellow"),
        (f" (stale: {', '.join(hit.stale)})" if hit.stale else "", "yellow"),
    ]


def marked_words(text: str, asked: set[str]) -> Iterator[tuple[str, str]]:
    """Yield a text word by word, those that were asked for in bold."""
    for number, word in enumerate(text.split(" ")):
        yield " " * bool(number), ""
        yield word, "bold" if asked & set(terms(word)) else ""


def _reason(found: SearchResult, error: str | None) -> str:
    if not found.query.strip():
        nothing = "nothing is known of this error: a query beside it looks for words as well"
        return "nothing found: the query is empty" if error is None else nothing
    if not terms(found.query):
        why = "they are too short or too common to rank"
        return f"nothing found: no memory has all these words; {why}"
    if found.out_of_recall:
        left = found.out_of_recall
        return f"nothing found; {describe_matches(left)}: `{state_option(left)}`"
    removed = {name: n for name, n in found.removed.items() if name != "validity"}
    if removed:
        gone = ", ".join(f"{name} removed {n}" for name, n in removed.items())
        return f"nothing found: {gone}"
    if found.removed:
        return "nothing found that holds now"
    return "nothing found: no word of the query is in the memory"


@asks(NoArguments)
def query(
    session: CommandSession,
    _: NoArguments,
    file: str = own("The request, a JSON object.", "-", shown="FILE|-", is_argument=True),
) -> Answer:
    """Answer an agent's request in JSON, within its allowlist.

    The answer keeps to the budget that the request names, such as

    {"agent": "planner", "query": "deployment plan", "categories": ["tasks"], "filters":
    {"user_id", "agent_id", "run_id", "actor_id", "role", "category", "pinned", "importance_min",
    "importance_max", "updated_after", "updated_before"}, "top_k": 3, "threshold": 0.2, "return":
    "bullets" or "full", "budget_tokens": 512}. Only the query is needed; importance has grades
    from 1 to 5.
    """
    from pmem.core.queries import EXAMPLE, parse

    data = b"\n".join(session.read_lines(file, TEXT_BYTES))
    request = parse(exactjson.read_given(data, "the query", EXAMPLE))
    found = session.run(table.QUERY, request)
    return Answer(data=found, lines=_query_lines(found.items), note=found.reason)


def _query_lines(items: "tuple[Item, ...]") -> Iterator[Line]:
    from pmem.core.queries import Bullet

    for number, item in enumerate(items):
        if isinstance(item, Bullet):
            yield [(short(item.id), "cyan"), (f" {' '.join(item.text.split())}", "")]
            continue
        if number:
            yield [("", "")]
        yield from _full_lines(item)


def _full_lines(item: "Full") -> Iterator[Line]:
    from pmem.core.history_values import tell_value

    yield [(item.id, "bold cyan"), (f"  [{item.category}]", "dim")]
    yield [(item.summary, "")]
    known = msgspec.to_builtins(item.metadata) | {"score": f"{item.metadata.score:.2f}"}
    if item.metadata.via is not None:
        known["via"] = item.metadata.via.phrase
    for name, value in known.items():
        if value:
            text = " ".join(tell_value(name, value).split())
            yield [(f"{name + ':':<15}", "dim"), (text, "")]
