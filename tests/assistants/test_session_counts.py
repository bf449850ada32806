"""A session stops: what it was shown and used is counted, and what it missed is offered."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from pmem import Project
from pmem.assistants.session_work import MOST_BYTES, SessionWork, edited_files, part_since, work_in
from pmem.core.text.calls import RecordedCall
from pmem.interchange.sessions import recognise
from pmem.memory.recalls import use_of
from pmem.storage.index import applying
from tests.conftest import NOW
from tests.conversation.assistants import ClaudeCode, Codex, Gemini
from tests.faults.console import bytes_of, pmem

RETRIES: Final = "Webhooks are retried five times because the vendor blocks us for an hour"
QUOTED: Final = "Sure: webhooks are retried five times because the vendor says so."
BEFORE: Final = {"PMEM_NOW": NOW.isoformat()}
AFTER: Final = {"PMEM_NOW": (NOW + timedelta(days=3)).isoformat()}


class Session(Protocol):
    """A session's transcript in the form of its program."""

    def bytes(self) -> bytes: ...


def hook(event: str, harness: str = "claude-code", **told: Any) -> None:
    done = pmem(
        "hook", event, "--harness", harness,
        stdin=json.dumps({"session_id": "s", "cwd": os.getcwd(), **told}).encode(),
        environment=AFTER,
    )  # fmt: skip
    assert done.code == 0, done


def start(thread: str = "s") -> None:
    hook("session-start", session_id=thread, source="startup")


def stop(
    session: Session, thread: str = "s", event: str = "stop", harness: str = "claude-code"
) -> None:
    path = Path("session.jsonl").absolute()
    path.write_bytes(session.bytes())
    hook(event, harness, session_id=thread, transcript_path=str(path))


@pytest.fixture
def retries(root: str) -> str:
    """Remember one thing that is cited and one that has a place, and return the first one's id."""
    Path("src").mkdir()
    Path("src/retry.py").write_text("RETRIES = 5\n", encoding="utf-8")
    added = pmem("add", RETRIES, "--cite", "src/retry.py", "--json", environment=BEFORE)
    assert added.code == 0, added
    assert pmem("add", "Queues are drained first", environment=BEFORE).code == 0
    return str(added.data["memory"]["id"])


def counted(root: str, identifier: str) -> tuple[int, int] | None:
    use = use_of(Project(root).workspace, identifier)
    return None if use is None else (use.shown, use.used)


def said(text: str) -> dict[str, Callable[[], Session]]:
    """Return a session of each program in which the model says something."""

    def claude() -> ClaudeCode:
        session = ClaudeCode()
        session.ask("go on")
        session.say(text)
        return session

    def codex() -> Codex:
        session = Codex()
        session.message("user", "go on")
        session.message("assistant", text)
        return session

    def gemini() -> Gemini:
        session = Gemini()
        session.put("1", "user", [{"text": "go on"}])
        session.put("2", "gemini", text)
        return session

    return {"claude-code": claude, "codex": codex, "gemini": gemini}


def edited(path: str) -> dict[str, Callable[[], Session]]:
    """Return a session of each program in which the model edits a file."""
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-5\n+6\n*** End Patch"

    def claude() -> ClaudeCode:
        session = ClaudeCode()
        session.call("Edit", "t1", file_path=os.path.abspath(path), old_string="5", new_string="6")
        return session

    def codex() -> Codex:
        session = Codex()
        session.put(
            "response_item", type="custom_tool_call", call_id="t1", name="apply_patch", input=patch
        )
        return session

    def gemini() -> Gemini:
        session = Gemini()
        call = {"id": "t1", "name": "replace", "args": {"file_path": os.path.abspath(path)}}
        session.put("2", "gemini", "", toolCalls=[call])
        return session

    return {"claude-code": claude, "codex": codex, "gemini": gemini}


@pytest.mark.parametrize("harness", ["claude-code", "codex", "gemini"])
def test_what_is_quoted_was_used_and_the_rest_was_shown(
    harness: str, retries: str, root: str
) -> None:
    start()
    stop(said(QUOTED)[harness](), harness=harness)
    assert counted(root, retries) == (1, 1)
    uses = Project(root).workspace.own.use_counts.all()
    assert sorted((use.shown, use.used) for use in uses.values()) == [(1, 0), (1, 1)]


@pytest.mark.parametrize("harness", ["claude-code", "codex", "gemini"])
def test_what_cites_a_file_that_is_edited_was_used(harness: str, retries: str, root: str) -> None:
    start()
    stop(edited("src/other.py")[harness](), harness=harness)
    assert counted(root, retries) == (1, 0)
    stop(edited("src/retry.py")[harness](), harness=harness, event="session-end")
    assert counted(root, retries) == (1, 0), "it had been looked at that far"
    start("t")
    stop(edited("src/retry.py")[harness](), "t", harness=harness)
    assert counted(root, retries) == (2, 1)


def test_what_has_the_place_of_a_file_that_is_edited_was_used(retries: str, root: str) -> None:
    placed = pmem("add", "Never more than ten", "--for", "src/**", "--json", environment=BEFORE)
    start()
    stop(edited("src/other.py")["claude-code"]())
    assert counted(root, placed.data["memory"]["id"]) == (1, 1)
    assert counted(root, retries) == (1, 0)


def test_a_place_that_is_not_compared_in_time_was_not_used(
    retries: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = pmem("add", "Never more than ten", "--for", "src/**", "--json", environment=BEFORE)
    start()
    monkeypatch.setattr(applying, "PATIENCE", -1)
    stop(edited("src/retry.py")["claude-code"]())
    assert counted(root, placed.data["memory"]["id"]) == (1, 0)
    assert counted(root, retries) == (1, 1)


def test_what_is_named_by_its_id_was_used_and_a_look_at_it_by_pmem_is_none(
    retries: str, root: str
) -> None:
    start()
    session = ClaudeCode()
    session.call("Bash", "t1", command=f"pmem show {retries}")
    stop(session)
    assert counted(root, retries) == (1, 0)
    session.say(f"As {retries.partition('-')[2]} says.")
    stop(session)
    assert counted(root, retries) == (1, 1)


def test_a_session_counts_once_however_often_it_stops_and_grows(retries: str, root: str) -> None:
    start()
    session = ClaudeCode()
    for turn in range(4):
        session.ask(f"turn number {turn}")
        session.say(QUOTED if turn == 2 else "Done.")
        for event in ("stop", "stop", "pre-compact"):
            stop(session, event=event)
        assert counted(root, retries) == (1, int(turn >= 2))
    stop(session, event="session-end")
    assert counted(root, retries) == (1, 1)


def test_what_was_shown_before_a_compaction_can_be_used_after_it(retries: str, root: str) -> None:
    start()
    session = asked("go on")
    stop(session, event="pre-compact")
    pmem("rm", retries)
    hook("session-start", source="compact")
    pmem("restore", retries)
    session.say(QUOTED)
    stop(session)
    assert counted(root, retries) == (1, 1)


def test_what_nobody_was_shown_is_not_counted(retries: str, root: str) -> None:
    stop(said(QUOTED)["claude-code"]())
    assert counted(root, retries) is None


def test_no_record_changes_by_being_counted(retries: str, root: str) -> None:
    start()
    before = bytes_of(root)
    stop(said(QUOTED)["claude-code"]())
    assert bytes_of(root) == before


def test_a_line_that_is_still_being_written_is_read_by_the_next_stop(
    retries: str, root: str
) -> None:
    start()
    session = said(QUOTED)["claude-code"]()
    whole = session.bytes()
    path = Path("session.jsonl").absolute()
    for many in (len(whole) - 1, len(whole)):
        assert counted(root, retries) in (None, (1, 0))
        path.write_bytes(whole[:many])
        hook("stop", transcript_path=str(path))
    assert counted(root, retries) == (1, 1)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{", b"\xff\xfe", b"[]\n" * 9, b'{"type":"user","sessionId":"s"}\n', b"\0" * 99,
     b'{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","input":7}]}}\n',
     b'{"sessionId":"s","projectHash":"x"}\n{"$set":{"messages":[7,{"type":"gemini"}]}}\n',
     b'{"type":"session_meta","payload":{}}\n{"type":"response_item","payload":{"type":"message"}}\n'],
)  # fmt: skip
def test_nonsense_in_a_transcript_is_no_use_and_no_failure(
    data: bytes, retries: str, root: str
) -> None:
    start()
    path = Path("session.jsonl").absolute()
    path.write_bytes(data)
    hook("stop", transcript_path=str(path))
    is_session = recognise(data.splitlines(keepends=True)) is not None
    assert counted(root, retries) == ((1, 0) if is_session else None)
    assert not os.path.exists(f"{root}/local/pmem.log")


def test_a_transcript_in_a_form_that_is_not_known_says_nothing_of_use(
    retries: str, root: str
) -> None:
    start()
    path = Path("session.txt").absolute()
    path.write_text(f"user:\ngo on\n\nassistant:\n{QUOTED}\n", encoding="utf-8")
    hook("stop", "cursor", transcript_path=str(path))
    assert counted(root, retries) is None


def test_of_a_long_transcript_the_end_is_looked_at(tmp_path: Path) -> None:
    session = ClaudeCode()
    session.say("At the beginning.")
    session.result("t1", "x" * MOST_BYTES)
    session.say("At the end.")
    path = tmp_path / "long.jsonl"
    path.write_bytes(session.bytes())
    end = path.stat().st_size
    seen = part_since(str(path), 0)
    assert seen is not None
    assert (work_in(seen.lines, str), seen.end) == (SessionWork(written=("At the end.",)), end)
    assert part_since(str(path), end) == ((), end)
    assert part_since(str(path), end + 1) == seen


def test_a_file_outside_of_the_project_has_no_name_in_it(retries: str, root: str) -> None:
    start()
    for path in ("../src/retry.py", "/src/retry.py", "src/../../retry.py", "src/retry.py\0"):
        stop(edited(path)["codex"](), harness="codex")
    assert counted(root, retries) == (1, 0)


def test_nothing_is_counted_or_kept_where_hooks_are_off(retries: str, root: str) -> None:
    start()
    assert pmem("config", "set", "hooks.enabled", "false").code == 0
    session = ClaudeCode()
    session.ask("How often are webhooks retried?")
    session.say(QUOTED)
    stop(session)
    assert counted(root, retries) is None
    assert Project(root).workspace.own.kept_prompts.all() == []


def test_stats_and_show_tell_what_was_of_use(retries: str, root: str) -> None:
    for number in range(4):
        start(f"s{number}")
        stop(said(QUOTED if number < 3 else "Hm.")["claude-code"](), f"s{number}")
    figures = pmem("stats", "--json", environment=AFTER).data
    assert [(one["id"], one["shown"], one["used"]) for one in figures["helped_most"]] == [
        (retries, 4, 3)
    ]
    assert [(one["text"], one["shown"]) for one in figures["never_helped"]] == [
        ("Queues are drained first", 4)
    ]
    text = pmem("stats", environment=AFTER).out.decode()
    assert "Helped most\n      3 of 4" in text
    assert "Shown, never used\n      0 of 4" in text
    assert "in 3 of 4 sessions that were shown it" in pmem("show", retries).out.decode()
    sessions = pmem("show", retries, "--json").data["sessions"]
    assert (sessions["shown"], sessions["used"]) == (4, 3)


def test_what_was_shown_twice_only_had_no_chance_yet(retries: str) -> None:
    for thread in ("s", "t"):
        start(thread)
        stop(said("Hm.")["claude-code"](), thread)
    assert pmem("stats", "--json", environment=AFTER).data["never_helped"] == []


def test_a_view_of_the_past_and_a_damaged_state_count_nothing(retries: str, root: str) -> None:
    start()
    stop(said(QUOTED)["claude-code"]())
    then = Project(root, now=NOW + timedelta(days=4)).workspace
    assert use_of(then, retries) is not None
    Path(root, "local", "state.sqlite3").write_bytes(b"nonsense" * 99)
    assert use_of(then, retries) is None
    assert pmem("show", retries).code == 0


def asked(*prompts: str, at: str = "") -> ClaudeCode:
    session = ClaudeCode()
    for prompt in prompts:
        session.ask(prompt, **({"timestamp": at} if at else {}))
    return session


def missed() -> list[tuple[str, str]]:
    done = pmem("eval", "misses", "--json", environment=AFTER)
    assert done.code == 0, done
    return [(item["query"], item["text"]) for item in done.data["items"]]


ASKED: Final = "How often are webhooks retried?"


def test_a_prompt_that_was_not_shown_what_answers_it_is_a_miss(retries: str) -> None:
    stop(asked(ASKED, "What is the weather in Lisbon tomorrow?", "yes please", "/compact it now"))
    assert missed() == [(ASKED, RETRIES)]


def test_what_the_session_was_shown_is_no_miss(retries: str) -> None:
    hook("prompt", prompt=ASKED)
    stop(asked(ASKED))
    assert missed() == []


def test_a_memory_that_was_made_after_the_prompt_was_not_missed(retries: str) -> None:
    stop(asked(ASKED, at=(NOW - timedelta(days=1)).isoformat()))
    assert missed() == []


@pytest.mark.parametrize("at", ["", "yesterday", "9999-99-99", "0001-01-01T00:00:00+23:59"])
def test_a_prompt_without_a_time_was_asked_when_the_session_stopped(at: str, retries: str) -> None:
    session = asked(ASKED)
    session.lines[-1]["timestamp"] = at  # type: ignore[index]
    stop(session)
    assert len(missed()) == 1


def test_a_prompt_with_a_secret_is_never_kept(retries: str, root: str) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    stop(asked(f"How often are webhooks retried with {token}?", "How long " + "really " * 200))
    assert Project(root).workspace.own.kept_prompts.all() == []
    assert token.encode() not in Path(root, "local", "state.sqlite3").read_bytes()


def test_a_miss_is_taken_over_once_and_one_that_is_dropped_is_gone(retries: str, root: str) -> None:
    other = "Are queues drained first?"
    stop(asked(ASKED, other))
    names = {
        item["query"]: item["name"]
        for item in pmem("eval", "misses", "--json", environment=AFTER).data["items"]
    }
    assert names.keys() == {ASKED, other}
    assert pmem("eval", "add", ASKED, retries, environment=AFTER).code == 0
    assert missed() == [(other, "Queues are drained first")]
    golden = Path(root, "golden.jsonl").read_text(encoding="utf-8")
    assert json.loads(golden) == {"query": ASKED, "must": [retries]}
    assert pmem("eval", environment=AFTER).code == 0
    assert pmem("eval", "misses", "--drop", names[ASKED], environment=AFTER).code == 3
    assert pmem("eval", "misses", "--drop", names[other], environment=AFTER).code == 0
    assert missed() == []


def test_what_is_asked_by_the_golden_set_already_is_no_miss(retries: str) -> None:
    stop(asked(ASKED))
    assert pmem("eval", "add", ASKED, retries, environment=AFTER).code == 0
    assert missed() == []


def test_everything_that_was_asked_is_forgotten_by_one_word(retries: str, root: str) -> None:
    stop(asked(ASKED, "What is the weather in Lisbon tomorrow?"))
    assert len(Project(root).workspace.own.kept_prompts.all()) == 2
    assert pmem("eval", "misses", "--drop", "all", environment=AFTER).code == 0
    assert Project(root).workspace.own.kept_prompts.all() == []


PATCH = (
    "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.md\n+z\n*** End Patch"
)


@pytest.mark.parametrize(
    ("call", "files"),
    [
        (RecordedCall("Edit", "1", {"file_path": "/w/a.py", "old_string": "x"}), ("/w/a.py",)),
        (RecordedCall("Write", "1", {"file_path": "a.py", "content": PATCH}), ("a.py",)),
        (RecordedCall("NotebookEdit", "1", {"notebook_path": "n.ipynb"}), ("n.ipynb",)),
        (RecordedCall("replace", "1", {"file_path": "a.ts"}), ("a.ts",)),
        (RecordedCall("apply_patch", "1", PATCH), ("src/a.py", "b.md")),
        (RecordedCall("shell", "1", {"command": ["apply_patch", PATCH]}), ("src/a.py", "b.md")),
        (
            RecordedCall("exec_command", "1", {"cmd": f"apply_patch <<'E'\n{PATCH}\nE"}),
            ("src/a.py", "b.md"),
        ),
        (RecordedCall("exec_command", "1", {"cmd": 7}), ()),
        (RecordedCall("shell", "1", '{"command": "sed -n 1,9p a.py"}'), ()),
        (RecordedCall("Read", "1", {"file_path": "/w/a.py"}), ()),
        (RecordedCall("Edit", "1", {"file_path": 7}), ()),
        (RecordedCall("Edit", "1", None), ()),
        (RecordedCall("", None, "*** Begin Patch"), ()),
    ],
)
def test_the_files_that_a_call_edits_are_known_by_each_assistants_tools(
    call: RecordedCall, files: tuple[str, ...]
) -> None:
    assert edited_files(call) == list(files)
