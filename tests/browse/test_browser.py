"""The browser lists, reads and changes memories, and each key does what stands beside it."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from pmem.browse.app import MOST_ROWS, MemoryBrowser
from pmem.browse.desk import Desk, EditedText
from pmem.errors import Refused
from pmem.memory.reading import ListRequest, ShowRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.records import Memory
from pmem.values.times import iso
from tests.asking import ask
from tests.cli.shell import pmem
from tests.hostile.projects import memory, write
from tests.once import Once
from tests.report.stores import NOW, LivedIn

Story = Callable[["Seen"], Awaitable[None]]


class Seen:
    """What somebody sees who presses keys.

    Args:
        app: The browser.
        pilot: What presses its keys.
    """

    def __init__(self, app: MemoryBrowser, pilot: Pilot[None]) -> None:
        self.app = app
        self._pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until all that they led to is drawn."""
        await self._pilot.press(*keys)
        await self.app.workers.wait_for_complete()
        await self._pilot.pause()

    @property
    def rows(self) -> list[str]:
        """The rows of the list."""
        options = self.app.query_one("#list", OptionList).options
        return [str(option.prompt) for option in options]

    @property
    def text(self) -> str:
        """What is being read."""
        return str(self.app.query_one("#text", Static).content)

    @property
    def count(self) -> str:
        """The line above the list."""
        return str(self.app.query_one("#count", Static).content)

    @property
    def is_reading(self) -> bool:
        """Whether an entry is open."""
        return self.app.screen.has_class("-reading")

    @property
    def told(self) -> list[str]:
        """What was told in passing."""
        return [note.message for note in self.app._notifications]


def browse(
    root: str, story: Story, *, columns: int = 120, written: str = "", read_only: bool = False
) -> None:
    """Browse a memory as somebody whose editor writes a text."""

    def opened() -> Workspace:
        return Workspace(root, actor="kim", now=NOW, read_only=read_only)

    def write(known: str) -> EditedText:
        return EditedText(text=written or known, drop=lambda: None)

    def settle(line: str) -> None:
        done = pmem("--actor", "kim", "--now", iso(NOW), *shlex.split(line)[1:])
        if done.code:
            raise Refused(done.said)

    async def run() -> None:
        app = MemoryBrowser(Desk(opened, write, settle), "Harbour")
        async with app.run_test(size=(columns, 24)) as pilot:
            await pilot.pause()
            await story(Seen(app, pilot))

    asyncio.run(run())


@pytest.fixture
def lived_in(root: str, once: Once) -> str:
    """Return a memory of half a year."""
    once(lambda: LivedIn(root))
    return root


def played(
    **options: Any,
) -> Callable[[Callable[[Seen, str], Awaitable[None]]], Callable[[str], None]]:
    """Make a test of what somebody does who browses a memory of half a year."""

    def make(story: Callable[[Seen, str], Awaitable[None]]) -> Callable[[str], None]:
        def test(lived_in: str) -> None:
            browse(lived_in, lambda seen: story(seen, lived_in), **options)

        return test

    return make


def held(root: str, content: str) -> bool:
    """Tell whether a memory with a content is recalled."""
    found = ask(Workspace(root, now=NOW), table.LIST, ListRequest()).items
    return any(each.content == content for each in found)


@played()
async def test_the_newest_memory_is_listed_first_and_read_beside_the_list(
    seen: Seen, root: str
) -> None:
    assert seen.count == "Harbour: 22 memories, active"
    assert seen.rows[0].split() == "decision queue: Jobs run on a queue in PostgreSQL".split()
    assert seen.text.splitlines()[:2] == ["queue", "Jobs run on a queue in PostgreSQL"]


@played()
async def test_typing_narrows_the_list_and_escape_widens_it(seen: Seen, root: str) -> None:
    await seen.press("slash", *"DATAB", "space", "number_sign", *"sto")
    assert [row.split()[1] for row in seen.rows] == ["database:"]
    await seen.press("x")
    assert seen.rows == []
    assert seen.count == "Harbour: 0 memories, active; Esc clears the filter"
    await seen.press("escape")
    assert len(seen.rows) == 22
    assert seen.app.query_one("#filter", Input).value == ""


@played()
async def test_a_history_shows_the_words_that_changed(seen: Seen, root: str) -> None:
    await seen.press("slash", *"runners", "enter", "enter")
    assert "CI runs on four runners with [-4-] {+8+} cores" in seen.text


def test_only_what_is_opened_counts_as_recalled(lived_in: str) -> None:
    log = Path(lived_in, "local", "access.log")

    async def story(seen: Seen) -> None:
        before = log.read_bytes()
        await seen.press("j", "j", "k", "down")
        assert log.read_bytes() == before
        await seen.press("enter")
        assert log.read_bytes() != before

    browse(lived_in, story)


@pytest.mark.parametrize("columns", [60, 80])
def test_where_there_is_little_room_an_entry_takes_the_whole_screen(
    lived_in: str, columns: int
) -> None:
    async def story(seen: Seen) -> None:
        assert not seen.app.query_one("#read").display
        await seen.press("enter")
        assert seen.app.query_one("#read").display
        assert not seen.app.query_one("#list").display
        await seen.press("escape")
        assert seen.app.query_one("#list").display

    browse(lived_in, story, columns=columns)


@played(written="Jobs run on cron")
async def test_an_edit_is_kept_and_undo_takes_it_back(seen: Seen, root: str) -> None:
    await seen.press("e")
    assert held(root, "Jobs run on cron")
    assert seen.rows[0].endswith("Jobs run on cron")
    await seen.press("u")
    assert held(root, "Jobs run on a queue in PostgreSQL")
    assert [said.split()[0] for said in seen.told] == ["edited", "undid:"]


@played()
async def test_an_edit_that_changes_nothing_leaves_no_event(seen: Seen, root: str) -> None:
    before = seen.text
    await seen.press("e")
    assert seen.told == ["nothing was changed"]
    assert seen.text == before


def test_what_is_removed_goes_and_comes_back_from_the_past(lived_in: str) -> None:
    content = "Jobs run on a queue in PostgreSQL"

    async def story(seen: Seen) -> None:
        await seen.press("d")
        assert not held(lived_in, content)
        await seen.press("s")
        assert seen.count == "Harbour: 3 memories, past"
        assert [row.split()[-1] for row in seen.rows] == ["removed", "removed", "superseded"]
        await seen.press("d", "s")
        assert held(lived_in, content)

    browse(lived_in, story)


@played()
async def test_a_pin_shows_in_the_list(seen: Seen, root: str) -> None:
    await seen.press("p")
    assert seen.rows[0].endswith("pinned")
    await seen.press("p")
    assert not seen.rows[0].endswith("pinned")


@played()
async def test_the_inbox_lists_what_waits_and_leads_to_it(seen: Seen, root: str) -> None:
    await seen.press("i")
    assert seen.count == "Harbour: 2 open items; i: back to the list"
    assert [row.split()[0] for row in seen.rows] == ["subject", "expired"]
    assert "1 keep both   2 keep only the newer one" in seen.rows[0]
    await seen.press("j", "enter")
    assert seen.is_reading
    assert "The beta is closed to new teams" in seen.text
    await seen.press("escape", "escape")
    assert len(seen.rows) == 22


@played()
async def test_a_number_settles_what_waits(seen: Seen, root: str) -> None:
    await seen.press("i", "1")
    assert seen.told == ["keep both: done; u undoes that"]
    assert [row.split()[0] for row in seen.rows] == ["expired"]
    await seen.press("u")
    assert [row.split()[0] for row in seen.rows] == ["subject", "expired"]


@played()
async def test_a_number_that_stands_beside_nothing_does_nothing(seen: Seen, root: str) -> None:
    await seen.press("1", "i", "7")
    assert seen.told == []
    assert len(seen.rows) == 2


@played()
async def test_what_is_settled_leaves_the_inbox(seen: Seen, root: str) -> None:
    await seen.press("i", "j", "d")
    assert seen.count == "Harbour: 1 open item; i: back to the list"


@played(read_only=True)
async def test_what_may_not_be_written_is_said_and_changes_nothing(seen: Seen, root: str) -> None:
    await seen.press("d")
    assert len(seen.rows) == 22
    assert "read-only" in seen.told[0]


HOSTILE = "[red]gear[/red] [@click=app.quit]x[/] \u202e\x1b[2J \\u{1b} $text-error"


def test_a_record_cannot_draw_hide_or_press_anything(root: str) -> None:
    record = memory(
        "mjwaid1q-00000001", HOSTILE, subject=HOSTILE, tags=[HOSTILE], category=HOSTILE,
        history=[
            {
                "event": "UPDATE", "at": "2026-01-05T12:00:00.000Z", "actor": HOSTILE,
                "before": {"content": f"{HOSTILE} before", "subject": "[/]"},
            }
        ],
    )  # fmt: skip
    write(f"{root}/long-term-memory/mjwaid1q-00000001.json", record)

    async def story(seen: Seen) -> None:
        await seen.press("enter")
        for text in (*seen.rows, seen.text):
            assert "[red]gear[/red] [@click=app.quit]x[/]" in text
            assert {"\u202e", "\x1b"} & set(text) == set()

    browse(root, story)


def test_of_very_many_memories_the_newest_are_listed(root: str) -> None:
    workspace = Workspace(root, actor="kim", now=NOW)
    with workspace.transaction():
        for number in range(MOST_ROWS + 5):
            workspace.memories.put(
                Memory(
                    id=workspace.new_id(),
                    content=f"gear {number}",
                    category="knowledge",
                    valid_from=NOW,
                    created_at=NOW,
                    updated_at=NOW,
                )
            )

    async def story(seen: Seen) -> None:
        assert len(seen.rows) == MOST_ROWS
        assert seen.count == "Harbour: 205 memories, active, the newest 200 are listed"
        await seen.press("slash", *"gear", "space", "3", "enter")
        assert {row.split()[-1] for row in seen.rows} >= {"3", "30", "203"}
        assert all("3" in row.split()[-1] for row in seen.rows)

    browse(root, story)


def test_an_empty_memory_can_be_browsed(root: str) -> None:
    async def story(seen: Seen) -> None:
        await seen.press("enter", "e", "p", "d", "i", "i", "j", "k")
        assert (seen.rows, seen.text) == ([], "")

    browse(root, story)


@played()
async def test_what_others_add_is_there_after_the_next_change(seen: Seen, root: str) -> None:
    added = ask(
        Workspace(root, actor="ben", now=NOW),
        table.ADD,
        AddRequest(content="The wizard is in the west wing", force=True),
    )
    await seen.press("p")
    assert seen.rows[0].endswith("The wizard is in the west wing")
    assert ask(Workspace(root, now=NOW), table.SHOW, ShowRequest(reference=added.memory.id))
