"""Starting a memory, and telling git how its records merge and are shown, once a clone.

Git never takes a program to run from a project, so every clone has to be told.
"""

import os
import shutil
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from pmem.core.lines import split_lines
from pmem.core.secrets import unsecret
from pmem.errors import Locked, NotFound, PmemError, UsageError
from pmem.project.discovery import check_new, memory_above
from pmem.project.own_memory import start_own
from pmem.project.setup import MERGE_ATTRIBUTES, initialise
from pmem.project.workspace import Workspace
from pmem.storage.files import safe_files
from pmem.storage.files.worktree import top_of
from pmem.storage.git import git
from pmem.values.fields import SetupRequest, asked
from pmem.vcs.ignoring import add_lines, ignored

ATTRIBUTES_FILE: Final = ".gitattributes"
_NOT_FOUND: Final = "git would not find pmem: put it on the PATH"
SETTINGS: Final[Mapping[str, str]] = {
    "merge.pmem.name": "pmem record merge",
    "merge.pmem.driver": (
        "pmem merge-driver %O %A %B %L %P; rc=$?; case $rc in 0|10) exit $rc;;"
        " *) git merge-file --marker-size=%L %A %O %B;; esac"
    ),
    "diff.pmem.textconv": 'show() { pmem textconv "$1" 2>/dev/null || cat "$1"; }; show',
}
"""This clone's settings. Where the driver is missing, crashes or doubts, git merges the lines, and
shows them.

No `cachetextconv`: with it, `git diff` writes commits, and fails where nobody has a name."""


class GitSetting(msgspec.Struct, frozen=True):
    """One thing that git is told: as it should be, and as it is."""

    name: str
    wanted: str
    found: str | None

    @property
    def ok(self) -> bool:
        """Whether it is as it should be."""
        return self.wanted == self.found


class GitSetup(msgspec.Struct, frozen=True):
    """What git knows about records in this clone."""

    parts: tuple[GitSetting, ...]
    program: bool

    @property
    def ok(self) -> bool:
        """Whether git merges records by field."""
        return all(part.ok for part in self.parts)

    @property
    def begun(self) -> bool:
        """Whether somebody has set up this clone, be it in part."""
        return any(part.found is not None for part in self.parts if part.name in SETTINGS)

    def to_plain(self) -> dict[str, Any]:
        """Return the parts, whether all of them are well, and whether git finds pmem."""
        return {"parts": self.parts, "ok": self.ok, "program": self.program}


def set_up(workspace: Workspace, request: SetupRequest) -> GitSetup:
    """Tell git how records merge in this clone, take that back, or only look."""
    act = look if request.check else remove if request.remove else install
    return act(workspace)


def look(workspace: Workspace) -> GitSetup:
    """Return what git knows about records in this clone.

    Raises:
        NotFound: The folder is in no git repository, or git cannot be asked there.
    """
    asked = ["rev-parse", "--is-inside-work-tree"]
    done = git.run(workspace.root, asked, workspace.environment)
    if done.code or done.out.strip() != b"true":
        told = done.err.partition("\n")[0].removeprefix("fatal: ")
        why = f": {told}" if told and top_of(workspace.root) is not None else ""
        raise NotFound(f"{workspace.root} is in no git work tree{why}", "run `git init` around it")
    there = split_lines(safe_files.text(os.path.join(workspace.root, ATTRIBUTES_FILE)))
    wanted = split_lines(MERGE_ATTRIBUTES)
    parts = [
        GitSetting(ATTRIBUTES_FILE, line, found if line in there else None)
        for line, found in zip(wanted, _in_force(workspace, wanted), strict=True)
    ]
    known = _settings(workspace)
    parts += [GitSetting(name, value, known.get(name)) for name, value in SETTINGS.items()]
    return GitSetup(tuple(parts), program=shutil.which("pmem") is not None)


def install(workspace: Workspace) -> GitSetup:
    """Tell git how records merge, and return what it knows then; safe to repeat."""
    parts = look(workspace).parts
    for part in parts:
        if part.name in SETTINGS and not part.ok:
            _configure(workspace, "--replace-all", part.name, part.wanted)
    lines = [part for part in parts if part.name not in SETTINGS]
    missing = [f"{part.wanted}\n" for part in lines if part.found is None]
    if missing:
        add_lines(workspace, ATTRIBUTES_FILE, "".join(missing))
    return look(workspace)


def remove(workspace: Workspace) -> GitSetup:
    """Take back what this clone was told; the attributes stay, for they are the project's."""
    for part in look(workspace).parts:
        if part.name in SETTINGS and part.found is not None:
            _configure(workspace, "--unset-all", part.name)
    return look(workspace)


def summary(workspace: Workspace) -> tuple[bool, str]:
    """Say in a few words how records merge here, and whether that is well."""
    if top_of(workspace.root) is None:
        return True, "not in a git work tree"
    try:
        found = look(workspace)
    except NotFound as error:
        return False, f"{error.message}: {error.hint}"
    names = sorted({part.name for part in found.parts if not part.ok})
    wrong = "" if found.program else _NOT_FOUND
    if not found.begun:
        wrong = "records merge as text in this clone: run `pmem setup git`"
    elif any(part.found and not part.ok for part in found.parts if part.name == ATTRIBUTES_FILE):
        wrong = f"other attributes overrule {ATTRIBUTES_FILE}: see `git check-attr --all`"
    elif names:
        wrong = f"{', '.join(names)} is not as it should be: run `pmem setup git`"
    return not wrong, wrong or "records merge by field"


def what_the_clone_lacks(workspace: Workspace) -> list[str]:
    """Return a line for each thing that git was not told in this clone, or keeps from others.

    The first command that writes reports it once. That git would not find pmem, `init` said.
    """
    ok, told = summary(workspace)
    return [
        *([] if ok or told == _NOT_FOUND else [f"pmem: {told}"]),
        *(f"pmem: {finding.message}" for finding in ignored(workspace)),
    ]


def script() -> str:
    """Return what `install` does, as lines for a shell and for the attributes."""
    settings = "".join(f"git config --local {name} '{value}'\n" for name, value in SETTINGS.items())
    return f"{settings}# in the memory folder's {ATTRIBUTES_FILE}:\n{MERGE_ATTRIBUTES}\n"


def _settings(workspace: Workspace) -> dict[str, str]:
    asked = ["config", "--local", "--null", "--get-regexp", r"^(merge|diff)\.pmem\."]
    answer = git.ask(workspace.root, asked, workspace.environment) or ""
    found: dict[str, str] = {}
    for line in answer.split("\0")[:-1]:
        name, _, value = line.partition("\n")
        found[name] = f"{found[name]}\n{value}" if name in found else value
    return found


def _configure(workspace: Workspace, *arguments: str) -> None:
    if git.ask(workspace.root, ["config", "--local", *arguments], workspace.environment) is None:
        raise Locked(
            "git refused to change this clone's configuration",
            "see whether .git/config.lock is left from another git, and whether it may be written",
        )


def _in_force(workspace: Workspace, lines: list[str]) -> list[str]:
    """Return the attributes that git gives to what each line is about: others may overrule it."""
    patterns = [line.partition(" ")[0] for line in lines]
    paths = [pattern.lstrip("/") for pattern in patterns]
    asked = ["check-attr", "-z", "merge", "diff", "--", *paths]
    answer = git.ask(workspace.root, asked, workspace.environment)
    if answer is None:
        return lines
    values = answer.split("\0")[2::3]  # of path, attribute and value
    told = zip(lines, patterns, values[::2], values[1::2], strict=True)
    return [
        f"{pattern} merge={merge}" + f" diff={diff}" * (" diff=" in line)
        for line, pattern, merge, diff in told
    ]


class InitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The project's name, whether git tracks transcripts, and whether it is told how to merge.

    `here` makes a new memory even below one that serves the place already. `mine` is the memory of
    whoever runs this, which stands where it stands and is nobody else's.
    """

    name: Annotated[str | None, asked("The project's name.")] = None
    track_conversations: Annotated[bool, asked("Let git track conversations too.")] = False
    git: bool = True
    here: Annotated[bool, asked("Start a second memory below another one.")] = False
    mine: bool = False


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A memory folder that is ready, whether it was made just now, and what git was told."""

    path: str
    created: bool
    git: str

    def to_plain(self) -> dict[str, Any]:
        """Return the folder, and whether it was made."""
        return {"path": self.path, "created": self.created}


def start(workspace: Workspace, request: InitRequest) -> Started:
    """Make a memory folder, or complete the one that is there; safe to repeat."""
    if request.mine:
        done = start_own(workspace.environment, request.name)
        return Started(path=unsecret(done.path), created=done.created, git="")
    if not request.here:
        check_new(workspace.root, workspace.environment)
        above = memory_above(workspace.root, workspace.environment)
        if above is not None and not os.path.isdir(workspace.root):
            raise UsageError(
                f"this folder has a memory already: {unsecret(above)}",
                "go on with that one, or run `pmem init --here` for a second one that hides it",
            )
    done = initialise(
        workspace.root,
        name=request.name,
        track_conversations=request.track_conversations,
        environment=workspace.environment,
    )
    told = _start_git(workspace) if request.git else ""
    workspace.notes += [f"pmem: {finding.message}" for finding in ignored(workspace)]
    return Started(path=unsecret(done.path), created=done.created, git=told)


def _start_git(workspace: Workspace) -> str:
    """Tell git how records merge, and say so; a git that refuses stops nobody."""
    try:
        if top_of(workspace.root) is None or look(workspace).ok:
            return ""
        told = install(workspace)
    except PmemError as error:
        return f"git was not told how records merge: {error.message}; run `pmem setup git`"
    if not told.program:
        return "git merges records by field in this clone, once pmem is on the PATH"
    return "git merges records by field in this clone (`pmem setup git --remove` undoes that)"
