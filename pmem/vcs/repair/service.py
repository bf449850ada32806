"""Repairing: one look at the work tree and at git, one commit of files, one change of the index."""

import os
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from pmem.errors import PmemError
from pmem.project.configuration import CONFIG_FILE
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.files import durable
from pmem.storage.git.merge_stages import OURS, THEIRS, MergeState, Placed, merge_state
from pmem.storage.git.repository import TreeEntry
from pmem.storage.git.tracked import LOCAL
from pmem.storage.jsonfiles import JsonFiles
from pmem.values.config import Settings
from pmem.values.records import STORES, Conversation
from pmem.vcs import rule_files
from pmem.vcs.repair import settings
from pmem.vcs.repair.cases import Unfit, check_unchanged, in_tree
from pmem.vcs.repair.from_markers import marked_files, marker_cases
from pmem.vcs.repair.from_stages import stage_cases
from pmem.vcs.repair.mending import mend
from pmem.vcs.repair.plan import RepairOutcome, RepairPlan, planned
from pmem.vcs.repair.splitting import split_conversations

_MODE: Final = "100644"
Unmerged = Mapping[str, Mapping[int, TreeEntry]]
"""Paths with their stages by number."""


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was decided: its file, what was decided, why, and what contradicts itself.

    The project's settings and files of rules are no records, and have no id.

    `decision` is `merged`, `taken` (one side's), `added`, `kept` or `purged`. What is wrong between
    records is `cut` (links to nothing), `tidied` (messages that were kept twice), `made` (a
    conversation of which only chunks were left) or `split` (one whose files were too large). A file
    of rules that lagged behind is `written`.
    """

    path: str
    id: str
    decision: str
    detail: str
    conflicts: tuple[str, ...]


class Left(msgspec.Struct, frozen=True):
    """A file that stays as it is, and why."""

    path: str
    why: str


class RepairRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to change nothing, and only say what would be done."""

    dry_run: bool = False


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What was repaired and what is left.

    `root` is the memory folder. `next` is the command that goes on with what git had under way,
    empty where there is no git; `others` counts the unmerged paths outside the memory folder.
    """

    repaired: tuple[Repaired, ...]
    left: tuple[Left, ...]
    root: str
    next: str
    others: int

    def to_plain(self) -> dict[str, Any]:
        """Return what was repaired and what is left."""
        return {"repaired": self.repaired, "left": self.left}


def repair(workspace: Workspace, request: RepairRequest) -> Repair:
    """Finish what merges have left unfinished in the memory folder.

    Where nothing is unfinished, what is wrong between records is mended.

    Nothing is asked, and nothing is lost: where that cannot be had, a file stays as it is.
    Killed at any point, it can be run again.

    Raises:
        Locked: Another writer kept the lock, or another git the index.
        StorageRefused: The disk or a file refused, or git cannot read the repository.
    """
    dry_run = request.dry_run
    state = merge_state(workspace.root, workspace.environment)
    if dry_run:
        plan, _, merged = _plan(workspace, state)
    else:
        with JsonFiles(workspace.root, lock_timeout=lambda: Settings().lock_timeout).lock():
            plan, unmerged, merged = _plan(workspace, state)
            if merged is not None:
                settings.carry_out(workspace.root, state, merged)
                workspace.configuration.forget()
            _carry_out(workspace, state, plan, unmerged)
    is_open = bool(plan.outcomes or plan.left) or (state is not None and state.is_merging)
    repaired = [] if merged is None else [_told_settings(workspace.root, merged)]
    repaired += [_told_case(workspace.root, outcome) for outcome in plan.outcomes]
    if _has_settings(workspace):
        repaired += _split_conversations(workspace, dry_run=dry_run)
        repaired += [] if is_open else _mend_records(workspace, dry_run=dry_run)
        repaired += [] if is_open else _refresh_rules(workspace, dry_run=dry_run)
    return _repair_result(workspace, state, plan, repaired)


def problems(workspace: Workspace) -> list[Problem]:
    """Return what git left unmerged in the memory folder, whether it parses or not."""
    state = merge_state(workspace.root, workspace.environment)
    try:
        unmerged = () if state is None else sorted(state.unmerged())
    except PmemError as error:
        return [Problem(workspace.root, error.code, error.message)]
    paths = [os.path.join(workspace.root, path) for path in unmerged]
    return [
        Problem(path, "unmerged", f"{path} is in a merge that is not finished: run `pmem resolve`")
        for path in paths
    ]


def _has_settings(workspace: Workspace) -> bool:
    try:
        return workspace.settings is not None
    except PmemError:
        return False


def _plan(
    workspace: Workspace, state: MergeState | None
) -> tuple[RepairPlan, Unmerged, settings.SettingsRepair | None]:
    """Return what is to be done, what git has as unmerged, and what becomes of the settings."""
    root = workspace.root
    unmerged = {} if state is None else state.unmerged()
    mended, why_not = _of_settings(root, state, unmerged.pop(CONFIG_FILE, {}))
    cases, left = ([], {}) if state is None else stage_cases(state, unmerged)
    keys = {case.key for case in cases}
    for path, data in marked_files(root, {*unmerged, *(key.path for key in keys)}).items():
        try:
            found = marker_cases(path, data)
        except Unfit as unfit:
            left[path] = str(unfit)
            continue
        if keys & {case.key for case in found}:
            left[path] = "a record in it is in another conflict too: run `pmem resolve` again"
            continue
        keys |= {case.key for case in found}
        cases += found
    left |= why_not
    return planned(cases, left, lambda path: in_tree(root, path)), unmerged, mended


def _of_settings(
    root: str, state: MergeState | None, stages: Mapping[int, TreeEntry]
) -> tuple[settings.SettingsRepair | None, dict[str, str]]:
    """Return what becomes of the project's settings, and why they are left if they are."""
    try:
        return settings.settings_case(root, state, stages), {}
    except Unfit as unfit:
        return None, {CONFIG_FILE: str(unfit)}


def _carry_out(
    workspace: Workspace, state: MergeState | None, plan: RepairPlan, unmerged: Unmerged
) -> None:
    """Write the files, and tell git.

    Of what has no stages any more git is told before the files change, of the others after
    that: so a run that is killed finds in its next life what it has not finished.
    """
    placed = {} if state is None else _without_stages(state, plan)
    if state is not None:
        state.place_all(placed)
    changes = _changes(plan)
    for change in changes:
        check_unchanged(workspace.root, change.path, plan.seen.get(change.path))
    durable.apply(workspace.root, os.path.join(workspace.root, LOCAL), changes)
    if state is not None:
        ended = _with_stages(plan, unmerged)
        state.place_all(ended)
        state.take_as_they_are(_alike(plan, {**placed, **ended}))


def _changes(plan: RepairPlan) -> list[durable.FileChange]:
    """Return the files that are to differ from what they hold."""
    wanted = {outcome.case.key.path: outcome.data for outcome in plan.outcomes}
    wanted |= dict.fromkeys(plan.emptied)
    return [
        durable.FileChange(path, data)
        for path, data in sorted(wanted.items())
        if plan.seen.get(path) != data
    ]


def _without_stages(state: MergeState, plan: RepairPlan) -> dict[str, Placed]:
    """Return what git's index is to hold for files of which it has no conflict any more.

    What it does not track at all stays so.
    """
    outcomes = [outcome for outcome in plan.outcomes if not outcome.case.staged]
    own = {outcome.case.key.path for outcome in outcomes}
    paths = own.union(*(outcome.case.paths for outcome in outcomes))
    known = state.tracked(sorted(paths))
    found = {
        outcome.case.key.path: outcome.data
        for outcome in outcomes
        if outcome.case.paths & known.keys()
    }
    found |= {path: None for path in plan.emptied if path in known}
    return {
        path: _index_file(known[path].mode if path in known else _MODE, data)
        for path, data in found.items()
    }


def _with_stages(plan: RepairPlan, unmerged: Unmerged) -> dict[str, Placed]:
    """Return what git's index is to hold in the place of its conflicts."""
    found = {
        outcome.case.key.path: outcome.data for outcome in plan.outcomes if outcome.case.staged
    }
    found |= {path: None for path in plan.emptied if path in unmerged}
    return {path: _index_file(_mode(unmerged.get(path, {})), data) for path, data in found.items()}


def _mode(stages: Mapping[int, TreeEntry]) -> str:
    """Return the mode of a conflict's first side."""
    return next((stages[number].mode for number in (OURS, THEIRS) if number in stages), _MODE)


def _index_file(mode: str, data: bytes | None) -> Placed:
    """Return a file for the index, its lines ending as they do in commits."""
    return Placed(mode, None if data is None else data.replace(b"\r\n", b"\n"))


def _alike(plan: RepairPlan, placed: Mapping[str, Placed]) -> list[str]:
    """Return the files that hold the very bytes that the index was given."""
    held = {outcome.case.key.path: outcome.data for outcome in plan.outcomes}
    return [path for path, file in sorted(placed.items()) if file.data and file.data == held[path]]


def _split_conversations(workspace: Workspace, *, dry_run: bool) -> list[Repaired]:
    """Split conversations that are too large."""
    return [
        Repaired(
            path=os.path.join(workspace.root, STORES[Conversation], f"{each.id}.json"),
            id=each.id,
            decision="split",
            detail="its messages stand in smaller files now",
            conflicts=(),
        )
        for each in split_conversations(workspace, dry_run=dry_run)
    ]


def _refresh_rules(workspace: Workspace, *, dry_run: bool) -> list[Repaired]:
    """Make the files of rules anew that do not say what the memory says."""
    why = "says what the memory says"
    return [
        Repaired(path=path, id="", decision="written", detail=why, conflicts=())
        for path in rule_files.refresh(workspace, dry_run=dry_run)
    ]


def _mend_records(workspace: Workspace, *, dry_run: bool) -> list[Repaired]:
    """Mend what is wrong between records."""
    return [
        Repaired(
            path=os.path.join(workspace.root, each.path),
            id=each.id,
            decision=each.decision,
            detail=each.why,
            conflicts=(),
        )
        for each in mend(workspace, dry_run=dry_run)
    ]


def _told_case(root: str, outcome: RepairOutcome) -> Repaired:
    return Repaired(
        path=os.path.join(root, outcome.case.key.path),
        id=outcome.case.key.id,
        decision=outcome.decided.decision,
        detail=f"{outcome.decided.why} ({outcome.case.origin})",
        conflicts=outcome.decided.conflicts,
    )


def _repair_result(
    workspace: Workspace, state: MergeState | None, plan: RepairPlan, repaired: list[Repaired]
) -> Repair:
    return Repair(
        repaired=tuple(sorted(repaired, key=lambda each: (each.path, each.id))),
        left=tuple(
            Left(os.path.join(workspace.root, path), why) for path, why in sorted(plan.left.items())
        ),
        root=workspace.root,
        next="" if state is None else state.next_step(),
        others=0 if state is None else state.others,
    )


def _told_settings(root: str, mended: settings.SettingsRepair) -> Repaired:
    return Repaired(
        path=os.path.join(root, CONFIG_FILE),
        id="",
        decision=mended.decision,
        detail=mended.why,
        conflicts=mended.conflicts,
    )
