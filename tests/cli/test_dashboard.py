"""`stats`, `events` and `history` on terminals: panels that fit, lines that are cut, no crash."""

import re
import sys
from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.cli.screens.drawing import NARROW, ScreenView, sparkline
from pmem.cli.screens.figures import _gathered, stats_note, stats_screen
from pmem.cli.screens.stories import story_screen
from pmem.cli.session import Line
from pmem.core.journal import Historic, JournalEntry, entry, steps
from pmem.core.visible import visible
from pmem.operations import table
from pmem.upkeep.statistics import MemoryFigures, Period
from pmem.values.fields import AtRequest
from pmem.values.records import Episode, EpisodeType, EventKind, Memory, MemoryType, Record
from tests import strategies
from tests.asking import ask
from tests.cli.shell import pmem
from tests.cli.test_overlay import TITLES, cells
from tests.cli.test_streams import ESCAPE, on_terminal
from tests.conftest import NOW
from tests.core.test_journal import edited, historic, memory
from tests.effort import examples
from tests.upkeep.test_statistics import store

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
BARS = "▁▂▃▄▅▆▇█"


def text(line: Line) -> str:
    return visible("".join(part for part, _ in line))


def _story(entries: list[JournalEntry]) -> list[Line]:
    return list(story_screen(entries, ScreenView(sys.maxsize, NOW, exact=True)))


def entries_of(record: Historic) -> list[JournalEntry]:
    return [entry(step) for step in steps(record)]


def figures(count: int, content: str = "We use PostgreSQL") -> MemoryFigures:
    types = list(MemoryType)
    memories: list[Record] = [
        Memory(
            id=f"mjwaid1q-{number:08}",
            type=types[number % len(types)],
            content=f"{content} {number}",
            category=f"category-{number % 12}",
            valid_from=NOW,
            valid_until=NOW + timedelta(days=number),
            created_at=NOW - timedelta(days=number % 58),
            updated_at=NOW,
        )
        for number in range(count)
    ]
    return ask(store(*memories), table.STATS, AtRequest())


def drawn(found: MemoryFigures, width: int) -> list[Line]:
    return list(stats_screen(found, ScreenView(width, NOW)))


@pytest.mark.parametrize("width", [60, 61, 80, 101, 500])
@pytest.mark.parametrize(
    ("count", "content"), [(1, "One"), (300, "Many"), *((3, title) for title in TITLES)]
)
def test_every_panel_has_straight_edges_whatever_is_in_it(
    width: int, count: int, content: str
) -> None:
    lines = [text(line) for line in drawn(figures(count, content), width)]
    assert {cells(line) for line in lines} == {min(width, 78)}
    assert {line[0] + line[-1] for line in lines} == {"╭╮", "││", "╰╯"}


@settings(max_examples=examples(25))
@given(
    st.lists(strategies.any_record, max_size=5, unique_by=lambda record: record.id),
    strategies.times,
    st.integers(1, 220),
)
def test_any_figures_can_be_drawn_at_any_width(
    records: list[Record], now: datetime, width: int
) -> None:
    found = ask(store(*records, now=now), table.STATS, AtRequest())
    assert list(drawn(found, sys.maxsize))
    lines = list(drawn(found, width))
    if width >= NARROW and not stats_note(found):
        assert max(cells(text(line)) for line in lines) <= width


@pytest.mark.parametrize("width", [60, 220])
def test_episodes_alone_are_counted_on_a_terminal_of_any_width(width: int) -> None:
    made = {"title": "Beta", "summary": "The beta began", "created_at": NOW, "updated_at": NOW}
    alone = Episode(id="mvz1fwao-5gfu3i2z", type=EpisodeType.BREAKTHROUGH, **made)  # type: ignore[arg-type]
    found = ask(store(alone, now=NOW), table.STATS, AtRequest())
    assert "episodes  " in "\n".join(text(line) for line in drawn(found, width))


def test_a_dashboard_says_what_it_draws() -> None:
    shown = "\n".join(text(line) for line in drawn(figures(300), 80))
    for part in ("Memory: 300 active memories", "Growth", "per 2 days", "in all", "Ends next"):
        assert part in shown
    assert "Recalled" not in shown  # nothing was
    assert "category-11" in shown  # what does not fit on one line goes on the next


@given(st.lists(st.integers(0, 5), min_size=1, max_size=90), st.integers(1, 60))
def test_periods_are_put_together_without_losing_one(added: list[int], most: int) -> None:
    periods = [Period(start=NOW, added=count, total=0) for count in added]
    groups = _gathered(periods, most)
    assert len(groups) <= most
    assert [period for group in groups for period in group] == periods
    assert len(groups[-1]) == max(map(len, groups))


@given(st.lists(st.floats(0, 1e300) | st.integers(0, 10**9)))
def test_a_sparkline_has_a_cell_for_each_value(values: list[float]) -> None:
    drawn = sparkline(values)
    assert len(values) == len(drawn)
    assert all((mark == BARS[0]) == (value == 0) for mark, value in zip(drawn, values, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [drawn[place] for place in order] == sorted(drawn)


@given(historic)
def test_any_history_can_be_told(record: Historic) -> None:
    blocks = [text(line) for line in _story(entries_of(record))]
    heads = [line for line in blocks if re.match(r"\d{4,}-\d\d-\d\dT|undated", line)]
    assert max(1, len(record.history)) == len(heads)


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_of_event_has_a_line(kind: EventKind) -> None:
    event = msgspec.structs.replace(memory().history[0], event=kind, detail={"into": "a-00000002"})
    lines = _story(entries_of(msgspec.structs.replace(memory(), history=(event,))))
    assert any(kind in text(line) for line in lines)


@pytest.mark.parametrize("odd", [5, None, True, "text", [5], {"a": 5}, [["b"]]])
@pytest.mark.parametrize("name", ["link", "removed", "replaced", "merged"])
def test_a_detail_that_pmem_never_wrote_is_told_without_a_crash(name: str, odd: object) -> None:
    link = {"target": "1-00000002", "type": "related_to"}
    event = msgspec.structs.replace(memory().history[0], detail={"link": link, name: odd})
    lines = list(_story(entries_of(msgspec.structs.replace(memory(), history=(event,)))))
    assert lines


def test_a_change_deep_in_a_long_text_is_seen() -> None:
    start = "The service answers within its limit. " * 20
    record = edited(edited(memory(), f"{start}It is 200 ms.", 1), f"{start}It is 150 ms.", 2)
    told = [text(line) for line in _story(entries_of(record))]
    assert (
        "    content, now: … The service answers within its limit. It is [-200-] {+150+} ms."
        == told[-1]
    )
    other = edited(record, "Quite another text, " * 20, 3)
    last = text(list(_story(entries_of(other)))[-1])
    assert last.startswith('    content, now: "The service')
    assert ' → "Quite another text, ' in last


@pytest.mark.usefixtures("project")
def test_the_log_takes_two_lines_of_a_terminal_and_is_whole_in_a_pipe() -> None:
    long = "数据库使用 PostgreSQL，备份每天凌晨三点运行，保留三十天，由运维团队负责检查和恢复。" * 3
    assert pmem("add", long).code == 0
    code, shown = on_terminal(["log"], 70)
    lines = COLOURS.sub("", shown).splitlines()
    assert code == 0
    assert max(map(cells, lines)) <= 70
    assert [line for line in lines if line.endswith("…")] == lines[1:2]
    assert ESCAPE in shown
    assert long in pmem("log").text


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("columns", "environment", "first"),
    [
        (80, {}, "╭─ Memory: 1 active memory "),
        (80, {"NO_COLOR": "1"}, "╭─ Memory: 1 active memory "),
        (59, {}, "Memory: 1 active memory"),
    ],
)
def test_stats_on_a_terminal(columns: int, environment: dict[str, str], first: str) -> None:
    assert pmem("add", "We use PostgreSQL").code == 0
    code, shown = on_terminal(["stats"], columns, environment=environment)
    assert (code, COLOURS.sub("", shown).startswith(first)) == (0, True)
    assert (ESCAPE in shown) == (not environment)


@pytest.mark.usefixtures("project")
def test_an_empty_store_says_how_to_begin() -> None:
    code, shown = on_terminal(["stats"], 80)
    assert (code, "`pmem add` keeps the first" in shown, "╭" in shown) == (0, True, False)
