"""How what a search finds looks on a terminal."""

from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from pmem.cli.recall import (
    RELATED_WORDS,
    by_conversation,
    expected_lines,
    lines_elsewhere,
    marked_words,
    tie_of,
)
from pmem.cli.screens.lists import folded, legend, marked, marks_of
from pmem.cli.screens.view import Row, ScreenView, cell, column, drawn_rows
from pmem.cli.screens.wrapping import all_hung
from pmem.cli.session import Line
from pmem.core.lifecycle.out_of_recall import state_mark
from pmem.core.snippets import snippet
from pmem.core.text.terms import terms
from pmem.core.trust import Trust, shown
from pmem.search.hits import Related, SearchHit
from pmem.search.search import SearchResult
from pmem.values.ids import short

_DOTS: Final = 3
_STEPS: Final = (0.3, 0.6)
"""Scores from which on a hit has two dots, and three."""
_WORDS: Final = 60


def hit_screen(
    found: SearchResult, view: ScreenView, *, explain: bool, around: bool
) -> Iterator[Line]:
    """Draw the hits by rank; `around` shows messages that are only next to one, too."""
    asked = set(terms(found.query))
    shown_hits = [*found.hits, *found.yours, *found.fill]
    signs = {
        hit.id: marks_of(hit, hit.trust, view.now, stale=bool(hit.stale)) for hit in shown_hits
    }
    kinds, width = column(hit.kind for hit in shown_hits), column(signs.values())
    marks = dict.fromkeys(found.associated, "only related")
    marks |= dict.fromkeys(found.by_meaning, "by meaning")
    columns = _Columns(asked, kinds, width, signs, view, marks)
    for best, *others in by_conversation(found.hits):
        yield from columns.drawn(best, explain=explain)
        kept = [hit for hit in others if around or asked & set(terms(hit.text))]
        for other in kept:
            yield from columns.drawn(other, explain=explain, indent="  ")
        if hidden := len(others) - len(kept):
            many = f"{hidden} message{'s' * (hidden != 1)}"
            yield [(f"  {many} beside it in the conversation: --around", "dim")]
    yield from drawn_rows((_related_row(related, asked) for related in found.related), view)
    if found.yours:
        yield [("yours, not this project's:", "yellow")]
        for hit in found.yours:
            yield from columns.drawn(hit, explain=explain)
    if found.fill:
        yield [("not a match, only recent:", "magenta")]
        for hit in found.fill:
            yield from columns.drawn(hit, explain=False, is_match=False)
    yield from legend(signs.values(), view.width)
    yield from all_hung(chain(lines_elsewhere(found), expected_lines(found.expected)), view.width)


class _Columns(NamedTuple):
    """What the rows of one search have in common."""

    asked: set[str]
    kinds: int
    signs_width: int
    signs: dict[str, str]
    view: ScreenView
    marks: dict[str, str]

    def drawn(
        self, hit: SearchHit, *, explain: bool, indent: str = "", is_match: bool = True
    ) -> Iterator[Line]:
        """Yield the lines of a hit."""
        head: Line = [
            (indent, ""),
            *cell(short(hit.id), 8, "cyan"),
            *cell(_dots(hit.score) if is_match else "", _DOTS, "green"),
            *marked(self.signs[hit.id], self.signs_width),
            *cell(hit.kind, self.kinds, "dim"),
        ]
        mark = "" if indent else self.marks.get(hit.id, "")
        related: Line = [(f"  {mark}", "magenta")] if mark else []
        row = Row(head, list(_text(hit, self.asked)), [*_tail(hit, self.view), *related])
        yield from drawn_rows([row], self.view)
        if explain:
            parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items())
            told = Row([(f"{indent}          ", "")], [(f"{hit.score:.3f}  {parts}", "dim")])
            yield from drawn_rows([told], self.view, most=0)


def _text(hit: SearchHit, asked: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what a hit says, the words that were asked for in bold."""
    if hit.speaker:
        yield f"{folded(hit.speaker)}: ", "bold"
    yield from marked_words(snippet(hit.text.split(), asked, _WORDS), asked)


def _tail(hit: SearchHit, view: ScreenView) -> Line:
    trust = shown(hit.trust if hit.trust is Trust.MEDIUM else None).strip(" ()")
    told = [view.when(hit.created_at), trust, state_mark(hit.state).strip(" ()")]
    stale = f"stale: {', '.join(hit.stale)}" if hit.stale else ""
    return [("  ".join(filter(None, told)), "dim"), (f"  {stale}" if stale else "", "red")]


def _related_row(related: Related, asked: set[str]) -> Row:
    text = snippet(related.text.split(), asked, RELATED_WORDS)
    return Row(
        [("  ", ""), *cell(short(related.id), 8, "cyan")],
        [(f"{tie_of(related)}: ", "dim"), (text, "")],
    )


def _dots(score: float) -> str:
    full = 1 + sum(score >= step for step in _STEPS)
    return "●" * full + "○" * (_DOTS - full)
