"""Going through the inbox at a terminal, one key each."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell, pmem
from tests.cli.terminal import READY, Terminal, shell_with_editor

BEGINNING = (
    "pmem init --no-git",
    "pmem add 'We use MySQL' --subject database",
    "pmem add 'We use PostgreSQL' --subject database --force",
    "pmem add 'Ten seats' --type decision --review 2020-01-01",
    "pmem add 'The beta runs' --valid-from 2020-01-01 --valid-until 2020-02-02",
    "pmem conversation start Talk",
    "pmem conversation say 'I think we prefer tabs in the parser'",
)


@pytest.fixture
def typist(tmp_path: Path) -> Iterator[Terminal]:
    """A shell in a folder with a memory, and an editor that puts a word before each text."""
    begin = Shell(str(tmp_path))
    for line in BEGINNING:
        assert begin.run(line).code == 0, line
    with shell_with_editor(tmp_path, 'sed -i "1s/^/Surely: /" "$1"') as shell:
        yield shell


def pressed(shell: Terminal, key: str) -> str:
    shell.type(key)
    return shell.wait_for("> ")


def test_each_item_is_settled_by_one_key_and_undo_takes_it_back(typist: Terminal) -> None:
    shown = typist.run("pmem inbox", "> ")
    assert "1 of 4  fact" in shown
    assert "The user thinks we prefer tabs in the parser" in shown
    assert "[k] promote it to a memory" in shown
    assert "[s] skip it   [q] quit" in shown
    shown = pressed(typist, "k")
    assert "promoted" in shown
    assert "2 of 4  subject" in shown
    assert "[n] keep only the newer one" in shown
    shown = pressed(typist, "n")
    assert "3 of 4  due" in shown
    shown = pressed(typist, "s")
    assert "4 of 4  expired" in shown
    typist.type("r")
    said = typist.wait_for(READY)
    assert "removed" in said
    assert "3 settled, 1 left; `pmem undo` takes the last one back" in said
    assert "=0=" in said
    assert "The beta runs" not in typist.run("pmem list --all-states 2>&1 | grep -v deleted")
    assert "undid: rm" in typist.run("pmem undo")
    assert "The beta runs" in typist.run("pmem list")
    assert "undid: edit --superseded-by, just now" in typist.run("pmem undo")
    assert "undid: inbox accept, just now" in typist.run("pmem undo")
    left = typist.run("pmem inbox --list | cut -c1-14")
    assert re.findall(r"^[a-z]+", left, re.MULTILINE) == ["fact", "subject", "due", "expired"]


def test_a_look_and_a_slip_settle_nothing(typist: Terminal) -> None:
    typist.run("pmem inbox --kind due", "> ")
    shown = pressed(typist, "v")
    assert "recalled   never" in shown
    assert "[k] it is still right" in shown.partition("recalled")[2]
    assert "u undoes what the last key did" in pressed(typist, "?")
    assert "press one of k, l, g, b, e, r, v, s, q, ?" in pressed(typist, "x")
    assert "press one of" in pressed(typist, "\x1b[A")
    typist.type("q")
    said = typist.wait_for(READY)
    assert "0 settled, 1 left" in said
    assert "undo" not in said


def test_u_takes_back_what_the_last_key_did_and_shows_it_again(typist: Terminal) -> None:
    typist.run("pmem inbox --kind fact --kind expired", "> ")
    assert "press one of" in pressed(typist, "u")
    assert "2 of 2  expired" in pressed(typist, "k")
    shown = pressed(typist, "u")
    assert "undid: inbox accept" in shown
    assert "1 of 2  fact" in shown
    typist.type("q")
    assert "0 settled, 2 left" in typist.wait_for(READY)


def test_e_opens_the_editor(typist: Terminal) -> None:
    typist.run("pmem inbox --kind fact --kind expired", "> ")
    shown = pressed(typist, "e")
    assert "Surely: The user thinks we prefer tabs in the parser" in shown
    typist.type("e")
    assert "{+Surely:+} The beta runs" in typist.wait_for(READY)


def test_an_editor_that_fails_leaves_a_fact_pending(typist: Terminal) -> None:
    typist.run("EDITOR=false pmem inbox --kind fact", "> ")
    assert "the editor false failed" in pressed(typist, "e")
    typist.type("q")
    assert "0 settled, 1 left" in typist.wait_for(READY)
    assert "tabs in the parser" in typist.run("pmem inbox facts")


def test_a_fact_whose_text_stays_as_it_is_is_promoted_and_that_is_said(typist: Terminal) -> None:
    typist.run("EDITOR=true pmem inbox --kind fact", "> ")
    typist.type("e")
    assert "\nunchanged " in typist.wait_for(READY)


def test_what_is_refused_leaves_the_item_where_it_is(typist: Terminal) -> None:
    typist.run("EDITOR=false pmem inbox --kind due", "> ")
    assert "the editor false failed" in pressed(typist, "e")
    typist.type("g")
    assert "noted" in typist.wait_for(READY)


def test_the_end_of_the_keys_and_ctrl_c_leave_everything_as_it_is(typist: Terminal) -> None:
    typist.run("pmem inbox --kind due", "> ")
    typist.type("\x04")
    assert "0 settled, 1 left" in typist.wait_for(READY)
    typist.type("pmem inbox --kind due\n")
    typist.wait_for("> ")
    typist.settle()  # it waits for a key by now
    typist.type("\x03")
    typist.wait_for(READY)
    typist.type("echo code=$?\n")
    typist.wait_for("code=130")
    typist.settle()
    assert "due since 2020-01-01" in typist.run("pmem check due")


def test_what_one_key_settled_for_two_is_asked_once(typist: Terminal) -> None:
    typist.run("pmem add 'We use SQLite' --subject database --force")
    shown = typist.run("pmem inbox --kind subject", "> ")
    assert "1 of 2  subject" in shown
    typist.type("r")  # the one in the middle of the three
    shown = typist.wait_for("> ")
    assert "We use SQLite" in shown
    typist.type("k")
    assert "2 settled; nothing of that kind needs you" in typist.wait_for(READY)


def test_a_narrow_terminal_breaks_lines_between_words(typist: Terminal) -> None:
    shown = typist.run("stty cols 40; pmem inbox --kind subject", "> ")
    assert max(map(len, shown.splitlines())) <= 40
    assert "  [n] keep only the newer one\n" in shown
    typist.type("q")
    typist.wait_for(READY)


def test_a_pipe_a_quiet_one_and_json_ask_nothing(typist: Terminal) -> None:
    for rest in ("| cat", "--quiet", "--json", "--list"):
        said = typist.run(f"pmem inbox {rest}")
        assert "> " not in said
        assert "=0=" in said
        assert "We use PostgreSQL" in said


def test_an_empty_inbox_says_so(typist: Terminal) -> None:
    assert "nothing of that kind needs you\n" in typist.run("pmem inbox --kind contradiction")
    typist.run("rm -r .project-memory && pmem init --no-git")
    assert "nothing waits for your answer\n" in typist.run("pmem inbox")
    assert pmem("inbox", "--kind", "nothing").code == 2
