"""Which files of the project differ between two states that git knows, and in which lines.

Files are named from the top of the work tree. Git compares names and objects only, which needs no
attribute, no filter and no program of the project; lines are compared outside of any repository.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from pmem.errors import StorageRefused
from pmem.storage.git import git
from pmem.storage.git.objects import Objects
from pmem.storage.git.project_files import Sources, Unreadable, is_text
from pmem.storage.git.repository import FILES, TreeEntry, raw_entries

_RAW: Final = (
    *("--raw", "-z", "-O/dev/null", "--no-abbrev", "--no-textconv", "--no-ext-diff"),
    "--ignore-submodules=dirty",
)
_RENAMES: Final = ("-M", "-l1000")
"""Renames are looked for as git does it, among 1,000 files each at the most."""
_MOST_MOVED: Final = 1000
"""So many new files of the work tree are compared with those that are gone."""
_SHA1: Final = 40
_UNTRACKED: Final = ("ls-files", "--others", "--exclude-standard", "-z")
_NEW: Final = TreeEntry("100644", "")
_NAMES: Final = ("before", "after")
_BY_LINES: Final = (
    *("diff", "--no-index", "--no-color", "--no-textconv", "--no-ext-diff", "-U0"),
    *("--text", "--src-prefix=", "--dst-prefix=", "--", *_NAMES),
)


class ChangedPath(NamedTuple):
    """A file before and after a change: where it stands, and what is there.

    What is not there is None; a renamed file stands elsewhere afterwards. Where only the work tree
    has the content, the object's name is empty.
    """

    before: str | None
    after: str | None
    old: TreeEntry | None
    new: TreeEntry | None

    @property
    def name(self) -> str:
        """What the file is called, where it is gone what it was called."""
        return self.after or self.before or ""


class Hunk(NamedTuple):
    """Lines that were replaced: where they stood, how many, where others stand now, how many.

    Where none stood or stand, the line before counts as the place.
    """

    old: int
    old_size: int
    new: int
    new_size: int


class ChangedFiles:
    """The files that differ between a commit and another one, the index or the work tree.

    Those of the work tree that git neither knows nor ignores are new.

    Args:
        sources: The project's files.
        environment: The environment's variables.
        base: The commit, or another tree.
        head: The other commit, or None.
        index: The file of the index, the repository's own where it is empty; None for the work
            tree. It counts where there is no other commit.
    """

    def __init__(
        self,
        sources: Sources,
        environment: Mapping[str, str],
        base: str,
        *,
        head: str | None,
        index: str | None,
    ) -> None:
        self._sources = sources
        self._environment = environment
        self._is_work_tree = head is None and index is None
        self._asked = _question(base, head, in_work_tree=self._is_work_tree)
        self._index = index or ""
        self._objects = Objects(sources.top, environment)
        self._known: dict[str, bytes | None] = {}

    def listed(self) -> list[ChangedPath]:
        """Return the files, in the order of git; those with a name that is no text are left out."""
        found = list(_parse(self._ask(self._asked)))
        if self._is_work_tree:
            names = self._ask(_UNTRACKED).split(b"\0")[:-1]
            found += [ChangedPath(None, os.fsdecode(name), None, _NEW) for name in names]
            found = self._joined(found)
        return [one for one in found if is_text(one.name)]

    def _joined(self, found: list[ChangedPath]) -> list[ChangedPath]:
        """Return the changes of the work tree, each file that only moved as one of them."""
        gone = {one.old.object: one for one in found if one.new is None and one.old is not None}
        if not gone:
            return found
        joined: dict[ChangedPath, ChangedPath] = {}
        for one in [each for each in found if each.old is None][:_MOST_MOVED]:
            left = gone.pop(self._object_of(one, len(next(iter(gone), ""))), None)
            if left is not None:
                joined[one] = ChangedPath(left.before, one.after, left.old, left.old)
                joined[left] = joined[one]
        return list(dict.fromkeys(joined.get(one, one) for one in found))

    def _object_of(self, new: ChangedPath, length: int) -> str:
        """Return the name that git would give a new file's content; empty for one unread."""
        if new.new is not None and new.new.object:
            return new.new.object
        data = self.after(new)
        if data is None:
            return ""
        kind = hashlib.sha1 if length == _SHA1 else hashlib.sha256
        return kind(b"blob %d\0%b" % (len(data), data)).hexdigest()

    @cached_property
    def _unfiltered(self) -> Mapping[str, str]:
        if not self._is_work_tree:
            return {}
        return git.without_filters(self._sources.top, self._environment)

    def _ask(self, words: Sequence[str]) -> bytes:
        top, settings = self._sources.top, self._unfiltered
        found = git.run(top, words, self._environment, index=self._index, settings=settings)
        if found.code:
            said = found.err.partition("\n")[0].removeprefix("fatal: ").strip()
            raise StorageRefused(f"git cannot compare the two: {said}")
        return found.out

    def load(self, changes: Iterable[ChangedPath]) -> None:
        """Read what several files hold and held, by one git process."""
        entries = [entry for one in changes for entry in (one.old, one.new)]
        names = [entry.object for entry in entries if entry and entry.mode in FILES]
        wanted = [name for name in dict.fromkeys(names) if name and name not in self._known]
        self._known.update(zip(wanted, self._objects.contents(wanted), strict=True))

    def before(self, change: ChangedPath) -> bytes | None:
        """Return what a file held; None where it was no regular file that can be read."""
        return self._blob(change.old)

    def after(self, change: ChangedPath) -> bytes | None:
        """Return what a file holds; None where it is no regular file that can be read."""
        if change.new is None or change.new.object or change.new.mode not in FILES:
            return self._blob(change.new)
        try:
            return self._sources.read(change.name)
        except Unreadable:
            return None

    def _blob(self, entry: TreeEntry | None) -> bytes | None:
        if entry is None or entry.mode not in FILES or not entry.object:
            return None
        if entry.object not in self._known:
            self._known[entry.object] = next(self._objects.contents([entry.object]))
        return self._known[entry.object]


def hunks(before: bytes, after: bytes, environment: Mapping[str, str]) -> list[Hunk]:
    """Return where two texts differ, as git compares them; nothing where there is no git."""
    try:
        with tempfile.TemporaryDirectory(prefix="pmem-") as folder:
            for name, data in zip(_NAMES, (before, after), strict=True):
                with open(os.path.join(folder, name), "xb") as file:
                    file.write(data)
            found = git.run_apart(folder, _BY_LINES, environment)
    except (OSError, *git.UNAVAILABLE):
        return []
    return list(_parse_hunks(found.out)) if found.code in (0, 1) else []


def lines_after(hunks: Sequence[Hunk], lines: tuple[int, int]) -> tuple[int, int] | None:
    """Return where lines stand after a change, or what stands in their place; None for nothing.

    Where as many lines came as went, each stands for one; else all that came stand for those that
    went.

    Lines are counted from one; the first and the last are given.
    """
    start, _ = _places_of(hunks, lines[0])
    _, end = _places_of(hunks, lines[1])
    return (start, end) if start <= end else None


def _places_of(hunks: Sequence[Hunk], line: int) -> tuple[int, int]:
    """Return the first and the last line that stand in one's place; first behind last for none."""
    shift = 0
    for hunk in hunks:
        if hunk.old_size and hunk.old <= line < hunk.old + hunk.old_size:
            if hunk.old_size == hunk.new_size:
                return (line - hunk.old + hunk.new,) * 2
            first = hunk.new + (hunk.new_size == 0)
            return first, first + hunk.new_size - 1
        if hunk.old + max(hunk.old_size, 1) - 1 < line:
            shift += hunk.new_size - hunk.old_size
    return line + shift, line + shift


def touching(hunks: Sequence[Hunk], lines: tuple[int, int]) -> Hunk | None:
    """Return the first part of a change that touches lines; None if it leaves them alone."""
    first, last = lines
    for hunk in hunks:
        ends = hunk.old + hunk.old_size - 1 if hunk.old_size else hunk.old + 1
        if hunk.old <= last and ends >= first and (hunk.old_size or first <= hunk.old < last):
            return hunk
    return None


def _question(base: str, head: str | None, *, in_work_tree: bool) -> list[str]:
    if head is not None:
        return ["diff-tree", "-r", *_RAW, *_RENAMES, base, head]
    if in_work_tree:  # renames are looked for by content, which filters of the project could change
        return ["diff-index", *_RAW, "--no-renames", base, "--"]
    return ["diff-index", "--cached", *_RAW, *_RENAMES, "--ita-invisible-in-index", base, "--"]


def _parse(listed: bytes) -> Iterator[ChangedPath]:
    words = iter(listed.split(b"\0")[:-1])
    for word in words:
        if not word.startswith(b":"):
            continue
        old, new, status = raw_entries(word)
        name = os.fsdecode(next(words))
        after = os.fsdecode(next(words)) if status[:1] in "RC" else name
        if new is not None and not new.object.strip("0"):
            new = new._replace(object="")
        if status == "U":  # a merge waits for a decision, and check says so
            continue
        before = None if old is None or status[:1] == "C" else name
        yield ChangedPath(before, None if new is None else after, old, new)


def _parse_hunks(text: bytes) -> Iterator[Hunk]:
    """Read `@@ -3,2 +3 @@`; lines of the texts begin with other signs."""
    for line in text.split(b"\n"):
        if line.startswith(b"@@ -"):
            old, new = line.split(b" ")[1:3]
            yield Hunk(*_numbers(old), *_numbers(new))


def _numbers(part: bytes) -> tuple[int, int]:
    first, _, size = part[1:].partition(b",")
    return int(first), int(size or 1)
