"""What git knows of a merge that is not finished: its stages, its sides, and how to end it."""

import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pmem.errors import Locked
from pmem.storage.git import git
from pmem.storage.git.repository import NoRevision, Repository, TreeEntry, index_entries

BASE, OURS, THEIRS = 1, 2, 3
"""Git's numbers for the three versions of a path."""
_ANY_STEP: Final = "git commit"
_PARENTS: Final = ("HEAD^1", "HEAD^2")


class Placed(NamedTuple):
    """What the index is to hold for a path: a file of a mode, or nothing at all."""

    mode: str
    data: bytes | None


class MergeState(Repository):
    """A work tree in which a merge may have stopped.

    `place` is its path in the repository, with a slash at the end, `own` git's own folder for
    it.
    """

    def __init__(self, folder: str, environment: Mapping[str, str], place: str, own: str) -> None:
        super().__init__(folder, environment)
        self._place = place
        self._own = own
        self._others = 0

    @property
    def others(self) -> int:
        """How many paths outside the memory folder were unmerged when `unmerged` looked."""
        return self._others

    def unmerged(self) -> dict[str, dict[int, TreeEntry]]:
        """Return the unmerged paths in the memory folder, each with its stages by number."""
        found: dict[str, dict[int, TreeEntry]] = {}
        others = set()
        listed = self._must("ls-files", "-u", "-z", "--full-name", "--", ":/")
        for whole, stage, entry in index_entries(listed):
            if whole.startswith(self._place):
                found.setdefault(whole.removeprefix(self._place), {})[int(stage)] = entry
            else:
                others.add(whole)
        self._others = len(others)
        return found

    def tracked(self, paths: Sequence[str]) -> dict[str, TreeEntry]:
        """Return what the index holds for merged paths; those it does not know are left out."""
        listed = self._must("ls-files", "-s", "-z") if paths else b""
        found = {path: entry for path, stage, entry in index_entries(listed) if stage == "0"}
        return {path: found[path] for path in paths if path in found}

    @property
    def is_merging(self) -> bool:
        """Whether git waits for somebody to go on with something."""
        return self.next_step() != _ANY_STEP

    def next_step(self) -> str:
        """Return the command that goes on with what was under way."""
        if self._has("rebase-merge") or self._has("rebase-apply"):
            mail = self._has(os.path.join("rebase-apply", "applying"))
            return "git am --continue" if mail else "git rebase --continue"
        for name, command in (
            ("MERGE_HEAD", "git merge --continue"),
            ("CHERRY_PICK_HEAD", "git cherry-pick --continue"),
            ("REVERT_HEAD", "git revert --continue"),
        ):
            if self._has(name):
                return command
        return _ANY_STEP

    def sides(self) -> tuple[str, str] | None:
        """Return the commits that git calls ours and theirs.

        They are those of what is under way, else the parents of a merge that is checked out; None
        where there is neither.
        """
        heads = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
        for ours, theirs in (*(("HEAD", name) for name in heads if self._has(name)), _PARENTS):
            try:
                return self.commit(ours), self.commit(theirs)
            except NoRevision:
                continue
        return None

    def place_all(self, files: Mapping[str, Placed]) -> None:
        """Put files into the index in place of whatever it holds for them, stages too.

        Nothing of the project's is run: no filters, no hooks.

        Raises:
            Locked: Git cannot change the index now.
        """
        lines = []
        is_gone = any(it.data is None for it in files.values())
        kind = self._run("rev-parse", "--show-object-format").out.strip() if is_gone else b""
        digits = 64 if kind == b"sha256" else 40
        for path, (mode, data) in sorted(files.items()):
            name = os.fsencode(f"{self._place}{path}")
            if data is None:
                lines.append(b"0 %s\t%s\0" % (b"0" * digits, name))
            else:
                object_ = self._given(data, "hash-object", "-w", "--no-filters", "--stdin").strip()
                lines.append(b"%s %s\t%s\0" % (mode.encode(), object_, name))
        if lines:
            self._given(b"".join(lines), "update-index", "-z", "--index-info")

    def take_as_they_are(self, paths: Sequence[str]) -> None:
        """Let git see that files are what the index holds, so that it can abort what is under way.

        Git compares a file with the index through its filters, so one that has any is left out.
        """
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        asked = self._run("check-attr", "-z", "--stdin", "filter", stdin=names) if paths else None
        words = [] if asked is None else asked.out.split(b"\0")[:-1]
        plain = [
            path + b"\0"
            for path, value in zip(words[::3], words[2::3], strict=True)
            if value in (b"unspecified", b"unset")
        ]
        if plain:
            self._run("update-index", "-z", "--stdin", stdin=b"".join(plain))

    def _given(self, data: bytes, *arguments: str) -> bytes:
        done = self._run(*arguments, stdin=data)
        if done.code:
            raise Locked(
                self._why_not(done, "git refused to note what was resolved"),
                "see whether another git is running, or .git/index.lock is left from one, and run"
                " `pmem resolve` again",
            )
        return done.out

    def _has(self, name: str) -> bool:
        return os.path.exists(os.path.join(self._own, name))


def merge_state(folder: str, environment: Mapping[str, str]) -> MergeState | None:
    """Return what git knows of a merge around a folder; None where no work tree is around it."""
    asked = ["rev-parse", "--is-inside-work-tree", "--absolute-git-dir", "--show-prefix"]
    found = git.ask(folder, asked, environment)
    inside, _, rest = (found or "").partition("\n")
    if inside != "true":
        return None
    own, _, place = rest.partition("\n")
    return MergeState(folder, environment, place.removesuffix("\n"), own)
