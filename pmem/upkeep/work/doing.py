"""Work for a model: listed, handed out, and applied while what it rests on stands still."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Annotated, Any, Final, Literal, cast

import msgspec

from pmem.apps.remembering import catch_up
from pmem.errors import Damaged, InvalidValue, NotFound, PmemError, Refused
from pmem.memory.app_memories import state_of
from pmem.model import asking
from pmem.model.checks import checked_answer
from pmem.model.models import AnswerRefused
from pmem.model.tasks import TASKS, Given, Kinds, TaskKind, write_prompt
from pmem.project.workspace import Workspace
from pmem.storage.local.model_answers import SettledWork, WorkState
from pmem.upkeep.work.of_memories import KINDS_OF_MEMORIES
from pmem.upkeep.work.of_talk import KINDS_OF_TALK, WorkKind
from pmem.values.fields import asked
from pmem.values.ids import short
from pmem.values.records import Origin

MOST_LISTED: Final = 500
MOST_CALLS: Final = 20  # so often one command may ask
MOST_REFUSALS: Final = 2
"""So often an answer to one question may be refused before it is not asked again."""
MOST_NAMED: Final = 5  # records that a note names
_QUOTED: Final = 80
_ORDER: Final[tuple[TaskKind, ...]] = (
    *("compaction", "conversation_summary", "turn_facts", "episode"),
    *("chunk_summary", "same_fact", "procedure", "insight"),
)  # fmt: skip
"""In which kinds of work are handed out."""
_KINDS: Final[Mapping[TaskKind, WorkKind]] = {**KINDS_OF_TALK, **KINDS_OF_MEMORIES}

WorkStatus = Literal["applied", "nothing", "known", "moved", "refused"]


class WorkListRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which kinds of work are to be listed, all when empty."""

    kinds: Kinds = ()


class WorkRequest(WorkListRequest, frozen=True, kw_only=True):
    """Which kinds of work are wanted, all when empty, and how many pieces at the most."""

    limit: Annotated[int, asked("So many pieces.", flag="--for", shown="N", least=1)] = 1


class WaitingWork(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work: its id, its kind, what is to be done, and the digest of its sources."""

    id: str
    kind: TaskKind
    meaning: str
    digest: str


class WorkListing(msgspec.Struct, frozen=True, kw_only=True):
    """The work that waits."""

    items: tuple[WaitingWork, ...]
    total: int


class WorkPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work with the prompt that asks for it and the schema of its answer."""

    id: str
    kind: TaskKind
    digest: str
    prompt: str
    schema: dict[str, Any]


class WorkHandedOut(msgspec.Struct, frozen=True, kw_only=True):
    """The pieces of work that were asked for."""

    items: tuple[WorkPiece, ...]


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
    """What became of one answer to a piece of work.

    Its status is `applied`; `nothing`, where it leads to no change; `known`, where it was done
    before; `moved`, where what it rests on has changed, with the same work as it is now as the
    `next` if there is some; or `refused`, where a check failed. The `reason` is why it was not
    applied, and `records` are the ids of what it changed.
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


class FoundWork(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work as the records are now: what is to be done, and with what, clean.

    `digest` tells this very work from all other, whatever it is called; `settled` is what became
    of it before.
    """

    kind: TaskKind
    name: str
    given: Given
    digest: str
    settled: SettledWork | None = None

    @property
    def id(self) -> str:
        """How it is called, whatever its sources say."""
        return f"{self.kind}:{self.name}"

    @property
    def is_done(self) -> bool:
        """Whether it was done before, and not refused."""
        return self.settled is not None and self.settled.state != "refused"

    def piece(self) -> WorkPiece:
        """Return it with all that is needed to do it."""
        prompt = write_prompt(self.kind, self.given)
        return WorkPiece(
            id=self.id, kind=self.kind, digest=self.digest, prompt=prompt.text, schema=prompt.schema
        )


def list_work(workspace: Workspace, request: WorkListRequest) -> WorkListing:
    """List the work that waits for a model, or for whoever takes its place."""
    items = tuple(
        WaitingWork(id=one.id, kind=one.kind, meaning=TASKS[one.kind].meaning, digest=one.digest)
        for one in islice(_waiting_work(workspace, request.kinds), MOST_LISTED)
    )
    return WorkListing(items=items, total=len(items))


def count_waiting(workspace: Workspace) -> int:
    """Count the work that waits, conversations put off for apps with it, up to a point."""
    found = sum(1 for _ in islice(_waiting_work(workspace), MOST_LISTED))
    return found + sum(work.work == "create" for work in state_of(workspace).waiting())


def hand_out(workspace: Workspace, request: WorkRequest) -> WorkHandedOut:
    """Return the next pieces of work, each with its prompt. Nothing is changed or reserved."""
    found = islice(_waiting_work(workspace, request.kinds), max(0, request.limit))
    return WorkHandedOut(items=tuple(one.piece() for one in found))


def find_work(workspace: Workspace, kind: TaskKind, name: str) -> FoundWork | None:
    """Return a piece of work as the records are now; None where there is none.

    A record that is gone or damaged is no work. Settings that cannot be read are damage, too, and
    an error: they are read first.
    """
    workspace.settings  # noqa: B018 - raises what must not be taken for a damaged record
    raw = None
    with suppress(NotFound, Damaged):
        raw = _KINDS[kind].given(workspace, name)
    if raw is None:
        return None
    given = asking.clean_given(workspace, raw)
    digest = asking.key_of(kind, given)
    settled = _settled_before(workspace, digest)
    return FoundWork(kind=kind, name=name, given=given, digest=digest, settled=settled)


def apply_answers(workspace: Workspace, request: WorkAnswersRequest) -> AnsweredAll:
    """Apply answers one by one, each in a transaction of its own."""
    if not request.answers:
        raise InvalidValue("there is no answer", "`pmem work next --json` shows what is asked")
    return AnsweredAll(items=tuple(_apply_one(workspace, answer) for answer in request.answers))


def do_work(workspace: Workspace, kinds: Sequence[TaskKind], about: str | None = None) -> None:
    """Ask for what waits and apply the answers; what goes wrong is told, and nothing fails.

    Nobody may hold the writers' lock. With `about`, only what one conversation leads to is done.
    """
    try:
        models = asking.models_of(workspace)
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}; {error.hint}")
        workspace.model_failures.append(error.message)
        return
    if models is None:
        return
    wanted = [kind for kind in kinds if models.does(kind)]
    done: list[AnsweredWork] = []
    try:
        for found in _waiting_work(workspace, wanted, about) if wanted else ():
            if len(done) >= MOST_CALLS:
                workspace.notes.append("model: more waits; `pmem consolidate` goes on with it")
                break
            if found.settled is None or found.settled.times < MOST_REFUSALS:
                done.append(_do_one(workspace, found))
    except asking.NoAnswer as none:
        if none.waits:
            workspace.notes.append(f"model: {none.reason}; the rest waits")
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}; the rest waits")
    if applied := [one for one in done if one.status == "applied"]:
        said = f"{len(applied)} answer{'s were' if len(applied) > 1 else ' was'} applied"
        names = list(dict.fromkeys(short(record) for one in applied for record in one.records))
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        told = f"{', '.join(names[:MOST_NAMED])}{more}"
        workspace.notes.append(f"model: {said}, from {models.name}: {told}")


def catch_up_apps(workspace: Workspace) -> None:
    """Do what was put off for apps, as far as there is energy for it by now."""
    try:
        for app in dict.fromkeys(work.app for work in state_of(workspace).waiting()):
            catch_up(workspace, app)
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}; what was put off for apps waits")


def _waiting_work(
    workspace: Workspace, kinds: Sequence[TaskKind] = (), about: str | None = None
) -> Iterator[FoundWork]:
    """Yield the work that waits, of some kinds, or of one conversation."""
    for kind in _ORDER:
        for name in _KINDS[kind].waiting(workspace, about) if kind in (kinds or _ORDER) else ():
            found = find_work(workspace, kind, name)
            if found is not None and not found.is_done:
                yield found


def _apply_one(workspace: Workspace, given: WorkAnswer) -> AnsweredWork:
    """Apply one answer, in any form that a model gives, to the work that had this digest."""
    word, _, name = given.id.partition(":")
    if word not in TASKS:
        known = ", ".join(TASKS)
        reason = f"there is no work {given.id[:_QUOTED]!r}: its kind is one of {known}"
        return AnsweredWork(id=given.id, status="refused", reason=reason)
    kind, digest = cast("TaskKind", word), given.digest
    who = given.model or workspace.caller.agent or workspace.actor
    told = partial(AnsweredWork, id=given.id)
    try:
        with workspace.transaction():
            settled = _settled_before(workspace, digest)
            if settled is not None and settled.state != "refused":
                return told(status="known", reason="it is done already")
            found = find_work(workspace, kind, name)
            if found is None:
                return told(status="moved", reason="there is no such work, or no longer")
            if found.digest != digest:
                reason = "what it rests on has changed since it was handed out"
                return told(status="moved", reason=reason, next=found.piece())
            checked = checked_answer(kind, found.given, given.answer, asking.check_rules(workspace))
            made_by = Origin(**asking.origin(kind, digest, who))
            records = _KINDS[kind].apply(workspace, name, checked, made_by)
    except (AnswerRefused, InvalidValue, Refused) as error:
        reason = error.message if isinstance(error, PmemError) else str(error)
        _settle_work(workspace, digest, "refused", reason)
        asking.log_failure(workspace, kind, reason)
        return told(status="refused", reason=reason)
    status: WorkState = "applied" if records else "nothing"
    _settle_work(workspace, digest, status, who)
    return told(status=status, records=records)


def _settled_before(workspace: Workspace, digest: str) -> SettledWork | None:
    with suppress(PmemError):
        return workspace.own.model_answers.settled(digest)
    return None


def _settle_work(workspace: Workspace, digest: str, state: WorkState, reason: str) -> None:
    """Note what became of a piece of work; where that cannot be noted, it may be asked again."""
    try:
        workspace.own.model_answers.settle(digest, state, reason, workspace.now())
    except PmemError as error:
        workspace.notes.append(f"model: {error.message}")


def _do_one(workspace: Workspace, found: FoundWork) -> AnsweredWork:
    """Do one piece of work; raise NoAnswer where there is no use in asking for any other."""
    try:
        answered = asking.ask(workspace, found.kind, found.given)
    except asking.NoAnswer as none:
        if none.is_down or none.waits:
            raise
        _settle_work(workspace, found.digest, "refused", none.reason)
        return AnsweredWork(id=found.id, status="refused", reason=none.reason)
    who = answered.made_by["model"]
    answer = WorkAnswer(id=found.id, digest=found.digest, answer=answered.answer, model=who)
    return _apply_one(workspace, answer)
