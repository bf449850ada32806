"""Telling a coding assistant about the memory, taking that back, and looking whether it is told.

Only entries of pmem's own are put in and taken out; a file that cannot be read to the letter is
left as it is, and nothing is written through a link.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from pmem.assistants import texts
from pmem.assistants.events import may_ask
from pmem.assistants.harnesses import (
    HARNESSES,
    READ_BY_VSCODE,
    SECONDS,
    Entry,
    Scope,
    SetupFile,
    entries,
    place_of,
)
from pmem.assistants.json_entries import JsonEntries, NoPlace, NotStrictJson, State
from pmem.assistants.trial import MISSING, can_serve, is_trusted_by_codex, trouble_of
from pmem.core import managed_block
from pmem.errors import (
    Damaged,
    FileNotRead,
    InvalidValue,
    PmemError,
    Refused,
    StorageRefused,
    UsageError,
    not_utf8,
)
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import refusals, write_file
from pmem.values.fields import NoArguments, SetupRequest

MOST_BYTES: Final = 4_000_000
BACKUP: Final = ".pmem.bak"
_DO_IT_BY_HAND: Final = "`pmem setup {name} --print` shows what to put there by hand"


class AssistantSetupRequest(SetupRequest, frozen=True, kw_only=True):
    """Which assistant, in whose files; whether only to look, or to take it back."""

    harness: str
    scope: Scope


class SetupPart(msgspec.Struct, frozen=True, kw_only=True):
    """What one file tells an assistant: the server, the hooks, the instructions.

    `removed` says that it told that until now.
    """

    path: str
    what: str
    state: State
    why: str = ""
    removed: bool = False


class AssistantSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What an assistant is told; `program` is whether pmem can be found, `said` what is left.

    `trouble` is what is wrong with the hook's answer, where it was tried.
    """

    harness: str
    scope: Scope
    parts: tuple[SetupPart, ...]
    program: bool
    said: str = ""
    trouble: str = ""

    @property
    def ok(self) -> bool:
        """Whether it is told everything, and the hook answers."""
        return all(part.state == "set" for part in self.parts) and not self.trouble

    def to_plain(self) -> dict[str, Any]:
        """Return the fields, and whether all is as it should be."""
        return {**msgspec.structs.asdict(self), "ok": self.ok}


class SetupOverview(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list: an assistant, whose files, and whether it is told of the memory."""

    harness: str
    title: str
    scope: Scope
    state: Literal["set", "partly", "missing", "unclear"]
    seen: bool
    why: str = ""


class SetupOverviews(msgspec.Struct, frozen=True, kw_only=True):
    """Every assistant that can be set up."""

    items: tuple[SetupOverview, ...]


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file: its text before and after, None where there is no file."""

    file: SetupFile
    path: str
    before: str | None
    after: str | None
    state: State
    why: str = ""


def set_up(workspace: Workspace, request: AssistantSetupRequest) -> AssistantSetup:
    """Tell an assistant about the memory, take that back, or only look."""
    changes = [_change(workspace, request, file) for file in files_of(request)]
    there = {one.path for one in changes if request.remove and one.state != "missing"}
    if not request.check:
        for change in changes:
            changes_it = change.before not in (None, change.after)
            if changes_it and not os.lstat(change.path).st_mode & 0o222:
                hint = "make it writable, or use --print"
                raise StorageRefused(f"{change.path} may not be written", hint)
        for change in changes:
            _write(change, request)
        changes = [_change(workspace, request, file) for file in files_of(request)]
    hooked = [one for one in changes if _runs(one.file) and one.state == "set" and not one.why]
    tried = request.check and hooked and shutil.which("pmem")
    top = os.path.dirname(workspace.root)
    return AssistantSetup(
        harness=request.harness,
        scope=request.scope,
        parts=tuple(
            SetupPart(
                path=one.path,
                what=_what(one.file),
                state=one.state,
                why=one.why,
                removed=one.path in there and one.state == "missing",
            )
            for one in changes
        ),
        program=shutil.which("pmem") is not None,
        said="" if request.remove else "\n".join(_notes(workspace, request, hooked)),
        trouble=trouble_of(_program("user"), request.harness, top, workspace.environment)
        if tried and os.path.isdir(top)
        else "",
    )


def _notes(
    workspace: Workspace, request: AssistantSetupRequest, hooked: Sequence[_Change]
) -> Iterator[str]:
    """Yield what is left for a person to do, and what the assistant will be asked."""
    yield from _left_to_do(workspace, request, hooked)
    is_served = any(file.server for file in HARNESSES[request.harness].files[request.scope])
    if is_served and not can_serve():
        yield MISSING
    asks = may_ask(request.harness) and workspace.settings.capture == "ask"
    if asks and hooked and not request.check:
        yield "once a session it is asked what to keep: `pmem config set capture off` ends that"


def _left_to_do(
    workspace: Workspace, request: AssistantSetupRequest, hooked: Sequence[_Change]
) -> list[str]:
    """Return what is left for a person to do."""
    other: Scope = "user" if request.scope == "project" else "project"
    for file in HARNESSES[request.harness].files.get(other, ()) if hooked else ():
        path = _path(workspace, other, file)
        if file.hooks and _has_any(path, entries(request.harness, file, "pmem")):
            return [f"{path} has these hooks, too, so they run twice: take one of them back"]
    is_codex = request.harness == "codex"
    if is_codex and all(is_trusted_by_codex(one.path, workspace.environment) for one in hooked):
        return []
    said = HARNESSES[request.harness].said.get(request.scope)
    return [said] if said else []


def list_setups(workspace: Workspace, request: NoArguments) -> SetupOverviews:  # noqa: ARG001
    """Say of every assistant whether it is told, in the project's files and in the user's own."""
    scopes: tuple[Scope, ...] = ("project", "user") if os.path.isdir(workspace.root) else ("user",)
    found = [
        _overview(workspace, name, scope)
        for name, harness in HARNESSES.items()
        for scope in scopes
        if scope in harness.files
    ]
    return SetupOverviews(items=tuple(found))


def to_paste(workspace: Workspace, request: AssistantSetupRequest) -> list[tuple[str, str]]:
    """Return what goes where, for whoever does it by hand: paths and texts."""
    return [
        (_path(workspace, request.scope, file), _form(workspace, request, file).put(None))
        for file in files_of(request)
    ]


def files_of(request: AssistantSetupRequest) -> Sequence[SetupFile]:
    """Return the files that an assistant is told by."""
    harness = HARNESSES.get(request.harness)
    if harness is None:
        raise InvalidValue(
            f"there is no assistant {request.harness!r}", f"there are {', '.join(HARNESSES)}"
        )
    if request.scope not in harness.files:
        (other,) = harness.files
        raise UsageError(
            f"{harness.title} has no files of the {request.scope}'s that pmem writes",
            f"use --{other}",
        )
    return harness.files[request.scope]


def _overview(workspace: Workspace, name: str, scope: Scope) -> SetupOverview:
    request = AssistantSetupRequest(harness=name, scope=scope, check=True)
    paths = [_path(workspace, scope, file) for file in files_of(request)]
    top = _base(workspace, scope)
    folders = {os.path.dirname(path) for path in paths} - {top}
    seen = any(map(os.path.exists, paths)) or any(map(os.path.isdir, folders))
    state: Literal["set", "partly", "missing", "unclear"] = "unclear"
    why = ""
    try:
        states = {part.state for part in set_up(workspace, request).parts}
        state = "set" if states == {"set"} else "missing" if states == {"missing"} else "partly"
    except PmemError as error:
        why = error.message
    title = HARNESSES[name].title
    return SetupOverview(harness=name, title=title, scope=scope, state=state, seen=seen, why=why)


def _change(workspace: Workspace, request: AssistantSetupRequest, file: SetupFile) -> _Change:
    path = _path(workspace, request.scope, file)
    before = _read(path, _base(workspace, request.scope))
    mark = "\ufeff" if before and before.startswith("\ufeff") else ""
    try:
        unmarked = None if before is None else before.removeprefix(mark)
        state, after, why = _decide(workspace, request, file, unmarked, _backup(path))
        after = None if after is None else mark + after
    except (NotStrictJson, UnicodeError) as error:
        raise Damaged(f"{path} is not strict JSON: {error}", _hint(request)) from None
    except (NoPlace, managed_block.Unclear) as error:
        why = str(error) or "the lines that pmem put there cannot be told from the rest"
        raise Refused(f"{path} stays as it is: {why}", _hint(request)) from None
    except ValueError as error:
        raise Damaged(f"{path} is not valid TOML: {error}", _hint(request)) from None
    return _Change(file=file, path=path, before=before, after=after, state=state, why=why)


def _decide(
    workspace: Workspace,
    request: AssistantSetupRequest,
    file: SetupFile,
    before: str | None,
    backup: str | None,
) -> tuple[State, str | None, str]:
    """Return how it is, what the file becomes, and why it is like that where it is not plain."""
    form = _form(workspace, request, file)
    state = form.state(before)
    elsewhere = "" if request.remove else _elsewhere(workspace, request, file)
    if not request.remove and not elsewhere:
        return state, form.put(before), ""
    after = None if before is None else form.take(before, backup)
    is_right = elsewhere and state == "missing"
    return "set" if is_right else "differs" if elsewhere else state, after, elsewhere


def _form(
    workspace: Workspace, request: AssistantSetupRequest, file: SetupFile
) -> JsonEntries | texts.MarkedBlock:
    """Return what goes into a file."""
    if file.block == "markdown":
        return texts.agents_md(os.path.basename(workspace.root))
    program = _program(request.scope)
    if file.block == "javascript":
        return texts.opencode_plugin(program, SECONDS)
    if file.block == "toml":
        return texts.CodexServer(program, _usable)
    alone = file.hooks.alone if file.hooks else {}
    return JsonEntries(entries(request.harness, file, program), alone, _usable)


def _elsewhere(workspace: Workspace, request: AssistantSetupRequest, file: SetupFile) -> str:
    """Say which file has these hooks already, where they would run twice; else nothing."""
    if request.harness != "vscode" or file.hooks is None:
        return ""
    wanted = entries("claude-code", SetupFile("", hooks=file.hooks), "pmem")
    for scope in ("project", "user"):
        top = _base(workspace, scope)
        for name in READ_BY_VSCODE:
            path = os.path.join(top, *name.split("/"))
            if _has_any(path, wanted):
                return f"VS Code reads {path}, which has them"
    return ""


def _has_any(path: str, wanted: Sequence[Entry]) -> bool:
    """Tell whether a file has one of some entries; one that cannot be read has none."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, encoding="utf-8") as file:
            return JsonEntries(wanted, {}, _usable).any_in(file.read(MOST_BYTES))
    except (OSError, ValueError):
        return False


def _runs(file: SetupFile) -> bool:
    """Tell whether a file has an assistant run hooks."""
    return file.hooks is not None or file.block == "javascript"


def _what(file: SetupFile) -> str:
    if file.block == "markdown":
        return "instructions"
    named = (
        "server" * (file.server is not None or file.block == "toml"),
        "hooks" * _runs(file),
    )
    return " and ".join(filter(None, named))


def _path(workspace: Workspace, scope: Scope, file: SetupFile) -> str:
    path = place_of(file, scope, os.path.dirname(workspace.root), workspace.environment)
    with_comments = f"{path}c"
    is_other = file.path.endswith("opencode.json") and os.path.lexists(with_comments)
    return with_comments if is_other and not os.path.lexists(path) else path


def _base(workspace: Workspace, scope: Scope) -> str:
    if scope == "project":
        return os.path.dirname(workspace.root)
    return workspace.environment.get("HOME") or os.path.expanduser("~")


def _program(scope: Scope) -> str:
    """Return what runs pmem: its name in files that are shared, its path in one's own."""
    if scope == "project":
        return "pmem"
    beside = os.path.join(os.path.dirname(sys.executable), "pmem")
    return shutil.which("pmem") or (beside if os.path.isfile(beside) else "pmem")


def _usable(program: str) -> bool:
    return not os.path.isabs(program) or os.path.isfile(program)


def _hint(request: AssistantSetupRequest) -> str:
    return _DO_IT_BY_HAND.format(name=request.harness)


def _read(path: str, base: str) -> str | None:
    """Return what a file of somebody else's holds, every byte of it kept; None without one.

    Raises:
        Refused: It is a link or in one, or no file.
        Damaged: It is not UTF-8, or far too large.
        StorageRefused: It may not be read.
    """
    _check_links(path, base)
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{path} is no file", "move it away")
        if status.st_size > MOST_BYTES:
            raise Damaged(f"{path} has more than {MOST_BYTES} bytes", "write to it by hand")
        with open(path, "rb") as file:
            return file.read().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise Damaged(not_utf8(path, error.object, error.start), "save it as UTF-8") from None
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


def _backup(path: str) -> str | None:
    """Return what a file was before pmem wrote to it; None where it was not there."""
    backup = path + BACKUP
    if os.path.islink(backup) or not os.path.isfile(backup):
        return None
    with open(backup, encoding="utf-8-sig", errors="replace", newline="") as file:
        return file.read(MOST_BYTES)


def _check_links(path: str, base: str) -> None:
    """See that nothing between a folder and a file below it is a link; else the file alone."""
    if not path.startswith(os.path.join(base, "")):
        base = os.path.dirname(path)
    while len(path) > len(base):
        if os.path.islink(path):
            raise Refused(
                f"{path} is a link to {os.readlink(path)}, and pmem writes through none",
                "put the entry where it leads by hand: --print shows it",
            )
        path = os.path.dirname(path)


def _write(change: _Change, request: AssistantSetupRequest) -> None:
    """Bring a file to what it becomes; what was there before stays beside it until it is back."""
    if change.before == change.after:
        return
    backup = change.path + BACKUP
    with refusals(change.path):
        if change.after is None:
            os.unlink(change.path)
            _remove_empty(os.path.dirname(change.path), request)
        else:
            if change.before is not None and not request.remove and not os.path.lexists(backup):
                write_file(backup, change.before.encode())
            write_file(change.path, change.after.encode())
        if request.remove and os.path.isfile(backup) and not os.path.islink(backup):
            with open(backup, "rb") as file:
                is_back = file.read() == (change.after or "").encode()
            if is_back:
                os.unlink(backup)


def _remove_empty(folder: str, request: AssistantSetupRequest) -> None:
    """Remove the folders that were made for a file, as far as they are empty."""
    if request.scope != "project":
        return
    for _ in range(2):
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)
