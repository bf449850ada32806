"""The terminal browser: a list that narrows as you type, and beside it what an entry says."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Final

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from pmem.browse.desk import HELD, Desk, Held, Reading, choices_of
from pmem.browse.drawing import draw_item, draw_reading, draw_row
from pmem.core.inbox import InboxItem
from pmem.core.visible import one_visible_line
from pmem.errors import PmemError
from pmem.values.records import Memory

MOST_ROWS: Final = 200
"""So many rows are drawn: whoever looks for more types a word."""
_NARROW, _WIDE = "-narrow", "-wide"
_COLUMNS: Final = 96
"""Columns from which on the list and what is read stand side by side."""


_KEYS: Final[list[BindingType]] = [
    Binding("slash", "filter", "Filter", key_display="/"),
    Binding("enter", "read", "Read", show=False),
    Binding("e", "edit", "Edit"),
    Binding("p", "pin", "Pin"),
    Binding("d", "remove", "Remove"),
    Binding("u", "undo", "Undo"),
    Binding("i", "needs", "Inbox"),
    Binding("escape", "leave", "Back"),
    Binding("j", "move(1)", "Down", show=False),
    Binding("k", "move(-1)", "Up", show=False),
    Binding("q", "quit", "Quit"),
    *(Binding(str(place), f"choose({place})", show=False) for place in range(1, 8)),
    Binding("s", "held", "Past"),
]


Entry = Memory | InboxItem


class EntryList(OptionList):
    """A list that stands on one of its entries, if it has any."""

    _entries: Sequence[Entry] = ()

    @property
    def entry(self) -> Entry | None:
        """What the list stands on."""
        place = self.highlighted
        return self._entries[place] if place is not None and place < len(self._entries) else None

    def fill(self, entries: Sequence[Entry], *, stay: bool = False) -> None:
        """List other entries."""
        place = (self.highlighted or 0) if stay else 0
        self._entries = entries
        self.clear_options().add_options(
            [
                Option(draw_row(each) if isinstance(each, Memory) else draw_item(each))
                for each in entries
            ]
        )
        self.highlighted = min(place, len(entries) - 1) if entries else None


class MemoryBrowser(App[None]):
    """Lists the memories of a project, shows one, and what waits for somebody."""

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, _NARROW), (_COLUMNS, _WIDE)]  # noqa: RUF012 - as in the base
    CSS_PATH = "app.tcss"
    BINDINGS = _KEYS

    def __init__(self, desk: Desk, name: str) -> None:
        super().__init__()
        self._desk = desk
        self.title = name
        self._held: Held = HELD[0]

    def compose(self) -> ComposeResult:
        """Lay out the filter, the list, what is read, and the keys."""
        yield Input(placeholder="filter: words, #tag, id", id="filter", compact=True)
        yield Static("", id="count", markup=False)
        with Horizontal():
            yield EntryList(id="list", markup=False, compact=True)
            with VerticalScroll(id="read"):
                yield Static("", id="text", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """List the memories."""
        self._reload()
        self._list.focus()

    @property
    def _list(self) -> EntryList:
        return self.query_one("#list", EntryList)

    @property
    def _is_inbox(self) -> bool:
        return self.screen.has_class("-needs")

    @property
    def current(self) -> Memory | None:
        """The memory that the list stands on."""
        entry = self._list.entry
        return self._desk.known(entry.id) if isinstance(entry, InboxItem) else entry

    @on(Input.Changed, "#filter")
    def narrow(self) -> None:
        """List what has the words that are being typed."""
        self._fill()

    @on(Input.Submitted, "#filter")
    def leave_filter(self) -> None:
        """Go on in the list."""
        self._list.focus()

    @on(OptionList.OptionHighlighted, "#list")
    def follow(self) -> None:
        """Show beside the list what it stands on."""
        self._show()

    @on(OptionList.OptionSelected, "#list")
    def open_entry(self) -> None:
        """Read what the list stands on."""
        self.action_read()

    def action_filter(self) -> None:
        """Type words to narrow the list."""
        self.action_close_needs()
        self.query_one("#filter", Input).focus()

    def action_read(self) -> None:
        """Read the entry, over the whole screen where there is little room."""
        if self.current is not None:
            self._show(self._desk.read)
            self.screen.add_class("-reading")
            self.query_one("#read").focus()

    def action_leave(self) -> None:
        """Leave what is being read, then the inbox, then the filter."""
        if self.screen.has_class("-reading"):
            self._close_reading()
        elif self._is_inbox:
            self.action_close_needs()
        else:
            self.query_one("#filter", Input).value = ""
            self._list.focus()

    def _close_reading(self) -> None:
        self.screen.remove_class("-reading")
        self._list.focus()

    def action_move(self, by: int) -> None:
        """Move in the list, or in what is being read."""
        if self.query_one("#read").has_focus:
            self.query_one("#read").scroll_relative(y=by, animate=False)
        elif by > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    def action_held(self) -> None:
        """List what is current, what left recall, or both."""
        self.action_close_needs()
        self._held = HELD[(HELD.index(self._held) + 1) % len(HELD)]
        self._fill()

    def action_needs(self) -> None:
        """List what waits for somebody, or the memories again."""
        if self._is_inbox:
            self.action_close_needs()
            return
        self._close_reading()
        self.query_one("#count", Static).update("looking…")
        self.run_worker(self._collect_needs, thread=True, exclusive=True)

    def action_close_needs(self) -> None:
        """List the memories again."""
        self._close_reading()
        if self._is_inbox:
            self.screen.remove_class("-needs")
            self._fill()

    def action_choose(self, place: int) -> None:
        """Settle what the inbox stands on."""
        item = self._list.entry
        if isinstance(item, InboxItem) and place <= len(choices_of(item)):
            choice = choices_of(item)[place - 1]
            self._after(self._tried(partial(self._desk.settle, choice)))

    def action_edit(self) -> None:
        """Change what the entry says, in the editor."""
        memory = self.current
        if memory is not None:
            with nullcontext() if self.is_headless else self.suspend():
                said = self._tried(partial(self._desk.edit, memory))
            self._after(said)

    def action_pin(self) -> None:
        """Pin the entry, or unpin it."""
        self._change(self._desk.pin)

    def action_remove(self) -> None:
        """Remove the entry, or bring it back where it was removed."""
        self._change(self._desk.remove)

    def action_undo(self) -> None:
        """Take the last command back."""
        self._after(self._tried(self._desk.undo))

    def _change(self, how: Callable[[Memory], str]) -> None:
        memory = self.current
        if memory is not None:
            self._after(self._tried(partial(how, memory)))

    def _tried(self, work: Callable[[], str]) -> str | None:
        """Do something and return what is to be said; say it at once where it was refused."""
        try:
            return work()
        except PmemError as error:
            said = ": ".join(filter(None, (error.message, error.hint)))
            self.notify(one_visible_line(said), severity="error", markup=False)
            return None

    def _after(self, said: str | None) -> None:
        if said is not None:
            self.notify(one_visible_line(said), markup=False)
            self._reload()

    def _reload(self) -> None:
        """Read the memories anew, and stay where the list stands."""

        def load() -> str:
            self._desk.load()
            return ""

        if self._tried(load) is None:
            return
        if self._is_inbox:
            self.run_worker(self._collect_needs, thread=True, exclusive=True)
        else:
            self._fill(stay=True)

    def _fill(self, *, stay: bool = False) -> None:
        words = self.query_one("#filter", Input).value
        found = self._desk.find(words, self._held)
        self._list.fill(found[:MOST_ROWS], stay=stay)
        more = f", the newest {MOST_ROWS} are listed" if len(found) > MOST_ROWS else ""
        more = "; Esc clears the filter" if words and not found else more
        many = f"{len(found):,} {'memory' if len(found) == 1 else 'memories'}"
        self._say(f"{many}, {self._held}{more}")

    def _collect_needs(self) -> None:
        """Collect what waits for somebody, beside the screen: that may take a while."""
        try:
            found = list(self._desk.needs())
        except PmemError as error:
            self.call_from_thread(self.notify, one_visible_line(error.message), severity="error")
            self.call_from_thread(self.action_close_needs)
            return
        self.call_from_thread(self._fill_needs, found)

    def _fill_needs(self, found: list[InboxItem]) -> None:
        self._list.fill(found, stay=self._is_inbox)
        self.screen.add_class("-needs")
        many = f"{len(found):,} open item{'s' * (len(found) != 1)}" if found else "no open item"
        self._say(f"{many}; i: back to the list")

    def _say(self, what: str) -> None:
        self.query_one("#count", Static).update(one_visible_line(f"{self.title}: {what}"))
        self._show()

    def _show(self, read: Callable[[str], Reading | None] | None = None) -> None:
        """Draw what the list stands on; only what somebody opened counts as recalled."""
        memory, text = self.current, self.query_one("#text", Static)
        if memory is None:
            text.update("")
            self.screen.remove_class("-reading")
            return
        try:
            reading = (read or self._desk.glance)(memory.id)
        except PmemError as error:
            text.update(one_visible_line(error.message))
            return
        text.update("" if reading is None else draw_reading(reading))
        self.query_one("#read").scroll_home(animate=False)
