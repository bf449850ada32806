"""What a tool was asked, in one line, and how that ended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.text.calls import recorded_calls
from pmem.core.text.commands import (
    LONGEST_CALL,
    LONGEST_ERROR,
    MOST_ERRORS,
    MOST_FILES,
    command_line,
    edited_files,
    tool_outcome,
)
from pmem.values.records import Message, Role
from tests.core.text.test_speech import tool_message
from tests.work import STALLED, seconds

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("name input function arguments command".split()), inner)
    ),
)


def call(value: Any, content: str = "said") -> Message:
    return tool_message(Role.ASSISTANT, content, tool_call=value)


def result(content: str, **value: Any) -> Message:
    return tool_message(Role.TOOL, content, tool_result={"name": "run", **value})


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"name": "Bash", "input": {"command": "make\n test", "description": "x"}}, "make"),
        ({"name": "Bash", "input": {"command": "cd /x/y && make"}}, "make"),
        ({"name": "Edit", "input": {"file_path": "a.py", "old_string": "x"}}, "Edit: a.py"),
        ({"name": "Grep", "input": {"pattern": "x", "path": "src"}}, "Grep: x"),
        ({"name": "Fetch", "input": {"url": "https://a.b", "prompt": "x"}}, "Fetch: https://a.b"),
        ({"name": "List", "input": {"path": "src"}}, "List: src"),
        ({"name": "tool", "input": {"summary": "Listed src"}}, "Listed src"),
        ({"function": {"name": "sh", "arguments": '{"cmd": "ls"}'}}, "ls"),
        ([{"name": "a", "args": {"cmd": "ls"}}, {"name": "b", "args": {"cmd": "pwd"}}], "ls; pwd"),
        ({"name": "apply", "arguments": "ls -l"}, "ls -l"),
        ({"name": "apply", "arguments": "{broken"}, "said"),
        ({"name": "apply"}, "said"),
        ("apply", "said"),
    ],
)
def test_a_call_is_its_command_or_its_tool_and_file(value: Any, line: str) -> None:
    assert command_line(call(value)) == line


@pytest.mark.parametrize(
    ("value", "files"),
    [
        ({"name": "Edit", "input": {"file_path": "a.py"}}, ("a.py",)),
        ({"name": "write_file", "input": {"path": "a.py"}}, ("a.py",)),
        ({"name": "Read", "input": {"file_path": "a.py"}}, ()),
        ({"name": "edit_file", "input": {}}, ("src/b.py",)),
    ],
)
def test_the_files_that_a_call_writes_are_named(value: Any, files: tuple[str, ...]) -> None:
    assert edited_files(call(value, "edit_file: src/b.py and c.py")) == files


@pytest.mark.parametrize(
    ("content", "value", "failed", "code"),
    [
        ("fine", {}, False, None),
        ("fine", {"is_error": True}, True, None),
        ("Exit code 2\nno", {}, True, 2),
        ("Exit code 2\nno", {"is_error": False}, True, 2),
        ("x\nexited with code 1", {}, True, 1),
        ('{"output": "x", "exit_code": 0}', {}, False, 0),
        ("set -e\nexit 1", {}, False, None),
        ("<tool_use_error>no</tool_use_error>", {}, True, None),
        ("x" * 500 + " exit code 3 " + "x" * 500, {}, False, None),
        ("an error", {}, False, None),
    ],
)
def test_an_outcome_is_what_the_result_says(
    content: str, value: dict[str, Any], failed: bool, code: int | None
) -> None:
    found = tool_outcome(result(content, **value))
    assert (found.failed, found.exit_code) == (failed, code)
    assert bool(found.errors) == failed


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        ("Exit code 1\nbuilding\nError: no row\ndone", ["Error: no row"]),
        ("Exit code 1\na.go:3:4: row is not used", ["a.go:3:4: row is not used"]),
        (
            "Traceback (most recent call last):\n  File \"error.py\"\nKeyError: 'a'",
            ["KeyError: 'a'"],
        ),
        ("12→ if error\nfatal: no row\n0 errors\nfatal: no row", ["fatal: no row"]),
        ("<tool_use_error>The row is gone.</tool_use_error>", ["The row is gone."]),
        ("all is well\nor not", ["all is well"]),
    ],
)
def test_of_a_failure_the_lines_that_tell_why_are_shown(content: str, errors: list[str]) -> None:
    assert list(tool_outcome(result(content, is_error=True)).errors) == errors


@pytest.mark.parametrize(
    "content",
    [
        "On main\n\tnew file:   src/a.py",
        "On main\n\tdeleted:    src/a.py",
        " delete mode 100644 src/a.py",
        "The file src/a.py has been updated successfully.",
        "diff --git a/src/a.py b/src/a.py",
        "--- a/src/a.py\n+++ b/src/a.py",
        "On main\n\tmodified:   src/a.py",
        " create mode 100644 src/a.py",
        " src/a.py | 3 ++-",
    ],
)
def test_the_files_that_a_result_says_were_changed_are_named(content: str) -> None:
    assert tool_outcome(result(content)).files == ("src/a.py",)
    assert tool_outcome(result(content, is_error=True)).files == ()


def test_a_call_may_stand_in_lists_of_lists_but_not_endlessly_deep() -> None:
    assert [one.name for one in recorded_calls([[[{"name": "run"}]]])] == ["run"]
    assert list(recorded_calls([[[[{"name": "run"}]]]])) == []


@given(JSON, st.text(max_size=300))
def test_whatever_a_program_keeps_is_read_within_bounds(value: Any, content: str) -> None:
    assert len(command_line(call(value, content))) <= LONGEST_CALL
    assert len(edited_files(call(value, content))) <= MOST_FILES
    found = tool_outcome(tool_message(Role.TOOL, content, tool_result=value))
    assert len(found.errors) <= MOST_ERRORS
    assert all(len(error) <= LONGEST_ERROR for error in found.errors)


@pytest.mark.parametrize("unit", ["error ", "a.py | 3\n", "\n", "x", "exit ", "a:1:1: \n", "<a>"])
def test_a_megabyte_of_output_is_read_quickly(unit: str) -> None:
    content = unit * (1_000_000 // len(unit))
    assert seconds(lambda: tool_outcome(result(content, is_error=True))) < STALLED
    assert seconds(lambda: command_line(call({"name": "a", "input": {"cmd": content}}))) < STALLED
