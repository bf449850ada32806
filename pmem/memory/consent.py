"""What waits for a person: look at it, agree to it, or reject it.

An agent sees that something waits and not what, and cannot agree to anything.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from pmem.core.apps.deciding import AppDecision
from pmem.core.filters import EVERYTHING
from pmem.core.history_values import tell_value
from pmem.core.retention import changed
from pmem.core.trust import AGREED
from pmem.errors import InvalidValue, NotFound
from pmem.memory import facts, memories
from pmem.memory.app_limit import make_room
from pmem.memory.changes import RecordsRequest, change, only_one, out_of_recall
from pmem.memory.reading import MessageRef, find
from pmem.project.workspace import Workspace
from pmem.storage.local.proposals import (
    Kind,
    Outcome,
    Proposal,
    ProposalOutcome,
    Settled,
    decided,
    without_expired,
)
from pmem.values.fields import asked
from pmem.values.ids import matches, short
from pmem.values.records import Event, EventKind, Memory, Role, State, plain
from pmem.values.times import iso

_REMOVAL: Final = "(to be removed)"
_MOST_SHOWN: Final = 4_000
"""Characters of one proposed value."""


class WaitingProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as people see it; an agent gets no `content` and no `subject`.

    `target` is the memory that it changes, if it does; `signals` says how often it was proposed,
    what was said twice in one place or within an hour counted once.
    """

    id: str
    short: str
    kind: Kind
    field: str
    target: str | None
    content: str | None
    subject: str | None
    agent: str | None
    actor: str
    at: datetime
    until: datetime
    signals: int


class ApproveRequest(RecordsRequest, frozen=True, kw_only=True):
    """What a person agrees to, and the `message` by which somebody said so, if it is kept."""

    message: str | None = None


class WaitingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What waits for consent or for a second signal; also what was decided, where `decisions`."""

    decisions: Annotated[bool, asked("Also what became of earlier proposals.")] = False


class ConsentListing(msgspec.Struct, frozen=True, kw_only=True):
    """What waits, the oldest first, and what was decided so far, the latest last."""

    items: tuple[WaitingProposal, ...]
    total: int
    decisions: tuple[ProposalOutcome, ...] = ()


class Agreed(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal that a person agreed to, and the memory as it now is."""

    id: str
    memory: Memory


class Approved(msgspec.Struct, frozen=True, kw_only=True):
    """What a person agreed to, and what made room for it."""

    items: tuple[Agreed, ...]
    made_room: tuple[AppDecision, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return it, and how much it is."""
        return {"items": self.items, "total": len(self.items)}


class Declined(msgspec.Struct, frozen=True, kw_only=True):
    """What a person did not agree to."""

    items: tuple[ProposalOutcome, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return the decisions, and how many they are."""
        return {"items": self.items, "total": len(self.items)}


def list_waiting(workspace: Workspace, request: WaitingRequest) -> ConsentListing:
    """Return what waits for consent or for a second signal. Nothing is changed."""
    queue = without_expired(workspace.own.proposals.read(), workspace.now())
    return ConsentListing(
        items=tuple(
            _waiting(item, hidden=workspace.caller.agent is not None) for item in queue.proposals
        ),
        total=len(queue.proposals),
        decisions=queue.decisions if request.decisions else (),
    )


def approve(workspace: Workspace, request: ApproveRequest) -> Approved:
    """Remember what was proposed; the memory's history says who agreed, and by which message."""
    done = []
    made_room: list[AppDecision] = []
    for proposal in _find_proposals(workspace, request.references):
        said = _agreeing(workspace, proposal, request.message)
        memory, gone = _apply_proposal(workspace, proposal, said)
        made_room += gone
        done.append(Agreed(id=proposal.id, memory=memory))
    return Approved(items=tuple(done), made_room=tuple(made_room))


def reject(workspace: Workspace, request: RecordsRequest) -> Declined:
    """Forget what was proposed; the trail keeps a digest, and the same is not asked again."""
    done = []
    for proposal in _find_proposals(workspace, request.references):
        workspace.forgot = True
        with workspace.transaction():
            _check_waiting(workspace, proposal)
            _check_not_kept(workspace, proposal)
            done.append(_decide(workspace, proposal, "rejected"))
        if proposal.fact is not None:
            with suppress(NotFound), workspace.transaction():
                facts.reject(workspace, RecordsRequest(references=(proposal.fact,)))
    return Declined(items=tuple(done))


def _waiting(proposal: Proposal, *, hidden: bool) -> WaitingProposal:
    memory = proposal.memory
    content = memory.content if memory else _describe_changes(proposal.changes) or _REMOVAL
    subject = memory.subject if memory else proposal.changes.get("subject")
    return WaitingProposal(
        id=proposal.id,
        short=short(proposal.id),
        kind=proposal.kind,
        field=proposal.field,
        target=proposal.target,
        content=None if hidden else content,
        subject=None if hidden else subject,
        agent=proposal.agent,
        actor=proposal.actor,
        at=proposal.at,
        until=proposal.until,
        signals=len(proposal.signals),
    )


def _describe_changes(changes: dict[str, Any]) -> str:
    shown = {name: value for name, value in changes.items() if name != "tokens"}
    if shown.keys() == {"content"}:
        return str(shown["content"])
    return "; ".join(
        f"{name.replace('_', ' ')}: {tell_value(name, value, _MOST_SHOWN)}"
        for name, value in shown.items()
    )


def _find_proposals(workspace: Workspace, references: Sequence[str]) -> list[Proposal]:
    """Return the proposals that references mean, each once."""
    queue = without_expired(workspace.own.proposals.read(), workspace.now())
    found: dict[str, Proposal] = {}
    for reference in references:
        fitting = {
            short(item.id): item
            for item in queue.proposals
            if reference and matches(reference, item.id)
        }
        one = only_one(reference, "proposal", fitting, "`pmem inbox proposals` shows ids")
        found[one.id] = one
    return list(found.values())


def _agreeing(workspace: Workspace, proposal: Proposal, reference: str | None) -> dict[str, str]:
    """Return what a history says of the message by which somebody agreed to a proposal."""
    if reference is None:
        return {}
    found = find(workspace, reference)
    if not isinstance(found, MessageRef) or found.message.role is not Role.USER:
        raise InvalidValue(f"{reference} is no message of a person", "name one by its id")
    if found.message.created_at < proposal.at:
        raise InvalidValue(
            f"message {short(found.message.id)} is older than proposal {short(proposal.id)}",
            "name the one that answers it",
        )
    return {"message": found.message.id, "conversation": found.conversation}


def _apply_proposal(
    workspace: Workspace, proposal: Proposal, said: Mapping[str, str]
) -> tuple[Memory, tuple[AppDecision, ...]]:
    """Write what was proposed, in one transaction; return it, and what made room for it."""
    detail = {
        "field": proposal.field,
        "proposed_by": proposal.agent or proposal.actor,
        "id": proposal.id,
        "proposed_at": iso(proposal.at),
        **said,
    }
    if proposal.target is not None:
        is_removal = proposal.kind == "removal"
        kind = EventKind.DELETE if is_removal else EventKind.UPDATE

        def apply(memory: Memory, event: Event) -> Memory:
            _check_waiting(workspace, proposal)
            agreed = msgspec.structs.replace(event, source=AGREED, detail={AGREED: detail})
            if is_removal:
                done = out_of_recall(workspace, memory, agreed)
            else:
                done = _with_changes(memory, agreed, proposal.changes)
            _decide(workspace, proposal, "approved", memory.id)
            return done

        with workspace.transaction():
            return change(workspace, Memory, proposal.target, kind, apply), ()
    assert proposal.memory is not None
    with workspace.transaction():
        _check_waiting(workspace, proposal)
        new = _new(workspace, proposal.memory, detail)
        memory = memories.put_approved(workspace, new)
        made_room = make_room(workspace)
        if proposal.fact is not None:
            facts.settle(workspace, proposal.fact, memory.id)
        _decide(workspace, proposal, "approved", memory.id)
    return memory, made_room


def _check_waiting(workspace: Workspace, proposal: Proposal) -> None:
    """See that nobody has decided on a proposal since it was read; hold the writers' lock."""
    queue = without_expired(workspace.own.proposals.read(), workspace.now())
    if all(item.id != proposal.id for item in queue.proposals):
        raise NotFound(
            f"proposal {short(proposal.id)} was decided or expired meanwhile",
            "`pmem inbox proposals --decisions` shows how",
        )


def _with_changes(memory: Memory, event: Event, changes: Mapping[str, Any]) -> Memory:
    if memory.state is not State.ACTIVE:
        raise InvalidValue(
            f"memory {memory.id} is {memory.state.replace('_', ' ')} by now, not active",
            "`pmem restore` brings it back; or reject the change",
        )
    wanted = msgspec.convert({**plain(memory), **changes}, Memory)
    return changed(memory, event, **{name: getattr(wanted, name) for name in changes})


def _new(workspace: Workspace, memory: Memory, detail: dict[str, Any]) -> Memory:
    """Return a proposed memory as it begins now."""
    now = workspace.now()
    event = Event(
        event=EventKind.ADD, at=now, actor=workspace.actor, source=AGREED, detail={AGREED: detail}
    )
    starts = now if memory.valid_from == memory.created_at else memory.valid_from
    return msgspec.structs.replace(
        memory,
        id=workspace.new_id(),
        valid_from=starts,
        created_at=now,
        updated_at=now,
        history=(event,),
    )


def _check_not_kept(workspace: Workspace, proposal: Proposal) -> None:
    """See that nobody has agreed to a proposal whose process died before it could say so."""
    for memory in workspace.memories.find(EVERYTHING):
        told = (event.detail.get(AGREED) for event in memory.history)
        if any(isinstance(each, dict) and each.get("id") == proposal.id for each in told):
            raise InvalidValue(
                f"proposal {short(proposal.id)} was agreed to: memory {short(memory.id)} says it",
                f"`pmem inbox accept {short(proposal.id)}` settles it; `pmem rm` or `pmem edit`"
                " changes the memory",
            )


def _decide(
    workspace: Workspace, proposal: Proposal, outcome: Outcome, memory: str | None = None
) -> ProposalOutcome:
    """Take a proposal out of the queue once the transaction around this is on disk.

    A process that died in between leaves it there; agreeing again is then settled by what is
    kept already.
    """
    decision = decided(proposal, outcome, workspace.actor, workspace.now(), memory)
    workspace.settled.append(Settled(proposal.id, decision))
    return decision
