"""Settings that two branches changed: merged one by one, finished by `repair`, read meanwhile."""

import os
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.core.settings import good_settings, is_guard, merge_settings
from pmem.errors import Unresolved
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.vcs import gitsetup
from pmem.vcs.repair import open_files, service
from tests.faults.console import pmem
from tests.git.branches import ROOT, begin, commit, git, ok

FILE: Final = Path(ROOT, "config.toml")
BASE: Final = """\
# Settings of this project
project_name = "Phoenix"
chunk_size = 10
max_chunks = 5

[consent]
fields = ["city", "health"]

[secrets]
allow = ["sample-1"]
"""
MARKED: Final = """\
<<<<<<< ours
chunk_size = 20
=======
chunk_size = 30
>>>>>>> theirs
"""


def text() -> str:
    return FILE.read_text(encoding="utf-8")


def values() -> dict[str, Any]:
    return tomllib.loads(text())


def write(data: str) -> None:
    FILE.write_text(data, encoding="utf-8")


def change(pairs: dict[str, str]) -> None:
    write(_changed(text(), pairs))


def _changed(data: str, pairs: dict[str, str]) -> str:
    for old, new in pairs.items():
        assert old in data
        data = data.replace(old, new)
    return data


def split(ours: dict[str, str], theirs: dict[str, str], *, driver: bool) -> None:
    """Make two branches that changed the settings, and go to ours."""
    begin()
    if not driver:
        assert pmem("setup", "git", "--remove").code == 0
    write(BASE)
    commit()
    ok("checkout", "--quiet", "-b", "other")
    change(theirs)
    commit()
    ok("checkout", "--quiet", "main")
    change(ours)
    commit()


FAR: Final = {"chunk_size = 10": "chunk_size = 20"}
NEAR: Final = {"max_chunks = 5": "max_chunks = 7  # more\n# Asked for by Kim\nmax_messages = 4"}
OTHERWISE: Final = {"chunk_size = 10": "chunk_size = 30"}


@pytest.mark.parametrize("driver", [True, False])
def test_neighbouring_settings_merge_one_by_one(driver: bool) -> None:
    split(FAR, NEAR, driver=driver)
    done = git("merge", "--quiet", "other")
    assert (done.code == 0) == driver, done.said
    if not driver:
        assert pmem("resolve").code == 0
    found = values()
    assert (found["chunk_size"], found["max_chunks"], found["max_messages"]) == (20, 7, 4)
    assert text().startswith("# Settings of this project\n")
    assert "# Asked for by Kim" in text()
    assert ok("diff", "--name-only", "--diff-filter=U") == ""


def test_a_setting_that_both_changed_is_a_conflict_that_loses_no_side() -> None:
    split(FAR, OTHERWISE, driver=True)
    done = git("merge", "--quiet", "other")
    assert done.code == 1
    assert "two branches disagree on chunk_size" in done.said
    assert values()["chunk_size"] == 20
    assert "# Two branches disagreed on chunk_size; what gave way: chunk_size = 30" in text()
    assert pmem("add", "We use Go").code == 0
    assert "unmerged" in pmem("check", "records").out.decode()
    pmem("config", "set", "chunk_size", "30")
    assert pmem("resolve", "--json").data["repaired"][0]["decision"] == "kept"
    assert values()["chunk_size"] == 30
    assert ok("diff", "--name-only", "--diff-filter=U") == ""


def test_without_the_driver_the_file_is_named_and_reads_go_on_with_ours() -> None:
    split(FAR, OTHERWISE, driver=False)
    Project(ROOT, actor="ada").add("We use Go")
    assert git("merge", "--quiet", "other").code == 1
    for command in (
        ("list",),
        ("search", "Go"),
        ("context", "Go"),
        ("check", "secrets"),
        ("stats",),
    ):
        done = pmem(*command)
        assert (done.code, "has git's conflict markers" in done.err) == (0, True), (command, done)
    assert pmem("config", "get", "chunk_size").out == b"20\n"
    for write_ in (["add", "x"], ["config", "set", "chunk_size", "4"], ["consolidate"]):
        done = pmem(*write_)
        assert (done.code, done.err.count("\n")) == (5, 2), (write_, done)
        assert "has git's conflict markers" in done.err
        assert "`pmem resolve`" in done.err
    assert pmem("check", "records").code == 1
    assert pmem("check", "setup").code == 1
    with pytest.raises(Unresolved):
        Project(ROOT).add("x")


def test_repair_finishes_it_from_the_stages() -> None:
    split(FAR | {'"city", "health"': '"health"'}, OTHERWISE, driver=False)
    assert git("merge", "--quiet", "other").code == 1
    before = text()
    done = pmem("resolve", "--dry-run", "--json")
    assert done.data["repaired"][0]["conflicts"] == ["chunk_size"]
    assert text() == before
    done = pmem("resolve")
    assert (done.code, "disagree on chunk_size" in done.out.decode()) == (0, True)
    assert "conflict markers" not in done.err
    assert values()["chunk_size"] == 20
    assert values()["consent"]["fields"] == ["health"]
    assert "chunk_size = 30" in text()
    assert pmem("check", "records").code == 0
    ok("commit", "--quiet", "--message", "merged")
    assert pmem("add", "We use Go").code == 0


def test_repair_finishes_markers_that_were_committed() -> None:
    split({}, {}, driver=False)
    write(MARKED + BASE.replace("chunk_size = 10\n", ""))
    commit()
    assert pmem("resolve").code == 0
    assert values()["chunk_size"] == 20
    assert ok("status", "--porcelain").startswith("M ")
    assert pmem("resolve").err.startswith("nothing to resolve")


def test_repair_needs_no_git_for_it(root: str) -> None:
    write(MARKED)
    done = pmem("resolve")
    assert (done.code, values()) == (0, {"chunk_size": 20})
    assert "chunk_size = 30" in text()


def test_what_was_typed_between_the_markers_is_a_part_of_its_side() -> None:
    split(FAR, OTHERWISE, driver=False)
    assert git("merge", "--quiet", "other").code == 1
    change({"chunk_size = 20": "chunk_size = 21"})
    assert pmem("resolve").code == 0
    assert values()["chunk_size"] == 21


@pytest.mark.parametrize(
    "data",
    ["<<<<<<< ours\nchunk_size = 20\n", "<<<<<<< ours\nchunk_size =\n=======\nx = 1\n>>>>>>> t\n"],
)
def test_markers_that_cannot_be_taken_apart_are_left(data: str, root: str) -> None:
    write(data)
    for command in ("add", "search", "context"):
        done = pmem(command, "x")
        assert (done.code, "has git's conflict markers" in done.err) == (5, True), (command, done)
    done = pmem("resolve")
    assert (done.code, "finish it by hand" in done.out.decode()) == (1, True)
    assert text() == data


def test_a_setting_that_is_removed_on_one_side_and_changed_on_the_other_is_kept_by_ours() -> None:
    split({"chunk_size = 10\n": ""}, OTHERWISE, driver=True)
    assert git("merge", "--quiet", "other").code == 1
    assert "chunk_size" not in values()
    assert "what gave way: chunk_size = 30" in text()


@pytest.mark.parametrize("marked", [False, True])
def test_a_side_that_emptied_the_file_removed_every_setting_of_it(marked: bool) -> None:
    plain = 'project_name = "Phoenix"\nmax_chunks = 5\n'
    split({BASE: ""}, {BASE: plain.replace("5", "7")}, driver=False)
    assert git("-c", "merge.conflictStyle=diff3", "merge", "--quiet", "other").code == 1
    if marked:
        commit()
    found = pmem("resolve", "--json").data["repaired"][0]
    assert (found["decision"], found["conflicts"]) == ("merged", ["max_chunks"])
    assert values() == {}
    assert "what gave way: max_chunks = 7" in text()


def test_lists_merge_by_their_entries() -> None:
    split(
        {'["sample-1"]': '["sample-1", "sample-2"]', '"city", ': '"city", "religion", '},
        {'["sample-1"]': '["sample-3"]', '"city", ': ""},
        driver=True,
    )
    assert git("merge", "--quiet", "other").code == 0
    assert values()["secrets"]["allow"] == ["sample-2", "sample-3"]
    assert values()["consent"]["fields"] == ["religion", "health"]


def test_a_clone_of_an_older_version_gets_the_line_for_settings() -> None:
    ok("init", "--quiet")
    initialise(ROOT)
    attributes = Path(ROOT, ".gitattributes")
    older = attributes.read_text(encoding="utf-8").replace("/config.toml merge=pmem\n", "")
    attributes.write_text(older, encoding="utf-8")
    workspace = Workspace(os.path.abspath(ROOT), environment=os.environ)
    assert not gitsetup.look(workspace).ok
    assert pmem("check", "setup", "--fix").code in (0, 1)
    assert gitsetup.look(workspace).ok
    assert attributes.read_text(encoding="utf-8") == f"{older}/config.toml merge=pmem\n"


def test_a_revision_with_markers_is_read_as_far_as_it_goes() -> None:
    split({}, {}, driver=False)
    write(MARKED)
    commit()
    assert pmem("list", "--at", "HEAD").code == 0
    assert pmem("context", "x", "--at", "HEAD").code == 0


def test_a_marked_file_that_is_about_to_be_committed_is_told() -> None:
    split({}, {}, driver=False)
    write(MARKED)
    ok("add", "--all")
    done = pmem("check", "records", "--staged")
    assert (done.code, "conflict markers" in done.out.decode()) == (1, True)


NAMES: Final = (
    "chunk_size secrets.gate secrets.allow consent.fields consent.changes allowlists.a".split()
)
LISTS: Final = st.lists(st.sampled_from("abcd"), max_size=3, unique=True)
SIDES: Final = st.fixed_dictionaries(
    {},
    optional={
        "chunk_size": st.integers(1, 3),
        "secrets.gate": st.sampled_from(("refuse", "redact")),
        "secrets.allow": LISTS,
        "consent.fields": LISTS,
        "consent.changes": st.booleans(),
        "allowlists.a": LISTS,
        "allowlists.b": LISTS,
    },
)


@given(SIDES, SIDES)
def test_a_merge_with_itself_or_with_nothing_new_changes_nothing(base: Any, side: Any) -> None:
    assert merge_settings(base, side, side) == (side, {})
    assert merge_settings(base, side, base) == (side, {})
    assert merge_settings(base, base, side).values == side
    assert merge_settings(None, side, side).values == side


def _lets_through(side: Any, name: str, value: Any) -> bool:
    return value in side.get(name, [])


def _sees(side: Any, agent: str, category: str) -> bool:
    has_lists = any(name.startswith("allowlists.") for name in side)
    return not has_lists or category in side.get(f"allowlists.{agent}", [])


@given(SIDES, SIDES)
def test_an_open_merge_guards_no_less_than_either_side(ours: Any, theirs: Any) -> None:
    for found in (good_settings(ours, theirs), merge_settings(None, ours, theirs).values):
        for value in "abcd":
            if _lets_through(found, "secrets.allow", value):
                assert _lets_through(ours, "secrets.allow", value)
                assert _lets_through(theirs, "secrets.allow", value)
            for agent in "abz":
                if _sees(found, agent, value):
                    assert _sees(ours, agent, value)
                    assert _sees(theirs, agent, value)
            for side in (ours, theirs):
                if value in side.get("consent.fields", []):
                    assert value in found["consent.fields"]
        if found.get("consent.changes") is False:
            assert ours.get("consent.changes") is theirs.get("consent.changes") is False
        if "redact" in (found.get("secrets.gate"),):
            assert ours.get("secrets.gate") == theirs.get("secrets.gate") == "redact"
    assert all(is_guard(name) for name in NAMES[1:])


@given(SIDES, SIDES, SIDES)
def test_both_ways_round_differ_only_in_contradictions(base: Any, ours: Any, theirs: Any) -> None:
    one, other = merge_settings(base, ours, theirs), merge_settings(base, theirs, ours)
    assert one.conflicts.keys() == other.conflicts.keys()
    for name in {*one.values, *other.values} - one.conflicts.keys():
        assert _plain(one.values.get(name)) == _plain(other.values.get(name))
    for name in one.conflicts:
        if is_guard(name):
            assert _plain(one.values.get(name)) == _plain(other.values.get(name))


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def test_repair_writes_no_settings_over_those_that_changed_since_it_looked(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(MARKED)
    looked = open_files.find_open_files

    def edited_since(*arguments: Any) -> Any:
        found = looked(*arguments)
        write("chunk_size = 40\n")
        return found

    monkeypatch.setattr(service, "find_open_files", edited_since)
    done = pmem("resolve", "--json")
    assert (done.code, done.error["code"]) == (6, "locked")
    assert "changed by another program" in done.error["message"]
    assert values() == {"chunk_size": 40}
