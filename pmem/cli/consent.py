"""The commands for what waits for a person's consent."""

from collections.abc import Iterator, Sequence

from pmem.cli.asking import asks
from pmem.cli.changes import keep_drafts
from pmem.cli.drafts import WrittenText, write_drafts
from pmem.cli.memory import memory_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import UsageError
from pmem.memory.changes import RecordsRequest
from pmem.memory.consent import ApproveRequest, WaitingProposal, WaitingRequest
from pmem.operations import table
from pmem.storage.local.proposals import ProposalOutcome
from pmem.values.ids import matches, short
from pmem.values.times import iso


@asks(WaitingRequest)
def list_(session: CommandSession, request: WaitingRequest) -> Answer:
    """List what waits for consent or a second signal, oldest first."""
    found = session.run(table.WAITING, request)
    return Answer(
        data=found,
        lines=(
            line
            for lines in (
                map(_decision_line, found.decisions),
                map(_waiting_line, found.items),
            )
            for line in lines
        ),
        note="" if found.items else "nothing waits for consent",
    )


def approved(
    session: CommandSession, references: Sequence[str], message: str | None, *, edit: bool
) -> Answer:
    """Remember what was proposed."""
    drafts = _drafts(session, references) if edit else {}
    request = ApproveRequest(references=tuple(references), message=message)
    done = session.run(table.APPROVE, request)
    lines: list[Line] = [
        *([("approved ", "green"), *memory_line(item.memory)] for item in done.items),
        *keep_drafts(session, {short(item.id): item.memory for item in done.items}, drafts),
    ]
    return Answer(data=done, lines=lines)


def _drafts(session: CommandSession, references: Sequence[str]) -> dict[str, WrittenText]:
    """Let a person change what proposals say before they agree to them."""
    waiting = session.run(table.WAITING, WaitingRequest()).items
    fitting = [[item for item in waiting if matches(name, item.id)] for name in references]
    chosen = [items[0] for items in fitting if len(items) == 1]
    changing = next((item for item in chosen if item.target is not None), None)
    if changing is not None:
        raise UsageError(
            f"{changing.short} changes a memory, so --edit does not go with it",
            f"approve it, then `pmem edit {short(changing.target or '')}`",
        )
    return write_drafts(session, {item.short: item.content for item in chosen if item.content})


def rejected(session: CommandSession, references: Sequence[str]) -> Answer:
    """Forget what was proposed, and do not ask again."""
    done = session.run(table.REJECT, RecordsRequest(references=tuple(references)))
    return Answer(data=done, lines=map(_decision_line, done.items))


def _waiting_line(item: WaitingProposal) -> Line:
    return list(_spans(item))


def _spans(item: WaitingProposal) -> Iterator[tuple[str, str]]:
    yield item.short, "cyan"
    yield f"  {item.field.replace('_', ' '):<14}", "dim"
    yield f"  until {iso(item.until.replace(microsecond=0))}", "dim"
    yield f"  {item.agent or 'a conversation'}: ", "green"
    if item.target is not None:
        yield f"of {short(item.target)}: ", "dim"
    if item.subject:
        yield f"{' '.join(item.subject.split())}: ", "bold"
    yield " ".join((item.content or "(only people see what it says)").split()), ""
    if item.kind == "signals":
        yield "  (waits for a second signal)", "yellow"


def _decision_line(item: ProposalOutcome) -> Line:
    by = f" by {item.actor}" if item.actor else ""
    return [
        (f"{item.decision} ", "green" if item.decision == "approved" else "yellow"),
        (short(item.id), "cyan"),
        (f"  {item.field.replace('_', ' ')}{by}  {iso(item.at.replace(microsecond=0))}", "dim"),
    ]
