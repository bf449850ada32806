"""What `pmem undo` says: the command's own words, what it undid, and what text is left."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import data_of, pmem
from tests.git.branches import ok as git

NAME = "Jane Miller of Acme"


def commit_all() -> None:
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message", "x")


def texts_on_disk() -> list[str]:
    """Return the files of the memory, git's and the clone's own aside, that hold the name."""
    files = [path for path in Path(".project-memory").rglob("*.json") if "local" not in path.parts]
    return [str(path) for path in files if NAME in path.read_text(encoding="utf-8")]


@pytest.fixture
def repository(project: str) -> None:
    git("init", "--quiet")
    Path("batch.jsonl").write_text(f'{{"content": "{NAME} called twice"}}\n', encoding="utf-8")
    commit_all()


ADDED: dict[str, Callable[[], object]] = {
    "add": lambda: pmem("add", f"{NAME} complained about the price"),
    "tried": lambda: pmem("tried", "Call the firm", "--failed", f"{NAME} hung up"),
    "episode": lambda: pmem("episode", "add", f"{NAME} left", "--title", "A loss"),
    "batch": lambda: pmem("add", "--batch", "batch.jsonl"),
}


@pytest.mark.parametrize("way", ADDED)
@pytest.mark.usefixtures("repository")
def test_a_text_that_no_commit_has_is_gone_for_good_once_its_command_is_undone(way: str) -> None:
    ADDED[way]()
    assert texts_on_disk()
    done = pmem("undo")
    assert "    deleted (that command added it)" in done.text
    assert done.said == ""
    assert texts_on_disk() == []
    commit_all()
    assert NAME not in git("log", "--all", "--patch", "--", ".project-memory")
    assert pmem("undo").said.startswith("pmem: this clone can undo no command")


@pytest.mark.usefixtures("repository")
def test_a_text_that_is_staged_is_named_with_what_unstages_it() -> None:
    ADDED["add"]()
    git("add", "--all")
    told = pmem("undo").said
    command = told.partition("`")[2].partition("`")[0]
    assert told.startswith("git has the text staged: `git rm --cached ")
    git(*command.split()[1:])
    git("commit", "--quiet", "--allow-empty", "--message", "x")
    assert NAME not in git("log", "--all", "--patch", "--", ".project-memory")


@pytest.mark.usefixtures("repository")
def test_a_text_that_a_commit_has_is_left_and_named_with_what_deletes_it() -> None:
    ADDED["add"]()
    commit_all()
    done = pmem("undo")
    assert "    removed (that command added it)" in done.text
    memory = done.text.splitlines()[1].split()[0]
    assert (
        f"`pmem purge {memory}`, or `pmem consolidate` after `purge_days`; git keeps" in done.said
    )
    assert pmem("restore", memory).code == 0


@pytest.mark.usefixtures("repository")
def test_rm_and_the_undo_of_an_edit_name_what_deletes_the_text() -> None:
    memory = pmem("add", "A customer complained about the price").text.split()[1]
    assert pmem("edit", memory, f"{NAME} complained about the price").code == 0
    done = pmem("undo")
    assert f"stays in the history: `pmem purge --force {memory}`" in done.said
    assert texts_on_disk()
    assert f"the text stays on disk until `pmem purge {memory}`" in pmem("rm", memory).said
    assert pmem("purge", memory).code == 0
    assert texts_on_disk() == []


def test_undo_of_a_large_batch_tells_some_of_it_and_how_many_there_were(project: str) -> None:
    lines = "".join(f"Queue {number} is for parcels.\n" for number in range(25))
    assert pmem("add", "-", "--each-line", "--force", stdin=lines.encode()).code == 0
    told = pmem("undo").text.splitlines()
    assert told[0].startswith("undid: add, ")
    assert told[-1] == "  and 5 more; --json has them all"
    assert len([line for line in told if line.endswith("is for parcels.")]) == 20
    assert pmem("list").text == ""


def test_undo_names_commands_as_they_are_typed(project: str) -> None:
    for words in (("conversation", "start", "Queues"), ("conversation", "pause")):
        assert pmem(*words).code == 0
    assert pmem("undo").text.startswith("undid: conversation pause, ")
    Path("queue.py").write_text("PREFETCH = 50\n", encoding="utf-8")
    memory = pmem("add", "It takes 50", "--cite", "queue.py:1").text.split()[1]
    Path("queue.py").write_text("LIMIT = 7\n", encoding="utf-8")
    assert pmem("check", "--accept", memory).code == 0
    assert pmem("undo").text.startswith("undid: check --accept, ")
    assert pmem("edit", memory, "It takes 40", "--supersede").code == 0
    assert pmem("undo").text.startswith("undid: edit --supersede, ")


def test_undo_names_what_decided_a_fact(project: str) -> None:
    assert pmem("conversation", "start").code == 0
    said = "We should use RabbitMQ because it routes by topic."
    assert pmem("conversation", "say", said).code == 0
    for verb in ("accept", "reject"):
        fact = pmem("inbox", "facts").text.split()[0]
        assert pmem("inbox", verb, fact).code == 0
        assert pmem("undo").text.startswith(f"undid: inbox {verb}, ")


def added(*words: str) -> str:
    return pmem("add", *words).text.split()[1]


def test_what_saves_only_recalls_is_nothing_to_undo(project: str) -> None:
    memory = added("The shop closes at six")
    pmem("edit", memory, "The shop closes at seven")
    pmem("show", memory)
    pmem("search", "when does the shop close")
    assert pmem("consolidate").code == 0
    assert pmem("undo", memory).text.startswith("undid: edit, ")
    assert pmem("undo").text.startswith("undid: add, ")


def test_undo_says_how_many_commands_it_can_undo(project: str) -> None:
    pmem("conversation", "start")
    said = data_of("conversation", "say", "Hello there")
    added("The shop closes at six")
    pmem("conversation", "rm", said["message"]["id"])
    added("The shop opens at nine")
    added("The door is green")
    (most,) = re.findall(r"only the last (\d+)", pmem("undo", "99").said)
    assert pmem("undo", most, "--dry-run").code == 0
    assert pmem("undo", str(int(most) + 1), "--dry-run").code == 3


def test_what_an_event_did_reads_the_same_after_later_events(project: str) -> None:
    old, new = added("The shop closes at six"), added("The bakery closes at eight")
    told: dict[tuple[str, int], object] = {}
    for words in (
        ("edit", old, "--superseded-by", new),
        ("undo",),
        ("edit", new, "--link", f"{old}:depends_on"),
        ("edit", new, "--link", old),
        ("edit", new, "--unlink", f"{old}:depends_on"),
        ("undo",),
        ("undo",),
        ("edit", new, "--link", f"{old}:updates"),
    ):
        assert pmem(*words).code == 0
        events = data_of("log", "--limit", "99")["items"]
        now = {(event["id"], event["place"]): event for event in events}
        assert {place: now[place] for place in told} == told
        told = now
