"""The git repository around a memory folder, to read what it keeps: no checkout, no writing.

Every path is relative to the memory folder; git runs in it and finds the repository itself.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from pmem.core.lines import file_lines
from pmem.errors import InvalidValue, NotFound, StorageRefused
from pmem.storage.files.worktree import shared_git_folder, top_of
from pmem.storage.git import git
from pmem.storage.git.objects import Objects

_LONGEST_NAME: Final = 4096
"""Characters of a revision at the most; a command line has its limits."""
_REVISION: Final = re.compile(r"(?![-^])[^\x00-\x20\x7f:?*\[\\{]+")
_FORMAT: Final = "--format=%x01%H%x00%an%x00%aI%x00%s"
_LOG: Final = (
    "--literal-pathspecs",
    *("-c", "log.showSignature=false", "-c", "log.follow=false", "-c", "log.showRoot=true"),
    *("log", "-O/dev/null", "--topo-order", "--encoding=UTF-8"),
    *("--no-renames", "--no-abbrev", "--no-textconv", "--no-ext-diff", "-c", "-z"),
)

_DIFFERENCES: Final = (
    *("diff-tree", "--stdin", "--always", "-r", "--raw", "-z", "--relative", "-O/dev/null"),
    *("--no-renames", "--no-abbrev", "--no-textconv", "--no-ext-diff"),
)
_NO_MODE: Final = "000000"
FILES: Final = ("100644", "100755", "100664")
"""Git's modes of regular files."""
_CHANGES: Final = (
    *("diff-index", "--cached", "--raw", "-z", "--relative", "-O/dev/null"),
    *("--no-renames", "--no-abbrev", "--no-textconv", "--no-ext-diff", "--ita-invisible-in-index"),
)


NO_REPOSITORY: Final = "is not in a git repository"
INIT: Final = "run `git init` around it"
_NO_ANCESTOR: Final = "the two revisions have no common ancestor"
_SHALLOW: Final = "this clone is shallow"
UNSHALLOW: Final = (
    "fetch the history first: `git fetch --unshallow`; in GitHub Actions `fetch-depth: 0`"
)
"""What to do in a clone that was made without older commits."""


class NoRevision(InvalidValue):
    """A name is no git revision."""

    default_hint = "give a branch, a tag or a commit such as main, v1.0 or HEAD~3"

    def __init__(self, name: str, reason: str) -> None:
        hints = {NO_REPOSITORY: INIT, _SHALLOW: UNSHALLOW}
        hint = next((hint for end, hint in hints.items() if reason.endswith(end)), "")
        super().__init__(f"{name!r} is no git revision: {reason}", hint)
        self.reason = reason


class TreeEntry(NamedTuple):
    """What a tree holds under a path: git's mode in octal, and the object's name."""

    mode: str
    object: str


class Staging(NamedTuple):
    """What git's index holds in the memory folder.

    `files` has every path, of one that is unmerged our side, else theirs; `unmerged` has the
    paths on which a merge waits for a decision.
    """

    files: dict[str, TreeEntry]
    unmerged: frozenset[str]


class Commit(NamedTuple):
    """A commit that touched a file, and the file's objects: its parents' and its own.

    Where the file is missing, its object is None.
    """

    id: str
    author: str
    at: datetime
    subject: str
    before: tuple[str | None, ...]
    after: str | None


class Merge(NamedTuple):
    """A merge commit and its parents, by their ids."""

    id: str
    parents: tuple[str, ...]


class Repository:
    """Reads commits, trees and blobs."""

    def __init__(self, folder: str, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._objects = Objects(folder, environment)

    def commit(self, revision: str) -> str:
        """Return the id of the commit that a revision means.

        It may be a branch, a tag, a commit's id or its start, `HEAD~3` and the like; no
        date or search.

        Raises:
            NoRevision: Git knows none of that name, or there is no repository.
            NotFound: There is no git.
        """
        if len(revision) > _LONGEST_NAME or not _REVISION.fullmatch(revision) or ".." in revision:
            raise NoRevision(revision, "git takes no such name")
        found = self._run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        if found.code:
            why = "there is no commit yet" if revision == "HEAD" else "git knows no such commit"
            why += f", and {_SHALLOW}" * bool(oldest_of_shallow(self._folder))
            raise NoRevision(revision, self._why_not(found, why))
        return found.out.decode("ascii", "replace").strip()

    def merge_base(self, one: str, other: str) -> str:
        """Return the best common ancestor of two commits.

        Raises:
            InvalidValue: They have none.
        """
        found = self._run("merge-base", one, other)
        if found.code:
            why = self._why_not(found, _NO_ANCESTOR)
            if oldest_of_shallow(self._folder):
                raise InvalidValue(f"{why} in this clone, and {_SHALLOW}", UNSHALLOW)
            raise InvalidValue(why)
        return found.out.decode().split()[0]

    def merge_bases(self, one: str, *others: str) -> list[str]:
        """Return all best common ancestors of a commit and what merging the others would give."""
        found = self._run("merge-base", "--all", one, *others)
        if found.code > 1:
            raise StorageRefused(self._why_not(found, "git cannot read the repository"))
        return found.out.decode().split()

    def merges(self, start: str, end: str) -> list[Merge]:
        """Return the merges that `end` can reach and `start` cannot, the newest last."""
        listed = self._must(
            *("rev-list", "--merges", "--parents", "--topo-order", "--reverse"),
            *(end, f"^{start}", "--"),
        )
        lines = (line.decode().split() for line in file_lines(listed))
        return [Merge(first, tuple(others)) for first, *others in lines]

    def differing(
        self, pairs: Sequence[tuple[str, str]], folders: Sequence[str]
    ) -> list[dict[str, tuple[TreeEntry | None, TreeEntry | None]]]:
        """Return the files that differ between commits, read by one git process.

        Args:
            pairs: Two commits' ids each.
            folders: The folders in the memory folder to look at.

        Returns:
            For each pair, by path, the entries of the second and of the first of the two.
        """
        asked = "".join(f"{one} {other}\n" for one, other in pairs).encode()
        listed = self._must(*_DIFFERENCES, "--", *folders, stdin=asked) if pairs else b""
        found: list[dict[str, tuple[TreeEntry | None, TreeEntry | None]]] = []
        words = iter(listed.split(b"\0")[:-1])
        for word in words:
            if not word.startswith(b":"):
                found.append({})
                continue
            before, after, _ = raw_entries(word)
            found[-1][os.fsdecode(next(words))] = (before, after)
        return found

    def files(self, commit: str) -> dict[str, TreeEntry]:
        """Return everything in the memory folder at a commit, by path; links are not followed."""
        listed = self._must("ls-tree", "-r", "-z", commit)
        found = {}
        for line in listed.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, object_ = about.decode().split(" ")
            found[os.fsdecode(path)] = TreeEntry(mode, object_)
        return found

    def top(self) -> str:
        """Return the top folder of the work tree."""
        found = self._run("rev-parse", "--show-toplevel")
        if found.code:
            raise NotFound(f"{self._folder} is in no git work tree", INIT)
        return os.fsdecode(found.out.removesuffix(b"\n"))

    def own_folder(self) -> str:
        """Return where git keeps what is this work tree's: its index, a merge under way."""
        return os.fsdecode(self._must("rev-parse", "--absolute-git-dir").removesuffix(b"\n"))

    def staging(self, index: str) -> Staging:
        """Return what the index holds in the memory folder.

        The index is a file; the repository's own when empty.
        """
        files, unmerged = {}, set()
        for path, stage, entry in index_entries(
            self._must("ls-files", "--stage", "-z", index=index)
        ):
            if stage != "0":
                unmerged.add(path)
            if stage in "02" or path not in files:
                files[path] = entry
        return Staging(files, frozenset(unmerged))

    def changes(self, index: str) -> dict[str, bool]:
        """Return the paths in the memory folder that the next commit changes.

        See `staging` for the index.

        For each it tells whether it is there after the commit.
        """
        listed = self._must(*_CHANGES, self.head_or_nothing(), "--", ".", index=index)
        words = listed.split(b"\0")[:-1]
        return {
            os.fsdecode(path): about.rpartition(b" ")[2] != b"D"
            for about, path in zip(words[::2], words[1::2], strict=True)
        }

    def head_or_nothing(self) -> str:
        """Return the commit that the next one stands on; the empty tree before the first."""
        try:
            return self.commit("HEAD")
        except NoRevision:
            return self._must("hash-object", "-t", "tree", "--stdin").decode().strip()

    def place(self) -> str:
        """Return the memory folder's path in the repository, with a slash at the end."""
        return os.fsdecode(self._must("rev-parse", "--show-prefix").removesuffix(b"\n"))

    def blobs(self, objects: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the contents of blobs in their order, read by one git process.

        One that is missing, damaged or larger than a record may be yields None.
        """
        return self._objects.contents(objects)

    def versions(self) -> list[tuple[str, str]]:
        """Return every version of every file in the memory folder that a branch, a tag or a stash
        can reach: the blob's name, and the path in the memory folder.
        """
        if self._run("rev-parse", "--verify", "--quiet", "HEAD").code and not self._must(
            "for-each-ref", "--count=1"
        ):
            return []
        listed = self._must("rev-list", "--objects", "--all", "--full-history", "--", ".")
        place = self.place()
        named = [os.fsdecode(line).partition(" ") for line in file_lines(listed)]
        found = {name: path for name, _, path in named if path.startswith(place)}
        types = self._must(
            *("cat-file", "--batch-check=%(objecttype)"),
            stdin="".join(f"{name}\n" for name in found).encode(),
        )
        return [
            (name, path.removeprefix(place))
            for (name, path), type_ in zip(found.items(), types.split(b"\n"), strict=False)
            if type_ == b"blob" or type_.endswith(b"missing")
        ]

    def log(self, commit: str, path: str, *, whole: bool) -> list[Commit]:
        """Return the commits up to one that touched a file, the newest last.

        A merge counts where the file differs from that of every parent.

        `whole` gives also those that did not lead to the file as it is, or to there being
        none.
        """
        way = ("--full-history",) if whole else ()
        listed = self._must(*_LOG, *way, "--reverse", "--raw", _FORMAT, commit, "--", path)
        return list(_commits(iter(listed.split(b"\0"))))

    def touched(self, commit: str, folders: Sequence[str]) -> set[tuple[str, str]]:
        """Return the files that commits up to one ever touched: folder and name."""
        listed = self._must(
            *_LOG, "--full-history", "--name-only", "--format=", commit, "--", *folders
        )
        paths = (os.fsdecode(path.strip(b"\n")) for path in listed.split(b"\0"))
        parts = (path.rsplit("/", 2) for path in paths if path.count("/"))
        return {(part[-2], part[-1]) for part in parts}

    def _must(self, *arguments: str, stdin: bytes = b"", index: str = "") -> bytes:
        found = self._run(*arguments, stdin=stdin, index=index)
        if found.code:
            why = self._why_not(found, "git cannot read the repository")
            raise NotFound(why, INIT) if why.endswith(NO_REPOSITORY) else StorageRefused(why)
        return found.out

    def _run(self, *arguments: str, stdin: bytes = b"", index: str = "") -> git.GitResult:
        return git.run(self._folder, arguments, self._environment, stdin=stdin, index=index)

    def _why_not(self, failed: git.GitResult, otherwise: str) -> str:
        """Say why git failed: in its own words, unless it has none."""
        if "not a git repository" in failed.err:
            return f"{self._folder} {NO_REPOSITORY}"
        words = failed.err.partition("\n")[0].removeprefix("fatal: ").removeprefix("error: ")
        return f"{otherwise}: {words.strip()}" if words.strip() else otherwise


def index_entries(listed: bytes) -> Iterator[tuple[str, str, TreeEntry]]:
    """Yield the path, the stage and the entry of each line of `ls-files --stage -z`."""
    for line in listed.split(b"\0")[:-1]:
        about, _, name = line.partition(b"\t")
        mode, object_, stage = about.decode().split(" ")
        yield os.fsdecode(name), stage, TreeEntry(mode, object_)


def raw_entries(line: bytes) -> tuple[TreeEntry | None, TreeEntry | None, str]:
    """Return the entries before and after, and the status, of a line of `--raw`."""
    mode, new_mode, object_, new_object, status = line[1:].decode().split(" ")
    before, after = (
        None if mode == _NO_MODE else TreeEntry(mode, object_)
        for mode, object_ in ((mode, object_), (new_mode, new_object))
    )
    return before, after, status


def limits_of_history(folder: str) -> list[str]:
    """Return a sentence where history ends early, as the clone is shallow."""
    is_shallow = bool(oldest_of_shallow(folder))
    return [f"pmem: {_SHALLOW}, so older commits were not read; {UNSHALLOW}"] * is_shallow


def oldest_of_shallow(folder: str) -> frozenset[str]:
    """Return the commits whose parents a shallow clone lacks; none in a whole clone."""
    top = top_of(folder)
    try:
        with open(os.path.join(shared_git_folder(top or folder), "shallow"), "rb") as file:
            return frozenset(file.read().decode("ascii", "replace").split())
    except OSError:
        return frozenset()


def short(commit: str) -> str:
    """Return the start of a commit's id as people read it."""
    return commit[:10]


def _commits(words: Iterator[bytes]) -> Iterator[Commit]:
    head: list[str] = []
    for word in words:
        told = word.lstrip(b"\n")
        if told[:1] == b"\x01":
            rest = [next(words, b"") for _ in range(3)]
            head = [part.decode("utf-8", "replace") for part in (told[1:], *rest)]
        elif told[:1] == b":":
            next(words, None)  # the path
            *before, after = _objects(told.decode())
            identifier, author, at, subject = head
            yield Commit(identifier, author, _time(at), subject, tuple(before), after)


def _objects(line: str) -> list[str | None]:
    """Return the objects on a raw line: for n parents, n + 1 modes and n + 1 objects."""
    parents = len(line) - len(line.lstrip(":"))
    words = line[parents:].split(" ")[parents + 1 : 2 * parents + 2]
    return [None if set(word) == {"0"} else word for word in words]


def _time(text: str) -> datetime:
    from pmem.values.times import UNDATED, parse_moment

    try:
        return parse_moment(text)
    except InvalidValue:  # a year beyond the calendar
        return UNDATED
