"""The commands for the facts that messages state."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from pmem.cli.asking import asks
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import Refused
from pmem.memory.changes import RecordsRequest
from pmem.memory.facts import FactsRequest, PromoteRequest, Promotion, UnpromotedFact
from pmem.operations import table
from pmem.values.ids import matches, short
from pmem.values.records import Fact, MemoryType, Standing

if TYPE_CHECKING:
    from pmem.cli.drafts import WrittenText
    from pmem.memory.proposals import Held

_ALL = "all"
_NOTHING = "nothing to promote"


@asks(FactsRequest)
def list_(
    session: CommandSession,
    request: FactsRequest,
    every: Annotated[bool, typer.Option("--all", help="With any standing.")] = False,
) -> Answer:
    """List the facts that messages state, the surest first."""
    if every:
        request = msgspec.structs.replace(request, standing=None)
    found = session.run(table.FACTS, request)
    return Answer(
        data=found,
        lines=(_fact_line(item.fact, every=every) for item in found.items),
        screen=partial(_draw_facts, session, [item.fact for item in found.items], every=every),
        note="" if found.items else _none(request.standing),
    )


def _draw_facts(
    session: CommandSession, facts: Sequence[Fact], width: int, *, every: bool
) -> Iterable[Line]:
    from pmem.cli.screens.lists import fact_screen
    from pmem.cli.screens.view import view_of

    return fact_screen(facts, view_of(session, width), every=every)


def promoted(
    session: CommandSession, references: Sequence[str], above: float | None, *, edit: bool
) -> Answer:
    """Make memories of facts."""
    request = PromoteRequest(references=tuple(references), above=above)
    drafts = _drafts(session, request) if edit else {}
    done = session.run(table.PROMOTE, request)
    left = len(references) - len(done.items) - len(done.held)
    memories = {short(item.fact.id): item.memory for item in done.items}
    notes = [*map(told, done.held), *map(_why_pending, done.unpromoted)]
    notes.append(_describe_left_facts(left))
    if not done.items and not any(notes):
        notes = [_NOTHING]
    lines = [line for item in done.items for line in _promotion_lines(item)]
    if drafts:
        from pmem.cli.changes import keep_drafts  # slow, rarely needed

        lines += keep_drafts(session, memories, drafts)
    return Answer(
        data=done,
        lines=lines,
        note="\n".join(filter(None, notes)),
        exit_code=Refused.exit_code if done.held else 0,
    )


def _drafts(session: CommandSession, request: PromoteRequest) -> "dict[str, WrittenText]":
    """Let a person change what facts say, as long as they are none but facts."""
    from pmem.cli.drafts import write_drafts

    pending = [item.fact for item in session.run(table.FACTS, FactsRequest()).items]
    fitting = [[fact for fact in pending if matches(name, fact.id)] for name in request.references]
    chosen = [facts[0] for facts in fitting if len(facts) == 1]
    if request.above is not None:
        chosen += [fact for fact in pending if fact.confidence >= request.above]
    return write_drafts(session, {short(fact.id): fact.content for fact in chosen})


def rejected(session: CommandSession, references: Sequence[str]) -> Answer:
    """Reject facts: they are no longer pending, and never noted again."""
    done = session.run(table.REJECT_FACTS, RecordsRequest(references=tuple(references)))
    lines = ([("rejected ", "green"), *_fact_line(fact)] for fact in done.items)
    return Answer(data=done, lines=lines)


def _fact_line(fact: Fact, *, every: bool = False) -> Line:
    return list(_spans(fact, every=every))


def _spans(fact: Fact, *, every: bool) -> Iterator[tuple[str, str]]:
    yield short(fact.id), "cyan"
    yield f"  {fact.confidence:.2f}", "green"
    yield f"  {fact.type:<{max(map(len, MemoryType))}}", "dim"
    if every:
        yield f"  {fact.standing:<8}", "dim"
    yield f"  {' '.join(fact.content.split())}", ""


def judgement_notes(item: Promotion) -> Iterator[str]:
    """Say which memories a promoted fact updates or contradicts, and what to do about it."""
    from pmem.cli.memory import neighbour_lines

    for line in neighbour_lines(item.memory, item.neighbours):
        yield "".join(text for text, _ in line)


def _promotion_lines(item: Promotion) -> Iterator[Line]:
    from pmem.cli.memory import neighbour_lines
    from pmem.core.lifecycle.neighbours import advice

    word = "promoted" if item.added else "known"
    yield [
        (f"{word} ", "green"),
        (short(item.fact.id), "cyan"),
        (" as ", "dim"),
        (short(item.memory.id), "cyan"),
        (f"  {item.memory.type}  ", "dim"),
        (" ".join(item.memory.content.split()), ""),
    ]
    beside, told_of = item.beside, {one.link.target for one in item.neighbours}
    if beside is not None and beside.id not in told_of:
        yield [(f"  beside {short(beside.id)}: ", "dim"), (" ".join(beside.content.split()), "")]
        yield [(f"    {advice('updates', beside.id, item.memory.id)}", "dim")]
    yield from neighbour_lines(item.memory, item.neighbours)


def _why_pending(fact: UnpromotedFact) -> str:
    return f"{short(fact.fact)} stays pending: {fact.reason}"


def _describe_left_facts(count: int) -> str:
    """Say why facts that were named did not become memories."""
    if count <= 0:
        return ""
    word = "a memory" if count == 1 else "memories"
    return f"{count} not promoted: {word} already"


def told(held: "Held") -> str:
    """Say that a fact waits, and not what it says."""
    return held.sentence if held.rejected else f"{held.sentence}; {held.hint}"


def _none(standing: Standing | None) -> str:
    if standing is None:
        return "no fact was noted yet"
    return f"no fact is {standing}"
