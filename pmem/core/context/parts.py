"""What a context is made of: items, sections, and the finished block."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from pmem.core.lifecycle.neighbours import SaidOtherwise

Format = Literal["markdown", "json", "messages"]
Counter = Callable[[str], int]

YOURS: Final = "Yours (not part of this project)"
UPDATE_MARK: Final = "@"
"""Stands in an update's id between a memory's id and the revision since which it is new."""
TITLES: Final = {
    "system": "## System prompt",
    "memory": "## Memory",
    "yours": f"## {YOURS}",
    "updates": "## Updates",
    "recalled": "## Recalled",
    "further": "## Further memory",
    "summaries": "## Earlier in this conversation",
    "earlier": "## Said earlier",
    "recent": "## Recent messages",
}
"""The sections of a context in the order in which they stand, with their headings."""


class ToolCall(msgspec.Struct, frozen=True):
    """A tool's call as chat APIs take it; `arguments` are the text of a JSON object."""

    id: str
    name: str
    arguments: str


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a context: what it says and which record it comes from.

    Attributes:
        label: what stands before the text, on its line: a short id, a speaker.
        heading: groups a section's items below a line of its own; recent messages have none.
        order: sorts the items of a section where its place does not.
        score: how well it answers the query; None where nothing was asked.
        via: the id of the item that brought it along, without which it is not shown.
        stale: what it cites and does not find there any more, as its label says too.
        difference: how it stands beside another memory that says something else of the same.
        why: what speaks most for showing it.
        calls: the tools that it calls, where another item, or the same, has the results.
        answers: the ids of the calls whose result it is.
        mine: whether it is of the owner's own memory, and not of the project's.
    """

    id: str
    text: str
    external_id: str | None = None
    label: str = ""
    heading: str = ""
    order: tuple[str, int] = ("", 0)
    role: str = "user"
    speaker: str | None = None
    score: float | None = None
    tokens: int = 0
    via: str | None = None
    stale: tuple[str, ...] = ()
    difference: SaidOtherwise | None = None
    why: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: tuple[str, ...] = ()
    mine: bool = False


Exchange = Sequence[Sequence[Item]]
"""Recent messages that belong together: bonds (a call and its result, say) of items."""


class ShownItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item as it was shown; `label` stood before its text, and `mine` is not the project's.

    `reason` says in words what `why` names, where a request wants that explained.
    """

    id: str
    external_id: str | None
    text: str
    label: str
    heading: str
    role: str
    score: float | None
    stale: tuple[str, ...]
    difference: SaidOtherwise | None = None
    why: str
    reason: str = ""
    mine: bool = False


_SHOWN: Final = [name for name in ShownItem.__struct_fields__ if name != "reason"]


def shown(item: Item) -> ShownItem:
    """Describe an item as answers do."""
    return ShownItem(**{name: getattr(item, name) for name in _SHOWN})


class Section(msgspec.Struct, frozen=True):
    """A part of the context and what it cost."""

    name: str
    tokens: int
    items: tuple[ShownItem, ...]


class Omitted(msgspec.Struct, frozen=True):
    """A candidate that did not make it, why, and how well it answered the query.

    `text` is how it begins, where a request wants that explained. What is of the owner's own
    memory, and not of the project's, is `mine`.
    """

    id: str
    reason: str
    score: float | None = None
    text: str = ""
    mine: bool | msgspec.UnsetType = msgspec.UNSET


class Allocation(msgspec.Struct, frozen=True):
    """How a budget was spent, by section."""

    total_tokens: int
    by_section: dict[str, int]


class Context(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished context; `revision` is the thread's, where one was given.

    `tokens` are counted by `tokenizer`: `estimate` is with a reserve, so at the most as many.

    `notes` say what of a very long query was not searched for, and what did not fit though it has
    a right to be shown.
    """

    text: str
    tokens: int
    budget: int
    sections: tuple[Section, ...]
    omitted: tuple[Omitted, ...]
    revision: int | None
    tokenizer: str = "estimate"
    notes: tuple[str, ...] = ()

    @property
    def allocation(self) -> Allocation:
        """What each section cost, and all of them together."""
        return Allocation(self.tokens, {part.name: part.tokens for part in self.sections})


NEAREST: Final = 5
"""What is left out is named so often, where people read it."""


def nearest_left_out(built: Context) -> list[Omitted]:
    """Return what is left out and came nearest: what answers best, then in its order."""
    return sorted(built.omitted, key=lambda left: -(left.score or 0.0))[:NEAREST]


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that could enter a context, each list in the order of its priority.

    Attributes:
        memory: the stable block's; its share of the budget is half of recall's when None.
        yours: of the owner's own memory, what stands whatever the task, beside what answers it.
        updates: lines on what changed since the thread's last context.
        recalled: what answers the query, made while it is asked for; each with its section.
        said: messages that answer it, in the same way. One that is also among `exchanges` stands
            there, with its exchange, or not at all.
        pinned: messages that somebody pinned; they come before the older exchanges.
        recallable: the ids and scores of all that `recalled`, `said` and `pinned` could yield.
        summaries: of the conversation's latest chunks, the latest first; they have a share.
        older: of the chunks before those, the latest first; they take what is left.
        further: memories that fill the rest of the budget.
        recent: every message that is not in a chunk, in the order in which it was said.
        exchanges: those among `recent` that may be shown, in groups, the latest group first.
        left_out: what was ruled out before the budget was looked at.
        unnamed: how many others were, by reason; none of them is any of the candidates.
        answered: whether anything answers; the receipt says it where nothing does.
        asked: whether somebody asked; otherwise the conversation comes before what is recalled.
        mark: labels an item as stale if it is, when it is about to be taken.
    """

    system: Sequence[Item] = ()
    memory: Sequence[Item] = ()
    memory_share: float | None = None
    yours: Sequence[Item] = ()
    yours_answering: Sequence[Item] = ()
    yours_share: float = 0.0
    updates: Sequence[Item] = ()
    recalled: Iterable[tuple[str, Item]] = ()
    recalled_share: float = 1.0
    said: Iterable[tuple[str, Item]] = ()
    said_share: float = 1.0
    pinned: Sequence[tuple[str, Item]] = ()
    recallable: Sequence[tuple[str, float | None]] = ()
    summaries: Sequence[Item] = ()
    older: Sequence[Item] = ()
    further: Sequence[Item] = ()
    recent: Sequence[Item] = ()
    exchanges: Sequence[Exchange] = ()
    left_out: Sequence[Omitted] = ()
    unnamed: Mapping[str, int] = {}
    asked: bool = True
    answered: bool = True
    mark: Callable[[Item], Item] = lambda item: item
