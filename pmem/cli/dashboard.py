"""How the figures of `stats` look: panels on a terminal, aligned lines elsewhere."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from pmem.cli.apps import figure_lines
from pmem.cli.panels import (
    LABEL,
    NARROWEST,
    WIDEST,
    bar,
    beside,
    cut_line,
    figure,
    padded,
    panel,
    sparkline,
)
from pmem.cli.screens.wrapping import all_hung, cells
from pmem.cli.session import Line
from pmem.core.histogram import AGES, Period
from pmem.upkeep.statistics import Ending, Helped, MemoryFigures, Used
from pmem.values.ids import short
from pmem.values.records import State
from pmem.values.times import day, iso

NARROW: Final = 60
"""Columns below which a terminal gets no panels."""
_WIDE: Final = 100
"""Columns from which on panels stand in two columns."""
_GAP: Final = 2
_BAR: Final = 20
_SPARK: Final = 40
_THIS: Final = {
    "day": "today",
    "week": "this week",
    "month": "this month",
    "year": "this year",
}
_FULL: Final = 0.9
_FILLING: Final = 0.7
_LONGEST_COMMAND: Final = len("pmem consolidate --dry-run")
_EMPTY: Final = "no memory yet; `pmem add` keeps the first"


def note(figures: MemoryFigures) -> str:
    """Say what to do where there is nothing to count."""
    kept = figures.memories or figures.episodes or figures.conversations or figures.damaged
    return "" if kept else _EMPTY


def plain_lines(figures: MemoryFigures, width: int | None = None) -> Iterator[Line]:
    """Yield the figures as aligned lines.

    Args:
        figures: What to draw.
        width: Cells that the lists are cut to; as long as they are when None.
    """
    yield from _need_lines(figures, width)
    yield from _figures(("memories", f"{_active(figures)} active, {figures.tokens} tokens"))
    yield from _bars(figures.by_type, _BAR)
    share = f"{figures.budget_share:.1%}".replace("%", " %")
    yield from _figures(
        ("by category", _counted(figures.by_category)),
        ("by state", _counted(figures.by_state)),
        ("by age", _ages(figures)),
        ("growth", _growth_text(figures)),
        ("pinned", f"{figures.pinned}" * bool(figures.pinned)),
        ("budget", f"{share} of a context's {figures.budget:,} tokens"),
        ("episodes", f"{figures.episodes} of {figures.episodes_limit}" * bool(figures.episodes)),
    )
    yield from _talk_lines(figures)
    yield from _app_lines(figures)
    yield from _figures(("written", _written(figures)))
    for name, rows in _lists(figures):
        heading: Line = [(name, "bold")]
        for line in (heading, *([("  ", ""), *row] for row in rows)):
            yield line if width is None else cut_line(line, width)


def _need_lines(figures: MemoryFigures, width: int | None = None) -> Iterator[Line]:
    """Yield what needs attention, each with the command for it, aligned."""
    if not figures.needs:
        return
    yield [("needs you", "bold")]
    counts = max(len(f"{need.count:,}") for need in figures.needs)
    whats = max(len(need.what) for need in figures.needs)
    fits = width is None or counts + whats + _LONGEST_COMMAND + 6 <= width
    for need in figures.needs:
        counted = (f"  {need.count:>{counts},}  ", "red")
        if fits:
            yield [counted, (f"{need.what:<{whats}}  ", ""), (need.command, "cyan")]
            continue
        yield [counted, (need.what, "")]
        yield [(" " * (counts + 4), ""), (need.command, "cyan")]


def _figures(*named: tuple[str, str]) -> Iterator[Line]:
    """Yield a line for each name that there is something to say of."""
    return (figure(name, value) for name, value in named if value)


def _active(figures: MemoryFigures) -> int:
    """Return how many memories the bars by type count."""
    return figures.by_state.get(State.ACTIVE, 0)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _ages(figures: MemoryFigures) -> str:
    """Say how many are how old: ages go back from now, and follow no calendar."""
    names = {name: f"up to {days} day{'s' * (days > 1)}" for name, days in AGES}
    return _counted({names.get(name, name): n for name, n in figures.by_age.items() if n})


def _growth_text(figures: MemoryFigures) -> str:
    if not figures.growth:
        return ""
    groups = _gathered(figures.growth, _SPARK)
    drawn = sparkline([sum(period.added for period in group) for group in groups])
    return f"{drawn} {figures.growth[-1].added} {_THIS[figures.growth_per]}"


def _written(figures: MemoryFigures) -> str:
    if not (figures.oldest and figures.newest):
        return ""
    return f"{iso(figures.oldest)[:10]} to {iso(figures.newest)[:10]}"


def screen(figures: MemoryFigures, width: int) -> Iterable[Line]:
    """Draw the figures for a terminal.

    Args:
        figures: What to draw.
        width: Cells of the terminal; below 60 it gets plain lines, from 100 on two columns.
    """
    column = width if width < _WIDE else min(WIDEST, (width - _GAP) // 2)
    parts = [] if width < NARROW or note(figures) else _panels(figures, column)
    if not parts:  # a few episodes alone fill no panel
        return all_hung(plain_lines(figures, width), width)
    if width < _WIDE:
        return [line for part in parts for line in part]
    split = _halfway([len(part) for part in parts])
    left, right = (
        [line for part in half for line in part] for half in (parts[:split], parts[split:])
    )
    return beside(left, right, _GAP)


def _halfway(heights: Sequence[int]) -> int:
    """Return how many panels go into the left column so that both are about as high."""
    whole = sum(heights)
    tops = list(accumulate(heights))
    return min(range(1, len(heights) + 1), key=lambda count: abs(whole - 2 * tops[count - 1]))


def _panels(figures: MemoryFigures, width: int) -> list[list[Line]]:
    inner = min(WIDEST, max(NARROWEST, width)) - 4
    active = _active(figures)
    head = f"Memory: {active:,} active {'memory' if active == 1 else 'memories'}"
    parts: tuple[tuple[str, Iterable[Line]], ...] = (
        ("Needs you", list(_need_lines(figures, inner))[1:]),
        (head, _memory(figures, inner)),
        ("Growth", _growth(figures, inner)),
        ("Room", _room(figures, inner)),
        *((name.capitalize(), rows) for name, rows in _lists(figures)),
        ("Conversations", _talk_lines(figures) if figures.conversations else ()),
        ("Apps", _app_lines(figures)),
    )
    drawn = ((title, list(lines)) for title, lines in parts)
    return [list(panel(title, lines, width)) for title, lines in drawn if lines]


def _memory(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    yield from _bars(figures.by_type, max(6, inner - LABEL - 8))
    if figures.by_type:
        yield [("", "")]
    if len(figures.by_state) > 1:
        yield from _wrapped("by state", figures.by_state, inner)
    yield from _wrapped("by category", figures.by_category, inner)
    if figures.pinned:
        yield figure("pinned", f"{figures.pinned:,}")


def _growth(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    if not figures.growth:
        return
    cells_left = max(6, inner - LABEL - 8)
    groups = _gathered(figures.growth, cells_left)
    added = [sum(period.added for period in group) for group in groups]
    totals = [group[-1].total for group in groups]
    unit, size = figures.growth_per, len(groups[-1])
    yield _spark(f"per {unit}" if size == 1 else f"per {size} {unit}s", added)
    yield _spark("in all", totals)
    first, last = (day(figures.growth[place].start) for place in (0, -1))
    space = len(groups) - len(first) - len(last)
    dates = f"{first}{' ' * space}{last}" if space > 0 else f"since {first}"
    yield [(" " * LABEL, ""), (dates, "dim")]


def _room(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    """Yield what is filling up; as long as there is room, nobody has to know."""
    width = max(6, inner - LABEL - 22)
    shares = (
        ("context tokens", figures.tokens, figures.budget),
        ("episodes", figures.episodes, figures.episodes_limit),
    )
    for name, used, room in shares:
        share = used / room if room else 1.0
        if share < _FILLING:
            continue
        yield [
            (f"{name:<{LABEL}}", "bold"),
            (bar(share, width), _heat(share)),
            (f" {used:,} of {room:,}", ""),
        ]


def _spark(name: str, values: Sequence[int]) -> Line:
    """Draw values, and say the last one."""
    return [
        (f"{name:<{LABEL}}", "bold"),
        (sparkline(values), "green"),
        (f" {values[-1]:,}", ""),
    ]


def _gathered(periods: Sequence[Period], most: int) -> list[Sequence[Period]]:
    """Put periods together until there are no more groups than that, the last one full."""
    size = -(-len(periods) // most)
    first = len(periods) % size
    groups = [periods[start : start + size] for start in range(first, len(periods), size)]
    return [periods[:first], *groups] if first else groups


def _lists(figures: MemoryFigures) -> Iterator[tuple[str, list[Line]]]:
    """Yield each list that is not empty, with its name."""
    for name, lines in (
        ("recalled most", map(_use_line, figures.most_used)),
        ("helped most", map(_help_line, figures.helped_most)),
        ("shown, never used", map(_help_line, figures.never_helped)),
        ("ends next", map(_ending_line, figures.expiring)),
    ):
        rows = list(lines)
        if rows:
            yield name, rows


def _use_line(item: Used) -> Line:
    last = day(item.last_at) if item.last_at else f"{'never':<10}"
    return [(f"{item.count:>6,}× ", "bold"), *_listed(item, last)]


def _help_line(item: Helped) -> Line:
    counted = f"{f'{item.used:,} of {item.shown:,}':>12} "
    return [(counted, "bold"), *_listed(item, day(item.last_at))]


def _ending_line(item: Ending) -> Line:
    colour = "magenta" if item.what == "expires" else "red"
    return [(f"{item.what:<8}", colour), *_listed(item, day(item.when))]


def _listed(item: Used | Helped | Ending, when: str) -> Line:
    return [(when, "dim"), (f"  {short(item.id)}", "cyan"), (f"  {item.text}", "")]


def _talk_lines(figures: MemoryFigures) -> Iterator[Line]:
    statuses = ", ".join(f"{n} {key}" for key, n in figures.by_status.items())
    said = f"{figures.messages}, {figures.message_tokens} tokens, {figures.chunks} chunks"
    return _figures(
        ("conversations", f"{figures.conversations} ({statuses})" * bool(figures.conversations)),
        ("messages", said * bool(figures.messages)),
    )


def _app_lines(figures: MemoryFigures) -> Iterable[Line]:
    return figure_lines(figures.apps) if figures.apps.apps else ()


def _bars(counts: dict[str, int], width: int) -> Iterator[Line]:
    most = max(counts.values(), default=0) or 1
    for name, count in counts.items():
        full = "█" * max(1, round(width * count / most)) if count else ""
        yield [
            (f"  {padded(name, LABEL - 2)}", ""),
            (f"{full:<{width}}", "cyan"),
            (f" {count:,}", ""),
        ]


def _wrapped(name: str, counts: dict[str, int], inner: int) -> Iterator[Line]:
    """Yield counts on as many lines as they take, the largest first."""
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    line = ""
    for key, count in order:
        said = f"{key.replace('_', ' ')} {count:,}"
        if line and cells(f"{line}, {said}") > inner - LABEL - 1:
            yield figure(name, f"{line},")
            name, line = "", said
        else:
            line = f"{line}, {said}" if line else said
    if line:
        yield figure(name, line)


def _heat(share: float) -> str:
    return "red" if share >= _FULL else "magenta"
