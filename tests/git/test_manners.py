"""Manners in git: reads leave no trace, two clones merge, the same state gives the same bytes."""

import json
import os
from pathlib import Path

import pytest

from tests.faults.console import bytes_of, pmem
from tests.git.branches import ROOT, commit
from tests.git.branches import ok as git

TRANSCRIPT = b"".join(
    json.dumps(
        {
            "conversation": "standup",
            "id": f"m{n}",
            "role": ("user", "assistant")[n % 2],
            "speaker": ("Ada", "Bo")[n % 2],
            "content": f"Point {n}: the parser is faster now.",
            "timestamp": f"2026-03-0{1 + n // 20}T10:{n % 60:02d}:00Z",
        }
    ).encode()
    + b"\n"
    for n in range(45)
)
READING = (
    ("search", "parser"),
    ("search", "parser", "--explain", "--kind", "message"),
    ("context", "parser", "--budget", "800"),
    ("context", "--format", "json"),
    ("show", "MEMORY"),
    ("list",),
    ("list", "--all-states"),
    ("stats",),
    ("check", "records"),
    ("check", "setup"),
    ("log", "MEMORY"),
    ("conversation", "list"),
    ("conversation", "show"),
    ("conversation", "show", "standup"),
    ("delta", "--thread", "review"),
    ("checkpoint", "save", "review", "{}"),
    ("checkpoint", "load", "review"),
    ("config", "list"),
    ("config", "get", "chunk_size"),
    ("export", "arrays", "-"),
)


def ok(*arguments: str, stdin: bytes = b"") -> bytes:
    done = pmem(*arguments, stdin=stdin)
    assert done.code == 0, (arguments, done)
    return done.out


def begin(*options: str) -> str:
    """Make a repository with some memory in it, everything committed; return a memory's id."""
    git("init", "--quiet", "--initial-branch=main")
    ok("init", "--name", "Phoenix", *options)
    identifier = json.loads(ok("add", "The parser is written in C", "--json"))["data"]["memory"]
    ok("add", "We release on Fridays", "--type", "decision", "--subject", "release day")
    ok("import", "messages", "-", stdin=TRANSCRIPT)
    ok("conversation", "start", "Live")
    ok("conversation", "say", "What about the parser?")
    commit("memory")
    return str(identifier["id"])


@pytest.mark.parametrize("options", [(), ("--track-conversations",)])
def test_reads_leave_git_status_empty(options: tuple[str, ...], tmp_path: Path) -> None:
    identifier = begin(*options)
    assert git("status", "--porcelain") == ""
    before = bytes_of(ROOT)
    for command in READING:
        ok(*[identifier if word == "MEMORY" else word for word in command])
    assert os.path.getsize(f"{ROOT}/local/access.log")
    assert git("status", "--porcelain") == ""
    assert before == bytes_of(ROOT)

    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    os.chdir(tmp_path / "clone")
    ok("setup", "git")  # a clone that was not told is a finding of the doctor's
    for command in READING:
        if options or command[:2] != ("conversation", "show"):
            ok(*[identifier if word == "MEMORY" else word for word in command])
    assert git("status", "--porcelain") == ""


def test_conversations_are_private_unless_they_are_tracked() -> None:
    begin()
    assert ".jsonl" not in git("ls-files")
    tracked = git("ls-files", ROOT)
    assert [line for line in tracked.splitlines() if "conversation" in line] == []
    ok("init", "--track-conversations")
    found = git("status", "--porcelain", "--untracked-files=all")
    assert f"{ROOT}/conversations/" in found
    assert f"{ROOT}/conversation-chunks/" in found
    assert f"{ROOT}/local" not in found


@pytest.mark.parametrize("options", [(), ("--track-conversations",)])
def test_two_clones_merge_with_plain_git(options: tuple[str, ...], tmp_path: Path) -> None:
    begin(*options)
    git("checkout", "--quiet", "-b", "elsewhere")
    git("checkout", "--quiet", "main")
    places = [tmp_path / "ada", tmp_path / "bo"]
    for place in places:
        git("clone", "--quiet", str(tmp_path / "work"), str(place))
        os.chdir(place)
        for number in range(5):
            ok("add", f"{place.name} learned lesson {number} about the parser")
        ok("conversation", "start", f"{place.name} talks")
        for number in range(25):
            ok("conversation", "say", f"{place.name} says {number}")
        commit(place.name)
    git("pull", "--quiet", "--no-rebase", "--no-edit", str(places[0]), "main", cwd=places[1])
    assert git("status", "--porcelain") == ""
    assert b" ok\n" in ok("check", "records")
    contents = [item["content"] for item in json.loads(ok("list", "--json"))["data"]["items"]]
    for place in places:
        assert sum(f"{place.name} learned" in content for content in contents) == 5
    talks = json.loads(ok("conversation", "list", "--json"))["data"]["items"]
    titles = {item["title"]: item for item in talks}
    assert ("ada talks" in titles) == bool(options)
    for title in {"ada talks", "bo talks"} & titles.keys():
        shown = json.loads(ok("conversation", "show", titles[title]["id"], "--json"))["data"]
        said = [message["content"] for message in shown["messages"]]
        assert [f"{title.split()[0]} says {number}" for number in range(25)] == said
        assert [len(shown["summaries"]), len(shown["chunks"]) == 1] == [1, True]


def test_the_same_transcript_in_two_clones_is_the_same_files(tmp_path: Path) -> None:
    trees = []
    for place in (tmp_path / "ada", tmp_path / "bo"):
        place.mkdir()
        os.chdir(place)
        ok("init", "--track-conversations")
        ok("--actor", place.name, "import", "messages", "-", stdin=TRANSCRIPT)
        trees.append(bytes_of(ROOT))
    assert trees[0] == trees[1]
    assert len(trees[0]) >= 5


def test_the_same_state_gives_the_same_bytes(tmp_path: Path) -> None:
    identifier = begin("--track-conversations")
    before = bytes_of(ROOT)
    ok("import", "messages", "-", stdin=TRANSCRIPT)
    ok("edit", identifier, "--pin")
    assert before != bytes_of(ROOT)
    git("checkout", "--quiet", ROOT)
    ok("edit", identifier, "The parser is written in C")
    ok("edit", identifier, "--no-pin")
    ok("config", "unset", "chunk_size")
    assert before == bytes_of(ROOT)
    ok("export", "arrays", str(tmp_path / "arrays"))
    os.mkdir(tmp_path / "again")
    os.chdir(tmp_path / "again")
    ok("init", "--name", "Phoenix", "--track-conversations")
    ok("import", "arrays", str(tmp_path / "arrays"))
    assert before == bytes_of(ROOT)


def test_init_writes_what_git_needs_and_keeps_local_edits() -> None:
    git("init", "--quiet")
    ok("init")
    names = {name for name in os.listdir(ROOT) if os.path.isfile(f"{ROOT}/{name}")}
    assert {".gitignore", ".gitattributes", "README.md", "config.toml"} == names
    for name in names:
        with open(f"{ROOT}/{name}", "a", encoding="utf-8") as file:
            file.write("# ours\n")
    before = bytes_of(ROOT)
    ok("init")
    assert before == bytes_of(ROOT)
    ok("init", "--track-conversations")
    after = bytes_of(ROOT)
    assert after[".gitignore"].endswith(b"# ours\n")
    assert b"conversations" not in after[".gitignore"].replace(b"--track-conversations", b"")
    assert {**before, ".gitignore": b""} == {**after, ".gitignore": b""}
    ok("init", "--name", "Phoenix")
    assert b"# ours" in bytes_of(ROOT)["config.toml"]
    assert b"Phoenix" in bytes_of(ROOT)["config.toml"]


def test_a_temporary_file_is_never_offered_to_git() -> None:
    begin()
    for place in (".", "long-term-memory", "local"):
        with open(f"{ROOT}/{place}/.tmp-1-2", "w", encoding="utf-8") as file:
            file.write("half")
    assert git("status", "--porcelain", "--untracked-files=all") == ""


def test_line_ends_survive_a_checkout_that_would_change_them(tmp_path: Path) -> None:
    begin()
    before = {name: data for name, data in bytes_of(ROOT).items() if "conversation" not in name}
    git("clone", "--quiet", "--config", "core.autocrlf=true", ".", str(tmp_path / "clone"))
    after = bytes_of(str(tmp_path / "clone" / ROOT))
    for name, data in before.items():
        if name.endswith((".json", ".toml")):
            assert data == after[name], name
