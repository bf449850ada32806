"""Settling what two branches contradict each other about, once their records are merged."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from pmem.changes import Removable, change_all
from pmem.core.retention import changed
from pmem.core.threeway.conflicts import open_conflicts
from pmem.errors import InvalidValue
from pmem.ids import short
from pmem.records import Event, EventKind, plain
from pmem.workspace import Workspace

_TEXTS: Final = frozenset({"content", "summary"})
"""The fields that a record's tokens are counted of."""


def settle(
    workspace: Workspace, references: Sequence[str], *, other: bool = False
) -> list[Removable]:
    """Say which of two contradicting values holds, for memories and episodes.

    Args:
        workspace: Where they are.
        references: Which ones; all of them are settled, or none.
        other: Take what the branch that changed the record earlier said, instead of keeping
            what the record says now.

    Raises:
        NotFound, Ambiguous: A reference.
        InvalidValue: There is no contradiction in one of them, or its other value is unusable.
    """

    def apply(record: Removable, event: Event) -> Removable:
        values = open_conflicts(plain(record.history))
        if not values:
            raise InvalidValue(f"{short(record.id)} has no contradiction to settle")
        settled = msgspec.structs.replace(event, detail={"settled": [*values]})
        return changed(record, settled, **_taken(workspace, record, values) if other else {})

    return change_all(workspace, references, EventKind.UPDATE, apply)


def _taken(workspace: Workspace, record: Removable, values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields as the other branch had them, with the tokens of its text."""
    try:
        other = msgspec.convert({**plain(record), **values}, type(record))
    except msgspec.ValidationError as error:
        raise _unusable(record, str(error)) from None
    fields = {name: getattr(other, name) for name in values if name in other.__struct_fields__}
    for name in _TEXTS & fields.keys():
        if not fields[name].strip():
            raise _unusable(record, f"its {name} is empty")
        fields["tokens"] = workspace.count(fields[name])
    return fields


def _unusable(record: Removable, why: str) -> InvalidValue:
    return InvalidValue(
        f"the other value of {short(record.id)} cannot be used: {why}",
        "`pmem settle` without --other keeps what holds now",
    )
