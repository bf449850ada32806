"""Panels and bars for terminals, drawn as lines of text."""

from collections.abc import Iterator, Sequence
from typing import Final

from pmem.cli.screens.wrapping import cells, line_cells, wrapped
from pmem.cli.session import Line

WIDEST: Final = 78
NARROW: Final = 60
"""Columns below which a terminal gets no frames."""
NARROWEST: Final = 34
LABEL: Final = 15
"""Cells of the names of figures, unless a name is longer."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"


def panel(title: str, lines: Sequence[Line], width: int) -> Iterator[Line]:
    """Draw a frame of 34 to 78 cells around lines; what is too long for it is cut."""
    inner = min(WIDEST, max(NARROWEST, width)) - 4
    (head,) = wrapped([(title, "bold")], inner - 2, most=1)
    yield [("╭─ ", "dim"), *head, (f" {'─' * (inner - 1 - line_cells(head))}╮", "dim")]
    for line in lines:
        (shown,) = wrapped(line, inner, most=1)
        yield [("│ ", "dim"), *shown, (" " * (inner - line_cells(shown)), ""), (" │", "dim")]
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
