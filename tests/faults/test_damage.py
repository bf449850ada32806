"""Files that are not what they should be, seen from the command line."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults.console import added, bytes_of, pmem, real
from tests.faults.test_disk import TRANSCRIPT
from tests.faults.test_locked import READING
from tests.once import Once

GOOD = "The kitchen closes at ten"


class Case(NamedTuple):
    """What is done to a good file, and what the sentence about it must say."""

    damage: Callable[[bytes], bytes]
    says: str
    code: str = "damaged"


def _with(field: str, value: str) -> Callable[[bytes], bytes]:
    """Put raw JSON into a field of a record's file, or add the field."""

    def apply(data: bytes) -> bytes:
        record = json.loads(data)
        record[field] = "VALUE"
        return json.dumps(record, indent=2).replace('"VALUE"', value).encode()

    return apply


CASES = {
    "truncated": Case(lambda data: data[: len(data) // 2], "not valid JSON"),
    "newer schema": Case(_with("schema", "2"), "has schema 2", "newer_schema"),
    "conflict markers": Case(
        lambda data: b"<<<<<<< ours\n" + data + b"=======\n" + data + b">>>>>>> theirs\n",
        "conflict markers",
        "markers",
    ),
}
"""One of each code; all kinds of damage are in `tests/storage/test_damage.py`."""


@pytest.fixture
def damaged_id(root: str, once: Once) -> str:
    """Return the id of a memory beside a good memory and a conversation."""
    return once(_fill)


def _fill() -> str:
    identifier = added("Pancakes are served on Sundays")
    added(GOOD)
    assert pmem("import", "messages", "-", stdin=TRANSCRIPT).code == 0
    return identifier


def spoil(path: str, damage: Callable[[bytes], bytes]) -> None:
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(damage(data))
    assert damage(data) != data


@pytest.mark.some(6)
@pytest.mark.parametrize("name", CASES)
def test_a_damaged_memory_is_named_and_left_alone(name: str, damaged_id: str, root: str) -> None:
    case = CASES[name]
    path = os.path.join(root, "long-term-memory", f"{damaged_id}.json")
    spoil(path, case.damage)
    before = bytes_of(root)

    for command in (("show", damaged_id), ("log", damaged_id), ("edit", damaged_id, "New")):
        done = pmem(*command, "--json")
        assert (5, case.code) == (done.code, done.error["code"]), (command, done)
        assert path in done.error["message"]
        assert case.says in done.error["message"]
    for command in (
        ("rm", damaged_id),
        ("edit", damaged_id, "--pin"),
        ("purge", damaged_id, "--force"),
    ):
        assert pmem(*command).code == 5, command

    for reading in (("list",), ("search", "kitchen"), ("context", "kitchen"), ("stats",)):
        done = pmem(*reading)
        assert done.code == 0, (reading, done)
        assert [path in line for line in done.err.splitlines() if "left out" in line] == [True]
    assert GOOD.encode() in pmem("list").out
    assert pmem("list", "--json").data["total"] == 1

    checked = pmem("check", "records")
    assert checked.code == 1
    assert sum(path in line for line in checked.out.decode().splitlines()) == 1
    findings = pmem("check", "records", "--json").data["records"]["findings"]
    assert [(path, case.code)] == [(item["path"], item["code"]) for item in findings]

    assert pmem("add", "Pancakes are served on Sundays").code == 0
    after = bytes_of(root)
    assert before == {name: data for name, data in after.items() if name in before}


@pytest.mark.some(4)
@pytest.mark.parametrize("store", ["conversations", "conversation-chunks"])
@pytest.mark.parametrize("name", ["truncated", "newer schema"])
def test_a_damaged_conversation_leaves_the_others(
    name: str, store: str, damaged_id: str, root: str
) -> None:
    pmem("import", "messages", "-", stdin=TRANSCRIPT.replace(b"talk", b"other"))
    identifier = pmem("conversation", "show", "talk", "--json").data["id"]
    if store == "conversation-chunks":
        identifier = pmem("show", identifier, "--json").data["chunks"][0]
    path = os.path.join(root, store, f"{identifier}.json")
    spoil(path, CASES[name].damage)
    before = bytes_of(root)

    shown = pmem("conversation", "show", identifier if store == "conversations" else "talk")
    assert (shown.code, path in shown.err) == (5, True), shown
    assert pmem("conversation", "show", "other").code == 0
    listed = pmem("conversation", "list", "--json")
    assert (0, 1 + (store != "conversations")) == (listed.code, listed.data["total"])
    for reading in (("search", "message"), ("context", "kitchen"), ("context",), ("stats",)):
        done = pmem(*reading)
        assert done.code == 0, (reading, done)
    for reading in (("search", "message"), ("context", "message"), ("stats",)):
        assert path in pmem(*reading).err, reading
    again = pmem("import", "messages", "-", stdin=TRANSCRIPT)
    assert (again.code, path in again.err) == (5, True)
    assert pmem("check", "records").code == 1
    assert before == bytes_of(root)


@pytest.mark.parametrize("store", ["conversations", "conversation-chunks"])
def test_a_damaged_current_conversation_does_not_stop_contexts(store: str, root: str) -> None:
    added(GOOD)
    pmem("config", "set", "max_recent_messages", "4")
    pmem("config", "set", "chunk_size", "2")
    conversation = pmem("conversation", "start", "--json").data["id"]
    for number in range(7):
        assert pmem("conversation", "say", f"word {number}").code == 0
    chunks = pmem("show", conversation, "--json").data["chunks"]
    identifier = conversation if store == "conversations" else chunks[-1]
    path = os.path.join(root, store, f"{identifier}.json")
    spoil(path, lambda data: data[:20])
    for reading in (("context",), ("context", "kitchen"), ("context", "--format", "messages")):
        done = pmem(*reading)
        assert done.code == 0, done
        assert GOOD.encode() in done.out
        assert [path in line for line in done.err.splitlines() if "left out" in line] == [True]
    if store == "conversations":
        said = pmem("conversation", "say", "one more")
        assert (said.code, path in said.err) == (5, True)


def test_a_chunk_that_is_gone_is_damage(damaged_id: str, root: str) -> None:
    conversation = pmem("conversation", "show", "talk", "--json").data["id"]
    chunk = pmem("show", conversation, "--json").data["chunks"][0]
    path = os.path.join(root, "conversation-chunks", f"{chunk}.json")
    os.unlink(path)
    done = pmem("conversation", "show", "talk")
    assert (done.code, path in done.err) == (5, True), done
    assert pmem("context", "message", "--conversation", "talk").code == 0
    checked = pmem("check", "records")
    assert (checked.code, chunk.encode() in checked.out) == (1, True)


def test_a_copied_record_is_found_by_its_name(damaged_id: str, root: str) -> None:
    folder = os.path.join(root, "long-term-memory")
    with open(os.path.join(folder, f"{damaged_id}.json"), "rb") as file:
        data = file.read()
    copy = os.path.join(folder, f"{damaged_id[:-1]}{'x' if damaged_id[-1] != 'x' else 'y'}.json")
    stray = os.path.join(folder, "notes.json")
    for path in (copy, stray):
        with open(path, "wb") as file:
            file.write(data)
    listed = pmem("list", "--json")
    assert (listed.code, listed.data["total"]) == (0, 2)
    assert [copy in listed.err, stray in listed.err] == [True, True]
    assert pmem("show", damaged_id).code == 0
    checked = pmem("check", "records")
    assert [checked.out.decode().count(f"{path}:") for path in (copy, stray)] == [1, 1]


def test_an_id_in_two_stores_is_reported(damaged_id: str, root: str) -> None:
    pmem("conversation", "start")
    conversation = pmem("conversation", "list", "--json").data["items"][-1]["id"]
    with open(f"{root}/conversations/{conversation}.json", "rb") as file:
        record = json.loads(file.read())
    record["id"] = damaged_id
    with open(f"{root}/conversations/{damaged_id}.json", "w", encoding="utf-8") as file:
        json.dump(record, file)
    before = bytes_of(root)
    shown = pmem("show", damaged_id)
    assert (shown.code, damaged_id in shown.err) == (3, True)
    checked = pmem("check", "records", "--json")
    assert checked.code == 1
    found = [item for item in checked.data["records"]["findings"] if item["code"] == "duplicate"]
    assert len(found) == 1
    assert damaged_id in found[0]["message"]
    assert before == bytes_of(root)


@pytest.mark.parametrize("target", ["record", "store", "local"])
def test_links_are_not_followed(target: str, damaged_id: str, root: str, tmp_path: Path) -> None:
    outside = str(tmp_path / "outside")
    places = {
        "record": f"{root}/long-term-memory/{damaged_id}.json",
        "store": f"{root}/long-term-memory",
        "local": f"{root}/local",
    }
    os.rename(places[target], outside)
    os.symlink(outside, places[target])
    before = bytes_of(str(tmp_path))
    command = ("edit", damaged_id, "New") if target == "record" else ("add", "New")
    done = pmem(*command)
    assert (done.code, places[target] in done.err) == (5, True), done
    assert before == bytes_of(str(tmp_path))


CONFIGURATIONS = {
    "not TOML": (b"chunk_size = = 3\n", 5, "not valid TOML"),
    "not UTF-8": (b"project_name = '\xff'\n", 5, "is not UTF-8"),
    "duplicate key": (b"chunk_size = 3\nchunk_size = 4\n", 5, "not valid TOML"),
    "out of range": (b"chunk_size = 0\n", 3, "at least 1"),
    "wrong type": (b"chunk_size = 'many'\n", 3, "whole number"),
    "not a number": (b"recency_weight = nan\n", 3, "recency_weight"),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_bad_configuration_is_named_and_left_alone(name: str, damaged_id: str, root: str) -> None:
    data, code, says = CONFIGURATIONS[name]
    path = os.path.join(root, "config.toml")
    spoil(path, lambda old: data)
    before = bytes_of(root)
    for command in (("add", "More"), ("context",), ("config", "list"), ("search", "kitchen")):
        done = pmem(*command)
        assert (code, b"") == (done.code, done.out), (command, done)
        assert says in done.err
        assert (path if code == 5 else "project") in done.err
    assert before == bytes_of(root)
    listed = pmem("list")
    assert (listed.code, says in listed.err) == (0, True)
    checked = pmem("check", "records", "--json")
    assert checked.code == 1
    assert [path] == [item["path"] for item in checked.data["records"]["findings"]]
    assert pmem("check", "setup").code == 1
    if code == 5:
        assert pmem("config", "set", "chunk_size", "4").code == 5
        assert before == bytes_of(root)


IN_SPITE_OF_SETTINGS = (
    ("list",),
    ("show", "MEMORY"),
    ("log", "MEMORY"),
    ("log",),
    ("search", "kitchen"),
    ("query", "-"),
    ("context", "kitchen"),
    ("delta", "--thread", "review"),
    ("check", "citations"),
    ("why", "retry.py"),
    ("check", "due"),
    ("inbox", "walk"),
    ("report", "page.html"),
    ("work", "list"),
    ("work", "next"),
    ("list", "--tags"),
    ("list", "--subjects"),
    ("stats",),
    ("check", "records"),
    ("check", "origin"),
    ("check", "secrets"),
    ("check", "setup"),
    ("conversation", "list"),
    ("conversation", "show", "talk"),
    ("conversation", "stats", "talk"),
    ("inbox", "facts"),
    ("inbox", "proposals"),
    ("episode", "list"),
    ("episode", "show", "EPISODE"),
    ("episode", "arc"),
    ("app", "list", "calendar"),
    ("app", "show", "calendar", "APP"),
    ("app", "context", "calendar"),
    ("app", "stats"),
    ("checkpoint", "load", "review"),
    ("checkpoint", "list"),
    ("config", "list"),
    ("config", "get", "chunk_size"),
    ("export", "arrays"),
    ("export", "audit"),
    ("eval",),
    ("eval", "misses"),
    ("consolidate", "--dry-run"),
)


@pytest.fixture
def everything(damaged_id: str) -> dict[str, str]:
    """Give every reading command something to read."""
    found = {"MEMORY": damaged_id, "APP": added("The dentist is late", "--app", "calendar")}
    line = b'{"conversation": "talk", "id": 1, "content": "We use SQLite"}'
    assert pmem("import", "messages", "-", stdin=line).code == 0
    assert pmem("conversation", "start", "Now").code == 0
    episode = pmem("episode", "add", "We chose a queue", "--title", "Queue", "--json")
    found["EPISODE"] = episode.data["id"]
    assert pmem("checkpoint", "save", "review", "{}").code == 0
    Path("retry.py").write_text("RETRIES = 3\n", encoding="utf-8")
    assert pmem("eval", "add", "kitchen", damaged_id).code == 0
    return found


def test_every_reading_command_is_tried_with_broken_settings() -> None:
    tried = {" ".join(words) for words in IN_SPITE_OF_SETTINGS}
    left = {name for name in READING if not any(each.startswith(name) for each in tried)}
    no_memory = {"help", "setup completion", "setup list"}
    apart = {
        "mcp",
        "serve",
        "browse",
        "db init",
        "db migrate",
        "db status",
        "db sync",
        "model test",
    }
    assert left == {*no_memory, *apart, "review", "hook", "check merges"}


def _without_recalls(shown: bytes) -> bytes:
    """Return what was shown without how often, as showing it counts."""
    return re.sub(rb"(?m)^recalled  .*$", b"", shown)


@pytest.mark.some(14)
@pytest.mark.parametrize("words", IN_SPITE_OF_SETTINGS, ids=" ".join)
def test_broken_settings_are_named_by_every_command_in_one_sentence(
    words: tuple[str, ...], everything: dict[str, str], root: str
) -> None:
    """It is refused what settings decide about; what they do not touch is told all the same."""
    words = tuple(everything.get(word, word) for word in words)
    question = b'{"query": "kitchen"}'
    usual = pmem(*words, stdin=question)
    assert usual.code in (0, 1), usual
    path = os.path.join(root, "config.toml")
    spoil(path, lambda old: b"chunk_size = = 3\n")
    done = pmem(*words, stdin=question)
    assert done.code in (0, 1, 5), done
    lines = [*done.err.splitlines(), *done.out.decode().splitlines()]
    assert len([line for line in lines if path in line]) == 1, done
    assert done.code != 5 or done.out == b""
    if done.code == 0:
        assert _without_recalls(done.out) == _without_recalls(usual.out)
        assert f"pmem: {path} is not valid TOML" in done.err
        assert pmem(*words, "--quiet", stdin=question).err == ""


def test_a_bad_value_can_be_mended_by_command(damaged_id: str, root: str) -> None:
    with open(os.path.join(root, "config.toml"), "w", encoding="utf-8") as file:
        file.write("lock_timeout = -1\n")
    assert pmem("add", "More").code == 3
    assert pmem("config", "set", "lock_timeout", "3").code == 0
    assert pmem("add", "More").code == 0


def test_a_purge_leaves_no_link_in_a_file_that_cannot_be_used(damaged_id: str, root: str) -> None:
    other = added("What the damaged memory leads to")
    pmem("edit", damaged_id, "--link", other)
    path = os.path.join(root, "long-term-memory", f"{damaged_id}.json")
    spoil(path, lambda data: data.rstrip()[:-1])
    before = bytes_of(root)
    done = pmem("purge", other, "--force")
    assert (done.code, done.out) == (5, b"")
    assert path in done.err.splitlines()[0]
    assert other in done.err.splitlines()[0]
    assert before == bytes_of(root)
    unrelated = added("Nobody leads here, far from everything else")
    assert pmem("purge", unrelated, "--force").code == 0


def test_damage_of_what_a_clone_keeps_for_itself_is_found(damaged_id: str, root: str) -> None:
    assert pmem("checkpoint", "save", "review", "{}").code == 0
    assert pmem("add", "The user lives in Graz.", "--agent", "planner").code == 7
    assert pmem("check", "records").code == 0
    path = os.path.join(root, "local", "state.sqlite3")
    spoil(path, lambda data: data[:100] + bytes(len(data) - 100))
    before = bytes_of(root, local=True)
    checked = pmem("check", "records", "--json")
    assert checked.code == 1
    assert [(path, "damaged")] == [
        (f["path"], f["code"]) for f in checked.data["records"]["findings"]
    ]
    assert pmem("check", "setup").code == 1
    assert before == bytes_of(root, local=True)


def test_the_doctor_moves_no_database_away_that_others_use_or_the_disk_refuses(
    damaged_id: str, root: str, plain: tuple[str, ...]
) -> None:
    """What cannot be read now is no damage: the threads and checkpoints in it are sound."""
    assert pmem("checkpoint", "save", "review", "{}").code == 0
    path = os.path.join(root, "local", "state.sqlite3")
    os.chmod(path, 0)
    for words, code in ((("check", "setup", "--fix"), 74), (("check", "setup"), 1)):
        assert real(*words, before=plain).code == code
    os.chmod(path, 0o644)
    assert pmem("checkpoint", "load", "review").code == 0
    assert not [name for name in os.listdir(f"{root}/local") if "damaged" in name]
