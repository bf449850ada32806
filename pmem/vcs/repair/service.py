"""Repairing: one look at the work tree and at git, one commit of files, one change of the index."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import msgspec

from pmem.errors import Locked, PmemError
from pmem.project.configuration import CONFIG_FILE
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.files import durable
from pmem.storage.git.merge_stages import MergeState, Placed, merge_state
from pmem.storage.git.tracked import LOCAL
from pmem.storage.jsonfiles import JsonFiles, noting, scratch
from pmem.storage.local.origins import OwnWrites
from pmem.values.config import Settings
from pmem.vcs import rule_files
from pmem.vcs.repair.mending import mend
from pmem.vcs.repair.open_files import MODE, Unfit, find_open_files, in_tree
from pmem.vcs.repair.plan import RepairOutcome, RepairPlan, planned


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was decided: its file, what was decided, why, and what contradicts itself.

    The project's settings and files of rules are no records, and have no id.

    `decision` is `merged`, `taken` (one side's), `added`, `kept` or `purged`. What is wrong between
    records is `cut` (links to nothing), `tidied` (messages that were kept twice) or `made` (a
    conversation of which only chunks were left). A file of rules that lagged behind is `written`.
    """

    path: str
    id: str
    decision: str
    detail: str
    conflicts: tuple[str, ...] = ()


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
    """
    state = merge_state(workspace.root, workspace.environment)
    lock: AbstractContextManager[None] = nullcontext()
    if not request.dry_run:  # to open the files finishes what a dead writer left
        lock = JsonFiles(workspace.root, lock_timeout=lambda: Settings().lock_timeout).lock()
    with lock:
        plan = planned(workspace.root, *find_open_files(workspace.root, state))
        if not request.dry_run:
            _carry_out(workspace, state, plan)
    repaired = [_describe(workspace.root, outcome) for outcome in plan.outcomes]
    is_open = bool(plan.outcomes or plan.left) or (state is not None and state.is_merging)
    if not is_open and _has_settings(workspace):
        repaired += _mended(workspace, dry_run=request.dry_run)
    return Repair(
        repaired=tuple(sorted(repaired, key=lambda each: (each.path, each.id))),
        left=tuple(
            Left(os.path.join(workspace.root, path), why) for path, why in sorted(plan.left.items())
        ),
        root=workspace.root,
        next="" if state is None else state.next_step(),
        others=0 if state is None else state.others,
    )


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


def _carry_out(workspace: Workspace, state: MergeState | None, plan: RepairPlan) -> None:
    """Write the files, and tell git.

    Of what has no stages any more git is told before the files change, of the others after
    that: so a run that is killed finds in its next life what it has not finished.
    """
    root = workspace.root
    before, after = ({}, {}) if state is None else _for_index(state, plan)
    if state is not None:
        state.place_all(before)
    files = {path: data for path, data in plan.files.items() if plan.seen.get(path) != data}
    for path in files:
        _check_unchanged(root, path, plan.seen.get(path))
    settings = files.pop(CONFIG_FILE, None)
    if settings is not None:
        with durable.refusals(root):
            durable.write_file(os.path.join(root, CONFIG_FILE), settings, scratch(root))
        workspace.configuration.forget()
    changes = [durable.FileChange(path, data) for path, data in sorted(files.items())]
    with noting(partial(OwnWrites, workspace.environment), root, changes):
        durable.apply(root, os.path.join(root, LOCAL), changes)
    if state is not None:
        state.place_all(after)
        placed = {**before, **after}
        alike = [path for path, it in placed.items() if it.data and it.data == plan.files[path]]
        state.take_as_they_are(sorted(alike))


def _check_unchanged(root: str, path: str, seen: bytes | None) -> None:
    try:
        is_as_seen = in_tree(root, path) == seen
    except Unfit:
        is_as_seen = False
    if not is_as_seen:
        raise Locked(f"{path} was changed by another program meanwhile")


def _for_index(state: MergeState, plan: RepairPlan) -> tuple[dict[str, Placed], dict[str, Placed]]:
    """Return what git's index is to hold: for files without stages, and in place of stages.

    What it does not track at all stays so.
    """
    loose = [it for it in plan.outcomes if not it.is_staged]
    known = state.tracked(sorted({path for it in loose for path in (it.path, *it.paths)}))
    before: dict[str, Placed] = {}
    after: dict[str, Placed] = {}
    staged: set[str] = set()
    for outcome in plan.outcomes:
        modes = {file.path: file.mode for file in outcome.files}
        # lines end in the index as they do in commits
        data = None if outcome.data is None else outcome.data.replace(b"\r\n", b"\n")
        if outcome.is_staged:
            after[outcome.path] = Placed(modes.get(outcome.path, MODE), data)
            staged |= outcome.paths
        elif outcome.paths & known.keys():
            entry = known.get(outcome.path)
            before[outcome.path] = Placed(entry.mode if entry else MODE, data)
    before |= {path: Placed(MODE, None) for path in plan.emptied if path in known}
    after |= {path: Placed(MODE, None) for path in plan.emptied if path in staged}
    return before, after


def _describe(root: str, outcome: RepairOutcome) -> Repaired:
    decided = outcome.decided
    return Repaired(
        path=os.path.join(root, outcome.path),
        id=outcome.id,
        decision=decided.decision,
        detail=f"{decided.why} ({outcome.origin})",
        conflicts=decided.conflicts,
    )


def _mended(workspace: Workspace, *, dry_run: bool) -> Iterator[Repaired]:
    """Mend what is wrong between records, and make files of rules anew that lag behind."""
    for each in mend(workspace, dry_run=dry_run):
        path = os.path.join(workspace.root, each.path)
        yield Repaired(path=path, id=each.id, decision=each.decision, detail=each.why)
    for path in rule_files.refresh(workspace, dry_run=dry_run):
        yield Repaired(path=path, id="", decision="written", detail="says what the memory says")
