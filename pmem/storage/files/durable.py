"""Making changes durable: one rename for one file, a staged commit for several.

A commit of several files is written into a folder of its own, made real by renaming that
folder, and then rolled forward file by file. A process that dies before the rename has
changed nothing; one that dies after it is finished by whoever comes next.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from pmem.errors import Damaged, StorageRefused, Unfinished
from pmem.storage.files.safe_files import read
from pmem.values.ids import is_id
from pmem.values.records import STORES

STAGED: Final = "commit"
_PLAN: Final = "plan.json"
_TEMPORARY: Final = ".tmp-"
_OF_A_WRITER: Final = r"\.tmp-([1-9][0-9]{0,9})-[0-9a-f]{8}"
_A_LITTLE: Final = 4096
"""Bytes that no file system keeps without room for them."""
_SUFFIX: Final = ".json"
_STAGED_NAME: Final = r"[0-9]+(-[0-9a-f]{8})?\.json"
"""A commit's files have names of their own: a reader that still knows the one before takes none."""
_NO_PLAN: Final = "remove that folder if it came with the project"
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class FileChange(msgspec.Struct, frozen=True):
    """What one file is to hold; None removes it. The path is relative to the project."""

    path: str
    data: bytes | None


class _CommitStep(msgspec.Struct, frozen=True):
    """One file of a staged commit: its target, and the staged file unless it is removed."""

    path: str
    staged: str | None


def apply(root: str, local: str, changes: Sequence[FileChange]) -> None:
    """Make changes durable, all or none. Hold the writers' lock.

    Creations come before updates and removals come last, so that a reader without a lock
    never misses what moved from one file to another. The untracked folder `local` is on the same
    file system as the memory folder.

    Raises:
        StorageRefused: The disk or a file refused; nothing changed.
        Unfinished: It refused after the change was made; whoever comes next finishes it.
    """
    with refusals(root):
        if len(changes) == 1:
            _apply_one(root, local, changes[0])
        elif changes:
            _stage(root, local, sorted(changes, key=lambda change: _order(root, change)))
            with _after_the_change(root):
                sync_folder(local)
                finish(root, local)


def pending(local: str) -> bool:
    """Tell whether a writer died between making a commit real and finishing it."""
    return os.path.lexists(os.path.join(local, STAGED))


def finish(root: str, local: str) -> None:
    """Roll a staged commit forward. Hold the writers' lock; doing it twice is harmless.

    Raises:
        Damaged: The staged commit's plan cannot be used.
        StorageRefused: The disk or a file refused; run it again later.
    """
    staged = os.path.join(local, STAGED)
    with refusals(root):
        steps = _plan(root, staged)
        for step in steps:
            _roll(root, staged, step)
        for folder in sorted({os.path.dirname(step.path) for step in steps}):
            sync_folder(os.path.join(root, folder))
        _discard(staged)
        sync_folder(local)


def staged_files(root: str, local: str) -> dict[str, str | None]:
    """Return where the files of an unfinished commit are, for readers that may not write.

    Returns:
        For every path that the commit changes, the staged file, or None when it removes it.
    """
    staged = os.path.join(local, STAGED)
    found: dict[str, str | None] = {}
    for step in _plan(root, staged):
        file = os.path.join(staged, step.staged) if step.staged else None
        if file is None or os.path.exists(file):
            found[os.path.join(root, step.path)] = file
    return found


def sweep(folder: str) -> None:
    """Remove what writers that died have left in a folder. Hold the writers' lock."""
    for name in os.listdir(folder):
        if name.startswith(_TEMPORARY):
            path = os.path.join(folder, name)
            folder_left = os.path.isdir(path) and not os.path.islink(path)
            _remove_folder(path) if folder_left else os.unlink(path)


def sweep_dead(folder: str) -> None:
    """Remove from a folder that is not pmem's what its writers left when they were killed.

    What a living process writes there stays.
    """
    with suppress(OSError):
        for name in os.listdir(folder):
            found = re.fullmatch(_OF_A_WRITER, name)
            if found and not _is_alive(int(found[1])):
                _remove_quietly(os.path.join(folder, name))


def _is_alive(process: int) -> bool:
    """Tell whether a process may be running; where that cannot be asked, it may be."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def write_file(path: str, data: bytes, scratch: str | None = None, mode: int | None = None) -> None:
    """Replace a file so that it holds the old bytes or the new ones, whatever happens.

    Args:
        path: The file; its folder is made if it is missing. A link is not written through.
        data: Its new bytes.
        scratch: Where the new file is written before it takes its place, on the same file
            system; the file's own folder when None.
        mode: Its permissions; those of the old file, else the usual ones, when None.

    Raises:
        OSError: The disk or the file refused; the old file is as it was.
        Unfinished: The new file is there, and the disk refused to make its name durable.
    """
    folder = os.path.dirname(path)
    make_folder(folder)
    name = f"{_TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}"
    temporary = os.path.join(scratch or folder, name)
    try:
        with _naming(path):
            _write_new(temporary, data, _mode(path) if mode is None else mode)
            os.replace(temporary, path)
    except BaseException:
        _remove_quietly(temporary)
        raise
    with _after_the_change(path):
        sync_folder(folder)


def refusal(root: str, local: str) -> str:
    """Try to write a little, which goes at once; return why it cannot be, or nothing.

    It is tried in the folder that is called `local`, if that is there.
    """
    inside = os.path.join(root, local)
    folder = inside if os.path.isdir(inside) else root
    path = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        _write_new(path, b"\0" * _A_LITTLE, None)
    except OSError as error:
        return f"{folder}: {error.strerror or error}"
    finally:
        _remove_quietly(path)
    return ""


def make_folder(folder: str) -> None:
    """Make a folder, and those above it, so that they outlast a power cut.

    Raises:
        OSError: The disk refused, or there is a file of that name.
    """
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder))
        os.makedirs(folder, exist_ok=True)
        sync_folder(os.path.dirname(folder))


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def refusals(root: str) -> Iterator[None]:
    """Turn an error of the operating system into the sentence that people get.

    Raises:
        StorageRefused: Instead of any OSError inside.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or root
        raise StorageRefused(f"{where} cannot be written: {error.strerror or error}") from error


@contextmanager
def _after_the_change(path: str) -> Iterator[None]:
    """Say of what fails from here on that the change itself was made.

    Raises:
        Unfinished: Instead of any other refusal inside.
    """
    try:
        with refusals(path):
            yield
    except StorageRefused as error:
        raise Unfinished(error.message) from error


def _apply_one(root: str, local: str, change: FileChange) -> None:
    path = os.path.join(root, change.path)
    if change.data is None:
        _unless_missing(os.unlink, path)
        with _after_the_change(path):
            _unless_missing(sync_folder, os.path.dirname(path))
    else:
        write_file(path, change.data, scratch=local)


def _order(root: str, change: FileChange) -> tuple[int, str]:
    if change.data is None:
        return (2, change.path)
    return (int(os.path.exists(os.path.join(root, change.path))), change.path)


def _stage(root: str, local: str, changes: Sequence[FileChange]) -> None:
    _prepare(root, local, changes)
    own = os.urandom(4).hex()
    draft = os.path.join(local, f"{_TEMPORARY}{os.getpid()}-{own}")
    os.mkdir(draft)
    try:
        steps = []
        for number, change in enumerate(changes):
            staged = None if change.data is None else f"{number}-{own}.json"
            if staged is not None and change.data is not None:
                target = os.path.join(root, change.path)
                with _naming(target):
                    _write_new(os.path.join(draft, staged), change.data, _mode(target))
            steps.append(_CommitStep(change.path, staged))
        _write_new(os.path.join(draft, _PLAN), msgspec.json.encode(steps), None)
        sync_folder(draft)
        os.rename(draft, os.path.join(local, STAGED))
    except BaseException:
        _remove_folder(draft, ignore_errors=True)
        raise


def _prepare(root: str, local: str, changes: Sequence[FileChange]) -> None:
    """See that nothing foreseeable can stop a commit once it is real."""
    if os.stat(local).st_dev != os.stat(root).st_dev:
        raise StorageRefused(f"{local} is on another file system than {root}")
    for folder in {os.path.join(root, os.path.dirname(change.path)) for change in changes}:
        make_folder(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise StorageRefused(f"{folder} cannot be written: Permission denied")


def _plan(root: str, staged: str) -> list[_CommitStep]:
    path = os.path.join(staged, _PLAN)
    try:
        if not stat.S_ISDIR(os.lstat(staged).st_mode):
            raise Damaged(f"{staged} is no folder of an unfinished write", _NO_PLAN)
        steps = msgspec.json.decode(read(path), type=list[_CommitStep])
    except FileNotFoundError:
        return []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Damaged(f"{path} is not the plan of a commit", _NO_PLAN) from None
    for step in steps:
        if not _is_sound(root, step):
            raise Damaged(
                f"{path} reaches for {step.path!r}, which is no record of a store", _NO_PLAN
            )
    return steps


def _is_sound(root: str, step: _CommitStep) -> bool:
    """Tell whether a step leads from the staged commit to a record, and through no link."""
    folder, _, name = step.path.partition("/")
    return (
        folder in STORES.values()
        and name.endswith(_SUFFIX)
        and is_id(name.removesuffix(_SUFFIX))
        and (step.staged is None or re.fullmatch(_STAGED_NAME, step.staged) is not None)
        and not os.path.islink(os.path.join(root, folder))
    )


def _roll(root: str, staged: str, step: _CommitStep) -> None:
    target = os.path.join(root, step.path)
    if step.staged is None:
        _unless_missing(os.unlink, target)
        return
    make_folder(os.path.dirname(target))
    _unless_missing(os.replace, os.path.join(staged, step.staged), target)


def _discard(staged: str) -> None:
    """Remove a finished commit, its plan last: without a plan there is nothing to finish."""
    if os.path.isdir(staged):
        for name in sorted(os.listdir(staged), key=lambda name: name == _PLAN):
            _unless_missing(os.unlink, os.path.join(staged, name))
        os.rmdir(staged)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Let an error name the file that people know, not the one that would become it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _unless_missing(action: Callable[..., None], *paths: str) -> None:
    try:
        action(*paths)
    except FileNotFoundError:
        return


def _mode(path: str) -> int | None:
    try:
        return os.stat(path, follow_symlinks=False).st_mode & 0o777
    except FileNotFoundError:
        return None


def _write_new(path: str, data: bytes, mode: int | None) -> None:
    """Write and sync a file that must not exist yet; no mode means the usual one."""
    descriptor = os.open(path, _CREATE, 0o666 if mode is None else mode & 0o600)
    try:
        if mode is not None:
            os.chmod(path, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_folder(path: str, *, ignore_errors: bool = False) -> None:
    from shutil import rmtree  # rarely needed

    rmtree(path, ignore_errors=ignore_errors)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
