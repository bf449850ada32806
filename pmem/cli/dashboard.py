"""How the figures of `stats` look: parts with headings, framed on a terminal."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from pmem.cli.apps import figure_lines
from pmem.cli.panels import LABEL, NARROW, WIDEST, bar, figure, panel, sparkline
from pmem.cli.screens.wrapping import all_hung, wrapped
from pmem.cli.session import Line
from pmem.core.histogram import AGES, Period
from pmem.upkeep.statistics import Ending, Helped, MemoryFigures, Used
from pmem.values.ids import short
from pmem.values.records import State
from pmem.values.times import day

_EMPTY: Final = "no memory yet; `pmem add` keeps the first"
_Part = tuple[str, Iterable[Line]]


def note(figures: MemoryFigures) -> str:
    """Say what to do where there is nothing to count."""
    kept = figures.memories or figures.episodes or figures.conversations or figures.damaged
    return "" if kept else _EMPTY


def screen(figures: MemoryFigures, width: int) -> Iterator[Line]:
    """Draw the figures part by part, in frames on a terminal of 60 cells or more."""
    is_framed = NARROW <= width < sys.maxsize and not note(figures)
    inner = min(WIDEST, width) - 4 if is_framed else max(4, width)
    for title, lines in _parts(figures, inner, min(inner, WIDEST) - LABEL - 8):
        rows = list(lines)
        if is_framed and rows:
            yield from panel(title, rows, width)
        elif rows:
            yield from all_hung([[(title, "bold")], *rows], width)


def _parts(figures: MemoryFigures, inner: int, room: int) -> Iterator[_Part]:
    """Yield each part and its title; `room` is the cells of its bars."""
    active = figures.by_state.get(State.ACTIVE, 0)
    yield "Needs you", _needs(figures, inner)
    yield (
        f"Memory: {active:,} active {'memory' if active == 1 else 'memories'}",
        _memory(figures, inner, max(6, room)),
    )
    yield "Growth", _growth(figures, max(6, room))
    yield (
        "Recalled most",
        (_listed(f"{one.count:>6,}× ", one, one.last_at) for one in figures.most_used),
    )
    yield "Helped most", map(_help_line, figures.helped_most)
    yield "Shown, never used", map(_help_line, figures.never_helped)
    yield "Ends next", (_listed(f"{one.what:<8}", one, one.when) for one in figures.expiring)
    if figures.conversations:
        yield "Conversations", _talk_lines(figures)
    if figures.apps.apps:
        yield "Apps", figure_lines(figures.apps)


def _needs(figures: MemoryFigures, inner: int) -> Iterator[Line]:
    """Yield what needs attention, behind the command for it."""
    commands = max((len(need.command) for need in figures.needs), default=0)
    for need in figures.needs:
        command = (f"{need.command:<{commands}}  ", "cyan")
        line: Line = [(f"{need.count:>4,}  ", "red"), command, (need.what, "")]
        yield from wrapped(line, inner, hang=min(commands + 8, inner // 2))


def _memory(figures: MemoryFigures, inner: int, room: int) -> Iterator[Line]:
    most = max(figures.by_type.values(), default=0) or 1
    for name, count in figures.by_type.items():
        full = bar(count / most, room).replace("░", " ")
        yield [(f"  {name:<{LABEL - 2}}", ""), (full, "cyan"), (f" {count:,}", "")]
    states = figures.by_state if len(figures.by_state) > 1 else {}
    share = f"{figures.budget_share:.1%}".replace("%", " %")
    for name, told in (
        ("by state", _counted(states)),
        ("by category", _counted(dict(Counter(figures.by_category).most_common()))),
        ("by age", _ages(figures)),
        ("pinned", f"{figures.pinned:,}" * bool(figures.pinned)),
        ("tokens", f"{figures.tokens:,}, {share} of a context's {figures.budget:,}"),
        ("episodes", f"{figures.episodes} of {figures.episodes_limit}" * bool(figures.episodes)),
    ):
        if told:
            yield from wrapped(figure(name, told), inner, hang=min(LABEL, inner // 2))


def _counted(counts: dict[str, int]) -> str:
    told = ((name.replace("_", " "), count) for name, count in counts.items() if count)
    return ", ".join(f"{name} {count:,}" for name, count in told)


def _ages(figures: MemoryFigures) -> str:
    """Say how many are how old: ages go back from now, and follow no calendar."""
    names = {name: f"up to {days} day{'s' * (days > 1)}" for name, days in AGES}
    return _counted({names.get(name, name): count for name, count in figures.by_age.items()})


def _growth(figures: MemoryFigures, room: int) -> Iterator[Line]:
    if not figures.growth:
        return
    groups = _gathered(figures.growth, room)
    unit, size = figures.growth_per, len(groups[-1])
    for name, values in (
        (
            f"per {unit}" if size == 1 else f"per {size} {unit}s",
            [sum(period.added for period in group) for group in groups],
        ),
        ("in all", [group[-1].total for group in groups]),
    ):
        drawn = (sparkline(values), "green")
        yield [(f"{name:<{LABEL}}", "bold"), drawn, (f" {values[-1]:,}", "")]
    yield figure("since", day(figures.growth[0].start))


def _gathered(periods: Sequence[Period], most: int) -> list[Sequence[Period]]:
    """Put periods together until there are no more groups than that, the last one full."""
    size = -(-len(periods) // most)
    first = len(periods) % size
    groups = [periods[start : start + size] for start in range(first, len(periods), size)]
    return [periods[:first], *groups] if first else groups


def _help_line(item: Helped) -> Line:
    return _listed(f"{f'{item.used:,} of {item.shown:,}':>12} ", item, item.last_at)


def _listed(counted: str, item: Used | Helped | Ending, at: datetime | None) -> Line:
    when = f"{'never':<10}" if at is None else day(at)
    return [
        (counted, "bold"),
        (when, "dim"),
        (f"  {short(item.id)}", "cyan"),
        (f"  {item.text}", ""),
    ]


def _talk_lines(figures: MemoryFigures) -> Iterator[Line]:
    statuses = ", ".join(f"{n} {key}" for key, n in figures.by_status.items())
    yield figure("conversations", f"{figures.conversations} ({statuses})")
    said = f"{figures.messages}, {figures.message_tokens} tokens, {figures.chunks} chunks"
    yield figure("messages", said)
