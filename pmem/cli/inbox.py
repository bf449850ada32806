"""`pmem inbox`: what needs attention, settled by one key each, or by commands."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from shutil import get_terminal_size
from typing import Annotated, Final

import msgspec

from pmem.cli import render
from pmem.cli.app import run
from pmem.cli.asking import asks, own
from pmem.cli.render import can_ask, drawn
from pmem.cli.screens.drawing import all_hung, cells, wrapped
from pmem.cli.session import Answer, CommandSession, Line, counted, listed, once_more
from pmem.core.inbox import InboxChoice, InboxItem, InboxKind
from pmem.core.lifecycle.neighbours import advice
from pmem.errors import Ambiguous, NotFound, Refused, UsageError
from pmem.memory.changes import ConfirmRequest, RecordsRequest
from pmem.memory.consent import ApproveRequest, WaitingProposal, WaitingRequest
from pmem.memory.facts import FactsRequest, PromoteRequest, Promotion
from pmem.operations import table
from pmem.operations.operation import plain_form
from pmem.storage.local.proposals import ProposalOutcome
from pmem.upkeep.inbox import Inbox, InboxRequest
from pmem.values.fields import asked, refs
from pmem.values.ids import matches, short
from pmem.values.records import Fact
from pmem.values.times import day, iso

_EMPTY: Final = "nothing waits for your answer"
_NONE: Final = "nothing of that kind needs you"
_SKIP: Final = InboxChoice("s", "skip it", "")
_QUIT: Final = InboxChoice("q", "quit", "")
_UNDO: Final = InboxChoice("u", "undo the last", "pmem undo")
_HELP: Final = InboxChoice("?", "help", "")
_LOOKS: Final = "v"  # the key that settles nothing
_SAYS: Final = (
    "a key does what stands beside it, at once, with one command",
    "s leaves the item for another time, q ends, u undoes what the last key did",
    "what needs attention, and why: `pmem help inbox.md`",
)
_Key = tuple[InboxKind, str]  # what names an item: why it is there, and what it is about
_KIND: Final = max(map(len, InboxKind))
_NOUNS: Final = ("contradiction", "proposal", "fact", "subject", "duplicate", "citation")
"""The kinds that have a plural."""


@asks(InboxRequest)
def inbox(
    session: CommandSession,
    request: InboxRequest,
    list_: bool = own("List it, also on a terminal, and ask nothing.", flag="--list"),
) -> Answer:
    """Go through what needs your attention, one key each.

    Contradictions of merged branches, proposals that wait for consent, pending facts, memories that
    disagree on a subject or say nearly the same, citations that broke, decisions that are due, what
    has expired, what nobody vouches for, and what fades. Each key runs the command that stands
    beside it in --json, and `pmem undo` undoes that. In a pipe it is a list.
    """
    session.take_in_at_terminal()
    found = session.run(table.INBOX, request)
    asks_nothing = list_ or session.quiet or not (render.draws(session) and render.can_ask())
    if found.items and not asks_nothing:
        return Answer(data=found, note=_walk(session, found, request))
    return Answer(data=found, lines=map(_item_line, found.items), note=_counted(found))


def _item_line(item: InboxItem) -> Line:
    return [
        (f"{item.kind:<{_KIND}}  ", "yellow"),
        (item.short, "cyan"),
        (f"  {day(item.since)}  ", "dim"),
        (item.text, ""),
        (f"  ({item.why})", "dim"),
    ]


def _counted(found: Inbox) -> str:
    counts = ", ".join(
        counted(count, kind) if kind in _NOUNS else f"{count} {kind}"
        for kind, count in found.counts.items()
        if count
    )
    nothing = _EMPTY if len(found.counts) == len(InboxKind) else _NONE
    said = f"{found.total} open: {counts}" if found.total else nothing
    also = (f"{each.count} {each.what}: `{each.command}`" for each in found.elsewhere)
    return "; ".join((said, *also))


def _walk(session: CommandSession, found: Inbox, request: InboxRequest) -> str:
    """Go through the items with somebody at a terminal; return what is to be said at the end.

    What a key settled may have been the trouble of other items too: they are collected anew.
    """
    seen: set[_Key] = set()
    settled: list[_Key] = []
    while waiting := [item for item in found.items if (item.kind, item.id) not in seen]:
        item, name = waiting[0], (waiting[0].kind, waiting[0].id)
        seen.add(name)
        render.tell(session, _card(item, len(seen), len(seen) + len(waiting) - 1))
        key = _settle(session, item, can_undo=bool(settled))
        if key == _QUIT.key:
            break
        if key == _UNDO.key:
            seen -= {name, settled.pop()}
        elif key != _SKIP.key:
            settled.append(name)
        if key != _SKIP.key:
            found = _collected(session, request)
    found = _collected(session, request)
    left = f", {found.total} left" if found.total else f"; {_counted(found)}"
    said = f"{len(settled)} settled{left}"
    return f"{said}; `pmem undo` takes the last one back" if settled else said


def _collected(session: CommandSession, request: InboxRequest) -> Inbox:
    again = once_more(session)
    try:
        return again.run(table.INBOX, request)
    finally:
        again.close()


def _settle(session: CommandSession, item: InboxItem, *, can_undo: bool) -> str:
    """Ask until a key is pressed that settles an item, leaves it, or takes the last one back."""
    offered = [*item.commands, _SKIP, *[_UNDO] * can_undo, _QUIT, _HELP]
    choices = {one.key: one for one in offered}
    while True:
        key = render.read_key("> ").lower() or _QUIT.key
        if key in (_SKIP.key, _QUIT.key):
            return key
        if key == _HELP.key:
            said = all_hung(([("  ", ""), (line, "dim")] for line in _SAYS), _width())
            render.tell(session, chain(_keys(item), said))
        elif key not in choices:
            render.print_note(f"press one of {', '.join(choices)}")
        elif not run(shlex.split(choices[key].command)[1:], once_more(session)):
            if key != _LOOKS:
                return key
            render.tell(session, _keys(item))


def _keys(item: InboxItem) -> Iterator[Line]:
    line = ""
    for one in (*item.commands, _SKIP, _QUIT, _HELP):
        key = f"[{one.key}] {one.does}"
        if line and cells(f"{line}   {key}") > _width() - 2:
            yield [(f"  {line}", "green")]
            line = ""
        line = f"{line}   {key}" if line else key
    yield [(f"  {line}", "green")]


def _width() -> int:
    return max(20, get_terminal_size().columns)


def _card(item: InboxItem, number: int, many: int) -> Iterator[Line]:
    yield [("", "")]
    yield [
        (f"{number} of {many}  ", "dim"),
        (item.kind, "yellow"),
        (f"  {item.short}", "cyan"),
        (f"  {day(item.since)}", "dim"),
    ]
    yield from wrapped([("  ", ""), (item.text, "bold")], _width(), hang=2)
    yield from wrapped([("  ", ""), (item.why, "")], _width(), hang=2)
    yield from _keys(item)


_MOST_IDS: Final = 10  # of the ids that a reference fits, so many are named


class AcceptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the command is asked."""

    references: Annotated[tuple[str, ...], refs(shown="[REF]...", completes="decision")] = ()
    above: Annotated[
        float | None, asked("Also all pending facts at least this certain.", shown="N")
    ] = None
    noted_by: Annotated[
        str | None, asked("Also all memories that this agent noted.", shown="NAME")
    ] = None
    edit: Annotated[bool, asked("First change what each says in your editor.")] = False
    message: Annotated[
        str | None, asked("The message by which a person agreed to a proposal.", shown="REF")
    ] = None


class RejectRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be asked no more."""

    references: Annotated[tuple[str, ...], refs(completes="decision")]


@asks(AcceptRequest)
def accept(session: CommandSession, request: AcceptRequest) -> Answer:
    """Accept facts and proposals as memories, and what agents noted."""
    if not request.references and request.above is None and request.noted_by is None:
        raise UsageError("nothing to accept is named", "give a reference, or --above for facts")
    return _accepted_edited(session, request) if request.edit else _accepted(session, request)


def _accepted(session: CommandSession, request: AcceptRequest) -> Answer:
    from pmem.cli.memory import memory_line

    proposed, others = _sorted(session, request.references)
    answers: dict[str, Answer] = {}
    if others or request.above is not None:  # first, as one of them may be unknown
        facts = PromoteRequest(references=others, above=request.above)
        answers["facts"] = _promoted(session, facts)
    if proposed:
        agreed = ApproveRequest(references=proposed, message=request.message)
        done = session.run(table.APPROVE, agreed)
        lines = ([("approved ", "green"), *memory_line(item.memory)] for item in done.items)
        answers["proposals"] = Answer(data=done, lines=lines)
    if request.noted_by is not None:
        kept = session.run(table.CONFIRM, ConfirmRequest(agent=request.noted_by))
        lines = ([("kept ", "green"), *memory_line(memory)] for memory in kept.items)
        nothing = f"nothing that {request.noted_by} noted waits to be confirmed"
        answers["noted"] = listed(kept, nothing, lines=lines)
    return _together(answers)


@asks(RejectRequest)
def reject(session: CommandSession, request: RejectRequest) -> Answer:
    """Reject facts and proposals: they are not asked about again."""
    proposed, others = _sorted(session, request.references)
    answers: dict[str, Answer] = {}
    if others:
        done = session.run(table.REJECT_FACTS, RecordsRequest(references=others))
        texts = ((short(it.id), " ".join(it.content.split())) for it in done.items)
        word = ("rejected ", "green")
        lines = ([word, (id_, "cyan"), (f"  {text}", "")] for id_, text in texts)
        answers["facts"] = Answer(data=done, lines=lines)
    if proposed:
        gone = session.run(table.REJECT, RecordsRequest(references=proposed))
        answers["proposals"] = Answer(data=gone, lines=map(_decision_line, gone.items))
    return _together(answers)


@asks(FactsRequest)
def facts(
    session: CommandSession,
    request: FactsRequest,
    every: bool = own("With any standing.", flag="--all"),
) -> Answer:
    """List the facts that messages state, the surest first."""
    if every:
        request = msgspec.structs.replace(request, standing=None)
    found = session.run(table.FACTS, request)
    items = [item.fact for item in found.items]
    nothing = "no fact was noted yet" if every else f"no fact is {request.standing}"
    return listed(found, nothing, screen=drawn(session, "lists.fact_screen", items, every=every))


@asks(WaitingRequest)
def proposals(session: CommandSession, request: WaitingRequest) -> Answer:
    """List what waits for consent or a second signal, oldest first."""
    found = session.run(table.WAITING, request)
    lines = chain(map(_decision_line, found.decisions), map(_waiting_line, found.items))
    return listed(found, "nothing waits for consent", lines=lines)


def _sorted(
    session: CommandSession, references: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the references of proposals, and the others, which name facts."""
    waiting = session.run(table.WAITING, WaitingRequest()).items
    proposed = [name for name in references if any(matches(name, item.id) for item in waiting)]
    for name in proposed:
        fitting = _fitting(session, name)
        if len(fitting) > 1:
            told = ", ".join(short(item.id) for item in fitting[:_MOST_IDS])
            raise Ambiguous(f"{name!r} fits {told}", "give more of the id")
    return tuple(proposed), tuple(name for name in references if name not in proposed)


def _fitting(session: CommandSession, name: str) -> list[WaitingProposal | Fact]:
    proposed = session.run(table.WAITING, WaitingRequest()).items
    facts = (found.fact for found in session.run(table.FACTS, FactsRequest()).items)
    both: list[WaitingProposal | Fact] = [*proposed, *facts]
    return [item for item in both if matches(name, item.id)]


def _together(answers: Mapping[str, Answer]) -> Answer:
    if len(answers) == 1:
        return next(iter(answers.values()))
    return Answer(
        data={kind: plain_form(answer.data) for kind, answer in answers.items()},
        lines=chain.from_iterable(answer.lines for answer in answers.values()),
        note="\n".join(answer.note for answer in answers.values() if answer.note),
        exit_code=max(answer.exit_code for answer in answers.values()),
    )


def _promoted(session: CommandSession, request: PromoteRequest) -> Answer:
    done = session.run(table.PROMOTE, request)
    left = len(request.references) - len(done.items) - len(done.held)
    notes = [held.told for held in done.held]
    notes += (f"{short(one.fact)} stays pending: {one.reason}" for one in done.unpromoted)
    if left > 0:
        notes.append(f"{left} not promoted: {'a memory' if left == 1 else 'memories'} already")
    return Answer(
        data=done,
        lines=chain.from_iterable(map(_promotion_lines, done.items)),
        note="\n".join(notes or ([] if done.items else ["nothing to promote"])),
        exit_code=Refused.exit_code if done.held else 0,
    )


def _accepted_edited(session: CommandSession, request: AcceptRequest) -> Answer:
    """Accept one fact or proposal as somebody at a terminal changes it in an editor."""
    from pmem.cli.changes import keep_draft
    from pmem.cli.memory import kept_draft, write_draft

    if len(request.references) != 1 or request.above is not None:
        raise UsageError("--edit takes one reference", "accept the others without it")
    if session.json or not can_ask():
        raise UsageError("--edit needs a terminal", "`pmem edit REF TEXT` changes it afterwards")
    name = request.references[0]
    fitting = _fitting(session, name)
    if len(fitting) != 1:
        raise NotFound(f"{name!r} is not one pending fact or proposal", "`pmem inbox` shows them")
    target = getattr(fitting[0], "target", None)
    if target is not None:
        raise UsageError(
            f"{name} changes a memory, so --edit does not go with it",
            f"approve it, then `pmem edit {short(target)}`",
        )
    draft = write_draft(session, fitting[0].content or "")
    with kept_draft(draft):
        answer = _accepted(session, request)
    made = [item.memory for item in answer.data.items]
    lines = keep_draft(session, made[0], draft).lines if made else [[(draft.place, "yellow")]]
    return msgspec.structs.replace(answer, lines=[*answer.lines, *lines])


def _promotion_lines(item: Promotion) -> Iterator[Line]:
    from pmem.cli.memory import memory_line, neighbour_lines

    word = "promoted " if item.added else "known "
    fact = short(item.fact.id)
    yield [(word, "green"), (fact, "cyan"), (" as ", "dim"), *memory_line(item.memory)]
    beside, told_of = item.beside, {one.link.target for one in item.neighbours}
    if beside is not None and beside.id not in told_of:
        yield [(f"  beside {short(beside.id)}: ", "dim"), (" ".join(beside.content.split()), "")]
        yield [(f"    {advice('updates', beside.id, item.memory.id)}", "dim")]
    yield from neighbour_lines(item.memory, item.neighbours)


def _waiting_line(item: WaitingProposal) -> Line:
    return [
        (item.short, "cyan"),
        (f"  {item.field.replace('_', ' '):<14}", "dim"),
        (f"  until {iso(item.until.replace(microsecond=0))}", "dim"),
        (f"  {item.agent or 'a conversation'}: ", "green"),
        ("" if item.target is None else f"of {short(item.target)}: ", "dim"),
        (f"{' '.join(item.subject.split())}: " if item.subject else "", "bold"),
        (" ".join((item.content or "(only people see what it says)").split()), ""),
        ("  (waits for a second signal)" if item.kind == "signals" else "", "yellow"),
    ]


def _decision_line(item: ProposalOutcome) -> Line:
    by = f" by {item.actor}" if item.actor else ""
    return [
        (f"{item.decision} ", "green" if item.decision == "approved" else "yellow"),
        (short(item.id), "cyan"),
        (f"  {item.field.replace('_', ' ')}{by}  {iso(item.at.replace(microsecond=0))}", "dim"),
    ]
