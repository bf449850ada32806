"""Sessions of coding assistants: what was said comes in, once; what pmem said never does."""

import os
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.conversation.session_files import sessions_in, sessions_of
from pmem.conversation.sessions import (
    BATCH,
    SessionsImported,
    SessionsRequest,
    _SessionImport,
)
from pmem.core.own_words import RECORDED, STOPS
from pmem.errors import InvalidValue
from pmem.interchange.sessions import MOST_RESULT, recognise
from pmem.memory.conversations import LookRequest, Transcript
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.storage.local.sessions import NotedTranscript
from pmem.values.programs import SessionProgram
from pmem.values.records import Message
from tests.asking import ask
from tests.conftest import NOW
from tests.conversation.assistants import HOOK, SESSION, ClaudeCode, Codex, Gemini, written

CLAUDE, CODEX, GEMINI = SessionProgram.CLAUDE_CODE, SessionProgram.CODEX, SessionProgram.GEMINI


def take(
    workspace: Workspace,
    harness: SessionProgram,
    data: bytes,
    name: str = "session.jsonl",
    **options: Any,
) -> SessionsImported:
    path = os.path.join(os.path.dirname(workspace.root), name)
    Path(path).write_bytes(data)
    request = SessionsRequest(harness=harness, path=path, **options)
    return ask(workspace, table.IMPORT_SESSIONS, request)


def transcript(workspace: Workspace, session: str = SESSION) -> Transcript:
    return ask(workspace, table.TRANSCRIPT, LookRequest(conversation=session))


def heard(workspace: Workspace, session: str = SESSION) -> list[str]:
    return [f"{one.role}: {one.content}" for one in transcript(workspace, session).messages]


def claude(*say: Callable[[ClaudeCode], object]) -> ClaudeCode:
    session = ClaudeCode()
    session.ask("Which database do we use?")
    for one in say:
        one(session)
    session.say("PostgreSQL.")
    return session


def test_what_people_and_claude_code_said_becomes_a_conversation(workspace: Workspace) -> None:
    done = take(workspace, CLAUDE, claude().bytes())
    assert (done.sessions, done.added) == (1, 2)
    assert heard(workspace) == ["user: Which database do we use?", "assistant: PostgreSQL."]
    assert transcript(workspace).conversation.history[0].source == "import claude-code"


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param(lambda s: s.put("attachment", attachment={"content": [HOOK]}), id="hook text"),
        pytest.param(
            lambda s: s.put("api-request-blob", message={"role": "user", "content": HOOK}),
            id="a copy in a request",
        ),
        pytest.param(lambda s: s.ask(HOOK, isMeta=True), id="meta"),
        pytest.param(lambda s: s.ask(HOOK, isCompactSummary=True), id="summary of a compaction"),
        pytest.param(lambda s: s.ask(HOOK, isSidechain=True, parent=s.last), id="sub-agent"),
        pytest.param(lambda s: s.ask(HOOK, turnOrigin="loop_wakeup"), id="wakeup"),
        pytest.param(lambda s: s.ask(HOOK, promptSource="system"), id="prompt of the system"),
        pytest.param(lambda s: s.ask(f"<command-name>/x</command-name>{HOOK}"), id="command"),
        pytest.param(lambda s: s.ask(f"<local-command-stdout>{HOOK}"), id="answer to a command"),
        pytest.param(lambda s: s.ask("[Request interrupted by user]"), id="interruption"),
        pytest.param(lambda s: s.put("system", subtype="stop_hook_summary"), id="system"),
        pytest.param(lambda s: s.lines.append("[1, 2]"), id="no object"),
        pytest.param(lambda s: s.lines.append("{not JSON"), id="no JSON"),
    ],
)
def test_what_is_no_conversation_stays_out_of_it(
    workspace: Workspace, extra: Callable[[ClaudeCode], object]
) -> None:
    done = take(workspace, CLAUDE, claude(extra).bytes())
    assert heard(workspace) == ["user: Which database do we use?", "assistant: PostgreSQL."]
    assert sum(done.left_out.values()) == 1
    assert done.skipped == ()


def test_tools_are_called_and_answer(workspace: Workspace) -> None:
    session = claude(
        lambda s: s.call("Bash", "t1", command="pytest -q"), lambda s: s.result("t1", "1 failed")
    )
    take(workspace, CLAUDE, session.bytes())
    _, call, result, _ = transcript(workspace).messages
    assert call.tool_call == {"id": "t1", "name": "Bash", "arguments": {"command": "pytest -q"}}
    assert call.content.startswith("Bash ")
    assert (result.content, result.tool_result) == ("1 failed", {"id": "t1"})


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__pmem__search", {"query": "database"}),
        ("Bash", {"command": "pmem search database"}),
        ("Bash", {"command": "cd /w && .venv/bin/pmem context | head"}),
        ("Bash", {"command": "cd /w; PMEM_AGENT=x uv run pmem search database"}),
        ("Bash", {"command": "bash -lc 'pmem search database'"}),
        ("Bash", {"command": "python3 -m pmem search database"}),
        ("mcp__plugin_pmem_pmem__search", {"query": "database"}),
        ("Read", {"file_path": "/w/shop/.project-memory/long-term-memory/x.json"}),
    ],
)
def test_what_pmem_said_never_comes_back(
    workspace: Workspace, tool: str, given: dict[str, str]
) -> None:
    session = claude(lambda s: s.call(tool, "t1", **given), lambda s: s.result("t1", HOOK))
    done = take(workspace, CLAUDE, session.bytes())
    assert heard(workspace) == ["user: Which database do we use?", "assistant: PostgreSQL."]
    assert done.left_out == {"pmem's own words": 2}


@pytest.mark.parametrize(
    "command",
    [
        "pmemstat --all", "cd ~/src/pmem && make test", "grep -rn foo src/pmem docs",
        "pip download pmem", "pytest -k pmem", 'grep -rn "pmem" docs', "ls /w/pmem",
    ],
)  # fmt: skip
def test_a_command_that_only_looks_like_pmem_stays(workspace: Workspace, command: str) -> None:
    session = claude(
        lambda s: s.call("Bash", "t1", command=command), lambda s: s.result("t1", "ok")
    )
    assert take(workspace, CLAUDE, session.bytes()).added == 4


ANSWER = f"1 found ({RECORDED})\n```\n- [k3v9m2x1] We use Postgres\n```"


def test_a_server_of_any_name_is_known_by_what_it_answers(workspace: Workspace) -> None:
    session = claude(
        lambda s: s.call("mcp__memory__search", "t1", query="database"),
        lambda s: s.call("mcp__files__search", "t2", query="database"),
        lambda s: s.result("t2", "src/db.py"),
        lambda s: s.result("t1", ANSWER),
        lambda s: s.call("mcp__memory__remember", "t3", content="We use Postgres"),
        lambda s: s.result("t3", "added k3v9m2x1 (fact, knowledge)"),
    )
    done = take(workspace, CLAUDE, session.bytes())
    assert done.left_out == {"pmem's own words": 4}
    assert done.added == 4


def test_a_file_that_holds_such_an_answer_is_somebodys(workspace: Workspace) -> None:
    session = claude(
        lambda s: s.call("Read", "t1", file_path="docs/x.md"), lambda s: s.result("t1", ANSWER)
    )
    assert take(workspace, CLAUDE, session.bytes()).added == 4


def _say_in_parts(session: ClaudeCode) -> None:
    session.say("First part.", "msg_a")
    session.say("Second part.", "msg_a")
    session.say("Another answer.", "msg_b")


def _take_a_prompt_back(session: ClaudeCode) -> None:
    fork = session.last
    session.ask("Use MySQL instead")
    session.say("As you wish.")
    session.ask("Use SQLite instead", parent=fork)
    session.say("Done.")


def _go_another_way(session: ClaudeCode) -> None:
    fork = session.last
    session.ask("Use MySQL instead")
    kept = session.say("As you wish.")
    session.ask("Use SQLite instead", parent=fork)
    session.lines.append({"type": "last-prompt", "leafUuid": kept, "sessionId": SESSION})


def _call_side_by_side(session: ClaudeCode) -> None:
    first = session.call("Bash", "t1", "msg_x", command="ls")
    session.call("Bash", "t2", "msg_x", command="pwd")
    second = session.result("t2", "/w")
    session.result("t1", "a.py", parent=first)
    session.say("Both are done.", parent=second)


def _compact(session: ClaudeCode) -> None:
    before = session.last
    session.put("system", parent=None, subtype="compact_boundary", logicalParentUuid=before)
    session.ask("Go on.")


@pytest.mark.parametrize(
    ("then", "said"),
    [
        pytest.param(
            lambda s: s.ask(f"Which one?<system-reminder>{HOOK}</system-reminder>"),
            ["user: Which one?"],
            id="a reminder inside of a prompt is cut out",
        ),
        pytest.param(
            _say_in_parts,
            ["assistant: First part.\n\nSecond part.", "assistant: Another answer."],
            id="one answer in several records is one message",
        ),
        pytest.param(
            _take_a_prompt_back,
            ["user: Use SQLite instead", "assistant: Done."],
            id="of a prompt that was taken back the new one is followed",
        ),
        pytest.param(
            _go_another_way,
            ["user: Use MySQL instead", "assistant: As you wish."],
            id="the program says which way was taken last",
        ),
        pytest.param(
            _call_side_by_side,
            [
                'assistant: Bash {"command":"ls"}',
                'assistant: Bash {"command":"pwd"}',
                "tool: /w",
                "tool: a.py",
                "assistant: Both are done.",
            ],
            id="results of calls side by side stay",
        ),
        pytest.param(_compact, ["user: Go on."], id="what was said before a compaction stays"),
    ],
)
def test_what_was_said_is_read_as_the_program_means_it(
    workspace: Workspace, then: Callable[[ClaudeCode], object], said: list[str]
) -> None:
    session = claude()
    then(session)
    take(workspace, CLAUDE, session.bytes())
    first = ["user: Which database do we use?", "assistant: PostgreSQL."]
    assert heard(workspace) == [*first, *said]


def test_the_title_of_the_program_is_the_conversations(workspace: Workspace) -> None:
    session = ClaudeCode()
    session.lines.append({"type": "ai-title", "aiTitle": "Choosing a database"})
    session.ask("Which one?")
    take(workspace, CLAUDE, session.bytes())
    assert transcript(workspace).conversation.title == "Choosing a database"


def test_of_a_long_answer_the_beginning_and_the_end_are_kept(workspace: Workspace) -> None:
    long = "start " + "x" * (2 * MOST_RESULT) + " end"
    session = claude(lambda s: s.call("Bash", "t1", command="cat"), lambda s: s.result("t1", long))
    take(workspace, CLAUDE, session.bytes())
    result = transcript(workspace).messages[2].content
    assert result.startswith("start")
    assert result.endswith("end")
    assert "characters left out" in result
    assert len(result) < MOST_RESULT + 60


def test_codex_says_each_thing_once(workspace: Workspace) -> None:
    session = Codex()
    session.message("developer", HOOK)
    session.message("user", "# AGENTS.md instructions for /w", "<environment_context>\n</>")
    session.message("user", "<environment_context>x</environment_context>", "Which database?")
    session.put("event_msg", type="item_completed", item={"type": "UserMessage", "content": HOOK})
    session.put("event_msg", type="user_message", message=HOOK)
    session.put("response_item", type="reasoning", summary=[HOOK])
    session.put("compacted", message=HOOK)
    session.call("c1", "shell", {"command": ["bash", "-lc", "pytest -q"]})
    session.result("c1", "1 failed")
    session.put("world_state", state={"agents_md": HOOK})
    session.message("assistant", "PostgreSQL.")
    done = take(workspace, CODEX, session.bytes())
    assert done.added == 4
    assert [line.partition(" ")[0] for line in heard(workspace)] == [
        "user:", "assistant:", "tool:", "assistant:",
    ]  # fmt: skip
    assert heard(workspace)[0] == "user: Which database?"
    assert HOOK not in str(heard(workspace))


@pytest.mark.parametrize(
    ("name", "given", "fields"),
    [
        ("search", {"query": "x"}, {"namespace": "mcp__pmem"}),
        ("shell", {"command": ["bash", "-lc", "pmem search x"]}, {}),
        ("exec_command", {"cmd": "pmem search x"}, {}),
    ],
)
def test_codex_never_brings_back_what_pmem_said(
    workspace: Workspace, name: str, given: object, fields: dict[str, str]
) -> None:
    session = Codex()
    session.message("user", "Which database?")
    session.call("c1", name, given, **fields)
    session.result("c1", HOOK)
    take(workspace, CODEX, session.bytes())
    assert heard(workspace) == ["user: Which database?"]


def test_what_hooks_said_at_a_tools_call_never_comes_back_with_its_result(
    workspace: Workspace,
) -> None:
    own = f"{STOPS}:\n```\n- [dead_end x] {HOOK}\n```"
    session = Codex()
    session.message("user", "Raise the retries.")
    session.call("c1", "exec_command", {"cmd": "apply_patch"})
    session.result("c1", f"Command blocked by PreToolUse hook: {own}. Command: apply_patch")
    take(workspace, CODEX, session.bytes())
    assert heard(workspace)[-1] == (
        "tool: Command blocked by PreToolUse hook: . Command: apply_patch"
    )


def test_a_shell_call_of_codex_says_what_was_run(workspace: Workspace) -> None:
    session = Codex()
    action = {"type": "exec", "command": ["pytest", "-q"]}
    session.put("response_item", type="local_shell_call", call_id="c1", action=action)
    session.result("c1", {"content": "2 passed"})
    take(workspace, CODEX, session.bytes())
    call, result = transcript(workspace).messages
    assert call.tool_call["name"] == "shell"
    assert result.content == "2 passed"


def test_a_session_of_a_sub_agent_is_left_out_unless_it_is_asked_for(workspace: Workspace) -> None:
    session = Codex(thread_source="subagent")
    session.message("user", "Look for the tests.")
    assert take(workspace, CODEX, session.bytes()).added == 0
    assert take(workspace, CODEX, session.bytes(), sub_agents=True).added == 1


def test_gemini_writes_messages_anew_and_puts_hooks_into_them(workspace: Workspace) -> None:
    session = Gemini()
    first = [{"id": "m0", "type": "user", "content": [{"text": f"<session_context>{HOOK}"}]}]
    session.lines.append({"$set": {"messages": first}})
    asked = [{"text": f"<hook_context>{HOOK}</hook_context>\n\nWhich database?"}]
    session.put("m1", "user", [*asked, {"text": f"<hook_context>{HOOK}</hook_context>"}])
    after = f"a.py\n\n<hook_context>{HOOK}</hook_context>"
    session.put("m2", "gemini", "")
    call = {"id": "c1", "name": "mcp_pmem_search", "args": {"query": "x"}}
    other = {"id": "c2", "name": "run_shell_command", "args": {"command": "ls"}}
    session.put("m2", "gemini", "Let me look.", toolCalls=[call, other])
    for id_, name, output in (("c1", "mcp_pmem_search", HOOK), ("c2", "run", after)):
        answer = {"id": id_, "name": name, "response": {"output": output}}
        session.put(f"r{id_}", "user", [{"functionResponse": answer}])
    session.put("m9", "info", HOOK)
    take(workspace, GEMINI, session.bytes())
    said = heard(workspace)
    assert said[:2] == ["user: Which database?", "assistant: Let me look."]
    assert said[2].startswith("assistant: run_shell_command")
    assert said[3:] == ["tool: a.py"]


def test_a_session_that_has_grown_goes_on(workspace: Workspace) -> None:
    session = claude()
    take(workspace, CLAUDE, session.bytes())
    session.ask("And the queue?")
    done = take(workspace, CLAUDE, session.bytes())
    assert (done.added, done.unchanged) == (1, 2)
    assert take(workspace, CLAUDE, session.bytes()).added == 0
    assert len(heard(workspace)) == 3


def test_an_answer_that_was_still_being_written_becomes_whole(workspace: Workspace) -> None:
    session = ClaudeCode()
    session.ask("Explain.")
    session.say("First part.", "msg_a")
    take(workspace, CLAUDE, session.bytes())
    session.say("Second part.", "msg_a")
    done = take(workspace, CLAUDE, session.bytes())
    assert (done.added, done.updated) == (0, 1)
    assert heard(workspace)[1] == "assistant: First part.\n\nSecond part."


def test_a_line_that_is_not_finished_is_taken_in_later(workspace: Workspace) -> None:
    whole = claude().bytes()
    done = take(workspace, CLAUDE, whole[:-20])
    assert (done.added, done.left_out) == (1, {"a line that is not finished": 1})
    assert take(workspace, CLAUDE, whole).added == 1


@pytest.mark.parametrize("at", [1, 37, 75, 149])
def test_in_two_pieces_it_is_the_same_as_in_one(tmp_path: Path, at: int) -> None:
    session = ClaudeCode()
    for turn in range(75):
        session.ask(f"Question {turn}?")
        session.say(f"Answer {turn}.")
    kept = []
    for name, pieces in (("one", [150]), ("two", [at, 150])):
        (tmp_path / name).mkdir()
        folder = str(tmp_path / name / ".project-memory")
        initialise(folder)
        workspace = Workspace(folder, actor="tester", now=NOW)
        for piece in pieces:
            take(workspace, CLAUDE, written(session.lines[:piece]))
        kept.append(transcript(Workspace(folder, actor="tester", now=NOW)))
    assert kept[0].messages == kept[1].messages
    assert [chunk.id for chunk in kept[0].chunks] == [chunk.id for chunk in kept[1].chunks]


def test_a_dry_run_says_the_same_and_writes_nothing(workspace: Workspace) -> None:
    done = take(workspace, CLAUDE, claude().bytes(), dry_run=True)
    assert (done.added, done.dry_run) == (2, True)
    assert workspace.conversations.ids() == []


def test_facts_are_noted_only_if_they_are_asked_for(workspace: Workspace) -> None:
    session = ClaudeCode()
    session.ask("We decided to use PostgreSQL for orders.")
    take(workspace, CLAUDE, session.bytes())
    assert transcript(workspace).conversation.facts == ()
    other = ClaudeCode(session="another")
    other.ask("We decided to use PostgreSQL for orders.")
    take(workspace, CLAUDE, other.bytes(), learn=True)
    facts = transcript(workspace, "another").conversation.facts
    assert [fact.standing for fact in facts] == ["pending"]


def test_only_what_was_said_since_a_moment_comes_in(workspace: Workspace) -> None:
    session = claude()
    since = datetime.fromisoformat("2026-11-22T19:00:02+00:00")
    done = take(workspace, CLAUDE, session.bytes(), since=since)
    assert (done.added, done.left_out) == (1, {"messages before --since": 1})


KEY = "AKIA" + "Q7RT2XMP4LZN6WVB"


def test_a_secret_of_a_tool_is_taken_out_and_a_persons_message_with_one_is_skipped(
    workspace: Workspace,
) -> None:
    session = claude(
        lambda s: s.call("Bash", "t1", command="env"),
        lambda s: s.result("t1", f"AWS_ACCESS_KEY_ID={KEY}"),
        lambda s: s.ask(f"Use {KEY} for it"),
    )
    done = take(workspace, CLAUDE, session.bytes())
    assert len(done.skipped) == 1
    assert KEY not in str(heard(workspace))
    assert KEY not in str(done)


@given(st.lists(st.binary(max_size=60) | st.sampled_from(claude().bytes().splitlines())))
def test_no_bytes_stop_an_import(lines: list[bytes]) -> None:
    data = [line + b"\n" for line in lines]
    recognise(data)
    for module in ("claude_code", "codex", "gemini"):
        from importlib import import_module

        from pmem.interchange.sessions import SessionNotes

        reader = import_module(f"pmem.interchange.{module}")
        for line in reader.read(lambda: data, SessionNotes()):
            assert line["content"].strip()


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.data())
def test_no_value_in_the_wrong_place_stops_an_import(data: st.DataObject) -> None:
    from importlib import import_module

    from pmem.interchange.sessions import SessionNotes

    sessions = {"claude_code": claude().lines, "codex": Codex().lines, "gemini": Gemini().lines}
    codex, gemini = Codex(), Gemini()
    codex.message("user", "x")
    codex.call("c1", "shell", {"command": "ls"})
    codex.result("c1", "ok")
    gemini.put("m1", "user", [{"text": "x"}])
    gemini.put("m2", "gemini", "y", toolCalls=[{"id": "c", "name": "n", "args": {}}])
    sessions |= {"codex": codex.lines, "gemini": gemini.lines}
    for module, lines in sessions.items():
        broken = [_spoiled(data, line) if isinstance(line, dict) else line for line in lines]
        reader = import_module(f"pmem.interchange.{module}")
        found = reader.read(lambda: written(broken).splitlines(keepends=True), SessionNotes())  # noqa: B023
        assert all(isinstance(line["content"], str) for line in found)


def _spoiled(data: st.DataObject, value: Any) -> Any:
    """Return a value of which one part, at any depth, is something else."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: _spoiled(data, value[key])}
    if isinstance(value, list) and value and data.draw(st.booleans()):
        return [_spoiled(data, value[0]), *value[1:]]
    return data.draw(WRONG)


@pytest.mark.parametrize(
    ("harness", "data"),
    [(CLAUDE, claude().bytes()), (CODEX, Codex().bytes()), (GEMINI, Gemini().bytes())],
)
def test_a_session_is_known_by_its_form(harness: SessionProgram, data: bytes) -> None:
    assert recognise(data.splitlines(keepends=True)) is harness


def test_a_transcript_is_no_session() -> None:
    assert recognise([b'{"role": "user", "content": "x"}\n']) is None


def _kept(tmp_path: Path, place: str, data: bytes) -> str:
    path = tmp_path / "home" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def test_without_a_path_the_projects_own_sessions_are_read(tmp_path: Path) -> None:
    root = str(tmp_path / "work")
    slug = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in root)
    digest = sha256(root.encode()).hexdigest()
    mine = {
        CLAUDE: _kept(tmp_path, f".claude/projects/{slug}/a.jsonl", ClaudeBytes(root)),
        CODEX: _kept(tmp_path, ".codex/sessions/2026/11/22/rollout-a.jsonl", Codex(root).bytes()),
        GEMINI: _kept(tmp_path, ".gemini/tmp/w/chats/session-a.jsonl", Gemini(digest).bytes()),
    }
    _kept(tmp_path, f".claude/projects/{slug}-other/b.jsonl", ClaudeBytes(f"{root}-other"))
    _kept(tmp_path, f".claude/projects/{slug}/agent-1.jsonl", ClaudeBytes(root))
    _kept(tmp_path, ".codex/sessions/2026/11/22/rollout-b.jsonl", Codex("/elsewhere").bytes())
    _kept(tmp_path, ".gemini/tmp/v/chats/session-b.jsonl", Gemini("95d7").bytes())
    environment = {"HOME": str(tmp_path / "home")}
    for harness, path in mine.items():
        assert sessions_of(harness, root, environment).files == (path,)
    assert len(sessions_of(CLAUDE, root, environment, sub_agents=True).files) == 2


def ClaudeBytes(cwd: str) -> bytes:  # noqa: N802 - reads as the class beside it
    session = ClaudeCode(cwd)
    session.ask("Hello")
    return session.bytes()


def test_programs_may_keep_their_sessions_elsewhere(tmp_path: Path) -> None:
    root = str(tmp_path / "work")
    slug = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in root)
    claude_path = _kept(tmp_path, f"c/projects/{slug}/a.jsonl", ClaudeBytes(root))
    codex_path = _kept(tmp_path, "x/sessions/rollout-a.jsonl", Codex(root).bytes())
    environment = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "home/c"),
        "CODEX_HOME": str(tmp_path / "home/x"),
    }
    assert sessions_of(CLAUDE, root, environment).files == (claude_path,)
    assert sessions_of(CODEX, root, environment).files == (codex_path,)


def test_a_file_that_is_named_is_read_wherever_it_was_written(tmp_path: Path) -> None:
    path = _kept(tmp_path, "a.jsonl", ClaudeBytes("/elsewhere"))
    assert sessions_in(CLAUDE, path, str(tmp_path / "work"), {}).files == (path,)
    folder = str(tmp_path / "home")
    assert sessions_in(CLAUDE, folder, str(tmp_path / "work"), {}).files == (path,)
    with pytest.raises(InvalidValue, match="is a session of Claude Code, not of Codex"):
        sessions_in(CODEX, path, str(tmp_path / "work"), {})


def test_a_second_work_tree_is_the_same_project(tmp_path: Path) -> None:
    import subprocess

    work = tmp_path / "work"
    run = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    subprocess.run([*run, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*run, "worktree", "add", "-q", str(tmp_path / "second")], check=True)
    path = _kept(tmp_path, ".codex/sessions/rollout-a.jsonl", Codex(f"{tmp_path}/second").bytes())
    assert sessions_of(CODEX, str(work), {"HOME": str(tmp_path / "home")}).files == (path,)


@pytest.mark.long
def test_an_import_that_was_killed_is_finished_by_the_next(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = ClaudeCode()
    for turn in range(3 * BATCH):
        session.ask(f"Question {turn}?")
    whole = _SessionImport.take
    done: list[object] = []

    def killed_at_the_third(one: _SessionImport, batch: list[tuple[str, Message]]) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(batch)
        whole(one, batch)

    with monkeypatch.context() as patch:
        patch.setattr(_SessionImport, "take", killed_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            take(workspace, CLAUDE, session.bytes())
    assert len(transcript(workspace).messages) == 2 * BATCH
    assert take(workspace, CLAUDE, session.bytes()).added == BATCH
    assert [one.content for one in transcript(workspace).messages] == [
        f"Question {turn}?" for turn in range(3 * BATCH)
    ]


def test_what_hooks_noted_is_taken_in_once(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "noted.jsonl"
    path.write_bytes(claude().bytes())
    for name, place in (("claude-code", path), ("codex", tmp_path / "gone"), ("zed", path)):
        workspace.own.noted_transcripts.note(
            NotedTranscript(
                harness=name, path=str(place), offset=0, session=SESSION, noted_at=workspace.now()
            )
        )
    done = ask(workspace, table.IMPORT_SESSIONS, SessionsRequest(pending=True))
    assert (done.sessions, done.added) == (1, 2)
    assert workspace.own.noted_transcripts.waiting() == []
    assert ask(workspace, table.IMPORT_SESSIONS, SessionsRequest(pending=True)).sessions == 0
