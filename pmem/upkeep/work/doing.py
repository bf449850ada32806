"""Letting the project's models do the work that waits, as much as one command may ask."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pmem.errors import PmemError
from pmem.model.asking import ModelAnswered, NoAnswer, ask, models_of
from pmem.model.tasks import Given, PairsAnswer, PairsGiven, TaskKind
from pmem.project.workspace import Workspace
from pmem.upkeep.work.applying import AnsweredWork, apply_answer, settle_work
from pmem.upkeep.work.handing_out import FoundWork, waiting_work
from pmem.values.ids import short

MOST_CALLS: Final = 20
"""So often one command may ask."""

MOST_REFUSALS: Final = 2
"""So often an answer to one question may be refused before it is not asked again."""

MOST_NAMED: Final = 5
"""Records that a note names."""


def do_work(workspace: Workspace, kinds: Sequence[TaskKind], about: str | None = None) -> None:
    """Ask for what waits and apply the answers; what goes wrong is told, and nothing fails.

    Nobody may hold the writers' lock.
    """
    try:
        models = models_of(workspace)
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}; {error.hint}")
        workspace.model_failures.append(error.message)
        return
    if models is None:
        return
    wanted = [kind for kind in kinds if models.does(kind)]
    done: list[AnsweredWork] = []
    try:
        for found in waiting_work(workspace, wanted, about) if wanted else ():
            if len(done) >= MOST_CALLS:
                workspace.notes.append("model: more waits; `pmem consolidate` goes on with it")
                break
            if not _is_hopeless(found):
                done.append(_do_one(workspace, found))
    except NoAnswer as none:
        if none.waits:
            workspace.notes.append(f"model: {none.reason}; the rest waits")
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}; the rest waits")
    workspace.notes += _applied_note([one for one in done if one.status == "applied"], models.name)


def catch_up_apps(workspace: Workspace) -> None:
    """Do what was put off for apps, as far as there is energy for it by now."""
    from pmem.apps.remembering import catch_up
    from pmem.memory.app_memories import state_of

    try:
        for app in dict.fromkeys(work.app for work in state_of(workspace).waiting()):
            catch_up(workspace, app)
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}; what was put off for apps waits")


def _applied_note(applied: Sequence[AnsweredWork], model: str) -> Iterator[str]:
    """Say how many answers were applied, and to which records; nothing where there is none."""
    if not applied:
        return
    said = f"{len(applied)} answer{'s were' if len(applied) > 1 else ' was'} applied"
    names = list(dict.fromkeys(short(record) for one in applied for record in one.records))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    yield f"model: {said}, from {model}: {', '.join(names[:MOST_NAMED])}{more}"


def _do_one(workspace: Workspace, found: FoundWork) -> AnsweredWork:
    """Do one piece of work, and return what became of it."""
    try:
        answered = _whole_answer(workspace, found)
    except NoAnswer as none:
        if none.is_down or none.waits:
            raise
        settle_work(workspace, found.digest, "refused", none.reason)
        return AnsweredWork(id=f"{found.kind}:{found.name}", status="refused", reason=none.reason)
    return apply_answer(
        workspace, found.kind, found.name, found.digest, answered.answer, answered.made_by["model"]
    )


def _whole_answer(workspace: Workspace, found: FoundWork) -> ModelAnswered:
    """Ask, and ask once more about each pair that an answer left out."""
    answered = ask(workspace, found.kind, found.given)
    if not isinstance(found.given, PairsGiven):
        return answered
    told = {verdict.id for verdict in answered.answer.pairs}
    verdicts = list(answered.answer.pairs)
    for pair in found.given.pairs:
        if pair.id not in told and len(found.given.pairs) > 1:
            verdicts += _single(workspace, PairsGiven(pairs=(pair,)))
    answer: Any = PairsAnswer(pairs=tuple(verdicts))
    return ModelAnswered(answer=answer, key=answered.key, made_by=answered.made_by)


def _single(workspace: Workspace, given: Given) -> Sequence[Any]:
    try:
        found: Sequence[Any] = ask(workspace, "same_fact", given).answer.pairs
    except NoAnswer as none:
        if none.is_down:
            raise
        return ()
    return found


def _is_hopeless(found: FoundWork) -> bool:
    return found.settled is not None and found.settled.times >= MOST_REFUSALS
