"""Having every commit looked at: by git's own hook, or by the pre-commit tool's configuration.

Each is one marked block of lines in a file that may be somebody else's: nothing else in it changes.
"""

import os
import re
import shlex
import shutil
from textwrap import dedent
from typing import Annotated, Any, Final, Literal

import msgspec

from pmem.core import managed_block
from pmem.errors import NotFound, Refused
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import refusals, write_file
from pmem.storage.files.worktree import MEMORY_FOLDER
from pmem.storage.git import git
from pmem.storage.git.repository import Repository
from pmem.values.fields import SetupRequest, asked

CONFIG: Final = ".pre-commit-config.yaml"
HOOK: Final = "pre-commit"
_SHEBANG: Final = "#!/bin/sh\n"
_OWN_ENTRY: Final = re.compile(r"^[ -]*id:[ ]*[\"']?pmem-check\b", re.MULTILINE)
_MARKED: Final = f"{managed_block.BEGIN} - `pmem setup pre-commit --remove` takes these lines away"
_CHECK: Final = "check"
_REVIEW: Final = "review"
_STRICT: Final = "--strict"
_SCRIPT: Final = """\
{marked}
if command -v pmem >/dev/null 2>&1; then
  pmem_code=0
  pmem_said=$({command} check --staged 2>&1) || pmem_code=$?
  case $pmem_code in
    0 | 4) ;; # 4: there is no memory here
    1)
      printf '%s\\n' "$pmem_said" >&2
      echo 'pmem: this would damage the memory or share a secret. `pmem resolve` fixes what a' >&2
      echo 'merge left; renew a secret that others saw. `git commit --no-verify` commits anyway' >&2
      exit 1
      ;;
    *)
      printf '%s\\n' "$pmem_said" >&2
      echo "pmem: the memory in this commit was not checked (exit $pmem_code)" >&2
      ;;
  esac
{origin}  pmem_code=0
  pmem_said=$({command} review --staged --quiet{strict} 2>&1) || pmem_code=$?
  case $pmem_code in
    0)
      if [ -n "$pmem_said" ]; then
        printf '%s\\n' "$pmem_said" >&2
        echo 'pmem: related memories (for information; the commit continues)' >&2
      fi
      ;;
    1)
      printf '%s\\n' "$pmem_said" >&2
      echo 'pmem: this waits for an answer; `git commit --no-verify` commits all the same' >&2
      exit 1
      ;;
    4 | 7) ;; # 7: this agent may not see everything
    *)
      printf '%s\\n' "$pmem_said" >&2
      echo "pmem: this commit was not reviewed (exit $pmem_code)" >&2
      ;;
  esac
else
  echo 'pmem: not installed, so the memory in this commit was not checked' >&2
fi
{end}
"""
_ORIGIN_LINES: Final = """\
  pmem_code=0
  pmem_said=$({command} check origin 2>&1) || pmem_code=$?
  if [ "$pmem_code" = 1 ]; then
    printf '%s\\n' "$pmem_said" >&2
    echo 'pmem: `git commit --no-verify` commits all the same' >&2
    exit 1
  fi
"""
_ENTRIES: Final = """\
{marked}
- repo: local
  hooks:
{entries}{end}
"""
_ENTRY: Final = """\
    - id: pmem-{look}
      name: pmem {look}
      entry: {command}
      language: system
      files: {files}
      pass_filenames: false
{more}"""


Kind = Literal["hook", "config", "other"]
_HUSKY: Final = os.path.join(".husky", "_")
"""The folder in which husky writes its own hooks; people's are in the one around it."""
_WAS_SET: Final = "pmem.preCommit"
"""What this clone's configuration says once the lines were put in."""


_COMMANDS: Final = "pmem check --staged && pmem review --staged\n"
_MANAGERS: Final = re.compile(
    r"\.?(?:(lefthook)(?:-local)?\.(?:ya?ml|toml|json)|(simple-git-hooks)\.(?:c?js|json))"
    r"|\.(overcommit)\.yml|(captainhook)\.json"
)
"""Files of programs that write git's hooks themselves; people write these, and pmem does not."""


class PreCommitRequest(SetupRequest, frozen=True, kw_only=True):
    """Whether to have commits checked; `strict` lets a review stop them as well.

    `origin` has records stop them that something else than pmem changed.
    """

    strict: Annotated[bool, asked("Let a review stop a commit too.")] = False
    origin: Annotated[bool, asked("Stop records that something else than pmem changed.")] = False


_PLAIN: Final = PreCommitRequest()


class HookSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Whether commits are checked here, and how.

    `kind` says what checks them: git's hook, the configuration of the pre-commit tool, or that of
    another `manager` of hooks. `path` is the file that says so, `wanted` its block of lines as it
    should be and `found` as it is. `program` is whether pmem can be found at all.
    """

    kind: Kind
    path: str
    wanted: str
    found: str | None
    by_hand: bool
    program: bool
    manager: str = ""

    @property
    def ok(self) -> bool:
        """Whether commits are checked: by the block, or by an entry that somebody wrote."""
        return self.by_hand or self.found == self.wanted

    def to_plain(self) -> dict[str, Any]:
        """Return the fields, and whether commits are checked."""
        return {**msgspec.structs.asdict(self), "ok": self.ok}


def set_up(workspace: Workspace, request: PreCommitRequest) -> HookSetup:
    """Have commits checked from now on, take that back, or only look."""
    if request.check:
        return look(workspace, request)
    return remove(workspace) if request.remove else install(workspace, request)


def look(workspace: Workspace, request: PreCommitRequest = _PLAIN) -> HookSetup:
    """Return whether commits are checked here as was asked for, or more, and how."""
    top = Repository(workspace.root, workspace.environment).top()
    config = os.path.join(top, CONFIG)
    if os.path.lexists(config):
        return _look(workspace, "config", config, top, request)
    for name in sorted(os.listdir(top)):
        manager = _MANAGERS.fullmatch(name)
        if manager is not None:
            path = os.path.join(top, name)
            return HookSetup(
                kind="other",
                path=path,
                wanted=_COMMANDS,
                found=None,
                by_hand="pmem check" in _text(path),
                program=shutil.which("pmem") is not None,
                manager=next(filter(None, manager.groups())),
            )
    return _look(workspace, "hook", _hook_path(workspace), top, request)


def was_set(workspace: Workspace) -> bool:
    """Return whether commits were set up to be checked in this clone."""
    asked = ["config", "--local", "--get", _WAS_SET]
    return bool(git.ask(workspace.root, asked, workspace.environment))


def install(workspace: Workspace, request: PreCommitRequest = _PLAIN) -> HookSetup:
    """Have commits checked from now on; safe to repeat.

    What is returned is not ok where there is no safe place for the lines in the configuration of
    the pre-commit tool.
    """
    before = look(workspace, request)
    if before.kind == "other":
        return before
    git.ask(workspace.root, ["config", "--local", _WAS_SET, "true"], workspace.environment)
    if before.ok:
        return before
    text = managed_block.without(_text(before.path))
    if before.kind == "config":
        placed = managed_block.first_repository(text, before.wanted)
        if placed is None or os.path.islink(before.path):
            return before
    else:
        own = git.hook_path(workspace.root, HOOK, workspace.environment) or ""
        is_run_by_git = os.path.normpath(own) == before.path
        if is_run_by_git:
            _check_lines(before.path, text)
        placed = managed_block.after_first_line(text or _SHEBANG, before.wanted)
        if text and not text.startswith("#!"):
            placed = before.wanted + text
    _write(before.path, placed, executable=before.kind == "hook" and is_run_by_git)
    return look(workspace, request)


def remove(workspace: Workspace) -> HookSetup:
    """Take away what `install` added, and nothing else."""
    top = Repository(workspace.root, workspace.environment).top()
    git.ask(workspace.root, ["config", "--local", "--unset", _WAS_SET], workspace.environment)
    for path in (os.path.join(top, CONFIG), _hook_path(workspace)):
        text = _text(path)
        left = managed_block.without(text) if _block(path, text) else text
        if left == _SHEBANG != text:
            with refusals(path):
                os.unlink(path)
        elif left != text:
            _write(path, left)
    return look(workspace)


def _look(
    workspace: Workspace,
    kind: Literal["hook", "config"],
    path: str,
    top: str,
    request: PreCommitRequest,
) -> HookSetup:
    text = _text(path)
    found = _block(path, text)
    found = found if kind == "hook" or found is None else dedent(found)
    rest = managed_block.without(text)
    ways = {
        _hook_block(workspace, kind, top, strict, origin): (strict, origin)
        for strict in (False, True)
        for origin in (False, True)
    }
    strict, origin = ways.get(found or "", (False, False))  # what was asked for once stays
    wanted = _hook_block(workspace, kind, top, strict or request.strict, origin or request.origin)
    return HookSetup(
        kind=kind,
        path=path,
        wanted=wanted,
        found=found,
        by_hand=kind == "config" and _OWN_ENTRY.search(rest) is not None,
        program=shutil.which("pmem") is not None,
    )


def _hook_block(workspace: Workspace, kind: str, top: str, strict: bool, origin: bool) -> str:
    root = os.path.realpath(workspace.root)
    name = os.path.basename(root)
    place = os.path.relpath(root, os.path.realpath(top)).replace(os.sep, "/")
    above = place.rpartition("/")[0]
    words = ["pmem", *(["-C", above] if above else [])]
    if name != MEMORY_FOLDER:
        words = ["env", f"PMEM_MEMORY_DIR={name}", *words]
    values = {"marked": _MARKED, "end": managed_block.END}
    if kind == "hook":
        command = shlex.join(words)
        lines = _ORIGIN_LINES.format(command=command) * origin
        how = {"strict": f" {_STRICT}" * strict, "origin": lines, "command": command}
        return _SCRIPT.format(**values, **how)
    files = "" if place == "." else "^{}/".format(re.escape(place).replace(r"\-", "-"))
    check = shlex.join([*words, _CHECK, "--staged"])
    review = shlex.join([*words, _REVIEW, "--staged", *([_STRICT] * strict)])
    more = "      always_run: true\n      verbose: true\n"
    entries = "".join(
        _ENTRY.format(look=look, command=_quote_yaml(command), files=_quote_yaml(file), more=rest)
        for look, command, file, rest in (
            (_CHECK, check, files, ""),
            *([("origin", shlex.join([*words, _CHECK, "origin"]), files, "")] * origin),
            (_REVIEW, review, "", more),
        )
    )
    return _ENTRIES.format(**values, entries=entries)


def _quote_yaml(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _block(path: str, text: str) -> str | None:
    try:
        return managed_block.found(text)
    except managed_block.Unclear:
        raise Refused(
            f"the lines that pmem put into {path} cannot be told from the rest",
            f"take out the lines from {managed_block.BEGIN} to {managed_block.END} by hand",
        ) from None


def _hook_path(workspace: Workspace) -> str:
    """Return the hook that people own: git's own, or that which husky's own calls."""
    found = git.hook_path(workspace.root, HOOK, workspace.environment)
    if found is None:
        raise NotFound(f"git does not say where {workspace.root} has its hooks")
    folder, name = os.path.split(os.path.normpath(found))
    is_husky_own = folder.endswith(os.sep + _HUSKY)
    return os.path.join(os.path.dirname(folder) if is_husky_own else folder, name)


def _check_lines(path: str, text: str) -> None:
    """See that a hook that is there already is a script that git runs."""
    hint = "`pmem setup pre-commit --print` shows the lines to put where you want them"
    if os.path.islink(path):
        raise Refused(f"{path} is a link to a file that others may use, too", hint)
    if text and not managed_block.is_shell_script(text):
        raise Refused(f"{path} is no shell script, so no lines can be added to it", hint)
    if text and not os.access(path, os.X_OK):
        raise Refused(f"{path} cannot be executed, so git does not run it", "fix or remove it")


def _text(path: str) -> str:
    """Return what a file holds, every byte of it kept; nothing where there is no file."""
    with refusals(path):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return ""


def _write(path: str, text: str, *, executable: bool = False) -> None:
    with refusals(path):
        mode = (_mode(path) | (_mode(path) & 0o444) >> 2) if executable else None
        write_file(path, text.encode("utf-8", "surrogateescape"), mode=mode)


def _mode(path: str) -> int:
    """Return a file's permissions, or what a new file gets."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
