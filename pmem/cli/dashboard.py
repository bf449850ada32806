"""How the figures of `stats` look: panels on a terminal, aligned lines elsewhere."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from pmem.cli.apps import figure_lines
from pmem.cli.panels import (
    NARROWEST,
    WIDEST,
    bar,
    beside,
    cells,
    cut_line,
    padded,
    panel,
    sparkline,
)
from pmem.cli.session import Line
from pmem.core.histogram import Period
from pmem.upkeep.statistics import Ending, MemoryFigures, Used
from pmem.values.ids import short
from pmem.values.times import day, iso

NARROW: Final = 60
"""Columns below which a terminal gets no panels."""
_WIDE: Final = 100
"""Columns from which on panels stand in two columns."""
_GAP: Final = 2
_LABEL: Final = 15
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
    yield _figure("memories", f"{figures.memories}, {figures.tokens} tokens")
    yield from _bars(figures.by_type, _BAR)
    for name in ("category", "state"):
        counts = getattr(figures, f"by_{name}")
        if counts:
            yield _figure(f"by {name}", ", ".join(f"{key} {n}" for key, n in counts.items()))
    yield from _time_lines(figures)
    yield _figure("pinned", str(figures.pinned))
    yield _figure("due", f"{figures.due} faded enough for consolidation")
    yield _figure("budget", _budget(figures))
    if figures.duplicates:
        yield _figure("duplicates", f"{figures.duplicates}; `pmem consolidate` merges them")
    yield _figure("episodes", f"{figures.episodes} of {figures.episodes_limit}")
    yield from _talk_lines(figures)
    yield from _app_lines(figures)
    if figures.operations:
        yield _figure("operations", _operations(figures))
    if figures.oldest and figures.newest:
        yield _figure("written", f"{iso(figures.oldest)[:10]} to {iso(figures.newest)[:10]}")
    for line in _list_lines(figures):
        yield line if width is None else cut_line(line, width)
    yield from _warnings(figures)


def _operations(figures: MemoryFigures) -> str:
    """Say how often each kind of operation ran on the last days."""
    found: Counter[str] = Counter()
    for item in figures.operations:
        found[f"{item.node} {item.op}"] += item.count
    return ", ".join(f"{name} {count}" for name, count in sorted(found.items()))


def screen(figures: MemoryFigures, width: int) -> Iterable[Line]:
    """Draw the figures for a terminal.

    Args:
        figures: What to draw.
        width: Cells of the terminal; below 60 it gets plain lines, from 100 on two columns.
    """
    if width < NARROW:
        return plain_lines(figures, width)
    if note(figures):
        return plain_lines(figures)
    if width < _WIDE:
        return [line for part in _panels(figures, width) for line in part]
    column = min(WIDEST, (width - _GAP) // 2)
    parts = _panels(figures, column)
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
    parts = (
        (f"Memory: {_many(figures.memories, 'memory', 'memories')}", _memory(figures, inner)),
        ("Growth", _growth(figures, inner)),
        ("Room", _room(figures, inner)),
        ("Recalled most", _uses(figures.most_used)),
        ("Recalled least", _uses(figures.least_used) if figures.most_used else ()),
        ("Ends next", _endings(figures.expiring)),
        ("Conversations", _talk_lines(figures) if figures.conversations else ()),
        ("Apps", _app_lines(figures)),
        ("To look at", _warnings(figures)),
    )
    drawn = ((title, list(lines)) for title, lines in parts)
    return [list(panel(title, lines, width)) for title, lines in drawn if lines]


def _memory(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    yield from _bars(figures.by_type, max(6, inner - _LABEL - 8))
    if figures.by_type:
        yield [("", "")]
    yield from _wrapped("state", figures.by_state, inner)
    yield from _wrapped("category", figures.by_category, inner)
    yield _figure("pinned", f"{figures.pinned:,}")
    yield _figure("due", f"{figures.due:,} faded, to consolidate")
    if figures.duplicates:
        yield _figure("duplicates", f"{figures.duplicates:,}")


def _growth(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    if not figures.growth:
        return
    cells_left = max(6, inner - _LABEL - 8)
    groups = _gathered(figures.growth, cells_left)
    added = [sum(period.added for period in group) for group in groups]
    totals = [group[-1].total for group in groups]
    yield _spark(_per(figures.growth_per, len(groups[-1])), added)
    yield _spark("in all", totals)
    first, last = (day(figures.growth[place].start) for place in (0, -1))
    space = len(groups) - len(first) - len(last)
    dates = f"{first}{' ' * space}{last}" if space > 0 else f"since {first}"
    yield [(" " * _LABEL, ""), (dates, "dim")]
    if any(figures.by_age.values()):
        yield [("", "")]
        ages = {name.replace("_", " "): count for name, count in figures.by_age.items()}
        yield from _bars(ages, cells_left)


def _room(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    width = max(6, inner - _LABEL - 22)
    shares = (
        ("context tokens", figures.tokens, figures.budget),
        ("episodes", figures.episodes, figures.episodes_limit),
    )
    for name, used, room in shares:
        share = used / room if room else 1.0
        yield [
            (f"{name:<{_LABEL}}", "bold"),
            (bar(share, width), _heat(share)),
            (f" {used:,} of {room:,}", ""),
        ]


def _spark(name: str, values: Sequence[int]) -> Line:
    """Draw values, and say the last one."""
    return [
        (f"{name:<{_LABEL}}", "bold"),
        (sparkline(values), "green"),
        (f" {values[-1]:,}", ""),
    ]


def _per(unit: str, periods: int) -> str:
    return f"per {unit}" if periods == 1 else f"per {periods} {unit}s"


def _gathered(periods: Sequence[Period], most: int) -> list[Sequence[Period]]:
    """Put periods together until there are no more groups than that, the last one full."""
    size = -(-len(periods) // most)
    first = len(periods) % size
    groups = [periods[start : start + size] for start in range(first, len(periods), size)]
    return [periods[:first], *groups] if first else groups


def _uses(used: Sequence[Used]) -> Iterator[Line]:
    for item in used:
        yield [
            (f"{item.count:>6,}× ", "bold"),
            (day(item.last_at) if item.last_at else f"{'never':<10}", "dim"),
            (f"  {short(item.id)}", "cyan"),
            (f"  {item.text}", ""),
        ]


def _endings(endings: Sequence[Ending]) -> Iterator[Line]:
    for item in endings:
        yield [
            (f"{item.what:<8}", "yellow" if item.what == "expires" else "red"),
            (day(item.when), "dim"),
            (f"  {short(item.id)}", "cyan"),
            (f"  {item.text}", ""),
        ]


def _time_lines(figures: MemoryFigures) -> Iterator[Line]:
    if any(figures.by_age.values()):
        ages = {name.replace("_", " "): n for name, n in figures.by_age.items() if n}
        yield _figure("by age", ", ".join(f"{name} {n}" for name, n in ages.items()))
    if figures.growth:
        groups = _gathered(figures.growth, _SPARK)
        drawn = sparkline([sum(period.added for period in group) for group in groups])
        newest = figures.growth[-1].added
        yield _figure("growth", f"{drawn} {newest} {_THIS[figures.growth_per]}")


def _talk_lines(figures: MemoryFigures) -> Iterator[Line]:
    statuses = ", ".join(f"{n} {key}" for key, n in figures.by_status.items())
    yield _figure("conversations", f"{figures.conversations}" + (f" ({statuses})" * bool(statuses)))
    yield _figure(
        "messages",
        f"{figures.messages}, {figures.message_tokens} tokens, {figures.chunks} chunks",
    )


def _app_lines(figures: MemoryFigures) -> Iterable[Line]:
    return figure_lines(figures.apps) if figures.apps.apps else ()


def _list_lines(figures: MemoryFigures) -> Iterator[Line]:
    """Yield the lists, each under its name; none that is empty."""
    lists = (
        ("recalled most", _uses(figures.most_used)),
        ("recalled least", _uses(figures.least_used) if figures.most_used else ()),
        ("ends next", _endings(figures.expiring)),
    )
    for name, lines in lists:
        rows = list(lines)
        if rows:
            yield [(name, "bold")]
        yield from ([("  ", ""), *row] for row in rows)


def _warnings(figures: MemoryFigures) -> Iterator[Line]:
    if figures.overdue:
        yield [(f"{'overdue':<{_LABEL}}", "yellow"), (f"{figures.overdue} expired or to purge", "")]
    if figures.damaged:
        yield [(f"{'damaged':<{_LABEL}}", "red"), (f"{figures.damaged}; run `pmem check`", "")]


def _bars(counts: dict[str, int], width: int) -> Iterator[Line]:
    most = max(counts.values(), default=0) or 1
    for name, count in counts.items():
        full = "█" * max(1, round(width * count / most)) if count else ""
        yield [
            (f"  {padded(name, _LABEL - 2)}", ""),
            (f"{full:<{width}}", "cyan"),
            (f" {count:,}", ""),
        ]


def _wrapped(name: str, counts: dict[str, int], inner: int) -> Iterator[Line]:
    """Yield counts on as many lines as they take, the largest first."""
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    line = ""
    for key, count in order:
        said = f"{key.replace('_', ' ')} {count:,}"
        if line and cells(f"{line}, {said}") > inner - _LABEL - 1:
            yield _figure(name, f"{line},")
            name, line = "", said
        else:
            line = f"{line}, {said}" if line else said
    if line:
        yield _figure(name, line)


def _budget(figures: MemoryFigures) -> str:
    share = f"{figures.budget_share:.1%}".replace("%", " %")
    return f"{share} of a context's {figures.budget:,} tokens"


def _heat(share: float) -> str:
    if share >= _FULL:
        return "red"
    return "yellow" if share >= _FILLING else "green"


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _figure(name: str, value: str) -> Line:
    return [(name + " " * (_LABEL - cells(name)), "bold"), (value, "")]
