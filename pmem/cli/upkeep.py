"""`pmem consolidate`: its plan, and what it did."""

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.screens.stories import sides
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.core.journal import one_line
from pmem.core.lifecycle.plan import Action
from pmem.errors import InvalidValue
from pmem.operations import table
from pmem.upkeep import consolidation
from pmem.values.ids import short

_SHOWN: Final = 100  # characters of a text
_MOST: Final = 100  # steps of one kind that are printed for people
_MOST_RECALLED: Final = 5
_INDENT: Final = " " * 11
_HEADLINES: Final = {
    Action.FOLD: ("dim", "save in the records what was recalled"),
    Action.MERGE: ("magenta", "merge what says the same"),
    Action.ARCHIVE: ("yellow", "archive what has faded"),
    Action.LINK: ("cyan", "link what belongs together"),
    Action.INSIGHT: ("green", "note insights"),
    Action.EXPIRE: ("yellow", "remove what is not used (can be restored)"),
    Action.PURGE: ("red", "delete for good"),
}
"""The colour and the headline of the steps of one kind."""


class _Steps(msgspec.Struct):
    steps: tuple[consolidation.PlannedStep, ...]


class _PlanFile(msgspec.Struct):
    schema: Literal["pmem/1"]
    data: _Steps


@asks(consolidation.UpkeepRequest)
def consolidate(
    session: CommandSession,
    request: consolidation.UpkeepRequest,
    plan: str | None = own("Do only what this plan says (from --dry-run --json).", shown="FILE|-"),
) -> Answer:
    """Archive what faded, merge duplicates, remove what is unused.

    Memories that are related are linked, and what was recalled since the last time is saved in
    the records. What was removed long ago is deleted for good.
    """
    expected = None if plan is None else _planned(session, plan)
    first, second = (
        session.run(operation, msgspec.structs.replace(request, expected=steps))
        for operation, steps in (
            (table.CONSOLIDATE, _part_of(expected, removes=False)),
            (table.SWEEP, _part_of(expected, removes=True)),
        )
    )
    done = consolidation.together(first, second)
    left = done.missing or any(step.outcome == "changed" for step in done.steps)
    code = 1 if expected is not None and left else 0
    is_changed = any(outcome.has_written for outcome in session.outcomes[-2:])
    note = "the rules found " * (is_changed and not done.steps) + _upkeep_note(done)
    return Answer(data=done, lines=_lines(done), note=note, exit_code=code)


def _part_of(
    planned: tuple[consolidation.PlannedStep, ...] | None, *, removes: bool
) -> tuple[consolidation.PlannedStep, ...] | None:
    if planned is None:
        return None
    return tuple(step for step in planned if (step.action in consolidation.REMOVING) is removes)


def _planned(session: CommandSession, path: str) -> tuple[consolidation.PlannedStep, ...]:
    try:
        value = msgspec.json.decode(b"\n".join(session.read_lines(path)), type=_PlanFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InvalidValue(
            f"{'standard input' if path == '-' else path} holds no plan",
            "keep one with `--dry-run --json > FILE`",
        ) from None
    return value.data.steps


def _lines(done: consolidation.UpkeepReport) -> Iterator[Line]:
    for action in Action:
        steps = [step for step in done.steps if step.action == action]
        if steps:
            colour, headline = _HEADLINES[action]
            yield [(headline, f"bold {colour}"), (f"  {len(steps)}", "dim")]
            for step in steps[:_MOST]:
                yield from _step(step)
            if len(steps) > _MOST:
                yield [(f"  and {len(steps) - _MOST} more; --json has them all", "dim")]
    for planned in done.missing:
        texts = " | ".join(str(record.get("text", "")) for record in planned.records)
        said = f"{planned.action}: {one_line(texts, 2 * _SHOWN)}"
        yield [("no longer as planned  ", "yellow"), (said, "")]
    for notice in done.notices:
        yield [("left alone", "bold dim"), (f"  {notice.why}", "dim")]
        for id_, text in zip(notice.records, notice.texts, strict=True):
            yield _record_line("", short(id_), text)


def _step(step: consolidation.StepReport) -> Iterator[Line]:
    if step.action is Action.FOLD:
        for record in step.records[:_MOST_RECALLED]:
            was, now = record.before["access"], record.after["access"]
            more = now.get("count", 0) - was.get("count", 0)
            yield _record_line(f"+{more}" if more else "shown", record.short, record.text)
        if len(step.records) > _MOST_RECALLED:
            yield [(f"  and {len(step.records) - _MOST_RECALLED} more", "dim")]
        return
    for place, record in enumerate(step.records):
        yield _record_line(_word(step, record, place), record.short, record.text)
        for change in _differences(record):
            yield [(f"{_INDENT}{change}", "dim")]
    yield [(f"{_INDENT}because: ", "dim"), (step.why, "")]
    if step.advice:
        yield [(f"{_INDENT}you may: ", "dim"), (step.advice, "")]
    if step.outcome == "changed":
        yield [(f"{_INDENT}not done: ", "red"), ("a record has changed since the plan", "")]


def _record_line(word: str, name: str, text: str) -> Line:
    return [(f"  {word:<9}", "dim"), (name, "cyan"), (f"  {one_line(text, _SHOWN)}", "")]


def _word(step: consolidation.StepReport, record: consolidation.RecordChange, place: int) -> str:
    if record.after and not record.before:
        return "adds"
    if record.before and not record.after:
        return "deletes"
    if step.action is Action.MERGE and "state" in record.after:
        return "takes in"
    if step.action is Action.MERGE:
        return "keeps" if place == 0 else "relinks"
    return {"archive": "archives", "link": "links", "expire": "removes"}.get(step.action, "changes")


def _differences(record: consolidation.RecordChange) -> Iterator[str]:
    if not record.before or not record.after:
        return
    for name, was in record.before.items():
        if name == "relationships":
            yield from _links(was, record.after[name])
        elif name != "state":  # the headline says that
            change = " → ".join(sides(name, record.before, record.after, _SHOWN))
            yield f"{name.replace('_', ' ')}: {change}"


def _links(was: list[dict[str, Any]], will: list[dict[str, Any]]) -> Iterator[str]:
    for sign, links, others in (("-", was, will), ("+", will, was)):
        for link in links:
            if link not in others:
                kind, strength = link["type"].replace("_", " "), link.get("strength", 0.5)
                yield f"{sign} {kind} {short(link['target'])} ({strength:g})"


def _upkeep_note(done: consolidation.UpkeepReport) -> str:
    changed = sum(step.outcome == "changed" for step in done.steps)
    rest = (
        (changed, "step", "not done: records changed meanwhile; run it again"),
        (len(done.missing), "step", "of the plan would not come out the same"),
        (done.beyond, "step", "due beyond the plan"),
        (done.waiting, "pair", "left for the next run"),
    )
    said = [f"{counted(count, what)} {why}" for count, what, why in rest if count]
    return "\n".join([_summary(done), *said])


def _summary(done: consolidation.UpkeepReport) -> str:
    if not done.steps:
        return "nothing to do"
    if done.dry_run:
        return f"{counted(len(done.steps), 'step')} planned; nothing was changed"
    saved = done.counts["tokens_reclaimed"]
    did = sum(step.outcome == "done" for step in done.steps)
    return f"{counted(did, 'step')} done" + f", {saved} tokens reclaimed" * bool(saved)
