"""Panels and bars for terminals, drawn as lines of text."""

from collections.abc import Iterator, Sequence
from typing import Final

from pmem.cli.screens.wrapping import ELLIPSIS, cells, cut_text
from pmem.cli.session import Line

WIDEST: Final = 78
NARROWEST: Final = 34
LABEL: Final = 15
"""Cells of the names of figures, unless a name is longer."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"


def panel(title: str, lines: Sequence[Line], width: int) -> Iterator[Line]:
    """Draw a frame of 34 to 78 cells around lines; what is too long for it is cut."""
    inner = min(WIDEST, max(NARROWEST, width)) - 4
    head = _cut_to_width(title, inner - 2)
    yield [("╭─ ", "dim"), (head, "bold"), (f" {'─' * (inner - 1 - cells(head))}╮", "dim")]
    for line in lines:
        shown = list(_fit_line(line, inner))
        space = inner - sum(cells(text) for text, _ in shown)
        yield [("│ ", "dim"), *shown, (" " * space, ""), (" │", "dim")]
    yield [(f"╰{'─' * (inner + 2)}╯", "dim")]


def figure(name: str, value: str, width: int = LABEL) -> Line:
    """Write a figure behind its name."""
    return [(name + " " * (width - cells(name)), "bold"), (value, "")]


def bar(share: float, width: int) -> str:
    """Draw a bar of so many cells, full from 0 to 1; more than nothing is never empty."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    full, rest = divmod(max(eighths, 1 if share > 0 else 0), 8)
    drawn = "█" * full + (_EIGHTHS[rest] if rest else "")
    return drawn + "░" * (width - len(drawn))


def sparkline(values: Sequence[float]) -> str:
    """Draw one cell for each value, as high as its share of the highest."""
    most = max((value for value in values if value > 0), default=1)
    steps = len(_HEIGHTS) - 1
    return "".join(
        _HEIGHTS[0 if value <= 0 else max(1, round(steps * (value / most)))] for value in values
    )


def padded(text: str, width: int) -> str:
    """Return a text that takes so many cells: cut, or with spaces after it."""
    shown = _cut_to_width(text, width)
    return shown + " " * (width - cells(shown))


def _fit_line(line: Line, width: int) -> Iterator[tuple[str, str]]:
    for text, style in line:
        shown = _cut_to_width(text, width)
        width -= cells(shown)
        yield shown, style


def _cut_to_width(text: str, width: int) -> str:
    """Return a text's start that fits, with an ellipsis where something is missing."""
    if cells(text) <= width:
        return text
    return f"{cut_text(text, width - 1)}{ELLIPSIS}" if width > 0 else ""
