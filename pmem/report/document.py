"""What a report says, as one value: everything that the page draws, and nothing else.

The static file holds it as JSON, and a server hands out the same. What a field would say that has
its usual value is left out: ten thousand memories are to stay a page.
"""

from datetime import datetime
from typing import Any

import msgspec

from pmem.core.changelog import Changed, Forgotten, Learned
from pmem.upkeep.statistics import Period


class _Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the parts: what has its usual value is not written."""


class ToldLink(_Told, frozen=True, kw_only=True):
    """A link to another memory: its id, and the link's type."""

    to: str
    type: str


class ToldCitation(_Told, frozen=True, kw_only=True):
    """A place that a memory cites, and what became of it where that is no good news."""

    place: str
    state: str = ""


class ToldEvent(_Told, frozen=True, kw_only=True):
    """One event of a memory's history.

    `changes` has the value before and after of every field that it changed.
    """

    at: datetime
    event: str
    by: str = ""
    agent: str = ""
    source: str = ""
    changes: dict[str, tuple[Any, Any]] = {}
    detail: dict[str, Any] = {}


class ToldMemory(_Told, frozen=True, kw_only=True):
    """A memory as the page shows it; a very long text is cut.

    `held_from` and `held_until` say when what it says held; None where it still does. `shown` and
    `used` count sessions of this clone, `fading` is whether the next `consolidate` would archive
    it, `by` who wrote it first, `disputed` what the other side of a merge says of its fields, and
    `more` has further fields by their names. The oldest event of its history comes first.
    """

    id: str
    type: str
    text: str
    category: str
    created: datetime
    held_from: datetime
    held_until: datetime | None = None
    subject: str = ""
    tags: tuple[str, ...] = ()
    state: str = "active"
    trust: str = "high"
    importance: float = 0.5
    pinned: bool = False
    recalls: int = 0
    recalled_at: datetime | None = None
    shown: int = 0
    used: int = 0
    fading: bool = False
    by: str = ""
    cites: tuple[ToldCitation, ...] = ()
    links: tuple[ToldLink, ...] = ()
    disputed: dict[str, Any] = {}
    more: dict[str, Any] = {}
    history: tuple[ToldEvent, ...] = ()


class ToldChoice(_Told, frozen=True, kw_only=True):
    """One way to settle something: what it does, and the command for it."""

    does: str
    command: str


class ToldNeed(_Told, frozen=True, kw_only=True):
    """Something that needs attention, or `count` items of a kind; `memory` is the id of its memory.

    `text` is what it is about, on one line, `why` what is the matter, `choices` what settles it.
    """

    kind: str
    text: str
    why: str = ""
    choices: tuple[ToldChoice, ...] = ()
    memory: str = ""
    count: int = 1


class ReceiptItem(_Told, frozen=True, kw_only=True):
    """Something that a context shows: which record, in which section, and why.

    `text` is what it says, where that is no memory of the document.
    """

    id: str
    section: str
    why: str = ""
    score: float | None = None
    text: str = ""


class LeftOut(_Told, frozen=True, kw_only=True):
    """A candidate that a context leaves out, why, and how well it answers."""

    id: str
    reason: str
    score: float | None = None


class Receipt(_Told, frozen=True, kw_only=True):
    """What a context for a task holds within a budget in tokens; no task is a session's start.

    `spent` has the tokens of each section, `left_out` the best answers that are not in it, and
    `reasons` how many are not in it, by reason.
    """

    task: str
    budget: int
    tokens: int
    text: str
    spent: dict[str, int]
    items: tuple[ReceiptItem, ...]
    left_out: tuple[LeftOut, ...] = ()
    reasons: dict[str, int] = {}


class Receipts(_Told, frozen=True, kw_only=True):
    """What contexts for one task hold, a receipt for each budget."""

    items: tuple[Receipt, ...]


class ToldWeek(_Told, frozen=True, kw_only=True):
    """What was learned, changed and forgotten since a moment, and by whom; see `memory.journal`."""

    since: datetime
    learned: tuple[Learned, ...] = ()
    changed: tuple[Changed, ...] = ()
    forgotten: tuple[Forgotten, ...] = ()
    by: dict[str, tuple[str, ...]] = {}
    people: dict[str, int] = {}


class ReportDocument(_Told, frozen=True, kw_only=True):
    """All that a report says; the oldest memory comes first.

    `counts` has further figures by name, and `pages` the path of each subject's page in a site.
    """

    project: str
    now: datetime
    memories: tuple[ToldMemory, ...]
    week: ToldWeek
    needs: tuple[ToldNeed, ...]
    receipts: tuple[Receipt, ...]
    growth: tuple[Period, ...] = ()
    growth_per: str = "day"
    counts: dict[str, int] = {}
    pages: dict[str, str] = {}
