"""How the receipt of a context looks on a terminal: what each section took of the budget."""

from collections.abc import Iterator
from typing import Final

from pmem.cli.panels import bar
from pmem.cli.screens.lists import folded
from pmem.cli.screens.view import Row, drawn_rows
from pmem.cli.screens.view import ScreenView as View
from pmem.cli.session import Line
from pmem.core.context.parts import Context, nearest_left_out
from pmem.search.context_reasons import say_why
from pmem.values.ids import short

_NUMBERS: Final = 7
_WIDEST: Final = 40
"""Cells of the bar at the most."""


def receipt_screen(built: Context, note: str, view: View) -> Iterator[Line]:
    """Draw a bar for each section, then what is in and what is out, with the reasons in words."""
    yield from _bars(built, view)
    for part in built.sections:
        yield [("", "")]
        yield [(f"in: {part.name}", "bold")]
        rows = (
            _row(item.id, item.text, item.reason or say_why(item.why or part.name), item.score)
            for item in part.items
        )
        yield from drawn_rows(rows, view)
    if built.omitted:
        yield [("", "")]
        nearest = nearest_left_out(built)
        which = f", the nearest {len(nearest)}" * (len(nearest) < len(built.omitted))
        yield [(f"left out: {len(built.omitted):,}{which}", "bold")]
        rows = (_row(left.id, left.text, say_why(left.reason), left.score) for left in nearest)
        yield from drawn_rows(rows, view)
    yield [("", "")]
    yield from ([(said, "")] for said in (*built.notes, note))


def _bars(built: Context, view: View) -> Iterator[Line]:
    """Yield a line for each section, and one for what is left."""
    spent = [(part.name, len(part.items), part.tokens) for part in built.sections]
    rest = built.tokens - sum(tokens for _, _, tokens in spent)
    spent += [("frame", 0, rest), ("free", 0, built.budget - built.tokens)]
    room = min(_WIDEST, view.width - max(len(name) for name, _, _ in spent) - 2 * _NUMBERS - 12)
    heading = ("section", f"{'items':>{_NUMBERS}}", f"{'tokens':>{_NUMBERS}}")
    rows = [Row([(said, "dim") for said in heading], [("share", "dim")])]
    for name, items, tokens in spent:
        share = max(0, tokens) / built.budget
        drawn = (bar(share, max(4, room)), "dim" if name == "free" else "green")
        counts = (f"{items or '':>{_NUMBERS}}", ""), (f"{tokens:>{_NUMBERS},}", "")
        rows.append(Row([(name, ""), *counts], [drawn, (f" {share:>4.0%}", "")]))
    return drawn_rows(rows, view)


def _row(identifier: str, text: str, why: str, score: float | None) -> Row:
    scored = "" if score is None else f" ({score:.2f})"
    return Row(
        [("  " + short(identifier), "cyan")],
        [(folded(text), "")],
        [(f"{why}{scored}", "dim")],
    )
