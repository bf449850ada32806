"""The tools: what they cost to describe, which there are, and how forgiving they are."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.cli.serve import AGENT, thread_of
from pmem.core.error_fingerprint import evidence_of
from pmem.core.tokens import budget_counter, count_tokens
from pmem.errors import InvalidValue
from pmem.server.answers import fenced, written
from pmem.server.arguments import ALIASES, lenient
from pmem.server.tools import (
    ADMIN,
    BY_OTHER_NAMES,
    FOR_MODELS,
    INSTRUCTIONS,
    PROFILES,
    PROMPTS,
    ModelTool,
    chosen,
)
from pmem.values.records import Memory
from tests.conftest import NOW
from tests.faults.console import bytes_of, pmem
from tests.mcp.talking import called, called_as, request, talk, text_of

CODEX = {"x-codex-turn-metadata": {"session_id": "x"}}
SECRET = "-".join(("hunter2", "is", "a", "good", "one"))
MOST_TOKENS = 900
"""Of the schema that every session of an assistant pays for."""


def listed(root: str, **options: Any) -> list[dict[str, Any]]:
    (answer,) = talk(root, request("tools/list"), **options)
    tools: list[dict[str, Any]] = answer["result"]["tools"]
    return tools


def kept(root: str) -> list[str]:
    return [item.content for item in Project(root, now=NOW).list().items]


def short_of(result: Mapping[str, Any]) -> str:
    return text_of(result).split()[1]


def test_seven_tools_cost_few_tokens(root: str) -> None:
    told = ("name", "description", "inputSchema")
    seven = [{key: tool[key] for key in told} for tool in listed(root)]
    assert len(seven) == 7
    text = json.dumps(seven, separators=(",", ":"))
    assert budget_counter("auto").count(text) <= MOST_TOKENS
    assert count_tokens(text) <= MOST_TOKENS


def test_a_session_is_told_in_a_few_sentences_what_this_is() -> None:
    assert 400 <= len(INSTRUCTIONS) <= 600
    assert "mcp__" not in INSTRUCTIONS


def test_every_tool_says_all_four_hints(root: str) -> None:
    for tool in listed(root, tools="all"):
        hints = tool["annotations"]
        assert hints.keys() == {
            "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint",
        }  # fmt: skip
        assert not hints["openWorldHint"]


def test_what_only_reads_says_so(root: str) -> None:
    reading = {tool["name"] for tool in listed(root) if tool["annotations"]["readOnlyHint"]}
    assert reading == {"search", "context", "show", "why"}


@pytest.mark.parametrize("tool", [*FOR_MODELS, *ADMIN], ids=lambda tool: tool.name)
def test_a_schema_is_one_and_describes_an_object(tool: ModelTool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.schema["type"] == "object"
    assert tool.name.replace("_", "").isalnum()
    assert {one.name for one in tool.takes if one.is_shown} == set(tool.schema["properties"])


def test_the_tools_come_in_one_order(root: str) -> None:
    names = [tool["name"] for tool in listed(root, tools="forget,search,stats,add_to_memory")]
    assert names == ["search", "add_to_memory", "forget", "stats"]


@pytest.mark.parametrize(
    ("names", "read_only", "found"),
    [
        ("agent", False, {tool.name for tool in FOR_MODELS}),
        ("agent", True, {"search", "context", "show", "why"}),
        ("read", False, {"search", "context", "show", "why"}),
        ("read, forget", False, {"search", "context", "show", "why", "forget"}),
        ("memory.query", False, {"memory_query"}),
        ("admin", False, {tool.name for tool in ADMIN}),
        ("all", False, {tool.name for tool in (*FOR_MODELS, *BY_OTHER_NAMES, *ADMIN)}),
    ],
)
def test_profiles_and_names_choose_the_tools(names: str, read_only: bool, found: set[str]) -> None:
    assert set(chosen(names, read_only=read_only)) == found


def test_a_tool_that_is_not_offered_is_not_called(root: str) -> None:
    line = request("tools/call", name="forget", arguments={"id": "x"})
    (answer,) = talk(root, line, tools="read")
    assert answer["error"]["code"] == -32602


def test_no_tool_lets_an_agent_decide_what_a_person_decides() -> None:
    tools = PROFILES["all"]()
    assert not [tool.name for tool in tools if tool.operation.by_person]
    assert not [tool.name for tool in tools if tool.operation.name == "purge"]


ALIAS_CASES = [
    (tool, one.name, alias)
    for tool in FOR_MODELS
    for one in tool.arguments
    for alias in ALIASES.get(one.name, ())
    if alias not in {other.name for other in tool.arguments}
    and one.name == next(o.name for o in tool.arguments if alias in ALIASES.get(o.name, ()))
]


@pytest.mark.parametrize(
    ("tool", "name", "alias"), ALIAS_CASES, ids=[f"{t.name}-{a}" for t, _, a in ALIAS_CASES]
)
def test_a_name_that_models_guess_is_understood(tool: ModelTool, name: str, alias: str) -> None:
    from pmem.server.arguments import fields_of

    needed = {one.name: "x" for one in tool.arguments if one.is_needed and one.name != name}
    value = "2"
    named = fields_of({**needed, name: value}, tool.takes, tool.request)
    assert fields_of({**needed, alias: value}, tool.takes, tool.request) == named
    assert fields_of({**needed, alias.upper(): value}, tool.takes, tool.request) == named


@pytest.mark.parametrize(
    ("value", "hint", "found"),
    [
        ("5", int, 5),
        (5.0, int, 5),
        ("0.5", float, 0.5),
        ("true", bool, True),
        ("many", int, "many"),
        ("a, b", tuple[str, ...], ["a", "b"]),
        ('["a", "b"]', tuple[str, ...], ["a", "b"]),
        ("[a", tuple[str, ...], ["[a"]),
        (["1"], tuple[int, ...], [1]),
        ("5", int | None, 5),
        ("5", str, "5"),
        (7, tuple[str, ...], 7),
    ],
)
def test_a_value_is_read_as_models_write_it(value: Any, hint: Any, found: Any) -> None:
    assert lenient(value, hint) == found


@pytest.mark.row("S4.4.7")
@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("add_to_memory", {"content": "four"}, "5 to 500 characters, and this has 4"),
        ("add_to_memory", {"content": "x" * 501}, "5 to 500 characters, and this has 501"),
        ("search", {"query": "x", "limit": "many"}, "limit must be a whole number"),
        ("search", {"query": "x", "kinds": "zebra"}, "there are chunk, episode, memory, message"),
        ("search", {"query": "x", "budget": True}, "a budget is a number of tokens"),
        ("add_to_memory", {"content": "We use Go.", "type": "zebra"}, "there are constraint"),
        ("history", {}, "reference is missing"),
        ("forget", {"id": ""}, "id is missing"),
        ("forget", {"memory_id": []}, "id is missing"),
        ("stats", {"zebra": 1}, "there is no argument 'zebra'"),
        ("list", {"wanted": {"zebra": 1}}, "zebra"),
    ],
)
def test_wrong_arguments_are_answered_in_a_sentence(
    name: str, given: dict[str, Any], said: str, root: str
) -> None:
    result = called(root, name, **given)
    assert result["isError"]
    assert said in text_of(result)


def test_whoever_calls_is_an_agent(root: str) -> None:
    name = short_of(called(root, "add_to_memory", content="The queue is RabbitMQ."))
    (event,) = Project(root).history(name)
    assert (event.actor, event.agent) == ("kim", AGENT)
    called_as(root, "add_to_memory", {"content": "We use Go for tools."}, agent="planner")
    assert Project(root).list().items[-1].history[0].agent == "planner"


def test_a_client_that_nobody_named_is_called_by_its_own_name(root: str) -> None:
    called_as(root, "remember", {"content": "The queue is RabbitMQ."}, is_named=False)
    (memory,) = Project(root).list().items
    assert memory.history[0].agent == "tests"
    with open(f"{root}/config.toml", "a", encoding="utf-8") as file:
        file.write('\n[allowlists]\ntests = ["tasks"]\n')
    result = called_as(root, "search", {"query": "queue"}, is_named=False)
    assert "no allowlist for the agent 'assistant'" in text_of(result)


def test_remembering_takes_places_a_reason_and_what_it_was_chosen_instead_of(root: str) -> None:
    given = {"content": "We use PostgreSQL for orders.", "for": "src/db/**", "type": "decision",
             "why": "because SQLite lost writes", "instead_of": ["SQLite"]}  # fmt: skip
    assert text_of(called(root, "remember", **given)).startswith("added ")
    (memory,) = Project(root).list().items
    assert memory.content == "We use PostgreSQL for orders, because SQLite lost writes"
    assert (memory.places, memory.instead_of) == (("src/db/**",), ("SQLite",))
    assert f"[{short_of_memory(memory)} src/db/**] " in text_of(
        called(root, "search", query="PostgreSQL")
    )


def test_a_reason_that_says_nothing_changes_no_text(root: str) -> None:
    called(root, "remember", content="The queue is RabbitMQ.", why=" ")
    assert [one.content for one in Project(root).list().items] == ["The queue is RabbitMQ."]


def test_what_was_tried_comes_back_at_its_error_and_its_place(root: str) -> None:
    error = "VendorError: blocked for 60 s"
    given = {"tried": "five retries", "failed": "banned", "worked": "Spread requests over a minute",
             "error": error, "for": "src/billing/**"}  # fmt: skip
    assert text_of(called(root, "tried", **given)).count("added ") == 2
    dead_end, fix = Project(root).list().items
    assert dead_end.evidence == fix.evidence == evidence_of(error)[:1]
    again = called(root, "tried", tried="five retries", failed="banned")
    assert "known already" in text_of(again)
    assert not again.get("isError")
    Path("src/billing").mkdir(parents=True)
    Path("src/billing/retry.py").write_text("RETRIES = 3\n")
    told = text_of(called(root, "why", place="src/billing/retry.py"))
    mark = "(noted by assistant, not confirmed)"
    assert f"- [{short_of_memory(dead_end)} src/billing/**] {mark} Tried: five" in told
    assert "Fixed by: Spread requests" in told


def test_whoever_works_here_is_shown_how_things_are_done(root: str) -> None:
    Project(root, now=NOW).add("Run the tests with make test", type="procedure")
    assert "make test" in text_of(called(root, "context"))


def test_a_broken_memory_is_told_in_the_answers(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    Project(root, now=NOW).add("The database is PostgreSQL.")
    first, _ = sorted(Path(root, "long-term-memory").rglob("*.json"))
    first.write_text("<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n")
    told = text_of(called(root, "search", query="database"))
    assert "pmem: a file of this project's memory cannot be read" in told
    Path(root, "config.toml").write_text("<<<<<<< ours\n")
    call = json.dumps(request("tools/call", name="search", arguments={"query": "database"}))
    done = pmem("mcp", stdin=call.encode() + b"\n")
    assert b"config.toml" in done.out


def short_of_memory(memory: Memory) -> str:
    return memory.id.rpartition("-")[2]


def test_an_agent_is_held_to_its_allowlist(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.", category="profile")
    with open(f"{root}/config.toml", "a", encoding="utf-8") as file:
        file.write('\n[allowlists]\nplanner = ["tasks"]\n')
    result = called_as(root, "search", {"query": "queue"}, agent="planner")
    assert "RabbitMQ" not in text_of(result)
    result = called_as(root, "search", {"query": "queue"})
    assert result["isError"]
    assert "there is no allowlist for the agent 'assistant'" in text_of(result)


def test_what_a_person_wrote_is_changed_by_nobody_who_calls(root: str) -> None:
    memory = Project(root, now=NOW).add("The queue is RabbitMQ.").memory
    for name in ("assistant", "kim", "person"):
        for tool, arguments in (
            ("forget", {"id": memory.id}),
            ("update_memory", {"id": memory.id, "content": "The queue is Kafka."}),
            ("update_memory", {"id": memory.id, "category": "misc"}),
            ("pin", {"reference": memory.id}),
        ):
            result = called_as(root, tool, arguments, agent=name)
            assert result["isError"]
            assert "a person wrote this" in text_of(result)
    assert Project(root).show(memory.id) == memory


def test_answers_for_programs_are_the_plain_form_of_the_operation(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    for result in (
        called(root, "search", query="queue", format="json"),
        called_as(root, "search", {"query": "queue"}, structured=True),
    ):
        data = result["structuredContent"]
        assert [hit["text"] for hit in data["hits"]] == ["The queue is RabbitMQ."]
        assert json.loads(text_of(result)) == data
    assert "structuredContent" not in called(root, "search", query="queue")
    plain = called_as(root, "search", {"query": "queue", "format": "text"}, structured=True)
    assert "structuredContent" not in plain


@pytest.mark.row("S4.4.1", "S4.4.6", "S4.5.1")
def test_a_session_is_offered_to_remember_and_told_to_ask_first(root: str) -> None:
    assert {"remember", "update"} <= {tool["name"] for tool in listed(root)}
    offered = {tool["name"]: tool for tool in listed(root, tools="all")}
    assert {"add_to_memory", "update_memory"} <= offered.keys()
    told = offered["add_to_memory"]["description"]
    assert "Ask before you store" in told
    assert "Not for passing details" in told
    assert {"content", "category", "subject"} <= offered["add_to_memory"]["inputSchema"][
        "properties"
    ].keys()
    assert "remember it at once" in INSTRUCTIONS
    assert "code does not show" in offered["remember"]["description"]


@pytest.mark.row("S4.4.2", "S4.4.3")
def test_adding_answers_with_the_id_and_then_with_what_to_update(root: str) -> None:
    first = {"content": "Sarah works on the Platform team.", "subject": "Sarah"}
    added = called_as(root, "add_to_memory", first)
    name = short_of(added)
    assert len(name) == 8
    again = called_as(root, "add_to_memory", first | {"content": "Sarah works on the Design team."})
    assert again["isError"]
    assert f"call update_memory with id {name}" in text_of(again)
    assert "Sarah works on the Platform team." in text_of(again)


@pytest.mark.row("S4.4.4", "S4.4.5", "S4.5.6")
def test_updating_needs_no_question_and_answers_old_and_new(root: str) -> None:
    name = short_of(called_as(root, "add_to_memory", {"content": "Sarah works on Platform."}))
    changed = called_as(root, "update_memory", {"id": name, "content": "Sarah works on Design."})
    assert not changed.get("isError")
    said = text_of(changed)
    assert "Sarah works on Platform." in said
    assert "Sarah works on Design." in said
    assert kept(root) == ["Sarah works on Design."]


def test_a_list_of_answers_is_an_object_for_programs(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    data = called(root, "memory_query", query="queue", format="json")["structuredContent"]
    assert [item["category"] for item in data["items"]] == ["knowledge"]


def test_secrets_are_taken_out_of_whatever_is_answered(root: str) -> None:
    rules = {"gate": "off"}
    person = Project(root, now=NOW, secrets=rules)
    name = person.add(f"The password: {SECRET} stays").memory.id
    for form in ("text", "json"):
        for tool, arguments in (
            ("fetch", {"id": name}),
            ("search", {"query": "password"}),
            ("list", {}),
            ("context", {}),
        ):
            assert SECRET not in str(called(root, tool, format=form, **arguments)), (tool, form)


def test_an_answer_keeps_its_budget(root: str) -> None:
    project = Project(root, now=NOW)
    for number in range(30):
        project.add(f"The gear {number} turns {'and turns ' * 20}", force=True)
    count = budget_counter("auto").count
    for budget in (60, 100, 300, 1000):
        for name, field in (("search", "budget"), ("memory_query", "budget_tokens")):
            result = called(root, name, query="gear", **{field: budget})
            assert count(text_of(result)) <= budget + 40, (name, budget)


@given(st.lists(st.text(max_size=60), max_size=5))
def test_no_text_closes_the_fence(texts: list[str]) -> None:
    from pmem.core.context.parts import Item

    text = fenced("found", [Item(id="", text=one) for one in texts], 10_000, count_tokens)
    if not texts:
        assert text == "found"
        return
    _, fence, *inside, end = text.splitlines()
    assert fence == end == "`" * len(fence)
    assert not [line for line in inside if line.strip().startswith(fence)]


def test_the_thread_of_a_context_is_the_sessions(root: str) -> None:
    project = Project(root, now=NOW)
    project.add("The queue is RabbitMQ.")
    codex = {"_meta": {"x-codex-turn-metadata": {"session_id": "s1"}}}
    claude = {"environment": {"CLAUDE_CODE_SESSION_ID": "s1"}}
    called_as(root, "context", {}, **codex)
    project.add("The door is open.")
    told = called_as(root, "context", {}, **claude)
    assert "+created" in text_of(told)
    assert "+created" not in text_of(called_as(root, "context", {}, **claude))
    assert "+created" not in text_of(called_as(root, "context", {}))


@pytest.mark.parametrize(
    ("named", "environment", "metadata", "found"),
    [
        ("auto", {}, {}, None),
        ("auto", {"CLAUDE_CODE_SESSION_ID": "c"}, {}, "c"),
        ("auto", {"CLAUDE_CODE_SESSION_ID": "c"}, CODEX, "x"),
        ("n", {}, CODEX, "n"),
        ("auto", {}, {"x-codex-turn-metadata": {"session_id": 7}}, None),
        ("auto", {}, {"x-codex-turn-metadata": "odd"}, None),
    ],
)
def test_the_thread_comes_from_whoever_names_it_first(
    named: str, environment: dict[str, str], metadata: dict[str, Any], found: str | None
) -> None:
    assert thread_of(named, environment, metadata) == found


def test_nothing_is_written_where_nothing_may_be(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    line = request("tools/call", name="add_to_memory", arguments={"content": "We use Go."})
    (answer,) = talk(root, line, read_only=True)
    assert answer["error"]["code"] == -32602
    assert kept(root) == ["The queue is RabbitMQ."]


def test_a_read_only_server_writes_no_byte(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    before = bytes_of(root, local=True)
    lines = [
        {**request("tools/call", name=name, arguments=arguments), "id": number}
        for number, (name, arguments) in enumerate(
            [
                ("search", {"query": "queue"}),
                ("context", {"query": "queue", "thread": "t"}),
                ("memory_query", {"query": "queue"}),
            ]
        )
    ]
    offered = "agent,memory_query"
    answers = talk(root, request("tools/list"), *lines, read_only=True, tools=offered)
    assert all("RabbitMQ" in str(answer) for answer in answers[1:])
    assert bytes_of(root, local=True) == before


def test_a_bug_is_one_sentence_and_its_trace_is_kept(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("the inside")

    monkeypatch.setattr("pmem.server.answers.written", fail)
    result = called(root, "search", query="queue")
    assert result["isError"]
    assert text_of(result).startswith("this is a bug in pmem: KeyError; ")
    with open(f"{root}/local/pmem.log", encoding="utf-8") as file:
        assert "the inside" in file.read()


def test_a_warm_up_that_fails_ends_nothing(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pmem.server.calls.run", lambda *_: 1 // 0)
    call = {**request("tools/call", name="search", arguments={"query": "x"}), "id": 2}
    _, answer = talk(root, request("tools/list"), call)
    assert text_of(answer["result"]).startswith("this is a bug in pmem: ZeroDivisionError")


def test_a_memory_that_is_gone_is_told_in_a_sentence(root: str) -> None:
    shutil.rmtree(root)
    result = called(root, "search", query="queue")
    assert "bug" not in text_of(result)


def test_what_is_new_beside_a_memory_is_said(root: str) -> None:
    called(root, "add_to_memory", content="We use Kafka for orders.")
    result = called(root, "add_to_memory", content="We do not use Kafka for orders.")
    assert "contradicts" in text_of(result)


def test_every_prompt_reads_as_one_message(root: str) -> None:
    for name, prompt in PROMPTS.items():
        line = request("prompts/get", name=name, arguments={prompt.argument: "the zebra"})
        (answer,) = talk(root, line)
        (message,) = answer["result"]["messages"]
        assert message["role"] == "user"
        assert "the zebra" in message["content"]["text"]


def test_an_unknown_tool_is_no_tool() -> None:
    with pytest.raises(InvalidValue, match="there is no tool 'zebra'"):
        chosen("search,zebra", read_only=False)


def test_another_tool_answers_its_plain_form_in_a_fence() -> None:
    text = written("stats", {"items": [{"text": "```"}]}, 100, count_tokens)
    assert text.splitlines()[1] == "````"
