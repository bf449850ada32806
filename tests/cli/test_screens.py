"""What people see on a terminal: golden screens, and what holds for any text at any width.

`UPDATE_TRANSCRIPTS=1 pytest tests/cli/test_screens.py` writes down what the screens are now; read
the difference before you keep it.
"""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pmem.cli.screens import lists
from pmem.cli.screens.drawing import ScreenView, all_hung, cut_text, wrapped
from pmem.cli.screens.hits import hit_screen
from pmem.cli.screens.stories import edit_screen, log_screen, story_screen, word_difference
from pmem.cli.session import Line
from pmem.conversation.conversations import Overview
from pmem.core.journal import entry, steps
from pmem.core.visible import visible
from pmem.memory.reading import LinkedText, MemoryListing, ShownRecord
from pmem.search.hits import Related, SearchHit, SearchKind
from pmem.search.search import SearchResult
from pmem.values.ids import short
from pmem.values.records import Episode, Fact, Memory, MemoryType, Record, Standing, Status
from pmem.values.times import parse_moment
from tests import strategies
from tests.cli.shell import pmem
from tests.cli.story import FAMILY, screen, tell_story
from tests.cli.test_overlay import cells
from tests.effort import examples

FOLDER = Path(__file__).parent / "screens"
UPDATE = bool(os.environ.get("UPDATE_TRANSCRIPTS"))
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
STYLES = re.compile(r"\x1b\[([0-9;]*)m")
LEGIBLE = {"0", "1", "2", "31", "32", "35", "36"}
"""Bold, dim, red, green, magenta, cyan: what can be read on black and on white."""
COMMANDS = (
    ["list"],
    ["list", "--exact-times"],
    ["search", "which database for the orders"],
    ["search", "which database for the orders", "--around", "--explain"],
    ["show", "<runners>"],
    ["show", "<japanese>"],
    ["log", "<runners>"],
    ["log"],
    ["stats"],
    ["inbox", "facts", "--all"],
    ["episode", "list"],
    ["conversation", "list"],
    ["conversation", "show"],
    ["log", "--since", "1w", "--by", "ad"],
    ["list", "--tags"],
    ["context", "which database", "--budget", "160", "--explain"],
)
WILD = st.lists(
    st.sampled_from(
        (
            "word", "a", "日本語の長いテキスト、です。", "데이터베이스", FAMILY, "e\u0301te\u0301",
            "مرحبا بالعالم", "שלום", "🎉", "🇩🇪", "👍🏽", "1\ufe0f\u20e3", "x" * 90, "a-b_c.d/e",
            "\u202eback", "\x1b[31m", "\n", "\t", "हिन्दी", "한국",
        )
    )
    | strategies.texts,
    max_size=12,
).map(" ".join)  # fmt: skip
WIDTHS = st.integers(40, 200)


@pytest.fixture
def story(project: str) -> dict[str, str]:
    assert project
    return tell_story()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_screens_are_as_they_were_looked_at(columns: int, story: dict[str, str]) -> None:
    coloured = _all_screens(columns, story)
    for name, text in (
        (f"{columns}.txt", COLOURS.sub("", coloured)),
        (f"{columns}-coloured.txt", coloured.replace("\x1b", "␛")),
    ):
        path = FOLDER / name
        if UPDATE:
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text
    drawn = [line for line in COLOURS.sub("", coloured).splitlines() if line[:1] != "$"]
    assert max(map(cells, drawn)) <= columns


def _all_screens(columns: int, story: dict[str, str]) -> str:
    parts = []
    for command in COMMANDS:
        line = [story.get(word.strip("<>"), word) for word in command]
        drawn = screen(*line, "--read-only", columns=columns)
        parts.append(f"$ pmem {' '.join(command)}\n{drawn}")
    return "\n".join(parts)


def test_colours_can_be_read_on_black_and_on_white(story: dict[str, str]) -> None:
    used = {one for found in STYLES.findall(_all_screens(80, story)) for one in found.split(";")}
    assert used <= LEGIBLE


def test_what_a_screen_says_does_not_depend_on_colours(story: dict[str, str]) -> None:
    for command in (["list"], ["log", story["runners"]], ["stats"]):
        line = [*command, "--read-only"]
        coloured = screen(*line, columns=80)
        plain = screen(*line, columns=80, environment={"NO_COLOR": "1"})
        assert "\x1b" in coloured
        assert plain == COLOURS.sub("", coloured)


def test_an_edit_says_which_words_it_changed(story: dict[str, str]) -> None:
    text = "CI runs on six runners with 4 cores; the full test run takes 6 minutes there"
    shown = COLOURS.sub("", screen("edit", story["runners"], text, columns=80))
    assert "[-four-] {+six+}" in shown
    again = screen("edit", story["runners"], text, columns=80)
    assert "it says so already" in again


def test_an_exact_time_is_the_one_of_the_pipe(story: dict[str, str]) -> None:
    shown = COLOURS.sub("", screen("log", story["runners"], "--exact-times", columns=80))
    times = re.findall(r"^\d{4}-\S+", shown, re.M)
    assert times == re.findall(r"^\d{4}-\S+", pmem("log", story["runners"]).text, re.M)


def test_messages_beside_a_hit_are_shown_where_they_are_asked_for(story: dict[str, str]) -> None:
    assert story
    line = ["search", "which database for the orders", "--read-only"]
    few, all_ = (screen(*line, *more, columns=80) for more in ([], ["--around"]))
    assert "Why not another one?" not in few
    assert "--around" in few
    assert "Why not another one?" in all_
    assert "Why not another one?" in pmem(*line).text


def test_a_terminal_changes_nothing_about_json(story: dict[str, str]) -> None:
    for command in (["list"], ["show", story["runners"]], ["search", "database"]):
        line = [*command, "--json", "--read-only"]
        assert screen(*line, columns=80) == pmem(*line).text


@given(WILD, st.integers(4, 100), st.integers(0, 20), st.integers(0, 4))
def test_no_word_is_cut_that_fits(text: str, width: int, hang: int, most: int) -> None:
    hang = min(hang, width - 3)
    lines = ["".join(part for part, _ in line) for line in wrapped([(text, "")], width, hang=hang)]
    assert max(map(cells, lines)) <= width
    fitting = [word for word in visible(text).split() if _is_unbroken(word, width - hang)]
    printed = [word for line in lines for word in line.split()]
    assert [word for word in fitting if word not in printed] == []
    cut = wrapped([(text, "")], width, hang=hang, most=most)
    assert most == 0 or len(cut) <= most
    assert all(cells(_text(line)) <= width for line in cut)
    whole = "".join("".join(lines).split())
    assert "".join(_text(cut[-1]).split()).rstrip("…") in whole if cut else True


def _is_unbroken(word: str, room: int) -> bool:
    """Tell whether a word is to stand as it is: it fits, and is of a script with spaces."""
    return cells(word) <= room and all(cells(character) < 2 for character in word)


def _text(line: Line) -> str:
    return visible("".join(part for part, _ in line))


def _wild(record: Record, text: str) -> Record:
    """Return a record with one text in every field that people write."""
    names = ("content", "subject", "title", "summary", "context", "outcome")
    fields = {
        name: text for name in names if isinstance(getattr(record, name, None) or "", str)
        if hasattr(record, name)
    }  # fmt: skip
    if hasattr(record, "tags"):
        fields["tags"] = (text, text)  # type: ignore[assignment]
    return replace(record, **fields)


def _screens(
    memory: Memory, episode: Episode, text: str, view: ScreenView
) -> dict[str, list[Line]]:
    """Draw every screen of records whose fields all hold one text."""
    hit = SearchHit(
        id=memory.id, short=short(memory.id), kind=SearchKind.MEMORY, score=0.5, text=text,
        created_at=memory.created_at, speaker=text, stale=(text,), signals={"text": 0.5},
    )  # fmt: skip
    related = Related(
        id=memory.id, short=short(memory.id), text=text, type=text, strength=1.0, via=memory.id,
        forward=True,
    )  # fmt: skip
    found = SearchResult(
        query=text, hits=(hit,), total=1, removed={}, related=(related,), fill=(hit,)
    )
    fact = Fact(
        id=memory.id, content=text, type=MemoryType.FACT, confidence=0.5, message="m",
        extracted_at=memory.created_at, standing=Standing.PENDING,
    )  # fmt: skip
    talk = Overview(
        id=memory.id, external_id=None, title=text, app=None, status=Status.ACTIVE,
        started_at=memory.created_at, updated_at=memory.created_at, turns=3, chunks=0,
    )  # fmt: skip
    link = LinkedText(id=memory.id, type=text, text=text)
    shown = ShownRecord(
        record=memory, stale=(text,), disputed={"content": text}, links=(link,), recalls=2
    )
    told = [entry(step) for step in steps(memory)]
    listing = MemoryListing((memory,), 1, moment=view.now, stale=frozenset((memory.id,)))
    return {
        "list": list(lists.memory_screen(listing, view)),
        "search": list(hit_screen(found, view, explain=True, around=True)),
        "show": list(lists.record_screen(shown, view)),
        "history": list(story_screen(told, view)),
        "edit": list(edit_screen(memory, view, is_changed=True)),
        "events": list(log_screen(told, view)),
        "facts": list(lists.fact_screen([fact], view, every=True)),
        "episodes": list(lists.episode_screen([episode], view)),
        "conversations": list(lists.conversation_screen([talk], view)),
        "any other": list(all_hung([[(short(memory.id), "cyan"), (f"  {text}", "")]], view.width)),
    }


@settings(max_examples=examples(60))
@given(strategies.memories, strategies.episodes, WILD, WIDTHS, strategies.times, st.booleans())
def test_no_line_is_longer_than_the_terminal_and_every_id_is_there(
    memory: Memory, episode: Episode, text: str, width: int, now: datetime, exact: bool
) -> None:
    view = ScreenView(width, now, exact)
    wild, told = _wild(memory, text), _wild(episode, text)
    assert isinstance(wild, Memory)
    assert isinstance(told, Episode)
    for name, lines in _screens(wild, told, text, view).items():
        texts = [_text(line) for line in lines]
        assert max(map(cells, texts), default=0) <= width, name
        named = told if name == "episodes" else wild
        if name != "history":
            assert any(short(named.id) in line for line in texts), name


@given(WILD, WILD)
def test_a_word_difference_holds_both_texts(was: str, became: str) -> None:
    line = word_difference(was, became)
    if line is None or set("[]{}+-") & set(was + became):  # signs of a difference themselves
        return
    told = "".join(text for text, _ in line)
    if "…" in told:
        return
    new = "".join(text for text, style in line if style != "red")
    old = "".join(text for text, style in line if style != "green")
    for text, shown in ((became, new), (was, old)):
        bare = re.sub(r"\[-|-\]|\{\+|\+\}", "", shown)
        assert "".join(bare.split()) == "".join(visible(" ".join(text.split())).split())


@given(WILD, st.integers(1, 60))
def test_what_is_cut_is_cut_between_words(text: str, width: int) -> None:
    kept = cut_text(text, width)
    assert cells(kept) <= width
    assert visible(text).lstrip().startswith(kept.strip())


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-11-21T14:29:40Z", "just now"),
        ("2026-11-21T14:18:00Z", "12 min ago"),
        ("2026-11-21T02:00:00Z", "12 h ago"),
        ("2026-11-20T09:00:00Z", "yesterday"),
        ("2026-11-17T09:00:00Z", "4 days ago"),
        ("2026-11-02T09:00:00Z", "2 Nov"),
        ("2025-11-02T09:00:00Z", "2 Nov 2025"),
        ("2026-11-21T16:30:00Z", "in 2 h"),
        ("2026-11-22T23:00:00Z", "tomorrow"),
        ("2026-11-25T09:00:00Z", "in 4 days"),
        ("1970-01-01T00:00:00Z", "undated"),
    ],
)
def test_a_moment_reads_as_people_say_it(at: str, said: str) -> None:
    now = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
    assert ScreenView(80, now).when(parse_moment(at)) == said
