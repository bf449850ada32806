"""Deciding a record whose merge was left unfinished, with the reason."""

from contextlib import suppress
from typing import Any, NamedTuple

from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.history import STATE
from pmem.core.threeway.markers import apart
from pmem.core.threeway.record import Merged, merged
from pmem.core.threeway.shapes import RecordShape, checked
from pmem.core.threeway.values import same


class Versions(NamedTuple):
    """A record before and on its two sides; None where it was not there, or is not known."""

    base: dict[str, Any] | None
    ours: dict[str, Any] | None
    theirs: dict[str, Any] | None


class MergeDecision(NamedTuple):
    """What a record is to be, None where it is gone; what was decided, why, and what is open."""

    result: dict[str, Any] | None
    decision: str
    why: str
    conflicts: tuple[str, ...] = ()


def decide(versions: Versions, shape: RecordShape) -> MergeDecision:
    """Decide what becomes of a record, as the merge driver would.

    Raises:
        Doubt: A version is not what pmem writes.
    """
    base, ours, theirs = versions
    if ours is None or theirs is None:
        left = theirs if ours is None else ours
        return _one_sided(base, left)
    done = merged(base, ours, theirs, shape)
    if same(ours, theirs):
        return MergeDecision(done.result, "merged", "both sides are the same")
    if base is not None and (same(ours, base) or same(theirs, base)):
        return MergeDecision(done.result, "taken", "one side alone changed it")
    why = "both sides made it" if base is None else "both sides changed it"
    return MergeDecision(done.result, "merged", why + _describe_decision(done), done.conflicts)


def _describe_decision(done: Merged) -> str:
    of_recall = (STATE, "purge_at", "valid_until") if done.overruled else ()
    held = [note for note in done.notes if note not in (*done.conflicts, *of_recall)]
    said = f"; the later {_list(held)} holds, the other is in its history" if held else ""
    if done.overruled:
        said += "; one side took it out of recall, the other kept it: it stays"
    if done.conflicts:
        said += f"; they contradict each other in {_list(done.conflicts)}: the later holds,"
        said += " `pmem check` reports it until it is settled"
    return said


def version(data: bytes, shape: RecordShape) -> dict[str, Any]:
    """Read one version of a record; one that has conflict markers itself is merged first.

    Git makes such a version where two branches have several common ancestors.

    Raises:
        NotJson: It is no JSON object, or its markers do not come apart into such.
        Doubt: It is not what pmem writes.
    """
    try:
        found = load(data)
    except NotJson:
        text = apart(data)
        if text is None:
            raise
        base = None
        with suppress(NotJson):
            base = None if text.base is None else load(text.base)
        result = merged(base, load(text.ours), load(text.theirs), shape).result
        assert result is not None
        found = result
    checked(found, shape)
    return found


def _one_sided(base: dict[str, Any] | None, left: dict[str, Any] | None) -> MergeDecision:
    if left is None:
        return MergeDecision(None, "purged", "both sides purged it")
    if base is None:
        return MergeDecision(left, "added", "one side alone has it")
    if same(left, base):
        return MergeDecision(None, "purged", "one side purged it, the other left it as it was")
    return MergeDecision(
        left,
        "kept",
        "one side purged it, the other changed it: nothing tells which was later, so the change"
        " survives",
    )


def _list(names: Any) -> str:
    return ", ".join(names)
