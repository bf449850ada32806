"""A history drawn by lot, against an oracle that reads git and remembers what pmem wrote."""

import os
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.trust import RecordOrigin
from pmem.project.origins import Origins
from pmem.project.workspace import Workspace
from tests.effort import IS_THOROUGH
from tests.faults.console import pmem
from tests.git.branches import BIN, ROOT, git, ok
from tests.git.tampering import COLLEAGUE, STORE, changed

_STEPS: Final = 100


class World:
    """Two clones of one person and one of a colleague, and what each pmem of the person wrote."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.folder, self.random = folder, random
        self.number = 0
        self.leaves: dict[str, set[bytes]] = {}
        self.removed: dict[str, set[str]] = {}
        self.here: dict[str, set[str]] = {}
        environment = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        self.mine = {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", **environment}
        self.theirs = {
            "HOME": str(folder / "bo"),
            "XDG_CONFIG_HOME": "",
            **environment,
            **COLLEAGUE,
        }
        ok("init", "--quiet", "--bare", "--initial-branch=main", "hub", cwd=folder)
        self.git_in("hub", "config", "receive.denyDeleteCurrent", "ignore")
        ok("clone", "--quiet", "hub", "one", cwd=folder)
        self.places = ["one"]
        self.place = "one"
        self.pmem("init")
        self.pmem("add", self.text())
        self.pmem("add", self.text())
        self.commit()
        self.git("push", "--quiet", "origin", "HEAD:main")
        ok("clone", "--quiet", "hub", "bo-clone", cwd=folder)
        self.git("remote", "set-head", "origin", "main")

    def text(self) -> str:
        self.number += 1
        words = "apple river stone cloud tiger piano lemon candle forest mirror".split()
        return f"Part {self.number} of {self.random.choice(words)} needs {self.number * 37}"

    def git_in(self, place: str, *arguments: str, **environment: str) -> int:
        known = self.theirs if place == "bo-clone" else {**self.mine, **environment}
        return git(*arguments, cwd=self.folder / place, environment=known).code

    def git(self, *arguments: str) -> int:
        return self.git_in(self.place, *arguments)

    def out(self, *arguments: str) -> str:
        return git(*arguments, cwd=self.folder / self.place, environment=self.mine).out

    def files(self, place: str = "") -> dict[str, bytes]:
        top = self.folder / (place or self.place) / ROOT
        return {
            f"{path.parent.name}/{path.name}": path.read_bytes()
            for path in top.glob("*/*.json")
            if path.parent.name != "local"
        }

    def pmem(self, *arguments: str) -> None:
        """Run a command of the person's, and note what its writes replaced."""
        before = self.files()
        os.chdir(self.folder / self.place)
        pmem(*arguments, environment=self.mine)
        os.chdir(self.folder)
        self.note(before)

    def note(self, before: dict[str, bytes]) -> None:
        after = self.files()
        for path in before.keys() | after.keys():
            if before.get(path) != after.get(path):
                self.leaves.setdefault(path, set()).discard(before.get(path, b""))
                self.removed.setdefault(path, set()).discard(self.place)
                if path in after:
                    self.leaves[path].add(after[path])
                    self.here.setdefault(path, set()).add(self.place)
                else:
                    self.removed[path].add(self.place)
                    self.here.setdefault(path, set()).discard(self.place)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")

    def any_file(self) -> Path | None:
        found = sorted((self.folder / self.place / STORE).glob("*.json"))
        return self.random.choice(found) if found else None

    # what can happen

    def add(self) -> None:
        self.pmem("add", self.text(), "--force")

    def edit(self) -> None:
        if path := self.any_file():
            self.pmem("edit", path.stem, self.text())

    def hand_edit(self) -> None:
        if path := self.any_file():
            changed(path, content=self.text())

    def hand_remove(self) -> None:
        if path := self.any_file():
            path.unlink()

    def remove(self) -> None:
        if path := self.any_file():
            self.pmem("purge", path.stem, "--yes")

    def undo(self) -> None:
        self.pmem("undo")

    def push(self) -> None:
        self.git("push", "--quiet", "origin", "HEAD:main")

    def pull(self) -> None:
        self.commit()
        if self.git("pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main"):
            self.git("merge", "--abort")

    def rebase(self) -> None:
        self.commit()
        self.git("fetch", "--quiet", "origin")
        if self.git("rebase", "--quiet", "origin/main"):
            self.git("rebase", "--abort")

    def stash(self) -> None:
        self.git("stash", "--quiet")

    def stash_pop(self) -> None:
        before = self.out("stash", "list")
        is_clean = not self.out("status", "--porcelain", "--untracked-files=no")
        if before and is_clean:
            known = [*self.files().items(), *self.tree("stash@{0}").items()]
            if self.git("stash", "pop", "--quiet"):
                self.git("reset", "--quiet", "--hard")
            for path, data in self.files().items():
                if (path, data) not in known:  # the person's pmem merged it
                    self.leaves.setdefault(path, set()).add(data)

    def checkout(self) -> None:
        branch = self.random.choice(("side", "other", "main"))
        if self.git("checkout", "--quiet", branch):
            self.git("checkout", "--quiet", "-b", branch)

    def step_back(self) -> None:
        self.git("reset", "--quiet", self.random.choice(("--soft", "--mixed")), "HEAD~1")

    def colleague(self) -> None:
        """Let a colleague change something, and push it to main or to a branch of theirs."""
        place = self.folder / "bo-clone"
        self.git_in("bo-clone", "pull", "--quiet", "--no-edit", "origin", "main")
        os.chdir(place)
        files = sorted((place / STORE).glob("*.json"))
        chosen = self.random.choice(files).stem if files else ""
        pmem("add", self.text(), "--force", environment=self.theirs)
        if chosen:
            pmem("edit", chosen, self.text(), environment=self.theirs)
        os.chdir(self.folder)
        for words in (("add", "--all"), ("commit", "--quiet", "--message", "bo")):
            self.git_in("bo-clone", *words)
        target = self.random.choice(("main", "proposal"))
        self.git_in("bo-clone", "push", "--quiet", "--force", "origin", f"HEAD:{target}")
        self.git_in("bo-clone", "reset", "--quiet", "--hard", "origin/main")

    def try_proposal(self) -> None:
        self.commit()
        self.git("fetch", "--quiet", "origin")
        self.git("checkout", "--quiet", "--detach", "origin/proposal")

    def merge_proposal(self) -> None:
        self.commit()
        self.git("fetch", "--quiet", "origin")
        if self.git("merge", "--quiet", "--no-edit", "origin/proposal"):
            self.git("merge", "--abort")

    def other_place(self) -> None:
        self.place = self.random.choice(self.places)

    def clone(self) -> None:
        name = f"clone{len(self.places)}"
        if len(self.places) < 4:
            ok("clone", "--quiet", "hub", name, cwd=self.folder)
            self.places.append(name)

    def work_tree(self) -> None:
        name = f"tree{len(self.places)}"
        if len(self.places) < 4:
            ok(
                "worktree",
                "add",
                "--quiet",
                "--detach",
                str(self.folder / name),
                cwd=self.folder / "one",
            )
            self.places.append(name)

    def move(self) -> None:
        if self.place.startswith("clone"):
            name = f"{self.place}-moved"
            (self.folder / self.place).rename(self.folder / name)
            for known in (self.removed, self.here):
                for places in known.values():
                    if self.place in places:
                        places.add(name)
            self.places[self.places.index(self.place)] = name
            self.place = name

    # what must be told

    def tree(self, name: str) -> dict[str, bytes]:
        done = git("ls-tree", "-r", "-z", f"{name}:{ROOT}", cwd=self.folder / self.place)
        names = [line.split("\t")[1] for line in done.out.split("\0") if "\t" in line]
        return {
            path: git(
                "cat-file", "blob", f"{name}:{ROOT}/{path}", cwd=self.folder / self.place
            ).out.encode()
            for path in names
            if path.endswith(".json")
        }

    def expected(self) -> dict[str, RecordOrigin]:
        files = self.files()
        reviewed, head = self.tree("origin/main"), self.tree("HEAD")
        own = self.own_blobs()
        found = {}
        for path, data in files.items():
            leaf = data in self.leaves.get(path, ())
            if data == reviewed.get(path):
                found[path] = RecordOrigin.REVIEWED
            elif data == head.get(path):
                is_own = leaf or (path, data) in own
                found[path] = RecordOrigin.COMMITTED if is_own else RecordOrigin.BROUGHT
            else:
                found[path] = RecordOrigin.WRITTEN if leaf else RecordOrigin.OUTSIDE
        for path in head.keys() - files.keys():
            if self.place not in self.removed.get(path, ()):
                found[path] = RecordOrigin.MISSING
        known = {
            line.removeprefix(f"{ROOT}/")
            for line in self.out("log", "--all", "-m", "--format=", "--name-only").splitlines()
        }
        for path, places in self.here.items():
            if self.place in places and path not in {*files, *head, *known}:
                found[path] = RecordOrigin.MISSING
        return found

    def own_blobs(self) -> set[tuple[str, bytes]]:
        asked = ("log", "-c", "--raw", "--no-abbrev", "--no-renames", "--format=%ae %ce")
        told = self.out(*asked, "HEAD", "^origin/main").splitlines()
        is_own, found = False, set()
        for line in told:
            if line[:1] != ":" and line:
                is_own = line == "kim@example.org kim@example.org"
            elif line and is_own:
                about, _, path = line.partition("\t")
                name = about.split(" ")[-2]
                if name.strip("0"):
                    found.add(
                        (path.removeprefix(f"{ROOT}/"), self.out("cat-file", "blob", name).encode())
                    )
        return found

    def told(self) -> dict[str, RecordOrigin]:
        root = str(self.folder / self.place / ROOT)
        environment = {**os.environ, **self.mine}
        return Origins(Workspace(root, environment=environment)).everywhere()


DEEDS: Final = {
    "add": 3,
    "edit": 4,
    "hand_edit": 2,
    "hand_remove": 1,
    "remove": 1,
    "undo": 1,
    "commit": 4,
    "push": 2,
    "pull": 2,
    "rebase": 2,
    "stash": 2,
    "stash_pop": 2,
    "checkout": 2,
    "step_back": 1,
    "colleague": 3,
    "try_proposal": 1,
    "merge_proposal": 1,
    "other_place": 2,
    "clone": 1,
    "work_tree": 1,
    "move": 1,
}
_BAG: Final = [name for name, times in DEEDS.items() for _ in range(times)]


@settings(max_examples=20 if IS_THOROUGH else 1)
@given(
    st.lists(
        st.sampled_from(_BAG),
        min_size=_STEPS if IS_THOROUGH else 40,
        max_size=_STEPS if IS_THOROUGH else 40,
    ),
    st.randoms(use_true_random=False),
)
def test_a_drawn_history_has_no_false_report_and_no_missed_one(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[str], random: Random
) -> None:
    world = World(tmp_path_factory.mktemp("world"), random)
    for number, deed in enumerate(deeds):
        getattr(world, deed)()
        assert world.told() == world.expected(), (number, deeds[: number + 1], world.place)
