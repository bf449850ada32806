"""The screen of a search."""

from collections.abc import Iterator
from typing import Final

from pmem.cli import recall
from pmem.cli.screens.drawing import Row, ScreenView, drawn_rows, folded
from pmem.cli.screens.lists import legend, marks_of
from pmem.cli.session import Line
from pmem.core.lifecycle.presence import state_mark
from pmem.core.text.terms import snippet, terms
from pmem.core.trust import Trust, mark_of, origin_mark
from pmem.search.hits import SearchHit
from pmem.search.search import SearchResult
from pmem.values.ids import short

_DOTS: Final = 3
_STEPS: Final = (0.3, 0.6)  # scores from which on a hit has two dots, and three
_WORDS: Final = 60


def hit_screen(
    found: SearchResult, view: ScreenView, *, explain: bool, around: bool
) -> Iterator[Line]:
    """Draw the hits by rank; `around` shows messages that are only next to one, too."""
    asked = set(terms(found.query))
    marks = recall.marks_in(found)
    rows: list[Row] = []
    for best, *others in recall.by_conversation(found.hits):
        kept = [hit for hit in others if around or asked & set(terms(hit.text))]
        rows += _hit_rows(best, asked, view, marks.get(best.id), explain=explain)
        for hit in kept:
            rows += _hit_rows(hit, asked, view, None, explain=explain, indent="  ")
        if hidden := len(others) - len(kept):
            many = f"{hidden} message{'s' * (hidden != 1)}"
            rows.append(_row_below(f"{many} beside it in the conversation: --around"))
    for related in found.related:
        text = snippet(related.text.split(), asked, recall.RELATED_WORDS)
        head = [("  " + short(related.id), "cyan"), *[("", "")] * 3]
        rows.append(Row(head, [(f"{recall.tie_of(related)}: ", "dim"), (text, "")]))
    for hit in (*found.yours, *found.fill):
        rows += _hit_rows(hit, asked, view, marks[hit.id], explain=explain and hit.score > 0)
    yield from drawn_rows(rows, view)
    yield from legend((row.cells[2] for row in rows), view)
    yield from recall.lines_elsewhere(found)
    yield from recall.expected_lines(found.expected)


def _hit_rows(
    hit: SearchHit,
    asked: set[str],
    view: ScreenView,
    mark: str | None,
    *,
    explain: bool,
    indent: str = "",
) -> Iterator[Row]:
    said = [(f"{folded(hit.speaker)}: " if hit.speaker else "", "bold")]
    yield Row(
        [
            (indent + short(hit.id), "cyan"),
            (_dots(hit.score), "green"),
            marks_of(hit, view.now, stale=bool(hit.stale)),
            (hit.kind, "dim"),
        ],
        [*said, *recall.marked_words(snippet(hit.text.split(), asked, _WORDS), asked)],
        [*_tail(hit, view), *([(f"  {mark}", "magenta")] if mark else [])],
    )
    if explain:
        parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items())
        yield _row_below(f"{hit.score:.3f}  {parts}")


def _row_below(text: str) -> Row:
    return Row([("", "")] * 4, [], [(text, "dim")])


def _tail(hit: SearchHit, view: ScreenView) -> Line:
    trust = mark_of(hit.trust if hit.trust is Trust.MEDIUM else None).strip(" ()")
    told = [view.when(hit.created_at), trust, state_mark(hit.state).strip(" ()")]
    stale = f"stale: {', '.join(hit.stale)}" if hit.stale else ""
    stale = "  ".join(filter(None, (origin_mark(hit.origin).strip(" ()"), stale)))
    return [("  ".join(filter(None, told)), "dim"), (f"  {stale}" if stale else "", "red")]


def _dots(score: float) -> str:
    """Draw a score in three dots; that of no match is 0."""
    full = 1 + sum(score >= step for step in _STEPS)
    return "●" * full + "○" * (_DOTS - full) if score > 0 else ""
