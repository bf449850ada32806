"""`--format messages` is a list that a chat API takes, and Markdown says what tools did."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from tests.conftest import NOW
from tests.core.secrets.drawing import token
from tests.effort import examples
from tests.storage.in_memory import InMemory

NAME = re.compile(r"[^\s<|\\/>]{1,64}")
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
CALL = {"id": "call_1", "name": "run", "input": {"command": "make check"}}
RESULT = {"tool_call_id": "call_1"}
LONG = "collected 12 items\n" + "tests/test_x.py ....\n" * 200 + "ValueError: no such row\n"


def faults(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Return what a chat API refuses in a list, by the rules that they have in common."""
    found: list[str] = []
    open_: list[str] = []
    used: set[str] = set()
    for place, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            name = message.get("tool_call_id")
            if name not in open_:
                found.append(f"{place}: a result without a call")
            else:
                open_.remove(name)
        elif open_:
            found.append(f"{place}: calls without results: {open_}")
            open_ = []
        if role not in ("system", "user", "assistant", "tool"):
            found.append(f"{place}: the role {role}")
        if not isinstance(message.get("content"), str):
            found.append(f"{place}: no content")
        if "name" in message and not NAME.fullmatch(message["name"]):
            found.append(f"{place}: the name {message['name']!r}")
        if message.keys() - {"role", "content", "name", "tool_calls", "tool_call_id"}:
            found.append(f"{place}: other fields")
        if "tool_calls" in message:
            found += call_faults(place, message, used)
            open_ = [call["id"] for call in message["tool_calls"]]
            used.update(open_)
    return found + [f"the end: calls without results: {open_}"] * bool(open_)


def call_faults(place: int, message: dict[str, Any], used: set[str]) -> list[str]:
    calls = message["tool_calls"]
    found = [] if message["role"] == "assistant" and calls else [f"{place}: whose calls?"]
    names = [call["id"] for call in calls]
    if len(set(names)) < len(names) or used.intersection(names):
        found.append(f"{place}: an id twice")
    for call in calls:
        function = call["function"]
        if call.keys() != {"id", "type", "function"} or call["type"] != "function":
            found.append(f"{place}: fields of a call")
        if not TOOL_NAME.fullmatch(function["name"]):
            found.append(f"{place}: the tool {function['name']!r}")
        if not isinstance(json.loads(function["arguments"]), dict):
            found.append(f"{place}: arguments that are no object")
    return found


def project(*said: dict[str, Any], **overrides: Any) -> Project:
    made = Project(
        actor="tester", now=NOW, backend=InMemory(), **{"extract_facts": False, **overrides}
    )
    made.start_conversation("Build")
    for message in said:
        made.add_message(**{"content": "make check", **message})
    return made


def chat(made: Project, budget: int = 4000, **request: Any) -> list[dict[str, Any]]:
    built = made.build_context(budget=budget, format="messages", **request)
    assert built.tokens <= budget
    messages: list[dict[str, Any]] = json.loads(built.text) if built.text else []
    assert faults(messages) == []
    return messages


def turns(*said: dict[str, Any], **overrides: Any) -> list[dict[str, Any]]:
    """Return the chat messages that a conversation comes to, behind the memory."""
    return chat(project(*said, **overrides))[1:]


def test_a_call_and_its_result_are_a_call_and_its_result() -> None:
    asked = {"role": "user", "content": "Check it."}
    call = {"role": "assistant", "content": "I run the checks.", "tool_call": CALL}
    result = {"role": "tool", "content": "All passed", "tool_result": RESULT}
    assert turns(asked, call, result) == [
        {"role": "user", "content": "Check it."},
        {
            "role": "assistant",
            "content": "I run the checks.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "run", "arguments": '{"command":"make check"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "All passed"},
    ]


def test_several_calls_of_one_message_have_their_results_behind_it() -> None:
    calls = [CALL, CALL | {"id": "call_2", "name": "x" * 65}]
    found = turns(
        {"role": "user", "content": "Check it."},
        {"role": "assistant", "tool_call": calls},
        {"role": "tool", "content": "clean", "tool_result": {"tool_call_id": "call_2"}},
        {"role": "tool", "content": "passed", "tool_result": RESULT},
    )
    assert [call["id"] for call in found[1]["tool_calls"]] == ["call_1", "call_2"]
    assert {one["tool_call_id"]: one["content"] for one in found[2:]} == {
        "call_1": "passed",
        "call_2": "clean",
    }


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"role": "assistant", "tool_call": CALL}, "ran: make check"),
        (
            {"role": "tool", "content": "exit code 2: no file", "tool_result": {"name": "run"}},
            "run answered: exit code 2: no file",
        ),
        ({"role": "tool", "content": "ok", "tool_result": {"name": ""}}, "a tool answered: ok"),
        ({"role": "tool", "content": "ok", "tool_result": {"name": 1}}, "a tool answered: ok"),
    ],
)
def test_a_call_or_a_result_alone_is_told_in_words(said: dict[str, Any], told: str) -> None:
    found = turns({"role": "user", "content": "Check it."}, said)
    assert found[1] == {"role": "assistant", "content": told}


def test_a_call_that_could_move_into_a_chunk_waits_for_its_result() -> None:
    said = [{"role": "user", "content": f"Line {n}"} for n in range(3)]
    call = {"role": "assistant", "tool_call": CALL}
    result = {"role": "tool", "content": "All passed", "tool_result": RESULT}
    made = project(*said, call, result, max_recent_messages=4, chunk_size=4, max_messages=4)
    called, answered = chat(made)[1:]
    assert called["tool_calls"][0]["id"] == answered["tool_call_id"]
    assert answered["content"] == "All passed"


def test_an_id_that_stands_for_two_calls_or_for_none_is_made() -> None:
    call = {"role": "assistant", "tool_call": CALL}
    result = {"role": "tool", "content": "All passed", "tool_result": RESULT}
    odd = {"role": "assistant", "tool_call": {"id": "a b/c", "name": "run it!", "input": "ls"}}
    answer = {"role": "tool", "content": "x", "tool_result": {"tool_call_id": "a b/c"}}
    said = (call, result, call, result, odd, answer)
    first, again = turns(*said), turns(*said)
    ids = [one["id"] for turn in first for one in turn.get("tool_calls", ())]
    assert len(set(ids)) == 3
    assert ids[0] == "call_1"
    assert [turn["role"] for turn in first] == [turn["role"] for turn in again]
    assert first[4]["tool_calls"][0]["function"]["name"] == "run_it_"
    assert first[4]["tool_calls"][0]["function"]["arguments"] == '{"input":"ls"}'


def test_a_secret_in_arguments_is_not_shown() -> None:
    secret = token("ghp_", length=36)(Random(4))
    call = {"role": "assistant", "tool_call": CALL | {"input": {"command": f"login {secret}"}}}
    result = {"role": "tool", "content": "Welcome", "tool_result": RESULT}
    made = project(call, result, secrets={"gate": "off"})
    assert secret not in json.dumps(chat(made))
    assert secret not in made.build_context(budget=4000).text


def test_arguments_that_do_not_fit_are_cut_and_stay_json() -> None:
    call = {"role": "assistant", "tool_call": CALL | {"input": {"text": "word " * 3000}}}
    result = {"role": "tool", "content": "Written", "tool_result": RESULT}
    call_turn, result_turn = chat(project(call, result), 500)[1:]
    given = json.loads(call_turn["tool_calls"][0]["function"]["arguments"])
    assert re.fullmatch(
        r"(word )+w?o?r?d?\.\.\. \[[\d,]+ more characters left out\]", given["text"]
    )
    assert result_turn["content"] == "Written"


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"content": "exit code 0\nfine"}, "exit code 0"),
        (
            {"content": LONG, "tool_result": {"is_error": True, "exit_code": 1}},
            "exit code 1: Value",
        ),
        ({"content": "fine", "tool_result": {"exit_code": 3}}, "exit code 3: fine"),
    ],
)
def test_markdown_says_which_command_ran_and_how_it_ended(
    result: dict[str, Any], told: str
) -> None:
    made = project(
        {"role": "user", "content": "Again."},
        {"role": "assistant", "content": "Again.", "tool_call": CALL},
        {"role": "tool", "tool_result": RESULT, **result},
    )
    text = made.build_context(budget=4000).text
    assert "Again.\n  ran: make check\n" in text
    assert told in text


def test_markdown_shows_no_long_output() -> None:
    made = project(
        {"role": "assistant", "tool_call": CALL},
        {"role": "tool", "content": LONG, "tool_result": RESULT | {"is_error": True}},
    )
    text = made.build_context(budget=4000).text
    assert "tool: failed: ValueError: no such row [4,242 characters]\n" in text
    assert "test_x" not in text


WORDS = st.sampled_from(["Run it.", "ran: ls", "exit code 1", "x" * 900, "a ``` b\nc"])
IDS = st.sampled_from(["call_1", "call_2", "a b", "", None, 7])
CALLS = st.one_of(
    st.builds(
        lambda name, id_, given: {"id": id_, "name": name, "input": given},
        st.sampled_from(["run", "", "an odd / name"]),
        IDS,
        st.sampled_from([{}, {"command": "ls"}, "ls", '{"a": 1}', [1], None]),
    ),
    st.sampled_from(["ls", {}, [], 5, {"function": {"name": "f", "arguments": '{"b": 2}'}}]),
)
RESULTS = st.one_of(
    st.builds(lambda id_: {"tool_call_id": id_, "is_error": False}, IDS),
    st.sampled_from(["done", {}, [], [{"tool_use_id": "call_2"}, {"tool_use_id": "call_1"}]]),
)
SAID = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "assistant", "tool", "system"]),
        "content": WORDS,
    },
    optional={
        "tool_call": st.one_of(CALLS, st.lists(CALLS, max_size=3)),
        "tool_result": RESULTS,
        "speaker": st.sampled_from(["Ada", "A B", "<x>"]),
    },
)


@pytest.mark.row("S3.9.7")
@settings(max_examples=examples(60))
@given(st.lists(SAID, max_size=14), st.integers(20, 2500), st.integers(4, 12), st.booleans())
def test_every_conversation_in_every_budget_is_a_list_that_an_api_takes(
    said: list[dict[str, Any]], budget: int, recent: int, asks: bool
) -> None:
    made = project(max_recent_messages=recent, chunk_size=4)
    for message in said:
        made.add_message(**message)
    found = chat(made, budget, query="run it" if asks else None)
    assert found == chat(made, budget, query="run it" if asks else None)
