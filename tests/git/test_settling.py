"""What two branches contradict each other about, until somebody says what holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from pmem.core import rawjson
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from tests.faults.console import added, pmem
from tests.git.branches import begin, commit, git, ok

STORES = {"memory": "long-term-memory", "episode": "episodic-memory"}


def two(root: str, kind: str, identifier: str, **said: tuple[Any, Any]) -> None:
    """Merge what two branches made of a record: the earlier one's values, the later one's."""
    path = Path(root, STORES[kind], f"{identifier}.json")
    base = json.loads(path.read_text())
    sides = []
    for minute in (0, 1):
        at = f"2027-01-01T00:0{minute}:00Z"
        fields = {field: values[minute] for field, values in said.items()}
        event = {"event": "UPDATE", "at": at, "before": {field: base[field] for field in said}}
        history = [*base["history"], event]
        sides.append({**base, **fields, "updated_at": at, "history": history})
    result = merged(base, sides[0], sides[1], SHAPES[STORES[kind]]).result
    assert result is not None
    path.write_bytes(rawjson.dump(result))


@pytest.fixture
def memory(root: str) -> str:
    found = added("The port is 80")
    two(root, "memory", found, content=("The port is 8080", "The service is on port 443"))
    return found


def shown(identifier: str) -> Any:
    return pmem("show", identifier, "--json").data


def test_what_holds_can_be_kept(memory: str, root: str) -> None:
    assert pmem("check", "records").code == 1
    before = shown(memory)
    assert pmem("resolve", memory).code == 0
    assert pmem("check", "records").code == 0
    after = shown(memory)
    assert after["content"] == before["content"] == "The service is on port 443"
    assert after["history"][:-1] == before["history"]
    assert after["history"][-1]["detail"] == {"settled": ["content"]}


def test_the_other_value_can_be_taken_and_the_first_one_stays_in_the_history(
    memory: str, root: str
) -> None:
    assert pmem("resolve", memory, "--other").code == 0
    assert pmem("check", "records").code == 0
    after = shown(memory)
    assert after["content"] == "The port is 8080"
    assert after["tokens"] < 8
    assert after["history"][-1]["before"] == {"content": "The service is on port 443"}
    assert b"8080" in pmem("search", "8080").out


def test_episodes_can_be_settled_which_no_command_edits(root: str) -> None:
    found = pmem("episode", "add", "The release went well", "--json").data["id"]
    types = ("pivot", "breakthrough")
    two(root, "episode", found, summary=("It went badly", "It was late"), type=types)
    assert pmem("check", "records").code == 1
    assert pmem("resolve", found, "--other").code == 0
    assert pmem("check", "records").code == 0
    assert pmem("episode", "show", found, "--json").data["summary"] == "It went badly"


def test_settling_what_is_settled_is_refused_and_settles_nothing_else(
    memory: str, root: str
) -> None:
    other = added("Nobody contradicts this")
    before = shown(memory)
    done = pmem("resolve", memory, other)
    assert done.code == 3
    assert done.err.startswith("pmem: " + other.rpartition("-")[2])
    assert shown(memory) == before
    assert pmem("resolve", memory).code == 0
    assert pmem("resolve", memory).code == 3


@pytest.mark.parametrize(
    "before",
    [
        *({"content": value, "unheard": 1} for value in (7, None, "", ["x"])),
        {"state": ["x"]},
    ],
)
def test_a_value_that_no_memory_can_have_is_not_taken(before: dict[str, Any], root: str) -> None:
    found = added("The port is 80")
    path = Path(root, "long-term-memory", f"{found}.json")
    record = json.loads(path.read_text())
    detail = {"conflict": [*before, 7], "settled": 7}
    event = {"event": "MERGE", "at": "2026-01-01T00:00:00Z", "source": "git", "before": before}
    history = [*record["history"], {**event, "detail": detail}]
    path.write_text(json.dumps({**record, "history": history}))
    bytes_ = path.read_bytes()
    done = pmem("resolve", found, "--other")
    assert (done.code, path.read_bytes()) == (3, bytes_), done.err
    assert pmem("resolve", found).code == 0


def test_two_branches_that_replace_one_memory_leave_rivals_until_one_gives_way() -> None:
    begin()
    old = added("The port is 80")
    commit("base")
    heirs = []
    for branch, text in (("theirs", "The port is 8080"), ("ours", "The service is on 443")):
        ok("checkout", "--quiet", "-b", branch, "main")
        heirs.append(pmem("edit", old, text, "--supersede", "--json").data["id"])
        commit(branch)
    ok("merge", "--quiet", "--no-commit", "theirs")
    for words in (["check", "records"], ["check", "records", "--staged"]):
        assert [found["code"] for found in pmem(*words, "--json").data["records"]["findings"]] == [
            "rivals"
        ]
    ok("commit", "--quiet", "--message", "merged")
    assert pmem("edit", heirs[0], "--superseded-by", heirs[1]).code == 0
    assert pmem("check", "records").code == 0


def test_what_was_replaced_again_after_it_came_back_has_no_rivals(root: str) -> None:
    old = added("The port is 80")
    assert pmem("edit", old, "The port is 8080", "--supersede").code == 0
    assert pmem("restore", old).code == 0
    assert pmem("edit", old, "The port is 443", "--supersede").code == 0
    assert pmem("check", "records").code == 0


def test_a_file_with_a_key_that_stands_there_twice_is_not_taken_at_its_word(root: str) -> None:
    found = added("The port is 80")
    path = Path(root, "long-term-memory", f"{found}.json")
    text = path.read_text()
    path.write_text(text.replace('"type"', '"content": "The port is 8080",\n  "type"', 1))
    done = pmem("check", "records", "--json")
    assert [each["code"] for each in done.data["records"]["findings"]] == ["damaged"]
    assert "'content' stands there twice" in done.data["records"]["findings"][0]["message"]


def test_what_another_branch_says_is_shown_until_it_is_settled(memory: str, root: str) -> None:
    assert b"conflict  content: The port is 8080" in pmem("show", memory).out
    assert b"(conflict: content) The service is on port 443" in pmem("context", "port").out
    assert pmem("resolve", memory).code == 0
    assert b"conflict" not in pmem("show", memory).out + pmem("context", "port").out


def worded_on_two_branches() -> str:
    """Give a memory a text on each of two branches, of which `ours` is checked out."""
    begin()
    found = added("The port is 80")
    commit("base")
    for branch, text in (("theirs", "The port is 8080"), ("ours", "The service is on 443")):
        ok("checkout", "--quiet", "-b", branch, "main")
        assert pmem("edit", found, text).code == 0
        ok("commit", "--quiet", "--all", "--message", branch)
    return found


def test_settling_while_git_merges_is_noted_in_its_index() -> None:
    found = worded_on_two_branches()
    assert git("merge", "theirs").code == 1
    done = pmem("resolve", found, "--other")
    assert "next: git merge --continue" in done.err
    assert pmem("check", "records", "--staged").code == 0
    ok("merge", "--continue")
    assert json.loads(ok("show", f"HEAD:{path_in(found)}"))["content"] == "The port is 8080"
    assert ok("status", "--porcelain") == ""


def path_in(identifier: str) -> str:
    return f".project-memory/long-term-memory/{identifier}.json"


def test_repair_says_what_is_to_be_settled_before_the_commit() -> None:
    found = worded_on_two_branches()
    ok("config", "--remove-section", "merge.pmem")
    assert git("merge", "theirs").code == 1
    short = found.rpartition("-")[2]
    assert (
        f"next: pmem resolve {short} with --ours or --theirs, then git merge --continue"
        in pmem("resolve").err
    )
    assert "next: git merge --continue" in pmem("resolve", found).err
    ok("merge", "--continue")
    assert pmem("check", "records").code == 0
    assert ok("status", "--porcelain") == ""


def left_on_a_branch(*words: str) -> str:
    """Merge two branches: one takes a memory out of recall, the other one rewords it before."""
    begin()
    found = added("The port is 80")
    commit("base")
    for branch, command in (
        ("ours", ["edit", found, "The port is 8080"]),
        ("theirs", [word.replace("REF", found) for word in words]),
    ):
        ok("checkout", "--quiet", "-b", branch, "main")
        assert pmem(*command).code == 0
        commit(branch)
    ok("merge", "--quiet", "--no-edit", "ours")
    return found


@pytest.mark.parametrize(
    ("words", "said", "state"),
    [
        (("rm", "REF"), "was removed on one branch and kept on another", "soft_deleted"),
        (("edit", "REF", "It is 443", "--supersede"), "was replaced by ", "superseded"),
    ],
)
def test_an_edit_that_outlived_what_another_branch_did_is_named_until_it_is_settled(
    words: tuple[str, ...], said: str, state: str
) -> None:
    found = left_on_a_branch(*words)
    assert b"The port is 8080" in pmem("search", "port").out
    done = pmem("check", "records", "--json")
    (finding,) = done.data["records"]["findings"]
    assert (done.code, finding["code"], finding["severity"]) == (0, "overruled", "warning")
    assert pmem("check", "merges", "--range", "main..", "--json").data["merges"]["findings"] == []
    assert said in pmem("check", "records").out.decode()
    commit = ok("rev-parse", "HEAD").strip()
    assert pmem("resolve", found, "--other").code == 0
    assert shown(found)["state"] == state
    assert b"The port is 8080" not in pmem("search", "port").out
    ok("checkout", "--quiet", "--force", commit)
    assert pmem("resolve", found).code == 0
    assert shown(found)["state"] == "active"
    assert shown(found)["trust"] == "high"
    assert pmem("check", "records", "--json").data["records"]["findings"] == []
    assert pmem("resolve", found).code == 3


def test_what_the_other_branch_removed_can_be_restored_after_it_was_settled() -> None:
    found = left_on_a_branch("rm", "REF")
    assert pmem("resolve", found, "--other").code == 0
    assert shown(found)["purge_at"] is not None
    assert pmem("restore", found).code == 0
    assert shown(found)["content"] == "The port is 8080"
    assert shown(found)["purge_at"] is None
    assert pmem("check", "records", "--json").data["records"]["findings"] == []


def test_a_text_of_ones_own_can_be_taken_for_one_memory(memory: str, root: str) -> None:
    other = added("The host is db1")
    two(root, "memory", other, content=("The host is db2", "The host is db3"))
    before = shown(memory)
    assert pmem("resolve", memory, other, "--text", "Both").code == 3
    assert shown(memory) == before
    assert pmem("resolve", memory, "--text", "-", stdin=b"Port 80 leads to port 443").code == 0
    after = shown(memory)
    assert after["content"] == "Port 80 leads to port 443"
    assert after["history"][:-1] == before["history"]
    assert pmem("undo").code == 0
    assert shown(memory)["content"] == before["content"]
    found = pmem("check", "records", "--json").data["records"]["findings"]
    codes = [each["code"] for each in found]
    assert codes.count("conflict") == 2


@pytest.mark.parametrize("words", [("--other",), ("--text", "x"), ("REF", "--dry-run")])
def test_deciding_needs_a_memory_and_has_no_dry_run(words: tuple[str, ...], memory: str) -> None:
    assert pmem("resolve", *(memory if word == "REF" else word for word in words)).code == 2


def test_a_text_decides_the_other_fields_with_it_and_may_be_the_present_one(root: str) -> None:
    found = added("The port is 80")
    two(root, "memory", found, content=("Eight", "Nine"), type=("decision", "constraint"))
    assert pmem("resolve", found, "--other", "--text", "Ten").code == 0
    assert (shown(found)["content"], shown(found)["type"]) == ("Ten", "decision")
    assert pmem("undo").code == 0
    assert pmem("resolve", found, "--text", "Nine").code == 0
    assert (shown(found)["content"], shown(found)["type"]) == ("Nine", "constraint")
    assert pmem("resolve", found).code == 3


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_without_a_merge_of_git_there_is_no_side_to_take(side: str, memory: str) -> None:
    before = shown(memory)
    done = pmem("resolve", memory, side)
    assert (done.code, done.err.count("\n")) == (3, 2)
    assert "git has no merge here" in done.err
    assert pmem("resolve", memory, side, "--other").code == 3
    assert shown(memory) == before
