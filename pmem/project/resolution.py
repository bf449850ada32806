"""What a reference means: the one record whose id it fits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pmem.errors import Ambiguous, NotFound, Refused
from pmem.values import ids
from pmem.values.records import KINDS, STORES, Conversation, RecordType

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace

CANDIDATES_SHOWN: Final = 10


def resolve(
    workspace: "Workspace", reference: str, types: tuple[RecordType, ...]
) -> tuple[RecordType, str]:
    """Find what a reference means; see `Workspace.resolve`."""
    found = _fitting(workspace, reference, types)
    if not found:
        _check_nothing_fits(workspace, reference, types)
    return _only(reference, found, types)


def _fitting(
    workspace: "Workspace", reference: str, types: tuple[RecordType, ...]
) -> list[tuple[RecordType, str]]:
    """Return the records that a reference fits; those that it fits exactly, if there are."""
    found = [
        (part.type, identifier)
        for part in workspace.stores
        if not types or part.type in types
        for identifier in part.ids(reference)
    ]
    exact = [hit for hit in found if reference in (hit[1], ids.short(hit[1]))]
    return exact or found


def _check_nothing_fits(
    workspace: "Workspace", reference: str, types: tuple[RecordType, ...]
) -> None:
    """See that a reference that fits nothing means nothing later, and nothing hidden."""
    if workspace.present is not None:
        later = _fitting(workspace.present, reference, types)
        if reference and later:
            what = " or ".join(f"{KINDS[type_]} {id_}" for type_, id_ in later[:2])
            raise NotFound(f"{what} did not exist at {workspace.name}")
    _check_nothing_hidden(workspace, reference, types or tuple(STORES))


def _check_nothing_hidden(
    workspace: "Workspace", reference: str, types: Sequence[RecordType]
) -> None:
    """See that a reference that fits nothing means no record that may not be seen.

    Raises:
        Refused: It does.
    """
    reach = workspace.reach
    if reach is None or not reference:
        return
    if any(workspace.whole.ids(type_, reference) for type_ in types):
        raise Refused(f"{reach.who} may not see {reference}", reach.hint)


def _only(
    reference: str, found: list[tuple[RecordType, str]], types: tuple[RecordType, ...]
) -> tuple[RecordType, str]:
    if not found or not reference:
        what = " or ".join(KINDS[type_] for type_ in types) or "record"
        raise NotFound(
            f"no {what} has an id that starts with {reference!r}"
            if reference.strip()
            else f"an id is needed to find the {what}, not {reference!r}",
            "`pmem conversation list` shows ids"
            if types == (Conversation,)
            else "`pmem list` and `pmem search` show ids",
        )
    if len(found) > 1:
        raise _ambiguous(reference, found)
    return found[0]


def _ambiguous(reference: str, found: list[tuple[RecordType, str]]) -> Ambiguous:
    """Return the refusal of a reference that fits several: which, by ids that can be given."""
    are_told_apart = len({ids.short(id_) for _, id_ in found}) == len(found)
    shown = [
        f"{KINDS[type_]} {ids.short(id_) if are_told_apart else id_}"
        for type_, id_ in found[:CANDIDATES_SHOWN]
    ]
    if len(found) > CANDIDATES_SHOWN:
        more = f" and {len(found) - CANDIDATES_SHOWN} more"
        return Ambiguous(f"{reference!r} fits {', '.join(shown)}{more}", "give more of the id")
    return Ambiguous(f"{reference!r} fits {', '.join(shown)}", "give one of these ids")
