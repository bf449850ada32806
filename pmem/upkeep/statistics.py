"""Figures about the memory: what is in it, how it grew, what is used, what ends next."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from pmem.apps.reading import AppFigures, figures_of
from pmem.core.chunking import each_once
from pmem.core.filters import Filter
from pmem.core.journal import one_line
from pmem.core.operations import OperationCount, counts
from pmem.core.selection import ALL, Selection, day_of, ticks
from pmem.memory import recalls
from pmem.memory.journal import ran
from pmem.memory.recalls import counted_uses
from pmem.project.workspace import Workspace
from pmem.storage.store import Store
from pmem.upkeep.consolidation import counted, faded_memories
from pmem.upkeep.inbox import Need, list_needs
from pmem.upkeep.integrity import count_rivals
from pmem.values.fields import AtRequest
from pmem.values.records import Access, Chunk, Conversation, Episode, State
from pmem.values.times import UNDATED, shifted

if TYPE_CHECKING:
    from pmem.storage.local.sessions import UseCount

LISTED: Final = 5  # entries in each list
LEAST_SHOWN: Final = 3  # what was shown in fewer sessions had no chance to be of use
_LOOKED_AT: Final = 100
_TEXT: Final = 120
_ACTIVE: Final = Selection(wanted=Filter())
_LABELS: Final = ("type", "category", "pinned", "importance")
AGES: Final = (
    ("today", 1),
    ("this_week", 7),
    ("this_month", 30),
    ("this_quarter", 91),
    ("this_year", 365),
)
"""The buckets of ages: their names, and the days that everything in them is younger than."""
OLDER: Final = "older"
MOST_PERIODS: Final = 60  # periods that a growth has at the most, unless even years are more
_LONGEST: Final = {"day": 1, "week": 7, "month": 31, "year": 366}
"""How many days a period of each length has at the most."""


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a store's life: what was added in it, and how many there were at its end."""

    start: datetime
    added: int
    total: int


class Growth(NamedTuple):
    """A store's growth; `per` is how long a period is: a day, week, month or year."""

    per: str
    periods: tuple[Period, ...]


def by_age(
    made_between: Callable[[datetime, datetime | None], int], made: int, now: datetime
) -> dict[str, int]:
    """Count how many things are how old: each in one of `AGES`, or `OLDER`.

    `made_between` returns how many were made after a moment, and not after another one if it is
    given, `made` is how many there are. What is yet to come counts as of today.
    """
    counts = {}
    until = None
    for name, days in AGES:
        after = shifted(now, -timedelta(days=days))
        counts[name], until = made_between(after, until), after
    return {**counts, OLDER: made - sum(counts.values())}


def _made_between(after: datetime, until: datetime | None) -> Selection:
    """Select the active memories that were made after a moment, and not after another one."""
    below = () if until is None else (("created", ticks(until) + 1),)
    return replace(_ACTIVE, least=(("created", ticks(after) + 1),), below=below)


def growth(days: Mapping[datetime, int], now: datetime) -> Growth:
    """Return how many things were made in each period from the first to the present.

    `days` says how many were made on a day, all in UTC; what came without a time counts in the
    first period. Periods have the shortest length of which there are no more than 60.
    """
    dated = [day for day in days if day != UNDATED] or [*days]
    if not dated:
        return Growth(per="day", periods=())
    first, last = min(dated), max(now, *dated)
    for per in _LONGEST:
        most = None if per == "year" else MOST_PERIODS + 1
        starts = list(islice(_starts(first, last, per), most))
        if len(starts) <= MOST_PERIODS:
            break
    added: Counter[datetime] = Counter()
    for day, many in days.items():
        added[_start(first if day == UNDATED else day, per)] += many
    totals = accumulate(added[start] for start in starts)
    told = zip(starts, totals, strict=True)
    return Growth(
        per=per,
        periods=tuple(Period(start=at, added=added[at], total=total) for at, total in told),
    )


def _starts(first: datetime, last: datetime, per: str) -> Iterator[datetime]:
    start = _start(first, per)
    with suppress(OverflowError):  # the calendar ends
        while start <= last:
            yield start
            start = _start(start + timedelta(days=_LONGEST[per]), per)


def _start(at: datetime, per: str) -> datetime:
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if per == "year":
        return day.replace(month=1, day=1)
    if per == "month":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if per == "week" else day  # the first is a Monday


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """A memory and how often it was recalled."""

    id: str
    count: int
    last_at: datetime | None
    text: str


class Helped(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, in how many sessions it was shown, and in how many of these it was used."""

    id: str
    shown: int
    used: int
    last_at: datetime
    text: str


class Tallies(msgspec.Struct, frozen=True, kw_only=True):
    """What can be counted of the memories without looking at the clock.

    `active` has the active ones by type, category, and whether they are pinned, `days` how many
    were made on each, `importance` the types and importances of those that are not pinned, and
    `rivals` how many several others took the place of, or gave way in a circle. `tokens` are of
    active ones.
    """

    states: dict[str, int]
    active: list[tuple[str, str, bool, int]]
    days: list[tuple[int, int]]
    tokens: int
    importance: list[tuple[str, float]]
    rivals: int


What = Literal["expires", "purge"]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a record and when: it expires, or what was removed may be purged."""

    id: str
    what: What
    when: datetime
    text: str


class MemoryFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures about a project's memory.

    Those by type, category and age, the tokens and the uses are of active memories; `by_state`
    and the growth are of all. `budget_share` is the tokens' share of a context's budget.
    `overdue` counts records that have expired or may be purged. `operations` counts what ran in
    this clone on each of the last days, and `needs` is what needs attention, with the command
    for each.
    """

    memories: int
    by_type: dict[str, int]
    by_category: dict[str, int]
    by_state: dict[str, int]
    pinned: int
    due: int
    tokens: int
    episodes: int
    episodes_limit: int
    conversations: int
    by_status: dict[str, int]
    messages: int
    chunks: int
    message_tokens: int
    oldest: datetime | None
    newest: datetime | None
    damaged: int
    by_age: dict[str, int]
    growth_per: str
    growth: tuple[Period, ...]
    expiring: tuple[Ending, ...]
    overdue: int
    to_review: int
    most_used: tuple[Used, ...]
    least_used: tuple[Used, ...]
    helped_most: tuple[Helped, ...]
    never_helped: tuple[Helped, ...]
    budget: int
    budget_share: float
    apps: AppFigures
    operations: tuple[OperationCount, ...]
    needs: tuple[Need, ...]


def statistics(workspace: Workspace, request: AtRequest) -> MemoryFigures:  # noqa: ARG001
    """Count what the memory holds, and what needs attention. Nothing is changed."""
    figures, known = count_figures(workspace), tallies(workspace)
    needs = list_needs(workspace, due=figures.due, rivals=known.rivals)
    return msgspec.structs.replace(figures, needs=needs)


def count_figures(workspace: Workspace) -> MemoryFigures:
    """Count what the memory holds, without what needs attention."""
    episodes = list(workspace.episodes.find())
    conversations = list(workspace.conversations.find())
    chunks = list(workspace.chunks.find())
    recalled = {} if workspace.is_past else recalls.waiting(workspace)
    of_apps = workspace.memories.select(Selection(least=(("app", ""),)))
    return MemoryFigures(
        **_of_memories(workspace, tallies(workspace), recalled),
        **_of_use(workspace, recalled),
        **_of_help(workspace),
        **_of_endings(workspace),
        **_of_talk(conversations, chunks),
        episodes=sum(episode.state is State.ACTIVE for episode in episodes),
        episodes_limit=workspace.settings.max_episodic_memories,
        apps=figures_of(workspace, of_apps, conversations),
        damaged=len(workspace.problems),
        operations=counts(
            ran(workspace) if workspace.own.is_ours and not workspace.is_past else (),
            workspace.now(),
        ),
        needs=(),
    )


def _of_memories(
    workspace: Workspace, known: Tallies, recalled: Mapping[str, Access]
) -> dict[str, Any]:
    memories, now = workspace.memories, workspace.now()
    budget = workspace.settings.default_budget
    many = sum(many for *_, many in known.active)
    grown = growth({day_of(day): made for day, made in known.days}, now)
    ends = [memories.select(ALL, order, 1) for order in (("created",), ("-created",))]
    oldest, newest = [found[0].created_at if found else None for found in ends]
    return {
        "memories": sum(known.states.values()),
        "by_type": _summed((type_, many) for type_, _, _, many in known.active),
        "by_category": _summed((category, many) for _, category, _, many in known.active),
        "by_state": _summed(known.states.items()),
        "by_age": by_age(lambda at, until: memories.count(_made_between(at, until)), many, now),
        "pinned": sum(many for _, _, is_pinned, many in known.active if is_pinned),
        "due": len(faded_memories(workspace, known.importance, recalled, many)),
        "tokens": known.tokens,
        "budget": budget,
        "budget_share": round(known.tokens / budget, 4) if budget else 0.0,
        "oldest": oldest,
        "newest": newest,
        "growth_per": grown.per,
        "growth": grown.periods,
    }


def tallies(workspace: Workspace) -> Tallies:
    """Return what can be counted of the memories without looking at the clock."""
    return workspace.memories.figure("counted", Tallies, partial(_count_all, workspace))


def _count_all(workspace: Workspace) -> Tallies:
    memories = workspace.memories
    states, days = Counter[str](), Counter[int]()
    for (state, day), many in memories.tally(ALL, ("state", "day")).items():
        states[str(state)] += many
        days[day] += many
    active = Counter[tuple[str, str, bool]]()
    importance = dict[tuple[str, float], None]()
    for (type_, category, is_pinned, weight), many in memories.tally(_ACTIVE, _LABELS).items():
        active[str(type_), category, bool(is_pinned)] += many
        if not is_pinned:
            importance[str(type_), weight] = None
    lengths = memories.tally(_ACTIVE, ("tokens",))
    return Tallies(
        states=states,
        active=[(*labels, many) for labels, many in active.items()],
        days=list(days.items()),
        tokens=sum(tokens * many for (tokens,), many in lengths.items()),
        importance=list(importance),
        rivals=count_rivals(workspace),
    )


def _of_use(workspace: Workspace, recalled: Mapping[str, Access]) -> dict[str, Any]:
    memories, order = workspace.memories, ("accesses", "touched", "id")
    upwards = memories.select(_ACTIVE, order, 2 * LISTED + len(recalled))
    downwards = memories.select(_ACTIVE, tuple(f"-{name}" for name in order), LISTED)
    noted = memories.select(replace(_ACTIVE, ids=tuple(recalled))) if recalled else []
    found = {memory.id: memory for memory in (*upwards, *downwards, *noted)}
    uses = [(memory.access, memory) for memory in counted(found.values(), recalled)]
    uses.sort(key=lambda use: (use[0].count, use[0].last_at or use[1].created_at, use[1].id))
    most = [use for use in uses[-LISTED:] if use[0].count][::-1]
    least = uses[: max(0, min(LISTED, len(uses) - len(most)))]
    return {
        name: tuple(
            Used(id=it.id, count=use.count, last_at=use.last_at, text=one_line(it.content, _TEXT))
            for use, it in uses
        )
        for name, uses in (("most_used", most), ("least_used", least))
    }


def _of_help(workspace: Workspace) -> dict[str, Any]:
    uses = counted_uses(workspace)
    order = sorted(uses, key=lambda id_: (-uses[id_].used, -uses[id_].shown, id_))
    helped = [id_ for id_ in order if uses[id_].used]
    never = [id_ for id_ in order[len(helped) :] if uses[id_].shown >= LEAST_SHOWN]
    return {
        "helped_most": tuple(_helped(workspace, uses, helped[:_LOOKED_AT])),
        "never_helped": tuple(_helped(workspace, uses, never[:_LOOKED_AT])),
    }


def _helped(
    workspace: Workspace, uses: "Mapping[str, UseCount]", order: Sequence[str]
) -> Iterator[Helped]:
    """Yield the first memories of an order that are active still."""
    active = workspace.memories.select(replace(_ACTIVE, ids=tuple(order))) if order else ()
    found = {memory.id: memory for memory in active}
    for id_ in [id_ for id_ in order if id_ in found][:LISTED]:
        text = one_line(found[id_].content, _TEXT)
        yield Helped(id=id_, **msgspec.structs.asdict(uses[id_]), text=text)


def _of_endings(workspace: Workspace) -> dict[str, Any]:
    """List what expires or may be purged next, and count what is past that."""
    now = ticks(workspace.now())
    coming: list[Ending] = []
    overdue = 0
    kinds: tuple[tuple[Store[Any], What, State, str], ...] = (
        (workspace.memories, "purge", State.SOFT_DELETED, "purge_at"),
        (workspace.episodes, "purge", State.SOFT_DELETED, "purge_at"),
        (workspace.memories, "expires", State.ACTIVE, "valid_until"),
    )
    for store, what, state, column in kinds:
        ending = Selection(wanted=Filter(states=(state,)))
        later = replace(ending, least=((column, now + 1),))
        overdue += store.count(replace(ending, below=((column, now + 1),)))
        for record in store.select(later, (column,), LISTED):
            said = record.title if isinstance(record, Episode) else record.content
            text, when = one_line(said, _TEXT), getattr(record, column)
            coming.append(Ending(id=record.id, what=what, when=when, text=text))
    coming.sort(key=lambda ending: (ending.when, ending.id))
    to_review = Selection(wanted=Filter(), below=(("review_at", now + 1),))
    return {
        "expiring": tuple(coming[:LISTED]),
        "overdue": overdue,
        "to_review": workspace.memories.count(to_review),
    }


def _of_talk(conversations: list[Conversation], chunks: list[Chunk]) -> dict[str, Any]:
    parts = chain((each.recent_messages for each in conversations), (it.messages for it in chunks))
    said = list(each_once(chain.from_iterable(parts)))
    return {
        "conversations": len(conversations),
        "by_status": _summed((str(each.status), 1) for each in conversations),
        "messages": len(said),
        "chunks": len(chunks),
        "message_tokens": sum(message.tokens for message in said),
    }


def _summed(counted: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, many in counted:
        found[name] += many
    return dict(sorted(found.items()))
