"""What `context --explain` says of a memory is so, as its reader can see."""

from pathlib import Path

import pytest

from tests.cli.shell import pmem

BUOYS = [
    f"Buoy {n} off pier {n + 20} weighs {n * 7} kilos, and its lamp flashes {n + 3} times in white"
    for n in range(14)
]


def ok(*words: str) -> tuple[str, str]:
    done = pmem(*words)
    assert done.code == 0, done
    return done.text, done.said


def explained(*words: str) -> str:
    return " ".join(ok("context", *words, "--explain")[1].split())


@pytest.fixture
def harbour(root: str) -> None:
    ok("add", "Fog signals are tested on Mondays", "--type", "procedure")
    ok("add", "Publish the feed as JSON", "--type", "decision")
    for text in BUOYS:
        ok("add", text, "--force")


def test_a_rule_that_no_task_asks_for_names_the_word_it_stands_for(harbour: None) -> None:
    said = explained("paint the hull", "--budget", "250")
    assert 'a procedure of the whole project; has "tested" of context.standing' in said
    assert "for any change" not in said


def test_a_word_that_is_only_spelled_alike_is_no_form(harbour: None) -> None:
    ok("add", "The loop line carries freight")
    assert 'has "loop", spelled like "look"' in explained("look", "--budget", "300")


def test_without_a_task_nothing_is_left_out_for_its_words(harbour: None) -> None:
    said = explained("--budget", "60")
    assert "with the task" not in said
    assert "it is shown where it answers a task" in said


@pytest.mark.parametrize("budget", [60, 80])
def test_a_pinned_memory_is_shown_wherever_it_fits(root: str, budget: int) -> None:
    ok("add", "Sails are stored dry", "--importance", "0.95")
    ok("add", "Ropes are stored wet", "--pin")
    text, said = ok("context", "unrelated zebra", "--budget", str(budget))
    assert "Ropes are stored wet" in text
    assert "does not fit" not in said


def test_a_cited_file_and_a_cited_name_are_told_as_cited(root: str) -> None:
    Path("g.py").write_text("GATE_LIMIT = 4\n", encoding="utf-8")
    ok("add", "Winches need oil", "--cite", "g.py::GATE_LIMIT=4")
    for text in BUOYS:
        ok("add", text, "--force")
    assert "it cites g.py" in explained("zebra", "--path", "g.py", "--budget", "100")
    assert "it cites GATE_LIMIT" in explained("raise GATE_LIMIT", "--budget", "100")


@pytest.mark.usefixtures("root")
def test_all_that_is_left_out_says_how_it_begins() -> None:
    ok("conversation", "start", "Talk")
    for n in range(14):
        ok("conversation", "say", f"We moved the zebra {n} to the other gate")
    ok("episode", "add", "The zebra broke the gate at night", "--title", "Gate")
    ok("add", "The zebra is fed at noon")
    told = ok("context", "the zebra", "--budget", "80", "--explain")[1]
    _, _, left_out = told.partition("left out: ")
    lines = [line.split("  ") for line in left_out.splitlines() if line.startswith("  ")]
    assert len(lines) > 3
    assert [line for line in lines if len(list(filter(None, line))) < 3] == []
