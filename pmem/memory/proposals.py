"""The gate before a memory: what an agent or extraction proposes, and people must agree to.

An agent may change and remove what agents wrote; of what a person wrote it proposes that.

A value that waits stands in the clone's own queue and nowhere else: no record, index or log holds
it. What people add themselves passes, and what nobody is asked about.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from pmem.core import style_rules
from pmem.core.consent import benign, field_of
from pmem.core.extraction.facts import key
from pmem.core.trust import TOLD
from pmem.errors import InvalidValue, Refused
from pmem.project.caller import check_leave, check_writer, needs_leave
from pmem.project.workspace import Workspace
from pmem.storage.local.proposals import (
    Kind,
    Proposal,
    Queue,
    Settled,
    Signal,
    digest,
    without_expired,
)
from pmem.values.bounds import AGENT_CHARACTERS
from pmem.values.config import Settings
from pmem.values.ids import short
from pmem.values.records import Episode, Memory, plain
from pmem.values.times import shifted

DAYS: Final = 7
"""How long a proposal waits."""
APART: Final = timedelta(hours=1)
"""How far apart two signals are that do not say where they were heard."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as its proposer sees it, without the value.

    `kind` says what it waits for: a person's `consent`, further `signals`, or a person's leave for
    a `change` or a `removal`. One that was rejected before waits for nothing.
    """

    id: str
    kind: Kind
    field: str
    until: datetime
    signals: int
    rejected: bool = False

    @property
    def action(self) -> Literal["queued", "waiting", "rejected"]:
        """What became of the proposal."""
        if self.rejected:
            return "rejected"
        return "waiting" if self.kind == "signals" else "queued"

    @property
    def told(self) -> str:
        """What became of the proposal, and what to do next; never the value."""
        return self.sentence if self.rejected else f"{self.sentence}; {self.hint}"

    @property
    def sentence(self) -> str:
        """What became of it, in one sentence."""
        name = self.field.replace("_", " ")
        if self.rejected:
            return f"a person has rejected this before ({name})"
        if self.kind == "signals":
            return (
                f"{name} is remembered once it is heard again elsewhere; this waits as a candidate"
            )
        if self.kind in ("change", "removal"):
            return f"a person wrote this: its {self.kind} waits for a person as {short(self.id)}"
        return f"{name} is remembered only with a person's consent: {short(self.id)} waits for it"

    @property
    def hint(self) -> str:
        """What to do next; nothing where a person has decided."""
        decides = f"a person decides: `pmem inbox accept {short(self.id)}`, or reject"
        return "" if self.rejected else decides


class Withheld(Refused):
    """Something waits for consent instead of being remembered."""

    code = "consent"

    def __init__(self, held: Held) -> None:
        super().__init__(held.sentence, held.hint)
        self.held = held


def gate(
    workspace: Workspace, memory: Memory, agent: str | None, fact: str | None = None
) -> Held | None:
    """Hold back a new memory that needs consent or a second signal, inside a transaction.

    `agent` is who proposes it, None for extraction; `fact` is the short id of the fact that it was
    extracted as. Returns what waits, or None where the memory may be kept.
    """
    settings = workspace.settings.consent
    field = field_of(memory, settings.fields)
    kind: Kind = "consent"
    if field is None and agent is not None:
        names = (memory.category, memory.subject or "", *memory.tags)
        field, kind = benign(settings.two_signals, names), "signals"
    if field is None:
        return None
    content = _heard_before(workspace, memory, field) if kind == "signals" else memory.content
    scope = repr(msgspec.structs.astuple(memory.scope))
    parts = (key(content), scope)
    return _hold(workspace, kind, field, parts, memory, agent=agent, memory=memory, fact=fact)


def _heard_before(workspace: Workspace, memory: Memory, field: str) -> str:
    """Return the words in which something was heard before, else those in which it is said now."""
    queue = without_expired(workspace.own.proposals.read(), workspace.now())
    for item in queue.proposals:
        known = item.memory
        if known is None or (item.kind, item.field) != ("signals", field):
            continue
        if known.scope == memory.scope and says_the_same(known.content, memory.content):
            return known.content
    return memory.content


def gate_edit(workspace: Workspace, memory: Memory, fields: Mapping[str, Any]) -> None:
    """Hold back what an agent changes of a memory that a person wrote, or that needs consent."""
    if workspace.caller.agent is None:
        return
    check_writer(workspace, workspace.caller.agent, fields.get("category", memory.category))
    kind: Kind = "consent"
    field = None
    if TOLD & fields.keys():
        new = msgspec.structs.replace(memory, **fields)
        field = field_of(new, workspace.settings.consent.fields)
    if field is None and needs_leave(workspace, memory):
        field = kind = "change"
    if field is None:
        return
    changes = plain(dict(fields))
    parts = (memory.id, repr(sorted(changes.items())))
    held = _hold(workspace, kind, field, parts, memory, changes=changes)
    if held is not None:
        raise Withheld(held)


def gate_removals(workspace: Workspace, records: Sequence[Memory | Episode]) -> None:
    """Hold back an agent's removal of memories that a person wrote.

    As long as one of the records waits, none is removed.
    """
    for record in records:
        if isinstance(record, Episode):
            check_leave(workspace, record, "a person removes it")
    held: list[Held] = []
    for record in records:
        if isinstance(record, Memory) and needs_leave(workspace, record):
            waiting = _hold(workspace, "removal", "removal", (record.id,), record)
            held += [waiting] if waiting else []
    if held:
        raise Withheld(held[0])


def check_form(settings: Settings, text: str, *, is_steps: bool) -> None:
    """See that what an agent writes has the size, and where that is enforced the form, it may."""
    length = len(text.strip())
    least, most = AGENT_CHARACTERS, settings.limits.agent
    if not least <= length <= most:
        raise InvalidValue(
            f"what an agent writes has {least} to {most} characters, and this has {length}",
            "`pmem config get limits.agent` shows the limit",
        )
    judged = style_rules.lints_of_steps if is_steps else style_rules.lints
    check_rules(settings, judged(text))


def check_rules(settings: Settings, broken: Sequence[style_rules.Lint]) -> None:
    """See that what an agent writes keeps to the writing rules, where that is enforced."""
    if broken and settings.writing.lint == "refuse":
        raise InvalidValue(
            f"this breaks the writing rules: {broken[0].sentence}",
            "`pmem help consent.md` lists them",
        )


def drop_expired(workspace: Workspace) -> None:
    """Remove what has waited too long from the disk; until then no answer holds it either."""
    proposals = workspace.own.proposals
    queue = proposals.read()
    if without_expired(queue, workspace.now()) is not queue:
        with workspace.transaction():
            proposals.update(lambda found: found, workspace.now())


def _hold(
    workspace: Workspace,
    kind: Kind,
    field: str,
    parts: tuple[str, ...],
    about: Memory,
    **given: Any,
) -> Held | None:
    """Note a proposal, or one more signal for it; None where it has enough of them.

    `parts` tell it apart from others of its field; `about` is the memory that it changes, or is.
    """
    now = workspace.now()
    if "memory" in given:
        said = about.source
        signal = Signal(at=about.created_at, conversation=said.conversation, message=said.message)
    else:
        signal = Signal(at=now)
        given |= {"agent": workspace.caller.agent, "target": about.id, "user": about.scope.user}
    held: list[Held] = []

    def change(queue: Queue) -> Queue:
        name = digest(queue, kind, field, *parts)
        known = next((item for item in queue.proposals if item.digest == name), None)
        if known is None:
            known = Proposal(
                id=workspace.new_id(),
                kind=kind,
                field=field,
                digest=name,
                actor=workspace.actor,
                at=now,
                until=shifted(now, timedelta(days=DAYS)),
                signals=(signal,),
                **given,
            )
            before = [old for old in queue.decisions if old.digest == name]
            if before and before[-1].decision == "rejected":
                again = msgspec.structs.replace(known, id=before[-1].id)
                held.append(_held_proposal(again, rejected=True))
                return queue
            held.append(_held_proposal(known))
            return msgspec.structs.replace(queue, proposals=(*queue.proposals, known))
        is_new = all(_is_other(old, signal) for old in known.signals)
        if is_new and kind == "signals":
            workspace.settled.append(Settled(known.id))
            return queue
        signals = (*known.signals, signal) if is_new else known.signals
        again = msgspec.structs.replace(known, signals=signals)
        held.append(_held_proposal(again))
        found = tuple(again if item is known else item for item in queue.proposals)
        return msgspec.structs.replace(queue, proposals=found)

    workspace.own.proposals.update(change, now)
    return held[0] if held else None


def _held_proposal(proposal: Proposal, *, rejected: bool = False) -> Held:
    return Held(
        id=proposal.id,
        kind=proposal.kind,
        field=proposal.field,
        until=proposal.until,
        signals=len(proposal.signals),
        rejected=rejected,
    )


def _is_other(one: Signal, other: Signal) -> bool:
    """Tell whether two signals are independent: another conversation, or message, or hour."""
    if one.conversation != other.conversation:
        return True
    if one.message and other.message:
        return one.message != other.message and one.at != other.at
    return abs(one.at - other.at) >= APART


def says_the_same(one: str, other: str) -> bool:
    """Tell whether two texts say the same, however each begins.

    "The user's goal is to learn Rust" and "The user wants to learn Rust" do.
    """
    from pmem.core.duplicates import Relation, claim_of, compare

    first, second = _aim(one), _aim(other)
    if key(first) == key(second):
        return True
    return compare(claim_of(first), claim_of(second)).relation is Relation.DUPLICATE


def _aim(text: str) -> str:
    """Return what somebody aims at, without the words that say that they do."""
    stripped = text.strip().rstrip(".!")
    found = _head().match(stripped)
    return stripped[found.end() :] if found and found.end() < len(stripped) else stripped


@lru_cache(maxsize=1)
def _head() -> re.Pattern[str]:
    """Compiled when first needed: most commands compare no signals."""
    who = r"(?:(?:the |our )?(?:user|team|customer)|i|we|[A-Z][a-z]{1,20})"
    whose = r"(?:(?:(?:the |our )?(?:user|team|customer)|[A-Z][a-z]{1,20})'s|my|our|the)"
    noun = r"(?:current |main |next |long-term )?(?:goal|aim|target|objective|plan|wish)s?"
    verb = (
        r"(?:wants?|would like|'d like|hopes?|plans?|aims?|intends?|wishes|wish"
        r"|(?:is|are|am) (?:trying|planning|aiming|hoping|going))"
    )
    return re.compile(
        rf"(?i:(?:{whose} {noun} (?:is|are)(?: still| now)? (?:to )?|{who} (?:still )?{verb} to ))"
    )
