"""Keeping the memory in order: what pmem needs around the records, what to mend."""

import os
import sys
from typing import Any, Protocol

import msgspec

from pmem.errors import Damaged, InvalidValue, Locked, PmemError, StorageRefused
from pmem.project.meaning import embeds
from pmem.project.own_memory import is_own, is_private, make_private, own_folder
from pmem.project.setup import initialise, missing_files, unknown_categories
from pmem.project.workspace import Workspace
from pmem.storage.files import durable
from pmem.storage.files.lock import is_shared, kind_of
from pmem.storage.git.tracked import HINT, LOCAL, foreign
from pmem.upkeep.integrity import CheckRequest, check, link_findings, settings_findings
from pmem.values.records import STORES
from pmem.values.times import day
from pmem.vcs import gitsetup, hooksetup
from pmem.vcs.ignoring import exposed, hide, ignored
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


def doctor(workspace: Workspace, request: DoctorRequest) -> Examination:
    """Look at everything that pmem needs around the records."""
    return Examination(items=tuple(_diagnoses(workspace, fix=request.fix)))


def _diagnoses(workspace: Workspace, *, fix: bool) -> list[Diagnosis]:
    return [
        _version(),
        _configuration(workspace),
        _tokenizer(workspace),
        _tried(_own_files, workspace, fix=fix),
        _writable(workspace),
        _tried(_unfinished, workspace, fix=fix),
        _tried(_private, workspace, fix=fix),
        _tried(_clone, workspace, fix=fix),
        _tried(_records, workspace, fix=fix),
        _tried(_recalls, workspace, fix=fix),
        _upkeep(workspace),
        _tried(_git, workspace, fix=fix),
        *([_commit_hook(workspace, fix=fix)] if hooksetup.was_set(workspace) else []),
        *_vectors(workspace),
        *_own(workspace, fix=fix),
        *_model(workspace),
    ]


def _own(workspace: Workspace, *, fix: bool) -> list[Diagnosis]:
    """Look whether the memory of whoever runs this is there, and nobody else's to read."""
    environment = workspace.environment
    folder = own_folder(environment)
    if not os.path.isdir(folder):
        return []
    if is_private(environment):
        detail = folder if not is_own(workspace) else "this is your own memory, and nobody else's"
        return [Diagnosis(name="mine", ok=True, detail=detail)]
    if fix:
        make_private(environment)
    detail = f"other users can read {os.path.dirname(folder)}"
    detail += "" if fix else ": `pmem check --fix` closes it to them"
    return [Diagnosis(name="mine", ok=fix, detail=detail, fixed=fix)]


def _vectors(workspace: Workspace) -> list[Diagnosis]:
    """Look at the vectors, where a model is set."""
    if settings_findings(workspace) or not embeds(workspace.settings.vectors):
        return []
    from pmem.embedding.embedders import EmbeddingFailed
    from pmem.embedding.embedding import embedded_count

    try:
        found = embedded_count(workspace)
    except (EmbeddingFailed, PmemError) as error:
        return [Diagnosis(name="vectors", ok=False, detail=f"{error}; ranked by words alone")]
    detail = f"{found.embedded} of {found.texts} texts embedded"
    if left := found.texts - found.embedded:
        detail += f": `pmem consolidate` embeds the other {left}, ranked by words alone so far"
    return [Diagnosis(name="vectors", ok=True, detail=detail)]


def _model(workspace: Workspace) -> list[Diagnosis]:
    """Look at the language model, where one is chosen, and at the work that waits for it."""
    if settings_findings(workspace) or not workspace.settings.model.is_chosen:
        return []
    from pmem.model.asking import models_of
    from pmem.upkeep.work.handing_out import count_waiting

    try:
        models = models_of(workspace)
        waiting = count_waiting(workspace)
        left = workspace.settings.model.calls_per_day
        left -= workspace.own.model_answers.calls(workspace.now())
    except PmemError as error:
        return [Diagnosis(name="model", ok=False, detail=f"{error.message}; rules go on alone")]
    name = models.name if models else ""
    work = "1 piece of work waits" if waiting == 1 else f"{waiting} pieces of work wait"
    detail = f"{name}: {work}, {max(0, left)} calls are left today"
    return [Diagnosis(name="model", ok=True, detail=detail)]


class _Look(Protocol):
    """Looks at one thing, and mends it if it is to."""

    def __call__(self, workspace: Workspace, *, fix: bool) -> Diagnosis: ...


def _tried(look: _Look, workspace: Workspace, *, fix: bool) -> Diagnosis:
    """Look at one thing; what a link keeps from being mended is left, and told."""
    try:
        return look(workspace, fix=fix)
    except Damaged as error:
        if not fix or not any(link_findings(workspace.root)):
            raise
        left = look(workspace, fix=False)
        detail = f"{left.detail}; not fixed, as {error.message}"
        return msgspec.structs.replace(left, detail=detail)


def _version() -> Diagnosis:
    from pmem import __version__

    python = ".".join(str(part) for part in sys.version_info[:3])
    return Diagnosis(name="version", ok=True, detail=f"pmem {__version__} on Python {python}")


def _configuration(workspace: Workspace) -> Diagnosis:
    findings = settings_findings(workspace)
    wrong = [finding.message for finding in findings if finding.severity == "error"]
    if wrong:
        return Diagnosis(name="settings", ok=False, detail=wrong[0])
    named = [name for names in workspace.settings.allowlists.values() for name in names]
    is_whole = not any(link_findings(workspace.root))
    unknown = unknown_categories(workspace, named) if is_whole else ""
    strays = [found.message for found in findings if found.code == "unknown_setting"]
    weak = [found.message for found in findings if found.code == "weakened"]
    head = f"every{' known' * bool(strays)} setting is allowed"
    detail = "; ".join(filter(None, (head, unknown, *strays, *weak)))
    return Diagnosis(name="settings", ok=True, detail=detail)


def _tokenizer(workspace: Workspace) -> Diagnosis:
    if any(finding.severity == "error" for finding in settings_findings(workspace)):
        return Diagnosis(name="tokenizer", ok=False, detail="not known while settings are wrong")
    try:
        name = workspace.budget_counter.name
    except InvalidValue as error:
        return Diagnosis(name="tokenizer", ok=False, detail=f"{error.message}; {error.hint}")
    chosen = workspace.settings.tokenizer
    detail = chosen if chosen == name else f"{chosen}, budgets by {name}"
    return Diagnosis(name="tokenizer", ok=True, detail=detail)


def _own_files(workspace: Workspace, *, fix: bool) -> Diagnosis:
    missing = missing_files(workspace.root)
    if missing and fix:
        initialise(workspace.root, environment=workspace.environment)
    detail = f"{', '.join(missing)} missing" if missing else "all there"
    return Diagnosis(
        name="folder", ok=fix or not missing, detail=detail, fixed=bool(missing) and fix
    )


def _writable(workspace: Workspace) -> Diagnosis:
    folders = [workspace.root, *(os.path.join(workspace.root, part) for part in STORES.values())]
    closed = [path for path in folders if os.path.isdir(path) and not os.access(path, os.W_OK)]
    detail = f"{', '.join(closed)} cannot be written" if closed else workspace.root
    links = [finding.message for finding in link_findings(workspace.root)]
    if links:
        return Diagnosis(name="writable", ok=False, detail="; ".join(links))
    kind = kind_of(workspace.root)
    refused = "" if closed or workspace.read_only else durable.refusal(workspace.root, LOCAL)
    if refused:
        detail = f"nothing can be written: {refused}; free the disk or fix the permissions"
    elif kind is not None and is_shared(kind):
        detail += f"; on {kind} a lock may not exclude other computers: write from one at a time"
    return Diagnosis(name="writable", ok=not (closed or refused), detail=detail)


def _unfinished(workspace: Workspace, *, fix: bool) -> Diagnosis:
    if not workspace.own.is_ours:
        return _of_others(workspace, "commit")
    pending = durable.pending(os.path.join(workspace.root, LOCAL))
    if pending and fix:
        with workspace.transaction():
            pending = False
        return Diagnosis(name="commit", ok=True, detail="a writer's commit was open", fixed=True)
    detail = "a writer died in the middle of a commit" if pending else "every commit was finished"
    return Diagnosis(name="commit", ok=not pending, detail=detail)


def _of_others(workspace: Workspace, name: str) -> Diagnosis:
    """Say that what should be this clone's own came with the project."""
    detail = f"{foreign(workspace.root, workspace.environment)}; {HINT}"
    return Diagnosis(name=name, ok=False, detail=detail)


def _private(workspace: Workspace, *, fix: bool) -> Diagnosis:
    """Look whether git would take in what is to stay out of it."""
    found = exposed(workspace)
    mended = bool(found) and fix
    if mended:
        hide(workspace)
    left = exposed(workspace) if mended else found
    if lost := ignored(workspace):
        detail = "; ".join(finding.message for finding in (*left, *lost))
        return Diagnosis(name="private", ok=False, detail=detail, fixed=False)
    detail = "; ".join(finding.message for finding in found) or "nothing private can reach git"
    return Diagnosis(name="private", ok=not left, detail=detail, fixed=mended and not left)


def _records(workspace: Workspace, *, fix: bool) -> Diagnosis:
    checked = check(workspace, CheckRequest())
    if fix and any(finding.code in CODES for finding in checked.findings):
        mended = mend(workspace)
        left = _records(workspace, fix=False)
        detail = f"{left.detail}; {len(mended)} fixed"
        return msgspec.structs.replace(left, detail=detail, fixed=bool(mended) and left.ok)
    wrong = sum(finding.severity == "error" for finding in checked.findings)
    detail = f"{checked.records} record{'s' * (checked.records != 1)}"
    detail += f", {wrong} finding{'s' * (wrong != 1)}: `pmem check records`" * bool(wrong)
    return Diagnosis(name="records", ok=not wrong, detail=detail)


def _git(workspace: Workspace, *, fix: bool) -> Diagnosis:
    ok, detail = gitsetup.summary(workspace)
    mended = fix and not ok and gitsetup.start(workspace) is not None
    if mended:
        ok, detail = gitsetup.summary(workspace)
    return Diagnosis(name="git", ok=ok, detail=detail, fixed=mended and ok)


def _commit_hook(workspace: Workspace, *, fix: bool) -> Diagnosis:
    """Look whether commits are still checked, as was set up in this clone."""
    try:
        found = hooksetup.look(workspace)
        mended = fix and not found.ok and hooksetup.install(workspace).ok
    except PmemError as error:
        return Diagnosis(name="hook", ok=False, detail=error.message)
    if found.ok:
        return Diagnosis(name="hook", ok=True, detail=f"{found.path} checks every commit")
    detail = f"the lines of pmem are gone from {found.path}"
    detail += "" if mended else ": run `pmem setup pre-commit`"
    return Diagnosis(name="hook", ok=mended, detail=detail, fixed=mended)


def _recalls(workspace: Workspace, *, fix: bool) -> Diagnosis:
    """Look at the recalls that wait to be folded into the records."""
    found = workspace.own.access.waiting()
    mended = fix and found.usable and not found.is_sound
    if mended:
        workspace.own.access.shorten()
        found = workspace.own.access.waiting()
    detail = "every use of a record is saved"
    if found.recalls:
        uses = "1 use" if found.recalls == 1 else f"{found.recalls} uses"
        records = "1 record" if found.records == 1 else f"{found.records} records"
        is_one = "is" if found.recalls == 1 else "are"
        detail = f"{uses} of {records} {is_one} not saved yet (`pmem consolidate`)"
    if os.path.islink(os.path.join(workspace.root, LOCAL)):
        detail = "not known while their folder is a link"
    elif not found.usable:
        detail = f"{workspace.own.access.path} is a link or a folder, not a file: remove it"
    elif not found.is_sound:
        detail += f"; {found.size:,} bytes with {found.damaged} damaged lines"
        detail += ": `pmem check --fix` shortens them"
    return Diagnosis(
        name="recalls", ok=found.usable and found.is_sound, detail=detail, fixed=mended
    )


def _upkeep(workspace: Workspace) -> Diagnosis:
    """Tell when consolidation and a sweep ran last in this clone; nothing runs them by itself."""
    last: dict[str, str] = {}
    for entry in workspace.own.operations.all():
        if entry.node == "worker" and entry.op in ("consolidate", "sweep"):
            last[entry.op] = day(entry.ts).strip()
    names = ("consolidate", "sweep")
    told = [f"{name} ran {last[name]}" if name in last else f"{name} never ran" for name in names]
    detail = f"{', '.join(told)} (`pmem help life-cycle.md` shows how to run them once a day)"
    return Diagnosis(name="upkeep", ok=True, detail=detail)


def _clone(workspace: Workspace, *, fix: bool) -> Diagnosis:
    """Look at what this clone keeps: threads, checkpoints, and what waits for apps."""
    if os.path.islink(os.path.join(workspace.root, LOCAL)):
        detail = "not known while their folder is a link"
        return Diagnosis(name="clone", ok=False, detail=detail)
    if not workspace.own.is_ours:
        return _of_others(workspace, "clone")
    wrong = workspace.own.state.wrong()
    if wrong is None:
        return Diagnosis(name="clone", ok=True, detail="threads and checkpoints can be read")
    if isinstance(wrong, StorageRefused | Locked):  # that says nothing against the database
        if fix:
            raise wrong
        return Diagnosis(name="clone", ok=False, detail=wrong.message)
    if not fix or not os.path.lexists(workspace.own.state.path):
        detail = f"{wrong.message}: `pmem check --fix` moves it away"
        return Diagnosis(name="clone", ok=False, detail=detail)
    aside = workspace.own.state.move_away()
    return Diagnosis(
        name="clone", ok=True, detail=f"{wrong.message}; it is now {aside}", fixed=True
    )
