"""What kind of message a text is, with the words that look like one and are none."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.pruning.kinds import HEAD, Kinds, kinds_of
from pmem.values.records import Message, Role
from tests.conftest import NOW
from tests.strategies import json_values
from tests.work import STALLED, WITHIN, calls, seconds


def message(content: str, role: Role = Role.USER, result: object = None) -> Message:
    return Message(id="m", role=role, content=content, created_at=NOW, tool_result=result)


def said(content: str) -> Kinds:
    return kinds_of(message(content))


DIRECTIVES = [
    "The port must be 8443.",
    "Never commit secrets to the repository.",
    "Please keep functions below 50 lines",
    "Don't touch the migrations folder.",
    "Make sure the tests run offline",
    "Use PostgreSQL, not MySQL.",
    "ok, but avoid new dependencies",
    "No more than three retries, please.",
    "Only use the standard library here",
]
NO_DIRECTIVES = [
    "",
    "thanks!",
    "Never mind",
    "I don't know what that means",
    "Don't worry about it",
    "It must be a bug in the parser",
    "It should work now",
    "Should we use tabs?",
    "I need to leave early today",
    "What does `must_not` do?",
    "```\nassert x, 'must be positive'\n```",
    "> you must always rebase\nWho wrote this?",
    "Please help",
]
ERRORS = [
    "It fails with a TypeError",
    "I get an error when I start it",
    "Traceback (most recent call last):\n  File ...",
    "0 errors in the linter, but 2 tests failed",
    "ModuleNotFoundError: No module named 'yaml'",
    "That doesn't work on my machine",
    "Look:\n```\nTraceback (most recent call last)\n```",
    "```\nerror: linker not found\n```",
]
NO_ERRORS = [
    "",
    "no error",
    "0 errors, 0 warnings",
    "We need better error handling",
    "It never fails",
    "The job didn't fail this time",
    "It should raise an error for negative numbers",
    "If it fails, retry twice.",
    "Any errors?",
    "Rename the `error` column",
    "```python\nclass ErrorPage: pass\n```",
]
CORRECTIONS = [
    "Actually, the port is 8443.",
    "Correction: the meeting is on Friday",
    "That's wrong, the limit is 20",
    "To clarify: only admins may delete",
    "No, use the other branch",
    "Use a queue instead of a list",
    "Instead, split the file in two.",
]
NO_CORRECTIONS = [
    "",
    "What does it actually do?",
    "Actually quite nice",
    "No, thanks",
    "No problem",
    "That's correct",
    "It is not bad",
    "No, that's all",
    "`actually` is a variable",
]
FIXES = [
    "Fixed the import",
    "The problem was a missing comma",
    "It works now",
    "The fix is to pin the version",
]
NO_FIXES = ["", "It is not fixed", "It needs to be fixed", "Is it fixed?", "That isn't fixed yet"]
CASUAL = [
    "thanks!",
    "hi",
    "ok",
    "👍",
    "谢谢",
]
NOT_CASUAL = [
    "",
    "...",
    "yes",
    "no",
    "ok, deploy it",
    "```\nthanks\n```",
    "the",
    "再来一次",
]
COMPLETE = [
    "Task complete",
    "all tests pass, merged",
    "Done.",
    "that's fixed, thanks",
    "The migration is complete.",
    "I'm done with the refactoring",
    "All 42 tests pass.",
    "That did the trick, thank you",
    "It works now",
    "That's done, so when you deploy, tell the team",
    "No errors left, all checks are green",
]
INCOMPLETE = [
    "",
    "done?",
    "Not done yet",
    "When that is done, call me",
    "If all tests pass, we're done",
    "That will be fixed next week",
    "It isn't fixed",
    "Use a fixed-width font",
    "Step 2 is done",
    "It's done, but the tests still fail",
    "All tests pass, however the docs are missing",
    "Please complete the form",
    "`done`",
    "```\ndone\n```",
    "> done\nDid he say that?",
    "80% done",
    "The work is done by the scheduler",
    "Mark the task as complete",
    "Let me verify that everything works",
    "The branch is merged with the other one",
]
STRONG = [
    "Now let's work on the tests",
    "Next, the documentation.",
    "New topic: how do we name releases?",
    "Moving on. The parser needs a rewrite.",
    "Let's switch to the deployment",
    "Changing the subject: what about lunch?",
    "Here's a new task: write a changelog",
]
WEAK = [
    "Now the docs",
    "I want to write a changelog",
    "Create a landing page",
    "I need a script for backups",
]
NOT_OPENING = [
    "",
    "thanks!",
    "Now let's see",
    "Now it fails",
    "Next time use tabs",
    "Next.js is slow",
    "What about the same for the other file?",
    "Add a test for that",
    "Let's try it",
    "The switch to Postgres was hard",
    "> Now let's work on the tests\nWhat did you mean?",
]


@pytest.mark.parametrize(
    ("predicate", "yes", "no"),
    [
        pytest.param(lambda text: said(text).directive, DIRECTIVES, NO_DIRECTIVES, id="directive"),
        pytest.param(lambda text: said(text).error, ERRORS, NO_ERRORS, id="error"),
        pytest.param(
            lambda text: said(text).correction, CORRECTIONS, NO_CORRECTIONS, id="correction"
        ),
        pytest.param(lambda text: said(text).fix, FIXES, NO_FIXES, id="fix"),
        pytest.param(lambda text: said(text).casual, CASUAL, NOT_CASUAL, id="casual"),
        pytest.param(lambda text: said(text).complete, COMPLETE, INCOMPLETE, id="complete"),
        pytest.param(
            lambda text: said(text).opening == "strong", STRONG, WEAK, id="strong opening"
        ),
        pytest.param(lambda text: said(text).opening != "", WEAK, NOT_OPENING, id="opening"),
    ],
)
def test_kinds_are_told_apart(
    predicate: Callable[[str], bool], yes: list[str], no: list[str]
) -> None:
    assert [text for text in yes if not predicate(text)] == []
    assert [text for text in no if predicate(text)] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("As you said, the port is 8443", 1),
        ("Like I mentioned earlier, no tabs", 1),
        ("Back to your first question: we discussed the cache last time", 3),
        ("The list above is what I described earlier", 2),
        ("Before you start, read the guide", 0),
        ("Anything above 80 % is too much", 0),
        ("It needs Python earlier than 3.12", 0),
        ("The previous version was slower", 0),
        ("`as you said earlier`", 0),
    ],
)
def test_references_to_earlier_messages_are_counted(text: str, count: int) -> None:
    assert said(text).references == count


def test_a_system_message_has_no_kind() -> None:
    assert kinds_of(message("You must report every error. Done.", Role.SYSTEM)) == Kinds()


def test_only_users_direct_and_open_tasks() -> None:
    said = "Next, the docs. You must keep them short."
    assert kinds_of(message(said)).directive
    assert kinds_of(message(said)).opening == "strong"
    answer = kinds_of(message(said, Role.ASSISTANT))
    assert not answer.directive
    assert answer.opening == ""


@pytest.mark.parametrize(
    ("content", "result", "failed"),
    [
        ("class ErrorPage: must be done", None, False),
        ("Task complete", None, False),
        ("error: no rule to make target", None, True),
        ("2 failed, 40 passed", None, True),
        ("0 failed, 42 passed", None, False),
        ("ok", {"exit_code": 1}, True),
        ("ok", {"exit_code": 0}, False),
        ("", {"error": "timeout"}, True),
        ("", {"error": None}, False),
        ("", "bash: foo: command not found", True),
        ("", ["error"], False),
        ("fatal: not a repository", None, True),
        ("panic: oops", None, True),
        ("main.c: error: no such rule", None, True),
        ("java.io.IOException: closed", None, True),
        ("1 failure", None, True),
        ("3 errors", None, True),
        ("exit code 2", None, True),
        ("exited with status 1", None, True),
        ("cat: a: No such file or directory", None, True),
        ("rm: a: Permission denied", None, True),
        ("", {"status": "failed"}, True),
        ("", {"returncode": 2}, True),
    ],
)
def test_a_tool_reports_errors_by_its_log_and_its_result(
    content: str, result: object, failed: bool
) -> None:
    assert kinds_of(message(content, Role.TOOL, result)) == Kinds(error=failed)


def test_of_a_very_long_text_the_beginning_and_the_end_are_read() -> None:
    padding = "Plain words. " * HEAD
    assert said("The build failed. " + padding).error
    assert said(padding + "The build failed.").error
    assert not said(padding + "The build failed. " + padding).error


@pytest.mark.parametrize(
    "text",
    [
        " " * 10**6,
        "a" * 10**6,
        "`" * 10**6,
        "```" + "error " * 200_000,
        "> " * 500_000,
        "can you make " * 90_000 + "?",
        "not not " * 120_000 + "done",
        "use , " * 180_000,
        "is a" * 250_000,
        "1" * 10**6 + " failed",
        "done if (" * 110_000,
        "ok " * 300_000 + "now",
        "好" * 10**6,
        "\n" * 10**6 + "error:",
    ],
    ids=lambda text: text[:12],
)
def test_hostile_texts_are_read_quickly(text: str) -> None:
    for said in (message(text), message(text, Role.TOOL, text)):
        assert calls(partial(kinds_of, said)) < WITHIN * 100
        assert seconds(partial(kinds_of, said)) < STALLED


@given(st.text(), st.sampled_from(Role), json_values)
def test_every_text_has_a_kind(text: str, role: Role, result: object) -> None:
    assert kinds_of(message(text, role, result)) == kinds_of(message(text, role, result))
