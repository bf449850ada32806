"""Settling what two branches contradict each other about, once their records are merged."""

import os
from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec

from pmem.core import exactjson
from pmem.core.lifecycle.states import closed, leaving, moved
from pmem.core.retention import changed, purge_time
from pmem.core.threeway.history import SETTLED, open_conflicts
from pmem.errors import InvalidValue
from pmem.memory.changes import ChangedRecords, Removable, change_all
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import record_file
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.git.merge_stages import Placed, merge_state
from pmem.values.fields import asked, refs
from pmem.values.ids import short
from pmem.values.records import STORES, Event, EventKind, Memory, State, plain

_OUT_OF_RECALL: Final = tuple(state for state in State if state is not State.ACTIVE)
_TEXTS: Final = frozenset({"content", "summary"})
"""The fields that a record's tokens are counted of."""
_WITHOUT_SIDES: Final = "`pmem resolve REF` keeps what it says now, --other takes the other value"


class SettleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memories and episodes are to be settled: all of them, or none.

    They keep what they say now, which the side that changed them later said. With `other` they take
    what the other side said, with `ours` and `theirs` what git's sides have; a record that the side
    that is taken took out of recall goes. `text` is for one memory.
    """

    references: Annotated[tuple[str, ...], refs(completes="memory")]
    ours: Annotated[bool, asked("Take what the branch that you merge into says.")] = False
    theirs: Annotated[bool, asked("Take what the branch that you merge says.")] = False
    other: Annotated[bool, asked("Take what it does not say now.")] = False
    text: Annotated[
        str | None, asked("Keep this text, not one of the two.", shown="TEXT|-", reading="text")
    ] = None


class SettledConflicts(msgspec.Struct, frozen=True, kw_only=True):
    """The records as they are now, and how to go on with the merge that git has under way."""

    records: tuple[Removable, ...]
    next: str

    def to_plain(self) -> Any:
        """Return the records as other changes do."""
        return ChangedRecords(records=self.records).to_plain()


def settle(workspace: Workspace, request: SettleRequest) -> SettledConflicts:
    """Say which of two contradicting values holds.

    While git has a merge under way, what is settled is added to its index.
    """

    def apply(record: Removable, event: Event) -> Removable:
        values = open_conflicts(plain(record.history))
        if not values:
            raise InvalidValue(
                f"{short(record.id)} has no conflict to resolve", "`pmem check` lists conflicts"
            )
        if request.text not in (None, getattr(record, "content", None)):
            values.pop("content", None)  # the edit decides it
        if not values:
            return record
        settled = msgspec.structs.replace(event, detail={SETTLED: [*values]})
        taken = _taken(workspace, request, record, values)
        if not taken:
            return changed(record, settled)
        state = taken.pop("state", None)
        fields = _fields_of_other_side(workspace, record, taken)
        if state is None:
            return changed(record, settled, **fields)
        return _take_out_of_recall(workspace, record, settled, state, fields)

    if request.ours + request.theirs + request.other > 1:
        raise InvalidValue("--ours, --theirs and --other exclude each other", "give one of them")
    from pmem.memory.memories import edit
    from pmem.memory.requests import EditRequest

    with workspace.transaction():
        done = change_all(workspace, request.references, EventKind.UPDATE, apply)
        if request.text is not None:
            if len(request.references) != 1:
                raise InvalidValue("a text is for one memory", "resolve the others one by one")
            text = EditRequest(reference=request.references[0], content=request.text)
            done = [edit(workspace, text).memory]
    return SettledConflicts(records=tuple(done), next=_add_to_index(workspace, done))


def _taken(
    workspace: Workspace, request: SettleRequest, record: Removable, values: dict[str, Any]
) -> dict[str, Any]:
    """Return those of the values of the side that did not win which a record is to have."""
    if not (request.ours or request.theirs):
        return values if request.other else {}
    side = _of_git(workspace, record, ours=request.ours)
    now = plain(record)
    unlike = [field for field in values if side.get(field) not in (now.get(field), values[field])]
    if unlike:
        raise InvalidValue(
            f"the {unlike[0]} of {short(record.id)} was another one on that side",
            _WITHOUT_SIDES,
        )
    return {field: value for field, value in values.items() if side.get(field) == value}


def _of_git(workspace: Workspace, record: Removable, *, ours: bool) -> dict[str, Any]:
    """Return a record as JSON as one side of git's merge has it."""
    state = merge_state(workspace.root, workspace.environment)
    sides = None if state is None else state.sides()
    if state is None or sides is None:
        raise InvalidValue("git has no merge here whose sides it could tell", _WITHOUT_SIDES)
    data = next(state.blobs([f"{sides[not ours]}:./{_path(record)}"]))
    try:
        found = msgspec.json.decode(data or b"")
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, dict):
        raise InvalidValue(f"that side has no memory {short(record.id)}", _WITHOUT_SIDES)
    return found


def _path(record: Removable) -> str:
    return record_file(STORES[type(record)], record.id)


def _add_to_index(workspace: Workspace, records: Sequence[Removable]) -> str:
    """Add records to git's index if a merge is under way, and return how to go on with that."""
    state = merge_state(workspace.root, workspace.environment)
    unmerged = {} if state is None else state.unmerged()
    if state is None or not (unmerged or state.is_merging):
        return ""
    paths = set(map(_path, records))
    known = state.tracked([*paths])
    files = {}
    for path in paths & (known.keys() | unmerged.keys()):
        data = read_bytes(os.path.join(workspace.root, path))[0]
        mode = known[path].mode if path in known else next(iter(unmerged[path].values())).mode
        files[path] = Placed(mode, data)
    state.place_all(files)
    left = unmerged.keys() - files.keys()
    return "pmem resolve" if left else state.next_step()


def _take_out_of_recall(
    workspace: Workspace, record: Removable, event: Event, state: Any, fields: dict[str, Any]
) -> Removable:
    if state not in _OUT_OF_RECALL or record.state is not State.ACTIVE:
        raise _unusable(record, f"{state!r} is no state that it could leave recall for")
    to = State(state)
    if to is State.SOFT_DELETED:
        fields["purge_at"] = purge_time(event.at, workspace.settings.purge_days)
    elif isinstance(record, Memory) and to is not State.MERGED:
        fields["valid_until"] = closed(record, event.at)
    return moved(record, leaving(record, to, event), **fields)


def _fields_of_other_side(
    workspace: Workspace, record: Removable, values: dict[str, Any]
) -> dict[str, Any]:
    """Return the fields as the other side had them, with the tokens of its text."""
    try:
        other = msgspec.convert({**plain(record), **values}, type(record))
    except msgspec.ValidationError as error:
        raise _unusable(record, exactjson.sentence(error)) from None
    fields = {name: getattr(other, name) for name in values if name in other.__struct_fields__}
    for name in _TEXTS & fields.keys():
        if not fields[name].strip():
            raise _unusable(record, f"its {name} is empty")
        fields["tokens"] = workspace.count(fields[name])
    return fields


def _unusable(record: Removable, why: str) -> InvalidValue:
    return InvalidValue(
        f"the other value of {short(record.id)} cannot be used: {why}",
        "`pmem resolve REF` keeps what it says now",
    )
