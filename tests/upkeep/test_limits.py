"""What can be written can be read, and what one record or request holds has a limit."""

from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import orjson
import pytest

from pmem import Project
from pmem.cli.session import CommandSession
from pmem.core import secrets
from pmem.core.context.writing import section
from pmem.core.findings import line_of_value
from pmem.core.queries import QueryRequest
from pmem.core.text.terms import fold
from pmem.errors import InvalidValue, PmemError, Refused
from pmem.operations import table
from pmem.project.masking import Mask
from pmem.project.workspace import Workspace
from pmem.values import bounds
from pmem.values.records import Event, EventKind
from pmem.values.rules import Secrets
from tests.asking import ask
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.hostile.projects import GOOD, OTHER, memory

SECRET = "hunter2" + "-Xy7z"  # in one piece it would be found here
EMOJI = "\N{SLIGHTLY SMILING FACE}" * 1_000_000


def project(**overrides: Any) -> Project:
    return Project(actor="tester", now=NOW, **overrides)


def sizes(root: str) -> list[int]:
    return [path.stat().st_size for path in Path(root).glob("*/*.json")]


def keep(root: str, record: str) -> None:
    folder = Path(root, "long-term-memory")
    folder.mkdir(exist_ok=True)
    name = OTHER if OTHER in record[:100] else GOOD
    Path(folder, f"{name}.json").write_text(record, encoding="utf-8")


def said(made: Project, reference: str | None = None) -> list[str]:
    return [message.content for message in made.transcript(reference).messages]


@pytest.mark.long
def test_every_message_within_the_limit_is_kept_and_read_again(root: str) -> None:
    made = project(extract_facts=False, detect_episodes=False)
    made.start_conversation("Smiles")
    for number in range(6):  # 24 MB, three times what a record may hold
        made.add_message("user", f"{number} {EMOJI}"[:1_000_000])
    assert [text.split()[0] for text in said(project())] == [str(n) for n in range(6)]
    assert max(sizes(root)) <= bounds.RECORD_BYTES
    assert project().check().findings == () or all(
        finding.severity == "warning" for finding in project().check().findings
    )


@pytest.mark.long
def test_a_transcript_of_large_messages_is_imported_and_read_again(root: str) -> None:
    lines = [orjson.dumps({"role": "user", "content": f"{n} " + "x" * 300_000}) for n in range(30)]
    project().import_messages(lines)
    assert max(sizes(root)) <= bounds.MESSAGES_BYTES + bounds.LARGE_RECORD_BYTES
    reference = next(iter(project().conversations())).id
    assert [text.split()[0] for text in said(project(), reference)] == [str(n) for n in range(30)]


def test_a_project_cannot_raise_the_limit_of_what_is_read(root: str) -> None:
    Path(root, "config.toml").write_text(f"limits.record = {2**30}\n", encoding="utf-8")
    assert Workspace(root).settings.limits.record == bounds.RECORD_BYTES
    assert "limits.record" in project().check().findings[0].message


def write_history(workspace: Workspace, id_: str, past: Any) -> None:
    with workspace.transaction():
        event = Event(event=EventKind.UPDATE, at=NOW, before={"content": past})
        memory = workspace.memories.get(id_)
        workspace.memories.put(msgspec.structs.replace(memory, history=(event,)))


@pytest.mark.long
@pytest.mark.parametrize(
    "past",
    [
        {"x": ["y" * bounds.RECORD_BYTES]},
        {"x": [[]] * bounds.RECORD_VALUES},
        orjson.loads("[" * 61 + "]" * 61),
    ],
    ids=["bytes", "values", "levels"],
)
def test_nothing_is_written_that_could_not_be_read(root: str, past: Any) -> None:
    workspace = Workspace(root, actor="tester")
    id_ = project().add("The gear turns to the left").memory.id
    before = sizes(root)
    with pytest.raises(Refused, match="nothing was changed"):
        write_history(workspace, id_, past)
    assert sizes(root) == before
    assert Workspace(root).memories.get(id_).content == "The gear turns to the left"


@pytest.mark.long
def test_a_tools_result_beyond_the_limit_is_refused(root: str) -> None:
    made = project()
    made.start_conversation("Tools")
    with pytest.raises(InvalidValue, match="a message takes"):
        made.add_message("tool", "It is done", tool_result=["x" * bounds.RECORD_BYTES])
    with pytest.raises(PmemError, match="a message holds more than"):
        made.add_message("tool", "It is done", tool_result=[[]] * (bounds.RECORD_VALUES + 1))
    assert said(made) == []


def test_a_line_beyond_the_limit_is_skipped_and_the_others_are_imported(root: str) -> None:
    long = b'{"role": "user", "content": "x", "more": "%s"}' % (b"y" * bounds.LINE_BYTES)
    done = project().import_messages([long, b'{"role": "user", "content": "The gear turns"}'])
    assert (done.added, [item.where for item in done.skipped]) == (1, ["line 1"])
    assert "bytes, and the limit is" in done.skipped[0].why


LONG = "gear " + "wheel " * bounds.QUERY_CHARACTERS
"""A pasted task, most of which is beyond what is searched for."""


@pytest.mark.long
def test_a_very_long_query_is_answered_by_its_beginning_and_says_so(root: str) -> None:
    made = project()
    made.add("The gear turns to the left")
    hidden = "x " * bounds.QUERY_CHARACTERS + "gear"
    assert [hit.text for hit in made.search(LONG).hits] == ["The gear turns to the left"]
    assert made.search(hidden).hits == ()
    assert made.search("gear").notes == ()
    for notes in (made.search(LONG).notes, made.build_context(LONG).notes):
        assert [note.partition(":")[2] for note in notes] == [
            f" only its first {bounds.QUERY_CHARACTERS:,} are searched for"
        ]
    assert "are searched for" in ask(made.workspace, table.QUERY, QueryRequest(query=LONG)).reason


@pytest.mark.parametrize("command", [("search", "-"), ("context", "-"), ("query", "-")])
def test_a_script_reads_of_a_very_long_query_on_standard_error(
    root: str, command: tuple[str, ...]
) -> None:
    assert pmem("add", "The gear turns to the left").code == 0
    given = orjson.dumps({"query": LONG}) if command[0] == "query" else LONG.encode()
    done = pmem(*command, stdin=given)
    assert done.code == 0
    assert "The gear turns to the left" in done.text
    assert "are searched for" in done.said


def test_the_work_for_a_query_does_not_grow_beyond_the_limit(root: str) -> None:
    made = project()
    made.add("The gear turns to the left")
    with mock.patch("pmem.core.text.terms.fold", wraps=fold) as folded:
        made.search("gear " * bounds.QUERY_CHARACTERS)
        made.build_context("gear " * bounds.QUERY_CHARACTERS)
    assert max(len(call.args[0]) for call in folded.call_args_list) <= bounds.QUERY_CHARACTERS


def test_a_line_beyond_the_limit_is_no_memory(root: str) -> None:
    line = b'{"content": "x", "tags": ["%s"]}' % (b"y" * bounds.LINE_BYTES)
    done = pmem("add", "--batch", "-", stdin=line)
    assert done.code == 3
    assert "bytes, and the limit is" in done.said
    assert sizes(root) == []


def test_a_long_text_is_looked_through_once_for_what_shows_it_several_times(root: str) -> None:
    keep(root, memory(GOOD, "gear " * 10_000))
    with mock.patch("pmem.core.secrets.find", wraps=secrets.find) as looked:
        project().build_context("gear")
    assert sum(len(call.args[0]) == 50_000 for call in looked.call_args_list) == 1


def test_of_a_long_text_nothing_is_hidden_that_the_settings_allow_later(root: str) -> None:
    rules = [Secrets(), Secrets(allow=(SECRET,))]
    mask, text = Mask(lambda: rules[0], []), f"The password is {SECRET}. " + "gear " * 10_000
    assert "hunter2" not in mask.text(text)
    rules.pop(0)
    assert mask.text(text) == text


def test_check_names_a_record_that_is_larger_than_any_that_people_write(root: str) -> None:
    for more, expected in ((0, []), (1, ["large"])):
        rest = bounds.LARGE_RECORD_BYTES + more - len(memory(OTHER, ""))
        keep(root, memory(OTHER, "x" * rest))
        found = project().check().findings
        assert [each.code for each in found] == expected
    assert f"{bounds.LARGE_RECORD_BYTES + 1} bytes" in found[0].message
    assert found[0].severity == "warning"


@pytest.mark.long
@pytest.mark.parametrize("format_", ["markdown", "messages", "json"])
def test_a_context_has_no_room_for_a_text_beyond_the_limit(root: str, format_: str) -> None:
    text = "gear " * (bounds.CONTEXT_CHARACTERS // 5)
    for id_, content in ((GOOD, text), (OTHER, f"{text}!")):
        keep(root, memory(id_, content, pinned=True))
    context = project().build_context("gear", budget=10_000_000, format=format_)
    assert [item.id for section in context.sections for item in section.items] == [GOOD]
    assert [item.id for item in context.omitted] == [OTHER]


def test_of_many_links_to_nothing_check_names_some(root: str) -> None:
    links = [{"target": f"mjwaid1q-{n:08d}", "type": "related_to"} for n in range(10, 1010)]
    keep(root, memory(OTHER, relationships=links))
    with mock.patch("pmem.upkeep.record_checks.line_of_value", wraps=line_of_value) as placed:
        found = project().check().findings
    assert {each.code for each in found} == {"dangling"}
    assert len(found) == placed.call_count == 100


def test_a_long_text_that_stays_is_not_looked_through_again_when_its_memory_changes(
    root: str,
) -> None:
    keep(root, memory(OTHER, "gear " * 10_000))
    with mock.patch("pmem.core.secrets.find", wraps=secrets.find) as looked:
        project().pin(OTHER)
    assert max(len(call.args[0]) for call in looked.call_args_list) < 10_000


def test_search_shows_the_beginning_of_a_text_beyond_all_reason(root: str) -> None:
    keep(root, memory(OTHER, "gear " * bounds.CONTEXT_CHARACTERS))
    (hit,) = project().search("gear").hits
    assert hit.text.endswith("gear  [the rest is too long: `pmem show` has it]")
    assert bounds.CONTEXT_CHARACTERS < len(hit.text) < bounds.CONTEXT_CHARACTERS + 100


def test_a_text_of_backticks_has_no_place_in_a_context(root: str) -> None:
    keep(root, memory(OTHER, "gear " + "`" * 2 * bounds.CONTEXT_CHARACTERS))
    with mock.patch("pmem.core.context.worth.section", wraps=section) as framed:
        assert OTHER not in project().build_context("gear").text
    assert all(call.args[3] <= bounds.CONTEXT_CHARACTERS for call in framed.call_args_list)


@pytest.mark.parametrize(
    "command",
    [
        ("add", "-"),
        ("search", "-"),
        ("context", "-"),
        ("query", "-"),
        ("conversation", "say", "-"),
        ("add", "--batch", "-"),
        ("import", "messages", "-"),
    ],
    ids=" ".join,
)
def test_standard_input_is_read_no_further_than_could_be_used(
    root: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmem.cli.session.TEXT_BYTES", 1000)
    monkeypatch.setattr("pmem.cli.recall.TEXT_BYTES", 1000)
    monkeypatch.setattr(CommandSession.read_lines, "__defaults__", (1000,))
    done = pmem(*command, stdin=b"x" * 1001)
    assert (done.code, sizes(root)) == (3, [])
    assert "standard input has more than 1000 bytes" in done.said
    assert "give it in several parts" in done.said


def test_a_file_of_lines_is_read_no_further_than_could_be_used(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommandSession.read_lines, "__defaults__", (1000,))
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"x" * 1001)
    done = pmem("import", "messages", str(file))
    assert (done.code, f"{file} has more than 1000 bytes" in done.said) == (3, True)
