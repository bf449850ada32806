"""Sentences that commands say hold: of where a text is, of what was done, of what to do next."""

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmem.core.operations import command_of
from pmem.operations import table
from pmem.operations.operation import Operation
from tests.cli.shell import data_of, pmem
from tests.git.branches import ok


@pytest.mark.parametrize("above", [0, 2])
@pytest.mark.parametrize("lines", ["3", "3-4"])
def test_why_says_where_the_cited_text_is_now(project: str, above: int, lines: str) -> None:
    text = "".join(f"item {number}\n" for number in range(1, 7))
    Path("stock.txt").write_text(text, encoding="utf-8")
    pmem("add", "Item three is sold out", "--cite", f"stock.txt:{lines}")
    Path("stock.txt").write_text("new\n" * above + text, encoding="utf-8")
    now = "-".join(str(int(line) + above) for line in lines.split("-"))
    moved = f" (cited as stock.txt:{lines})" if above else ""
    for asked in ("stock.txt", f"stock.txt:{3 + above}"):
        assert f"verified: stock.txt:{now} unchanged{moved}\n" in pmem("why", asked).text
    gone = pmem("why", "stock.txt:1").said
    assert gone == "no memory applies to stock.txt:1 or cites what is there\n"


def test_a_name_with_underscores_stays_as_it_was_typed(project: str) -> None:
    assert project
    names = ("src/my_file.py", "my_tag")
    made = data_of("add", "Retries are 3")["memory"]["id"]
    pmem("edit", made, "--for", names[0], "--add-tag", names[1])
    for command in ("show", "log"):
        assert [name for name in names if name not in pmem(command, made).text] == []


SETUPS = ("git", "pre-commit", "completion bash", "rules agents-md", "claude-code", "agents-md")


@pytest.mark.parametrize("what", SETUPS)
def test_a_setup_says_removed_only_of_what_was_there(
    project: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("init", "--quiet")
    monkeypatch.setenv("HOME", os.getcwd())
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    told = []
    for words in ((), ("--remove",), ("--remove",)):
        done = pmem("setup", *what.split(), *words)
        assert done.code == 0
        told.append({line.split()[0] for line in done.text.splitlines()} - {"kept"})
    assert told[1:] == [{"removed"}, {"not"}]


WAYS_OUT = {
    "active": (),
    "superseded": ("edit", "{}", "The queue takes nothing", "--supersede"),
    "ended": ("edit", "{}", "--valid-until", "2026-11-21T14:29:00Z"),
    "removed": ("rm", "{}"),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_an_outcome_says_to_do_next_can_be_done(project: str, way: str) -> None:
    options = ("--type", "decision", "--valid-from", "2026-11-20")
    memory = pmem("add", "The queue takes all", *options).text.split()[1]
    if WAYS_OUT[way]:
        assert pmem(*(word.format(memory) for word in WAYS_OUT[way])).code == 0
    done = pmem("outcome", memory, "bad", "It lost some")
    hint = re.search("`pmem ([^`]*)`", done.said)
    assert bool(hint) == (way == "active")
    if hint:
        words = hint[1].replace("TEXT", "'The queue takes half'")
        assert pmem(*shlex.split(words)).code == 0


@pytest.mark.parametrize("ask", ["edit", "rm", "add"])
def test_an_agent_that_asks_again_is_named_no_command_that_fails(project: str, ask: str) -> None:
    memory = pmem("add", "The queue takes all").text.split()[1]
    words = {
        "edit": ("edit", memory, "The queue takes half"),
        "rm": ("rm", memory),
        "add": ("add", "The user's birthday is on 3 May 1990"),
    }[ask]
    for rejects in (True, False):
        said = pmem(*words, environment={"PMEM_AGENT": "bot"}).said
        named = re.findall("`pmem ([^`]*)`", said)
        assert len(named) == int(rejects), said
        if rejects:
            assert pmem(*named[0].replace("accept", "reject").split()).code == 0


@pytest.mark.parametrize(
    "words", ["say Hello", "prune --keep 1", "mark {} --pin", "rm {}", "config", "setup"]
)
def test_what_the_page_on_undo_says_cannot_be_undone_cannot(project: str, words: str) -> None:
    pmem("config", "set", "min_recent_messages", "1")
    pmem("conversation", "start", "Ovens")
    for text in ("The oven is on", "The oven is off"):
        pmem("conversation", "say", text)
    talk = data_of("conversation", "show")["messages"]
    lines = {
        "config": "config set min_recent_messages 2",
        "setup": "setup agents-md",
    }
    line = lines.get(words, f"conversation {words.format(talk[0]['id'])}")
    assert pmem(*line.split()).code == 0
    done = pmem("undo")
    assert (done.code, done.out) == (3, b"")
    assert "cannot be undone" in done.said


def first_words(*words: str) -> list[str]:
    done = pmem(*words)
    assert done.code == 0, done
    return [line.split("  ")[0].rsplit(" ", 1)[0] for line in done.text.splitlines()]


@pytest.mark.parametrize(
    "words", [("The queue takes all",), ("--type", "fact"), ("--importance", "0.5"), ("--no-pin",)]
)
def test_an_edit_that_changes_nothing_says_so(project: str, words: tuple[str, ...]) -> None:
    memory = pmem("add", "The queue takes all").text.split()[1]
    (word,) = first_words("edit", memory, *words)
    assert word in ("unchanged", "was not pinned")
    assert first_words("edit", memory, "The queue takes half") == ["edited"]
    assert first_words("edit", memory, "--link", link(memory)) == ["edited", ""]


def link(memory: str) -> str:
    return pmem("add", f"Beside {memory} there is a second one").text.split()[1]


def test_rm_says_removed_once_of_each(project: str) -> None:
    one, other = (pmem("add", text).text.split()[1] for text in ("Apples are red", "Pears go"))
    assert first_words("rm", one, one) == ["removed"]
    assert first_words("rm", one, other, one) == ["was removed", "removed"]
    assert first_words("rm", other) == ["was removed"]


def test_uses_that_are_not_saved_are_counted_of_the_records_that_were_used(project: str) -> None:
    for text in ("Cats eat fish", "Rent is due on Monday", "Ben plays chess", "Paris has rain"):
        pmem("add", text, "--importance", "0.95")
    pmem("context", "what do cats eat")
    pmem("show", pmem("list").text.split()[0])
    told = re.search(r"(\d+) uses? of (\d+) records?", pmem("check", "setup").text)
    assert told
    uses, records = map(int, told.groups())
    assert records <= uses < 4


def test_purge_names_what_still_has_the_words_of_a_conversation(project: str) -> None:
    talk = pmem("conversation", "start").text.split()[1]
    said = pmem("conversation", "say", "We decided to use Redis, because it is fast").said
    learned = set(re.findall("(?:remembered as|episode) ([0-9a-z]{8})", said))
    assert len(learned) == 2
    hint = re.search("`pmem ([^`]*)`", pmem("purge", "--force", talk).said)
    assert hint
    assert set(shlex.split(hint[1])) == {"purge", "--force", *learned}
    again = pmem(*shlex.split(hint[1]))
    assert (again.code, again.said) == (0, "")
    assert not with_the_words()


def with_the_words() -> list[Path]:
    return [each for each in Path(".project-memory").rglob("*.json") if "Redis" in each.read_text()]


def test_purge_names_the_message_that_a_memory_was_learned_of(project: str) -> None:
    pmem("config", "set", "detect_episodes", "false")
    pmem("conversation", "start")
    said = pmem("conversation", "say", "We decided to use Redis, because it is fast").said
    memory = re.search("remembered as (\\w+)", said)
    assert memory
    hint = re.search("`pmem ([^`]*)`", pmem("purge", "--force", memory[1]).said)
    assert hint
    assert with_the_words()
    assert pmem(*shlex.split(hint[1])).code == 0
    assert not with_the_words()


def _be_damaged() -> None:
    memory = pmem("add", "The queue takes all").text.split()[1]
    (file,) = Path(".project-memory").rglob(f"*{memory}.json")
    file.write_text("{", encoding="utf-8")


def _be_replaced_on_two_branches() -> None:
    memory = pmem("add", "The queue takes all").text.split()[1]
    (file,) = Path(".project-memory").rglob(f"*{memory}.json")
    kept = file.read_bytes()
    pmem("edit", memory, "The queue takes apples", "--supersede")
    theirs = json.loads(file.read_bytes())["history"]
    file.write_bytes(kept)
    pmem("edit", memory, "Bread is baked at noon", "--supersede")
    ours = json.loads(file.read_bytes())
    ours["history"] += theirs[1:]
    file.write_text(json.dumps(ours), encoding="utf-8")


@pytest.mark.parametrize("make", [_be_damaged, _be_replaced_on_two_branches])
def test_stats_and_the_inbox_name_the_same_needs(project: str, make: Callable[[], None]) -> None:
    make()
    (need,) = data_of("stats")["needs"]
    assert (need["count"], need["command"]) == (1, "pmem check")
    found = pmem("inbox")
    assert f"; 1 {need['what']}: `pmem check`\n" in found.said
    assert pmem("check").code == 1


def test_the_title_of_a_range_counts_what_its_sections_list(project: str) -> None:
    for name in ("One", "Two", "Three", "Four"):
        pmem("add", f"{name} is a number")
    ids = [line.split()[0] for line in pmem("list").text.splitlines()]
    ok("init", "--quiet")
    ok("add", ".")
    ok("commit", "--quiet", "--message", "first")
    pmem("edit", ids[0], "Apples are red", "--supersede")
    pmem("edit", ids[1], "--pin", "--tag", "math")
    pmem("rm", ids[2])
    pmem("add", "Pears go off")
    page = pmem("log", "HEAD..", "--format", "markdown").text
    sections = [f"{n} {name.lower()}" for name, n in re.findall(r"### (\w+) \((\d+)\)", page)]
    assert page.startswith(f"## Memory: {', '.join(sections)}\n")
    assert len(sections) == 4


def test_what_stands_outside_chunks_is_not_told_to_be_all_that_contexts_show(project: str) -> None:
    pmem("conversation", "start", "Ovens")
    for number in range(30):
        pmem("conversation", "say", f"Tray {number} is in")
    shown = pmem("context", "trays").text
    told = pmem("conversation", "stats").text
    pruned = pmem("conversation", "prune", "--keep", "12").said
    assert "Tray 0 " in shown
    assert "30 (20 outside chunks, 10 in chunks)" in told
    assert not re.search("in context|shown", told)
    assert pruned.startswith("12 messages outside chunks stay")


def test_show_names_who_added_a_record_and_who_last_edited_it(project: str) -> None:
    def authors() -> list[str]:
        return re.findall("(?:written|changed) .* by (.*)", pmem("show", memory).text)

    memory = pmem("add", "The queue takes all").text.split()[1]
    assert authors() == ["ada"]
    pmem("edit", memory, "The queue takes half", environment={"PMEM_ACTOR": "ben"})
    assert authors() == ["ada", "ben"]
    pmem("edit", memory, "The queue takes a third")
    assert authors() == ["ada", "ada"]


def test_stats_calls_active_what_is_not_valid_now(project: str) -> None:
    pmem("add", "The queue takes all", "--valid-from", "2026-12-01")
    pmem(
        "add",
        "Apples are red",
        "--valid-from",
        "2026-11-20",
        "--valid-until",
        "2026-11-21T14:29:00Z",
    )
    told = pmem("stats").text
    assert "2 active" in told
    assert "current" not in told


def test_stats_tells_ages_by_days_and_not_by_the_calendar(project: str) -> None:
    pmem("add", "The queue takes all", "--now", "2026-11-15T10:00:00Z")
    told = re.search("by age +(.*)", pmem("stats", "--now", "2026-11-21T14:30:00Z").text)
    assert told
    assert told[1] == "up to 7 days 1"


def test_the_figures_of_a_report_say_of_which_memories_they_are(project: str) -> None:
    one, other = (pmem("add", text).text.split()[1] for text in ("Apples are red", "Pears go"))
    pmem("episode", "add", "The oven broke")
    pmem("rm", one)
    pmem("edit", other, "Pears go off")
    assert pmem("report", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    figures = dict(re.findall("<dt>(.*?)</dt>\\s*<dd>(.*?)</dd>", page))
    assert (figures["new this week"], figures["remembered"]) == ("1", "1")
    assert figures["older ones changed"] == figures["older ones forgotten"] == "0"


OPERATIONS = [
    each
    for each in vars(table).values()
    if isinstance(each, Operation) and (each.writes == "records" or each.is_final)
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_undo_names_commands_that_there_are(operation: Operation[Any, Any]) -> None:
    words = command_of(operation.name).split(" --")[0].split()
    assert pmem(*words, "--help").code == 0


def test_an_agent_is_shown_what_agents_kept_for_themselves_as_the_page_says(project: str) -> None:
    """See docs/agents.md."""
    assert project
    pmem("--agent", "planner", "add", "The oven is hot")
    pmem("add", "The oven door sticks", "--agent", "planner")
    for words in (["list"], ["search", "oven"], ["log"], ["context", "oven"]):
        told = pmem(*words, "--agent", "planner").text
        assert ("is hot" in told, "sticks" in told) == (False, True), words
    assert len(pmem("list", "--by", "planner").text.splitlines()) == 2


def test_a_resumed_conversation_that_is_not_the_current_one_says_which_is(project: str) -> None:
    assert project
    one, two = (pmem("conversation", "start", name).text.split()[1] for name in ("One", "Two"))
    assert pmem("conversation", "pause", one).code == 0
    told = pmem("conversation", "resume", one)
    assert told.said.startswith(f"{two} was started later and stays the current one: ")
    hint = re.search("`pmem ([^`]*)`", told.said)
    assert hint
    assert pmem(*shlex.split(hint[1])).code == 0
    assert "TEXT" in pmem("conversation", "show", one).text
    assert pmem("conversation", "pause", two).code == 0
    assert pmem("conversation", "resume", two).said == ""


def test_a_history_names_an_undone_command_by_the_moment_of_its_version(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project
    monkeypatch.delenv("PMEM_NOW")
    memory = pmem("add", "Sails are red").text.split()[1]
    pmem("edit", memory, "Sails are blue")
    pmem("undo")
    versions = pmem("log", memory, "--versions").text.splitlines()
    assert f"undo: `edit` of {versions[1].split()[1]}\n" in pmem("log", memory).text
