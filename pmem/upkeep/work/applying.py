"""Applying answers: checked, and only while what they rest on has not moved."""

from typing import Any, Final, Literal, cast

import msgspec

from pmem.core.operations import operation
from pmem.errors import InvalidValue, PmemError, Refused
from pmem.model.asking import check_rules, origin, unquoted
from pmem.model.checks import checked_answer, read_model_answer
from pmem.model.models import AnswerRefused
from pmem.model.tasks import TASKS, TaskKind
from pmem.project.workspace import Workspace
from pmem.storage.local.model_answers import WorkState
from pmem.upkeep.work.handing_out import (
    FoundWork,
    WorkPiece,
    find_work,
    settled_before,
    work_piece,
)
from pmem.upkeep.work.table import KINDS
from pmem.values.records import Origin

WorkStatus = Literal["applied", "nothing", "known", "moved", "refused"]
_QUOTED: Final = 80


class WorkAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a piece of work, with the digest that came with it, and who gives it."""

    id: str
    digest: str
    answer: Any
    model: str | None = None


class WorkAnswersRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Answers to pieces of work, each for itself."""

    answers: tuple[WorkAnswer, ...]


class AnsweredWork(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one answer.

    Attributes:
        id: The piece of work.
        status: `applied`; `nothing`, where it leads to no change; `known`, where it was done
            before; `moved`, where what it rests on has changed; `refused`, where a check failed.
        reason: Why it was not applied.
        records: The ids of what it changed.
        next: The same work as it is now, where it moved and there still is some.
    """

    id: str
    status: WorkStatus
    reason: str = ""
    records: tuple[str, ...] = ()
    next: WorkPiece | None = None


class AnsweredAll(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each answer."""

    items: tuple[AnsweredWork, ...]

    def has(self, status: WorkStatus) -> bool:
        """Tell whether that became of one of them."""
        return any(item.status == status for item in self.items)


def apply_answers(workspace: Workspace, request: WorkAnswersRequest) -> AnsweredAll:
    """Apply answers one by one, each in a transaction of its own.

    Raises:
        InvalidValue: There is none.
        Locked, StorageRefused: See `Workspace.transaction`; earlier answers are applied.
    """
    if not request.answers:
        raise InvalidValue("there is no answer", "`pmem work next --json` shows what is asked")
    return AnsweredAll(items=tuple(_apply_one(workspace, answer) for answer in request.answers))


def _apply_one(workspace: Workspace, given: WorkAnswer) -> AnsweredWork:
    kind, _, name = given.id.partition(":")
    if kind not in TASKS:
        known = ", ".join(TASKS)
        reason = f"there is no work {given.id[:_QUOTED]!r}: its kind is one of {known}"
        return AnsweredWork(id=given.id, status="refused", reason=reason)
    task = cast("TaskKind", kind)
    who = given.model or workspace.caller.agent or workspace.actor
    return apply_answer(workspace, task, name, given.digest, given.answer, who)


def apply_answer(
    workspace: Workspace, kind: TaskKind, name: str, digest: str, answer: Any, who: str
) -> AnsweredWork:
    """Apply one answer.

    Raises:
        Locked, StorageRefused: See `Workspace.transaction`.
    """
    identifier = f"{kind}:{name}"
    try:
        with workspace.transaction():
            if _is_settled(workspace, digest):
                return AnsweredWork(id=identifier, status="known", reason="it is done already")
            found = find_work(workspace, kind, name)
            if found is None or found.digest != digest:
                return _moved(identifier, found)
            records = _apply_found(workspace, found, answer, who)
    except (AnswerRefused, InvalidValue, Refused) as error:
        reason = error.message if isinstance(error, PmemError) else str(error)
        _note_refusal(workspace, kind, digest, reason)
        return AnsweredWork(id=identifier, status="refused", reason=reason)
    status: WorkState = "applied" if records else "nothing"
    settle_work(workspace, digest, status, who)
    return AnsweredWork(id=identifier, status=status, records=records)


def settle_work(workspace: Workspace, digest: str, state: WorkState, reason: str) -> None:
    """Note what became of a piece of work; where that cannot be noted, it may be asked again."""
    try:
        workspace.own.model_answers.settle(digest, state, reason, workspace.now())
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}")


def _is_settled(workspace: Workspace, digest: str) -> bool:
    settled = settled_before(workspace, digest)
    return settled is not None and settled.state != "refused"


def _apply_found(workspace: Workspace, found: FoundWork, answer: Any, who: str) -> tuple[str, ...]:
    read = read_model_answer(found.kind, answer)
    checked = checked_answer(found.kind, found.given, read, check_rules(workspace))
    made_by = Origin(**origin(found.kind, found.digest, who))
    return KINDS[found.kind].apply(workspace, found.name, checked, made_by)


def _moved(identifier: str, found: FoundWork | None) -> AnsweredWork:
    if found is None:
        reason = "there is no such work, or no longer"
        return AnsweredWork(id=identifier, status="moved", reason=reason)
    reason = "what it rests on has changed since it was handed out"
    return AnsweredWork(id=identifier, status="moved", reason=reason, next=work_piece(found))


def _note_refusal(workspace: Workspace, kind: TaskKind, digest: str, reason: str) -> None:
    settle_work(workspace, digest, "refused", reason)
    if workspace.settings.record_operations:
        told = {"status": "error", "reason": unquoted(reason)}
        workspace.own.operations.note([operation(workspace.now(), "model", kind, told)])
