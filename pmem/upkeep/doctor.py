"""Keeping the memory in order: what pmem needs around the records, what to mend."""

import os
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from pmem.errors import Damaged, InvalidValue, Locked, PmemError, StorageRefused
from pmem.project.configuration import embeds
from pmem.project.own_memory import is_own, is_private, make_private
from pmem.project.setup import initialise, missing_files, unknown_categories
from pmem.project.workspace import Workspace
from pmem.storage.files import durable
from pmem.storage.files.lock import is_shared, kind_of
from pmem.storage.files.worktree import own_folder
from pmem.storage.git.tracked import HINT, LOCAL, foreign
from pmem.upkeep.integrity import CheckRequest, check, link_findings, settings_findings
from pmem.values.records import STORES
from pmem.values.times import day
from pmem.vcs import gitsetup, hooksetup
from pmem.vcs.ignoring import DISTRUSTED, exposed, hide, ignored
from pmem.vcs.repair.mending import CODES, mend


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `doctor` looked at: whether it is well, and whether it was mended."""

    name: str
    ok: bool
    detail: str
    fixed: bool = False


class DoctorRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to mend what can be mended without losing anything."""

    fix: bool = False


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """All that `doctor` looked at."""

    items: tuple[Diagnosis, ...]

    @property
    def ok(self) -> bool:
        """Whether everything is well."""
        return all(item.ok for item in self.items)

    def to_plain(self) -> dict[str, Any]:
        """Return each diagnosis, and whether everything is well."""
        return {"items": self.items, "ok": self.ok}


class _Seen(NamedTuple):
    """A diagnosis without its name."""

    ok: bool
    detail: str
    fixed: bool = False


_Look = Callable[[Workspace, bool], _Seen | None]
"""Looks at one thing, and mends it if it is to; None where there is nothing to look at."""


def doctor(workspace: Workspace, request: DoctorRequest) -> Examination:
    """Look at everything that pmem needs around the records."""
    items = []
    for name, look in _LOOKS.items():
        try:
            seen = look(workspace, request.fix)
        except Damaged as error:  # what a link keeps from being mended is left, and told
            if not request.fix or not any(link_findings(workspace.root)):
                raise
            seen = look(workspace, False)
            seen = seen and seen._replace(detail=f"{seen.detail}; not fixed, as {error.message}")
        if seen is not None:
            items.append(Diagnosis(name=name, **seen._asdict()))
    return Examination(items=tuple(items))


def _own(workspace: Workspace, fix: bool) -> _Seen | None:
    environment = workspace.environment
    folder = own_folder(environment)
    if not os.path.isdir(folder):
        return None
    if is_private(environment):
        mine = "this is your own memory, and nobody else's"
        return _Seen(True, mine if is_own(workspace) else folder)
    if fix:
        make_private(environment)
    detail = f"other users can read {os.path.dirname(folder)}"
    return _Seen(fix, detail + ("" if fix else ": `pmem check --fix` closes it to them"), fix)


def _vectors(workspace: Workspace, _: bool) -> _Seen | None:
    if settings_findings(workspace) or not embeds(workspace.settings.vectors):
        return None
    from pmem.embedding.embedding import EmbeddingFailed, embedded_count

    try:
        found = embedded_count(workspace)
    except (EmbeddingFailed, PmemError) as error:
        return _Seen(False, f"{error}; ranked by words alone")
    detail = f"{found.embedded} of {found.texts} texts embedded"
    if left := found.texts - found.embedded:
        detail += f": `pmem consolidate` embeds the other {left}, ranked by words alone so far"
    return _Seen(True, detail)


def _model(workspace: Workspace, _: bool) -> _Seen | None:
    """Look at the language model, where one is chosen, and at the work that waits for it."""
    if settings_findings(workspace) or not workspace.settings.model.is_chosen:
        return None
    from pmem.model.asking import models_of
    from pmem.upkeep.work.doing import count_waiting

    try:
        models = models_of(workspace)
        waiting = count_waiting(workspace)
        left = workspace.settings.model.calls_per_day
        left -= workspace.own.model_answers.calls(workspace.now())
    except PmemError as error:
        return _Seen(False, f"{error.message}; rules go on alone")
    name = models.name if models else ""
    work = "1 piece of work waits" if waiting == 1 else f"{waiting} pieces of work wait"
    return _Seen(True, f"{name}: {work}, {max(0, left)} calls are left today")


def _version(_workspace: Workspace, _: bool) -> _Seen:
    from pmem import __version__

    python = ".".join(str(part) for part in sys.version_info[:3])
    return _Seen(True, f"pmem {__version__} on Python {python}")


def _configuration(workspace: Workspace, _: bool) -> _Seen:
    findings = settings_findings(workspace)
    wrong = [finding.message for finding in findings if finding.severity == "error"]
    if wrong:
        return _Seen(False, wrong[0])
    named = [name for names in workspace.settings.allowlists.values() for name in names]
    is_whole = not any(link_findings(workspace.root))
    unknown = unknown_categories(workspace, named) if is_whole else ""
    strays = [found.message for found in findings if found.code == "unknown_setting"]
    weak = [found.message for found in findings if found.code == "weakened"]
    head = f"every{' known' * bool(strays)} setting is allowed"
    return _Seen(True, "; ".join(filter(None, (head, unknown, *strays, *weak))))


def _tokenizer(workspace: Workspace, _: bool) -> _Seen:
    if any(finding.severity == "error" for finding in settings_findings(workspace)):
        return _Seen(False, "not known while settings are wrong")
    try:
        name = workspace.budget_counter.name
    except InvalidValue as error:
        return _Seen(False, f"{error.message}; {error.hint}")
    chosen = workspace.settings.tokenizer
    return _Seen(True, chosen if chosen == name else f"{chosen}, budgets by {name}")


def _own_files(workspace: Workspace, fix: bool) -> _Seen:
    missing = missing_files(workspace.root)
    if missing and fix:
        initialise(workspace.root, environment=workspace.environment)
    detail = f"{', '.join(missing)} missing" if missing else "all there"
    return _Seen(fix or not missing, detail, bool(missing) and fix)


def _writable(workspace: Workspace, _: bool) -> _Seen:
    links = [finding.message for finding in link_findings(workspace.root)]
    if links:
        return _Seen(False, "; ".join(links))
    folders = [workspace.root, *(os.path.join(workspace.root, part) for part in STORES.values())]
    closed = [path for path in folders if os.path.isdir(path) and not os.access(path, os.W_OK)]
    if closed:
        return _Seen(False, f"{', '.join(closed)} cannot be written")
    refused = "" if workspace.read_only else durable.refusal(workspace.root, LOCAL)
    if refused:
        detail = f"nothing can be written: {refused}; free the disk or fix the permissions"
        return _Seen(False, detail)
    kind, detail = kind_of(workspace.root), workspace.root
    if kind is not None and is_shared(kind):
        detail += f"; on {kind} a lock may not exclude other computers: write from one at a time"
    return _Seen(True, detail)


def _unfinished(workspace: Workspace, fix: bool) -> _Seen:
    if not workspace.own.is_ours:  # it came with the project
        return _Seen(False, f"{foreign(workspace.root, workspace.environment)}; {HINT}")
    pending = durable.pending(os.path.join(workspace.root, LOCAL))
    if pending and fix:
        with workspace.transaction():
            return _Seen(True, "a writer's commit was open", True)
    detail = "a writer died in the middle of a commit" if pending else "every commit was finished"
    return _Seen(not pending, detail)


def _private(workspace: Workspace, fix: bool) -> _Seen | None:
    found = left = exposed(workspace)
    if any(finding.code == DISTRUSTED for finding in found):
        return None  # what is said of git says so
    if found and fix:
        hide(workspace)
        left = exposed(workspace)
    if lost := ignored(workspace):
        return _Seen(False, "; ".join(finding.message for finding in (*left, *lost)))
    detail = "; ".join(finding.message for finding in found) or "nothing private can reach git"
    return _Seen(not left, detail, bool(found) and not left)


def _records(workspace: Workspace, fix: bool) -> _Seen:
    checked = check(workspace, CheckRequest())
    if fix and any(finding.code in CODES for finding in checked.findings):
        mended = mend(workspace)
        left = _records(workspace, False)
        detail = f"{left.detail}; {len(mended)} fixed"
        return _Seen(left.ok, detail, bool(mended) and left.ok)
    wrong = sum(finding.severity == "error" for finding in checked.findings)
    detail = f"{checked.records} record{'s' * (checked.records != 1)}"
    detail += f", {wrong} finding{'s' * (wrong != 1)}: `pmem check records`" * bool(wrong)
    return _Seen(not wrong, detail)


def _git(workspace: Workspace, fix: bool) -> _Seen:
    ok, detail = gitsetup.summary(workspace)
    mended = fix and not ok and not gitsetup.look(workspace).ok
    if mended:
        gitsetup.install(workspace)
        ok, detail = gitsetup.summary(workspace)
    return _Seen(ok, detail, mended and ok)


def _commit_hook(workspace: Workspace, fix: bool) -> _Seen | None:
    if not hooksetup.was_set(workspace):
        return None
    try:
        found = hooksetup.look(workspace)
        mended = fix and not found.ok and hooksetup.install(workspace).ok
    except PmemError as error:
        return _Seen(False, error.message)
    if found.ok:
        return _Seen(True, f"{found.path} checks every commit")
    detail = f"the lines of pmem are gone from {found.path}"
    return _Seen(mended, detail + ("" if mended else ": run `pmem setup pre-commit`"), mended)


def _recalls(workspace: Workspace, fix: bool) -> _Seen:
    found = workspace.own.access.waiting()
    mended = fix and found.usable and not found.is_sound
    if mended:
        workspace.own.access.shorten()
        found = workspace.own.access.waiting()
    detail = "every use of a record is saved"
    if found.recalls:
        uses = "1 use of" if found.recalls == 1 else f"{found.recalls} uses of"
        records = "1 record" if found.records == 1 else f"{found.records} records"
        are = "is" if found.recalls == 1 else "are"
        detail = f"{uses} {records} {are} not saved yet (`pmem consolidate`)"
    if os.path.islink(os.path.join(workspace.root, LOCAL)):
        detail = "not known while their folder is a link"
    elif not found.usable:
        detail = f"{workspace.own.access.path} is a link or a folder, not a file: remove it"
    elif not found.is_sound:
        detail += f"; {found.size:,} bytes with {found.damaged} damaged lines"
        detail += ": `pmem check --fix` shortens them"
    return _Seen(found.usable and found.is_sound, detail, mended)


def _upkeep(workspace: Workspace, _: bool) -> _Seen:
    """Tell when consolidation and a sweep ran last in this clone; nothing runs them by itself."""
    ran = [each for each in workspace.own.operations.all() if each.node == "worker"]
    last = {each.op: f"ran {day(each.ts).strip()}" for each in ran}
    told = [f"{name} {last.get(name, 'never ran')}" for name in ("consolidate", "sweep")]
    how = "(`pmem help life-cycle.md` shows how to run them once a day)"
    return _Seen(True, f"{', '.join(told)} {how}")


def _clone(workspace: Workspace, fix: bool) -> _Seen:
    """Look at what this clone keeps: threads, checkpoints, and what waits for apps."""
    if os.path.islink(os.path.join(workspace.root, LOCAL)):
        return _Seen(False, "not known while their folder is a link")
    if not workspace.own.is_ours:
        return _Seen(False, f"{foreign(workspace.root, workspace.environment)}; {HINT}")
    state = workspace.own.state
    wrong = state.wrong()
    if wrong is None:
        return _Seen(True, "threads and checkpoints can be read")
    if isinstance(wrong, StorageRefused | Locked):  # that says nothing against the database
        if fix:
            raise wrong
        return _Seen(False, wrong.message)
    if not fix or not os.path.lexists(state.path):
        return _Seen(False, f"{wrong.message}: `pmem check --fix` moves it away")
    return _Seen(True, f"{wrong.message}; it is now {state.move_away()}", True)


_LOOKS: Final[dict[str, _Look]] = {
    "version": _version,
    "settings": _configuration,
    "tokenizer": _tokenizer,
    "folder": _own_files,
    "writable": _writable,
    "commit": _unfinished,
    "private": _private,
    "clone": _clone,
    "records": _records,
    "recalls": _recalls,
    "upkeep": _upkeep,
    "git": _git,
    "hook": _commit_hook,
    "vectors": _vectors,
    "mine": _own,
    "model": _model,
}
