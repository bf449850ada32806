"""Whether what is private stays out of git: what each clone keeps for itself, and transcripts.

Transcripts are private unless somebody decided otherwise: `pmem init --track-conversations` notes
that in the ignore file, and where git tracks one already, it was decided, too.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from pmem.core.findings import Finding
from pmem.core.lines import split_lines
from pmem.errors import PmemError
from pmem.project.setup import (
    IGNORE_CONVERSATIONS,
    IGNORE_FILE,
    IGNORE_HEAD,
    SHARE_CONVERSATIONS,
    locked,
)
from pmem.project.workspace import Workspace
from pmem.storage.files import safe_files
from pmem.storage.files.durable import refusals, write_file
from pmem.storage.files.worktree import top_of
from pmem.storage.git import git
from pmem.storage.git.tracked import LOCAL
from pmem.storage.jsonfiles import scratch
from pmem.values.records import STORES, Chunk, Conversation, Episode, Memory

TRANSCRIPTS: Final = (STORES[Conversation], STORES[Chunk])
DISTRUSTED: Final = "distrusted"
"""The code of a finding that git did not look, as the repository belongs to another user."""
_NEW_RECORD: Final = "a.json"
_OPEN: Final = ("--others", "--exclude-standard", "--directory", "--no-empty-directory")


def exposed(workspace: Workspace) -> list[Finding]:
    """Report what the next `git add` would take in although it is private.

    Outside of a work tree nothing is exposed.
    """
    path = os.path.join(workspace.root, IGNORE_FILE)
    try:
        return [*_exposed(workspace, path)]
    except git.Distrusted as error:
        sentence = f"{path} was not looked at, as {error.message}; {error.hint}"
        return [Finding(path, DISTRUSTED, sentence, severity="warning")]


def _exposed(workspace: Workspace, path: str) -> Iterator[Finding]:
    missing = _missing_rules(workspace)
    if IGNORE_HEAD in missing:
        sentence = f"{path} does not hide {LOCAL}, which is each clone's own"
        yield Finding(path, "exposed", f"{sentence}: `pmem check --fix` fixes that")
    if IGNORE_CONVERSATIONS in missing:
        sentence = (
            f"{path} does not hide transcripts, which are private: `pmem check --fix` hides them,"
            " `pmem init --track-conversations` shares them"
        )
        yield Finding(path, "exposed", sentence)


def ignored(workspace: Workspace) -> list[Finding]:
    """Report that git ignores new records, which then reach no other clone.

    Outside of a work tree, or where the settings say that it is wanted, there is nothing to
    report.
    """
    if top_of(workspace.root) is None or _is_wanted(workspace):
        return []
    with suppress(git.Distrusted):
        return [*_ignored(workspace)]
    return []


def _is_wanted(workspace: Workspace) -> bool:
    with suppress(PmemError):
        return workspace.settings.ignored_by_git
    return False


def _ignored(workspace: Workspace) -> Iterator[Finding]:
    paths = [f"{STORES[type_]}/{_NEW_RECORD}" for type_ in (Memory, Episode)]
    asked = ["check-ignore", "--stdin", "-z", "-v", "--no-index"]
    words = _run(workspace, asked, "\0".join(paths)).split("\0")
    rules = [*zip(words[::4], words[1::4], words[2::4], words[3::4], strict=False)]
    by_rule = {rule[:3]: rule[3] for rule in reversed(rules) if not rule[2].startswith("!")}
    for (source, line, pattern), path in by_rule.items():
        folder = os.path.join(workspace.root, os.path.dirname(path))
        sentence = (
            f"git ignores {folder} ({source}:{line} `{pattern}`), so its records reach no other"
            " clone: change that rule, or say that it is wanted with"
            " `pmem config set ignored_by_git true`"
        )
        yield Finding(folder, "ignored", sentence)


def hide(workspace: Workspace) -> None:
    """Put the rules back that keep out of git what is private."""
    add_lines(workspace, IGNORE_FILE, "".join(_missing_rules(workspace)))


def add_lines(workspace: Workspace, name: str, lines: str) -> None:
    """Put lines at the end of a file of the memory folder."""
    path = os.path.join(workspace.root, name)
    with locked(workspace), refusals(path):
        text = safe_files.text(path)
        start = text if text.endswith("\n") or not text else f"{text}\n"
        write_file(path, f"{start}{lines}".encode(), scratch(workspace.root))


def _missing_rules(workspace: Workspace) -> list[str]:
    missing = [IGNORE_HEAD] if _is_open(workspace, (LOCAL,)) else []
    is_decided = says_shared(safe_files.text(os.path.join(workspace.root, IGNORE_FILE)))
    is_shared = is_decided or _list_with_git(workspace, "--cached", "--", *TRANSCRIPTS)
    if not is_shared and _is_open(workspace, TRANSCRIPTS):
        missing.append(IGNORE_CONVERSATIONS)
    return missing


def says_shared(ignore: str) -> bool:
    """Tell whether an ignore file says that transcripts are shared."""
    return SHARE_CONVERSATIONS.strip() in split_lines(ignore)


def _is_open(workspace: Workspace, folders: Sequence[str]) -> bool:
    """Tell whether git sees something new in folders."""
    return bool(_list_with_git(workspace, *_OPEN, "--", *folders))


def _list_with_git(workspace: Workspace, *arguments: str) -> str:
    if top_of(workspace.root) is None:
        return ""
    return _run(workspace, ["--literal-pathspecs", "ls-files", "-z", *arguments])


def _run(workspace: Workspace, asked: Sequence[str], stdin: str = "") -> str:
    """Return what git prints; nothing where it fails.

    Raises:
        Distrusted: The repository belongs to another user.
    """
    try:
        done = git.run(workspace.root, asked, workspace.environment, stdin=stdin.encode())
    except git.UNAVAILABLE:
        return ""
    return "" if done.code else done.out.decode("utf-8", "replace")
