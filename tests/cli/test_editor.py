"""Writing in an editor, as people at a terminal do."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell, pmem
from tests.cli.terminal import Terminal, shell_with_editor

EDITOR = """cp "$1" seen.txt; stat -c %a "$1" > mode.txt
[ -z "$EDIT" ] || { printf "%s\\n" "$EDIT"; cat "$1"; } > new && cat new > "$1"
exit ${FAIL:-0}"""
"""An editor that writes what EDIT says."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a memory, and a place for drafts."""
    (tmp_path / "drafts").mkdir()
    assert Shell(str(tmp_path)).run("pmem init --no-git").code == 0
    return tmp_path


@pytest.fixture
def typist(project: Path) -> Iterator[Terminal]:
    with shell_with_editor(project, EDITOR, TMPDIR=str(project / "drafts")) as shell:
        yield shell


def test_add_without_a_text_opens_the_editor(typist: Terminal, project: Path) -> None:
    said = typist.run("EDIT='We deploy on Mondays' pmem add --type constraint")
    assert "added" in said
    assert "We deploy on Mondays" in said
    assert "=0=" in said
    assert (project / "mode.txt").read_text() == "600\n"
    assert not os.listdir(project / "drafts")


def test_nothing_written_is_nothing_added(typist: Terminal, project: Path) -> None:
    said = typist.run("pmem add")
    assert "the text is empty, so nothing was changed" in said
    assert "=3=" in said
    assert not os.listdir(project / "drafts")


def test_edit_starts_with_what_the_memory_says(typist: Terminal, project: Path) -> None:
    said = typist.run("pmem add 'Tests run on two cores'")
    found = re.search(r"added (\w+)", said)
    assert found
    assert "edited" in typist.run(f"EDIT='On four cores now.' pmem edit {found[1]}")
    assert (project / "seen.txt").read_text().startswith("Tests run on two cores\n")
    assert "On four cores now. Tests run on two cores" in typist.run("pmem list")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("FAIL=1 EDIT='A text to keep' pmem add", "failed"),
        ("EDIT='A text to keep' pmem add --importance 7", "importance"),
        ("EDIT='A text to keep' pmem --read-only add", "read-only"),
    ],
)
def test_what_was_written_is_never_lost(
    typist: Terminal, project: Path, line: str, why: str
) -> None:
    said = typist.run(line)
    assert why in said
    (draft,) = os.listdir(project / "drafts")
    assert f"your text is in {project}/drafts/{draft}" in said.replace("\n", "")
    assert (project / "drafts" / draft).read_text().startswith("A text to keep\n")


def test_a_suggestion_keeps_the_text_as_well(typist: Terminal, project: Path) -> None:
    typist.run("pmem add 'We use PostgreSQL' --subject database")
    said = typist.run("EDIT='We use MySQL' pmem add --subject database")
    assert "=9=" in said
    (draft,) = os.listdir(project / "drafts")
    assert draft in said


def test_without_a_terminal_nobody_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    pmem("init", "--no-git")
    assert pmem("add").code == 2
    assert pmem("add", "--json").code == 2
