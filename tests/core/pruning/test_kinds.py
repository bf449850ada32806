"""What kind of message a text is, with the words that look like one and are none."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.pruning.kinds import HEAD, Kinds, kinds_of
from pmem.values.records import Message, Role
from tests.conftest import NOW
from tests.labelled import read_rows
from tests.strategies import json_values
from tests.work import STALLED, WITHIN, calls, seconds


def message(content: str, role: Role = Role.USER, result: object = None) -> Message:
    return Message(id="m", role=role, content=content, created_at=NOW, tool_result=result)


def said(content: str) -> Kinds:
    return kinds_of(message(content))


KINDS = read_rows(__file__, "kinds.jsonl")
PREDICATES: dict[str, Callable[[Kinds], bool]] = {
    "directive": lambda kinds: kinds.directive,
    "error": lambda kinds: kinds.error,
    "correction": lambda kinds: kinds.correction,
    "fix": lambda kinds: kinds.fix,
    "casual": lambda kinds: kinds.casual,
    "complete": lambda kinds: kinds.complete,
    "strong opening": lambda kinds: kinds.opening == "strong",
    "opening": lambda kinds: kinds.opening != "",
}


@pytest.mark.parametrize("kind", PREDICATES)
def test_kinds_are_told_apart(kind: str) -> None:
    listed = [(text, holds) for name, holds, text in KINDS if name == kind]
    told = [(text, PREDICATES[kind](said(text))) for text, _ in listed]
    assert told == listed


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
