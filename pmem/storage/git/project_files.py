"""The files of the project around a memory folder, to see whether what memories cite still holds.

A record may come from anywhere and cite anything. So nothing outside the project is read, no link
is followed, and what is no regular file is not opened.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from hashlib import sha1, sha256
from typing import Final, NamedTuple

from pmem.errors import InvalidValue, PmemError
from pmem.storage.files.recordfile import LFS_POINTER
from pmem.storage.files.worktree import on_disk, project_top
from pmem.storage.git import git
from pmem.storage.git.repository import FILES, Repository

MOST_BYTES: Final = 16 * 1024 * 1024
"""A larger file is neither cited nor looked into."""
MOST_FILES: Final = 50_000
"""Where there is no git, the folder is looked through up to so many files."""
_LONGEST: Final = 4096
GIT: Final = "git:"
"""What comes before git's names in records; a bare one looks like a secret to scanners."""
_GIT: Final = ".git"
_LOCAL: Final = "local"
_OPEN: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER: Final = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_NO_FOLDER: Final = "leads through what is no folder"
_NO_FILE: Final = "is no regular file"
_TRACKED: Final = ("ls-files", "--stage", "-z")
_NOT_IGNORED: Final = "--exclude-standard"
_DELETED: Final = b"R"
_UNTRACKED: Final = ("ls-files", "--others", _NOT_IGNORED, "-z")


class Unreadable(Exception):
    """A file of the project cannot be looked into."""

    def __init__(self, reason: str, *, is_missing: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_missing = is_missing


class FileTooLarge(Unreadable):
    """A file has more bytes than are to be read."""


class Listed(NamedTuple):
    """A file of the project, and git's name of what is committed or staged of it."""

    file: str
    blob: str | None


class Sources:
    """Reads a project's files; they are named relative to its top, with slashes."""

    def __init__(self, folder: str, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    @cached_property
    def top(self) -> str:
        """The top of the git repository around the memory folder, else the folder that holds it."""
        return project_top(self._folder)

    @cached_property
    def _own(self) -> str:
        """The memory folder's name."""
        return os.path.relpath(self._folder, self.top).replace(os.sep, "/")

    def named(self, path: str) -> str:
        """Return the name of a file that somebody wants to cite.

        The path is seen from the current folder; a link stands for what it leads to.

        Raises:
            InvalidValue: It is not in the project, or may not be cited.
        """
        try:
            top, real = os.path.realpath(self.top), os.path.realpath(on_disk(path))
            inside = os.path.commonpath((top, real)) == top and top != real
        except (OSError, ValueError):  # a zero byte, or another drive
            raise InvalidValue(f"{path!r} is no file", "cite a file of the project") from None
        if not inside:
            raise InvalidValue(f"{path} is not in the project {self.top}", "cite a file of it")
        file = os.path.relpath(real, top).replace(os.sep, "/")
        wrong = self._why_not(file) if is_text(file) else "has a name that is not UTF-8"
        if wrong is not None:
            raise InvalidValue(f"{path} cannot be cited: it {wrong}", "cite another file")
        return file

    def read(self, file: str, most: int = MOST_BYTES) -> bytes:
        """Return what a file holds.

        Raises:
            TooLarge: It has more.
            Unreadable: It is not there, leads out of the project or through a link, is no regular
                file, is too large or may not be read.
        """
        wrong = self._why_not(file)
        if wrong is not None:
            raise Unreadable(wrong)
        try:
            data = self._read(self._spelled_on_disk(file), most)
            if data.startswith(LFS_POINTER):
                raise Unreadable("is a pointer of Git LFS here: run `git lfs pull`")
            return data
        except FileNotFoundError:
            raise Unreadable("is not there", is_missing=True) from None
        except (OSError, ValueError) as error:
            raise Unreadable(f"cannot be read: {getattr(error, 'strerror', error)}") from None

    def _spelled_on_disk(self, file: str) -> str:
        if file.isascii():
            return file
        return os.path.relpath(on_disk(os.path.join(self.top, file)), self.top).replace(os.sep, "/")

    @cached_property
    def head(self) -> str | None:
        """The commit that is checked out, or None where there is none."""
        try:
            return Repository(self._folder, self._environment).commit("HEAD")
        except PmemError:
            return None

    def listed(self) -> list[Listed]:
        """Return the files that texts may have moved to, by name; the memory folder has none.

        In a git repository those are the files that git does not ignore, elsewhere all that are
        not hidden.
        """
        tracked, others = (self._asked(*words) for words in (_TRACKED, _UNTRACKED))
        if tracked is None or others is None:
            found = [Listed(file, None) for file in self._walked()]
        else:
            found = [
                *_parse_tracked(tracked),
                *(Listed(os.fsdecode(name), None) for name in others),
            ]
        wanted = (one for one in reversed(found) if is_text(one.file))
        unique = {one.file: one for one in wanted if not one.file.startswith(f"{self._own}/")}
        return [unique[file] for file in sorted(unique)]

    def alike(self, blobs: Collection[str], names: Collection[str], few: int) -> list[str] | None:
        """Return the files that git has with one of some contents, or names in any folder.

        None where there is no git, or it has a few files at the most.
        """
        tracked = self._asked(*_TRACKED)
        if tracked is None or len(tracked) <= few:
            return None
        ends = tuple(between + os.fsencode(name) for name in names for between in (b"/", b"\t"))
        objects = {blob.removeprefix(GIT).encode() for blob in blobs}
        found = [it for it in tracked if it.endswith(ends) or it.split(b" ", 2)[1] in objects]
        files = (listed.file for listed in _parse_tracked(found) if is_text(listed.file))
        return [file for file in files if not file.startswith(f"{self._own}/")]

    def within(self, folder: str) -> list[str]:
        """Return the files in a folder and below it that git does not ignore.

        Where git ignores the folder, or there is no git, it is all files there. Those of git and
        of the memory are in neither, nor is one that git has and that is deleted.

        The top is "".
        """
        place = f":(top,literal){folder}"
        asked = ("ls-files", "-t", "--cached", "--others", "--deleted", _NOT_IGNORED, "-z")
        states = [line.partition(b" ") for line in self._asked(*asked, "--", place) or ()]
        gone = {file for state, _, file in states if state == _DELETED}
        known = {os.fsdecode(file) for _, _, file in states if file not in gone}
        files = sorted(known) or [*self._walked(folder, hidden=True)]
        outside = (file for file in files if not file.startswith(f"{self._own}/"))
        return [file for file in outside if self._why_not(file) is None]

    def _why_not(self, file: str) -> str | None:
        """Return why a name is none that may be read, by the name alone."""
        parts = file.split("/")
        if len(file) > _LONGEST or "\0" in file or (os.name == "nt" and set(file) & {"\\", ":"}):
            return "has no name that a file can have"
        if not set(parts).isdisjoint(("", ".", "..")):
            return "leads out of the project"
        names = [part.casefold() for part in parts]
        hidden = [*self._own.casefold().split("/"), _LOCAL]
        if _GIT in names or names[: len(hidden)] == hidden:
            return "belongs to git or to this clone alone"
        return None

    def _read(self, file: str, most: int) -> bytes:
        opening = _open_file if os.open in os.supports_dir_fd else _opened_by_path
        descriptor = opening(self.top, file)
        with open(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            _must(status, stat.S_ISREG, _NO_FILE)
            data = opened.read(most + 1) if status.st_size <= most else None
        if data is None or len(data) > most:
            raise FileTooLarge(f"is larger than {most // 1024 // 1024} MB")
        return data

    def _asked(self, *words: str) -> list[bytes] | None:
        """Ask git for names; None where there is no git, or no repository."""
        try:
            found = git.run(self.top, words, self._environment)
        except git.UNAVAILABLE:
            return None
        return None if found.code else found.out.split(b"\0")[:-1]

    def _walked(self, folder: str = "", *, hidden: bool = False) -> Iterator[str]:
        """Yield the files below a folder by name, git's never and hidden ones where wanted."""
        left = MOST_FILES
        for here, inner, files in os.walk(os.path.join(self.top, folder)):
            inner[:] = sorted(it for it in inner if it != _GIT and (hidden or it[0] != "."))
            for name in sorted(it for it in files if hidden or it[0] != "."):
                if left == 0:
                    return
                left -= 1
                path = os.path.relpath(os.path.join(here, name), self.top)
                yield path.replace(os.sep, "/")


def blob_of(data: bytes, commit: str | None) -> str:
    """Return git's name of a file's content, as records have it.

    A commit of the repository tells by its length how the repository names things.
    """
    content = b"blob %d\0%s" % (len(data), data)
    if commit is not None and len(commit.removeprefix(GIT)) == sha256().digest_size * 2:
        return GIT + sha256(content).hexdigest()
    return GIT + sha1(content, usedforsecurity=False).hexdigest()


def _open_file(top: str, file: str) -> int:
    """Open a file folder by folder, so that none can become a link while another is looked at."""
    *folders, name = file.split("/")
    here = os.open(os.path.realpath(top), _FOLDER)
    try:
        for folder in folders:
            _must(os.stat(folder, dir_fd=here, follow_symlinks=False), stat.S_ISDIR, _NO_FOLDER)
            above, here = here, os.open(folder, _FOLDER, dir_fd=here)
            os.close(above)
        _must(os.stat(name, dir_fd=here, follow_symlinks=False), stat.S_ISREG, _NO_FILE)
        return os.open(name, _OPEN, dir_fd=here)
    finally:
        os.close(here)


def _opened_by_path(top: str, file: str) -> int:
    *folders, name = file.split("/")
    for folder in folders:
        top = os.path.join(top, folder)
        _must(os.lstat(top), stat.S_ISDIR, _NO_FOLDER)
    path = os.path.join(top, name)
    _must(os.lstat(path), stat.S_ISREG, _NO_FILE)
    return os.open(path, _OPEN)


def _parse_tracked(lines: list[bytes]) -> Iterator[Listed]:
    for line in lines:
        about, _, path = line.partition(b"\t")
        mode, blob, _ = about.decode().split(" ")
        if mode in FILES:
            yield Listed(os.fsdecode(path), blob)


def is_text(name: str) -> bool:
    """Tell whether a file's name can be written down."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _must(status: os.stat_result, is_kind: Callable[[int], bool], reason: str) -> None:
    if not is_kind(status.st_mode):
        raise Unreadable("is a link" if stat.S_ISLNK(status.st_mode) else reason)
