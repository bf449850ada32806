"""Upkeep of the whole memory: a plan that can be read first, and its steps one by one.

A plan is made without the lock, so that other writers go on meanwhile. A step is done only if
its records are still as the plan found them; what has changed since is left and reported.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from pmem.core.filters import Filter
from pmem.core.lifecycle import consolidation
from pmem.core.lifecycle.consolidation import ARCHIVE_BELOW, faded
from pmem.core.lifecycle.plan import (
    Action,
    Kept,
    Notice,
    Touched,
    UpkeepPlan,
    UpkeepStep,
    groups,
    kind_of,
    plan_name,
    text_of,
)
from pmem.core.lifecycle.presence import fading_rules, with_recalls
from pmem.core.record_keys import content_key
from pmem.core.retention import age_in_days, days_until
from pmem.core.selection import Selection, ticks
from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.memory.proposals import drop_expired
from pmem.memory.recalls import not_ahead, waiting
from pmem.project.references import living_news
from pmem.project.workspace import Workspace
from pmem.storage.store import Store
from pmem.values.fields import DryRun
from pmem.values.ids import short
from pmem.values.records import Access, Episode, Memory, MemoryType, State
from pmem.values.times import shifted

BATCH: Final = 200  # records that are written together; the lock is free between two batches
PURGED_TOGETHER: Final = 2000
"""The same where they are deleted: what still leads to them is looked for in all records."""
PAUSE_SECONDS: Final = 0.06
"""How long the lock is free, which is longer than a writer who waits for it sleeps."""
REMOVING: Final = frozenset({Action.EXPIRE, Action.PURGE})  # the actions of a sweep

_CATCHING_UP: Final = ("turn_facts", "episode", "chunk_summary", "same_fact", "procedure")
"""What a consolidation lets models do that was left."""

K = TypeVar("K", bound=Kept)
Outcome = Literal["planned", "done", "changed"]
Planner = Callable[[Workspace, dict[str, Kept]], UpkeepPlan]


class RecordChange(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a step: the fields that change, before and after; none where it is gone."""

    id: str
    short: str
    kind: str
    text: str
    before: dict[str, Any]
    after: dict[str, Any]


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One step: what it does and why, and what became of it."""

    id: str
    action: Action
    outcome: Outcome
    why: str
    advice: str = ""
    records: tuple[RecordChange, ...]


class PlannedStep(msgspec.Struct, frozen=True):
    """What must be known of a step of an earlier plan."""

    id: str
    action: str
    records: tuple[dict[str, Any], ...] = ()


class UpkeepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What upkeep would do, or did.

    `missing` are steps of the plan that was asked for and would not come out the same now;
    `beyond` is how many steps are due that it does not have. `waiting` pairs are left for the
    next run. `counts` says how many records each action is about, and how many tokens of
    active memories are saved.
    """

    dry_run: bool
    plan: str
    steps: tuple[StepReport, ...]
    missing: tuple[PlannedStep, ...] = ()
    beyond: int = 0
    notices: tuple[Notice, ...] = ()
    waiting: int = 0
    counts: dict[str, int]

    @property
    def noted(self) -> dict[str, str] | None:
        """What the log of operations says of it; a dry run is none."""
        return None if self.dry_run else {"status": "ok" if self.steps else "skipped"}


class UpkeepRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to do it, or only to say what would be done; of an `expected` earlier plan only these
    steps, as far as they are the same.
    """

    dry_run: DryRun = False
    expected: tuple[PlannedStep, ...] | None = None


def consolidate(workspace: Workspace, request: UpkeepRequest) -> UpkeepReport:
    """Archive what has faded, merge what says the same, link neighbours, fold recalls in."""
    has_models = workspace.given_models is not None or workspace.settings.model.is_chosen
    asks = has_models and not request.dry_run and request.expected is None
    if asks:
        from pmem.upkeep.work.doing import catch_up_apps, do_work

        do_work(workspace, ("insight",))  # before rules note some: a day has one turn
    report = _run(workspace, _consolidation, request)
    if asks:
        do_work(workspace, _CATCHING_UP)
        catch_up_apps(workspace)
    judged = workspace.own.judged(workspace.now())
    known = judged.known()
    fresh = [notice for notice in report.notices if _fingerprint(notice) not in known]
    if fresh and not request.dry_run:
        judged.note(map(_fingerprint, fresh))
    return msgspec.structs.replace(report, notices=tuple(fresh))


def sweep(workspace: Workspace, request: UpkeepRequest) -> UpkeepReport:
    """Remove what is unimportant and unused, and delete for good what was removed long ago."""
    if not request.dry_run:
        drop_expired(workspace)
    return _run(workspace, _sweep, request)


def together(first: UpkeepReport, second: UpkeepReport) -> UpkeepReport:
    """Return two reports as one; of records that both plans are about, the first decides."""
    planned = {record.id for step in first.steps for record in step.records}
    is_plan = first.dry_run
    steps = [
        step
        for step in second.steps
        if step.action is not Action.FOLD
        and not (is_plan and any(record.id in planned for record in step.records))
    ]
    return UpkeepReport(
        dry_run=first.dry_run,
        plan=first.plan,
        steps=(*first.steps, *steps),
        missing=(*first.missing, *second.missing),
        beyond=first.beyond + second.beyond,
        notices=first.notices,
        waiting=first.waiting,
        counts={
            name: first.counts.get(name, 0) + second.counts.get(name, 0)
            for name in {**first.counts, **second.counts}
        },
    )


def rules_of(workspace: Workspace) -> consolidation.ConsolidationRules:
    """Return what the settings say about consolidation."""
    settings = workspace.settings
    return consolidation.ConsolidationRules(
        fading=fading_rules(settings),
        consolidation_threshold_days=settings.consolidation_threshold_days,
        max_episodes=settings.max_episodic_memories,
        most_characters=settings.limits.memory,
        insights=settings.note_insights,
        max_pairs=consolidation.MOST_PAIRS,
    )


def _run(workspace: Workspace, planner: Planner, request: UpkeepRequest) -> UpkeepReport:
    asked = {step.id: step for step in request.expected or ()}
    is_asked_for_all = request.expected is None
    if is_asked_for_all or any(step.action == Action.FOLD for step in asked.values()):
        before, folded = _fold_recalls(workspace, dry_run=request.dry_run)
    else:
        before = folded = _read_records(workspace)
    plan = planner(workspace, folded)
    pairs = [(record, folded[id_]) for id_, record in sorted(before.items())]
    touched = tuple(Touched(old=old, new=new) for old, new in pairs if new is not old)
    why = "recalls since the last time go into the records"
    fold = [UpkeepStep(action=Action.FOLD, why=why, touched=touched)] if touched else []
    due = {step.name: step for step in plan.steps}
    steps = {name: step for name, step in due.items() if is_asked_for_all or name in asked}
    changed = set() if request.dry_run else _apply(workspace, steps)
    did: Outcome = "planned" if request.dry_run else "done"
    reports = [_report(step.name, step, did) for step in fold]
    for name, step in steps.items():
        reports.append(_report(name, step, "changed" if name in changed else did))
    return UpkeepReport(
        dry_run=request.dry_run,
        plan=plan_name(due),
        steps=tuple(reports),
        missing=tuple(
            step for name, step in asked.items() if name not in due and step.action != Action.FOLD
        ),
        beyond=len(due) - len(steps),
        notices=plan.notices,
        waiting=plan.waiting,
        counts=_counts([step for name, step in steps.items() if name not in changed], fold),
    )


def _consolidation(workspace: Workspace, records: dict[str, Kept]) -> UpkeepPlan:
    return consolidation.plan_consolidation(
        records.values(),
        rules_of(workspace),
        workspace.actor,
        workspace.now(),
        workspace.count,
    )


def _sweep(workspace: Workspace, records: dict[str, Kept]) -> UpkeepPlan:
    settings = workspace.settings
    rules = consolidation.SweepRules(
        ttl_days=settings.ttl_days,
        purge_days=settings.purge_days,
        fading=fading_rules(settings),
    )
    return consolidation.plan_sweep(records.values(), rules, workspace.actor, workspace.now())


def _read_records(workspace: Workspace) -> dict[str, Kept]:
    found: list[Kept] = [*workspace.memories.find(), *workspace.episodes.find()]
    return {record.id: record for record in found}


def _fold_recalls(
    workspace: Workspace, *, dry_run: bool
) -> tuple[dict[str, Kept], dict[str, Kept]]:
    """Return the records without and with the recalls that they lack, and write these into them."""
    if dry_run:
        before, recalls = _read_records(workspace), waiting(workspace)
    else:
        with workspace.own.access.folding() as taken:
            recalls = not_ahead(workspace, taken)
            before = _read_records(workspace)
            _write_recalls(workspace, before, recalls)
            workspace.own.access.keep(_elsewhere(workspace, recalls, before))
    return before, {record.id: record for record in counted(before.values(), recalls)}


def _write_recalls(
    workspace: Workspace, records: dict[str, Kept], recalls: dict[str, Access]
) -> None:
    """Write recalls into the records that they are about; what is gone has none any more."""
    ids = sorted(recalls.keys() & records.keys())
    for start in range(0, len(ids), BATCH):
        if start:
            time.sleep(PAUSE_SECONDS)
        with workspace.transaction():
            for id_ in ids[start : start + BATCH]:
                record = _current(workspace, records[id_])
                if record is not None:
                    _store(workspace, record).put(with_recalls(record, recalls[id_]))


def _elsewhere(
    workspace: Workspace, recalls: dict[str, Access], known: Collection[str]
) -> dict[str, Access]:
    """Return recent recalls of what is not here: it may be on another branch, or be mended."""
    now, days = workspace.now(), workspace.settings.ttl_days
    return {
        id_: access
        for id_, access in recalls.items()
        if id_ not in known
        and access.last_at is not None
        and age_in_days(access.last_at, now) < days
    }


def _apply(workspace: Workspace, steps: dict[str, UpkeepStep]) -> set[str]:
    """Do steps, and return the names of those whose records have changed since the plan."""
    changed: list[UpkeepStep] = []
    for number, batch in enumerate(_batches(groups(list(steps.values())))):
        if number:
            time.sleep(PAUSE_SECONDS)
        with workspace.transaction():
            for group in batch:
                if _is_unchanged(workspace, group):
                    _write_group(workspace, group)
                else:
                    changed += group
    return {step.name for step in changed}


def _batches(found: Iterable[list[UpkeepStep]]) -> Iterator[list[list[UpkeepStep]]]:
    batch: list[list[UpkeepStep]] = []
    size, purges = 0, False
    for group in found:
        batch.append(group)
        size += sum(len(step.touched) for step in group)
        purges = purges or any(step.action is Action.PURGE for step in group)
        if size >= (PURGED_TOGETHER if purges else BATCH):
            yield batch
            batch, size, purges = [], 0, False
    if batch:
        yield batch


def _is_unchanged(workspace: Workspace, group: list[UpkeepStep]) -> bool:
    """Tell whether all that a group changes, and rests on, is as the plan found it."""
    first: dict[str, Touched] = {}
    for part in (part for step in group for part in step.touched):
        first.setdefault(part.record.id, part)
    if any(_current(workspace, part.record) != part.old for part in first.values()):
        return False
    made = (part.record for part in first.values() if part.old is None)
    texts = (content_key(record.content) for record in made if isinstance(record, Memory))
    if any(any(workspace.memories.twins(text)) for text in texts):  # made by another process
        return False
    rest = (record for step in group for record in step.rests_on if record.id not in first)
    found = ((record, _current(workspace, record)) for record in rest)
    return all(now and _is_active(now) and text_of(now) == text_of(was) for was, now in found)


def _write_group(workspace: Workspace, group: list[UpkeepStep]) -> None:
    """Write what a group of steps leaves behind; links that led nowhere are not taken over."""
    touched = [part for step in group for part in step.touched]
    for part in touched:
        if part.new is None:
            _store(workspace, part.record).remove(part.record.id)
        else:
            _store(workspace, part.new).put(part.new)
    for part in touched:
        if part.new is not None:
            _store(workspace, part.new).put(living_news(workspace, part.new))


def _store(workspace: Workspace, record: Kept) -> Store[Any]:
    return workspace.episodes if isinstance(record, Episode) else workspace.memories


def _current(workspace: Workspace, record: Kept) -> Kept | None:
    """Return a record as it is now; None for one that is gone or whose file cannot be used."""
    try:
        found: Kept = _store(workspace, record).get(record.id)
    except (NotFound, Damaged, StorageRefused):
        return None
    return found


def _report(name: str, step: UpkeepStep, outcome: Outcome) -> StepReport:
    records = []
    for part in step.touched:
        one = part.record
        about = {"id": one.id, "short": short(one.id), "kind": kind_of(one), "text": text_of(one)}
        before, after = part.differences()
        records.append(RecordChange(**about, before=before, after=after))
    return StepReport(
        id=name,
        action=step.action,
        outcome=outcome,
        why=step.why,
        advice=step.advice,
        records=tuple(records),
    )


def _counts(steps: list[UpkeepStep], fold: list[UpkeepStep]) -> dict[str, int]:
    counts = Counter({str(action): 0 for action in Action})
    counts[Action.FOLD] = sum(len(step.touched) for step in fold)
    saved = 0
    for step in steps:
        left = [it for it in step.touched if _is_active(it.old) and not _is_active(it.new)]
        counts[step.action] += len(left) or 1
        saved += sum(part.record.tokens for part in left if isinstance(part.record, Memory))
    return {**counts, "tokens_reclaimed": saved}


def _is_active(record: Kept | None) -> bool:
    return record is not None and record.state is State.ACTIVE


def _fingerprint(notice: Notice) -> str:
    return " ".join((*sorted(notice.records), f"{notice.score:.2f}"))


UNPINNED: Final = Selection(wanted=Filter(pinned=False))  # the active memories that may fade


def faded_memories(
    workspace: Workspace,
    importances: Iterable[tuple[str, float]],
    recalled: Mapping[str, Access],
    many: int,
) -> list[tuple[Memory, float]]:
    """Return the memories that are due to be archived, each with its presence, by id.

    Of each of the `importances` that active memories have, by type, those that nobody has used for
    long enough are looked at, with the `recalled` that no record knows yet.
    """
    rules, now = rules_of(workspace), workspace.now()
    found: list[Memory] = []
    for type_, importance in importances:
        half_life = rules.fading.half_lives.get(MemoryType(type_))
        if half_life is None:
            continue
        days = days_until(ARCHIVE_BELOW, importance, half_life)
        wanted = replace(
            UNPINNED.wanted, types=(type_,), importance_min=importance, importance_max=importance
        )
        unused = (("used", ticks(shifted(now, -timedelta(days=days))) + 1),)
        found += workspace.memories.select(replace(UNPINNED, wanted=wanted, below=unused))
    return faded(counted(found, recalled), now, rules, many)


def counted(records: Iterable[K], recalled: Mapping[str, Access]) -> list[K]:
    """Return memories or episodes with the recalls that their records do not know yet."""
    return [
        with_recalls(record, recalled[record.id]) if record.id in recalled else record
        for record in records
    ]
