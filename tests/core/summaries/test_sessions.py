"""Summaries of work with tools: what people and assistants say, and one line on what tools did."""

from typing import Any

import pytest

from pmem.core.apps.digest import digest
from pmem.core.summaries.clauses import LONGEST, LONGEST_CODE, MOST_FILES, pieces, tool_lines
from pmem.core.summaries.summary import summarise
from pmem.core.summaries.topics import key_topics
from pmem.core.tokens import count_tokens
from pmem.values.records import Message, Role
from tests.core.text.test_speech import tool_message


def person(text: str) -> Message:
    return tool_message(Role.USER, text)


def assistant(text: str) -> Message:
    return tool_message(Role.ASSISTANT, text)


def call(name: str, **given: Any) -> Message:
    return tool_message(Role.ASSISTANT, f"{name}: x", tool_call={"name": name, "input": given})


def result(text: str, **value: Any) -> Message:
    return tool_message(Role.TOOL, text, tool_result={"name": "run", **value})


def told(*said: Message, share: float = 1.0) -> str:
    return summarise(said, count_tokens, share)


EDIT = call("Edit", file_path="/home/anna/src/rows.py")
TESTS = call("Bash", command="make test")
FAILED = result("Exit code 2\ncollecting\nTypeError: no row 7", is_error=True)


def test_what_tools_write_out_is_no_part_of_a_summary() -> None:
    output = "We decided that the warehouse moves to Rotterdam in May.\n" * 20
    found = told(person("Where is the table of warehouses?"), result(output))
    assert "Rotterdam" not in found
    assert "table of warehouses" in found


def test_a_run_of_tools_is_one_line_behind_their_name() -> None:
    found = told(person("Fix the rows of Oslo."), EDIT, result("done"), TESTS, FAILED)
    assert found == (
        "user: Fix the rows of Oslo.\ntool: wrote rows.py; make test failed: TypeError: no row 7."
    )


@pytest.mark.parametrize(
    ("run", "line"),
    [
        ([TESTS, result("fine")], "ran make test"),
        ([TESTS, FAILED, TESTS, result("fine")], "ran make test"),
        ([TESTS, result("fine"), call("Bash", command="git push"), result("ok")], "ran git push"),
        ([EDIT, FAILED], "wrote rows.py; a tool failed: TypeError: no row 7"),
        ([EDIT, EDIT, result("done")], "wrote rows.py"),
        ([call("Read", file_path="a.py"), result("x = 1")], ""),
        ([call("Grep", pattern="x"), result("x = 1")], ""),
    ],
)
def test_a_run_is_told_by_its_files_and_its_last_command(run: list[Message], line: str) -> None:
    assert tool_lines(run) == {len(run) - 1: line}


def test_runs_are_parted_by_talk_and_short() -> None:
    files = [call("Write", file_path=f"{name}.py") for name in "abcdefg"]
    said = [*files, assistant("Done."), call("Bash", command="x" * 500)]
    lines = tool_lines(said)
    assert sorted(lines) == [6, 8]
    assert lines[6].count(".py") == MOST_FILES
    assert len(lines[8]) <= LONGEST + len("ran ")


def test_people_come_before_assistants() -> None:
    said = (assistant("The parser fails on Friday nights."), person("The parser fails on Mondays."))
    assert told(*said, share=0.5) == "user: The parser fails on Mondays."


def test_what_an_assistant_is_about_to_look_at_is_not_told() -> None:
    found = told(
        person("The parser fails."),
        assistant("Let me look at the parser in Oslo. The cause is the time zone of Lisbon."),
    )
    assert "Oslo" not in found
    assert "Lisbon" in found
    assert "Let me think" in told(assistant("Fine."), person("Let me think of Lisbon."))


@pytest.mark.parametrize(("lines", "kept"), [(LONGEST_CODE, True), (LONGEST_CODE + 1, False)])
def test_a_short_block_of_code_is_said_and_a_long_one_only_shown(lines: int, kept: bool) -> None:
    code = "\n".join(f"deploy --row {n}" for n in range(lines))
    found = pieces([person(f"Run this:\n```\n{code}\n```")], ())
    assert any(piece.kind == "code" for piece in found) == kept


@pytest.mark.parametrize(
    "pasted",
    [
        "<system-reminder>The port of Oslo is 8081.</system-reminder>",
        "> The port of Oslo is 8081.",
        '{"port of Oslo": 8081}',
    ],
)
def test_what_is_pasted_is_not_told(pasted: str) -> None:
    assert "8081" not in told(person(f"The parser fails.\n{pasted}"))


def test_topics_are_names_of_things_and_words_that_recur() -> None:
    said = [
        person("The parser of parse_rows is slow, NOT the lexer."),
        assistant("The parser of Lisbon is the slowest."),
        EDIT,
        result("Rotterdam Rotterdam Rotterdam"),
    ]
    assert set(key_topics(said)) == {"parser", "parse_rows", "Lisbon", "rows.py"}


def test_with_no_talk_the_calls_are_the_topics() -> None:
    assert key_topics([call("Grep", pattern="parse_rows"), result("Rotterdam")])[0] == "parse_rows"


def test_words_said_once_are_topics_where_there_is_nothing_else() -> None:
    assert key_topics([person("The lexer is slow.")]) == ("lexer",)


def test_nothing_of_tools_is_left_to_an_app() -> None:
    said = [person("The port of the importer is 8081."), EDIT, TESTS, FAILED]
    assert digest(said, None, 200) == "user: The port of the importer is 8081."
