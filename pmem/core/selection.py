"""Which records a reader wants, and in which order: a value that any store can answer.

A store without an index asks every record; an index compares columns. Both compare the same
values, those that the functions of `COLUMNS` return. Times are microseconds since 1970.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from pmem.core.filters import EVERYTHING, Filter, created, fold, importance_of, judge_of, updated
from pmem.core.lifecycle.presence import last_use
from pmem.core.policy import EVERYTHING as ANYWHERE
from pmem.core.policy import Reach, app_of, category_of, is_procedural
from pmem.core.record_keys import twin_keys
from pmem.core.retention import valid_at
from pmem.core.trust import LEVELS, assistant_of, noting, trust_of
from pmem.values.ids import SHORT_LENGTH
from pmem.values.records import Access, Episode, EventKind, Memory, MemoryType, Record, State, plain
from pmem.values.times import UNDATED

R = TypeVar("R", bound=Record)
TYPE_WORTH: Final = {
    MemoryType.CONSTRAINT: 1.0,
    MemoryType.DEAD_END: 0.8,
    MemoryType.PROCEDURE: 0.6,
    MemoryType.PREFERENCE: 0.4,
    MemoryType.DECISION: 0.3,
    MemoryType.INSIGHT: 0.2,
    MemoryType.GOAL: 0.1,
    MemoryType.FACT: 0.1,
    MemoryType.ENTITY: 0.0,
}
"""What a memory's type is worth: what binds comes before what informs."""
_GIT: Final = "git"
"""The source of an event that a merge left."""
_TICK: Final = timedelta(microseconds=1)
_DAY: Final = timedelta(days=1) // _TICK
_SQL_DAY: Final = f"created / {_DAY} - (created < 0 and created % {_DAY} != 0)"
_NEVER: Final = Access()
_MOST: Final = 2**62
"""Larger numbers count as this one: a file can hold any."""


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What records must be to be selected.

    Attributes:
        wanted: the filters that they pass.
        reach: what may be seen.
        holding_at: of active memories, only those that hold at that moment.
        outside: not in these categories.
        procedures: whether what tells how something is done may be among them.
        noted_for: without what agents noted and nobody confirmed, but that of this one (see
            `trust.assistant_of`); None for all.
        ids: only these, unless it is empty.
        subjects: only on these, as `fold` returns them, unless it is empty.
        on_subject: only what is on a subject.
        keys: only those with one of these, of their `twin_keys`, unless it is empty.
        least: columns with the least value that will do.
        below: columns with the value that all must be below.
    """

    wanted: Filter = EVERYTHING
    reach: Reach = ANYWHERE
    holding_at: datetime | None = None
    outside: tuple[str, ...] = ()
    procedures: bool = True
    noted_for: str | None = None
    ids: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    on_subject: bool = False
    keys: tuple[str, ...] = ()
    least: tuple[tuple[str, Any], ...] = ()
    below: tuple[tuple[str, Any], ...] = ()

    def judge(self) -> Callable[[Record], bool]:
        """Return what tells whether a record is selected, for many records."""
        fails = judge_of(self.wanted)
        return lambda record: fails(record) is None and self._admits(record)

    def _admits(self, record: Record) -> bool:
        def value(name: str) -> Any:
            return COLUMNS[name].value(record)

        return (
            self.reach.admits(record)
            and self._holds(record)
            and getattr(record, "category", None) not in self.outside
            and (self.procedures or not is_procedural(record))
            and (self.noted_for is None or value("noting") in ("", self.noted_for))
            and (not self.ids or record.id in self.ids)
            and (not self.subjects or value("subject") in self.subjects)
            and (not self.on_subject or value("subject") != "")
            and (not self.keys or not set(self.keys).isdisjoint(twin_keys(record)))
            and all((own := value(name)) is not None and own >= at for name, at in self.least)
            and all((own := value(name)) is not None and own < at for name, at in self.below)
        )

    def _holds(self, record: Record) -> bool:
        if self.holding_at is None or not isinstance(record, Memory):
            return True
        return record.state is not State.ACTIVE or valid_at(record, self.holding_at)


ALL: Final = Selection()
"""The selection of all records."""
NOTED: Final = Selection(wanted=Filter(), least=(("noting", " "),))
"""What agents noted and nobody has confirmed."""


class Portion(msgspec.Struct, frozen=True):
    """So many of the records of a selection, in an order."""

    selection: Selection
    order: "Order" = ()
    limit: int | None = None


Order = Sequence[str]
"""Columns to sort by, those with a minus before their name from the highest down; then by id."""


def selected_among(
    records: Iterable[R], selection: Selection, order: Order = (), limit: int | None = None
) -> list[R]:
    """Select records without an index.

    They come by ascending id.
    """
    found = filter(selection.judge(), records)
    return in_order(found, order)[:limit]


def in_order(records: Iterable[R], order: Order) -> list[R]:
    """Sort records; equals stay in the order in which they come."""
    found = list(records)
    for name in reversed(order):
        column = COLUMNS[name.removeprefix("-")].value
        found.sort(
            key=lambda record: ((value := column(record)) is not None, value),  # nothing is first
            reverse=name.startswith("-"),
        )
    return found


def day_of(number: int) -> datetime:
    """Return the day that a value of the column `day` stands for."""
    return UNDATED + timedelta(days=number)


def ticks(at: datetime) -> int:
    """Return a moment as the columns keep it."""
    return (at - UNDATED) // _TICK


class Column(msgspec.Struct, frozen=True):
    """A value of records that can be compared.

    Attributes:
        type: its type in SQL.
        value: what returns it.
        path: the fields that lead to it, where a type of records has the first of them.
        sql: what makes it of other columns; only what has none is stored.
    """

    type: str
    value: Callable[[Any], Any]
    path: str = ""
    sql: str = ""


def _time(field: str) -> Column:
    def value(record: Any) -> int | None:
        at = getattr(record, field, None)
        return at if at is None else ticks(at)

    return Column("integer", value)


def _has(field: str) -> Column:
    """Hold 1 where a record has something in a field."""
    return Column("integer", lambda record: 1 if getattr(record, field, None) else None)


def _field(type_: str, field: str, missing: Any = None) -> Column:
    return Column(type_, lambda record: getattr(record, field, missing), field)


def _scope(field: str) -> Column:
    def value(record: Any) -> str | None:
        return getattr(getattr(record, "scope", None), field, None)

    return Column("text", value, f"scope.{field}")


def _trust(record: Any) -> int | None:
    trust = trust_of(record)
    return None if trust is None else LEVELS.index(trust)


def _noting(record: Any) -> str:
    """Return the agent that noted a record, and for whom; empty where a person has agreed."""
    event = noting(record)
    return "" if event is None else assistant_of(event.agent, event.actor)


def _happened(record: Any) -> int:
    """Return when something last happened to a record: at the latest of its events' times."""
    times = [event.at for event in getattr(record, "history", ())]
    return ticks(max(times) if times else created(record))


def _disputed(record: Any) -> int | None:
    """Return in how many fields two branches contradict each other; None where in none."""
    history = getattr(record, "history", ())
    if not any(event.event is EventKind.MERGE and event.source == _GIT for event in history):
        return None  # as nearly always
    from pmem.core.threeway.history import open_conflicts

    return len(open_conflicts(plain(history))) or None


def _access(record: Any) -> Access:
    return getattr(record, "access", _NEVER)


def _last_access(record: Any) -> int | None:
    at = _access(record).last_at
    return None if at is None else ticks(at)


def _used(record: Any) -> int:
    return ticks(last_use(record) if isinstance(record, Memory | Episode) else created(record))


COLUMNS: Final[dict[str, Column]] = {
    "id": _field("text", "id"),
    "state": _field("text", "state", missing=State.ACTIVE),
    "type": _field("text", "type"),
    "category": _field("text", "category"),
    "kind": Column("text", category_of),
    "procedural": Column("integer", is_procedural),
    "app": Column("text", app_of),
    "user": _scope("user"),
    "agent": _scope("agent"),
    "run": _scope("run"),
    "actor": _scope("actor"),
    "role": _scope("role"),
    "subject": Column("text", lambda record: fold(getattr(record, "subject", None) or "")),
    "importance": Column("real", importance_of, "importance"),
    "pinned": _field("integer", "pinned", missing=False),
    "trust": Column("integer", _trust),
    "noting": Column("text", _noting),
    "created": Column("integer", lambda record: ticks(created(record))),
    "updated": Column("integer", lambda record: ticks(updated(record))),
    "valid_from": _time("valid_from"),
    "valid_until": _time("valid_until"),
    "purge_at": _time("purge_at"),
    "review_at": _time("review_at"),
    "review_if": _has("review_if"),
    "cites": _has("citations"),
    "disputed": Column("integer", _disputed),
    "tokens": Column("integer", lambda record: min(getattr(record, "tokens", 0), _MOST)),
    "worth": Column(
        "real", lambda record: TYPE_WORTH[record.type] if isinstance(record, Memory) else 0.0
    ),
    "moment": Column("text", lambda record: record.id.partition("-")[0].rjust(SHORT_LENGTH)),
    "happened": Column("integer", _happened),
    "events": Column("integer", lambda record: len(getattr(record, "history", ())) or 1),
    "accesses": Column("integer", lambda record: min(_access(record).count, _MOST)),
    "last_access": Column("integer", _last_access),
    "touched": Column(
        "integer",
        lambda record: ticks(_access(record).last_at or created(record)),
        sql="coalesce(last_access, created)",
    ),
    "used": Column("integer", _used),
    "day": Column("integer", lambda record: ticks(created(record)) // _DAY, sql=_SQL_DAY),
}
"""The values of records that can be compared, by name."""


STORED: Final = {name: column for name, column in COLUMNS.items() if not column.sql}
"""The columns that an index keeps."""


def column_values(record: Record) -> list[Any]:
    """Return the values of the columns that an index keeps, in their order."""
    fields, others, places = _getters(type(record))
    found = (*fields(record), *[value(record) for value in others])
    return [found[place] for place in places]


class _Getters(NamedTuple):
    """What returns the columns that are fields of a type, what returns each other one, and where
    each column is among all of them.
    """

    fields: Callable[[Any], tuple[Any, ...]]
    others: list[Callable[[Any], Any]]
    places: list[int]


@cache
def _getters(type_: type[Record]) -> _Getters:
    """Return what returns the stored columns of a type's records, the quickest way."""
    own = set(type_.__struct_fields__)
    fields = [name for name, one in STORED.items() if one.path.partition(".")[0] in own]
    others = [name for name in STORED if name not in fields]
    paths = [STORED[name].path for name in fields]
    places = list(map(["schema", *fields, *others].index, STORED))
    getter = attrgetter("schema", *paths)  # of one name it would return no tuple
    return _Getters(getter, [STORED[name].value for name in others], places)
