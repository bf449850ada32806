"""Where the records of a memory come from: what git holds of them, and what pmem wrote here."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pmem.core.trust import DOUBTED, Holder, OriginCounts, RecordOrigin, Trust, origin_of, trust_of
from pmem.errors import NotFound, PmemError, Refused, StorageRefused
from pmem.storage.files import worktree
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import decode, read_bytes
from pmem.storage.git import git
from pmem.storage.jsonfiles import JsonFiles
from pmem.storage.local.origins import SHA1_DIGITS, OwnWrites, blob_names, packed, unpacked
from pmem.values.records import STORES, Chunk, Conversation, Record
from pmem.values.rules import TrustRules

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace
    from pmem.storage.postgres.records import ServerOrigins

_SIGNED: Final = "%H%x00%G?%x00%an%x00%s"
_VERIFIED: Final = 20
"""So many commits are verified by one process."""
_HEAD: Final = "HEAD"
_OWN_SETTING: Final = "set trust.ref in your own configuration, or PMEM_TRUST_REF"
_PRIVATE: Final = (STORES[Conversation], STORES[Chunk])
"""What git ignores unless somebody decided to share it."""
_ENTRY: Final = rb"100\d{3} blob ([0-9a-f]+)\t((?:%s)/[^/\0]+\%s)\0" % (
    "|".join(STORES.values()).encode(),
    SUFFIX.encode(),
)
"""A record in what `git ls-tree -z` prints."""
_RAW: Final = (
    *("-r", "-c", "--raw", "-z", "--no-renames", "--no-abbrev"),
    *("--no-textconv", "--no-ext-diff", "--relative"),
)
_LOG: Final = (
    *("--literal-pathspecs", "-c", "log.showSignature=false", "log"),
    *(*_RAW, "--format=%H"),
)
_DIFF: Final = ("diff-tree", "--stdin", "--root", *_RAW, "--", ".")


class _Brought(NamedTuple):
    commit: str
    path: str
    object: str


class Unsigned(NamedTuple):
    """A commit that brought reviewed records and that nobody allowed has signed.

    `state` is the letter by which git tells how its signature is; N is that there is none.
    """

    commit: str
    state: str
    author: str
    subject: str


class GitHolds:
    """What git holds of a memory: in the reviewed branch, in the last commit, in a merge.

    Git is asked only about commits that were not looked at before.
    """

    def __init__(self, workspace: "Workspace") -> None:
        self._root = workspace.root
        self._environment = workspace.environment
        self._reviewed_name = _trust_rules(workspace).ref
        self._own = OwnWrites(workspace.environment, read_only=workspace.read_only)
        self._trees: dict[str, bytes] = {}
        self._targets: dict[str, str] = {}

    @cached_property
    def reviewed(self) -> str:
        """The name of what holds what was reviewed; empty outside of git."""
        if self.top is None:
            return ""
        return self._reviewed_name or worktree.shared_branch(self.top)

    @property
    def why_nothing(self) -> str:
        """Why nothing counts as reviewed; empty where something does, or nobody can tell."""
        if self.top is None or (self.reviewed and self._target(self.reviewed)):
            return ""
        if not self.reviewed:
            ask = "`git remote set-head REMOTE --auto` asks it"
            return f"the default branch of the remote is not known; {ask}, or {_OWN_SETTING}"
        told = f"trust.ref is {self.reviewed}, which is not there; {_OWN_SETTING}"
        return told if self._reviewed_name else ""

    def unsigned(self) -> list[Unsigned]:
        """Return the commits that brought what was reviewed without a signature that git trusts.

        Git verifies them as it is configured.

        Raises:
            NotFound, StorageRefused: Git cannot be asked.
        """
        from pmem.storage.git.repository import INIT, NO_REPOSITORY

        if self.top is None:
            raise NotFound(f"{self._root} {NO_REPOSITORY}", INIT)
        wanted = {path: held[0] for path, held in self.held(self.reviewed, None).items()}
        if not wanted:
            return []
        commits: dict[str, None] = {}
        for one in self._brought(self._target(self.reviewed)):
            if wanted.get(one.path) == one.object:
                commits[one.commit] = None
                del wanted[one.path]
        found, names = [], list(commits)
        for start in range(0, len(names), _VERIFIED):
            asked = ["log", "--no-walk=unsorted", f"--format={_SIGNED}", "--stdin"]
            told = "".join(f"{name}\n" for name in names[start : start + _VERIFIED]).encode()
            done = git.run(self._root, asked, self._environment, stdin=told)
            if done.code:
                raise StorageRefused(f"git cannot verify signatures: {done.err.strip()}")
            lines = done.out.decode("utf-8", "replace").split("\n")
            found += [Unsigned(*line.split("\0")) for line in lines if line.count("\0") == 3]
        return [one for one in found if one.state != "G"]

    def without_sparse(self, paths: set[str]) -> set[str]:
        """Return records but those that this work tree leaves out, or a merge removes."""
        if not paths:
            return paths
        told = git.ask(self._root, ["ls-files", "-z", "-t"], self._environment) or ""
        left_out = {line[2:] for line in told.split("\0") if line[:2] == "S "}
        merged = {path for path in paths if self.merging and path not in self.merging[0]}
        return paths - left_out - merged

    def never_in_git(self, paths: set[str]) -> set[str]:
        """Return the records that no commit and no stash has."""
        if not paths or self.top is None:
            return paths
        asked = ["--literal-pathspecs", "log", "--all", "--full-history", "-m", "-z", "--format="]
        asked += ["--name-only", "--relative", "--no-renames", "--", *sorted(paths)]
        told = git.ask(self._root, asked, self._environment) or ""
        return paths - {name.strip("\n") for name in told.split("\0")}

    @cached_property
    def top(self) -> str | None:
        """The top of the work tree; None outside of one."""
        return worktree.top_of(self._root)

    @cached_property
    def _place(self) -> str:
        place = worktree.place_in(self.top or "", self._root).replace(os.sep, "/")
        return "" if place == "." else place

    def _target(self, name: str) -> str:
        """Return the commit that a name stands for; without git where its files tell."""
        assert self.top is not None
        if not name:
            return ""
        if worktree.has_plain_refs(self.top):
            return worktree.ref_target(self.top, name)
        asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", name]
        return (git.ask(self._root, asked, self._environment) or "").strip()

    def held(self, name: str, paths: Collection[str] | None) -> dict[str, list[str]]:
        """Return what a branch, a tag or HEAD holds under some paths, or all."""
        if name not in self._targets:
            self._targets[name] = self._target(name)
        return self._tree(self._targets[name], paths)

    @cached_property
    def merging(self) -> Sequence[dict[str, list[str]]]:
        """What is being merged, picked or reverted holds."""
        assert self.top is not None
        return [self._tree(commit, None) for commit in worktree.merging(self.top)]

    def _tree(self, commit: str, paths: Collection[str] | None) -> dict[str, list[str]]:
        if not commit:
            return {}
        place = f"{commit}:{self._place}"
        named = self._named(place, lambda: self._tree_of(place), ("",))
        tree = next(iter(named.get("", [])), "")
        return self._named(tree, lambda: self._entries(tree), paths) if tree else {}

    def _named(
        self,
        name: str,
        ask: Callable[[], Iterable[tuple[bytes, bytes]]],
        paths: Collection[str] | None,
    ) -> dict[str, list[str]]:
        """Return what is known under a name; asked for, and kept, where it is not."""
        known = self._trees.get(name) or self._own.tree(name)
        if known is None:
            known = packed(ask())
            self._own.keep_tree(name, known)
        self._trees[name] = known
        return unpacked(known, paths)

    def _tree_of(self, place: str) -> Iterable[tuple[bytes, bytes]]:
        """Yield the tree that is at a place of a commit, under no name; nothing for none."""
        asked = ["cat-file", "--batch-check=%(objecttype) %(objectname)"]
        found = git.run(self._root, asked, self._environment, stdin=os.fsencode(f"{place}\n"))
        kind, _, name = found.out.strip().partition(b" ")
        if kind == b"tree":
            yield name, b""

    def _entries(self, tree: str) -> Iterable[tuple[bytes, bytes]]:
        asked = ["ls-tree", "-r", "-z", "--full-tree", tree]
        found = git.run(self._root, asked, self._environment)
        if found.code:
            raise StorageRefused(f"git does not tell what {self._root} held")
        return re.findall(_ENTRY, found.out)

    @cached_property
    def tracked(self) -> set[str]:
        """The stores whose records are committed here, as far as the last commit tells."""
        stores = {path.partition("/")[0] for path in self.held(_HEAD, None)}
        return stores | ({*STORES.values()} - {*_PRIVATE} if stores else set())

    @cached_property
    def made_here(self) -> dict[str, list[str]]:
        """What commits that were made here brought, which nobody has reviewed: by path."""
        assert self.top is not None
        reviewed, head = (self._target(name) for name in (self.reviewed, _HEAD))
        name = f"{reviewed}..{head}:{self.top}:{self._place}"
        return self._named(name, lambda: self._commits(reviewed, head), None)

    def _commits(self, reviewed: str, head: str) -> Iterable[tuple[bytes, bytes]]:
        assert self.top is not None
        made = worktree.made_here(self.top)
        brought = [
            one
            for one in self._brought(head, *[f"^{reviewed}"] * bool(reviewed))
            if one.commit in made
        ]
        own = self._written_in(filter(None, made.values())) if brought else set()
        for one in brought:
            if (one.path, one.object) in own:
                yield one.object.encode(), os.fsencode(one.path)

    def _written_in(self, commits: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
        """Return the paths and objects that differ between commits and those before them."""
        known = [*commits]
        told = "".join(f"{' '.join(one)}\n" for one in known).encode()
        found = git.run(self._root, _DIFF, self._environment, stdin=told)
        if found.code:  # what was amended is there no more
            told = "".join(f"{one[0]}\n" for one in known).encode()
            found = git.run(self._root, _DIFF, self._environment, stdin=told)
        if found.code:
            raise StorageRefused(f"git does not tell the history of {self._root}")
        return {(one.path, one.object) for one in _changes_in(found.out)}

    def _brought(self, *revisions: str) -> Iterable[_Brought]:
        """Yield what commits brought into the memory, the newest first."""
        found = git.run(self._root, [*_LOG, *revisions, "--", "."], self._environment)
        if found.code:
            raise StorageRefused(f"git does not tell the history of {self._root}")
        yield from _changes_in(found.out)


class Origins:
    """Tells where records come from, as of the moment when it is first asked.

    Records are named by their paths in the memory folder.
    """

    def __init__(self, workspace: "Workspace") -> None:
        self._root = workspace.root
        self._environment = workspace.environment
        self._own = OwnWrites(workspace.environment, read_only=workspace.read_only)
        self.git = GitHolds(workspace)
        """What git holds of the records."""

    def of(
        self, records: Iterable[Record], *, only_doubts: bool = False
    ) -> dict[str, RecordOrigin]:
        """Return where records come from, by their ids, as they were read.

        Where only doubts matter, git is not asked about what pmem wrote here.
        """
        files: dict[str, bytes] = {}
        ids: dict[str, str] = {}
        found: dict[str, RecordOrigin] = {}
        for record in records:
            path = record_file(STORES[type(record)], record.id)
            ids[path] = record.id
            try:
                data = read_bytes(os.path.join(self._root, path))[0]
                if decode(data, type(record)) == record:
                    files[path] = data
                else:  # the index holds what no file says, or it was just written
                    found[record.id] = RecordOrigin.OUTSIDE
            except (OSError, PmemError, ValueError):
                found[record.id] = RecordOrigin.UNKNOWN
        told = self._of_files(files, only_doubts=only_doubts)
        return found | {ids[path]: origin for path, origin in told.items()}

    def everywhere(self) -> dict[str, RecordOrigin]:
        """Return where all records come from, those that are missing among them."""
        files = {path: data for path in self._there() if (data := self.text(path)) is not None}
        found = self._of_files(files, only_doubts=False)
        return found | dict.fromkeys(self._missing(files), RecordOrigin.MISSING)

    def counts(self, found: Mapping[str, RecordOrigin]) -> OriginCounts:
        """Return how many of what was found have which origin; who wrote files is not known."""
        return Counter(found.values()), Counter()

    @property
    def is_in_git(self) -> bool:
        """Whether git holds the memory."""
        return self.git.top is not None

    @property
    def reviewed(self) -> str:
        """The name of what holds what was reviewed; empty outside of git."""
        return self.git.reviewed

    @property
    def why_nothing(self) -> str:
        """Why nothing counts as reviewed; empty where something does, or nobody can tell."""
        return self.git.why_nothing

    def writer(self, path: str) -> str:  # noqa: ARG002
        """Return nothing: who changed a file is not known."""
        return ""

    def place(self, path: str) -> str:
        """Return where the file is."""
        return os.path.join(self._root, path)

    def text(self, path: str) -> bytes | None:
        """Return what a record is now; None where it cannot be read."""
        try:
            return read_bytes(self.place(path))[0]
        except (OSError, PmemError):
            return None

    def accept(self, files: Mapping[str, bytes | None]) -> None:
        """Take records as they are as if pmem had written them; None is one that is gone."""
        self._own.expect(self._root, files)
        self._own.settle(self._root, dict.fromkeys(files))

    def text_before(self, path: str) -> bytes | None:
        """Return what the last commit has of a record; None where it has nothing."""
        from pmem.storage.git.repository import Repository

        try:
            objects = None if self.git.top is None else self.git.held(_HEAD, [path]).get(path)
            blobs = Repository(self._root, self._environment).blobs(objects or [])
            return next(blobs, None)
        except PmemError:
            return None

    def _there(self) -> list[str]:
        return [f"{it}/{name}" for it in STORES.values() for name in _names(self.place(it))]

    def _of_files(
        self, files: Mapping[str, bytes], *, only_doubts: bool
    ) -> dict[str, RecordOrigin]:
        written = self._own.are_written(files)
        is_kept = self._own.is_kept
        asked = [path for path in files if not (only_doubts and written.get(path))]
        held = self._holders({path: files[path] for path in asked})
        found = {}
        for path in files:
            own = written.get(path)
            origin = origin_of(held.get(path), written=own)
            found[path] = (
                RecordOrigin.UNKNOWN if origin is RecordOrigin.OUTSIDE and not is_kept else origin
            )
        return found

    def _holders(self, files: Mapping[str, bytes]) -> dict[str, Holder]:
        """Return what git holds of records; nothing where it cannot be asked."""
        if self.git.top is None or not files:
            return {}
        try:
            reviewed, head = (self.git.held(name, files) for name in (self.git.reviewed, _HEAD))
            objects = (it[0] for it in (*reviewed.values(), *head.values()))
            length = len(next(objects, "")) or SHA1_DIGITS
            holders = {}
            for path, data in files.items():
                names = blob_names(data, length)
                had, has = (tree.get(path, [""])[0] for tree in (reviewed, head))
                is_tracked = bool(had or has) or path.partition("/")[0] in self.git.tracked
                holder = Holder(names, had or None, has or None, is_tracked=is_tracked)
                if has in names and had not in names:
                    holder = holder._replace(made_here=self.git.made_here.get(path, ()))
                elif has not in names:
                    merging = [name for tree in self.git.merging for name in tree.get(path, ())]
                    holder = holder._replace(merging=merging)
                holders[path] = holder
        except PmemError:
            return {}
        return holders

    def _missing(self, files: Collection[str]) -> set[str]:
        """Return the records that the last commit has, or that pmem wrote here, and are gone."""
        try:
            head = set() if self.git.top is None else {*self.git.held(_HEAD, None)}
            gone = {path for path in head if _is_record(path) and path not in files}
            new = self._own.left(self._root) - {*files} - head
            gone -= self._own.removed(self._root, gone)
            there = {*self._there()}  # whatever is wrong with them
            return {*self.git.without_sparse(gone), *self.git.never_in_git(new)} - there
        except PmemError:
            return set()


def origins_of(workspace: "Workspace") -> "Origins | ServerOrigins | None":
    """Return what tells where records come from; None in the past, and where nothing does."""
    if workspace.is_past:
        return None
    if isinstance(workspace.whole, JsonFiles):
        return Origins(workspace)
    from pmem.storage.postgres.records import ServerOrigins, ServerRecords

    records: object = workspace.whole
    return ServerOrigins(records) if isinstance(records, ServerRecords) else None


def _trust_rules(workspace: "Workspace") -> TrustRules:
    """Return the rules of trust; those by default where settings cannot be read, as others tell."""
    try:
        return workspace.settings.trust
    except PmemError:
        return TrustRules()


def _changes_in(told: bytes) -> Iterator[_Brought]:
    """Read what git tells of changed files, below the commits that changed them."""
    commit = ""
    words = iter(told.decode("utf-8", "surrogateescape").split("\0"))
    for word in words:
        line = word.strip("\n")
        if line[:1] == ":":
            object_, path = line.split(" ")[-2], next(words, "")
            if object_.strip("0"):
                yield _Brought(commit, path, object_)
        elif line:
            commit = line


class Doubts:
    """What nobody has reviewed and this person did not write, as it is to be treated.

    Where only what was reviewed is wanted, all else is in doubt.

    Attributes:
        treats: The setting `trust.unreviewed`, or `hide` where only what was reviewed is wanted.

    Raises:
        Refused: Only what was reviewed is wanted, where nothing tells.
    """

    def __init__(self, workspace: "Workspace", *, reviewed: bool = False) -> None:
        rules = _trust_rules(workspace)
        self.treats = "hide" if reviewed else rules.unreviewed
        self._reviewed = reviewed
        self._is_plain = rules.is_plain
        self._origins = None if self.treats == "show" else origins_of(workspace)
        self._known: dict[str, RecordOrigin] = {}
        if reviewed and not (self._origins and self._origins.is_in_git):
            raise Refused("what was reviewed is known only of files in git, as they are now")

    def of(self, records: Iterable[Record]) -> dict[str, RecordOrigin]:
        """Return the origins of those of some records that are in doubt, by their ids."""
        if self._origins is None:
            return {}
        asked = {record.id: record for record in records}
        new = [record for id_, record in asked.items() if id_ not in self._known]
        self._known |= self._origins.of(new, only_doubts=not self._reviewed) if new else {}
        return {id_: self._known[id_] for id_ in asked if self._is_doubted(self._known[id_])}

    def is_lesser(self, record: Record) -> bool:
        """Tell whether nobody stands for a record: an agent's or an import's, or in doubt."""
        is_noted = trust_of(record) is Trust.LOW and not self._is_plain
        return is_noted or self.mark(record) is not None

    def mark(self, record: Record) -> RecordOrigin | None:
        """Return the origin of a record that is in doubt, to be told beside it."""
        return self.of([record]).get(record.id)

    def _is_doubted(self, origin: RecordOrigin) -> bool:
        return origin is not RecordOrigin.REVIEWED if self._reviewed else origin in DOUBTED


def _is_record(path: str) -> bool:
    store, _, name = path.partition("/")
    return store in STORES.values() and name.endswith(SUFFIX) and "/" not in name


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    except OSError:
        return []
