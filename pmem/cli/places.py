"""`pmem outcome`, `why` and `tried`: decisions and dead ends, and the files that they are about."""

from collections.abc import Iterator
from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.memory import EXIT_CODES, added_lines, added_note, memory_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.error_fingerprint import evidence_of
from pmem.core.outcomes import how_it_went
from pmem.core.visible import one_visible_line
from pmem.errors import UsageError
from pmem.memory.outcomes import OutcomeRequest, TriedRequest
from pmem.memory.why import Reason, Why, WhyRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import State
from pmem.values.times import day


@asks(OutcomeRequest)
def outcome(
    session: CommandSession,
    request: OutcomeRequest,
    retract: bool = own("Remove its latest outcome."),
) -> Answer:
    """Note how a decision turned out.

    Contexts show a decision that went badly as a dead end. Constraints, entities and dead ends have
    no outcome.
    """
    if retract is (request.verdict is not None):
        raise UsageError("give either a verdict or --retract", "a verdict is good, bad or mixed")
    done = session.run(table.OUTCOME, request)
    step = done.next_step.format(short(done.memory.id))
    word = "removed an outcome of " if retract else "noted "
    line: Line = [(word, "green"), *memory_line(done.memory)]
    return Answer(data=done, lines=[line], note=f"next: {step}" if step else "")


_VAGUE: Final = (
    "the error says too little to be told from others, so it will not bring this back: give the"
    " line that names it"
)


@asks(WhyRequest)
def why(session: CommandSession, request: WhyRequest) -> Answer:
    """Show what was decided, tried and replaced at a place in code."""
    found = session.run(table.WHY, request)
    nothing = f"no memory applies to {one_visible_line(request.place)} or cites what is there"
    return Answer(data=found, lines=_why_lines(found), note=found.note if found.items else nothing)


@asks(TriedRequest)
def tried(
    session: CommandSession,
    request: TriedRequest,
    error: str | None = own(
        "The error; only a fingerprint is kept.", shown="TEXT|-", reading="log"
    ),
) -> Answer:
    """Note what was tried and failed, and what worked instead."""
    if request.failed is None and request.worked is None:
        raise UsageError("what came of it is missing", "give --failed WHY, or --worked WHAT")
    evidence = () if error is None else evidence_of(error)
    request = msgspec.structs.replace(request, evidence=evidence[:1], agent=session.asker)
    done = session.run(table.TRIED, request)
    both = [one for one in (done.dead_end, done.fix) if one is not None]
    last = done.fix or done.dead_end
    notes = [*map(added_note, both if done.fix is None else [last])]
    if error is not None and not evidence:
        notes.append(_VAGUE)
    lines = [line for one in both for line in added_lines(one)]
    note = "\n".join(filter(None, notes))
    return Answer(data=done, lines=lines, note=note, exit_code=EXIT_CODES[last.action])


def _why_lines(found: Why) -> Iterator[Line]:
    if found.line is not None:
        place = one_visible_line(f"{found.file}:{found.line}")
        if found.origin is None:
            yield [(place, "bold"), (f"  {found.no_origin}", "dim")]
        else:
            origin = found.origin
            told = f"{day(origin.at).strip()}  {origin.author}: {origin.subject}"
            commit = f"  {origin.commit[:10]}  "
            yield [(place, "bold"), (commit, "yellow"), (one_visible_line(told), "")]
    for reason in found.items:
        yield memory_line(reason.memory, origin=reason.origin)
        if reason.fix is not None:
            fix = one_visible_line(" ".join(reason.fix.content.split()))
            yield [("     instead: ", "green"), (f"{fix} ", ""), (short(reason.fix.id), "cyan")]
        how = [how_it_went(reason.memory)] if reason.memory.outcomes else []
        said = "; ".join(filter(None, (_standing(reason), *how, *reason.how)))
        yield [(f"     {one_visible_line(said)}", "dim")]


def _standing(reason: Reason) -> str:
    if reason.standing == State.ACTIVE:
        return ""
    standing = reason.standing.replace("_", " ")
    if reason.stale:
        standing += f" ({', '.join(reason.stale)})"
    if reason.memory.settled is not None and reason.memory.settled.reason:
        standing += f" ({reason.memory.settled.reason})"
    return standing if reason.by is None else f"{standing} by {short(reason.by)}"
