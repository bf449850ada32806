"""Instruction files: each rule becomes a memory, and the memory follows its rule."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.conversation.note_files import NoteFile, note_files
from pmem.conversation.notes import NotesImported, NotesRequest
from pmem.core.lines import split_lines
from pmem.errors import InvalidValue
from pmem.interchange import Skipped
from pmem.interchange.notes import Note, read_notes
from pmem.memory.citations import VerifyRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from tests.asking import ask

RULES = """\
# Rules

## Code style

- Use tabs, never spaces.
- Name tests as sentences:
  they tell a story.
  - helpers as well
1. Run `make check` before every commit.
"""
KEY = "AKIA" + "Q7RT2XMP4LZN6WVB"


def take(workspace: Workspace, text: str, name: str = "AGENTS.md") -> NotesImported:
    project = os.path.dirname(workspace.root)
    Path(project, name).parent.mkdir(exist_ok=True)
    Path(project, name).write_text(text, encoding="utf-8")
    request = NotesRequest(paths=(os.path.join(project, name),))
    return ask(workspace, table.IMPORT_NOTES, request)


def notes_of(text: str) -> tuple[Note, ...]:
    return read_notes("AGENTS.md", text).notes


def kept(workspace: Workspace) -> list[str]:
    return sorted(one.content for one in workspace.memories.find() if one.state == "active")


def test_a_bullet_with_all_below_it_is_one_note() -> None:
    assert [note.text for note in notes_of(RULES)] == [
        "Use tabs, never spaces.",
        "Name tests as sentences: they tell a story. helpers as well",
        "Run `make check` before every commit.",
    ]
    assert [note.lines for note in notes_of(RULES)] == [(5, 5), (6, 8), (9, 9)]


def test_the_headings_above_a_bullet_are_its_tags() -> None:
    text = "# A\n## B & C\n- one\n# D\n- two\n"
    assert [note.tags for note in notes_of(text)] == [("a", "b-c"), ("d",)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n- code\n```\n",
        "~~~sh\n- code\n```\n~~~\n",
        "<!-- BEGIN BEADS INTEGRATION -->\n- theirs\n<!-- END BEADS INTEGRATION -->\n",
        "<!-- BEGIN PMEM v1 -->\n- ours\n<!-- END PMEM -->\n",
        "<!--\n- hidden\n-->\n",
        "---\nglobs:\n- src/**\n---\n",
        "- [ ] a task\n- [x] a task that is done\n",
        "- @docs/more.md\n",
        "This is a paragraph alone.\n\n",
    ],
)
def test_what_is_no_note_is_left_out(text: str) -> None:
    assert notes_of(text) == ()
    assert [note.text for note in notes_of(text + "\n- kept\n")] == ["kept"]


@given(st.text(alphabet="-* #`~<>!\n\tabc1.[]@"))
def test_any_text_has_notes_in_the_order_of_its_lines(text: str) -> None:
    notes = list(notes_of(text))
    count = len(split_lines(text))
    places = [place for note in notes for place in note.lines]
    assert places == sorted(places)
    assert all(1 <= place <= count for place in places)
    assert all(note.text == " ".join(note.text.split()) for note in notes)


def test_notes_become_memories_that_cite_their_lines(workspace: Workspace) -> None:
    done = take(workspace, RULES)
    assert (done.added, done.archived) == (3, 0)
    first = next(one for one in workspace.memories.find() if "tabs" in one.content)
    assert set(first.tags) == {"rules", "code-style"}
    assert (first.source.kind, first.source.file) == ("notes", "AGENTS.md")
    assert first.type == "constraint"
    verified = ask(workspace, table.VERIFY, VerifyRequest())
    assert verified.items == ()


def test_a_second_run_adds_nothing(workspace: Workspace) -> None:
    take(workspace, RULES)
    done = take(workspace, RULES)
    assert (done.added, done.updated, done.unchanged) == (0, 0, 3)


def test_a_bullet_that_changed_changes_its_memory_and_its_citation(workspace: Workspace) -> None:
    take(workspace, RULES)
    changed = RULES.replace("before every commit", "before every single commit")
    done = take(workspace, changed.replace("# Rules\n", "# Rules\n\nNew.\n"))
    assert (done.added, done.updated, done.unchanged) == (0, 1, 2)
    (memory,) = [one for one in workspace.memories.find() if "single" in one.content]
    assert [one.lines for one in memory.citations] == [(11, 11)]
    assert len(memory.history) == 2


def test_a_bullet_that_says_what_is_known_adds_nothing(workspace: Workspace) -> None:
    take(workspace, "- Use tabs, never spaces.\n", "CLAUDE.md")
    done = take(workspace, "- Use tabs, never spaces.\n")
    assert (done.added, done.unchanged) == (0, 1)


def test_a_bullet_with_a_secret_is_skipped(workspace: Workspace) -> None:
    done = take(workspace, f"- The key is {KEY}\n- Use tabs.\n")
    assert (done.added, len(done.skipped)) == (1, 1)
    assert KEY not in str(done)


def files_of(workspace: Workspace, path: Path) -> list[NoteFile]:
    skipped: list[Skipped] = []
    return list(note_files(workspace, [str(path)], lambda _: True, skipped))


def test_a_folder_of_rules_is_read_file_by_file(workspace: Workspace) -> None:
    rules = Path(workspace.root).parent / "rules"
    rules.mkdir()
    for name in ("b.mdc", "a.md", "c.txt"):
        (rules / name).write_text(f"- {name}\n")
    assert [one.file for one in files_of(workspace, rules)] == ["rules/a.md", "rules/b.mdc"]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("missing.md", None, "there is no file"),
        ("latin.md", b"- caf\xe9\n", "is not UTF-8"),
        ("../outside.md", b"- x\n", "outside"),
    ],
)
def test_a_file_that_is_none_is_named(
    workspace: Workspace, name: str, data: bytes | None, sentence: str
) -> None:
    path = Path(workspace.root).parent / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InvalidValue, match=sentence):
        files_of(workspace, path)


def test_a_file_without_bullets_is_named(workspace: Workspace) -> None:
    with pytest.raises(InvalidValue, match="has no lists"):
        take(workspace, "This page is prose.\n")
