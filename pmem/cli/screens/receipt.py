"""How the receipt of a context looks on a terminal: what each section took of the budget."""

from collections.abc import Iterator
from typing import Final

from pmem.cli.panels import bar
from pmem.cli.screens.lists import folded
from pmem.cli.screens.view import Row, cell, column, drawn_rows
from pmem.cli.screens.view import ScreenView as View
from pmem.cli.session import Line
from pmem.core.context.parts import Context, nearest_left_out
from pmem.core.context.reasons import say_why
from pmem.values.ids import short

_NUMBERS: Final = 7
_WIDEST: Final = 40
"""Cells of the bar at the most."""


def receipt_screen(built: Context, view: View) -> Iterator[Line]:
    """Draw a bar for each section, then what is in and what is out, with the reasons in words."""
    yield from _bars(built, view.width)
    for part in built.sections:
        yield [("", "")]
        yield [(f"in: {part.name}", "bold")]
        for item in part.items:
            why = item.reason or say_why(item.why or part.name)
            yield from drawn_rows([_row(item.id, item.text, why, item.score)], view)
    if built.omitted:
        yield [("", "")]
        nearest = nearest_left_out(built)
        which = f", the nearest {len(nearest)}" * (len(nearest) < len(built.omitted))
        yield [(f"left out: {len(built.omitted):,}{which}", "bold")]
        for left in nearest:
            row = _row(left.id, left.text, say_why(left.reason), left.score)
            yield from drawn_rows([row], view)


def _bars(built: Context, width: int) -> Iterator[Line]:
    """Yield a line for each section, and one for what is left."""
    names = max(column(part.name for part in built.sections), len("section"))
    room = max(4, min(_WIDEST, width - names - 2 * (_NUMBERS + 2) - 2 - 6))
    head = f"{'items':>{_NUMBERS}}  {'tokens':>{_NUMBERS}}  share"
    yield [*cell("section", names, "dim"), (head, "dim")]
    spent = [(part.name, len(part.items), part.tokens) for part in built.sections]
    rest = built.tokens - sum(tokens for _, _, tokens in spent)
    for name, items, tokens in (
        *spent,
        ("frame", 0, rest),
        ("free", 0, built.budget - built.tokens),
    ):
        share = max(0, tokens) / built.budget
        style = "dim" if name == "free" else "green"
        counted = f"{items:>{_NUMBERS},}" if items else " " * _NUMBERS
        yield [
            *cell(name, names),
            (f"{counted}  {tokens:>{_NUMBERS},}  ", ""),
            (bar(share, room), style),
            (f" {share:>4.0%}", ""),
        ]


def _row(identifier: str, text: str, why: str, score: float | None) -> Row:
    scored = "" if score is None else f" ({score:.2f})"
    return Row(
        [("  ", ""), *cell(short(identifier), 8, "cyan")],
        [(folded(text), "")],
        [(f"{why.replace('_', ' ')}{scored}", "dim")],
    )
