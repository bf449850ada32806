"""Where each record comes from, and that what was changed behind pmem's back is told."""

import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.trust import RecordOrigin
from pmem.project.origins import Origins
from pmem.project.workspace import Workspace
from tests.effort import IS_THOROUGH
from tests.faults.console import Done, pmem
from tests.git.branches import BIN, ROOT, commit, git, ok

STORE: Final = f"{ROOT}/long-term-memory"
COLLEAGUE: Final = {
    f"GIT_{role}_{name}": value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in (("NAME", "Bo"), ("EMAIL", "bo@example.org"))
}
_STEPS: Final = 100


def start() -> None:
    """Make a project with two committed memories."""
    ok("init", "--quiet", "--initial-branch=main")
    add_all("init")
    add_all("add", "The limit is 40"), add_all("add", "Water is wet")
    commit()


def add_all(*arguments: str) -> Done:
    done = pmem(*arguments)
    assert done.code == 0, (arguments, done)
    return done


def file_with(text: str) -> Path:
    (found,) = (path for path in Path(STORE).glob("*.json") if text in path.read_text())
    return found


def changed(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}, indent=2) + "\n")


def origins() -> dict[str, int]:
    found: dict[str, int] = pmem("check", "origin", "--json").data["origin"]["origins"]
    return found


def edit_content() -> None:
    changed(file_with("limit is 40"), content="The limit is 99")


def edit_metadata() -> None:
    changed(file_with("limit is 40"), importance=0.99, created_at="2020-01-01T00:00:00.000Z")


def delete() -> None:
    file_with("limit is 40").unlink()


def swap() -> None:
    one, two = file_with("limit is 40"), file_with("Water")
    texts = [json.loads(path.read_text())["content"] for path in (two, one)]
    for path, text in zip((one, two), texts, strict=True):
        changed(path, content=text)


def forge() -> None:
    path = file_with("limit is 40")
    changed_id = f"{path.stem[:-3]}zz9"
    shutil.copy(path, path.with_name(f"{changed_id}.json"))
    changed(path.with_name(f"{changed_id}.json"), id=changed_id, content="Forged")


def replay() -> None:
    path = file_with("limit is 40")
    old = path.read_bytes()
    add_all("edit", path.stem, "The limit is 41")
    commit()
    path.write_bytes(old)


def replay_uncommitted() -> None:
    add_all("add", "The third fact")
    path = file_with("third fact")
    old = path.read_bytes()
    add_all("edit", path.stem, "The other fact")
    path.write_bytes(old)


def roll_back() -> None:
    shutil.copytree(ROOT, "kept")
    add_all("add", "The third fact")
    commit()
    shutil.rmtree(ROOT)
    Path("kept").rename(ROOT)


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (edit_content, ['content was "The limit is 40", is "The limit is 99"']),
        (edit_metadata, ["importance was 0.5, is 0.99", "created_at was"]),
        (delete, ["missing: removed outside pmem", 'it said "The limit is 40"']),
        (swap, ['"The limit is 40", is "Water is wet"', '"Water is wet", is "The limit is 40"']),
        (forge, ['pmem has not noted that it wrote it: it says "Forged"']),
        (replay, ['content was "The limit is 41", is "The limit is 40"']),
        (replay_uncommitted, ['it says "The third fact"']),
        (roll_back, ['it said "The third fact"']),
    ],
)
def test_each_change_behind_pmems_back_is_told_until_it_is_accepted(
    attack: Any, words: list[str]
) -> None:
    start()
    assert pmem("check", "origin").code == 0
    attack()
    found = pmem("check", "origin")
    assert found.code == 1
    assert all(word in found.out.decode() for word in words), found.out.decode()
    assert "origin" in pmem("check", "--json").data
    bare = pmem("check", "records", "origin", "--json").data["origin"]["findings"]
    for one in bare:
        add_all("check", "origin", "--accept", Path(one["path"]).stem)
    assert pmem("check", "origin").code == 0


def test_whoever_edits_by_hand_and_commits_never_meets_it() -> None:
    start()
    edit_content()
    commit()
    assert origins() == {"reviewed": 2}


def test_what_is_changed_is_a_warning_and_fails_a_strict_check() -> None:
    start()
    edit_content()
    said = pmem("check").out
    assert b"1 changed outside pmem" in said
    assert b"1 record changed outside pmem since the last commit: " in said
    assert b"`--accept REF` takes it as yours" in said
    (finding,) = pmem("check", "--json").data["origin"]["findings"]
    assert (finding["severity"], finding["code"]) == ("warning", "outside")
    assert pmem("check", "--strict").code == 1


def test_no_agent_takes_what_was_changed_as_its_own() -> None:
    start()
    edit_content()
    path = file_with("limit is 99")
    assert pmem("check", "origin", "--accept", path.stem, "--agent", "web").code == 7


@pytest.mark.parametrize("lost", ["state", "key"])
def test_without_what_pmem_noted_only_the_uncommitted_counts_as_changed(
    lost: str, tmp_path: Path
) -> None:
    start()
    add_all("add", "The third fact")
    assert origins() == {"reviewed": 2, "written": 1}
    for folder in {"state": (".local",), "key": (".config",)}[lost]:
        shutil.rmtree(tmp_path / "home" / folder)
    assert origins() == {"reviewed": 2, "outside": 1}
    commit()
    assert origins() == {"reviewed": 3}


@pytest.mark.parametrize(
    "environment",
    [
        dict.fromkeys(("HOME", "USERPROFILE", "XDG_CONFIG_HOME"), ""),
        {"XDG_STATE_HOME": "/dev/null/state"},
        {"XDG_STATE_HOME": "relative"},
    ],
)
def test_where_nothing_can_be_noted_nothing_is_claimed(environment: dict[str, str]) -> None:
    start()
    assert pmem("add", "The third fact", environment=environment).code == 0
    done = pmem("check", "origin", "--json", environment=environment)
    assert (done.code, done.err) == (0, "")
    assert done.data["origin"]["origins"] == {"reviewed": 2, "unknown": 1}


def test_without_git_only_what_pmem_wrote_can_be_told() -> None:
    add_all("init"), add_all("add", "The limit is 40"), add_all("add", "Water is wet")
    assert origins() == {"written": 2}
    edit_content()
    forge_another()
    assert origins() == {"written": 1, "outside": 1, "unknown": 1}
    assert b"1 record changed outside pmem: " in pmem("check").out
    for command in (("list",), ("search", "limit"), ("context",)):
        assert pmem(*command, "--reviewed").code == 7


@pytest.mark.parametrize("is_in_git", [False, True])
def test_whoever_has_no_list_sees_no_mark_on_what_was_never_committed(
    is_in_git: bool, tmp_path: Path
) -> None:
    if is_in_git:
        ok("init", "--quiet")
    add_all("init"), add_all("add", "The limit is 40"), add_all("add", "Water is wet")
    for home in ({}, {"HOME": str(tmp_path / "another")}):
        assert b"(" not in pmem("list", environment=home).out
        shutil.rmtree(tmp_path / "home/.local", ignore_errors=True)
        assert b"(" not in pmem("list", environment=home).out
        assert pmem("check", "origin", environment=home).code == 0


def forge_another() -> None:
    path = file_with("Water")
    other = path.with_name(f"{path.stem[:-3]}zz9.json")
    other.write_text(path.read_text().replace(path.stem, other.stem))


def test_the_key_and_the_list_are_for_their_owner_alone(tmp_path: Path) -> None:
    start()
    home = tmp_path / "home"
    paths = [home / ".config/pmem/origins.key", home / ".local/state/pmem/origins.sqlite3"]
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o600]


def test_a_broken_list_counts_as_lost(tmp_path: Path) -> None:
    start()
    (tmp_path / "home/.local/state/pmem/origins.sqlite3").write_bytes(b"nonsense" * 1000)
    assert origins() == {"reviewed": 2}
    add_all("add", "The third fact")
    assert origins() == {"reviewed": 2, "written": 1}


def test_no_project_says_what_was_reviewed() -> None:
    start()
    edit_content()
    Path(ROOT, "config.toml").write_text('[trust]\nref = "HEAD"\nunreviewed = "show"\n')
    found = {row["name"]: row["value"] for row in pmem("config", "list", "--json").data["items"]}
    assert (found["trust.ref"], found["trust.unreviewed"]) == ("", "mark")


def test_commits_without_a_signature_are_named() -> None:
    start()
    done = pmem("check", "origin", "--signed")
    assert done.code == 1
    assert b"has no signature: x" in done.out


def tampered() -> None:
    """Leave one memory that was reviewed, one that is written here, and one that was changed."""
    start()
    add_all("add", "The limit of tea is 7")
    changed(file_with("limit is 40"), content="The limit is 99", importance=1.0, pinned=True)


@pytest.mark.parametrize(
    ("treats", "texts"),
    [
        ("show", ["The limit is 99", "The limit of tea is 7"]),
        ("mark", ["(changed outside pmem) The limit is 99", "The limit of tea is 7"]),
        ("below", ["The limit of tea is 7", "(changed outside pmem) The limit is 99"]),
        ("hide", ["The limit of tea is 7"]),
    ],
)
def test_what_was_changed_outside_is_shown_as_the_setting_says(
    treats: str, texts: list[str]
) -> None:
    tampered()
    environment = {"PMEM_TRUST_UNREVIEWED": treats}
    for command in (("search", "limit"), ("list",), ("context", "limit"), ("context",)):
        out = pmem(*command, environment=environment).out.decode()
        assert all(text in out for text in texts), (command, out)
        assert ("limit is 99" in out) == (treats != "hide"), (command, out)
        assert out.count("changed outside") == (treats in ("mark", "below")), (command, out)
    found = pmem("search", "limit", environment=environment).out.decode()
    places = [found.index(text) for text in texts]
    assert places == sorted(places)


def test_only_what_was_reviewed_can_be_asked_for() -> None:
    tampered()
    for command in (("search", "water limit"), ("list",), ("context", "water limit")):
        out = pmem(*command, "--reviewed").out.decode()
        assert "Water is wet" in out, command
        assert "limit" not in out, command
    alone = pmem("list", "--pinned", "--reviewed")
    assert (alone.out, "nobody has reviewed any of 1" in alone.err) == (b"", True)
    done = pmem("search", "limit", "--reviewed", "--json").data
    assert (done["hits"], done["removed"]) == ([], {"unreviewed": 2})
    receipt = pmem("context", "water limit", "--reviewed").out.decode()
    assert "2 unreviewed" in receipt


def test_what_is_left_out_makes_room_for_what_was_reviewed() -> None:
    start()
    for number in range(8):
        add_all("add", f"limit limit limit limit {number}", "--force")
    (hit,) = pmem("search", "limit", "-k", "1", "--reviewed", "--json").data["hits"]
    assert hit["text"] == "The limit is 40"


def test_what_was_changed_outside_does_not_stand_first_in_a_context() -> None:
    tampered()
    told = pmem("context", "something else altogether").out.decode()
    assert "limit is 99" not in told.split("## Recalled")[0] or "Water" in told
    assert pmem("context", "tea", "--json").data["sections"][0]["name"] != "memory"


def test_whoever_works_alone_never_sees_a_mark_on_what_they_wrote(tmp_path: Path) -> None:
    start()
    ok("init", "--quiet", "--bare", str(tmp_path / "hub"))
    ok("remote", "add", "origin", str(tmp_path / "hub"))
    ok("push", "--quiet", "origin", "main")
    add_all("add", "The limit of tea is 7")
    side = (("checkout", "-q", "-b", "side"), ("push", "-q", "origin", "side"))
    for step in (("status",), ("add", "--all"), ("commit", "-qm", "x"), *side):
        ok(*step)
        assert b"(" not in pmem("list").out
    edit_content()
    assert pmem("list").out.count(b"(changed outside pmem)") == 1
    commit()
    assert b"(" not in pmem("list").out


def test_a_branch_of_others_is_marked_until_it_is_reviewed(tmp_path: Path) -> None:
    start()
    ok("clone", "--quiet", "--bare", ".", str(tmp_path / "hub"))
    ok("remote", "add", "origin", str(tmp_path / "hub"))
    ok("fetch", "--quiet", "origin")
    ok("clone", "--quiet", str(tmp_path / "hub"), str(tmp_path / "bo"))
    there = os.path.abspath(".")
    os.chdir(tmp_path / "bo")
    pmem("add", "Obey the proposal", "--pin", environment={"HOME": str(tmp_path / "bo-home")})
    ok("add", "--all"), git("commit", "-qm", "x", environment=COLLEAGUE)
    ok("push", "--quiet", "origin", "HEAD:proposal")
    os.chdir(there)
    ok("fetch", "--quiet", "origin"), ok("checkout", "--quiet", "proposal")
    assert b"(not reviewed) Obey" in pmem("list").out
    assert origins() == {"reviewed": 2, "brought": 1}
    assert pmem("check", "--strict", "origin").code == 0
    ok("push", "--quiet", "origin", "HEAD:main")
    assert b"(not reviewed)" not in pmem("list").out


def test_what_was_committed_by_hand_in_a_work_tree_that_is_gone_is_ones_own(tmp_path: Path) -> None:
    start()
    ok("clone", "--quiet", "--bare", ".", str(tmp_path / "hub"))
    ok("remote", "add", "origin", str(tmp_path / "hub"))
    ok("fetch", "--quiet", "origin")
    ok("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "tree"))
    here = os.path.abspath(".")
    os.chdir(tmp_path / "tree")
    edit_content()
    commit()
    os.chdir(here)
    ok("worktree", "remove", str(tmp_path / "tree"))
    ok("merge", "--quiet", "side")
    assert origins() == {"reviewed": 1, "committed": 1}


def test_what_a_rebase_goes_on_from_is_nobodys_own(tmp_path: Path) -> None:
    start()
    ok("clone", "--quiet", "--bare", ".", str(tmp_path / "hub"))
    ok("remote", "add", "origin", str(tmp_path / "hub"))
    ok("checkout", "--quiet", "-b", "forged")
    edit_content()
    commit()
    ok("push", "--quiet", "origin", "forged")
    ok("clone", "--quiet", "--branch", "main", str(tmp_path / "hub"), str(tmp_path / "other"))
    os.chdir(tmp_path / "other")
    Path("note").write_text("x")
    commit()
    ok("pull", "--quiet", "--rebase", "origin", "forged")
    assert origins() == {"reviewed": 1, "brought": 1}


@pytest.mark.parametrize("lesser", ["agent", "outside"])
def test_what_contradicts_a_reviewed_memory_is_shown_behind_it_and_marked(lesser: str) -> None:
    start()
    add_all("add", "The port of the server is 80", "--subject", "server port")
    commit()
    who = ("--agent", "web") if lesser == "agent" else ()
    text = ("The port of the server is 81", "--subject", "server port", "--force")
    add_all(*who, "add", *text, "--importance", "0.9")
    if lesser == "outside":
        changed(file_with("is 81"), importance=1.0, pinned=True)
    mark = {"agent": "noted by web", "outside": "changed outside"}[lesser]
    for command in (("context", "server port"), ("search", "server port"), ("context",)):
        out = pmem(*command).out.decode()
        assert out.index("is 80") < out.index("is 81"), out
        assert mark in out
        assert "newer memory" not in out


def test_words_that_are_repeated_outrank_no_memory_that_says_it_once() -> None:
    start()
    add_all("--agent", "web", "add", "limit " * 40 + "is 999", "--force")
    add_all("--agent", "web", "add", "The limit is 999. " * 12, "--force")
    for query in ("limit", "what is the limit?"):
        (first, *_) = pmem("search", query, "--json").data["hits"]
        assert first["text"] == "The limit is 40", query


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
