"""What a browser asks of the memory, through the pipeline like every front end."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeVar

import msgspec

from pmem.core.filters import Filter
from pmem.core.inbox import InboxChoice, InboxItem
from pmem.core.journal import JournalStep
from pmem.memory.changes import RecordsRequest, RestoreRequest
from pmem.memory.journal import HistoryRequest
from pmem.memory.reading import ListRequest, ShowRequest
from pmem.memory.requests import EditRequest, PinRequest
from pmem.memory.undo import UndoRequest
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.operations.pipeline import run
from pmem.project.workspace import Workspace
from pmem.upkeep.inbox import InboxRequest
from pmem.values.ids import matches, short
from pmem.values.records import Memory, State

Q = TypeVar("Q")
A = TypeVar("A")

Held = Literal["active", "past", "all"]
"""Which memories are listed: the active ones, those that left recall, or both."""
HELD: Final[tuple[Held, ...]] = ("active", "past", "all")
_ID_BEGINS: Final = 4
"""Characters from which on a word may be the beginning of an id."""


class EditedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text that somebody wrote in an editor, and what forgets its file once it is kept."""

    text: str
    drop: Callable[[], None]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as it is read: itself, its citations that do not hold, its history."""

    memory: Memory
    steps: tuple[JournalStep, ...]
    stale: tuple[str, ...] = ()
    disputed: dict[str, Any] = {}


class Desk:
    """Lists, reads and changes memories.

    `opened` opens the memory folder, once for each thing that is asked; `write` lets a person
    change a text in their editor; `settle` runs a command line of pmem. Whatever the memory refuses
    comes as a `PmemError`.
    """

    def __init__(
        self,
        opened: Callable[[], Workspace],
        write: Callable[[str], EditedText],
        settle: Callable[[str], None],
    ) -> None:
        self._opened = opened
        self._write = write
        self._settle = settle
        self._memories: list[tuple[str, Memory]] = []

    def load(self) -> None:
        """Read all memories anew."""
        request = ListRequest(wanted=Filter(states=tuple(State)))
        listed = self._ask(table.LIST, request).items
        self._memories = [(_haystack(memory), memory) for memory in reversed(listed)]

    def find(self, words: str, held: Held) -> list[Memory]:
        """Return the memories that have all of some words, a tag as `#tag`, newest first."""
        wanted = words.casefold().split()
        return [
            memory
            for text, memory in self._memories
            if (held == "all" or (memory.state is State.ACTIVE) == (held == "active"))
            and all(
                word in text or (len(word) >= _ID_BEGINS and matches(word, memory.id))
                for word in wanted
            )
        ]

    def known(self, identifier: str) -> Memory | None:
        """Return a memory as it was when all were read; None where there was none."""
        return next((each for _, each in self._memories if each.id == identifier), None)

    def glance(self, identifier: str) -> Reading | None:
        """Return a memory with its history, which is no recall; None where it is no memory."""
        steps = self._ask(table.HISTORY, HistoryRequest(reference=identifier)).steps
        record = steps[0].record if steps else None
        return Reading(memory=record, steps=steps) if isinstance(record, Memory) else None

    def read(self, identifier: str) -> Reading | None:
        """Return a memory that somebody opened, with what speaks against it: that is a recall."""
        shown = self._ask(table.SHOW, ShowRequest(reference=identifier))
        found = self.glance(identifier)
        return found and msgspec.structs.replace(found, stale=shown.stale, disputed=shown.disputed)

    def needs(self) -> Sequence[InboxItem]:
        """Return what waits for somebody."""
        return self._ask(table.INBOX, InboxRequest()).items

    def settle(self, choice: InboxChoice) -> str:
        """Run the command of a choice, and return what was done."""
        self._settle(choice.command)
        return f"{choice.does}: done; u undoes that"

    def edit(self, memory: Memory) -> str:
        """Let a person change what a memory says, and return what was done."""
        draft = self._write(memory.content)
        if draft.text == memory.content:
            draft.drop()
            return "nothing was changed"
        self._ask(table.EDIT, EditRequest(reference=memory.id, content=draft.text))
        draft.drop()
        return f"edited {short(memory.id)}"

    def pin(self, memory: Memory) -> str:
        """Pin a memory, or unpin it, and return what was done."""
        self._ask(table.PIN, PinRequest(reference=memory.id, pinned=not memory.pinned))
        return f"{'unpinned' if memory.pinned else 'pinned'} {short(memory.id)}"

    def remove(self, memory: Memory) -> str:
        """Remove a memory, or bring back one that was, and return what was done."""
        if memory.state in (State.SOFT_DELETED, State.ARCHIVED):
            self._ask(table.RESTORE, RestoreRequest(references=(memory.id,)))
            return f"restored {short(memory.id)}"
        self._ask(table.REMOVE, RecordsRequest(references=(memory.id,)))
        return f"removed {short(memory.id)}; u undoes that"

    def undo(self) -> str:
        """Take back the last command of this clone, and return what was done."""
        done = self._ask(table.UNDO, UndoRequest())
        return f"undid: {', '.join(each.operation for each in done.items) or 'nothing'}"

    def _ask(self, operation: Operation[Q, A], request: Q) -> A:
        return run(self._opened(), operation, request).result


def choices_of(item: InboxItem) -> list[InboxChoice]:
    """Return the ways to settle something that need no editor, and no key of their own."""
    return [
        one
        for one in item.commands
        if not one.command.startswith("pmem show ")
        and not one.command.endswith(" --edit")
        and one.command.split()[1:2] + one.command.split()[3:] != ["edit"]
    ]


def _haystack(memory: Memory) -> str:
    """Return all of a memory that a filter's words may be in."""
    texts = [memory.content, memory.subject or "", memory.type, memory.category]
    texts += (f"#{tag}" for tag in memory.tags)
    texts += (event.actor for event in memory.history)
    return "\n".join(texts).casefold()
