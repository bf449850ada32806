"""Selections as SQL: which rows of the index they mean."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from pmem.core.filters import Filter, fold
from pmem.core.policy import Reach
from pmem.core.selection import COLUMNS, Order, Selection, ticks
from pmem.core.trust import level_of
from pmem.storage.index.schema import COUNTED
from pmem.values.records import STORES, Memory, State

_ANY_OF: Final = {"types": "type", "categories": "+category", "states": "+state"}
"""With a plus before a column SQLite looks for another one to find the rows by."""
_PLAIN: Final = re.compile(r"^(type|importance)\b")
"""Conditions by which records are not to be found where another one tells more."""
_EQUAL: Final = ("app", "user", "agent", "run", "actor", "role")
_TIMES: Final = {
    "created_after": ("created", ">="),
    "created_before": ("created", "<"),
    "updated_after": ("updated", ">="),
    "updated_before": ("updated", "<"),
}
_INEXACT: Final = ("tags", "speaker", "by")
"""Filters that no column answers."""
AMONG: Final = "in (select value from json_each(?))"
"""What compares a column with any number of values."""

COVERS: Final = (
    "number in (select number from cited where file = ? or (file > ? || '/' and file < ? || '0')"
    " union all select number from place where patterns in"
    " (select patterns from (select distinct patterns from place) where applies(patterns, ?)))"
)
"""A slash comes right before a zero: between them lies what is in a folder."""

KEYED: Final = f"number in (select number from twin where key {AMONG})"

_Part = tuple[str, list[Any]]
"""A condition and its values."""


class Condition(msgspec.Struct, frozen=True):
    """A condition, its values, and whether it says all that the selection does."""

    text: str
    values: list[Any]
    is_exact: bool


def where(store: str, selection: Selection) -> Condition:
    """Return the condition for the records of a store that can be selected."""
    found: list[_Part] = [("store = ?", [store]), *_of_filter(selection.wanted)]
    if selection.ids or selection.subjects or selection.keys or selection.least or selection.below:
        found = [(_PLAIN.sub(r"+\1", condition), values) for condition, values in found]
    elif selection.wanted.types and selection.wanted.categories:
        found = [(condition.replace("+cat", "cat"), values) for condition, values in found]
    elif selection.wanted.states and State.ACTIVE not in selection.wanted.states:
        found = [(condition.replace("+state", "state"), values) for condition, values in found]
        found.append(("state != 'active'", []))
    if selection.keys:
        found = [("+store = ?", [store]), *found[1:], (KEYED, [json_array(selection.keys)])]
    found += _of_reach(selection.reach)
    if selection.holding_at is not None:
        at = ticks(selection.holding_at)
        holds = "valid_from <= ? and (valid_until is null or ? < valid_until)"
        condition = f"(state != ? or valid_from is null or ({holds}))"
        found.append((condition, [str(State.ACTIVE), at, at]))
    if selection.outside:
        condition = f"(category is null or not category {AMONG})"
        found.append((condition, [json_array(selection.outside)]))
    if not selection.procedures:
        found.append(("not procedural", []))
    if selection.noted_for is not None:
        found.append(("noting in ('', ?)", [selection.noted_for]))
    if selection.on_subject:
        found.append(("subject != ''", []))
    for column, values in (("id", selection.ids), ("subject", selection.subjects)):
        if values:
            found.append((f"{column} {AMONG}", [json_array(values)]))
    found += [(f"{expression(name)} >= ?", [value]) for name, value in selection.least]
    found += [(f"{expression(name)} < ?", [value]) for name, value in selection.below]
    return Condition(
        " and ".join(condition for condition, _ in found),
        [value for _, values in found for value in values],
        is_exact=not any(getattr(selection.wanted, name) for name in _INEXACT),
    )


def table_of_counts(store: str, selection: Selection, columns: Iterable[str]) -> str | None:
    """Return the table that has counted what is selected, by columns; None where none has."""
    wanted, plain = selection.wanted, Filter(states=selection.wanted.states)
    labels = {"type": "types", "category": "categories", "pinned": "pinned"}
    used = {column for column, field in labels.items() if getattr(wanted, field) not in ((), None)}
    plain = replace(plain, **{labels[column]: getattr(wanted, labels[column]) for column in used})
    if store != STORES[Memory] or selection != Selection(wanted=plain):
        return None
    used |= {"state", *columns}
    return next((table for table, names in COUNTED.items() if used <= {*names}), None)


def ordered(order: Order) -> str:
    """Return the terms of an `order by`."""
    terms = [
        f"{expression(name[1:])} desc" if name.startswith("-") else expression(name)
        for name in order
    ]
    return ", ".join([*terms, "id"] if not {"id", "-id"} & set(order) else terms)


def expression(column: str) -> str:
    """Return a column, or what makes it of others."""
    return COLUMNS[column].sql or f'"{column}"'


def _of_filter(wanted: Filter) -> Iterator[_Part]:
    for field, column in _ANY_OF.items():
        values = getattr(wanted, field)
        if values:
            yield f"{column} {AMONG}", [json_array(map(str, values))]
    for column in _EQUAL:
        value = getattr(wanted, column)
        if value is not None:
            yield f'"{column}" = ?', [value]
    if wanted.pinned is not None:
        yield "pinned" if wanted.pinned else "not pinned", []
    if wanted.path is not None:
        yield COVERS, [*[wanted.path.rstrip("/")] * 3, wanted.path]
    if wanted.subject is not None:
        yield "subject = ?", [fold(wanted.subject)]
    if wanted.importance_min is not None:
        yield "importance >= ?", [wanted.importance_min]
    if wanted.importance_max is not None:
        yield "importance between 0 and ?", [wanted.importance_max]
    if wanted.trust is not None:
        yield "trust >= ?", [level_of(wanted.trust)]
    for field, (column, sign) in _TIMES.items():
        at = getattr(wanted, field)
        if at is not None:
            yield f"{column} {sign} ?", [ticks(at)]


def _of_reach(reach: Reach) -> Iterator[_Part]:
    if reach.categories is not None:
        yield f"kind {AMONG}", [json_array(reach.categories)]
    if reach.apps is not None:
        yield f"(app is null or app {AMONG})", [json_array(reach.apps)]
    if not reach.procedures:
        yield "not procedural", []


def json_array(values: Iterable[str]) -> str:
    """Return values as `AMONG` takes them."""
    return msgspec.json.encode(sorted(values)).decode()
