"""Which secrets got into the memory: on disk, in the next commit, in all of git's history."""

import os
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pmem.core.findings import Finding
from pmem.core.secrets import without_raw
from pmem.core.secrets.texts import in_file
from pmem.errors import PmemError
from pmem.project.configuration import CONFIG_FILE
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.git.git_index import Staged
from pmem.storage.git.repository import Repository, limits_of_history
from pmem.storage.git.tracked import LOCAL, tracked
from pmem.values.records import STORES

_SCRATCH: Final = ".tmp-"
_SHORT: Final = 10


class Scanned(msgspec.Struct, frozen=True, kw_only=True):
    """How many files, or versions of files, were read, and the secrets in them."""

    files: int
    findings: tuple[Finding, ...]


class _File(msgspec.Struct, frozen=True):
    """A file, or a version of one: where, what it holds, and how to find that version."""

    path: str
    data: bytes | None
    which: str = ""


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at: the files, what the next commit changes, or all that git can reach."""

    staged: bool = False
    history: bool = False


def scan(workspace: Workspace, request: ScanRequest) -> Scanned:
    """Look for secrets in all that git may track, or in what is asked. Nothing is changed."""
    if request.staged:
        return _scanned(workspace, _staged(workspace))
    return _scanned(workspace, _reachable(workspace) if request.history else _files(workspace))


def _files(workspace: Workspace) -> Iterator[_File]:
    ours = tracked(workspace.root, workspace.environment) or ()  # of each clone's own
    private = (os.path.join(workspace.root, path) for path in ours)
    for path in (*_paths(workspace.root), *filter(os.path.lexists, private)):
        try:
            yield _File(path, read_bytes(path)[0])
        except (OSError, PmemError):
            yield _File(path, None)


def _staged(workspace: Workspace) -> Iterator[_File]:
    repository = Repository(workspace.root, workspace.environment)
    staged = Staged(repository, workspace.root, workspace.environment)
    kept = sorted(path for path, left in staged.changes.items() if left)
    contents = repository.blobs([staged.files[path].object for path in kept])
    return map(_File, map(staged.where, kept), contents)


def _reachable(workspace: Workspace) -> Iterator[_File]:
    repository = Repository(workspace.root, workspace.environment)
    versions = repository.versions()
    workspace.notes += limits_of_history(workspace.root)
    names = [name for name, _ in versions]
    paths = (os.path.join(workspace.root, path) for _, path in versions)
    return map(_File, paths, repository.blobs(names), names)


def _scanned(workspace: Workspace, files: Iterable[_File]) -> Scanned:
    allowed = workspace.settings.secrets.allow
    found: dict[tuple[str, str, str], Finding] = {}
    count = 0
    for count, file in enumerate(files, start=1):  # noqa: B007 - the last number is the count
        for finding in _findings(file, allowed):
            what = finding.sentence.partition(" (version ")[0]
            found.setdefault((finding.path, finding.code, what), finding)
    return Scanned(
        files=count,
        findings=tuple(
            sorted(found.values(), key=lambda it: (it.path, it.line or 0, it.code, it.message))
        ),
    )


def _findings(file: _File, allowed: tuple[str, ...]) -> Iterator[Finding]:
    version = f" (version {file.which[:_SHORT]})" if file.which else ""
    if file.data is None:
        sentence = f"{file.path} cannot be read, so it was not scanned{version}"
        yield Finding(file.path, "unread", sentence)
        return
    if os.path.basename(file.path) == CONFIG_FILE:  # what it allows stands there itself
        allowed = without_raw(allowed)
    for spot in in_file(file.data, allowed):
        sentence = f"{file.path} holds a secret in {spot.where}{version}"
        yield Finding(file.path, spot.kind, sentence, None if file.which else spot.line)


def _paths(root: str) -> Iterator[str]:
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name)
        if name in STORES.values():
            inner = sorted(os.listdir(path)) if os.path.isdir(path) else []
            yield from (os.path.join(path, file) for file in inner if file.endswith(SUFFIX))
        elif name != LOCAL and not name.startswith(_SCRATCH) and os.path.isfile(path):
            yield path
