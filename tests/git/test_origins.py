"""Where each record comes from, and that what was changed behind pmem's back is told."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from pmem.storage.local.origins import unpacked
from tests.faults.console import pmem
from tests.git.branches import ROOT, commit, ok
from tests.git.tampering import (
    STORE,
    add_all,
    changed,
    edit_content,
    file_with,
    origins,
    publish,
    start,
)


@pytest.mark.parametrize("is_edited", [False, True])
@pytest.mark.parametrize("is_committed", [False, True])
def test_no_log_gives_the_author_of_an_event_what_was_written_by_hand(
    is_edited: bool, is_committed: bool
) -> None:
    start()
    reference = file_with("limit is 40").stem
    if is_edited:
        add_all("edit", reference, "The limit is 50"), commit()
    changed(file_with("The limit is"), content="The limit is 99")
    if is_committed:
        commit()
    one = add_all("log", reference)
    shown = one.out.decode()
    told = [line.strip() for line in shown.splitlines() if "99" in line.partition("limit is")[2]]
    label = "content, now: " if is_edited else "now: "
    mark = "" if is_committed else "(changed outside pmem) "
    assert [line.startswith(mark + label) for line in told] == [True], shown
    assert ("`pmem check origin` shows" in one.err) is not is_committed
    without_times = re.sub(r"\d\d:\d\d:\d\d", "", shown)
    assert ("40" in without_times) is is_edited
    (row,) = (
        line
        for line in add_all("log").out.decode().splitlines()
        if "99" in line.partition("limit is")[2]
    )
    assert mark in row


def test_what_is_not_committed_is_named_where_origins_are_asked_for() -> None:
    start()
    add_all("add", "The third fact")
    told = add_all("check", "origin").out.decode()
    assert f"/{file_with('third fact').name}: written: not committed: " in told
    assert "not committed: " not in add_all("check").out.decode()


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


def test_a_damaged_list_counts_as_lost_also_where_it_cannot_be_removed(tmp_path: Path) -> None:
    start()
    (database,) = Path(os.environ["HOME"]).rglob("origins.sqlite3")
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    for command in (("check",), ("check", "origin"), ("list",), ("add", "Ice is cold")):
        add_all(*command)
    assert b"(" not in pmem("list").out
    database.write_bytes(b"broken " * 600)
    with mock.patch("pmem.storage.files.safe_files.os.remove", side_effect=PermissionError):
        for command in (("check",), ("list",), ("add", "Steam is hot")):
            add_all(*command)


def test_a_project_in_the_place_of_one_that_is_gone_knows_nothing_of_it() -> None:
    """Another folder may get the number of one that was removed."""
    add_all("init")
    add_all("add", "The limit is 40")
    for path in Path(ROOT).iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    add_all("init")
    add_all("add", "Water is wet")
    assert origins() == {"written": 1}


def test_talks_that_git_ignores_are_nobodys_to_commit() -> None:
    start()
    add_all("conversation", "start", "Talk")
    add_all("conversation", "say", "Hello")
    shutil.rmtree(Path(os.environ["HOME"], ".local", "state"))
    add_all("check", "--strict", "origin")


def test_what_is_planted_where_nothing_was_committed_yet_is_told() -> None:
    start()
    source = file_with("limit is 40")
    planted = Path(ROOT, "episodic-memory", source.name)
    planted.parent.mkdir(exist_ok=True)
    add_all("episode", "add", "A turn")
    (own,) = planted.parent.glob("*.json")
    changed_id = f"{own.stem[:-3]}zz9"
    shutil.copy(own, own.with_name(f"{changed_id}.json"))
    changed(own.with_name(f"{changed_id}.json"), id=changed_id)
    assert origins() == {"reviewed": 2, "written": 1, "outside": 1}


def test_a_tree_is_read_as_often_for_many_records_that_are_not_committed_as_for_few() -> None:
    start()
    read = []
    for number in (1, 20):
        for part in range(number):
            add_all("add", f"The part {part} of {number} is new", "--force")
        shutil.rmtree(Path(os.environ["HOME"], ".local", "state"))
        with mock.patch("pmem.project.origins.unpacked", wraps=unpacked) as asked:
            add_all("list")
        read.append(asked.call_count)
    assert read[0] == read[1]


def test_a_folder_may_have_a_name_that_is_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes no such name")
    os.chdir(folder)
    start()
    publish(tmp_path)
    edit_content()
    commit()
    assert origins() == {"reviewed": 1, "committed": 1}


def test_an_id_that_means_two_changed_records_accepts_none() -> None:
    start()
    swap()
    one, two = (path.stem for path in Path(STORE).glob("*.json"))
    both = next(one[:many] for many in range(len(one), 0, -1) if two.startswith(one[:many]))
    done = pmem("check", "origin", "--accept", both)
    assert (done.code, "means" in done.err) == (3, True), done
    assert pmem("check", "origin").code == 1


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
