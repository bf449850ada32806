"""The screens of figures: those of a project, and what a context shows of a conversation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from pmem.cli.apps import figure_lines
from pmem.cli.screens import drawing
from pmem.cli.session import Line
from pmem.upkeep.statistics import AGES, Period
from pmem.values.ids import short
from pmem.values.records import State
from pmem.values.times import day, iso

if TYPE_CHECKING:
    from pmem.search.contexts import ContextUsage
    from pmem.upkeep.statistics import Ending, Helped, MemoryFigures, Used

_LABEL = 18
_row = partial(drawing.figure, width=_LABEL)
_PARTS = {
    "system": "system prompt",
    "memory": "memory",
    "updates": "updates",
    "recalled": "recalled",
    "further": "further memory",
    "summaries": "summaries",
    "earlier": "said earlier",
    "recent": "recent messages",
}


def stats_note(figures: "MemoryFigures") -> str:
    """Say what to do where there is nothing to count."""
    kept = figures.memories or figures.episodes or figures.conversations or figures.damaged
    return "" if kept else "no memory yet; `pmem add` keeps the first"


def stats_screen(figures: "MemoryFigures", view: drawing.ScreenView) -> Iterator[Line]:
    """Draw a project's figures part by part, in frames on a terminal of 60 cells or more."""
    is_framed = view.width >= drawing.NARROW and not (view.is_pipe or stats_note(figures))
    inner = min(drawing.WIDEST, view.width) - 4 if is_framed else max(4, view.width)
    for title, lines in _parts(figures, inner, min(inner, drawing.WIDEST) - drawing.LABEL - 8):
        rows = list(lines)
        if rows:
            yield from _framed(title, rows, view.width, is_framed=is_framed)


def _framed(title: str, rows: list[Line], width: int, *, is_framed: bool) -> Iterator[Line]:
    if is_framed:
        return drawing.panel(title, rows, width)
    return drawing.all_hung([[(title, "bold")], *rows], width)


def _parts(figures: "MemoryFigures", inner: int, room: int) -> Iterator[tuple[str, Iterable[Line]]]:
    """Yield each part and its title; `room` is the cells of its bars."""
    active = figures.by_state.get(State.ACTIVE, 0)
    yield "Needs you", _needs(figures, inner)
    yield (
        f"Memory: {active:,} active {'memory' if active == 1 else 'memories'}",
        _memory_figures(figures, inner, max(6, room)),
    )
    yield "Growth", _growth(figures, max(6, room))
    yield (
        "Recalled most",
        (_counted_line(f"{one.count:>6,}× ", one, one.last_at) for one in figures.most_used),
    )
    yield "Helped most", map(_help_line, figures.helped_most)
    yield "Shown, never used", map(_help_line, figures.never_helped)
    yield "Ends next", (_counted_line(f"{one.what:<8}", one, one.when) for one in figures.expiring)
    if figures.conversations:
        yield "Conversations", _talk_lines(figures)
    if figures.apps.apps:
        yield "Apps", figure_lines(figures.apps)


def _needs(figures: "MemoryFigures", inner: int) -> Iterator[Line]:
    commands = max((len(need.command) for need in figures.needs), default=0)
    for need in figures.needs:
        command = (f"{need.command:<{commands}}  ", "cyan")
        line: Line = [(f"{need.count:>4,}  ", "red"), command, (need.what, "")]
        yield from drawing.wrapped(line, inner, hang=min(commands + 8, inner // 2))


def _memory_figures(figures: "MemoryFigures", inner: int, room: int) -> Iterator[Line]:
    most = max(figures.by_type.values(), default=0) or 1
    for name, count in figures.by_type.items():
        full = drawing.bar(count / most, room).replace("░", " ")
        yield [(f"  {name:<{drawing.LABEL - 2}}", ""), (full, "cyan"), (f" {count:,}", "")]
    states = figures.by_state if len(figures.by_state) > 1 else {}
    share = f"{figures.budget_share:.1%}".replace("%", " %")
    ages = {age: f"up to {days} day{'s' * (days > 1)}" for age, days in AGES}
    for name, told in (
        ("by state", _counted(states)),
        ("by category", _counted(dict(Counter(figures.by_category).most_common()))),
        ("by age", _counted({ages.get(age, age): n for age, n in figures.by_age.items()})),
        ("pinned", f"{figures.pinned:,}" * bool(figures.pinned)),
        ("tokens", f"{figures.tokens:,}, {share} of a context's {figures.budget:,}"),
        ("episodes", f"{figures.episodes} of {figures.episodes_limit}" * bool(figures.episodes)),
    ):
        if told:
            yield from drawing.wrapped(
                drawing.figure(name, told), inner, hang=min(drawing.LABEL, inner // 2)
            )


def _counted(counts: dict[str, int]) -> str:
    told = ((name.replace("_", " "), count) for name, count in counts.items() if count)
    return ", ".join(f"{name} {count:,}" for name, count in told)


def _growth(figures: "MemoryFigures", room: int) -> Iterator[Line]:
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
        drawn = (drawing.sparkline(values), "green")
        yield [(f"{name:<{drawing.LABEL}}", "bold"), drawn, (f" {values[-1]:,}", "")]
    yield drawing.figure("since", day(figures.growth[0].start))


def _gathered(periods: Sequence[Period], most: int) -> list[Sequence[Period]]:
    """Put periods together until there are no more groups than that, the last one full."""
    size = -(-len(periods) // most)
    first = len(periods) % size
    groups = [periods[start : start + size] for start in range(first, len(periods), size)]
    return [periods[:first], *groups] if first else groups


def _help_line(item: "Helped") -> Line:
    return _counted_line(f"{f'{item.used:,} of {item.shown:,}':>12} ", item, item.last_at)


def _counted_line(counted: str, item: "Used | Helped | Ending", at: datetime | None) -> Line:
    when = f"{'never':<10}" if at is None else day(at)
    return [
        (counted, "bold"),
        (when, "dim"),
        (f"  {short(item.id)}", "cyan"),
        (f"  {item.text}", ""),
    ]


def _talk_lines(figures: "MemoryFigures") -> Iterator[Line]:
    statuses = ", ".join(f"{n} {key}" for key, n in figures.by_status.items())
    yield drawing.figure("conversations", f"{figures.conversations} ({statuses})")
    said = f"{figures.messages}, {figures.message_tokens} tokens, {figures.chunks} chunks"
    yield drawing.figure("messages", said)


def usage_screen(found: "ContextUsage", view: drawing.ScreenView) -> Iterator[Line]:
    """Draw what a conversation holds, in a frame where a terminal has the room."""
    title = f"Conversation: {found.usage.title or short(found.usage.conversation)}"
    lines = list(_usage_lines(found, max(6, min(20, view.width - _LABEL - 30))))
    return _framed(
        title, lines, view.width, is_framed=view.width >= drawing.NARROW and not view.is_pipe
    )


def _usage_lines(found: "ContextUsage", cells: int) -> Iterator[Line]:
    usage = found.usage
    yield _row("status", usage.status)
    parts = [f"{usage.messages_in_context} outside chunks"]
    parts += [f"{usage.pruned_messages} pruned"] * bool(usage.pruned_messages)
    parts += [f"{usage.summarised_messages} in chunks"] * bool(usage.summarised_messages)
    said = f"{usage.total_messages} ({', '.join(parts)}), {usage.total_tokens:,} tokens"
    yield _row("messages", said)
    merged = f", {usage.merged_chunks} of them merged" * bool(usage.merged_chunks)
    yield _row("chunks", f"{usage.chunks}{merged}" if usage.chunks else "none yet")
    share = usage.percent_used / 100
    hot = "red" if share >= usage.prune_hard_at else "yellow"
    colour = hot if share >= usage.prune_at else "green"
    said = f" {usage.tokens_in_context:,} of {usage.token_limit:,} tokens"
    yield [*_row("outside chunks", ""), (drawing.bar(share, cells), colour), (said, "")]
    yield _row("", f"{usage.percent_used:g} %, pruned from {usage.prune_at:.0%} on")
    yield from _bars(usage.tokens_by_role, usage.tokens_in_context, cells)
    yield _row("next context", f"{found.used:,} of {found.budget:,} tokens, before any recall")
    yield from _bars({_PARTS[name]: n for name, n in found.parts.items()}, found.used, cells)
    if usage.oldest_in_context:
        yield _row("oldest of these", iso(usage.oldest_in_context))
    yield _row("last prune", iso(usage.last_prune) if usage.last_prune else "never")
    if usage.pending_facts:
        yield _row("facts", f"{usage.pending_facts} pending; see `pmem inbox facts`")


def _bars(counts: dict[str, int], whole: int, cells: int) -> Iterator[Line]:
    for name, tokens in counts.items():
        drawn = (drawing.bar(tokens / max(1, whole), cells), "cyan")
        yield [*_row(f"  {name}", ""), drawn, (f" {tokens:>7,} tokens", "")]
